"""The frozen values of a turn, from the history window to the trace."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import Enum
from typing import Any

from llama_index.core.schema import NodeWithScore

CARRY = "rules"
"""Name in ``rewrite.chain`` of the rewriter that carries the topic over without a model."""
CHAT_HISTORY = "chat_history"
"""Key of ``RewriteRequest.extra`` under which the engine passes the raw chat messages."""
CONTEXT_WINDOW = "context_window"
"""Key of ``RewriteRequest.extra`` under which the engine passes what tells how many tokens its model takes."""


class TriggerReason(str, Enum):
    """Why a message is, or is not, rewritten."""

    NO_HISTORY = "no_history"
    BLANK = "blank"
    SMALL_TALK = "small_talk"
    SELF_CONTAINED = "self_contained"
    NEW_TOPIC = "new_topic"
    PRONOUN = "pronoun"
    ELLIPSIS = "ellipsis"
    SHORT = "short"
    SLOT_FILLING = "slot_filling"
    ORDINAL = "ordinal"
    COMPARISON = "comparison"
    OPENER = "opener"
    BACK_REFERENCE = "back_reference"
    CONTINUATION = "continuation"
    UNKNOWN_LANGUAGE = "unknown_language"
    LEARNED = "learned"
    DISABLED = "disabled"
    FORCED = "forced"


class RewriteStatus(str, Enum):
    """How the rewrite of a turn ended."""

    SKIPPED = "skipped"
    UNCHANGED = "unchanged"
    REWRITTEN = "rewritten"
    REJECTED = "rejected"
    FAILED = "failed"


class Trust(str, Enum):
    """The verdict of a review: it decides the role of the rewrite in the search."""

    TRUSTED = "trusted"
    """Leads the search; the user's own words are searched beside it."""
    DOUBTED = "doubted"
    """Searched together with the user's own words, which lead if they hold a search term."""
    REFUSED = "refused"
    """Never searched."""


class QueryRole(str, Enum):
    """What a planned query is for."""

    REWRITTEN = "rewritten"
    ORIGINAL = "original"
    VARIANT = "variant"
    KEYWORDS = "keywords"
    SUBQUESTION = "subquestion"
    TOPIC = "topic"
    JOINED = "joined"


@dataclass(frozen=True, slots=True)
class Cue:
    """One sign for or against a rewrite."""

    name: str
    """What kind of sign, for example ``pronoun`` or ``ellipsis``."""
    text: str
    """The words of the sign."""
    start: int
    """Offset of ``text`` in the message, in characters."""


@dataclass(frozen=True, slots=True)
class TriggerDecision:
    """Whether a message needs the conversation to be understood, and why."""

    rewrite: bool
    """True: ask for a rewrite."""
    reason: TriggerReason
    """The strongest reason."""
    language: str
    """Language of the message, a code such as ``zh``, or ``und``."""
    cues: tuple[Cue, ...] = ()
    """Every sign that was found, in order of position."""
    score: float | None = None
    """Estimated probability in [0, 1] that a rewrite is needed; None where a rule decided."""


@dataclass(frozen=True, slots=True)
class Entity:
    """A name, title, code or quantity mentioned in a text."""

    text: str
    """The words as written."""
    kind: str
    """``name``, ``person``, ``place``, ``organisation``, ``title``, ``quoted``, ``code``, ``number`` or ``term``."""
    start: int = 0
    """Offset in the text it was taken from, in characters."""


@dataclass(frozen=True, slots=True)
class WindowMessage:
    """A usable message of the history: a user's or an assistant's words."""

    role: str
    """``user`` or ``assistant``."""
    full_text: str
    """The uncut words, without reasoning text, citations and tool calls."""
    text: str
    """What the model is shown: ``full_text`` cut to its token limit, empty outside the window."""


@dataclass(frozen=True, slots=True)
class HistoryWindow:
    """The part of the conversation that a rewrite may draw on."""

    messages: tuple[WindowMessage, ...] = ()
    """The last rounds, oldest first."""
    earlier: tuple[WindowMessage, ...] = ()
    """Older messages, oldest first: not shown to the model, but searched for entities."""
    text: str = ""
    """``messages`` rendered for the prompt in the configured order, ``summary`` on top."""
    entities: tuple[Entity, ...] = ()
    """Candidates for a reference, most salient first, from the uncut messages of the whole history."""
    list_items: tuple[str, ...] = ()
    """Items of the newest list in the history, in order, for "the second one"."""
    summary: str = ""
    """Summary of what came before, if the memory keeps one."""
    n_tokens: int = 0
    """Size of ``text`` in tokens."""
    n_dropped: int = 0
    """How many messages did not fit into the window."""

    @property
    def all_messages(self) -> tuple[WindowMessage, ...]:
        """Every usable message of the history, oldest first."""
        return self.earlier + self.messages

    def __bool__(self) -> bool:
        """True if there is anything that a follow-up could refer to."""
        return bool(self.messages or self.earlier or self.summary)


@dataclass(frozen=True, slots=True)
class GuardVerdict:
    """What one guard measured on one rewrite."""

    guard: str
    """Name of the guard, for example ``diff_ratio``."""
    passed: bool
    """False if the measure exceeds its limit."""
    action: str = "refuse"
    """What a failed verdict does: ``refuse`` the rewrite, ``doubt`` it (the user's own words lead), or ``flag`` it."""
    measured: float | None = None
    """The measured value, if it is a number."""
    limit: float | None = None
    """The limit it was compared with."""
    detail: str = ""
    """The reason in words, for example the names that nobody mentioned."""


