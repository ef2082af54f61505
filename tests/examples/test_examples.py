"""Every example runs with no key, and says what it promises."""

import runpy
import sys
from pathlib import Path

import pytest

EXAMPLES = Path(__file__).parents[2] / "examples"
PROMISED = {
    "quickstart": ["The warranty of the Kestrel drone is two years", "红隼无人机的保修期为两年"],
    "swap": ["astream_chat: The warranty of the Heron drone is three years"],
    "own_retriever": [
        "reranking 4 passages",
        "The Heron drone costs 899 euros",
        "The warranty of the Heron drone is three",
    ],
    "hybrid_qdrant": ["The Kestrel drone costs 449 euros", "The warranty of the Kestrel drone is two years"],
    "router": ["红隼无人机在网店的售价是 3499 元", "红隼无人机的保修期为两年"],
    "summary_memory": [
        "in the summary: 6 messages",
        "Mentioned, in this order: Kestrel, Heron",
        "searched: How long is the warranty of the Kestrel drone?",
        "in the database: 10 messages",
    ],
    "agent_workflow": ["  agent:    The warranty of the Heron drone is three years"],
    "agent_tool": ["The Heron drone costs 899 euros", "The warranty of the Heron drone is three years"],
}
SERVED = {"streaming_fastapi"}
"""Examples that serve until they are stopped: each has a test of its own beside this one."""


@pytest.mark.parametrize("name", PROMISED)
def test_example_runs_and_keeps_its_promise(
    name: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.syspath_prepend(str(EXAMPLES))
    try:
        runpy.run_path(str(EXAMPLES / f"{name}.py"), run_name="__main__")
    finally:
        sys.modules.pop("shop", None)
    printed = capsys.readouterr().out
    for promise in PROMISED[name]:
        assert promise in printed


def test_every_example_is_tested() -> None:
    assert {path.stem for path in EXAMPLES.glob("*.py")} - {"shop"} == PROMISED.keys() | SERVED
    assert all(Path(__file__).with_name(f"test_{name}.py").exists() for name in SERVED)
