"""Intervals and tests of one cell or of a pair of cells."""
