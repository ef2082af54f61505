"""Finding the noun phrases of a question: what it is about, and what a follow-up may put in a phrase's place."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise

from llama_index_condense_plus.lexicons.text import clip, has_han, simplify
from llama_index_condense_plus.rewriting.follow_up_words import follow_up_words
from llama_index_condense_plus.rewriting.noun_phrases_en import ARTICLES, english_noun_phrases
from llama_index_condense_plus.rewriting.noun_phrases_zh import ATTRIBUTES, activity, chinese_noun_phrases, is_place
from llama_index_condense_plus.rewriting.phrase import NounPhrase

_AUXILIARIES = frozenset(follow_up_words("en")["auxiliaries"])
_HOLDERS = frozenset(follow_up_words("zh")["holders"])


def noun_phrases(text: str) -> tuple[NounPhrase, ...]:
    """Return the noun phrases of a text in order; none overlaps another.

    Example:
        >>> [p.text for p in noun_phrases("When does the north gate close?")]
        ['north gate']
    """
    text = clip(text)
    return chinese_noun_phrases(text) if has_han(text) else english_noun_phrases(text)


def subject(text: str) -> NounPhrase | None:
    """Return what a question is about: a name, or what is not asked of something else; None if it names nothing.

    Example:
        >>> subject("What are the side effects of the flu shot?").text
        'flu shot'
    """
    phrases = [p for p in noun_phrases(text) if p.kind in ("name", "term")]
    if not phrases:
        acted = activity(text) if has_han(text) else None
        return acted or next((p for p in noun_phrases(text) if p.kind == "attribute"), None)
    if has_han(text):
        return _whole(text, phrases) or _owner(phrases[0])
    beside = [p for p in noun_phrases(text) if p.kind not in ("time", "number") and not is_asked_for(p, text)]
    phrases = [p for p in beside if p in phrases] or beside or phrases
    names = [p for p in phrases if p.kind == "name" or any(word[0].isupper() for word in p.text.split())]
    owned = [p for p in names or phrases if p.before == "of"]
    return (owned or names or phrases)[0]


def is_asked_for(phrase: NounPhrase, text: str) -> bool:
    """Return True for what a question asks for of something else: the sizes of "What sizes does the shirt come in?"."""
    after = "".join(text[phrase.end :].split(maxsplit=1)[:1]).lower()
    asked = phrase.before in ("what", "which", "many") and after in _AUXILIARIES
    return asked or (phrase.before == "what" and after == "for")


def _owner(phrase: NounPhrase) -> NounPhrase:
    """Return 云台山 for 云台山门票: what it is about, without what was asked of it."""
    for size in range(min(4, len(phrase.text) - 2), 1, -1):
        tail = simplify(phrase.text[-size:])
        if tail in ATTRIBUTES and tail not in _HOLDERS:
            return replace(phrase, text=phrase.text[:-size])
    return phrase


def _whole(text: str, phrases: list[NounPhrase]) -> NounPhrase | None:
    """Return 敦煌的天空营地 and 西安到成都的高铁 whole: what is somewhere is not the place."""
    end, place = phrases[0].end, is_place(phrases[0].text)
    for one, two in pairwise(phrases[:3]):
        between = text[one.end : two.start]
        if between in ("到", "至", "里的", "上的", "内的", "中的") or (between == "的" and place):
            end = two.end
        else:
            break
    return replace(phrases[0], text=text[phrases[0].start : end], kind="name") if end > phrases[0].end else None


def said(phrase: NounPhrase) -> str:
    """Return a phrase as it is said again: with "the" if it had an article."""
    return f"the {phrase.text}" if phrase.before in ARTICLES and not has_han(phrase.text) else phrase.text
