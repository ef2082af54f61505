from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from llama_index.core.base.llms.types import ChatMessage
from llama_index.core.chat_engine.condense_question import DEFAULT_PROMPT
from llama_index.core.llms import MockLLM
from llama_index.core.prompts import PromptTemplate

from llama_index_condense_plus.errors import ConfigurationError
from llama_index_condense_plus.operations import Predict, Prediction, Race
from llama_index_condense_plus.rewriting.history import build_window
from llama_index_condense_plus.rewriting.prompts import StandaloneQuestion
from llama_index_condense_plus.rewriting.rewriters import (
    ConcatRewriter,
    LLMRewriter,
    RacingRewriter,
    StockRewriter,
    build_rewriters,
    predict_hash,
)
from llama_index_condense_plus.rewriting.rules import RuleRewriter
from llama_index_condense_plus.settings.sections import HistorySettings, RewriteSettings
from llama_index_condense_plus.types import RewriteRequest, TriggerDecision, TriggerReason

HISTORY = [("user", "What is the GTE-3000?"), ("assistant", "A sensor.")]
OWN = "History: {chat_history}\nQuestion: {question}"


def request(history: list[tuple[str, str]] = HISTORY, **extra: Any) -> RewriteRequest:
    window = build_window(history, HistorySettings())
    decision = TriggerDecision(True, TriggerReason.PRONOUN, "en")
    return RewriteRequest("how much is it?", window, decision, timeout_s=3.0, extra=extra)


def finish(flow: Any, prediction: Prediction) -> tuple[Any, Any]:
    operation = next(flow)
    with pytest.raises(StopIteration) as stop:
        flow.send(prediction)
    return operation, stop.value.value


def test_llm_rewriter_asks_by_chat_and_returns_the_prediction() -> None:
    said = Prediction("How much is the GTE-3000?")
    operation, result = finish(LLMRewriter().rewrite(request()), said)
    assert isinstance(operation, Predict)
    assert "how much is it?" in str(operation.messages[0].content)
    assert operation.prompt is None
    assert operation.options == {"temperature": 0.0, "max_tokens": 128}
    assert operation.timeout_s == 3.0
    assert result is said


def test_llm_rewriter_asks_for_structure_only_when_told() -> None:
    assert LLMRewriter().predict(request()).output_cls is None
    structured = LLMRewriter(RewriteSettings(output="structured")).predict(request())
    assert structured.output_cls is StandaloneQuestion


@pytest.mark.parametrize("prompt", [OWN, PromptTemplate(OWN)])
def test_llm_rewriter_uses_the_users_prompt(prompt: Any) -> None:
    predict = LLMRewriter(prompt=prompt).predict(request())
    assert predict.prompt is not None
    assert predict.prompt.format(**predict.prompt_args) == (
        "History: User: What is the GTE-3000?\nAssistant: A sensor.\nQuestion: how much is it?"
    )
    assert predict.messages == ()


def test_llm_rewriter_reads_a_prompt_file(tmp_path: Path) -> None:
    path = tmp_path / "prompt.txt"
    path.write_text(OWN, "utf-8")
    assert LLMRewriter(RewriteSettings(prompt_file=path)).predict(request()).prompt is not None
    with pytest.raises(ConfigurationError, match="prompt_file"):
        LLMRewriter(RewriteSettings(prompt_file=tmp_path / "missing.txt"))


def test_llm_rewriter_refuses_a_prompt_without_its_variables() -> None:
    with pytest.raises(ConfigurationError, match=r"\{question\}"):
        LLMRewriter(prompt="History: {chat_history}")


def test_racing_rewriter_asks_every_model_the_same() -> None:
    models = [MockLLM(), MockLLM()]
    operation, result = finish(RacingRewriter(models).rewrite(request()), Prediction("x"))
    assert isinstance(operation, Race)
    assert [predict.llm for predict in operation.predicts] == models
    assert operation.predicts[0].messages == operation.predicts[1].messages
    assert result == Prediction("x")


def test_racing_rewriter_needs_two_models() -> None:
    with pytest.raises(ConfigurationError):
        RacingRewriter([MockLLM()])


def test_stock_rewriter_asks_as_the_stock_engine_does() -> None:
    raw = [ChatMessage(role="user", content="hi"), ChatMessage(role="assistant", content=None)]
    operation = next(StockRewriter().rewrite(request(chat_history=raw)))
    assert isinstance(operation, Predict)
    assert operation.prompt is DEFAULT_PROMPT
    assert operation.prompt_args == {"question": "how much is it?", "chat_history": "user: hi\nassistant: None"}
    assert operation.options == {}


def test_stock_rewriter_without_raw_messages_takes_the_window() -> None:
    operation = next(StockRewriter(prompt=OWN).rewrite(request()))
    assert isinstance(operation, Predict)
    assert operation.prompt_args["chat_history"].startswith("User: What is the GTE-3000?")


def test_concat_rewriter_puts_the_last_round_first() -> None:
    assert ConcatRewriter().rewrite(request()) == "What is the GTE-3000? A sensor. how much is it?"
    assert ConcatRewriter().rewrite(request([])) is None


def test_build_rewriters_follows_the_chain_up_to_original() -> None:
    settings = RewriteSettings(chain=("llm", "rules", "concat", "original", "stock"))
    assert [rewriter.name for rewriter in build_rewriters(settings)] == ["llm", "rules", "concat"]


def test_build_rewriters_passes_model_and_prompt() -> None:
    model = MockLLM()
    llm, stock = build_rewriters(RewriteSettings(chain=("llm", "stock")), llm=model, prompt=OWN)
    assert isinstance(llm, LLMRewriter)
    assert isinstance(stock, StockRewriter)
    assert llm.llm is stock.llm is model
    assert llm.predict(request()).prompt is not None


def test_build_rewriters_takes_own_rewriters_by_name() -> None:
    own = RuleRewriter()
    assert build_rewriters(RewriteSettings(chain=("mine",)), custom={"mine": own}) == (own,)


@pytest.mark.parametrize(("name", "hint"), [("lmm", "Did you mean llm"), ("xyzzy", "Valid: llm")])
def test_build_rewriters_names_the_nearest(name: str, hint: str) -> None:
    with pytest.raises(ConfigurationError, match=hint):
        build_rewriters(RewriteSettings(chain=(name,)))


def test_predict_hash_tells_prompts_apart() -> None:
    built_in, own = LLMRewriter().predict(request()), LLMRewriter(prompt=OWN).predict(request())
    assert predict_hash(built_in) == predict_hash(LLMRewriter().predict(request()))
    assert predict_hash(built_in) != predict_hash(own)
