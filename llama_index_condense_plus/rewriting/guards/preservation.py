"""Guard: numbers, units, negation, quoted strings, identifiers and the kind of question stay as they were."""

from __future__ import annotations

import re
from collections import Counter

from llama_index_condense_plus.lexicons.memo import remembered
from llama_index_condense_plus.lexicons.patterns import regex
from llama_index_condense_plus.lexicons.quantities import quantities
from llama_index_condense_plus.lexicons.text import folded, has_han, tokenize
from llama_index_condense_plus.rewriting.guards.clauses import asking_clause, asking_sentence, asks
from llama_index_condense_plus.rewriting.guards.kinds import kinds
from llama_index_condense_plus.types import GuardVerdict, HistoryWindow

_QUOTED = regex(
    r"《([^《》\n]+)》|「([^「」\n]+)」|『([^『』\n]+)』|“([^“”\n]+)”|\"([^\"\n]+)\"|`([^`\n]+)`|"
    r"(?<!\w)'([^'\n]{2,}?)'(?!\w)|‘([^‘’\n]+)’"
)
_IDENTIFIER = regex(
    r"https?://\S+[\w/]|[\w.+-]+@[\w-]+\.[\w.]+"
    r"|(?<![\w./\\-])(?:[/~\\]?[a-z0-9_+#-]+(?:[./\\:_-][a-z0-9_+#*-]+)+|--?[a-z][\w-]+|[a-z]+\d[a-z0-9]*"
    r"|\d+[a-z]+[a-z0-9]*|/[a-z0-9_-]+|[a-z]+(?:\+\+|#))(?!\w)",
    re.IGNORECASE | re.ASCII,
)
_PLAIN = regex(r"[a-z]+(?:[-/][a-z]+)*", re.IGNORECASE)
_CAMEL = regex(r"(?<![\w./-])(?:[a-z]+[A-Z]\w*|[A-Z][a-z0-9]+(?:[A-Z][a-z0-9]*)+)(?!\w)", re.ASCII)
_CLOCK = regex(
    r"[\d:.,/%-]+(?:st|nd|rd|th|am|pm|s|k|m|g|kg|km|mb|gb|tb|mg|ml|cm|mm|h|hz|ghz|mhz|w|kw|kwh|v|x|min|mins|hrs?|px|"
    r"ms|ft|lbs?)?",
    re.IGNORECASE,
)
_VERSION_DOTS = 2
"""1.2.3 is a version, 1.2 a number."""
_NOT_NEGATION_ZH = frozenset(
    """
    不错 不过 不同 不久 不仅 不但 不管 不论 不只 不光 不少 不断 不如 不妨 不料 不愧 不由得 不得不 不得了 不好意思
    不客气 不用谢 不知 不知道 不晓得 不清楚 不止 不一会儿 不一定 不然 不了 差不多
    没错 没问题 没关系 没事 没准 没想到 没听说 未来 未知 未婚妻 未婚夫 无论 无线 无线电 无锡 无数 无非 无疑 无比 无聊
    无敌 非常 非洲 非凡 非得 别人 别的 别墅 别名 别称 莫斯科 莫名 莫非 免费 免得 免疫
    """.split()  # noqa: SIM905
)
_LATIN = regex(r"[a-z]")
_NEGATION_ZH = regex(
    r"^(?:不|没|没有|未|无|非|别|勿|不是|除了|除|除外|免)$|^(?:不|未|无|没|非|勿|禁).|^[别休]\w|不[了到得上起]|"
    r"^(?:从不|从未|尚未|并非|并不|绝不|毫无|毫不|禁止|拒绝)"
)
_A_NOT_A = regex(
    r"不知道|不晓得|不清楚|不确定|不好意思|不客气|不用谢|不是[吗么]|(.{1,2})[不没]\1|有没有|有无|是否|"
    r"[不没](?:有)?(?=[?？。]|$)|没(?:有)?(?:吗|呢)?[?？]"
)
_NEGATION_EN = regex(
    r"\b(?:not|no|never|none|nobody|nothing|nowhere|neither|nor|without|cannot|except|excluding|unless|unable)\b|"
    r"\bnon-?(?=[a-z])|n['’]t\b|"
    r"\b(?:dont|doesnt|didnt|cant|wont|isnt|arent|wasnt|werent|wouldnt|couldnt|shouldnt|havent|hasnt|hadnt)\b|"
    r"\b(?:instead of|other than|rather than)\b"
)
_NEGATION_EN_PADDING = regex(
    r"^\s*(?:no|nope)\b\s*(?:[,.!;]|$|(?=thank|i\b|it\b|that\b|they\b|we\b|you\b|just\b|the\b|any\b|what\b|how\b|"
    r"is\b|can\b))|\b(?:why not|why don['’]?t (?:you|we|i)|no problem|no\. ?\d|not sure|whether or not|or not|"
    r"not only|do(?:n['’]t| not) know|if not)\b|,\s*(?:is|are|do|does|did|was|were|ca|wo|could|should|would|have|"
    r"has)n['’]?t (?:it|they|he|she|you|we|i|there)\s*\?"
)


class PreservationGuard:
    """Compares the asking clause with the rewrite, one verdict for each of the five measures.

    What a turn answers before it asks may go; a reference to a list item (第二种) may become its name.
    """

    name = "preservation"

    def check(self, original: str, rewrite: str, window: HistoryWindow) -> list[GuardVerdict]:
        """Return the verdicts on numbers, negation, quotes, identifiers and the kind of question."""
        clause = _binding(original, window)
        lost = {
            "numbers": _lost_numbers(clause, rewrite),
            "negation": _lost_negation(clause, original, rewrite, window),
            "quotes": _lost_quotes(clause, rewrite),
            "identifiers": _lost_identifiers(clause, rewrite),
            "question_type": _other_kind(original, rewrite),
        }
        return [
            GuardVerdict(f"{self.name}.{measure}", not gone, "reject", float(len(gone)), 0.0, ", ".join(gone[:6]))
            for measure, gone in lost.items()
        ]


