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
    dice = random.Random(seed)  # noqa: S311
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
    dice = random.Random(seed)  # noqa: S311
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
    dice = random.Random(seed)  # noqa: S311
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
    dice = random.Random(seed)  # noqa: S311
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
    ("don't ", ""), ("doesn't ", ""), ("didn't ", ""), ("can't ", "can "), ("isn't ", "is "), ("aren't ", "are "), ("won't ", "will "), ("wasn't ", "was "),
    ("shouldn't ", "should "), ("couldn't ", "could "), ("wouldn't ", "would "), ("haven't ", "have "), ("hasn't ", "has "), ("cannot ", "can "),
    (" not ", " "), (" never ", " "), (" no ", " "), (" without ", " with "),
)  # fmt: skip
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


_HISTORY = (("user", "{a}是什么？"), ("assistant", "{a}是我们的主力产品，支持远程管理。"))
_HISTORY_EN = (("user", "What is {a}?"), ("assistant", "{a} is our main product and can be managed remotely."))
_PRODUCTS = ("GTE-3000", "云图平台", "Orion Gateway", "蓝鲸存储")
_IDENTIFIERS = (
    ("GTE-3000", "GTE-3001"), ("torch.nn.Linear", "torch.nn.Conv2d"), ("/etc/nginx/nginx.conf", "/etc/nginx/mime.types"), ("config.yaml", "config.json"), ("ERR_42", "ERR_24"),
    ("v2.3.1", "v2.3.4"), ("ISO-27001", "ISO-9001"), ("api/v2/users", "api/v2/orders"), ("max_tokens", "min_tokens"), ("RTX4090", "RTX4080"), ("HTTP/2", "HTTP/3"),
    ("com.example.app", "com.example.web"), ("utf-8", "utf-16"), ("192.168.1.10", "192.168.1.20"), ("log4j2", "log4j3"), ("os.path.join", "os.path.split"), ("M12A3", "M12A4"),
    ("TCP/IP", "UDP/IP"), ("X509", "X500"), ("node.js", "vue.js"),
)  # fmt: skip
_ASK_IDENTIFIER = (
    ("那它支持{i}吗？", "{a}支持{i}吗？"), ("怎么在上面配置{i}？", "怎么在{a}上配置{i}？"), ("它报{i}是什么原因", "{a}报{i}是什么原因"), ("它和{i}有什么区别", "{a}和{i}有什么区别"),
    ("Does it support {i}?", "Does {a} support {i}?"), ("How do I set {i} on it?", "How do I set {i} on {a}?"), ("what does {i} mean there?", "What does {i} mean on {a}?"),
)  # fmt: skip
_QUOTES = (
    ("连接超时", "登录失败"),
    ("permission denied", "file not found"),
    ("高级模式", "简单模式"),
    ("Reset all", "Save all"),
    ("请稍后再试", "操作成功"),
    ("out of memory", "disk full"),
)
_ASK_QUOTE = (
    ("它提示“{q}”怎么办？", "{a}提示“{q}”怎么办？"), ("「{q}」在它的哪个菜单里", "「{q}」在{a}的哪个菜单里"), ('Why does it say "{q}"?', 'Why does {a} say "{q}"?'),
    ("what does '{q}' mean on this device", "What does '{q}' mean on {a}?"), ("怎么打开它的《{q}》", "怎么打开{a}的《{q}》"),
)  # fmt: skip
_ASK_NUMBER = (
    ("{n}个人用它够吗？", "{n}个人用{a}够吗？", ("3", "5", "20", "两", "十二", "三百")), ("它能用{n}年吗", "{a}能用{n}年吗", ("2", "10", "三", "五")), ("它装{n}台要多少钱", "装{n}台{a}要多少钱", ("2", "15", "四", "三十")),
    ("How much does it cost for {n} users?", "How much does {a} cost for {n} users?", ("2", "50", "three", "twelve", "1,000")),
    ("can it run for {n} hours", "Can {a} run for {n} hours?", ("8", "24", "2.5", "ten")), ("它最近{n}个版本有什么变化", "{a}最近{n}个版本有什么变化", ("3", "两", "五")),
    ("is it under ${n}?", "Is {a} under ${n}?", ("50", "200", "99.9")), ("它支持{n}GB内存吗", "{a}支持{n}GB内存吗", ("16", "64")), ("它能打{n}折吗", "{a}能打{n}折吗", ("八", "9")),
)  # fmt: skip
_OTHER_NUMBERS = ("4", "6", "17", "七", "nine")
_ASK_NEGATION = (
    ("它为什么不能联网？", "{a}为什么不能联网？", "{a}为什么能联网？"), ("不用密码怎么登录它", "不用密码怎么登录{a}", "用密码怎么登录{a}"), ("它没有显示屏怎么看状态", "{a}没有显示屏怎么看状态", "{a}有显示屏怎么看状态"),
    ("哪些功能它不支持", "{a}不支持哪些功能", "{a}支持哪些功能"), ("未激活的能用吗", "未激活的{a}能用吗", "激活的{a}能用吗"), ("它不开机了怎么办", "{a}不开机了怎么办", "{a}开机了怎么办"),
    ("非会员能买它吗", "非会员能买{a}吗", "会员能买{a}吗"), ("它无法升级的原因", "{a}无法升级的原因", "{a}升级的原因"), ("除了白色它还有什么颜色", "{a}除了白色还有什么颜色", "{a}白色是什么颜色"),
    ("Why doesn't it start?", "Why doesn't {a} start?", "Why does {a} start?"), ("which features are not included in it?", "Which features are not included in {a}?", "Which features are included in {a}?"),
    ("Can I use it without a licence?", "Can I use {a} without a licence?", "Can I use {a} with a licence?"), ("what if it never connects", "What if {a} never connects?", "What if {a} connects?"),
    ("what can't it do?", "What can't {a} do?", "What can {a} do?"), ("Is there no way to reset it?", "Is there no way to reset {a}?", "Is there a way to reset {a}?"),
    ("how do non-admins use it?", "How do non-admins use {a}?", "How do admins use {a}?"), ("what does it cost excluding tax", "What does {a} cost excluding tax?", "What does {a} cost including tax?"),
)  # fmt: skip


