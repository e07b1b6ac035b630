"""cells → verdicts: what a judge's scores may be used for, and what is needed to use them."""

from harness.decide.calibration import Calibration, calibration_note
from harness.decide.comparison import DecidedComparison, compare
from harness.decide.labels_budget import LabelBudget, LabelsNeeded, label_budget
from harness.decide.languages import LanguageComparison, language_notes
from harness.decide.options import DecisionOptions
from harness.decide.report import Report, report
from harness.decide.verdicts import Verdict, by_language, verdicts

__all__ = [
    "Calibration",
    "DecidedComparison",
    "DecisionOptions",
    "LabelBudget",
    "LabelsNeeded",
    "LanguageComparison",
    "Report",
    "Verdict",
    "by_language",
    "calibration_note",
    "compare",
    "label_budget",
    "language_notes",
    "report",
    "verdicts",
]
