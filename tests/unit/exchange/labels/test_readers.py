"""Every kind of source becomes the same table, and what is wrong with a source as a whole is named with its place."""

from __future__ import annotations

import codecs
import datetime
import gzip
import io
import json
import tracemalloc
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from harness.errors import ContentError, UsageError
from harness.exchange.labels import source_table as limits
from harness.exchange.labels.cell_scores import Unreadable
from harness.exchange.labels.choose_reader import KINDS, read_source
from harness.exchange.labels.source_table import SourceTable
from harness.exchange.labels.table_options import SourceOptions
from harness.row_files import to_csv, write_parquet

Written = Callable[..., Path]
ROWS = [{"item_id": "a", "score": "2"}, {"item_id": "ž", "score": "1"}]
CSV = "item_id,score\na,2\nž,1\n"


def cells(table: SourceTable) -> list[dict[str, Any]]:
    return [record.cells for record in table.records]


def places(table: SourceTable, column: str | None = None) -> list[str]:
    return [record.place(column).rpartition("/")[2] for record in table.records]


def complaint(path: Path, **options: Any) -> str:
    """The message of the error, from the file's name on."""
    with pytest.raises(ContentError) as caught:
        read_source(str(path), SourceOptions(**options))
    return str(caught.value).removeprefix(f"{path.parent}/")


# Delimited text


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("a.csv", CSV),
        ("a.csv", b"\xef\xbb\xbf" + CSV.encode()),
        ("a.csv", codecs.BOM_UTF16_LE + CSV.encode("utf-16-le")),
        ("a.csv", codecs.BOM_UTF16_BE + CSV.encode("utf-16-be")),
        ("a.csv", CSV.replace(",", ";")),
        ("a.csv", "sep=;\r\n" + CSV.replace(",", ";")),
        ("a.csv", CSV.replace("\n", "\r\n")),
        ("a.csv", CSV.replace("\n", "\r")),
        ("a.csv", "\n" + CSV + ",\n\n"),
        ("a.csv", " item_id , score \na,2\nž,1"),
        ("a.csv", "item_id,score,\na,2,\nž,1,\n"),
        ("a.csv", '"item_id","score"\n"a","2"\n"ž","1"\n'),
        ("a.tsv", CSV.replace(",", "\t")),
        ("a.txt", CSV.replace(",", "\t")),
        ("a.csv.gz", gzip.compress(CSV.encode())),
    ],
    ids=[
        "plain",
        "mark",
        "UTF-16",
        "UTF-16 big",
        ";",
        "sep=",
        "CRLF",
        "CR",
        "blank rows",
        "spaces",
        "unnamed",
        "quoted",
        "tsv",
        "txt",
        "gz",
    ],
)
def test_tables_are_read_however_they_were_saved(written: Written, name: str, content: Any) -> None:
    table = read_source(str(written(name, content)))
    assert cells(table) == ROWS and list(table.columns) == ["item_id", "score"]


def test_a_row_is_placed_at_the_line_on_which_it_begins(written: Written) -> None:
    table = read_source(str(written("a.csv", 'item_id,text\na,"one\ntwo"\n\nb,x\n')))
    assert places(table) == ["a.csv:2", "a.csv:5"]


def test_texts_that_were_guarded_against_formulas_come_back(written: Written) -> None:
    rows = [{"a": "=1+1", "b": "-5"}, {"a": "'tis", "b": "@x"}]
    assert cells(read_source(str(written("a.csv", to_csv(rows, ["a", "b"]))))) == rows


