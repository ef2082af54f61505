from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from llama_index_condense_plus.evaluation.cases import Dataset, load_dataset, load_passages, shipped_dataset
from llama_index_condense_plus.evaluation.checking import check_dataset
from llama_index_condense_plus.evaluation.reading import DataFileError
from llama_index_condense_plus.evaluation.retriever import LexicalRetriever
from tests.evaluation.data import DATASET, case

ROW: dict[str, Any] = {
    "id": "a",
    "lang": "zh",
    "category": "ellipsis",
    "history": [{"role": "user", "content": "年假几天？"}, {"role": "assistant", "content": "五天。"}],
    "question": "病假呢？",
    "accepted_rewrites": ["病假几天"],
    "must_contain": ["病假"],
    "must_not_contain": [],
    "needs_rewrite": True,
    "gold": ["sick"],
}


def written(folder: Path, *rows: dict[str, Any], name: str = "cases.jsonl") -> Path:
    path = folder / name
    path.write_text("".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows), encoding="utf-8")
    return path


def test_load_dataset_reads_cases_and_the_corpus_beside_them(tmp_path: Path) -> None:
    written(tmp_path, {"id": "sick", "lang": "zh", "title": "病假", "text": "病假十天。"}, name="passages.jsonl")
    dataset = load_dataset(written(tmp_path, ROW))
    assert [passage.id for passage in dataset.passages] == ["sick"]
    assert [message.content for message in dataset.cases[0].chat_history()] == ["年假几天？", "五天。"]


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"question": 3}, "field question: a text is expected"),
        ({"needs_rewrite": None}, "field needs_rewrite: true or false"),
        ({"history": [{"role": "robot", "content": "x"}]}, "user or assistant, not robot"),
        ({"history": [{"role": "user", "text": "x"}]}, r"unknown field history\[0\].text"),
        ({"gold": "sick"}, "field gold: a list of texts"),
        ({"qestion": "x"}, "unknown field qestion"),
        ({"aliases": {"a": 1}}, "field aliases"),
    ],
)
def test_load_dataset_names_line_and_field(tmp_path: Path, changes: dict[str, Any], reason: str) -> None:
    with pytest.raises(DataFileError, match=f"line 2: .*{reason}"):
        load_dataset(written(tmp_path, ROW, ROW | {"id": "b"} | changes))


def test_load_dataset_refuses_an_id_used_twice(tmp_path: Path) -> None:
    with pytest.raises(DataFileError, match="line 2: the id a was used before"):
        load_dataset(written(tmp_path, ROW, ROW))


def test_load_passages_refuses_an_id_used_twice(tmp_path: Path) -> None:
    row = {"id": "p", "text": "x"}
    with pytest.raises(DataFileError, match="line 2: the id p was used before"):
        load_passages(written(tmp_path, row, row))


def test_dataset_sampled_keeps_shares() -> None:
    sampled = shipped_dataset().sampled(100)
    share = sum(bool(c.needs_rewrite) for c in sampled.cases) / 100
    assert 0.55 <= share <= 0.67
    assert len({c.category for c in sampled.cases}) >= 20


def test_dataset_sampled_spreads_over_categories() -> None:
    cases = [case(id=f"{category}{i}", category=category) for category in "ab" for i in range(10)]
    sampled = Dataset("x", tuple(cases)).sampled(4)
    assert [c.id for c in sampled.cases] == ["a0", "a1", "b0", "b1"]
    assert DATASET.sampled(None) is DATASET
    assert DATASET.sampled(99) is DATASET


def test_dataset_fingerprint_changes_with_a_word() -> None:
    other = Dataset("small", (case(question="And the cost?"),), DATASET.passages)
    assert other.fingerprint() != Dataset("small", (case(),), DATASET.passages).fingerprint()


def test_shipped_dataset_is_in_order() -> None:
    dataset = shipped_dataset()
    assert check_dataset(dataset, LexicalRetriever(dataset.passages, similarity_top_k=10)) == []


def test_shipped_dataset_has_the_promised_size_and_categories() -> None:
    dataset = shipped_dataset()
    languages = Counter(c.lang for c in dataset.cases)
    assert len(dataset.cases) >= 240
    assert len(dataset.passages) >= 400
    assert min(languages["zh"], languages["en"]) >= 120
    assert {c.category for c in dataset.cases} >= {
        "personal_reference",
        "demonstrative_reference",
        "omitted_subject",
        "cross_turn_jump",
        "entity_mixing",
        "ellipsis",
        "slot_filling",
        "ordinal",
        "plural",
        "topic_switch",
        "small_talk",
        "complete",
        "alias",
        "connective",
        "lure",
        "injection",
        "ambiguous",
    }


@pytest.mark.parametrize(
    ("history", "question"),
    [
        ("佐助什么都没做", "那么他厉害吗"),
        ("boss", "失败的原因"),
        ("入职流程", "那审批需要多久"),
        ("入职流程", "费用呢"),
        ("入职流程", "还有吗"),
        ("入职材料", "身份证复印件可以吗|电子版行不行|多久能办好"),
        ("API有限流吗", "升级套餐多少钱"),
        ("GTE-3000的保修期", "那超期了呢"),
        ("企业版", "它支持私有化吗"),
        ("部署方案", "第二种方案呢"),
        ("GTE-3000", "回到刚才那个型号"),
        ("张三", "他下周还会去深圳吗"),
        ("张三和李四", "他上周的方案通过了吗"),
        ("方案A和方案B", "这个方案的扩展性"),
        ("方案A和方案B", "优缺点"),
        ("客户A和客户B", "那家的报价单"),
        ("项目A和项目B", "那后来呢"),
        ("财报", "那他们的毛利率"),
        ("财报", "今年和去年比是升是降"),
        ("华为2023", "那款折叠屏是哪年发布的"),
        ("营收", "净利润呢"),
        ("项目", "后续怎么推进"),
        ("质量问题", "那退款呢"),
        ("退款政策", "那它的有效期呢"),
    ],
)
def test_shipped_dataset_holds_the_known_dialogues(history: str, question: str) -> None:
    assert any(
        any(part in c.question for part in question.split("|")) and any(history in m.content for m in c.history)
        for c in shipped_dataset().cases
    )
