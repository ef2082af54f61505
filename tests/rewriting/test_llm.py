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
from llama_index_condense_plus.operations import Predict, Prediction
from llama_index_condense_plus.rewriting.cache import predict_hash
from llama_index_condense_plus.rewriting.cutting import estimate_tokens
from llama_index_condense_plus.rewriting.history import build_window
from llama_index_condense_plus.rewriting.llm import (
    ConcatRewriter,
    LLMRewriter,
    StockRewriter,
    as_template,
    build_rewriters,
)
from llama_index_condense_plus.rewriting.prompt import StandaloneQuestion
from llama_index_condense_plus.settings.sections import HistorySettings, RewriteSettings
from llama_index_condense_plus.types import RewriteRequest, TriggerDecision, TriggerReason

HISTORY = [("user", "What is the GTE-3000?"), ("assistant", "A sensor.")]
NOON = datetime(2025, 3, 9, 12, tzinfo=timezone.utc)
OWN = "History: {chat_history}\nQuestion: {question}"


def request(history: list[tuple[str, str]] = HISTORY, message: str = "how much is it?", **extra: Any) -> RewriteRequest:
    window = build_window(history, HistorySettings())
    decision = TriggerDecision(True, TriggerReason.PRONOUN, "en")
    return RewriteRequest(message, window, decision, timeout_s=3.0, extra=extra)


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
    assert operation.options == {"temperature": 0.0, "max_tokens": 128}
    assert (operation.prompt, operation.output_cls, operation.timeout_s) == (None, None, 3.0)
    assert result is said
    assert LLMRewriter(RewriteSettings(output="structured")).predict(request()).output_cls is StandaloneQuestion


@pytest.mark.parametrize("prompt", [OWN, PromptTemplate(OWN)])
def test_llm_rewriter_uses_the_users_prompt(prompt: Any) -> None:
    model = MockLLM()
    settings = RewriteSettings(temperature=0.5, max_tokens=9)
    predict = LLMRewriter(settings, llm=model, prompt=prompt).predict(request())
    assert predict.prompt is not None
    assert predict.prompt.format(**predict.prompt_args) == (
        "History: User: What is the GTE-3000?\nAssistant: A sensor.\nQuestion: how much is it?"
    )
    assert (predict.messages, predict.options, predict.llm) == ((), {"temperature": 0.5, "max_tokens": 9}, model)


def test_prompt_file_is_checked_and_may_begin_with_a_byte_order_mark(tmp_path: Path) -> None:
    path = tmp_path / "prompt.txt"
    path.write_text(OWN, "utf-8-sig")
    prompt = LLMRewriter(RewriteSettings(prompt_file=path)).prompt
    assert prompt is not None
    assert prompt.get_template() == OWN
    path.write_text("no variables", "utf-8")
    with pytest.raises(ConfigurationError, match=r"^The condense prompt lacks"):
        LLMRewriter(RewriteSettings(prompt_file=path))
    for unreadable in (path, tmp_path / "missing.txt"):
        path.write_bytes(b"\xff\xfe\xff")
        with pytest.raises(ConfigurationError, match=r"^Option rewrite\.prompt_file: cannot read "):
            LLMRewriter(RewriteSettings(prompt_file=unreadable))


@pytest.mark.parametrize("prompt", [None, OWN])
def test_the_call_fits_the_models_context_window(prompt: str | None) -> None:
    paste = "The lease runs for a year. " * 2000
    asked = request(
        [("user", paste), ("assistant", paste)] * 4, f"{paste}\nHow much is it?", context_window=lambda: 700
    )
    predict = LLMRewriter(prompt=prompt).predict(asked)
    text = predict.prompt.format(**predict.prompt_args) if predict.prompt else str(predict.messages[0].content)
    assert "How much is it?" in text
    assert estimate_tokens(text) + 128 <= 700


def test_llm_rewriter_names_the_words_of_its_examples(tmp_path: Path) -> None:
    path = tmp_path / "shots.toml"
    path.write_text('[[shots]]\nhistory = [["user", "q"]]\nquestion = "own?"\nrewrite = "own rewrite"\n', "utf-8")
    rewriter = LLMRewriter(RewriteSettings(shots_file=path))
    assert rewriter.shown_shots == ("own?", "own rewrite", "q")
    assert LLMRewriter(prompt=OWN).shown_shots == ()


def test_stock_rewriter_asks_as_the_stock_engine_does() -> None:
    raw = [ChatMessage(role="user", content="hi"), ChatMessage(role="assistant", content=None)]
    model = MockLLM()
    operation = next(StockRewriter(llm=model).rewrite(request(chat_history=raw)))
    assert isinstance(operation, Predict)
    assert operation.prompt is DEFAULT_PROMPT
    assert operation.prompt_args == {"question": "how much is it?", "chat_history": "user: hi\nassistant: None"}
    assert (operation.options, operation.llm, operation.timeout_s) == ({}, model, 3.0)
    without_raw = next(StockRewriter(prompt=OWN).rewrite(request()))
    assert isinstance(without_raw, Predict)
    assert without_raw.prompt_args["chat_history"].startswith("User: What is the GTE-3000?")


def test_concat_rewriter_puts_the_last_six_messages_labelled_before_the_question() -> None:
    history = [pair for n in range(4) for pair in (("user", f"q{n}"), ("assistant", f"a\n{n}"))]
    outcome = ConcatRewriter().rewrite(request(history))
    assert outcome is not None
    assert outcome.text == ("User: q1 Assistant: a 1 User: q2 Assistant: a 2 User: q3 Assistant: a 3 how much is it?")
    assert ConcatRewriter().rewrite(request([])) is None
    long = ConcatRewriter().rewrite(request([("user", "x" * 900), ("assistant", "y" * 900)]))
    assert long is not None
    assert len(long.text or "") < 520
    assert (long.text or "").endswith("how much is it?")


def test_build_rewriters_follows_the_chain_up_to_original() -> None:
    settings = RewriteSettings(chain=("llm", "rules", "concat", "original", "stock"))
    assert [rewriter.name for rewriter in build_rewriters(settings)] == ["llm", "rules", "concat"]
    assert build_rewriters(RewriteSettings(chain=("original", "llm"))) == ()


def test_build_rewriters_passes_model_prompt_clock_and_own_rewriters() -> None:
    model, own = MockLLM(), ConcatRewriter()
    settings = RewriteSettings(chain=("llm", "stock", "rules"))
    llm, stock, rules = build_rewriters(settings, llm=model, prompt=OWN, custom={"rules": own})
    assert isinstance(llm, LLMRewriter)
    assert isinstance(stock, StockRewriter)
    assert llm.llm is stock.llm is model
    assert llm.prompt is not None
    assert rules is own
    (dated,) = build_rewriters(RewriteSettings(chain=("llm",)), clock=lambda: NOON)
    assert isinstance(dated, LLMRewriter)
    assert "2025-03-09" in str(dated.predict(request(message="and last year?")).messages[0].content)


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
        build_rewriters(RewriteSettings(chain=("llm", name)), custom={"mine": ConcatRewriter()})
    assert str(raised.value) == words


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
    partial = PromptTemplate(OWN).partial_format(chat_history="none")
    assert as_template(partial) is partial


def test_predict_hash_tells_rendered_prompts_apart() -> None:
    makers = (LLMRewriter(), LLMRewriter(prompt=OWN))
    asked = (request(), replace(request(), message="and its weight?"))
    hashes = {predict_hash(maker.predict(one)) for maker in makers for one in asked}
    assert len(hashes) == 4
    assert predict_hash(LLMRewriter(prompt=OWN).predict(request())) in hashes
