"""What is never searched: for each kind of refusal a function that says why, or returns an empty string."""

from __future__ import annotations

import unicodedata
from collections import Counter
from collections.abc import Callable
from functools import lru_cache
from itertools import groupby

from llama_index_condense_plus.languages import Token, WordPack, pack_of
from llama_index_condense_plus.languages.base import NAMING
from llama_index_condense_plus.languages.text import clip, fold, remembered
from llama_index_condense_plus.rewriting.cutting import item_name
from llama_index_condense_plus.trust.compare import MAX_CHARS, Comparison
from llama_index_condense_plus.trust.words import bare, words

REMARK = "nothing of a remark"
"""Why a question is refused that was made of a remark: there is nothing to complete in it."""
SHOWN = 80
"""Characters of a reason that are quoted."""
OBEYED = 0.5
"""From this share on, what a rewrite adds counts as taken from an order."""
REPEATED = 0.6
"""From this share on, an earlier sentence counts as repeated."""
FOREIGN = 0.2
"""Share of letters in a script of its own from which a rewrite counts as foreign."""
HALF = 0.5
UNSAID = 0.25
"""Share of words that nobody said from which a rewrite that keeps nothing of the message is unrelated."""
MOSTLY_UNSAID = 0.6
"""The same for one that keeps some words of a message, but not half of them."""
THIRD = 1 / 3
"""The same for a message without content words that picks nothing."""
NEARLY_ALL = 0.8
"""Share of the added words that nobody said from which even a rewrite that keeps the message's words is unrelated."""
SHORT = 4
"""Letters of a text that is too short to be a repetition."""
STATING = frozenset({".", "!", "\N{IDEOGRAPHIC FULL STOP}", "\N{FULLWIDTH EXCLAMATION MARK}"})
"""Marks that end a statement."""
_SCRIPTS = {"HIRAGANA": "KANA", "KATAKANA": "KANA", "KATAKANA-HIRAGANA": "KANA"}


def is_empty(c: Comparison) -> str:
    """Say so if the rewrite holds no words."""
    return "" if any(map(str.isalnum, c.rewrite)) else "no words"


def meta_text(c: Comparison) -> str:
    """Return words about the task, or of an apology, that nobody in the conversation used.

    A question that keeps the message's words may ask about such things ("why can I not …", "which user input").
    """
    if c.keeps_all and c.asks:
        return ""
    return next((span.text for span in c.instructions if span.kind in {"meta", "apology"}), "")


def instruction(c: Comparison) -> str:
    """Return an order that the rewrite gives, or the words of an order of the conversation that it obeys.

    It obeys if most of what it adds to the message was said in that order and nowhere else.
    """
    order = next((span.text for span in c.instructions if span.kind == "injection"), "")
    named = c.kept_share == 1.0 and c.binding and all(token.kind in NAMING for token in c.obeyed)
    obeys = c.obeyed and not named and len(c.obeyed) >= OBEYED * len(c.added)
    return order or (", ".join(token.text for token in c.obeyed)[:SHOWN] if obeys else "")


def answer(c: Comparison) -> str:
    """Say so if the rewrite answers: it thanks, it agrees before it speaks, or it states where the message asks."""
    thanks = c.written_pack.pattern("thanks").search(fold(c.rewrite))
    if thanks and not any(thanks.group() in fold(text) for text in (c.message, *_more_than_talk(c))):
        return thanks.group()
    if c.asks:
        return ""
    opening = fold(c.rewrite).split(",")[0].strip()
    if c.written_pack.small_talk(opening) == "answer" and opening not in c.asked.plain:
        return "begins like an answer"
    states = c.rewrite.rstrip()[-1:] in STATING and c.message.rstrip()[-1:] not in STATING
    return "states where the user asks" if states and c.pack.is_question(c.message) else ""


def _more_than_talk(c: Comparison) -> list[str]:
    """Return the messages of the conversation that are no small talk."""
    texts = (message.full_text for message in c.window.all_messages)
    return [text for text in texts if not pack_of(text).small_talk(text)]


@remembered
def _clauses(text: str) -> frozenset[str]:
    """Return the bare forms of a message's clauses."""
    clauses = pack_of(text).pattern("clause").finditer(clip(text, MAX_CHARS))
    return frozenset(bare(clause.group()) for clause in clauses)


def repetition(c: Comparison) -> str:
    """Return the earlier message that the rewrite repeats, or has a part of in place of the question.

    What the user asks again is no repetition.
    """
    own, form = bare(c.message), bare(c.rewrite)
    if form in own or len(form) < SHORT:
        return ""
    keeps_nothing = c.keeps_nothing and c.binding and not c.picks
    meant = ("assistant",) * c.replies + ("user",) * ("correction" in c.signs)  # most of the offer, or of the question
    is_statement = not c.asks and not c.accepts and c.pack.is_question(c.message)
    if c.picks and any(bare(item_name(item)) in form for item in c.window.list_items):
        return ""
    for message in reversed(c.window.all_messages):
        said = message.full_text
        if message.role in meant and _overlap(form, said) < 1.0:
            continue
        copied = (keeps_nothing and form in bare(said)) or (is_statement and form in _clauses(said))
        if not copied and (_overlap(form, said) < REPEATED or _overlap(own, said) == 1.0 or _brings_in(c, said)):
            continue
        if not (message.role == "user" and c.binding and not c.lost):
            return said[:SHOWN]
    return ""


