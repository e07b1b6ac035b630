"""Comparing: what is restricted and how, several sources, the signature, and what holds for any labels and judgments."""

from __future__ import annotations

import math
import pickle
import random
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from harness.content.specs import Asked
from harness.data import Dataset
from harness.data.judgments import Judgments
from harness.data.labels import Labels
from harness.errors import UsageError
from harness.measure.cells import Cell, make_cells
from harness.measure.compare import Comparison, Recording, compare
from harness.measure.options import Annotators, MeasureOptions
from harness.model import Failure, Item, Judgment, Label, Scale
from harness.row_files import to_json
from harness.signature import ComparisonSignature
from harness.stats import benjamini_yekutieli
from tests.unit.made_judgments import made_judgment

MakeRecording = Callable[..., Recording]
Judged = Callable[..., Judgment]

THREE = Scale(kind="ordinal", classes=(0, 1, 2), best=2)
NAMES = Scale(kind="nominal", classes=("A", "B", "tie"))


def cells_of(*recordings: Recording, **options: Any) -> Sequence[Cell]:
    return compare(recordings, MeasureOptions(**options)).cells


# Which items, metrics and judges


@pytest.fixture
def several(make_recording: MakeRecording, judged: Judged) -> Recording:
    """Two languages, metrics, judges, variants and temperatures, systems and rounds."""
    places = {
        "a": {"system": "s", "round": 1},
        "b": {"system": "t", "round": 2},
        "c": {"language": "ja", "system": "s", "round": 1},
        "d": {"language": "ja", "task": "summarize", "round": 1.5},
    }
    given = [
        judged(name, 1, metric=metric, judge=judge, variant=variant, temperature=temperature)
        for name in places
        for metric in "mn"
        for judge, variant, temperature in (("gpt-4", "joint", 0.0), ("gpt-4", "single", 0.7), ("llama", "single", 0.0))
    ]
    return make_recording(
        {(name, metric): [1, 1] for name in places for metric in "mn"}, given, scales=dict.fromkeys("mn", THREE), places=places
    )


@pytest.mark.parametrize(
    ("where", "units"),
    [
        ({}, 24),
        ({"language": ("ja",)}, 12),
        ({"language": ("ja", "en")}, 24),
        ({"task": ("summarize",)}, 6),
        ({"metric": ("n",)}, 12),
        ({"judge": ("llama",)}, 8),
        ({"variant": ("single",)}, 16),
        ({"temperature": ("0.7",)}, 8),
        ({"temperature": ("0",)}, 16),
        ({"system": ("s",)}, 12),
        ({"group": ("a", "d")}, 12),
        ({"round": ("1",)}, 12),
        ({"round": ("1.5", "2")}, 12),
        ({"language": ("ja",), "metric": ("m",), "judge": ("gpt-4",)}, 4),
    ],
    ids=lambda where: str(where) if isinstance(where, dict) else None,
)
def test_where_keeps_what_it_names(several: Recording, where: Any, units: int) -> None:
    cells = cells_of(several, where=where)
    assert sum(cell.n_ref for cell in cells) == units
    for name, values in where.items():
        if name in cells[0].key:
            assert {f"{cell[name]:g}" if name == "temperature" else cell[name] for cell in cells} <= set(values)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"where": {"language": ("jp",)}}, r"no items for 'jp'. That is a country code; Japanese is 'ja'.\n +choose from: en, ja"),
        ({"where": {"metric": ("x",)}}, r"no metric 'x'\.\n +choose from: m, n"),
        ({"where": {"judge": ("gpt4",)}}, r"no judge 'gpt4'\. Did you mean 'gpt-4'\?\n +choose from: gpt-4, llama"),
        ({"judges": ("lama",)}, r"no judge 'lama'\. Did you mean 'llama'\?"),
        ({"where": {"variant": ("joined",)}}, r"no variant 'joined'\. Did you mean 'joint'\?\n +choose from: joint, single"),
        ({"where": {"temperature": ("0.07",)}}, r"no temperature '0\.07'\. Did you mean '0\.7'\?"),
        ({"where": {"system": ("u",)}}, r"no system 'u'\.\n +choose from: s, t"),
        ({"where": {"colour": ("red",)}}, r"no item has 'colour'\."),
        ({"by": ("judge", "metrc")}, r"no item has 'metrc'\. Did you mean 'metric'\?"),
        ({"where": {"language": ("en",), "task": ("summarize",)}}, r"made has no judgments to compare"),
    ],
    ids=str,
)
def test_names_that_are_not_there_are_refused_with_those_that_are(several: Recording, options: Any, words: str) -> None:
    with pytest.raises(UsageError, match=words):
        cells_of(several, **options)


