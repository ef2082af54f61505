"""Training the linear gate on labelled turns: the package's own, the user's rewrite log, or public sets."""

from __future__ import annotations

import math
import random
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Any

from llama_index_condense_plus.errors import ConfigurationError
from llama_index_condense_plus.evaluation.cases import shipped_dataset
from llama_index_condense_plus.rewriting.learned import LinearModel
from llama_index_condense_plus.rewriting.trigger import RuleTrigger
from llama_index_condense_plus.settings import CondensePlusSettings
from llama_index_condense_plus.types import HistoryWindow, WindowMessage

PENALTY = 0.05
"""Inverse strength of the L2 penalty (scikit-learn's C), chosen by cross-validation over conversations."""
MIN_COUNT = 4
"""Features that hold for fewer turns are left out."""
GROUP_WEIGHT = 1000.0
"""Every group of turns weighs the same, however many they are; a small one counts as if it had MIN_GROUP turns."""
MIN_GROUP = 40
SCALE = 9000.0
"""Sum of the weights of all turns."""
TARGET_RECALL = 0.957
"""Share of the turns needing a rewrite that each calibrated group is to fire on."""
UNANSWERED_RECALL = 0.951
"""The same for turns whose history holds no answers, only questions."""
OWN_WEIGHT = 1.0
"""Weight of the package's own cases."""
SHIPPED_WEIGHT = 0.4
"""Weight of the evaluation cases: the most at which no public set loses more than .003 of its skipping."""
OWN_TARGET = 0.985
"""The same for the package's own cases, where a language has no others: they are easier than real talk."""
FOLDS = 5
NO_ANSWERS = "noans"
"""Feature of a message whose history holds no answers."""


@dataclass(frozen=True, slots=True)
class TrainingTurn:
    """A message in its conversation, and whether it needs a rewrite."""

    message: str
    """The user's words."""
    window: HistoryWindow
    """What was said before."""
    need: bool
    """True if it cannot be searched alone."""
    group: str = "log"
    """The source: groups weigh the same."""
    conversation: str = ""
    """Which conversation it is from: folds keep conversations whole."""
    weight: float = 1.0
    """Weight of the group's turns of this label, relative to other groups."""
    calibrates: bool = True
    """True if the threshold is to be right for this group."""


def train_trigger(rows: Iterable[Mapping[str, Any]], output: str | Path) -> LinearModel:
    """Train a gate on labelled turns together with the package's own cases, and write it as a file.

    Args:
        rows: each with ``message`` or ``question``, ``history`` (a list of ``{"role", "content"}``) and ``need``
            (a bool; or ``rewritten``, a bool, as a rewrite log has it); ``conversation`` groups rows for
            cross-validation.
        output: file for the weights; name it in ``trigger.weights_file``.

    Returns:
        The model.

    Raises:
        ConfigurationError: rows are missing what is needed, hold one label only, or scikit-learn is not installed.
    """
    turns = [_turn(number, row) for number, row in enumerate(rows)]
    if len({turn.need for turn in turns}) < 2:  # noqa: PLR2004  both labels
        raise ConfigurationError(
            "Training needs turns that need a rewrite and turns that need none; one label has none."
        )
    model = fit([*turns, *own_turns(), *shipped_turns()])
    model.dump(Path(output))
    return model


def own_turns() -> list[TrainingTurn]:
    """Return the package's own training cases."""
    turns = []
    for language in ("zh", "en"):
        data = files("llama_index_condense_plus.evaluation") / "data" / f"gate_{language}.txt"
        history: list[dict[str, str]] = []
        conversation = 0
        for line in data.read_text(encoding="utf-8").splitlines():
            mark, text = line[:1], line[2:]
            if mark == "<":
                history = [{"role": "user", "content": text}]
                conversation += 1
            elif mark == ">":
                history.append({"role": "assistant", "content": text})
            else:
                turns.append(
                    TrainingTurn(
                        text,
                        window_of(history),
                        mark == "+",
                        f"own-{language}",
                        str(conversation),
                        0.5,
                        calibrates=False,
                    )
                )
    return turns


def shipped_turns() -> list[TrainingTurn]:
    """Return the evaluation cases that ship, as training cases: questions to documents, the kind most users ask.

    Figures on them are therefore to be taken from cross-validation.
    """
    return [
        TrainingTurn(
            case.question,
            window_of([{"role": message.role, "content": message.content} for message in case.history]),
            bool(case.needs_rewrite),
            f"shipped-{'zh' if case.lang.startswith('zh') else 'en'}",
            case.id,
            SHIPPED_WEIGHT,
            calibrates=False,
        )
        for case in shipped_dataset().cases
        if case.history and case.needs_rewrite is not None
    ]


def window_of(history: Sequence[Mapping[str, str]]) -> HistoryWindow:
    """Return a window that holds a whole history."""
    return HistoryWindow(messages=tuple(WindowMessage(m["role"], m["content"], m["content"]) for m in history))


def fit(turns: Sequence[TrainingTurn]) -> LinearModel:
    """Train on all turns; the thresholds are set on sums from cross-validation."""
    prepared = [Prepared.of(turn) for turn in turns]
    return calibrated(fitted(prepared), prepared, cross_validated(prepared))


@dataclass(frozen=True, slots=True)
class Prepared:
    """A turn with its features; a turn that rules decide has none."""

    turn: TrainingTurn
    """The turn."""
    found: tuple[str, ...]
    """Its features."""
    ruled: bool | None
    """What a rule decides, if one does."""
    language: str
    """The message's language."""

    @staticmethod
    def of(turn: TrainingTurn) -> Prepared:
        """Read a turn."""
        language, ruled, found = _reader().examine(turn.message, turn.window)
        return Prepared(turn, tuple(dict.fromkeys(found)), ruled, language)


