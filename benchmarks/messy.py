"""Messages as a shop or an office gets them, and what each engine searches for them with the same live model.

    python -m benchmarks.messy ANSWERS [--llm URL] [--wrong]

The conversations of ``messy.jsonl`` say what a good query must hold, one of each group, and what it must not hold. A
query is right if it does both. Answers are kept as in ``benchmarks.live``.
"""

from __future__ import annotations

import argparse
import json
import os
from pathlib import Path
from typing import Any

from llama_index.core.base.base_retriever import BaseRetriever
from llama_index.core.chat_engine import CondenseQuestionChatEngine
from llama_index.core.schema import NodeWithScore, QueryBundle, TextNode

from benchmarks._data import figure, table
from benchmarks._engines import Answers, Kept, NotKept, ask
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
) -> list[str]:
    """Return the lead, then every query that an engine searches."""
    llm, heard = Kept(answers=answers), Heard()
    response = ask(kind, case, heard, llm, **options)
    if llm.missing:
        raise NotKept
    lead = str((response.sources[0].raw_input or {}).get("query", "")) if response.sources else case["question"]
    return [lead, *heard.queries]


def main() -> None:
    """Print the table and, with ``--wrong``, the cases to read."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("answers", type=Path, help="folder of the kept answers")
    url = os.environ.get("CONDENSE_PLUS_LLM_URL")
    parser.add_argument("--llm", default=url, help="base URL of an OpenAI-compatible server")
    parser.add_argument("--cases", type=Path, default=CASES)
    parser.add_argument("--wrong", action="store_true", help="print what this engine searches where the lead is wrong")
    given = parser.parse_args()
    answers, settings = Answers(given.answers, given.llm), CondensePlusSettings(rewrite={"timeout_s": 0})
    marks: list[tuple[str, bool, list[bool]]] = []
    for case in map(json.loads, given.cases.read_text("utf-8").splitlines()):
        print(case["id"], end="\r", flush=True)
        try:
            stock = searched(CondenseQuestionChatEngine, case, answers)
            ours = searched(CondensePlusChatEngine, case, answers, settings=settings)
        except NotKept:
            continue
        rights = [right(query, case) for query in (case["question"], stock[0], ours[0])]
        marks.append((case["language"], case["needs"], [*rights, any(right(query, case) for query in ours)]))
        if given.wrong and not rights[2]:
            row = {"id": case["id"], "asked": case["question"], "stock": stock[0], "ours": ours}
            print(json.dumps(row, ensure_ascii=False))
    lines = []
    for language, needs in sorted({mark[:2] for mark in marks}, key=lambda kind: (kind[0], not kind[1])):
        chosen = [mark[2] for mark in marks if mark[:2] == (language, needs)]
        name = f"{language}, {'needs the conversation' if needs else 'complete'} ({len(chosen)})"
        lines.append((name, *(figure(list(map(float, column)), 2) for column in zip(*chosen, strict=True))))
    columns = ("messages", "as typed", "stock engine", "this engine leads with", "this engine searches")
    table("Share of messages for which the right thing is searched", columns, lines)


if __name__ == "__main__":
    main()
