"""Changed texts: judges that see everything, nothing, or noise, and texts that could not be changed."""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any

import pytest

from harness.model import Failure, Judgment, RealisedPerturbation, Scale

Find = Callable[..., dict[str, Any]]
Said = Callable[..., Judgment]
TheRow = Callable[..., dict[str, Any]]
SHUFFLE = "shuffle-words:0.1"
IDS = [f"i{n}" for n in range(60)]


def pairs(said: Said, before: Callable[[int], int], after: Callable[[int], Any], kind: str = SHUFFLE, **other: Any) -> list[Judgment]:
    clean = [said(name, before(n), **other) for n, name in enumerate(IDS)]
    return clean + [said(name, after(n), perturbation=kind, **other) for n, name in enumerate(IDS)]


def test_a_judge_that_sees_everything(find: Find, the_row: TheRow, said: Said) -> None:
    row = the_row(find(pairs(said, lambda n: 1 + n % 2, lambda n: n % 2))["perturbations"]["rows"])
    assert (row["sensitivity"], row["fell"], row["rose"], row["stayed"]) == (1.0, 1.0, 0.0, 0.0)
    assert row["sensitivity_ci"][0] > 0.9 and row["from"] == "scores" and row["n"] == 60


@pytest.mark.parametrize("score", [lambda n: n % 3, lambda n: 1], ids=["insensitive", "constant"])
def test_a_judge_that_sees_nothing(find: Find, the_row: TheRow, said: Said, score: Callable[[int], int]) -> None:
    row = the_row(find(pairs(said, score, score))["perturbations"]["rows"])
    assert (row["sensitivity"], row["stayed"]) == (0.5, 1.0) and row["sensitivity_ci"][0] < 0.5 < row["sensitivity_ci"][1]


def test_a_judge_that_guesses(find: Find, the_row: TheRow, said: Said) -> None:
    rng = random.Random(1)
    row = the_row(find(pairs(said, lambda n: rng.randrange(3), lambda n: rng.randrange(3)))["perturbations"]["rows"])
    assert row["sensitivity_ci"][0] < 0.5 < row["sensitivity_ci"][1] and 0 < row["stayed"] < 1


def test_by_hand(find: Find, the_row: TheRow, said: Said) -> None:
    """Fell, stayed, rose; unreadable; no clean answer; not changed."""
    clean = {"a": 2, "b": 1, "c": 0, "d": 2, "f": 2}
    changed = {"a": 0, "b": 1, "c": 1, "d": Failure.REFUSED, "e": 1}
    judgments = [said(name, score) for name, score in clean.items()]
    judgments += [said(name, score, perturbation=SHUFFLE) for name, score in changed.items()]
    told = [RealisedPerturbation(name, SHUFFLE, True, {"moved": moved}) for name, moved in (("a", 0.1), ("b", 0.3), ("c", 0.2), ("d", 0.9))]
    row = the_row(find(judgments, None, [*told, RealisedPerturbation("f", SHUFFLE, False, {})])["perturbations"]["rows"])
    assert {name: row[name] for name in ("n", "not_applied", "unreadable", "unpaired")} == {
        "n": 3,
        "not_applied": 1,
        "unreadable": 1,
        "unpaired": 1,
    }
    assert row["fell"] == row["rose"] == row["stayed"] == pytest.approx(1 / 3)
    assert row["sensitivity"] == pytest.approx((1 + 0.5 + 0) / 3)
    assert row["realised_moved"] == pytest.approx(0.2)  # of those compared


def test_what_could_not_be_changed_is_no_insensitivity(find: Find, the_row: TheRow, said: Said) -> None:
    """Not a single text: a row all the same, without a share, and whoever was asked all the same is not counted."""
    told = [RealisedPerturbation(name, SHUFFLE, False, {}) for name in IDS]
    for judgments in ([said(name, 1) for name in IDS], pairs(said, lambda n: 1, lambda n: 1)):
        row = the_row(find(judgments, None, told)["perturbations"]["rows"])
        assert (row["n"], row["not_applied"], row["sensitivity"], row["from"]) == (0, 60, None, None)
        assert row["undefined"]["sensitivity"] == row["undefined"]["stayed"] == "no text could be changed"


