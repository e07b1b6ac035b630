"""Coefficients of agreement and correlation, cell by cell or for many cells at once."""
