"""A conversation kept in SQLite with a rolling summary: the program starts anew and still knows the first drone."""

import asyncio
import re
import tempfile
from typing import Any

from llama_index.core.llms import CompletionResponse, CompletionResponseGen, CustomLLM, LLMMetadata
from llama_index.core.memory import Memory
from shop import index, quoting
from sqlalchemy.ext.asyncio import AsyncEngine, create_async_engine

from llama_index_condense_plus import CondensePlusChatEngine, CondensePlusSettings
from llama_index_condense_plus.memory.summary import summary_block

QUESTIONS = (
    "How much does the Kestrel drone cost?",
    "Can a drone be returned within 30 days?",
    "How long is the warranty of the Heron drone?",
    "How much does the Heron drone cost?",
)
KEEP_SHORT = CondensePlusSettings(
    summary={"enabled": True, "after_messages": 4, "keep_messages": 2, "min_chars": 50}  # the defaults suit long talks
)


class ScriptedModel(CustomLLM):
    """Stands in for a language model; yours is a real one."""

    @property
    def metadata(self) -> LLMMetadata:
        """Describe the model."""
        return LLMMetadata(model_name="scripted")

    def complete(self, prompt: str, formatted: bool = False, **kwargs: Any) -> CompletionResponse:
        """Summarise, or rewrite with the first name in the summary."""
        if "<summary>" in prompt:
            return CompletionResponse(text="The customer asked about prices, returns and warranties of drones.")
        names = re.search(r"Mentioned, in this order: ([^,\n]+)", prompt)
        return CompletionResponse(text=f"How long is the warranty of the {names[1] if names else 'first'} drone?")

    def stream_complete(self, prompt: str, formatted: bool = False, **kwargs: Any) -> CompletionResponseGen:
        """Return the whole in one piece."""
        yield self.complete(prompt)


def chat_over(database: AsyncEngine) -> tuple[CondensePlusChatEngine, Memory]:
    """Return an engine over a conversation that is in the database already, or will be."""
    memory = Memory.from_defaults(session_id="customer-7", async_engine=database)
    query_engine = quoting(index().as_retriever(similarity_top_k=1))
    engine = CondensePlusChatEngine.from_defaults(query_engine, memory=memory, llm=ScriptedModel(), settings=KEEP_SHORT)
    return engine, memory


async def summarised(memory: Memory) -> int:
    """Wait for the summary, which is made beside the turns; return how many messages are in it."""
    block = summary_block(memory)
    for _ in range(600):
        if n_messages := (await block.astate("customer-7")).n_messages:
            return n_messages
        await asyncio.sleep(0.1)
    raise TimeoutError


async def first_day(database: AsyncEngine) -> None:
    """Talk until the beginning is summarised."""
    engine, memory = chat_over(database)
    for question in QUESTIONS:
        print(f"{question}\n  {await engine.achat(question)}")
    print(f"in the summary: {await summarised(memory)} messages")


async def next_day(database: AsyncEngine) -> None:
    """Ask about the beginning."""
    engine, memory = chat_over(database)
    response = await engine.achat("How long is the warranty of the first one?")
    trace = engine.trace_of(response)
    print(f"after a new start\n  the summary: {' '.join(trace.window.summary.split())}")
    print(f"  searched: {trace.search_query}\n  {response}")
    print(f"  in the database: {len(await memory.aget_all())} messages")


async def main() -> None:
    """Run the example."""
    with tempfile.TemporaryDirectory() as folder:
        for day in (first_day, next_day):
            database = create_async_engine(f"sqlite+aiosqlite:///{folder}/chat.db")
            await day(database)
            await database.dispose()


if __name__ == "__main__":
    asyncio.run(main())
