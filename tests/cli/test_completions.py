import json
import shutil
import subprocess

import pytest

from llama_index_condense_plus import cli

pytest.importorskip("shtab")


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_completions_know_every_command_and_option(shell, capsys):
    assert cli.main(["completions", shell]) == 0
    script = capsys.readouterr().out
    for word in (*cli.COMMANDS, "history", "sample", "output"):
        assert word in script


def test_completions_are_valid_bash(capsys, tmp_path):
    bash = shutil.which("bash")
    if bash is None:
        pytest.skip("there is no bash here")
    assert cli.main(["completions", "bash"]) == 0
    script = tmp_path / "completions.bash"
    script.write_text(capsys.readouterr().out)
    ask = (
        f'source {script}; COMP_WORDS=(condense-plus ex); COMP_CWORD=1; _shtab_condense_plus; echo "${{COMPREPLY[@]}}"'
    )
    done = subprocess.run([bash, "-c", ask], capture_output=True, text=True, check=False)
    assert done.stdout.strip() == "explain", done.stderr


def test_completions_print_json_too(capsys):
    assert cli.main(["completions", "bash", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["shell"] == "bash"