def written_cases(seed: int = 0) -> Iterator[tuple[Pair, Corruption]]:
    """Return hand-written questions about products with a right rewrite and a wrong one each."""
    dice = random.Random(seed)  # noqa: S311

    def made(ask: str, right: str, wrong: str, swap: str, donor: str) -> tuple[Pair, Corruption]:
        product = dice.choice(_PRODUCTS)
        turns = _HISTORY if any("\u4e00" <= char <= "\u9fff" for char in ask) else _HISTORY_EN
        history = tuple((role, text.format(a=product)) for role, text in turns)
        pair = Pair(f"written-{swap}", ask, history, right.format(a=product))
        return pair, Corruption(ask, history, wrong.format(a=product), swap, donor, seed)

    for ask, right in _ASK_IDENTIFIER:
        for code, other in _IDENTIFIERS:
            good = right.replace("{i}", code)
            yield made(ask.replace("{i}", code), good, right.replace("{i}", other), "identifier_changed", other)
            yield made(ask.replace("{i}", code), good, right.replace("{i}", ""), "identifier_dropped", "nothing")
    for ask, right in _ASK_QUOTE:
        for quote, other in _QUOTES:
            good = right.replace("{q}", quote)
            yield made(ask.replace("{q}", quote), good, right.replace("{q}", other), "quote_changed", other)
            yield made(
                ask.replace("{q}", quote),
                good,
                right.replace("“{q}”", "")
                .replace("「{q}」", "")
                .replace('"{q}"', "")
                .replace("'{q}'", "")
                .replace("《{q}》", ""),
                "quote_dropped",
                "nothing",
            )
    for ask, right, numbers in _ASK_NUMBER:
        for number in numbers:
            good = right.replace("{n}", number)
            other = dice.choice([n for n in _OTHER_NUMBERS if n != number])
            yield made(ask.replace("{n}", number), good, right.replace("{n}", other), "number_changed", other)
            yield made(ask.replace("{n}", number), good, right.replace("{n}", ""), "number_dropped", "nothing")
    for ask, right, wrong in _ASK_NEGATION:
        yield made(ask, right, wrong, "negation_dropped", "written")


def answered(pair: Pair, answers: Sequence[str], donor: str, seed: int = 0) -> Iterator[Corruption]:
    """Return a question's own answer, and the answer's first sentence, as rewrite."""
    for answer in answers:
        if len(answer.strip()) < 2:
            continue
        yield Corruption(pair.original, pair.history, answer, "answered", donor, seed)
        first = re.split(r"(?<=[.!?。！？])\s*", answer.strip())[0]
        if first and first != answer.strip():
            yield Corruption(pair.original, pair.history, first, "answered_first_sentence", donor, seed)
