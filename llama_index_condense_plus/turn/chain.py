"""The components of a turn, and its chain of rewriters: tried in order, the first rewrite that is not refused wins."""

from __future__ import annotations

import asyncio
import inspect
import logging
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, cast

from llama_index.core.llms.llm import LLM

from llama_index_condense_plus import _compat
from llama_index_condense_plus.flow import Step, call, delegate, twin
from llama_index_condense_plus.operations import Flow, Operation, Predict, Prediction, RuleOutcome
from llama_index_condense_plus.protocols import EntityExtractor, QueryPlanner, RewriteCache, Rewriter, Trigger
from llama_index_condense_plus.rewriting.cache import (
    CircuitBreaker,
    Flight,
    InProcessRewriteCache,
    SingleFlight,
    cache_key,
    predict_hash,
)
from llama_index_condense_plus.rewriting.carry import CarryRewriter
from llama_index_condense_plus.settings import CondensePlusSettings
from llama_index_condense_plus.trust.refusals import REMARK
from llama_index_condense_plus.trust.verdict import Reviewer
from llama_index_condense_plus.turn.models import ask
from llama_index_condense_plus.types import RewriteAttempt, RewriteRequest, RewriteResult, RewriteStatus, Trust

logger: logging.Logger = logging.getLogger(__name__)

CACHE_TIMEOUT_S = 1.0
"""A cache that takes longer costs more than it saves; one within the process is not timed."""
NO_FAULT = ("", "declined", "ambiguous")
"""Errors of an attempt that are no failure."""

Produced = Prediction | RuleOutcome | str | None


@dataclass(frozen=True)
class Pipeline:
    """Everything a turn needs besides the conversation; shared by all conversations of an engine."""

    settings: CondensePlusSettings
    trigger: Trigger
    extractor: EntityExtractor
    rewriters: tuple[Rewriter, ...]
    carry: CarryRewriter
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
    def is_stock(self) -> bool:
        """True if the engine is to behave, and sound, like the stock engine."""
        return any(rewriter.name == "stock" for rewriter in self.rewriters)


class CircuitOpenError(Exception):
    """The circuit breaker does not let a call through."""


@dataclass
class _Asked:
    """What an attempt asked of a model."""

    prompt_hash: str = ""
    cache_key: str = ""
    was_cached: bool = False
    flight: Flight | None = None


