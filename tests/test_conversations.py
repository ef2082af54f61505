"""Deleting conversations with caches of every kind, and copies of an engine."""

from __future__ import annotations

import copy
import pickle
from collections.abc import Callable
from typing import Any

import pytest

from llama_index_condense_plus import ConfigurationError
from tests.modes import Mode


class Cache:
    """The least that a cache can be."""

    def __init__(self) -> None:
        self.kept: dict[str, str] = {}

    def get(self, key: str) -> str | None:
        return self.kept.get(key)

    def set(self, key: str, value: str) -> None:
        self.kept[key] = value


class Deleting(Cache):
    def delete(self, key: str) -> None:
        del self.kept[key]


class AsyncDeleting(Cache):
    async def adelete(self, key: str) -> None:
        del self.kept[key]


@pytest.mark.parametrize(
    ("make", "left"),
    [(Cache, (1, 1)), (Deleting, (0, 0)), (AsyncDeleting, (0, 0))],
    ids=["keeps", "sync", "async"],
)
def test_deleting_a_conversation_deletes_what_the_cache_can_delete(
    make_engine: Callable[..., Any], mode: Mode, make: type[Cache], left: tuple[int, int]
) -> None:
    cache = make()
    engine = make_engine(cache=cache)
    mode.ask(engine, "and its price?")
    assert len(cache.kept) == 1
    if mode.is_async:
        mode.run(engine.adelete_conversation())
    else:
        engine.delete_conversation()
    assert len(cache.kept) == left[mode.is_async]
    assert engine.chat_history == []
    mode.ask(engine, "and its price?")  # the lock is free again


def test_engine_is_copied_for_its_conversation_and_neither_deep_copied_nor_pickled(
    make_engine: Callable[..., Any],
) -> None:
    engine = make_engine()
    twin = copy.copy(engine)
    assert twin is not engine
    assert twin.chat_history == engine.chat_history
    twin.reset()
    assert engine.chat_history == []
    with pytest.raises(ConfigurationError, match="for_conversation"):
        copy.deepcopy(engine)
    with pytest.raises(ConfigurationError, match=r"engine\.settings"):
        pickle.dumps(engine)
