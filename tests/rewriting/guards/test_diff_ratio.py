"""Retention and novelty: what counts as kept, as said, and as mere thanks."""

from __future__ import annotations

import pytest

from llama_index_condense_plus import GuardVerdict
from llama_index_condense_plus.rewriting.guards import DiffRatioGuard, limits_for
from llama_index_condense_plus.settings.sections import DiffRatioSettings, GuardsSettings
from tests.rewriting.guards.test_single_guards import LIMITS, NOTHING, talk, verdicts

GUARD = DiffRatioGuard(DiffRatioSettings(), LIMITS)
PHONE = talk("Which phone is good?", "The Orion Gateway.")
FILM = talk("看过活着吗？", "看过，张艺谋导演的。")


def measured(original: str, rewrite: str, window=FILM, guard=GUARD) -> dict[str, tuple[float | None, str]]:
    found = verdicts(guard, original, rewrite, window)
    return {name.removeprefix("diff_ratio."): (one.measured, one.detail) for name, one in found.items()}


@pytest.mark.parametrize(
    ("original", "rewrite", "kept"),
    [
        ("演员表", "活着的演员", 1.0),  # a longer word that lost one end
        ("泡水怎么办", "活着泡在水里怎么办", 1.0),
        ("treatable", "treatment", 1.0),
        ("state-of-the-art screen", "screen state of art", 1.0),
        ("rock-n-roll", "rock and roll", 0.0),
        ("recieve the parcel", "receive the parcel", 1.0),
        ("batery", "battery", 1.0),
        ("abcde", "abcd", 1.0),  # one letter of five is a slip
        ("form", "from", 0.0),  # short words are no slips of each other
        ("batery", "buttons", 0.0),
        ("good bye", "goodbye", 1.0),
        ("what about that restaurant's menu", "the menu of Luigi's", 1.0),  # what is pointed at may become a name
        ("what about the restaurant's menu", "the menu of Luigi's", 0.5),
        ("那它的保修期呢", "活着的价格", 0.0),  # what it has may not
        ("那保修期呢", "活着的价格", 0.0),
        ("3 apples", "apples", 1.0),  # numbers are another guard's
        ("谁演的", "主演是谁", 1.0),
        ("多久上映的票房", "上映多久", 0.667),  # the kind of question counts as a word
        ("电影的导演是谁？", "活着的导演是谁？", 0.667),
        ("嗯，听说很感人。导演是谁？", "活着的导演是谁？", 0.667),
        ("I loved the acting, really touching. Who directed it?", "Who directed Orion?", 1.0),  # only the asking clause
        ("！？", "价格", 1.0),
    ],
)
def test_retention_knows_a_word_in_another_form(original, rewrite, kept):
    assert measured(original, rewrite)["retention"][0] == kept


def test_retention_of_the_minimal_profile_is_that_of_the_whole_question():
    guard = DiffRatioGuard(DiffRatioSettings(), limits_for(GuardsSettings(profile="minimal")))
    question, rewrite = "嗯，听说很感人。导演是谁？", "活着的导演是谁？"
    assert measured(question, rewrite, guard=guard)["retention"] == (0.667, "lost: 感人")


def test_retention_names_at_most_six_lost_words():
    question = "red juicy apple banana cherry lemon melon grape"
    assert measured(question, "weather", PHONE)["retention"] == (
        0.0,
        "lost: red, juicy, apple, banana, cherry, lemon",
    )


@pytest.mark.parametrize(
    ("original", "rewrite", "new"),
    [
        ("is it sturdy enough", "Is the Orion Gateway sturdy enough wobbly", 0.0),  # one word is forgiven
        ("is it sturdy enough", "Is the Orion Gateway sturdy wobbly", 0.25),  # but not in other wording
        ("is it sturdy enough", "Is the Orion Gateway sturdy enough wobbly shaky", 0.333),
        ("价格", "牛奶咖啡价格", 0.0),  # words that everybody uses are the question's own wording
        ("有什么", "牛奶咖啡价格", 1.0),  # where the question has none they are new
        ("那呢", "那呢", 0.0),
        ("那呢", "天气预报", 1.0),
    ],
)
def test_novelty_counts_what_nobody_said(original, rewrite, new):
    window = FILM if original in {"价格", "有什么", "那呢"} else PHONE
    assert measured(original, rewrite, window)["novelty"][0] == new


def test_novelty_counts_what_is_grounded_as_said():
    assert measured("and it?", "weather forecast Rome", PHONE)["novelty"] == (
        1.0,
        "never said: weather, forecast, Rome",
    )
    grounded = DiffRatioGuard(DiffRatioSettings(), LIMITS, grounded=("weather forecast Rome",))
    assert measured("and it?", "weather forecast Rome", PHONE, grounded)["novelty"] == (0.0, "")


def test_novelty_names_at_most_six_new_words():
    detail = measured("and the price?", "rome paris berlin madrid vienna oslo athens", PHONE)["novelty"][1]
    assert detail == "never said: rome, paris, berlin, madrid, vienna, oslo"


@pytest.mark.parametrize(
    ("original", "rewrite", "new"),
    [
        ("thanks!", "thank you very much", 0.0),
        ("Thanks", "THANKS so", 0.0),
        ("good bye", "goodbye", 0.0),
        ("谢谢", "不客气", 1.0),
        ("thanks", "weather in Rome", 1.0),
        ("it is ok", "ok is it", 0.0),
        ("is it ok or not", "are you well", 1.0),
    ],
)
def test_novelty_of_thanks_is_that_of_all_words(original, rewrite, new):
    window = FILM if original == "谢谢" else PHONE
    found = verdicts(GUARD, original, rewrite, window)["diff_ratio.novelty"]
    assert found == GuardVerdict("diff_ratio.novelty", new <= 0.5, "reject", new, 0.5)


def test_thanks_that_also_ask_are_a_question():
    assert verdicts(GUARD, "thanks, is it ok?", "weather", PHONE)["diff_ratio.novelty"].limit == LIMITS.max_novelty
    assert verdicts(GUARD, "thanks, Luigi", "weather", PHONE)["diff_ratio.novelty"].limit == LIMITS.max_novelty
    assert verdicts(GUARD, "thanks", "weather", NOTHING)["diff_ratio.novelty"].limit == LIMITS.max_novelty
