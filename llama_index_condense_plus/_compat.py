"""The only file that touches LlamaIndex's private attributes."""

from __future__ import annotations

import copy
import warnings
from collections.abc import Callable, Sequence
from importlib.metadata import version
from typing import Any, Protocol, cast

from llama_index.core.base.base_query_engine import BaseQueryEngine
from llama_index.core.base.base_retriever import BaseRetriever
from llama_index.core.base.embeddings.base import BaseEmbedding
from llama_index.core.indices.vector_store import VectorIndexRetriever
from llama_index.core.llms.custom import CustomLLM
from llama_index.core.llms.llm import LLM
from llama_index.core.llms.structured_llm import StructuredLLM
from llama_index.core.memory import BaseMemory
from llama_index.core.postprocessor.types import BaseNodePostprocessor
from llama_index.core.prompts.base import BasePromptTemplate
from llama_index.core.query_engine import CitationQueryEngine, RetrieverQueryEngine, TransformQueryEngine
from llama_index.core.response_synthesizers import Accumulate, BaseSynthesizer
from llama_index.core.settings import Settings
from llama_index.core.storage.chat_store.sql import SQLAlchemyChatStore
from llama_index.core.vector_stores.types import BasePydanticVectorStore, MetadataFilters
from sqlalchemy.ext.asyncio import AsyncEngine

from llama_index_condense_plus.errors import ConfigurationError

TESTED_VERSIONS = "0.14.5 to 0.14.25"
"""llama-index-core versions that the test suite ran with."""

_ENGINES_WITH_PARTS = (RetrieverQueryEngine, CitationQueryEngine)
_PARTS = ("_retriever", "_response_synthesizer", "_node_postprocessors")
_warned: set[str] = set()


class Synthesis(Protocol):
    """The two methods of a response synthesizer that a query engine calls."""

    def synthesize(self, query: Any, nodes: Any, **kwargs: Any) -> Any:
        """Answer from nodes."""
        ...

    async def asynthesize(self, query: Any, nodes: Any, **kwargs: Any) -> Any:
        """Answer from nodes."""
        ...


def warn_once(key: str, message: str) -> None:
    """Warn about something once in a process."""
    if key not in _warned:
        _warned.add(key)
        warnings.warn(message, RuntimeWarning, stacklevel=3)


def has_retriever(query_engine: BaseQueryEngine) -> bool:
    """Return True if the engine retrieves, postprocesses and synthesizes with parts that a turn can replace."""
    inner = innermost(query_engine)
    found = [hasattr(inner, part) for part in _PARTS]
    if not all(found) and isinstance(inner, _ENGINES_WITH_PARTS):
        warn_once(
            "parts",
            f"{type(inner).__name__} of llama-index-core {version('llama-index-core')} lacks "
            f"{', '.join(p for p, there in zip(_PARTS, found, strict=True) if not there)}; llama-index-condense-plus "
            f"was tested with llama-index-core {TESTED_VERSIONS}. One query is searched in place of the plan.",
        )
    return all(found)


def innermost(query_engine: BaseQueryEngine) -> BaseQueryEngine:
    """Return the engine below query transforms such as HyDE."""
    while isinstance(query_engine, TransformQueryEngine) and hasattr(query_engine, "_query_engine"):
        query_engine = query_engine._query_engine
    return query_engine


def retriever_of(query_engine: BaseQueryEngine) -> BaseRetriever:
    """Return the retriever of an engine that has one."""
    return cast("Any", innermost(query_engine))._retriever  # type: ignore[no-any-return]


def synthesizer_of(query_engine: BaseQueryEngine) -> BaseSynthesizer:
    """Return the response synthesizer of an engine that has a retriever."""
    return cast("Any", innermost(query_engine))._response_synthesizer  # type: ignore[no-any-return]


def postprocessors_of(query_engine: BaseQueryEngine) -> Sequence[BaseNodePostprocessor]:
    """Return the node postprocessors of an engine that has a retriever."""
    return cast("Any", innermost(query_engine))._node_postprocessors or ()


def for_turn(
    query_engine: BaseQueryEngine, retriever: BaseRetriever, synthesis: Synthesis, postprocessors: Sequence[Any]
) -> BaseQueryEngine:
    """Return a shallow copy of an engine, for one turn, with its retriever, synthesizer and postprocessors replaced.

    A copy, not a new engine: overridden methods, callbacks and query transforms go on working, and nothing that the
    engine's other users share is touched.
    """
    clone = copy.copy(query_engine)
    if isinstance(clone, TransformQueryEngine):
        clone._query_engine = for_turn(clone._query_engine, retriever, synthesis, postprocessors)
        return clone
    parts = cast("Any", clone)
    parts._retriever = retriever
    parts._response_synthesizer = synthesis
    parts._node_postprocessors = list(postprocessors)
    return clone


def synthesizer_for_turn(synthesizer: BaseSynthesizer, *, streaming: bool) -> BaseSynthesizer:
    """Return a shallow copy of a synthesizer with its own streaming flag.

    Off for one that cannot stream: core streams nothing, or objects in place of text, for structured output.
    """
    clone = copy.copy(synthesizer)
    structured = getattr(synthesizer, "_output_cls", None) is not None or isinstance(synthesizer._llm, StructuredLLM)
    clone._streaming = streaming and not structured and not isinstance(synthesizer, Accumulate)
    return clone