def test_repeats_do_not_multiply_what_could_not_be_changed(find: Find, the_row: TheRow, said: Said) -> None:
    judgments = [said("a", 1, repeat=n) for n in range(3)]
    assert the_row(find(judgments, None, [RealisedPerturbation("a", SHUFFLE, False, {})])["perturbations"]["rows"])["not_applied"] == 1


def test_only_conditions_in_which_it_was_judged_count_what_could_not_be_changed(find: Find, said: Said) -> None:
    judgments = [said("a", 1), said("a", 0, perturbation=SHUFFLE), said("b", 1), said("b", 1, temperature=1.0)]
    rows = find(judgments, None, [RealisedPerturbation("b", SHUFFLE, False, {})])["perturbations"]["rows"]
    assert {row["temperature"] for row in rows} == {0.0}


def test_expected_scores_see_more_than_scores(find: Find, the_row: TheRow, said: Said) -> None:
    """The score stays 1, its mean under the token probabilities falls on every other item."""
    judgments = [said(name, 1, expected=1.2) for name in IDS]
    judgments += [said(name, 1, expected=1.1 if n % 2 else 1.2, perturbation=SHUFFLE) for n, name in enumerate(IDS)]
    row = the_row(find(judgments)["perturbations"]["rows"])
    assert (row["from"], row["sensitivity"], row["stayed"]) == ("probabilities", 0.75, 1.0)


def test_a_row_is_of_one_kind(find: Find, the_row: TheRow, said: Said) -> None:
    """One answer without probabilities: all are read from the scores."""
    judgments = [said(name, 1, expected=None if name == "i0" else 1.5) for name in IDS]
    judgments += [said(name, 1, expected=1.0, perturbation=SHUFFLE) for name in IDS]
    row = the_row(find(judgments)["perturbations"]["rows"])
    assert (row["from"], row["sensitivity"]) == ("scores", 0.5)


@pytest.mark.parametrize(
    ("scale", "better", "worse"),
    [
        (Scale(kind="ordinal", classes=(0, 1, 2), best=0), 0, 2),
        (Scale(kind="nominal", classes=(0, 1), best=0), 0, 1),
        (Scale(kind="nominal", classes=("good", "bad"), best="good"), "good", "bad"),
        (Scale(kind="interval", min=1, max=5, best=5), 4.5, 1.5),
    ],
    ids=["low is best", "bad case is 1", "names", "interval"],
)
def test_fell_is_away_from_the_best(find: Find, the_row: TheRow, said: Said, scale: Scale, better: Any, worse: Any) -> None:
    judgments = [said("a", better), said("a", worse, perturbation=SHUFFLE)]
    row = the_row(find(judgments, scales={"m": scale})["perturbations"]["rows"])
    assert (row["sensitivity"], row["fell"]) == (1.0, 1.0)


def test_expected_scores_turn_with_the_scale(find: Find, the_row: TheRow, said: Said) -> None:
    scale = Scale(kind="nominal", classes=(0, 1), best=0)
    judgments = [said("a", 0, expected=0.1), said("a", 0, expected=0.4, perturbation=SHUFFLE)]
    row = the_row(find(judgments, scales={"m": scale})["perturbations"]["rows"])
    assert (row["from"], row["sensitivity"]) == ("probabilities", 1.0)


def test_a_scale_without_a_best_end_has_no_direction(find: Find, the_row: TheRow, said: Said) -> None:
    judgments = [said("a", 1), said("a", 0, perturbation=SHUFFLE)]
    row = the_row(find(judgments, scales={"m": Scale(kind="ordinal", classes=(0, 1, 2))})["perturbations"]["rows"])
    assert row["n"] == 1 and row["sensitivity"] is None and row["undefined"]["sensitivity"] == "the scale has no best end"


