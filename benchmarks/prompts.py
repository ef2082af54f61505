"""Measures the rewrite prompts of whole 30-message conversations, ours beside the stock engine's.

    python benchmarks/prompts.py        with CONDENSE_PLUS_DATA also on KdConv and MTRAG, as they were held

The stock engine sends the whole history with every turn. Ours sends the last rounds and two examples, and only for the
turns that its gate holds to need a rewrite: short messages save little, answers of RAG's usual length most.
"""

from __future__ import annotations

import os
import statistics

from _data import load, table
from _server import Server, running
from llama_index.core.base.llms.types import ChatMessage
from turns import OURS, STOCK, Engines, engines_over, history_of

from llama_index_condense_plus.evaluation.cases import Dataset, shipped_dataset

N_MESSAGES = 30
N_CONVERSATIONS = 3


def long_conversations(dataset: Dataset) -> dict[str, list[list[ChatMessage]]]:
    """Return conversations of 30 messages by source: cases joined end to end, or as they were held."""
    texts = {passage.id: passage.text for passage in dataset.passages}
    made: dict[str, list[list[ChatMessage]]] = {}
    for lang in ("en", "zh"):
        joined: list[ChatMessage] = []
        for case in dataset.cases:
            if case.lang == lang and case.history and case.gold:
                answer = texts[case.gold[0]]
                joined += [*history_of(case), ChatMessage(case.question), ChatMessage(answer, role="assistant")]
        made[f"shipped cases, {lang}"] = [
            joined[start : start + N_MESSAGES] for start in range(0, 4 * N_MESSAGES * N_CONVERSATIONS, 4 * N_MESSAGES)
        ]
    if os.environ.get("CONDENSE_PLUS_DATA"):
        for name, set_name in (("KdConv", "kdconv_zh_dev"), ("MTRAG", "mtrag_dev")):
            held: dict[str, list[ChatMessage]] = {}
            for row in load(set_name):
                told = [ChatMessage(message["content"], role=message["role"]) for message in row["history"]]
                if told and len(told) % 2 == 0:
                    held[str(told[0].content)] = told  # the last row of a conversation holds it whole
            joined = [message for told in sorted(held.values(), key=len, reverse=True) for message in told]
            made[name] = [
                joined[start : start + N_MESSAGES] for start in range(0, N_MESSAGES * N_CONVERSATIONS, N_MESSAGES)
            ]
    return made


def prompt_tokens(engines: Engines, dataset: Dataset, server: Server) -> None:
    """Print the tokens of all rewrite prompts of 30-message conversations, and those of their last."""
    server.configure(rewrite_s=0, answer_s=0, rewrites={"": "What do the documents say about it?"})
    rows = []
    for source, conversations in long_conversations(dataset).items():
        spent: dict[str, list[int]] = {STOCK: [], OURS: []}
        last: dict[str, list[int]] = {STOCK: [], OURS: []}
        for messages in conversations:
            for turn in range(2, len(messages), 2):
                for name in spent:
                    server.take_calls()
                    engines.make(name).chat(str(messages[turn].content), messages[:turn])
                    sizes = [call["prompt_tokens"] for call in server.take_calls() if call["kind"] == "rewrite"]
                    spent[name] += sizes
                    if turn >= len(messages) - 6:
                        last[name] += sizes
        per_call = [statistics.fmean(last[name]) if last[name] else float("nan") for name in (STOCK, OURS)]
        calls = f"{len(spent[OURS])} / {len(spent[STOCK])}"
        ratios = (sum(spent[OURS]) / sum(spent[STOCK]), per_call[1] / per_call[0])
        rows.append([source, calls, sum(spent[STOCK]), sum(spent[OURS]), *(f"{ratio:.2f}" for ratio in ratios)])
    columns = ["messages", "calls, ours / stock", "stock", "ours", "× stock", "one call at the end, × stock"]
    table("Rewrite prompts of three 30-message conversations, tokens (bytes / 4)", columns, rows)


def main() -> None:
    """Run the measurement."""
    dataset = shipped_dataset()
    with running() as server:
        prompt_tokens(engines_over(dataset, server), dataset, server)


if __name__ == "__main__":
    main()
