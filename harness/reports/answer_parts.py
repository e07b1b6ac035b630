"""What an answer is made of, for every page and screen. `answer.py` makes one from verdicts, `atlas_answer.py` from the atlas."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

SIGNS = {"good": "✓", "bad": "✗", "open": "○"}
Sentence = tuple[str, str]
"""`good`, `bad` or `open`, and the sentence."""


@dataclass(frozen=True)
class NextStep:
    """One thing to do: a sentence, and its command, or the judgments that a click on it shows."""

    text: str
    command: str = ""
    show: dict[str, Any] | None = None


@dataclass(frozen=True)
class Answer:
    """What verdicts say, for a reader who reads nothing else.

    `title` states what was found of one judge, and asks which judge where there are several. `sure` says how often a wrong `use`
    happens; it is empty where labels are constructed.
    """

    title: str
    sentences: tuple[Sentence, ...]
    sure: str
    steps: tuple[NextStep, ...]
