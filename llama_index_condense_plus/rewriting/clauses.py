"""Finding the clause that asks: people answer first and ask then ("嗯，……。它是哪年上映的？")."""

from __future__ import annotations

import re

from llama_index_condense_plus.lexicons import zh
from llama_index_condense_plus.lexicons.memo import remembered
from llama_index_condense_plus.lexicons.patterns import regex
from llama_index_condense_plus.lexicons.text import clip, has_han

_ENDS = "。！？!?;；\n…~～"
_CLAUSE = regex(rf"[^{_ENDS}，,]+[{_ENDS}，,]*")
_ENGLISH_SENTENCE = regex(r"(?:[^.!?;\n]+|\.(?=\S))+[.!?;\n]*")  # gives nothing back: what follows may be empty
_ASKING_MARKS_ZH = regex(r"[?？吗么呢嘛啥谁哪几咋怎]")
_ASKING_WORDS_ZH = regex(
    r"如何|多少|多[久长大高远重贵]|为何|何[时处地种]|是否|[能可]否|有没有|是不是|能不能|可不可以|会不会|要不要|好不好|行不行|对不对"
    r"|告诉|介绍|推荐"
)
_ASKING_BEGINNING_EN = regex(
    r"\W*(?:and |but |so |ok |okay |also |then )?(?:what|who|whose|whom|which|when|where|why|how|is|are|was|were"
    r"|do|does|did|can|could|will|would|should|may|tell|show|give|find|describe|explain|compare|list|send|get|i need"
    r"|i want|i would|i'd|please|let me|what's|who's|how's)\b",
    re.IGNORECASE,
)
_LEAD_EN = regex(
    r"^\W*(?:(?:yes|yeah|yep|no|nope|ok|okay|oh|well|great|thanks|thank you|sure|right|perfect|cool|hi|hello|hey|i see"
    r"|sounds good|good|alright|hmm|ah|wow)\b[\s,.!]+)+",
    re.IGNORECASE,
)
_LEAD_ZH = regex(
    r"^(?:(?:是的?|对的?|嗯+|恩+|哦+|噢|喔|啊|哈+|好的?|行|不是|没错|当然|知道|了解|谢谢|可以|是吗|不客气|没关系|明白)"
    r"[呢啊呀吧了嘛哦的]*[，,。！!、\s]+)+"
)

_SUBORDINATORS_ZH = tuple(zh.SUBORDINATORS)


def asking_clause(text: str) -> str:
    """Return the words of a message that ask, without what is said before.

    A condition or a topic directly before the question belongs to it: "如果提前还款，要付多少钱？" is returned whole.
    A message that asks nothing is returned without leading acknowledgements.

    Example:
        >>> asking_clause("嗯，我看过了，很好看。它是哪年上映的？")
        '它是哪年上映的？'
    """
    start, end = asking_span(text)
    return text[start:end]


def asking_span(text: str) -> tuple[int, int]:
    """Return where the asking clause starts and ends in the text; a huge text is its own clause."""
    if len(clip(text)) != len(text):
        return 0, len(text)
    return _span(text)


@remembered
def _span(text: str) -> tuple[int, int]:
    clause, asks = (_CLAUSE, _asks_zh) if has_han(text) else (_ENGLISH_SENTENCE, _asks_en)
    clauses = [match.span() for match in clause.finditer(text)]
    chosen = next((index for index in reversed(range(len(clauses))) if asks(text, *clauses[index])), None)
    if chosen is None:
        return _trimmed(text, 0, len(text))
    start, end = clauses[chosen]
    while chosen > 0 and _belongs(text, *clauses[chosen - 1]):
        chosen -= 1
        start = clauses[chosen][0]
    return _trimmed(text, start, end)


def _asks_zh(text: str, start: int, end: int) -> bool:
    return bool(_ASKING_MARKS_ZH.search(text, start, end) or _ASKING_WORDS_ZH.search(text, start, end))


def _asks_en(text: str, start: int, end: int) -> bool:
    """Return True if a sentence has a question mark, or is the message's first and begins as a question or request."""
    return text.find("?", start, end) >= 0 or (start == 0 and bool(_ASKING_BEGINNING_EN.match(text, 0, end)))


def _belongs(text: str, start: int, end: int) -> bool:
    """Return True if a clause is a condition or the topic of the one after it."""
    clause = text[start:end].strip()
    if not has_han(clause):
        return clause.endswith(",")
    if clause[-1] not in "，,":
        return False
    return clause.startswith(_SUBORDINATORS_ZH) and not _LEAD_ZH.match(clause)


def _trimmed(text: str, start: int, end: int) -> tuple[int, int]:
    lead = (_LEAD_ZH if has_han(text) else _LEAD_EN).match(text[start:end])
    if lead and lead.end() < end - start and any(character.isalnum() for character in text[start + lead.end() : end]):
        start += lead.end()
    while start < end and (text[start].isspace() or text[start] in "，,。.！!、；;"):
        start += 1
    while end > start and text[end - 1].isspace():
        end -= 1
    return (start, end) if start < end else (0, len(text))
