"""Numbers in Chinese and English text with their units, digits and words made equal."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from llama_index_condense_plus.lexicons.memo import remembered
from llama_index_condense_plus.lexicons.patterns import regex

_DIGITS = {"零": 0, "〇": 0, "一": 1, "二": 2, "两": 2, "三": 3, "四": 4, "五": 5, "六": 6, "七": 7, "八": 8, "九": 9}
_SCALES = {"k": 1000, "十": 10, "百": 100, "千": 1000, "万": 10_000, "亿": 100_000_000}
_WORDS = {
    word: number
    for number, word in enumerate(
        "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen "  # noqa: SIM905
        "seventeen eighteen nineteen".split()
    )
} | {
    word: 10 * number
    for number, word in enumerate("twenty thirty forty fifty sixty seventy eighty ninety".split(), 2)  # noqa: SIM905
}
_WORD_SCALES = {"hundred": 100, "thousand": 1000, "million": 1_000_000, "billion": 1_000_000_000}
_ORDINALS = {
    word: number
    for number, word in enumerate(
        "first second third fourth fifth sixth seventh eighth ninth tenth eleventh twelfth".split(),  # noqa: SIM905
        1,
    )
}
_UNITS = {
    unit: words.split()[0]
    for words in (
        "% percent 百分 ％", "$ usd dollar dollars bucks 美元 美金", "€ eur euro euros 欧元",
        "£ gbp pound pounds 英镑", "元 rmb cny yuan 块 块钱 人民币 ￥ ¥", "year years yr yrs 年 岁",
        "month months 月 个月", "week weeks 周 星期 礼拜", "day days 天 日 号",
        "hour hours hr hrs h 小时 个小时 钟头", "minute minutes min mins 分钟", "second seconds sec secs 秒",
        "km kilometer kilometers kilometre kilometres 公里 千米", "m meter meters metre metres 米", "cm 厘米 公分",
        "mm 毫米", "mile miles 英里", "ft foot feet 英尺", "inch inches 寸 英寸",
        "kg kilogram kilograms kilo kilos 公斤 千克", "g gram grams 克", "mg milligram milligrams 毫克", "lb lbs",
        "t ton tons 吨", "l liter liters litre litres 升", "ml 毫升",
        "kb", "mb", "gb", "tb", "mbps", "gbps", "hz", "khz", "mhz", "ghz", "w watt watts 瓦", "kw", "kwh 度",
        "v volt volts 伏", "mah", "°c ℃ 摄氏度", "°f", "ms 毫秒", "px", "dpi", "fps",
        "人 people persons person 位 名", "次 times", "倍", "层 楼", "折", "点 o'clock am pm", "分",
    )
    for unit in words.split()
}  # fmt: skip
"""Unit → the name under which equal units are compared."""
_CLASSIFIERS = (
    "个位种款部张本台次天年月日号周岁元块人层楼米斤倍成折季集章代期星级名家条套件间晚点瓶碗杯只辆场首页票"
    "支枚颗粒盒箱袋份届轮步室厅卫居室小时分钟秒公里公斤星期礼拜英寸寸平亩吨升度课门节招项"
)
_HAN_UNITS = "|".join(sorted((u for u in _UNITS if u > "\u3400" and u not in "万亿"), key=len, reverse=True))
_LATIN_UNITS = "|".join(sorted((re.escape(u) for u in _UNITS if u.isascii() and u[0].isalpha()), key=len, reverse=True))
_POINTED = regex(r"\b(?:these|those|the|both|all) $")
_BEFORE = 8
_MAX_DIGITS = 30
_SECTION = 10_000
_NUMERAL = r"[零〇一二两三四五六七八九十百千万亿]"
_ANY_WORD = "|".join([*_WORDS, *_WORD_SCALES])
_PATTERN = regex(
    rf"(?P<ordinal>第\s*(?:\d+|{_NUMERAL}+))"
    rf"|"
    rf"(?P<money>[$€£￥¥])?(?<![a-z0-9_])(?<![a-z][-./_])(?<!\d\.)(?P<digits>\d+(?:,\d{{3}})*(?:\.\d+)?)(?P<scale>[万亿千百]|"
    rf"k(?![a-z0-9]))?(?:\s?(?P<unit>%|℃|°[cf]|{_HAN_UNITS}|(?:{_LATIN_UNITS})(?![a-z0-9]))|(?![a-z0-9_]))"
    rf"|(?P<han>{_NUMERAL}{{2,}}(?!{_NUMERAL})|(?<!{_NUMERAL})[二两三四五六七八九十](?=[{_CLASSIFIERS}])|"
    rf"百分之{_NUMERAL}+)(?P<hanunit>{_HAN_UNITS})?"
    rf"|(?<![\w-])(?P<word>(?:{_ANY_WORD})(?:[\s-]+(?:and\s+)?(?:{_ANY_WORD}))*)(?![\w])"
    rf"(?:[\s-](?P<wordunit>{_LATIN_UNITS})(?![a-z0-9]))?"
    rf"|(?<![\w-])(?P<nth>{'|'.join(_ORDINALS)}|\d+(?:st|nd|rd|th))(?!\w)"
)
_MAYBE = regex(rf"[\d二两三四五六七八九十百千]|第|\b(?:{'|'.join([*_WORDS, *_WORD_SCALES, *_ORDINALS])})\b")
_NOT_NUMBERS = regex(
    r"十分|万一|千万|一一|百度|千里马|三七|三国|三亚|四川|五一|十一月?假|六一|一万个|八达|九寨|两岸|万万|七夕|百货|"
    r"百科|三明治|三星|九龙|万科|万达|千岛|一百度|七喜|三里屯|二手|双十一"
)
_LIST_REFERENCE = regex(
    r"^\s*(?:个|种|款|项|条|点|位|家|张|篇|首|本|部|者|步|one\b|option|item|point|thing|of\b|approach|method|choice|"
    r"suggestion|step|model|product|plan|version|device|$|[?.,!;)])"
)


@dataclass(frozen=True, slots=True)
class Quantity:
    """A number of a text."""

    value: str
    """The number in digits; ordinals as ``#2``."""
    unit: str
    """Name of its unit, empty if it has none that is known."""
    start: int
    """Offset in the folded text."""
    reference: bool = False
    """True for an ordinal or a number that points (第二种, 这两个) and may be replaced by names."""


