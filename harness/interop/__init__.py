"""Formats of other programs: scores that were made elsewhere become a data folder; our judges and scores go into other programs.

Names are imported on first use, because an assertion of promptfoo starts a process for each score.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from harness.interop.read import SCORE_KINDS
    from harness.interop.score_import import ScoreImportSummary, import_scores
    from harness.interop.settings import ScoreImportOptions

_MODULES = {
    "SCORE_KINDS": "read",
    "ScoreImportOptions": "settings",
    "ScoreImportSummary": "score_import",
    "import_scores": "score_import",
}

__all__ = ["SCORE_KINDS", "ScoreImportOptions", "ScoreImportSummary", "import_scores"]


def __getattr__(name: str) -> Any:
    if name not in _MODULES:
        raise AttributeError(f"module 'harness.interop' has no name '{name}'")
    return getattr(import_module(f"harness.interop.{_MODULES[name]}"), name)
