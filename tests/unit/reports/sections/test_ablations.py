"""All sections together: what is there, what never mixes, and what moves no number."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from harness.data import Dataset
from harness.data.judgments import Judgments
from harness.measure.compare import Recording, compare
from harness.measure.options import Annotators, MeasureOptions
from harness.model import Failure, Judgment, RealisedPerturbation
from harness.row_files import to_json
from tests.unit.reports.sections.section_runs import ablations

Find = Callable[..., dict[str, Any]]
Said = Callable[..., Judgment]

IDS = [f"i{n}" for n in range(24)]
LABELS = {name: [n % 3, n % 3, (n * 7) % 3] for n, name in enumerate(IDS)}
PLACES = {
    name: {
        "language": ("ja", "cs")[n % 2],
        "task": ("open_prompt", "summarize")[n % 4 // 2],
        "group": f"g{n // 2}",
        "output": "x" * (n * 5 % 31 + 1),
    }
    for n, name in enumerate(IDS)
}
TOLD = [RealisedPerturbation(name, "shuffle-words:0.1", n % 5 > 0, {"moved": n / 24} if n % 5 else {}) for n, name in enumerate(IDS)]
VARIANTS = ("joint", "joint+reversed", "single", "single+detailed", "single+fewshot:2", "single+score-first")
SECTIONS = {
    *("variants", "few_shot", "score_position", "metric_order", "consistency", "temperature", "perturbations", "injection", "length"),
    "justification_language",
}
WORDS = ("The text is fluent and natural, with one mistake.", "There are many mistakes in this text, so it reads badly.")


@pytest.fixture(scope="module")
def everything(said: Said) -> list[Judgment]:
    """A run with every ablation in it, of a judge that answers by a rule."""
    found = []
    for n, name in enumerate(IDS):
        for v, variant in enumerate(VARIANTS):
            answer = Failure.REFUSED if (n + v) % 11 == 0 else (n + v * (n % 2)) % 3
            found.append(said(name, answer, variant=variant, justification=WORDS[(n + v) % 2]))
        found += [said(name, (n * repeat) % 3, repeat=repeat) for repeat in (1, 2)]
        found += [said(name, (n + (n % 4 > 1) * t) % 3, temperature=t / 2) for t in (1, 2)]
        found += [said(name, (n + 1) % 3, perturbation="inject")]
        found += [said(name, (n * 2) % 3, perturbation="shuffle-words:0.1")] if n % 5 else []
    return found


@pytest.fixture(scope="module")
def found(find: Find, everything: list[Judgment]) -> dict[str, Any]:
    return find(everything, LABELS, TOLD, places=PLACES)


def tables(found: dict[str, Any]) -> Iterator[list[dict[str, Any]]]:
    for section in found.values():
        yield from (section[name] for name in ("rows", "trends", "drag") if name in section)


def close(one: Any, two: Any) -> bool:
    """Whether two JSON values are the same but for the last digits of numbers: sums in another order."""
    if isinstance(one, dict):
        return one.keys() == two.keys() and all(close(one[name], two[name]) for name in one)
    if isinstance(one, list):
        return len(one) == len(two) and all(map(close, one, two))
    return math.isclose(one, two, abs_tol=1e-9) if isinstance(one, float) and isinstance(two, float) else one == two


def test_everything_is_there(found: dict[str, Any]) -> None:
    assert set(found) == SECTIONS
    assert all(section["title"] and (section.get("note") or section.get("hypothesis")) and section["rows"] for section in found.values())


def test_a_plain_run_has_only_what_every_run_has(find: Find, said: Said) -> None:
    assert set(find([said(name, 1) for name in IDS], LABELS, places=PLACES)) == {"variants", "length"}


def test_nothing_comes_of_nothing(find: Find) -> None:
    assert find([]) == {} and find([], {"a": 1}) == {}


def test_judgments_of_other_items_are_passed_over(
    said: Said, make_data: Callable[..., Any], make_item: Callable[..., Any], find: Find
) -> None:
    data = make_data([make_item("a")], {"a": 1})
    both = ablations(data, Judgments.from_rows([said("elsewhere", 2), said("a", 1)]), MeasureOptions())
    assert to_json(both) == to_json(ablations(data, Judgments.from_rows([said("a", 1)]), MeasureOptions()))


def test_every_row_names_its_cell_and_every_null_has_a_reason(found: dict[str, Any]) -> None:
    keys = {"language", "task", "metric", "judge", "variant", "temperature", "top_p"}
    for rows in tables(found):
        for row in rows:
            assert keys <= set(row)
            nulls = {name for name, value in row.items() if value is None} - keys - {"versus", "dose", "segmenter", "should", "from"}
            for name in nulls:
                parent = name.removesuffix("_ci").removesuffix("_q").removesuffix("_p")
                assert name in row["undefined"] or parent in row["undefined"], (name, row)
            assert set(row["undefined"]) <= nulls


def test_rows_are_flat_and_finite(found: dict[str, Any]) -> None:
    for rows in tables(found):
        columns = {frozenset(name for name in row if not name.startswith("realised_")) for row in rows}
        assert len(columns) == 1
        for row in rows:
            for name, value in row.items():
                assert not (isinstance(value, float) and not math.isfinite(value)), name
                if name.endswith("_ci") and value is not None:
                    assert value[0] <= row[name.removesuffix("_ci")] + 1e-9 and row[name.removesuffix("_ci")] <= value[1] + 1e-9


def test_no_row_is_there_twice(found: dict[str, Any]) -> None:
    names = ("language", "task", "metric", "judge", "variant", "temperature", "top_p", "perturbation", "first", "asked_language", "shots")
    for rows in tables(found):
        keys = [tuple(row.get(name) for name in names) for row in rows]
        assert len(keys) == len(set(keys))


def test_it_is_json(found: dict[str, Any]) -> None:
    assert msgspec.json.decode(to_json(found)).keys() == found.keys()


@pytest.mark.slow
@given(order=st.randoms(use_true_random=False))
@settings(max_examples=5)
def test_the_order_of_rows_moves_nothing(find: Find, everything: list[Judgment], found: dict[str, Any], order: Any) -> None:
    shuffled, told = list(everything), list(TOLD)
    order.shuffle(shuffled)
    order.shuffle(told)
    assert to_json(find(shuffled, LABELS, told, places=PLACES, metrics=["m"])) == to_json(found)


def test_new_names_for_judge_and_items_move_no_number(find: Find, everything: list[Judgment], found: dict[str, Any]) -> None:
    """The items keep their order, and groups are only told apart."""
    new = {name: f"x-{name}" for name in IDS}
    renamed = find(
        [msgspec.structs.replace(one, item_id=new[one.item_id], judge="another") for one in everything],
        {new[name]: labels for name, labels in LABELS.items()},
        [msgspec.structs.replace(one, item_id=new[one.item_id]) for one in TOLD],
        places={new[name]: {**place, "group": f"z{99 - int(place['group'][1:])}"} for name, place in PLACES.items()},
    )
    assert close(msgspec.json.decode(to_json(renamed).replace('"another"', '"j"')), msgspec.json.decode(to_json(found)))


def test_another_seed_moves_intervals_only(find: Find, everything: list[Judgment], found: dict[str, Any]) -> None:
    other = find(everything, LABELS, TOLD, places=PLACES, seed=1)
    pairs = [(one, two) for a, b in zip(tables(found), tables(other), strict=True) for one, two in zip(a, b, strict=True)]
    assert all(one[name] == two[name] for one, two in pairs for name in ("pa", "sensitivity", "same_score", "slope") if name in one)
    assert any(one != two for one, two in pairs)


def test_another_judge_beside_it_moves_nothing_of_the_first(find: Find, everything: list[Judgment], found: dict[str, Any]) -> None:
    """q aside, which is corrected over all rows."""
    twice = [*everything, *(msgspec.structs.replace(one, judge="k", score=1, failure=None) for one in everything)]
    both = find(twice, LABELS, TOLD, places=PLACES)
    of_one = {name: section for name, section in both.items() if name in found}  # two judges have a ranking, one has none
    for alone, beside in zip(tables(found), tables(of_one), strict=True):
        kept = [row for row in beside if row["judge"] == "j"]
        drop = [{name: value for name, value in row.items() if not name.endswith("_q")} for row in kept]
        assert drop == [{name: value for name, value in row.items() if not name.endswith("_q")} for row in alone]


def test_top_p_and_temperature_are_never_mixed(find: Find, said: Said) -> None:
    judgments = [said(name, 1, top_p=top_p) for name in IDS for top_p in (None, 0.9)]
    rows = find(judgments, LABELS, places=PLACES)["variants"]["rows"]
    assert {row["top_p"] for row in rows} == {None, 0.9} and all(row["n"] <= 24 for row in rows)


def test_every_name_of_a_row_is_described(found: dict[str, Any]) -> None:
    docs = Path(__file__).resolve().parents[4] / "docs"
    page = (docs / "statistics.md").read_text("utf-8").split("\n## Ablations\n")[1].split("\n## ")[0] + (docs / "columns.md").read_text(
        "utf-8"
    )
    described = set(re.findall(r"`(\w+)`", page))
    parts = re.compile(r"_(ci|n|p|q)$")
    for name, section in found.items():
        assert name in described
        for row in (row for key in ("rows", "trends", "drag") for row in section.get(key, ())):
            names = {parts.sub("", each) if parts.sub("", each) in described else each for each in row}
            assert {each for each in names if not each.startswith("realised_")} <= described


@pytest.mark.parametrize("majority", ["drop", "median", "strict"])
@pytest.mark.parametrize("annotators", [None, Annotators(1), Annotators(3, exactly=True)], ids=str)
def test_agreement_by_variant_is_that_of_the_cells_under_the_same_rule(
    make_item: Callable[..., Any], make_data: Callable[..., Dataset], said: Said, majority: Any, annotators: Annotators | None
) -> None:
    """Ablations have no rule of their own for how annotators become one, and which items count."""
    labels = {f"i{n}": [n % 3, (n // 3) % 3, (n // 9) % 3][: n % 4 or 2] for n in range(40)}
    answers = [
        said(name, Failure.REFUSED if n % 9 == 0 else (n + v) % 3, variant=variant)
        for n, name in enumerate(labels)
        for v, variant in enumerate(("single", "joint"))
    ]
    data, judgments = make_data([make_item(name) for name in labels], labels), Judgments.from_rows(answers)
    options = MeasureOptions(majority=majority, annotators=annotators, resamples=200)
    rows = {row["variant"]: row for row in ablations(data, judgments, options)["variants"]["rows"] if row["task"] == "open_prompt"}
    cells = compare([Recording("r", data, judgments)], options).cells
    assert len(cells) == len(rows) == 2
    for cell in cells:
        for name in ("n_ref", "n", "pa", "pa_failed_wrong", "pa_pairwise"):
            assert rows[cell["variant"]][name] == pytest.approx(cell[name]), name
