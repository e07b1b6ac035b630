"""Unreadable answers by judge and condition: counts, kinds, and a bar that shows both."""

from __future__ import annotations

from typing import Any

from harness.data.judgments import Judgments
from harness.model import Failure, Judgment
from harness.render.html.failures import failures_by_condition


def judgments(*rows: tuple[str, Failure | None]) -> Judgments:
    """Judgments of one judge: variant and failure."""
    same: dict[str, Any] = {"language": "en", "task": "t", "metric": "m", "judge": "one", "temperature": 0.0, "repeat": 0}
    same |= {"raw_choice": None, "justification": None, "call_id": ""}
    outcomes = [(variant, {"score": None if failure else 1, "failure": failure}) for variant, failure in rows]
    return Judgments.from_rows([Judgment(item_id=f"i{n}", variant=variant, **known, **same) for n, (variant, known) in enumerate(outcomes)])


def test_conditions_go_from_the_plainest_on_with_counts_and_kinds() -> None:
    rows = [("joint", Failure.REFUSED), ("joint", Failure.NOT_JSON), ("joint", None), ("joint", None), ("single", None)]
    found = failures_by_condition(judgments(*rows))
    assert found is not None
    assert [heading.text for heading in found.table.headings] == ["judge and condition", "judgments", "unreadable", "refused", "not json"]
    assert found.table.rows == (("one · single", "1", "0 %", "0", "0"), ("one · joint", "4", "50 %", "1", "1"))
    drawn = found.figures["unreadable"]
    assert drawn.ends == ("0 %", "", "50 %")
    assert 'x="0.00%" width="50.00%"' in str(drawn.figures[1]) and 'x="50.00%" width="50.00%"' in str(drawn.figures[1])
    assert "refused: 25 %; not json: 25 %" in str(drawn.figures[1])


def test_one_condition_or_no_failure_needs_no_figure() -> None:
    assert failures_by_condition(judgments(("single", Failure.REFUSED), ("single", None))) is None
    assert failures_by_condition(judgments(("single", None), ("joint", None))) is None
    assert failures_by_condition(Judgments.from_rows([])) is None