class RewriteChain:
    """One run of the chain for one message.

    Args:
        pipeline: the components.
        request: the message with its window.
        tenant: whose rewrites are cached together.
        keep: False: fill no cache and tell the circuit breaker nothing.
    """

    def __init__(self, pipeline: Pipeline, request: RewriteRequest, tenant: str = "", *, keep: bool = True) -> None:
        self._pipeline, self._request, self._tenant, self._keep = pipeline, request, tenant, keep
        self._started = pipeline.clock()
        self._attempts: list[RewriteAttempt] = []
        self._asked = _Asked()
        self._cache_hit = False

    def run(self) -> Flow[RewriteResult]:
        """Try each rewriter until one is not refused; fails open to the user's own words."""
        pipeline, kept = self._pipeline, None
        settings, carry = pipeline.settings.rewrite, pipeline.carry
        asks_first = carry in pipeline.rewriters and (settings.cascade is not None or settings.on_ambiguous == "ask")
        order = [carry] if asks_first else []  # what needs no model goes ahead where it may spare the call
        for rewriter in [*order, *(one for one in pipeline.rewriters if one not in order)]:
            attempt = yield from self._tried(rewriter)
            if attempt.ambiguous and settings.on_ambiguous == "ask":
                break
            if any(reason.endswith(REMARK) for reason in attempt.reasons):
                break  # no rewriter has anything to complete
            if attempt.trust in (None, Trust.REFUSED):
                continue
            if rewriter is carry and asks_first and not self._may_lead(attempt):
                continue
            kept = kept or attempt
            if not pipeline.reviewer.says_nothing(attempt, self._request.message):
                return self._result(attempt)
        return self._result(kept)

    def _may_lead(self, attempt: RewriteAttempt) -> bool:
        least = self._pipeline.settings.rewrite.cascade
        return least is not None and not attempt.ambiguous and (attempt.confidence or 0.0) >= least

    def _tried(self, rewriter: Rewriter) -> Flow[RewriteAttempt]:
        self._asked, began = _Asked(), self._pipeline.clock()
        try:
            attempt = yield from self._attempt(rewriter)
            asked, took = self._asked, self._pipeline.clock() - began
            attempt = replace(attempt, prompt_hash=asked.prompt_hash, cache_key=asked.cache_key, elapsed_s=took)
            self._attempts.append(attempt)
            if attempt.trust in (Trust.TRUSTED, Trust.DOUBTED):
                self._land(attempt.raw)
                if asked.cache_key and not asked.was_cached and self._keep:
                    yield from self._use_cache("set", asked.cache_key, attempt.raw)
        finally:
            self._land(None)
        return attempt

    def _attempt(self, rewriter: Rewriter) -> Flow[RewriteAttempt]:
        try:
            return self._reviewed(rewriter, (yield from self._produced(rewriter)))
        except (TimeoutError, asyncio.TimeoutError):
            error = "timeout"
        except CircuitOpenError as open_circuit:
            error = f"circuit open: {open_circuit}"
        except Exception as failure:
            if rewriter.name == "stock":
                raise  # what the stock engine does
            error = type(failure).__name__  # its words may hold a secret
            logger.debug("Rewriter %s failed: %s", rewriter.name, error)
        return RewriteAttempt(rewriter.name, raw="", error=error)

    def _produced(self, rewriter: Rewriter) -> Flow[Produced]:
        request, made = replace(self._request, timeout_s=self._left()), None
        if rewriter is self._pipeline.carry or inspect.isgeneratorfunction(rewriter.rewrite):
            made = rewriter.rewrite(request)
        else:  # a user's own method may block, or be late
            made = yield call(rewriter.rewrite, request, self._left())
        if inspect.isgenerator(made):
            return (yield from delegate(cast(Flow[Produced], made), self._perform))
        return cast(Produced, made)

    def _reviewed(self, rewriter: Rewriter, produced: Produced) -> RewriteAttempt:
        name, message, reviewer = rewriter.name, self._request.message, self._pipeline.reviewer
        if isinstance(produced, RuleOutcome):
            if produced.text:
                attempt = reviewer.finish(produced.text, message, rewriter=name)
            else:
                attempt = RewriteAttempt(name, "", error="ambiguous" if produced.ambiguous else "declined")
            told = {"candidates": produced.candidates, "confidence": produced.confidence}
            return replace(attempt, ambiguous=produced.ambiguous, **told)  # type: ignore[arg-type]
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

    def _perform(self, operation: Operation) -> Flow[Any]:
        """Perform a rewriter's operation, its model calls cached, timed and watched."""
        if isinstance(operation, Predict):
            return (yield from self._ask(operation))
        return (yield operation)

    def _ask(self, predict: Predict) -> Flow[Prediction]:
        llm = predict.llm or self._pipeline.condense_llm()
        self._asked.prompt_hash = predict_hash(predict)
        if self._pipeline.cache is not None:
            known = yield from self._known(llm)
            if known is not None:
                self._asked.was_cached = self._cache_hit = True
                return Prediction(known)
        left, breaker = self._left(), self._pipeline.breaker
        if left is not None and left <= 0:
            raise TimeoutError("the chain's deadline is over")
        if not breaker.allow():
            raise CircuitOpenError("the rewriting model failed repeatedly and is not called for a while")
        try:
            prediction = yield from ask(replace(predict, timeout_s=left), llm)
        except Exception:
            if self._keep:
                breaker.record_failure()
            raise
        if self._keep:
            breaker.record_success()
        return prediction

    def _known(self, llm: LLM) -> Flow[str | None]:
        """Return what the cache, or the same call of another turn, has for the present prompt; None: nothing."""
        settings, asked = self._pipeline.settings, self._asked
        tenant = f"{settings.cache.namespace}/{self._tenant}"
        asked.cache_key = key = cache_key(asked.prompt_hash, _compat.identity_of(llm), settings, tenant)
        cached = yield from self._use_cache("get", key)
        if cached is not None or not self._keep:
            return cast("str | None", cached)
        flight = self._pipeline.flights.join(key)
        if flight.leader:
            asked.flight = flight
            return None
        shared, timeout_s = flight.future, self._left()
        waiting = Step("shared model call", shared.result, lambda: asyncio.wrap_future(shared), timeout_s)
        return cast("str | None", (yield waiting))

    def _land(self, raw: str | None) -> None:
        """Give those who wait for the same call what it brought; None: nothing that was accepted."""
        flight, self._asked.flight = self._asked.flight, None
        if flight is not None:
            self._pipeline.flights.land(flight, raw)

    def _use_cache(self, method: str, *arguments: str) -> Flow[Any]:
        """Call ``get`` or ``set`` of the cache; one that fails is a cache that misses."""
        breaker, cache = self._pipeline.cache_breaker, self._pipeline.cache
        if not breaker.allow():
            return None
        timeout_s = None if isinstance(cache, InProcessRewriteCache) else CACHE_TIMEOUT_S
        try:
            found = yield twin(cache, method, *arguments, timeout_s=timeout_s)
        except Exception as error:  # noqa: BLE001 - it costs a call, not a turn
            breaker.record_failure()
            logger.warning("The rewrite cache failed: %s", type(error).__name__)
            return None
        breaker.record_success()
        return found

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
            cache_hit=self._cache_hit and attempt is not None,
            elapsed_s=self._pipeline.clock() - self._started,
            language=self._request.decision.language,
            trust=(attempt.trust if attempt else None) or Trust.TRUSTED,
            reasons=shown.reasons if shown else (),
        )
