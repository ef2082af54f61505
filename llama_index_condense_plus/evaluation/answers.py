"""Answers and their faithfulness, judged by LlamaIndex's own evaluator."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from llama_index.core.base.llms.types import ChatMessage
from llama_index.core.evaluation import FaithfulnessEvaluator
from llama_index.core.llms.llm import LLM

from llama_index_condense_plus.evaluation.cases import Case, Passage
from llama_index_condense_plus.evaluation.outcome import Outcome

PROMPT = "Answer in the language of the question, from these passages alone, in one or two sentences.\n\n"


@dataclass(frozen=True, slots=True)
class Judge:
    """Answers a case from the passages an engine found, and judges the answer.

    Every engine's passages are answered from by the same model and prompt, so that the figures compare searches.
    """

    llm: LLM
    """Answers and judges."""
    passages: Mapping[str, Passage]
    """The corpus by id."""

    def judged(self, case: Case, outcome: Outcome) -> Outcome:
        """Return the outcome with an answer and its faithfulness; small talk and empty results are left alone."""
        texts = [f"{p.title}\n{p.text}" for name in outcome.nodes if (p := self.passages.get(name))]
        if not case.gold or not texts:
            return outcome
        content = PROMPT + "\n\n".join(texts) + f"\n\n{outcome.query}"
        answer = self.llm.chat([ChatMessage(content=content)]).message.content or ""
        verdict = FaithfulnessEvaluator(llm=self.llm).evaluate(outcome.query, answer, texts)
        return replace(outcome, answer=answer, faithful=bool(verdict.passing))
