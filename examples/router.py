"""A router query engine: it has no retriever of its own, so one rewritten query is routed, and the trace says so."""

from llama_index.core.base.base_selector import SingleSelection
from llama_index.core.llms import MockLLM
from llama_index.core.query_engine import RouterQueryEngine
from llama_index.core.response_synthesizers import TreeSummarize
from llama_index.core.selectors.pydantic_selectors import BaseSelector, SelectorResult
from llama_index.core.tools import QueryEngineTool
from shop import BY_RULES, index, quoting

from llama_index_condense_plus import CondensePlusChatEngine


class ByLanguage(BaseSelector):
    """Sends Chinese questions to the first tool and others to the second; yours might ask a model."""

    def _get_prompts(self):
        return {}

    def _update_prompts(self, prompts):
        """There are none."""

    def _select(self, choices, query):
        chinese = any("\u4e00" <= char <= "\u9fff" for char in query.query_str)
        return SelectorResult(selections=[SingleSelection(index=0 if chinese else 1, reason="language")])

    async def _aselect(self, choices, query):
        return self._select(choices, query)


def main() -> None:
    """Run the example."""
    retriever = index().as_retriever(similarity_top_k=1)
    tools = [
        QueryEngineTool.from_defaults(quoting(retriever), name="zh", description="中文资料"),
        QueryEngineTool.from_defaults(quoting(retriever), name="en", description="English documents"),
    ]
    router = RouterQueryEngine(ByLanguage(), tools, llm=MockLLM(), summarizer=TreeSummarize(llm=MockLLM()))
    engine = CondensePlusChatEngine.from_defaults(router, settings=BY_RULES)
    print(engine.chat("红隼无人机多少钱？"))
    print(engine.chat("那它的保修期呢？"))
    print(engine.last_trace.warnings or "one query was planned, one was routed")


if __name__ == "__main__":
    main()
