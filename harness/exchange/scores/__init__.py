"""Scores that were made elsewhere become a data folder, and our scores go to other programs."""
