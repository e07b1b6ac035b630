"""The statistics of a cell under their public names, and the statistics that a scale does not have."""

from __future__ import annotations

from numpy.typing import ArrayLike

from harness.stats.agreement.agreement import (
    ALL_AGREE,
    alpha_of_humans,
    alpha_of_judge,
    cohen,
    f1_of_judge,
    fleiss,
    fleiss_with_aggregate,
    gap,
    gwet_of_humans,
    gwet_of_judge,
    share_left_out,
    share_of_hits,
    share_of_pairs,
)
from harness.stats.agreement.correlation import correlation_with_humans
from harness.stats.agreement.describe import DESCRIPTIONS, Direction, leniency_of_judge
from harness.stats.core.arrays import Kind
from harness.stats.core.rows import Rule
from harness.stats.core.statistic import Statistic

NO_ORDER = "the scale has no order"
NO_DISTANCES = "the scale has no distances"
NO_BEST = "the scale has no best end"

_ORDERED = (
    "linear_kappa",
    "quadratic_kappa",
    "alpha_ordinal",
    "human_alpha_ordinal",
    "ac2",
    "human_ac2",
    "kendall_tau",
    "spearman",
    "pearson",
    "leniency",
    "mean_labels",
    "sd_labels",
    "mean_judge",
    "sd_judge",
)
_DISTANCES = ("alpha_interval", "human_alpha_interval")


def undefined_by_scale(kind: Kind, direction: Direction | None = 1) -> dict[str, str]:
    """Names of the statistics that a scale does not have, with the reason.

    Nominal metrics have no quadratic kappa, ordinal alpha, AC2, correlation, mean or bias. Ordinal ones have no
    interval alpha. A scale whose best is not one of its ends has no leniency (`direction` None).

    >>> undefined_by_scale("nominal")["quadratic_kappa"]
    'the scale has no order'
    >>> sorted(undefined_by_scale("ordinal"))
    ['alpha_interval', 'human_alpha_interval']
    """
    out = {} if direction else {"leniency": NO_BEST}
    if kind != "interval":
        out |= dict.fromkeys(_DISTANCES, NO_DISTANCES)
    if kind == "nominal":
        out |= dict.fromkeys((*_ORDERED, *_DISTANCES), NO_ORDER)
    return out


def human_statistics(k: int, kind: Kind, values: ArrayLike | None = None) -> tuple[Statistic, ...]:
    """All statistics of the annotators among themselves that the scale has.

    Args:
        k, kind: number of classes and kind of the scale.

    >>> [s.name for s in human_statistics(2, "nominal")][:4]
    ['human_pa', 'human_loo', 'human_all_agree', 'human_fleiss']
    """
    statistics = (
        share_of_pairs("human"),
        share_left_out("human"),
        ALL_AGREE,
        fleiss(),
        *(alpha_of_humans(metric, values) for metric in ("nominal", "ordinal", "interval")),
        gwet_of_humans(),
        gwet_of_humans("quadratic", values),
        *(describe(k, values) for describe in DESCRIPTIONS),
    )
    absent = undefined_by_scale(kind)
    return tuple(s for s in statistics if s.name not in absent)


def cell_statistics(
    k: int,
    kind: Kind,
    values: ArrayLike | None = None,
    *,
    rule: Rule = "drop",
    direction: Direction | None = 1,
    judge: int = 0,
) -> tuple[Statistic, ...]:
    """All statistics of a cell with a judge, each name once. `human_pa` and `human_loo` are on the items that the judge scored.

    Args as `judge_statistics`.

    >>> [s.name for s in cell_statistics(2, "nominal")][:4]
    ['human_all_agree', 'human_fleiss', 'human_alpha_nominal', 'human_ac1']
    """
    with_judge = judge_statistics(k, kind, values, rule=rule, direction=direction, judge=judge)
    names = {s.name for s in with_judge}
    return (*(s for s in human_statistics(k, kind, values) if s.name not in names), *with_judge)


def judge_statistics(
    k: int,
    kind: Kind,
    values: ArrayLike | None = None,
    *,
    rule: Rule = "drop",
    direction: Direction | None = 1,
    judge: int = 0,
) -> tuple[Statistic, ...]:
    """All statistics of one judge and the annotators that the scale has.

    They include `human_pa` and `human_loo` on the items that the judge scored, to compare `pa_pairwise` and `judge_loo`
    with; `pairwise_gap` and `loo_gap` are the differences.

    Args:
        k, kind, values: as `human_statistics`.
        rule: of the aggregate; only `pa` and `pa_failed_wrong` know `strict`.
        direction: 1 if the highest class is best, -1 if the lowest, None if neither.
        judge: column of the judge in the rows.

    >>> [s.name for s in judge_statistics(2, "nominal")][:3]
    ['pa', 'pa_failed_wrong', 'pa_pairwise']
    """
    statistics = (
        share_of_hits(rule, judge=judge),
        share_of_hits(rule, failed_wrong=True, judge=judge),
        share_of_pairs("judge", judge),
        share_of_pairs("human", judge),
        gap("pairwise", judge),
        share_left_out("judge", judge),
        share_left_out("human", judge),
        gap("loo", judge),
        f1_of_judge(rule=rule, judge=judge),
        cohen(rule=rule, judge=judge),
        fleiss_with_aggregate(rule=rule, judge=judge),
        cohen("linear", values, rule=rule, judge=judge, name="linear_kappa"),
        cohen("quadratic", values, rule=rule, judge=judge, name="quadratic_kappa"),
        *(alpha_of_judge(metric, values, rule=rule, judge=judge) for metric in ("nominal", "ordinal", "interval")),
        gwet_of_judge(rule=rule, judge=judge),
        gwet_of_judge("quadratic", values, rule=rule, judge=judge),
        *(correlation_with_humans(m, k, values, judge=judge) for m in ("kendall", "spearman", "pearson")),
        leniency_of_judge(k, direction or 1, values, judge=judge),
        *(describe(k, values, judge=judge) for describe in DESCRIPTIONS),
    )
    absent = undefined_by_scale(kind, direction)
    return tuple(s for s in statistics if s.name not in absent)
