"""The same texts in several languages: shifts by hand, judges that are consistent, what is no parallel text."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from harness.data import Dataset
from harness.data.judgments import Judgments
from harness.measure.compare import Recording
from harness.measure.options import MeasureOptions
from harness.model import Failure, Item, Scale
from harness.reports.sections.languages import compare_same_texts
from tests.unit.made_judgments import made_judgment

TEXTS = 12
SCALES = {"m": Scale(kind="ordinal", classes=(0, 1, 2), best=2)}
Score = Callable[[str, int], Any]


@pytest.fixture
def section(make_data: Callable[..., Dataset]) -> Callable[..., dict[str, Any] | None]:
    """The section of a judge's scores `score(language, text)` of texts that are parallel; labels alternate between 2 and 1."""

    def make(score: Score, languages: tuple[str, ...] = ("cs", "de", "ja"), texts: int = TEXTS, parallel: str = "p{}") -> Any:
        items, labels, given = [], {}, []
        for tag in languages:
            for n in range(texts):
                name = f"{tag}-{n}"
                fields = {"prompt": "p", "output": f"o {n}"}
                items.append(Item(name, tag, "open_prompt", group=name, parallel_id=parallel.format(n), fields=fields))
                labels[name, "m"] = [2 - n % 2]
                answer = score(tag, n)
                failed = isinstance(answer, Failure)
                about = {"item_id": name, "language": tag, "task": "open_prompt", "metric": "m", "judge": "j", "variant": "single"}
                more = {"temperature": 0.0, "repeat": 0, "raw_choice": None, "justification": None, "call_id": "c"}
                given.append(made_judgment(**about, **more, score=None if failed else answer, failure=answer if failed else None))
        source = Recording("made", make_data(items, labels, SCALES), Judgments.from_rows(given))
        return compare_same_texts(source, MeasureOptions())

    return make


def by_language(found: dict[str, Any], metric: str = "m") -> dict[str, dict[str, Any]]:
    return {row["language"]: row for row in found["rows"] if row["metric"] == metric}


def test_a_judge_that_is_harsher_in_one_language(section: Callable[..., Any]) -> None:
    """Czech and German 2, Japanese 1 on a scale of two points: Japanese is half the scale below the others, these a quarter above."""
    found = section(lambda tag, n: 1 if tag == "ja" else 2)
    rows = by_language(found)
    assert {tag: row["shift"] for tag, row in rows.items()} == {"cs": 0.25, "de": 0.25, "ja": -0.5}
    assert rows["ja"]["shift_ci"][1] < 0 and rows["ja"]["shift_p"] < 0.05 and rows["ja"]["groups"] == TEXTS
    assert by_language(found, "*")["ja"]["shift"] == -0.5
    [metric] = found["metrics"]
    assert metric["agreement"] == pytest.approx(1 / 3) and metric["pairs"] == {"cs de": 1.0, "cs ja": 0.0, "de ja": 0.0}
    assert metric["n"] == TEXTS and found["title"] == "The same texts in three languages"


def test_a_judge_that_is_consistent_may_be_wrong(section: Callable[..., Any]) -> None:
    found = section(lambda tag, n: n % 2 * 2)
    assert {row["shift"] for row in found["rows"]} == {0.0}
    [metric] = found["metrics"]
    assert (metric["agreement"], metric["fleiss"], metric["randolph"]) == (1.0, 1.0, 1.0)


def test_different_texts_move_no_shift(section: Callable[..., Any]) -> None:
    """The text is held fixed: easy and hard texts in all languages make no difference between languages."""
    found = section(lambda tag, n: n % 3)
    assert all(row["shift"] == 0 and row["shift_ci"][0] <= 0 <= row["shift_ci"][1] for row in found["rows"])


def test_unreadable_scores_are_counted_and_compared_with_what_is_left(section: Callable[..., Any]) -> None:
    def score(tag: str, n: int) -> Any:
        return Failure.REFUSED if tag == "ja" and n < 2 else 1 if tag == "de" and n == 0 else 2

    rows = by_language(section(score))
    assert (rows["ja"]["n"], rows["ja"]["unreadable"], rows["cs"]["n"]) == (TEXTS - 2, 2, TEXTS)
    assert rows["cs"]["shift"] == pytest.approx(0.5 / TEXTS)  # of the first text German alone is left, a point below


def test_a_language_without_any_readable_score_is_undefined(section: Callable[..., Any]) -> None:
    found = section(lambda tag, n: Failure.REFUSED if tag == "ja" else 2)
    row = by_language(found)["ja"]
    assert row["shift"] is None and row["undefined"]["shift"] == "no readable score of the same text in another language"


def test_what_needs_more_languages_says_so(section: Callable[..., Any]) -> None:
    [metric] = section(lambda tag, n: n % 3)["metrics"]
    assert metric["i2"] is None and "fewer than 5 languages" in metric["undefined"]["i2"]
    [nine] = section(lambda tag, n: (n + len(tag)) % 3, languages=("cs", "de", "en", "es", "fr", "it"))["metrics"]
    assert nine["i2"] == 0 and nine["between_sd"] == 0


@pytest.mark.parametrize(
    "made",
    [{"texts": 7}, {"languages": ("cs",)}, {"parallel": "the same for all"}],
    ids=["few texts", "one language", "several items share an id"],
)
def test_no_section(section: Callable[..., Any], made: dict[str, Any]) -> None:
    assert section(lambda tag, n: 2, **made) is None
