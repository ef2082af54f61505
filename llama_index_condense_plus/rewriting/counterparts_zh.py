"""Scoring the phrases of a Chinese question as the counterpart of what a follow-up names."""

from __future__ import annotations

import re
from collections.abc import Iterator

from llama_index_condense_plus.lexicons.patterns import regex
from llama_index_condense_plus.lexicons.text import Token, fold, simplify, tokenize
from llama_index_condense_plus.rewriting.follow_up_words import either, follow_up_words
from llama_index_condense_plus.rewriting.fragments import BRACKETS, QUANTITY, VERSION, Fragment
from llama_index_condense_plus.rewriting.han_names import entity_words
from llama_index_condense_plus.rewriting.likeness import CHINESE, ENOUGH, Scored
from llama_index_condense_plus.rewriting.noun_phrases import noun_phrases
from llama_index_condense_plus.rewriting.noun_phrases_zh import ATTRIBUTES
from llama_index_condense_plus.rewriting.phrase import NounPhrase

_WORDS = follow_up_words("zh")
_AND_AFTER = regex(r" ?(?:[和与跟及或、]|还是)")
_AND_BEFORE = regex(r"(?:[和与跟及或、]|还是) ?\Z")
_PROPER = ("nr", "ns", "nz", "en")
"""How jieba's tags of persons, places, other names and Latin words begin."""
_INSTITUTION = "nt"
_NAMES = frozenset({"nr", "ns", "nz", "nt"})
_HAN_RUN = regex(r"[\u3400-\u9fff]*\Z")
_ASKED = regex(rf" ?(?:{either(_WORDS['asking'])}|是|有)")
_VARIANTS = frozenset(follow_up_words("en")["variants"])
_MODIFIERS = frozenset("abz")
_GROUPS = either(_WORDS["groups"])
_PERSON = regex(rf"(?:{either(_WORDS['persons'])}|{_GROUPS}|[人者员师])$")
_GROUP_FIRST = regex(rf"(?:{_GROUPS})(?=[\u3400-\u9fff])")
_GROUP = regex(rf"{_GROUPS}|.{{1,4}}人员")
_AILMENT = regex(rf"(?:{either(_WORDS['ailments'])})(?:发作|患者|期间?|时)?$")
_SURNAMED = regex(rf"(?:{either(entity_words()['zh']['surnames'])}).{{1,2}}$")
_SIGHT = regex(rf"..(?:{either(_WORDS['sights'])})$")
_DURING = regex(r"[\u3400-\u9fff]{1,6}(?:期间|期内|之前|之后|以前|以后|的?时候?|当天|前|后)")
_LATIN_RUN = regex(r"[A-Za-z0-9.+-]+(?: [A-Za-z0-9.+-]+)*")
_LATIN_END = regex(r"[A-Za-z0-9.+]+\Z")
_WHEN = regex(rf"(?:{either(_WORDS['when'])})\Z")
_MODAL = regex(rf"(?:{either(_WORDS['modals'])})\Z")
_NEAR = 8
"""Characters before a phrase that tell how it is joined to what is before it."""


def chinese_counterparts(question: str, new: Fragment) -> list[Scored]:
    """Return the phrases of a Chinese question with what speaks for each as the counterpart of a fragment."""
    words = new.new.strip(BRACKETS)
    quantified = QUANTITY.fullmatch(words)
    if quantified:
        return list(_quantities(question, quantified))
    if is_time(words):
        return [(CHINESE.time, p.start, p.end) for p in noun_phrases(question) if p.kind == "time"]
    if VERSION.fullmatch(words):
        return list(_versions(question, words))
    attribute = is_chinese_attribute(words)
    pos = next((t.pos for t in tokenize(words)), "")
    qualifies = new.modifier and pos[:1] in _MODIFIERS
    found: list[Scored] = []
    for index, old in enumerate(p for p in noun_phrases(question) if p.kind != "time"):
        if not qualifies and not _coordinated(question, old) and not (index and _done(question, old)):
            found.extend(_scores(question, old, words, attribute, CHINESE.early / (index + 1)))
    found.extend(_words_alike(question, words, new, pos))
    found.extend(_objects(question, words, pos))
    if qualifies and not any(score > ENOUGH for score, *_ in found):
        return [(ENOUGH, p.start, p.start) for p in noun_phrases(question)[:1]]  # 临时的 + 身份证
    return found


def is_time(words: str) -> bool:
    """Return True for words that only say when (周末, 试用期内)."""
    if _DURING.fullmatch(words):
        return True
    phrases = noun_phrases(words)
    return bool(phrases) and all(p.kind == "time" for p in phrases)


