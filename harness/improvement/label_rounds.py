"""Compare rounds of labels that had other instructions: the candidate that agrees best with each, and how many labels differ.

Nothing is confirmed here, and no label is spent: a round is a policy, and people choose which one they mean.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import msgspec
import numpy as np

from harness.correction.cell_results import UnreadCells, refuse_unread
from harness.data.dataset import Dataset
from harness.data.labels import Labels, checked_labels, read_label_rows
from harness.errors import UsageError
from harness.improvement.halves import halves
from harness.improvement.options import ImproveOptions
from harness.improvement.questions import commonest_labels, readable_questions, recorded_candidates
from harness.measure.compare import Recording, align
from harness.measure.item_table import item_tables
from harness.measure.options import MeasureOptions
from harness.model import JudgeCondition, Score
from harness.row_files import find_table

_EXAMPLES = 10


class LabelRound(NamedTuple):
    """The labels of one round, from the file or folder `name`."""

    name: str
    labels: Labels


class DifferingLabel(msgspec.Struct, frozen=True):
    """A question whose commonest labels differ, with that of each round, in their order."""

    language: str
    metric: str
    item_id: str
    labels: tuple[Score | None, ...]


class RoundsCompared(msgspec.Struct, frozen=True, kw_only=True):
    """Candidates under each round of labels, on the questions that choose and have a commonest label in every round.

    `agreement` (candidates, rounds) is the share of these questions on which a candidate gave the commonest label; of candidates that agree
    equally the earlier wins. Candidates most of whose answers cannot be read are `unread` and no candidates; a language and metric
    in which most answers of one cannot be read is left out for all. Of the `common` questions, `differing` have other labels; `examples`
    are some of them.
    """

    rounds: tuple[str, ...]
    candidates: tuple[JudgeCondition, ...]
    agreement: tuple[tuple[float, ...], ...]
    winners: tuple[JudgeCondition, ...]
    questions: int
    common: int
    differing: int
    examples: tuple[DifferingLabel, ...]
    signature: str
    unread: tuple[UnreadCells, ...] = ()
    schema_version: int = 1

    def as_json(self) -> dict[str, Any]:
        """Return one object for programs."""
        fields: dict[str, Any] = msgspec.structs.asdict(self)
        for name in ("candidates", "winners"):
            fields[name] = [condition._asdict() for condition in fields[name]]
        return fields | {"unread": [cells.flat() for cells in self.unread]}


def read_round(path: Path, data: Dataset) -> LabelRound:
    """Read the labels of a file, or of a data folder, on the items of `data`.

    Raises UsageError where there is none, ContentError with `file:line` for labels of other items or off their scale.
    """
    file = find_table(path, "labels") if path.is_dir() else path
    if file is None or not file.is_file():
        raise UsageError(f"--labels {path} is no label file (labels.jsonl) and no data folder with one")
    return LabelRound(str(path), checked_labels(read_label_rows(file), file, data.scales, data.by_id, source=data.about.source))


def compare_rounds(source: Recording, rounds: Sequence[LabelRound], compare: MeasureOptions, options: ImproveOptions) -> RoundsCompared:
    """Find the candidate that agrees best with each of two or more rounds of labels; the half that confirms is not used.

    Raises UsageError with fewer than two rounds or candidates, and without questions in common; JudgeError where most answers of all
    candidates cannot be read.
    """
    if len(rounds) < 2:
        raise UsageError("name two rounds of labels: --labels A --labels B")
    sources = [
        msgspec.structs.replace(source, data=msgspec.structs.replace(source.data, labels=label_round.labels)) for label_round in rounds
    ]
    answered = [recorded_candidates(recording, compare) for recording in sources]
    candidates = answered[0][1].candidates
    unread = refuse_unread(item_tables(align([source], compare).tables[0]), "no candidate is chosen by the answers")[1]
    broken = [JudgeCondition.of(cells.key) for cells in unread if cells.of_all]
    if any(answers.candidates != candidates for _, answers in answered):
        raise UsageError("the rounds have labels on other metrics, so that they are not about the same candidates; use --where metric=NAME")
    shared = set.intersection(*(set(questions.questions) for questions, _ in answered))
    if not shared:
        raise UsageError("no text has a commonest label in every round")
    first = answered[0][0]
    common = first.take(np.array([question in shared for question in first.questions], bool))
    common = common.take(readable_questions(common, (cells for cells in unread if not cells.of_all)))
    choosing = halves(common, options.share, options.seed)[0].texts
    readable = [index for index, candidate in enumerate(candidates) if candidate not in broken]
    agreement = np.array([answers.right(readable, choosing).mean(axis=0) for _, answers in answered]).T
    candidates = tuple(candidates[index] for index in readable)
    by_round = [commonest_labels(recording.data, compare) for recording in sources]
    round_labels = {question: tuple(labels.get(question) for labels in by_round) for question in common.questions}
    differing = [DifferingLabel(*question, labels) for question, labels in round_labels.items() if len(set(labels)) > 1]
    return RoundsCompared(
        rounds=tuple(label_round.name for label_round in rounds),
        candidates=candidates,
        agreement=tuple(tuple(row) for row in agreement.tolist()),
        winners=tuple(candidates[index] for index in agreement.argmax(axis=0).tolist()),
        questions=len(choosing),
        common=len(common),
        differing=len(differing),
        examples=tuple(differing[:_EXAMPLES]),
        signature="|".join(align([recording], compare).signature for recording in sources),
        unread=unread,
    )
