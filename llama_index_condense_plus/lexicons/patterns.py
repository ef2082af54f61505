"""Regular expressions that are compiled when they are first used, so that importing the package stays cheap."""

from __future__ import annotations

import re
from typing import Any, cast


class _Lazy:
    """Stands for a pattern; after the first use, what was used is found on it directly."""

    def __init__(self, source: str, flags: int) -> None:
        self._source = source
        self._flags = flags

    def __getattr__(self, name: str) -> Any:
        found = getattr(re.compile(self._source, self._flags), name)
        setattr(self, name, found)
        return found


def regex(source: str, flags: int = 0) -> re.Pattern[str]:
    """Return what works like ``re.compile(source, flags)`` and compiles on first use; safe to share between threads.

    Args:
        source: the regular expression.
        flags: flags of ``re``.
    """
    return cast("re.Pattern[str]", _Lazy(source, flags))
