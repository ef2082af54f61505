import io
import json

import pytest

from llama_index_condense_plus.cli.history import read_history
from llama_index_condense_plus.errors import ConfigurationError

EXPECTED = [("user", "介绍一下标准版"), ("assistant", "标准版适合小团队。")]
ROWS = [json.dumps({"role": role, "content": content}, ensure_ascii=False) for role, content in EXPECTED]
FORMS = {
    "plain text": "介绍一下标准版\n\n标准版适合小团队。\n",
    "speakers": "user: 介绍一下标准版\nAssistant：标准版适合小团队。\n",
    "Chinese speakers": "用户：介绍一下标准版\n助手：标准版适合小团队。\n",
    "JSON Lines": "\n".join(ROWS),
    "JSON array": f"[{ROWS[0]},\n {ROWS[1]}]",
}


@pytest.mark.parametrize("text", FORMS.values(), ids=FORMS.keys())
def test_read_history_takes_text_and_json(text, tmp_path):
    file = tmp_path / "history"
    file.write_text(text, encoding="utf-8")
    assert [(m.role.value, m.content) for m in read_history(str(file))] == EXPECTED


def test_read_history_takes_standard_input(monkeypatch):
    monkeypatch.setattr("sys.stdin", io.StringIO(FORMS["plain text"]))
    assert len(read_history("-")) == 2


def test_read_history_without_a_file_is_empty():
    assert read_history(None) == []


@pytest.mark.parametrize("text", ['{"role": "robot", "content": "x"}', '{"text": "x"}', "[1]", "{broken"])
def test_read_history_refuses_other_json(text, tmp_path):
    file = tmp_path / "history.json"
    file.write_text(text)
    with pytest.raises(ConfigurationError, match="--history"):
        read_history(str(file))
