"""The order of texts by variant: the numbers of the comparison, section by section."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from harness.content import Library
from harness.data.dataset import Dataset, load_folder
from harness.measure.compare import Recording, compare
from harness.measure.options import CompareOptions
from tests.translation_folder import CARD, translation_items, write_translations
from tests.unit.reports.sections.section_runs import ablations


def judged(folder: Path, *, card: str = CARD, variants: tuple[str, ...] = ("single", "single+detailed")) -> Dataset:
    """Translations with a judge that orders them well under the second variant, badly under the first, and does not answer once."""
    write_translations(folder, translation_items(texts=20), card=card)
    labels = [json.loads(line) for line in (folder / "labels.jsonl").read_text("utf-8").splitlines()]
    rng = np.random.default_rng(3)
    rows = [
        {"item_id": label["item_id"], "judge": "j", "metric": label["metric"], "variant": name}
        | ({"score": float(np.clip(label["score"] + rng.normal(0, spread), 0, 100))} if number else {"failure": "refused"})
        for name, spread in zip(variants, (40, 5), strict=False)
        for number, label in enumerate(labels)
    ]
    (folder / "judgments.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows), "utf-8")
    return load_folder(folder, Library(), with_judgments=True)


def section(data: Dataset) -> Any:
    assert data.judgments is not None
    return ablations(data, data.judgments, CompareOptions(resamples=100)).get("correlations")


@pytest.mark.parametrize(("card", "tested"), [(CARD, "kendall_tau_within"), (CARD.replace('segment = "segment"\n', ""), "kendall_tau")])
def test_values_and_differences_are_those_of_a_comparison(tmp_path: Path, card: str, tested: str) -> None:
    data = judged(tmp_path, card=card)
    assert data.judgments is not None
    options = CompareOptions(resamples=100, versus=("variant", "single"))
    cells = compare([Recording("d", data, data.judgments)], options).cells
    plain, detailed = section(data)["rows"]
    for row, cell in zip((plain, detailed), cells, strict=True):
        assert row["n"] == cell.n == 39
        for name in ("kendall_tau", "kendall_tau_within"):
            assert row[name] == (None if cell[name] is None else pytest.approx(cell[name])), name
    assert plain["versus"] is None and plain["tau_diff"] is None and detailed["versus"] == "single"
    versus = cells[1].versus
    assert versus is not None and versus["statistic"] == tested
    assert detailed["tau_diff"] == pytest.approx(versus["diff"]) and detailed["tau_diff"] > 0
    assert detailed["tau_diff_p"] == pytest.approx(versus["p"]) and tuple(detailed["tau_diff_ci"]) == pytest.approx(versus["ci"])
    assert detailed["pearson_diff"] == pytest.approx(versus["differences"]["pearson"]["diff"])


def test_there_is_no_section_for_one_variant(tmp_path: Path) -> None:
    assert section(judged(tmp_path, variants=("single",))) is None
