"""What a trace shows: five lines for a reader, plain values for JSON, nothing of anybody's words when redacted."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from types import MappingProxyType

import pytest
from llama_index.core.schema import NodeWithScore, TextNode

from llama_index_condense_plus import CondensePlusChatEngine, CondensePlusSettings
from llama_index_condense_plus.observability.trace import LINE_CHARS, CondenseTrace
from llama_index_condense_plus.types import QueryPlan, Trust
from tests.conftest import PRICE
from tests.fakes import ScriptedLLM
from tests.modes import Mode

Make = Callable[..., CondensePlusChatEngine]
FORGED = "and its price?\r\n\x1b[2J\x07 \u202eforged"


class Number:
    """A number of another library, such as numpy's."""

    def __float__(self) -> float:
        return 1.5


def test_trace_is_five_readable_lines(make_engine: Make) -> None:
    trace = make_engine().explain("and its price?")
    lines = str(trace).splitlines()
    assert [line.split()[0] for line in lines] == ["message", "decision", "rewrite", "searched", "found"]
    assert PRICE in lines[3]
    assert "trusted" in lines[2]
    assert len(str(trace)) < 1000
    assert len(repr(trace).splitlines()) == 1
    assert len(str(make_engine(first=False).explain("Tell me about the GTE-3000")).splitlines()) == 5


@pytest.mark.parametrize("show", [str, repr, CondenseTrace.summary])
def test_words_of_anybody_stay_words(make_engine: Make, show: Callable[[CondenseTrace], str]) -> None:
    trace = make_engine().explain(f"{FORGED} <b>" + "x" * 5000)
    query = replace(trace.plan.queries[0], text=FORGED)
    shown = show(replace(trace, plan=QueryPlan((query,)), warnings=(FORGED,)))
    assert not [c for c in shown if c in "\r\x1b\x07\u202e"]
    assert len(shown.splitlines()) in (1, 5)
    assert show is CondenseTrace.summary or len(shown) < 6 * LINE_CHARS


def test_doubt_and_its_reasons_are_told(make_engine: Make) -> None:
    trace = make_engine().explain("and its price?")
    doubted = replace(trace.rewrite, trust=Trust.DOUBTED, reasons=("a name that nobody mentioned: Kestrel",))
    trace = replace(trace, rewrite=doubted)
    assert "doubted: a name that nobody mentioned: Kestrel" in str(trace)
    told = trace.to_dict()["rewrite"]
    assert (told["trust"], told["reasons"]) == ("doubted", ["a name that nobody mentioned: Kestrel"])
    assert "Kestrel" not in json.dumps(trace.redacted())
    assert trace.redacted()["rewrite"]["trust"] == "doubted"


def test_verbose_prints_one_line_that_is_safe(
    make_engine: Make, mode: Mode, capsys: pytest.CaptureFixture[str]
) -> None:
    stock = make_engine(verbose=True, settings=CondensePlusSettings.stock(), llm=ScriptedLLM(rewrite=FORGED))
    for engine in (make_engine(verbose=True, trigger={"mode": "never"}), stock):
        mode.ask(engine, FORGED)
        printed = capsys.readouterr().out
        assert printed.count("\n") == 1
        assert not [c for c in printed if c in "\r\x1b\x07\u202e"]


def test_trace_is_json_safe_with_other_libraries_numbers(make_engine: Make) -> None:
    nodes = tuple(NodeWithScore(node=TextNode(text="x")) for _ in range(2))
    nodes[0].score, nodes[1].score = Number(), float("nan")  # type: ignore[assignment]
    trace = replace(make_engine().explain("hello?"), nodes=nodes, timings=MappingProxyType({"plan": Number()}))
    told = json.loads(json.dumps(trace.to_dict(), allow_nan=False))
    assert [node["score"] for node in told["nodes"]] == [1.5, None]
    assert told["timings"] == {"plan": 1.5}
