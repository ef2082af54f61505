"""A long run with faults: 50 conversations, 20,000 turns in all four modes, 2 % of which go wrong.

Every turn is checked (what the caller sees, what history holds, nobody else's words in the answer), and after every
round of talks everything else: locks, tasks, threads, file handles, shared calls, the rewrite log. The conversations
are then emptied, so that what memory still grows by is a leak. It may grow by 5 % after the warm-up.
Fewer than 10,000 turns do not fill the bounded caches, and show growth that is no leak.
"""

from __future__ import annotations

import argparse
import asyncio
import contextvars
import gc
import json
import os
import random
import sys
import tempfile
import threading
import time
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from llama_index.core.memory import BaseMemory, ChatMemoryBuffer, Memory
from llama_index.core.query_engine import RetrieverQueryEngine
from tqdm import tqdm

from benchmarks._data import table
from benchmarks._soak import FATAL, NAME, REWRITE_TIMEOUT_S, FaultyLLM, FaultyRetriever, Planned, plan, planned_turn
from llama_index_condense_plus import CondensePlusChatEngine, CondensePlusSettings, workers

TALK_TURNS = 20
"""Turns of a conversation between two looks at memory."""
WARM_UP = 0.3
"""Share of the turns after which nothing may grow any more: by then every bounded cache is full."""
GROWTH_LIMIT = 0.05
MEMORIES: dict[str, type[BaseMemory]] = {"buffer": ChatMemoryBuffer, "database": Memory}
"""What holds the conversations: a dictionary, or LlamaIndex's default, a database that they share."""
CALLERS = "soak"
"""Name of the threads that ask: they are this script's, and no leak."""


@dataclass
class Seen:
    """What the run counts."""

    stored: int = 0
    faults: Counter[str] = field(default_factory=Counter)
    wrong: list[str] = field(default_factory=list)

    def check(self, holds: bool, what: str, *details: object) -> None:
        """Note that something which must hold does not."""
        if not holds:
            self.wrong.append(" ".join([what, *map(repr, details)]))


@dataclass
class Talk:
    """One conversation: its engine, and what its history must hold."""

    engine: CondensePlusChatEngine
    pool: ThreadPoolExecutor
    seen: Seen
    name: str
    history: list[tuple[str, str]] = field(default_factory=list)

    async def hold(self, number: int, fault_rate: float, chance: random.Random, progress: Any) -> None:
        """Hold a whole talk, check its history, and empty it."""
        for turn in range(TALK_TURNS):
            await self.turn(plan(self.name, number * TALK_TURNS + turn, not self.history, fault_rate, chance))
            progress.update()
        self.seen.check(await self._stored() == self.history, "lost, doubled or crossed", self.name)
        self.seen.check(not self._is_locked(), "a lock is held", self.name)
        await self.engine.areset()
        self.seen.check(await self._stored() == [], "not emptied", self.name)

    async def turn(self, planned: Planned) -> None:
        """Hold one turn and check it."""
        planned_turn.set(planned)
        self.seen.faults[planned.fault or "none"] += 1
        task = asyncio.ensure_future(self._ask(planned))
        if planned.fault == "turn is cancelled":
            for _ in range(random.Random(planned.message).randrange(40)):  # noqa: S311 - a place to cancel at
                await asyncio.sleep(0)
            task.cancel()
        try:
            answer = await task
        except asyncio.CancelledError:
            self.seen.check(planned.fault == "turn is cancelled", "cancelled by nobody", planned)
            await self._settle(planned)
        except Exception as error:  # noqa: BLE001 - judged here
            self.seen.check(planned.fault in FATAL, "raised", planned, error)
            self.seen.check(await self._stored() == self.history, "history after an error", planned)
        else:
            self.seen.check(planned.fault not in FATAL, "did not raise", planned)
            self.seen.check(set(NAME.findall(answer)) == {self.name}, "names in the answer", planned, answer)
            self._keep(planned, answer)

    async def _ask(self, planned: Planned) -> str:
        """Ask in the turn's mode; return the whole answer, once it is stored."""
        if not planned.mode.startswith("a"):
            context = contextvars.copy_context()
            return await asyncio.get_running_loop().run_in_executor(self.pool, context.run, self._ask_here, planned)
        response = await getattr(self.engine, planned.mode)(planned.message)
        if planned.mode == "achat":
            return str(response)
        reading = asyncio.ensure_future(read(response, 1 if planned.fault == "reader leaves" else 0))
        if planned.fault == "reader is cancelled":
            await asyncio.sleep(0)
            reading.cancel()
            await asyncio.wait({reading})
        else:
            await reading
        while not response.is_done:  # noqa: ASYNC110 - core's own flag
            await asyncio.sleep(0.001)
        return str(response.response)

    def _ask_here(self, planned: Planned) -> str:
        if planned.mode == "chat":
            return str(self.engine.chat(planned.message))
        response = self.engine.stream_chat(planned.message)
        reader = response.response_gen
        for _ in reader:
            if planned.fault == "reader leaves":
                break
        reader.close()
        while not response.is_done:
            time.sleep(0.001)
        return str(response.response)

    async def _settle(self, planned: Planned) -> None:
        """After a cancelled turn: all of it is stored, or nothing."""
        while self._is_locked():  # noqa: ASYNC110 - has no event
            await asyncio.sleep(0.001)
        stored = await self._stored()
        if stored != self.history:
            whole = stored[:-2] == self.history and stored[-2][1] == planned.message
            self.seen.check(whole, "history after a cancelled turn", planned)
            self._keep(planned, stored[-1][1])

    def _is_locked(self) -> bool:
        return bool(self.engine._conversation.lock.held)  # type: ignore[attr-defined]

    async def _stored(self) -> list[tuple[str, str]]:
        return [(message.role.value, str(message.content)) for message in await self.engine._memory.aget_all()]

    def _keep(self, planned: Planned, answer: str) -> None:
        self.history += [("user", planned.message), ("assistant", answer)]
        self.seen.stored += 1


