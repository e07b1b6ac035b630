"""METAL: the described file converts; whatever differs from the description is an error that says what."""

import hashlib
from typing import Any

import pytest

from harness.errors import ContentError
from harness.published.metal import ANNOTATORS, CLASSES, FILE, JUDGES, VARIANTS
from tests.unit.published.releases import Release

LANGUAGES = ["English", "French", "Chinese (simplified)", "Hindi", "Arabic", "Bengali", "Russian", "Turkish", "Japanese", "Swahili"]


def described() -> dict[str, Any]:
    """A file as the release describes it."""
    instances = {}
    for language in LANGUAGES:
        for number in range(100):
            kind = ("Good", "Bad")[number % 2]
            score = int(kind == "Good")
            judged = {m: {"comments": dict.fromkeys(JUDGES, "so"), "scores": dict.fromkeys(JUDGES, score)} for m in CLASSES}
            key = hashlib.sha256(f"Summ/{language}/x{number}/{number}".encode()).hexdigest()
            instances[key] = {
                "XLSum_ID": f"x{number}",
                "Index": number,
                "Type": kind,
                "Language": language,
                "Generated_Summary": "…",
                "Human_Scores": {metric: dict.fromkeys(ANNOTATORS, score) for metric in CLASSES},
                **{part: judged for part in VARIANTS},
            }
    return instances


def test_the_described_file_gives_the_described_counts(release: Release) -> None:
    release.json(FILE, described())
    tables = release.convert("metal")
    assert {table: len(rows) for table, rows in tables.items()} == {"items": 1000, "labels": 15_000, "judgments": 30_000}
    assert {item["language"] for item in tables["items"]} == {"en", "fr", "zh", "hi", "ar", "bn", "ru", "tr", "ja", "sw"}
    assert tables["items"][1]["system"] == "gpt-4/bad" and tables["items"][1]["group"] == "x1"
    assert {row["variant"] for row in tables["judgments"]} == {"single", "single+detailed"}


def test_an_empty_score_gives_no_label(release: Release) -> None:
    data = described()
    next(iter(data.values()))["Human_Scores"]["hallucinations"]["A2"] = ""
    release.json(FILE, data)
    assert len(release.convert("metal")["labels"]) == 14_999


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda one: one.pop("Index"), "lacks Index"),
        (lambda one: one.update(Language="Klingon"), "is in 'Klingon'"),
        (lambda one: one.update(Language="French"), "is not the SHA-256 of Summ/fr/x0/0"),
        (lambda one: one.update(Type="Ugly"), "type 'Ugly'"),
        (lambda one: one["Human_Scores"].pop("task_quality"), "Human_Scores of summary .* has the metrics"),
        (lambda one: one["Human_Scores"]["task_quality"].pop("A3"), "has scores of A1, A2; the release describes A1, A2, A3"),
        (
            lambda one: one["Human_Scores"]["task_quality"].update(A1=3),
            "A1 gave summary .* 3 in task_quality; the release describes scores from 0 to 2",
        ),
        (lambda one: one["Human_Scores"]["task_quality"].update(A1="good"), "'good' in task_quality; the release describes numbers"),
    ],
)
def test_what_differs_from_the_description_is_named(release: Release, change: Any, message: str) -> None:
    data = described()
    change(next(iter(data.values())))
    release.json(FILE, data)
    with pytest.raises(ContentError, match=message):
        release.convert("metal")


def test_a_missing_summary_and_an_exchanged_direction_are_named(release: Release) -> None:
    data = described()
    removed = data.pop(next(iter(data)))
    release.json(FILE, data)
    with pytest.raises(ContentError, match="summaries by language: en 99"):
        release.convert("metal")
    data = described()
    for one in data.values():
        one["Human_Scores"]["hallucinations"] = dict.fromkeys(ANNOTATORS, int(one["Type"] == "Bad"))
    release.json(FILE, data)
    with pytest.raises(ContentError, match=r"hallucinations: good summaries score 0\.000 on average, bad ones 1\.000"):
        release.convert("metal")
    assert removed["Language"] == "English"
