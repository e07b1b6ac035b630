"""Labels in and out by the real command: exit codes, what is said where, round trips, and the hub imitated on the loopback interface."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import openpyxl
import pytest

from harness.content import Library
from harness.data import load_folder
from tests.e2e.hub import Hub

Cli = Callable[..., Any]
SHARED_DATA = Path(__file__).resolve().parents[3] / "shared" / "data"
MEANT = ("--language", "en", "--task", "chat", "--scale", "tone=0,1,2:best=2")


@pytest.fixture(autouse=True)
def _own_settings(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "settings"))


@pytest.fixture
def table(tmp_path: Path) -> Path:
    path = tmp_path / "ratings.csv"
    path.write_text("ID;worker;dimension;rating\n" + "".join(f"{n};{w};tone;{n % 3}\n" for n in range(30) for w in ("Anna", "Bob")))
    return path


def test_rows_that_all_come_in_end_with_0_and_the_folders_path(cli: Cli, table: Path, tmp_path: Path, library: Library) -> None:
    done = cli("labels", "import", table, "--to", tmp_path / "data", *MEANT, "--annotators", "persistent")
    assert (done.code, done.out) == (0, f"{tmp_path / 'data'}\n")
    assert "columns were matched by name: item_id = 'ID'" in done.err and "Anna" not in done.err
    assert done.err.splitlines()[-1] == "60 rows: 60 labels by 2 annotators on 1 metric imported"
    data = load_folder(tmp_path / "data", library)
    assert len(data.labels) == 60 and data.about.annotators == "persistent"


def test_refused_rows_end_with_1_and_the_first_twenty_are_shown(cli: Cli, table: Path, tmp_path: Path) -> None:
    with table.open("a") as file:
        file.writelines(f"x{n};Anna;tone;{70 + n}\x1b[31m\n" for n in range(25))
    done = cli("labels", "import", table, "--to", tmp_path / "data", *MEANT)
    ending = "25 refused, so nothing was written; correct them, or pass --allow-refused to import the others without them"
    assert done.code == 1 and done.out == "" and done.err.splitlines()[-1].endswith(ending) and not (tmp_path / "data").exists()
    done = cli("labels", "import", table, "--to", tmp_path / "data", *MEANT, "--allow-refused")
    shown = [line for line in done.err.splitlines() if "is not on the scale" in line]
    assert done.code == 1 and len(shown) == 20 and "… and 5 more" in done.err and "\x1b" not in done.err
    assert shown[0] == f"{table}:62: '70[31m' is not on the scale (0, 1, 2)"
    assert done.err.splitlines()[-1].endswith(f"imported; 25 refused (see {tmp_path / 'data' / 'refused.jsonl'})")
    rows = [json.loads(line) for line in (tmp_path / "data" / "refused.jsonl").read_text().splitlines()]
    assert len(rows) == 25 and rows[0]["place"] == "ratings.csv:62" and rows[0]["row"]["item_id"] == "x0"


def test_a_missing_scale_is_said_once_with_its_rows(cli: Cli, table: Path, tmp_path: Path) -> None:
    with table.open("a") as file:
        file.writelines(f"{n};Anna;warmth;3\n" for n in range(5))
    done = cli("labels", "import", table, "--to", tmp_path / "data", *MEANT)
    [said] = [line for line in done.err.splitlines() if "has no scale" in line]
    assert said.startswith(f"{table}:62, {table}:63, {table}:64 and 2 more rows: metric 'warmth' has no scale.")
    assert "--scale warmth=1..5:best=5" in said and done.code == 1


def test_json_has_the_same_facts(cli: Cli, table: Path, tmp_path: Path) -> None:
    with table.open("a") as file:
        file.write("31;Anna;tone;9\n")
    done = cli("labels", "import", table, "--to", tmp_path / "data", *MEANT, "--json")
    found = json.loads(done.out)
    assert done.code == 1 and found.pop("notes")
    assert found == {
        "rows": 61,
        "labels": 60,
        "blank": 0,
        "left_out": 0,
        "refused": 1,
        "items": 31,
        "annotators": 2,
        "metrics": ["tone"],
        "known": 0,
        "folder": str(tmp_path / "data"),
        "written": False,
    }


@pytest.mark.parametrize(
    ("change", "flags", "code", "words"),
    [
        (lambda path: path.write_text(""), (), 3, "ratings.csv: the file is empty"),
        (lambda path: path.write_bytes(b"ID;worker;dimension;rating\n\xff"), (), 3, "ratings.csv:2: byte 0xff is not UTF-8"),
        (lambda path: path.unlink(), (), 2, "ratings.csv does not exist"),
        (lambda path: None, ("--column", "score=Rating"), 3, "'Rating' is not a column; the columns are: ID, worker, dimension, rating"),
        (lambda path: None, ("--column", "points=rating"), 2, "'points' is not one of item_id, annotator_id"),
        (lambda path: None, ("--from", "xlsx"), 3, "not a readable Excel workbook"),
        (lambda path: None, ("--flip", "charm"), 2, "has no label of this metric"),
        (lambda path: None, ("--items", "nowhere.csv"), 2, "nowhere.csv does not exist"),
    ],
)
def test_what_cannot_be_imported_says_why_and_writes_nothing(
    cli: Cli, table: Path, tmp_path: Path, change: Callable[[Path], Any], flags: tuple[str, ...], code: int, words: str
) -> None:
    change(table)
    done = cli("labels", "import", table, "--to", tmp_path / "data", *MEANT, *flags)
    assert (done.code, done.out) == (code, "") and words in done.err
    assert not (tmp_path / "data").exists()


def test_a_mapping_file_says_what_flags_say_and_flags_win(cli: Cli, tmp_path: Path, library: Library) -> None:
    (tmp_path / "ratings.csv").write_text("ID,Anna fluency,Bob fluency\n1,Good,Bad\n2,Bad,\n")
    (tmp_path / "map.toml").write_text(
        """
