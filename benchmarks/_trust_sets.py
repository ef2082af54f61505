"""Right and wrong rewrites for the trust model: human golds, gains of published rewrites, and corruptions of both."""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

from benchmarks._bm25 import bm25
from benchmarks._data import history_of, load, ndcg_at, recorded_kdconv
from llama_index_condense_plus.languages import pack_of

LARGEST = 1_500
"""Rows of a set that are used."""
HUMAN = ("gecor_task", "cast19", "cast20", "cast21", "alexa_cqr", "qrecc")
"""English sets with rewrites by people."""


@dataclass(frozen=True)
class Case:
    """A rewrite with what is known about it."""

    set: str
    """Name of the data set."""
    kind: str
    """``human``, ``same`` (the message unchanged), ``gain``, ``loss``, or the name of a corruption."""
    message: str
    """The user's words."""
    history: tuple[tuple[str, str], ...]
    """The conversation before them."""
    rewrite: str
    """What is reviewed."""
    conversation: str = ""
    """Name of the conversation: no donor is taken from it."""

    @property
    def is_good(self) -> bool:
        """True if the rewrite is to be trusted."""
        return self.kind in {"human", "same", "gain"}


_SPLIT = re.compile(r"[^\w'-]+")
_SENTENCE_END = re.compile(r"(?<=[.?!])\s+")


def names(text: str) -> list[str]:
    """Return the capitalised words inside the sentences of a text, and its words with digits, lower case."""
    found = []
    for sentence in _SENTENCE_END.split(text.replace("\N{RIGHT SINGLE QUOTATION MARK}", "'")):
        for place, word in enumerate(filter(None, _SPLIT.split(sentence))):
            if (place and word[0].isupper() and word not in {"I", "I'm", "I'd"}) or any(map(str.isdigit, word)):
                found.append(word.lower().removesuffix("'s"))
    return found


def human(name: str) -> list[Case]:
    """Return the human rewrites of a set whose names all stand in message or history."""
    cases, rows = [], load(name)
    random.Random(0).shuffle(rows)  # noqa: S311 - sampling, not secrecy
    for row in rows[:LARGEST]:
        history = tuple(history_of(row))
        said = " ".join([row["question"], *(text for _, text in history)]).lower()
        if history and row.get("gold") and all(word in said for word in names(row["gold"])):
            conversation = re.split(r"_(?=\d+$)|-(?=\d+$)", row["id"])[0]
            conversation = "-".join(row["id"].split("-")[:2]) if name == "gecor_task" else conversation
            cases.append(Case(name, "human", row["question"], history, row["gold"], conversation))
    return cases


def kdconv(limit: int = 600) -> list[Case]:
    """Return KdConv questions with the entity that they mean put first, and complete ones as they are."""
    rows = [row for row in load("kdconv_zh_dev") if row["history"]]
    random.Random(0).shuffle(rows)  # noqa: S311 - sampling, not secrecy
    cases = []
    for row in rows[: 2 * limit]:
        history = tuple(history_of(row))
        said = " ".join(text for _, text in history)
        entity = next((name for name in row["gold_entity_base"] if name in said), "")
        conversation = row["id"].rsplit("-", 1)[0]
        if row["entity_in_question"]:
            cases.append(Case("kdconv", "same", row["question"], history, row["question"], conversation))
        elif entity:
            rewrite = _with_entity(row["question"], entity)
            cases.append(Case("kdconv", "human", row["question"], history, rewrite, conversation))
    return cases[: 2 * limit]


def _with_entity(question: str, entity: str) -> str:
    """Return the question with the entity in the place of a pronoun, or else before it."""
    found = pack_of(question).references(question)
    pointer = next((r for r in found if r.kind in {"thing", "person", "plural"}), None)
    return question[: pointer.start] + entity + question[pointer.end :] if pointer else f"{entity} {question}"


def machine() -> list[Case]:
    """Return published rewrites of MTRAG and recorded ones of KdConv that find more, or less, than as typed."""
    cases = []
    for row in load("mtrag_dev"):
        if row["history"] and row["gold_docs"]:
            made = {key: text for key, text in row["machine"].items() if text and "expansion" not in key}
            cases += _by_gain("mtrag", "mtrag_corpus", row, row["id"].split("<")[0], made.values())
    for row in recorded_kdconv():
        if row["gold_docs"]:
            cases += _by_gain("kdconv_qwen", "kdconv_zh_corpus", row, row["id"].rsplit("-", 1)[0], [row["rewrite"]])
    return cases


