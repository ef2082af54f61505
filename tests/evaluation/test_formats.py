from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from llama_index_condense_plus.evaluation.cases import Dataset
from llama_index_condense_plus.evaluation.formats import read_dataset
from llama_index_condense_plus.evaluation.reading import DataFileError


def written(folder: Path, name: str, value: Any) -> Path:
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    lines = [json.dumps(row, ensure_ascii=False) for row in value] if name.endswith(".jsonl") else None
    path.write_text("\n".join(lines) if lines else value if isinstance(value, str) else json.dumps(value), "utf-8")
    return path


def only(dataset: Dataset) -> tuple[list[str], str, tuple[str, ...], bool | None]:
    (case,) = dataset.cases
    history = [f"{message.role}: {message.content}" for message in case.history]
    return history, case.question, case.accepted_rewrites, case.needs_rewrite


def test_read_dataset_reads_canard(tmp_path: Path) -> None:
    row = {
        "History": ["Frank Zappa", "Disbandment", "When did they split?", "In 1969."],
        "QuAC_dialog_id": "C_1",
        "Question_no": 2,
        "Question": "Why did they?",
        "Rewrite": "Why did Zappa's band split?",
    }
    history, question, accepted, needs = only(read_dataset(written(tmp_path, "dev.json", [row])))
    assert history[2:] == ["user: When did they split?", "assistant: In 1969."]
    assert (question, accepted, needs) == ("Why did they?", ("Why did Zappa's band split?",), True)


def test_read_dataset_reads_qrecc(tmp_path: Path) -> None:
    row = {
        "Context": ["What is throat cancer?", "A disease."],
        "Question": "Is throat cancer treatable?",
        "Rewrite": "Is throat cancer treatable?",
        "Answer": "",
        "Conversation_no": 7,
        "Turn_no": 2,
    }
    history, _, _, needs = only(read_dataset(written(tmp_path, "qrecc_train.json", [row])))
    assert history == ["user: What is throat cancer?", "assistant: A disease."]
    assert needs is False


@pytest.mark.parametrize("tabs", ["\t", "\t\t"], ids=["documented", "published"])
def test_read_dataset_reads_rewrite(tmp_path: Path, tabs: str) -> None:
    path = written(tmp_path, "corpus.txt", tabs.join(["能给我签名吗", "出专辑再议", "我现在就要", "我现在就要签名"]))
    assert only(read_dataset(path)) == (
        ["user: 能给我签名吗", "assistant: 出专辑再议"],
        "我现在就要",
        ("我现在就要签名",),
        True,
    )


def test_read_dataset_names_the_line_of_a_short_row_of_rewrite(tmp_path: Path) -> None:
    with pytest.raises(DataFileError, match="line 2: 4 columns are expected, not 2"):
        read_dataset(written(tmp_path, "corpus.txt", "a\tb\tc\td\na\tb"))


TOPIC = {
    "number": 31,
    "turn": [
        {"number": 1, "raw_utterance": "What is throat cancer?", "passage": "A disease."},
        {"number": 2, "raw_utterance": "Is it treatable?", "manual_rewritten_utterance": "Is throat cancer treatable?"},
    ],
}


def test_read_dataset_reads_cast_with_rewrites_inside(tmp_path: Path) -> None:
    first, second = read_dataset(written(tmp_path, "topics.json", [TOPIC])).cases
    assert (first.id, first.accepted_rewrites, first.history) == ("31_1", (), ())
    assert second.accepted_rewrites == ("Is throat cancer treatable?",)
    assert [message.role for message in second.history] == ["user", "assistant"]


def test_read_dataset_reads_cast_with_rewrites_beside(tmp_path: Path) -> None:
    written(tmp_path, "evaluation_topics_annotated_resolved_v1.0.tsv", "31_1\tWhat is throat cancer?\n31_2\tX\n")
    first, _ = read_dataset(written(tmp_path, "topics.json", [TOPIC])).cases
    assert first.accepted_rewrites == ("What is throat cancer?",)
    assert first.needs_rewrite is False


