"""Runs by hand, as the tests of sections have them."""

from __future__ import annotations

from tests.unit.reports.sections.conftest import find, said

__all__ = ["find", "said"]
