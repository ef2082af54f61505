"""What is fuzzed: each target takes a text and checks what holds for any text."""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from pathlib import Path

from llama_index.core.base.llms.types import ChatMessage

from llama_index_condense_plus import CondensePlusSettings, ConfigurationError
from llama_index_condense_plus.cleanup import Cleaner
from llama_index_condense_plus.evaluation.train import window_of
from llama_index_condense_plus.rewriting.guards import build_guards
from llama_index_condense_plus.rewriting.history import build_window
from llama_index_condense_plus.rewriting.parse import parse_rewrite
from llama_index_condense_plus.rewriting.trigger import build_trigger

CORPUS = Path(__file__).parent / "corpus"
"""Texts that once crashed a target, and some that could: ``TARGET-….txt``."""
SETTINGS = CondensePlusSettings()
CLEANER, GUARDS, TRIGGER = Cleaner(SETTINGS), build_guards(SETTINGS), build_trigger(SETTINGS)
TALK = window_of([{"role": "user", "content": "GTE-3000 多少钱？"}, {"role": "assistant", "content": "It costs 99."}])


def parser(text: str) -> None:
    """A parsed question has one line."""
    parsed = parse_rewrite(text, "And its price?").text
    assert parsed is None or (parsed.strip() and "\n" not in parsed)


def cleanup(text: str) -> None:
    """A cleaned query has one line and can be encoded."""
    cleaned, _ = CLEANER.clean(text)
    assert "\n" not in cleaned
    cleaned.encode("utf-8")


def guards(text: str) -> None:
    """Guards judge any text, on either side."""
    for guard in GUARDS:
        for original, rewrite in ((text, "What is the price of the GTE-3000?"), ("And its price?", text)):
            assert all(verdict.guard for verdict in guard.check(original, rewrite, TALK))


def trigger(text: str) -> None:
    """The gate decides about any message after any history."""
    history = build_window([ChatMessage(role="user", content=text)], SETTINGS.history)
    for window in (TALK, history):
        decision = TRIGGER.decide(text, window)
        assert decision.score is None or 0.0 <= decision.score <= 1.0


def toml(text: str) -> None:
    """A settings file is read, or refused with our error alone."""
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "settings.toml"
        file.write_bytes(text.encode("utf-8", "surrogatepass"))
        try:
            CondensePlusSettings.from_toml(file)
        except ConfigurationError:
            return


TARGETS: dict[str, Callable[[str], None]] = {f.__name__: f for f in (parser, cleanup, guards, trigger, toml)}
"""By name."""
