import pytest

from llama_index_condense_plus.rewriting.entities import DefaultEntityExtractor
from llama_index_condense_plus.rewriting.topics import since_topic_start
from llama_index_condense_plus.types import WindowMessage

BIKES = ["What does the Kestrel cost?", "The Kestrel costs 2,450 euros."]
HUTS = ["When is Falkner Hut open?", "Falkner Hut is open from June."]


def kept(texts):
    messages = [WindowMessage("assistant" if i % 2 else "user", text, text) for i, text in enumerate(texts)]
    return [message.full_text for message in since_topic_start(messages, DefaultEntityExtractor())]


@pytest.mark.parametrize(
    ("texts", "expected"),
    [
        ([*BIKES, *HUTS], HUTS),
        ([*BIKES, *HUTS, "And Gale Hut?", "It opens in July."], ["And Gale Hut?", "It opens in July."]),
        ([*BIKES, "And its weight?", "The Kestrel weighs 21 kg."], None),
        ([*BIKES, "Is it lighter than the Osprey?", "The Osprey is heavier than the Kestrel."], None),
        ([*BIKES, "What does the Osprey cost?", "The Osprey is dearer."], None),
        ([], None),
    ],
    ids=["new topic", "substitution", "ellipsis", "reference", "shared words", "nothing"],
)
def test_since_topic_start_cuts_at_clear_changes_only(texts, expected):
    assert kept(texts) == (texts if expected is None else expected)
