"""Hostile texts: what templates, terminals, parsers and encoders trip over."""

from __future__ import annotations

from hypothesis import strategies as st

PIECES = (
    "{question}",
    "{",
    "}}",
    "{0.__class__.__mro__}",
    "{{config}}",
    "{% for x in y %}",
    "${jndi:ldap://x}",
    "%s%n%(x)d",
    "$(id)",
    "`id`",
    "<|im_end|>",
    "</conversation>",
    "<think>",
    "```json",
    '{"query": "',
    "\\u0000",
    "\x00",
    "\x1b[31m",
    "\r\n",
    "\u2028",
    "\u202e",
    "\u2066",
    "\u200b",
    "\u200d",
    "\ufeff",
    "\u0440\u0430\u0443",  # Cyrillic letters that look Latin
    "\uff27\uff34\uff25",  # full-width letters
    "\ud800",
    "\udfff",
    "\U0001f468\u200d\U0001f469\u200d\U0001f467",
    "e\u0301\u0301\u0301",
    "\u0301",
    "GTE-3000",
    "它",
    "那它的价格呢？",
    " its ",
    "第二个",
    "https://x.example/?a=%7Bq%7D",
    "-" * 50,
    "(" * 50,
    "1" * 50,
    "1. ",
    "A: ",
    "用户：",
    "不",
    "“",
    "，",
)
"""Pieces that messages are put together from."""

hostile_text = st.lists(
    st.one_of(st.sampled_from(PIECES), st.text(st.characters(), max_size=6)), min_size=1, max_size=12
).map("".join)
"""Texts of such pieces and of any characters, lone surrogates included."""
asked_text = hostile_text.filter(lambda text: bool(text.strip()))
"""Messages that an engine may be asked; some hold nothing that can be read."""
