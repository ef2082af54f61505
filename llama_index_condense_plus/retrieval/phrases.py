"""Variants of a query that need no model: glossary words exchanged, comparisons taken apart, key phrases alone."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from llama_index_condense_plus.languages import Token, pack_of
from llama_index_condense_plus.languages.base import NAMING
from llama_index_condense_plus.languages.text import aligned
from llama_index_condense_plus.retrieval.plan import QUOTED
from llama_index_condense_plus.settings.sections import SynonymRule

COMPARISONS = ("compare", "difference", "versus", "which_of")
"""Names of a language's patterns of comparisons, with the groups ``a`` and ``b`` and perhaps ``rest`` and ``more``."""
_RUNS = dict.fromkeys(NAMING, "name") | dict.fromkeys(("number", "time"), "quantity")
_RUNS |= dict.fromkeys(("noun", "adjective", "word"), "noun")


def synonym_variants(query: str, rules: Sequence[SynonymRule]) -> Iterator[str]:
    """Yield the query with a glossary word replaced, one for each replacement of each rule that fires.

    Args:
        query: the search query.
        rules: the glossary; a Latin word matches whole words only.
    """
    for rule in rules:
        flags = re.IGNORECASE if rule.ignore_case else 0
        calling = rule.when_any or tuple(item[0] for item in rule.replace)
        called_by = next((word for word in calling if re.search(_whole(word), query, flags)), None)
        if called_by is None:
            continue
        for item in rule.replace:
            old, new = (called_by, item) if isinstance(item, str) else item
            if not re.search(re.escape(new), query, flags):
                replaced = re.sub(_whole(old), new.replace("\\", r"\\"), query, flags=flags)
                if replaced != query:
                    yield replaced


def _whole(word: str) -> str:
    start = r"(?<![A-Za-z0-9_])" if word[:1].isascii() else ""
    end = r"(?![A-Za-z0-9_])" if word[-1:].isascii() else ""
    return f"{start}{re.escape(word)}{end}"


def subquestions(query: str) -> list[str]:
    """Return one question for each side of a comparison ("比较 A 和 B 的价格", "A vs B"); none for anything else.

    Example:
        >>> subquestions("比较 GTE-2000 和 GTE-3000 的价格")
        ['GTE-2000 价格', 'GTE-3000 价格']
    """
    text, pack = query.strip(), pack_of(query)
    for name in COMPARISONS:
        match = pack.pattern(name).search(aligned(text))
        if match is None:
            continue
        parts = {group: text[slice(*match.span(group))] if match[group] else "" for group in match.groupdict()}
        rest = " ".join(filter(None, (_from_content(parts.get(group, "")) for group in ("rest", "more"))))
        return [f"{parts[side]} {rest}".strip() for side in ("a", "b")]
    return []


def _from_content(words: str) -> str:
    """Return the words from the first that says something on."""
    return next((words[token.start :] for token in _tokens(words) if token.is_content), "").strip()


def key_phrases(query: str) -> list[str]:
    """Return the names, quantities and noun phrases of a query, in order, without repetitions.

    Example:
        >>> key_phrases("What is the net profit of Acme in 2024?")
        ['net profit', 'Acme', '2024']
    """
    phrases = [match.group(1) for match in QUOTED.finditer(query)]
    rest = QUOTED.sub(",", query)
    run, end = "", ""
    at = 0
    for token in _tokens(rest):
        kind, gap = _RUNS.get(token.kind, ""), rest[at : token.start]
        if run and (kind != end or gap.strip() or not kind):
            phrases.append(run)
            run = ""
        if kind:
            run += (gap if run else "") + token.text
        end, at = kind, token.end
    return list(dict.fromkeys(filter(None, [*phrases, run])))


def _tokens(text: str) -> tuple[Token, ...]:
    return pack_of(text).tokenize(text)
