"""Recordings by hand, as tests/unit/recordings.py makes them."""

from tests.unit.recordings import *  # noqa: F403 (fixtures)
