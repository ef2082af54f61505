"""A/B: conversations fall into two arms by a hash, so that every process and every turn agrees without a store."""

from __future__ import annotations

import hashlib
from typing import Literal

from llama_index_condense_plus.errors import ConfigurationError

Arm = Literal["a", "b"]
"""One of the two ways that are compared."""


def arm_of(conversation_key: str, share: float = 0.5, salt: str = "") -> Arm:
    """Return the arm of a conversation, always the same for the same arguments.

    Shadow mode changes nothing for users and shows what would change: ``trigger.mode = "never"`` with
    ``log.enabled = true`` and ``log.shadow_rate = 1.0`` searches every question as typed, and logs the rewrite that
    each would have had. Once that looks right, give an arm the rewrites and compare the thumbs of both.

    Args:
        conversation_key: what tells conversations apart, for example the session id.
        share: share of conversations in arm ``a``, 0 to 1. Raising it moves conversations from ``b`` to ``a`` only.
        salt: name of the experiment; another one divides the conversations anew.

    Raises:
        ConfigurationError: ``share`` is not between 0 and 1.

    Example:
        >>> shadow = {"trigger": {"mode": "never"}, "log": {"enabled": True, "shadow_rate": 1.0}}
        >>> options = {} if arm_of("session-17", share=0.1, salt="first-trial") == "a" else shadow
        >>> arm_of("anything", share=1.0)
        'a'
    """
    if not 0.0 <= share <= 1.0:
        raise ConfigurationError(f"share is between 0 and 1, not {share}.")
    digest = hashlib.sha256(f"{salt}\0{conversation_key}".encode("utf-8", "surrogatepass")).digest()
    return "a" if int.from_bytes(digest[:8], "big") < share * 2**64 else "b"