def test_only_the_judges_that_are_named_are_compared(several: Recording) -> None:
    assert {cell["judge"] for cell in cells_of(several, judges=("llama",))} == {"llama"}


@pytest.mark.parametrize(
    ("labels", "needed", "n_ref"),
    [
        ({"a": [1, 1, 1], "b": [1, 1], "c": [1]}, None, 2),
        ({"a": [1, 1, 1], "b": [1, 1], "c": [1]}, Annotators(3, True), 1),
        ({"a": [1, 1, 1], "b": [1, 1], "c": [1]}, Annotators(2, True), 1),
        ({"a": [1, 1, 1], "b": [1, 1], "c": [1]}, Annotators(1), 3),
        ({"a": [1], "b": [1], "c": [1]}, None, 3),
        ({"a": [1], "b": [1], "c": []}, None, 2),
    ],
    ids=["two or more", "three", "two", "any", "nobody has two", "not all labelled"],
)
def test_items_count_by_the_number_of_their_annotators(make_recording: MakeRecording, labels: Any, needed: Any, n_ref: int) -> None:
    [cell] = cells_of(make_recording(labels, dict.fromkeys("abc", 1)), annotators=needed)
    assert cell.n_ref == n_ref


def test_a_median_of_names_is_refused_with_what_can_be_done(make_recording: MakeRecording, judged: Judged) -> None:
    given = [judged("a", "A"), judged("a", 1, metric="n")]
    made = make_recording({("a", "m"): ["A", "A"], ("a", "n"): [1, 1]}, given, scales={"m": NAMES, "n": THREE})
    with pytest.raises(UsageError, match=r"'m' has classes without an order, so no median; take --majority drop, or --where metric=n"):
        cells_of(made, majority="median")
    assert len(cells_of(made)) == 2
    [cell] = cells_of(made, majority="median", where={"metric": ("n",)})
    assert cell["pa"] == 1


def test_a_metric_that_is_left_out_does_nothing(make_recording: MakeRecording, judged: Judged) -> None:
    """Not its many annotators either."""
    labels: dict[Any, Any] = {(f"i{number}", "free"): [number / 100, number / 100] for number in range(65)} | {("i0", "m"): [1]}
    scales = {"m": THREE, "free": Scale(kind="interval", min=0, max=1)}
    made = make_recording(labels, [judged("i0", 1), judged("i0", 0.5, metric="free")], scales=scales)
    assert [(cell["metric"], cell.n_ref) for cell in cells_of(made)] == [("free", 65), ("m", 0)]
    [cell] = cells_of(made, where={"metric": ("m",)})
    assert (cell.n_ref, cell["pa"]) == (1, 1.0)


def test_without_judgments_or_labels_there_is_nothing_to_compare(make_recording: MakeRecording) -> None:
    with pytest.raises(UsageError, match=r"made has no judgments to compare; judgments\.jsonl should hold some, or name a run"):
        cells_of(make_recording({"a": 1}, {}))
    with pytest.raises(UsageError, match=r"made has no labels to compare with; labels\.jsonl should hold some"):
        cells_of(make_recording({}, {"a": 1}))


# Several sources


def test_sources_on_different_data_have_cells_of_their_own(make_recording: MakeRecording) -> None:
    one, other = make_recording({"a": 1}, {"a": 1}, name="x"), make_recording({"a": 0, "b": 0}, {"a": 1, "b": 0}, name="y")
    found = {cell["source"]: (cell.n_ref, cell["pa"]) for cell in cells_of(one, other)}
    assert found == {"x": (1, 1.0), "y": (2, 0.5)}


def test_sources_on_equal_data_name_theirs_and_sources_of_one_name_are_numbered(make_recording: MakeRecording) -> None:
    made = [make_recording({"a": 1, "b": 1}, {"a": score, "b": 1}) for score in (1, 0)]
    cells = cells_of(*made)
    assert next(iter(cells[0].key)) == "language" and [(cell["source"], cell["pa"]) for cell in cells] == [("made#1", 1.0), ("made#2", 0.5)]


