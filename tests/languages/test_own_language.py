"""A language of one's own is a folder with a words.toml: the engine reads it like those that come with the package."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from llama_index_condense_plus import CondensePlusSettings, LanguagePack, languages, register_pack
from llama_index_condense_plus.errors import ConfigurationError
from llama_index_condense_plus.languages import detect_language, pack, pack_of

ITALIAN = r"""
code = "it"
name = "Italian"

[words]
frequent = "il lo gli che di e è un una per con non sono come dove quando quanto costa più anche questo quello"
pronoun = "lui lei esso essa loro questo questa quello quella"
opener = "e, ma, allora, anche"
acknowledgement = "grazie, ciao, va bene, perfetto"

[patterns]
sentence = '''[^.!?\n]+[.!?\n]*'''
clause = '''[^.!?,\n]+[.!?,\n]*'''
asks = '''[?]'''
reference = '''\b(?P<thing>{pronoun}|{own_reference})\b'''

[phrases]
user = "Utente"
"""


@pytest.fixture
def italian(tmp_path: Path) -> Iterator[Path]:
    folder = tmp_path / "it"
    folder.mkdir()
    (folder / "words.toml").write_text(ITALIAN, encoding="utf-8")
    made: LanguagePack = register_pack(folder)
    assert made.code == "it"
    yield folder
    languages._registered.clear()
    languages._detector.cache_clear()


@pytest.mark.usefixtures("italian")
def test_registered_language_is_known_everywhere() -> None:
    message = "E quanto costa questo?"
    assert detect_language(message) == "it"
    own = pack_of(message)
    assert [reference.text for reference in own.references(message)] == ["questo"]
    assert {cue.name for cue in own.cues(message)} == {"opener", "pronoun"}
    assert own.small_talk("grazie!")
    assert own.phrase("user") == "Utente"
    assert own.phrase("assistant") == "Assistant"


@pytest.mark.usefixtures("italian")
def test_words_of_the_user_change_a_pack() -> None:
    settings = CondensePlusSettings(languages={"it": {"pronouns_add": ["codesto"], "pronouns_remove": ["lui"]}})
    own = pack("it", settings)
    assert [reference.text for reference in own.references("lui e codesto?")] == ["codesto"]
    assert [reference.text for reference in pack("it").references("lui e codesto?")] == ["lui"]


@pytest.mark.parametrize(
    ("option", "message", "reads"),
    [
        ("openers_add", "pues X100?", lambda own, text: "opener" in {cue.name for cue in own.cues(text)}),
        ("small_talk_add", "gut gemacht", lambda own, text: own.small_talk(text)),
        ("connectives_add", "seinerzeit X100", lambda own, text: own.connectives(text)),
    ],
)
def test_every_kind_of_word_can_be_added(option: str, message: str, reads) -> None:
    word = message.removesuffix("?").removesuffix(" X100")
    settings = CondensePlusSettings(languages={"en": {option: [word]}})
    assert not reads(pack("en"), message)
    assert reads(pack("en", settings), message)


@pytest.mark.parametrize("broken", ["", "code = ", 'name = "Italian"', None])
def test_broken_folder_is_refused(tmp_path: Path, broken: str | None) -> None:
    if broken is not None:
        (tmp_path / "words.toml").write_text(broken, encoding="utf-8")
    with pytest.raises(ConfigurationError, match=r"words\.toml"):
        register_pack(tmp_path)


def test_words_for_a_language_that_nobody_knows_are_refused() -> None:
    with pytest.raises(ConfigurationError, match="Did you mean zh"):
        languages.check_languages(CondensePlusSettings(languages={"cn": {}}))
