"""What it is worth to search in the script of the documents: KdConv's passages and questions in both scripts.

    CONDENSE_PLUS_DATA=<folder> python benchmarks/chinese_scripts.py

OpenCC writes the passages, or the questions, as in Taiwan. A keyword index of character pairs does not know that 電影
is 电影; an embedding knows it in part.
"""

from __future__ import annotations

from _bm25 import bigrams, by_domain
from _data import figure, load, recall_at, recorded_kdconv, table

from llama_index_condense_plus.retrieval.scripts import in_script

SCRIPTS = {"simplified": "as_typed", "Taiwan's": "taiwan"}
"""How texts are written: the data is simplified."""
SETTINGS = {"simplified": "simplified", "Taiwan's": "taiwan"}
"""By the passages' script: the right value of ``retrieval.script``."""


def main() -> None:
    """Print recall by the script of passages and questions."""
    passages = load("kdconv_zh_corpus")
    sets = {
        "questions that can be searched alone": [
            (row["domain"], row["question"], row["gold_docs"])
            for row in load("kdconv_zh_dev")
            if row["entity_in_question"] and row["history"] and row["gold_docs"]
        ],
        "rewrites by a 1.5B model": [
            (row["domain"], row["rewrite"], row["gold_docs"]) for row in recorded_kdconv() if row["gold_docs"]
        ],
    }
    for name, questions in sets.items():
        rows = []
        for documents, written in SCRIPTS.items():
            index = by_domain(
                [{**row, "text": in_script(row["text"], written)} for row in passages],
                lambda row: row["id"].split("/")[0],
                bigrams,
            )
            for users, typed in SCRIPTS.items():
                for setting in ("as_typed", SETTINGS[documents]):
                    found = []
                    for domain, text, gold in questions:
                        best = index[domain].search(in_script(in_script(text, typed), setting), 5)
                        found.append(recall_at([name for name, _ in best], gold, 5))
                    rows.append((documents, users, setting, figure(found)))
        table(f"R@5, {len(questions)} {name}", ("passages", "questions", "retrieval.script", "R@5"), rows)


if __name__ == "__main__":
    main()
