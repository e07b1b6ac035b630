"""The check of a label set: who labelled what, how far people agree, and who stands apart."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import msgspec
import numpy as np
import pytest

from harness import stats
from harness.annotate.label_check import APART, BY, CONSTANT, MIN_COMMON, LabelCheck, check_labels
from harness.content.specs import DatasetCard
from harness.data import Dataset
from harness.data.columns import CodedColumn
from harness.data.labels import Labels
from harness.errors import UsageError
from harness.measure.options import Annotators, MeasureOptions
from harness.model import Item, Label, Scale, Score
from harness.row_files import to_json
from harness.signature import ComparisonSignature

THREE = Scale(kind="ordinal", classes=(0, 1, 2), best=2)
MakeItem = Callable[..., Item]
ByPerson = Mapping[str, Mapping[str, Score]]


@pytest.fixture
def make_labelled(make_item: MakeItem) -> Callable[..., Dataset]:
    """A data set of `{annotator: {item: score}}` on the metric `m`."""

    def make(
        people: ByPerson, *, kind: Any = "persistent", scale: Scale = THREE, places: Mapping[str, Any] | None = None, **about: Any
    ) -> Dataset:
        names = dict.fromkeys([*(name for of in people.values() for name in of), *(places or {})])
        items = tuple(make_item(name, **dict((places or {}).get(name, {}))) for name in names)
        labels = Labels.from_rows(Label(name, who, "m", score) for who, of in people.items() for name, score in of.items())
        return Dataset("people", items, labels, {"m": scale}, about=DatasetCard(id="people", annotators=kind, **about))

    return make


MakeLabelled = Callable[..., Dataset]


def checked(data: Dataset, **options: Any) -> LabelCheck:
    return check_labels(data, MeasureOptions(**({"by": BY} | options)))


def the_cell(data: Dataset, **options: Any) -> dict[str, Any]:
    [cell] = checked(data, **options).cells
    return cell


PEOPLE = {"x": {"a": 2, "b": 2, "c": 0, "d": 0, "e": 1}, "y": {"a": 2, "b": 1, "c": 0, "d": 2}, "z": {"a": 2, "b": 1, "d": 1}}


def test_a_small_case_by_hand(make_labelled: MakeLabelled) -> None:
    cell = the_cell(make_labelled(PEOPLE, places={"nobody": {}}))
    assert (cell["items"], cell["labelled"], cell["labels"], cell["coverage"]) == (6, 5, 12, 5 / 6)
    assert cell["raters"] == {"1": 1, "2": 1, "3": 3}
    assert cell["no_majority"] == 1  # d: 0 2 1
    assert cell["human_pa"] == pytest.approx((1 + 1 / 3 + 1 + 0) / 4)
    assert cell["human_all_agree"] == 2 / 4
    assert cell["distribution_labels"] == pytest.approx({"0": 3 / 12, "1": 4 / 12, "2": 5 / 12})
    assert cell["mean_labels"] == pytest.approx(14 / 12)
    assert (cell["groups"], cell["few_rare_cases"]) == (5, True)


def test_labels_in_sight_of_a_judges_score_are_said(make_labelled: MakeLabelled) -> None:
    data = make_labelled({"a": {"i": 1, "j": 1}, "b": {"i": 1, "j": 2}})
    labels = data.labels
    columns = (labels.item, labels.annotator, labels.metric, labels.score, labels.source, labels.spans)
    sighted = Labels(*columns, CodedColumn.from_values([False, None, None, True]))
    notes = checked(msgspec.structs.replace(data, labels=sighted)).notes
    assert any(note.startswith("1 labels were given in sight") for note in notes) and not any(
        "sight" in note for note in checked(data).notes
    )


def test_it_has_what_the_functions_of_people_give(make_labelled: MakeLabelled) -> None:
    rng = np.random.default_rng(1)
    labels = np.where(rng.random((50, 3)) < 0.1, -1, rng.integers(0, 3, (50, 3)))
    people = {f"p{column}": {f"i{row}": int(labels[row, column]) for row in range(50) if labels[row, column] >= 0} for column in range(3)}
    cell = the_cell(make_labelled(people))
    expected = {
        "human_pa": stats.human_pa(labels, 3),
        "human_loo": stats.human_loo(labels, 3),
        "human_fleiss": stats.fleiss_kappa(labels, 3),
        "human_alpha_nominal": stats.krippendorff_alpha(labels, 3, "nominal"),
        "human_alpha_ordinal": stats.krippendorff_alpha(labels, 3, "ordinal"),
        "human_ac1": stats.gwet_ac(labels, 3),
        "human_ac2": stats.gwet_ac(labels, 3, "quadratic"),
    }
    assert {name: cell[name] for name in expected} == pytest.approx({name: one.value for name, one in expected.items()})
    for name in expected:
        assert cell[f"{name}_ci"][0] <= cell[name] <= cell[f"{name}_ci"][1]


def test_pairs_of_people_have_their_kappa_on_the_items_they_share(make_labelled: MakeLabelled) -> None:
    pairs = the_cell(make_labelled(PEOPLE))["pairs"]
    assert [(pair["a"], pair["b"], pair["n"]) for pair in pairs] == [("x", "y", 4), ("x", "z", 3), ("y", "z", 3)]
    one, other = np.array([2, 2, 0, 0]), np.array([2, 1, 0, 2])
    assert (pairs[0]["pa"], pairs[0]["cohen_kappa"]) == (0.5, pytest.approx(stats.cohen_kappa(one, other, 3).value))
    assert pairs[0]["quadratic_kappa"] == pytest.approx(stats.cohen_kappa(one, other, 3, "quadratic").value)
    assert pairs[0]["pa_ci"] is None  # four texts


def test_people_who_share_nothing_are_no_pair(make_labelled: MakeLabelled) -> None:
    cell = the_cell(make_labelled({"x": {"a": 1}, "y": {"b": 1}}))
    assert cell["pairs"] == [] and [person["annotator"] for person in cell["annotators"]] == ["x", "y"]


def test_people_stand_only_where_they_labelled_something(make_labelled: MakeLabelled) -> None:
    data = make_labelled({"x": {"a": 1}, "y": {"b": 1}}, places={"b": {"language": "ja"}})
    assert [(cell["language"], [p["annotator"] for p in cell["annotators"]]) for cell in checked(data).cells] == [
        ("en", ["x"]),
        ("ja", ["y"]),
    ]


def test_each_person_is_shown_beside_the_others_on_the_same_items(make_labelled: MakeLabelled) -> None:
    people = {person["annotator"]: person for person in the_cell(make_labelled(PEOPLE))["annotators"]}
    assert people["z"]["n"] == 3 and people["z"]["distribution"] == pytest.approx({"0": 0, "1": 2 / 3, "2": 1 / 3})
    assert people["z"]["others"] == pytest.approx({"0": 1 / 6, "1": 1 / 6, "2": 4 / 6})  # a 2 2, b 2 1, d 0 2


@pytest.mark.parametrize("kind", ["positional", "anonymous", "aggregate"])
def test_nobody_is_followed_who_is_no_person(make_labelled: MakeLabelled, kind: str) -> None:
    people = {"x": dict.fromkeys(map(str, range(40)), 1), "y": {str(n): n % 3 for n in range(40)}}
    found = checked(make_labelled(people, kind=kind))
    assert found.flagged == () and found.cells[0]["pairs"] is None and found.cells[0]["annotators"] is None
    assert found.cells[0]["undefined"]["pairs"] == f"annotators are {kind}: nobody can be followed from item to item"
    assert found.cells[0]["human_pa"] is not None


# Who stands apart


def flags(data: Dataset) -> list[tuple[str, int, str]]:
    return [(each["annotator"], each["n"], each["why"]) for each in checked(data).flagged]


def crowd(count: int = 2 * MIN_COMMON) -> dict[str, dict[str, Score]]:
    """Two people who mostly agree."""
    return {who: {f"i{n}": (n + (n % 7 == shift)) % 3 for n in range(count)} for who, shift in (("one", 0), ("two", 1))}


def test_people_who_agree_are_not_flagged(make_labelled: MakeLabelled) -> None:
    assert flags(make_labelled(crowd())) == []


def test_who_answers_constantly_is_flagged(make_labelled: MakeLabelled) -> None:
    assert flags(make_labelled(crowd() | {"lazy": {f"i{n}": 1 for n in range(40)}})) == [("lazy", 40, CONSTANT)]


@pytest.mark.parametrize("seen", [MIN_COMMON - 1, MIN_COMMON])
def test_nobody_is_called_constant_on_fewer_than_twenty_items(make_labelled: MakeLabelled, seen: int) -> None:
    """On 19 items nothing is said; on 20 it is."""
    found = flags(make_labelled(crowd() | {"lazy": {f"i{n}": 1 for n in range(seen)}}))
    assert found == ([("lazy", 20, CONSTANT)] if seen == MIN_COMMON else [])


def test_who_says_what_everybody_says_is_not_called_constant(make_labelled: MakeLabelled) -> None:
    people = {who: dict.fromkeys((f"i{n}" for n in range(40)), 2) for who in ("one", "two", "three")}
    assert flags(make_labelled(people)) == []


def test_who_agrees_with_nobody_is_flagged(make_labelled: MakeLabelled) -> None:
    """The contrary one moves every class of the first by one: its kappa with both is below 0."""
    contrary = {name: (int(score) + 1) % 3 for name, score in crowd()["one"].items()}
    assert flags(make_labelled(crowd() | {"contrary": contrary})) == [("contrary", 40, APART)]


def test_two_who_disagree_with_each_other_only_are_both_apart(make_labelled: MakeLabelled) -> None:
    one = crowd()["one"]
    people = {"one": one, "other": {name: (int(score) + 1) % 3 for name, score in one.items()}}
    assert [who for who, _, why in flags(make_labelled(people)) if why == APART] == ["one", "other"]


def test_a_flag_says_where(make_labelled: MakeLabelled) -> None:
    data = make_labelled(crowd() | {"lazy": {f"i{n}": 1 for n in range(40)}})
    [flag] = checked(data).flagged
    assert (flag["language"], flag["task"], flag["metric"]) == ("en", "open_prompt", "m")


# Texts, notes, restrictions


def test_texts_that_are_there_twice_or_misplaced_are_named(make_labelled: MakeLabelled) -> None:
    german = "Gestern Nachmittag gingen wir im Wald spazieren und fanden viele Pilze."
    places = {
        "a": {"output": german},
        "b": {"output": german},
        "c": {"language": "pt-BR", "output": "Ontem à tarde fomos passear na floresta."},
    }
    found = checked(make_labelled({"x": {"a": 1}}, places=places, notes=("Mind this.",)))
    assert found.duplicates == (["a", "b"],) and [text.item_id for text in found.misplaced] == ["a", "b"]
    assert (found.texts_identified, found.languages_unknown) == (3, ())
    assert found.notes[0] == "Mind this." and "pt-BR and pt-PT are one to it" in found.notes[1]


def test_only_items_with_so_many_annotators_count(make_labelled: MakeLabelled) -> None:
    data = make_labelled(PEOPLE)
    found = {needed: the_cell(data, annotators=Annotators.parse(needed))["labelled"] for needed in ("3", "2", "1", "2+", "1+")}
    assert found == {"3": 3, "2": 1, "1": 1, "2+": 4, "1+": 5}
    assert [pair["n"] for pair in the_cell(data, annotators=Annotators.parse("2"))["pairs"]] == [1]


def test_cells_are_by_language_task_and_metric_or_what_is_asked_for(make_labelled: MakeLabelled) -> None:
    places = {"a": {"language": "ja"}, "b": {"system": "s"}, "c": {"task": "summarize"}}
    data = make_labelled({"x": {"a": 1, "b": 1, "c": 1}}, places=places)
    assert [tuple(cell[name] for name in BY) for cell in checked(data).cells] == [
        ("en", "open_prompt", "m"),
        ("en", "summarize", "m"),
        ("ja", "open_prompt", "m"),
    ]
    assert [(cell["language"], cell["system"], cell["labelled"]) for cell in checked(data, by=("metric", "system")).cells] == [
        ("*", None, 2),
        ("*", "s", 1),
    ]


def test_where_keeps_what_it_names(make_labelled: MakeLabelled) -> None:
    data = make_labelled(PEOPLE, places={"a": {"language": "ja"}})
    assert the_cell(data, where={"language": ("ja",)})["labelled"] == 1
    assert len(checked(data, where={"metric": ("m",)}).cells) == 2
    with pytest.raises(UsageError, match=r"no metric 'n'\.\n +choose from: m"):
        checked(data, where={"metric": ("n",)})
    with pytest.raises(UsageError, match=r"no items for 'cs' \(Czech\)\.\n +choose from: en, ja"):
        checked(data, where={"language": ("cs",)})


def test_means_by_annotator_and_system(make_labelled: MakeLabelled) -> None:
    """By hand: x gives system s 2 and 1, and system t 0; y gives s 1 and t 0."""
    places = {"a": {"system": "s"}, "b": {"system": "s"}, "c": {"system": "t"}}
    people = {"x": {"a": 2, "b": 1, "c": 0}, "y": {"a": 1, "c": 0}}
    rows = {(row["annotator"], row["system"]): row for row in checked(make_labelled(people, places=places), by=("system",)).means}
    assert (rows["x", "s"]["mean"], rows["x", "s"]["n"], rows["x", "s"]["sd"]) == (1.5, 2, pytest.approx(0.5**0.5))
    assert rows["y", "s"]["sd"] is None and rows["*", "s"]["mean"] == pytest.approx(4 / 3) and rows["*", "t"]["n"] == 2
    anonymous = checked(make_labelled(people, places=places, kind="positional"), by=("system",)).means
    assert {row["annotator"] for row in anonymous} == {"*"}, "nobody can be followed from text to text"
    assert checked(make_labelled(people, places=places)).means == ()


@pytest.mark.parametrize(
    ("people", "options", "words"),
    [
        ({}, {}, r"people has no labels; labels\.jsonl should hold some"),
        (PEOPLE, {"by": ("metric", "colour")}, "no item has 'colour'"),
        (PEOPLE, {"annotators": Annotators(4)}, "no item has 4 or more annotators on a metric; the largest number is 3"),
    ],
    ids=["no labels", "no such key", "too many"],
)
def test_what_cannot_be_checked_is_refused(make_labelled: MakeLabelled, people: ByPerson, options: Any, words: str) -> None:
    with pytest.raises(UsageError, match=words):
        checked(make_labelled(people), **options)


@pytest.mark.parametrize(
    "scale",
    [THREE, Scale(kind="nominal", classes=(0, 1, 2)), Scale(kind="interval", min=0, max=2)],
    ids=lambda scale: scale.kind,
)
@pytest.mark.parametrize("people", [PEOPLE, {"x": {"a": 1}}, {"x": {"a": 1}, "y": {"a": 1}}], ids=["some", "one label", "all equal"])
def test_every_null_has_its_reason_and_nothing_is_nan(make_labelled: MakeLabelled, people: ByPerson, scale: Scale) -> None:
    found = checked(make_labelled(people, scale=scale))
    [cell] = found.cells
    for name, value in cell.items():
        if value is None:
            assert {name, name.removesuffix("_ci")} & set(cell["undefined"]), name
    for pair in cell["pairs"]:
        for name, value in pair.items():
            if value is None:
                assert {name, name.removesuffix("_ci")} & set(pair["undefined"]), name
    assert set(cell["undefined"]) <= set(cell) | {f"{name}_ci" for name in cell}
    assert msgspec.json.decode(to_json(found))["schema_version"] == 1


def test_every_scale_has_the_same_names(make_labelled: MakeLabelled) -> None:
    scales = [THREE, Scale(kind="nominal", classes=(0, 1, 2)), Scale(kind="interval", min=0, max=2)]
    names = [{name for name in the_cell(make_labelled(PEOPLE, scale=scale)) if not name.endswith("_ci")} for scale in scales]
    assert names[0] == names[1] == names[2] >= {"human_pa", "human_fleiss", "human_alpha_nominal", "human_alpha_ordinal", "human_loo"}


def test_the_order_of_labels_does_not_matter(make_labelled: MakeLabelled) -> None:
    data = make_labelled(PEOPLE)
    turned = msgspec.structs.replace(data, labels=Labels.from_rows(reversed(list(data.labels))))
    assert checked(data).cells == checked(turned).cells


def test_the_signature_is_read_back(make_labelled: MakeLabelled) -> None:
    found = ComparisonSignature.parse(checked(make_labelled(PEOPLE), annotators=Annotators(3, True), seed=7).signature)
    assert (found.annotators, found.seed, found.judges, found.by) == ("3", 7, (), BY)
