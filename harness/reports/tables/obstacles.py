"""Obstacles to a use, by the names that verdicts have: its code in tables, and the meaning of the code."""

from __future__ import annotations

from typing import NamedTuple


class Obstacle(NamedTuple):
    code: str
    meaning: str


OBSTACLES = {
    "worse": Obstacle("<P", "worse than people by more than the margin, which is shown"),
    "people": Obstacle("<P?", "not ruled out to be worse than people by more than the margin"),
    "base_worse": Obstacle("<C", "worse than one constant answer, which is shown"),
    "baseline": Obstacle("<C?", "not shown to be better than one constant answer"),
    "constant": Obstacle("=1", "the judge gives one class to nearly all texts"),
    "failures": Obstacle("!R", "too many answers cannot be read"),
    "unread": Obstacle("!!", "most answers cannot be read, so nothing is known of the judge"),
    "below_bar": Obstacle("<B", "finds less of a class than the bar asks for, which is shown"),
    "bar": Obstacle("<B?", "not shown to find as much of every class as the bar asks for"),
    "coverage": Obstacle("!R?", "too few readable answers"),
    "copied": Obstacle("=P", "the judge's score is a person's in every text, so that it may be a copy"),
    "cells": Obstacle("N?", "good result, but not certain enough among so many tests"),
    "labels": Obstacle("T!", "too few texts to test"),
    "annotators": Obstacle(
        "A!", "no text has the scores of two people; next: a second person scores texts ('harness labels page' with --second)"
    ),
}
