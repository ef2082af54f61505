"""Checking a data set as a whole: duplicates, balance, terms that contradict, gold that cannot be reached."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from llama_index.core.base.base_retriever import BaseRetriever

from llama_index_condense_plus.evaluation.cases import Case, Dataset
from llama_index_condense_plus.evaluation.matching import holds, normal
from llama_index_condense_plus.lexicons.text import has_han

MIN_SHARE = 0.25
"""Least share of cases of either kind: those that need a rewrite and those that do not."""
MIN_LANGUAGE_SHARE = 0.4
"""Least share of each of two languages."""
MIN_CATEGORY = 4
"""Fewest cases of one category."""


def check_dataset(dataset: Dataset, retriever: BaseRetriever | None = None) -> list[str]:
    """Return one line for each fault of a data set.

    Args:
        dataset: labelled cases with their corpus.
        retriever: searches the corpus; None: whether gold can be reached is not checked.
    """
    return [
        *_duplicates(dataset),
        *_balance(dataset),
        *(f"{case.id}: {fault}" for case in dataset.cases for fault in _case(case)),
        *_aliases(dataset),
        *_gold(dataset, retriever),
    ]


def _duplicates(dataset: Dataset) -> Iterator[str]:
    seen: dict[tuple[str, ...], str] = {}
    for case in dataset.cases:
        words = (*(normal(message.content) for message in case.history), normal(case.question))
        if words in seen:
            yield f"{case.id}: the same conversation as {seen[words]}"
        seen[words] = case.id
    texts: dict[str, str] = {}
    for passage in dataset.passages:
        text = normal(passage.text)
        if text in texts:
            yield f"passage {passage.id}: the same text as {texts[text]}"
        texts[text] = passage.id


def _balance(dataset: Dataset) -> Iterator[str]:
    total = len(dataset.cases)
    for needs, words in ((True, "need a rewrite"), (False, "need none")):
        share = sum(case.needs_rewrite is needs for case in dataset.cases) / total
        if share < MIN_SHARE:
            yield f"only {share:.0%} of the cases {words}, at least {MIN_SHARE:.0%} should"
    languages = Counter(case.lang for case in dataset.cases)
    for lang, count in languages.items():
        if len(languages) == 2 and count < MIN_LANGUAGE_SHARE * total:  # noqa: PLR2004, two halves
            yield f"only {count} of {total} cases are in {lang}"
    for category, count in Counter(case.category for case in dataset.cases).items():
        if count < MIN_CATEGORY:
            yield f"category {category} has only {count} cases, at least {MIN_CATEGORY} are wanted"


def _case(case: Case) -> Iterator[str]:
    if not case.accepted_rewrites:
        yield "no accepted rewrite"
    if case.lang in ("zh", "en") and has_han(case.question) is not (case.lang == "zh"):
        yield f"the language is {case.lang}, but the question is not"
    if case.needs_rewrite and not case.history:
        yield "needs a rewrite but has no history"
    if case.history and case.history[-1].role != "assistant":
        yield "the last message of the history is not the assistant's"
    if case.needs_rewrite is False and not case.aliases and not _as_typed(case):
        yield "needs no rewrite, but the question as typed is not accepted"
    for accepted in case.accepted_rewrites:
        yield from (f"accepted {accepted!r} lacks {term!r}" for term in case.must_contain if not holds(accepted, term))
        yield from (f"accepted {accepted!r} holds {term!r}" for term in case.must_not_contain if holds(accepted, term))


def _as_typed(case: Case) -> bool:
    return normal(case.question) in {normal(accepted) for accepted in case.accepted_rewrites}


def _aliases(dataset: Dataset) -> Iterator[str]:
    seen: dict[str, str] = {}
    for case in dataset.cases:
        for alias, name in case.aliases.items():
            if seen.setdefault(alias, name) != name:
                yield f"{case.id}: alias {alias} means {name} here and {seen[alias]} elsewhere"


def _gold(dataset: Dataset, retriever: BaseRetriever | None) -> Iterator[str]:
    known = {passage.id for passage in dataset.passages}
    for case in dataset.cases:
        missing = [name for name in case.gold if name not in known]
        yield from (f"{case.id}: there is no passage {name}" for name in missing)
        if retriever is None or missing or not case.gold or not case.accepted_rewrites:
            continue
        found = {node.node.node_id for node in retriever.retrieve(case.accepted_rewrites[0])}
        if not found & set(case.gold):
            yield f"{case.id}: the accepted rewrite does not find {', '.join(case.gold)}"
