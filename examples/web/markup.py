"""The view of a turn as HTML: sections, tables and tags; every word of a user's or a passage's is escaped."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from html import escape

from views import Passage, Piece, Search, TurnView, new_sources

from llama_index_condense_plus.evaluation.diagnosis import Answer

Words = Mapping[str, str]
"""The panel's words in one language."""
UNREVIEWED = {"skipped", "failed"}
"""How a turn ends in which no rewrite was reviewed."""
TAGS = {"equal": "span", "deleted": "del", "added": "ins"}


def turn_html(view: TurnView, words: Words) -> str:
    """Return the whole of a turn."""
    parts = [
        _tag(view.query, view.query != "".join(text for _, text in view.message), words),
        _section(words["decision"], _decision(view, words)),
        _section(words["rewrite"], _rewrite(view, words)),
        _section(words["checks"], _guards(view, words)),
        _section(words["queries"], _searches(view.searches, words)),
        _section(words["passages"], _passages(view.passages, words)),
        _section(words["timings"], _timings(view.timings)),
    ]
    if view.answers:
        parts.append(_section(words["answers"], _answers(view.answers, words)))
    if view.warnings:
        parts.append(_section(words["warnings"], f'<p class="cp-bad">{escape("; ".join(view.warnings))}</p>'))
    return _panel("".join(parts))


def comparison_html(view: TurnView, label: str, query: str, passages: Sequence[Passage], words: Words) -> str:
    """Return a turn beside another search for it.

    Args:
        view: the turn.
        label: what the other search is called.
        query: the words that it searched.
        passages: what it found.
        words: the panel's words.
    """
    new = new_sources(view.passages, passages)
    gain = words["gains"].format(name=label, n=len(new)) if new else ""
    if not new and not new_sources(passages, view.passages):
        gain = words["gains_none"]
    left = _column(words["ours"], view.query, view.passages, new_sources(passages, view.passages), words)
    right = _column(label, query, passages, new, words)
    return _panel(f'<div class="cp-columns">{left}{right}</div><p class="cp-quiet">{escape(gain)}</p>')


def note_html(text: str) -> str:
    """Return a plain remark."""
    return _panel(f'<p class="cp-quiet">{escape(text)}</p>')


def _panel(content: str) -> str:
    return f'<div class="cp">{content}</div>'


def _section(title: str, content: str) -> str:
    return f"<section><h4>{escape(title)}</h4>{content}</section>"


def _tag(query: str, changed: bool, words: Words) -> str:
    kind, label = ("changed", words["searched"]) if changed else ("typed", words["as_typed"])
    return f'<div class="cp-tag cp-{kind}"><small>{escape(label)}</small><span>{escape(query)}</span></div>'


def _decision(view: TurnView, words: Words) -> str:
    message = "".join(
        f'<mark title="{escape(kind)}">{escape(text)}</mark>' if kind else escape(text) for kind, text in view.message
    )
    verdict = words["needs"] if view.rewrite else words["alone"]
    facts = [f"{words['reason']}: {words[f'reason_{view.reason}']}", f"<code>{escape(view.language)}</code>"]
    if view.score is not None:
        facts.append(f"{words['score']}: {view.score:.2f}")
    cues = _pairs(view.cues) or f'<span class="cp-quiet">{words["no_cues"]}</span>'
    return (
        f'<p class="cp-message">{message}</p><p><b>{verdict}</b> · {" · ".join(facts)}</p>'
        f"<p>{words['cues']}: {cues}</p>"
    )


def _rewrite(view: TurnView, words: Words) -> str:
    if not view.changed:
        lines = [f'<p class="cp-quiet">{words["same"]}</p>']
    else:
        diff = "".join(f"<{TAGS[kind]}>{escape(text)}</{TAGS[kind]}>" for kind, text in view.diff)
        lines = [f'<p class="cp-diff">{diff}</p>']
    cached = f" · {words['cached']}" if view.cache_hit else ""
    if view.rewrite and view.status not in UNREVIEWED:
        why = f" {escape('; '.join(view.reasons))}" if view.reasons else ""
        lines.append(f'<p><span class="cp-chip cp-{view.trust}">{words[view.trust]}</span>{why}</p>')
    lines.append(
        f"<p>{words[f'status_{view.status}']} · {words['by']} <code>{escape(view.rewriter)}</code>{cached}</p>"
    )
    lines += [f"<p>{words['edits']}: {_pairs(view.edits)}</p>"] if view.edits else []
    lines += [f"<p>{words['refused']}: {_pairs(view.refused)}</p>"] if view.refused else []
    return "".join(lines)


