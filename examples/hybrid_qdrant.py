"""Hybrid search in an embedded Qdrant: dense vectors and a sparse function that works offline.

pip install "llama-index-condense-plus[demo]"
"""

import re
import zlib
from collections import Counter

from llama_index.core import StorageContext, VectorStoreIndex
from llama_index.vector_stores.qdrant import QdrantVectorStore
from qdrant_client import QdrantClient
from shop import BY_RULES, nodes, quoting

from llama_index_condense_plus import CondensePlusChatEngine
from llama_index_condense_plus.demo.embedding import load_embedding


def sparse(texts: list[str]) -> tuple[list[list[int]], list[list[float]]]:
    """Return word counts as sparse vectors; in production use SPLADE or BM25 weights."""
    indices, values = [], []
    for text in texts:
        counts = Counter(zlib.crc32(word.encode()) for word in re.findall(r"[a-z0-9]+|[\u4e00-\u9fff]", text.lower()))
        indices.append(list(counts))
        values.append([float(count) for count in counts.values()])
    return indices, values


def main() -> None:
    """Run the example."""
    store = QdrantVectorStore(
        "shop", client=QdrantClient(":memory:"), enable_hybrid=True, sparse_doc_fn=sparse, sparse_query_fn=sparse
    )
    context = StorageContext.from_defaults(vector_store=store)
    index = VectorStoreIndex(nodes(), storage_context=context, embed_model=load_embedding())
    retriever = index.as_retriever(vector_store_query_mode="hybrid", similarity_top_k=2, sparse_top_k=4)
    engine = CondensePlusChatEngine.from_defaults(quoting(retriever), settings=BY_RULES)
    print(engine.chat("How much does the Kestrel drone cost?"))
    print(engine.chat("And its warranty?"))


if __name__ == "__main__":
    main()