@pytest.mark.parametrize(
    ("content", "words"),
    [
        ("", "a.csv: the file is empty"),
        ("\n \n", "a.csv: the file is empty"),
        ("item_id,score\n", "a.csv:1: the file has column names but no rows"),
        ("item_id,score\n,\n", "a.csv:1: the file has column names"),
        ("a,b, a\n1,2,3\n", "a.csv:1: 2 columns are called 'a'"),
        ("a,b\n1,2\n3\n", "a.csv:3: 1 cells where the header has 2 columns"),
        ("a,b\n1,2\n3,4,5\n", "a.csv:3: 3 cells where the header has 2 columns"),
        ('a,b\n1,"2\n3,4\n', "a.csv:2: a quotation mark is opened here and never closed"),
        ('a,b\n1,"2"x\n', "a.csv:2: not a row of a table"),
        (CSV.encode("latin2"), "a.csv:3: byte 0xbe is not UTF-8; save the file as UTF-8 or name its encoding, e.g. --encoding cp1252"),
        (CSV.encode() + "č,1\n".encode("cp1250"), "a.csv:4: byte 0xe8 is not UTF-8, though lines before it are: the file mixes encodings"),
        (CSV.encode("utf-16-le"), "a.csv:1: a NUL character"),
        (codecs.BOM_UTF16_LE + CSV.encode("utf-16-le")[:-1], "a.csv:3: "),
    ],
    ids=[
        "empty",
        "blank",
        "header",
        "blank row",
        "twice",
        "short",
        "long",
        "open quote",
        "quote",
        "latin2",
        "mixed",
        "UTF-16",
        "cut UTF-16",
    ],
)
def test_what_is_no_table_is_named_with_its_line(written: Written, content: Any, words: str) -> None:
    assert complaint(written("a.csv", content)).startswith(words)


def test_another_encoding_is_read_when_it_is_named(written: Written) -> None:
    path = written("a.csv", CSV.encode("cp1250"))
    assert cells(read_source(str(path), SourceOptions(encoding="cp1250"))) == ROWS
    assert "is not ascii" in complaint(path, encoding="ascii")
    with pytest.raises(UsageError, match="--encoding klingon is not a known encoding"):
        read_source(str(path), SourceOptions(encoding="klingon"))


@pytest.mark.parametrize("name", ["a.csv.gz", "a.jsonl.gz", "a.json.gz"])
def test_a_gzip_file_that_breaks_off_is_named(written: Written, name: str) -> None:
    content = "".join(json.dumps({"item_id": str(number), "score": number}) + "\n" for number in range(999))
    assert "the gzip file breaks off; fetch it again" in complaint(written(name, gzip.compress(content.encode())[:-40]))


