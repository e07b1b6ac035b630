"""cells → verdicts: what a judge's scores may be used for, what is needed to use them, and how they are used."""

from harness.decide import certificate
from harness.decide.acceptance import Acceptances, AcceptOptions, accept
from harness.decide.calibration import Calibration, calibration_note
from harness.decide.comparison import DecidedComparison, compare
from harness.decide.correct import Corrected, CorrectedNumber, CorrectOptions, correct
from harness.decide.label_sample import LabelSample, SampledItem, SampleOptions, draw_label_sample
from harness.decide.labels_budget import LabelBudget, LabelsNeeded, label_budget
from harness.decide.languages import LanguageComparison, language_notes
from harness.decide.options import DecisionOptions
from harness.decide.report import Report, report
from harness.decide.verdicts import BesideBaseline, Verdict, verdicts

__all__ = [
    "AcceptOptions",
    "Acceptances",
    "BesideBaseline",
    "Calibration",
    "CorrectOptions",
    "Corrected",
    "CorrectedNumber",
    "DecidedComparison",
    "DecisionOptions",
    "LabelBudget",
    "LabelSample",
    "LabelsNeeded",
    "LanguageComparison",
    "Report",
    "SampleOptions",
    "SampledItem",
    "Verdict",
    "accept",
    "calibration_note",
    "certificate",
    "compare",
    "correct",
    "draw_label_sample",
    "label_budget",
    "language_notes",
    "report",
    "verdicts",
]
