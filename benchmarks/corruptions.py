"""Makes rewrites that a guard must catch, and says of each what was swapped, from where, and with which seed.

The corruptions are made with plain string operations and hand-written material, not with the guards' own patterns.
"""

from __future__ import annotations

import random
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from _data import history_of


@dataclass(frozen=True)
class Corruption:
    """A rewrite that is wrong in one known way."""

    original: str
    history: tuple[tuple[str, str], ...]
    rewrite: str
    swap: str
    """What was done: ``conversation``, ``repeat_answer``, ``repeat_question``, ``name``, ``number`` …"""
    donor: str
    """Where the wrong material comes from: a row's id, or ``fixed list``."""
    seed: int


@dataclass(frozen=True)
class Pair:
    """A question with a rewrite that is right."""

    id: str
    original: str
    history: tuple[tuple[str, str], ...]
    rewrite: str
    domain: str = ""


def pairs_of(rows: Sequence[dict[str, Any]], field: str = "gold") -> list[Pair]:
    """Return the rows that have a rewrite and a history."""
    return [
        Pair(row["id"], row["question"], tuple(history_of(row)), row[field], row.get("domain", ""))
        for row in rows
        if row.get(field) and row["history"]
    ]


def conversation_of(identifier: str) -> str:
    """Return the conversation's part of a row's id: ``gecor-0-2-original``, ``cast19-31_5``, ``mtrag-…<::>6``."""
    if identifier.startswith("gecor"):
        return "-".join(identifier.split("-")[:2])
    return re.split(r"<::>|_(?=\d+$)|-(?=\d+$)", identifier)[0]


_MARKS = re.compile(r"[^\w]+")


def _plain_words(text: str) -> set[str]:
    """Return a text's words, lower case; for Chinese its character pairs."""
    words = {word for word in _MARKS.split(text.lower()) if word and word.isascii()}
    han = "".join(char if "\u4e00" <= char <= "\u9fff" else " " for char in text)
    return words | {run[i : i + 2] for run in han.split() for i in range(len(run) - 1)}


def other_conversation(pairs: Sequence[Pair], seed: int = 0, per_pair: int = 1) -> Iterator[Corruption]:
    """Return for each question the rewrite of another conversation, unless it is grounded in this one as well.

    Grounded: at least 70 % of the words that it does not share with the question occur in this conversation.
    """
    dice = random.Random(seed)  # noqa: S311 - sampling, not secrecy
    for pair in pairs:
        said = _plain_words(" ".join(text for _, text in pair.history) + " " + pair.original)
        conversation = conversation_of(pair.id)
        for _ in range(per_pair):
            for _ in range(20):
                donor = dice.choice(pairs)
                own = _plain_words(donor.rewrite)
                if conversation_of(donor.id) != conversation and len(own & said) < 0.7 * len(own):
                    yield Corruption(pair.original, pair.history, donor.rewrite, "conversation", donor.id, seed)
                    break


def repeated_turns(pairs: Sequence[Pair], seed: int = 0) -> Iterator[Corruption]:
    """Return for each question the last answer, and an earlier question of the user's, as rewrite."""
    dice = random.Random(seed)  # noqa: S311 - sampling, not secrecy
    for pair in pairs:
        answers = [text for role, text in pair.history if role == "assistant"]
        questions = [text for role, text in pair.history if role == "user" and len(text) > 5]
        own = _plain_words(pair.original)
        if answers and len(answers[-1]) > 3 and _plain_words(answers[-1]) - own:
            yield Corruption(pair.original, pair.history, answers[-1], "repeat_answer", pair.id, seed)
        others = [text for text in questions if len(_plain_words(text) & own) < 0.8 * max(1, len(_plain_words(text)))]
        if others:
            yield Corruption(pair.original, pair.history, dice.choice(others), "repeat_question", pair.id, seed)


def swapped_names(
    pairs: Sequence[Pair], names: Sequence[tuple[str, str]], seed: int = 0, find: str = "capitalised"
) -> Iterator[Corruption]:
    """Replace a name that the conversation mentions by one that nobody mentioned.

    Args:
        pairs: right rewrites.
        names: (name, id of the row it is from): donors.
        seed: seed of the choice.
        find: ``capitalised`` looks for a run of capitalised words in the rewrite, ``donors`` for one of ``names``.
    """
    dice = random.Random(seed)  # noqa: S311 - sampling, not secrecy
    known = sorted({name for name, _ in names}, key=len, reverse=True)
    for pair in pairs:
        said = " ".join(text for _, text in pair.history)
        everything = (said + " " + pair.original).lower()
        if find == "capitalised":
            runs = [m.group() for m in re.finditer(r"(?<!^)(?<![.?!] )\b[A-Z][\w'&]*(?: [A-Z][\w'&]*)*", pair.rewrite)]
            runs = [run for run in runs if run in said and len(run) > 2 and run not in pair.original]
        else:
            runs = [name for name in known if name in pair.rewrite and name in said and name not in pair.original][:1]
        if not runs:
            continue
        target = dice.choice(runs)
        for _ in range(30):
            name, donor = dice.choice(list(names))
            if (
                not any(word in everything for word in (_plain_words(name) or {name}))
                and name.lower() not in everything
            ):
                yield Corruption(pair.original, pair.history, pair.rewrite.replace(target, name), "name", donor, seed)
                break


