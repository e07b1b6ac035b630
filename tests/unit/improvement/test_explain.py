"""What errors of a judge follow: planted effects are found, chance is not, and what cannot be said is not said."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import harness
from harness.errors import UsageError
from harness.improvement.explain import ErrorEffect, Explained
from harness.improvement.improvement_options import ExplainOptions
from harness.stats.intervals.regression import cluster_regression
from tests.conftest import write_rows

Cli = Callable[..., Any]
CARD = 'id = "stories"\nannotators = "persistent"\n[metrics.tone]\nkind = "interval"\nmin = -50\nmax = 50\nbest = 50\n'
SYSTEMS = ("a", "b", "c")


def stories(folder: Path, *, length: float = 0.0, system: float = 0.0, crossed: float = 0.0, groups: int = 60, seed: int = 1) -> Path:
    """Two languages, three systems a group, labels by two people; the judge's error follows the standardised length, system c, and both."""
    draw = np.random.default_rng(seed)
    items, labels, judgments = [], [], []
    for group in range(groups):
        language, shared = ("cs", "ja")[group % 2], draw.normal(0, 0.5)
        for name in SYSTEMS:
            z, truth, item = float(draw.normal()), float(draw.normal(0, 2)), f"{group}-{name}"
            error = shared + length * z + (name == "c") * (system + crossed * z) + float(draw.normal())
            text = item.ljust(round(100 * np.exp(0.5 * z)), "x")
            items.append({"item_id": item, "language": language, "task": "chat", "group": str(group), "system": name, "output": text})
            labels += [{"item_id": item, "annotator_id": who, "metric": "tone", "score": truth} for who in "ab"]
            judgments.append({"item_id": item, "judge": "openai/one", "metric": "tone", "score": truth + error})
    for table, rows in (("items", items), ("labels", labels), ("judgments", judgments)):
        write_rows(folder / f"{table}.jsonl", rows)
    (folder / "data.toml").write_text(CARD, encoding="utf-8")
    return folder


def _effect(found: Explained, covariate: str, *level: str) -> ErrorEffect:
    return next(each for each in found.metrics[0].effects if (each.covariate, each.level) == (covariate, level))


def test_a_planted_length_effect_is_found_and_is_no_interaction(tmp_path: Path) -> None:
    found = harness.explain(stories(tmp_path / "d", length=0.5))
    effect = _effect(found, "length")
    assert effect.outcome == "shown"
    assert effect.low is not None and effect.high is not None and effect.low < 0.5 < effect.high
    assert found.metrics[0].times_longer == pytest.approx(np.exp(0.5), rel=0.15)
    assert {each.outcome for each in found.metrics[0].effects if each.covariate != "length"} == {"not shown"}


def test_effects_of_systems_and_their_interactions_come_first(tmp_path: Path) -> None:
    found = harness.explain(stories(tmp_path / "d", system=2.0, crossed=1.5))
    assert [each.covariate for each in found.metrics[0].effects][:3] == ["system × length"] * 3
    assert _effect(found, "system × length", "c").outcome == _effect(found, "system", "c").outcome == "shown"
    assert _effect(found, "system", "c").value == pytest.approx(2 * 2 / 3, abs=0.4)  # against the mean of all three
    assert sum(_effect(found, "system", name).value or np.nan for name in SYSTEMS) == pytest.approx(0, abs=1e-9)


def test_a_length_that_errors_do_not_follow_is_found_in_5_percent_of_worlds() -> None:
    """Before any correction, with errors that groups share; at most two standard errors of the simulation more."""
    draw, shown, worlds = np.random.default_rng(0), 0, 200
    for _ in range(worlds):
        z, group = draw.normal(size=90), np.repeat(np.arange(30), 3)
        y = np.repeat(draw.normal(size=30), 3) + draw.normal(size=90)
        shown += cluster_regression(y, np.column_stack([np.ones(90), z]), group).p[1] <= 0.05
    assert shown / worlds <= 0.05 + 2 * np.sqrt(0.05 * 0.95 / worlds)


def test_every_effect_that_is_not_shown_says_what_could_have_been_found(tmp_path: Path) -> None:
    found = harness.explain(stories(tmp_path / "d"))
    effects = found.metrics[0].effects
    assert {each.outcome for each in effects} == {"not shown"}
    assert all(each.detectable is not None and each.detectable > 0 and each.q is not None and each.q > 0.05 for each in effects)


def test_few_groups_are_refused(tmp_path: Path) -> None:
    found = harness.explain(stories(tmp_path / "d", length=3.0, groups=4), ExplainOptions(by=("length",)))
    [effect] = found.metrics[0].effects
    assert (effect.outcome, effect.p, effect.q, effect.detectable, effect.low) == ("too few groups", None, None, None, None)


