"""The tree of errors this package raises.

    CondensePlusError
    ├── ConfigurationError      a wrong option, raised while something is constructed (also a ValueError)
    ├── InvalidMessageError     a blank or non-text message, raised before any call (also a ValueError)
    │   └── MessageTooLongError the message does not fit the answering model's context window
    ├── RetrievalFailedError    every query of a plan failed
    ├── ConversationBusyError   another worker holds this conversation's lock
    └── AnswerTimeoutError      the answer call or stream passed ``answer.timeout_s`` (also a TimeoutError)

Rewriting raises nothing: it fails open, and the trace says why.
"""

from __future__ import annotations


class CondensePlusError(Exception):
    """Base of every error raised by this package."""


class ConfigurationError(CondensePlusError, ValueError):
    """An option is wrong; the message names it and the remedy."""


class InvalidMessageError(CondensePlusError, ValueError):
    """The user's message is blank or not text."""


class MessageTooLongError(InvalidMessageError):
    """The answer's prompt does not fit the answering model's context window, even without documents."""


class RetrievalFailedError(CondensePlusError):
    """Every query of the plan failed; ``__cause__`` is the first failure."""


class ConversationBusyError(CondensePlusError):
    """Another worker is in the middle of a turn of this conversation."""


class AnswerTimeoutError(CondensePlusError, TimeoutError):
    """The answer did not arrive within ``answer.timeout_s`` seconds."""
