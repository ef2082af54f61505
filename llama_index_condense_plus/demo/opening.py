"""An index for as long as it is needed: built with a progress bar in a temporary folder, then removed."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from llama_index.core import VectorStoreIndex
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn

from llama_index_condense_plus.demo.embedding import load_embedding
from llama_index_condense_plus.demo.knowledge import OnProgress, build_index, demo_passages, folder_passages


@contextmanager
def open_index(docs: Path | None, embed_model: str | None, console: Console) -> Iterator[VectorStoreIndex]:
    """Index a folder, or the demo's own passages.

    Args:
        docs: the folder; None: the demo's passages.
        embed_model: name of the embedding, see ``load_embedding``.
        console: where the progress bar goes.

    Raises:
        ConfigurationError: the folder cannot be read, or a package is missing.
    """
    store = Path(tempfile.mkdtemp(prefix="condense-plus-"))
    try:
        embedding = load_embedding(embed_model)
        columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn())
        with Progress(*columns, console=console, transient=True) as bars:
            nodes = folder_passages(docs, _bar(bars, "reading files")) if docs else demo_passages()
            index = build_index(nodes, embedding, store, _bar(bars, "indexing passages"))
        try:
            yield index
        finally:
            index.vector_store.client.close()
    finally:
        shutil.rmtree(store, ignore_errors=True)


def _bar(bars: Progress, label: str) -> OnProgress:
    task = bars.add_task(label, total=None)
    return lambda done, total: bars.update(task, completed=done, total=total)