def wrap_prompts(synthesizer: BaseSynthesizer, wrap: Callable[[BasePromptTemplate], BasePromptTemplate]) -> None:
    """Replace a synthesizer's own prompts; those of shared sub-modules stay, and nothing is deep-copied."""
    synthesizer._update_prompts({name: wrap(prompt) for name, prompt in synthesizer._get_prompts().items()})


def empty_response_of(synthesizer: BaseSynthesizer) -> str:
    """Return the fixed text of a synthesizer that is given no nodes."""
    return getattr(synthesizer, "_empty_response", "Empty Response")


def llm_of(query_engine: BaseQueryEngine) -> LLM | None:
    """Return the model that a query engine answers with, if it can be seen."""
    inner = cast("Any", innermost(query_engine))
    found = getattr(getattr(inner, "_response_synthesizer", None), "_llm", None) or getattr(inner, "_llm", None)
    return found if isinstance(found, LLM) else None


def configured_llm() -> LLM | None:
    """Return ``Settings.llm`` if the user has set one, without making the default one."""
    return getattr(Settings, "_llm", None)


def blocks_event_loop(llm: LLM) -> bool:
    """Return True if the model's ``achat`` is its blocking ``chat``."""
    return isinstance(llm, CustomLLM) and type(llm).achat is CustomLLM.achat


def with_filters(retriever: BaseRetriever, filters: MetadataFilters) -> BaseRetriever:
    """Return a copy of a retriever that also obeys metadata filters.

    Raises:
        ConfigurationError: the retriever takes no filters.
    """
    if not hasattr(retriever, "_filters"):
        raise ConfigurationError(
            f"filters: {type(retriever).__name__} takes no metadata filters. Give a retriever of your own with "
            "retriever=… in place of filters=…."
        )
    clone = cast("Any", copy.copy(retriever))
    own = clone._filters
    clone._filters = MetadataFilters(filters=[own, filters]) if own else filters
    return cast("BaseRetriever", clone)


def embed_model_of(retriever: BaseRetriever) -> BaseEmbedding | None:
    """Return the model that a vector retriever embeds its query with; None if it does not embed."""
    if not isinstance(retriever, VectorIndexRetriever):
        return None
    asked = getattr(retriever, "_needs_embedding", None)  # llama-index-core before 0.14.8 embeds for every mode
    embeds = asked() if asked is not None else retriever._vector_store.is_embedding_query
    return retriever._embed_model if embeds else None


def embeds_queries_as_texts(model: BaseEmbedding) -> bool:
    """Return True if a model is known to embed queries and passages alike, as OpenAI's do."""
    query_engine = getattr(model, "_query_engine", None)
    return query_engine is not None and query_engine == getattr(model, "_text_engine", None)


def retrieves_asynchronously(retriever: BaseRetriever) -> bool:
    """Return False if the retriever's asynchronous side is its blocking one, or its vector store has none."""
    if type(retriever)._aretrieve is BaseRetriever._aretrieve or lacks_async_client(retriever):
        return False
    if not isinstance(retriever, VectorIndexRetriever):
        return True
    return type(retriever._vector_store).aquery is not BasePydanticVectorStore.aquery


def lacks_async_client(retriever: BaseRetriever) -> bool:
    """Return True if the retriever's vector store has no client for asynchronous queries and refuses them."""
    if not isinstance(retriever, VectorIndexRetriever):
        return False
    store = retriever._vector_store
    return getattr(store, "_aclient", store) is None


def memory_for_key(memory: BaseMemory, key: str) -> BaseMemory:
    """Return a memory like another one, over the same store, for another conversation.

    Raises:
        ConfigurationError: this kind of memory has no key.
    """
    for name in ("session_id", "chat_store_key"):
        if hasattr(memory, name):
            return memory.model_copy(update={name: key})
    raise ConfigurationError(
        f"for_conversation: {type(memory).__name__} has no chat store key; give the other conversation's memory itself."
    )


def chat_store_of(memory: BaseMemory) -> Any:
    """Return the store behind a memory, if it has one."""
    return getattr(memory, "sql_store", None) or getattr(memory, "chat_store", None)


def key_of(memory: BaseMemory) -> str:
    """Return the key of a memory's conversation in its store; empty if it has none."""
    return str(getattr(memory, "session_id", None) or getattr(memory, "chat_store_key", None) or "")


def is_durable(chat_store: Any) -> bool:
    """Return True if a chat store is a SQL database that outlives the process."""
    if not isinstance(chat_store, SQLAlchemyChatStore):
        return False
    engine = chat_store._async_engine
    return not chat_store._is_in_memory_uri(str(engine.url) if engine is not None else chat_store.async_database_uri)


async def engine_of(chat_store: SQLAlchemyChatStore) -> AsyncEngine:
    """Return the database engine of a SQL chat store, connected on first use."""
    engine, _ = await chat_store._setup_connections()
    return engine