def is_chinese_attribute(words: str) -> bool:
    """Return True for words that end in a noun which belongs to something: 价格, 分红情况."""
    words = simplify(words)
    return any(words[-size:] in ATTRIBUTES for size in range(2, min(5, len(words)) + 1))


def has_latin(words: str) -> bool:
    """Return True for words with ASCII letters or digits in them."""
    return any(char.isascii() and char.isalnum() for char in words)


def _done(question: str, old: NounPhrase) -> bool:
    """Return True for what is asked the time of, which jieba may take for a noun: 几点|关门."""
    return _WHEN.search(question, max(0, old.start - _NEAR), old.start) is not None


def _coordinated(question: str, old: NounPhrase) -> bool:
    """Return True for one of two things in one breath: A和B."""
    before = question[max(0, old.start - _NEAR) : old.start]
    return bool(_AND_AFTER.match(question, old.end) or _AND_BEFORE.search(before))


def _quantities(question: str, new: re.Match[str]) -> Iterator[Scored]:
    """Yield the numbers of a question in the unit of the new one, after the same words if it has any."""
    for old in QUANTITY.finditer(question):
        if old["unit"] != new["unit"] and not (new["lead"] and old["time"] and new["time"]):
            continue
        if question.endswith(new["lead"], 0, old.start("number")):
            yield CHINESE.quantity, old.start("number") - len(new["lead"]), old.end()


def _versions(question: str, words: str) -> Iterator[Scored]:
    """Yield the words for a version in a question: 四驱版 for 两驱版, 白色款 for 黑色款."""
    starts = {token.start for token in tokenize(question)}
    for match in re.finditer(re.escape(words[-1]), question):
        latin = _LATIN_END.search(question, max(0, match.start() - _NEAR), match.start())
        same = latin.start() if latin else match.end() - len(words)
        token = max((s for s in starts if s < match.start()), default=-1)
        start = same if latin or (same in starts and not has_latin(words)) else token
        if start >= 0:
            yield CHINESE.version, start, match.end()


def _words_alike(question: str, words: str, new: Fragment, pos: str) -> Iterator[Scored]:
    """Yield single words of the same length and kind, inside a phrase or outside any."""
    for token in tokenize(question):
        if len(token.text) != len(words) or token.text == words:
            continue
        shared = token.text[0] == words[0] or token.text[-1] == words[-1]
        verb = token.pos == "v" and pos == "v" and len(words) > 1 and _class_sign(token.text, words) >= 0
        modifier = (new.modifier or len(words) == 1) and token.pos[0] in _MODIFIERS and pos[:1] in _MODIFIERS
        noun = token.pos == pos == "n" and len(words) == 1
        if modifier or verb or noun:
            can = verb and _MODAL.search(question, max(0, token.start - _NEAR), token.start)  # 洗澡 of 能洗澡吗
            more = 2 * shared + 2 * bool(modifier or noun or can)
            alike = max(0.0, _class_sign(token.text, words))  # 感冒能打疫苗吗, 发烧
            yield CHINESE.word * (1 + more) + alike, token.start, token.start + len(token.text)


def _objects(question: str, words: str, pos: str) -> Iterator[Scored]:
    """Yield the noun of a verb that the tagger takes for one word with it: 糖 of 放糖."""
    for token in tokenize(question):
        if len(words) == 1 and pos == "n" and token.pos == "v" and len(token.text) == 2:  # noqa: PLR2004
            noun = token.text[1]
            if tokenize(noun)[0].pos in ("n", "zg"):
                yield CHINESE.object, token.start + 1, token.start + 2


