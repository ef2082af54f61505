from __future__ import annotations

from dataclasses import replace
from datetime import datetime, timezone
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
    as_template,
    build_rewriters,
    predict_hash,
)
from llama_index_condense_plus.rewriting.rules import RuleRewriter
from llama_index_condense_plus.settings.sections import HistorySettings, RewriteSettings
from llama_index_condense_plus.types import RewriteRequest, TriggerDecision, TriggerReason

HISTORY = [("user", "What is the GTE-3000?"), ("assistant", "A sensor.")]
NOON = datetime(2025, 3, 9, 12, tzinfo=timezone.utc)
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


@pytest.mark.parametrize(
    ("prompt", "missing"),
    [
        ("x", "The condense prompt lacks {chat_history} and {question}."),
        ("{question}", "The condense prompt lacks {chat_history}."),
        ("{chat_history}", "The condense prompt lacks {question}."),
    ],
)
def test_as_template_names_what_a_prompt_lacks(prompt: str, missing: str) -> None:
    with pytest.raises(ConfigurationError) as raised:
        as_template(prompt)
    assert str(raised.value) == missing


def test_as_template_counts_what_is_filled_in_already() -> None:
    partial = PromptTemplate(OWN).partial_format(chat_history="none")
    assert as_template(partial) is partial


def test_llm_rewriter_reads_examples_and_clock_and_keeps_its_model(tmp_path: Path) -> None:
    path = tmp_path / "shots.toml"
    path.write_text('[[shots]]\nhistory = [["user", "q"]]\nquestion = "own?"\nrewrite = "own rewrite"\n', "utf-8")
    model = MockLLM()
    rewriter = LLMRewriter(RewriteSettings(shots_file=path), llm=model, clock=lambda: NOON)
    predict = rewriter.predict(replace(request(), message="and last year?"))
    assert "own rewrite" in str(predict.messages[0].content)
    assert "2025-03-09" in str(predict.messages[0].content)
    assert predict.llm is model


def test_llm_rewriter_hands_its_options_to_a_prompt_of_the_users() -> None:
    model = MockLLM()
    predict = LLMRewriter(RewriteSettings(temperature=0.5, max_tokens=9), llm=model, prompt=OWN).predict(request())
    assert (predict.options, predict.timeout_s, predict.llm) == ({"temperature": 0.5, "max_tokens": 9}, 3.0, model)
    assert predict.output_cls is None


def test_prompt_file_is_checked_and_may_begin_with_a_byte_order_mark(tmp_path: Path) -> None:
    path = tmp_path / "prompt.txt"
    path.write_text(OWN, "utf-8-sig")
    prompt = LLMRewriter(RewriteSettings(prompt_file=path)).prompt
    assert prompt is not None
    assert prompt.get_template() == OWN
    path.write_text("no variables", "utf-8")
    with pytest.raises(ConfigurationError, match=r"^The condense prompt lacks"):
        LLMRewriter(RewriteSettings(prompt_file=path))
    path.write_bytes(b"\xff\xfe\xff")
    with pytest.raises(ConfigurationError, match=r"^Option rewrite\.prompt_file: cannot read .*prompt\.txt: "):
        LLMRewriter(RewriteSettings(prompt_file=path))


def test_racing_rewriter_hands_settings_prompt_and_clock_to_each() -> None:
    settings = RewriteSettings(max_tokens=9)
    asked = replace(request(), message="and last year?")
    built_in = next(RacingRewriter([MockLLM(), MockLLM()], settings, clock=lambda: NOON).rewrite(asked))
    assert all("2025-03-09" in str(one.messages[0].content) for one in built_in.predicts)
    assert all(one.options["max_tokens"] == 9 for one in built_in.predicts)
    own = next(RacingRewriter([MockLLM(), MockLLM()], prompt=OWN).rewrite(asked))
    assert all(one.prompt is not None for one in own.predicts)
    with pytest.raises(ConfigurationError, match="at least two models"):
        RacingRewriter([])


def test_stock_rewriter_keeps_deadline_and_model_and_returns_the_prediction() -> None:
    model, said = MockLLM(), Prediction("x")
    operation, result = finish(StockRewriter(llm=model).rewrite(request(chat_history=[])), said)
    assert (operation.timeout_s, operation.llm, operation.prompt_args["chat_history"]) == (3.0, model, "")
    assert result is said


def test_concat_rewriter_takes_the_beginning_of_what_is_not_shown() -> None:
    history = [("user", "one"), ("assistant", "two"), ("user", "three"), ("assistant", "a\n b")]
    assert ConcatRewriter().rewrite(request(history)) == "three a b how much is it?"
    unseen = build_window([("user", "x" * 300)], HistorySettings(max_rounds=0))
    assert ConcatRewriter().rewrite(replace(request(), window=unseen)) == "x" * 200 + " how much is it?"


def test_build_rewriters_lets_the_users_own_win_and_passes_the_clock() -> None:
    own = RuleRewriter()
    chain = RewriteSettings(chain=("llm", "rules"))
    assert build_rewriters(chain, custom={"rules": own})[1] is own
    (llm,) = build_rewriters(RewriteSettings(chain=("llm",)), clock=lambda: NOON)
    assert isinstance(llm, LLMRewriter)
    assert "2025-03-09" in str(llm.predict(replace(request(), message="and last year?")).messages[0].content)
    assert build_rewriters(RewriteSettings(chain=("original", "llm"))) == ()


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("lmm", "Option rewrite.chain: no rewriter is called 'lmm'. Did you mean llm?"),
        ("mime", "Option rewrite.chain: no rewriter is called 'mime'. Did you mean mine?"),
        ("xyz", "Option rewrite.chain: no rewriter is called 'xyz'. Valid: llm, stock, rules, concat, original, mine."),
    ],
)
def test_build_rewriters_says_what_is_valid(name: str, words: str) -> None:
    with pytest.raises(ConfigurationError) as raised:
        build_rewriters(RewriteSettings(chain=("llm", name)), custom={"mine": RuleRewriter()})
    assert str(raised.value) == words


def test_predict_hash_of_a_users_prompt_is_that_of_its_words() -> None:
    predict = LLMRewriter(prompt=OWN).predict(request())
    other = LLMRewriter(prompt=OWN).predict(replace(request(), message="and its weight?"))
    assert predict_hash(predict) == predict_hash(LLMRewriter(prompt=OWN).predict(request()))
    assert predict_hash(predict) != predict_hash(other)
