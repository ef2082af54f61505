from __future__ import annotations

from llama_index_condense_plus.lexicons.memo import LONGEST_WORD, Memo


def test_memo_keeps_what_it_is_given() -> None:
    memo: Memo[str, int] = Memo(10)
    assert memo.keep("ab", 2) == 2
    assert memo == {"ab": 2}


def test_memo_begins_anew_when_it_is_full() -> None:
    memo: Memo[int, int] = Memo(3)
    for number in range(5):
        memo.keep(number, number)
    assert memo == {3: 3, 4: 4}


def test_memo_keeps_no_numbers_for_they_do_not_recur() -> None:
    memo: Memo[str, int] = Memo(10)
    assert [memo.keep(word, 1) for word in ("2024", "P60", "第3")] == [1, 1, 1]
    assert not memo


def test_memo_keeps_no_endless_words() -> None:
    memo: Memo[str, int] = Memo(10)
    assert memo.keep("x" * (LONGEST_WORD + 1), 1) == 1
    assert not memo
