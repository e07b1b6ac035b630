"""Recordings by hand, and the data folders of the tests of decisions."""

from tests.unit.decide.conftest import *  # noqa: F403 (fixtures)
