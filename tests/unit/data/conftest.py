"""Tests may break a copy of the bundled content."""

from tests.unit.contents import edit, library_of, root

__all__ = ["edit", "library_of", "root"]
