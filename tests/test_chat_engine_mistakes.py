"""What users get wrong, and the words that help them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from llama_index_condense_plus import (
    CondensePlusChatEngine,
    CondensePlusError,
    ConfigurationError,
    InvalidMessageError,
)
from tests.fakes import query_engine
from tests.modes import Mode

Make = Callable[..., Any]


def test_stream_read_the_wrong_way_is_an_error_that_names_the_right_one(make_engine: Make, stream_mode: Mode) -> None:
    response = stream_mode.begin(make_engine(), "and its price?")

    async def read_asynchronously() -> None:
        async for _ in response.async_response_gen():
            pass

    def read_the_wrong_way() -> None:
        next(response.response_gen) if stream_mode.is_async else stream_mode.run(read_asynchronously())

    with pytest.raises(CondensePlusError, match="response_gen"):
        read_the_wrong_way()
    assert stream_mode.read(response) == "the answer"  # it can still be read the right way


def test_misspelt_argument_names_the_one_that_is_meant() -> None:
    with pytest.raises(ConfigurationError, match=r"setings\. Did you mean settings"):
        CondensePlusChatEngine.from_defaults(query_engine(), setings=None)


@pytest.mark.parametrize(
    ("argument", "remedy"),
    [
        ("condense_prompt", "condense_question_prompt"),
        ("skip_condense", "enabled=False"),
        ("context_refine_prompt", "refine_template"),
    ],
)
def test_argument_of_the_other_stock_engine_names_its_counterpart(argument: str, remedy: str) -> None:
    with pytest.raises(ConfigurationError, match=remedy):
        CondensePlusChatEngine.from_defaults(query_engine(), **{argument: "x"})


def test_history_of_dictionaries_is_a_clear_error_before_any_call(make_engine: Make, mode: Mode, llm: Any) -> None:
    with pytest.raises(InvalidMessageError, match="ChatMessage"):
        mode.begin(make_engine(), "and its price?", [{"role": "user", "content": "hi"}])
    assert not llm.calls
