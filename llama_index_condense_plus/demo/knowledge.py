"""What the demo searches: its own passages, or a folder of the user's files, in an embedded Qdrant."""

from __future__ import annotations

import importlib
import json
import logging
import shutil
import sys
import tempfile
import uuid
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from importlib.resources import files
from itertools import groupby
from pathlib import Path
from typing import Any

from llama_index.core import SimpleDirectoryReader, StorageContext, VectorStoreIndex
from llama_index.core.base.embeddings.base import BaseEmbedding
from llama_index.core.node_parser import SentenceSplitter
from llama_index.core.schema import BaseNode, Document, TextNode
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn

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
MOST_PASSAGES = 1_000_000
Words = Mapping[str, Any]
"""What the demo says in one language; ``reasons`` is a table of its own."""
OnProgress = Callable[[int, int], None]
"""Called with how many items are done, and how many there are."""


@dataclass(frozen=True, slots=True)
class Turn:
    """One scripted question."""

    conversation: str
    """Language and topic, for example ``en: huts``."""
    question: str
    """The user's words."""
    gold: str
    """Name of the passage that answers."""
    kind: str
    """``first``, ``topic switch``, ``thanks``, or what makes it a follow-up."""

    @property
    def lang(self) -> str:
        """The language."""
        return self.conversation.partition(":")[0]

    @property
    def is_follow_up(self) -> bool:
        """True if the words alone do not say what is meant."""
        return self.kind not in {"first", "topic switch", "thanks"}


def demo_passages() -> list[BaseNode]:
    """Return the demo's own passages as nodes; ``metadata["source"]`` is a passage's name."""
    return [_node(row["text"], row["id"]) for row in _rows("passages.jsonl")]


def demo_conversations() -> list[list[Turn]]:
    """Return the scripted conversations."""
    turns = [Turn(**row) for row in _rows("conversations.jsonl")]
    return [list(group) for _, group in groupby(turns, key=lambda turn: turn.conversation)]


def demo_words() -> Mapping[str, Words]:
    """Return what the demo says, by language."""
    return tomllib.loads((files(__package__) / "data" / "words.toml").read_text(encoding="utf-8"))


def folder_passages(folder: Path, progress: OnProgress | None = None) -> list[BaseNode]:
    """Read the files of a folder and cut them into passages.

    Args:
        folder: searched with its sub-folders, hidden files left out.
        progress: told after each file.

    Raises:
        ConfigurationError: the folder does not exist or holds no readable text.
    """
    if not folder.is_dir():
        raise ConfigurationError(f"{folder} is not a folder.")
    paths = sorted(p for p in folder.rglob("*") if p.is_file() and not _is_hidden(p.relative_to(folder)))
    splitter = SentenceSplitter(chunk_size=CHUNK_TOKENS, chunk_overlap=CHUNK_TOKENS // 8)
    nodes: list[BaseNode] = []
    for done, path in enumerate(paths, 1):
        name = path.relative_to(folder).as_posix()
        for document in _read(path):
            chunks = (chunk for chunk in splitter.split_text(document.text) if chunk.strip())
            nodes.extend(_node(chunk, f"{name}#{n}") for n, chunk in enumerate(chunks, 1))
        if progress:
            progress(done, len(paths))
    if not nodes:
        raise ConfigurationError(f"--docs: no readable text in {folder}.")
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
    folder = store or Path(tempfile.mkdtemp(prefix="condense-plus-"))
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn())
    try:
        with console.status("loading the embedding model"):
            embedding = load_embedding(embed_model)
        with Progress(*columns, console=console, transient=True) as bars:
            nodes = folder_passages(docs, _bar(bars, "reading files")) if docs else demo_passages()
            index = build_index(nodes, embedding, folder, _bar(bars, "indexing passages"))
        try:
            yield index
        finally:
            index.vector_store.client.close()
    finally:
        if store is None:
            shutil.rmtree(folder, ignore_errors=True)


def build_index(
    nodes: Sequence[BaseNode], embedding: BaseEmbedding, store: Path, progress: OnProgress | None = None
) -> VectorStoreIndex:
    """Embed passages into a Qdrant that keeps its data in a folder; what is there already is not embedded again.

    Args:
        nodes: the passages.
        embedding: turns them into vectors.
        store: the folder.
        progress: told after each batch.

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
    new = _without_known(nodes, client)
    size = embedding.embed_batch_size
    for start in range(0, len(new), size):
        index.insert_nodes(list(new[start : start + size]))
        if progress:
            progress(min(start + size, len(new)), len(new))
    return index


def _without_known(nodes: Sequence[BaseNode], client: Any) -> list[BaseNode]:
    """Return the nodes that the store lacks, and remove from it what the files hold no more."""
    if not client.collection_exists(COLLECTION):
        return list(nodes)
    kept = {str(point.id) for point in client.scroll(COLLECTION, limit=MOST_PASSAGES, with_payload=False)[0]}
    gone = kept - {node.node_id for node in nodes}
    if gone:
        client.delete(COLLECTION, points_selector=sorted(gone))
    return [node for node in nodes if node.node_id not in kept]


def _bar(bars: Progress, label: str) -> OnProgress:
    task = bars.add_task(label, total=None)
    return lambda done, total: bars.update(task, completed=done, total=total)


def source_of(node: BaseNode) -> str:
    """Return the name of the passage that a node holds."""
    return str(node.metadata.get("source", node.node_id))


def _rows(name: str) -> Iterator[dict[str, Any]]:
    text = (files(__package__) / "data" / name).read_text(encoding="utf-8")
    return (json.loads(line) for line in text.splitlines())


def _node(text: str, source: str) -> TextNode:
    return TextNode(
        id_=str(uuid.uuid5(uuid.NAMESPACE_URL, f"{source}\n{text}")),  # Qdrant takes UUIDs only
        text=text,
        metadata={"source": source},
        excluded_embed_metadata_keys=["source"],
        excluded_llm_metadata_keys=["source"],
    )


def _read(path: Path) -> Iterable[Document]:
    if path.suffix.lower() in TEXT_SUFFIXES:
        return [Document(text=_decode(path.read_bytes()))]
    try:
        importlib.import_module("llama_index.readers.file")  # without it the reader would take any bytes for text
    except ImportError:
        logger.warning("Skipped %s, which is not plain text: pip install llama-index-readers-file", path.name)
        return []
    return SimpleDirectoryReader(input_files=[path]).load_data()


def _decode(data: bytes) -> str:
    """Decode UTF-8, or GB 18030, the other encoding that Chinese text files come in."""
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError:
        return data.decode("gb18030", errors="replace")


def _is_hidden(path: Path) -> bool:
    return any(part.startswith(".") for part in path.parts)
