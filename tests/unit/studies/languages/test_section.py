"""The languages of rubric, item and justification: effects by hand, over the same texts in two languages."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from harness.data import Dataset
from harness.data.judgments import Judgments
from harness.measure.options import MeasureOptions
from harness.model import Failure, Item, Judgment
from tests.unit.reports.sections.section_runs import ablations

TEXTS = 12
VARIANTS = {
    "single": ("en", "en"),
    "single+reasons:ja": ("en", "ja"),
    "single+in:ja": ("ja", "ja"),
    "single+in:ja+reasons:en": ("ja", "en"),
}
Score = Callable[[str, str, str, int], Any]


@pytest.fixture
def effects(make_data: Callable[..., Dataset], said: Callable[..., Judgment]) -> Callable[..., dict[str, dict[str, Any]]]:
    """The rows on the metric `m` by factor, of a judge that gives `score(rubric, item, justification, text)` on a scale from 0 to 2."""

    def make(score: Score, variants: tuple[str, ...] = tuple(VARIANTS)) -> dict[str, dict[str, Any]]:
        items, labels, given = [], {}, []
        for tag in ("en", "ja"):
            for n in range(TEXTS):
                name = f"{tag}-{n}"
                items.append(Item(name, tag, "open_prompt", group=name, parallel_id=f"p{n}", fields={"prompt": "p", "output": f"o {n}"}))
                labels[name, "m"] = [n % 3]
                for variant in variants:
                    rubric, reasons = VARIANTS[variant]
                    given.append(said(name, score(rubric, tag, reasons, n), language=tag, variant=variant))
        found = ablations(make_data(items, labels), Judgments.from_rows(given), MeasureOptions()).get("language_factors", {"rows": []})
        return {row["factor"]: row for row in found["rows"] if row["metric"] == "m"}

    return make


def test_each_factor_alone(effects: Callable[..., Any]) -> None:
    """The judge gives a point less, half the scale, where the justification is Japanese."""
    rows = effects(lambda rubric, item, reasons, n: 1 if reasons == "ja" else 2)
    values = {factor: row["effect"] for factor, row in rows.items()}
    assert values.pop("justification") == -0.5 and set(values.values()) == {0.0} and len(values) == 6
    row = rows["justification"]
    assert (row["language"], row["variant"], row["n"], row["incomplete"]) == ("ja", "single", TEXTS, 0) and row["effect_ci"][1] < 0


def test_a_rubric_that_matters_only_for_its_own_items(effects: Callable[..., Any]) -> None:
    """A Japanese rubric costs a point, but only with a Japanese item: half of half the scale on average, and all of it as a product."""
    rows = effects(lambda rubric, item, reasons, n: 1 if rubric == item == "ja" else 2)
    assert rows["rubric"]["effect"] == rows["item"]["effect"] == -0.25
    assert rows["rubric × item"]["effect"] == -0.5 and rows["rubric × item × justification"]["effect"] == 0


def test_texts_without_all_eight_scores_are_left_out(effects: Callable[..., Any]) -> None:
    rows = effects(lambda rubric, item, reasons, n: Failure.REFUSED if (n, rubric) == (0, "ja") else 2 if item == "ja" else 1)
    assert (rows["item"]["effect"], rows["item"]["n"], rows["item"]["incomplete"]) == (0.5, TEXTS - 1, 1)
    nothing = effects(lambda rubric, item, reasons, n: Failure.REFUSED if rubric == "ja" else 2)
    assert nothing["item"]["effect"] is None
    assert nothing["item"]["undefined"]["effect"] == "no text has readable scores in all eight cells"


@pytest.mark.parametrize("variants", [("single",), ("single", "single+in:ja")])
def test_without_all_cells_there_is_no_section(effects: Callable[..., Any], variants: tuple[str, ...]) -> None:
    assert effects(lambda rubric, item, reasons, n: 2, variants) == {}
