"""Cells -> verdicts: tests, rule and sentences."""
