"""A function agent calls the engine as a tool; the tool streams what was searched, then the answer piece by piece.

python examples/agent_workflow.py
"""

import asyncio
from collections.abc import Sequence

from llama_index.core.agent.workflow import AgentWorkflow, FunctionAgent
from llama_index.core.base.llms.types import ChatMessage, ToolCallBlock
from llama_index.core.llms.mock import MockFunctionCallingLLM
from llama_index.core.workflow import Context, Event
from shop import BY_RULES, index, quoting

from llama_index_condense_plus import CondensePlusChatEngine


class Searched(Event):
    """What the engine searched, and why."""

    query: str
    reason: str
    trust: str


class Piece(Event):
    """A piece of the engine's answer."""

    text: str


def agent(engine: CondensePlusChatEngine) -> AgentWorkflow:
    """Return an agent with the engine as its tool; yours has a model of your own."""

    async def drone_shop(ctx: Context, question: str) -> str:
        """Answers questions about drones. Pass the user's words unchanged: the tool knows the conversation."""
        response = await engine.astream_chat(question)
        trace = engine.trace_of(response)
        rewrite = trace.rewrite
        ctx.write_event_to_stream(
            Searched(query=trace.search_query, reason=trace.decision.reason.value, trust=rewrite.trust.value)
        )
        async for piece in response.async_response_gen():
            ctx.write_event_to_stream(Piece(text=piece))
        return str(response)

    llm = MockFunctionCallingLLM(response_generator=scripted, is_chat_model=True)
    return AgentWorkflow(agents=[FunctionAgent(name="clerk", description="Sells drones.", tools=[drone_shop], llm=llm)])


def scripted(messages: Sequence[ChatMessage], **_: object) -> ChatMessage:
    """Do what a function-calling model does here: hand the question on, then repeat what the tool says."""
    last = messages[-1]
    if last.role == "tool":
        return ChatMessage(role="assistant", content=last.content)
    call = ToolCallBlock(tool_call_id="1", tool_name="drone_shop", tool_kwargs={"question": last.content})
    return ChatMessage(role="assistant", blocks=[call])


async def main() -> None:
    """Run the example."""
    engine = CondensePlusChatEngine.from_defaults(quoting(index().as_retriever(similarity_top_k=1)), settings=BY_RULES)
    clerk = agent(engine)
    for question in ("How much does the Heron drone cost?", "And its warranty?"):
        print(question)
        running = clerk.run(question)
        async for event in running.stream_events():
            if isinstance(event, Searched):
                print(f"  searched: {event.query} ({event.reason}, {event.trust})\n  ", end="")
            if isinstance(event, Piece):
                print(event.text, end="", flush=True)
        print("\n  agent:   ", await running)


if __name__ == "__main__":
    asyncio.run(main())
