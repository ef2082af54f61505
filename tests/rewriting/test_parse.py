from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from llama_index_condense_plus.rewriting.parse import parse_rewrite
from tests.rewriting.parser_cases import ASK_EN, ASK_ZH, CHINESE, EN, ENGLISH


@pytest.mark.parametrize(("raw", "expected"), ENGLISH)
def test_parse_rewrite_finds_the_english_question(raw: str, expected: str | None) -> None:
    parsed = parse_rewrite(raw, ASK_EN)
    assert parsed.text == expected
    assert bool(parsed.problem) == (expected is None)


@pytest.mark.parametrize(("raw", "expected"), CHINESE)
def test_parse_rewrite_finds_the_chinese_question(raw: str, expected: str | None) -> None:
    parsed = parse_rewrite(raw, ASK_ZH)
    assert parsed.text == expected
    assert bool(parsed.problem) == (expected is None)


def test_parse_rewrite_keeps_what_the_user_wrote_the_same_way() -> None:
    assert parse_rewrite("Question: what is a claim?", "Question: what is it?").text == "Question: what is a claim?"
    assert parse_rewrite('"Hello" in Latin?', '"Hello" in it?').text == '"Hello" in Latin?'


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


def test_parse_rewrite_bounds_the_line_and_the_note_of_what_was_there() -> None:
    assert len(parse_rewrite("x" * 5_000, "it").text or "") == 4_000
    (edit,) = parse_rewrite(" Query: " + "x" * 400, "it").edits
    assert (edit.before, edit.after) == ("Query: " + "x" * 293, "x" * 400)
    assert parse_rewrite("  What is it? ", "it").edits == ()
