"""AdParaphrase 2.0: a plain table of counts, read by the card's mapping alone."""

from __future__ import annotations

import msgspec

from harness.content.library import Library
from harness.content.specs import RawFile, RawSource
from harness.data.dataset import load_folder
from harness.published.fetch import converter_of
from harness.row_files import to_jsonl
from tests.unit.published.releases import Release

FILE = "data/adparaphrase_v2_main.csv"
COLUMNS = ["id", "ad1", "ad2", "source_ad1", "source_ad2", "count.paraphrase", "count.nonparaphrase"]
PREFERENCE = ["count.preference_ad1", "count.preference_ad2", "count.preference_skip"]


def test_counts_are_votes_and_pairs_of_one_source_text_belong_together(release: Release) -> None:
    rows = [
        [0, "はやい", "すばやい", "camera_1", "human", 4, 1, 2, 1, 7],
        [5, "はやい", "おそい", "camera_2", "calm7b", 1, 4, 0, 0, 0],
        [6, "ちかい", "そば", "camera_3", "human", 5, 0, 0, 10, 0],
    ]
    release.csv(FILE, [COLUMNS + PREFERENCE, *rows])
    card = msgspec.structs.replace(
        Library().dataset_card("adparaphrase_v2"), sources=(RawSource("github:people/labels@0a1b", (RawFile(FILE, 1, ""),)),)
    )
    tables = {table: list(rows) for table, rows in converter_of(card, None)(release.raw()).items()}
    assert list(tables["items"][1].items()) == [
        ("item_id", "adp2-5"),
        ("language", "ja"),
        ("task", "ad_text_paraphrase_preference"),
        ("output_a", "はやい"),
        ("output_b", "おそい"),
        ("system_a", "camera_2"),
        ("system_b", "calm7b"),
    ]
    first = [row for row in tables["labels"] if row["item_id"] == "adp2-0"]
    assert [row["annotator_id"] for row in first] == [f"anon-{number}" for number in (*range(1, 6), *range(1, 11))]
    assert [(row["metric"], row["score"]) for row in first] == [
        *[("is_paraphrase", "yes")] * 4,
        ("is_paraphrase", "no"),
        *[("preference", "A")] * 2,
        ("preference", "B"),
        *[("preference", "skip")] * 7,
    ]
    assert {row["metric"] for row in tables["labels"] if row["item_id"] == "adp2-5"} == {"is_paraphrase"}
    folder = release.raw().file(FILE).parents[2] / "adparaphrase_v2"
    folder.mkdir()
    for table, content in tables.items():
        folder.joinpath(f"{table}.jsonl").write_bytes(to_jsonl(content))
    items = load_folder(folder, Library()).items
    assert items[0].group == items[1].group != items[2].group
