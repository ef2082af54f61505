"""The evaluation notebook runs from top to bottom without a key, and its kept results are of its present cells."""

from __future__ import annotations

import contextlib
import io
import json
from pathlib import Path
from typing import Any

import pytest

NOTEBOOK = Path(__file__).parents[2] / "examples" / "evaluation.ipynb"


def cells() -> list[dict[str, Any]]:
    return [cell for cell in json.loads(NOTEBOOK.read_text(encoding="utf-8"))["cells"] if cell["cell_type"] == "code"]


def test_notebook_compares_two_engines(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.chdir(tmp_path)
    names: dict[str, Any] = {"__name__": "__main__"}
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        for number, cell in enumerate(cells(), 1):
            exec(compile("".join(cell["source"]), f"<cell {number}>", "exec"), names)  # noqa: S102, the notebook's own
    assert "80 cases" in printed.getvalue()
    assert names["difference"].mean > 0
    assert "</html>" in (tmp_path / "report.html").read_text(encoding="utf-8")


def test_notebook_is_kept_with_results_and_without_errors() -> None:
    outputs = [output for cell in cells() for output in cell["outputs"]]
    assert {"stream"} == {output["output_type"] for output in outputs}
    assert [cell["execution_count"] for cell in cells()] == list(range(1, len(cells()) + 1))
