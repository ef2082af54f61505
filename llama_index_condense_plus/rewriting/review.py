"""From a raw output to a query that is safe to search: parse, clean, guard, expand aliases."""

from __future__ import annotations

from collections.abc import Sequence

from llama_index.core.base.llms.types import ChatMessage

from llama_index_condense_plus.aliases import AliasTable
from llama_index_condense_plus.cleanup import Cleaner, safe_line
from llama_index_condense_plus.lexicons.text import clip, content_tokens, fold, has_han
from llama_index_condense_plus.protocols import Guard
from llama_index_condense_plus.rewriting.dates import resolved_dates
from llama_index_condense_plus.rewriting.guards import build_guards
from llama_index_condense_plus.rewriting.guards.features import MAX_CHECKED_CHARS
from llama_index_condense_plus.rewriting.history import build_window
from llama_index_condense_plus.rewriting.parse import parse_rewrite
from llama_index_condense_plus.settings import CondensePlusSettings
from llama_index_condense_plus.types import (
    Edit,
    GuardVerdict,
    HistoryWindow,
    RewriteAttempt,
    RewriteRequest,
    RewriteResult,
    RewriteStatus,
    Trust,
)

MAX_ORIGINAL_CHARS = 100_000
"""A longer message is a document: its beginning is what rewrites are compared with."""


class Reviewer:
    """Decides what becomes of a rewriter's output.

    Args:
        settings: cleanup, aliases and guards.
        guards: instead of the configured ones; the user's own go behind them.
    """

    def __init__(self, settings: CondensePlusSettings, guards: Sequence[Guard] | None = None) -> None:
        self._guards = build_guards(settings) if guards is None else tuple(guards)
        self._cleaner = Cleaner(settings)
        self._aliases = AliasTable(settings.aliases)
        self._max_chars = settings.guards.length.max_chars

    def review(
        self,
        raw: str,
        original: str,
        window: HistoryWindow,
        *,
        rewriter: str = "llm",
        language: str | None = None,
        shots: Sequence[str] = (),  # noqa: ARG002
    ) -> RewriteAttempt:
        """Review a model's output: parse, clean, guard, then expand aliases. Never raises.

        Args:
            raw: the output, anything at all.
            original: the user's words.
            window: the conversation.
            rewriter: who made it, for the trace.
            language: a language code; none: by script.
            shots: texts of the examples that the prompt showed.
        """
        original = original[:MAX_ORIGINAL_CHARS]
        parsed = parse_rewrite(raw, original)
        if parsed.text is None:
            return RewriteAttempt(rewriter, raw, error=parsed.problem)
        cleaned, cleaned_edits = self._cleaner.clean(parsed.text, language)
        asked = clip(original, MAX_CHECKED_CHARS)
        compared, date_edits = resolved_dates(asked, cleaned, language)
        verdicts = tuple(verdict for guard in self._guards for verdict in _checked(guard, asked, compared, window))
        accepted = all(verdict.passed or verdict.action != "reject" for verdict in verdicts)
        query, alias_edits = self._aliases.apply(cleaned)
        edits = parsed.edits + cleaned_edits + date_edits + alias_edits
        trust = Trust.TRUSTED if accepted else Trust.REFUSED
        return RewriteAttempt(rewriter, raw, self._cut(query), accepted, verdicts, edits, trust=trust)

    def finish(
        self, text: str, original: str, *, rewriter: str = "rules", language: str | None = None
    ) -> RewriteAttempt:
        """Finish a fallback's text, which is made of the conversation's own words: clean and expand, no guards.

        Nothing left of it: the user's words.
        """
        cleaned, edits = self._cleaner.clean(text, language)
        query, alias_edits = self._aliases.apply(cleaned)
        query = query.strip() or safe_line(original)
        if not query:
            return RewriteAttempt(rewriter, text, error="nothing left to search")
        return RewriteAttempt(rewriter, text, self._cut(query), True, (), edits + alias_edits, trust=Trust.TRUSTED)

    def original(self, message: str) -> RewriteAttempt:
        """Return the user's own words as a query: on one line, only aliases expanded."""
        line = safe_line(message)
        query, edits = self._aliases.apply(line)
        return RewriteAttempt("original", message, self._cut(query) or None, bool(query), (), edits)

    @staticmethod
    def same(query: str, original: str) -> bool:
        """Return True if a query is the user's own words but for spaces, case and marks."""
        return _letters(query) == _letters(original)

    def says_nothing(self, attempt: RewriteAttempt, message: str) -> bool:
        """Return True for an unchanged message that holds nothing but references."""
        return self.same(attempt.query or "", message) and not content_tokens(message)

    @staticmethod
    def leaves_gap(attempt: RewriteAttempt, request: RewriteRequest) -> bool:
        """Return True if a rewrite adds no word where one is certainly missing, or a reference is left."""
        if not (attempt.leaves_reference or request.decision.is_certain):
            return False
        return not set(content_tokens(attempt.query or "")).difference(content_tokens(request.message))

    def _cut(self, query: str) -> str:
        """Return at most the longest query's length, cut between words where there are any."""
        if len(query) <= self._max_chars:
            return query
        head = query[: self._max_chars]
        space = head.rfind(" ")
        return head[:space].rstrip() if space > self._max_chars // 2 and not has_han(head[space:]) else head.rstrip()


def _letters(text: str) -> str:
    return "".join(char for char in fold(text) if char.isalnum())


def _checked(guard: Guard, original: str, rewrite: str, window: HistoryWindow) -> list[GuardVerdict]:
    """Return a guard's verdicts; one that fails protects: the rewrite is rejected and the verdict says why."""
    try:
        return list(guard.check(original, rewrite, window))
    except Exception as error:  # noqa: BLE001 - a guard of the user's may raise anything
        return [GuardVerdict(getattr(guard, "name", type(guard).__name__), False, detail=type(error).__name__)]


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
        A result whose ``query`` is safe to search: the rewrite if it is accepted, otherwise the original.

    Example:
        >>> history = [("user", "GTE-3000续航多久？"), ("assistant", "GTE-3000续航10小时。")]
        >>> review_rewrite("改写后的问题：GTE-3000多少钱？", "那它多少钱？", history).query
        'GTE-3000多少钱？'
    """
    settings = settings or CondensePlusSettings()
    reviewer = Reviewer(settings)
    attempt = reviewer.review(raw_output, original, build_window(history, settings.history))
    if attempt.accepted and attempt.query:
        same = reviewer.same(attempt.query, original)
        status = RewriteStatus.UNCHANGED if same else RewriteStatus.REWRITTEN
        return RewriteResult(original, attempt.query, status, "llm", (attempt,), attempt.verdicts, edits=attempt.edits)
    kept = reviewer.original(original)
    query = kept.query or safe_line(original) or original
    return RewriteResult(
        original, query, RewriteStatus.REJECTED, "original", (attempt,), attempt.verdicts, edits=kept.edits
    )


__all__ = ["Edit", "Reviewer", "review_rewrite"]
