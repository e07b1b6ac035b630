"""Published sets are fetched whole or not at all: every file is checked, and so is what comes out."""

from __future__ import annotations

import gzip
import hashlib
import json
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import msgspec
import pytest
from filelock import FileLock

from harness.content.library import Library
from harness.content.specs import ConvertedTable, DatasetCard, LabelMapping, RawFile, RawSource, ScoreColumn
from harness.errors import AbsentRawFile, ContentError, DataFetchError, UsageError
from harness.model import Scale
from harness.published import fetch as published
from harness.published.fetch import MIRROR, converter_of
from harness.published.raw import RawFiles, Tables
from tests.unit.published.releases import Release

ROWS = [
    {"item_id": "a", "language": "cs", "task": "chat", "output": "Text."},
    {"item_id": "b", "language": "cs", "task": "chat", "output": "Věta."},
]


def convert(raw: RawFiles) -> Tables:
    return {"items": (json.loads(raw.text(path)) for path in raw.paths("data/*.json"))}


@pytest.fixture
def mirror(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with the two raw files of the made set; its converter is installed."""
    for row in ROWS:
        path = tmp_path / "mirror" / "owner" / "name" / "0a1b" / "data" / f"{row['item_id']}.json"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(msgspec.json.encode(row))
    monkeypatch.setenv(MIRROR, str(tmp_path / "mirror"))
    monkeypatch.setattr(published, "converters", lambda: {"made": SimpleNamespace(value="harness.made:convert", load=lambda: convert)})
    return tmp_path / "mirror" / "owner" / "name" / "0a1b" / "data"


def card(**changed: object) -> DatasetCard:
    files = tuple(
        RawFile(f"data/{row['item_id']}.json", len(data := msgspec.json.encode(row)), hashlib.sha256(data).hexdigest()) for row in ROWS
    )
    lines = b"".join(msgspec.json.encode(row) + b"\n" for row in ROWS)
    made = DatasetCard(
        id="made",
        version="1.0.0",
        sources=(RawSource("github:owner/name@0a1b", files),),
        converted={"items": ConvertedTable(2, hashlib.sha256(lines).hexdigest())},
    )
    return msgspec.structs.replace(made, **changed)


def left(home: Path) -> list[str]:
    """The data folders, whole or not."""
    return sorted(path.name for path in home.iterdir() if path.is_dir() and path.name != "raw")


def test_a_set_is_fetched_converted_and_as_its_card_says(mirror: Path, tmp_path: Path) -> None:
    arrived: list[int] = []
    folder = published.get(card(), tmp_path / "home", arrived.append)
    assert sum(arrived) == sum(file.bytes for file in card().sources[0].files)
    assert published.check(card(), folder) == [] and left(tmp_path / "home") == ["made"]


def test_a_fetch_goes_on_with_the_files_that_are_missing(mirror: Path, tmp_path: Path) -> None:
    away = (mirror / "b.json").rename(tmp_path / "b.json")
    with pytest.raises(DataFetchError, match=r"name/0a1b/data/b.json does not exist"):
        published.get(card(), tmp_path / "home")
    assert left(tmp_path / "home") == []
    away.rename(mirror / "b.json")
    (mirror / "a.json").unlink()  # is here already, so nobody asks for it
    assert published.check(card(), published.get(card(), tmp_path / "home")) == []


def test_another_file_under_the_same_name_is_refused_and_not_kept(mirror: Path, tmp_path: Path) -> None:
    (mirror / "b.json").write_bytes(msgspec.json.encode(ROWS[0]))
    with pytest.raises(DataFetchError, match="is not the file that the dataset card names: its SHA-256 should be"):
        published.get(card(), tmp_path / "home")
    assert not list((tmp_path / "home").rglob("b.json")) and left(tmp_path / "home") == []


def test_a_part_is_converted_only_on_demand_and_says_so(mirror: Path, tmp_path: Path) -> None:
    (mirror / "b.json").unlink()
    folder = published.get(card(), tmp_path / "home", partial=True)
    record = published.read_record(folder)
    assert record.missing == ("owner/name/data/b.json",) and record.tables["items"].rows == 1 and published.check(card(), folder) == []


def set_record(folder: Path, **changed: object) -> None:
    record = msgspec.json.decode((folder / "fetched.json").read_bytes())
    (folder / "fetched.json").write_bytes(msgspec.json.encode(record | changed))


def edit_table(folder: Path) -> dict[str, object]:
    """Change a score of the set, and return the tables as a record that hides the change would have them."""
    path = folder / "items.jsonl.gz"
    data = gzip.decompress(path.read_bytes()).replace(b"a", b"b", 1)
    path.write_bytes(gzip.compress(data))
    return {"items": {"rows": data.count(b"\n"), "sha256": hashlib.sha256(data).hexdigest()}}


def test_a_record_that_was_edited_with_its_tables_proves_nothing(mirror: Path, tmp_path: Path) -> None:
    folder = published.get(card(), tmp_path / "home")
    set_record(folder, tables=edit_table(folder))
    [problem] = published.check(card(), folder)
    assert problem.path.name == "items.jsonl.gz" and "it should have 2" in problem.message
    set_record(folder, tables={})
    assert "it should have 2" in published.check(card(), folder)[0].message


def test_tables_that_are_called_partial_are_not_confirmed(mirror: Path, tmp_path: Path) -> None:
    folder = published.get(card(), tmp_path / "home")
    assert published.unconfirmed(card(), folder) == ""
    set_record(folder, tables=edit_table(folder), missing=["owner/name/data/b.json"])
    assert published.check(card(), folder) == [] and "1 of its raw files were missing" in published.unconfirmed(card(), folder)
    set_record(folder, missing=["labels"])
    assert "calls 'labels' missing, which is no raw file of the card" in published.check(card(), folder)[0].message


def test_a_record_of_another_version_is_a_problem(mirror: Path, tmp_path: Path) -> None:
    folder = published.get(card(), tmp_path / "home")
    set_record(folder, card="made@0.9.0")
    assert [problem.message for problem in published.check(card(), folder)] == [
        "is of made@0.9.0, and the card is made@1.0.0; fetch the set again with 'harness data get made'"
    ]


@pytest.mark.parametrize("name", ["data.toml", "second_ratings.jsonl", "labels.parquet", "notes"])
def test_what_the_card_does_not_have_is_a_problem(mirror: Path, tmp_path: Path, name: str) -> None:
    folder = published.get(card(), tmp_path / "home")
    (folder / name).write_text("")
    table = {"rows": 0, "sha256": hashlib.sha256(b"").hexdigest()}
    for tables in ({}, {name.partition(".")[0]: table}):
        set_record(folder, tables=published.read_record(folder).tables | tables)
        assert any(
            problem.path == folder / name and "no part of the published set" in problem.message
            for problem in published.check(card(), folder)
        )


def test_a_card_without_hashes_confirms_nothing_and_the_record_has_to_hold(mirror: Path, tmp_path: Path) -> None:
    bare = card(converted={"items": ConvertedTable(2, "")})
    folder = published.get(bare, tmp_path / "home")
    assert published.check(bare, folder) == [] and published.unconfirmed(bare, folder) == "its card has no hash of items"
    edit_table(folder)
    assert "it should have 2" in published.check(bare, folder)[0].message


def test_there_is_no_part_without_a_file(mirror: Path, tmp_path: Path) -> None:
    for path in mirror.iterdir():
        path.unlink()
    with pytest.raises(AbsentRawFile, match=r"none of the raw files of 'made'.*no part to convert"):
        published.get(card(), tmp_path / "home", partial=True)
    assert left(tmp_path / "home") == []


def test_a_conversion_that_gives_other_rows_is_refused(mirror: Path, tmp_path: Path) -> None:
    other = card(converted={"items": ConvertedTable(3, "0" * 64)})
    with pytest.raises(ContentError, match=r"gives 2 rows of items .* but the card names 3"):
        published.get(other, tmp_path / "home")
    assert left(tmp_path / "home") == []


def test_a_table_that_was_changed_is_found(mirror: Path, tmp_path: Path) -> None:
    folder = published.get(card(), tmp_path / "home")
    (folder / "items.jsonl.gz").unlink()
    (folder / "items.jsonl").write_bytes(msgspec.json.encode(ROWS[0]) + b"\n")
    (problem,) = published.check(card(), folder)
    assert "has 1 rows" in problem.message and "should have 2" in problem.message


def test_two_commands_do_not_write_one_set(mirror: Path, tmp_path: Path) -> None:
    home = tmp_path / "home"
    home.mkdir()
    with FileLock(home / ".made.lock"), pytest.raises(UsageError, match="another command fetches or removes 'made'"):
        published.get(card(), home)


def test_only_what_was_fetched_is_removed(mirror: Path, tmp_path: Path) -> None:
    home = tmp_path / "home"
    published.get(card(), home)
    (home / "mine").mkdir()
    assert published.remove("made", home) and not published.remove("mine", home) and left(home) == ["mine"]


def test_a_card_without_a_converter_says_which_sets_can_be_fetched(mirror: Path, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"'other' cannot be fetched: .* Converters: made"):
        published.get(card(id="other"), tmp_path / "home")


@pytest.mark.parametrize("stop", [KeyboardInterrupt, ContentError])
def test_a_stopped_conversion_leaves_nothing(mirror: Path, tmp_path: Path, stop: type, monkeypatch: pytest.MonkeyPatch) -> None:
    def stopped(raw: RawFiles) -> Tables:
        def rows() -> Iterator[dict[str, str]]:
            yield ROWS[0]
            raise stop("stopped", "raw.json") if stop is ContentError else stop()

        return {"items": rows()}

    monkeypatch.setattr(published, "converters", lambda: {"made": SimpleNamespace(value="harness.made:convert", load=lambda: stopped)})
    with pytest.raises(stop):
        published.get(card(), tmp_path / "home")
    assert left(tmp_path / "home") == []


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
