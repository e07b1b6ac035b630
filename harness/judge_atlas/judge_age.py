"""How old judges are: whether the provider still serves the model behind one, and the newest judge of some rows."""

from __future__ import annotations

import datetime
from collections.abc import Iterable
from typing import NamedTuple

from harness.judge_atlas.atlas_file import Atlas, AtlasJudge, AtlasRow


class NewestJudge(NamedTuple):
    """The judge that was released last among some, and how many judges have no known date. `name` is empty where none has one."""

    name: str
    released: datetime.date
    unknown: int


def is_gone(judge: AtlasJudge, today: datetime.date) -> bool:
    """Whether its provider is known to serve the model no more. Open weights are never gone.

    >>> import datetime
    >>> is_gone(AtlasJudge(served_until=datetime.date(2024, 9, 13)), datetime.date(2024, 9, 13))
    False
    >>> is_gone(AtlasJudge(served_until=datetime.date(2024, 9, 13)), datetime.date(2024, 9, 14))
    True
    """
    return judge.served_until is not None and not judge.open_weights and judge.served_until < today


def newest_judge(atlas: Atlas, rows: Iterable[AtlasRow]) -> NewestJudge:
    """The newest of the judges of these rows whose release is known; of equal dates the first by name."""
    names = sorted({row.judge for row in rows})
    dated = {name: released for name in names if (released := atlas.judge(name).released)}
    newest = max(dated, key=lambda name: dated[name], default="")
    return NewestJudge(newest, dated.get(newest, datetime.date.min), len(names) - len(dated))


def months_between(earlier: datetime.date, later: datetime.date) -> int:
    """Whole months from one day to another; 0 where the first is later.

    >>> import datetime
    >>> months_between(datetime.date(2024, 5, 13), datetime.date(2026, 5, 12))
    23
    """
    months = 12 * (later.year - earlier.year) + later.month - earlier.month - (later.day < earlier.day)
    return max(months, 0)
