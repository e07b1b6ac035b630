"""The marker of the simulation tests, so that this folder can be run by itself."""

from __future__ import annotations

import pytest


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line("markers", "slow: simulations that take seconds to minutes; deselect with -m 'not slow'")
