"""The shares of each class that a judge finds: beside verdicts on two classes, and against a bar where one person labelled each text."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from statistics import NormalDist

import msgspec
import numpy as np

from harness.decide.options import DEFAULT_BAR, parse_bar
from harness.errors import UsageError
from harness.measure.label_counts import LabelCounts
from harness.model import Score
from harness.stats.core.arrays import Floats, Ints
from harness.stats.intervals.intervals import clopper_pearson
from harness.stats.intervals.recall_bar import share_found


class ClassShare(msgspec.Struct, frozen=True):
    """The share of people's labels of one class that the judge gives too, with one-sided limits.

    Attributes:
        score: the class; None for all texts together, where a bar is stated for the agreement on several classes.
        share, lower, upper: the share found, and its one-sided limits at alpha. In `lower` and `p_above` texts of one group have a
            correlation of at least `DecisionOptions.bar_correlation`.
        n, groups: texts with the class, and independent groups among them.
        bar: what the share is held against; None where the verdict has another basis.
        p_above, p_below: of "at most the bar" and of "at least the bar", one-sided; None without a bar.
    """

    score: Score | None
    share: float | None
    lower: float
    upper: float
    n: int
    groups: int
    bar: float | None = None
    p_above: float | None = None
    p_below: float | None = None


def refuse_unknown_classes(bar: str, labels: Iterable[LabelCounts]) -> None:
    """Raise UsageError if a bar, as `parse_bar` takes it, names a class that no metric with two classes has."""
    bars = parse_bar(bar)
    classes = dict.fromkeys(str(score) for votes in labels if len(votes.classes.scores) == 2 for score in votes.classes.scores)
    if unknown := [name for name in bars if name and name not in classes]:
        listed = f"the classes are {', '.join(classes)}" if classes else "no metric has two classes, so state one share, such as --bar .7"
        raise UsageError(f"--bar {unknown[0]}={bars[unknown[0]]:g}: no class is called '{unknown[0]}'; {listed}")


def bar_of(score: Score | None, bars: Mapping[str, float]) -> float:
    """Return the bar of a class: its own, else that of all classes, else the default."""
    return bars.get(str(score), bars.get("", DEFAULT_BAR))


def class_shares(
    votes: LabelCounts, items: Ints, right: Floats, group: Ints, alpha: float, correlation: float, bars: Mapping[str, float] | None
) -> tuple[ClassShare, ...]:
    """Return the share that a judge finds of each class of a metric with two classes; of all texts where there are more and a bar.

    Args:
        votes: people's labels on the metric.
        items: (texts,) the judged items.
        right: (texts,) how often the judge gives the reference, over its repeats; failures are wrong, NaN where there is no reference.
        group: (texts,) the texts' groups.
        alpha: the level of the limits.
        correlation: what texts of one group have in common at least, in lower limits and in "above the bar".
        bars: the bar of each class by name, where the verdict rests on a bar.
    """
    reference = votes.reference[items]
    compared = (reference >= 0) & ~np.isnan(right)
    two = len(votes.classes.scores) == 2
    parts = [(score, reference == code) for code, score in enumerate(votes.classes.scores)] if two else [(None, compared)]
    shares = []
    for score, rows in parts:
        mask = compared & rows
        share = share_found(right[mask], group[mask])
        bar = None if bars is None else bar_of(score, bars)
        shares.append(
            ClassShare(
                score,
                share.share if share.n else None,
                share.lower(alpha, correlation),
                share.upper(alpha),
                share.n,
                share.groups,
                bar,
                None if bar is None else share.p_above(bar, correlation),
                None if bar is None else share.p_below(bar),
            )
        )
    return tuple(shares)


def p_above_bar(shares: Sequence[ClassShare]) -> float:
    """Return p of "not every share is above its bar": the largest, as all have to be; 1 where a class has no text."""
    return max((1.0 if share.p_above is None else share.p_above for share in shares), default=1.0)


def p_below_bar(shares: Sequence[ClassShare]) -> float:
    """Return p of "no share is below its bar": the smallest, times the number of shares, as any of them speaks against the judge."""
    return min(1.0, min((1.0 if share.p_below is None else share.p_below for share in shares), default=1.0) * max(len(shares), 1))


def texts_needed(share: ClassShare, level: float, power: float) -> int | None:
    """Return how many further texts of a class show that its share is above the bar, if it is what was seen; None where none would.

    Groups of the further texts are as large as those that were seen, and each group counts as one text.
    """
    bar = bar_of(share.score, {}) if share.bar is None else share.bar
    if share.share is not None and share.share <= bar:
        return None
    seen = (1 + bar) / 2 if share.share is None else (share.share * share.n + 0.5) / (share.n + 1)
    if seen <= bar:  # so few texts say nothing yet
        seen = (1 + bar) / 2
    z, worth = NormalDist().inv_cdf(power), share.groups / share.n if share.n else 1.0
    for n in _TRIED:
        independent = n * worth
        unlucky = seen - z * math.sqrt(seen * (1 - seen) / independent)
        if n > share.n and clopper_pearson(max(unlucky, 0.0) * independent, independent, level)[0] >= bar:
            return int(n - share.n)
    return None


_TRIED = sorted({*range(5, 400), *(round(400 * 1.03**step) for step in range(180))})  # texts of a class: 5 to about 80,000


def mostly_missed(shares: Iterable[ClassShare]) -> ClassShare | None:
    """Return the share of the class of which a judge is shown to find less than half; None where there is no such class."""
    return next((share for share in shares if share.score is not None and share.n and share.upper < _HALF), None)


_HALF = 0.5


def words_of_bar(shares: Iterable[ClassShare]) -> str:
    """Return the bar that shares are held against, in words: `80 % of each class`, or by class where it differs.

    >>> words_of_bar([ClassShare(score, 0.9, 0.8, 0.95, 50, 50, 0.8) for score in ("fail", "pass")])
    '80 % of each class'
    """
    bars = {share.score: f"{100 * share.bar:.0f} %" for share in shares if share.bar is not None}
    if len(set(bars.values())) == 1:
        return bars[None] if None in bars else f"{next(iter(bars.values()))} of each class"
    return ", ".join(f"{bar} of '{score}'" for score, bar in bars.items())


def words_of_share(share: ClassShare, who: str = "people") -> str:
    """Return whose labels a share is of, in words: `what people failed`.

    >>> words_of_share(ClassShare("fail", 0.9, 0.8, 0.95, 50, 50)), words_of_share(ClassShare(1, 0.9, 0.8, 0.95, 50, 50), "the person")
    ('what people failed', "what the person called '1'")
    """
    if share.score is None:
        return f"what {who} said"
    verb = {"pass": "passed", "fail": "failed"}.get(str(share.score).casefold())
    return f"what {who} {verb}" if verb else f"what {who} called '{share.score}'"
