"""Mutation testing of a seeded sample: what share of small faults do the tests of the same folder notice?

    python scripts/mutation.py                             300 mutants of retrieval/ and rewriting/
    python scripts/mutation.py --only rewriting/guards --sample 0 --jobs 2

Mutants are those of mutmut's operators within functions, decorated functions included. Each runs in a fork of one
process that has collected the tests; the fork gives the function its mutated code. Where that is not enough (a default
argument, a function that runs at import) it imports the package anew, with the mutated source. First come the tests
that reach the mutated function, fastest first, then, if it survives, all others of the folder but the slow ones. A
fault that makes the tests hang counts as noticed.
"""

from __future__ import annotations

import argparse
import gc
import importlib
import json
import math
import os
import random
import resource
import signal
import sys
import tempfile
import time
from collections import defaultdict
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from types import FunctionType
from typing import Any

import coverage
import pytest
from mutants import PACKAGE, ROOT, Mutant, MutatedFinder, places, transplanted

FOLDERS = ("retrieval", "rewriting")
CPU_LIMIT_S = 60
WALL_LIMIT_S = 1200
"""Mutants that take longer hang; the second one is wide, for the machine may be busy."""
PATIENCE = 10
"""Tests may take this many times as long as usual, and as many seconds more, before one counts as hanging."""
SLOW_S = 2.0
"""Tests that take longer are run only for the functions that they reach."""
MEMORY_LIMIT = 6 * 2**30
"""Bytes of address space beyond what the libraries take."""
SURVIVED, KILLED, UNFIT = 0, 1, 77
"""How a fork ends; the last one: the mutant needs a fresh import."""


class Recorder:
    """A pytest plugin that notes which lines each test reaches, and how long it takes."""

    def __init__(self, measured: coverage.Coverage) -> None:
        self._measured = measured
        self.seconds: dict[str, float] = {}
        self.failed: list[str] = []

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> Iterator[None]:
        """Name the coverage context after the test."""
        self._measured.switch_context(item.nodeid)
        started = time.process_time()
        yield
        self.seconds[item.nodeid] = time.process_time() - started

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Note a failure."""
        if report.failed:
            self.failed.append(report.nodeid)


def in_fork(work: Callable[[], int], *, silent: bool = True) -> int:
    """Start a child that does the work; return its process id."""
    child = os.fork()
    if child:
        return child
    status = 1
    try:
        if silent:
            silence = os.open(os.devnull, os.O_RDWR)
            for stream in (0, 1, 2):
                os.dup2(silence, stream)
        status = work()
    finally:
        os._exit(status)


def run_tests(arguments: list[str], *plugins: object) -> int:
    """Run pytest in this process; return SURVIVED if all passed, KILLED otherwise."""
    with tempfile.TemporaryDirectory() as home:
        options = ["-q", "-x", "-p", "no:cacheprovider", "-p", "no:randomly", f"--basetemp={home}/tests"]
        return int(pytest.main([*options, "-m", "not integration", *arguments], plugins=list(plugins)) != 0)


def preload(folder: str) -> None:
    """Import what the package and its tests import, except themselves, so that forks need not."""

    def listing() -> int:
        run_tests(["--collect-only", f"tests/{folder}"])
        names = [name for name in sys.modules if name.split(".")[0] not in {PACKAGE, "tests", "conftest", "__main__"}]
        Path(exchange.name).write_text(json.dumps(sorted(names)), encoding="utf-8")
        return 0

    with tempfile.NamedTemporaryFile() as exchange:
        os.waitpid(in_fork(listing), 0)
        for name in json.loads(Path(exchange.name).read_text(encoding="utf-8")):
            try:
                importlib.import_module(name)
            except Exception:  # noqa: BLE001, S112 - made at run time; forks import it themselves if they need it
                continue
    import rjieba  # noqa: PLC0415 - its dictionary takes long to load

    rjieba.tag("你好")


@dataclass(frozen=True, slots=True)
class Baseline:
    """What the unchanged code's tests do."""

    reach: dict[str, dict[int, list[str]]]
    """File → line → tests that reach it."""
    seconds: dict[str, float]
    """Test → CPU seconds."""

    def tests_of(self, mutant: Mutant) -> list[str]:
        """Return the tests that reach the mutated function, fastest first."""
        lines = self.reach.get(str(mutant.module), {})
        body = range(mutant.function.first, mutant.function.last + 1)
        return sorted({test for line in body for test in lines.get(line, ()) if test}, key=self.seconds.__getitem__)

    def far_tests_of(self, mutant: Mutant) -> list[str]:
        """Return the others that are not slow, fastest first: a cached result hides whom else a function reaches."""
        near = set(self.tests_of(mutant))
        return sorted(
            (t for t, s in self.seconds.items() if s < SLOW_S and t not in near), key=self.seconds.__getitem__
        )

    def runs_at_import(self, mutant: Mutant) -> bool:
        """Return True if the mutated function has worked before any test began."""
        lines = self.reach.get(str(mutant.module), {})
        return any("" in lines.get(line, ()) for line in range(mutant.function.body, mutant.function.last + 1))


