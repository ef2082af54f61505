"""Finding the noun phrases of a Chinese question with jieba's tags, which are often wrong about rare words."""

from __future__ import annotations

from collections.abc import Iterator

from llama_index_condense_plus.lexicons.attributes import ATTRIBUTES_ZH
from llama_index_condense_plus.lexicons.memo import remembered
from llama_index_condense_plus.lexicons.patterns import regex
from llama_index_condense_plus.lexicons.rarity import RAREST, rarity_classes
from llama_index_condense_plus.lexicons.text import Token, simplify, tokenize
from llama_index_condense_plus.rewriting.follow_up_words import either, follow_up_words
from llama_index_condense_plus.rewriting.han_names import entity_words
from llama_index_condense_plus.rewriting.phrase import NounPhrase

_WORDS = follow_up_words("zh")
ATTRIBUTES = ATTRIBUTES_ZH | frozenset(_WORDS["attributes"])
"""Nouns that belong to something: 价格 asks 什么的价格."""
_LEADS = frozenset(entity_words()["zh"]["lead"])
_NO_VERBS = frozenset(_WORDS["light_verbs"]) | frozenset(entity_words()["zh"]["frame_verbs"])
_DOING = frozenset(_WORDS["doing"])
_FRAMES = regex(rf"^(?:{either([*_WORDS['light_verbs'], *entity_words()['zh']['frame_verbs'], *_LEADS])})+")
_CUT = regex(
    rf"{either(_WORDS['asking'])}|[，,。？?！!；;：:、\n\t\u3000（）()]+|(?<![还但就于总只可凡都老])是(?!非)"
    r"|有(?=什么|哪|多少|几)|[啊呀嘛哦噢呗啦]|吧(?=[，。？?！!]|$)|《[^》]{1,60}》|的?时候"
)
_DIGIT_NAME = regex(r"[一二三四五六七八九]{2,}")
_EATEN = regex(r"[吃喝坐骑](?P<what>[\u3400-\u9fff]{2,5})")
"""What jieba takes for one word though it is a verb with its object (喝咖啡)."""
_TITLE = regex(r"《([^》]{1,60})》")
_NOMINAL = frozenset(
    {"n", "ng", "g", "nr", "nrt", "nrfg", "ns", "nt", "nz", "vn", "an", "j", "l", "i", "b", "eng", "zg", "z", "s"}
)
_NAMES = frozenset({"nr", "nrt", "nrfg", "ns", "nt", "nz", "eng"})
_TIME = regex(
    r"(?:(?:\d{4}|[一二三四五六七八九零〇]{4})年(?:第?[一二三四1-4]季度|\d{1,2}月|上半年|下半年)?"
    rf"|[上下本这]?个?(?:周|星期|礼拜)[一二三四五六日天末](?![a-zA-Z])|(?:{either(_WORDS['days'])})(?!性))+"
)
"""Years and days, which are no part of the name before or the noun after them."""


@remembered
def chinese_noun_phrases(text: str) -> tuple[NounPhrase, ...]:
    """Return the noun phrases of a text in order; what stands on both sides of 的 are two."""
    return tuple(_phrases(text))


def activity(text: str) -> NounPhrase | None:
    """Return the verb that a question opens with, which is what it is about: 离职 of 办理离职要交接什么."""
    for token in tokenize(text):
        if token.text in _DOING or simplify(token.text) in _LEADS:
            continue
        verb = token.pos in ("v", "vn") and len(token.text) > 1 and simplify(token.text) not in _NO_VERBS
        return NounPhrase(token.text, token.start) if verb else None
    return None


def is_place(words: str) -> bool:
    """Return True for a phrase that ends in the name of a place."""
    return tokenize(words)[-1].pos in ("ns", "s")


def _phrases(text: str) -> Iterator[NounPhrase]:
    at = 0
    for match in [*_CUT.finditer(text), None]:
        stop = match.start() if match else len(text)
        if stop > at:
            yield from sorted(_within(text[at:stop], at), key=lambda phrase: phrase.start)
        if match:
            at = match.end()
            title = _TITLE.match(match.group())
            if title:
                yield NounPhrase(title.group(1), match.start() + 1, "name")


