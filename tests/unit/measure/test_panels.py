"""Panels of recorded judges: which questions they have answered, and what they say."""

from __future__ import annotations

import numpy as np
import pytest

from harness.data.judgments import Judgments
from harness.errors import UsageError
from harness.judges import Panel
from harness.measure.panels import with_panel
from harness.model import Failure, Judgment, Scale
from tests.unit.made_judgments import made_judgment

SCALES = {"m": Scale(kind="ordinal", classes=(0, 1, 2), best=2), "n": Scale(kind="interval", min=0, max=10, best=10)}
PANEL = Panel(("a", "b", "c"))


def judged(judge: str, item: str, answer: object, **other: object) -> Judgment:
    failed = isinstance(answer, Failure)
    about = {"item_id": item, "language": "cs", "task": "t", "metric": "m", "judge": judge, "variant": "single", "temperature": 0.0}
    more = {"repeat": 0, "raw_choice": None, "justification": "why", "call_id": "c"}
    return made_judgment(**{**about, **more, "score": None if failed else answer, "failure": answer if failed else None, **other})  # type: ignore[arg-type]


def panel_of(*rows: Judgment, panel: Panel = PANEL, name: str = "panel/p") -> dict[tuple[object, ...], object]:
    """What the panel says of each item, metric and repeat."""
    found = with_panel(Judgments.from_rows(rows), name, panel, SCALES)
    own = found.take(np.array([judge == name for judge in found.judge]))
    assert len(found) == len(rows) + len(own) and not own.justification.used
    keys = zip(own.item, own.metric, own.repeat, strict=True)
    return {key: failure or score for key, score, failure in zip(keys, own.score, own.failure, strict=True)}


def test_a_panel_of_recorded_judges() -> None:
    rows = [judged(name, "i1", score) for name, score in (("a", 2), ("b", 2), ("c", 0))]
    rows += [judged(name, "i2", score, repeat=1) for name, score in (("c", 1), ("a", 0), ("b", Failure.REFUSED))]
    rows += [judged(name, "i3", score) for name, score in (("a", Failure.REFUSED), ("b", Failure.REFUSED), ("c", 1), ("other", 2))]
    assert panel_of(*rows) == {("i1", "m", 0): 2, ("i2", "m", 1): Failure.TIED, ("i3", "m", 0): Failure.REFUSED}


def test_a_panel_is_asked_where_most_of_its_members_were() -> None:
    """Two of three have judged i1, one i2: the panel has an answer about i1 alone."""
    rows = [judged("a", "i1", 1), judged("b", "i1", 1), judged("a", "i2", 1), judged("c", "i3", 1), judged("b", "i3", Failure.MISSING)]
    assert panel_of(*rows) == {("i1", "m", 0): 1, ("i3", "m", 0): Failure.MISSING}


def test_conditions_are_not_mixed() -> None:
    rows = [judged(name, "i", score, variant=variant) for name in "abc" for variant, score in (("single", 2), ("joint", 0))]
    found = with_panel(Judgments.from_rows(rows), "panel/p", PANEL, SCALES)
    own = [(variant, score) for judge, variant, score in zip(found.judge, found.variant, found.score, strict=True) if judge == "panel/p"]
    assert own == [("single", 2), ("joint", 0)]


def test_a_mean_of_numbers() -> None:
    rows = [judged(name, "i", score, metric="n") for name, score in (("a", 1.0), ("b", 4.0), ("c", 10.0))]
    assert panel_of(*rows, panel=Panel(("a", "b", "c"), "mean")) == {("i", "n", 0): 5.0}


@pytest.mark.parametrize(
    ("panel", "name", "words"),
    [
        (Panel(("a", "nobody")), "panel/p", "'nobody', which judged nothing here"),
        (PANEL, "a", "already"),
        (Panel(("a", "b"), "mean"), "panel/p", "a mean of classes is no class"),
    ],
)
def test_panels_that_cannot_be(panel: Panel, name: str, words: str) -> None:
    rows = Judgments.from_rows([judged(judge, "i", 1) for judge in "abc"])
    with pytest.raises(UsageError, match=words):
        with_panel(rows, name, panel, SCALES)


def test_a_rule_has_to_fit_the_metrics_that_are_compared() -> None:
    rows = [judged(name, "i", score, metric="n") for name, score in (("a", 1.0), ("b", 4.0), ("c", 10.0))]
    rows += [judged(name, "i", 1) for name in "abc"]
    found = with_panel(Judgments.from_rows(rows), "panel/p", Panel(("a", "b", "c"), "median"), SCALES, ["m"])
    assert [metric for judge, metric in zip(found.judge, found.metric, strict=True) if judge == "panel/p"] == ["m"]
    mean = Panel(("a", "b", "c"), "mean")
    assert len(with_panel(Judgments.from_rows(rows), "panel/p", mean, SCALES, ["n"])) == len(rows) + 1
    with pytest.raises(UsageError, match="or leave the metric out"):
        with_panel(Judgments.from_rows(rows), "panel/p", mean, SCALES)