def baseline(folder: str) -> Baseline:
    """Run a folder's tests on the unchanged code.

    Raises:
        SystemExit: a test fails.
    """

    def measure() -> int:
        measured = coverage.Coverage(data_file=None, source=[str(ROOT / PACKAGE)], config_file=False)
        recorder = Recorder(measured)
        measured.start()
        status = run_tests([f"tests/{folder}"], recorder)
        measured.stop()
        data = measured.get_data()
        reach = {
            str(Path(file).relative_to(ROOT / PACKAGE)): {
                line: list(tests) for line, tests in data.contexts_by_lineno(file).items()
            }
            for file in data.measured_files()
        }
        result = {"reach": reach, "seconds": recorder.seconds, "failed": recorder.failed}
        Path(exchange.name).write_text(json.dumps(result), encoding="utf-8")
        return status

    with tempfile.NamedTemporaryFile() as exchange:
        _, status = os.waitpid(in_fork(measure), 0)
        found: dict[str, Any] = json.loads(Path(exchange.name).read_text(encoding="utf-8") or "{}")
    if status:
        sys.exit(f"tests/{folder} fails without mutants: {found.get('failed')}")
    reach = {file: {int(line): tests for line, tests in lines.items()} for file, lines in found["reach"].items()}
    return Baseline(reach, found["seconds"])


