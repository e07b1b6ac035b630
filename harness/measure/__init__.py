"""Judgments x labels -> cells: units, agreement, pairing, rankings. Sections, decisions, boards and gates share it."""
