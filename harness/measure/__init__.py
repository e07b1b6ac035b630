"""Judgments x labels -> one table -> cells: agreement, pairing, rankings. Sections, decisions, boards and gates share it."""
