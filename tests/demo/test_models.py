import pytest

from llama_index_condense_plus.demo.models import DEFAULT_OPENAI_MODEL, ModelChoice
from llama_index_condense_plus.errors import ConfigurationError


@pytest.fixture(autouse=True)
def no_key(monkeypatch):
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)


def test_model_choice_is_none_without_key_and_server():
    assert ModelChoice().load() is None


def test_model_choice_takes_openai_with_a_key(monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", "sk-test")
    assert ModelChoice().load().model == DEFAULT_OPENAI_MODEL
    assert ModelChoice(model="gpt-4o").load().model == "gpt-4o"


def test_model_choice_takes_any_server(monkeypatch):
    monkeypatch.setattr("llama_index_condense_plus.demo.models._check_server", lambda _: None)
    llm = ModelChoice("http://127.0.0.1:1/v1", "own-model").load()
    assert (llm.api_base, llm.model) == ("http://127.0.0.1:1/v1", "own-model")
    assert llm.metadata.is_chat_model


@pytest.mark.parametrize("choice", [ModelChoice(api_base="http://127.0.0.1:1/v1"), ModelChoice(model="x")])
def test_model_choice_refuses_half_a_choice(choice):
    with pytest.raises(ConfigurationError):
        choice.load()
