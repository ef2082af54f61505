import doctest

import pytest

from llama_index_condense_plus import ConfigurationError
from llama_index_condense_plus.observability import ab
from llama_index_condense_plus.observability.ab import arm_of

KEYS = [f"conversation-{number}" for number in range(4000)]


@pytest.mark.parametrize("share", [0.0, 0.1, 0.5, 0.9, 1.0])
def test_arm_of_divides_by_share(share: float) -> None:
    in_a = sum(arm_of(key, share) == "a" for key in KEYS)
    deviation = 4 * (share * (1 - share) * len(KEYS)) ** 0.5  # 4 standard deviations of a fair division
    assert abs(in_a - share * len(KEYS)) <= deviation


def test_arm_of_is_the_same_in_every_process() -> None:
    assert "".join(map(arm_of, ("1", "2", "3", "4", "5", "6", "7", "8"))) == "abbaaaaa"


def test_arm_of_keeps_a_conversation_in_its_arm_when_the_share_rises() -> None:
    small = {key for key in KEYS if arm_of(key, 0.1) == "a"}
    large = {key for key in KEYS if arm_of(key, 0.3) == "a"}
    assert small < large


def test_arm_of_divides_anew_with_another_salt() -> None:
    agreeing = sum(arm_of(key, salt="one") == arm_of(key, salt="two") for key in KEYS)
    assert 0.4 < agreeing / len(KEYS) < 0.6


def test_arm_of_takes_any_text() -> None:
    assert arm_of("\ud800") in ("a", "b")


@pytest.mark.parametrize("share", [-0.1, 1.1, float("nan")])
def test_arm_of_refuses_a_share_outside_0_to_1(share: float) -> None:
    with pytest.raises(ConfigurationError, match="share"):
        arm_of("x", share)


def test_examples_run() -> None:
    assert doctest.testmod(ab).failed == 0
