"""Formats of other programs: labels, scores and judges come in and go out."""
