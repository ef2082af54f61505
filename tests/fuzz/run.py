"""Time-boxed fuzzing of what reads untrusted text: ``nox -s fuzz -- --seconds 600``; crashes are kept as a corpus."""

from __future__ import annotations

import argparse
import hashlib
import sys
import time
from pathlib import Path

from hypothesis import HealthCheck, Phase, given, settings

from tests.fuzz.targets import CORPUS, TARGETS
from tests.hostile.texts import hostile_text

BATCH = 100
"""Examples between two looks at the clock."""


def fuzz(name: str, seconds: float) -> int:
    """Fuzz one target; a text that crashes it is shrunk, kept in the corpus, and the target left.

    Returns:
        How many texts it took.
    """
    target, deadline, taken = TARGETS[name], time.monotonic() + seconds, 0
    last = ""

    @settings(
        max_examples=BATCH,
        deadline=None,
        database=None,
        phases=(Phase.generate, Phase.shrink),
        suppress_health_check=list(HealthCheck),
    )
    @given(hostile_text)
    def one_batch(text: str) -> None:
        nonlocal taken, last
        taken, last = taken + 1, text
        target(text)

    while time.monotonic() < deadline:
        try:
            one_batch()
        except Exception:
            digest = hashlib.sha256(last.encode("utf-8", "surrogatepass")).hexdigest()[:12]
            (CORPUS / f"{name}-{digest}.txt").write_bytes(last.encode("utf-8", "surrogatepass"))
            print(f"{name} crashed on {last!r}", file=sys.stderr)
            raise
    return taken


def main() -> int:
    """Fuzz each target for its share of the time."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=60.0, help="time for all targets together (default 60)")
    parser.add_argument("--target", choices=tuple(TARGETS), action="append", help="none: all of them")
    arguments = parser.parse_args()
    names = arguments.target or list(TARGETS)
    for name in names:
        print(f"{name:8} {fuzz(name, arguments.seconds / len(names)):8} texts, no crash", flush=True)
    return 0


if __name__ == "__main__":
    Path(CORPUS).mkdir(exist_ok=True)
    raise SystemExit(main())
