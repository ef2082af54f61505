"""What is fuzzed: each target takes a text and checks what holds for any text."""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from pathlib import Path

from llama_index.core.base.llms.types import ChatMessage

from llama_index_condense_plus import CondensePlusSettings, ConfigurationError
from llama_index_condense_plus.cleanup import Cleaner
from llama_index_condense_plus.gate.trigger import build_trigger
from llama_index_condense_plus.rewriting.history import build_window
from llama_index_condense_plus.rewriting.parse import parse_rewrite
from llama_index_condense_plus.trust.verdict import Reviewer

CORPUS = Path(__file__).parent / "corpus"
"""Texts that once crashed a target, and some that could: ``TARGET-….txt``."""
SETTINGS = CondensePlusSettings()
CLEANER, REVIEWER, TRIGGER = Cleaner(SETTINGS), Reviewer(SETTINGS), build_trigger(SETTINGS)
TALK = build_window([("user", "GTE-3000 多少钱？"), ("assistant", "It costs 99.")], SETTINGS.history)


def parser(text: str) -> None:
    """A parsed question has one line."""
    parsed = parse_rewrite(text, "And its price?").text
    assert parsed is None or (parsed.strip() and "\n" not in parsed)


def cleanup(text: str) -> None:
    """A cleaned query has one line and can be encoded."""
    cleaned, _ = CLEANER.clean(text)
    assert "\n" not in cleaned
    cleaned.encode("utf-8")


def trust(text: str) -> None:
    """A review judges any text, on either side."""
    REVIEWER.review(text, "And its price?", TALK)
    REVIEWER.review("What is the price of the GTE-3000?", text, TALK)


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


TARGETS: dict[str, Callable[[str], None]] = {f.__name__: f for f in (parser, cleanup, trust, trigger, toml)}
"""By name."""