@remembered
def quantities(folded: str) -> tuple[Quantity, ...]:
    """Return the numbers of a folded text in order; digits inside codes such as ``gte-3000`` are none."""
    return tuple(_find(folded))


def _find(folded: str) -> Iterator[Quantity]:
    if not _MAYBE.search(folded):
        return
    idioms = {m.start() for m in _NOT_NUMBERS.finditer(folded)}
    for match in _PATTERN.finditer(folded):
        at = match.start()
        if match["ordinal"]:
            number = match["ordinal"][1:].strip()
            value = number if number.isdigit() else _from_han(number)
            yield Quantity(f"#{value}", "", at, bool(_LIST_REFERENCE.match(folded[match.end() :][:12])))
        elif match["digits"]:
            value = match["digits"].replace(",", "")
            if match["scale"]:
                value = _plain(float(value) * _SCALES[match["scale"]])
            yield Quantity(
                _plain(float(value)) if "." in value else str(int(value[:_MAX_DIGITS])),
                _UNITS.get(match["money"] or match["unit"] or "", ""),
                at,
            )
        elif match["han"]:
            if at in idioms:
                continue
            number = match["han"]
            percent = number.startswith("百分之")
            value = _from_han(number[3:] if percent else number)
            unit = "%" if percent else _UNITS.get(match["hanunit"] or "", "")
            yield Quantity(value, unit, at, folded[at - 1 : at] in ("这", "那"))
        elif match["word"]:
            if match["word"] == "one" and not match["wordunit"]:
                continue
            pointed = _POINTED.search(folded[max(0, at - _BEFORE) : at]) is not None
            yield Quantity(_from_words(match["word"]), _UNITS.get(match["wordunit"] or "", ""), at, pointed)
        else:
            nth = match["nth"]
            value = nth[:-2] if nth[0].isdigit() else str(_ORDINALS[nth])
            yield Quantity(f"#{value}", "", at, bool(_LIST_REFERENCE.match(folded[match.end() :][:12])))


def _plain(value: float) -> str:
    return f"{value:g}" if value < 1e6 else f"{value:.0f}"  # noqa: PLR2004


def _from_han(number: str) -> str:
    """Return a Chinese numeral in digits: 二〇二四 → 2024, 三百五 → 350, 十二 → 12."""
    if not any(char in _SCALES for char in number):
        return "".join(str(_DIGITS[char]) for char in number)
    total = section = digit = 0
    last_scale = 1
    for char in number:
        if char in _DIGITS:
            digit = _DIGITS[char]
            if digit == 0:
                last_scale = 1
            continue
        scale = _SCALES[char]
        if scale >= _SECTION:  # 万 and 亿 close a section
            total = (
                (total + section + digit) * scale
                if total and scale > _SECTION
                else total + (section + digit or 1) * scale
            )
            section = digit = 0
        else:
            section += (digit or 1) * scale
            digit = 0
        last_scale = scale
    return str(total + section + digit * (last_scale // 10 if last_scale > 10 else 1))  # noqa: PLR2004


def _from_words(words: str) -> str:
    total = current = 0
    for word in re.split(r"[\s-]+", words):
        if word in _WORDS:
            current += _WORDS[word]
        elif word == "hundred":
            current = (current or 1) * 100
        elif word in _WORD_SCALES:
            total += (current or 1) * _WORD_SCALES[word]
            current = 0
    return str(total + current)
