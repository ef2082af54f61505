"""The guards: each compares a rewrite with what was really said and measures one way in which it can go wrong."""

from __future__ import annotations

from llama_index_condense_plus.protocols import Guard
from llama_index_condense_plus.rewriting.guards.answer import AnswerGuard
from llama_index_condense_plus.rewriting.guards.diff_ratio import DiffRatioGuard
from llama_index_condense_plus.rewriting.guards.language import LanguageGuard
from llama_index_condense_plus.rewriting.guards.length import LengthGuard
from llama_index_condense_plus.rewriting.guards.limits import Limits, limits_for
from llama_index_condense_plus.rewriting.guards.meta_text import MetaTextGuard
from llama_index_condense_plus.rewriting.guards.new_entity import NewEntityGuard
from llama_index_condense_plus.rewriting.guards.preservation import PreservationGuard
from llama_index_condense_plus.rewriting.guards.unresolved import UnresolvedReferenceGuard
from llama_index_condense_plus.settings import CondensePlusSettings

__all__ = [
    "AnswerGuard",
    "DiffRatioGuard",
    "LanguageGuard",
    "LengthGuard",
    "Limits",
    "MetaTextGuard",
    "NewEntityGuard",
    "PreservationGuard",
    "UnresolvedReferenceGuard",
    "build_guards",
    "limits_for",
]


def build_guards(settings: CondensePlusSettings) -> tuple[Guard, ...]:
    """Return the guards that are switched on, with the limits of the configured profile.

    Args:
        settings: ``guards``, and ``aliases``, whose targets count as said.
    """
    guards = settings.guards
    if guards.profile == "off":
        return ()
    limits = limits_for(guards)
    grounded = tuple(settings.aliases.values())
    all_guards: tuple[tuple[bool, Guard], ...] = (
        (guards.length.enabled, LengthGuard(limits)),
        (guards.language.enabled, LanguageGuard()),
        (guards.meta_text.enabled, MetaTextGuard()),
        (guards.diff_ratio.enabled, DiffRatioGuard(guards.diff_ratio, limits, grounded)),
        (guards.new_entity.enabled and not limits.expansion, NewEntityGuard(limits, grounded)),
        (guards.preservation.enabled, PreservationGuard()),
        (guards.answer.enabled, AnswerGuard(limits, grounded)),
        (guards.unresolved_reference.enabled, UnresolvedReferenceGuard()),
    )
    return tuple(guard for enabled, guard in all_guards if enabled)
