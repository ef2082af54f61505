"""Programs that fork after a turn, or end with streams open; run as ``python -m tests.faults.leaving fork``."""

from __future__ import annotations

import asyncio
import os
import sys
import threading
from typing import Any

from llama_index.core.memory import ChatMemoryBuffer

from llama_index_condense_plus import CondensePlusChatEngine, CondensePlusSettings
from tests.conftest import FIRST_ROUND, PRICE
from tests.fakes import ScriptedLLM, query_engine
from tests.modes import MODES, Mode, said

FOLLOW_UP = "and its price?"


def make_engine(**llm: Any) -> CondensePlusChatEngine:
    log = {"enabled": True, "path": sys.argv[2]} if len(sys.argv) > 2 else {}
    return CondensePlusChatEngine.from_defaults(
        query_engine(llm=ScriptedLLM(rewrite=PRICE, answer="one two three", **llm)),
        memory=ChatMemoryBuffer.from_defaults(chat_history=list(FIRST_ROUND), token_limit=10_000),
        settings=CondensePlusSettings(log=log),
    )


def fork() -> None:
    """After a turn, and in the middle of a stream, a child asks in every mode; its answers are its own."""
    for name in MODES:
        engine = make_engine()
        Mode(name).ask(engine, FOLLOW_UP)
        hanging = make_engine(token_delay_s=30.0)
        hanging.stream_chat(FOLLOW_UP)  # holds the lock of its conversation while the process is forked
        child = os.fork()
        if child == 0:
            hanging._service.llm().token_delay_s = 0.0  # type: ignore[attr-defined]
            ok = all(Mode(name).ask(one, "and its warranty?").text == "one two three" for one in (engine, hanging))
            ok = ok and len(said(engine)) == 6 and len(said(hanging)) == 4
            for one in (engine, hanging):
                one._log.close()  # type: ignore[union-attr]
                ok = ok and one._log.dropped == 0  # type: ignore[union-attr]
            os._exit(0 if ok else 1)
        print(name, os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), len(said(engine)))


def streams() -> None:
    """Ends while streams of both kinds hang, read by nobody."""
    make_engine(token_delay_s=60.0).stream_chat(FOLLOW_UP)

    async def leave() -> None:
        await make_engine(token_delay_s=60.0).astream_chat(FOLLOW_UP)

    asyncio.run(leave())
    make_engine().chat(FOLLOW_UP)  # its row of the log is not lost
    print("main ends", sum(not thread.daemon for thread in threading.enumerate()))


if __name__ == "__main__":
    {"fork": fork, "streams": streams}[sys.argv[1]]()
