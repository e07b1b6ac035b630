"""Choosing among candidates by successive halving, and confirming the choice by one paired test on labels that did not choose."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from harness.stats.core.arrays import Floats, as_index
from harness.stats.intervals.cluster_mean import cluster_mean
from harness.stats.intervals.multiplicity import holm

SHARES = (0.25, 0.5, 1.0)
"""Parts of the texts on which candidates are compared, one after the other; half of them go on each time."""


class Round(NamedTuple):
    """One round: on how many texts the candidates were compared, and which go on, the best first."""

    texts: int
    kept: tuple[int, ...]


class Halving(NamedTuple):
    """The rounds, and how many answers of candidates they took; those of the start are not counted, nor those that are read twice."""

    rounds: tuple[Round, ...]
    asked: int

    @property
    def chosen(self) -> int:
        """The column of the candidate that is left."""
        return self.rounds[-1].kept[0]


def halve(
    right: Callable[[Sequence[int], int], Floats],
    texts: int,
    candidates: int,
    shares: Sequence[float] = SHARES,
    reads: Callable[[int], int] = int,
) -> Halving:
    """Choose the candidate with the largest gain over the start on a growing part of the texts, whose answers are fetched as needed.

    After each part half of the candidates go on, of c candidates max(1, floor(c / 2)), and one after the last. Of equal gains the earlier
    column goes on.

    Args:
        right: `right(columns, n)` are those (n, columns) of the first n texts: 1 where an answer agrees with people, else 0, or credits
            between; the first column that it is asked for is 0, the start.
        texts, candidates: their numbers; candidates are the columns from 1 on.
        shares: growing shares of the texts, the last of them 1.
        reads: the column whose answers a candidate reads: its own, unless it asks for none.

    Raises:
        ValueError: without a candidate.

    Reference: Jamieson & Talwalkar (2016).

    >>> import numpy as np
    >>> right = np.array([[0, 1, 0], [1, 1, 0], [0, 0, 1], [1, 1, 1.0]])
    >>> halve(lambda columns, n: right[:n, list(columns)], texts=4, candidates=2, shares=(0.5, 1.0)).chosen
    1
    """
    if candidates < 1:
        raise ValueError("there is no candidate to choose")
    remaining, rounds, labelled_texts, before = list(range(1, candidates + 1)), [], 0, 0
    for round_index, share in enumerate(shares):
        n = max(1, math.floor(share * texts))
        labelled_texts += (n - before) * len({reads(column) for column in remaining} - {0})
        answers = right((0, *remaining), n)
        gain = dict(zip(remaining, (answers[:, 1:] - answers[:, :1]).mean(axis=0).tolist(), strict=True))
        keep = 1 if round_index == len(shares) - 1 else max(1, len(remaining) // 2)
        remaining = sorted(remaining, key=lambda column: (-gain[column], column))[:keep]
        rounds.append(Round(n, tuple(remaining)))
        before = n
    return Halving(tuple(rounds), labelled_texts)


class ConfirmedGain(NamedTuple):
    """The gain in agreement with people of the chosen setting over the start, in one language.

    `p` is one-sided, of no gain over the start; `p_constant` of none over the best constant; `p_harmless` of a loss of the margin or more,
    so that a small one shows that the language loses less; `p_harm_beyond` of a loss of less than the margin. `p_within` is the
    score test of the same as `p_harmless`: losses are skewed, so that the plain t of a language that loses the margin is too often small.
    """

    gain: float
    error: float
    low: float
    high: float
    texts: int
    groups: int
    p: float
    p_constant: float
    p_harmless: float
    p_harm_beyond: float
    p_within: float

    @property
    def p_shown(self) -> float:
        """Return the p of a gain over the start and over the constant. NaN where either is undefined."""
        return max(self.p, self.p_constant) if not math.isnan(self.p + self.p_constant) else math.nan


class Confirmation(NamedTuple):
    """The gains of each language, their p corrected over the languages by Holm, and all languages together."""

    by_language: tuple[ConfirmedGain, ...]
    corrected: Floats
    together: ConfirmedGain


def confirm(
    start: ArrayLike, chosen: ArrayLike, constant: ArrayLike, language: ArrayLike, group: ArrayLike, margin: float = 0.05
) -> Confirmation:
    """Compare the chosen setting with the start on texts that did not choose it.

    Differences of the same texts have the cluster variance CR2 with Bell and McCaffrey's degrees of freedom; with equal groups this is the
    t-test of the groups' means.

    Args:
        start, chosen: (texts,) 1 where the answer agrees with people, else 0.
        constant: the same of the best constant, or (texts, c) of several rules that do not read the judge, each of which is to be beaten.
        language: (texts,) codes 0, 1, … of the languages.
        group: (texts,) any sortable codes of what texts share; a group of several languages counts in each.
        margin: the loss that a language may not be shown to suffer, in (0, 1).

    >>> found = confirm([0, 1] * 20, [1] * 40, [0] * 40, [0] * 40, np.repeat(range(20), 2))
    >>> found.by_language[0].gain, found.by_language[0].p < 0.001
    (0.5, True)
    """
    before_scores, other, fixed = (np.asarray(column, np.float64) for column in (start, chosen, constant))
    codes, shared = np.asarray(language, np.int64), np.asarray(group)
    gains = tuple(
        _gain(before_scores[rows], other[rows], fixed[rows], shared[rows], margin)
        for rows in (codes == code for code in range(codes.max() + 1))
    )
    codes_of_text = np.unique(np.column_stack([codes, np.unique(shared, return_inverse=True)[1]]), axis=0, return_inverse=True)[1].ravel()
    return Confirmation(gains, holm([column.p_shown for column in gains]), _gain(before_scores, other, fixed, codes_of_text, margin))


def _gain(start: Floats, chosen: Floats, constant: Floats, group: ArrayLike, margin: float) -> ConfirmedGain:
    over = cluster_mean(chosen - start, group)
    # none where all texts have the same difference, most often 0: an interval of no width would say that the gain is known
    low, high = over.interval() if over.error else (math.nan, math.nan)
    return ConfirmedGain(
        gain=over.mean,
        error=over.error,
        low=low,
        high=high,
        texts=over.n,
        groups=over.groups,
        p=over.p_above(0.0),
        p_constant=float(
            np.max([cluster_mean(chosen - constant_scores, group).p_above(0.0) for constant_scores in constant.reshape(len(chosen), -1).T])
        ),
        p_harmless=over.p_above(-margin),
        p_harm_beyond=over.p_below(-margin),
        p_within=margin_score_p(chosen - start, group, margin),
    )


def margin_score_p(differences: ArrayLike, groups: ArrayLike, margin: float) -> float:
    """One-sided p, in [0, 1], of the hypothesis that the mean difference is -`margin` or less.

    Of n texts b are won and c are lost. z = (b - c + n m) / sqrt(n (2 q - m (1 + m))): the variance is that of the hypothesis, with q the
    share of losses that is likeliest if the mean difference is -m. A t-test has too small a variance where losses are few: a difference
    of exactly -0.1 passes it in 6.6 % at 150 texts of which 13 % differ, and this test in 4.7 % (exact; at most 5.1 % if 11 to 60 %
    differ). No test that keeps 5 % for every share of differing texts has a power that is more than 0.6 points larger there.

    Texts that share a group: z is divided by the root of the design effect (the CR2 variance of the mean over that of independent
    texts, at least 1; where no text differs, as if all texts of a group were one), and p is of t with Bell and McCaffrey's degrees of
    freedom.

    Args:
        differences: (texts,) 1 won, -1 lost, 0 neither.
        margin: m, in (0, 1).

    Returns:
        p; NaN with fewer than two groups.

    Reference: Tango (1998), Statistics in Medicine 17, 891-908.

    >>> round(margin_score_p([0] * 70, range(70), 0.1), 4), round(margin_score_p([0] * 70, np.repeat(range(35), 2), 0.1), 4)
    (0.0026, 0.0284)
    """
    d = np.asarray(differences, np.float64)
    size = np.bincount(as_index(groups, len(d), "groups")).astype(np.float64)
    if len(size) < 2:
        return math.nan
    n, won, lost = len(d), int((d > 0).sum()), int((d < 0).sum())
    # The share of losses with the largest likelihood if the share of wins is smaller by the margin.
    linear = (2 * n - won + lost) * margin + won + lost
    likeliest_losses = (linear + math.sqrt(linear**2 - 8 * n * lost * margin * (1 + margin))) / (4 * n)
    z = (won - lost + n * margin) / math.sqrt(n * (2 * likeliest_losses - margin * (1 + margin)))
    if size.max() == 1:
        return 0.5 * math.erfc(z / math.sqrt(2))
    from scipy.special import stdtr

    # The design effect, and the degrees of freedom of the variance by group.
    by_group, independent = cluster_mean(d, groups), cluster_mean(d)
    if not independent.error:
        effect, freedom = float(size @ size) / float(size.sum()), by_group.freedom
    else:
        effect, freedom = max(1.0, (by_group.error / independent.error) ** 2), by_group.freedom
    return float(stdtr(freedom, -z / math.sqrt(effect)))


def level_of_use(alpha: float, use: int) -> float:
    """The level of the test when labels confirm for the `use`-th time: alpha / 2^use, so that all uses together keep alpha.

    >>> level_of_use(0.05, 1), level_of_use(0.05, 2)
    (0.025, 0.0125)
    """
    if use < 1:
        raise ValueError(f"uses are counted from 1, got {use}")
    return alpha / 2.0**use


def texts_to_confirm(gain: float, discordant: float, alpha: float = 0.05, power: float = 0.8) -> int:
    """Return the number of independent texts that show a gain with this power, by the one-sided paired t-test.

    Args:
        gain: the true gain in agreement, in (0, 1).
        discordant: the share of texts on which exactly one of the two settings agrees with people; at least the gain.

    Raises:
        ValueError: for a share of discordant texts below the gain.

    >>> [texts_to_confirm(0.08, share) for share in (0.13, 0.22)], texts_to_confirm(0.05, 0.2)
    ([121, 208], 490)
    """
    from scipy.optimize import brentq
    from scipy.stats import nct, t

    if not 0 < gain <= discordant <= 1:
        raise ValueError(f"the gain ({gain:g}) must lie above 0 and not above the share of discordant texts ({discordant:g})")
    effect = gain / math.sqrt(discordant - gain**2)

    def lacking(n: float) -> float:
        return float(nct.sf(t.ppf(1 - alpha, n - 1), n - 1, effect * math.sqrt(n))) - power

    high = 4.0
    while lacking(high) < 0:
        high *= 2
    return math.ceil(brentq(lacking, max(high / 2, 2.0), high)) if high > 4 else 4
