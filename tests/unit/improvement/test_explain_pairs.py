"""What choices between two texts follow: a planted length bias of a judge beside people, and what is refused."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.conftest import write_rows

Cli = Callable[..., Any]
SCALE = '[metrics.preference]\nkind = "nominal"\nclasses = ["A", "B", "tie"]\nswap = { A = "B", B = "A" }\n'
CARD = f'id = "invented"\nannotators = "persistent"\n{SCALE}'


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
    (path / "data.toml").write_text(CARD, encoding="utf-8")
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
    assert "times the odds to be chosen: an association." in shown and "beside length" in shown and "takes real quality away" in shown


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
