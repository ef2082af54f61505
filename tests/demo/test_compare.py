import json

import pytest
from rich.console import Console

from llama_index_condense_plus.demo.compare import TOP_K, compare
from llama_index_condense_plus.demo.knowledge import demo_conversations
from llama_index_condense_plus.demo.show import show_comparison, show_introduction, show_score


@pytest.fixture(scope="module")
def comparisons(index):
    return [row for turns in demo_conversations() for row in compare(index, turns, None)]


def test_demo_finds_every_follow_up_where_the_question_as_typed_does_not(comparisons):
    follow_ups = [row for row in comparisons if row.turn.is_follow_up]
    ranks = {
        row.turn.question: (row.ways["typed"].rank_of(row.turn.gold), row.ways["ours"].rank_of(row.turn.gold))
        for row in follow_ups
    }
    assert len(ranks) >= 12
    wrong = {question: pair for question, pair in ranks.items() if pair[0] is not None or pair[1] is None}
    assert not wrong


def test_demo_leaves_complete_questions_as_typed(comparisons):
    for row in comparisons:
        if not row.turn.is_follow_up:
            assert row.ways["ours"].query == row.turn.question
            assert row.ways["ours"].rank_of(row.turn.gold) == 1


def test_demo_quotes_a_passage_as_the_answer(comparisons):
    for row in comparisons:
        assert row.answer == row.ways["ours"].texts[0]
        assert len(row.ways["ours"].sources) == TOP_K


def test_comparison_is_json_safe(comparisons):
    rows = json.loads(json.dumps([row.to_dict() for row in comparisons]))
    assert rows[0]["ways"]["ours"]["query"] == comparisons[0].turn.question
    assert "stock" not in rows[0]["ways"]


def test_tables_show_question_searches_and_reasons(comparisons):
    console = Console(width=120, record=True, quiet=False, file=None, force_terminal=False)
    with console.capture() as shown:
        show_introduction(console, None)
        show_comparison(console, comparisons[1], 2)
        show_score(console, comparisons)
    text = shown.get()
    row = comparisons[1]
    assert "by rules" in text
    assert "quotes the best passage" in text.replace("\n", " ")
    for words in (row.turn.question, row.ways["ours"].query, "decision", row.trace.decision.reason.value, "searched"):
        assert words in text
    assert f"of {sum(c.turn.is_follow_up for c in comparisons)}" in text
