"""Panels of recorded judges: a panel's judgments, computed from those of its members. No judge is asked."""

from __future__ import annotations

from collections.abc import Collection, Mapping

import numpy as np

from harness.content.tags import choose_from
from harness.data.columns import NO_VALUE, CodedColumn, combination_ids
from harness.data.judgments import Judgments
from harness.errors import UsageError
from harness.judges.panel import Panel, Vote, refuse_unfit_panels
from harness.model import CONDITION, Failure, Scale
from harness.stats.core.arrays import Ints

_QUESTION = ("metric", *CONDITION[1:], "perturbation", "repeat", "order", "shown_source")


def with_panel(
    judgments: Judgments, name: str, panel: Panel, scales: Mapping[str, Scale], metrics: Collection[str] | None = None
) -> Judgments:
    """Return the judgments and those of a panel of recorded judges, on some metrics or on all. It was asked where most of its members were.

    Raises UsageError for a member without judgments, a judge that has the panel's name, and a rule that a scale does not allow.
    """
    judges = judgments.judge.used
    if name in judges:
        raise UsageError(f"the judgments have a judge '{name}' already; rename the panel's file")
    for member in panel.members:
        if member not in judges:
            raise UsageError(f"{name} has the member '{member}', which judged nothing here.{choose_from(sorted(map(str, judges)), member)}")
    code = judgments.judge.recode({member: number for number, member in enumerate(panel.members)}).astype(np.int64)
    if metrics is not None:
        code = np.where(judgments.metric.among(metrics), code, NO_VALUE)
    votes = judgments.take(code >= 0)
    refuse_unfit_panels({name: panel}, {str(metric): scales[metric] for metric in votes.metric.used})
    return Judgments.concatenate([judgments, _panel_rows(votes, code[code >= 0], name, panel, scales)])


def _panel_rows(members: Judgments, member: Ints, name: str, panel: Panel, scales: Mapping[str, Scale]) -> Judgments:
    """Return the rows of a panel, in the order of the first row of each question. Equal votes on one metric are counted once."""
    key = combination_ids([getattr(members, column) for column in _QUESTION], members.item.codes.astype(np.int64))
    _, first, question = np.unique(key, return_index=True, return_inverse=True)
    votes = np.full((len(first), len(panel.members)), NO_VALUE, np.int64)
    scores, failures = members.score.values, [Failure(str(failure)) for failure in members.failure.values]
    failure = members.failure.codes.astype(np.int64)
    votes[question, member] = np.where(members.score.codes != NO_VALUE, members.score.codes, len(scores) + failure)
    answered = np.flatnonzero(2 * (votes != NO_VALUE).sum(axis=1) > len(panel.members))
    answered = answered[np.argsort(first[answered], kind="stable")]
    metric = members.metric.codes[first[answered]]
    ballots, which = np.unique(np.column_stack([metric, votes[answered]]), axis=0, return_inverse=True)
    answers: tuple[Vote, ...] = (*scores, *failures)
    results = [
        panel.score([answers[code] for code in codes if code != NO_VALUE], scales[members.metric.values[row]])
        for row, *codes in ballots.tolist()
    ]
    failed = [isinstance(result, Failure) for result in results]
    rows = members.take(first[answered])
    columns = {column: getattr(rows, column) for column in ("item", *_QUESTION)}
    return Judgments(
        **columns,
        judge=CodedColumn.constant(name, len(rows)),
        score=CodedColumn.from_values(None if fails else result for result, fails in zip(results, failed, strict=True)).take(which.ravel()),
        failure=CodedColumn.from_values(result if fails else None for result, fails in zip(results, failed, strict=True)).take(
            which.ravel()
        ),
    )
