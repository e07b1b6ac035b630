"""Estimates from a judge's scores with some labels beside them, and the labels that they need."""