def test_sources_can_be_pooled_only_where_nobody_tells_them_apart(make_recording: MakeRecording) -> None:
    """One source more never changes the cells of another."""
    made = [make_recording({"a": 1, "b": 1}, {"a": score, "b": 1}, name=f"run {score}") for score in (1, 0)]
    [alone] = cells_of(made[0])
    together = cells_of(*made)[1]
    assert together["source"] == "run 1" and together.values == alone.values and together.n_ref == alone.n_ref


def test_what_a_run_has_learnt_does_not_depend_on_the_order_of_sources(make_recording: MakeRecording) -> None:
    labels = {f"i{number}": number % 3 for number in range(11)}
    run = make_recording(labels, labels, name="run", baseline={(name, "m"): 2 for name in labels})
    folder = make_recording(labels, labels, name="folder")
    for sources in ((run, folder), (folder, run)):
        assert [(cell["source"], cell.vs_baseline["pa"]) for cell in cells_of(*sources)] == [("folder", 4 / 11), ("run", 4 / 11)]


def test_a_source_of_which_nothing_is_left_is_passed_over_if_another_has_something(make_recording: MakeRecording) -> None:
    one = make_recording({"a": 1}, {"a": 1}, name="x", language="ja")
    other = make_recording({"b": 1}, {"b": 1}, name="y", language="cs")
    assert [cell["source"] for cell in cells_of(one, other, where={"language": ("cs",)})] == ["y"]
    with pytest.raises(UsageError, match="no items for 'fi'"):
        cells_of(one, other, where={"language": ("fi",)})


def test_q_is_corrected_over_all_sources(make_recording: MakeRecording) -> None:
    labels = {f"i{number}": number % 2 for number in range(40)}
    made = [make_recording(labels, labels | {f"i{n}": 1 for n in range(shown)}, name=str(shown)) for shown in (0, 8)]
    made.append(make_recording(labels | {"i0": 1}, labels, name="other data"))
    cells = cells_of(*made)
    alone = [cells_of(one)[0].vs_baseline["p"] for one in sorted(made, key=lambda one: one.name)]
    assert [cell.vs_baseline["p"] for cell in cells] == alone
    assert [cell.vs_baseline["q"] for cell in cells] == pytest.approx(benjamini_yekutieli(alone).tolist())


# The signature and the JSON of a comparison


def test_the_signature_is_read_back_and_says_how_numbers_were_made(several: Recording) -> None:
    options = MeasureOptions(where={"language": ("ja", "en")}, judges=("llama",), majority="median", seed=3)
    found = ComparisonSignature.parse(compare([several], options).signature)
    assert found.where == ("language=ja", "language=en") and found.judges == ("llama",)
    assert (found.annotators, found.majority, found.level, found.seed, found.resamples) == ("2+", "median", "item", 3, 1000)
    assert found.data[0].endswith(several.data.sha256[:12]) and found.judgments == (several.judgments.sha256[:12],)


@pytest.mark.parametrize(
    "change",
    [
        {"where": {"language": ("ja",)}},
        {"judges": ("llama",)},
        {"by": ("metric",)},
        {"annotators": Annotators(1)},
        {"majority": "strict"},
        {"level": "system"},
        {"seed": 1},
        {"resamples": 500},
    ],
    ids=lambda change: next(iter(change)),
)
def test_whatever_is_asked_for_differently_is_in_the_signature(several: Recording, change: Any) -> None:
    assert compare([several], MeasureOptions(**change)).signature != compare([several], MeasureOptions()).signature


def test_other_labels_or_judgments_have_another_signature(make_recording: MakeRecording) -> None:
    made = [make_recording({"a": 1}, {"a": 1}), make_recording({"a": 2}, {"a": 1}), make_recording({"a": 1}, {"a": 2})]
    assert len({compare([one], MeasureOptions()).signature for one in made}) == 3


