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
        # think text and channels
        ("What is it?<think>x</think><think>y</think>", "What is it?"),
        ("<|channel|>final<|message|>one?<|channel|>final<|message|>What is it?", "What is it?"),
        ("What is it?<|channel|>", None),
        ("<think>a</think>" + " " * 19_990 + "What is it? Yes?", "What is it"),  # bounded
        # marks of chat templates
        ("<|im_end|>What is it?", "What is it?"),
        ("<|im_start|><|im_start|>assistant What is it?", "What is it?"),
        ("[INST]<s>What is it?[/INST]", "What is it?"),
        # fences and tags
        ("What is it?\n```\na note\n```", "What is it?"),
        ("Original question: and it?\n```\nWhat is it?\n```", "What is it?"),
        ("```\n\n```\nWhat is it?", "What is it?"),
        ("<answer>What is it?", "What is it?"),
        ("<answer>What is it?</answer> ok <answer>no</answer>", "What is it?"),
        # lines
        ("User: and it?\nWhat is it?", "and it?"),
        ("Sure.\nGTE price", "GTE price"),
        ("GTE price\nWhat is it?", "What is it?"),
        ("GTE price\nGTE cost", "GTE price"),
        ("Sure!\nOkay.", "Sure!"),
        ("Question:\n\n- What is it?", "What is it?"),
        ("Question:\nQuery:\nWhat is it?", "What is it?"),
        ("Question: one?\nQuestion: two?", "one?"),
        ("Question:\nwhat is it?\nmore", "what is it?"),
        ("Question:", None),
        ("Note: x\nWhat is it?", "What is it?"),
        ("What is it\nNote: really?", "What is it"),
        ("original question: and it?", None),
        ("Original: a\nGTE price", "GTE price"),
        # bullets, emphasis, quotes, labels, one inside the other
        ("- 1. What is it?", "What is it?"),
        ("- user: What is it?", "What is it?"),
        ("* *What is it?*", "What is it?"),
        ("**What** is it?", "What is it?"),
        ("**What is it?", "What is it?"),
        ("__What is it?__", "What is it?"),
        ("*a* and *b*?", "*a* and *b*?"),
        ("What is **it**?", "What is **it**?"),
        ("Question: \"Query: 'What is it?'\"", "What is it?"),
        ("Question: Query: Question: Query: What is it?", "What is it?"),
        ("\"'What is it?'\"", "What is it?"),
        ('"What is it?" Note: it', "What is it?"),
        ("“What is it?” 注：它", "What is it?"),
        ('"What" is it?', '"What" is it?'),
        ("`What is it", "What is it"),
        ("'What is it", "'What is it"),
        ("What is it?”", "What is it?"),
        ("“What”, is it?”", "“What”, is it?”"),
        ('"', None),
        ('"x"', "x"),
        ("x", "x"),
        # explanations behind the question
        ("What is it. Note: x", "What is it. Note: x"),
        ("GTE price (note: x)", "GTE price"),
        ("GTE [note: x]", "GTE"),
        ("GTE price - note: x", "GTE price - note: x"),
        ("What is it? - note: x", "What is it?"),
        ("What? Is it? Note: x", "What? Is it?"),
        ("What is it? Not so.", "What is it? Not so."),
        # no question at all, or the user's own
        ("???", None),
        ("null", None),
        ("Question: unchanged", "and it?"),
    ],
)
def test_parse_rewrite_takes_off_what_stands_around_the_question(raw: str, text: str | None) -> None:
    assert parse_rewrite(raw, "and it?").text == text


@pytest.mark.parametrize(
    ("raw", "text"),
    [
        ('{"query": "a?", "question": "b?"}', "b?"),  # the best key, wherever it stands
        ('{"text": "no", "query": "a?",}', "a?"),
        ('{"output": {"text": "a?"}}', "a?"),
        ('{"x": [{"y": {"query": "a?"}}]}', "a?"),
        ('see [1] [2] [3] [4] [5] {"query": "a?"}', "a?"),
        ('["", null, 1, "a?", "b?"]', "a?"),
        ('["", null, 1, 2, "a?"]', None),
        ('{"query": " "}', None),
        ('{"query": 3, "text": "a?"}', "a?"),
        ('{"search-query": "a?"}', "a?"),
        ('{"finalQuestion": "a?"}', "a?"),
        ('{query: "a?"', "a?"),
        ('{"query": "What is', None),
        ("{'query': 'it\\'s?'}", "it's?"),
        ('{"query": "say \\"a\\" b?", }', 'say "a" b?'),
        ('{"query": "a\\nb",}', "a b"),
        ('text {"text": "a?",} more', "a?"),
        ('"a \\"b\\"?"', 'a "b"?'),
        ('"a?" and "b?"', '"a?" and "b?"'),
        ('see ["a?"]', 'see ["a?"]'),
        ('from { on: {"query": "a?"}', "a?"),
        ("[1]", "1"),
        ('{"queries": {"a": "x?"}}', None),
        ('{"a": {"b": {"c": {"d": {"e": {"f": {"g": {"h": {"query": "too deep"}}}}}}}}}', None),
    ],
)
def test_parse_rewrite_reads_json_as_models_write_it(raw: str, text: str | None) -> None:
    assert parse_rewrite(raw, "and it?").text == text


@pytest.mark.parametrize(
    ("raw", "original"),
    [
        ("- What is it?", "- it?"),
        ("1. What is it?", " 1. it?"),
        ("Query: What is it?", "query: it?"),
        ("问题：价格？", " 问题：它？"),
        ('"What" is it?', ' "it"'),
        ("“价格？”", " “它”"),
        ("Assistant: who?", "Assistant: it?"),
    ],
)
def test_parse_rewrite_leaves_what_the_user_began_with(raw: str, original: str) -> None:
    assert parse_rewrite(raw, original).text == raw


@pytest.mark.parametrize(
    ("raw", "problem"),
    [
        ("", "empty"),
        ("<think>a</think> ", "empty"),
        ("``````", "empty"),
        ("<think>a", "unclosed think block"),
        ("<|channel|>analysis", "unclosed think block"),
        ('{"score": 3}', "broken or foreign JSON"),
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