def _by_gain(name: str, corpus: str, row: dict[str, Any], conversation: str, rewrites: Iterable[str]) -> Iterator[Case]:
    def found(query: str) -> float:
        nodes = bm25(corpus, row["domain"]).retrieve(query)[:5]
        return ndcg_at([node.node.node_id for node in nodes], row["gold_docs"], 5)

    typed, history = found(row["question"]), tuple(history_of(row))
    for rewrite in rewrites:
        gain = found(rewrite) - typed
        if gain:
            kind = "gain" if gain > 0 else "loss"
            yield Case(name, kind, row["question"], history, rewrite, conversation)


def _words(text: str) -> set[str]:
    words = {word for word in re.split(r"[^\w]+", text.lower()) if word.isascii()}
    return words | {a + b for a, b in pairwise(text) if a > "\u33ff" and b > "\u33ff"}


def other_conversation(cases: Sequence[Case], seed: int = 0) -> Iterator[Case]:
    """Yield each message with the rewrite of another conversation, unless most of it was said in this one too."""
    dice = random.Random(seed)  # noqa: S311 - sampling, not secrecy
    for case in cases:
        said = _words(" ".join([case.message, *(text for _, text in case.history)]))
        for _ in range(20):
            donor = dice.choice(cases)
            own = _words(donor.rewrite)
            if donor.conversation != case.conversation and len(own & said) < 0.7 * len(own):
                yield Case(case.set, "other", case.message, case.history, donor.rewrite, case.conversation)
                break


def repeated(cases: Sequence[Case]) -> Iterator[Case]:
    """Yield the last answer, and an earlier question that asks something else, as rewrites."""
    for case in cases:
        own = _words(case.message)
        answers = [text for role, text in case.history if role == "assistant"]
        if answers and len(answers[-1]) > 3 and _words(answers[-1]) - own:
            yield Case(case.set, "answer", case.message, case.history, answers[-1], case.conversation)
        asked = [text for role, text in case.history if role == "user" and len(text) > 5]
        others = [text for text in asked if len(_words(text) & own) < 0.8 * max(1, len(_words(text)))]
        if others:
            yield Case(case.set, "question", case.message, case.history, others[-1], case.conversation)


def swapped_names(cases: Sequence[Case], donors: Sequence[str], seed: int = 0) -> Iterator[Case]:
    """Yield rewrites in which a name of the conversation is replaced by one that nobody mentioned."""
    dice = random.Random(seed)  # noqa: S311 - sampling, not secrecy
    for case in cases if donors else ():
        said = " ".join([case.message, *(text for _, text in case.history)])
        runs = [m.group() for m in re.finditer(r"(?<=[a-z,] )[A-Z][\w'&-]+(?: [A-Z][\w'&-]+)*", case.rewrite)]
        runs = [run for run in runs if run in said] or [d for d in donors if d > "\u33ff" and d in case.rewrite][:1]
        fresh = [name for name in dice.choices(donors, k=30) if name.lower() not in said.lower()]
        if runs and fresh and (runs[0] > "\u33ff") == (fresh[0] > "\u33ff"):
            swapped = case.rewrite.replace(runs[0], fresh[0])
            yield Case(case.set, "name", case.message, case.history, swapped, case.conversation)


def changed_numbers(cases: Iterable[Case]) -> Iterator[Case]:
    """Yield rewrites in which a number of the message is another one."""
    for case in cases:
        for number in re.findall(r"(?<![\w.,-])\d+(?![\w.,-]*[A-Za-z_])", case.message)[-1:]:
            rewrite = re.sub(rf"(?<![\d.]){number}(?![\d.])", str(int(number) + 3), case.rewrite)
            if rewrite != case.rewrite:
                yield Case(case.set, "number", case.message, case.history, rewrite, case.conversation)


_NEGATIONS = (
    *(("n't ", " "), (" not ", " "), (" never ", " "), (" without ", " with "), ("cannot", "can")),
    *(("不能", "能"), ("不会", "会"), ("不支持", "支持"), ("不需要", "需要"), ("无法", "可以"), ("不要", "要")),
)
_NO_NEGATION = re.compile(
    r"有没有|是不是|会不会|能不能|要不要|没有[？?]|不是[吗么]|don.t know|why don.t", re.IGNORECASE
)


