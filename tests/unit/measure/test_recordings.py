"""Runs as recordings: what the baseline has learnt, and signatures."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import pytest

from harness.data import Dataset
from harness.data.judgments import Judgments
from harness.errors import UsageError
from harness.judges import Panel
from harness.measure import recordings
from harness.measure.compare import compare
from harness.measure.options import MeasureOptions
from harness.measure.recordings import recording, with_panel
from harness.model import Condition, Failure, Item, Judgment, Scale, Score
from harness.signature import ComparisonSignature, Signature
from tests.protocols import PROTOCOL
from tests.unit.made_judgments import made_judgment
from tests.unit.recordings import World

MakeItem = Callable[..., Item]
MakeData = Callable[..., Dataset]
Judged = Callable[..., Judgment]
Answers = Mapping[str, Score | Failure]

JUDGE = "openai/one"
NOTHING = Judgments.from_rows([])


def test_the_baseline_is_the_commonest_label_of_the_development_items(world: World) -> None:
    data, judgments = world({"a": 0, "b": 2}, {"a": 0, "b": 2}, dev=(1, 1, 0))
    made = recording(judgments, data, data, "name")
    assert made.baseline == {("a", "m"): 1, ("b", "m"): 1}
    assert (made.name, made.asked, len(made.judgments)) == ("name", None, 2)


def test_without_development_items_it_is_the_commonest_reference_of_the_cell(world: World) -> None:
    data, judgments = world({"a1": 0, "a2": 0, "b": 2}, {"a1": 0, "a2": 0, "b": 2}, dev=())
    made = recording(judgments, data, data)
    assert made.baseline == {}
    [cell] = compare([made], MeasureOptions()).cells
    assert cell.vs_baseline["pa"] == pytest.approx(2 / 3)


def test_every_judge_has_a_signature_that_parses_and_tells_it_from_others() -> None:
    one, two = recordings.signatures(PROTOCOL, NOTHING).values()
    assert Signature.parse(str(one)) == one
    assert one.judge == "openai/one@endpoint=a-very-long-name.of-a-host.example"
    assert two.judge == "local/two@sha256=ffffffffffff"
    assert one.data == "controls@1.0.0+dddddddddddd"


@pytest.mark.parametrize(
    "change",
    [
        {"source": "controls@1.0.1"},
        {"data_sha256": "e" * 64},
        {"tasks": {"open_prompt": "1.0.1"}},
        {"rubrics": {"m": "1.0.1"}},
        {"languages": ("en", "ja")},
        {"conditions": (Condition(temperature=0.7),)},
        {"repeats": 5},
        {"seed": 1},
        {"prompts": "q" * 16},
        {"limit": 3},
        {"majority": "median"},
        {"annotators": "3"},
    ],
    ids=lambda change: next(iter(change)),
)
def test_whatever_can_move_a_number_is_in_the_signature(change: dict[str, Any]) -> None:
    changed, usual = (recordings.signatures(protocol, NOTHING)[JUDGE] for protocol in (PROTOCOL.with_fields(**change), PROTOCOL))
    assert changed != usual


@pytest.mark.parametrize(
    "change", [{"title": "Another"}, {"data": "/somewhere"}, {"content": ("/elsewhere",)}], ids=lambda change: next(iter(change))
)
def test_nothing_else_is(change: dict[str, Any]) -> None:
    assert recordings.signatures(PROTOCOL.with_fields(**change), NOTHING) == recordings.signatures(PROTOCOL, NOTHING)


def test_other_answers_give_another_signature_and_it_is_that_of_the_comparison(world: World) -> None:
    found = []
    for answers in ({"a": 0, "b": 2}, {"a": 2, "b": 0}, {"a": 0, "b": Failure.REFUSED}):
        data, judgments = world({"a": 0, "b": 2}, answers)
        compared = ComparisonSignature.parse(compare([recording(judgments, data, data)], MeasureOptions()).signature)
        found.append(recordings.signatures(PROTOCOL, judgments)[JUDGE].judgments)
        assert compared.judgments == (found[-1],)
    assert len(set(found)) == 3


def test_a_field_that_no_part_has_is_refused() -> None:
    with pytest.raises(TypeError, match=r"a run protocol has no repeat$"):
        PROTOCOL.with_fields(repeat=5)


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
