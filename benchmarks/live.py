"""Both engines with a live model: the same questions, each engine with its own prompt.

    CONDENSE_PLUS_DATA=<folder> python -m benchmarks.live ANSWERS [--llm URL] [--only mtrag|kdconv] [--n N]

Answers are kept in the folder ANSWERS by the hash of their prompt: without ``--llm`` nothing is asked, and questions
whose answers are not there are left out. The stock engine's rewrites for KdConv are recorded ones.
"""

from __future__ import annotations

import argparse
import json
import random
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from llama_index.core import Settings
from llama_index.core.base.llms.types import ChatMessage, ChatResponse, LLMMetadata, MessageRole
from llama_index.core.chat_engine import CondenseQuestionChatEngine
from llama_index.core.llms.callbacks import llm_chat_callback
from llama_index.core.llms.mock import MockLLM
from llama_index.core.memory import ChatMemoryBuffer
from llama_index.core.query_engine import RetrieverQueryEngine
from llama_index.core.response_synthesizers import get_response_synthesizer

from benchmarks._bm25 import bm25
from benchmarks._data import figure, history_of, load, recorded_kdconv, table
from benchmarks.replay import Recorded, Row, score
from llama_index_condense_plus import CondensePlusChatEngine, CondensePlusSettings
from llama_index_condense_plus.rewriting.cache import prompt_hash

MAX_TOKENS = 128


class NotKept(Exception):  # noqa: N818 - no failure
    """The answer to a prompt is not in the folder, and there is no model to ask."""


class Answers:
    """Answers of a model by the hash of their prompt, one JSON line each.

    Args:
        folder: where they are kept.
        url: base URL of an OpenAI-compatible server; none: nothing is asked.
    """

    def __init__(self, folder: Path, url: str | None = None) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        self._path = folder / "answers.jsonl"
        lines = self._path.read_text("utf-8").splitlines() if self._path.exists() else []
        self._kept = {row["prompt"]: row for row in map(json.loads, lines)}
        self._llm: Any = None
        if url:
            from llama_index.llms.openai_like import OpenAILike

            self._llm = OpenAILike(model="live", api_base=url, api_key="x", is_chat_model=True, timeout=900.0)

    def ask(self, messages: Sequence[ChatMessage]) -> str:
        """Return the answer, asked for once."""
        key = prompt_hash(messages)
        if key not in self._kept:
            if self._llm is None:
                raise NotKept
            response = self._llm.chat(list(messages), temperature=0, max_tokens=MAX_TOKENS)
            usage = getattr(response.raw, "usage", None)
            row = {"prompt": key, "text": response.message.content, "tokens": getattr(usage, "prompt_tokens", None)}
            with self._path.open("a", encoding="utf-8") as file:
                file.write(json.dumps(row, ensure_ascii=False) + "\n")
            self._kept[key] = row
        return str(self._kept[key]["text"] or "")


class Kept(Recorded):
    """A chat model that answers out of ``Answers``, or always the same."""

    answers: Any = None
    always: str | None = None
    missing: bool = False

    @property
    def metadata(self) -> LLMMetadata:
        """A chat model with room for a whole history."""
        return LLMMetadata(context_window=8192, num_output=MAX_TOKENS, model_name="live", is_chat_model=True)

    @llm_chat_callback()
    def chat(self, messages: Sequence[ChatMessage], **kwargs: Any) -> ChatResponse:  # noqa: ARG002
        """Return the kept answer."""
        self.calls += 1
        try:
            text = self.answers.ask(messages) if self.always is None else self.always
        except NotKept:
            self.missing = True
            raise
        return ChatResponse(message=ChatMessage(role=MessageRole.ASSISTANT, content=text))


def searched(kind: type[CondenseQuestionChatEngine], row: Row, llm: Kept, **options: Any) -> list[str] | None:
    """Return the ids that an engine finds; None if an answer is missing."""
    corpus = "kdconv_zh_corpus" if row["lang"] == "zh" else "mtrag_corpus"
    silent = get_response_synthesizer(llm=llm, response_mode="no_text")  # type: ignore[arg-type]
    engine = kind.from_defaults(
        query_engine=RetrieverQueryEngine(bm25(corpus, row["domain"]), silent),
        llm=llm,
        memory=ChatMemoryBuffer.from_defaults(token_limit=100_000, llm=llm),
        **options,
    )
    history = [ChatMessage(role=role, content=text) for role, text in history_of(row) if text]
    try:
        response = engine.chat(row["question"], chat_history=history)
    except NotKept:
        return None
    return None if llm.missing else [node.node_id for node in response.source_nodes]


def questions(name: str, n: int) -> list[Row]:
    """Return the first ``n`` questions of a shuffled set."""
    rows = recorded_kdconv() if name == "kdconv" else [r for r in load("mtrag_dev") if r["gold_docs"] and r["history"]]
    random.Random(0).shuffle(rows)  # noqa: S311 - a sample, not secrecy
    return rows[:n]


def compare(name: str, rows: Sequence[Row], answers: Answers, settings: CondensePlusSettings) -> list[Sequence[str]]:
    """Return the lines of the table for one set."""
    kept: list[tuple[Row, list[str], list[str], list[str]]] = []
    calls = 0
    for number, row in enumerate(rows):
        typed = searched(CondensePlusChatEngine, row, Kept(), settings=CondensePlusSettings(enabled=False))
        own, stock_llm = Kept(answers=answers), Kept(answers=answers, always=row.get("rewrite"))
        ours = searched(CondensePlusChatEngine, row, own, settings=settings)
        stock = searched(CondenseQuestionChatEngine, row, stock_llm)
        print(f"{name} {number + 1}/{len(rows)}", end="\r", flush=True)
        if typed is not None and ours is not None and stock is not None:
            kept.append((row, typed, stock, ours))
            calls += own.calls
    lines: list[Sequence[str]] = []
    groups = {"all": [True, False, None], "need": [True], "none": [False]} if name == "kdconv" else {"all": [None]}
    for group, needs in groups.items():
        chosen = [one for one in kept if one[0].get("need") in needs]
        if not chosen:
            continue
        scores = [score([one[0] for one in chosen], [one[i] for one in chosen]) for i in (1, 2, 3)]  # type: ignore[misc]
        gain = [new - old for new, old in zip(scores[2], scores[1], strict=True)]
        share = f"{calls / len(kept):.2f}" if group == "all" else ""
        cells = (*map(figure, scores), figure(gain), share)
        lines.append((f"{name} {group} ({len(chosen)})", *cells))
    return lines


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("answers", type=Path, help="folder of the kept answers")
    parser.add_argument("--llm", help="base URL of an OpenAI-compatible server")
    parser.add_argument("--only", choices=["mtrag", "kdconv"])
    parser.add_argument("--n", type=int, default=320)
    parser.add_argument("--settings", type=json.loads, default={}, help="settings of this engine")
    given = parser.parse_args()
    Settings.llm = MockLLM()  # a synthesizer without text asks for one, and never calls it
    answers = Answers(given.answers, given.llm)
    settings = CondensePlusSettings(**{"rewrite": {"timeout_s": 0}, **given.settings})
    names = [given.only] if given.only else ["kdconv", "mtrag"]
    lines = [line for name in names for line in compare(name, questions(name, given.n), answers, settings)]
    columns = ("questions", "as typed", "stock engine", "this engine", "gain", "calls")
    table("Whole engines, each with its own prompt and the same model: nDCG@5 of MTRAG, R@5 of KdConv", columns, lines)


if __name__ == "__main__":
    main()
