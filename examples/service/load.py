"""Fills the Qdrant cluster with the demo's passages: three shards, each on two nodes."""

from __future__ import annotations

from config import ServiceConfig
from llama_index.core import StorageContext, VectorStoreIndex
from llama_index.vector_stores.qdrant import QdrantVectorStore
from qdrant_client import QdrantClient
from qdrant_client.models import Distance, VectorParams

from llama_index_condense_plus.demo.embedding import load_embedding
from llama_index_condense_plus.demo.knowledge import demo_passages

SHARDS, REPLICAS = 3, 2


def main(config: ServiceConfig, client: QdrantClient) -> None:
    """Make the collection and embed the passages, unless it is there."""
    name = config.qdrant_collection
    if client.collection_exists(name):
        return
    embedding = load_embedding(config.embedding)
    size = len(embedding.get_query_embedding("size"))
    client.create_collection(
        name,
        vectors_config=VectorParams(size=size, distance=Distance.COSINE),
        shard_number=SHARDS,
        replication_factor=REPLICAS,
        write_consistency_factor=REPLICAS,
    )
    context = StorageContext.from_defaults(vector_store=QdrantVectorStore(name, client=client))
    VectorStoreIndex(demo_passages(), storage_context=context, embed_model=embedding)


if __name__ == "__main__":
    configured = ServiceConfig()
    main(configured, QdrantClient(url=configured.qdrant_url))
