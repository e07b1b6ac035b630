"""The files that tests of imports write, and recordings by hand, as tests/unit/recordings.py makes them."""

from tests.unit.exchange.conftest import *  # noqa: F403 (fixtures)
from tests.unit.recordings import *  # noqa: F403 (fixtures)
