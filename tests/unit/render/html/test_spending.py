"""Unreadable answers by judge and condition: counts, kinds, and a bar that shows both."""

from __future__ import annotations

from typing import Any

from harness.data.judgments import Judgments
from harness.measure.coverage import failures_by_condition
from harness.model import Failure
from harness.render.html.spending import failure_key, failures_table
from harness.render.pictured import failure_shares
from tests.unit.made_judgments import made_judgment


def judgments(*rows: tuple[str, Failure | None]) -> Judgments:
    """Judgments of one judge: variant and failure."""
    same: dict[str, Any] = {"language": "en", "task": "t", "metric": "m", "judge": "one", "temperature": 0.0, "repeat": 0}
    same |= {"raw_choice": None, "justification": None, "call_id": ""}
    outcomes = [(variant, {"score": None if failure else 1, "failure": failure}) for variant, failure in rows]
    return Judgments.from_rows(
        [made_judgment(item_id=f"i{n}", variant=variant, **known, **same) for n, (variant, known) in enumerate(outcomes)]
    )


def test_conditions_go_from_the_plainest_on_with_counts_and_kinds() -> None:
    rows = [("joint", Failure.REFUSED), ("joint", Failure.NOT_JSON), ("joint", None), ("joint", None), ("single", None)]
    shares = failure_shares(failures_by_condition(judgments(*rows)))
    assert shares is not None and shares.kinds == ("refused", "not_json") and shares.reach == 0.5
    found = failures_table(shares)
    assert [heading.text for heading in found.table.headings] == ["judge and condition", "judgments", "unreadable", "refused", "not json"]
    assert found.table.rows == (("single", "1", "0 %", "0", "0"), ("joint", "4", "50 %", "1", "1"))
    drawn = found.figures["unreadable"]
    assert drawn.ends == ("0 %", "", "50 %")
    assert 'x="0.00%" width="50.00%"' in str(drawn.figures[1]) and 'x="50.00%" width="50.00%"' in str(drawn.figures[1])
    assert "refused: 25 %; not json: 25 %" in str(drawn.figures[1])


def test_a_kind_has_the_same_colour_whatever_other_kinds_occur() -> None:
    shares = failure_shares(failures_by_condition(judgments(("single", None), ("joint", Failure.MISSING), ("joint", Failure.OFF_SCALE))))
    assert shares is not None and failure_key(shares) == [("f2", "off scale"), ("f4", "missing")]
    assert 'class="f2"' in str(failures_table(shares).figures["unreadable"].figures[1])


def test_one_condition_or_no_failure_needs_no_figure() -> None:
    for rows in ([("single", Failure.REFUSED), ("single", None)], [("single", None), ("joint", None)], []):
        assert failure_shares(failures_by_condition(judgments(*rows))) is None
