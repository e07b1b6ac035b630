"""The data sets of the tests of comparisons."""

from tests.unit.analyse.conftest import *  # noqa: F403 (fixtures)
