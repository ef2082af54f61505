"""Variants of a query that need no model: glossary words exchanged, comparisons taken apart, key phrases alone."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from llama_index_condense_plus.lexicons.patterns import regex
from llama_index_condense_plus.lexicons.text import content_tokens, tokenize
from llama_index_condense_plus.settings.sections import SynonymRule

_ZH_SIDES = r"(?P<a>[^，,。？?]+?)\s*(?:和|与|跟|及|vs\.?)\s*(?P<b>[^，,。？?的]+?)\s*(?:的\s*(?P<rest>[^，,。？?]+?))?"
_ZH_ASKS = (
    r"(?:相比|比起来|之间)?\s*[，,]?\s*的?(?:有(?:什么|啥|何|哪些)|存在(?:什么|哪些))?(?:区别|差别|不同|差异)(?:是什么|在哪里?|呢)?"
    r"|[，,]?\s*(?:哪一?[个款种家部]|谁)(?:的)?[更最]?(?P<more>[^，,。？?]+)"
)
_EN_SIDE = r"[\w.+#/-]+(?: [\w.+#/-]+){0,4}?"
_EN_REST = r"(?P<rest>(?: in| of| on| for| when| by|:|,) [^?.]+)?"
_COMPARISONS = tuple(
    regex(source, re.IGNORECASE)
    for source in (
        rf"(?:比较|对比)(?:一下|下)?\s*{_ZH_SIDES}[。？?]*$",
        rf"^(?:请问)?{_ZH_SIDES}\s*(?:{_ZH_ASKS})[。？?]*$",
        rf"\bdifferences? between (?:the )?(?P<a>{_EN_SIDE}) and (?:the )?(?P<b>{_EN_SIDE}){_EN_REST}[?.]*$",
        rf"\bcompare (?:the )?(?P<a>{_EN_SIDE}) (?:and|with|to|against) (?:the )?(?P<b>{_EN_SIDE}){_EN_REST}[?.]*$",
        rf"(?:^|\b(?:is|are|for|of|on) )(?P<a>{_EN_SIDE}) (?:vs\.?|versus) (?P<b>{_EN_SIDE}){_EN_REST}[?.]*$",
        rf"\bwhich (?:one )?is (?P<rest>\w+)[,:]? (?P<a>{_EN_SIDE}) or (?P<b>{_EN_SIDE})[?.]*$",
        r"^(?P<a>[^，,。？?]+?)\s*vs\.?\s*(?P<b>[^，,。？?的]+)(?:的(?P<rest>[^。？?]+))?[。？?]*$",
    )
)
_LEAD = regex(r"^(?:[:,]|in terms of|the|an?|of|in|on|for|when|by)\s+")
_QUOTED = regex(r"[《「『“\"]([^》」』”\"]+)[》」』”\"]")
_NAME_TAGS = frozenset({"nr", "nrt", "nrfg", "ns", "nt", "nz"})
_QUANTITY_TAGS = ("m", "q", "t")
_NOUN_TAGS = ("n", "j", "l", "i", "s", "b", "a", "vn", "eng")


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
    text = query.strip()
    for pattern in _COMPARISONS:
        match = pattern.search(text)
        if match is None:
            continue
        parts = {name: _without_lead(words or "") for name, words in match.groupdict().items()}
        rest = " ".join(filter(None, (parts.get("rest"), parts.get("more"))))
        return [f"{parts[side]} {rest}".strip() for side in ("a", "b")]
    return []


def _without_lead(words: str) -> str:
    stripped = words.strip()
    while (shorter := _LEAD.sub("", stripped).strip()) != stripped:
        stripped = shorter
    return stripped


def key_phrases(query: str) -> list[str]:
    """Return the names, quantities and noun phrases of a query, in order, without repetitions.

    Example:
        >>> key_phrases("张三第一季度的净利润是多少？")
        ['张三', '第一季度', '净利润']
    """
    phrases = [match.group(1) for match in _QUOTED.finditer(query)]
    rest = _QUOTED.sub("，", query)
    run: list[str] = []
    kind, end = "", 0
    for token in tokenize(rest):
        now = _kind(token.text, token.pos)
        gap = rest[end : token.start]
        if run and (now != kind or gap.strip() or not now):
            phrases.append(_joined(run))
            run = []
        if now:
            run.append(gap + token.text if run else token.text)
        kind, end = now, token.start + len(token.text)
    if run:
        phrases.append(_joined(run))
    return list(dict.fromkeys(phrase for phrase in phrases if phrase))


def _kind(word: str, pos: str) -> str:
    if pos in _NAME_TAGS:
        return "name"
    if not content_tokens(word):
        return ""
    if pos.startswith(_QUANTITY_TAGS):
        return "quantity"
    return "noun" if pos.startswith(_NOUN_TAGS) else ""


def _joined(run: Sequence[str]) -> str:
    return "".join(run).strip()
