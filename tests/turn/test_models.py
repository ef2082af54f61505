"""Asking models: what a model refuses, and what its response says of tokens; sync and async."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

import pytest
from llama_index.core.base.llms.types import ChatMessage, ChatResponse
from pydantic import BaseModel

from llama_index_condense_plus import _compat
from llama_index_condense_plus.flow import adrive, drive
from llama_index_condense_plus.operations import Flow, Predict, Prediction
from llama_index_condense_plus.turn import models
from tests.fakes import ScriptedLLM
from tests.modes import LIMIT_S

MESSAGES = (ChatMessage(content="and its price?"),)


@pytest.fixture(params=["sync", "async"])
def perform(request: pytest.FixtureRequest) -> Callable[[Flow[Prediction]], Prediction]:
    def go(flow: Flow[Prediction]) -> Prediction:
        return drive(flow) if request.param == "sync" else asyncio.run(asyncio.wait_for(adrive(flow), LIMIT_S))

    return go


@pytest.fixture(autouse=True)
def _nothing_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(models, "_refused", type(models._refused)())
    monkeypatch.setattr(_compat, "_warned", set())


class Refusing(ScriptedLLM):
    """Raises what it is told as long as the options hold a name; notes the options of each call."""

    refused: str = "temperature"
    error: Any = None
    seen: list[dict[str, Any]] = []  # noqa: RUF012 - a field of pydantic's

    def chat(self, messages: Any, **options: Any) -> ChatResponse:
        self.seen.append(options)
        if self.refused in options:
            raise self.error
        return super().chat(messages)

    async def achat(self, messages: Any, **options: Any) -> ChatResponse:
        return self.chat(messages, **options)


@pytest.mark.parametrize(
    ("error", "second"),
    [
        (ValueError("Temperature is not supported"), {"max_tokens": 9}),
        (TypeError("unexpected keyword"), {}),
    ],
)
def test_ask_leaves_a_refused_option_out_from_then_on(perform: Any, error: Exception, second: dict[str, int]) -> None:
    llm = Refusing(answer="yes", error=error, model=str(error))
    predict = Predict(MESSAGES, options={"temperature": 0.0, "max_tokens": 9})
    with pytest.warns(RuntimeWarning, match="refuses"):
        assert perform(models.ask(predict, llm)).text == "yes"
    assert perform(models.ask(predict, llm)).text == "yes"  # and warns no more: a warning is an error here
    assert llm.seen == [{"temperature": 0.0, "max_tokens": 9}, second, second]


@pytest.mark.parametrize("error", [ValueError("the server is down"), TimeoutError("temperature"), KeyError("quota")])
def test_ask_raises_what_no_option_explains(perform: Any, error: Exception) -> None:
    llm = Refusing(error=error)
    with pytest.raises(type(error)):
        perform(models.ask(Predict(MESSAGES, options={"temperature": 0.0}), llm))
    assert len(llm.seen) == 1


class Answer(BaseModel):
    text: str


def test_ask_falls_back_to_text_where_a_model_has_no_structured_output(perform: Any) -> None:
    class Plain(ScriptedLLM):
        def as_structured_llm(self, output_cls: Any, **_: Any) -> Any:
            raise NotImplementedError("no tools")

    with pytest.warns(RuntimeWarning, match="refuses structured output"):
        assert perform(models.ask(Predict(MESSAGES, output_cls=Answer), Plain(answer="plain"))).text == "plain"


class Counting(ScriptedLLM):
    """Answers with what a provider says of tokens."""

    raw: Any = None
    extra: dict[str, Any] = {}  # noqa: RUF012 - a field of pydantic's

    def chat(self, messages: Any, **options: Any) -> ChatResponse:
        return ChatResponse(message=ChatMessage(content=None), raw=self.raw, additional_kwargs=self.extra)

    async def achat(self, messages: Any, **options: Any) -> ChatResponse:
        return self.chat(messages)


class Usage:
    prompt_tokens = 7
    completion_tokens = "many"


class Raw:
    usage = Usage()


@pytest.mark.parametrize(
    ("raw", "extra", "counts"),
    [
        (None, {}, (None, None)),
        ({"usage": {"prompt_tokens": 5, "completion_tokens": 2}}, {}, (5, 2)),
        ({"usage": {"prompt_tokens": 5}}, {"prompt_tokens": 9}, (9, None)),
        (Raw(), {"completion_tokens": 0}, (7, 0)),
        (Raw(), {}, (7, None)),
    ],
)
def test_ask_reads_the_counted_tokens_wherever_they_stand(perform: Any, raw: Any, extra: Any, counts: Any) -> None:
    found = perform(models.ask(Predict(MESSAGES), Counting(raw=raw, extra=extra)))
    assert (found.prompt_tokens, found.completion_tokens) == counts
    assert found.text == ""