def _guards(view: TurnView, words: Words) -> str:
    if not view.verdicts:
        return f'<p class="cp-quiet">{words["unchecked"]}</p>'
    rows = []
    for verdict in view.verdicts:
        mark = f"✓ {words['passed']}" if verdict.passed else f"✗ {words[verdict.action]}"
        kind = "good" if verdict.passed else "bad"
        rows.append(
            (
                escape(verdict.guard),
                f'<span class="cp-{kind}">{mark}</span>',
                _number(verdict.measured),
                _number(verdict.limit),
                escape(verdict.detail),
            )
        )
    names = [words[name] for name in ("guard", "verdict", "measured", "limit", "detail")]
    failed = sum(not verdict.passed for verdict in view.verdicts)
    kind, count = ("bad", words["n_failed"]) if failed else ("good", words["n_passed"])
    count = count.format(n=failed, all=len(view.verdicts))
    remark = f'<p class="cp-quiet">{words["checked_apart"]}</p>' if view.checked_apart else ""
    opened = " open" if failed else ""
    summary = f'<summary class="cp-{kind}">{count}</summary>'
    return f"<details{opened}>{summary}{remark}{_table(names, rows)}</details>"


def _searches(searches: Sequence[Search], words: Words) -> str:
    rows = [
        (
            _role(search.role),
            f"{search.weight:.2g}",
            str(search.found),
            escape(search.text) + ("" if search.used else f' <span class="cp-quiet">({words["dropped"]})</span>'),
        )
        for search in searches
    ]
    return _table([words[name] for name in ("role", "weight", "found", "text")], rows)


def _passages(passages: Sequence[Passage], words: Words) -> str:
    if not passages:
        return f'<p class="cp-bad">{words["no_passages"]}</p>'
    rows = [
        (
            str(rank),
            " ".join(_found(found) for found in passage.found_by),
            f"<code>{escape(passage.source)}</code> {escape(passage.text)}",
        )
        for rank, passage in enumerate(passages, 1)
    ]
    return _table(["#", words["found_by"], words["text"]], rows)


def _timings(timings: Sequence[tuple[str, float]]) -> str:
    longest = max((ms for _, ms in timings), default=0.0) or 1.0
    bars = (
        f'<span>{escape(name)}</span><i style="width:{100.0 * ms / longest:.0f}%"></i><span>{_milliseconds(ms)}</span>'
        for name, ms in timings
    )
    return "".join(f'<div class="cp-bar">{bar}</div>' for bar in bars)


def _answers(answers: Sequence[Answer], words: Words) -> str:
    rows = []
    for answer in answers:
        said = words["untried"] if answer.answer is None else words["yes" if answer.answer else "no"]
        kind = {True: "good", False: "bad", None: "quiet"}[answer.good]
        evidence = " ".join(f'<span class="cp-chip">{escape(text)}</span>' for text in answer.evidence)
        verdict = f'<span class="cp-{kind}">{said}</span>'
        rows.append(f"<tr><td>{words[answer.question]}</td><td>{verdict}</td><td>{evidence}</td></tr>")
    return f"<table><tbody>{''.join(rows)}</tbody></table>"


def _column(label: str, query: str, passages: Sequence[Passage], only_here: set[str], words: Words) -> str:
    items = "".join(
        f"<li><code>{escape(p.source)}</code>"
        + (f' <span class="cp-good">{words["only_here"]}</span>' if p.source in only_here else "")
        + f"<br>{escape(p.text)}</li>"
        for p in passages
    )
    found = f"<ol>{items}</ol>" if items else f'<p class="cp-bad">{words["no_passages"]}</p>'
    return f'<div><h4>{escape(label)}</h4><div class="cp-tag cp-other">{escape(query)}</div>{found}</div>'


def _pairs(pairs: Iterable[Piece]) -> str:
    return " ".join(f'<span class="cp-chip">{escape(name)} <b>{escape(text)}</b></span>' for name, text in pairs)


def _found(found: str) -> str:
    role, _, rank = found.partition("#")
    return f'<span class="cp-found">{_role(role)}<span class="cp-quiet">#{escape(rank)}</span></span>'


def _role(role: str) -> str:
    return f'<span class="cp-chip cp-role-{escape(role)}">{escape(role)}</span>'


def _number(value: float | None) -> str:
    return "–" if value is None else f"{value:.2f}"


def _milliseconds(ms: float) -> str:
    return f"{ms:.0f} ms" if ms >= 10 else f"{ms:.1f} ms"


def _table(names: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    head = "".join(f"<th>{escape(name)}</th>" for name in names)
    body = "".join("<tr>" + "".join(f"<td>{cell}</td>" for cell in row) + "</tr>" for row in rows)
    return f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"