def test_what_says_nothing_new_is_left_out_with_the_reason(tmp_path: Path) -> None:
    found = harness.explain(stories(tmp_path / "d"), ExplainOptions(by=("language", "script", "task")))
    assert found.metrics[0].left_out == ("task: all texts have the same", "script: cannot be told apart from language")
    assert [(each.covariate, each.level) for each in found.metrics[0].effects] == [("language", ("cs",))]  # the other mirrors it


@pytest.mark.parametrize(
    ("by", "words"),
    [("colour", "no item has 'colour'"), ("group", "60 values"), ("task", "all texts have the same")],
)
def test_what_cannot_be_is_refused_in_words(tmp_path: Path, by: str, words: str) -> None:
    with pytest.raises(UsageError, match=words):
        harness.explain(stories(tmp_path / "d"), ExplainOptions(by=(by,)))


def test_the_command_says_association_and_prints_json(tmp_path: Path, cli: Cli) -> None:
    folder = stories(tmp_path / "d", length=0.5)
    shown = cli("explain", folder, "--by", "length,system")
    assert shown.code == 0, shown.err
    assert "For texts 1.6 times as long as others of their language, its scores are" in " ".join(shown.out.split())
    assert "This is an association, not a cause." in " ".join(shown.out.split())
    found = json.loads(cli("explain", folder, "--json").out)
    assert found["by"] == ["length", "language", "system"] and found["metrics"][0]["metric"] == "tone"
    assert found["metrics"][0]["effects"][-1]["outcome"] in ("shown", "not shown")


def test_a_contrast_is_the_coefficient_of_the_other_coding() -> None:
    """The level that effect coding leaves out has the estimate, error and freedom that it has where another one is left out."""
    draw = np.random.default_rng(2)
    level, group = np.arange(60) % 3, np.repeat(np.arange(12), 5)
    y = draw.normal(size=60) + level
    one, other = np.vstack([np.eye(2), [[-1, -1]]]), np.vstack([[[-1, -1]], np.eye(2)])
    by_contrast = cluster_regression(y, np.column_stack([np.ones(60), one[level]]), group, [[0, -1, -1]])
    direct = cluster_regression(y, np.column_stack([np.ones(60), other[level]]), group)
    for name in ("coefficients", "errors", "freedom", "p", "detectable"):
        assert getattr(by_contrast, name)[0] == pytest.approx(getattr(direct, name)[2])


def test_repeats_show_what_noise_alone_would_give(tmp_path: Path, cli: Cli) -> None:
    """A judge that is right in the mean and wavers: nearly all effects are as small as its answers to the same call explain."""
    folder = stories(tmp_path / "d")
    card = CARD.replace('kind = "interval"\nmin = -50\nmax = 50\nbest = 50', f'kind = "ordinal"\nclasses = {list(range(9))}\nbest = 8')
    (folder / "data.toml").write_text(card, encoding="utf-8")
    draw, labels, judgments = np.random.default_rng(4), [], []
    for line in (folder / "items.jsonl").read_text("utf-8").splitlines():
        item, truth = json.loads(line)["item_id"], int(draw.integers(2, 7))
        labels += [{"item_id": item, "annotator_id": who, "metric": "tone", "score": truth} for who in "ab"]
        said = (truth + draw.integers(-2, 3, 4)).tolist()
        judgments += [{"item_id": item, "judge": "openai/one", "metric": "tone", "score": s, "repeat": n} for n, s in enumerate(said)]
    write_rows(folder / "labels.jsonl", labels)
    write_rows(folder / "judgments.jsonl", judgments)
    effects = json.loads(cli("explain", folder, "--json").out)["metrics"][0]["effects"]
    ratio = [abs(each["value"]) / each["noise"] for each in effects]
    assert len(ratio) >= 8 and 0.2 < np.mean(ratio) < 0.8 and np.mean(np.array(ratio) < 1) >= 0.8
    shown = cli("explain", folder).out
    assert "noise alone" in shown and "answers to the same call differ" in shown
    assert "noise alone" not in cli("explain", stories(tmp_path / "once")).out


SCALE = '[metrics.preference]\nkind = "nominal"\nclasses = ["A", "B", "tie"]\nswap = { A = "B", B = "A" }\n'
EXPLAIN_PAIRS_CARD = f'id = "invented"\nannotators = "persistent"\n{SCALE}'


