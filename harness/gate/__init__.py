"""A policy of limits, held against the numbers of a run or a data folder: pass, fail or inconclusive."""
