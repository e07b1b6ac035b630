"""What a data folder remembers of confirmations, so that labels are spent once: `confirmed.jsonl`, one line a use."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Sequence
from pathlib import Path

import msgspec

from harness.errors import UsageError
from harness.improvement.questions import LabelledQuestion
from harness.tables import json_rows, write_atomic

FILE = "confirmed.jsonl"


class ConfirmedUse(msgspec.Struct, frozen=True):
    """One use of labels to confirm.

    Attributes:
        date: the day (UTC).
        labels: hash of the folder's items and labels.
        candidates: what was chosen from, the start first.
        chosen: what was confirmed; `shown` whether a gain was shown in any language.
        texts: a digest of each question that confirmed.
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
