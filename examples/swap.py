"""Before and after: the stock engine and this one on the same query engine, in all four modes."""

import asyncio

from llama_index.core.base.llms.types import ChatMessage
from llama_index.core.chat_engine import CondenseQuestionChatEngine
from llama_index.core.llms import MockLLM
from shop import BY_RULES, index, quoting

from llama_index_condense_plus import CondensePlusChatEngine

HISTORY = [
    ChatMessage(role="user", content="How much does the Heron drone cost?"),
    ChatMessage(role="assistant", content="The Heron drone costs 899 euros."),
]
FOLLOW_UP = "And its warranty?"


async def main() -> None:
    """Run the example."""
    query_engine = quoting(index().as_retriever(similarity_top_k=1))

    before = CondenseQuestionChatEngine.from_defaults(query_engine=query_engine, llm=MockLLM())
    after = CondensePlusChatEngine.from_defaults(query_engine=query_engine, settings=BY_RULES)  # the one line

    print("stock, with a mock model:", before.chat(FOLLOW_UP, HISTORY).sources[0].raw_input["query"][:40], "…")
    print("chat:        ", after.chat(FOLLOW_UP, HISTORY))
    print("achat:       ", await after.achat(FOLLOW_UP, HISTORY))
    print("stream_chat: ", "".join(after.stream_chat(FOLLOW_UP, HISTORY).response_gen))
    stream = await after.astream_chat(FOLLOW_UP, HISTORY)
    print("astream_chat:", "".join([token async for token in stream.async_response_gen()]))


if __name__ == "__main__":
    asyncio.run(main())
