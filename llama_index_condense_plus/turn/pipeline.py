"""The components of a turn, made once for all conversations of an engine."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from llama_index.core.llms.llm import LLM

from llama_index_condense_plus.protocols import EntityExtractor, QueryPlanner, RewriteCache, Rewriter, Trigger
from llama_index_condense_plus.rewriting.cache import CircuitBreaker, InProcessRewriteCache, SingleFlight
from llama_index_condense_plus.settings import CondensePlusSettings
from llama_index_condense_plus.trust.verdict import Reviewer


@dataclass(frozen=True)
class Pipeline:
    """Everything a turn needs besides the conversation; shared by all conversations of an engine."""

    settings: CondensePlusSettings
    trigger: Trigger
    extractor: EntityExtractor
    rewriters: tuple[Rewriter, ...]
    carry: Rewriter
    reviewer: Reviewer
    planner: QueryPlanner
    cache: RewriteCache | None
    flights: SingleFlight
    breaker: CircuitBreaker
    cache_breaker: CircuitBreaker
    condense_llm: Callable[[], LLM]
    count_tokens: Callable[[str], int] | None
    clock: Callable[[], float]

    @property
    def cache_is_local(self) -> bool:
        """True if the cache answers without I/O."""
        return isinstance(self.cache, InProcessRewriteCache)

    @property
    def is_stock(self) -> bool:
        """True if the engine is to behave, and sound, like the stock engine."""
        return any(rewriter.name == "stock" for rewriter in self.rewriters)
