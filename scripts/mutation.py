"""Mutation testing of a seeded sample: what share of small faults do the tests of the same folder notice?

    python scripts/mutation.py                             300 mutants of retrieval/ and rewriting/
    python scripts/mutation.py --only rewriting/guards --sample 0 --jobs 2

Mutants are those of mutmut's operators within functions, decorated functions included. Each runs in a fork of one
process that has loaded the libraries: first the tests that reach the mutated function, fastest first, then, if it
survives, all others of the folder but the slow ones. A fault that makes the tests hang counts as noticed.
"""

from __future__ import annotations

import argparse
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
from importlib.machinery import ModuleSpec, SourceFileLoader
from importlib.util import spec_from_file_location
from pathlib import Path
from types import CodeType
from typing import Any

import coverage
import libcst as cst
import pytest
from libcst.metadata import MetadataWrapper, PositionProvider
from mutmut.mutation.mutators import mutation_operators

ROOT = Path(__file__).resolve().parents[1]
PACKAGE = "llama_index_condense_plus"
FOLDERS = ("retrieval", "rewriting")
CPU_LIMIT_S = 120
WALL_LIMIT_S = 1200
"""Mutants that take longer hang; the second one is wide, for the machine may be busy."""
PATIENCE = "10"
"""Tests may take this many times as long as usual before one counts as hanging."""
SLOW_S = 2.0
"""Tests that take longer are run only for the functions that they reach."""
MEMORY_LIMIT = 6 * 2**30
"""Bytes of address space beyond what the libraries take."""
SURVIVED, KILLED = 0, 1
SHOWN = 100


@dataclass(frozen=True, slots=True)
class Mutant:
    """One small fault."""

    module: Path
    """The mutated file, relative to the package."""
    line: int
    """Where it begins."""
    function: tuple[int, int]
    """First and last line of the function or method around it."""
    before: str
    after: str
    source: str
    """The whole file with the fault."""

    def __str__(self) -> str:
        return f"{self.module}:{self.line}  {_short(self.before)}  →  {_short(self.after)}"


class Collector(cst.CSTVisitor):
    """Finds what mutmut's operators make of each node within functions; annotations and decorators stay."""

    METADATA_DEPENDENCIES = (PositionProvider,)

    def __init__(self) -> None:
        super().__init__()
        self.found: list[tuple[cst.CSTNode, cst.CSTNode, int, tuple[int, int]]] = []
        self._functions: list[tuple[int, int]] = []

    def on_visit(self, node: cst.CSTNode) -> bool:
        """Note the mutants of a node; return whether to look inside."""
        if isinstance(node, (cst.Annotation, cst.Decorator, cst.Import, cst.ImportFrom)) or _kept_call(node):
            return False
        if isinstance(node, cst.FunctionDef):
            where = self.get_metadata(PositionProvider, node)
            self._functions.append((where.start.line, where.end.line))
        elif self._functions:
            for kind, operator in mutation_operators:
                if isinstance(node, kind):
                    line = self.get_metadata(PositionProvider, node).start.line
                    self.found.extend((node, new, line, self._functions[0]) for new in operator(node))
        return True

    def on_leave(self, original_node: cst.CSTNode) -> None:
        """Leave a function."""
        if isinstance(original_node, cst.FunctionDef):
            self._functions.pop()


def _kept_call(node: cst.CSTNode) -> bool:
    return isinstance(node, cst.Call) and isinstance(node.func, cst.Name) and node.func.value in {"len", "isinstance"}


