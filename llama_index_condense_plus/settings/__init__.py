"""One settings object for everything, in the manner of the old ServiceContext."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any, ClassVar

import tomli_w
from pydantic import Field, ValidationError
from pydantic_settings import (
    BaseSettings,
    PydanticBaseSettingsSource,
    SettingsConfigDict,
    SettingsError,
)

from llama_index_condense_plus.errors import ConfigurationError
from llama_index_condense_plus.settings.reading import (
    ENV_PREFIX,
    check_environment,
    is_off,
    read_toml,
    readable,
)
from llama_index_condense_plus.settings.sections import (
    AnswerSettings,
    CacheSettings,
    CleanupSettings,
    FusionSettings,
    GuardsSettings,
    HistorySettings,
    LanguageSettings,
    LogSettings,
    RetrievalSettings,
    RewriteSettings,
    SummarySettings,
    TriggerSettings,
)

__all__ = ["CondensePlusSettings"]


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

    model_config = SettingsConfigDict(
        frozen=True,
        extra="forbid",
        env_prefix=ENV_PREFIX,
        env_nested_delimiter="__",
        env_file=".env",
        env_file_encoding="utf-8-sig",
        nested_model_default_partial_update=True,
    )

    enabled: bool = Field(True, description="Off: no rewriting, no additional call.")
    trigger: TriggerSettings = Field(TriggerSettings(), description="When a message is rewritten.")
    languages: dict[str, LanguageSettings] = Field({}, description="Words added or removed, by language code.")
    history: HistorySettings = Field(HistorySettings(), description="What of the conversation a rewrite may see.")
    rewrite: RewriteSettings = Field(RewriteSettings(), description="How a standalone question is made.")
    cleanup: CleanupSettings = Field(CleanupSettings(), description="What is taken out of a query.")
    aliases: dict[str, str] = Field({}, description="Alias → canonical name, applied to the final query.")
    guards: GuardsSettings = Field(GuardsSettings(), description="What a rewrite must pass.")
    retrieval: RetrievalSettings = Field(RetrievalSettings(), description="What is searched.")
    fusion: FusionSettings = Field(FusionSettings(), description="How the lists are merged.")
    answer: AnswerSettings = Field(AnswerSettings(), description="What the answer call reads.")
    summary: SummarySettings = Field(SummarySettings(), description="The rolling summary.")
    cache: CacheSettings = Field(CacheSettings(), description="The cache of accepted rewrites.")
    log: LogSettings = Field(LogSettings(), description="The rewrite log.")

    _default: ClassVar[CondensePlusSettings | None] = None

    def __init__(self, **values: Any) -> None:
        check_environment(type(self).model_fields)
        try:
            super().__init__(**values)
        except ValidationError as error:
            raise ConfigurationError(readable(error, type(self))) from None
        except SettingsError as error:
            raise ConfigurationError(
                f'{error}. In the environment, lists and tables are JSON: ["rules", "original"].'
            ) from None

    @classmethod
    def settings_customise_sources(
        cls,
        settings_cls: type[BaseSettings],  # noqa: ARG003
        init_settings: PydanticBaseSettingsSource,
        env_settings: PydanticBaseSettingsSource,
        dotenv_settings: PydanticBaseSettingsSource,
        file_secret_settings: PydanticBaseSettingsSource,  # noqa: ARG003
    ) -> tuple[Any, ...]:
        """Order the sources as the class documents it."""
        return (_operator_switch, init_settings, env_settings, dotenv_settings, _named_toml, _process_default)

    @classmethod
    def from_defaults(cls, **overrides: Any) -> CondensePlusSettings:
        """Return settings with some options replaced, as ServiceContext did.

        Args:
            **overrides: sections (a mapping or a section object) or top-level options.
        """
        return cls(**overrides)

    @classmethod
    def from_toml(cls, path: str | Path, **overrides: Any) -> CondensePlusSettings:
        """Read a TOML file; keyword arguments and the environment win over it.

        Raises:
            ConfigurationError: the file cannot be read, is not TOML, or holds a wrong option.
        """
        return _with_file(cls, read_toml(Path(path)), overrides)

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
        CondensePlusSettings._default = None
        if settings is not None or overrides:
            base = settings.model_dump(exclude_unset=True) if settings else {}
            CondensePlusSettings._default = cls(**{**base, **overrides})

    def to_toml(self, *, exclude_unset: bool = False) -> str:
        """Return the settings as TOML; options that are None are left out, for TOML has no null."""
        return tomli_w.dumps(self.model_dump(mode="json", exclude_none=True, exclude_unset=exclude_unset))


def _operator_switch() -> dict[str, Any]:
    return {"enabled": False} if is_off(os.environ) else {}


def _named_toml() -> dict[str, Any]:
    path = os.environ.get(f"{ENV_PREFIX}CONFIG")
    return read_toml(Path(path)) if path else {}


def _process_default() -> dict[str, Any]:
    default = CondensePlusSettings._default
    return default.model_dump(exclude_unset=True) if default else {}


def _with_file(
    cls: type[CondensePlusSettings], values: dict[str, Any], overrides: dict[str, Any]
) -> CondensePlusSettings:
    """Build settings with a file's values ranking below the environment."""

    class FromFile(cls):  # type: ignore[valid-type, misc]
        @classmethod
        def settings_customise_sources(cls, *args: Any, **kwargs: Any) -> tuple[Any, ...]:
            *above, default = super().settings_customise_sources(*args, **kwargs)
            return (*above, lambda: values, default)

    built = FromFile(**overrides)
    return cls.model_construct(_fields_set=built.model_fields_set, **dict(built))
