"""The benchmarks page shows what the scripts printed, and a run without result changes nothing."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from types import ModuleType

import pytest

ROOT = Path(__file__).parents[2]


@pytest.fixture
def script() -> ModuleType:
    spec = importlib.util.spec_from_file_location("figures", ROOT / "scripts" / "figures.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture
def sandbox(script: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "benchmarks").mkdir()
    (tmp_path / "benchmarks" / "__init__.py").touch()
    monkeypatch.setattr(script, "ROOT", tmp_path)
    monkeypatch.setattr(script, "KEPT", tmp_path / "kept")
    monkeypatch.setattr(script, "PAGE", tmp_path / "page.md")
    monkeypatch.setattr(script, "BENCHMARKS", {"tiny": ("--quick",)})
    return tmp_path


def write(folder: Path, code: str) -> None:
    (folder / "benchmarks" / "tiny.py").write_text(f'"""Measures nothing much."""\nimport sys\n{code}\n', "utf-8")


def test_page_is_up_to_date(script: ModuleType) -> None:
    assert script.page() == script.PAGE.read_text(encoding="utf-8")


def test_a_run_is_shown_with_its_circumstances(script: ModuleType, sandbox: Path) -> None:
    write(sandbox, 'print("│ recall │ 0.5 │", *sys.argv[1:])')
    assert script.main(["tiny"]) == 0
    page = (sandbox / "page.md").read_text(encoding="utf-8")
    for shown in (
        "Measures nothing much.",
        "│ recall │ 0.5 │ --quick",
        "benchmarks.tiny --quick",
        "Python 3",
        "commit",
    ):
        assert shown in page


@pytest.mark.parametrize("code", ["sys.exit('broken')", "print('no data; nothing was measured.')", "pass"])
def test_a_run_without_result_keeps_what_was_there(script: ModuleType, sandbox: Path, code: str) -> None:
    write(sandbox, 'print("0.5")')
    assert script.main(["tiny"]) == 0
    before = (sandbox / "page.md").read_text(encoding="utf-8")
    write(sandbox, code)
    assert script.main(["tiny"]) == 1
    assert (sandbox / "page.md").read_text(encoding="utf-8") == before


def test_an_unknown_name_is_refused(script: ModuleType, sandbox: Path) -> None:
    with pytest.raises(SystemExit):
        script.main(["huge"])