def test_read_dataset_reads_mtrag_generation_tasks(tmp_path: Path) -> None:
    row = {
        "task_id": "t<::>2",
        "contexts": [{"document_id": "d1", "text": "The Cardinals play in Arizona.", "title": "Cardinals"}],
        "input": [
            {"speaker": "user", "text": "Who are the Cardinals?"},
            {"speaker": "agent", "text": "A team."},
            {"speaker": "user", "text": "Where do they play?"},
        ],
        "targets": [],
    }
    dataset = read_dataset(written(tmp_path, "reference.jsonl", [row]))
    assert only(dataset)[:2] == (["user: Who are the Cardinals?", "assistant: A team."], "Where do they play?")
    assert (dataset.cases[0].gold, dataset.passages[0].id) == (("d1",), "d1")


def test_read_dataset_reads_mtrag_retrieval_tasks(tmp_path: Path) -> None:
    name = "t<::>2"
    written(tmp_path, "clapnq_questions.jsonl", [{"_id": name, "text": "|user|: Who are they?\n|user|: Where?"}])
    written(tmp_path, "clapnq_rewrite.jsonl", [{"_id": name, "text": "|user|: Where do the Cardinals play?"}])
    written(tmp_path, "qrels/dev.tsv", f"query-id\tcorpus-id\tscore\n{name}\td1\t1\n{name}\td2\t0\n")
    dataset = read_dataset(written(tmp_path, "clapnq_lastturn.jsonl", [{"_id": name, "text": "|user|: Where?"}]))
    assert only(dataset) == (["user: Who are they?"], "Where?", ("Where do the Cardinals play?",), True)
    assert dataset.cases[0].gold == ("d1",)


def test_read_dataset_reads_kdconv_with_its_knowledge_base(tmp_path: Path) -> None:
    written(tmp_path, "kb_film.json", {"霸王别姬": [["霸王别姬", "导演", "陈凯歌"]]})
    attrs = [{"attrname": "导演", "attrvalue": "陈凯歌", "name": "霸王别姬"}]
    dialogue = {
        "messages": [
            {"message": "看过霸王别姬吗？"},
            {"message": "看过。"},
            {"message": "导演是谁？"},
            {"message": "陈凯歌。", "attrs": attrs},
        ]
    }
    dataset = read_dataset(written(tmp_path, "dev.json", [dialogue]))
    history, question, accepted, needs = only(dataset)
    assert (len(history), question, accepted, needs) == (2, "导演是谁？", (), True)
    assert dataset.cases[0].gold == ("霸王别姬/导演",)
    assert [passage.id for passage in dataset.passages] == ["霸王别姬/导演"]


CANARD_ROW = {"History": ["A", "B"], "QuAC_dialog_id": "C", "Question_no": 1, "Question": "Who?", "Rewrite": "Who?"}


@pytest.mark.parametrize(
    ("name", "value", "reason"),
    [
        ("x.json", [{"something": 1}], "of no known format"),
        ("x.json", {"a": 1}, "a list of objects"),
        ("x.json", [CANARD_ROW, {"QuAC_dialog_id": "C"}], "x.json: entry 2: field 'Question_no' is missing"),
        ("x.json", [CANARD_ROW | {"Question": 5}], "entry 1: the question is no text"),
        ("x.json", [CANARD_ROW | {"Question": " "}], "entry 1: the question is no text"),
        ("x.json", [CANARD_ROW | {"History": "Zappa"}], "entry 1: the rewrite is a text and the history a list"),
        ("x.json", [CANARD_ROW | {"History": ["Zappa", 1]}], "entry 1: turn 2 of the history is no text"),
        ("x.jsonl", [{"task_id": "a", "input": []}], "entry 1: list index out of range"),
        ("x.json", [{"messages": [{"message": "导演是谁？"}, {"attrs": [{}]}]}], "entry 1: field 'name' is missing"),
        ("x.json", [{"number": 1, "turn": []}], "no cases"),
    ],
)
def test_read_dataset_says_what_is_wrong(tmp_path: Path, name: str, value: Any, reason: str) -> None:
    with pytest.raises(DataFileError, match=reason):
        read_dataset(written(tmp_path, name, value))
