"""harness: the multilingual calibration benchmark for LLM judges.

The names below are the public API. Each is imported on first use, so importing the package costs almost nothing.
"""

from __future__ import annotations

from importlib import import_module
from typing import Any

_PUBLIC = {
    "GenerateSpec": "harness.runs",
    "RunSpec": "harness.runs",
    "RunResult": "harness.runs",
    "Settings": "harness.asking_options",
    "generate": "harness.api",
    "run": "harness.api",
    "report": "harness.api",
    "write_page": "harness.api",
    "Library": "harness.content",
    "Dataset": "harness.data",
    "load": "harness.sources",
    "atlas": "harness.api",
    "datasets": "harness.api",
    "from_frames": "harness.data.frames",
    "frame_of": "harness.data.frames",
    "compare": "harness.api",
    "CompareOptions": "harness.decide.options",
    "calibrate": "harness.api",
    "correct": "harness.api",
    "CorrectOptions": "harness.correction.correction_options",
    "accept": "harness.api",
    "AcceptOptions": "harness.correction.correction_options",
    "probabilities": "harness.api",
    "ProbabilityOptions": "harness.correction.correction_options",
    "certify": "harness.api",
    "CertifyOptions": "harness.correction.correction_options",
    "CalibrateOptions": "harness.correction.correction_options",
    "explain": "harness.api",
    "ExplainOptions": "harness.improvement.improvement_options",
    "improve": "harness.api",
    "ImproveOptions": "harness.improvement.improvement_options",
    "Asking": "harness.improvement.ask_candidates",
    "AskedCandidate": "harness.improvement.candidates",
    "cascade_certificate": "harness.correction.cascade_certificate",
    "certificate": "harness.correction.certificate",
    "check_gate": "harness.api",
    "GateOptions": "harness.gate.policy",
    "check_watch": "harness.api",
    "labels_check": "harness.api",
    "LabelCheckOptions": "harness.annotate.labelling_options",
    "DecisionOptions": "harness.decide.options",
    "TableOptions": "harness.exchange.labels.table_options",
    "HarnessError": "harness.errors",
}

__all__ = sorted(_PUBLIC)


def __getattr__(name: str) -> Any:
    if name not in _PUBLIC:
        raise AttributeError(f"module 'harness' has no public name '{name}'; choose from: {', '.join(__all__)}")
    module = import_module(_PUBLIC[name])
    return module if _PUBLIC[name].endswith(f".{name}") else getattr(module, name)


def __dir__() -> list[str]:
    return __all__
