"""What an engine did with one case, as one JSON line."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields
from typing import Any


@dataclass(frozen=True, slots=True)
class Outcome:
    """What an engine did with one case."""

    case_id: str
    """The case."""
    query: str = ""
    """What was searched first; empty if the engine failed."""
    rewrite_asked: bool = False
    """Whether the engine wanted a rewrite."""
    reason: str = ""
    """Why, in the engine's words."""
    score: float | None = None
    """Estimated probability in [0, 1] that a rewrite is needed, if the engine has one."""
    rewriter: str = ""
    """Who made the query."""
    attempts: tuple[tuple[str, bool], ...] = ()
    """Every rewrite that was considered, and whether it was accepted."""
    lists: tuple[tuple[str, tuple[str, ...]], ...] = ()
    """Every searched query with the ids it found, best first."""
    nodes: tuple[str, ...] = ()
    """Ids of the passages given to the answer, best first."""
    ideal: tuple[str, ...] = ()
    """Ids that the best accepted rewrite finds with the same retriever."""
    latency_s: float = 0.0
    """Time in seconds."""
    llm_calls: int = 0
    """Calls of a language model."""
    prompt_tokens: int | None = None
    """Prompt tokens of these calls, if the model said."""
    completion_tokens: int | None = None
    """Completion tokens of these calls, if the model said."""
    answer: str = ""
    """The answer, if answers were asked for."""
    faithful: bool | None = None
    """Whether an LLM judged the answer faithful to the passages; None: not judged."""
    error: str = ""
    """Why the engine failed: an exception's class and message."""

    def to_dict(self) -> dict[str, Any]:
        """Return JSON-safe values."""
        return asdict(self)

    @classmethod
    def from_dict(cls, values: Mapping[str, Any]) -> Outcome:
        """Return what ``to_dict`` wrote.

        Raises:
            TypeError: a field is missing or unknown.
        """
        known = {field.name for field in fields(cls)}
        if unknown := set(values) - known:
            raise TypeError(f"unknown field {min(unknown)}")
        plain = dict(values)
        plain["attempts"] = tuple((query, accepted) for query, accepted in values.get("attempts", ()))
        plain["lists"] = tuple((query, tuple(ids)) for query, ids in values.get("lists", ()))
        plain["nodes"] = tuple(values.get("nodes", ()))
        plain["ideal"] = tuple(values.get("ideal", ()))
        return cls(**plain)
