"""What counts as something that a conversation may be about."""

import pytest

from llama_index_condense_plus.rewriting.entities import MAX_ENTITIES, DefaultEntityExtractor
from llama_index_condense_plus.rewriting.ranking import rank_entities
from llama_index_condense_plus.types import WindowMessage


def found(text: str) -> dict[str, str]:
    """Return the entities of a text with their kinds."""
    return {entity.text: entity.kind for entity in DefaultEntityExtractor().extract(text)}


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("看过《十面埋伏》吗？", "十面埋伏"),
        ("星河X1音箱怎么样？", "星河X1音箱"),
        ("宁德时代的股价是多少？", "宁德时代"),
        ("我想去北京植物园看看。", "北京植物园"),
        ("你认识玛丽昂·歌迪亚吗？", "玛丽昂·歌迪亚"),
        ("The GTE-3000 is out of stock.", "GTE-3000"),
        ("Does lung cancer spread to the throat?", "lung cancer"),
        ("What causes throat cancer?", "throat cancer"),
        ("Are there any plans in IBM Cloud?", "IBM Cloud"),
        ('Have you read "The Long Road"?', "The Long Road"),
    ],
)
def test_names_are_found_whole(text: str, name: str) -> None:
    assert name in found(text)


@pytest.mark.parametrize("text", ["", "   ", "???", "the of and", "的了吗", "\x00", "𝔘𝔫𝔦", "a" * 50_000])
def test_any_text_is_read(text: str) -> None:
    entities = DefaultEntityExtractor().extract(text)
    assert all(text[e.start : e.start + len(e.text)] == e.text for e in entities)


def test_entities_keep_their_place_and_do_not_overlap() -> None:
    text = "Zentrix Corp bought 200 units of GTE-3000 from 宁德时代 for “Project Blue”."
    entities = DefaultEntityExtractor().extract(text)
    assert all(text[e.start : e.start + len(e.text)] == e.text for e in entities)
    ends = [entity.start + len(entity.text) for entity in entities]
    assert all(end <= after.start for end, after in zip(ends, entities[1:], strict=False))


def test_long_texts_give_a_bounded_number() -> None:
    assert len(DefaultEntityExtractor().extract(", ".join(f"Kestrel-{i}" for i in range(500)))) == MAX_ENTITIES


def test_newest_and_most_frequent_name_ranks_first() -> None:
    talk = [
        WindowMessage("user", text, text)
        for text in ("Tell me about Zentrix.", "Tell me about Kestrel.", "Is Kestrel listed?")
    ]
    ranked = rank_entities(talk)
    assert ranked[0][0].text == "Kestrel"
    assert [score for _, score in ranked] == sorted((score for _, score in ranked), reverse=True)