@pytest.mark.parametrize("name", ["a.csv", "a.csv.gz", "a.jsonl", "a.jsonl.gz", "a.json"])
def test_a_file_over_the_limit_is_refused_and_the_limit_said(written: Written, monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    monkeypatch.setattr(limits, "MAX_BYTES", 1 << 20)
    content = b" " * (2 << 20)
    assert "larger than 1 MiB" in complaint(written(name, gzip.compress(content) if name.endswith("gz") else content))


# Workbooks


def test_a_workbook_is_read_with_the_place_of_each_cell(workbook: Callable[..., Path]) -> None:
    path = workbook([[], ["item_id", None, "score"], ["a", None, 2], [], [7, "unnamed", 1.5]])
    table = read_source(str(path))
    assert cells(table) == [{"item_id": "a", "score": 2}, {"item_id": 7, "score": 1.5}]
    assert places(table, "score") == ["book.xlsx:Scores!C3", "book.xlsx:Scores!C5"] and places(table)[0] == "book.xlsx:Scores!3"


def _merge(sheet: Any) -> None:
    sheet.merge_cells("A2:A3")


def _formulas(sheet: Any) -> None:
    sheet["B2"] = "=1+1"


def _error(sheet: Any) -> None:
    sheet["B2"] = "#DIV/0!"


@pytest.mark.parametrize(
    ("change", "column", "words"),
    [
        (_merge, "item_id", "the cell is part of the merged range A2:A3; unmerge it and fill every cell"),
        (_formulas, "score", "the formula =1+1 has no stored value; open and save the file in a spreadsheet program"),
        (_error, "score", "the cell holds Excel's error #DIV/0!"),
    ],
)
def test_cells_that_hold_something_else_say_so(workbook: Callable[..., Path], change: Any, column: str, words: str) -> None:
    table = read_source(str(workbook([["item_id", "score"], ["a", 1], ["b", 2]], change)))
    assert cells(table)[0][column] == Unreadable(words)


def test_both_rows_of_a_merged_cell_are_marked(workbook: Callable[..., Path]) -> None:
    table = read_source(str(workbook([["item_id", "score"], ["a", 1], [None, 2]], _merge)))
    assert [type(row["item_id"]) for row in cells(table)] == [Unreadable, Unreadable]


def test_a_formula_with_its_value_counts_as_the_value(workbook: Callable[..., Path]) -> None:
    path = workbook([["item_id", "score"], ["a", 1]], _formulas)
    _edit(path, "xl/worksheets/sheet1.xml", b"<f>1+1</f><v></v>", b"<f>1+1</f><v>2</v>", b"<f>1+1</f><v />", b"<f>1+1</f><v/>")
    assert cells(read_source(str(path)))[0]["score"] == 2


@pytest.mark.parametrize(
    ("stored", "value"),
    [
        (b'<c r="B2"><f>1+1</f><v>0</v></c>', 0),
        (b'<c r="B2" t="b"><f>1+1</f><v>0</v></c>', False),
        (b'<c r="B2" t="b"><f>1+1</f><v>1</v></c>', True),
        (b'<c r="B2"><f>1+1</f><v>0.0</v></c>', 0.0),
        (b'<c r="B2" t="str"><f>1+1</f><v></v></c>', None),
        (b'<c r="B2" t="str"><f>1+1</f><v>bad</v></c>', "bad"),
        (b'<c r="B2" t="e"><f>1+1</f><v>#DIV/0!</v></c>', Unreadable("the cell holds Excel's error #DIV/0!")),
        (b'<c r="B2" t="e"><f>1+1</f><v>#SPILL!</v></c>', Unreadable("the cell holds Excel's error #SPILL!")),
    ],
)
def test_a_stored_value_of_a_formula_may_be_zero_false_empty_or_an_error(
    workbook: Callable[..., Path], stored: bytes, value: object
) -> None:
    path = workbook([["item_id", "score"], ["a", 1]], _formulas)
    never = b'<c r="B2"><f>1+1</f><v></v></c>'
    _edit(path, "xl/worksheets/sheet1.xml", never, stored, never.replace(b"<v></v>", b"<v />"), never.replace(b"<v></v>", b"<v/>"))
    read = cells(read_source(str(path)))[0].get("score")
    assert (read, type(read)) == (value, type(value))


def _edit(path: Path, part: str, old: bytes, new: bytes, *other_forms: bytes) -> None:
    """Change a part of a workbook as another program might have written it."""
    with zipfile.ZipFile(path) as archive:
        parts = {name: archive.read(name) for name in archive.namelist()}
    before = parts[part]
    for form in (old, *other_forms):
        parts[part] = parts[part].replace(form, new)
    assert parts[part] != before
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in parts.items():
            archive.writestr(name, data)


def test_dates_stay_dates_for_the_score_to_refuse(workbook: Callable[..., Path]) -> None:
    table = read_source(str(workbook([["item_id", "score"], ["a", datetime.date(2024, 5, 1)]])))
    assert cells(table)[0]["score"] == datetime.datetime(2024, 5, 1)


def test_of_several_sheets_the_first_filled_one_is_read_and_said(workbook: Callable[..., Path]) -> None:
    import openpyxl

    path = workbook([["item_id", "score"], ["a", 1]])
    book = openpyxl.load_workbook(path)
    book.create_sheet("Empty", 0)
    book.create_sheet("More").append(["item_id"])
    book["More"].append(["b"])
    book.save(path)
    table = read_source(str(path))
    assert table.notes == ["the sheet 'Scores' was read; choose another with --sheet (More)"]
    assert cells(read_source(str(path), SourceOptions(sheet="More"))) == [{"item_id": "b"}]
    with pytest.raises(UsageError, match="has no such sheet; choose from: Empty, Scores, More"):
        read_source(str(path), SourceOptions(sheet="Other"))
    assert "the sheet 'Empty' is empty" in complaint(path, sheet="Empty")


@pytest.mark.parametrize(
    ("rows", "change", "words"),
    [
        ([], lambda sheet: None, "book.xlsx: all sheets are empty"),
        ([["item_id", "score"]], lambda sheet: None, "book.xlsx:Scores!1: the sheet has column names but no rows"),
        ([["a", "a"], [1, 2]], lambda sheet: None, "book.xlsx:Scores!1: 2 columns are called 'a'"),
        (
            [["a", "b"], [1, 2]],
            lambda sheet: sheet.merge_cells("A1:B1"),
            "book.xlsx:Scores!1: in the row of column names: the cell is part",
        ),
    ],
    ids=["empty", "header", "twice", "merged header"],
)
def test_a_workbook_without_a_table_is_refused(workbook: Callable[..., Path], rows: Any, change: Any, words: str) -> None:
    assert complaint(workbook(rows, change)).startswith(words)


def test_a_workbook_that_unpacks_to_too_much_is_refused(workbook: Callable[..., Path], monkeypatch: pytest.MonkeyPatch) -> None:
    path = workbook([["item_id", "score"], ["a", 1]])
    with zipfile.ZipFile(path, "a", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("xl/media/image1.png", bytes(3 << 20))
    monkeypatch.setattr(limits, "MAX_BYTES", 1 << 20)
    assert path.stat().st_size < 1 << 20
    assert complaint(path) == "book.xlsx: unpacks to 3 MiB, more than 1 MiB; save only the rows needed"


def test_a_workbook_with_entities_is_refused(workbook: Callable[..., Path]) -> None:
    path = workbook([["item_id", "score"], ["a", 1]])
    comment = b"<!--" + b"x" * 9000 + b"-->"
    _edit(path, "xl/workbook.xml", b"<workbook", comment + b'<!DOCTYPE w [<!ENTITY a "aa">]><workbook')
    assert "the part xl/workbook.xml declares a document type or entities" in complaint(path)


@pytest.mark.parametrize("method", [zipfile.ZIP_DEFLATED, zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA], ids=["deflate", "bzip2", "lzma"])
def test_a_workbook_with_a_false_size_is_refused_in_little_memory(workbook: Callable[..., Path], method: int) -> None:
    """A part of 64 MiB that states ten bytes: bzip2 and lzma are no methods of workbooks, and deflate is read as far as is stated."""
    path = workbook([["item_id", "score"], ["a", 1]])
    with zipfile.ZipFile(path, "a", method) as archive:
        archive.writestr("xl/more.xml", bytes(64 << 20))
    content = bytearray(path.read_bytes())
    for at in (content.rfind(b"PK\x01\x02") + 24, content.rfind(b"PK\x03\x04") + 22):
        content[at : at + 4] = (10).to_bytes(4, "little")
    path.write_bytes(content)
    tracemalloc.start()
    said = complaint(path)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert ("does not have the size" if method == zipfile.ZIP_DEFLATED else "is packed with method") in said
    assert peak < 8 << 20


def test_a_cell_in_the_last_corner_costs_nothing(workbook: Callable[..., Path]) -> None:
    table = read_source(str(workbook([["item_id", "score"], ["a", 1]], lambda sheet: sheet.cell(1_048_576, 16_384, " "))))
    assert cells(table) == [{"item_id": "a", "score": 1}]


def test_merges_of_millions_of_cells_are_refused_unvisited(workbook: Callable[..., Path]) -> None:
    path = workbook([["item_id", "score"], ["a", 1]], _merge)
    _edit(path, "xl/worksheets/sheet1.xml", b'ref="A2:A3"', b'ref="A2:XFD1048576"')
    assert complaint(path) == "book.xlsx: 17179852800 cells are merged, more than 1000000; unmerge them"


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"PK\x03\x04 and nothing more", "not a readable Excel workbook"),
        (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", "an old Excel workbook (.xls), or one with a password"),
    ],
)
def test_what_is_no_workbook_is_refused(written: Written, content: bytes, words: str) -> None:
    assert words in complaint(written("a.xlsx", content))


