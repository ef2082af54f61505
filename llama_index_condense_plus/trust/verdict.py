"""From a raw output to a query with a verdict: parse, clean, compare, then expand aliases."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from difflib import SequenceMatcher

from llama_index.core.base.llms.types import ChatMessage

from llama_index_condense_plus.aliases import AliasTable
from llama_index_condense_plus.cleanup import Cleaner, cut_between_words, fit_query, safe_line
from llama_index_condense_plus.languages.text import clip, fold
from llama_index_condense_plus.protocols import Guard
from llama_index_condense_plus.rewriting.history import build_window
from llama_index_condense_plus.rewriting.parse import parse_rewrite
from llama_index_condense_plus.settings import CondensePlusSettings
from llama_index_condense_plus.trust.compare import Comparison
from llama_index_condense_plus.trust.model import doubts, features, trust_model
from llama_index_condense_plus.trust.refusals import REFUSALS
from llama_index_condense_plus.trust.words import bare
from llama_index_condense_plus.types import (
    GuardVerdict,
    HistoryWindow,
    RewriteAttempt,
    RewriteResult,
    RewriteStatus,
    Trust,
)

MAX_MESSAGE_CHARS = 100_000
"""A longer message is a document: its beginning is what rewrites are compared with."""
MAX_SYMMETRIC_CHARS = 1_000
"""The literal diff is quadratic: longer texts are compared by both ends."""
NOT_REFUSING = frozenset({"doubt", "flag"})
"""Actions of a failed verdict that leave a rewrite in the search."""
FOR_QUESTIONS = frozenset({"answer", "unrelated", "examples"})
"""Refusals that an expansion does not have to pass: it states what an answer may say."""


class Reviewer:
    """Decides what becomes of a rewriter's output: trusted, doubted or refused.

    Args:
        settings: guards, cleanup, aliases and languages.
        guards: the user's own, asked after the package's; one that raises makes a rewrite doubted.
    """

    def __init__(self, settings: CondensePlusSettings, guards: Sequence[Guard] = ()) -> None:
        self._settings = settings
        self._options = settings.guards
        self._guards = tuple(guards)
        self._cleaner = Cleaner(settings)
        self._aliases = AliasTable(settings.aliases)
        self._grounded = tuple(settings.aliases.values())
        self._max_chars = settings.guards.length.max_chars

    def review(
        self,
        raw: str,
        message: str,
        window: HistoryWindow,
        *,
        rewriter: str = "llm",
        language: str | None = None,
        shots: Sequence[str] = (),
    ) -> RewriteAttempt:
        """Review a model's output; never raises.

        Args:
            raw: the output, anything at all.
            message: the user's words.
            window: the conversation.
            rewriter: who made it, for the trace.
            language: a language code; none: detected.
            shots: texts of the examples that the prompt showed.
        """
        message = message[:MAX_MESSAGE_CHARS]
        parsed = parse_rewrite(raw, message)
        if parsed.text is None:
            return RewriteAttempt(rewriter, raw, error=parsed.problem)
        cleaned, cleaned_edits = self._cleaner.clean(parsed.text, language)
        query, alias_edits = self._aliases.apply(cleaned)
        comparison = Comparison(
            self._aliases.apply(message)[0],
            query,
            window,
            grounded=self._grounded,
            shots=shots,
            settings=self._settings,
        )
        verdicts = tuple(self._verdicts(comparison))
        trust = self._trust(verdicts, comparison)
        edits = parsed.edits + cleaned_edits + alias_edits
        reasons = tuple(f"{v.guard}: {v.detail}" for v in verdicts if not v.passed and v.action != "flag")
        accepted = trust is not Trust.REFUSED
        return RewriteAttempt(
            rewriter,
            raw,
            cut_between_words(query, self._max_chars),
            accepted,
            verdicts,
            edits,
            trust=trust,
            reasons=reasons,
        )

    def finish(
        self, text: str, message: str, *, rewriter: str = "rules", language: str | None = None
    ) -> RewriteAttempt:
        """Finish a query that was made of the conversation's own words, without a model: it is doubted by birth.

        Nothing left of it: the user's words.
        """
        cleaned, edits = self._cleaner.clean(text, language)
        query, alias_edits = self._aliases.apply(cleaned)
        query = query.strip() or safe_line(message)
        if not query:
            return RewriteAttempt(rewriter, text, error="nothing left to search")
        why = ("made without a model",)
        return RewriteAttempt(
            rewriter,
            text,
            cut_between_words(query, self._max_chars),
            True,
            (),
            edits + alias_edits,
            trust=Trust.DOUBTED,
            reasons=why,
        )

    def original(self, message: str) -> RewriteAttempt:
        """Return the user's own words as a query: on one line, of a paste what asks, only aliases expanded."""
        query, edits = self._aliases.apply(fit_query(message, self._max_chars))
        return RewriteAttempt(
            "original", message, cut_between_words(query, self._max_chars) or None, bool(query), (), edits
        )

    def same(self, query: str, message: str) -> bool:
        """Return True if a query is the user's own words but for spaces, case, marks and what is cleaned away."""
        return bare(query) in (bare(message), bare(self._cleaner.clean(message)[0]))

    def says_nothing(self, attempt: RewriteAttempt, message: str) -> bool:
        """Return True for an unchanged message that holds nothing but references."""
        query = attempt.query or ""
        return self.same(query, message) and not Comparison(message, query, HistoryWindow()).asked.content

    def _verdicts(self, c: Comparison) -> Iterator[GuardVerdict]:
        if self._options.profile != "off":
            for name, refuse in REFUSALS.items():
                if not getattr(self._options, name).enabled or not self._applies(name, c):
                    continue
                problem = refuse(c)
                yield GuardVerdict(name, not problem, "refuse", detail=problem)
                if problem:
                    return
            yield from self._doubts(c)
        for guard in self._guards:
            yield from _checked(guard, c)

    def _applies(self, name: str, c: Comparison) -> bool:
        if self._options.profile != "expansive" or name not in FOR_QUESTIONS:
            return True
        return name == "unrelated" and c.keeps_nothing

    def _doubts(self, c: Comparison) -> Iterator[GuardVerdict]:
        profile, ratio, length = self._options.profile, self._options.diff_ratio, self._options.length
        if profile != "expansive":
            if length.enabled and not c.same:
                limit = max(length.growth_free_chars, round(length.max_growth * len(c.message)))
                limit = min(limit, length.max_chars)
                fits = len(c.rewrite) <= limit
                yield GuardVerdict("length", fits, "doubt", float(len(c.rewrite)), float(limit), "" if fits else "long")
            if ratio.enabled:
                yield self._symmetric(c) if ratio.metric == "symmetric" else self._weighed(c)
        if profile == "minimal":
            changed = [t.text for t in (*c.lost, *c.unsaid)]
            yield GuardVerdict("minimal", not changed, "doubt", detail=", ".join(changed))
        if self._options.unresolved_reference.enabled:
            left = c.references_left if c.window else ()
            action = "doubt" if left and c.resolves_nothing else "flag"
            yield GuardVerdict("unresolved_reference", not left, action, float(len(left)), 0.0, ", ".join(left))

    def _weighed(self, c: Comparison) -> GuardVerdict:
        model = trust_model()
        limit = model.threshold if self._options.doubt_threshold is None else self._options.doubt_threshold
        weighed = features(c)
        trusted = 1.0 if c.same else model.probability(weighed)
        passed = trusted >= limit
        return GuardVerdict(
            "trust", passed, "doubt", round(trusted, 3), limit, "" if passed else doubts(c, weighed, model)
        )

    def _symmetric(self, c: Comparison) -> GuardVerdict:
        before, after = (clip(fold(text), MAX_SYMMETRIC_CHARS) for text in (c.message, c.rewrite))
        ratio = 1 - SequenceMatcher(None, before, after, autojunk=False).ratio()
        limit = self._options.diff_ratio.max_symmetric
        passed = ratio <= limit
        return GuardVerdict("diff_ratio", passed, "doubt", round(ratio, 3), limit, "" if passed else "much changed")

    def _trust(self, verdicts: Sequence[GuardVerdict], c: Comparison) -> Trust:
        failed = [v.action for v in verdicts if not v.passed]
        if any(action not in NOT_REFUSING for action in failed):
            return Trust.REFUSED
        if "doubt" not in failed:
            return Trust.TRUSTED
        # Beside orders to the model, what looks odd may be obedience: it must not even be searched.
        strict = self._options.profile == "strict" or bool(c.said.orders)
        return Trust.REFUSED if strict else Trust.DOUBTED


