"""The files that tests of imports write."""

from tests.unit.exchange.conftest import *  # noqa: F403 (fixtures)
