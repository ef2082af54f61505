"""Hard follow-ups and what a rewrite without a model must say of them, loaded and judged."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from llama_index_condense_plus.lexicons.text import has_han
from llama_index_condense_plus.rewriting.history import build_window
from llama_index_condense_plus.rewriting.review import Reviewer
from llama_index_condense_plus.rewriting.rules import RuleRewriter
from llama_index_condense_plus.settings import CondensePlusSettings
from llama_index_condense_plus.types import RewriteRequest, TriggerDecision, TriggerReason

DATA = Path(__file__).parent / "data"
SETTINGS = CondensePlusSettings()


@dataclass(frozen=True, slots=True)
class HardCase:
    """A conversation with what its last question must become."""

    kind: str
    history: tuple[str, ...]
    question: str
    must: tuple[str, ...] = ()
    """Words that the query holds; ``|`` between alternatives."""
    must_not: tuple[str, ...] = ()
    declines: bool = False
    """True: nothing in the history can be meant."""

    def right(self, query: str | None) -> bool:
        """Return True if a query holds what it must and nothing that it must not."""
        if query is None or self.declines:
            return query is None and self.declines
        folded = query.casefold()
        said = all(any(words in folded for words in term.casefold().split("|")) for term in self.must)
        return said and not any(term.casefold() in folded for term in self.must_not)


@cache
def hard_cases(name: str) -> tuple[HardCase, ...]:
    """Return the cases of one file."""
    lines = (DATA / f"{name}.jsonl").read_text(encoding="utf-8").splitlines()
    rows = [json.loads(line) for line in lines]
    return tuple(
        HardCase(**{key: tuple(value) if isinstance(value, list) else value for key, value in row.items()})
        for row in rows
    )


@cache
def request(case: HardCase) -> RewriteRequest:
    """Return what the rewriter is given, whatever the gate would say."""
    pairs = [(("user", "assistant")[n % 2], text) for n, text in enumerate(case.history)]
    window = build_window(pairs, SETTINGS.history)
    language = "zh" if has_han(case.question) else "en"
    return RewriteRequest(case.question, window, TriggerDecision(True, TriggerReason.FORCED, language))


def rewritten(case: HardCase) -> str | None:
    """Return the rules' query, None if they decline."""
    return RuleRewriter().outcome(request(case)).text


def right_by_kind(cases: Sequence[HardCase]) -> Mapping[str, tuple[int, int]]:
    """Return how many cases of each kind are right, and how many there are."""
    counted: dict[str, list[bool]] = defaultdict(list)
    for case in cases:
        counted[case.kind].append(case.right(rewritten(case)))
    return {kind: (sum(right), len(right)) for kind, right in counted.items()}


def rejected_by_guards(cases: Sequence[HardCase]) -> list[tuple[HardCase, str]]:
    """Return the rewrites that the default guards would not let pass if a model had written them."""
    reviewer, found = Reviewer(SETTINGS), []
    for case in cases:
        query = rewritten(case)
        if query and not reviewer.review(query, case.question, request(case).window).accepted:
            found.append((case, query))
    return found