language = "cs"
task = "chat"
annotators = "persistent"
flip = ["fluency"]
[columns]
item_id = "ID"
[[wide]]
column = "Anna fluency"
annotator = "Anna"
metric = "fluency"
[[wide]]
column = "Bob fluency"
annotator = "Bob"
metric = "fluency"
[categories.fluency]
Good = 1
Bad = 2
[metrics.fluency]
kind = "ordinal"
classes = [1, 2]
"""
    )
    flags = ("--map", tmp_path / "map.toml", "--language", "ja", "--keep-annotators")
    done = cli("labels", "import", tmp_path / "ratings.csv", "--to", tmp_path / "data", *flags)
    assert done.code == 0 and done.err.splitlines()[-1].endswith("imported; 1 empty cell")
    data = load_folder(tmp_path / "data", library)
    assert [(x.item_id, x.annotator_id, x.score) for x in data.labels] == [("1", "Anna", 2), ("1", "Bob", 1), ("2", "Anna", 1)]
    assert {item.language for item in data.items} == {
        "ja"
    } and "'fluency' was flipped: scores are reversed on the scale 1, 2" in data.about.notes


def test_a_sheet_of_the_bundled_items_goes_out_and_comes_back(cli: Cli, tmp_path: Path, library: Library) -> None:
    sheet = tmp_path / "sheet.xlsx"
    out = cli("labels", "export", "bundled", "--langs", "ja", "--task", "summarize", "--metrics", "linguistic_acceptability", "--to", sheet)
    assert (out.code, out.out) == (0, f"{sheet}\n")
    book = openpyxl.load_workbook(sheet)
    page = book.worksheets[0]
    column = next(cell.column_letter for cell in page[2] if cell.value == "metric:linguistic_acceptability")
    page["D1"] = "Hanako"
    for row in range(4, page.max_row + 1):
        page[f"{column}{row}"] = row % 3
    book.save(sheet)
    done = cli("labels", "import", sheet, "--to", tmp_path / "data", "--items", "bundled")
    assert done.code == 0, done.err
    data = load_folder(tmp_path / "data", library)
    marker = {row[0]: row[1] for row in book["_harness"].iter_rows(min_row=3, max_col=2, values_only=True)}
    filled = {marker[page[f"B{row}"].value]: row % 3 for row in range(4, page.max_row + 1)}
    assert {label.item_id: label.score for label in data.labels} == filled and len(filled) == 54
    assert {item.group for item in data.items} != {item.item_id for item in data.items}


@pytest.mark.parametrize("name", ["labels.csv", "labels.jsonl", "labels.parquet"])
def test_tables_go_out_and_come_back(cli: Cli, table: Path, tmp_path: Path, library: Library, name: str) -> None:
    assert cli("labels", "import", table, "--to", tmp_path / "one", *MEANT).code == 0
    assert cli("labels", "export", tmp_path / "one", "--to", tmp_path / name).code == 0
    done = cli("labels", "import", tmp_path / name, "--to", tmp_path / "two", "--items", tmp_path / "one", "--keep-annotators")
    assert done.code == 0, done.err
    one, two = (load_folder(tmp_path / folder, library) for folder in ("one", "two"))
    assert list(one.labels) == list(two.labels) and one.items == two.items and one.scales == two.scales


@pytest.mark.needs("shared data")
def test_published_labels_come_in_whole(cli: Cli, tmp_path: Path, library: Library) -> None:
    source = SHARED_DATA / "pariksha"
    words = ("labels", "import", source / "labels.jsonl.gz", "--items", source, "--to", tmp_path / "data", "--source", "native")
    done = cli(*words, "--keep-annotators", "--json")
    assert done.code == 0 and json.loads(done.out)["rows"] == 18855
    one, two = load_folder(source, library), load_folder(tmp_path / "data", library)
    assert list(one.labels) == list(two.labels) and one.items == two.items
    assert two.about.licence == one.about.licence


def test_bundled_labels_are_exported_only_for_named_languages(cli: Cli, tmp_path: Path) -> None:
    done = cli("labels", "export", "bundled", "--to", tmp_path / "a.csv")
    assert done.code == 2 and "name the languages to export from 'bundled' with --langs" in done.err


def test_the_salt_is_made_in_the_settings_and_used_again(cli: Cli, table: Path, tmp_path: Path, library: Library) -> None:
    for folder in ("one", "two"):
        assert cli("labels", "import", table, "--to", tmp_path / folder, *MEANT).code == 0
    [salt] = (tmp_path / "settings").rglob("annotator-salt")
    assert salt.stat().st_mode & 0o777 == 0o600
    one, two = (load_folder(tmp_path / folder, library) for folder in ("one", "two"))
    assert list(one.labels) == list(two.labels)
    within = cli("labels", "import", table, "--to", tmp_path / "three", *MEANT, "--salt-file", tmp_path / "three" / "salt")
    assert within.code == 2 and "would be inside" in within.err and not (tmp_path / "three").exists()


# The hub

COMMIT = "a" * 40
FILES = {"data.jsonl": b"".join(json.dumps({"item_id": n, "user": "x", "tone": n % 3}).encode() + b"\n" for n in range(5))}


@pytest.fixture
def hub(tmp_path: Path) -> Iterator[dict[str, str]]:
    """What a process needs in its environment to ask the imitated hub."""
    served = Hub(FILES, COMMIT, "v1")
    yield served.environment(tmp_path / "home") | {"XDG_CONFIG_HOME": os.environ["XDG_CONFIG_HOME"]}
    served.close()


@pytest.mark.slow
def test_a_data_set_of_the_hub_is_read_at_the_commit_that_its_revision_names(
    command: Callable[..., Any], hub: dict[str, str], tmp_path: Path, library: Library
) -> None:
    flags = (*MEANT, "--wide-metrics", "tone", "--to", tmp_path / "data")
    done = command("labels", "import", "hf:owner/name", "--revision", "v1", *flags, env=hub)
    assert done.returncode == 0, done.stderr
    data = load_folder(tmp_path / "data", library)
    assert [(label.item_id, label.score) for label in data.labels] == [("0", 0), ("1", 1), ("2", 2), ("3", 0), ("4", 1)]
    assert f"hf:owner/name was read at commit {COMMIT}" in data.about.notes


@pytest.mark.slow
def test_a_revision_that_is_not_there_is_said(command: Callable[..., Any], hub: dict[str, str], tmp_path: Path) -> None:
    done = command("labels", "import", "hf:owner/name", "--revision", "v2", *MEANT, "--to", tmp_path / "data", env=hub)
    assert done.returncode == 3 and "hf:owner/name: cannot be fetched at revision 'v2'" in done.stderr and "Traceback" not in done.stderr
    assert not (tmp_path / "data").exists()
