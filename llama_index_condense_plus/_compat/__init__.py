"""The only folder that touches LlamaIndex's private attributes; here: query engines, retrievers and models."""

from __future__ import annotations

import copy
import hashlib
import json
import warnings
from collections.abc import Callable, Mapping, Sequence
from importlib.metadata import version
from typing import Any, cast

from llama_index.core.base.base_query_engine import BaseQueryEngine
from llama_index.core.base.base_retriever import BaseRetriever
from llama_index.core.base.embeddings.base import BaseEmbedding
from llama_index.core.base.llms.types import ChatMessage, MessageRole, TextBlock
from llama_index.core.indices.vector_store import VectorIndexRetriever
from llama_index.core.llms.custom import CustomLLM
from llama_index.core.llms.llm import LLM
from llama_index.core.llms.structured_llm import StructuredLLM
from llama_index.core.postprocessor.types import BaseNodePostprocessor
from llama_index.core.prompts.base import BasePromptTemplate
from llama_index.core.query_engine import CitationQueryEngine, RetrieverQueryEngine, TransformQueryEngine
from llama_index.core.response_synthesizers import Accumulate, BaseSynthesizer
from llama_index.core.settings import Settings
from llama_index.core.vector_stores import SimpleVectorStore
from llama_index.core.vector_stores.types import BasePydanticVectorStore, MetadataFilters, VectorStoreQueryMode

from llama_index_condense_plus.errors import ConfigurationError

TESTED_VERSIONS = "0.14.5 to 0.14.25"
"""llama-index-core versions that the test suite ran with."""

_ENGINES_WITH_PARTS = (RetrieverQueryEngine, CitationQueryEngine)
_PARTS = ("_retriever", "_response_synthesizer", "_node_postprocessors")
_warned: set[str] = set()


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
    query_engine: BaseQueryEngine, retriever: BaseRetriever, synthesis: Any, postprocessors: Sequence[Any]
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


def lacks_system_role(llm: object) -> bool:
    """Return True if a model says that it takes no system messages."""
    return isinstance(llm, LLM) and llm.metadata.system_role != MessageRole.SYSTEM


def messages_for(llm: object, messages: Sequence[ChatMessage]) -> list[ChatMessage]:
    """Return messages as a model takes them: without a system role, its words go to the user, and roles alternate."""
    if not isinstance(llm, LLM) or not lacks_system_role(llm):
        return list(messages)
    fitting: list[ChatMessage] = []
    for message in messages:
        is_system = message.role in {MessageRole.SYSTEM, MessageRole.DEVELOPER}
        role = llm.metadata.system_role if is_system else message.role
        if fitting and fitting[-1].role == role and role in {MessageRole.USER, MessageRole.ASSISTANT}:
            both = [block for one in (fitting.pop(), message) for block in one.blocks]
            is_text = all(isinstance(block, TextBlock) for block in both)
            words = "\n\n".join(block.text for block in both if isinstance(block, TextBlock))
            fitting.append(ChatMessage(role=role, content=words) if is_text else ChatMessage(role=role, blocks=both))
        elif fitting or role != MessageRole.ASSISTANT:
            fitting.append(message.model_copy(update={"role": role}))
    return fitting


def forget_events(retriever: BaseRetriever) -> None:
    """Empty what a retriever's own callback manager noted, if nobody listens.

    LlamaIndex empties it only where that manager began the trace, so a retriever with a manager of its own would grow
    with every search.
    """
    manager = getattr(retriever, "callback_manager", None)
    if manager is not None and not manager.handlers:
        manager._trace_map.clear()


def filters_of(retriever: BaseRetriever) -> MetadataFilters | None:
    """Return the metadata filters that a retriever has already."""
    return getattr(retriever, "_filters", None)


def with_filters(retriever: BaseRetriever, filters: MetadataFilters) -> BaseRetriever:
    """Return a copy of a retriever that obeys metadata filters, in place of its own.

    Raises:
        ConfigurationError: the retriever, or its store, cannot apply them.
    """
    store = getattr(retriever, "_vector_store", None)
    if not hasattr(retriever, "_filters"):
        raise ConfigurationError(
            f"filters: {type(retriever).__name__} takes no metadata filters. Use a retriever that does, such as "
            "index.as_retriever(), or pass one that searches only permitted documents: retriever=…."
        )
    if isinstance(store, SimpleVectorStore) and any(isinstance(part, MetadataFilters) for part in filters.filters):
        raise ConfigurationError(
            f"filters: {type(store).__name__} does not support nested filters. Use conditions combined with AND, one "
            "filter with FilterOperator.IN for alternatives, or another vector store."
        )
    clone = cast("Any", copy.copy(retriever))
    clone._filters = filters
    return cast("BaseRetriever", clone)


def identity_of(llm: LLM) -> str:
    """Return a hash of all that tells one model from another: class, name, server, account, prompts, options."""
    told = {name: plain(getattr(llm, name, None)) for name in type(llm).model_fields if name != "callback_manager"}
    words = json.dumps([f"{type(llm).__module__}.{type(llm).__qualname__}", llm.metadata.model_name, told])
    return hashlib.sha256(words.encode("utf-8", "surrogatepass")).hexdigest()


def plain(value: Any) -> Any:
    """Return what of a value is the same in every process."""
    if value is None or isinstance(value, (str, int, float, bool)):
        return value
    if isinstance(value, Mapping):
        return {str(key): plain(inner) for key, inner in sorted(value.items(), key=lambda item: str(item[0]))}
    if isinstance(value, (list, tuple)):
        return [plain(inner) for inner in value]
    if isinstance(value, BasePromptTemplate):
        return value.get_template()
    return type(value).__qualname__


def embed_model_of(retriever: BaseRetriever) -> BaseEmbedding | None:
    """Return the model that a vector retriever embeds its query with; None if it does not embed."""
    if not isinstance(retriever, VectorIndexRetriever):
        return None
    asked = getattr(retriever, "_needs_embedding", None)  # llama-index-core before 0.14.8 embeds for every mode
    embeds = asked() if asked is not None else retriever._vector_store.is_embedding_query
    return retriever._embed_model if embeds else None


def searches_by_vector_alone(retriever: BaseRetriever) -> bool:
    """Return True if all that a retriever searches by is its query's vector, not the words too as in hybrid search."""
    alone = (VectorStoreQueryMode.DEFAULT, VectorStoreQueryMode.MMR)
    return isinstance(retriever, VectorIndexRetriever) and retriever._vector_store_query_mode in alone


def embeds_queries_as_texts(model: BaseEmbedding) -> bool:
    """Return True if a model is known to embed queries and passages alike, as OpenAI's do."""
    query_engine = getattr(model, "_query_engine", None)
    return query_engine is not None and query_engine == getattr(model, "_text_engine", None)


def retrieves_asynchronously(retriever: BaseRetriever) -> bool:
    """Return False if the retriever's asynchronous side is its blocking one, or its store has none, or no client."""
    if type(retriever)._aretrieve is BaseRetriever._aretrieve:
        return False
    if not isinstance(retriever, VectorIndexRetriever):
        return True
    store = retriever._vector_store
    has_client = getattr(store, "_aclient", store) is not None
    return has_client and type(store).aquery is not BasePydanticVectorStore.aquery
