"""The engine as a tool of an agent or a workflow."""

import asyncio

from llama_index.core.tools import ToolOutput
from llama_index.core.workflow import StartEvent, StopEvent, Workflow, step
from shop import BY_RULES, index, quoting

from llama_index_condense_plus import CondensePlusChatEngine


class Support(Workflow):
    """Answers from the documents; an agent would choose among several tools here."""

    def __init__(self, engine: CondensePlusChatEngine) -> None:
        super().__init__(timeout=30)
        self.tool = engine.as_tool("drone_shop", "Answers questions about drones, follow-ups included.")

    @step
    async def answer(self, event: StartEvent) -> StopEvent:
        """Ask the tool."""
        found: ToolOutput = await self.tool.acall(question=event.question)
        return StopEvent(result=found.content)


async def main() -> None:
    """Run the example."""
    engine = CondensePlusChatEngine.from_defaults(quoting(index().as_retriever(similarity_top_k=1)), settings=BY_RULES)
    support = Support(engine)
    print(await support.run(question="How much does the Heron drone cost?"))
    print(await support.run(question="And its warranty?"))


if __name__ == "__main__":
    asyncio.run(main())