def test_a_comparison_as_json_has_what_programs_read(several: Recording) -> None:
    found = compare([several], MeasureOptions())
    json = msgspec.json.decode(to_json(found.as_json()))
    assert set(json) == {"schema_version", "signature", "ci_method", "level", "warnings", "notes", "left_out", "cells"}
    assert (json["schema_version"], json["level"], len(json["cells"])) == (1, "item", len(found.cells))
    assert {"language", "pa", "pa_ci", "undefined"} <= set(json["cells"][0])


def test_a_comparison_is_a_frame_of_the_same_names(several: Recording) -> None:
    found = compare([several], MeasureOptions())
    frame = found.frame()
    nested = {name for name, value in found.cells[0].flat().items() if isinstance(value, dict)}
    assert set(found.cells[0].flat()) - nested <= set(frame.columns) and len(frame) == len(found.cells)
    assert not any(isinstance(value, dict) for name in frame.columns for value in frame[name])
    assert frame["vs_baseline.diff"].tolist() == [cell.vs_baseline["diff"] for cell in found.cells]
    assert frame["pa"].tolist() == [cell["pa"] for cell in found.cells]


def test_cells_are_computed_on_first_use_and_once(several: Recording, monkeypatch: pytest.MonkeyPatch) -> None:
    """Keys, notes and the signature cost no statistic; a copy of the comparison shares the cells, and so does one that went to a file."""
    computed: list[int] = []
    monkeypatch.setattr("harness.measure.compare.make_cells", lambda *given: computed.append(1) or make_cells(*given))
    compared = compare([several], MeasureOptions())
    assert len(compared.keys) == 18 and repr(compared).endswith("18 cells>") and compared.signature and not computed
    copy = msgspec.structs.replace(compared, notes=("said",))
    assert [cell.key for cell in compared.cells] == [*compared.keys] and copy.cells == compared.cells and len(computed) == 1
    assert pickle.loads(pickle.dumps(copy)).cells == tuple(compared.cells) == compare([several], MeasureOptions()).cells
    assert len(computed) == 2


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"by": ("language", "metrik")}, "metrik"),
        ({"versus": ("judge", "gpt")}, "no judge 'gpt'"),
        ({"level": "system", "by": ("system",)}, "--by"),
    ],
    ids=["key", "versus", "system"],
)
def test_options_that_do_not_fit_the_data_are_refused_before_cells_are_read(several: Recording, options: Any, words: str) -> None:
    with pytest.raises(UsageError, match=words):
        compare([several], MeasureOptions(**options))


# What holds for any labels and judgments


SCALES = {
    "m": THREE,
    "flipped": Scale(kind="ordinal", classes=(0, 1), best=0),
    "names": NAMES,
    "free": Scale(kind="interval", min=0, max=5, best=5),
}


SAME: dict[str, Any] = {
    "task": "t",
    "variant": "single",
    "temperature": 0.0,
    "repeat": 0,
    "raw_choice": None,
    "justification": None,
    "call_id": "",
}


@st.composite
def worlds(draw: st.DrawFn) -> tuple[list[Item], list[Label], list[Judgment]]:
    """Items in groups, languages and systems; labels with gaps; judgments with failures and gaps, of one metric."""
    metric = draw(st.sampled_from(sorted(SCALES)))
    count, raters, together = draw(st.sampled_from([12, 40, 3, 1])), draw(st.integers(1, 4)), draw(st.booleans())
    chance = random.Random(draw(st.integers(0, 1000)))
    scores = SCALES[metric].classes or (0.0, 1.5, 2.0, 5.0)
    scores = scores[: draw(st.integers(1, len(scores)))]
    items, labels, judgments = [], [], []
    for number in range(count):
        name = f"i{number}"
        group = f"g{chance.randrange(12)}" if together else name
        items.append(Item(name, chance.choice(["en", "en", "en", "ja"]), "t", group=group, system=chance.choice([None, *"stu"])))
        usual = chance.choice(scores)
        given = [chance.choice([usual, usual, *scores]) for _ in range(chance.choice([raters, raters, raters - 1]))]
        labels += [Label(name, f"a{n}", metric, score) for n, score in enumerate(given)]
        for judge in chance.choice(["j", "jk"]):
            answer = chance.choice([usual, usual, *scores, Failure.REFUSED])
            read = {"score": None, "failure": answer} if isinstance(answer, Failure) else {"score": answer, "failure": None}
            judgments.append(made_judgment(item_id=name, language=items[-1].language, metric=metric, judge=judge, **read, **SAME))
    return items, labels, judgments