@remembered
def _sentences(text: str) -> tuple[str, ...]:
    """Return the bare forms of a message and its sentences."""
    text = clip(text, MAX_CHARS)
    forms = [bare(text), *(bare(sentence.text) for sentence in pack_of(text).sentences(text))]
    return tuple(form for form in dict.fromkeys(forms) if len(form) >= SHORT)


def _overlap(form: str, text: str) -> float:
    """Return how much of a bare form and a sentence of a text are the same, if one holds the other."""
    found = (min(len(s), len(form)) / max(len(s), len(form)) for s in _sentences(text) if form in s or s in form)
    return max(found, default=0.0)


def _brings_in(c: Comparison, earlier: str) -> bool:
    """Return True if the rewrite holds a word of the message that the earlier text has not."""
    before = words(earlier)
    return any(c.written.has(token) and not before.has(token) for token in c.asked.content)


def language(c: Comparison) -> str:
    """Return the language of the rewrite if it is not the user's; names, codes and quotations do not count."""
    alike = c.written_pack.code in {c.pack.code, "und"}
    if alike and _scripts_of(c.rewrite).keys() <= _scripts_of(c.message).keys():
        return ""
    rest = [t for t in _unquoted(c) if t.kind not in NAMING and t.kind != "mark"]
    users = [t for t in c.pack.tokenize(c.message) if t.kind not in NAMING and t.kind != "mark"]
    if all(t.is_content for t in users):
        users += [t for m in c.window.all_messages[-2:] for t in pack_of(m.full_text).tokenize(m.full_text)]
    before, after = (_scripts_of(" ".join(t.text for t in tokens)) for tokens in (users, rest))
    foreign = sum(count for script, count in after.items() if script not in before)
    if before and foreign > max(1, FOREIGN * after.total()):
        return c.written_pack.name
    closed = sum(_is_everyday(t, c.written_pack) for t in rest)
    theirs = sum(_is_everyday(t, c.pack) for t in c.pack.tokenize(c.rewrite))
    closes = any(not t.is_content for t in users)
    return c.written_pack.name if not alike and closes and closed > max(1, theirs) else ""


def _is_everyday(token: Token, pack: WordPack) -> bool:
    """Return True if a word tells its language: one of a closed class, or one of the most frequent."""
    return token.kind != "mark" and (not token.is_content or fold(token.text) in pack.words("frequent"))


def _unquoted(c: Comparison) -> list[Token]:
    """Return the words of the rewrite without what was said, and without said stretches of another script."""
    own = _scripts_of(c.message).keys()
    kept: list[Token] = []
    for is_own, run in groupby(c.written_pack.tokenize(c.rewrite), lambda t: not own.isdisjoint(_scripts_of(t.text))):
        tokens = list(run)
        if is_own or not c.was_said(c.rewrite[tokens[0].start : tokens[-1].end].strip()):
            kept.extend(t for t in tokens if not (t.is_content and c.said.has(t)))
    return kept


def _scripts_of(text: str) -> Counter[str]:
    """Return how many letters a text has of each script."""
    if text.isascii():
        return Counter(LATIN=sum(map(str.isalpha, text)))
    return Counter(script for char in text if char.isalpha() and (script := _script(char)))


@lru_cache(maxsize=4096)
def _script(char: str) -> str:
    name = unicodedata.name(char, "").split(" ")[0]
    return _SCRIPTS.get(name, name)


def unrelated(c: Comparison) -> str:
    """Say so if the rewrite has nothing in common with the message and little with the conversation."""
    if c.same or (c.accepts and len(c.unsaid) <= HALF * len(c.added)):
        return ""
    keeps_half = c.kept_share >= HALF and c.frame_kept >= HALF
    if c.is_small_talk and not keeps_half and c.added and (c.asks or c.novelty >= UNSAID):
        return "small talk became a question"
    if not c.asked.content and c.added_questions and c.rarity >= HALF and c.knows_answers:
        return "a question that nobody asked"
    told = c.replies or c.picks or c.references or "correction" in c.signs
    if c.keeps_nothing and c.pack.models_ellipsis and not (told or c.pack.is_question(c.message)):
        return REMARK
    nothing = c.binding and not c.written.content and not c.references_left
    limit = UNSAID if c.frame_kept < HALF else HALF
    if nothing or (c.keeps_nothing and not c.keeps_remarks and not c.picks and c.novelty >= limit):
        return "nothing of the message"
    all_new = c.knows_answers and len(c.unsaid) >= NEARLY_ALL * len(c.added)
    little = not c.keeps_all and (not c.binding or c.kept_share < HALF or all_new)
    limit = MOSTLY_UNSAID if c.binding or c.picks else THIRD
    return "little of the message, and what nobody said" if little and c.novelty >= limit else ""


def examples(c: Comparison) -> str:
    """Return the names that only the examples of the prompt hold."""
    held = [t for t in c.unsaid if any(words(shot).has(t) for shot in c.shots)]
    named = [t.text for t in held if t.kind in NAMING]
    return ", ".join(named or ([t.text for t in held] if len(held) > 1 and len(held) >= OBEYED * len(c.added) else []))


REFUSALS: dict[str, Callable[[Comparison], str]] = {
    "empty": is_empty,
    "instruction": instruction,
    "meta_text": meta_text,
    "examples": examples,
    "answer": answer,
    "repetition": repetition,
    "language": language,
    "unrelated": unrelated,
}
"""Name of each refusal, which is that of its settings, with its function."""