def test_an_archive_that_is_no_workbook_is_refused(written: Written) -> None:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as archive:
        archive.writestr("readme.txt", "hello")
    assert "not a readable Excel workbook" in complaint(written("a.xlsx", out.getvalue()))


def test_a_workbook_under_another_name_is_still_one(workbook: Callable[..., Path]) -> None:
    assert read_source(str(workbook([["item_id", "score"], ["a", 1]], name="book.csv"))).kind == "xlsx"


# JSONL, JSON, Parquet


def test_objects_are_read_and_nested_ones_spread_out(written: Written) -> None:
    rows = [{"item_id": "a", "answer": {"score": 2}}, {"item_id": "b", "text": "", "answer": {"score": 1}}]
    lines = written("a.jsonl", "\ufeff" + "\n\n".join(map(json.dumps, rows)))
    flat = [{"item_id": "a", "answer.score": 2}, {"item_id": "b", "answer.score": 1}]
    assert cells(read_source(str(lines))) == flat and places(read_source(str(lines))) == ["a.jsonl:1", "a.jsonl:3"]
    listed = read_source(str(written("a.json", rows)))
    assert cells(listed) == flat and listed.kind == "json" and places(listed) == ["a.json:record 1", "a.json:record 2"]


@pytest.mark.parametrize(
    ("name", "content", "words"),
    [
        ("a.jsonl", "", "a.jsonl: the file is empty"),
        ("a.jsonl", '{"a": 1}\n[1]\n', "a.jsonl:2: not a JSON object"),
        ("a.jsonl", b'{"a": 1}\n{"a": "\xff"}\n', "a.jsonl:2: not UTF-8"),
        ("a.json", "", "a.json: the file is empty"),
        ("a.json", "[]", "a.json: an empty list"),
        ("a.json", "7", "a.json: a list of objects is expected"),
        ("a.json", '[{"a": 1}, 7]', "a.json: a list of objects is expected"),
        ("a.json", '[{"a": 1},\n {"a": }]', "a.json:2: not JSON in UTF-8"),
        ("a.json", '[{"a": 1},\n {"a"', "a.json:2: not JSON in UTF-8"),
        ("a.json", "[" * 100_000, "a.json: not JSON in UTF-8 (nested too deeply)"),
        ("a.parquet", "not Parquet", "a.parquet: not a readable Parquet file"),
    ],
)
def test_what_holds_no_objects_is_refused(written: Written, name: str, content: Any, words: str) -> None:
    assert complaint(written(name, content)).startswith(words)


