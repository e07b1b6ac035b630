"""Obstacles to a use, by the names that verdicts have: few words for tables and answers, and whether they are shown against the judge."""

from __future__ import annotations

from typing import NamedTuple


class Obstacle(NamedTuple):
    """`against` is False for a test that is only not passed: then nothing is shown against the judge."""

    words: str
    against: bool = False


OBSTACLES = {
    "worse": Obstacle("worse than people", against=True),
    "people": Obstacle("may be worse than people"),
    "base_worse": Obstacle("worse than a constant answer", against=True),
    "baseline": Obstacle("may be no better than a constant answer"),
    "constant": Obstacle("one class for nearly all texts", against=True),
    "failures": Obstacle("many answers cannot be read", against=True),
    "unread": Obstacle("most answers cannot be read", against=True),
    "below_bar": Obstacle("below the bar", against=True),
    "bar": Obstacle("may be below the bar"),
    "coverage": Obstacle("too few readable answers"),
    "copied": Obstacle("may be a copy of the labels"),
    "cells": Obstacle("not certain enough among so many tests"),
    "labels": Obstacle("too few texts"),
    "annotators": Obstacle("one person a text"),
}