_NUMBER_WORDS = {"two": "three", "three": "five", "four": "six", "five": "seven", "six": "nine", "seven": "four"}
_HAN_NUMBERS = {
    "二": "七",
    "两": "三",
    "三": "五",
    "四": "六",
    "五": "八",
    "六": "九",
    "七": "四",
    "八": "三",
    "九": "二",
    "十": "六",
}


def changed_numbers(pairs: Sequence[Pair], seed: int = 0) -> Iterator[Corruption]:
    """Change, or drop, a number that stands in both the last sentence of the question and its rewrite."""
    dice = random.Random(seed)  # noqa: S311 - sampling, not secrecy
    for pair in pairs:
        last = re.split(r"(?<=[.?!。？！，])\s*(?=\S)", pair.original.strip())[-1]
        found = [
            n
            for n in re.findall(r"(?<![\w.,-])\d+(?:\.\d+)?(?![\w.,-]*[A-Za-z_])", last)
            if n in re.findall(r"\d+(?:\.\d+)?", pair.rewrite)
        ]
        if found:
            number = dice.choice(found)
            other = str(int(float(number)) + dice.choice((1, 2, 3, 7, 10)))
            for new, swap in ((other, "number_changed"), ("", "number_dropped")):
                rewrite = re.sub(rf"(?<![\d.]){re.escape(number)}(?![\d]|\.\d)", new, pair.rewrite)
                yield Corruption(pair.original, pair.history, rewrite, swap, "counting", seed)
        for word, other in _NUMBER_WORDS.items():
            if re.search(rf"\b{word}\b", last) and re.search(rf"\b{word}\b", pair.rewrite):
                yield Corruption(
                    pair.original,
                    pair.history,
                    re.sub(rf"\b{word}\b", other, pair.rewrite),
                    "number_changed",
                    "fixed list",
                    seed,
                )


_NEGATIONS_EN = (
    ("don't ", ""),
    ("doesn't ", ""),
    ("didn't ", ""),
    ("can't ", "can "),
    ("isn't ", "is "),
    ("aren't ", "are "),
    ("won't ", "will "),
    ("wasn't ", "was "),
    ("shouldn't ", "should "),
    ("couldn't ", "could "),
    ("wouldn't ", "would "),
    ("haven't ", "have "),
    ("hasn't ", "has "),
    ("cannot ", "can "),
    (" not ", " "),
    (" never ", " "),
    (" no ", " "),
    (" without ", " with "),
)
_NEGATIONS_ZH = (
    ("不能", "能"),
    ("不会", "会"),
    ("不支持", "支持"),
    ("不含", "含"),
    ("不需要", "需要"),
    ("没有", "有"),
    ("无法", "可以"),
    ("不要", "要"),
    ("不是", "是"),
    ("未", "已"),
)


def dropped_negations(pairs: Sequence[Pair], seed: int = 0) -> Iterator[Corruption]:
    """Take the negation out of rewrites of questions whose last clause negates; names and tags are left alone."""
    for pair in pairs:
        last = " " + re.split(r"(?<=[.?!。？！，])\s*(?=\S)", pair.original.strip())[-1]
        for before, after in (*_NEGATIONS_EN, *_NEGATIONS_ZH):
            if (
                before in last
                and before in pair.rewrite
                and not re.search(
                    r"有没有|是不是|会不会|能不能|要不要|没有[？?]|不是[吗么]|可不是|未麻|彩未|don.t know|why don.t",
                    last,
                )
            ):
                yield Corruption(
                    pair.original,
                    pair.history,
                    pair.rewrite.replace(before, after),
                    "negation_dropped",
                    "fixed list",
                    seed,
                )
                break


def answered(pair: Pair, answers: Sequence[str], donor: str, seed: int = 0) -> Iterator[Corruption]:
    """Return a question's own answer, and the answer's first sentence, as rewrite."""
    for answer in answers:
        if len(answer.strip()) < 2:
            continue
        yield Corruption(pair.original, pair.history, answer, "answered", donor, seed)
        first = re.split(r"(?<=[.!?。！？])\s*", answer.strip())[0]
        if first and first != answer.strip():
            yield Corruption(pair.original, pair.history, first, "answered_first_sentence", donor, seed)
