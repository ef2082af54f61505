"""Multi-turn RAG in LlamaIndex that finds the right passage.

Importing the package loads nothing but this file: a module is loaded when a name of it is first used (PEP 562).
"""

from importlib import import_module as _import_module

from llama_index_condense_plus._version import __version__

TYPE_CHECKING = False  # type checkers know the name; typing itself would take longer to import than all of this
if TYPE_CHECKING:
    from llama_index_condense_plus.chat_engine import CondensePlusChatEngine
    from llama_index_condense_plus.cleanup import clean_query
    from llama_index_condense_plus.errors import (
        AnswerTimeoutError,
        CondensePlusError,
        ConfigurationError,
        ConversationBusyError,
        InvalidMessageError,
        MessageTooLongError,
        RetrievalFailedError,
    )
    from llama_index_condense_plus.gate.trigger import decide_rewrite
    from llama_index_condense_plus.languages import LanguagePack, register_pack
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
    from llama_index_condense_plus.operations import Flow, Predict, Prediction, RuleOutcome
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
    from llama_index_condense_plus.trust.verdict import review_rewrite
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
        Trust,
        WindowMessage,
    )

_HOMES = {
    "chat_engine": "CondensePlusChatEngine",
    "cleanup": "clean_query",
    "errors": "AnswerTimeoutError CondensePlusError ConfigurationError ConversationBusyError InvalidMessageError "
    "MessageTooLongError RetrievalFailedError",
    "gate.trigger": "decide_rewrite",
    "languages": "LanguagePack register_pack",
    "observability.events": "CondensePlusEvent FusionEvent QueryPlanEvent RewriteEvent TriggerDecisionEvent TurnEvent "
    "TurnProgressEvent",
    "observability.trace": "CondenseTrace",
    "operations": "Flow Predict Prediction RuleOutcome",
    "protocols": "EntityExtractor FusionFunction Guard QueryPlanner RewriteCache Rewriter Trigger",
    "retrieval.fusion": "FUSION_METHODS",
    "retrieval.retriever": "PlanRetriever",
    "settings": "CondensePlusSettings",
    "trust.verdict": "review_rewrite",
    "types": "Cue Edit Entity GuardVerdict HistoryWindow PlannedQuery QueryPlan QueryRole RankedList "
    "RewriteAttempt RewriteRequest RewriteResult RewriteStatus TriggerDecision TriggerReason Trust "
    "WindowMessage",
}
"""Module → the public names that it defines."""
_HOME = {name: module for module, names in _HOMES.items() for name in names.split()}


def __getattr__(name: str) -> object:
    if name not in _HOME:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value: object = getattr(_import_module(f"{__name__}.{_HOME[name]}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})


__all__ = [
    "FUSION_METHODS", "AnswerTimeoutError", "CondensePlusChatEngine", "CondensePlusError", "CondensePlusEvent",
    "CondensePlusSettings", "CondenseTrace", "ConfigurationError", "ConversationBusyError", "Cue", "Edit", "Entity",
    "EntityExtractor", "Flow", "FusionEvent", "FusionFunction", "Guard", "GuardVerdict", "HistoryWindow",
    "InvalidMessageError", "LanguagePack", "MessageTooLongError", "PlanRetriever", "PlannedQuery", "Predict",
    "Prediction", "QueryPlan", "QueryPlanEvent", "QueryPlanner", "QueryRole", "RankedList",
    "RetrievalFailedError", "RewriteAttempt", "RewriteCache", "RewriteEvent", "RewriteRequest", "RewriteResult",
    "RewriteStatus", "Rewriter", "RuleOutcome", "Trigger", "TriggerDecision", "TriggerDecisionEvent",
    "TriggerReason", "Trust", "TurnEvent", "TurnProgressEvent", "WindowMessage", "__version__", "clean_query",
    "decide_rewrite", "register_pack", "review_rewrite",
]  # fmt: skip
