"""Tests may break a copy of the bundled content."""

from tests.unit.contents import edit, library_of, root, whole_content

__all__ = ["edit", "library_of", "root", "whole_content"]
