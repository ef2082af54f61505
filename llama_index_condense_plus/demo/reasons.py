"""A trace as labelled lines of text: the decision, the rewrite, the guards, the searches."""

from __future__ import annotations

from llama_index_condense_plus.observability.trace import CondenseTrace
from llama_index_condense_plus.types import GuardVerdict

Reason = tuple[str, str]
"""A label and its words."""


def reasons(trace: CondenseTrace) -> list[Reason]:
    """Return why a turn searched what it searched, label by label."""
    decision, rewrite = trace.decision, trace.rewrite
    cues = ", ".join(f"{cue.name} “{cue.text}”" for cue in decision.cues)
    verdict = "needs the conversation" if decision.rewrite else "searched as typed"
    lines = [("decision", f"{verdict}: {decision.reason.value}" + (f" ({cues})" if cues else ""))]
    if decision.rewrite:
        lines.append(
            (
                "rewrite",
                f"{rewrite.status.value} by {rewrite.rewriter}" + (", from the cache" if rewrite.cache_hit else ""),
            )
        )
        lines += [("edit", f"{edit.kind}: “{edit.before}” → “{edit.after}”") for edit in rewrite.edits]
        if rewrite.verdicts:
            lines.append(("guards", _guards(rewrite.verdicts)))
        lines += [
            ("refused", f"{a.rewriter}: {_quoted(a.query or a.raw)}{a.error}".rstrip())
            for a in rewrite.attempts
            if not a.accepted
        ]
    lines += [("searched", f"{query.role.value} × {query.weight:.2g}  {query.text}") for query in trace.plan.queries]
    lines += [("warning", warning) for warning in trace.warnings]
    return lines


def _quoted(text: str) -> str:
    return f"“{text}” " if text else ""


def _guards(verdicts: tuple[GuardVerdict, ...]) -> str:
    failed = [f"{v.guard} {v.action}s{f': {v.detail}' if v.detail else ''}" for v in verdicts if not v.passed]
    return "; ".join(failed) or f"{len(verdicts)} checks passed"
