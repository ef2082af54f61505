"""Counting and cutting text in tokens, offline and cheap, and finding the items of a list in it."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from functools import lru_cache

from llama_index_condense_plus.languages import WordPack, pack_of
from llama_index_condense_plus.languages.text import clip, remembered

TokenCounter = Callable[[str], int]

MAX_ITEM_CHARS = 40
"""A list item is named by its head, up to this many characters."""
MAX_ITEMS = 50
"""Items of a list that somebody can point at."""
_PIECES = re.compile(r"[A-Za-z]+|\d+|[^\sA-Za-z\d]")
_LETTERS_PER_TOKEN = 6
_DIGITS_PER_TOKEN = 3
_MOST_CHARS_PER_TOKEN = 12
"""More characters a token than any text has; spares counting a megabyte that will be cut anyway."""
_ELLIPSIS = " … "
_HEAD_SHARE = 0.6
_MIN_ITEMS = 2
_LINE_MARK = re.compile(r"\s*(?:[-*•·●▪–]\s+|[(（]?\d{1,2}[.)、）:：]\s*|[①-⑳]\s*|[A-Ha-h][.)、）]\s*)")
_INLINE_MARKS = (
    re.compile(r"(?:(?<=\s)|(?<=[:：;；,，。.!！])|^)[(（]?\d{1,2}[.)、）](?!\d)\s*"),
    re.compile(r"[①-⑳]\s*"),
)
_LETTERED = re.compile(r"(?:(?<=[\s:：;；,，。.])|^)([A-H])[.、)）]\s*")
_LISTED = re.compile(r"[^、，,。；;：:！!？?\n]{1,24}(?:、[^、，,。；;：:！!？?\n]{1,24})+")
_SERIES = re.compile(r"[\w'’.+#, -]+")
_MAX_WORDS = 5
"""Words of an item in a series with commas."""
_RULE = re.compile(r"\|?\s*:?-{2,}:?\s*(?:\|\s*:?-{2,}:?\s*)*\|?\s*$")
_END = re.compile(r"[;；。.,，\s]+$")
_SENTENCE = re.compile(r"[\n。]")
_NAME_END = re.compile(r"[:：。;；（(]|[，,](?=\S{6})|, | [-–—] |，")


def estimate_tokens(text: str) -> int:
    """Return a token count without a tokenizer, on the safe side.

    A Chinese character or a sign counts one, a word one for every six letters, a number one for every three digits:
    within a fifth above what GPT-4's and Qwen2.5's tokenizers count on Chinese and English prose.
    """
    total = 0
    for piece in _PIECES.findall(text):
        size = _LETTERS_PER_TOKEN if piece[0].isalpha() else _DIGITS_PER_TOKEN
        total += -(-len(piece) // size)
    return total


@lru_cache(maxsize=4096)
def cut(text: str, limit: int, count: TokenCounter = estimate_tokens) -> str:
    """Return a text of at most ``limit`` tokens: both ends of prose, every item of a list cut by itself."""
    if limit <= 0:
        return ""
    longest = limit * _MOST_CHARS_PER_TOKEN
    if len(text) <= longest and count(text) <= limit:
        return text
    segments = _segments(clip(text, 2 * longest))
    if len(segments) > 1:
        breaks = count("\n") * (len(segments) - 1)  # nothing by the estimate, not so by every tokenizer
        shares = _fair_shares([min(count(s), limit) for s in segments], max(0, limit - breaks))
        pairs = zip(segments, shares, strict=True)
        shortened = "\n".join(_keep_ends(segment, share, count, head=1.0) for segment, share in pairs if share)
        if count(shortened) <= limit:
            return shortened
        text = shortened
    return _keep_ends(text, limit, count, head=_HEAD_SHARE)


@remembered
def list_items(text: str) -> tuple[str, ...]:
    """Return the items of a text's list, without their marks, in order; empty if there is none.

    Lists on lines come first, then the rows of a Markdown table (``name: cell, cell``), then numbered ones inside a
    sentence, then enumerations ("A, B and C").
    """
    text = clip(text)
    lines = [line.strip() for line in text.split("\n")]
    pack = pack_of(text)
    mark = pack.pattern("list_mark")
    found: Iterator[Sequence[str]] = iter(
        (
            [line[end:] for line in lines if (end := _mark_end(line, mark))],
            _table_rows(lines),
            *([_SENTENCE.split(part)[0] for part in marks.split(text)[1:]] for marks in _INLINE_MARKS),
            _lettered(text),
            [_SENTENCE.split(text[match.end() :], maxsplit=1)[0] for match in mark.finditer(text)][:MAX_ITEMS],
        )
    )
    for parts in found:
        items = [item for part in parts if (item := _END.sub("", part))]
        if len(items) >= _MIN_ITEMS:
            return tuple(_until_next(items, mark)[:MAX_ITEMS])
    return max((*_listed(text, pack), *_comma_series(text, pack)), key=len, default=())[:MAX_ITEMS]


def item_name(item: str) -> str:
    """Return the head that names a list item: "Basic" of "Basic: $9 a month"."""
    head = _NAME_END.split(item, maxsplit=1)[0]
    return pack_of(item).pattern("list_name_end").split(head, maxsplit=1)[0].strip(" *`")[:MAX_ITEM_CHARS]


def _segments(text: str) -> list[str]:
    """Return a text's prose and list items as separate segments, in order; one segment if it holds no list."""
    mark = pack_of(text).pattern("list_mark")
    lines = [line for line in text.split("\n") if line.strip()]
    marked = [_mark_end(line, mark) > 0 for line in lines]
    if sum(marked) < _MIN_ITEMS:
        return [text]
    segments: list[str] = []
    prose: list[str] = []
    for line, is_item in zip(lines, marked, strict=True):
        if is_item:
            segments += ["\n".join(prose)] if prose else []
            segments.append(line)
            prose = []
        else:
            prose.append(line)
    return [*segments, "\n".join(prose)] if prose else segments


