"""Statistics of agreement: arrays in, small frozen results out; no judge, no file, no frame.

Labels are class codes 0 … k-1 of shape items x raters, -1 or NaN where missing, and k is always that of the *scale*.
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

from harness.stats.acceptance import (
    Acceptance,
    acceptance_power,
    acceptance_threshold,
    errors_allowed,
    items_needed,
)
from harness.stats.aggregate import NO_MAJORITY, Rule, aggregate, aggregate_counts
from harness.stats.agreement import (
    human_all_agree,
    human_loo,
    human_pa,
    judge_loo,
    pa,
    pa_failed_wrong,
    pa_pairwise,
)
from harness.stats.alpha import krippendorff_alpha, krippendorff_alpha_interval
from harness.stats.alternative_annotator import (
    AlternativeAnnotatorTest,
    advantage_test,
    alternative_annotator_test,
)
from harness.stats.arrays import MISSING, Estimate, Estimates, Kind, ScaleError, ShapeError, Weights
from harness.stats.bootstrap import intervals
from harness.stats.catalogue import cell_statistics, human_statistics, judge_statistics, undefined_by_scale
from harness.stats.correlation import kendall_tau, pearson, spearman
from harness.stats.describe import (
    LEVELS,
    RARE,
    Coverage,
    Direction,
    Distribution,
    agreement_level,
    coverage,
    distribution,
    distribution_by_agreement,
    distribution_of_judge,
    distribution_of_labels,
    leniency,
    rarest_expected,
)
from harness.stats.entropy import entropy_bits
from harness.stats.f1 import weighted_f1
from harness.stats.gwet import gwet_ac
from harness.stats.intervals import MIN_GROUPS, TOO_FEW, Interval, mean_interval, proportion_interval, wilson
from harness.stats.kappa import cohen_kappa, fleiss_kappa, pairwise_cohen
from harness.stats.margins import MarginTest, mcnemar, stuart_maxwell, stuart_maxwell_of_table
from harness.stats.misclassification import (
    CorrectedShares,
    RoganGladen,
    allocate_labels,
    corrected_shares,
    predictive_value_share,
    rogan_gladen,
)
from harness.stats.multiplicity import benjamini_hochberg, benjamini_yekutieli, holm
from harness.stats.paired import (
    VS_BASELINE,
    Difference,
    commonest,
    difference,
    hits,
    paired_difference,
    vs_baseline,
)
from harness.stats.prediction_powered import (
    PredictionPowered,
    PredictionPoweredShares,
    combine_estimates,
    effective_labels,
    enough_labels,
    prediction_powered_difference,
    prediction_powered_mean,
    prediction_powered_share,
    prediction_powered_shares,
    split_budget,
)
from harness.stats.ranks import Ranks, rank_judges
from harness.stats.retest import SAME_SOURCE, Retest, clopper_pearson, retest
from harness.stats.rows import Rows, count_classes, count_long, distinct_counts, tabulate, tabulate_cells
from harness.stats.statistic import Statistic, estimate, item_credits
from harness.stats.stratified import tau_within
from harness.stats.sums import Estimated, of_sums
from harness.stats.superiority import Superiority, superiority
from harness.stats.systems import SystemCorrelation, system_correlation
from harness.stats.trend import PageTest, page_falling, slope

__all__ = [
    "LEVELS",
    "MIN_GROUPS",
    "MISSING",
    "NO_MAJORITY",
    "RARE",
    "SAME_SOURCE",
    "TOO_FEW",
    "VS_BASELINE",
    "Acceptance",
    "AlternativeAnnotatorTest",
    "CorrectedShares",
    "Coverage",
    "Difference",
    "Direction",
    "Distribution",
    "Estimate",
    "Estimated",
    "Estimates",
    "Interval",
    "Kind",
    "MarginTest",
    "PageTest",
    "PredictionPowered",
    "PredictionPoweredShares",
    "Ranks",
    "Retest",
    "RoganGladen",
    "Rows",
    "Rule",
    "ScaleError",
    "ShapeError",
    "Statistic",
    "Superiority",
    "SystemCorrelation",
    "Weights",
    "acceptance_power",
    "acceptance_threshold",
    "advantage_test",
    "aggregate",
    "aggregate_counts",
    "agreement_level",
    "allocate_labels",
    "alternative_annotator_test",
    "benjamini_hochberg",
    "benjamini_yekutieli",
    "cell_statistics",
    "clopper_pearson",
    "cohen_kappa",
    "combine_estimates",
    "commonest",
    "corrected_shares",
    "count_classes",
    "count_long",
    "coverage",
    "difference",
    "distinct_counts",
    "distribution",
    "distribution_by_agreement",
    "distribution_of_judge",
    "distribution_of_labels",
    "effective_labels",
    "enough_labels",
    "entropy_bits",
    "errors_allowed",
    "estimate",
    "fleiss_kappa",
    "gwet_ac",
    "hits",
    "holm",
    "human_all_agree",
    "human_loo",
    "human_pa",
    "human_statistics",
    "intervals",
    "item_credits",
    "items_needed",
    "judge_loo",
    "judge_statistics",
    "kendall_tau",
    "krippendorff_alpha",
    "krippendorff_alpha_interval",
    "leniency",
    "mcnemar",
    "mean_interval",
    "of_sums",
    "pa",
    "pa_failed_wrong",
    "pa_pairwise",
    "page_falling",
    "paired_difference",
    "pairwise_cohen",
    "pearson",
    "prediction_powered_difference",
    "prediction_powered_mean",
    "prediction_powered_share",
    "prediction_powered_shares",
    "predictive_value_share",
    "proportion_interval",
    "rank_judges",
    "rarest_expected",
    "retest",
    "rogan_gladen",
    "slope",
    "spearman",
    "split_budget",
    "stuart_maxwell",
    "stuart_maxwell_of_table",
    "superiority",
    "system_correlation",
    "tabulate",
    "tabulate_cells",
    "tau_within",
    "undefined_by_scale",
    "vs_baseline",
    "weighted_f1",
    "wilson",
]
