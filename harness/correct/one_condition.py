"""The one judge under one condition that maps and certificates are of."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from harness.content.tags import choose_from
from harness.data.judgments import Judgments
from harness.errors import UsageError
from harness.judges import traits_of
from harness.measure.compare import Recording
from harness.model import CONDITION, JudgeCondition


def one_condition(conditions: Iterable[JudgeCondition], judges: Sequence[str] | None, verb: str) -> JudgeCondition:
    """The judge and condition to `verb`; baselines count only if they are named. Raises UsageError where there are several, or none."""
    every = list(dict.fromkeys(conditions))
    if judges:
        known = list(dict.fromkeys(each.judge for each in every))
        for name in judges:
            if name not in known:
                raise UsageError(f"no judge '{name}'.{choose_from(known, name)}")
        every = [each for each in every if each.judge in judges]
    elif any(not traits_of(each.judge).is_baseline for each in every):
        every = [each for each in every if not traits_of(each.judge).is_baseline]
    if not every:
        raise UsageError(f"nothing to {verb}: no judge has scores on a metric that people labelled; see 'harness compare'")
    names = list(dict.fromkeys(each.judge for each in every))
    what = {"certify": "a certificate is", "calibrate": "maps are", "accept": "a step of a cascade is"}[verb]
    if len(names) > 1:
        raise UsageError(f"{what} of one judge, and there are {len(names)}; name one with --judge: {', '.join(names)}")
    if len(every) > 1:
        differing = next(name for name in CONDITION[1:] if len({getattr(each, name) for each in every}) > 1)
        values = ", ".join(dict.fromkeys(f"{getattr(each, differing)}" for each in every))
        raise UsageError(f"{what} of one condition; choose one with --where {differing}=VALUE: {values}")
    return every[0]


def judged_rows(source: Recording, condition: JudgeCondition) -> Judgments:
    """The judgments of original texts by one judge under one condition."""
    rows = source.judgments.clean
    for name, value in condition._asdict().items():
        rows = with_value(rows, name, value)
    return rows


def with_value(rows: Judgments, name: str, value: Any) -> Judgments:
    """The rows whose column `name` has this value; None finds the rows without one."""
    column = getattr(rows, name)
    return rows.take(column.codes < 0 if value is None else column.recode({value: 0}) == 0)