def _mark_end(line: str, mark: re.Pattern[str]) -> int:
    found = _LINE_MARK.match(line) or mark.match(line)
    return found.end() if found else 0


def _until_next(items: Sequence[str], mark: re.Pattern[str]) -> list[str]:
    """Return items without the next item's mark and words, where one sentence holds several."""
    return [_END.sub("", item[: found.start()]) if (found := mark.search(item, 1)) else item for item in items]


def _lettered(text: str) -> list[str]:
    """Return what follows each of A., B., C. … in a sentence; nothing if the letters do not come in order."""
    parts = _LETTERED.split(text)[1:]
    letters = "".join(parts[::2])
    in_order = len(letters) > 1 and "ABCDEFGH".startswith(letters)
    return [_SENTENCE.split(part)[0] for part in parts[1::2]] if in_order else []


def _table_rows(lines: Sequence[str]) -> list[str]:
    """Return the rows under the first Markdown table's rule, each as its first cell with the others behind it."""
    rule = next((index for index, line in enumerate(lines) if _RULE.match(line)), len(lines))
    rows: list[str] = []
    for line in lines[rule + 1 :]:
        if "|" not in line:
            break
        cells = [cell.strip(" *`") for cell in line.strip("|").split("|")]
        rows.append(f"{cells[0]}: {', '.join(cells[1:])}" if len(cells) > 1 else cells[0])
    return rows


def _listed(text: str, pack: WordPack) -> Iterator[tuple[str, ...]]:
    """Yield the items of enumerations with the listing comma of Chinese and Japanese."""
    glue, lead, tail = (pack.pattern(f"list_{name}") for name in ("glue", "lead", "tail"))
    for match in _LISTED.finditer(text):
        first, *parts = match.group().split("、")
        parts = [lead.sub("", first), *parts[:-1], *glue.split(tail.sub("", parts[-1]), maxsplit=1)]
        yield tuple(part.strip() for part in parts if part.strip())


def _comma_series(text: str, pack: WordPack) -> Iterator[tuple[str, ...]]:
    """Yield the items of "A, B and C", in one pass over the parts between commas."""
    glue = pack.pattern("list_glue")
    for stretch in _SERIES.finditer(text):
        head: list[str] = []
        for part in stretch.group().split(", "):
            words = part.split()
            joined = glue.split(" ".join(words[: 2 * _MAX_WORDS]), maxsplit=1)
            last = [" ".join(piece.split()[:_MAX_WORDS]) for piece in joined if piece.strip()]
            if len(joined) > 1 and len(head) + len(last) > _MIN_ITEMS:
                yield (*head, *last)
                head = []
            elif words:
                head = [*head, part.strip()] if len(words) <= _MAX_WORDS else [" ".join(words[-_MAX_WORDS:])]


def _fair_shares(sizes: list[int], limit: int) -> list[int]:
    """Split a budget so that short segments stay whole and long ones share the rest equally."""
    shares = [0] * len(sizes)
    for taken, index in enumerate(sorted(range(len(sizes)), key=sizes.__getitem__)):
        shares[index] = min(sizes[index], limit // (len(sizes) - taken))
        limit -= shares[index]
    return shares


def _keep_ends(text: str, limit: int, count: TokenCounter, *, head: float) -> str:
    """Return the longest head and tail around an ellipsis that fit, by bisection over the number of characters."""
    longest = limit * _MOST_CHARS_PER_TOKEN
    if len(text) > 2 * longest:
        text = text[:longest] + text[-longest:]
    if count(text) <= limit:
        return text
    low, high = 0, len(text)
    while low < high:
        middle = (low + high + 1) // 2
        if count(_ends(text, middle, head)) <= limit:
            low = middle
        else:
            high = middle - 1
    return _ends(text, low, head) if low else ""


def _ends(text: str, n_chars: int, head: float) -> str:
    first = round(n_chars * head)
    tail = text[len(text) - (n_chars - first) :] if n_chars > first else ""
    return f"{text[:first].rstrip()}{_ELLIPSIS}{tail.lstrip()}".strip() if n_chars else ""
