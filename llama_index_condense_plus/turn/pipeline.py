"""The components of a turn, built once from the settings and what the user brings."""

from __future__ import annotations

import difflib
import inspect
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from llama_index.core.llms.llm import LLM
from llama_index.core.prompts.base import BasePromptTemplate
from llama_index.core.storage.kvstore.types import BaseKVStore

from llama_index_condense_plus.errors import ConfigurationError
from llama_index_condense_plus.gate.trigger import build_trigger
from llama_index_condense_plus.languages import check_languages
from llama_index_condense_plus.operations import Flow
from llama_index_condense_plus.protocols import (
    EntityExtractor,
    Guard,
    QueryPlanner,
    RewriteCache,
    Rewriter,
    Trigger,
    TurnLock,
)
from llama_index_condense_plus.retrieval.fusion import fusion_method
from llama_index_condense_plus.retrieval.plan import DefaultQueryPlanner
from llama_index_condense_plus.rewriting.cache import CircuitBreaker, InProcessRewriteCache, SingleFlight
from llama_index_condense_plus.rewriting.carry import CarryRewriter
from llama_index_condense_plus.rewriting.entities import DefaultEntityExtractor
from llama_index_condense_plus.rewriting.llm import build_rewriters
from llama_index_condense_plus.settings import CondensePlusSettings
from llama_index_condense_plus.trust.verdict import Reviewer
from llama_index_condense_plus.turn.flow import call
from llama_index_condense_plus.types import RewriteRequest

CACHE_FAILURES = 3
"""Failures in a row after which a cache is left alone for a while: each may cost a thread and a second."""
ELSEWHERE = {
    "condense_prompt": "give condense_question_prompt, with {chat_history} and {question}",
    "skip_condense": "give settings=CondensePlusSettings(enabled=False)",
    "context_refine_prompt": "give a query engine with a refine_template of its own",
}
"""Arguments of CondensePlusContextChatEngine, and what takes their place."""


@dataclass(frozen=True)
class Components:
    """What a user may bring in place of the built-in parts; None: the built-in part."""

    trigger: Trigger | None = None
    """The gate."""
    entity_extractor: EntityExtractor | None = None
    """Finds names in the history."""
    rewriters: Mapping[str, Any] = field(default_factory=dict)
    """Rewriters or plain functions by name, for ``rewrite.chain``."""
    guards: Sequence[Guard] = ()
    """Guards beside the built-in ones."""
    planner: QueryPlanner | None = None
    """Decides what is searched."""
    cache: RewriteCache | None = None
    """Keeps accepted rewrites."""
    store: BaseKVStore | None = None
    """Keeps each turn's query and the summary; None: a table in the memory's database, or in process."""
    locks: Callable[[str], TurnLock] | None = None
    """Returns a conversation's lock by key, for conversations that several processes serve."""
    condense_question_prompt: BasePromptTemplate | None = None
    """Prompt of the rewrite with ``{chat_history}`` and ``{question}``."""
    count_tokens: Callable[[str], int] | None = None
    """Counts the tokens of a text."""
    clock: Callable[[], float] = time.monotonic
    """Seconds, for deadlines and timings."""

    @classmethod
    def from_arguments(cls, arguments: Mapping[str, Any], caller: Callable[..., Any]) -> Components:
        """Return components from keyword arguments.

        Args:
            arguments: the components by name.
            caller: the function that was given them; its own arguments may have been meant.

        Raises:
            ConfigurationError: a name is unknown; the message names the nearest.
        """
        valid = [name for name in cls.__dataclass_fields__ if name != "condense_question_prompt"]
        for name in arguments:
            if name not in valid:
                if name in ELSEWHERE:
                    raise ConfigurationError(f"Unknown argument {name}: {ELSEWHERE[name]}.")
                near = difflib.get_close_matches(name, [*inspect.signature(caller).parameters, *valid], n=1, cutoff=0.5)
                hint = f"Did you mean {near[0]}?" if near else f"Components: {', '.join(valid)}."
                raise ConfigurationError(f"Unknown argument {name}. {hint}")
        return cls(**arguments)

    def with_prompt(self, prompt: BasePromptTemplate | None) -> Components:
        """Return the components with a condense prompt of the user's own, if there is one."""
        return self if prompt is None else replace(self, condense_question_prompt=prompt)


@dataclass(frozen=True)
class Pipeline:
    """Everything a turn needs besides the conversation; shared by all conversations of an engine."""

    settings: CondensePlusSettings
    trigger: Trigger
    extractor: EntityExtractor
    rewriters: tuple[Rewriter, ...]
    carry: Rewriter
    reviewer: Reviewer
    planner: QueryPlanner
    cache: RewriteCache | None
    flights: SingleFlight
    breaker: CircuitBreaker
    cache_breaker: CircuitBreaker
    condense_llm: Callable[[], LLM]
    count_tokens: Callable[[str], int] | None
    clock: Callable[[], float]

    @property
    def cache_is_local(self) -> bool:
        """True if the cache answers without I/O."""
        return isinstance(self.cache, InProcessRewriteCache)

    @property
    def is_stock(self) -> bool:
        """True if the engine is to behave, and sound, like the stock engine."""
        return any(rewriter.name == "stock" for rewriter in self.rewriters)


@dataclass
class FunctionRewriter:
    """A user's plain function, sync or async, as a rewriter."""

    name: str
    function: Callable[[RewriteRequest], Any]

    def rewrite(self, request: RewriteRequest) -> Flow[Any]:
        """Call the function."""
        return (yield call(self.function, request, request.timeout_s))


def as_rewriter(name: str, given: Any) -> Rewriter:
    """Return a rewriter, or a plain function as one.

    Raises:
        ConfigurationError: it is neither.
    """
    if hasattr(given, "rewrite"):
        return given  # type: ignore[no-any-return]
    if callable(given):
        return FunctionRewriter(name, given)
    raise ConfigurationError(f"rewriters[{name!r}] must have a rewrite method or be a function of a RewriteRequest.")


def build_pipeline(settings: CondensePlusSettings, components: Components, condense_llm: Callable[[], LLM]) -> Pipeline:
    """Build the parts of a turn.

    Args:
        settings: the options.
        components: what the user brings.
        condense_llm: returns the model that rewrites; called only when one is needed.

    Raises:
        ConfigurationError: an option names something that does not exist.
    """
    check_languages(settings)
    fusion_method(settings.fusion)
    cache = components.cache
    if cache is None and settings.cache.enabled:
        cache = InProcessRewriteCache(settings.cache.max_entries, settings.cache.ttl_s)
    rewriters = build_rewriters(
        settings.rewrite,
        prompt=components.condense_question_prompt,
        custom={name: as_rewriter(name, given) for name, given in components.rewriters.items()},
    )
    return Pipeline(
        settings=settings,
        trigger=components.trigger or build_trigger(settings),
        extractor=components.entity_extractor or DefaultEntityExtractor(),
        rewriters=rewriters,
        carry=next((one for one in rewriters if isinstance(one, CarryRewriter)), CarryRewriter()),
        reviewer=Reviewer(settings, components.guards),
        planner=components.planner or DefaultQueryPlanner(settings.retrieval),
        cache=cache if settings.cache.enabled else None,
        flights=SingleFlight(),
        breaker=CircuitBreaker(clock=components.clock),
        cache_breaker=CircuitBreaker(CACHE_FAILURES, clock=components.clock),
        condense_llm=condense_llm,
        count_tokens=components.count_tokens,
        clock=components.clock,
    )
