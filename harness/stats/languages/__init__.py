"""Comparisons of languages: the same texts, the same judge."""
