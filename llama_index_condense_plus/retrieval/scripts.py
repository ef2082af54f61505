"""Queries in the Chinese script of the documents: simplified by the package's own table, traditional by OpenCC."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import cache

from llama_index_condense_plus.errors import ConfigurationError
from llama_index_condense_plus.lexicons.text import has_han, simplify
from llama_index_condense_plus.types import PlannedQuery, QueryPlan

AS_TYPED = "as_typed"
SIMPLIFIED = "simplified"
OPENCC = {"traditional": "s2t", "taiwan": "s2tw", "hong_kong": "s2hk"}
"""Script → OpenCC's configuration. From simplified to traditional a character has several forms (发: 發, 髮), between
which OpenCC decides by the words; the other way a table of characters is enough."""


def in_script(text: str, script: str) -> str:
    """Return a text in a Chinese script; words of other languages stay.

    Args:
        text: a query.
        script: ``retrieval.script``.

    Raises:
        ConfigurationError: the script needs OpenCC, which is not installed.
    """
    if script == AS_TYPED or not has_han(text):
        return text
    return simplify(text) if script == SIMPLIFIED else converter(script)(text)


def plan_in_script(plan: QueryPlan, script: str) -> QueryPlan:
    """Return a plan with all its queries in a Chinese script.

    Args:
        plan: the plan.
        script: ``retrieval.script``.
    """
    if script == AS_TYPED:
        return plan

    def converted(queries: tuple[PlannedQuery, ...]) -> tuple[PlannedQuery, ...]:
        return tuple(replace(query, text=in_script(query.text, script)) for query in queries)

    return replace(plan, queries=converted(plan.queries), reserve=converted(plan.reserve))


def check_script(script: str) -> None:
    """Load what a script needs.

    Raises:
        ConfigurationError: the script needs OpenCC, which is not installed.
    """
    if script in OPENCC:
        converter(script)


@cache
def converter(script: str) -> Callable[[str], str]:
    """Return OpenCC's conversion of simplified text; text that is traditional already comes back as it is.

    Args:
        script: one of ``OPENCC``.

    Raises:
        ConfigurationError: OpenCC is not installed.
    """
    try:
        from opencc import OpenCC  # noqa: PLC0415 - an extra
    except ImportError:
        raise ConfigurationError(
            f"Option retrieval.script: {script!r} needs OpenCC. Install it: "
            "pip install 'llama-index-condense-plus[opencc]'."
        ) from None
    convert: Callable[[str], str] = OpenCC(OPENCC[script]).convert
    return convert
