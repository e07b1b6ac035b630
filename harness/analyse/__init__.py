"""Judgments × labels → cells. Reports, comparisons, boards and decisions share it."""

from harness.analyse.ablations import ablations, comparison_sections
from harness.analyse.cells import NAMES as STATISTICS
from harness.analyse.cells import Cell
from harness.analyse.chiang_lee import chiang_lee
from harness.analyse.compare import CI_METHOD, Comparison, JudgedData, LaidOut, Recording, compare, compare_laid_out, judged_data, lay_out
from harness.analyse.coverage import RunCoverage, run_coverage
from harness.analyse.failures import failures_by_condition
from harness.analyse.free_text import free_text
from harness.analyse.label_score_pairs import LabelScorePairs, best_is_first, label_score_pairs
from harness.analyse.labelcheck import BY as LABELS_BY
from harness.analyse.labelcheck import LabelCheck, check_labels, label_cells
from harness.analyse.options import ALWAYS, BY_METRIC, POOLED, Annotators, CompareOptions, of_rule
from harness.analyse.outcomes import OUTCOMES, Outcomes, outcomes
from harness.analyse.own_choices import self_preference_section
from harness.analyse.pairs import pairs
from harness.analyse.panels import with_panel
from harness.analyse.pooled import pooled_differences
from harness.analyse.ranked import AnnotatorFigures, Gain, MatchedPair, RankedJudge, Ranking
from harness.analyse.ranking import gains_over, rank
from harness.analyse.recorded_run import recording, signature
from harness.analyse.retest import Outcome, Retest, retest_outcomes
from harness.analyse.runs_over_time import runs_over_time
from harness.analyse.score_ranking import MIN_TEXTS, RANKED_BY_ORDER
from harness.analyse.summaries import LanguageSummary, summaries

__all__ = [
    "ALWAYS",
    "BY_METRIC",
    "CI_METHOD",
    "LABELS_BY",
    "MIN_TEXTS",
    "OUTCOMES",
    "POOLED",
    "RANKED_BY_ORDER",
    "STATISTICS",
    "AnnotatorFigures",
    "Annotators",
    "Cell",
    "CompareOptions",
    "Comparison",
    "Gain",
    "JudgedData",
    "LabelCheck",
    "LabelScorePairs",
    "LaidOut",
    "LanguageSummary",
    "MatchedPair",
    "Outcome",
    "Outcomes",
    "RankedJudge",
    "Ranking",
    "Recording",
    "Retest",
    "RunCoverage",
    "ablations",
    "best_is_first",
    "check_labels",
    "chiang_lee",
    "compare",
    "compare_laid_out",
    "comparison_sections",
    "failures_by_condition",
    "free_text",
    "gains_over",
    "judged_data",
    "label_cells",
    "label_score_pairs",
    "lay_out",
    "of_rule",
    "outcomes",
    "pairs",
    "pooled_differences",
    "rank",
    "recording",
    "retest_outcomes",
    "run_coverage",
    "runs_over_time",
    "self_preference_section",
    "signature",
    "summaries",
    "with_panel",
]
