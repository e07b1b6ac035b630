"""Who changed: the judge, the texts, or both? From the days on which the two tests of one cell gave alarm."""

from __future__ import annotations

from typing import Literal

WatchAnswer = Literal["nothing shown", "not yet known", "the texts changed", "the judge changed", "both"]


def who_changed(production: int | None, anchors: int | None, last_day: int, guard: int) -> WatchAnswer:
    """The answer from the days of the alarms.

    The anchors are the same texts every day, so only the judge moves them. An alarm on production scores is put down to the texts when the
    anchors stayed silent for `guard` days after it; if they gave alarm before or by then, the judge explains it, and production says
    nothing until there is a new reference. Anchors that give alarm later than that are a second change.

    Args:
        production, anchors: the day of the alarm, None without one. Days count those on which the judge was asked about anchors.
        last_day: of the log.
        guard: how many days anchors may take to show a change that production scores show.

    >>> [who_changed(40, anchors, 100, 30) for anchors in (None, 45, 90)], who_changed(90, None, 100, 30)
    (['the texts changed', 'the judge changed', 'both'], 'not yet known')
    """
    if anchors is not None:
        return "both" if production is not None and anchors > production + guard else "the judge changed"
    if production is None:
        return "nothing shown"
    return "the texts changed" if last_day >= production + guard else "not yet known"
