"""How many labels: for a half-width, and for a margin. All answers are numbers of items, before any is labelled.

Infinity means that no number of labels would do.
"""

from __future__ import annotations

import math
from bisect import bisect_left
from collections.abc import Callable

from harness.stats.intervals.intervals import t_quantile, wilson

_MOST = 10**9


def design_effect(cluster_size: float, icc: float) -> float:
    """1 + (m - 1) icc: how much groups of m items with the intraclass correlation `icc` inflate the variance of a mean.

    Reference: Kish (1965).

    >>> design_effect(5, 0.2)
    1.8
    """
    return 1 + (cluster_size - 1) * icc


def items_for_share(share: float, half_width: float, *, level: float = 0.95, effect: float = 1.0) -> float:
    """Items for the normal interval of a share: z² p (1 - p) / h² times the design effect; not rounded.

    Args:
        share: expected, in [0, 1].
        half_width: h, above 0.
        level: confidence in (0, 1).
        effect: design effect.

    Raises:
        ValueError: for a half-width of 0 or less.

    Reference: Cochran (1977), section 4.4.

    >>> round(items_for_share(0.5, 0.05), 1)
    384.1
    """
    _positive(half_width)
    from statsmodels.stats.proportion import samplesize_confint_proportion

    return effect * float(samplesize_confint_proportion(share, half_width, alpha=1 - level))


def items_for_wilson(share: float, half_width: float, *, level: float = 0.95, effect: float = 1.0) -> float:
    """Fewest items at which Wilson's interval of the share has the half-width or less, times the design effect, rounded up.

    Args and errors as `items_for_share`; the number of successes may be a fraction.

    >>> items_for_wilson(0.9, 0.03)
    388.0
    """
    _positive(half_width)

    def narrow(n: int) -> bool:
        lo, hi = wilson(share * n, n, level)
        return (hi - lo) / 2 <= half_width

    return math.ceil(effect * _fewest(narrow, 1)) * 1.0


def items_for_mean(sd: float, half_width: float, *, level: float = 0.95, effect: float = 1.0) -> float:
    """Fewest items with t sd / sqrt(n) <= half_width, t with n - 1 df, times the design effect, rounded up.

    Args:
        sd: standard deviation of a single item, 0 or more.
        half_width, level, effect: as `items_for_share`.

    >>> items_for_mean(0.8, 0.1)
    249.0
    """
    _positive(half_width)
    return math.ceil(effect * _fewest(lambda n: t_quantile(level, n - 1) * sd / math.sqrt(n) <= half_width, 2)) * 1.0


def items_for_margin(sd: float, margin: float, *, gap: float = 0.0, alpha: float = 0.05, power: float = 0.8, effect: float = 1.0) -> float:
    """Items with which a one-sided t-test shows gap > -margin with the given power.

    Fewest n at which P(T >= t_(1 - alpha, n - 1)) >= power, T noncentral with sqrt(n) (gap + margin) / sd; times the design effect,
    rounded up. The same call with gap = 0 and the expected difference as margin gives the items that beat a baseline. The guarded test
    needs about a third more (`more_labels.about_more_each`).

    Args:
        sd: standard deviation of an item's difference, 0 or more.
        margin: of non-inferiority, 0 or more.
        gap: the true mean difference that is planned for.
        alpha: one-sided level.  power: in (alpha, 1).  effect: design effect.

    Returns:
        whole number of items, at least 2; infinity if gap <= -margin.

    Reference: Chow, Shao & Wang (2008), non-inferiority of a mean.

    >>> items_for_margin(0.4, 0.1), items_for_margin(0.4, 0.1, alpha=0.05 / 45), items_for_margin(0.4, 0.1, gap=-0.1)
    (101.0, 249.0, inf)
    """
    if gap + margin <= 0:
        return math.inf
    if sd == 0:
        return math.ceil(2 * effect) * 1.0
    from statsmodels.stats.power import TTestPower

    test, size = TTestPower(), (gap + margin) / sd
    return math.ceil(effect * _fewest(lambda n: not test.power(size, n, alpha, alternative="larger") < power, 2)) * 1.0


def items_for_margin_normal(sd: float, margin: float, *, gap: float = 0.0, alpha: float = 0.05, power: float = 0.8) -> float:
    """((z_(1 - alpha) + z_power) sd / (gap + margin))²: `items_for_margin` by the normal approximation; not rounded.

    >>> round(items_for_margin_normal(0.4, 0.1), 1)
    98.9
    """
    if gap + margin <= 0:
        return math.inf
    from scipy.special import ndtri

    return float(((ndtri(1 - alpha) + ndtri(power)) * sd / (gap + margin)) ** 2)


def sd_upper_limit(sd: float, n: int, level: float = 0.8) -> float:
    """Upper confidence limit of a standard deviation seen in n items: sd sqrt((n - 1) / chi2_(1 - level, n - 1)); NaN for n < 2.

    Reference: Browne (1995), the 80 % limit for planning from a pilot sample.

    >>> round(sd_upper_limit(0.4, 60), 3)
    0.436
    """
    if n < 2:
        return math.nan
    from scipy.special import chdtri

    return sd * math.sqrt((n - 1) / float(chdtri(n - 1, level)))


def more_for_margin(
    sd: float, n: int, margin: float, *, gap: float = 0.0, alpha: float = 0.05, power: float = 0.8, effect: float = 1.0
) -> float:
    """Further items to show gap > -margin, planned from n labelled items with the 80 % upper limit of their sd; at least 0.

    Args as `items_for_margin`, with sd as seen in the n items. NaN for n < 2, infinity if gap <= -margin.

    >>> more_for_margin(0.4, 60, 0.1, alpha=0.05 / 45)
    234.0
    """
    limit = sd_upper_limit(sd, n)
    if math.isnan(limit):
        return math.nan
    return max(0.0, items_for_margin(limit, margin, gap=gap, alpha=alpha, power=power, effect=effect) - n)


def _positive(half_width: float) -> None:
    if not half_width > 0:
        raise ValueError(f"a half-width must be above 0, got {half_width}")


def _fewest(enough: Callable[[int], bool], least: int) -> int:
    """The smallest n >= least that is enough; `enough` must stay true once it is."""
    high = max(least, 2)
    while not enough(high) and high < _MOST:
        high *= 2
    return least + bisect_left(range(least, high), True, key=enough)
