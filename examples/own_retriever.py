"""A retriever and a reranker of your own: the retriever gets each query, the reranker the merged nodes, once."""

import re

from llama_index.core.base.base_retriever import BaseRetriever
from llama_index.core.postprocessor.types import BaseNodePostprocessor
from llama_index.core.schema import NodeWithScore, QueryBundle
from shop import BY_RULES, nodes, quoting

from llama_index_condense_plus import CondensePlusChatEngine


def words(text: str) -> set[str]:
    """Return the words of a text."""
    return set(re.findall(r"\w+", text.lower()))


class KeywordRetriever(BaseRetriever):
    """Ranks passages by the words they share with the query."""

    def _retrieve(self, query_bundle: QueryBundle) -> list[NodeWithScore]:
        wanted = words(query_bundle.query_str)
        scored = [NodeWithScore(node=node, score=float(len(wanted & words(node.text)))) for node in nodes()]
        return sorted(scored, key=lambda found: -found.score)[:4]


class ShortestFirst(BaseNodePostprocessor):
    """Prefers short passages; yours might be a cross-encoder."""

    def _postprocess_nodes(
        self, nodes: list[NodeWithScore], query_bundle: QueryBundle | None = None
    ) -> list[NodeWithScore]:
        print(f"  reranking {len(nodes)} passages for {query_bundle.query_str!r}")
        return sorted(nodes, key=lambda found: (-found.score, len(found.text)))


def main() -> None:
    """Run the example."""
    query_engine = quoting(KeywordRetriever(), node_postprocessors=[ShortestFirst()])
    engine = CondensePlusChatEngine.from_defaults(query_engine, settings=BY_RULES)
    print(engine.chat("What does the Heron drone cost?"))
    print(engine.chat("And the warranty of it?"))


if __name__ == "__main__":
    main()
