from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from llama_index_condense_plus.rewriting.cutting import cut, estimate_tokens


def test_estimate_tokens_counts_scripts_apart() -> None:
    assert estimate_tokens("你好，世界") == 5
    assert estimate_tokens("hello worldwide") == 1 + 2
    assert estimate_tokens("2024") == 2
    assert estimate_tokens("") == 0


def test_cut_leaves_a_short_text() -> None:
    assert cut("short text", 10) == "short text"


def test_cut_keeps_both_ends() -> None:
    shortened = cut("begin " + "word " * 200 + "end", 20)
    assert shortened.startswith("begin")
    assert shortened.endswith("end")
    assert "…" in shortened
    assert estimate_tokens(shortened) <= 20


def test_cut_keeps_every_list_item() -> None:
    text = "三种办法：\n" + "\n".join(f"{n}. 办法{n}" + "说明" * 60 for n in "123")
    shortened = cut(text, 80)
    assert all(f"{n}. 办法{n}" in shortened for n in "123")
    assert "三种办法" in shortened
    assert estimate_tokens(shortened) <= 80


def test_cut_uses_the_given_counter() -> None:
    assert len(cut("x" * 100, 10, len)) <= 10


def test_cut_to_nothing() -> None:
    assert cut("anything", 0) == ""


def test_cut_counts_no_megabyte() -> None:
    counted: list[int] = []

    def count(text: str) -> int:
        counted.append(len(text))
        return len(text)

    cut("字" * 1_000_000, 100, count)
    assert max(counted) < 10_000


@given(st.text(max_size=400), st.integers(0, 60))
def test_cut_never_exceeds_its_limit(text: str, limit: int) -> None:
    assert estimate_tokens(cut(text, limit)) <= limit


def test_estimate_tokens_rounds_words_and_numbers_up() -> None:
    assert [estimate_tokens("a" * n) for n in (1, 6, 7, 12, 13)] == [1, 1, 2, 2, 3]
    assert [estimate_tokens("1" * n) for n in (1, 3, 4, 6, 7)] == [1, 1, 2, 2, 3]
    assert estimate_tokens("a1 b,") == 4


def test_cut_keeps_six_tenths_of_the_beginning_and_four_of_the_end() -> None:
    assert cut("abcdefghijklmnopqrstuvwxyz", 13, len) == "abcdef … wxyz"
    assert cut("abcdefghij", 10, len) == "abcdefghij"
    assert cut("abcdefghijk", 10, len) == "abcd … ijk"
    assert cut("abc def ghi jkl", 9, len) == "abc … jkl"


def test_cut_shares_the_room_of_a_list_equally_and_leaves_short_items_whole() -> None:
    text = "1. aa\n2. bbbbbbbbbbbbbbbbbbbb\n3. cccccccccccccccccccc"
    assert cut(text, 32, len) == "1. aa\n2. bbbbbbb …\n3. cccccccc …"


def test_cut_below_a_single_character_is_nothing() -> None:
    assert cut("字" * 50, 1, lambda text: 5 * len(text)) == ""


def test_cut_keeps_short_items_whole_wherever_they_stand() -> None:
    items = ["1. " + "x" * 90, "2. short", "3. " + "y" * 90, "4. brief"]
    shortened = cut("\n".join(items), 60, len)
    assert "2. short" in shortened
    assert "4. brief" in shortened
    long = [line for line in shortened.splitlines() if line[:1] in "13"]
    assert abs(len(long[0]) - len(long[1])) <= 1
    assert len(shortened) <= 60
