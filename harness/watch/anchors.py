"""Anchors: labelled texts that the judge is asked again. Which ones are drawn on a day, and what their answers say."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from datetime import date

import numpy as np

from harness.data.judgments import Judgments
from harness.errors import UsageError
from harness.model import Score
from harness.watch.daily_log import Seen, SeenAnchors
from harness.watch.watch_plan import Anchor, WatchedCell, WatchPlan

Answers = Mapping[tuple[str, str], Sequence[Score | None]]
"""`{(item_id, metric): answers in the order of their repeats}`, None for an answer that cannot be read."""
_NAMED = 3  # anchors that a sentence names


def draw_anchors(anchors: Sequence[Anchor], plan: WatchPlan, day: date) -> dict[str, int]:
    """How often each anchor is drawn on a day: `per_day` draws a language, at random and with replacement.

    The draw depends on the plan's seed and the day alone, so a command that was killed draws the same anchors again.
    """
    drawn: Counter[str] = Counter()
    for language in sorted({anchor.language for anchor in anchors}):
        pool = sorted({anchor.item_id for anchor in anchors if anchor.language == language})
        seed = [plan.options.seed, day.toordinal(), *language.encode()]
        drawn.update(pool[place] for place in np.random.default_rng(seed).integers(0, len(pool), plan.options.per_day))
    return dict(drawn)


def answers_of(judgments: Judgments) -> dict[tuple[str, str], list[Score | None]]:
    """The answers on each item and metric, in the order of their repeats."""
    rows = sorted(
        zip(judgments.item, judgments.metric, (repeat or 0 for repeat in judgments.repeat), judgments.score, strict=True),
        key=lambda row: (row[0], row[1], row[2]),
    )
    found: dict[tuple[str, str], list[Score | None]] = {}
    for item, metric, _, score in rows:
        found.setdefault((item, metric), []).append(score)
    return found


def refuse_unanswered(anchors: Sequence[Anchor], times: Mapping[str, int], answers: Answers, where: str) -> None:
    """Raise UsageError for drawn anchors without an answer, with their ids."""
    absent = sorted({each.item_id for each in anchors if each.item_id in times and (each.item_id, each.metric) not in answers})
    if absent:
        named = ", ".join(absent[:_NAMED]) + (f" and {len(absent) - _NAMED} more" if len(absent) > _NAMED else "")
        problem = f"{where} has no answer of the judge on {len(absent)} of the anchors that are drawn: {named}"
        raise UsageError(f"{problem}; an answer that cannot be read is a row without a score")


def see_anchors(cell: WatchedCell, anchors: Sequence[Anchor], times: Mapping[str, int], answers: Answers) -> SeenAnchors | None:
    """What the answers on the drawn anchors say in one cell; None where none of them is of it.

    The k-th draw of an anchor takes its k-th answer, or its last one where there are fewer.
    """
    given = [
        (anchor, answers[anchor.item_id, anchor.metric][min(place, len(answers[anchor.item_id, anchor.metric]) - 1)])
        for anchor in anchors
        if (anchor.language, anchor.metric) == (cell.language, cell.metric)
        for place in range(times.get(anchor.item_id, 0))
    ]
    agreement = Seen.of(cell.agreement(score, anchor) for anchor, score in given)
    if agreement is None:
        return None
    read = [score for _, score in given if score is not None]
    return SeenAnchors(len(given), len(given) - len(read), agreement, Seen.of(map(cell.level, read)))
