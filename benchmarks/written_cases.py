"""Questions about products written by hand, each with a right rewrite and a wrong one."""

from __future__ import annotations

import random
from collections.abc import Iterator

from corruptions import Corruption, Pair

_HISTORY = (("user", "{a}是什么？"), ("assistant", "{a}是我们的主力产品，支持远程管理。"))
_HISTORY_EN = (("user", "What is {a}?"), ("assistant", "{a} is our main product and can be managed remotely."))
_PRODUCTS = ("GTE-3000", "云图平台", "Orion Gateway", "蓝鲸存储")
_IDENTIFIERS = (
    ("GTE-3000", "GTE-3001"),
    ("torch.nn.Linear", "torch.nn.Conv2d"),
    ("/etc/nginx/nginx.conf", "/etc/nginx/mime.types"),
    ("config.yaml", "config.json"),
    ("ERR_42", "ERR_24"),
    ("v2.3.1", "v2.3.4"),
    ("ISO-27001", "ISO-9001"),
    ("api/v2/users", "api/v2/orders"),
    ("max_tokens", "min_tokens"),
    ("RTX4090", "RTX4080"),
    ("HTTP/2", "HTTP/3"),
    ("com.example.app", "com.example.web"),
    ("utf-8", "utf-16"),
    ("192.168.1.10", "192.168.1.20"),
    ("log4j2", "log4j3"),
    ("os.path.join", "os.path.split"),
    ("M12A3", "M12A4"),
    ("TCP/IP", "UDP/IP"),
    ("X509", "X500"),
    ("node.js", "vue.js"),
)
_ASK_IDENTIFIER = (
    ("那它支持{i}吗？", "{a}支持{i}吗？"),
    ("怎么在上面配置{i}？", "怎么在{a}上配置{i}？"),
    ("它报{i}是什么原因", "{a}报{i}是什么原因"),
    ("它和{i}有什么区别", "{a}和{i}有什么区别"),
    ("Does it support {i}?", "Does {a} support {i}?"),
    ("How do I set {i} on it?", "How do I set {i} on {a}?"),
    ("what does {i} mean there?", "What does {i} mean on {a}?"),
)
_QUOTES = (
    ("连接超时", "登录失败"),
    ("permission denied", "file not found"),
    ("高级模式", "简单模式"),
    ("Reset all", "Save all"),
    ("请稍后再试", "操作成功"),
    ("out of memory", "disk full"),
)
_ASK_QUOTE = (
    ("它提示“{q}”怎么办？", "{a}提示“{q}”怎么办？"),
    ("「{q}」在它的哪个菜单里", "「{q}」在{a}的哪个菜单里"),
    ('Why does it say "{q}"?', 'Why does {a} say "{q}"?'),
    ("what does '{q}' mean on this device", "What does '{q}' mean on {a}?"),
    ("怎么打开它的《{q}》", "怎么打开{a}的《{q}》"),
)
_ASK_NUMBER = (
    ("{n}个人用它够吗？", "{n}个人用{a}够吗？", ("3", "5", "20", "两", "十二", "三百")),
    ("它能用{n}年吗", "{a}能用{n}年吗", ("2", "10", "三", "五")),
    ("它装{n}台要多少钱", "装{n}台{a}要多少钱", ("2", "15", "四", "三十")),
    (
        "How much does it cost for {n} users?",
        "How much does {a} cost for {n} users?",
        ("2", "50", "three", "twelve", "1,000"),
    ),
    ("can it run for {n} hours", "Can {a} run for {n} hours?", ("8", "24", "2.5", "ten")),
    ("它最近{n}个版本有什么变化", "{a}最近{n}个版本有什么变化", ("3", "两", "五")),
    ("is it under ${n}?", "Is {a} under ${n}?", ("50", "200", "99.9")),
    ("它支持{n}GB内存吗", "{a}支持{n}GB内存吗", ("16", "64")),
    ("它能打{n}折吗", "{a}能打{n}折吗", ("八", "9")),
)
_OTHER_NUMBERS = ("4", "6", "17", "七", "nine")
_ASK_NEGATION = (
    ("它为什么不能联网？", "{a}为什么不能联网？", "{a}为什么能联网？"),
    ("不用密码怎么登录它", "不用密码怎么登录{a}", "用密码怎么登录{a}"),
    ("它没有显示屏怎么看状态", "{a}没有显示屏怎么看状态", "{a}有显示屏怎么看状态"),
    ("哪些功能它不支持", "{a}不支持哪些功能", "{a}支持哪些功能"),
    ("未激活的能用吗", "未激活的{a}能用吗", "激活的{a}能用吗"),
    ("它不开机了怎么办", "{a}不开机了怎么办", "{a}开机了怎么办"),
    ("非会员能买它吗", "非会员能买{a}吗", "会员能买{a}吗"),
    ("它无法升级的原因", "{a}无法升级的原因", "{a}升级的原因"),
    ("除了白色它还有什么颜色", "{a}除了白色还有什么颜色", "{a}白色是什么颜色"),
    ("Why doesn't it start?", "Why doesn't {a} start?", "Why does {a} start?"),
    (
        "which features are not included in it?",
        "Which features are not included in {a}?",
        "Which features are included in {a}?",
    ),
    ("Can I use it without a licence?", "Can I use {a} without a licence?", "Can I use {a} with a licence?"),
    ("what if it never connects", "What if {a} never connects?", "What if {a} connects?"),
    ("what can't it do?", "What can't {a} do?", "What can {a} do?"),
    ("Is there no way to reset it?", "Is there no way to reset {a}?", "Is there a way to reset {a}?"),
    ("how do non-admins use it?", "How do non-admins use {a}?", "How do admins use {a}?"),
    ("what does it cost excluding tax", "What does {a} cost excluding tax?", "What does {a} cost including tax?"),
)


def written_cases(seed: int = 0) -> Iterator[tuple[Pair, Corruption]]:
    """Return hand-written questions about products with a right rewrite and a wrong one each."""
    dice = random.Random(seed)  # noqa: S311 - sampling, not secrecy

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
