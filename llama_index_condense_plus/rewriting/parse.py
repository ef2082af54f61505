"""From a model's raw output to the question in it: whatever cannot be parsed is never searched."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass
from functools import lru_cache
from itertools import islice
from typing import Any

from llama_index_condense_plus.languages import patterns, registered_packs, speakers
from llama_index_condense_plus.types import Edit

MAX_PARSED_CHARS = 20_000
"""What is left after the think text is parsed up to this size; a question is shorter."""
KEYS = (
    "rewritten_question", "rewritten_query", "rewritten", "rewrite", "standalone_question", "standalone_query",
    "standalone", "search_query", "condensed_question", "reformulated_question", "final_question", "final_query",
    "question", "query", "output", "text", "result",
)  # fmt: skip
"""Where JSON may hold the question, best first; a language adds its own (``question_key``)."""

_SHOWN = 300
_MAX_LINE = 4_000
_MAX_PAUSES = 64
_MAX_DEPTH = 8
_THOUGHTS = "think|thinking|thought|reasoning|reflection|scratchpad|analysis"
_OPEN = re.compile(rf"<\s*(?:{_THOUGHTS})\s*>|◁think▷|\[THINK\]|<\|begin_of_thought\|>", re.IGNORECASE)
_CLOSE = re.compile(rf"<\s*/\s*(?:{_THOUGHTS})\s*>|◁/think▷|\[/THINK\]|<\|end_of_thought\|>", re.IGNORECASE)
_FINAL = re.compile(r"<\|channel\|>\s*final\s*<\|message\|>", re.IGNORECASE)
_CHANNEL = "<|channel|>"
_END_OF_TURN = re.compile(
    r"<\|(?:im_end|eot_id|end|endoftext|end_of_text|return|eom_id)\|>|</s>|<end_of_turn>|\[/INST\]", re.IGNORECASE
)
_START_OF_TURN = re.compile(
    r"<\|(?:im_start|start_header_id)\|>\s*(?:assistant)?\s*(?:<\|end_header_id\|>)?|<start_of_turn>\s*(?:model)?|"
    r"<s>|\[INST\]",
    re.IGNORECASE,
)
_FENCE = re.compile(r"(?:```|~~~)[ \t]*[\w+-]*[ \t]*\r?\n?(.*?)(?:```|~~~|\Z)", re.DOTALL)
_TAGGED = re.compile(
    r"<(rewritten_question|rewritten_query|rewritten|rewrite|standalone_question|standalone|question|query|output"
    r"|answer|result)>(.*?)(?:</\1>|\Z)",
    re.DOTALL | re.IGNORECASE,
)
_LIKE_JSON = re.compile(r"\s*(?:\{\s*(?:[\"'“}]|\w+\s*:)|\[\s*(?:[\"{\]]))")
_OBJECT = re.compile(r"\{\s*[\"'“]?[\w ]{1,40}[\"'”]?\s*[:：].*\}", re.DOTALL)
_WORD_END = re.compile(r"[\s-]+|(?<=[a-z])(?=[A-Z])")
_BULLET = re.compile(
    r"\s*(?:[-*•·▪◦‣–—>#]+\s+|#{1,6}\s*|>\s*|[(（]?\d{1,2}[)）.、．:：]\s*(?!\d)|[①-⑨]\s*|[(（]?[a-cA-C][)）.]\s+)"
)
_PAUSE = re.compile(r"[?？。.!！]+[\"”’」]?\s*(?=\S)|\s*[(（\[【]\s*(?=\S)|\s+[-–—]+\s+")
_PAIRS = dict(zip("\"'“‘「『`«„”【[(（<", "\"'”’」』`»“”】])）>", strict=True))


@dataclass(frozen=True, slots=True)
class ParsedRewrite:
    """What was found in a raw output."""

    text: str | None
    """The question on one line; None if there is nothing that can be trusted to be one."""
    problem: str = ""
    """Why ``text`` is None."""
    edits: tuple[Edit, ...] = ()
    """What was taken off, as one edit."""


def parse_rewrite(raw: str, original: str) -> ParsedRewrite:
    """Return the question in a model's output.

    Takes off think text, chat-template marks, fences, JSON, tags, labels, bullets, quotes and explanations.
    What the user wrote the same way (a quoted question, a leading label) stays. Linear in the output's size.

    Args:
        raw: the model's output, anything at all.
        original: the user's words.
    """
    try:
        text = _question(_unwrapped(_without_thinking(raw.replace("\r\n", "\n").replace("\ufeff", ""))), original)
    except _NoQuestionError as problem:
        return ParsedRewrite(None, str(problem))
    edits = () if text == raw.strip() else (Edit("parser", raw.strip()[:_SHOWN], text),)
    return ParsedRewrite(text, "", edits)


class _NoQuestionError(Exception):
    """Says why there is no question in an output."""


def _without_thinking(raw: str) -> str:
    text = raw
    closes = list(_CLOSE.finditer(raw))
    if closes:  # also a closing mark alone: some templates open the block in the prompt
        text = raw[closes[-1].end() :]
        opened = _OPEN.search(raw)
        if opened and not text.strip():  # the question came first, the thoughts after it
            text = raw[: opened.start()]
    finals = list(_FINAL.finditer(text))
    if finals:
        text = text[finals[-1].end() :]
    if _OPEN.search(text) or (not finals and _CHANNEL in text.lower()):
        raise _NoQuestionError("unclosed think block")
    return text[:MAX_PARSED_CHARS]


def _unwrapped(text: str) -> str:
    """Return the text without chat-template marks, fences and tags."""
    text = _START_OF_TURN.sub("", text.lstrip(), count=2)
    if end := _END_OF_TURN.search(text):
        text = text[: end.start()] if text[: end.start()].strip() else text[end.end() :]
    if (fence := _FENCE.search(text)) and fence.group(1).strip():
        before = text[: fence.start()].strip()
        is_after = _asks(before) and not _match("label_original", before)
        text = before if is_after else fence.group(1)
    if tagged := _TAGGED.search(text):
        text = tagged.group(2)
    return text.strip().strip("`").strip()


def _question(text: str, original: str) -> str:
    if not text:
        raise _NoQuestionError("empty")
    line = _one_line(_pick(_json_question(text) or text, original)[:_MAX_LINE], original)
    if _match("unchanged", line):
        line = " ".join(original.split())
    if _match("nothing", line) or not any(map(str.isalnum, line)):
        raise _NoQuestionError("no question in the output")
    return line


def _json_question(text: str) -> str | None:
    """Return the question in a JSON output, None if the output is none; broken JSON is no question."""
    if text.startswith('"'):
        try:
            return str(json.loads(text, strict=False))
        except ValueError:
            return None
    is_json, found = _LIKE_JSON.match(text) is not None, _OBJECT.search(text)
    if not is_json and found is None:
        return None
    question = None
    if found or text.rstrip().endswith(("}", "]", '"', "'")):  # else it is cut off
        import json_repair  # noqa: PLC0415 - only for output that is JSON

        with suppress(ValueError, RecursionError):
            value = json_repair.repair_json(text if is_json or not found else found.group(), return_objects=True)
            question = _find(value, 0) if is_json or isinstance(value, dict) else None
    if is_json and not question:
        raise _NoQuestionError("broken or foreign JSON")
    return question


def _find(value: Any, depth: int) -> str | None:
    """Return the question in a decoded value: the best key first, then inside, then a list's first."""
    if depth > _MAX_DEPTH:
        return None
    if isinstance(value, str):
        return " ".join(value.split()) or None
    inside: Iterable[Any] = value[:4] if isinstance(value, list) else ()
    if isinstance(value, dict):
        keyed = {_WORD_END.sub("_", str(key).strip()).lower(): inner for key, inner in value.items()}
        keys = (*KEYS, *(key for pack in registered_packs().values() for key in pack.words("question_key")))
        nested = (inner for inner in value.values() if not isinstance(inner, str))
        inside = (*(keyed[key] for key in keys if key in keyed), *nested)
    return next((found for inner in inside if (found := _find(inner, depth + 1)) is not None), None)


