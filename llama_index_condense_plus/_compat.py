"""The only file that touches LlamaIndex's private attributes."""

from __future__ import annotations

import asyncio
import copy
import warnings
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from importlib.metadata import version
from typing import Any, Protocol, cast
from weakref import WeakValueDictionary

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
from llama_index.core.storage.chat_store import SimpleChatStore
from llama_index.core.storage.chat_store.sql import SQLAlchemyChatStore
from llama_index.core.vector_stores.types import BasePydanticVectorStore, MetadataFilters
from pydantic import PrivateAttr
from sqlalchemy import MetaData, make_url
from sqlalchemy.ext.asyncio import AsyncEngine, AsyncSession, create_async_engine
from sqlalchemy.orm import sessionmaker

from llama_index_condense_plus.errors import ConfigurationError, ConversationBusyError
from llama_index_condense_plus.protocols import TurnLock

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


def context_window_of(query_engine: BaseQueryEngine) -> int | None:
    """Return the tokens that the answering model reads, if it can be seen."""
    llm = llm_of(query_engine)
    return llm.metadata.context_window if llm is not None else None


def configured_llm() -> LLM | None:
    """Return ``Settings.llm`` if the user has set one, without making the default one."""
    return getattr(Settings, "_llm", None)


def blocks_event_loop(llm: LLM) -> bool:
    """Return True if the model's ``achat`` is its blocking ``chat``."""
    return isinstance(llm, CustomLLM) and type(llm).achat is CustomLLM.achat


def forget_events(retriever: BaseRetriever) -> None:
    """Empty what a retriever's own callback manager noted, if nobody listens.

    LlamaIndex empties it only where that manager began the trace, so a retriever with a manager of its own would grow
    with every search.
    """
    manager = getattr(retriever, "callback_manager", None)
    if manager is not None and not manager.handlers:
        manager._trace_map.clear()


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


def is_in_threads(memory: BaseMemory) -> bool:
    """Return True if the asynchronous side of one of LlamaIndex's own memories is the blocking one in threads."""
    if not type(memory).__module__.startswith("llama_index."):
        return False
    store = getattr(memory, "chat_store", None)
    return isinstance(store, SimpleChatStore) or type(memory).aget is BaseMemory.aget


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
    url = engine.url if engine is not None else make_url(chat_store.async_database_uri)
    return url.get_backend_name() != "sqlite" or url.database not in {None, "", ":memory:"}


async def engine_of(chat_store: SQLAlchemyChatStore) -> AsyncEngine:
    """Return the database engine of a SQL chat store, connected on first use."""
    engine, _ = await chat_store._setup_connections()
    return engine


STORE_WAIT_S = 120.0
"""How long an operation on a store in memory waits for those before it, in seconds."""
_shared_stores: WeakValueDictionary[int, SharedChatStore] = WeakValueDictionary()


class SharedChatStore(SQLAlchemyChatStore):
    """A SQL chat store that several conversations of a process use at once.

    Core's own makes its table anew for each of several first operations, and they fail. On the database in memory,
    all sessions share one connection: the end of one rolls back what another has not committed yet.
    """

    _lock: Any = PrivateAttr()
    _is_ready: bool = PrivateAttr(default=False)
    _original: Any = PrivateAttr()

    @classmethod
    def of(cls, store: SQLAlchemyChatStore, lock: TurnLock) -> SharedChatStore:
        """Return a store over the same database; what it holds stays there, and the original sees what is added."""
        in_memory = not is_durable(store)
        if in_memory and store._async_engine is None:
            store._async_engine = create_async_engine(store.async_database_uri)
            store._async_session_factory = sessionmaker(  # type: ignore[call-overload]
                bind=store._async_engine, expire_on_commit=False, class_=AsyncSession
            )
        shared = cls(  # type: ignore[call-arg]
            store.table_name,
            store.async_database_uri,
            store._async_engine,
            store._db_data,
            store.db_schema,
        )
        shared._async_session_factory = store._async_session_factory
        if store._table is not None:
            shared._metadata, shared._table, shared._is_ready = store._metadata, store._table, True
        shared._lock, shared._original = lock, store
        return shared

    async def _initialize(self) -> Any:
        """Return a factory of sessions, and the table."""
        if not self._is_ready:
            async with _in_turn(self._lock):
                if not self._is_ready:
                    try:
                        await super()._initialize()
                    except BaseException:  # the table may not be there: next time, make it again
                        self._table, self._metadata = None, MetaData()
                        raise
                    self._is_ready = True
        return (self._async_session_factory if is_durable(self) else self._one_at_a_time), self._table

    @asynccontextmanager
    async def _one_at_a_time(self) -> AsyncIterator[AsyncSession]:
        async with _in_turn(self._lock), cast("Any", self._async_session_factory)() as session:
            yield session


def share_chat_store(memory: Any, make_lock: Callable[[], TurnLock]) -> None:
    """Give a ``Memory`` over core's SQL chat store one that several conversations can use at once."""
    store = getattr(memory, "sql_store", None)
    if type(store) is SQLAlchemyChatStore:
        shared = _shared_stores.get(id(store))
        if shared is None:
            shared = _shared_stores[id(store)] = SharedChatStore.of(store, make_lock())
        memory.sql_store = shared


@asynccontextmanager
async def _in_turn(lock: TurnLock) -> AsyncIterator[None]:
    try:
        await asyncio.wait_for(lock.aacquire(), STORE_WAIT_S)
    except asyncio.TimeoutError:
        raise ConversationBusyError(
            f"The chat store has been busy for {STORE_WAIT_S:g} s. A blocking call on the event loop of an async turn "
            "keeps that turn from ending; await achat() or astream_chat() instead."
        ) from None
    try:
        yield
    finally:
        lock.release()
