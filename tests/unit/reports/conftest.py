"""Recordings by hand, as tests/unit/recordings.py makes them."""

from tests.unit.recordings import *  # noqa: F403 (fixtures)
from tests.unit.render.conftest import make_verdict  # noqa: F401 (a fixture)