def _pick(text: str, original: str) -> str:
    """Return the line that holds the question: after a label, else the first that asks, else the first."""
    lines = [line.strip() for line in text.split("\n")]
    labelled = ""
    candidates: list[str] = []
    for number, line in enumerate(lines):
        bare = _bare(line, original)
        if not bare:
            continue
        if number and candidates and _role(line):
            break  # the model goes on with the conversation
        if _match("label_original", bare):
            continue
        if label := _label(bare, original):
            after = (_bare(later, original) for later in (bare[len(label) :], *lines[number + 1 :]))
            labelled = labelled or next(filter(None, after), "")
            continue
        if candidates and _match("explains", bare):
            break
        candidates.append(bare)
    if not candidates or (labelled and not _label(labelled, original)):
        return labelled
    spoken = [line for line in candidates if not _match("preamble", line)] or candidates
    return next((line for line in spoken if _asks(line)), spoken[0])


def _asks(line: str) -> bool:
    """Return True if a question mark stands behind the last word."""
    return next((char in "?？" for char in reversed(line) if char in "?？" or char.isalnum()), False)


def _bare(line: str, original: str) -> str:
    """Return a line without bullets, role and emphasis."""
    line = line.strip()
    for found_in in (_BULLET.match, _role, _BULLET.match):
        found = found_in(line)
        if found and not original.lstrip().startswith(found.group().strip()):
            line = line[found.end() :]
    return _without_emphasis(line)


