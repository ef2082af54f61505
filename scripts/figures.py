"""Runs benchmarks and writes docs/benchmarks.md from what they print, with machine, versions and date.

    CONDENSE_PLUS_DATA=<folder> python scripts/figures.py replay gate
    python scripts/figures.py --all
    python scripts/figures.py                      only write the page

docs/benchmarks/ keeps the output of each, so that one can be run without the others. A run that fails or finds no data
changes nothing.
"""

from __future__ import annotations

import argparse
import ast
import os
import platform
import subprocess
import sys
from datetime import datetime, timezone
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

ROOT = Path(__file__).parents[1]
PAGE = ROOT / "docs" / "benchmarks.md"
KEPT = ROOT / "docs" / "benchmarks"
BENCHMARKS: dict[str, tuple[str, ...]] = {
    "house": (),
    "replay": (),
    "replay_vectors": ("--vectors",),
    "live": ("benchmarks/results",),
    "messy": ("benchmarks/results",),
    "gate": (),
    "trust": (),
    "carry": (),
    "turns": ("--cases", "30"),
    "scaling": (),
    "sessions": (),
    "soak": ("--memory", "database"),
}
"""Section → options of the script that is called like its first word, in the page's order."""
WIDTH = "150"
"""Columns of a table."""
PACKAGES = ("llama-index-core", "bm25s", "numpy", "openai")
NOTHING = "nothing was measured"
HEAD = """# Benchmarks

`scripts/figures.py` writes this page from the output of the scripts under `benchmarks/`. Each table has its baseline
from the same run. Figures after ± are standard errors. A difference below two standard errors is noise.

The data sets are not part of the package: `CONDENSE_PLUS_DATA` names the folder that holds them. Retrieval is BM25
unless a table says otherwise, on passages pooled for development, so figures are not comparable to published ones.
The defaults were chosen on these sets, so expect smaller gains on other data. [Measure on your
own](how-to/evaluate.md).

"""


def main(arguments: list[str]) -> int:
    """Run what is asked for and write the page.

    Returns:
        0; 1 if a run failed or measured nothing.
    """
    parser = argparse.ArgumentParser(description=str(__doc__), formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", metavar="NAME", help=", ".join(BENCHMARKS))
    parser.add_argument("--all", action="store_true", help="run every benchmark")
    options = parser.parse_args(arguments)
    names = list(BENCHMARKS) if options.all else options.names
    if unknown := sorted(set(names) - set(BENCHMARKS)):
        parser.error(f"no benchmark is called {', '.join(unknown)}; there are {', '.join(BENCHMARKS)}")
    failed = [name for name in names if not run(name)]
    PAGE.write_text(page(), encoding="utf-8")
    return 1 if failed else 0


def run(name: str) -> bool:
    """Run one benchmark and keep what it prints; return False, and keep what was there, if it measured nothing."""
    options = BENCHMARKS[name]
    print(f"{name} …", file=sys.stderr)
    ran = subprocess.run(
        [sys.executable, "-m", f"benchmarks.{script_of(name)}", *options],
        capture_output=True,
        check=False,
        cwd=ROOT,
        encoding="utf-8",
        env={**os.environ, "COLUMNS": WIDTH, "NO_COLOR": "1", "PYTHONPATH": str(ROOT), "PYTHONIOENCODING": "utf-8"},
    )
    if ran.returncode or NOTHING in ran.stdout or not ran.stdout.strip():
        print(f"{name}: {ran.stderr.strip()[-500:] or ran.stdout.strip()[-500:]}", file=sys.stderr)
        return False
    lines = [line.rstrip() for line in ran.stdout.strip().splitlines()]
    KEPT.mkdir(exist_ok=True)
    (KEPT / f"{name}.txt").write_text("\n".join([circumstances(name), "", *lines, ""]), encoding="utf-8")
    return True


def script_of(name: str) -> str:
    """Return the name of the script that a section is made by."""
    return name.split("_", maxsplit=1)[0]


def circumstances(name: str) -> str:
    """Return one line on how a benchmark was run."""
    command = " ".join(["python -m", f"benchmarks.{script_of(name)}", *BENCHMARKS[name]])
    now = f"{datetime.now(timezone.utc):%Y-%m-%d}"
    return f"`{command}` · {now} · {machine()} · {', '.join(versions())} · commit {commit()}"


def machine() -> str:
    """Return processor, cores and system."""
    info = Path("/proc/cpuinfo")
    lines = info.read_text(encoding="utf-8").splitlines() if info.exists() else []
    model = next((line.split(":", 1)[1].strip() for line in lines if line.startswith("model name")), "")
    return f"{model or platform.processor() or platform.machine()}, {os.cpu_count()} cores, {platform.system()}"


def versions() -> list[str]:
    """Return Python's version and those of what the figures depend on."""
    found = [f"Python {platform.python_version()}"]
    for package in PACKAGES:
        try:
            found.append(f"{package} {version(package)}")
        except PackageNotFoundError:
            continue
    return found


def commit() -> str:
    """Return the checkout's short commit, or "unknown" outside a checkout."""
    ran = subprocess.run(
        ["git", "rev-parse", "--short", "HEAD"],  # noqa: S607 - whichever git there is
        capture_output=True,
        check=False,
        cwd=ROOT,
        text=True,
    )
    return ran.stdout.strip() or "unknown"


def page() -> str:
    """Return the page from what is kept."""
    return HEAD + "\n".join(section(name) for name in BENCHMARKS)


def section(name: str) -> str:
    """Return a benchmark's section: what it measures, how it was run, what it printed."""
    script = ROOT / "benchmarks" / f"{script_of(name)}.py"
    about = (ast.get_docstring(ast.parse(script.read_text(encoding="utf-8"))) or "").split("\n\n")[0]
    kept = KEPT / f"{name}.txt"
    if not kept.exists():
        return f"## {name}\n\n{about}\n\nNot run for this page yet: `python scripts/figures.py {name}`.\n"
    how, _, printed = kept.read_text(encoding="utf-8").partition("\n\n")
    return f"## {name}\n\n{about}\n\n{how}\n\n```text\n{printed.rstrip()}\n```\n"


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
