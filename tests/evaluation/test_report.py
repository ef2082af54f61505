from __future__ import annotations

import json
import sys
from typing import Any
from xml.etree import ElementTree as ET

import pytest

from llama_index_condense_plus.evaluation.differences import word_diff
from llama_index_condense_plus.evaluation.html import as_html
from llama_index_condense_plus.evaluation.markdown import as_markdown
from llama_index_condense_plus.evaluation.meanings import in_order, meaning
from llama_index_condense_plus.evaluation.plots import draw
from llama_index_condense_plus.evaluation.report import gate_curve, make_report, missed_thresholds
from llama_index_condense_plus.evaluation.scoring import Scores, score
from tests.evaluation.data import DATASET, outcome
from tests.evaluation.test_scoring import AS_TYPED, FAILED

SPOILED = outcome(query="the <b>weight</b> | of it", attempts=(), nodes=("other",), score=0.4)


def scores(name: str, *outcomes: Any) -> Scores:
    return score(name, DATASET, outcomes)


GOOD = scores("good", outcome(score=0.9), AS_TYPED)
BAD = scores("bad", SPOILED, AS_TYPED)
REPORT = make_report(DATASET, [GOOD, BAD], k=3)


def test_make_report_is_json_and_holds_everything() -> None:
    report = json.loads(json.dumps(REPORT))
    assert report["dataset"]["cases"] == 2
    assert report["engines"]["good"]["figures"]["rewrite_accuracy"]["mean"] == 1.0
    assert report["engines"]["bad"]["stages"] == {"right": 1, "rewrite wrong": 1}
    assert report["engines"]["bad"]["categories"]["rewrite_accuracy"]["ellipsis"]["mean"] == 0.0
    assert report["engines"]["bad"]["worst"][0]["id"] == "c1"


def test_make_report_compares_engines_case_by_case() -> None:
    (pair,) = REPORT["comparisons"]
    assert (pair["first"], pair["second"]) == ("good", "bad")
    assert pair["figures"]["rewrite_accuracy"]["difference"] == 0.5
    assert pair["figures"]["rewrite_accuracy"]["better"] == 1


def test_make_report_lists_engine_failures_first() -> None:
    report = make_report(DATASET, [scores("x", SPOILED, FAILED)], k=3)
    assert report["engines"]["x"]["worst"][0]["stage"] == "engine failed"


def test_gate_curve_trades_recall_for_skip() -> None:
    points = gate_curve(DATASET, GOOD)
    assert points[0] == {"threshold": 0.0, "recall": 1.0, "skip": 0.0}
    assert points[10] == {"threshold": 0.5, "recall": 1.0, "skip": 1.0}
    assert points[-1] == {"threshold": 1.0, "recall": 0.0, "skip": 1.0}


def test_as_markdown_shows_figures_stages_and_marked_failures() -> None:
    text = as_markdown(REPORT)
    assert "| rewrite_accuracy | 1.000 [1.000, 1.000] n=2 | 0.500 [" in text
    assert "| rewrite wrong | 0 | 1 |" in text
    assert "good − bad" in text
    assert "\\|" in text
    assert "**" in text.split("## Failures of bad")[1]


def test_as_html_begins_with_the_headlines_and_compares_engines() -> None:
    page = as_html(REPORT)
    assert page.index("rewrite_accuracy") < page.index("Where cases went wrong") < page.index("good − bad")
    assert page.index("good − bad") < page.index("exact_match")
    assert 'title="rewrite wrong: 1"' in page
    assert "Failures of good: 0</h2>" in page
    assert "Both engines" not in as_html(make_report(DATASET, [GOOD], k=3))


def test_in_order_puts_what_matters_first_and_knows_every_figure() -> None:
    names = [*GOOD.values, *GOOD.corpus, "own_figure"]
    ordered = in_order(names)
    assert ordered[0] == "rewrite_accuracy"
    assert ordered[-1] == "own_figure"
    assert [name for name in ordered if meaning(name)[0] == "Other"] == ["own_figure"]
    assert meaning("hit@10_where_rewrite_right") == meaning("hit@3_where_rewrite_right") != meaning("hit@10")


def test_as_html_is_one_page_that_loads_nothing() -> None:
    page = as_html(REPORT)
    assert "<b>weight</b>" not in page
    assert "&lt;b&gt;" in page
    assert "<ins>" in page
    for outside in ('src="', "<link", "<script", "@import", "url(http"):
        assert outside not in page


def test_draw_gives_svg() -> None:
    pytest.importorskip("matplotlib")
    plots = draw(REPORT)
    assert len(plots) == 4
    for svg in plots.values():
        assert ET.fromstring(svg).tag.endswith("svg")  # noqa: S314


def test_reports_say_what_a_bare_install_lacks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
    report = json.loads(json.dumps(REPORT))
    report["engines"]["good"]["not_measured"] = ["bleu"]
    assert "Plots need matplotlib" in as_html(report)
    assert "Not measured: bleu. Install" in as_markdown(report)


def test_word_diff_compares_words_and_characters() -> None:
    assert list(word_diff("And the price?", "And the price of it?")) == [
        ("equal", "And the price"),
        ("added", " of it"),
        ("equal", "?"),
    ]
    assert list(word_diff("那价格呢", "标准版价格")) == [
        ("deleted", "那"),
        ("added", "标准版"),
        ("equal", "价格"),
        ("deleted", "呢"),
    ]


@pytest.mark.parametrize(
    ("thresholds", "lines"),
    [
        ({"rewrite_accuracy": 0.5, "failed_rate": 0.0}, 0),
        ({"rewrite_accuracy": 0.6}, 1),
        ({"unresolved_reference_rate": 0.5}, 1),
        ({"no_such_figure": 0.5}, 1),
    ],
)
def test_missed_thresholds_knows_which_way_is_better(thresholds: dict[str, float], lines: int) -> None:
    assert len(missed_thresholds(BAD, thresholds)) == lines