def _within(piece: str, offset: int) -> Iterator[NounPhrase]:
    """Yield the phrases of a stretch without words that ask."""
    times = [match.span() for match in _TIME.finditer(piece)]
    for start, end in times:
        yield NounPhrase(piece[start:end], offset + start, "time")
    tokens = [t for t in tokenize(piece) if not any(s < t.start + len(t.text) and t.start < e for s, e in times)]
    run: list[Token] = []
    for index, token in enumerate(tokens):
        if run and not _joined(run[-1], token):
            yield from _phrase(run, piece, offset)
            run = []
        fits = _fits(tokens, index, run)
        if run and not fits:
            yield from _phrase(run, piece, offset)
            run = []
            fits = _fits(tokens, index, run)
        if fits:
            run.append(token)
    yield from _phrase(run, piece, offset)


def _joined(left: Token, right: Token) -> bool:
    """Return True for words that touch, and for Latin ones after a space (星野 S9, Mate 60 Pro)."""
    gap = right.start - left.start - len(left.text)
    return gap == 0 or (gap == 1 and right.text.isascii())


def _fits(tokens: list[Token], index: int, run: list[Token]) -> bool:
    token = tokens[index]
    words, pos = token.text, token.pos
    happened = run and len(words) == 1 and "".join(t.text for t in tokens[index + 1 : index + 2]) == "了"  # 借记卡|丢了
    if happened or simplify(words) in _LEADS or simplify(words) in _NO_VERBS:
        return False
    if simplify(words) in ATTRIBUTES or pos in _NOMINAL or (pos == "t" and not run) or (words in "·•・" and run):
        return True
    following = tokens[index + 1] if index + 1 < len(tokens) else None
    if following and (following.start != token.start + len(words) or following.text in _NO_VERBS):
        following = None
    nominal = following is not None and following.pos in _NOMINAL
    if pos in ("m", "mq"):
        named = nominal and (words.isascii() or _DIGIT_NAME.fullmatch(words))  # 三一重工
        model = run and words.isascii() and (following is None or following.pos[0] not in "qmn")  # 小米14
        return bool((run and run[-1].pos in _NAMES) or model or named) or words[-1:] in "号代"
    if run and words == "站":
        return True
    if pos == "v":
        return (index == 0 and _rarity(words) == RAREST and len(words) > 1) or _verb_fits(words, following, run)
    return (pos == "a" and nominal and not run) or (pos == "q" and bool(run))


def _verb_fits(words: str, following: Token | None, run: list[Token]) -> bool:
    """Return True for a verb inside a phrase: 制冷 of 制冷功率, and 退款 of 网课退款政策."""
    if following is None or len(words) == 1:
        return False
    attribute = following.text in ATTRIBUTES
    return attribute if run or following.pos == "v" else following.pos in _NOMINAL


def _rarity(words: str) -> int:
    return rarity_classes("zh").get(simplify(words), RAREST)


def _phrase(run: list[Token], piece: str, offset: int) -> Iterator[NounPhrase]:
    if not run:
        return
    words, start = piece[run[0].start : run[-1].start + len(run[-1].text)], run[0].start + offset
    lead = _FRAMES.match(words)
    if lead and 0 < lead.end() < len(words) and len(run) == 1 and _rarity(words) == RAREST:  # not 办公室
        words, start = words[lead.end() :], start + lead.end()
    eaten = _EATEN.fullmatch(words) if len(run) == 1 else None
    if eaten and len(tokenize(eaten["what"])) == 1:
        words, start, run = eaten["what"], start + 1, list(tokenize(eaten["what"]))
    if all(t.pos == "t" for t in run):
        kind = "time"
    elif words[0].isdigit() and not any(t.pos == "eng" for t in run):
        kind = "number"
    elif simplify(words) in ATTRIBUTES:
        kind = "attribute"
    else:
        kind = "name" if any(t.pos in _NAMES or _rarity(t.text) == RAREST for t in run) else "term"
    if len(words) > 1:
        yield NounPhrase(words, start, kind)