def _binding(original: str, window: HistoryWindow) -> str:
    """Return the part of the question that binds: without the first clause if that answers the other side."""
    sentence = asking_sentence(original)
    last = window.messages[-1] if window.messages else None
    if last is not None and last.role == "assistant" and asks(last.full_text[-_TAIL:]):
        return asking_clause(original)
    return sentence


_TAIL = 200


def _lost_numbers(before: str, after: str) -> list[str]:
    here, there = quantities(folded(before)), quantities(folded(after))
    if not here and not any(quantity.reference for quantity in there):
        return []
    wanted = Counter(q.value for q in here if not q.reference)
    found = Counter(q.value for q in there)
    ordinals = {q.value for q in here if q.value[0] == "#"}
    lost = [value for value in (wanted - found).elements() if not _same_number(value, found, after)]
    if ordinals:  # 第二种 may be resolved, but not into 第三种
        lost += [q.value for q in there if q.reference and q.value[0] == "#" and q.value not in ordinals]
    units = {q.value: q.unit for q in there}
    lost += [
        q.value + q.unit
        for q in here
        if q.unit
        and units.get(q.value)
        and units[q.value] != q.unit
        and not any(o.value == q.value and o.unit == q.unit for o in there)
    ]
    return lost


def _same_number(value: str, found: Counter[str], after: str) -> bool:
    """Return True for 98 → 1998, and for a number that became part of a name (GTE-3000)."""
    if any(other.endswith(value) and len(value) == 2 and len(other) == 4 for other in found):  # noqa: PLR2004
        return True
    return bool(
        re.search(rf"(?<=[a-z][-_ ]){re.escape(value)}(?!\d)|(?<=[a-z]){re.escape(value)}(?!\d)", folded(after))
    )


@remembered
def negations(text: str) -> tuple[str, ...]:
    """Return the words of a text that negate; tags, idioms and A-not-A questions are none."""
    plain = folded(text)
    found: list[str] = []
    if has_han(plain):
        told = _A_NOT_A.sub("", plain)
        found += [
            t.text
            for t in tokenize(text if told == plain else told)
            if _NEGATION_ZH.search(t.text) and t.text not in _NOT_NEGATION_ZH
        ]
    if _LATIN.search(plain):
        found += [m.group() for m in _NEGATION_EN.finditer(_NEGATION_EN_PADDING.sub(" ", plain))]
    return tuple(found)


def _lost_negation(before: str, original: str, after: str, window: HistoryWindow) -> list[str]:
    here, there = negations(before), negations(after)
    if len(there) < len(here):
        return [f"lost {word}" for word in here[: len(here) - len(there)]]
    if (
        there
        and not here
        and not negations(original)
        and not any(negations(m.full_text[:_SCANNED]) for m in window.all_messages)
    ):
        return [f"new {word}" for word in there]
    return []


_SCANNED = 2_000


def _lost_quotes(before: str, after: str) -> list[str]:
    quotes = _quoted(before)
    return [quoted for quoted in quotes if _squeezed(quoted) not in _squeezed(after)]


def _quoted(text: str) -> list[str]:
    return [next(filter(None, groups), "").strip() for groups in _QUOTED.findall(text)]


def _squeezed(text: str) -> str:
    return re.sub(r"[\s.,!?，。！？]", "", folded(text))


def _lost_identifiers(before: str, after: str) -> list[str]:
    here = identifiers(before)
    if not here:
        return []
    there = {_normal(code) for code in identifiers(after)}
    squeezed = re.sub(r"[-_\s]", "", folded(after))
    return [
        code
        for code in here
        if _normal(code) not in there and not _stands_alone(_normal(code), squeezed, folded(after))
    ]


def _stands_alone(code: str, squeezed: str, plain: str) -> bool:
    """Return True if a code occurs with other spacing, and not as part of a longer one."""
    if code not in squeezed:
        return False
    loose = r"[-_\s]?".join(map(re.escape, code))
    return re.search(rf"(?<![a-z0-9]){loose}(?![a-z0-9]|[-_./]\w)", plain) is not None


def _normal(code: str) -> str:
    return re.sub(r"[-_\s]", "", folded(code)).rstrip("./:")


@remembered
def identifiers(text: str) -> tuple[str, ...]:
    """Return the codes, paths, versions, addresses and dotted names of a text."""
    found = [m.group() for m in _IDENTIFIER.finditer(text)]
    kept = [c for c in found if (c.count(".") >= _VERSION_DOTS or not _CLOCK.fullmatch(c)) and not _words_only(c)]
    return (*kept, *(m.group() for m in _CAMEL.finditer(text) if m.group() not in kept))


def _words_only(code: str) -> bool:
    """Return True for hyphenated and alternative words such as long-term and and/or."""
    if not _PLAIN.fullmatch(code):
        return False
    return not code.isupper() or "-" in code


def _other_kind(original: str, rewrite: str) -> list[str]:
    """Return the change if the question asks for one kind and the rewrite for others only."""
    clause = asking_clause(original)
    before, after = kinds(clause), kinds(rewrite)
    if len(before) != 1 or not after or before & after or not asks(clause):
        return []
    return [f"{next(iter(before))} → {', '.join(sorted(after))}"]
