"""The folders of the user's account that hold what can be made or fetched again."""

from __future__ import annotations

import os
from pathlib import Path


def cache_home() -> Path:
    """Return the user's cache folder, which may not exist. HARNESS_CACHE names another one."""
    import platformdirs  # late: it is needed where a cache is

    chosen = os.environ.get("HARNESS_CACHE")
    return Path(chosen) if chosen else Path(platformdirs.user_cache_dir("judge-harness"))
