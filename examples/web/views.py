"""What the panel shows of a turn, as plain values: the widgets only lay it out."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from llama_index.core.schema import NodeWithScore

from llama_index_condense_plus import CondenseTrace, Cue, GuardVerdict, PlannedQuery, RewriteStatus
from llama_index_condense_plus.demo.knowledge import source_of
from llama_index_condense_plus.evaluation.diagnosis import Answer, diagnose
from llama_index_condense_plus.evaluation.differences import word_diff

Piece = tuple[str, str]
"""A kind, and words of that kind."""


@dataclass(frozen=True, slots=True)
class Passage:
    """One passage found."""

    source: str
    """Its name."""
    text: str
    """Its words."""
    found_by: tuple[str, ...] = ()
    """Which queries found it, for example ``rewritten#1``: role and rank."""


@dataclass(frozen=True, slots=True)
class Search:
    """One query of the turn."""

    role: str
    """What it is for."""
    text: str
    """Its words."""
    weight: float
    """Its weight in fusion."""
    found: int
    """How many passages it brought."""
    used: bool = True
    """False: searched ahead, and not wanted in the end."""


@dataclass(frozen=True, slots=True)
class TurnView:
    """One turn, ready to be laid out."""

    query: str
    """The words that were searched: the tag."""
    changed: bool
    """True if there is a rewrite that differs from the user's words."""
    message: tuple[Piece, ...]
    """The user's words; pieces that fired a cue have its name as kind, the others ``""``."""
    rewrite: bool
    """Whether the gate asked for a rewrite."""
    reason: str
    """Its reason."""
    language: str
    """Language of the message."""
    score: float | None
    """The gate's score, where one was computed."""
    cues: tuple[Piece, ...]
    """What fired: name and words."""
    status: str
    """How the rewrite ended."""
    trust: str
    """``trusted``, ``doubted``, or ``refused`` where every rewrite was."""
    reasons: tuple[str, ...]
    """Why it is doubted or refused, in words."""
    rewriter: str
    """Who wrote the query."""
    cache_hit: bool
    """True if no model was called because the same was asked before."""
    diff: tuple[Piece, ...]
    """From the user's words to the rewrite: ``equal``, ``deleted`` or ``added``."""
    edits: tuple[Piece, ...]
    """What was changed after the rewrite: its kind, and ``before → after``."""
    refused: tuple[Piece, ...]
    """Attempts that were not taken: who, and the words or the error."""
    verdicts: tuple[GuardVerdict, ...]
    """What the guards measured."""
    checked_apart: bool
    """True if the turn did not ask the guards, and the verdicts were made for the reader."""
    searches: tuple[Search, ...]
    """Every query."""
    passages: tuple[Passage, ...]
    """What was found, best first."""
    timings: tuple[tuple[str, float], ...]
    """Stage and milliseconds."""
    warnings: tuple[str, ...]
    """What went wrong without ending the turn."""
    answers: tuple[Answer, ...]
    """The four questions of a follow-up that finds nothing; empty in a first turn."""


def view_of(trace: CondenseTrace, apart: tuple[GuardVerdict, ...] = ()) -> TurnView:
    """Return what to show of a trace.

    Args:
        trace: the turn.
        apart: what the guards say of its query where the turn itself did not ask them.
    """
    decision, rewrite = trace.decision, trace.rewrite
    return TurnView(
        query=trace.search_query,
        changed=rewrite.query != trace.message,
        message=marked(trace.message, decision.cues),
        rewrite=decision.rewrite,
        reason=decision.reason.value,
        language=decision.language,
        score=decision.score,
        cues=tuple((cue.name, cue.text) for cue in decision.cues),
        status=rewrite.status.value,
        trust="refused" if rewrite.status is RewriteStatus.REJECTED else rewrite.trust.value,
        reasons=rewrite.reasons,
        rewriter=rewrite.rewriter,
        cache_hit=rewrite.cache_hit,
        diff=tuple(word_diff(trace.message, rewrite.query)),
        edits=tuple((edit.kind, f"{edit.before} → {edit.after}") for edit in rewrite.edits),
        refused=tuple(
            (a.rewriter, f"{a.query or a.raw} {a.error}".strip()) for a in rewrite.attempts if not a.accepted
        ),
        verdicts=rewrite.verdicts or apart,
        checked_apart=bool(apart) and not rewrite.verdicts,
        searches=_searches(trace),
        passages=passages_of(trace.nodes, trace),
        timings=_timings(trace),
        warnings=trace.warnings,
        answers=diagnose(trace) if trace.window else (),
    )


def tried_by_hand(view: TurnView, found: Sequence[Passage]) -> TurnView:
    """Return a turn whose last question is answered: what a question completed by hand found."""
    more = tuple(sorted(new_sources(view.passages, found)))
    return replace(view, answers=(*view.answers[:-1], Answer("by_hand_finds_more", bool(more), more)))


def marked(message: str, cues: Sequence[Cue]) -> tuple[Piece, ...]:
    """Cut a message into pieces where cues fired; where they overlap, the shortest names the piece.

    A cue that covers the whole message marks nothing: it says something about the message, not about a word.
    """
    kinds = [""] * len(message)
    for cue in sorted(cues, key=lambda cue: -len(cue.text)):
        if len(cue.text) < len(message):
            end = min(len(message), cue.start + len(cue.text))
            kinds[cue.start : end] = [cue.name] * max(0, end - cue.start)
    pieces: list[Piece] = []
    for kind, letter in zip(kinds, message, strict=True):
        if pieces and pieces[-1][0] == kind:
            pieces[-1] = (kind, pieces[-1][1] + letter)
        else:
            pieces.append((kind, letter))
    return tuple(pieces)


def passages_of(nodes: Sequence[NodeWithScore], trace: CondenseTrace | None = None) -> tuple[Passage, ...]:
    """Return nodes as passages, with what found them where a trace tells."""
    found_by = trace.provenance if trace else {}
    return tuple(
        Passage(source_of(n.node), n.node.get_content(), tuple(found_by.get(n.node.node_id, ()))) for n in nodes
    )


def new_sources(first: Sequence[Passage], second: Sequence[Passage]) -> set[str]:
    """Return the names of the passages that only the second has."""
    return {passage.source for passage in second} - {passage.source for passage in first}


def _searches(trace: CondenseTrace) -> tuple[Search, ...]:
    done = tuple(
        _search(query, len(ranked.nodes), ranked.used)
        for ranked in trace.retrievals
        for query in (ranked.query, *ranked.blended)  # several vectors may be searched as one
    )
    return done or tuple(_search(query, len(trace.nodes)) for query in trace.plan.queries)


def _search(query: PlannedQuery, found: int, used: bool = True) -> Search:
    return Search(query.role.value, query.text, query.weight, found, used)


def _timings(trace: CondenseTrace) -> tuple[tuple[str, float], ...]:
    searches = [(f"search: {r.query.role.value}", r.elapsed_s) for r in trace.retrievals]
    stages = list(trace.timings.items())
    before = [pair for pair in stages if pair[0] != "answer"]
    return tuple((name, 1000.0 * s) for name, s in [*before, *searches, *stages[len(before) :]])
