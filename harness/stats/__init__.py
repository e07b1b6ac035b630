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
    from harness.stats.agreement.agreement import (
        cohen_kappa,
        fleiss_kappa,
        gwet_ac,
        human_all_agree,
        human_loo,
        human_pa,
        human_weighted_f1,
        judge_loo,
        krippendorff_alpha,
        krippendorff_alpha_interval,
        pa,
        pa_failed_wrong,
        pa_pairwise,
        weighted_f1,
    )
    from harness.stats.agreement.concordance import tau_within, tie_calibrated_accuracy
    from harness.stats.agreement.correlation import (
        kendall_tau,
        mean_of_segments,
        pearson,
        score_correlation,
        segment_correlations,
        spearman,
    )
    from harness.stats.agreement.describe import (
        LEVELS,
        RARE,
        Distribution,
        MarginTest,
        agreement_level,
        coverage,
        distribution_by_agreement,
        distribution_of_judge,
        distribution_of_labels,
        entropy_bits,
        leniency,
        mcnemar,
        rarest_expected,
        stuart_maxwell,
        stuart_maxwell_of_table,
    )
    from harness.stats.agreement.variance_components import (
        Retest,
        eta_squared,
        mixed_components,
        one_way_components,
        one_way_icc,
        reliability,
        retest,
        standardised,
        two_way_components,
        two_way_icc,
    )
    from harness.stats.core.arrays import MISSING, Estimate, Estimates, ScaleError, ShapeError
    from harness.stats.core.catalogue import cell_statistics, human_statistics, judge_statistics, undefined_by_scale
    from harness.stats.core.groups import bell_mccaffrey, effective_groups, group_cap
    from harness.stats.core.rows import (
        NO_MAJORITY,
        Rows,
        aggregate,
        aggregate_counts,
        count_classes,
        count_long,
        distinct_counts,
        tabulate,
        tabulate_cells,
    )
    from harness.stats.core.statistic import Estimated, Statistic, bootstrap_from_sums, estimate, item_credits
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
    from harness.stats.estimation.labels_needed import items_for_wilson
    from harness.stats.estimation.misclassification import corrected_shares, rogan_gladen
    from harness.stats.estimation.prediction_powered import (
        LabelledSpread,
        LabelledSummary,
        combine_estimates,
        correct_with_summary,
        enough_labels,
        prediction_powered_class_shares,
        prediction_powered_mean,
        prediction_powered_weighted,
        summarise_labelled,
    )
    from harness.stats.estimation.shrinkage import MetaAnalysis, meta_analysis
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
    from harness.stats.intervals.regression import logit_rise, page_falling, slope
    from harness.stats.language_differences import (
        DifferentialFunctioning,
        RateComparison,
        compare_rates,
        differential_functioning,
        parallel_consistency,
    )
    from harness.stats.ranking import BradleyTerry, Ranks, bradley_terry, rank_judges, soft_pairwise_accuracy, system_correlation

_NAMES = {
    "agreement.agreement": (
        "cohen_kappa fleiss_kappa gwet_ac human_all_agree human_loo human_pa human_weighted_f1 judge_loo "
        "krippendorff_alpha krippendorff_alpha_interval pa pa_failed_wrong pa_pairwise weighted_f1"
    ),
    "agreement.concordance": "tau_within tie_calibrated_accuracy",
    "agreement.correlation": "kendall_tau mean_of_segments pearson score_correlation segment_correlations spearman",
    "agreement.describe": (
        "Distribution LEVELS MarginTest RARE agreement_level coverage distribution_by_agreement "
        "distribution_of_judge distribution_of_labels entropy_bits leniency mcnemar rarest_expected "
        "stuart_maxwell stuart_maxwell_of_table"
    ),
    "agreement.variance_components": (
        "Retest eta_squared mixed_components one_way_components one_way_icc reliability retest standardised two_way_components two_way_icc"
    ),
    "core.arrays": "Estimate Estimates MISSING ScaleError ShapeError",
    "core.catalogue": "cell_statistics human_statistics judge_statistics undefined_by_scale",
    "core.groups": "bell_mccaffrey effective_groups group_cap",
    "core.rows": ("NO_MAJORITY Rows aggregate aggregate_counts count_classes count_long distinct_counts tabulate tabulate_cells"),
    "core.statistic": "Estimated Statistic bootstrap_from_sums estimate item_credits",
    "estimation.acceptance": "Acceptance acceptance_threshold",
    "estimation.calibration": "brier_score calibration_error cross_fitted fit_platt group_folds log_loss reliability_curve",
    "estimation.labels_needed": "items_for_wilson",
    "estimation.misclassification": "corrected_shares rogan_gladen",
    "estimation.prediction_powered": (
        "LabelledSpread LabelledSummary combine_estimates correct_with_summary enough_labels "
        "prediction_powered_class_shares prediction_powered_mean prediction_powered_weighted "
        "summarise_labelled"
    ),
    "estimation.shrinkage": "MetaAnalysis meta_analysis",
    "intervals.intervals": "Interval TOO_FEW clopper_pearson mean_interval proportion_interval wilson",
    "intervals.judge_tests": "OneClass judge_sums judge_tests",
    "intervals.multiplicity": "benjamini_hochberg benjamini_yekutieli holm",
    "intervals.paired": "Difference best_on_other_folds commonest difference_from_best hits paired_difference superiority",
    "intervals.regression": "logit_rise page_falling slope",
    "language_differences": "DifferentialFunctioning RateComparison compare_rates differential_functioning parallel_consistency",
    "ranking": "BradleyTerry Ranks bradley_terry rank_judges soft_pairwise_accuracy system_correlation",
}
_MODULES = {name: module for module, names in _NAMES.items() for name in names.split()}

__all__ = sorted(("intervals", *_MODULES))


def __getattr__(name: str) -> Any:
    if name not in _MODULES:
        raise AttributeError(f"module 'harness.stats' has no name '{name}'")
    return getattr(import_module(f"harness.stats.{_MODULES[name]}"), name)
