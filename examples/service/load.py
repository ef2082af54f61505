"""Fills Qdrant with the demo's passages: three shards, each on two nodes of the cluster.

Waits until QDRANT_NODES nodes have found one another: shards that are made earlier all lie on the first. May be run
again after it was cut short: passages keep their ids.
"""

from __future__ import annotations

import os
import time

from config import ServiceConfig
from llama_index.core import StorageContext, VectorStoreIndex
from llama_index.core.embeddings import BaseEmbedding
from llama_index.vector_stores.qdrant import QdrantVectorStore
from qdrant_client import QdrantClient
from qdrant_client.models import Distance, VectorParams

from llama_index_condense_plus.demo.embedding import load_embedding
from llama_index_condense_plus.demo.knowledge import demo_passages

SHARDS, REPLICAS = 3, 2
PATIENCE_S = 120.0
"""How long the nodes may take to find one another."""


def wait_for_cluster(client: QdrantClient, n_nodes: int) -> None:
    """Return once the cluster has so many nodes.

    Raises:
        TimeoutError: it took too long.
    """
    deadline = time.monotonic() + PATIENCE_S
    while time.monotonic() < deadline:
        try:
            if len(getattr(client.cluster_status(), "peers", ())) >= n_nodes:
                return
        except Exception as error:  # noqa: BLE001 - the first node is still starting
            print(f"waiting for Qdrant: {type(error).__name__}")
        time.sleep(1)
    raise TimeoutError(f"Qdrant's cluster has not grown to {n_nodes} nodes in {PATIENCE_S:g} s.")


def fill(client: QdrantClient, name: str, embedding: BaseEmbedding) -> int:
    """Make the collection, and embed and store the passages, as far as that is not done; return how many there are."""
    passages = demo_passages()
    if not client.collection_exists(name):
        client.create_collection(
            name,
            vectors_config=VectorParams(size=len(embedding.get_query_embedding("size")), distance=Distance.COSINE),
            shard_number=SHARDS,
            replication_factor=REPLICAS,
            write_consistency_factor=REPLICAS,
        )
    if client.count(name).count < len(passages):
        context = StorageContext.from_defaults(vector_store=QdrantVectorStore(name, client=client))
        VectorStoreIndex(passages, storage_context=context, embed_model=embedding)
    return client.count(name).count


def main() -> None:
    """Load what the environment names."""
    config = ServiceConfig()
    client = QdrantClient(url=config.qdrant_url, timeout=60)
    if n_nodes := int(os.environ.get("QDRANT_NODES", "0")):
        wait_for_cluster(client, n_nodes)
    print(f"{fill(client, config.qdrant_collection, load_embedding(config.embedding))} passages")


if __name__ == "__main__":
    main()
