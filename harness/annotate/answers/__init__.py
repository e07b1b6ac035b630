"""Answers on labelling pages become labels."""
