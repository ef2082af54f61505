from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from llama_index_condense_plus.rewriting.parse import parse_rewrite

ZH, EN = "GTE-3000多少钱？", "What does the GTE-3000 cost?"
ASK_ZH, ASK_EN = "那它多少钱？", "and how much is it?"

ENGLISH: list[tuple[str, str | None]] = [
    (EN, EN),
    (f"<think>The user asks about the price.</think>\n{EN}", EN),
    (f"<think>\n\n</think>\n\n{EN}", EN),
    (f"<THINK>a</THINK>{EN}", EN),
    (f"<thinking>one</thinking><thinking>two</thinking>{EN}", EN),
    (f"{EN}<think>was that right?</think>", EN),
    (f"<|channel|>analysis<|message|>hm<|end|><|channel|>final<|message|>{EN}", EN),
    ("<think>The user asks about", None),
    (f"<think>done</think><think>{EN}", None),
    (f"[THINK]hm[/THINK]{EN}", EN),
    ("<|channel|>analysis<|message|>What does it cost?", None),
    (f"```\n{EN}\n```", EN),
    (f"```text\n{EN}\n```", EN),
    (f'```json\n{{"question": "{EN}"}}\n```', EN),
    (f'```json\n{{"question": "{EN}"}}', EN),
    (f'Here you go:\n```json\n{{"rewritten_question": "{EN}"}}\n```\nHope it helps!', EN),
    (f"~~~\n{EN}\n~~~", EN),
    (f'{{"query": "{EN}"}}', EN),
    (f'{{"rewritten": "{EN}", "original": "and how much is it?"}}', EN),
    (f'{{"standalone_question": "{EN}", "confidence": 0.9}}', EN),
    (f'{{"Rewritten Question": "{EN}"}}', EN),
    (f'{{"result": {{"rewritten_query": "{EN}"}}}}', EN),
    (f'["{EN}"]', EN),
    (f'{{"queries": ["{EN}", "price GTE-3000"]}}', EN),
    (f"{{'question': '{EN}'}}", EN),
    (f'{{"question": "{EN}",}}', EN),
    (f'{{"reasoning": "price of the phone", "question": "{EN}"}}', EN),
    ('{"question": "What does the GTE', None),
    ('{"score": 3}', None),
    ("{}", None),
    ('{"question": null}', None),
    ('{"question": ""}', None),
    ("[]", None),
    (f'"{EN}"', EN),
    (f"'{EN}'", EN),
    (f'"{EN}', EN),
    (f"*{EN}*", EN),
    (f"- {EN}", EN),
    (f"1. {EN}", EN),
    (f"1) {EN}\n2) What is the GTE-3000?", EN),
    (f"> {EN}", EN),
    (f"Standalone question: {EN}", EN),
    (f"**Standalone question:** {EN}", EN),
    (f'Rewritten question: "{EN}"', EN),
    (f"Here is the rewritten question: {EN}", EN),
    (f"Sure! Here's the standalone question:\n\n{EN}", EN),
    (f"The standalone question is: {EN}", EN),
    (f'The rewritten question would be: "{EN}"', EN),
    (f"Search query: {EN}", EN),
    (f"Output: {EN}", EN),
    (f"Q: {EN}", EN),
    (f"Assistant: {EN}", EN),
    (f"Follow-up question: and how much is it?\nStandalone question: {EN}", EN),
    (f'{EN}\n\nExplanation: I replaced "it" with the phone.', EN),
    (f'{EN} (Note: "it" refers to the GTE-3000.)', EN),
    (f"{EN}\n\nThis question asks for the price.", EN),
    (f'"{EN}" This question can be understood alone.', EN),
    (f"{EN}\nUser: and how heavy is it?\nAssistant: 180 g", EN),
    (f"<rewritten_query>\n{EN}\n</rewritten_query>", EN),
    (f"{EN}<|im_end|>", EN),
    (f"<|im_start|>assistant\n{EN}<|im_end|>\n<|im_start|>user\nthanks", EN),
    ("", None),
    ("   \n ", None),
    ("None", None),
    ("N/A", None),
    ("ERROR", None),
    ("...", None),
    ("No rewrite needed.", ASK_EN),
    ('"A" and "B": what is the difference?', '"A" and "B": what is the difference?'),
    ("How do I write {x} in Python?", "How do I write {x} in Python?"),
    ("GTE-3000 (2024): price?", "GTE-3000 (2024): price?"),
]

CHINESE: list[tuple[str, str | None]] = [
    (ZH, ZH),
    ("<think>用户问的是", None),
    (f"改写后的问题：{ZH}", ZH),
    (f"改写后：{ZH}", ZH),
    (f"改写问题：{ZH}", ZH),
    (f"独立问题：{ZH}", ZH),
    (f"完整的问题是：{ZH}", ZH),
    (f"**改写后的问题**：{ZH}", ZH),
    (f"好的，以下是改写后的问题：\n{ZH}", ZH),
    (f"根据对话历史，改写后的问题是：{ZH}", ZH),
    (f"检索词：{ZH}", ZH),
    (f"问题：{ZH}", ZH),
    (f"问：{ZH}", ZH),
    (f"输出：{ZH}", ZH),
    (f"“{ZH}”", ZH),
    (f"1. {ZH}", ZH),
    (f"1、{ZH}\n2、GTE-3000的续航？", ZH),
    (f"{ZH}（注：把“它”替换为GTE-3000）", ZH),
    (f"{ZH}\n\n说明：指代已经消解。", ZH),
    (f"{ZH}\n这样改写是为了方便检索。", ZH),
    (f"{ZH} 这个问题询问价格。", ZH),
    (f"用户问题：那它多少钱？\n改写：{ZH}", ZH),
    (f'{{"改写后的问题": "{ZH}"}}', ZH),
    (f'```json\n{{"query": "{ZH}"}}\n```', ZH),
    (f'{{"original": "那它多少钱？", "rewritten": "{ZH}"}}', ZH),
    (f"{{“query”：“{ZH}”}}", ZH),
    ('{"query": "GTE-3000多', None),
    ("无需改写", ASK_ZH),
    ("不需要改写。", ASK_ZH),
    ("无", None),
    ("抱歉", None),
    ("。。。", None),
    ("2023年：GTE-3000的销量是多少？", "2023年：GTE-3000的销量是多少？"),
    ("GTE-3000和“小蓝”哪个好？", "GTE-3000和“小蓝”哪个好？"),
]


