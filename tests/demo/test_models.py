import pytest

from llama_index_condense_plus.demo.models import DEFAULT_OPENAI_MODEL, load_model
from llama_index_condense_plus.errors import ConfigurationError


@pytest.fixture(autouse=True)
def _no_key(monkeypatch):
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)


def test_there_is_no_model_without_key_and_server():
    assert load_model() is None


def test_a_key_means_openai(monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", "sk-test")
    assert load_model().model == DEFAULT_OPENAI_MODEL
    assert load_model(model="gpt-4o").model == "gpt-4o"


def test_any_server_will_do(monkeypatch):
    monkeypatch.setattr("llama_index_condense_plus.demo.models._check_server", lambda _: None)
    llm = load_model("http://127.0.0.1:1/v1", "own-model")
    assert (llm.api_base, llm.model) == ("http://127.0.0.1:1/v1", "own-model")
    assert llm.metadata.is_chat_model


@pytest.mark.parametrize(
    ("api_base", "model", "words"),
    [
        ("http://127.0.0.1:1", None, "--model"),
        (None, "x", "--api-base"),
        ("http://127.0.0.1:1/v1", "x", "no server"),
    ],
)
def test_half_a_choice_is_refused(api_base, model, words):
    with pytest.raises(ConfigurationError, match=words):
        load_model(api_base, model)
