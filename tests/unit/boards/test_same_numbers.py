"""A board and the report of the same replies print the same differences from the baseline, with the same intervals."""

from __future__ import annotations

from collections import Counter
from typing import Any

import pytest

from harness.boards.card import JudgeCard
from harness.boards.checked_boards import whole_board
from harness.boards.examined_submission import ScoredSubmission
from harness.boards.standings import Standings, standings
from harness.data.judgments import Judgments
from harness.measure.options import POOLED
from harness.model import JudgeIdentity
from harness.reports.run_report import Report, report
from harness.runs import Prepared
from harness.runs.derived_files import RunAnswers
from tests.unit.made_judgments import made_judgment

JUDGE = "openai/made-up"
UNSAID: dict[str, Any] = {"failure": None, "raw_choice": None, "justification": None, "call_id": ""}


@pytest.fixture(scope="module")
def controls() -> Prepared:
    """The default board, whole."""
    return whole_board("controls")


def replies(controls: Prepared, every: int) -> Judgments:
    """A judge that gives every item its label, but another class once in `every` questions of a language."""
    found = []
    asked_of: Counter[str] = Counter()
    [condition] = controls.protocol.questions.conditions
    for label in controls.data.labels:
        classes = controls.data.scales[label.metric].classes
        others = [score for score in classes if score != label.score]
        item = controls.data.by_id[label.item_id]
        asked_of[item.language] += 1
        score = label.score if asked_of[item.language] % every else others[0]
        place = {"item_id": item.item_id, "language": item.language, "task": item.task, "metric": label.metric}
        asked = {"judge": JUDGE, "variant": str(condition.variant), "temperature": condition.temperature, "repeat": 0}
        found.append(made_judgment(**place, **asked, score=score, **UNSAID))
    return Judgments.from_rows(found)


def both(controls: Prepared, every: int) -> tuple[Standings, Report]:
    judgments = replies(controls, every)
    identity = JudgeIdentity("openai", "made-up", {})
    protocol = controls.protocol.with_fields(identities=(identity,))
    card = JudgeCard(name=JUDGE, provider="openai", model="made-up", settings={}, board=protocol.texts.source, replies_sha256="0" * 64)
    nothing: dict[str, dict[str, int]] = {JUDGE: {}}
    answers = RunAnswers(missing={JUDGE: 0}, spent={}, answered_by=nothing, forms=nothing, left_out=nothing)
    ranked = standings(controls.library.board("controls"), controls, [ScoredSubmission(card, judgments, answers)])
    return ranked, report("run", protocol, judgments, controls.data, controls.training)


@pytest.mark.slow
@pytest.mark.parametrize("every", [7, 2])
def test_all_metrics_together_and_each_alone(controls: Prepared, every: int) -> None:
    ranked, found = both(controls, every)
    assert {summary.language for summary in found.summaries} == set(ranked.languages)
    for summary in found.summaries:
        table = ranked.table(summary.language)
        assert table is not None
        [row] = table.rows
        assert row.baseline_diff == pytest.approx(summary.diff) and row.baseline_ci == pytest.approx(summary.ci)
        assert summary.diff == pytest.approx(summary.pa_failed_wrong - summary.baseline)
        assert summary.p is not None and row.beats_baseline == (summary.p < 0.05 and row.baseline_diff > 0)
    for cell in found.by_metric:
        table = ranked.table(cell["language"], metric=cell["metric"])
        assert table is not None
        [row] = table.rows
        assert row.baseline_diff == pytest.approx(cell.vs_baseline["diff"])
        assert row.baseline_ci == (None if cell.vs_baseline["ci"] is None else pytest.approx(cell.vs_baseline["ci"]))


@pytest.mark.slow
def test_a_judge_that_is_right_on_86_percent_beats_the_baseline_in_czech(controls: Prepared) -> None:
    ranked, found = both(controls, 7)
    [czech] = [summary for summary in found.summaries if summary.language == "cs"]
    table = ranked.table("cs", metric=POOLED)
    assert table is not None and table.rows[0].beats_baseline
    assert round(100 * czech.pa_failed_wrong) == 86 and round(100 * czech.baseline) == 60
    assert czech.ci is not None and czech.ci[0] > 0
