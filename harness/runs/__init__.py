"""A run, from its specification to its judgments. The rest of the program imports the names below, not the modules.

specification → preparation (protocol, sources, asked_questions) → plan → asking (prices) → run_completeness (derivation) →
runner, results.

Names are imported on first use, because importing this package should cost nothing.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from harness.runs.ask_judges import LiveRow, LiveRows, Watcher
    from harness.runs.asked_questions import refuse_unfit_judges
    from harness.runs.board_data import SET_ASIDE, first_items, load_board
    from harness.runs.costs_of_answers import PeopleCost, RunCosts, people_times, run_costs
    from harness.runs.derived_files import RunAnswers, Spent, keep_report, kept_report
    from harness.runs.generate import Generated, WriterSummary, generate_outputs, planned_writing
    from harness.runs.judgments_from_replies import ReadingRules, derive_judgments, read_metrics, reply_failures
    from harness.runs.plan import (
        CallIds,
        Plan,
        PlannedCalls,
        call_ids,
        estimate_text_usage,
        estimate_tokens_per_character,
        estimate_usage,
        hex_ids,
        make_plan,
    )
    from harness.runs.preparation import Prepared, choose_languages, choose_names, prepare
    from harness.runs.prices import CostEstimate, Price, added, age_note, estimate_cost, price_by_name, price_for_engine, price_of
    from harness.runs.protocol import AskedQuestions, RunProtocol
    from harness.runs.results import Evidence, JudgeWords, RunResult, date_asked, read_evidence, run_place, run_record
    from harness.runs.run_defaults import DEFAULT_BOARD, DEFAULT_JUDGE
    from harness.runs.runner import (
        AskAgain,
        Together,
        absent_cards,
        ask_again,
        askable_boards,
        board_specs,
        collect_batches,
        of_judge,
        open_judges,
        planned_calls,
        reopen,
        reopen_judge,
        run,
        run_together,
    )
    from harness.runs.shown_items import SYSTEM_KEYS
    from harness.runs.specification import GenerateSpec, RunSpec
    from harness.runs.study import SelectedTexts, Study, study_named

_NAMES = {
    "asked_questions": ("refuse_unfit_judges",),
    "ask_judges": ("LiveRow", "LiveRows", "Watcher"),
    "judgments_from_replies": ("ReadingRules", "derive_judgments", "read_metrics", "reply_failures"),
    "generate": ("Generated", "WriterSummary", "generate_outputs", "planned_writing"),
    "plan": (
        *("CallIds", "Plan", "PlannedCalls", "call_ids", "estimate_text_usage", "estimate_tokens_per_character", "estimate_usage"),
        *("hex_ids", "make_plan"),
    ),
    "preparation": ("Prepared", "choose_languages", "choose_names", "prepare"),
    "prices": ("CostEstimate", "Price", "added", "age_note", "estimate_cost", "price_by_name", "price_for_engine", "price_of"),
    "protocol": ("AskedQuestions", "RunProtocol"),
    "results": (
        *("Evidence", "JudgeWords", "RunResult", "date_asked", "read_evidence"),
        *("run_place", "run_record"),
    ),
    "costs_of_answers": ("PeopleCost", "RunCosts", "people_times", "run_costs"),
    "derived_files": ("RunAnswers", "Spent", "keep_report", "kept_report"),
    "runner": (
        *("AskAgain", "Together", "absent_cards", "ask_again", "askable_boards", "board_specs", "collect_batches", "of_judge"),
        *("open_judges", "planned_calls", "reopen", "reopen_judge", "run", "run_together"),
    ),
    "shown_items": ("SYSTEM_KEYS",),
    "board_data": ("SET_ASIDE", "first_items", "load_board"),
    "run_defaults": ("DEFAULT_BOARD", "DEFAULT_JUDGE"),
    "specification": ("GenerateSpec", "RunSpec"),
    "study": ("SelectedTexts", "Study", "study_named"),
}
_MODULES = {name: module for module, names in _NAMES.items() for name in names}

__all__ = sorted(_MODULES)


def __getattr__(name: str) -> Any:
    if name not in _MODULES:
        raise AttributeError(f"module 'harness.runs' has no name '{name}'")
    return getattr(import_module(f"harness.runs.{_MODULES[name]}"), name)
