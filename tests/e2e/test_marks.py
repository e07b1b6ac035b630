"""Signs on pages say what the verdicts say, and one number has one name wherever it is shown."""

from __future__ import annotations

import html
import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.conftest import write_rows

Cli = Callable[..., Any]
SQUARE = re.compile(r'<a href="#items" data-show="([^"]*)" title="[^"]*"><span aria-hidden="true">(.)</span> <b>[^<]*</b> <small>([^<]*)<')
WORDS = {"above": ("▲", "above"), "below": ("▼", "below"), "not shown": ("○", "not shown"), None: ("·", "not tested")}


def squares(page: Path) -> dict[tuple[str, ...], tuple[str, str]]:
    """The sign and the word of each square of one metric, by judge, variant, language and metric."""
    found = ((json.loads(html.unescape(show)), sign, word) for show, sign, word in SQUARE.findall(page.read_text("utf-8")))
    return {
        tuple(str(show[name]) for name in ("judge", "variant", "language", "metric")): (sign, word)
        for show, sign, word in found
        if "metric" in show
    }


def marks(verdicts: list[dict[str, Any]]) -> dict[tuple[str, ...], tuple[str, str]]:
    names = ("judge", "variant", "language", "metric")
    return {tuple(str(verdict[name]) for name in names): WORDS[verdict["beside_baseline"]] for verdict in verdicts}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Eight metrics, two classes: the judge is right less often than the commonest class, by so little that few are shown."""
    rng = np.random.default_rng(3)
    ids = [f"i{number}" for number in range(60)]
    rows: dict[str, list[dict[str, Any]]] = {"items": [], "labels": [], "judgments": []}
    rows["items"] = [{"item_id": name, "language": "cs", "task": "chat", "output": f"text {name}"} for name in ids]
    for metric in (f"m{number}" for number in range(8)):
        for name, truth in zip(ids, rng.random(len(ids)) < 0.75, strict=True):
            rows["labels"] += [{"item_id": name, "annotator_id": who, "metric": metric, "score": int(truth)} for who in "xyz"]
            right = rng.random() < (0.2 if metric == "m0" else 0.99 if metric == "m1" else 0.55)
            rows["judgments"].append({"item_id": name, "judge": "one", "metric": metric, "score": int(truth == right)})
    for kind, table in rows.items():
        write_rows(tmp_path / "made" / f"{kind}.jsonl", table)
    metrics = "".join(f'[metrics.m{number}]\nkind = "ordinal"\nclasses = [0, 1]\nbest = 1\n' for number in range(8))
    (tmp_path / "made" / "data.toml").write_text(f'id = "made"\nannotators = "persistent"\n{metrics}', "utf-8")
    return tmp_path / "made"


def test_a_page_marks_what_its_verdicts_show_and_not_what_single_intervals_do(cli: Cli, folder: Path, tmp_path: Path) -> None:
    compared = json.loads(cli("compare", folder, "--json").out)
    assert cli("compare", folder, "--html", tmp_path / "page.html").code == 0
    shown = marks(compared["verdicts"])
    assert squares(tmp_path / "page.html") == shown
    sign_of = {key[3]: sign for key, (sign, _) in shown.items()}
    assert (sign_of["m0"], sign_of["m1"]) == ("▼", "▲")
    below = [cell["metric"] for cell in compared["cells"] if (cell["vs_baseline"]["ci"] or (0, 0))[1] < 0]
    assert [name for name in below if sign_of[name] == "○"], "an interval below 0 in one cell of eight is no mark"
    for verdict in compared["verdicts"]:
        sign = sign_of[verdict["metric"]]
        assert (sign == "▼") == (verdict["q_base_worse"] <= 0.05) and (sign == "▲") == (verdict["q_base"] <= 0.05)
        assert verdict["verdict"] != "use" or sign == "▲"
        assert "base_worse" not in verdict["obstacles"] or sign == "▼"


def test_the_page_of_a_run_has_the_same_marks(cli: Cli, tmp_path: Path) -> None:
    asked = ("--langs", "cs,en", "--judge", "baseline/random", "--judge", "baseline/constant-best", "--out", tmp_path / "run")
    assert cli("run", *asked).code == 0
    assert cli("report", "--out", tmp_path / "run", "--html", tmp_path / "page.html").code == 0
    shown = marks(json.loads(cli("report", "--out", tmp_path / "run", "--json").out)["verdicts"])
    assert len(shown) > 10 and squares(tmp_path / "page.html") == shown


@pytest.mark.parametrize("scale", ["interval", "ordinal"])
def test_closeness_is_not_called_pairs(cli: Cli, tmp_path: Path, scale: str) -> None:
    """On a scale of numbers verdicts rest on closeness; the shares of equal scores in the main table have another name."""
    rng = np.random.default_rng(5)
    truth = rng.integers(1, 6, 60)
    people = np.clip(truth[:, None] + rng.integers(-1, 2, (60, 3)), 1, 5)
    given = np.clip(truth + rng.integers(-1, 2, 60), 1, 5)
    ids = [f"i{number}" for number in range(60)]
    labels = [
        {"item_id": ids[i], "annotator_id": f"p{p}", "metric": "tone", "score": int(people[i, p])} for i in range(60) for p in range(3)
    ]
    items = [{"item_id": name, "language": "cs", "task": "chat", "output": f"text {name}"} for name in ids]
    write_rows(tmp_path / "made" / "items.jsonl", items)
    write_rows(tmp_path / "made" / "labels.jsonl", labels)
    judged = [{"item_id": ids[i], "judge": "one", "metric": "tone", "score": int(given[i])} for i in range(60)]
    write_rows(tmp_path / "made" / "judgments.jsonl", judged)
    of = "min = 1\nmax = 5" if scale == "interval" else "classes = [1, 2, 3, 4, 5]"
    (tmp_path / "made" / "data.toml").write_text(
        f'id = "made"\nannotators = "persistent"\n[metrics.tone]\nkind = "{scale}"\n{of}\nbest = 5\n', "utf-8"
    )
    compared = json.loads(cli("compare", tmp_path / "made", "--json").out)
    [cell], [verdict] = compared["cells"], compared["verdicts"]
    close = float(np.mean(1 - np.abs(people - given[:, None]) / 4))
    same = float(np.mean(people == given[:, None]))
    assert cell["pa_pairwise"] == pytest.approx(same) and abs(close - same) > 0.3
    assert verdict["agreement"] == pytest.approx(close if scale == "interval" else same)
    assert (verdict["interval"], verdict["closeness"]) == ((True, True) if scale == "interval" else (False, False))
    assert ("closeness to native speakers" in verdict["sentence"]) == (scale == "interval")
    for shown in (("--all",), ("--md",)):
        text = cli("compare", tmp_path / "made", *shown).out
        assert ("closeness of judge and people: 1 minus" in text) == (scale == "interval")
        assert ("an unread answer agrees with nobody" in text) == (scale == "ordinal")
    distance = json.loads(cli("compare", tmp_path / "made", "--json", "--set", "agreement=distance").out)["verdicts"][0]
    assert distance["closeness"] and distance["agreement"] == pytest.approx(close)
