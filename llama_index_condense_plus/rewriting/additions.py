"""Adding to the last question what a follow-up names that takes nothing's place: a time, a group, a version."""

from __future__ import annotations

from llama_index_condense_plus.lexicons.patterns import regex
from llama_index_condense_plus.lexicons.text import has_han
from llama_index_condense_plus.rewriting.counterparts_en import PLACED, is_group
from llama_index_condense_plus.rewriting.counterparts_zh import is_time
from llama_index_condense_plus.rewriting.follow_up_words import either, follow_up_words
from llama_index_condense_plus.rewriting.fragments import VERSION, Fragment
from llama_index_condense_plus.rewriting.noun_phrases import noun_phrases, subject
from llama_index_condense_plus.rewriting.phrase import decapitalised

_EN, _ZH = follow_up_words("en"), follow_up_words("zh")
_IN, _BARE = frozenset(_EN["in_times"]), frozenset(_EN["bare_times"])
_GROUP_ZH = regex(rf"(?:{either(_ZH['groups'])}|人员)$")
_CHARGED = regex(rf"多少钱|[免收]费|[票费价]|打?几折|{either(_ZH['terms_of_groups'])}")
"""What may be charged or ruled differently for a group of persons."""
_ASKS_HOW = regex(either(_ZH["asking"]))
_VERB = regex(rf"(?<![\u3400-\u9fff])(?:{either(_ZH['object_verbs'])})\Z")
"""A verb before its object (打|车费), which a time does not part."""
_YEAR = regex(r"(?:19|20)\d\d年?")
_END = regex(r"[\s?.!]*\Z")


def added(question: str, new: Fragment) -> str | None:
    """Return a question with what a fragment adds to it; None if a fragment adds nothing.

    Example:
        >>> added("How much is a ticket?", fragment("And for kids?"))
        'How much is a ticket for kids?'
    """
    if has_han(question):
        return _inserted(question, new.new)
    words = _adverbial(question, new)
    return f"{_END.sub('', question)} {words}?" if words else None


def _inserted(question: str, words: str) -> str | None:
    """Return a Chinese question with a time or a group before what it is about, or a version after it."""
    about = subject(question)
    if about is None:
        return None
    if VERSION.fullmatch(words):
        owner = "的" if _owns(question, about.end) else ""
        return f"{question[: about.end]}{words}{owner}{question[about.end :]}"
    grouped = _GROUP_ZH.search(words) and _CHARGED.search(question) and not _GROUP_ZH.search(about.text)
    if not (is_time(words) or _YEAR.fullmatch(words) or grouped):
        return None
    verb = _VERB.search(question[: about.start])
    at = 0 if _ASKS_HOW.match(question[: about.start]) else verb.start() if verb else about.start
    return question[:at] + words + question[at:]


def _owns(question: str, at: int) -> bool:
    """Return True if what follows directly is what the words before it have: 空调|制冷功率."""
    return any(p.start == at and p.kind != "time" for p in noun_phrases(question))


def _adverbial(question: str, new: Fragment) -> str:
    """Return a fragment as words that may end an English question; empty if it is no such words."""
    phrase = f"{new.article} {new.new}".strip()
    if new.modifier:
        return ""
    if new.preposition and (not new.proper or new.preposition in PLACED):
        return f"{new.preposition} {phrase}"
    last = new.new.split()[-1].lower()
    probe = noun_phrases(new.new)
    if (probe and probe[0].kind == "time") or _YEAR.fullmatch(new.new):
        lead = "" if last in _BARE else "in " if last in _IN or last.isdigit() else "on "
        return lead + phrase
    grouped = any(is_group(p.text) for p in noun_phrases(question))
    return f"for {decapitalised(phrase)}" if is_group(new.new) and not new.article and not grouped else ""