def test_clean_and_changed_are_of_one_condition(find: Find, said: Said) -> None:
    """A text judged at 0 only as it is, at 1 only changed: no pair."""
    rows = find([said("a", 2), said("a", 0, temperature=1.0, perturbation=SHUFFLE)])["perturbations"]["rows"]
    assert {(row["temperature"], row["n"], row["unpaired"]) for row in rows} == {(1.0, 0, 1)}
    assert rows[0]["undefined"]["sensitivity"] == "no pair of readable scores"


def test_it_is_said_where_a_metric_should_move(find: Find, the_row: TheRow, said: Said, three: Scale) -> None:
    names = ("linguistic_acceptability", "problematic_content", "m")
    judgments = [said("a", 1, metric=name, perturbation=kind) for name in names for kind in ("", SHUFFLE, "strange:0.5@own")]
    rows = find(judgments, scales=dict.fromkeys(names, three))["perturbations"]["rows"]
    assert [the_row(rows, metric=name, perturbation=SHUFFLE)["should"] for name in names] == [-1, 0, None]
    strange = the_row(rows, perturbation="strange:0.5@own")
    assert (strange["should"], strange["kind"], strange["dose"], strange["segmenter"]) == (None, "strange", 0.5, "own")


def test_by_language_by_task_and_both(find: Find, the_row: TheRow, said: Said) -> None:
    places = {"a": {}, "b": {"task": "summarize"}, "c": {"language": "ja"}}
    judgments = [said(name, score, perturbation=kind) for name in places for score, kind in ((2, ""), (0, SHUFFLE))]
    rows = find(judgments, places=places)["perturbations"]["rows"]
    assert the_row(rows)["n"] == 2 and the_row(rows, task="summarize")["n"] == 1
    assert the_row(rows, language="*", task="open_prompt")["n"] == 2


def test_doses_stand_in_their_order(find: Find, said: Said) -> None:
    kinds = ["shuffle-words:1", "shuffle-words:0.05", "shuffle-words:0.5@whitespace", "drop-words:0.1"]
    rows = find([said("a", 1), *(said("a", 1, perturbation=kind) for kind in kinds)])["perturbations"]["rows"]
    assert list(dict.fromkeys(row["perturbation"] for row in rows)) == [kinds[3], kinds[1], kinds[0], kinds[2]]


def test_clean_texts_alone_are_no_ablation(find: Find, said: Said) -> None:
    assert not {"perturbations", "injection"} & set(find([said("a", 1)], {"a": 1}))


def test_an_instruction_in_the_text_by_hand(find: Find, the_row: TheRow, said: Said) -> None:
    """Of 0 1 2 2: one becomes the best, one rises, one falls, one stays."""
    clean, changed = {"a": 0, "b": 0, "c": 2, "d": 2}, {"a": 2, "b": 1, "c": 1, "d": 2}
    judgments = [said(name, score) for name, score in clean.items()]
    judgments += [said(name, score, perturbation="inject") for name, score in changed.items()]
    found = find(judgments)
    row = the_row(found["injection"]["rows"])
    assert (row["rose"], row["fell"], row["n_below_best"], row["reached_best"]) == (0.5, 0.25, 2, 0.5)
    assert "perturbations" not in found


def test_where_all_is_best_nothing_can_be_gained(find: Find, the_row: TheRow, said: Said) -> None:
    judgments = [said("a", 2), said("a", 2, perturbation="inject")]
    row = the_row(find(judgments)["injection"]["rows"])
    assert row["reached_best"] is None and row["undefined"]["reached_best"] == "every score was the best one before"


def test_an_obedient_judge(find: Find, the_row: TheRow, said: Said) -> None:
    row = the_row(find(pairs(said, lambda n: n % 2, lambda n: 2, kind="inject"))["injection"]["rows"])
    assert (row["rose"], row["reached_best"]) == (1.0, 1.0) and row["rose_ci"][0] > 0.9
