from __future__ import annotations

from llama_index_condense_plus.rewriting.breaker import CircuitBreaker


def test_breaker_opens_after_failures_in_a_row_and_tries_one_call_after_the_cool_down() -> None:
    now = [0.0]
    breaker = CircuitBreaker(failures=2, cool_down_s=30, clock=lambda: now[0])
    breaker.record_failure()
    assert breaker.allow()
    breaker.record_failure()
    assert not breaker.allow()
    assert breaker.is_open
    now[0] = 30.0
    assert breaker.allow()
    assert not breaker.allow()
    breaker.record_success()
    assert breaker.allow()
    assert not breaker.is_open


def test_breaker_opens_again_if_the_trial_fails() -> None:
    now = [0.0]
    breaker = CircuitBreaker(failures=1, cool_down_s=30, clock=lambda: now[0])
    breaker.record_failure()
    now[0] = 31.0
    assert breaker.allow()
    breaker.record_failure()
    now[0] = 60.0
    assert not breaker.allow()
    now[0] = 61.0
    assert breaker.allow()


def test_breaker_counts_only_failures_in_a_row() -> None:
    breaker = CircuitBreaker(failures=2)
    for _ in range(5):
        breaker.record_failure()
        breaker.record_success()
    assert breaker.allow()


def test_breaker_gives_another_caller_a_trial_if_the_first_never_reports() -> None:
    now = [0.0]
    breaker = CircuitBreaker(failures=1, cool_down_s=30, clock=lambda: now[0])
    breaker.record_failure()
    now[0] = 29.9
    assert breaker.is_open
    now[0] = 30.0
    assert not breaker.is_open
    assert breaker.allow()
    now[0] = 59.9
    assert not breaker.allow()
    now[0] = 60.0
    assert breaker.allow()


def test_breaker_waits_for_five_failures_and_half_a_minute_by_default() -> None:
    now = [100.0]
    breaker = CircuitBreaker(clock=lambda: now[0])
    for _ in range(4):
        breaker.record_failure()
    assert (breaker.allow(), breaker.is_open) == (True, False)
    breaker.record_failure()
    now[0] = 129.9
    assert (breaker.allow(), breaker.is_open) == (False, True)
    now[0] = 130.0
    assert breaker.allow()