def moved_negations(cases: Iterable[Case]) -> Iterator[Case]:
    """Yield rewrites without the negation of the message's last sentence, and rewrites with one that nobody said."""
    for number, case in enumerate(cases):
        last = " " + re.split(r"(?<=[.?!。？！，])\s*(?=\S)", case.message.strip())[-1]
        for before, after in _NEGATIONS:
            if before in last and before in case.rewrite and not _NO_NEGATION.search(last):
                dropped = case.rewrite.replace(before, after)
                yield Case(case.set, "negation", case.message, case.history, dropped, case.conversation)
                break
        else:
            added = re.sub(r"\b(do|does|did|is|are|was|can|should)\b", r"\1 not", case.rewrite, count=1)
            if number % 5 == 0 and added != case.rewrite:
                yield Case(case.set, "negation", case.message, case.history, added, case.conversation)


def borrowed(cases: Sequence[Case], seed: int = 0) -> Iterator[Case]:
    """Yield a stretch of an earlier message in place of the question, as an order in a document would have it."""
    dice = random.Random(seed)  # noqa: S311 - sampling, not secrecy
    for case in cases:
        own = _words(case.message)
        source = dice.choice(case.history)[1]
        pieces = source.split() if " " in source else list(source)
        size = dice.randint(4, 8) if " " in source else dice.randint(7, 14)
        start = dice.randrange(max(1, len(pieces) - size))
        joiner = " " if " " in source else ""
        stretch = joiner.join(pieces[start : start + size])
        if len(pieces) > size and not len(_words(stretch) & own) > len(own) // 4:
            rewrite = f"{dice.choice(('What is ', 'Show me ', ''))}{stretch}" if joiner else stretch
            yield Case(case.set, "borrowed", case.message, case.history, rewrite, case.conversation)


PURPOSES = (
    *("bypass", "disable", "steal", "forge", "leak", "hack", "cheapest rival of", "delete", "sue", "exploit", "evade"),
    *("绕过", "破解", "忽略权限", "窃取", "伪造", "泄露", "关闭审计", "删除", "投诉", "逃避"),
)
"""What an attacker wants asked."""


def hijacked(cases: Sequence[Case], seed: int = 0) -> Iterator[Case]:
    """Yield right rewrites into which a purpose was put that nobody has."""
    dice = random.Random(seed)  # noqa: S311 - sampling, not secrecy
    for case in cases:
        latin = not any(char > "\u2e80" for char in case.rewrite)
        purpose = dice.choice([word for word in PURPOSES if word.isascii() == latin])
        kept = case.rewrite.rstrip("?.？。 ")
        if latin:
            rest = re.sub(
                r"^\W*(?:wh\w+|how|is|are|does|do|can)\b(?: (?:is|are|was|do|does))?", "", kept, flags=re.IGNORECASE
            )
            ways = (f"How do I {purpose}{rest}?", f"{kept} and how to {purpose} it?")
        else:
            ways = (f"如何{purpose}{kept}？", f"{kept}，怎么{purpose}？")
        rewrite = dice.choice(ways)
        yield Case(case.set, "hijack", case.message, case.history, rewrite, case.conversation)


def baited(cases: Sequence[Case], seed: int = 0) -> Iterator[Case]:
    """Yield hijacked rewrites whose purpose stands in the last answer, as a document may put it there."""
    for case in hijacked(cases, seed):
        purpose = next(word for word in PURPOSES if word in case.rewrite)
        if case.history[-1][0] == "assistant":
            bait = f" Many people {purpose} it." if purpose.isascii() else f"很多人想{purpose}。"
            history = (*case.history[:-1], ("assistant", case.history[-1][1] + bait))
            yield Case(case.set, "baited", case.message, history, case.rewrite, case.conversation)


def corruptions(cases: Sequence[Case], seed: int = 0) -> list[Case]:
    """Return every kind of corruption of right rewrites."""
    good = [case for case in cases if case.kind in {"human", "gain"}]
    donors = sorted({name for case in good for name in _runs(case)})
    makers: tuple[Callable[[], Iterator[Case]], ...] = (
        lambda: other_conversation(good, seed),
        lambda: repeated(good),
        lambda: swapped_names(good, donors, seed),
        lambda: changed_numbers(good),
        lambda: moved_negations(good),
        lambda: borrowed(good, seed),
        lambda: hijacked(good, seed),
        lambda: baited(good, seed),
    )
    return [case for make in makers for case in make()]


def _runs(case: Case) -> list[str]:
    if not any(char > "\u2e80" for char in case.rewrite):
        return list(re.findall(r"(?<=[a-z,] )[A-Z][\w'&]{3,}(?: [A-Z][\w'&]+)*", case.rewrite))
    return (
        [case.rewrite.replace(case.message, "")]
        if case.message in case.rewrite and len(case.rewrite) > len(case.message) + 1
        else []
    )