def compared(items: list[Item], labels: list[Label], judgments: list[Judgment], **options: Any) -> Comparison | None:
    data = Dataset("any", tuple(items), Labels.from_rows(labels), SCALES)
    if not labels or not judgments:
        return None
    return compare(
        [Recording("any", data, Judgments.from_rows(judgments))], MeasureOptions(annotators=Annotators(1), resamples=100, **options)
    )


few = settings(max_examples=40)
LEVELS = st.sampled_from(["item", "system"])
RULES = st.sampled_from(["drop", "strict"])


def as_asked(world: Any, level: Any, rule: Any = "drop") -> Comparison | None:
    items, labels, judgments = world
    if level == "system" and not any(item.system for item in items):
        return None
    return compared(items, labels, judgments, level=level, majority=rule)


@few
@given(worlds(), st.randoms(use_true_random=False), RULES)
def test_neither_order_nor_names_move_a_value(world: Any, chance: Any, rule: Any) -> None:
    items, labels, judgments = world
    before = compared(items, labels, judgments, majority=rule)
    if before is None:
        return

    def cells(*world: Any) -> Sequence[Cell]:
        found = compared(*world, majority=rule)
        assert found
        return found.cells

    shuffled = cells(items, chance.sample(labels, len(labels)), chance.sample(judgments, len(judgments)))
    for other in (shuffled, cells(*renamed(items, labels, judgments))):
        for one, two in zip(before.cells, other, strict=True):
            assert one == two or (one.key["metric"] == "free" and nearly_equal(one, two))  # sums of scores, in another order
    for one, two in zip(before.cells, cells(chance.sample(items, len(items)), labels, judgments), strict=True):
        assert one.key == two.key and one.failures == two.failures
        assert one.values == pytest.approx(two.values, nan_ok=False)
        assert one.undefined == two.undefined


def nearly_equal(one: Cell, two: Cell) -> bool:
    """Equal but for the last digits of values and intervals."""
    return (
        msgspec.structs.replace(one, values={}, intervals={}) == msgspec.structs.replace(two, values={}, intervals={})
        and one.values == pytest.approx(two.values, nan_ok=False)
        and one.intervals.keys() == two.intervals.keys()
        and all(ends == (pytest.approx(two.intervals[name]) if ends else None) for name, ends in one.intervals.items())
    )


def renamed(items: list[Item], labels: list[Label], judgments: list[Judgment]) -> tuple[list[Item], list[Label], list[Judgment]]:
    """The same rows with other names of items, groups and annotators."""
    replace = msgspec.structs.replace
    return (
        [replace(item, item_id=f"x{item.item_id[::-1]}", group=f"x{item.group[::-1]}") for item in items],
        [replace(label, item_id=f"x{label.item_id[::-1]}", annotator_id=label.annotator_id[::-1]) for label in labels],
        [replace(judgment, item_id=f"x{judgment.item_id[::-1]}") for judgment in judgments],
    )


@few
@given(worlds(), LEVELS, RULES)
def test_what_holds_for_every_cell(world: Any, level: Any, rule: Any) -> None:
    found = as_asked(world, level, rule)
    if found is None:
        return
    assert all(map(math.isfinite, floats(found.as_json())))
    for cell in found.cells:
        every_null_has_its_reason_and_nothing_else_has_one(cell)
        every_value_lies_in_its_interval_and_in_its_range(cell)
        shares_sum_to_one(cell)
        if level == "item":
            counts_fit_together(cell)


def nulls(cell: Cell) -> Iterator[str]:
    """What is null in a cell, but for what the reason of something else explains."""
    names = ("coverage", "distribution_labels", "distribution_judge", "distribution_by_agreement")
    yield from (name for name in names if cell[name] is None)
    for name, value in cell.values.items():
        if value is None:
            yield name
        elif name in cell.intervals and cell.intervals[name] is None:
            yield f"{name}_ci"


def every_null_has_its_reason_and_nothing_else_has_one(cell: Cell) -> None:
    assert set(nulls(cell)) == set(cell.undefined) - {"vs_baseline"}
    assert all(cell.undefined.values())
    versus = cell.vs_baseline
    assert (versus["ci"] is None) == bool(versus["reason"])
    assert (versus["p"] is None) == (versus["q"] is None)


