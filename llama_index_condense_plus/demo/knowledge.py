"""What the demo searches: its own passages, or a folder of the user's files, in an embedded Qdrant."""

from __future__ import annotations

import importlib
import json
import logging
import sys
import tempfile
import uuid
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from importlib.resources import files
from itertools import groupby
from pathlib import Path
from typing import Any

from llama_index.core import SimpleDirectoryReader, StorageContext, VectorStoreIndex
from llama_index.core.base.embeddings.base import BaseEmbedding
from llama_index.core.node_parser import SentenceSplitter
from llama_index.core.schema import BaseNode, TextNode
from rich.console import Console
from rich.progress import track

from llama_index_condense_plus.demo.embedding import load_embedding
from llama_index_condense_plus.errors import ConfigurationError

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

logger: logging.Logger = logging.getLogger(__name__)

TEXT_SUFFIXES = {".txt", ".md", ".markdown", ".rst"}
"""Files that are read as they are; all others go through LlamaIndex's readers, or are skipped without them."""
CHUNK_TOKENS = 256
"""Size of a passage of the user's files in tokens, half of what E5 reads."""
COLLECTION = "condense_plus_demo"
_DATA = files(__package__) / "data"
SILENT: Console = Console(quiet=True)


Turn = Mapping[str, str]
"""One scripted question: ``conversation`` (language and topic, ``en: huts``), ``question``, ``gold`` (the passage that
answers; empty: nothing is to be searched) and ``kind`` (``first``, ``thanks``, or what makes it a follow-up)."""


def demo_passages() -> list[BaseNode]:
    """Return the demo's own passages as nodes; ``metadata["source"]`` is a passage's name."""
    return [_node(row["text"], row["id"]) for row in _rows("passages.jsonl")]


def demo_conversations() -> list[list[Turn]]:
    """Return the scripted conversations."""
    return [list(group) for _, group in groupby(_rows("conversations.jsonl"), key=lambda turn: turn["conversation"])]


def demo_words() -> Mapping[str, Mapping[str, Any]]:
    """Return what the demo says, by language."""
    return tomllib.loads((_DATA / "words.toml").read_text(encoding="utf-8"))


def folder_passages(folder: Path, console: Console = SILENT) -> list[BaseNode]:
    """Read the files of a folder and cut them into passages.

    Args:
        folder: searched with its sub-folders, hidden files left out.
        console: where the progress bar goes.

    Raises:
        ConfigurationError: the folder does not exist or holds no readable text.
    """
    if not folder.is_dir():
        raise ConfigurationError(f"{folder} is not a folder.")
    names = sorted(path.relative_to(folder) for path in folder.rglob("*") if path.is_file())
    shown = [name for name in names if not any(part.startswith(".") for part in name.parts)]
    splitter = SentenceSplitter(chunk_size=CHUNK_TOKENS, chunk_overlap=CHUNK_TOKENS // 8)
    nodes: list[BaseNode] = []
    for name in track(shown, "reading files", console=console, transient=True):
        for text in _texts(folder / name):
            chunks = (chunk for chunk in splitter.split_text(text) if chunk.strip())
            nodes.extend(_node(chunk, f"{name.as_posix()}#{n}") for n, chunk in enumerate(chunks, 1))
    if not nodes:
        raise ConfigurationError(f"No readable text in {folder}.")
    return nodes


@contextmanager
def open_index(
    docs: Path | None, embed_model: str | None, console: Console, store: Path | None = None
) -> Iterator[VectorStoreIndex]:
    """Index a folder, or the demo's own passages, in a Qdrant that runs in this process.

    Args:
        docs: the folder; None: the demo's passages.
        embed_model: name of the embedding, see ``load_embedding``.
        console: where the progress bar goes.
        store: where the index is kept between runs, for a folder; None: in a temporary folder that is removed.

    Raises:
        ConfigurationError: the folder cannot be read, or a package is missing.
    """
    with tempfile.TemporaryDirectory(prefix="condense-plus-", ignore_cleanup_errors=True) as temporary:
        nodes = folder_passages(docs, console) if docs else demo_passages()
        with console.status("loading the embedding model"):
            embedding = load_embedding(embed_model)
        index = build_index(nodes, embedding, store or Path(temporary), console)
        try:
            yield index
        finally:
            index.vector_store.client.close()


def build_index(
    nodes: Sequence[BaseNode], embedding: BaseEmbedding, store: Path, console: Console = SILENT
) -> VectorStoreIndex:
    """Embed passages into a Qdrant that keeps its data in a folder; what is there already is not embedded again.

    Args:
        nodes: the passages.
        embedding: turns them into vectors.
        store: the folder.
        console: where the progress bar goes.

    Raises:
        ConfigurationError: the Qdrant packages are not installed.
    """
    try:
        from llama_index.vector_stores.qdrant import QdrantVectorStore  # noqa: PLC0415, an extra
        from qdrant_client import QdrantClient  # noqa: PLC0415
    except ImportError:
        raise ConfigurationError("Qdrant is missing: pip install 'llama-index-condense-plus[demo]'.") from None
    client = QdrantClient(path=str(store))
    vectors = QdrantVectorStore(COLLECTION, client=client, index_doc_id=False)
    context = StorageContext.from_defaults(vector_store=vectors)
    index = VectorStoreIndex(nodes=[], storage_context=context, embed_model=embedding)
    new, size = _without_known(nodes, client), embedding.embed_batch_size
    batches = [new[start : start + size] for start in range(0, len(new), size)]
    for batch in track(batches, "indexing passages", console=console, transient=True, disable=not batches):
        index.insert_nodes(batch)
    return index


def _without_known(nodes: Sequence[BaseNode], client: Any) -> list[BaseNode]:
    """Return the nodes that the store lacks, and remove from it what the files hold no more."""
    if not client.collection_exists(COLLECTION):
        return list(nodes)
    kept = {str(point.id) for point in client.scroll(COLLECTION, limit=10**9, with_payload=False)[0]}
    gone = kept - {node.node_id for node in nodes}
    if gone:
        client.delete(COLLECTION, points_selector=sorted(gone))
    return [node for node in nodes if node.node_id not in kept]


def source_of(node: BaseNode) -> str:
    """Return the name of the passage that a node holds."""
    return str(node.metadata.get("source", node.node_id))


def _rows(name: str) -> Iterator[dict[str, Any]]:
    return map(json.loads, (_DATA / name).read_text(encoding="utf-8").splitlines())


def _node(text: str, source: str) -> TextNode:
    return TextNode(
        id_=str(uuid.uuid5(uuid.NAMESPACE_URL, f"{source}\n{text}")),  # Qdrant takes UUIDs only
        text=text,
        metadata={"source": source},
        excluded_embed_metadata_keys=["source"],
        excluded_llm_metadata_keys=["source"],
    )


def _texts(path: Path) -> list[str]:
    if path.suffix.lower() in TEXT_SUFFIXES:
        data = path.read_bytes()
        try:
            return [data.decode("utf-8-sig")]
        except UnicodeDecodeError:  # the other encoding that Chinese text files come in
            return [data.decode("gb18030", errors="replace")]
    try:
        importlib.import_module("llama_index.readers.file")  # without it the reader would take any bytes for text
    except ImportError:
        logger.warning("Skipped %s, which is not plain text: pip install llama-index-readers-file", path.name)
        return []
    return [document.text for document in SimpleDirectoryReader(input_files=[path]).load_data()]
