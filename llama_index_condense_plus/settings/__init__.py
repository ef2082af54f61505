"""One settings object for everything, in the manner of the old ServiceContext."""

from __future__ import annotations

import os
from collections.abc import Mapping
from contextvars import ContextVar
from pathlib import Path
from typing import Any, ClassVar

from pydantic import BaseModel, Field, ValidationError
from pydantic_settings import BaseSettings, EnvSettingsSource, SettingsConfigDict, SettingsError

from llama_index_condense_plus.errors import ConfigurationError
from llama_index_condense_plus.settings import sections
from llama_index_condense_plus.settings.reading import (
    ENV_PREFIX,
    is_off,
    own_variables,
    read_dotenv,
    read_toml,
    readable,
)

__all__ = ["CondensePlusSettings"]
_file: ContextVar[Mapping[str, Any]] = ContextVar("settings_file", default={})  # noqa: B039 - never changed


class CondensePlusSettings(BaseSettings):
    """Every option of the package, frozen.

    Precedence: keyword arguments, ``CONDENSE_PLUS_*`` environment (``CONDENSE_PLUS_RETRIEVAL__DUAL=never``), ``.env``,
    the TOML file named by ``CONDENSE_PLUS_CONFIG``, ``set_default()``. ``CONDENSE_PLUS_ENABLED=off`` in the
    environment always wins, so that an operator can switch rewriting off.

    Raises:
        ConfigurationError: a key is unknown or a value out of range; the message names the nearest valid key.

    Example:
        >>> CondensePlusSettings(retrieval={"dual": "never"}).retrieval.dual
        'never'
    """

    model_config: ClassVar[SettingsConfigDict] = SettingsConfigDict(
        frozen=True, extra="forbid", env_prefix=ENV_PREFIX, env_nested_delimiter="__"
    )

    enabled: bool = Field(True, description="Off: no rewriting, no additional call.")
    trigger: sections.TriggerSettings = sections.TriggerSettings()
    languages: dict[str, sections.LanguageSettings] = Field({}, description="Words added or removed, by language code.")
    history: sections.HistorySettings = sections.HistorySettings()
    rewrite: sections.RewriteSettings = sections.RewriteSettings()
    cleanup: sections.CleanupSettings = sections.CleanupSettings()
    aliases: dict[str, str] = Field({}, description="Alias → canonical name, applied to the final query.")
    guards: sections.GuardsSettings = sections.GuardsSettings()
    retrieval: sections.RetrievalSettings = sections.RetrievalSettings()
    fusion: sections.FusionSettings = sections.FusionSettings()
    answer: sections.AnswerSettings = sections.AnswerSettings()
    summary: sections.SummarySettings = sections.SummarySettings()
    cache: sections.CacheSettings = sections.CacheSettings()
    log: sections.LogSettings = sections.LogSettings()

    _default: ClassVar[Mapping[str, Any]] = {}

    def __init__(self, **values: Any) -> None:
        try:
            super().__init__(**{name: _as_table(value) for name, value in values.items()})
        except ValidationError as error:
            raise ConfigurationError(readable(error, type(self))) from None
        except SettingsError as error:
            remedy = 'In the environment, lists and tables are JSON: ["rules", "original"].'
            raise ConfigurationError(f"{error}. {remedy}") from None

    @classmethod
    def settings_customise_sources(
        cls, settings_cls: type[BaseSettings], init_settings: Any, *_: Any, **__: Any
    ) -> tuple[Any, ...]:
        """Order the sources as the class documents it."""
        environment, dotenv = (own_variables(v, cls.model_fields) for v in (os.environ, read_dotenv()))
        config = f"{ENV_PREFIX}CONFIG".lower()
        named = environment.get(config) or dotenv.get(config)
        below: list[Any] = []
        for variables in (environment, dotenv):
            below.append(EnvSettingsSource(settings_cls))
            below[-1].env_vars = variables
        below += [lambda: read_toml(Path(named)) if named else {}, _file.get, lambda: CondensePlusSettings._default]
        return (lambda: {"enabled": False} if is_off(environment) else {}, init_settings, *below)

    @classmethod
    def from_defaults(cls, **overrides: Any) -> CondensePlusSettings:
        """Return settings with some options or sections replaced, as ServiceContext did."""
        return cls(**overrides)

    @classmethod
    def from_toml(cls, path: str | Path, **overrides: Any) -> CondensePlusSettings:
        """Read a TOML file; keyword arguments and the environment win over it.

        Raises:
            ConfigurationError: the file cannot be read, is not TOML, or holds a wrong option.
        """
        token = _file.set(read_toml(Path(path)))
        try:
            return cls(**overrides)
        finally:
            _file.reset(token)

    @classmethod
    def stock(cls, **overrides: Any) -> CondensePlusSettings:
        """Return settings that give the stock engine's behaviour: always rewrite, no checks, one query."""
        return cls(
            **{
                "trigger": {"mode": "always"},
                "rewrite": {"chain": ["stock"], "timeout_s": 0.0},
                "cleanup": {"enabled": False, "width": "keep"},
                "guards": {"profile": "off"},
                "retrieval": {"dual": "never", "prefetch": False, "variants": []},
                "answer": {"mode": "rewritten"},
                "cache": {"enabled": False},
                **overrides,
            }
        )

    @classmethod
    def set_default(cls, settings: CondensePlusSettings | None = None, **overrides: Any) -> None:
        """Set what every later ``CondensePlusSettings()`` of this process starts from; no argument resets it."""
        CondensePlusSettings._default = {}
        if settings is not None or overrides:
            base = _as_table(settings) if settings else {}
            CondensePlusSettings._default = _as_table(cls(**{**base, **overrides}))

    def to_toml(self, *, exclude_unset: bool = False) -> str:
        """Return the settings as TOML; options that are None are left out, for TOML has no null."""
        import tomli_w  # noqa: PLC0415 - most processes write no settings

        return tomli_w.dumps(self.model_dump(mode="json", exclude_none=True, exclude_unset=exclude_unset))


def _as_table(value: Any) -> Any:
    return value.model_dump(exclude_unset=True) if isinstance(value, BaseModel) else value
