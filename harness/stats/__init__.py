"""Statistics of agreement: arrays in, small frozen results out. Nothing here knows a judge, a file or a data frame.

Labels are class codes 0 … k-1 of shape items x raters, -1 or NaN where missing. What means the same in every function is said only here:

- `k`: number of classes of the *scale*, used or not; `values`: (k,) rising numbers that they stand for, by default 0 … k-1.
- `groups`: (items,) any sortable codes of what items share, such as a text; None, where it is allowed: items are independent.
- `weights`: (items,) 1 / inclusion probability of items that were drawn with different ones; by default each item counts once.
- `level`: confidence of an interval, in (0, 1). `seed`, `resamples`: of a bootstrap over groups.
- `variance`: over groups; `cr2` allows for groups of different sizes, `cr1` takes them as equal.
- ShapeError: arrays are not of the shapes that are named, or not of the same items. ScaleError: codes are off the scale. "Raises" names
  other errors.

One cell at a time: `pa(judge, labels, k)`, `fleiss_kappa(labels, k)`, … Many cells at once:

>>> import numpy as np
>>> from harness.stats import count_classes, estimate, intervals, judge_statistics, tabulate
>>> rng = np.random.default_rng(0)
>>> labels, judge, cell = rng.integers(0, 3, (400, 3)), rng.integers(0, 3, 400), np.repeat([0, 1], 200)
>>> rows = tabulate(count_classes(labels, k=3), judge, cell=cell)
>>> chosen = judge_statistics(k=3, kind="ordinal")
>>> estimate(chosen, rows)["pa"].n.tolist(), intervals(chosen, rows)["pa"][0].method
([159, 163], 'wilson')
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from harness.stats.intervals.bootstrap import intervals  # now: it has the name of its package

if TYPE_CHECKING:
    from harness.stats.agreement.agreement import human_all_agree, human_loo, human_pa, judge_loo, pa, pa_failed_wrong, pa_pairwise
    from harness.stats.agreement.alpha import krippendorff_alpha, krippendorff_alpha_interval
    from harness.stats.agreement.coefficients import cohen_kappa, fleiss_kappa, gwet_ac, human_weighted_f1, weighted_f1
    from harness.stats.agreement.concordance import tau_within
    from harness.stats.agreement.continuous import mean_of_segments, score_correlation, segment_correlations
    from harness.stats.agreement.correlation import kendall_tau, pearson, spearman
    from harness.stats.agreement.describe import (
        LEVELS,
        RARE,
        Distribution,
        agreement_level,
        coverage,
        distribution_by_agreement,
        distribution_of_judge,
        distribution_of_labels,
        entropy_bits,
        leniency,
        rarest_expected,
    )
    from harness.stats.agreement.margins import MarginTest, mcnemar, stuart_maxwell, stuart_maxwell_of_table
    from harness.stats.agreement.retest import Retest, retest
    from harness.stats.agreement.tie_calibration import tie_calibrated_accuracy
    from harness.stats.agreement.variance_components import (
        eta_squared,
        mixed_components,
        one_way_components,
        one_way_icc,
        reliability,
        standardised,
        two_way_components,
        two_way_icc,
    )
    from harness.stats.core.arrays import MISSING, Estimate, Estimates, ScaleError, ShapeError
    from harness.stats.core.catalogue import cell_statistics, human_statistics, judge_statistics, undefined_by_scale
    from harness.stats.core.functions_of_sums import Estimated, bootstrap_from_sums
    from harness.stats.core.groups import bell_mccaffrey, effective_groups, group_cap
    from harness.stats.core.rows import Rows, count_classes, count_long, distinct_counts, tabulate, tabulate_cells
    from harness.stats.core.statistic import Statistic, estimate, item_credits
    from harness.stats.core.tables import NO_MAJORITY, aggregate, aggregate_counts
    from harness.stats.estimation.acceptance import Acceptance, acceptance_threshold
    from harness.stats.estimation.calibration import (
        brier_score,
        calibration_error,
        cross_fitted,
        fit_platt,
        group_folds,
        log_loss,
        reliability_curve,
    )
    from harness.stats.estimation.labelled_summary import (
        LabelledSpread,
        LabelledSummary,
        correct_with_summary,
        prediction_powered_weighted,
        summarise_labelled,
    )
    from harness.stats.estimation.misclassification import corrected_shares, rogan_gladen
    from harness.stats.estimation.prediction_powered import (
        combine_estimates,
        enough_labels,
        prediction_powered_class_shares,
        prediction_powered_mean,
    )
    from harness.stats.estimation.sampling_plan import items_for_wilson
    from harness.stats.intervals.intervals import TOO_FEW, Interval, clopper_pearson, mean_interval, proportion_interval, wilson
    from harness.stats.intervals.judge_tests import OneClass, judge_sums, judge_tests
    from harness.stats.intervals.multiplicity import benjamini_hochberg, benjamini_yekutieli, holm
    from harness.stats.intervals.paired import (
        Difference,
        best_on_other_folds,
        commonest,
        difference_from_best,
        hits,
        paired_difference,
        superiority,
    )
    from harness.stats.intervals.trend import logit_rise, page_falling, slope
    from harness.stats.languages.agreement_by_language import RateComparison, compare_rates, parallel_consistency
    from harness.stats.languages.differential_functioning import DifferentialFunctioning, differential_functioning
    from harness.stats.languages.meta_analysis import MetaAnalysis, meta_analysis
    from harness.stats.ranking.bradley_terry import BradleyTerry, bradley_terry
    from harness.stats.ranking.ranks import Ranks, rank_judges
    from harness.stats.ranking.systems import soft_pairwise_accuracy, system_correlation

_NAMES = {
    "agreement.agreement": (
        "human_all_agree",
        "human_loo",
        "human_pa",
        "judge_loo",
        "pa",
        "pa_failed_wrong",
        "pa_pairwise",
    ),
    "agreement.alpha": (
        "krippendorff_alpha",
        "krippendorff_alpha_interval",
    ),
    "agreement.coefficients": (
        "cohen_kappa",
        "fleiss_kappa",
        "gwet_ac",
        "human_weighted_f1",
        "weighted_f1",
    ),
    "agreement.concordance": ("tau_within",),
    "agreement.continuous": (
        "mean_of_segments",
        "score_correlation",
        "segment_correlations",
    ),
    "agreement.correlation": (
        "kendall_tau",
        "pearson",
        "spearman",
    ),
    "agreement.describe": (
        "LEVELS",
        "RARE",
        "Distribution",
        "agreement_level",
        "coverage",
        "distribution_by_agreement",
        "distribution_of_judge",
        "distribution_of_labels",
        "entropy_bits",
        "leniency",
        "rarest_expected",
    ),
    "agreement.margins": (
        "MarginTest",
        "mcnemar",
        "stuart_maxwell",
        "stuart_maxwell_of_table",
    ),
    "agreement.retest": (
        "Retest",
        "retest",
    ),
    "agreement.tie_calibration": ("tie_calibrated_accuracy",),
    "agreement.variance_components": (
        "eta_squared",
        "mixed_components",
        "one_way_components",
        "one_way_icc",
        "reliability",
        "standardised",
        "two_way_components",
        "two_way_icc",
    ),
    "core.arrays": (
        "MISSING",
        "Estimate",
        "Estimates",
        "ScaleError",
        "ShapeError",
    ),
    "core.catalogue": (
        "cell_statistics",
        "human_statistics",
        "judge_statistics",
        "undefined_by_scale",
    ),
    "core.functions_of_sums": (
        "Estimated",
        "bootstrap_from_sums",
    ),
    "core.groups": (
        "bell_mccaffrey",
        "effective_groups",
        "group_cap",
    ),
    "core.rows": (
        "Rows",
        "count_classes",
        "count_long",
        "distinct_counts",
        "tabulate",
        "tabulate_cells",
    ),
    "core.statistic": (
        "Statistic",
        "estimate",
        "item_credits",
    ),
    "core.tables": (
        "NO_MAJORITY",
        "aggregate",
        "aggregate_counts",
    ),
    "estimation.acceptance": (
        "Acceptance",
        "acceptance_threshold",
    ),
    "estimation.calibration": (
        "brier_score",
        "calibration_error",
        "cross_fitted",
        "fit_platt",
        "group_folds",
        "log_loss",
        "reliability_curve",
    ),
    "estimation.labelled_summary": (
        "LabelledSpread",
        "LabelledSummary",
        "correct_with_summary",
        "prediction_powered_weighted",
        "summarise_labelled",
    ),
    "estimation.misclassification": (
        "corrected_shares",
        "rogan_gladen",
    ),
    "estimation.prediction_powered": (
        "combine_estimates",
        "enough_labels",
        "prediction_powered_class_shares",
        "prediction_powered_mean",
    ),
    "estimation.sampling_plan": ("items_for_wilson",),
    "intervals.intervals": (
        "TOO_FEW",
        "Interval",
        "clopper_pearson",
        "mean_interval",
        "proportion_interval",
        "wilson",
    ),
    "intervals.judge_tests": (
        "OneClass",
        "judge_sums",
        "judge_tests",
    ),
    "intervals.multiplicity": (
        "benjamini_hochberg",
        "benjamini_yekutieli",
        "holm",
    ),
    "intervals.paired": (
        "Difference",
        "best_on_other_folds",
        "commonest",
        "difference_from_best",
        "hits",
        "paired_difference",
        "superiority",
    ),
    "intervals.trend": (
        "logit_rise",
        "page_falling",
        "slope",
    ),
    "languages.agreement_by_language": (
        "RateComparison",
        "compare_rates",
        "parallel_consistency",
    ),
    "languages.differential_functioning": (
        "DifferentialFunctioning",
        "differential_functioning",
    ),
    "languages.meta_analysis": (
        "MetaAnalysis",
        "meta_analysis",
    ),
    "ranking.bradley_terry": (
        "BradleyTerry",
        "bradley_terry",
    ),
    "ranking.ranks": (
        "Ranks",
        "rank_judges",
    ),
    "ranking.systems": (
        "soft_pairwise_accuracy",
        "system_correlation",
    ),
}
_MODULES = {name: module for module, names in _NAMES.items() for name in names}

__all__ = sorted(("intervals", *_MODULES))


def __getattr__(name: str) -> Any:
    if name not in _MODULES:
        raise AttributeError(f"module 'harness.stats' has no name '{name}'")
    return getattr(import_module(f"harness.stats.{_MODULES[name]}"), name)
