"""The kind of a question: who, when, where, why, how much."""

from __future__ import annotations

from llama_index_condense_plus.lexicons.memo import remembered
from llama_index_condense_plus.lexicons.patterns import regex
from llama_index_condense_plus.lexicons.text import folded, has_han

_KINDS_ZH = (
    ("who", regex(r"谁|哪位|何人|什么人")),
    (
        "when",
        regex(
            r"什么时候|何时|哪一?年|哪一?天|哪一?月|几月|几号|几点|多久|何年|时间|日期|年份|多长|几几年|生日|出生|岁|"
            r"年龄|多大"
        ),
    ),
    (
        "where",
        regex(r"哪里|哪儿|何地|何处|在哪|什么地方|地址|位置|地点|哪个?城市|哪国|哪个?国家|籍|怎么走|怎么去"),
    ),
    ("why", regex(r"为什么|为何|为啥|原因|怎么会|缘故|咋")),
    (
        "number",
        regex(r"多少|几(?!乎|近)|多[大高长远重贵快]|价|费|评分|分数|钱|票房|人数|数量|电话|号码|分[吗吧?？]"),
    ),
)
_KINDS_EN = (
    ("who", regex(r"\b(?:who|whom|whose|who's)\b|person|people|author|founder|inventor|name")),
    (
        "when",
        regex(
            r"\b(?:when|what (?:time|year|date|day|month)|which (?:year|day|month)|how (?:long|old|soon|often|late|"
            r"early)|dates?|times?|years?|deadline|period|history|happen\w*)\b"
        ),
    ),
    (
        "where",
        regex(
            r"\b(?:where|what (?:place|city|country|location|address)|which (?:city|country|place|part)|location|"
            r"address|place|located|find|areas?|country|region|state|city)\b"
        ),
    ),
    (
        "why",
        regex(r"\b(?:why|how come|reasons?|cause[sd]?|purpose|what for|explain\w*|rationale|because|makes?)\b"),
    ),
    (
        "number",
        regex(
            r"\b(?:how (?:many|much|far|high|tall|big|large|fast|deep|long|old)|number|amount|percent\w*|price|"
            r"cost\w*|rate|quantity|count|fees?|charges?|size|limit|maximum|minimum|pay|population|value|distance)\b"
        ),
    ),
)


@remembered
def kinds(text: str) -> frozenset[str]:
    """Return the kinds that a text may ask for."""
    plain = folded(text)
    return frozenset(name for name, pattern in (_KINDS_ZH if has_han(plain) else _KINDS_EN) if pattern.search(plain))