def test_parquet_rows_are_counted_from_one(tmp_path: Path) -> None:
    write_parquet(
        tmp_path / "a.parquet", [{"item_id": "a", "score": 2}, {"item_id": "b", "score": None}], {"item_id": "string", "score": "int64"}
    )
    table = read_source(str(tmp_path / "a.parquet"))
    assert cells(table) == [{"item_id": "a", "score": 2}, {"item_id": "b"}] and places(table) == ["a.parquet:1", "a.parquet:2"]


def test_an_empty_parquet_file_is_refused(tmp_path: Path) -> None:
    write_parquet(tmp_path / "a.parquet", [], {"item_id": "string"})
    assert complaint(tmp_path / "a.parquet") == "a.parquet: no rows"


# Which kind


def test_the_kind_can_be_forced(written: Written) -> None:
    path = written("labels.dump", CSV)
    with pytest.raises(UsageError, match="unknown kind of file; pass --from; choose from: csv, tsv"):
        read_source(str(path))
    assert cells(read_source(str(path), SourceOptions(kind="csv"))) == ROWS
    assert "xlsx" in KINDS and "not a readable Excel workbook" in complaint(path, kind="xlsx")


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"sheet": "A"}, "--sheet is for xlsx"),
        ({"revision": "main"}, "--revision is for hf"),
        ({"split": "test"}, "--split is for hf"),
    ],
)
def test_an_option_of_another_kind_is_refused(written: Written, options: dict[str, str], words: str) -> None:
    with pytest.raises(UsageError, match=words):
        read_source(str(written("a.csv", CSV)), SourceOptions(**options))


def test_a_source_that_is_not_there_or_a_folder_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="does not exist"):
        read_source(str(tmp_path / "none.csv"))
    with pytest.raises(UsageError, match="is a folder; only folders written by save_to_disk of the datasets library"):
        read_source(str(tmp_path))


def test_a_title_above_the_column_names_is_left_out_and_named(written: Written) -> None:
    table = read_source(str(written("a.csv", "Ratings of the first round\n\n" + CSV)))
    assert table.columns == ["item_id", "score"] and cells(table) == ROWS
    assert places(table)[0] == "a.csv:4" and "row 3 was read as the column names" in table.notes[0]


def test_the_row_of_the_column_names_can_be_said(written: Written) -> None:
    path = written("a.csv", "part,one\n" + CSV)
    assert read_source(str(path), SourceOptions(header_row=2)).columns == ["item_id", "score"]
    assert "--header-row 9: this row is empty or not there; the first rows with cells are 1, 2, 3" in complaint(path, header_row=9)
