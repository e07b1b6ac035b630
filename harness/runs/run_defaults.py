"""The board, the temperature and the judge of a run where nobody names others."""

from __future__ import annotations

DEFAULT_BOARD = "controls"
DEFAULT_TEMPERATURE = 0.0  # where no board says another one
DEFAULT_JUDGE = "local/smollm2-135m"