def every_value_lies_in_its_interval_and_in_its_range(cell: Cell) -> None:
    for name, interval in cell.intervals.items():
        if interval:
            assert interval[0] - 1e-9 <= cell[name] <= interval[1] + 1e-9, name
    for name in ("pa", "pa_failed_wrong", "pa_pairwise", "human_pa", "judge_loo", "human_loo", "human_all_agree", "weighted_f1"):
        assert cell[name] is None or 0 <= cell[name] <= 1, name
    versus = cell.vs_baseline
    assert versus["ci"] is None or versus["ci"][0] <= versus["diff"] <= versus["ci"][1]


def shares_sum_to_one(cell: Cell) -> None:
    by_agreement = [of[who] for of in (cell.distribution_by_agreement or {}).values() for who in ("labels", "judge")]
    for shares in (cell.distribution_labels, cell.distribution_judge, *by_agreement):
        assert shares is None or sum(shares.values()) == pytest.approx(1)


def counts_fit_together(cell: Cell) -> None:
    assert cell.n + sum(cell.failures.values()) == cell.n_ref
    assert cell.vs_baseline["n"] <= cell.n_ref and cell.groups <= cell.n_ref
    if cell["pa"] is not None:
        assert cell["pa_failed_wrong"] == pytest.approx(cell["pa"] * cell.n / cell.n_ref)


def floats(value: Any) -> Iterator[float]:
    if isinstance(value, dict | list | tuple):
        for each in value.values() if isinstance(value, dict) else value:
            yield from floats(each)
    elif isinstance(value, float):
        yield value


READER_NOTES_NAMES = [f"i{n}" for n in range(10)]
ROWS = Asked("rows")
BEGINS = "Not asked, so neither right nor wrong (labelled items times metrics): "


def found(made: Recording, **options: Any) -> Comparison:
    return compare([made], MeasureOptions(**options))


def counts(of: Comparison) -> list[tuple[int, int, int, int]]:
    return [(cell.n_ref, cell.n, cell.n_asked, cell.not_asked) for cell in of.cells]


def test_repeats_are_one_question(make_recording: MakeRecording, judged: Judged) -> None:
    given = [judged(name, 1 if repeat else Failure.REFUSED, repeat=repeat) for name in READER_NOTES_NAMES[:6] for repeat in range(3)]
    of = found(make_recording(dict.fromkeys(READER_NOTES_NAMES, 1), given, asked=ROWS))
    assert counts(of) == [(18, 12, 6, 4)] and of.notes == (f"{BEGINS}j 4 of 10 in en.",)


@pytest.mark.parametrize(("majority", "asked", "left"), [("drop", 1, 2), ("strict", 2, 3), ("median", 2, 3)])
def test_only_what_has_a_reference_is_counted(make_recording: MakeRecording, majority: Any, asked: int, left: int) -> None:
    labels = {"a": [1, 1], "b": [0, 1], "c": [1, 1], "d": [2, 2], "e": [0, 2], "f": [1]}
    of = found(make_recording(labels, {"a": 1, "b": 1}, asked=ROWS), majority=majority)
    assert counts(of) == [(asked, asked, asked, left)]


def test_judges_pooled_in_one_cell_are_asked_each_for_themselves(make_recording: MakeRecording, judged: Judged) -> None:
    given = [judged(name, 1, judge=judge) for judge, last in (("j", 10), ("k", 4)) for name in READER_NOTES_NAMES[:last]]
    made = make_recording(dict.fromkeys(READER_NOTES_NAMES, 1), given, asked=ROWS)
    assert counts(found(made)) == [(10, 10, 10, 0), (4, 4, 4, 6)]
    assert counts(found(made, by=("metric",))) == [(14, 14, 14, 6)]
    assert found(made).notes == (f"{BEGINS}k 6 of 10 in en.",)


def test_cells_of_systems_count_items(make_recording: MakeRecording) -> None:
    places = {name: {"system": "st"[n % 2]} for n, name in enumerate(READER_NOTES_NAMES)}
    of = found(
        make_recording(dict.fromkeys(READER_NOTES_NAMES, 1), dict.fromkeys(READER_NOTES_NAMES[:4], 1), places=places, asked=ROWS),
        level="system",
    )
    assert counts(of) == [(2, 2, 4, 6)]


