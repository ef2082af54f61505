"""What fuzzing once found stays found: the corpus is run through its targets, with a few new texts each."""

from pathlib import Path

import pytest
from hypothesis import given, settings

from tests.fuzz.targets import CORPUS, TARGETS
from tests.hostile.texts import hostile_text

FILES = sorted(CORPUS.glob("*.txt"))


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.stem)
def test_corpus_crashes_nothing(file: Path) -> None:
    TARGETS[file.name.split("-")[0]](file.read_bytes().decode("utf-8", "surrogatepass"))


@pytest.mark.parametrize("name", TARGETS)
def test_targets_take_new_texts(name: str) -> None:
    @settings(max_examples=30, deadline=None, derandomize=True, database=None)
    @given(hostile_text)
    def check(text: str) -> None:
        TARGETS[name](text)

    check()


def test_corpus_has_a_text_for_every_target() -> None:
    assert {file.name.split("-")[0] for file in FILES} == set(TARGETS)
