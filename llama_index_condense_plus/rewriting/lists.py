"""Finding the items of a list in running text, for "the second one" and for cutting lists item by item."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from llama_index_condense_plus.lexicons.memo import remembered
from llama_index_condense_plus.lexicons.patterns import regex
from llama_index_condense_plus.lexicons.text import clip

_LINE_ITEM = regex(
    r"^\s*(?:[-*•·●▪–]\s+|\(?\d{1,2}[.)、）:：]\s*|[（(]\d{1,2}[)）]\s*|[①-⑳]\s*|[一二三四五六七八九十]{1,2}[、.．:：]\s*"
    r"|第[一二三四五六七八九十]{1,2}[种个点步条项款类][:：,，是]?\s*|[A-Ha-h][.)、）]\s*)"
)
_INLINE_MARKS = (
    regex(r"(?:(?<=\s)|(?<=[:：;；,，。.!！])|^)(?:\(?\d{1,2}[.)、）]|[（(]\d{1,2}[)）])(?!\d)\s*"),
    regex(r"[①-⑳]\s*"),
    regex(r"第[一二三四五六七八九十][种个点步条项款类](?:方案|方法|办法|选择)?[:：,，是]*\s*"),
    regex(r"(?:(?<=[:：;；,，。])|^)[一二三四五六七八九][是、.．]\s*"),
    regex(r"(?:(?<=[:：;；,，。])|^)(?:首先|其次|再次|最后|第[一二三四五六七八九])[是,，:：]?\s*"),
    regex(r"\b(?:first|second|third|fourth|fifth)(?:ly)?[,:]\s*", re.IGNORECASE),
)
_LETTERED = regex(r"(?:(?<=[\s:：;；,，。.])|^)([A-H])[.、)）]\s*")
_ENUMERATION = regex(r"[^、，,。；;：:！!？?\n]{1,24}(?:、[^、，,。；;：:！!？?\n]{1,24}){1,}")
_PHRASE = r"[\w'’.+#-]+(?: [\w'’.+#-]+){0,4}"
_MAX_WORDS = 5
"""Words of an item in a series with commas."""
_SERIES_END = regex(rf"(?:{_PHRASE} )?(?:and|or) {_PHRASE}")
_JOIN = regex(r"(?:^| )(?:and|or) ")
_SERIES_TEXT = regex(r"[\w'’.+#, -]+")
"""A stretch of the characters that a series may hold."""
_HAN_GLUE = regex(r"(?:以及|还有|和|与|及|或者?|或是)")
_LEAD = regex(r"^.*?(?:包括|分别是|比如|例如|如|有|是|推荐|为|：|:)")
_TAIL = regex(r"(?:等等?|这?[两三四五六七八九几]?[种个款部首类].*)$")
_END = regex(r"[;；。.,，\s]+$")
_MIN_ITEMS = 2
_RULE = regex(r"^\|?\s*:?-{2,}:?\s*(?:\|\s*:?-{2,}:?\s*)*\|?\s*$")
_NAME_END = regex(r"[:：。;；（(]|[，,](?=\S{6})|, | [-–—] |，| (?:is|are|was|costs?|takes?|has|have) ")
MAX_ITEM_CHARS = 40
"""A list item is named by its head, up to this many characters."""


def split_items(text: str) -> list[str]:
    """Return a text's prose and list items as separate segments, in order; one segment if it holds no list."""
    lines = [line for line in text.split("\n") if line.strip()]
    if sum(_LINE_ITEM.match(line) is not None for line in lines) < _MIN_ITEMS:
        return [text]
    segments: list[str] = []
    for line in lines:
        if _LINE_ITEM.match(line) or not segments or _LINE_ITEM.match(segments[-1]):
            segments.append(line)
        else:
            segments[-1] += "\n" + line
    return segments


@remembered
def list_items(text: str) -> tuple[str, ...]:
    """Return the items of a text's list, clipped, without their marks, in order; empty if there is none.

    Lists on lines come first, then the rows of a Markdown table (``name: cell, cell``), then numbered ones inside a
    sentence, then enumerations ("A、B和C", "A, B and C").
    """
    text = clip(text)
    lines = [line.strip() for line in text.split("\n")]
    marked = [_END.sub("", _LINE_ITEM.sub("", line)) for line in lines if _LINE_ITEM.match(line)]
    if len(marked) >= _MIN_ITEMS:
        return tuple(item for item in marked if item)
    rows = table_rows(lines)
    if len(rows) >= _MIN_ITEMS:
        return rows
    for parts in (*(mark.split(text)[1:] for mark in _INLINE_MARKS), _lettered(text)):
        items = [_END.sub("", part.split("\n")[0].split("。")[0]) for part in parts]
        items = [item for item in items if item]
        if len(items) >= _MIN_ITEMS:
            return tuple(items)
    return _enumeration(text)


def _lettered(text: str) -> list[str]:
    """Return what follows each of A., B., C. … in a sentence; nothing if the letters do not come in order."""
    parts = _LETTERED.split(text)[1:]
    letters = "".join(parts[::2])
    return parts[1::2] if len(letters) > 1 and "ABCDEFGH".startswith(letters) else []


def table_rows(lines: Sequence[str]) -> tuple[str, ...]:
    """Return the rows under the first Markdown table's rule, each as its first cell with the others behind it."""
    rule = next((index for index, line in enumerate(lines) if _RULE.match(line)), None)
    if rule is None:
        return ()
    rows: list[str] = []
    for line in lines[rule + 1 :]:
        if "|" not in line:
            break
        cells = [cell.strip(" *`") for cell in line.strip().strip("|").split("|")]
        rows.append(f"{cells[0]}: {', '.join(cells[1:])}" if len(cells) > 1 else cells[0])
    return tuple(rows)


def item_name(item: str) -> str:
    """Return the head that names a list item: "Basic" of "Basic: $9 a month"."""
    return _NAME_END.split(item, maxsplit=1)[0].strip(" *`")[:MAX_ITEM_CHARS]


def _enumeration(text: str) -> tuple[str, ...]:
    best: tuple[str, ...] = ()
    for match in _ENUMERATION.finditer(text):
        parts = match.group().split("、")
        parts = [*parts[:-1], *_HAN_GLUE.split(_TAIL.sub("", parts[-1]), maxsplit=1)]
        parts[0] = _LEAD.sub("", parts[0])
        items = tuple(part.strip() for part in parts if part.strip())
        best = items if len(items) >= len(best) else best
    for items in _comma_series(text):
        best = items if len(items) >= len(best) else best
    return best if len(best) >= _MIN_ITEMS else ()


def _comma_series(text: str) -> Iterator[tuple[str, ...]]:
    """Yield the items of "A, B and C", in one pass over the parts between commas."""
    for stretch in _SERIES_TEXT.finditer(text):
        head: list[str] = []
        for part in stretch.group().split(", "):
            last = _SERIES_END.match(part)
            least = 2 if last and _JOIN.match(part) else 1  # "A, B, and C", "A, B and C"
            if last and len(head) >= least:
                yield tuple(item for words in (*head, last.group()) for item in _JOIN.split(words) if item.strip())
                head = []
                continue
            words = part.rpartition(",")[2].split(" ")
            whole = len(words) <= _MAX_WORDS and "," not in part and all(words)
            head = [*head, part] if whole else [" ".join(word for word in words[-_MAX_WORDS:] if word)]
