from __future__ import annotations

from llama_index_condense_plus.languages.memo import Memo


def test_memo_makes_a_value_once() -> None:
    made: list[str] = []

    def make(key: str) -> int:
        made.append(key)
        return len(key)

    memo = Memo(make, 10)
    assert [memo["ab"], memo["ab"], memo["abc"]] == [2, 2, 3]
    assert made == ["ab", "abc"]


def test_memo_begins_anew_when_it_is_full() -> None:
    memo: Memo[int, int] = Memo(lambda key: key, 3)
    assert [memo[number] for number in range(5)] == [0, 1, 2, 3, 4]
    assert dict(memo) == {3: 3, 4: 4}


def test_memo_keeps_only_what_is_worth_it() -> None:
    memo: Memo[str, str] = Memo(str.upper, 10, lambda key: len(key) < 3)
    assert [memo["ab"], memo["abc"]] == ["AB", "ABC"]
    assert list(memo) == ["ab"]
