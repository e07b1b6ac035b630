"""Is a judge shown to be no more than a margin worse than people: the guarded test of a gap, its bound, and the plain test of "worse".

The differences of a good judge are skewed to the left: most are 0, a few are -1. A plain t test then says "no worse" far too often, most of
all at the small levels that many tests at once need. The guarded test adds one further group with one item that the judge lost, holds the
variance to at least that of a share at the margin, and removes the skewness by Hall's transformation.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from harness.stats.core.arrays import Floats, ShapeError, as_index, same_shape
from harness.stats.core.groups import ClusterVariance, GroupSums, freedom_of_tests, group_sums, leverage, relative_weights
from harness.stats.core.many_cells import batch_by_shape
from harness.stats.intervals.cluster_mean import ClusterMean, SampleOfGroups, cluster_mean, cluster_mean_each
from harness.stats.intervals.intervals import HallMean, hall_mean, t_quantile
from harness.stats.intervals.multiplicity import benjamini_yekutieli

_LOST = -1.0
_MARGINS = tuple(k / 32 for k in range(1, 32))
_HALVINGS = 39  # of the distance between two of these margins: to 1e-13


def matched_gap(counts: ArrayLike, score: ArrayLike, weights: ArrayLike | None = None) -> Floats:
    """A judge's agreement with an item's annotators minus the annotators' agreement with each other, item by item.

    (sum_c n_c w_sc) / n - (sum_cd n_c (n_d - [c = d]) w_cd) / (n (n - 1)) for the judge's class s: the first is the share of annotators
    whom the judge agrees with, the second the share of agreeing pairs, both over the same people. A judge's failure agrees with nobody.

    Args:
        counts: (items, k) annotators who gave each class.
        score: (items,) class codes of the judge, negative where it failed.
        weights: (k, k) agreement of two classes in [0, 1], 1 on the diagonal; default 1 for equal classes, else 0.

    Returns:
        (items,) in [-1, 1]; NaN for items with fewer than two annotators.

    >>> matched_gap([[0, 1, 2], [3, 0, 0], [0, 1, 0]], [2, -1, 1]).round(3).tolist()
    [0.333, -1.0, nan]
    """
    votes, codes = np.asarray(counts, np.float64), np.asarray(score, np.int64)
    rows = np.flatnonzero(votes.sum(axis=1) >= 2)
    votes, codes = votes[rows], codes[rows]
    near = _near(votes, weights)
    agreed = np.where(codes >= 0, near[np.arange(len(rows)), np.maximum(codes, 0)], 0.0) / votes.sum(axis=1)
    gaps = np.full(len(np.asarray(counts)), math.nan)
    gaps[rows] = agreed - pair_agreement(votes, weights)
    return gaps


def pair_agreement(counts: ArrayLike, weights: ArrayLike | None = None) -> Floats:
    """Agreement of an item's annotators with each other: (items,) in [0, 1], the mean over their pairs; NaN with fewer than two.

    Args as `matched_gap`.

    >>> pair_agreement([[0, 1, 2], [3, 0, 0], [0, 1, 0]]).round(3).tolist()
    [0.333, 1.0, nan]
    """
    votes = np.asarray(counts, np.float64)
    n = votes.sum(axis=1)
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.asarray(np.where(n >= 2, ((votes * _near(votes, weights)).sum(axis=1) - n) / (n * (n - 1)), math.nan))


def _near(votes: Floats, weights: ArrayLike | None) -> Floats:
    """The votes that agree with each class, each weighted by how far it does: (items, k)."""
    return votes if weights is None else np.asarray(votes @ np.asarray(weights, np.float64))


def gap_sums(differences: ArrayLike, groups: ArrayLike, weights: Floats | None = None) -> GroupSums:
    """The items as the tests of a gap take them: the distinct sums of their groups.

    Args:
        differences: (items,) the judge's agreement minus people's on each item, in [-1, 1]; NaN (no two annotators) is left out.
    """
    d, codes = np.asarray(differences, np.float64), np.asarray(groups)
    same_shape(differences=d, groups=codes)
    present = ~np.isnan(d)
    return group_sums(d[present], codes[present], None if weights is None else relative_weights(weights[present]))


class GuardedMean(NamedTuple):
    """The mean gap with one lost item added, `found`, and `unit`: the variance of its influences if single items had the variance 1."""

    hall: HallMean
    unit: Floats

    def at(self, margin: ArrayLike) -> HallMean:
        """Prepared for the test of `margin`, in [0, 1]: the variance is at least that of a share at the margin."""
        m = np.asarray(margin, np.float64)
        return self.hall.with_floor(m * (1 - m) * self.unit)

    def p(self, margin: ArrayLike) -> Floats:
        """One-sided p of the hypothesis that the gap is -`margin` or less."""
        return self.at(margin).p_above(-np.asarray(margin, np.float64))

    def bound(self, alpha: ArrayLike) -> Floats:
        """The lower bound of the gap: minus the margin at which `p` is `alpha` (...), in [-1, 0], by bisection; NaN where p is.

        A gap is shown to be above -margin at the level `alpha` wherever the bound is.
        With very few groups p may pass `alpha` more than once, as the least variance is largest at a margin of a half. It is the largest
        such margin then: at all larger ones p is smaller.

        >>> round(float(guarded_mean(gap_sums([0.0] * 70, range(70))).bound(0.05)), 4)
        -0.0673
        """
        level, none = np.asarray(alpha, np.float64), self.p(0.0)
        low = np.zeros(np.broadcast_shapes(none.shape, level.shape))
        for margin in _MARGINS:
            low = np.where(self.p(margin) > level, margin, low)
        high = low + _MARGINS[0]
        for _ in range(_HALVINGS):
            middle = (low + high) / 2
            above = self.p(middle) > level
            low, high = np.where(above, middle, low), np.where(above, high, middle)
        limit = np.where(none <= level, 0.0, np.where(self.p(1.0) > level, -1.0, -(low + high) / 2))
        return np.asarray(np.where(np.isnan(none), math.nan, limit))[()]


def guarded_mean(sums: GroupSums, cap: ArrayLike = math.inf, variance: ClusterVariance = "cr2", lost: ArrayLike = 1.0) -> GuardedMean:
    """The guarded mean of a gap, from arrays of shape (..., groups).

    Args:
        sums: of the gaps, from `gap_sums`.
        cap: (...) items that a group counts for at most (`groups.group_cap`): its sum and its size are multiplied by cap / size.
        lost: (...) number of items in the group that is added.
    """
    f = np.minimum(1.0, np.asarray(cap, np.float64)[..., None] / np.where(sums.size > 0, sums.size, 1.0))
    y, size, times = f * sums.y, f * sums.size, sums.times * (sums.size > 0)
    groups = np.asarray(times.sum(axis=-1))
    with np.errstate(divide="ignore", invalid="ignore"):
        factors = np.sqrt((1 - 1 / groups)[..., None] * leverage(size, times, variance))
        hall = hall_mean(y, size, times, guard=_LOST, weight=1.0, units=lost, factors=factors)
    n = np.vecdot(size, times) + lost
    unit = hall.groups * (np.vecdot(f * size, times) + lost) / n**2
    return GuardedMean(hall._replace(freedom=freedom_of_tests(size, times, variance) + 1), unit)


def guarded_p(sums: GroupSums, margin: float, variance: ClusterVariance = "cr2") -> float:
    """One-sided p, in [0, 1], of the hypothesis that the gap is -`margin` or less; NaN with fewer than two groups.

    With n' = n + 1 items in G' = G + 1 groups, mu = (sum d - 1) / n' and influences x_g: s² = max(sum x² / (G' - 1), m (1 - m) G' / n'),
    k = (sum x³ / G') / s³, S = (mu + m) / s, T = sqrt(G') (S + k S² / 3 + k² S³ / 27 + k / (6 G')), p = P(t(G*) >= T). The influence of a
    group with a share h of the n items is multiplied by sqrt((1 - 1 / G) / (1 - h)), and G* are its effective groups; with equal groups
    the factors are 1 and G* is G' - 1.

    Reference: Hall (1992), removal of skewness by transformation; Bell & McCaffrey (2002) for unequal groups; docs/rule.md has the
    simulated error rates.

    >>> sums = gap_sums([0.0] * 70, range(70))  # the judge agrees exactly as people do; a plain t is 0 / 0
    >>> round(guarded_p(sums, 0.1), 4)
    0.0125
    """
    return guarded_p_each([sums], margin, variance)[0]


def guarded_p_each(cells: Sequence[GroupSums], margin: float, variance: ClusterVariance = "cr2") -> list[float]:
    """`guarded_p` of many cells: the same numbers, made at once for cells with as many distinct groups."""

    def tested(alike: Sequence[GroupSums]) -> list[float]:
        if alike[0].groups < 2:
            return [math.nan] * len(alike)
        sums = GroupSums(*(np.stack(part) for part in zip(*alike, strict=True)))
        ps: list[float] = guarded_mean(sums, variance=variance).p(margin).tolist()
        return ps

    return batch_by_shape(tested, cells, lambda sums: (len(sums.times), sums.groups < 2))


LEAST_GROUPS = 20.0
"""Effective groups below which nothing is shown to be small: a floor, at which it is shown of a shift of 0 in about one case of seven."""
LEAST_OF_INTERVALS = 8.0
"""Effective groups below which an interval is not trusted to lie outside the margin."""
_POWER = 0.9
TransportOutcome = Literal["inside", "outside", "open"]


@dataclass(frozen=True, slots=True)
class TransportTest:
    """Return True if the mean of values in [-1, 1] is shown to lie within ±margin, or outside.

    `p` is the larger of the guarded one-sided p of "the mean is -margin or less" and of "margin or more"; the other names are those of
    `cluster_mean`. `effective_groups` is n² / sum n_g². `extra_error` is that of what the values are compared with.
    """

    mean: float
    error: float
    n: int
    groups: int
    effective_groups: float
    freedom: float
    margin: float
    p: float
    extra_error: float = 0.0

    def interval(self, level: float) -> tuple[float, float]:
        """mean ± t error; NaN with fewer than two groups."""
        reach = math.hypot(self.error, self.extra_error) * t_quantile(level, self.freedom) if self.error >= 0 else math.nan
        return self.mean - reach, self.mean + reach

    def outcome(self, p: float, alpha: float, targets: int) -> TransportOutcome:
        """`inside` where the (corrected) p is at most alpha, `outside` where the Bonferroni interval is beyond the margin, else `open`."""
        if p <= alpha:
            return "inside" if self.effective_groups >= LEAST_GROUPS else "open"
        low, high = self.interval(1 - alpha / targets)
        outside = low > self.margin or high < -self.margin
        return "outside" if outside and self.effective_groups >= LEAST_OF_INTERVALS else "open"

    def groups_needed(self, alpha: float = 0.05, shift: float = 0.0) -> int | None:
        """About how many groups show equivalence with a power of 90 % at a shift: ((t_.95 + t_.9) s / (margin - |shift|))², 20 at least.

        s = error √groups is the deviation of groups that the values have. `shift` is the true mean: 0 gives the fewest groups, the `mean`
        that was seen plans under that. None where no number of groups suffices: the shift is not within the margin, or the error of what
        the values are compared with is too large.

        >>> found = TransportTest(mean=0.05, error=0.08, n=40, groups=40, effective_groups=40, freedom=39, margin=0.1, p=0.4)
        >>> found.groups_needed(), found.groups_needed(shift=found.mean), found.groups_needed(shift=-0.1)
        (229, 915, None)
        """
        spread = self.error * math.sqrt(self.groups) if self.error >= 0 else 0.0
        freedom = max(self.freedom, 1.0) if self.freedom == self.freedom else 1.0
        reach = t_quantile(1 - 2 * alpha, freedom) + t_quantile(2 * _POWER - 1, freedom)
        within = max(self.margin - abs(shift), 0.0)
        room = (within / reach) ** 2 - self.extra_error**2
        return max(math.ceil(LEAST_GROUPS), math.ceil(spread**2 / room)) if room > 0 else None


def transport(
    values: ArrayLike, groups: ArrayLike, margin: float, *, extra_error: float = 0.0, variance: ClusterVariance = "cr2"
) -> TransportTest:
    """Test whether the mean of values is within ±margin.

    Args:
        values: (items,) differences in [-1, 1], such as (label - prediction) / range of the scale; NaN where there is none.
        margin: in (0, 1).
        extra_error: standard error of what was subtracted from the values, if it was estimated from other texts.

    Returns:
        `TransportTest`; p is NaN with fewer than two groups.

    Raises:
        ValueError: for values outside [-1, 1], and for a margin outside (0, 1).

    Reference: Schuirmann (1987) for the two sides; `guarded_p` for each of them; Bell & McCaffrey (2002) for unequal groups.

    >>> rng = np.random.default_rng(0)
    >>> found = transport(rng.normal(0, 0.1, 60), np.arange(60) // 2, 0.1)
    >>> found.groups, round(found.p, 4), found.outcome(found.p, 0.05, 1)
    (30, 0.0351, 'inside')
    """
    if not 0 < margin < 1:
        raise ValueError(f"a margin lies between 0 and 1, got {margin}")
    x, code = np.asarray(values, np.float64), np.asarray(groups)
    present = ~np.isnan(x)
    if present.any() and np.abs(x[present]).max() > 1 + 1e-9:
        raise ValueError("differences lie in [-1, 1]; divide them by the range of the scale")
    mean: ClusterMean = cluster_mean(x[present], code[present], variance=variance)
    sizes = np.unique(code[present], return_counts=True)[1]
    effective = float(sizes.sum() ** 2 / (sizes**2).sum()) if len(sizes) else 0.0
    above, below = (_guarded(gap_sums(sign * x, code), margin, extra_error, variance) for sign in (1, -1))
    return TransportTest(
        mean.mean, mean.error, mean.n, mean.groups, effective, mean.freedom, margin, float(np.maximum(above, below)), extra_error
    )


def _guarded(sums: GroupSums, margin: float, extra_error: float, variance: ClusterVariance) -> float:
    """One-sided p of "the mean is -margin or less", with a further variance of what the values are compared with."""
    if sums.groups < 2:
        return math.nan
    prepared = guarded_mean(sums, variance=variance).at(margin)
    return float(prepared.with_floor(prepared.deviation**2 + extra_error**2 * prepared.groups).p_above(-margin))


Scoring = Literal["accuracy", "neg_rmse"]
MIN_ITEMS = 30
"""Fewer items of an annotator are not tested: the t-test needs them, and the Wilcoxon test that is used elsewhere tests no mean."""
PASSING_RATE = 0.5
_TIE = 1e-9  # sums of squares that differ by no more, relatively, are a tie


@dataclass(frozen=True, slots=True)
class AnnotatorRule:
    """The settings of an alternative annotator test.

    Attributes:
        epsilon: in [0, 1), what the judge is allowed to be worse; the authors advise 0.2 against experts, 0.15 against skilled annotators
            and 0.1 against crowds.
        failures_lose: an item without a judge's score counts as lost by the judge. False leaves it out, as the published code does, which
            favours a judge that refuses difficult items.
        q: false discovery rate over the annotators.
        min_items: an annotator with fewer items is not tested.
        min_annotators: items with fewer annotators are left out.
        variance: over groups; `cr1` takes them as equal.
    """

    epsilon: float = 0.2
    failures_lose: bool = True
    q: float = 0.05
    min_items: int = MIN_ITEMS
    min_annotators: int = 2
    variance: ClusterVariance = "cr2"


@dataclass(frozen=True, slots=True)
class AdvantageTest:
    """Test of H0: the mean of d is `epsilon` or more, where d = -1, 0 or 1 says who is strictly better: the judge, nobody, the person.

    `mean`, its standard `error` over groups, `t` and `p_published` are those of the one-sided t-test, NaN if d does not vary over groups.
    `p` is `p_published` where it is defined. Otherwise `reason` says why not, and `p` is a valid replacement. `p_guarded` is Hall's
    skewness-corrected p with one more item that the judge lost; it holds its level where the t-test rejects too easily.
    """

    n: int
    groups: int
    mean: float
    error: float
    t: float
    p_published: float
    p: float
    p_guarded: float
    reason: str | None


@dataclass(frozen=True, slots=True)
class AnnotatorResult:
    """One annotator against the judge on `n` common items.

    `annotator` is the column of the labels. `human_better` and `judge_better` count the items on which one of them is strictly better;
    `rho_judge` and `rho_human` are the shares of items on which each is at least as good as the other. `test` is None if the annotator
    has too few items. `p_adjusted` and `p_guarded_adjusted` are Benjamini-Yekutieli's over the tested annotators; `rejected` means that
    `p_adjusted` is at most q: the judge represents the others as well as this annotator does, less epsilon.
    """

    annotator: int
    n: int
    human_better: int
    judge_better: int
    rho_judge: float
    rho_human: float
    test: AdvantageTest | None
    p_adjusted: float
    p_guarded_adjusted: float
    rejected: bool
    reason: str | None


@dataclass(frozen=True, slots=True)
class AlternativeAnnotatorTest:
    """Result of the alternative annotator test.

    `omega`: share of the tested annotators with `rejected`; `omega_guarded`: the same with the guarded p; `rho`: mean of `rho_judge` over
    them; `passed`: omega is at least 0.5, None if nobody was tested; `annotators`: one result for each column of the labels.
    """

    omega: float
    omega_guarded: float
    rho: float
    passed: bool | None
    tested: int
    annotators: tuple[AnnotatorResult, ...]
    reason: str | None


class LabelledByAnnotators(NamedTuple):
    """One cell.

    Attributes:
        labels: (items, annotators) numbers, NaN where missing. With "accuracy" they are class codes and negative codes are missing too.
        judge: (items,) likewise.
        groups: (items,) any sortable codes of what items share; None if items are independent, as in the published test.
        guarded_groups: (items,) the groups of the guarded p; default `groups`. The published test, whose items are independent, and the
            guarded one over groups are then made at once.
        scoring: "accuracy" for nominal, "neg_rmse" for ordered scales.
    """

    labels: ArrayLike
    judge: ArrayLike
    groups: ArrayLike | None = None
    guarded_groups: ArrayLike | None = None
    scoring: Scoring = "accuracy"


def alternative_annotator_tests(cells: Sequence[LabelledByAnnotators], rule: AnnotatorRule) -> list[AlternativeAnnotatorTest]:
    """Alternative annotator test of each cell: leave each annotator out and compare him with the judge on the labels of the others.

    On each item of annotator h with other annotators, S(x) = mean of [x = label] over the others ("accuracy"), or -sqrt(mean (x - label)²)
    ("neg_rmse"). d = [S(h) >= S(judge)] - [S(judge) >= S(h)]. For each h, `advantage_tests` test H0: mean d >= epsilon; the p-values are
    adjusted by Benjamini and Yekutieli. omega is the share of annotators for whom H0 is rejected, NaN with a reason if nobody was tested.

    Raises:
        ValueError: for epsilon outside [0, 1).

    Reference: Calderon, Reichart & Dror (2025), The alternative annotator test for LLM-as-a-judge.

    >>> labels = [[0, 0, 0], [1, 1, 0], [1, 0, 1], [2, 2, 2]] * 25
    >>> [found] = alternative_annotator_tests([LabelledByAnnotators(labels, [0, 1, 1, 2] * 25)], AnnotatorRule(epsilon=0.1))
    >>> found.omega, round(found.rho, 3), found.passed, [one.judge_better for one in found.annotators]
    (1.0, 1.0, True, [0, 25, 25])
    """
    compared = [_compared_with_annotators(cell, rule) for cell in cells]
    least = max(1, rule.min_items)
    tests = iter(
        advantage_tests(
            [differences for of_cell in compared for differences in of_cell if len(differences.d) >= least], rule.epsilon, rule.variance
        )
    )
    tested = [[(differences.d, next(tests) if len(differences.d) >= least else None) for differences in of_cell] for of_cell in compared]
    return [_summary(of_cell, rule.q, rule.min_items) for of_cell in tested]


class AnnotatorDifferences(NamedTuple):
    """The d of one annotator's items: -1 (the judge is strictly better), 0 or 1 (the person is); their groups, and those of `p_guarded`."""

    d: Floats
    groups: ArrayLike | None = None
    guarded_groups: ArrayLike | None = None


def _compared_with_annotators(cell: LabelledByAnnotators, rule: AnnotatorRule) -> list[AnnotatorDifferences]:
    values, scores = _as_values(cell.labels, cell.scoring), _as_values(cell.judge, cell.scoring)
    if values.ndim != 2 or scores.shape != values.shape[:1]:
        raise ShapeError(f"labels {values.shape} must be (items, annotators) and judge {scores.shape} of the same items")
    guarding = cell.groups if cell.guarded_groups is None else cell.guarded_groups
    codes = [None if group_codes is None else as_index(group_codes, len(values), "groups") for group_codes in (cell.groups, guarding)]
    rated = ~np.isnan(values)
    usable = (rated.sum(axis=1) >= max(2, rule.min_annotators)) & (rule.failures_lose | ~np.isnan(scores))
    compared = []
    for annotator in range(values.shape[1]):
        rows = usable & rated[:, annotator]
        # D of the (items,) that `annotator` labelled: 1 where he represents the other columns better than the judge, else 0 or -1. A
        # missing score of the judge is lost. Losses are numbers of labels or sums of squares, so that ties are not decided by rounding.
        labels = values[rows]
        judge = scores[rows]
        other_labels = np.delete(labels, annotator, axis=1)
        human, machine = (_loss(rating, other_labels, cell.scoring) for rating in (labels[:, annotator], judge))
        machine = np.where(np.isnan(judge), math.inf, machine)
        tie = _TIE * np.maximum(1.0, human)
        d = np.where(machine > human + tie, 1.0, np.where(machine < human - tie, -1.0, 0.0))
        compared.append(AnnotatorDifferences(d, *(None if group_codes is None else group_codes[rows] for group_codes in codes)))
    return compared


def advantage_tests(cells: Sequence[AnnotatorDifferences], epsilon: float, variance: ClusterVariance = "cr2") -> list[AdvantageTest]:
    """One-sided tests that people are strictly better than the judge less often, by more than epsilon, than the judge is.

    t = (mean d - epsilon) / error with the cluster variance and the degrees of freedom of `cluster_mean`; p = P(t(freedom) <= t). If no
    group varies, t is undefined. If then no item was lost, p = (1 - epsilon)^G of G effective groups: under H0 a group has a lost item with
    a chance of epsilon or more. Otherwise p is the guarded one. All p are NaN with fewer than two groups.

    Raises:
        ValueError: for epsilon outside [0, 1).

    Reference: Calderon, Reichart & Dror (2025); Hall (1992) for the guarded p.

    >>> samples = [AnnotatorDifferences(np.array(d)) for d in ([0.0] * 40, [1.0] * 6 + [-1.0] * 10 + [0.0] * 44)]
    >>> alike, varied = advantage_tests(samples, epsilon=0.1)
    >>> alike.p_published, round(alike.p, 4), alike.reason
    (nan, 0.0148, 'no variation between groups')
    >>> round(varied.mean, 4), round(varied.p_published, 4), round(varied.p_guarded, 4)
    (-0.0667, 0.0076, 0.0154)
    """
    if not 0 <= epsilon < 1:
        raise ValueError(f"epsilon must be at least 0 and below 1, got {epsilon}")
    means = cluster_mean_each([SampleOfGroups(cell.d, cell.groups) for cell in cells], variance=variance)
    guarded = guarded_p_each([_lost(cell.d, cell.guarded_groups) for cell in cells], epsilon, variance)
    return [_advantage(*parts, epsilon, variance) for parts in zip(cells, means, guarded, strict=True)]


def _advantage(
    cell: AnnotatorDifferences, advantage: ClusterMean, guarded: float, epsilon: float, variance: ClusterVariance
) -> AdvantageTest:
    from scipy.special import stdtr

    n, groups, mean = advantage.n, advantage.groups, advantage.mean
    if groups < 2:
        reason = "fewer than two groups" if n else "no items"
        return AdvantageTest(n, groups, mean, math.nan, math.nan, math.nan, math.nan, math.nan, reason)
    if advantage.error > 0:
        t = (mean - epsilon) / advantage.error
        p = float(stdtr(advantage.freedom, t))
        return AdvantageTest(n, groups, mean, advantage.error, t, p, p, guarded, None)
    p = guarded_p(_lost(cell.d, cell.groups), epsilon, variance) if cell.d.max() > 0 else (1 - epsilon) ** advantage.effective_groups
    return AdvantageTest(n, groups, mean, 0.0, math.nan, math.nan, p, guarded, "no variation between groups")


def _lost(d: Floats, groups: ArrayLike | None) -> GroupSums:
    return gap_sums(-d, np.arange(len(d)) if groups is None else groups)


def _as_values(labels: ArrayLike, scoring: Scoring) -> Floats:
    values = np.asarray(labels, np.float64)
    return np.where(values < 0, np.nan, values) if scoring == "accuracy" else values


def _loss(value: Floats, other_labels: Floats, scoring: Scoring) -> Floats:
    distance = value[:, None] - other_labels
    return np.asarray(np.nansum((distance != 0) & ~np.isnan(distance) if scoring == "accuracy" else distance**2, axis=1), np.float64)


def _summary(compared: list[tuple[Floats, AdvantageTest | None]], q: float, min_items: int) -> AlternativeAnnotatorTest:
    adjusted = benjamini_yekutieli([test.p if test else math.nan for _, test in compared]).tolist()
    guarded = benjamini_yekutieli([test.p_guarded if test else math.nan for _, test in compared]).tolist()
    results = []
    for annotator, (d, test) in enumerate(compared):
        n, human, judge = len(d), int(np.count_nonzero(d > 0)), int(np.count_nonzero(d < 0))
        rhos = ((n - human) / n, (n - judge) / n) if n else (math.nan, math.nan)
        reason = test.reason if test else f"fewer than {min_items} items"
        p = adjusted[annotator]
        results.append(AnnotatorResult(annotator, n, human, judge, *rhos, test, p, guarded[annotator], p <= q, reason))
    tested = [result for result in results if not math.isnan(result.p_adjusted)]
    if not tested:
        return AlternativeAnnotatorTest(math.nan, math.nan, math.nan, None, 0, tuple(results), "no annotator could be tested")
    omega = float(np.mean([result.rejected for result in tested]))
    guarding = [result.p_guarded_adjusted <= q for result in tested if not math.isnan(result.p_guarded_adjusted)]
    omega_guarded = float(np.mean(guarding)) if guarding else math.nan
    rho = float(np.mean([result.rho_judge for result in tested]))
    return AlternativeAnnotatorTest(omega, omega_guarded, rho, omega >= PASSING_RATE, len(tested), tuple(results), None)