def _short(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= SHOWN else line[: SHOWN - 1] + "…"


@dataclass(frozen=True, slots=True)
class Place:
    """A mutant that is not written out yet: writing costs more than finding."""

    path: Path
    module: cst.Module
    node: cst.CSTNode
    new: cst.CSTNode
    line: int
    function: tuple[int, int]

    def mutant(self) -> Mutant:
        """Write the mutant out."""
        source = cst.ensure_type(self.module.deep_replace(self.node, self.new), cst.Module).code
        before, after = self.module.code_for_node(self.node), self.module.code_for_node(self.new)
        return Mutant(self.path.relative_to(ROOT / PACKAGE), self.line, self.function, before, after, source)


def places(path: Path) -> Iterator[Place]:
    """Yield where a file can be mutated, and how."""
    wrapper = MetadataWrapper(cst.parse_module(path.read_text(encoding="utf-8")))
    collector = Collector()
    wrapper.visit(collector)
    for node, new, line, function in collector.found:
        yield Place(path, wrapper.module, node, new, line, function)


class MutatedFinder:
    """An import hook that gives one module its mutated source."""

    def __init__(self, mutant: Mutant) -> None:
        self._name = ".".join((PACKAGE, *mutant.module.with_suffix("").parts)).removesuffix(".__init__")
        self._path = str(ROOT / PACKAGE / mutant.module)
        self._source = mutant.source

    def find_spec(self, name: str, path: object = None, target: object = None) -> ModuleSpec | None:  # noqa: ARG002
        """Return the mutated module's spec, None for others."""
        if name != self._name:
            return None
        return spec_from_file_location(name, self._path, loader=_Loader(name, self._path, self._source))


class _Loader(SourceFileLoader):
    def __init__(self, name: str, path: str, source: str) -> None:
        super().__init__(name, path)
        self._source = source

    def get_code(self, fullname: str) -> CodeType:  # noqa: ARG002
        return compile(self._source, self.path, "exec")


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


def in_fork(work: Callable[[], int]) -> int:
    """Start a child that does the work in silence; return its process id."""
    child = os.fork()
    if child:
        return child
    status = 1
    try:
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
        first, last = mutant.function
        found = {test for line in range(first, last + 1) for test in lines.get(line, ()) if test}
        return sorted(found, key=self.seconds.__getitem__)


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


def test_mutant(mutant: Mutant, known: Baseline) -> int:
    """Return KILLED or SURVIVED; runs in a fork."""
    resource.setrlimit(resource.RLIMIT_CPU, (CPU_LIMIT_S, CPU_LIMIT_S))
    resource.setrlimit(resource.RLIMIT_DATA, (MEMORY_LIMIT, MEMORY_LIMIT))
    sys.meta_path.insert(0, MutatedFinder(mutant))  # type: ignore[arg-type]
    near = known.tests_of(mutant)
    far = sorted((test for test, s in known.seconds.items() if s < SLOW_S and test not in near), key=known.seconds.get)
    return run_tests([*near, *far])


def killed(mutants: list[Mutant], known: Baseline, jobs: int) -> dict[Mutant, int]:
    """Test mutants in forks, ``jobs`` at a time; return how each fork ended, as ``os.waitpid`` says."""
    waiting, results = list(reversed(mutants)), {}
    running: dict[int, tuple[Mutant, float]] = {}
    while waiting or running:
        while waiting and len(running) < jobs:
            mutant = waiting.pop()
            child = in_fork(lambda mutant=mutant: test_mutant(mutant, known))  # type: ignore[misc]
            running[child] = (mutant, time.monotonic())
        time.sleep(0.05)
        for child, (mutant, started) in list(running.items()):
            if time.monotonic() - started > WALL_LIMIT_S:
                os.kill(child, signal.SIGKILL)
            done, status = os.waitpid(child, os.WNOHANG)
            if done:
                del running[child]
                results[mutant] = status
                print("." if status else f"\nsurvived  {mutant}", end="" if status else "\n", flush=True)
    print()
    return results


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
    os.environ |= {"HYPOTHESIS_STORAGE_DIRECTORY": tempfile.mkdtemp(), "TEST_PATIENCE": PATIENCE}
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
        results |= killed([mutant for mutant in drawn if mutant.module.parts[0] == folder], known, arguments.jobs)
    modules: dict[str, list[bool]] = defaultdict(list)
    for mutant, status in results.items():
        modules[str(mutant.module)].append(status != SURVIVED)
    for module in sorted(modules):
        print(f"{module:34} {share(modules[module])}")
    print(f"{'all':34} {share([status != SURVIVED for status in results.values()])}")
    print(f"{sum(map(os.WIFSIGNALED, results.values()))} of the killed ones hung")


if __name__ == "__main__":
    main()