@pytest.mark.parametrize(
    ("asked", "raw", "expected"), [*((ASK_EN, *case) for case in ENGLISH), *((ASK_ZH, *case) for case in CHINESE)]
)
def test_parse_rewrite_finds_the_question(asked: str, raw: str, expected: str | None) -> None:
    parsed = parse_rewrite(raw, asked)
    assert parsed.text == expected
    assert bool(parsed.problem) == (expected is None)


def test_parse_rewrite_notes_what_it_took_off() -> None:
    (edit,) = parse_rewrite(f"Query: {EN}", ASK_EN).edits
    assert (edit.kind, edit.before, edit.after) == ("parser", f"Query: {EN}", EN)
    assert parse_rewrite(EN, ASK_EN).edits == ()


@given(st.text())
def test_parse_rewrite_returns_one_line_or_a_problem(raw: str) -> None:
    parsed = parse_rewrite(raw, ASK_EN)
    assert (parsed.text is None) == bool(parsed.problem)
    assert parsed.text is None or (parsed.text.strip() and "\n" not in parsed.text)


@given(st.dictionaries(st.sampled_from(["score", "other", "language"]), st.integers() | st.none() | st.booleans()))
def test_parse_rewrite_never_searches_json_without_a_question(value: dict[str, int | bool | None]) -> None:
    assert parse_rewrite(json.dumps(value), ASK_EN).text is None


@pytest.mark.parametrize(
    ("raw", "text"),
    [
        ("What is it?<think>x</think><think>y</think>", "What is it?"),
        ("What is it?<|channel|>", None),
        ("<|im_end|>What is it?", "What is it?"),
        ("[INST]<s>What is it?[/INST]", "What is it?"),
        ("Original question: and it?\n```\nWhat is it?\n```", "What is it?"),
        ("<answer>What is it?", "What is it?"),
        ("User: and it?\nWhat is it?", "and it?"),
        ("GTE price\nWhat is it?", "What is it?"),
        ("Sure!\nOkay.", "Sure!"),
        ("Question:\nQuery:\nWhat is it?", "What is it?"),
        ("Question:\nwhat is it?\nmore", "what is it?"),
        ("Note: x\nWhat is it?", "What is it?"),
        ("original question: and it?", None),
        ("- 1. What is it?", "What is it?"),
        ("* *What is it?*", "What is it?"),
        ("**What is it?", "What is it?"),
        ("*a* and *b*?", "*a* and *b*?"),
        ("Question: \"Query: 'What is it?'\"", "What is it?"),
        ("\"'What is it?'\"", "What is it?"),
        ("“What is it?” 注：它", "What is it?"),
        ("`What is it", "What is it"),
        ("What is it?”", "What is it?"),
        ('"', None),
        ("x", "x"),
        ("GTE price (note: x)", "GTE price"),
        ("GTE price - note: x", "GTE price - note: x"),
        ("What? Is it? Note: x", "What? Is it?"),
        ("???", None),
        ("Question: unchanged", "and it?"),
    ],
)
def test_parse_rewrite_takes_off_what_stands_around_the_question(raw: str, text: str | None) -> None:
    assert parse_rewrite(raw, "and it?").text == text


@pytest.mark.parametrize(
    ("raw", "text"),
    [
        ('{"text": "no", "query": "a?",}', "a?"),
        ('{"x": [{"y": {"query": "a?"}}]}', "a?"),
        ('["", null, 1, "a?", "b?"]', "a?"),
        ('{"query": " "}', None),
        ('{"search-query": "a?"}', "a?"),
        ('{query: "a?"', "a?"),
        ("{'query': 'it\\'s?'}", "it's?"),
        ('{"query": "a\\nb",}', "a b"),
        ('"a \\"b\\"?"', 'a "b"?'),
        ('see ["a?"]', 'see ["a?"]'),
        ("[1]", "1"),
        ('{"a": {"b": {"c": {"d": {"e": {"f": {"g": {"h": {"query": "too deep"}}}}}}}}}', None),
    ],
)
def test_parse_rewrite_reads_json_as_models_write_it(raw: str, text: str | None) -> None:
    assert parse_rewrite(raw, "and it?").text == text


@pytest.mark.parametrize(
    ("raw", "original"),
    [
        ("1. What is it?", " 1. it?"),
        ("问题：价格？", " 问题：它？"),
        ("“价格？”", " “它”"),
    ],
)
def test_parse_rewrite_leaves_what_the_user_began_with(raw: str, original: str) -> None:
    assert parse_rewrite(raw, original).text == raw


@pytest.mark.parametrize(
    ("raw", "problem"),
    [
        ("", "empty"),
        ("``````", "empty"),
        ("<|channel|>analysis", "unclosed think block"),
        ("...", "no question in the output"),
    ],
)
def test_parse_rewrite_says_what_is_wrong(raw: str, problem: str) -> None:
    parsed = parse_rewrite(raw, "and it?")
    assert (parsed.text, parsed.problem, parsed.edits) == (None, problem, ())
