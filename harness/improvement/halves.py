"""The two halves of the labels: one chooses, the other confirms, once. Their types differ, so that neither stands in for the other.

A data folder remembers confirmations in `confirmed.jsonl`, one line a use.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import chain
from pathlib import Path

import msgspec
import numpy as np

from harness.errors import UsageError
from harness.improvement.questions import LabelledQuestion, LabelledQuestions
from harness.stats.core.arrays import Ints
from harness.tables import json_rows, write_atomic

LEAST_GROUPS = 10
"""Independent texts that each half needs at least."""


@dataclass(frozen=True, eq=False)
class ChooseHalf:
    """The questions that candidates are chosen by, in the order in which they are taken. Few-shot examples come from them alone."""

    texts: LabelledQuestions

    def first(self, questions: int) -> LabelledQuestions:
        """The questions that are taken first."""
        return self.texts.take(np.arange(questions))


@dataclass(frozen=True, eq=False)
class ConfirmHalf:
    """The questions that the chosen candidate is confirmed by."""

    texts: LabelledQuestions


def halves(texts: LabelledQuestions, share: float, seed: int) -> tuple[ChooseHalf, ConfirmHalf]:
    """Divide the questions by what their texts share, language by language.

    `share`, in (0, 1), of the independent texts of each language choose. Raises UsageError where a half has fewer than `LEAST_GROUPS`.
    """
    rng = np.random.default_rng(seed)
    chooses = np.zeros(int(texts.group.max(initial=-1)) + 1, bool)
    drawn = np.zeros(len(chooses), bool)
    for code in range(len(texts.languages)):  # a group of several languages belongs to the half of the first
        groups = np.unique(texts.group[texts.language == code])
        groups = rng.permutation(groups[~drawn[groups]])
        chooses[groups[: round(share * len(groups))]] = True
        drawn[groups] = True
    first = chooses[texts.group]
    for name, rows in (("choose", first), ("confirm", ~first)):
        if (count := len(np.unique(texts.group[rows]))) < LEAST_GROUPS:
            raise UsageError(f"the half to {name} would have {count} independent texts, and {LEAST_GROUPS} are needed; label more texts")
    one = texts.take(first)
    return ChooseHalf(one.take(_text_by_text(one, rng))), ConfirmHalf(texts.take(~first))


def _text_by_text(texts: LabelledQuestions, rng: np.random.Generator) -> Ints:
    """The questions in a random order of their texts, so that a part of them asks about few texts on all their metrics."""
    rows: dict[str, list[int]] = {}
    for at, question in enumerate(texts.questions):
        rows.setdefault(question.item_id, []).append(at)
    drawn = list(rows.values())
    return np.array(list(chain.from_iterable(drawn[at] for at in rng.permutation(len(drawn)))), np.int64)


FILE = "confirmed.jsonl"


class ConfirmedUse(msgspec.Struct, frozen=True):
    """One use of labels to confirm, on a day (UTC), of a folder whose items and labels have the hash `labels`.

    `candidates` have the start first; `shown` says whether a gain was shown in any language. `texts` are digests of the questions.
    """

    date: str
    labels: str
    candidates: tuple[str, ...]
    chosen: str
    shown: bool
    texts: tuple[str, ...]


def digests(questions: Iterable[LabelledQuestion]) -> tuple[str, ...]:
    """A digest of each question, which says nothing about its text."""
    return tuple(sorted(hashlib.sha256("\0".join(each).encode()).hexdigest()[:16] for each in questions))


def earlier_uses(folder: Path | None, questions: Sequence[LabelledQuestion]) -> int:
    """How many confirmations used some of these questions before; 0 without a folder."""
    path = folder / FILE if folder else None
    if path is None or not path.is_file():
        return 0
    now = set(digests(questions))
    return sum(not now.isdisjoint(use.texts) for _, use in json_rows(path, ConfirmedUse, "a use of labels to confirm"))


def refuse_second_use(uses: int, reuse: bool) -> None:
    """Raise UsageError where labels confirmed before and nobody said that they may again."""
    if uses and not reuse:
        times = "once" if uses == 1 else f"{uses} times"
        raise UsageError(
            f"these labels have confirmed a choice {times} ({FILE} in the data folder). A choice that is tried again on the same labels "
            "looks better than it is: label other texts, or pass --reuse to test at a stricter level"
        )


def remember(folder: Path, use: ConfirmedUse) -> None:
    """Add a use to the folder's file. Raises StoreError where it cannot be written."""
    path = folder / FILE
    before = path.read_bytes() if path.is_file() else b""
    write_atomic(path, before + msgspec.json.encode(use) + b"\n")
