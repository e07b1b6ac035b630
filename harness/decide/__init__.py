"""cells → verdicts: what a judge's scores may be used for, and what is needed to use them."""

from harness.decide.comparison import DecidedComparison, compare
from harness.decide.options import DecisionOptions
from harness.decide.report import Report, report
from harness.decide.verdicts import Verdict, by_language, verdicts

__all__ = ["DecidedComparison", "DecisionOptions", "Report", "Verdict", "by_language", "compare", "report", "verdicts"]
