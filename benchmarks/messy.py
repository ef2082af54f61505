"""Messages as a shop or an office gets them, and what each engine searches for them with the same live model.

    python -m benchmarks.messy ANSWERS [--llm URL] [--wrong]

The conversations of ``messy.jsonl`` say what a good query must hold, one of each group, and what it must not hold. A
query is right if it does both. Answers are kept as in ``benchmarks.live``.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from llama_index.core import Settings
from llama_index.core.base.base_retriever import BaseRetriever
from llama_index.core.base.llms.types import ChatMessage, MessageRole
from llama_index.core.chat_engine import CondenseQuestionChatEngine
from llama_index.core.llms.mock import MockLLM
from llama_index.core.memory import ChatMemoryBuffer
from llama_index.core.query_engine import RetrieverQueryEngine
from llama_index.core.response_synthesizers import get_response_synthesizer
from llama_index.core.schema import NodeWithScore, QueryBundle, TextNode

from benchmarks._data import figure, history_of, table
from benchmarks.live import Answers, Kept, NotKept
from llama_index_condense_plus import CondensePlusChatEngine, CondensePlusSettings

CASES = Path(__file__).with_name("messy.jsonl")


class Heard(BaseRetriever):
    """Finds the same passage for every query, and keeps the queries."""

    def __init__(self) -> None:
        self.queries: list[str] = []
        super().__init__()

    def _retrieve(self, query_bundle: QueryBundle) -> list[NodeWithScore]:
        self.queries.append(query_bundle.query_str)
        return [NodeWithScore(node=TextNode(id_="1", text="1"), score=1.0)]


def right(query: str, case: dict[str, Any]) -> bool:
    """Return whether a query holds what it must and nothing that it must not."""
    folded = query.lower()
    holds = all(any(term.lower() in folded for term in group) for group in case["must"])
    return holds and not any(term.lower() in folded for term in case["must_not"])


def searched(
    kind: type[CondenseQuestionChatEngine], case: dict[str, Any], answers: Answers, **options: Any
) -> Sequence[str]:
    """Return the lead, then every query that an engine searches."""
    llm, heard = Kept(answers=answers), Heard()
    silent = get_response_synthesizer(llm=llm, response_mode="no_text")  # type: ignore[arg-type]
    memory = ChatMemoryBuffer.from_defaults(token_limit=100_000, llm=llm)
    engine = kind.from_defaults(query_engine=RetrieverQueryEngine(heard, silent), llm=llm, memory=memory, **options)
    history = [ChatMessage(role=MessageRole(role), content=text) for role, text in history_of(case)]
    response = engine.chat(case["question"], chat_history=history)
    if llm.missing:
        raise NotKept
    lead = str((response.sources[0].raw_input or {}).get("query", "")) if response.sources else case["question"]
    return [lead, *heard.queries]


def main() -> None:
    """Print the table and, with ``--wrong``, the cases to read."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("answers", type=Path, help="folder of the kept answers")
    parser.add_argument("--llm", help="base URL of an OpenAI-compatible server")
    parser.add_argument("--cases", type=Path, default=CASES)
    parser.add_argument("--wrong", action="store_true", help="print what this engine searches where the lead is wrong")
    given = parser.parse_args()
    Settings.llm = MockLLM()
    answers, settings = Answers(given.answers, given.llm), CondensePlusSettings(rewrite={"timeout_s": 0})
    cases = [json.loads(line) for line in given.cases.read_text("utf-8").splitlines()]
    marks: list[tuple[dict[str, Any], bool, bool, bool, bool]] = []
    for number, case in enumerate(cases):
        print(f"{number + 1}/{len(cases)}", end="\r", flush=True)
        try:
            stock = searched(CondenseQuestionChatEngine, case, answers)
            ours = searched(CondensePlusChatEngine, case, answers, settings=settings)
        except NotKept:
            continue
        leads, found = right(ours[0], case), any(right(query, case) for query in ours)
        marks.append((case, right(case["question"], case), right(stock[0], case), leads, found))
        if given.wrong and not leads:
            print(
                json.dumps(
                    {"id": case["id"], "asked": case["question"], "stock": stock[0], "ours": ours}, ensure_ascii=False
                )
            )
    lines = []
    for language in sorted({case["language"] for case in cases}):
        for needs in (True, False):
            chosen = [mark for mark in marks if (mark[0]["language"], mark[0]["needs"]) == (language, needs)]
            name = f"{language}, {'needs the conversation' if needs else 'complete'} ({len(chosen)})"
            lines.append((name, *(figure([float(mark[i]) for mark in chosen], 2) for i in (1, 2, 3, 4))))
    columns = ("messages", "as typed", "stock engine", "this engine leads with", "this engine searches")
    table("Share of messages for which the right thing is searched", columns, lines)


if __name__ == "__main__":
    main()
