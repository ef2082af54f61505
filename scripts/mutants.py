"""The small faults that ``mutation.py`` tries, mutmut's operators on every function of a file, and how they get in."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from importlib.machinery import ModuleSpec, SourceFileLoader
from importlib.util import spec_from_file_location
from pathlib import Path
from types import CodeType, FunctionType

import libcst as cst
from libcst.metadata import MetadataWrapper, PositionProvider
from mutmut.mutation.mutators import mutation_operators

ROOT = Path(__file__).resolve().parents[1]
PACKAGE = "llama_index_condense_plus"
SHOWN = 100
"""Characters of a fault that are printed."""


@dataclass(frozen=True, slots=True)
class Function:
    """An outermost function, or a method."""

    names: tuple[str, ...]
    """Its classes' names and its own."""
    first: int
    body: int
    last: int
    """Lines where it, its body and its end are."""


@dataclass(frozen=True, slots=True)
class Mutant:
    """One small fault."""

    module: Path
    """The mutated file, relative to the package."""
    line: int
    """Where it begins."""
    function: Function
    """The function or method around it."""
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
        self.found: list[tuple[cst.CSTNode, cst.CSTNode, int, Function]] = []
        self._names: list[str] = []
        self._functions: list[Function] = []

    def on_visit(self, node: cst.CSTNode) -> bool:
        """Note the mutants of a node; return whether to look inside."""
        if isinstance(node, (cst.Annotation, cst.Decorator, cst.Import, cst.ImportFrom)) or _kept_call(node):
            return False
        if isinstance(node, (cst.ClassDef, cst.FunctionDef)):
            self._names.append(node.name.value)
        if isinstance(node, cst.FunctionDef):
            where = self.get_metadata(PositionProvider, node)
            body = self.get_metadata(PositionProvider, node.body.body[0]).start.line
            self._functions.append(Function(tuple(self._names), where.start.line, body, where.end.line))
        elif self._functions:
            for kind, operator in mutation_operators:
                if isinstance(node, kind):
                    line = self.get_metadata(PositionProvider, node).start.line
                    self.found.extend((node, new, line, self._functions[0]) for new in operator(node))
        return True

    def on_leave(self, original_node: cst.CSTNode) -> None:
        """Leave a function or a class."""
        if isinstance(original_node, (cst.ClassDef, cst.FunctionDef)):
            self._names.pop()
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
    function: Function

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


def transplanted(mutant: Mutant, functions: list[FunctionType]) -> bool:
    """Give the living function its mutated code; return whether that was possible."""
    path = ROOT / PACKAGE / mutant.module
    old, new = (_code_of(source, mutant.function.names) for source in (path.read_text(encoding="utf-8"), mutant.source))
    living = [function for function in functions if function.__code__ == old]
    if old is None or new is None or old == new or not living:
        return False
    try:
        for function in living:
            function.__code__ = new
    except ValueError:  # other free variables
        return False
    return True


def _code_of(source: str, names: tuple[str, ...]) -> CodeType | None:
    """Return the code of a function or method, None if several have its name."""
    code = compile(source, "", "exec", dont_inherit=True)
    for name in names:
        inner = [const for const in code.co_consts if isinstance(const, CodeType) and const.co_name == name]
        if len(inner) != 1:
            return None
        code = inner[0]
    return code