async def read(response: Any, limit: int) -> None:
    """Read a stream, or only its first pieces."""
    reader = response.async_response_gen()
    n_read = 0
    async for _ in reader:
        n_read += 1
        if n_read == limit:
            break
    await reader.aclose()


def sizes() -> dict[str, float]:
    """Return what the process takes; its objects are Python's allocated blocks."""
    gc.collect()
    pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[1])
    return {
        "resident memory, MB": pages * os.sysconf("SC_PAGE_SIZE") / (1 << 20),
        "Python objects": sys.getallocatedblocks(),
        "file handles": len(list(Path("/proc/self/fd").iterdir())),
        "threads": sum(not thread.name.startswith(CALLERS) for thread in threading.enumerate()),
    }


async def soak(given: argparse.Namespace, log: Path, seen: Seen) -> list[dict[str, float]]:
    """Run it; return the sizes after each round of talks."""
    settings = CondensePlusSettings(
        rewrite={"timeout_s": REWRITE_TIMEOUT_S}, log={"enabled": True, "path": log, "max_mb": 10_000}
    )
    query_engine = RetrieverQueryEngine.from_args(FaultyRetriever(), llm=FaultyLLM())
    memory = MEMORIES[given.memory].from_defaults(token_limit=100_000)
    base = CondensePlusChatEngine.from_defaults(query_engine, memory=memory, settings=settings)
    engines = [base.for_conversation(f"c{i}") for i in range(given.conversations)]
    pool, chance, taken = ThreadPoolExecutor(given.conversations, CALLERS), random.Random(given.seed), []  # noqa: S311 - repeatable
    n_rounds = max(2, round(given.turns / given.conversations / TALK_TURNS))
    with tqdm(total=n_rounds * given.conversations * TALK_TURNS, unit=" turns", mininterval=1) as progress:
        for round_number in range(1, n_rounds + 1):
            talks = []
            for number, engine in enumerate(engines, round_number * 1000):
                dice = random.Random(chance.random())  # noqa: S311 - repeatable
                talk = Talk(engine, pool, seen, f"GTX-{number}")
                talks.append(talk.hold(number, given.faults, dice, progress))
            await asyncio.gather(*talks)
            del talks
            await check_what_is_left(base, seen)
            taken.append(sizes())
    pool.shutdown()
    base._log.close()  # type: ignore[union-attr]
    seen.check(base._log.dropped == 0, "rows of the log were dropped")  # type: ignore[union-attr]
    return taken


async def check_what_is_left(engine: CondensePlusChatEngine, seen: Seen) -> None:
    """Check that nothing of the turns goes on: no thread, no task, no shared call."""
    for _ in range(4000):
        others = [task for task in asyncio.all_tasks() if task is not asyncio.current_task()]
        if not others and not workers.live_workers():
            break
        await asyncio.sleep(0.001)
    seen.check(not others, "tasks left", others[:3])
    seen.check(workers.live_workers() == 0, "threads left", workers.live_workers())
    seen.check(engine._pipeline.flights.in_flight == 0, "shared calls left")


def main() -> int:
    """Run the soak and print what was seen."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--turns", type=int, default=20_000)
    parser.add_argument("--conversations", type=int, default=50)
    parser.add_argument("--faults", type=float, default=0.02, help="share of the turns that go wrong")
    parser.add_argument("--memory", choices=sorted(MEMORIES), default="buffer", help="what holds the conversations")
    parser.add_argument("--seed", type=int, default=7)
    given, seen = parser.parse_args(), Seen()
    with tempfile.TemporaryDirectory() as folder:
        log = Path(folder) / "log.jsonl"
        taken = asyncio.run(soak(given, log, seen))
        rows = [json.loads(line) for line in log.read_text(encoding="utf-8").splitlines()]
    seen.check(len(rows) == seen.stored, "rows of the log", len(rows), "turns stored", seen.stored)
    seen.check(len({row["turn_id"] for row in rows}) == len(rows), "a turn is twice in the log")
    warm, last = taken[min(len(taken) - 2, int(len(taken) * WARM_UP))], taken[-1]
    lines = []
    for name, allowed in zip(warm, (GROWTH_LIMIT, GROWTH_LIMIT, 0.0, 0.0), strict=True):
        grown = last[name] / warm[name] - 1
        seen.check(grown <= allowed, "grew", name, f"{grown:+.1%}")
        lines.append([name, f"{warm[name]:,.0f}", f"{last[name]:,.0f}", f"{grown:+.1%}", f"{allowed:.0%}"])
    table("Soak", ["", "after the warm-up", "at the end", "growth", "allowed"], lines)
    counts = [["turns", seen.faults.total()], ["stored", seen.stored], ["rows of the log", len(rows)]]
    faults = [[name, count] for name, count in sorted(seen.faults.items()) if name != "none"]
    table("Turns and faults", ["", "count"], [*counts, *faults, ["checks that failed", len(seen.wrong)]])
    print(*seen.wrong[:20], sep="\n")
    return 1 if seen.wrong else 0


if __name__ == "__main__":
    raise SystemExit(main())
