"""judgments × labels → cells and verdicts: what reports, comparisons and boards share, and the only caller of the statistics."""

from harness.analyse.cells import NAMES as STATISTICS
from harness.analyse.cells import Cell
from harness.analyse.compare import CI_METHOD, Comparison, Recording, compare
from harness.analyse.labelcheck import BY as LABELS_BY
from harness.analyse.labelcheck import LabelCheck, check_labels
from harness.analyse.options import ALWAYS, POOLED, Annotators, CompareOptions, of_rule
from harness.analyse.outcomes import OUTCOMES, Outcomes, outcomes
from harness.analyse.pooled import pooled_differences
from harness.analyse.ranking import AnnotatorFigures, Gain, MatchedPair, RankedJudge, Ranking, gains_over, rank
from harness.analyse.report import BY_METRIC, Report, Verdict, recording, report, signature, verdicts
from harness.analyse.retest import Outcome, Retest, held_against

__all__ = [
    "ALWAYS",
    "BY_METRIC",
    "CI_METHOD",
    "LABELS_BY",
    "OUTCOMES",
    "POOLED",
    "STATISTICS",
    "AnnotatorFigures",
    "Annotators",
    "Cell",
    "CompareOptions",
    "Comparison",
    "Gain",
    "LabelCheck",
    "MatchedPair",
    "Outcome",
    "Outcomes",
    "RankedJudge",
    "Ranking",
    "Recording",
    "Report",
    "Retest",
    "Verdict",
    "check_labels",
    "compare",
    "gains_over",
    "held_against",
    "of_rule",
    "outcomes",
    "pooled_differences",
    "rank",
    "recording",
    "report",
    "signature",
    "verdicts",
]