def _checked(guard: Guard, c: Comparison) -> list[GuardVerdict]:
    """Return what a user's guard says; one that fails protects: the rewrite is doubted and the verdict says why."""
    try:
        return list(guard.check(c.message, c.rewrite, c.window))
    except Exception as error:  # noqa: BLE001 - a guard of the user's may raise anything
        name = getattr(guard, "name", type(guard).__name__)
        return [GuardVerdict(name, False, "doubt", detail=f"the guard raised {type(error).__name__}")]


def review_rewrite(
    raw_output: str,
    original: str,
    history: Sequence[ChatMessage | tuple[str, str]] = (),
    settings: CondensePlusSettings | None = None,
) -> RewriteResult:
    """Review a model's raw output outside the engine; pure.

    Args:
        raw_output: what the model returned, anything at all.
        original: the user's words.
        history: the conversation before them, ChatMessages or (role, text) pairs.
        settings: default settings if none.

    Returns:
        A result whose ``query`` is safe to search: the rewrite if it is not refused, otherwise the original. ``trust``
        says whether the rewrite may lead.

    Example:
        >>> history = [("user", "How long does the GTE-3000 run?"), ("assistant", "The GTE-3000 runs 10 hours.")]
        >>> review_rewrite("Rewritten question: How much is the GTE-3000?", "How much is it?", history).query
        'How much is the GTE-3000?'
    """
    settings = settings or CondensePlusSettings()
    reviewer = Reviewer(settings)
    attempt = reviewer.review(raw_output, original, build_window(history, settings.history))
    if attempt.query and attempt.trust in (Trust.TRUSTED, Trust.DOUBTED):
        same = reviewer.same(attempt.query, original)
        status = RewriteStatus.UNCHANGED if same else RewriteStatus.REWRITTEN
        return RewriteResult(
            original,
            attempt.query,
            status,
            "llm",
            (attempt,),
            attempt.verdicts,
            edits=attempt.edits,
            trust=attempt.trust,
            reasons=attempt.reasons,
        )
    kept = reviewer.original(original)
    query = kept.query or safe_line(original) or original
    return RewriteResult(
        original,
        query,
        RewriteStatus.REJECTED,
        "original",
        (attempt,),
        attempt.verdicts,
        edits=kept.edits,
        reasons=attempt.reasons or (attempt.error,),
    )
