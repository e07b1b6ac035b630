"""Formats of other programs: scores that were made elsewhere become a data folder."""

from harness.interop.import_scores import ScoreImportSummary, import_scores
from harness.interop.read import SCORE_KINDS
from harness.interop.settings import ScoreImportOptions

__all__ = ["SCORE_KINDS", "ScoreImportOptions", "ScoreImportSummary", "import_scores"]