def _without_emphasis(line: str) -> str:
    for mark in ("**", "__", "*"):
        if line.count(mark) in (1, 2) and (line.startswith(mark) or line.endswith(mark)):
            line = line.replace(mark, "")
    return line.strip()


def _label(line: str, original: str) -> str:
    """Return the label that a line begins with, unless the user began so too."""
    found = _match("label", line)
    begins_so = found and original.strip().lower().startswith(found.group().strip().lower())
    return found.group() if found and not begins_so else ""


def _role(line: str) -> re.Match[str] | None:
    return _role_of(speakers()).match(line)


@lru_cache(maxsize=4)
def _role_of(names: tuple[str, ...]) -> re.Pattern[str]:
    either = "|".join(map(re.escape, (*names, "human", "system", "ai", "bot", "q")))
    return re.compile(rf"\s*(?:{either})\s*\d?\s*[:：.]\s*", re.IGNORECASE)


def _match(name: str, line: str) -> re.Match[str] | None:
    """Return the match of a pattern of any language: models label in their own."""
    return next((found for pattern in patterns(name) if (found := pattern.match(line))), None)


def _one_line(line: str, original: str) -> str:
    for _ in range(3):
        before = line
        line = line[len(_label(line, original)) :]
        line = _without_emphasis(_unquoted(line.strip(), original))
        line = _without_explanation(line)
        if line == before:
            break
    return " ".join(line.split())


def _unquoted(line: str, original: str) -> str:
    """Return the line without quotes around all of it."""
    while len(line) > 1 and _PAIRS.get(line[0]) and not original.strip().startswith(line[0]):
        opening, closing = line[0], _PAIRS[line[0]]
        end = line.find(closing, 1)
        if end == len(line) - 1:
            line = line[1:-1].strip()
        elif opening in '"“「' and end != -1 and _match("explains", line[end + 1 :]):
            line = line[1:end].strip()
        elif opening in '"“`' and end == -1:
            line = line[1:].strip()  # a quote that was never closed
        else:
            break
    if len(line) > 1 and line[-1] in '"”`' and line.count(line[-1]) == 1 and not ({"“", '"'} & set(line[:-1])):
        line = line[:-1].strip()
    return line


def _without_explanation(line: str) -> str:
    """Return a line without the explanation that follows its question."""
    for mark in islice(_PAUSE.finditer(line), _MAX_PAUSES):
        head = line[: mark.start()] + mark.group().rstrip(" (（[【-–—")
        in_brackets = mark.group().strip()[:1] in tuple("(（[【")
        if ("?" in head or "？" in head or in_brackets) and _match("explains", line[mark.end() :]):
            return head.strip()
    return line