def _folder(path: Path, *, bias: float = 1.2, overlap: bool = True, pairs: int = 300) -> Path:
    """Pairs of three systems, five to a prompt. `bias`: of the judge, for texts twice as long; without `overlap` one system is longer."""
    draw = np.random.default_rng(2)
    items, labels, judgments = [], [], []
    strength = {"one": 0.0, "two": 0.3, "three": 0.6}
    for number in range(pairs):
        a, b = draw.permutation(list(strength))[:2].tolist()
        lengths = {name: int(draw.integers(20, 80)) + (200 * (name == "three") if not overlap else 0) for name in (a, b)}
        name, better = f"p{number}", strength[a] - strength[b]
        longer = np.log2(lengths[a] / lengths[b])
        texts = {f"output_{side}": f"{name} {side} ".ljust(lengths[system], "x") for side, system in (("a", a), ("b", b))}
        items.append({"item_id": name, "language": "cs", "task": "t", "group": f"g{number // 5}", "system_a": a, "system_b": b, **texts})
        labels += [{"item_id": name, "annotator_id": who, "metric": "preference", "score": _choice(draw, better)} for who in ("ann", "bob")]
        for order in ("forward", "swapped"):
            first = 0.4 if order == "forward" else -0.4
            score = _choice(draw, better + bias * longer + first)
            judgments.append({"item_id": name, "judge": "openai/long", "metric": "preference", "score": score, "order": order})
    for table, rows in (("items", items), ("labels", labels), ("judgments", judgments)):
        write_rows(path / f"{table}.jsonl", rows)
    (path / "data.toml").write_text(EXPLAIN_PAIRS_CARD, encoding="utf-8")
    return path


def _choice(draw: np.random.Generator, logit: float) -> str:
    return "A" if draw.random() < 1 / (1 + np.exp(-logit)) else "B"


def test_a_planted_length_bias_is_found_in_the_judge_and_not_in_people(tmp_path: Path, cli: Cli) -> None:
    folder = _folder(tmp_path / "d")
    people, judge = json.loads(cli("explain", folder, "--json").out)["pairs"]
    assert (people["judge"], judge["judge"]) == ("people", "openai/long")
    assert (people["outcome"], judge["outcome"]) == ("not shown", "shown") and 600 >= people["n"] == judge["n"] > 550
    assert judge["groups"] == 60 and judge["low"] < 1.2 * np.log2(judge["times_longer"]) < judge["high"]
    assert 0 < people["detectable"] < 0.5 and people["low"] < 0 < people["high"]
    assert 0.2 < judge["place"] < judge["place_adjusted"], "the place counts more where the length takes less of the choices"
    assert [each["name"] for each in people["systems"]] == ["three", "two", "one"]
    shown = cli("explain", folder).out
    assert (
        "times the odds to be chosen. This is an association, not a cause." in " ".join(shown.split())
        and "beside length" in shown
        and "takes real quality away" in shown
    )


def test_systems_whose_lengths_hardly_overlap_are_left_out(tmp_path: Path, cli: Cli) -> None:
    people, judge = json.loads(cli("explain", _folder(tmp_path / "d", overlap=False), "--json").out)["pairs"]
    assert "lengths hardly overlap, so no adjustment" in people["left_out"][0] and people["n"] < 300
    assert {each["name"] for each in judge["systems"]} == {"one", "two"}


@pytest.mark.parametrize("pairs", [10, 25])
def test_few_pairs_are_refused_with_the_number(tmp_path: Path, cli: Cli, pairs: int) -> None:
    found = json.loads(cli("explain", _folder(tmp_path / "d", pairs=pairs), "--json").out)["pairs"]
    assert all(each["outcome"] == "refused" and each["length"] is None for each in found)
    assert "are left; 30 in 8 are needed" in found[0]["left_out"][0]


def test_equal_or_absent_texts_are_no_choice_by_length(tmp_path: Path, cli: Cli) -> None:
    folder = _folder(tmp_path / "d", pairs=40)
    rows = [json.loads(line) for line in (folder / "items.jsonl").read_text("utf-8").splitlines()]
    write_rows(folder / "items.jsonl", [row | {"output_a": row["output_b"]} for row in rows])
    found = json.loads(cli("explain", folder, "--json").out)["pairs"]
    assert [each["n"] for each in found] == [0, 0] and "no pair has two different texts" in found[0]["left_out"][0]


def test_a_system_that_never_wins_is_named(tmp_path: Path, cli: Cli) -> None:
    folder = _folder(tmp_path / "d")
    items = {row["item_id"]: row for row in map(json.loads, (folder / "items.jsonl").read_text("utf-8").splitlines())}
    rows = [json.loads(line) for line in (folder / "judgments.jsonl").read_text("utf-8").splitlines()]
    for row in rows:
        sides = [items[row["item_id"]][f"system_{side}"] for side in "ab"]
        if "one" in sides:
            row["score"] = "B" if sides[0] == "one" else "A"
    write_rows(folder / "judgments.jsonl", rows)
    _, judge = json.loads(cli("explain", folder, "--json").out)["pairs"]
    assert any("win all or no choices, so no finite strength: one" in reason for reason in judge["left_out"])
    assert judge["outcome"] == "shown"
