"""The chain of rewriters: tried in order within one deadline, the first rewrite that is not refused wins."""

from __future__ import annotations

import asyncio
import inspect
import logging
from dataclasses import replace
from typing import Any, cast

from llama_index.core.llms.llm import LLM

from llama_index_condense_plus import _compat
from llama_index_condense_plus.operations import Flow, Operation, Predict, Prediction, Race, RuleOutcome, delegate
from llama_index_condense_plus.protocols import Rewriter
from llama_index_condense_plus.rewriting.cache import Flight, cache_key
from llama_index_condense_plus.rewriting.llm import predict_hash
from llama_index_condense_plus.turn.flow import call, use_cache, wait_for
from llama_index_condense_plus.turn.models import ask
from llama_index_condense_plus.turn.pipeline import Pipeline
from llama_index_condense_plus.types import RewriteAttempt, RewriteRequest, RewriteResult, RewriteStatus, Trust

logger = logging.getLogger(__name__)

CACHE_TIMEOUT_S = 1.0
"""A cache that takes longer costs more than it saves; one within the process is not timed."""
NO_FAULT = ("", "declined", "ambiguous")
"""Errors of an attempt that are no failure."""

Produced = Prediction | RuleOutcome | str | None


class CircuitOpenError(Exception):
    """The circuit breaker does not let a call through."""


