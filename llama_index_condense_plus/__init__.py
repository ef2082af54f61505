"""Multi-turn RAG in LlamaIndex that finds the right passage."""

from llama_index_condense_plus._version import __version__
from llama_index_condense_plus.chat_engine import CondensePlusChatEngine
from llama_index_condense_plus.errors import (
    AnswerTimeoutError,
    CondensePlusError,
    ConfigurationError,
    ConversationBusyError,
    InvalidMessageError,
    MessageTooLongError,
    RetrievalFailedError,
)
from llama_index_condense_plus.functions import clean_query, decide_rewrite, review_rewrite
from llama_index_condense_plus.languages.base import Lexicon, register_lexicon
from llama_index_condense_plus.observability.events import (
    CondensePlusEvent,
    FusionEvent,
    QueryPlanEvent,
    RewriteEvent,
    TriggerDecisionEvent,
    TurnEvent,
    TurnProgressEvent,
)
from llama_index_condense_plus.observability.trace import CondenseTrace
from llama_index_condense_plus.operations import Flow, Predict, Prediction, Race, RuleOutcome
from llama_index_condense_plus.protocols import (
    EntityExtractor,
    FusionFunction,
    Guard,
    QueryPlanner,
    RewriteCache,
    Rewriter,
    Trigger,
)
from llama_index_condense_plus.retrieval.fusion import FUSION_METHODS
from llama_index_condense_plus.retrieval.retriever import PlanRetriever
from llama_index_condense_plus.settings import CondensePlusSettings
from llama_index_condense_plus.types import (
    Cue,
    Edit,
    Entity,
    GuardVerdict,
    HistoryWindow,
    PlannedQuery,
    QueryPlan,
    QueryRole,
    RankedList,
    RewriteAttempt,
    RewriteRequest,
    RewriteResult,
    RewriteStatus,
    TriggerDecision,
    TriggerReason,
    WindowMessage,
)

__all__ = [
    "FUSION_METHODS",
    "AnswerTimeoutError",
    "CondensePlusChatEngine",
    "CondensePlusError",
    "CondensePlusEvent",
    "CondensePlusSettings",
    "CondenseTrace",
    "ConfigurationError",
    "ConversationBusyError",
    "Cue",
    "Edit",
    "Entity",
    "EntityExtractor",
    "Flow",
    "FusionEvent",
    "FusionFunction",
    "Guard",
    "GuardVerdict",
    "HistoryWindow",
    "InvalidMessageError",
    "Lexicon",
    "MessageTooLongError",
    "PlanRetriever",
    "PlannedQuery",
    "Predict",
    "Prediction",
    "QueryPlan",
    "QueryPlanEvent",
    "QueryPlanner",
    "QueryRole",
    "Race",
    "RankedList",
    "RetrievalFailedError",
    "RewriteAttempt",
    "RewriteCache",
    "RewriteEvent",
    "RewriteRequest",
    "RewriteResult",
    "RewriteStatus",
    "Rewriter",
    "RuleOutcome",
    "Trigger",
    "TriggerDecision",
    "TriggerDecisionEvent",
    "TriggerReason",
    "TurnEvent",
    "TurnProgressEvent",
    "WindowMessage",
    "__version__",
    "clean_query",
    "decide_rewrite",
    "register_lexicon",
    "review_rewrite",
]