def _scores(question: str, old: NounPhrase, words: str, attribute: bool, early: float) -> Iterator[Scored]:
    """Score a phrase whole, and the part of it that shares its end or beginning with the new words."""
    tokens = tokenize(old.text)
    suffix = min(_shared_end(old.text, words), 2)
    if attribute:
        tail = tokens[-1].start if len(tokens) > 1 and is_chinese_attribute(old.text) else 0
        asked = is_chinese_attribute(old.text) and (
            _ASKED.match(question, old.end) or not question[old.end :][:1].isalnum()
        )
        if asked:
            yield CHINESE.attribute + min(suffix, 1), old.start + tail, old.end
        return
    bare = is_chinese_attribute(old.text) and (len(tokens) == 1 or tokens[0].pos == "v")
    whole = CHINESE.thing * (not bare) + early
    probe = next(iter(noun_phrases(words)), None)
    of_class = _class_sign(old.text, words)
    whole += CHINESE.named_alike * (of_class >= 0 and probe is not None and probe.kind == old.kind == "name")
    whole += CHINESE.tagged_alike * (_tag(old.text) == _tag(words))
    whole += CHINESE.container * (question[old.end : old.end + 1] in "里中上内" and old.end < len(question))
    whole += CHINESE.script_alike * (has_latin(old.text) == has_latin(words))
    whole += CHINESE.other_case * (words.islower() and words.isascii() and not old.text.islower())
    begins_alike = words[:2] == old.text[:2] and not has_latin(words[:2]) and min(len(words), len(old.text)) > 2  # noqa: PLR2004
    whole += CHINESE.shared_start * begins_alike
    whole += of_class + CHINESE.shared_end * suffix
    start = old.start
    if suffix and len(old.text) < len(words):  # 年 + 假 against 病假
        room = _HAN_RUN.search(question[max(0, old.start - _NEAR) : old.start])
        start -= min(len(words) - len(old.text), len(room.group()) if room else 0)
    group = _GROUP_FIRST.search(old.text) if _GROUP.fullmatch(words) else None
    if group:  # 成人 of 成人票
        yield CHINESE.name_in_it + early, old.start + group.start(), old.start + group.end()
    if not _GROUP.fullmatch(words) or _class_of(old.text) == "person":
        yield whole, start, old.end
    last = tokens[-1]
    if len(tokens) > 1 and last.text.lower() in _VARIANTS and words.lower() in _VARIANTS:
        yield whole + CHINESE.version, old.start + last.start, old.end
    if suffix and len(tokens) > 1 and len(last.text) == len(words) and _tag(words) not in _NAMES:
        yield whole + CHINESE.end_alike, old.start + last.start, old.end
    for token in tokens[:-1]:
        yield from _part_scores(old, token, words, suffix, early)


def _part_scores(old: NounPhrase, token: Token, words: str, suffix: int, early: float) -> Iterator[Scored]:
    """Score a word inside a phrase, and the words up to it."""
    start, ends, piece = old.start + token.start, token.start + len(token.text), token.text
    if piece.isascii() and fold(piece) == fold(words.split(maxsplit=1)[0]):
        run = _LATIN_RUN.match(old.text, token.start)  # MacBook Air against MacBook Pro, Model 3 of Model 3保险
        yield CHINESE.name_in_it + early, start, old.start + (run.end() if run else ends)
        return
    models = has_latin(old.text) and has_latin(words) and not words.isascii()  # 小米14, 华为P60
    sight = _SIGHT.search(words) and not is_chinese_attribute(
        old.text
    )  # 玉龙雪山, which is no town: no 丽江 of 丽江古城
    if len(piece) > 1 and not models and not sight and _same_name(token, words):
        yield CHINESE.name_in_it + early, start, old.start + ends
    head = old.text[:ends]
    if suffix:
        return
    if len(piece) == len(words) > 1 and (piece[-1] == words[-1] or token.pos == tokenize(words)[0].pos == "v"):
        yield CHINESE.inner_end_alike, start, old.start + ends
    if len(head) > 1 and len(head) >= len(words) - 1 and head[-1] == words[-1]:
        yield CHINESE.head_alike * (1 + min(_shared_end(head, words), 2)), old.start, old.start + ends
    elif len(piece) == len(words) > 1 and piece[0] == words[0]:
        yield CHINESE.start_alike, start, old.start + ends
    elif token.start == 0 and words.isascii() and piece.isascii():
        yield CHINESE.latin_head, old.start, old.start + ends


def _same_name(token: Token, words: str) -> bool:
    """Return True if a word inside a phrase and the new words name things of one kind: 北京 of 北京图书馆 and 上海.

    A person's name inside a phrase must look like one: 宁德 is no part of 宁德时代 that another name could take.
    """
    tag = _tag(words)
    if token.pos == _INSTITUTION:
        return tag in _NAMES or any(p.kind == "name" for p in noun_phrases(words))
    if _tag(token.text) != tag or tag not in _PROPER:
        return False
    return tag != "nr" or bool(_SURNAMED.match(token.text) and _SURNAMED.match(words))


def _class_sign(old: str, words: str) -> float:
    one, other = _class_of(old), _class_of(words)
    if not one:
        return 0.0
    return CHINESE.same_class if one == other else CHINESE.other_class


def _class_of(words: str) -> str:
    """Return what kind of being a phrase means: a person, an ailment, or nothing that is known."""
    return "ailment" if _AILMENT.search(words) else "person" if _PERSON.search(words) else ""


def _tag(words: str) -> str:
    """Return the tag of a phrase's last word, names of persons and places apart from common nouns."""
    pos = tokenize(words)[-1].pos
    return pos[:2] if pos[:2] in _NAMES or pos[:2] == "en" else "n" if pos in ("vn", "j") else pos[:1]


def _shared_end(one: str, other: str) -> int:
    """Return how many characters two words share at the end."""
    size = 0
    while size < min(len(one), len(other)) and one[-1 - size] == other[-1 - size]:
        size += 1
    return size
