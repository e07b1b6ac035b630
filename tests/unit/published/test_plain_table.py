"""Sets whose raw file is a plain table: the mapping of their card converts it, and no package is needed."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import msgspec
import pytest

from harness.content.library import Library
from harness.content.specs import DatasetCard, LabelMapping, RawFile, RawSource, ScoreColumn
from harness.errors import ContentError
from harness.model import Scale
from harness.published.folders import converter_of
from tests.unit.published.releases import Release

COLUMNS = ["index", "ad1", "ad2", "source_ad1", "source_ad2", "count.nonparaphrase", "count.paraphrase"]
PREFERENCE = ["count.preference_skip", "count.preference_ad1", "count.preference_ad2"]
FILE = "data/adparaphrase.csv"


def converted(card: DatasetCard, release: Release) -> dict[str, list[dict[str, Any]]]:
    return {table: list(rows) for table, rows in converter_of(card, None)(release.raw()).items()}


def adparaphrase(**changed: Any) -> DatasetCard:
    """The card of the catalog, for files of the invented repository."""
    source = RawSource("github:people/labels@0a1b", (RawFile(FILE, 1, ""),))
    return msgspec.structs.replace(Library().dataset_card("adparaphrase_ja"), sources=(source,), **changed)


def test_counts_are_votes_numbered_within_an_item(release: Release) -> None:
    rows = [
        [0, "はやい", "すばやい", "one", "two", 1, 2, 1, 0, 1],
        [7, "ちかい", "とおい", "one", "one", 2, 0, 0, 0, 0],
        [8, "あ", "", "a", "b", 0, 0, 0, 0, 0],
    ]
    release.csv(FILE, [COLUMNS + PREFERENCE, *rows])
    tables = converted(adparaphrase(), release)
    assert [item["item_id"] for item in tables["items"]] == ["adp1-0", "adp1-7", "adp1-8"]
    assert list(tables["items"][2].items())[1:5] == [
        ("language", "ja"),
        ("task", "ad_text_paraphrase_preference"),
        ("output_a", "あ"),
        ("output_b", ""),
    ]
    votes = [(row["item_id"], row["metric"], row["annotator_id"], row["score"]) for row in tables["labels"]]
    assert votes == [
        ("adp1-0", "is_paraphrase", "anon-1", "yes"),
        ("adp1-0", "is_paraphrase", "anon-2", "yes"),
        ("adp1-0", "is_paraphrase", "anon-3", "no"),
        ("adp1-0", "preference", "anon-1", "B"),
        ("adp1-0", "preference", "anon-2", "skip"),
        ("adp1-7", "is_paraphrase", "anon-1", "no"),
        ("adp1-7", "is_paraphrase", "anon-2", "no"),
    ]


@pytest.mark.parametrize("column", ["index", "ad1", "source_ad2", "count.paraphrase", "count.preference_skip"])
def test_a_missing_column_is_named_with_the_file(release: Release, tmp_path: Path, column: str) -> None:
    columns = [name for name in COLUMNS + PREFERENCE if name != column]
    release.csv(FILE, [columns, [0, *["x"] * (len(columns) - 1)]])
    with pytest.raises(ContentError, match=rf"data/adparaphrase\.csv.*'{column}' is not a column"):
        converted(adparaphrase(), release)


def test_a_cell_that_is_no_count_is_named_with_its_line(release: Release) -> None:
    good = [0, "a", "b", "one", "two", 1, 2, 1, 0, 1]
    release.csv(FILE, [COLUMNS + PREFERENCE, good, [1, *good[1:5], "many", *good[6:]]])
    with pytest.raises(ContentError, match=r"adparaphrase\.csv:3 \(column 6\): 'many' is no number of votes"):
        converted(adparaphrase(), release)


def test_several_files_and_named_people_are_read_in_the_order_of_the_card(release: Release) -> None:
    release.csv("b.csv", [["id", "text", "Tone"], ["x", "uno", "2"]])
    release.csv("a.csv", [["id", "text", "Tone"], ["x", "uno", "0"], ["y", "due", "1"]])
    mapping = LabelMapping(
        language="it",
        task="chat",
        annotator_from_file=r"(.)\.csv",
        columns={"item_id": "id"},
        texts={"output": "text"},
        wide=(ScoreColumn("Tone", metric="tone"),),
    )
    card = DatasetCard(
        id="mine",
        annotators="persistent",
        source="people",
        mapping=mapping,
        metrics={"tone": Scale(kind="ordinal", classes=(0, 1, 2), best=2)},
        sources=(RawSource("github:people/labels@0a1b", tuple(RawFile(name, 1, "") for name in ("b.csv", "a.csv"))),),
    )
    tables = converted(card, release)
    assert [(row["item_id"], row["annotator_id"], row["score"]) for row in tables["labels"]] == [
        ("x", "b", 2),
        ("x", "a", 0),
        ("y", "a", 1),
    ]
    assert [item["output"] for item in tables["items"]] == ["uno", "due"]