@dataclass(frozen=True, slots=True)
class Edit:
    """One change made to a query after the model."""

    kind: str
    """``cleanup``, ``alias``, ``parser`` or ``date``."""
    before: str
    """The removed words."""
    after: str
    """The new words, possibly empty."""


@dataclass(frozen=True, slots=True)
class RewriteAttempt:
    """One raw output of one rewriter, and its review."""

    rewriter: str
    """Name of the rewriter: ``llm``, ``rules``, ``concat`` or the user's own."""
    raw: str
    """Its output, unparsed."""
    query: str | None = None
    """The parsed, cleaned query; None if there was nothing usable."""
    accepted: bool = False
    """True if this attempt became the turn's query."""
    verdicts: tuple[GuardVerdict, ...] = ()
    """What the guards measured."""
    edits: tuple[Edit, ...] = ()
    """What the parser, the cleanup and the aliases changed."""
    error: str = ""
    """Why there is no usable output: an exception's class and message, ``timeout``, ``declined`` …"""
    ambiguous: bool = False
    """True if two candidates fit the reference."""
    candidates: tuple[str, ...] = ()
    """The candidates that fit, if ambiguous."""
    prompt_hash: str = ""
    """Hash of the rendered prompt, if a model was asked."""
    cache_key: str = ""
    """Key of the rewrite cache's entry, if a model was asked."""
    prompt_tokens: int | None = None
    """Prompt tokens of the call, if the model reports them."""
    completion_tokens: int | None = None
    """Completion tokens of the call, if the model reports them."""
    elapsed_s: float = 0.0
    """Time of the attempt in seconds."""
    trust: Trust | None = None
    """Verdict of the review; None if there was nothing to review."""
    reasons: tuple[str, ...] = ()
    """Why it is doubted or refused, in words."""
    confidence: float | None = None
    """Estimated probability in [0, 1] that the carried topic is the right one."""


@dataclass(frozen=True, slots=True)
class RewriteResult:
    """The standalone question of a turn. ``query`` is always safe to search with."""

    original: str
    """The user's words."""
    query: str
    """What to search: never empty, one line, no control characters."""
    status: RewriteStatus
    """How the rewrite ended."""
    rewriter: str = "original"
    """Who produced ``query``."""
    attempts: tuple[RewriteAttempt, ...] = ()
    """Every raw output with its verdicts, in order."""
    verdicts: tuple[GuardVerdict, ...] = ()
    """The verdicts of the accepted attempt, or of the last one."""
    ambiguous: bool = False
    """True if two candidates fit the reference: search the original beside the rewrite."""
    edits: tuple[Edit, ...] = ()
    """Edits of the accepted attempt."""
    cache_hit: bool = False
    """True if no model was called because the same prompt was answered before."""
    elapsed_s: float = 0.0
    """Time of the whole chain in seconds."""
    language: str = "und"
    """Language of the original."""
    trust: Trust = Trust.TRUSTED
    """Trust in ``query``; the user's own words are always trusted."""
    reasons: tuple[str, ...] = ()
    """Why ``query`` is doubted, or why every rewrite was refused, in words."""


@dataclass(frozen=True, slots=True)
class PlannedQuery:
    """One query of a plan."""

    text: str
    """The words to search."""
    role: QueryRole
    """What it is for."""
    weight: float = 1.0
    """Weight of its list in fusion, > 0."""
    trust: Trust = Trust.TRUSTED
    """Trust in the words; a doubted rewrite leads only if the user's words hold no search term."""


@dataclass(frozen=True, slots=True)
class QueryPlan:
    """What a turn searches: never empty, no two queries equal after normalisation."""

    queries: tuple[PlannedQuery, ...]
    """``queries[0].text`` is the search query that postprocessors and sources see."""
    reason: str = ""
    """Why these queries, in a few words."""
    reserve: tuple[PlannedQuery, ...] = ()
    """Queries that are searched only if the plan finds nothing or too little."""

    @property
    def search_query(self) -> str:
        """The words shown as "what was searched"."""
        return self.queries[0].text


@dataclass(frozen=True, slots=True)
class RankedList:
    """What one query found."""

    query: PlannedQuery
    """The query."""
    nodes: tuple[NodeWithScore, ...] = ()
    """Its nodes, best first; not to be mutated."""
    elapsed_s: float = 0.0
    """Time of the retrieval in seconds."""
    error: str = ""
    """Why it failed, empty if it did not."""
    source: str = ""
    """Name of the retriever, where there are several."""
    used: bool = True
    """False if it was prefetched and the plan does not use it."""
    blended: tuple[PlannedQuery, ...] = ()
    """Queries whose vectors were searched with the query's own, in one search."""


@dataclass(frozen=True, slots=True)
class RewriteRequest:
    """The input of a rewriter."""

    message: str
    """The user's words."""
    window: HistoryWindow
    """The conversation."""
    decision: TriggerDecision
    """The gate's decision."""
    timeout_s: float | None = None
    """Time left until the chain's deadline, in seconds."""
    extra: Mapping[str, Any] = field(default_factory=dict)
    """Further values, for your own rewriters."""