class RewriteChain:
    """One run of the chain for one message.

    Args:
        pipeline: the components.
        request: the message with its window.
        keep: False: fill no cache and tell the circuit breaker nothing.
    """

    def __init__(self, pipeline: Pipeline, request: RewriteRequest, *, keep: bool = True) -> None:
        self._pipeline = pipeline
        self._request = request
        self._keep = keep
        self._started = pipeline.clock()
        self._attempts: list[RewriteAttempt] = []
        self._cache_hit = False
        self._from_cache = False
        self._cache_key: str | None = None
        self._prompt_hash = ""
        self._flight: Flight | None = None

    def run(self) -> Flow[RewriteResult]:
        """Try each rewriter until one is not refused; fails open to the user's own words."""
        settings = self._pipeline.settings.rewrite
        kept: RewriteAttempt | None = None
        for rewriter in self._order():
            attempt = yield from self._tried(rewriter)
            if attempt.ambiguous and settings.on_ambiguous == "ask":
                break
            if attempt.trust in (None, Trust.REFUSED):
                continue
            if rewriter is self._pipeline.carry and self._is_ahead() and not self._may_lead(attempt):
                continue
            kept = kept or attempt
            if not self._pipeline.reviewer.says_nothing(attempt, self._request.message):
                return self._result(attempt)
        return self._result(kept)

    def _order(self) -> list[Rewriter]:
        """Return the rewriters; what needs no model goes ahead of them where it may spare the call or must ask."""
        pipeline = self._pipeline
        first = [pipeline.carry] if self._is_ahead() else []
        return [*first, *(rewriter for rewriter in pipeline.rewriters if rewriter not in first)]

    def _is_ahead(self) -> bool:
        rewrite = self._pipeline.settings.rewrite
        return self._pipeline.carry in self._pipeline.rewriters and (
            rewrite.cascade is not None or rewrite.on_ambiguous == "ask"
        )

    def _may_lead(self, attempt: RewriteAttempt) -> bool:
        least = self._pipeline.settings.rewrite.cascade
        return least is not None and not attempt.ambiguous and (attempt.confidence or 0.0) >= least

    def _tried(self, rewriter: Rewriter) -> Flow[RewriteAttempt]:
        try:
            attempt = yield from self._attempt(rewriter)
            self._attempts.append(attempt)
            if attempt.trust in (Trust.TRUSTED, Trust.DOUBTED):
                yield from self._store(attempt)
        finally:
            self._land(None)
        return attempt

    def _attempt(self, rewriter: Rewriter) -> Flow[RewriteAttempt]:
        began = self._pipeline.clock()
        self._cache_hit, self._cache_key, self._prompt_hash = False, None, ""
        attempt = RewriteAttempt(rewriter=rewriter.name, raw="")
        try:
            produced = yield from self._produce(rewriter)
        except (TimeoutError, asyncio.TimeoutError):
            attempt = replace(attempt, error="timeout")
        except Exception as error:
            if rewriter.name == "stock":
                raise  # what the stock engine does
            logger.debug("Rewriter %s failed: %s", rewriter.name, type(error).__name__)
            attempt = replace(attempt, error=_describe(error))
        else:
            attempt = self._reviewed(rewriter, produced)
        return replace(
            attempt,
            prompt_hash=self._prompt_hash,
            cache_key=self._cache_key or "",
            elapsed_s=self._pipeline.clock() - began,
        )

    def _reviewed(self, rewriter: Rewriter, produced: Produced) -> RewriteAttempt:
        name, message, reviewer = rewriter.name, self._request.message, self._pipeline.reviewer
        if isinstance(produced, RuleOutcome):
            attempt = (
                reviewer.finish(produced.text, message, rewriter=name)
                if produced.text
                else RewriteAttempt(name, "", error="ambiguous" if produced.ambiguous else "declined")
            )
            return replace(
                attempt,
                ambiguous=produced.ambiguous,
                candidates=produced.candidates,
                confidence=produced.confidence,
            )
        if produced is None:
            return RewriteAttempt(name, "", error="declined")
        prediction = produced if isinstance(produced, Prediction) else Prediction(produced)
        if not isinstance(prediction.text, str):  # a rewriter or cache of the user's own
            return RewriteAttempt(name, "", error="TypeError")
        if name == "stock":
            text = prediction.text
            return RewriteAttempt(name, text, text or None, trust=Trust.TRUSTED if text.strip() else None)
        shots = getattr(rewriter, "shown_shots", ())
        attempt = reviewer.review(prediction.text, message, self._request.window, rewriter=name, shots=shots)
        return replace(attempt, prompt_tokens=prediction.prompt_tokens, completion_tokens=prediction.completion_tokens)

    def _produce(self, rewriter: Rewriter) -> Flow[Produced]:
        request = replace(self._request, timeout_s=self._left())
        if inspect.isgeneratorfunction(rewriter.rewrite):
            made: Any = rewriter.rewrite(request)
        elif rewriter is self._pipeline.carry:  # no model, no I/O
            made = rewriter.rewrite(request)
        else:  # a user's own method may block, or be late
            made = yield call(rewriter.rewrite, request, self._left())
        if inspect.isgenerator(made):
            return (yield from delegate(cast(Flow[Produced], made), self._perform))
        return cast(Produced, made)

    def _perform(self, operation: Operation) -> Flow[Any]:
        """Perform a rewriter's operation, its model calls cached, timed and watched."""
        if isinstance(operation, (Predict, Race)):
            return (yield from self._ask(operation))
        return (yield operation)

    def _ask(self, predict: Predict | Race) -> Flow[Prediction]:
        pipeline = self._pipeline
        first = predict.predicts[0] if isinstance(predict, Race) else predict
        llm = first.llm or pipeline.condense_llm()
        self._prompt_hash = predict_hash(first)
        if pipeline.cache is not None:
            self._cache_key = self._key_of(predict, llm)
            cached = yield from self._look_up(self._cache_key)
            if cached is None and self._keep:
                cached = yield from self._share(self._cache_key)
            if cached is not None:
                self._cache_hit = self._from_cache = True
                return Prediction(cached)
        left = self._left()
        if left is not None and left <= 0:
            raise TimeoutError("the chain's deadline is over")
        if not pipeline.breaker.allow():
            raise CircuitOpenError("the rewriting model keeps failing and is left alone for a while")
        try:
            prediction = yield from ask(_within(predict, left), llm)
        except Exception:
            if self._keep:
                pipeline.breaker.record_failure()
            raise
        if self._keep:
            pipeline.breaker.record_success()
        return prediction

    def _look_up(self, key: str) -> Flow[str | None]:
        cache = self._pipeline.cache
        if cache is None or not self._pipeline.cache_breaker.allow():
            return None
        try:
            cached = yield use_cache(cache, "get", key, timeout_s=self._cache_deadline())
        except Exception as error:  # noqa: BLE001 - a cache that fails is a cache that misses
            self._cache_failed(error)
            return None
        self._pipeline.cache_breaker.record_success()
        return cast("str | None", cached)

    def _key_of(self, predict: Predict | Race, default: LLM) -> str:
        predicts = predict.predicts if isinstance(predict, Race) else (predict,)
        models = " ".join(_compat.identity_of(one.llm or default) for one in predicts)
        settings = self._pipeline.settings
        tenant = f"{settings.cache.namespace}/{self._request.extra.get('tenant', '')}"
        return cache_key(self._prompt_hash, models, settings, tenant)

    def _share(self, key: str) -> Flow[str | None]:
        """Wait for the same call of another turn; None: there is none, or it brought nothing."""
        flight = self._pipeline.flights.join(key)
        if flight.leader:
            self._flight = flight
            return None
        return cast("str | None", (yield wait_for(flight.future, self._left())))

    def _land(self, raw: str | None) -> None:
        if self._flight is not None:
            flight, self._flight = self._flight, None
            self._pipeline.flights.land(flight, raw)

    def _store(self, attempt: RewriteAttempt) -> Flow[None]:
        self._land(attempt.raw)
        cache = self._pipeline.cache
        if cache is None or self._cache_key is None or self._cache_hit or not self._keep:
            return
        if not self._pipeline.cache_breaker.allow():
            return
        try:
            yield use_cache(cache, "set", self._cache_key, attempt.raw, timeout_s=self._cache_deadline())
        except Exception as error:  # noqa: BLE001 - a cache that fails costs a call, not a turn
            self._cache_failed(error)

    def _cache_failed(self, error: Exception) -> None:
        self._pipeline.cache_breaker.record_failure()
        logger.warning("The rewrite cache failed: %s", type(error).__name__)

    def _cache_deadline(self) -> float | None:
        return None if self._pipeline.cache_is_local else CACHE_TIMEOUT_S

    def _left(self) -> float | None:
        timeout_s = self._pipeline.settings.rewrite.timeout_s
        return None if timeout_s == 0 else timeout_s - (self._pipeline.clock() - self._started)

    def _result(self, kept: RewriteAttempt | None) -> RewriteResult:
        message, reviewer = self._request.message, self._pipeline.reviewer
        attempt = kept if kept is not None and kept.query else None
        if attempt is not None:
            same = reviewer.same(attempt.query or "", message)
            status = RewriteStatus.UNCHANGED if same else RewriteStatus.REWRITTEN
        else:
            refused = any(tried.trust is Trust.REFUSED for tried in self._attempts)
            failed = any(tried.error not in NO_FAULT for tried in self._attempts)
            status = RewriteStatus.REJECTED if refused else RewriteStatus.FAILED if failed else RewriteStatus.UNCHANGED
        shown = attempt or next((tried for tried in reversed(self._attempts) if tried.verdicts), None)
        used = attempt or reviewer.original(message)
        return RewriteResult(
            original=message,
            query=used.query or message,
            status=status,
            rewriter=used.rewriter,
            attempts=tuple(replace(tried, accepted=tried is attempt) for tried in self._attempts),
            verdicts=shown.verdicts if shown else (),
            ambiguous=any(tried.ambiguous for tried in self._attempts),
            edits=used.edits,
            cache_hit=self._from_cache and attempt is not None,
            elapsed_s=self._pipeline.clock() - self._started,
            language=self._request.decision.language,
            trust=(attempt.trust if attempt else None) or Trust.TRUSTED,
            reasons=shown.reasons if shown else (),
        )


def _within(predict: Predict | Race, left: float | None) -> Predict | Race:
    if isinstance(predict, Race):
        return replace(predict, predicts=tuple(replace(p, timeout_s=left) for p in predict.predicts))
    return replace(predict, timeout_s=left)


def _describe(error: Exception) -> str:
    """Return an error's class, and its words only where they cannot hold a secret."""
    return f"circuit open: {error}" if isinstance(error, CircuitOpenError) else type(error).__name__
