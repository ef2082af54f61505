"""The evaluation notebook runs from a fresh start, and its kept results are of its present cells."""

from __future__ import annotations

import contextlib
import io
import json
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

NOTEBOOK = Path(__file__).parents[2] / "examples" / "evaluation.ipynb"


@pytest.fixture
def shown(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """What the notebook displays; stands in for IPython, which running the cells does not need."""
    shown: list[str] = []
    display = ModuleType("IPython.display")
    display.SVG = str  # type: ignore[attr-defined]
    display.display = shown.append  # type: ignore[attr-defined]
    package = ModuleType("IPython")
    package.display = display  # type: ignore[attr-defined]
    package.version_info = (9, 0)  # type: ignore[attr-defined]  # matplotlib asks
    monkeypatch.setitem(sys.modules, "IPython", package)
    monkeypatch.setitem(sys.modules, "IPython.display", display)
    return shown


def cells() -> list[dict[str, Any]]:
    return [cell for cell in json.loads(NOTEBOOK.read_text(encoding="utf-8"))["cells"] if cell["cell_type"] == "code"]


def test_notebook_measures_two_settings_and_plots_them(shown: list[str]) -> None:
    names: dict[str, Any] = {"__name__": "__main__"}
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        for number, cell in enumerate(cells(), 1):
            exec(compile("".join(cell["source"]), f"<cell {number}>", "exec"), names)  # noqa: S102, the notebook's own
    default, pronouns = names["runs"]
    assert default.figure("gate_recall") > pronouns.figure("gate_recall")
    assert default.figure("rewrite_accuracy") > pronouns.figure("rewrite_accuracy")
    for promise in ("80 cases", "gate_recall", "cases better", "gate missed"):
        assert promise in printed.getvalue()
    assert len(shown) == 2
    assert all(svg.startswith("<svg") for svg in shown)


def test_notebook_is_kept_with_results_and_without_errors() -> None:
    outputs = [output for cell in cells() for output in cell["outputs"]]
    assert {"stream", "display_data"} == {output["output_type"] for output in outputs}
    assert [cell["execution_count"] for cell in cells()] == list(range(1, len(cells()) + 1))
