"""The two drivers: same results, errors thrown into the flow, flows always closed."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import pytest

from llama_index_condense_plus.operations import Flow
from llama_index_condense_plus.turn.drivers import adrive, drive
from llama_index_condense_plus.turn.operations import Start, TurnOperation


@dataclass(frozen=True)
class Do(TurnOperation[Any]):
    """Return a value or raise an error, after a while."""

    result: Any
    delay_s: float = 0.0

    def run(self) -> Any:
        if self.delay_s:
            threading.Event().wait(self.delay_s)
        return self._end()

    async def arun(self) -> Any:
        await asyncio.sleep(self.delay_s)
        return self._end()

    def _end(self) -> Any:
        if isinstance(self.result, BaseException):
            raise self.result
        return self.result


def run_async(flow: Flow[Any]) -> Any:
    return asyncio.run(asyncio.wait_for(adrive(flow), 20))


@pytest.fixture(params=[drive, run_async], ids=["sync", "async"])
def driver(request: pytest.FixtureRequest) -> Callable[[Flow[Any]], Any]:
    return request.param  # type: ignore[no-any-return]


def test_driver_sends_results_and_returns_the_flows_value(driver: Callable[[Flow[Any]], Any]) -> None:
    def flow() -> Flow[list[int]]:
        return [(yield Do(1)), (yield Do(2))]

    assert driver(flow()) == [1, 2]


def test_driver_throws_errors_into_the_flow(driver: Callable[[Flow[Any]], Any]) -> None:
    def flow() -> Flow[Any]:
        try:
            yield Do(ValueError("boom"))
        except ValueError as error:
            return (yield Do(f"caught {error}"))

    assert driver(flow()) == "caught boom"


def test_driver_raises_what_the_flow_does_not_catch_and_closes_it(driver: Callable[[Flow[Any]], Any]) -> None:
    closed = []

    def flow() -> Flow[Any]:
        try:
            yield Do(ValueError("boom"))
        finally:
            closed.append(True)

    with pytest.raises(ValueError, match="boom"):
        driver(flow())
    assert closed == [True]


def test_driver_deadline_is_a_timeout_error(driver: Callable[[Flow[Any]], Any]) -> None:
    def flow() -> Flow[Any]:
        try:
            yield Do(1, 5.0, timeout_s=0.02)
        except TimeoutError as error:
            return str(error)

    assert "0.02" in driver(flow())


def test_driver_tells_an_operations_own_timeout_error_apart(driver: Callable[[Flow[Any]], Any]) -> None:
    def flow() -> Flow[Any]:
        try:
            yield Do(TimeoutError("mine"), timeout_s=5.0)
        except TimeoutError as error:
            return str(error)

    assert driver(flow()) == "mine"


def test_driver_starts_an_operation_beside_the_flow(driver: Callable[[Flow[Any]], Any]) -> None:
    order: list[str] = []

    @dataclass(frozen=True)
    class Note(TurnOperation[None]):
        text: str

        def run(self) -> None:
            order.append(self.text)

        async def arun(self) -> None:
            order.append(self.text)

    def flow() -> Flow[None]:
        pending = yield Start(Do("late", 0.05))
        yield Note("beside")
        order.append("done" if pending.done() else "pending")
        failing = yield Start(Do(ValueError("nobody waits for me")))
        yield Do(None, 0.02)
        assert failing.done()

    driver(flow())
    assert order == ["beside", "pending"]


def test_adrive_cancelled_closes_the_flow_and_its_operation() -> None:
    closed: list[str] = []

    @dataclass(frozen=True)
    class Endless(TurnOperation[None]):
        def run(self) -> None:
            raise AssertionError

        async def arun(self) -> None:
            try:
                await asyncio.sleep(30)
            except asyncio.CancelledError:
                closed.append("operation")
                raise

    def flow(timeout_s: float | None) -> Flow[None]:
        try:
            yield Endless(timeout_s=timeout_s)
        finally:
            closed.append("flow")

    async def run(timeout_s: float | None) -> None:
        task = asyncio.create_task(adrive(flow(timeout_s)))
        await asyncio.sleep(0.01)
        task.cancel()
        await asyncio.wait({task})
        await asyncio.sleep(0)
        assert task.cancelled()

    for timeout_s in (None, 20.0):
        asyncio.run(run(timeout_s))
    assert sorted(closed) == ["flow", "flow", "operation", "operation"]
