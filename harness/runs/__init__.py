"""A run, from its specification to its judgments. The rest of the program imports the names below, not the modules.

specification → preparation (protocol, sources) → plan → asking (prices) → answers (derivation) → runner, record, evidence.

Names are imported on first use, because importing this package should cost nothing.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from harness.runs.altered_texts import DEFAULT_CHANGES, alter_texts, write_altered_texts
    from harness.runs.answers import RunAnswers, Spent, keep_report, kept_report
    from harness.runs.asking import CostEstimate, Watcher, estimate_cost, price_for_engine
    from harness.runs.derivation import derive_judgments, read_metrics, reply_failures
    from harness.runs.evidence import Evidence, JudgeWords, read_evidence
    from harness.runs.finetuning import FineTuningSpec, fine_tuning_set, write_fine_tuning_set
    from harness.runs.generate import Generated, WriterSummary, generate_outputs, planned_writing
    from harness.runs.plan import CallIds, Plan, PlannedCalls, call_ids, estimate_usage, hex_ids, make_plan
    from harness.runs.preparation import Prepared, prepare
    from harness.runs.prices import Price, price_of
    from harness.runs.protocol import RunProtocol
    from harness.runs.record import run_place, run_record
    from harness.runs.runner import RunResult, collect_batches, open_judges, planned_calls, reopen, reopen_judge, run
    from harness.runs.self_preference_data import PREFERENCE, RECOGNITION, SINGLE_METRICS, refused_controls
    from harness.runs.sources import load_board
    from harness.runs.specification import DEFAULT_BOARD, DEFAULT_JUDGE, RunSpec
    from harness.runs.studies import CHIANG_LEE, SELF_PREFERENCE, STUDIES, own_system
    from harness.runs.writing import GenerateSpec

_MODULES = {
    "FineTuningSpec": "finetuning",
    "fine_tuning_set": "finetuning",
    "write_fine_tuning_set": "finetuning",
    "DEFAULT_CHANGES": "altered_texts",
    "alter_texts": "altered_texts",
    "write_altered_texts": "altered_texts",
    "CHIANG_LEE": "studies",
    "SELF_PREFERENCE": "studies",
    "STUDIES": "studies",
    "own_system": "studies",
    "PREFERENCE": "self_preference_data",
    "RECOGNITION": "self_preference_data",
    "SINGLE_METRICS": "self_preference_data",
    "refused_controls": "self_preference_data",
    "DEFAULT_BOARD": "specification",
    "DEFAULT_JUDGE": "specification",
    "RunSpec": "specification",
    "RunProtocol": "protocol",
    "Prepared": "preparation",
    "prepare": "preparation",
    "load_board": "sources",
    "CallIds": "plan",
    "Plan": "plan",
    "PlannedCalls": "plan",
    "call_ids": "plan",
    "estimate_usage": "plan",
    "hex_ids": "plan",
    "make_plan": "plan",
    "Price": "prices",
    "price_of": "prices",
    "CostEstimate": "asking",
    "Watcher": "asking",
    "estimate_cost": "asking",
    "price_for_engine": "asking",
    "derive_judgments": "derivation",
    "read_metrics": "derivation",
    "reply_failures": "derivation",
    "RunAnswers": "answers",
    "Spent": "answers",
    "keep_report": "answers",
    "kept_report": "answers",
    "RunResult": "runner",
    "collect_batches": "runner",
    "open_judges": "runner",
    "planned_calls": "runner",
    "reopen": "runner",
    "run_place": "record",
    "run_record": "record",
    "reopen_judge": "runner",
    "run": "runner",
    "Evidence": "evidence",
    "JudgeWords": "evidence",
    "read_evidence": "evidence",
    "GenerateSpec": "writing",
    "Generated": "generate",
    "WriterSummary": "generate",
    "generate_outputs": "generate",
    "planned_writing": "generate",
}

__all__ = [
    "CHIANG_LEE",
    "DEFAULT_BOARD",
    "DEFAULT_CHANGES",
    "DEFAULT_JUDGE",
    "PREFERENCE",
    "RECOGNITION",
    "SELF_PREFERENCE",
    "SINGLE_METRICS",
    "STUDIES",
    "CallIds",
    "CostEstimate",
    "Evidence",
    "FineTuningSpec",
    "GenerateSpec",
    "Generated",
    "JudgeWords",
    "Plan",
    "PlannedCalls",
    "Prepared",
    "Price",
    "RunAnswers",
    "RunProtocol",
    "RunResult",
    "RunSpec",
    "Spent",
    "Watcher",
    "WriterSummary",
    "alter_texts",
    "call_ids",
    "collect_batches",
    "derive_judgments",
    "estimate_cost",
    "estimate_usage",
    "fine_tuning_set",
    "generate_outputs",
    "hex_ids",
    "keep_report",
    "kept_report",
    "load_board",
    "make_plan",
    "open_judges",
    "own_system",
    "planned_calls",
    "planned_writing",
    "prepare",
    "price_for_engine",
    "price_of",
    "read_evidence",
    "read_metrics",
    "refused_controls",
    "reopen",
    "reopen_judge",
    "reply_failures",
    "run",
    "run_place",
    "run_record",
    "write_altered_texts",
    "write_fine_tuning_set",
]


def __getattr__(name: str) -> Any:
    if name not in _MODULES:
        raise AttributeError(f"module 'harness.runs' has no name '{name}'")
    return getattr(import_module(f"harness.runs.{_MODULES[name]}"), name)
