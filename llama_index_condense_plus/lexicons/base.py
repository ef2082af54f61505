"""What a language brings: a Lexicon of words, registered explicitly."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from llama_index_condense_plus.errors import ConfigurationError
from llama_index_condense_plus.settings.sections import LanguageSettings

if TYPE_CHECKING:
    from llama_index_condense_plus.settings import CondensePlusSettings


@dataclass(frozen=True, slots=True)
class Lexicon:
    """The words of one language that the gate, the cleanup and the rule rewriter know.

    All entries are lower case and, for Chinese, simplified; longer entries win over shorter ones.
    """

    code: str
    """Language code (ISO 639-1), for example ``zh``."""
    name: str = ""
    """Name of the language in English, for prompts."""
    pronouns: frozenset[str] = frozenset()
    """Pronouns and demonstratives that refer back."""
    not_pronouns: frozenset[str] = frozenset()
    """Longer words and phrases that contain a pronoun and are none, such as 其他 or "it department"."""
    openers: frozenset[str] = frozenset()
    """Words that open a follow-up, such as 那 and "and"."""
    back_references: frozenset[str] = frozenset()
    """Phrases that point at earlier turns, such as 上面说的 or "your last answer"."""
    ordinals: frozenset[str] = frozenset()
    """Choices among things mentioned, such as 第二种 or "the latter"."""
    comparatives: frozenset[str] = frozenset()
    """Comparison words whose other side may be missing, such as 更好 or "cheaper"."""
    small_talk: frozenset[str] = frozenset()
    """Whole messages that are greetings, thanks or acknowledgements."""
    answers: frozenset[str] = frozenset()
    """Whole messages that answer a question of the assistant's and say nothing without it, such as "yes"."""
    fillers: frozenset[str] = frozenset()
    """Words that change nothing between greetings; where there are none, the English ones are taken."""
    thanks: str = ""
    """Regular expression for the beginning of a folded clause of thanks or farewell."""
    remarks: str = ""
    """The same for what is said beside thanks: what one will do now, praise, that nothing is left to ask."""
    connectives: frozenset[str] = frozenset()
    """Time connectives and back references that a query can do without, such as 刚才."""
    connective_traps: frozenset[str] = frozenset()
    """Longer phrases that contain a connective and carry meaning, such as 之前的版本."""
    padding: frozenset[str] = frozenset()
    """Polite padding, such as 请问 or "could you tell me"."""
    function_words: frozenset[str] = frozenset()
    """Words without content of their own."""
    negations: frozenset[str] = frozenset()
    """Words that negate."""
    question_words: frozenset[str] = frozenset()
    """Words that make a question."""
    pronoun_classes: dict[str, str] = field(default_factory=dict)
    """Pronoun → what it may stand for: ``person``, ``thing``, ``place``, ``plural`` …"""
    models_ellipsis: bool = False
    """False: everything but small talk is rewritten in this language."""

    def adapted(self, own: LanguageSettings) -> Lexicon:
        """Return the lexicon with a user's words added and removed."""
        changed = {
            name: (getattr(self, name) | set(getattr(own, f"{name}_add"))) - set(getattr(own, f"{name}_remove"))
            for name in ("pronouns", "openers", "small_talk", "connectives")
        }
        return replace(self, **changed)


UNKNOWN = "und"
"""Code of a language that is not known here."""
OFTEN_MEANT = {"cn": "zh", "tw": "zh", "hk": "zh", "jp": "ja", "kr": "ko", "uk": "en", "us": "en"}
"""Codes of countries, written for those of languages."""
_registry: dict[str, Lexicon] = {}
_sources: dict[str, Callable[[], Lexicon]] = {}
"""What makes the lexicons that come with the package, each when it is first asked for."""
_registrations = 0
_adapted: dict[tuple[int, str], tuple[Lexicon, Lexicon]] = {}
"""Adapted lexicons; the original is kept beside each, so that its id stays taken."""


def register_lexicon(lexicon: Lexicon) -> None:
    """Make a language known, or replace one, for the whole process.

    Raises:
        ConfigurationError: the lexicon has no code.
    """
    if not lexicon.code:
        raise ConfigurationError("A Lexicon needs a code, for example Lexicon(code='it', name='Italian').")
    global _registrations  # noqa: PLW0603 - the registry is the process's
    _registry[lexicon.code] = lexicon
    _registrations += 1


def registrations() -> int:
    """Return how often a lexicon was registered: what was read from the registry holds while this is the same."""
    return _registrations


def register_source(code: str, source: Callable[[], Lexicon]) -> None:
    """Make a language known by what makes its lexicon.

    Args:
        code: the lexicon's code.
        source: called once, when the lexicon is first asked for.
    """
    _sources[code] = source


def _known(code: str) -> Lexicon | None:
    if code not in _registry and code in _sources:
        _registry.setdefault(code, _sources[code]())
    return _registry.get(code)


def registered_lexicons() -> dict[str, Lexicon]:
    """Return the known languages by code."""
    return {code: lexicon for code in _sources | _registry if (lexicon := _known(code))}


def own_lexicons() -> dict[str, Lexicon]:
    """Return the languages by code that a user registered besides those of the package."""
    return {code: lexicon for code, lexicon in _registry.items() if code not in _sources}


def check_languages(settings: CondensePlusSettings) -> None:
    """Refuse words for a language that no message can be in.

    Raises:
        ConfigurationError: ``languages`` has a code that is neither built in nor registered.
    """
    known = {*_sources, *_registry, UNKNOWN}
    for code in settings.languages:
        if code not in known:
            meant = OFTEN_MEANT.get(code.lower()) or code.lower().replace("_", "-").split("-")[0]
            hint = f"Did you mean {meant}?" if meant in known else f"Known: {', '.join(sorted(known))}."
            raise ConfigurationError(
                f"Option languages.{code}: no such language. {hint} "
                "For another one, register_lexicon before the engine is made."
            )


def lexicon_for(language: str, settings: CondensePlusSettings | None = None) -> Lexicon:
    """Return a language's lexicon with the user's own words, or an empty one for an unknown language.

    Args:
        language: a code such as ``zh``.
        settings: the settings whose ``languages`` section adapts it.
    """
    lexicon = _known(language) or Lexicon(code=language)
    own = settings.languages.get(language) if settings else None
    if own is None:
        return lexicon
    key = (id(lexicon), own.model_dump_json())
    if key not in _adapted:
        _adapted[key] = (lexicon, lexicon.adapted(own))
    return _adapted[key][1]
