"""The asking clause: in a turn that answers first and then asks, what the question really is."""

from __future__ import annotations

from llama_index_condense_plus.lexicons.memo import remembered
from llama_index_condense_plus.lexicons.patterns import regex
from llama_index_condense_plus.lexicons.text import folded, has_han
from llama_index_condense_plus.rewriting.guards.features import features
from llama_index_condense_plus.rewriting.guards.kinds import kinds

_SENTENCE = regex(r"[^。！？?!；;\n]+[。！？?!；;\n]*|[。！？?!；;\n]+")
_LATIN_SENTENCE = regex(r"(?:[^.!?\n;]|[.;](?=\S))+[.!?;\n]*\s*|[.!?;\n]+\s*")
_CLAUSE = regex(r"[^，,]+[，,]?")
_ZH_ASKS = regex(
    r"什么|还是|是(?:[\u4e00-\u9fff]{1,2})是|啥|谁|哪|怎么|怎样|如何|咋|为何|多少|几(?!乎|近)|多[久长大高远重贵快]|何[时地处种]|吗|呢|"
    r"(?<![那这要])么(?:$|[。！？?!])|是否|能否|可否|(.)[不没]\1|有没有|没(?:有)?[？?]|不[？?]|有无|区别|介绍|列出|"
    r"比较|对比|推荐|告诉|解释|说明|讲讲|说说|谈谈|查|找|翻译|总结"
)
_OPENING = (
    r"(?:^|[,;:.!?]\s*|\b(?:and|but|so|or|then|also|ok|okay|yes|no|well|please|hi|hello|hey|great|just|kindly|now"
    r"|exactly)\s+)"
)
_STARTING = _OPENING.replace("[,;:.!?]", "[:.!?]")
_BEFORE_VERB = (
    r"(?:^(?:and |but |or |also )?|[:.!?]\s*|^(?:ok|okay|yes|no|well|so|then|please|hi|hello|hey|great|now)[\s,]+)"
)
_EN_ASKS = regex(
    rf"{_STARTING}(?:(?:in|on|at|for|to|of|by|from|with|about|under|since|until|during|through)\s+)?"
    r"(?:what|whats|who|whos|whose|whom|which|when|where|why|how|whether)(?:'s|'re)?\b"
    rf"|{_BEFORE_VERB}(?:is|are|was|were|do|does|did|can|could|will|would|should|shall|may|might|has|have|had|"
    rf"am)(?:n't)?\s"
    rf"|{_OPENING}(?:tell|give|show|list|explain|describe|compare|find|recommend|suggest|provide|define|summari[sz]e|"
    rf"get|translate|name"
    r"|discuss|elaborate|outline|identify|calculate|book|set|search|look|check|add|remind|play|schedule|cancel|"
    r"navigate|pick|help|need|know)\b"
    r"|\bi(?:'d| would)? (?:need|want|wanna|like|would like)\b|\b(?:know|wonder\w*|see|tell me|explain|"
    r"ask(?:ing)?) (?:if|about|what|who|which|when|where|why|how|whether)\b"
)
_CONDITION = regex(
    r"^\W*(?:如果|假如|要是|假设|若|倘若|当|除非|只要|既然|在|对于|关于|从|比起|跟|和)|(?:的话|的情况下|时|时候|以后|"
    r"之后|之前|后|前)[，,]$"
)


@remembered
def asks(text: str) -> bool:
    """Return True if a text asks or requests something, question mark or not."""
    plain = folded(text)
    if "?" in plain:
        return True
    return bool((has_han(plain) and _ZH_ASKS.search(plain)) or _EN_ASKS.search(plain))


def sentences(text: str) -> list[str]:
    """Return the sentences of a text with their marks."""
    pattern = _SENTENCE if has_han(text) else _LATIN_SENTENCE
    return [found for match in pattern.finditer(text) if (found := match.group().strip())]


@remembered
def asking_sentence(text: str) -> str:
    """Return the last sentence that asks and has content, with a short one before it that lends it content.

    A text that asks nothing is returned whole.
    """
    parts = sentences(text[:_MAX_SPLIT])
    for at in range(len(parts) - 1, -1, -1):
        if asks(parts[at]):
            start = at
            while start > max(0, at - _MAX_LENT) and not features(" ".join(parts[start : at + 1])).words:
                start -= 1
            return " ".join(parts[start : at + 1])
    return text


_MAX_SPLIT = 4_000
_MAX_LENT = 4
"""Parts before the asking one that may lend it content: reading on would cost a long repetition its square."""


def _stands_alone(clause: str) -> bool:
    """Return True if a clause says what is asked: by a word of content or by the kind of question (多大, 在哪)."""
    return bool(features(clause).words or kinds(clause))


@remembered
def asking_clause(text: str) -> str:
    """Return the last clause of the asking sentence that has content; Chinese turns run clauses on with commas.

    Conditions (如果…, …的话) stay with what they condition.
    """
    sentence = asking_sentence(text)
    if not has_han(sentence):
        return sentence
    parts = _CLAUSE.findall(sentence)
    last = next((i for i in range(len(parts) - 1, -1, -1) if asks(parts[i])), len(parts) - 1)
    start = last
    while start > max(0, last - 2 * _MAX_LENT) and (
        not _stands_alone("".join(parts[start : last + 1])) or _CONDITION.search(parts[start - 1])
    ):
        start -= 1
    return "".join(parts[start : last + 1])
