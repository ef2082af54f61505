"""Run the fast tests on each Python and with the oldest and the newest llama-index-core; standard library only."""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
from pathlib import Path

PYTHONS = ("3.10", "3.11", "3.12", "3.13")
CORES = ("0.14.5", "newest")
ROOT = Path(__file__).resolve().parent.parent
FAILURE_LINES = 15
PATIENCE = "8"
"""A matrix runs for an hour, beside other work: only what takes this many times as long as usual counts as hanging."""


def main() -> int:
    """Print one row per combination; return 1 if one failed, 0 otherwise."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--python", nargs="*", default=PYTHONS, metavar="VERSION")
    parser.add_argument("--core", nargs="*", default=CORES, metavar="VERSION", help="a version, or newest")
    arguments = parser.parse_args()
    failed = False
    print(f"{'python':8} {'llama-index-core':17} result", flush=True)
    for version in arguments.python:
        interpreter = find_python(version)
        for core in arguments.core:
            good, words = run(interpreter, version, core) if interpreter else (True, "not installed here, left out")
            failed = failed or not good
            print(f"{version:8} {core:17} {words}", flush=True)
    return int(failed)


def find_python(version: str) -> str | None:
    """Return an interpreter of a version that starts, from PATH or pyenv."""
    pyenv = Path(os.environ.get("PYENV_ROOT", Path.home() / ".pyenv")) / "versions"
    candidates = [shutil.which(f"python{version}"), *sorted(pyenv.glob(f"{version}.*/bin/python"), reverse=True)]
    for candidate in filter(None, candidates):
        if subprocess.run([candidate, "--version"], capture_output=True, check=False).returncode == 0:
            return str(candidate)
    return None


def run(interpreter: str, version: str, core: str) -> tuple[bool, str]:
    """Install into an environment of its own and run the fast tests; return success and the closing words."""
    home = ROOT / f".venv-matrix-{version}-{core}"
    python = str(home / "bin" / "python")
    pin = ["llama-index-core"] if core == "newest" else [f"llama-index-core=={core}"]
    install = [python, "-m", "pip", "install", "-q", "--upgrade", "--upgrade-strategy", "only-if-needed"]
    steps = [
        [interpreter, "-m", "venv", str(home)],
        [*install, "pip>=25.1"],
        [*install, "-e", ".[demo]", "--group", "test", *pin],
        [python, "-m", "pytest", "-m", "not integration", "-p", "no:cacheprovider"],
    ]
    environment = {**os.environ, "TEST_PATIENCE": PATIENCE}
    last = ""
    for step in steps:
        done = subprocess.run(step, cwd=ROOT, env=environment, capture_output=True, text=True, check=False)
        lines = (done.stdout + done.stderr).strip().splitlines()
        last = lines[-1] if lines else last
        if done.returncode:
            print("\n".join(lines[-FAILURE_LINES:]), file=sys.stderr)
            return False, f"FAILED: {last}"
    return True, last


if __name__ == "__main__":
    sys.exit(main())