def test_a_run_and_a_set_that_is_whole_leave_nothing_out(make_recording: MakeRecording) -> None:
    labels = dict.fromkeys(READER_NOTES_NAMES, 1)
    for asked, answers in (
        (None, dict.fromkeys(READER_NOTES_NAMES[:4], 1)),
        (ROWS, labels),
        (Asked("all"), dict.fromkeys(READER_NOTES_NAMES[:4], 1)),
    ):
        of = found(make_recording(labels, answers, asked=asked))
        assert [cell.not_asked for cell in of.cells] == [0] and of.notes == ()


def test_judges_who_were_not_asked_the_same_are_named_together_and_a_few_at_most(make_recording: MakeRecording, judged: Judged) -> None:
    places = {name: {"language": "ja" if n % 2 else "en"} for n, name in enumerate(READER_NOTES_NAMES)}
    given = [judged(name, 1, judge=judge) for judge in "abcde" for name in READER_NOTES_NAMES[:4]]
    given += [judged(name, 1, judge="whole") for name in READER_NOTES_NAMES]
    of = found(make_recording(dict.fromkeys(READER_NOTES_NAMES, 1), given, places=places, asked=ROWS))
    assert of.notes == (f"{BEGINS}a, b, c and 2 more judges (--json has all) each 3 of 5 in en, 3 of 5 in ja.",)


def test_the_rule_moves_the_signature(make_recording: MakeRecording) -> None:
    made = [make_recording({"a": 1, "b": 1}, {"a": 1}, asked=asked) for asked in (None, ROWS, Asked("any-row"), Asked("all"))]
    assert len({found(one).signature for one in made}) == 4


@pytest.mark.parametrize(
    ("majority", "note"),
    [
        ("drop", "Texts on which people split evenly are left out: 2 of 4 for m. "),
        ("strict", ""),
        ("median", ""),
    ],
)
def test_items_without_a_commonest_label_are_counted_where_they_are_left_out(
    make_recording: MakeRecording, judged: Judged, majority: Any, note: str
) -> None:
    """Items that were not asked about, and items with too few annotators, are no part of the number; repeats count once."""
    labels = {"a": [1, 1], "b": [0, 1], "c": [0, 2], "d": [2, 2], "e": [0, 2], "f": [1]}
    given = [judged(name, 1, repeat=repeat) for name in "abcdf" for repeat in range(2)]
    of = found(make_recording(labels, given, asked=ROWS), majority=majority)
    left_out = [text for text in of.notes if text.startswith("Texts on which")]
    assert left_out == ([f"{note}--majority strict counts them as disagreement; --majority median takes the middle label."] if note else [])


def test_uneven_repeats_are_noted_as_they_weight_the_items(make_recording: MakeRecording, judged: Judged) -> None:
    """One item with nine wrong answers weighs as much as nine with one right answer each: stated, and only where repeats differ."""
    labels = {name: [1, 1] for name in "abcdefghij"}
    uneven = [judged("a", 0, repeat=repeat) for repeat in range(9)] + [judged(name, 1) for name in "bcdefghij"]
    found = compare([make_recording(labels, uneven)], MeasureOptions())
    assert found.cells[0]["pa"] == 0.5 and found.cells[0].n_ref == 18
    [note] = [note for note in found.notes if "repeat" in note]
    assert note.startswith("Items were answered 1 to 9 times by j.") and "items with more repeats weigh more" in note
    even = [judged(name, int(name != "a"), repeat=repeat) for name in labels for repeat in range(3)]
    for judgments, options in ((even, MeasureOptions()), (uneven, MeasureOptions(by=("metric", "repeat")))):
        assert not [note for note in compare([make_recording(labels, judgments)], options).notes if "repeat" in note]


def test_judges_asked_a_different_number_of_times_are_not_uneven(make_recording: MakeRecording, judged: Judged) -> None:
    labels = {name: [1, 1] for name in "abcd"}
    given = [judged(name, 1, repeat=repeat, judge=judge) for judge, n in (("j", 1), ("k", 3)) for name in labels for repeat in range(n)]
    for options in (MeasureOptions(), MeasureOptions(by=("language",))):
        assert not [note for note in compare([make_recording(labels, given)], options).notes if "repeat" in note]
