"""The components of a turn, built once from the settings and what the user brings."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from llama_index.core.llms.llm import LLM
from llama_index.core.prompts.base import BasePromptTemplate

from llama_index_condense_plus.protocols import (
    EntityExtractor,
    FusionFunction,
    Guard,
    QueryPlanner,
    RewriteCache,
    Rewriter,
    Trigger,
)
from llama_index_condense_plus.retrieval.plan import DefaultQueryPlanner
from llama_index_condense_plus.rewriting.breaker import CircuitBreaker
from llama_index_condense_plus.rewriting.cache import InProcessRewriteCache
from llama_index_condense_plus.rewriting.entities import DefaultEntityExtractor
from llama_index_condense_plus.rewriting.guards import build_guards
from llama_index_condense_plus.rewriting.review import Reviewer
from llama_index_condense_plus.rewriting.rewriters import build_rewriters
from llama_index_condense_plus.rewriting.trigger import build_trigger
from llama_index_condense_plus.settings import CondensePlusSettings


@dataclass(frozen=True)
class Components:
    """What a user may bring in place of the built-in parts; None: the built-in part."""

    trigger: Trigger | None = None
    """The gate."""
    entity_extractor: EntityExtractor | None = None
    """Finds names in the history."""
    rewriters: Mapping[str, Any] = field(default_factory=dict)
    """Rewriters or plain functions by name, for ``rewrite.chain``."""
    guards: Sequence[Guard] = ()
    """Guards beside the built-in ones."""
    planner: QueryPlanner | None = None
    """Decides what is searched."""
    fusion: FusionFunction | None = None
    """Merges the lists."""
    cache: RewriteCache | None = None
    """Keeps accepted rewrites."""
    condense_question_prompt: BasePromptTemplate | None = None
    """Prompt of the rewrite with ``{chat_history}`` and ``{question}``."""
    count_tokens: Callable[[str], int] | None = None
    """Counts the tokens of a text."""
    clock: Callable[[], float] = time.monotonic
    """Seconds, for deadlines and timings."""


@dataclass(frozen=True)
class Pipeline:
    """Everything a turn needs besides the conversation; shared by all conversations of an engine."""

    settings: CondensePlusSettings
    trigger: Trigger
    extractor: EntityExtractor
    rewriters: tuple[Rewriter, ...]
    reviewer: Reviewer
    planner: QueryPlanner
    fusion: FusionFunction | None
    cache: RewriteCache | None
    breaker: CircuitBreaker
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


def build_pipeline(
    settings: CondensePlusSettings, components: Components, condense_llm: Callable[[], LLM]
) -> Pipeline:
    """Build the parts of a turn.

    Args:
        settings: the options.
        components: what the user brings.
        condense_llm: returns the model that rewrites; called only when one is needed.

    Raises:
        ConfigurationError: an option names something that does not exist.
    """
    cache = components.cache
    if cache is None and settings.cache.enabled:
        cache = InProcessRewriteCache(settings.cache.max_entries, settings.cache.ttl_s)
    return Pipeline(
        settings=settings,
        trigger=components.trigger or build_trigger(settings),
        extractor=components.entity_extractor or DefaultEntityExtractor(),
        rewriters=build_rewriters(settings, prompt=components.condense_question_prompt, custom=components.rewriters),
        reviewer=Reviewer(settings, guards=(*build_guards(settings), *components.guards)),
        planner=components.planner or DefaultQueryPlanner(settings),
        fusion=components.fusion,
        cache=cache if settings.cache.enabled else None,
        breaker=CircuitBreaker(clock=components.clock),
        condense_llm=condense_llm,
        count_tokens=components.count_tokens,
        clock=components.clock,
    )
