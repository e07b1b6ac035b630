"""The languages of rubric, item and justification, each English or another one, on the same texts."""