class Nursery:
    """A pytest plugin that tests mutants in forks of the process that has collected the tests."""

    def __init__(self, mutants: list[Mutant], known: Baseline, jobs: int) -> None:
        self._mutants = mutants
        self._known = known
        self._jobs = jobs
        self._has_failed = False
        self.results: dict[Mutant, int] = {}

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Note a failure."""
        self._has_failed |= report.failed

    def pytest_runtestloop(self, session: pytest.Session) -> bool:
        """Test the mutants in place of running the tests once."""
        items = {item.nodeid: item for item in session.items}
        functions: dict[str, list[FunctionType]] = defaultdict(list)
        for one in gc.get_objects():
            if isinstance(one, FunctionType):
                functions[one.__code__.co_filename].append(one)

        def work(mutant: Mutant) -> int:
            path = str(ROOT / PACKAGE / mutant.module)
            if not transplanted(mutant, functions[path]):
                return UNFIT
            tests = self._known.tests_of(mutant) + self._known.far_tests_of(mutant)
            ended = self._run([items[test] for test in tests])
            return UNFIT if ended == SURVIVED and self._known.runs_at_import(mutant) else ended

        in_order = sorted(items, key=self._known.seconds.__getitem__)
        _, status = os.waitpid(in_fork(lambda: self._run([items[test] for test in in_order])), 0)
        if status != SURVIVED:
            pytest.exit("the tests fail without mutants when they run fastest first")
        self.results = in_forks(self._mutants, work, self._jobs)
        return True

    def _run(self, items: list[pytest.Item]) -> int:
        """Run tests until one fails; a hanging one ends the process."""
        limit_memory()
        for item, following in zip(items, [*items[1:], None], strict=True):
            limit_cpu(time.process_time() + PATIENCE * (1 + self._known.seconds[item.nodeid]))
            item.config.hook.pytest_runtest_protocol(item=item, nextitem=following)
            if self._has_failed:
                return KILLED
        return SURVIVED


def limit_cpu(seconds: float) -> None:
    """Let this process end when it has taken this much."""
    resource.setrlimit(resource.RLIMIT_CPU, (math.ceil(seconds), resource.RLIM_INFINITY))


def limit_memory() -> None:
    """Keep a mutant from taking the machine."""
    resource.setrlimit(resource.RLIMIT_DATA, (MEMORY_LIMIT, MEMORY_LIMIT))


def in_forks(mutants: list[Mutant], work: Callable[[Mutant], int], jobs: int) -> dict[Mutant, int]:
    """Test mutants in forks, ``jobs`` at a time; return how each fork ended, as ``os.waitpid`` says."""
    waiting, results = list(reversed(mutants)), {}
    running: dict[int, tuple[Mutant, float]] = {}
    while waiting or running:
        while waiting and len(running) < jobs:
            mutant = waiting.pop()
            running[in_fork(partial(work, mutant))] = (mutant, time.monotonic())
        time.sleep(0.02)
        for child, (mutant, started) in list(running.items()):
            if time.monotonic() - started > WALL_LIMIT_S:
                os.kill(child, signal.SIGKILL)
            done, status = os.waitpid(child, os.WNOHANG)
            if not done:
                continue
            del running[child]
            results[mutant] = status
            if status == SURVIVED:
                print(f"survived  {mutant}", flush=True)
    return results


def killed(mutants: list[Mutant], known: Baseline, jobs: int, folder: str) -> dict[Mutant, int]:
    """Test mutants, those that need it with a fresh import; return how each fork ended, as ``os.waitpid`` says."""

    def freshly(mutant: Mutant) -> int:
        limit_cpu(CPU_LIMIT_S)
        limit_memory()
        sys.meta_path.insert(0, MutatedFinder(mutant))  # type: ignore[arg-type]
        return run_tests([*known.tests_of(mutant), *known.far_tests_of(mutant)])

    def nursery() -> int:
        plugin = Nursery(mutants, known, jobs)
        run_tests(["-s", "--disable-warnings", f"tests/{folder}"], plugin)
        Path(exchange.name).write_text(json.dumps([plugin.results[mutant] for mutant in mutants]), encoding="utf-8")
        return 0

    with tempfile.NamedTemporaryFile() as exchange:
        if os.waitpid(in_fork(nursery, silent=False), 0)[1]:
            sys.exit(1)
        results = dict(zip(mutants, json.loads(Path(exchange.name).read_text(encoding="utf-8")), strict=True))
    unfit = [mutant for mutant, status in results.items() if os.WIFEXITED(status) and os.WEXITSTATUS(status) == UNFIT]
    return results | in_forks(unfit, freshly, jobs)


def share(flags: list[bool]) -> str:
    """Return a share with its binomial standard error, in percent."""
    p = sum(flags) / len(flags)
    return f"{sum(flags):4}/{len(flags):<4} {100 * p:5.1f} % ± {100 * math.sqrt(p * (1 - p) / len(flags)):.1f}"


def main() -> None:
    """Print the survivors and the share of killed mutants by module."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", nargs="*", default=FOLDERS, metavar="PATH", help="files or folders of the package")
    parser.add_argument("--sample", type=int, default=300, help="mutants drawn, in proportion to all; 0: all")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--jobs", type=int, default=1)
    arguments = parser.parse_args()
    os.chdir(ROOT)
    sys.path.insert(0, str(ROOT))
    os.environ |= {"HYPOTHESIS_STORAGE_DIRECTORY": tempfile.mkdtemp(), "TEST_PATIENCE": str(PATIENCE)}
    paths = [ROOT / PACKAGE / name for name in arguments.only]
    files = sorted({file for path in paths for file in ([path] if path.is_file() else path.rglob("*.py"))})
    found = [place for file in files for place in places(file)]
    size = min(arguments.sample or len(found), len(found))
    drawn = [place.mutant() for place in random.Random(arguments.seed).sample(found, size)]  # noqa: S311
    print(f"{len(drawn)} of {len(found)} mutants, seed {arguments.seed}", flush=True)
    results: dict[Mutant, int] = {}
    for folder in sorted({mutant.module.parts[0] for mutant in drawn}):
        preload(folder)
        known = baseline(folder)
        results |= killed([m for m in drawn if m.module.parts[0] == folder], known, arguments.jobs, folder)
    modules: dict[str, list[bool]] = defaultdict(list)
    for mutant, status in results.items():
        modules[str(mutant.module)].append(status != SURVIVED)
    for module in sorted(modules):
        print(f"{module:34} {share(modules[module])}")
    print(f"{'all':34} {share([status != SURVIVED for status in results.values()])}")
    print(f"{sum(map(os.WIFSIGNALED, results.values()))} of the killed ones hung")


if __name__ == "__main__":
    main()