@cache
def _reader() -> RuleTrigger:
    return RuleTrigger(CondensePlusSettings())


def cross_validated(prepared: Sequence[Prepared], folds: int = FOLDS) -> list[float]:
    """Return for each turn the sum that a model gives it which has not seen its conversation.

    What was made from a set's conversations, such as human rewrites, stays in the fold of its conversation.
    """
    sources = [(p.turn.group.split("-")[0], p.turn.conversation) for p in prepared]
    names = sorted(set(sources))
    random.Random(0).shuffle(names)  # noqa: S311 - folds, not secrecy
    fold = {name: index % folds for index, name in enumerate(names)}
    mine = [fold[source] for source in sources]
    sums = [0.0] * len(prepared)
    for number in range(folds):
        model = fitted([p for p, of in zip(prepared, mine, strict=True) if of != number])
        for index, of in enumerate(mine):
            if of == number:
                sums[index] = total(prepared[index], model)
    return sums


def fitted(prepared: Sequence[Prepared]) -> LinearModel:
    """Return a model that is not calibrated yet.

    Chinese is learned from Chinese alone, of which there is more; English from both.
    """
    chinese = [p for p in prepared if p.language == "zh"]
    return LinearModel({"zh": _fitted(chinese) if chinese else {}, "en": _fitted(prepared)})


def _fitted(prepared: Sequence[Prepared]) -> dict[str, float]:
    try:
        from scipy.sparse import csr_matrix  # noqa: PLC0415 - only needed for training
        from sklearn.linear_model import LogisticRegression  # noqa: PLC0415
    except ImportError:
        raise ConfigurationError(
            "Training needs scikit-learn: pip install 'llama-index-condense-plus[train]'"
        ) from None
    live = [p for p in prepared if p.found and p.turn.weight > 0]
    sizes = Counter((p.turn.group, p.turn.need) for p in live)
    loads = [p.turn.weight * GROUP_WEIGHT / max(sizes[p.turn.group, p.turn.need], MIN_GROUP) for p in live]
    factor = SCALE / sum(loads)
    counts = Counter(feature for p in live for feature in p.found)
    column = {name: number for number, name in enumerate(sorted(name for name, n in counts.items() if n >= MIN_COUNT))}
    places = [(row, column[name]) for row, p in enumerate(live) for name in sorted(p.found) if name in column]
    matrix = csr_matrix(
        ([1.0] * len(places), ([row for row, _ in places], [col for _, col in places])),
        shape=(len(live), len(column)),
    )
    learner = LogisticRegression(C=PENALTY, solver="liblinear", max_iter=300, random_state=0)
    learner.fit(matrix, [p.turn.need for p in live], sample_weight=[load * factor for load in loads])
    weights = dict(zip(column, map(float, learner.coef_[0]), strict=True))
    weights[""] = float(learner.intercept_[0])
    return weights


def total(prepared: Prepared, model: LinearModel) -> float:
    """Return a turn's sum; one that a rule decides has an infinite one."""
    if prepared.ruled is None:
        return model.sum(prepared.language, prepared.found)
    return math.inf if prepared.ruled else -math.inf


def calibrated(model: LinearModel, prepared: Sequence[Prepared], sums: Sequence[float]) -> LinearModel:
    """Return the model with a threshold at which every calibrated group reaches its recall.

    There is one for each language, and another for histories without answers, in which less can be found. A language
    without enough labelled turns is calibrated on the package's own cases.

    Args:
        model: the model, not calibrated.
        prepared: the turns.
        sums: their sums under models that have not seen them.
    """
    result = {language: dict(weights) for language, weights in model.weights.items()}
    for language, weights in result.items():
        shift = 0.0
        for feature, answered in (("", True), (NO_ANSWERS, False)):
            groups: dict[tuple[bool, str], list[float]] = {}
            for item, value in zip(prepared, sums, strict=True):
                if (
                    item.turn.need
                    and item.language == language
                    and item.turn.weight > 0
                    and any(message.role == "assistant" for message in item.turn.window.messages) == answered
                ):
                    groups.setdefault((item.turn.calibrates, item.turn.group), []).append(value)
            real = [values for (calibrates, _), values in groups.items() if calibrates and len(values) >= MIN_GROUP]
            own = [values for (_, group), values in groups.items() if group.startswith("own-")]
            target = OWN_TARGET if not real else TARGET_RECALL if answered else UNANSWERED_RECALL
            cuts = [_cut(values, 1 - target) for values in real or own]
            cut = min((value for value in cuts if value is not None), default=shift)
            weights[feature] = weights.get(feature, 0.0) - (cut - shift)
            shift = cut
    return LinearModel(result)


def _cut(values: Sequence[float], missed: float) -> float | None:
    """Return the threshold that misses a share of the values; None if rules decide them all.

    What rules decide has an infinite sum, which no threshold changes: the nearest finite one is taken.
    """
    ordered = sorted(values)
    at = int(missed * len(ordered))
    finite = [value for value in ordered[at:] if math.isfinite(value)]
    return finite[0] if finite else max(filter(math.isfinite, ordered), default=None)


def _turn(number: int, row: Mapping[str, Any]) -> TrainingTurn:
    try:
        message = row.get("message") or row["question"]
        need = row["need"] if "need" in row else row["rewritten"]
        window = window_of(row["history"])
    except (KeyError, TypeError) as error:
        raise ConfigurationError(f"Row {number} has no {error}; a row needs message, history and need.") from None
    return TrainingTurn(
        str(message), window, bool(need), str(row.get("group", "log")), str(row.get("conversation", number))
    )
