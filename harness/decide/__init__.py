"""Cells -> verdicts: what a judge's scores may be used for, with the tests, the rule and the sentences."""
