"""The two halves of the labels: one chooses, the other confirms, once. Their types differ, so that neither stands in for the other.

A data folder remembers confirmations in `confirmed.jsonl`, one line a use, and the hash of that file in `confirmed.head.json`: what was
removed or changed in one of them is found. Who removes both, or copies labels to another folder, is not found.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import chain
from pathlib import Path

import msgspec
import numpy as np
from filelock import FileLock

from harness.errors import ContentError, UsageError, refuse_pipe
from harness.improvement.questions import LabelledQuestion, LabelledQuestions
from harness.row_files import PRIVATE_FILE, json_rows, write_together
from harness.stats.core.arrays import Ints

LEAST_GROUPS = 10
"""Independent texts that each half needs at least."""


@dataclass(frozen=True, eq=False)
class ChooseHalf:
    """The questions that candidates are chosen by, in the order in which they are taken. Few-shot examples come from them alone."""

    texts: LabelledQuestions

    def first(self, questions: int) -> LabelledQuestions:
        """Return the questions that are taken first."""
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
    choosing = texts.take(first)
    return ChooseHalf(choosing.take(_shuffle_by_text(choosing, rng))), ConfirmHalf(texts.take(~first))


def _shuffle_by_text(texts: LabelledQuestions, rng: np.random.Generator) -> Ints:
    """Return the questions in a random order of their texts, so that a part of them asks about few texts on all their metrics."""
    rows: dict[str, list[int]] = {}
    for row, question in enumerate(texts.questions):
        rows.setdefault(question.item_id, []).append(row)
    drawn = list(rows.values())
    return np.array(list(chain.from_iterable(drawn[index] for index in rng.permutation(len(drawn)))), np.int64)


FILE, HEAD, _LOCK = "confirmed.jsonl", "confirmed.head.json", ".confirmed.lock"


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


class UsesHead(msgspec.Struct, frozen=True):
    """The number of uses in the file, and its SHA-256."""

    uses: int
    sha256: str


def digests(questions: Iterable[LabelledQuestion]) -> tuple[str, ...]:
    """Return a digest of each question, which says nothing about its text."""
    return tuple(sorted(hashlib.sha256("\0".join(question).encode()).hexdigest()[:16] for question in questions))


def earlier_uses(folder: Path | None, questions: Sequence[LabelledQuestion]) -> int:
    """Return how many confirmations used some of these questions before; 0 without a folder.

    Raises ContentError where uses were removed or changed, as far as one of the two files is still there.
    """
    return 0 if folder is None else _count_uses(folder, digests(questions))


def _count_uses(folder: Path, texts: Iterable[str]) -> int:
    path, now = folder / FILE, set(texts)
    _refuse_changed_file(folder)
    uses = json_rows(path, ConfirmedUse, "a use of labels to confirm") if path.is_file() else ()
    return sum(not now.isdisjoint(use.texts) for _, use in uses)


def _refuse_changed_file(folder: Path) -> None:
    path, head = folder / FILE, folder / HEAD
    for of_uses in (path, head):
        refuse_pipe(of_uses)
    if not path.is_file() and not head.is_file():
        return
    if not path.is_file():
        raise ContentError(f"this file is gone, which says what labels confirmed ({HEAD} has its hash); restore it", path)
    try:
        recorded_head = msgspec.json.decode(head.read_bytes(), type=UsesHead)
    except FileNotFoundError:
        raise ContentError(f"this file is gone, which has the hash of {FILE}; restore it", head) from None
    except (msgspec.DecodeError, UnicodeDecodeError) as err:
        raise ContentError(f"not the hash of {FILE}: {err}; restore it", head) from None
    content = path.read_bytes()
    if hashlib.sha256(content).hexdigest() != recorded_head.sha256:
        lines = content.count(b"\n")
        raise ContentError(
            f"this file has {lines:,} uses of labels and was changed after it was written with {recorded_head.uses:,}; restore it", path
        )


def refuse_second_use(uses: int, reuse: bool) -> None:
    """Raise UsageError where labels confirmed before and nobody said that they may again."""
    if uses and not reuse:
        times = "once" if uses == 1 else f"{uses} times"
        raise UsageError(
            f"these labels have confirmed a choice {times} ({FILE} in the data folder). A choice that is tried again on the same labels "
            "looks better than it is: label other texts, or pass --reuse to test at a stricter level"
        )


def remember(folder: Path, use: ConfirmedUse, before: int) -> None:
    """Add a use to the folder's file; `before` uses of these labels were known when the confirmation began.

    Raises UsageError where another process has confirmed by them meanwhile, StoreError where the file cannot be written.
    """
    with FileLock(folder / _LOCK, mode=PRIVATE_FILE):
        if _count_uses(folder, use.texts) != before:
            raise UsageError("another 'harness improve' has confirmed by these labels meanwhile, so nothing is shown; see --reuse")
        path = folder / FILE
        content = (path.read_bytes() if path.is_file() else b"") + msgspec.json.encode(use) + b"\n"
        head = UsesHead(content.count(b"\n"), hashlib.sha256(content).hexdigest())
        write_together({path: content, folder / HEAD: msgspec.json.encode(head) + b"\n"})
