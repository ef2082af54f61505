"""What the snippets take for granted: an index, a query engine, a model and a retriever, with no key or download."""

from __future__ import annotations

from typing import Any

from llama_index.core import VectorStoreIndex
from llama_index.core.base.llms.types import ChatMessage
from llama_index.core.postprocessor import SimilarityPostprocessor
from llama_index.core.schema import TextNode

from llama_index_condense_plus.demo.embedding import load_embedding
from tests.docs.markdown import ROOT, blocks
from tests.fakes import ScriptedLLM

PASSAGES = (
    "The Kestrel drone costs 449 euros in the online shop.",
    "The warranty of the Kestrel drone is two years, batteries included.",
    "The Heron drone costs 899 euros in the online shop.",
    "The warranty of the Heron drone is three years, without the batteries.",
    "红隼无人机在网店的售价是 3499 元。",
    "红隼无人机的保修期为两年，电池也在内。",
)
REWRITES = {
    "And its warranty?": "What is the warranty of the Kestrel drone?",
    "And the warranty?": "What is the warranty of the Kestrel drone?",
    "那它的保修期呢？": "红隼无人机的保修期是多久？",
}
"""What the model makes of the follow-ups of the documentation."""


def rewritten(messages: list[ChatMessage]) -> str:
    """Return the rewrite of the follow-up that a rewrite prompt ends with."""
    prompt = str(messages[-1].content)
    found = {prompt.rfind(follow_up): rewrite for follow_up, rewrite in REWRITES.items()}
    return found[max(found)]


def answered(messages: list[ChatMessage]) -> str:
    """Return an answer in the language of the question."""
    question = str(messages[-1].content).rsplit("Query: ", maxsplit=1)[-1]
    return "红隼无人机的售价是 3499 元。" if "红隼" in question else "The Kestrel drone costs 449 euros."


def names() -> dict[str, Any]:
    """Return what a snippet finds defined."""
    llm = ScriptedLLM(rewrite=rewritten, answer=answered)
    nodes = [TextNode(text=text, id_=f"passage-{number}") for number, text in enumerate(PASSAGES)]
    index = VectorStoreIndex(nodes, embed_model=load_embedding("ngrams"))
    return {
        "index": index,
        "query_engine": index.as_query_engine(llm=llm),
        "retriever": index.as_retriever(),
        "reranker": SimilarityPostprocessor(similarity_cutoff=0.0),
        "llm": llm,
        "words_toml": blocks(ROOT / "docs" / "how-to" / "languages.md", "toml")[1].code,
        "__name__": "snippet",
    }
