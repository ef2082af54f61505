"""Writing a turn: both messages or none, once, and never after a reset."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

import pytest
from llama_index.core.base.llms.types import ChatMessage, MessageRole
from llama_index.core.memory import ChatMemoryBuffer

from llama_index_condense_plus.turn.conversation import Conversation
from llama_index_condense_plus.turn.history import Commit

ANSWER = ChatMessage(role=MessageRole.ASSISTANT, content="answer")


class Memory(ChatMemoryBuffer):
    """A memory that can fail before, between or after the two messages."""

    fails: str = ""

    def put_messages(self, messages: list[ChatMessage]) -> None:
        for number, message in enumerate(messages):
            if self.fails == f"at {number}":
                raise ConnectionError(self.fails)
            self.put(message)
        if self.fails == "afterwards":
            raise ConnectionError(self.fails)

    async def aput_messages(self, messages: list[ChatMessage]) -> None:
        self.put_messages(messages)


class Keeper:
    """Notes what is called around the writing of a turn."""

    def __init__(self) -> None:
        self.calls: list[str] = []

    def keep(self) -> None:
        self.calls.append("keep")

    async def akeep(self) -> None:
        self.calls.append("keep")

    def follow(self, *, on_loop: bool) -> None:
        self.calls.append("follow")


@pytest.fixture
def conversation() -> Conversation:
    return Conversation(Memory.from_defaults(token_limit=3000))


Write = Callable[[Commit], None]


@pytest.fixture(params=["write", "awrite"])
def write(request: pytest.FixtureRequest) -> Write:
    def run(commit: Commit) -> None:
        result: Any = getattr(commit, request.param)(ANSWER)
        if result is not None:
            asyncio.run(result)

    return run


def contents(conversation: Conversation) -> list[str | None]:
    return [message.content for message in conversation.memory.get_all()]


def test_commit_writes_both_messages_once(conversation: Conversation, write: Write) -> None:
    commit = conversation.commit("question")
    commit.keeper = keeper = Keeper()
    write(commit)
    write(commit)
    assert contents(conversation) == ["question", "answer"]
    assert keeper.calls == ["keep", "follow"]
    assert not commit.is_open
    assert not conversation.lock.held


@pytest.mark.parametrize("fails", ["at 0", "at 1"])
def test_commit_that_fails_leaves_nothing_and_frees_the_lock(
    conversation: Conversation, write: Write, fails: str
) -> None:
    conversation.memory.fails = fails  # type: ignore[attr-defined]
    commit = conversation.commit("question")
    commit.keeper = keeper = Keeper()
    with pytest.raises(ConnectionError):
        write(commit)
    assert contents(conversation) == []
    assert keeper.calls == []
    assert not conversation.lock.held


def test_commit_keeps_a_whole_turn_when_only_the_upkeep_fails(conversation: Conversation, write: Write) -> None:
    conversation.memory.fails = "afterwards"  # type: ignore[attr-defined]
    write(conversation.commit("question"))
    assert contents(conversation) == ["question", "answer"]


def test_commit_given_up_writes_nothing(conversation: Conversation, write: Write) -> None:
    commit = conversation.commit("question")
    conversation.lock.acquire()
    commit.holds_lock = True
    commit.abandon()
    commit.abandon()
    assert not conversation.lock.held
    write(commit)
    assert contents(conversation) == []


def test_commit_open_at_a_reset_writes_nothing(conversation: Conversation, write: Write) -> None:
    first, second = conversation.commit("one"), conversation.commit("two")
    conversation.reset()
    write(first)
    write(second)
    assert contents(conversation) == []
    write(conversation.commit("three"))
    assert contents(conversation) == ["three", "answer"]


def test_commit_replaces_what_follows_a_message(conversation: Conversation, write: Write) -> None:
    write(conversation.commit("one"))
    write(conversation.commit("two"))
    commit = conversation.commit("ignored")
    commit.replace_from(2, "two again")
    write(commit)
    assert contents(conversation) == ["one", "answer", "two again", "answer"]


@pytest.mark.parametrize("replaces", [False, True])
def test_commit_cancelled_between_its_messages_is_whole_and_followed_as_any_other(replaces: bool) -> None:
    between = asyncio.Event()

    class Slow(Memory):
        async def aput_messages(self, messages: list[ChatMessage]) -> None:
            for message in messages:
                self.put(message)
                between.set()
                await asyncio.sleep(0.02)

        async def aset(self, messages: list[ChatMessage]) -> None:
            self.set(messages[:1])
            between.set()
            await asyncio.sleep(0.02)
            self.set(messages)

    conversation, keeper = Conversation(Slow.from_defaults(token_limit=3000)), Keeper()

    async def run() -> None:
        commit = conversation.commit("question")
        commit.keeper = keeper
        if replaces:
            commit.replace_from(0, "question")
        task = asyncio.create_task(commit.awrite(ANSWER))
        await between.wait()
        task.cancel()
        await asyncio.wait({task})
        assert task.cancelled()

    asyncio.run(run())
    assert contents(conversation) == ["question", "answer"]
    assert not conversation.lock.held
    assert keeper.calls == ["keep", "follow"]
