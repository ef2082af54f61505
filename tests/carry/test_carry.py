"""What the carry does with a question, without any model."""

import pytest

from llama_index_condense_plus.linear import LinearModel
from llama_index_condense_plus.operations import RuleOutcome
from llama_index_condense_plus.rewriting.carry import CarryRewriter
from llama_index_condense_plus.types import HistoryWindow, WindowMessage


def window(*texts: str, items: tuple[str, ...] = ()) -> HistoryWindow:
    """Return a conversation in which user and assistant take turns, the user first."""
    roles = ("user", "assistant") * len(texts)
    messages = tuple(WindowMessage(role, text, text) for role, text in zip(roles, texts, strict=False))
    return HistoryWindow(messages, list_items=items)


def outcome(message: str, *history: str, items: tuple[str, ...] = ()) -> RuleOutcome:
    """Return what the carry makes of a message."""
    return CarryRewriter().outcome(message, window(*history, items=items))


@pytest.mark.parametrize(
    ("history", "message", "expected"),
    [
        (
            ("Tell me about the Lumora Max.", "It is a lamp."),
            "How much does it cost?",
            "How much does the Lumora Max cost?",
        ),
        (("Who founded Zentrix?", "Two sisters."), "What is its revenue?", "What is Zentrix's revenue?"),
        (("看过《山海谣》吗？", "看过，很好看。"), "它的导演是谁？", "山海谣的导演是谁？"),
        (("听说过星河X1音箱吗？", "听说过。"), "价格是多少？", "星河X1音箱价格是多少？"),
        (("宁德时代的股价是多少？", "两百元。"), "它的市值呢？", "宁德时代的市值呢？"),
    ],
)
def test_topic_takes_the_place_of_the_pronoun_or_stands_before(
    history: tuple[str, ...], message: str, expected: str
) -> None:
    found = outcome(message, *history)
    assert found.text == expected
    assert 0 < found.confidence <= 1


@pytest.mark.parametrize(
    "message",
    [
        "thanks!",
        "👍",
        "???",
        "haha",
        "好的",
        "谢谢你",
        "summarise what you said",
        "shorter, please",
        "我之前提过哪些问题？",
        "Is it raining?",
        "How do I reset my password for the Kestrel Pro?",
        "I moved to Berlin. What is the size of it?",
        "那罗马呢，它的人口是多少？",
        "北京大学的校长是谁？",
    ],
)
def test_declines_where_nothing_is_missing(message: str) -> None:
    history = (
        ("看过《山海谣》吗？", "看过。") if not message.isascii() else ("What is the capital of France?", "Paris.")
    )
    assert outcome(message, *history).text is None


@pytest.mark.parametrize(
    ("message", "expected"),
    [
        ("What does the second one cost?", "What does Plus cost?"),
        ("How long is the last one valid?", "How long is Ultra valid?"),
        ("2", "Plus"),
        ("option 3", "Ultra"),
        ("第二种多少钱？", "Plus多少钱？"),
        ("第二座多少钱？", "Plus多少钱？"),
        ("选2", "Plus"),
    ],
)
def test_ordinals_take_the_item_of_the_list(message: str, expected: str) -> None:
    items = ("Basic: $9 a month", "Plus: $19 a month", "Ultra: $29 a month")
    assert outcome(message, "Which plans are there?", "Three.", items=items).text == expected


def test_ordinal_beyond_the_list_is_declined() -> None:
    assert outcome("What does the fifth one cost?", "Plans?", "Two.", items=("Basic", "Plus")).text is None


@pytest.mark.parametrize(
    ("history", "message", "names"),
    [
        (("Compare the Foo-200 and the Bar-300.", "Both are pumps."), "How loud is it?", {"Foo-200", "Bar-300"}),
        (("方案A和方案B有什么不同？", "价格不同。"), "它多少钱？", {"方案A", "方案B"}),
    ],
)
def test_two_that_fit_alike_are_both_named(history: tuple[str, ...], message: str, names: set[str]) -> None:
    found = outcome(message, *history)
    assert found.ambiguous
    assert set(found.candidates) == names


def test_nothing_below_the_threshold_is_carried() -> None:
    sure = CarryRewriter(model=LinearModel({}, intercept=-20, threshold=0.5))
    assert sure.outcome("How much is it?", window("Tell me about Zentrix.", "A company.")).text is None


@pytest.mark.parametrize(
    ("question", "message", "expected"),
    [
        ("What is the population of Lisbon?", "Sorry, I meant Porto", "What is the population of Porto?"),
        ("How much is the Kestrel Pro?", "And the Osprey?", "How much is the Osprey?"),
        ("How do I install it?", "I meant on Linux", "on Linux: How do I install it?"),
        ("法国的首都是哪里？", "那意大利呢？", "意大利的首都是哪里？"),
        ("法国的首都是哪里？", "不是，我是说德国", "德国的首都是哪里？"),
        ("What is the population of Lisbon?", "What about cats?", None),
    ],
)
def test_another_name_and_a_correction_take_their_place_in_the_earlier_question(
    question: str, message: str, expected: str | None
) -> None:
    assert outcome(message, question, "…").text == expected


@pytest.mark.parametrize(
    ("history", "message", "expected"),
    [
        (("Tell me about the Kestrel.", "It flies.", "And the Osprey?", "Too."), "How much is it?", "the Osprey"),
        (("Tell me about Tokyo.", "A city."), "What is the weather there?", "Tokyo: What is the weather there?"),
        (("Compare the Foo-200 and the Bar-300.", "Both are pumps."), "How loud is the latter?", "is Bar-300?"),
    ],
)
def test_newest_name_wins_and_no_preposition_is_made_up(history: tuple[str, ...], message: str, expected: str) -> None:
    assert expected in str(outcome(message, *history).text)


def test_picked_item_is_the_topic_of_what_follows() -> None:
    items, history = ("The Basic plan", "The Plus plan"), ("Which plans?", "Two.", "How much is the second one?", "$9.")
    assert "Plus" in str(CarryRewriter().topic_query("And is it refundable?", window(*history, items=items)))


@pytest.mark.parametrize(
    "message", ["What are your opening hours?", "I moved to Berlin. What is the size of it?", "phew"]
)
def test_no_topic_for_what_the_message_says_itself(message: str) -> None:
    assert outcome(message, "What is the capital of France?", "Paris.").text is None


def test_topic_query_puts_the_topic_before_the_question() -> None:
    carry, talk = CarryRewriter(), window("Tell me about Zentrix.", "A company.")
    assert carry.topic_query("Who owns it?", talk) == "Zentrix: Who owns it?"
    assert carry.topic_query("Who owns it?", HistoryWindow()) is None
