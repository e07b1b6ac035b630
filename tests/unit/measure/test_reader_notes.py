"""What was asked of what is labelled: counted in cells of every kind, and said in words."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from harness.content.specs import Asked
from harness.measure.compare import Comparison, Recording, compare
from harness.measure.options import MeasureOptions
from harness.model import Failure, Judgment, Scale

MakeRecording = Callable[..., Recording]
Judged = Callable[..., Judgment]
THREE = Scale(kind="ordinal", classes=(0, 1, 2), best=2)
NAMES = [f"i{n}" for n in range(10)]
ROWS = Asked("rows")
BEGINS = "Not asked, so neither right nor wrong (labelled items times metrics): "


def found(made: Recording, **options: Any) -> Comparison:
    return compare([made], MeasureOptions(**options))


def counts(of: Comparison) -> list[tuple[int, int, int, int]]:
    return [(cell.n_ref, cell.n, cell.n_asked, cell.not_asked) for cell in of.cells]


def test_repeats_are_one_question(make_recording: MakeRecording, judged: Judged) -> None:
    given = [judged(name, 1 if repeat else Failure.REFUSED, repeat=repeat) for name in NAMES[:6] for repeat in range(3)]
    of = found(make_recording(dict.fromkeys(NAMES, 1), given, asked=ROWS))
    assert counts(of) == [(18, 12, 6, 4)] and of.notes == (f"{BEGINS}j 4 of 10 in en.",)


@pytest.mark.parametrize(("majority", "asked", "left"), [("drop", 1, 2), ("strict", 2, 3), ("median", 2, 3)])
def test_only_what_has_a_reference_is_counted(make_recording: MakeRecording, majority: Any, asked: int, left: int) -> None:
    labels = {"a": [1, 1], "b": [0, 1], "c": [1, 1], "d": [2, 2], "e": [0, 2], "f": [1]}
    of = found(make_recording(labels, {"a": 1, "b": 1}, asked=ROWS), majority=majority)
    assert counts(of) == [(asked, asked, asked, left)]


def test_judges_pooled_in_one_cell_are_asked_each_for_themselves(make_recording: MakeRecording, judged: Judged) -> None:
    given = [judged(name, 1, judge=judge) for judge, last in (("j", 10), ("k", 4)) for name in NAMES[:last]]
    made = make_recording(dict.fromkeys(NAMES, 1), given, asked=ROWS)
    assert counts(found(made)) == [(10, 10, 10, 0), (4, 4, 4, 6)]
    assert counts(found(made, by=("metric",))) == [(14, 14, 14, 6)]
    assert found(made).notes == (f"{BEGINS}k 6 of 10 in en.",)


def test_cells_of_systems_count_items(make_recording: MakeRecording) -> None:
    places = {name: {"system": "st"[n % 2]} for n, name in enumerate(NAMES)}
    of = found(make_recording(dict.fromkeys(NAMES, 1), dict.fromkeys(NAMES[:4], 1), places=places, asked=ROWS), level="system")
    assert counts(of) == [(2, 2, 4, 6)]


def test_a_run_and_a_set_that_is_whole_leave_nothing_out(make_recording: MakeRecording) -> None:
    labels = dict.fromkeys(NAMES, 1)
    for asked, answers in ((None, dict.fromkeys(NAMES[:4], 1)), (ROWS, labels), (Asked("all"), dict.fromkeys(NAMES[:4], 1))):
        of = found(make_recording(labels, answers, asked=asked))
        assert [cell.not_asked for cell in of.cells] == [0] and of.notes == ()


def test_judges_who_were_not_asked_the_same_are_named_together_and_a_few_at_most(make_recording: MakeRecording, judged: Judged) -> None:
    places = {name: {"language": "ja" if n % 2 else "en"} for n, name in enumerate(NAMES)}
    given = [judged(name, 1, judge=judge) for judge in "abcde" for name in NAMES[:4]]
    given += [judged(name, 1, judge="whole") for name in NAMES]
    of = found(make_recording(dict.fromkeys(NAMES, 1), given, places=places, asked=ROWS))
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
    for given, options in ((even, MeasureOptions()), (uneven, MeasureOptions(by=("metric", "repeat")))):
        assert not [note for note in compare([make_recording(labels, given)], options).notes if "repeat" in note]


def test_judges_asked_a_different_number_of_times_are_not_uneven(make_recording: MakeRecording, judged: Judged) -> None:
    labels = {name: [1, 1] for name in "abcd"}
    given = [judged(name, 1, repeat=repeat, judge=judge) for judge, n in (("j", 1), ("k", 3)) for name in labels for repeat in range(n)]
    for options in (MeasureOptions(), MeasureOptions(by=("language",))):
        assert not [note for note in compare([make_recording(labels, given)], options).notes if "repeat" in note]
