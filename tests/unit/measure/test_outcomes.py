"""Every judgment beside its labels: outcomes count what cells count."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest

from harness.content.specs import Asked
from harness.data import Dataset
from harness.data.judgments import Judgments
from harness.data.labels import Labels
from harness.measure.compare import Recording, compare, table_of_all
from harness.measure.options import MeasureOptions
from harness.model import Failure, Item, Judgment, Label, Scale
from tests.unit.made_judgments import made_judgment

SCALES = {"m": Scale(kind="ordinal", classes=(0, 1, 2), best=2)}


def judged(item: str, score: int | None, **other: Any) -> Judgment:
    fields: dict[str, Any] = {
        "item_id": item,
        "language": "cs",
        "task": "t",
        "metric": "m",
        "judge": "j",
        "variant": "single",
        "temperature": 0.0,
        "repeat": 0,
        "score": score,
        "failure": None if score is not None else Failure.NOT_JSON,
        "raw_choice": None,
        "justification": None,
        "call_id": "c",
    }
    return made_judgment(**fields | other)


def recorded(scores: dict[str, list[int]], judgments: list[Judgment], *, asked: Asked | None = None) -> Recording:
    items = tuple(Item(name, "cs", "t", group=name) for name in scores)
    labels = Labels.from_rows(Label(name, f"a{n}", "m", score) for name, given in scores.items() for n, score in enumerate(given))
    return Recording("r", Dataset("d", items, labels, SCALES), Judgments.from_rows(judgments), asked=asked)


def test_each_outcome_has_its_name() -> None:
    source = recorded(
        {"a": [1, 1, 1], "b": [0, 0, 2], "c": [0, 1, 2], "d": [2, 2, 2]},
        [judged("a", 1), judged("b", 1), judged("c", 1), judged("d", None), judged("a", 0, perturbation="shuffle-words:0.1")],
    )
    found = table_of_all(source, MeasureOptions())
    assert list(found.outcome) == ["right", "wrong", "no reference", "failed", "changed text"]
    assert list(found.reference) == [1, 0, None, 2, 1] and list(found.agreement) == ["full", "partial", "none", "full", "full"]
    assert found.row.tolist() == [0, 1, 2, 3, 4]


def test_what_was_not_judged_is_a_failure_where_everything_was_meant_to_be() -> None:
    labels = {"a": [1, 1], "b": [0, 0]}
    found = table_of_all(
        recorded(labels, [judged("a", 1), judged("a", 2, perturbation="truncate:0.5")], asked=Asked("all")), MeasureOptions()
    )
    assert list(found.outcome) == ["right", "failed", "changed text"] and found.row.tolist() == [0, -1, 1]
    assert list(found.judgments.failure) == [None, Failure.MISSING, None]


@pytest.mark.parametrize("majority", ["drop", "median", "strict"])
@pytest.mark.parametrize("asked", [None, Asked(), Asked("any-row"), Asked("all")], ids=str)
def test_outcomes_count_what_cells_count(majority: Any, asked: Asked | None) -> None:
    labels = {f"i{n}": [n % 3, n % 2, (n // 2) % 3] for n in range(30)}
    source = recorded(labels, [judged(f"i{n}", None if n % 7 == 0 else n % 3) for n in range(25)], asked=asked)
    options = MeasureOptions(majority=majority)
    found = table_of_all(source, options)
    [cell] = compare([source], options).cells
    rights, wrongs = (list(found.outcome).count(name) for name in ("right", "wrong"))
    assert rights / (rights + wrongs) == pytest.approx(cell["pa"]) and rights + wrongs == cell.n
    assert found.counted.sum() == cell.n_ref


def test_where_and_judges_leave_the_same_rows() -> None:
    source = recorded({"a": [1, 1], "b": [0, 0]}, [judged("a", 1), judged("b", 1, judge="k"), judged("b", 0)])
    assert table_of_all(source, MeasureOptions(judges=("j",))).row.tolist() == [0, 2]
    assert table_of_all(source, MeasureOptions(where={"group": ("b",)})).row.tolist() == [1, 2]


def test_without_labels_nothing_is_right_or_wrong() -> None:
    source = Recording(
        "r", Dataset("d", (Item("a", "cs", "t", group="a"),), Labels.from_rows(()), SCALES), Judgments.from_rows([judged("a", 1)])
    )
    assert list(table_of_all(source, MeasureOptions()).outcome) == ["no reference"]


def test_numbers_are_neither_right_nor_wrong() -> None:
    """Their reference is the mean, also of one person and where no score is the commonest."""
    answers = [judged("a", 1), judged("b", 4), judged("c", None), judged("a", 1, repeat=1)]
    source = recorded({"a": [1, 1, 4], "b": [3, 5], "c": [2, 2]}, answers)
    numbers = msgspec.structs.replace(source.data, scales={"m": Scale(kind="interval", min=1, max=5, best=5)})
    found = table_of_all(msgspec.structs.replace(source, data=numbers), MeasureOptions())
    assert list(found.outcome) == ["number", "number", "failed", "number"]
    assert list(found.reference) == [2.0, 4.0, 2.0, 2.0] and list(found.agreement) == ["partial", "none", "full", "partial"]
