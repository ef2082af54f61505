"""The example service with scripted parts, in this process."""

import sys
from pathlib import Path

import pytest

for name in ("fastapi", "redis", "asyncpg", "llama_index.storage.kvstore.redis"):
    pytest.importorskip(name)
sys.path.insert(0, str(Path(__file__).parents[2] / "examples" / "service"))
