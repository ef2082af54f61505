from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from llama_index_condense_plus.rewriting.parser import parse_rewrite
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
        ("<think>a</think><think>b</think>What is it?", "What is it?"),
        ("What is it?<think>because</think>", "What is it?"),
        ("because</think>What is it?", "What is it?"),
        ("<think>never closed. What is it?", None),
        ('"What is it', "What is it"),
        ('What is it?"', "What is it?"),
        ('say "hi" to it?', 'say "hi" to it?'),
        ("“What is it?”", "What is it?"),
        ("«What is it?»", "What is it?"),
        ("1. What is it?\n2. Who is it?", "What is it?"),
        ("Sure, here is it:\nWhat is it?", "What is it?"),
        ("Question: Rewritten question: What is it?", "What is it?"),
        ("Original question: and it?\nRewritten question: What is it?", "What is it?"),
        ("Rewritten question:\n\nWhat is it?", "What is it?"),
        ("What is it?\nUser: and more?\nAssistant: no", "What is it?"),
        ("What is it?\nExplanation: it replaces the pronoun", "What is it?"),
        ("What is it? (I replaced the pronoun)", "What is it?"),
        ("**What is it?**", "What is it?"),
        ("```\nWhat is it?\n```", "What is it?"),
        ('```json\n{"query": "What is it?"}\n```', "What is it?"),
        ('{"rewrittenQuestion": "What is it?", "score": 1}', "What is it?"),
        ('{"result": {"query": ["What is it?"]}}', "What is it?"),
        ('{"a": {"b": {"c": {"d": {"e": {"f": {"g": {"query": "deep"}}}}}}}}', "deep"),
        ('{"query": "What is it?"', "What is it?"),
        ('{"query": "What is', None),
        ('["What is it?", "Who?"]', "What is it?"),
        ('"What is it?"', "What is it?"),
        ("{'query': 'What is it?'}", "What is it?"),
        ("\ufeffWhat\r\nis it?", "is it?"),
        ("...", None),
        ("", None),
    ],
)
def test_parse_rewrite_reads_the_ways_in_which_models_answer(raw: str, text: str | None) -> None:
    assert parse_rewrite(raw, "and it?").text == text
