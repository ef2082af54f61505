"""What a bare install lacks is said in one sentence."""

from __future__ import annotations

import importlib.util

from llama_index_condense_plus.errors import ConfigurationError


def require(package: str, *, extra: str) -> None:
    """Check that a package of an extra is installed.

    Args:
        package: import name.
        extra: the extra that brings it.

    Raises:
        ConfigurationError: it is not installed; the message says what to install.
    """
    if importlib.util.find_spec(package) is None:
        raise ConfigurationError(f"{package} is missing: pip install 'llama-index-condense-plus[{extra}]'")
