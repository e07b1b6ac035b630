"""Rows in and out: every complaint names file and line, every file is whole or not there, and equal rows are equal bytes."""

from __future__ import annotations

import csv
import errno
import gzip
import io
import json
import math
import os
import subprocess
import sys
import tomllib
import unicodedata
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness import row_files
from harness.csv_formulas import unguard_cell
from harness.errors import ContentError, StoreError
from harness.row_files import (
    find_table,
    json_rows,
    parquet_table,
    read_rows,
    refuse_other_schema,
    to_csv,
    to_json,
    to_jsonl,
    to_toml,
    write_atomic,
    write_parquet,
)

BOM = b"\xef\xbb\xbf"
THREE_ROWS = b'{"a":1}\n{"a":2}\n{"a":3}\n'
WHOLE_GZIP = gzip.compress(THREE_ROWS, mtime=0)

_TEXT = st.text(st.characters(codec="utf-8"), max_size=20)
_VALUE = st.none() | st.booleans() | st.integers(-(2**63), 2**63 - 1) | st.floats(allow_nan=False, allow_infinity=False) | _TEXT
_ROWS = st.lists(st.dictionaries(_TEXT, _VALUE | st.lists(_VALUE, max_size=3), max_size=4), max_size=5)


def table(folder: Path, data: bytes, name: str = "t.jsonl") -> Path:
    path = folder / name
    path.write_bytes(data)
    return path


def complaint(path: Path) -> ContentError:
    with pytest.raises(ContentError) as caught:
        list(read_rows(path))
    return caught.value


# Reading


def test_rows_come_with_the_numbers_of_their_lines_and_empty_lines_count(tmp_path: Path) -> None:
    path = table(tmp_path, b'{"a":1}\n\n  \t\n{"a":2}\r\n{"a":3}')
    assert list(read_rows(path)) == [(1, {"a": 1}), (4, {"a": 2}), (5, {"a": 3})]


@pytest.mark.parametrize(("start", "first"), [(BOM, 1), (BOM + b"\n", 2), (BOM + b" \r\n", 2)], ids=["row", "empty line", "space"])
def test_a_byte_order_mark_is_ignored(tmp_path: Path, start: bytes, first: int) -> None:
    assert list(read_rows(table(tmp_path, start + b'{"a":1}\n'))) == [(first, {"a": 1})]


def test_a_byte_order_mark_further_down_is_an_error(tmp_path: Path) -> None:
    assert complaint(table(tmp_path, THREE_ROWS + BOM + b"{}\n")).line == 4


@pytest.mark.parametrize("data", [b"", b"\n", BOM], ids=["nothing", "empty line", "mark"])
def test_an_empty_file_has_no_rows(tmp_path: Path, data: bytes) -> None:
    assert list(read_rows(table(tmp_path, data))) == []


@pytest.mark.parametrize(
    ("bad", "words"),
    [
        (b"{", "truncated"),
        (b"[1]", "Expected `object`, got `array`"),
        (b"2", "Expected `object`, got `int`"),
        (b'{"a":1}{"a":2}', "trailing characters"),
        (b'{"a":NaN}', "malformed"),
        (b"{'a':1}", "malformed"),
        (b'{"a":1e999}', "out of range"),
        (b'{"a":' + b"9" * 5000 + b"}", "out of range"),
        (b'{"a":' + b"[" * 100_000 + b"]" * 100_000 + b"}", "nested too deeply"),
        (b"\x00", "malformed"),
    ],
    ids=["cut", "array", "number", "two objects", "nan", "quotes", "huge float", "huge integer", "deep", "zero byte"],
)
def test_a_line_that_is_no_object_is_named(tmp_path: Path, bad: bytes, words: str) -> None:
    error = complaint(table(tmp_path, THREE_ROWS + bad + b"\n{}\n"))
    assert str(error).startswith(f"{tmp_path / 't.jsonl'}:4: not a JSON object (")
    assert words in str(error) and "one object a line" in str(error)


@pytest.mark.parametrize(
    ("line", "byte"),
    [('{"a":"é"}'.encode("latin-1"), 7), ('  {"a":"é"}'.encode("latin-1"), 9), ('{"a":1}'.encode("utf-16"), 1), (b"{\x80}", 2)],
    ids=["latin-1", "indented", "utf-16", "outside a text"],
)
def test_what_is_not_utf_8_is_said_with_its_byte(tmp_path: Path, line: bytes, byte: int) -> None:
    error = complaint(table(tmp_path, b"{}\n" + line + b"\n"))
    assert error.line == 2
    assert f"not UTF-8 at byte {byte} of the line; save the file as UTF-8" in str(error)


def test_a_huge_line_is_refused_without_being_read_whole(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(row_files, "MAX_LINE_BYTES", 1 << 20)
    row = b'{"a":"' + b"x" * (1 << 20) + b'"}\n'
    error = complaint(table(tmp_path, b"{}\n" + row))
    assert error.line == 2 and "a line of more than 1 MiB" in str(error)


def test_a_gzip_bomb_without_line_ends_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(row_files, "MAX_LINE_BYTES", 1 << 20)
    assert "a line of more than" in str(complaint(table(tmp_path, gzip.compress(b"[" * (8 << 20)), "t.jsonl.gz")))


_LINES = st.sampled_from(
    [
        b'{"a":1}',
        b' {"a":2}\r',
        b"",
        b"  ",
        b'{"a":"}\\n{"}',
        b'{"a":[{}',
        b'{}],"b":1}',
        b'{"a":1}{"a":2}',
        b"{}{}",
        b"}",
        b'{"a":{"b":{}}}',
    ]
)


@given(lines=st.lists(_LINES, max_size=12), end=st.sampled_from([b"", b"\n"]), size=st.integers(1, 40), packed=st.booleans())
def test_lines_that_are_read_together_read_as_each_alone(
    tmp_path_factory: pytest.TempPathFactory, lines: list[bytes], end: bytes, size: int, packed: bool
) -> None:
    wanted: list[tuple[int, dict[str, Any]]] = []
    wrong = None
    for number, line in enumerate(lines, 1):
        try:
            wanted += [(number, msgspec.json.decode(line, type=dict[str, Any]))] if line.strip() else []
        except msgspec.DecodeError:
            wrong = number
            break
    text = b"\n".join(lines) + end
    path = table(tmp_path_factory.mktemp("t"), gzip.compress(text) if packed else text, "t.jsonl.gz" if packed else "t.jsonl")
    found: list[tuple[int, dict[str, Any]]] = []
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(row_files, "_BLOCK_BYTES", size)
        try:
            found.extend(read_rows(path))
        except ContentError as err:
            assert err.line == wrong
        else:
            assert wrong is None
    assert found == wanted


def test_gzip_reads_like_the_plain_file(tmp_path: Path) -> None:
    assert list(read_rows(table(tmp_path, WHOLE_GZIP, "t.jsonl.gz"))) == list(read_rows(table(tmp_path, THREE_ROWS)))


@pytest.mark.parametrize("kept", range(1, len(WHOLE_GZIP)))
def test_a_torn_gzip_is_never_taken_for_a_whole_one(tmp_path: Path, kept: int) -> None:
    error = complaint(table(tmp_path, WHOLE_GZIP[:kept], "t.jsonl.gz"))
    assert "fetch it again" in str(error) and error.line is not None


@pytest.mark.parametrize(
    "data",
    [b"hello", WHOLE_GZIP[:-8] + b"12345678", WHOLE_GZIP + b"junk", WHOLE_GZIP[:12] + b"\xff\xff" + WHOLE_GZIP[14:]],
    ids=["no gzip", "wrong sum", "junk behind", "damaged"],
)
def test_a_gzip_that_is_none_is_said(tmp_path: Path, data: bytes) -> None:
    assert "not a whole gzip file" in str(complaint(table(tmp_path, data, "t.jsonl.gz")))


class Point(msgspec.Struct):
    x: int
    name: str | None = None


def test_lines_are_read_as_what_they_should_be(tmp_path: Path) -> None:
    path = table(tmp_path, b'\xef\xbb\xbf{"x": 1, "more": [1]}\n \n{"x": 2, "name": "b"}')
    assert list(json_rows(path, Point, "a point")) == [(1, Point(1)), (3, Point(2, "b"))]


@pytest.mark.parametrize(
    ("line", "words"),
    [
        (b'{"x": "1"}', "not a point (Expected `int`, got `str` - at `$.x`); one object a line is expected"),
        (b"{}", "not a point (Object missing required field `x`)"),
        (b"[1]", "not a point (Expected `object`, got `array`)"),
        (b'{"x": 1', "not a JSON object"),
        (b'{"x": \xff}', "not UTF-8 at byte 7 of the line; save the file as UTF-8"),
    ],
    ids=["type", "field", "list", "torn", "bytes"],
)
def test_a_line_that_is_something_else_is_named(tmp_path: Path, line: bytes, words: str) -> None:
    path = table(tmp_path, b'{"x": 1}\n\n' + line)
    with pytest.raises(ContentError) as caught:
        list(json_rows(path, Point, "a point"))
    assert str(caught.value).startswith(f"{path}:3: {words}")


def test_a_parquet_file_is_read_whole_or_refused(tmp_path: Path) -> None:
    write_parquet(tmp_path / "t.parquet", [{"x": 1}, {}], {"x": "int64"})
    assert parquet_table(tmp_path / "t.parquet").to_pylist() == [{"x": 1}, {"x": None}]
    for path in (table(tmp_path, b"PAR1 not", "bad.parquet"), tmp_path / "none.parquet"):
        with pytest.raises(ContentError, match="not a readable Parquet file"):
            parquet_table(path)


@pytest.mark.parametrize("name", ["t.jsonl", "t.jsonl.gz", "t.parquet"])
def test_a_file_that_is_not_there_is_one_sentence(tmp_path: Path, name: str) -> None:
    assert str(complaint(tmp_path / name)).startswith(f"{tmp_path / name}: ")


def test_a_parquet_file_that_is_none_is_said(tmp_path: Path) -> None:
    assert "not a readable Parquet file" in str(complaint(table(tmp_path, b"PAR1 and no more", "t.parquet")))


def test_which_file_holds_a_table(tmp_path: Path) -> None:
    assert find_table(tmp_path, "items") is None
    for name in ("items.jsonl", "labels.jsonl.gz", "judgments.parquet"):
        (tmp_path / name).touch()
        assert find_table(tmp_path, name.partition(".")[0]) == tmp_path / name


def test_a_table_that_is_there_twice_is_refused_with_both_names(tmp_path: Path) -> None:
    for name in ("items.jsonl", "items.parquet"):
        (tmp_path / name).touch()
    with pytest.raises(ContentError, match=r"'items' is here twice \(items\.jsonl, items\.parquet\)"):
        find_table(tmp_path, "items")


# Writing


@pytest.mark.parametrize(
    ("data", "found"),
    [("žluťoučký 日本\n", "žluťoučký 日本\n".encode()), (b"\x00\xff\r\n", b"\x00\xff\r\n"), (iter([b"one\n", b"two\n"]), b"one\ntwo\n")],
    ids=["text", "bytes", "pieces"],
)
def test_a_whole_file_is_written_and_replaces_the_old_one(tmp_path: Path, data: bytes | str | Iterator[bytes], found: bytes) -> None:
    path = tmp_path / "new" / "folder" / "file"
    for content in ("old", data):
        write_atomic(path, content)
    assert path.read_bytes() == found
    assert list(path.parent.iterdir()) == [path]
    assert path.stat().st_mode & 0o777 == 0o644


@pytest.mark.parametrize("step", ["fsync", "replace", "open"])
@pytest.mark.parametrize(
    ("what", "raised"),
    [(OSError(errno.ENOSPC, "No space left on device"), StoreError), (KeyboardInterrupt(), KeyboardInterrupt)],
    ids=["full disk", "Ctrl-C"],
)
def test_a_failure_at_any_step_leaves_the_old_file_and_nothing_else(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, step: str, what: BaseException, raised: type[BaseException]
) -> None:
    path = table(tmp_path, b"old")

    def fail(*_: Any) -> None:
        raise what

    monkeypatch.setattr(os, step, fail)
    with pytest.raises(raised):
        write_atomic(path, "new")
    assert path.read_bytes() == b"old"
    assert list(tmp_path.iterdir()) == [path]


def test_pieces_that_break_off_leave_the_old_file_and_nothing_else(tmp_path: Path) -> None:
    path = table(tmp_path, b"old")

    def pieces() -> Iterator[bytes]:
        yield b"x" * 1_000_000
        raise StoreError("damaged")

    with pytest.raises(StoreError, match=r"^damaged$"):
        write_atomic(path, pieces())
    assert path.read_bytes() == b"old"
    assert list(tmp_path.iterdir()) == [path]


def test_a_folder_that_cannot_be_made_is_said_with_what_to_do(tmp_path: Path) -> None:
    table(tmp_path, b"", "file")
    with pytest.raises(StoreError, match=r"file/below/x cannot be written \(Not a directory\); make room or choose another folder"):
        write_atomic(tmp_path / "file" / "below" / "x", "data")


def test_json_is_readable_sorted_and_ends_in_a_newline() -> None:
    assert (
        to_json({"b": [1, 0.1], "a": "čeština 日本語 \u200e"}) == '{\n  "a": "čeština 日本語 \u200e",\n  "b": [\n    1,\n    0.1\n  ]\n}\n'
    )


@pytest.mark.parametrize("undefined", [math.nan, math.inf, -math.inf])
def test_what_is_undefined_is_null_in_json(undefined: float) -> None:
    assert json.loads(to_json({"a": undefined, "b": [undefined]})) == {"a": None, "b": [None]}


@given(st.dictionaries(_TEXT, _VALUE, max_size=6), st.randoms(use_true_random=False))
def test_json_does_not_depend_on_the_order_of_keys(row: dict[str, Any], chance: Any) -> None:
    shuffled = list(row.items())
    chance.shuffle(shuffled)
    assert to_json(dict(shuffled)) == to_json(row)
    assert json.loads(to_json(row)) == row


@given(rows=_ROWS)
def test_jsonl_is_read_back(tmp_path_factory: pytest.TempPathFactory, rows: list[dict[str, Any]]) -> None:
    path = table(tmp_path_factory.getbasetemp(), to_jsonl(rows), "back.jsonl")
    assert [row for _, row in read_rows(path)] == rows


def test_jsonl_keeps_the_order_of_keys() -> None:
    assert to_jsonl([{"b": 1, "a": "ž"}, {}]) == '{"b":1,"a":"ž"}\n{}\n'.encode()


@pytest.mark.parametrize("start", ["=", "+", "-", "@", "\t", "\r"])
def test_a_text_that_would_be_a_formula_is_guarded_in_csv(start: str) -> None:
    [_, [cell]] = csv.reader(io.StringIO(to_csv([{"a": f"{start}1+1"}], ["a"]), newline=""))
    assert cell == f"'{start}1+1"


@given(rows=st.lists(st.fixed_dictionaries({"a": _TEXT, "b": _TEXT}), min_size=1, max_size=4))
def test_csv_is_read_back_and_no_cell_begins_a_formula(rows: list[dict[str, str]]) -> None:
    header, *found = csv.reader(io.StringIO(to_csv(rows, ["a", "b"]), newline=""))
    assert header == ["a", "b"]
    for row, cells in zip(rows, found, strict=True):
        for text, cell in zip((row["a"], row["b"]), cells, strict=True):
            assert cell in (text, f"'{text}")
            assert not cell.startswith(("=", "+", "-", "@", "\t", "\r"))


def test_numbers_stay_numbers_in_csv_and_what_is_missing_is_empty() -> None:
    assert to_csv([{"a": -0.5, "b": None, "c": 7}, {"a": 1}], ["a", "b"]) == "a,b\r\n-0.5,\r\n1,\r\n"


_SCHEMA = {"s": "string", "d": "double", "i": "int64", "t": "bool"}
_PARQUET_ROW = st.fixed_dictionaries(
    {},
    optional={
        "s": _TEXT,
        "d": st.floats(allow_nan=False),
        "i": st.integers(-(2**63), 2**63 - 1),
        "t": st.booleans(),
    },
)


@given(rows=st.lists(_PARQUET_ROW, max_size=5))
def test_parquet_is_read_back_with_missing_values_left_out(tmp_path_factory: pytest.TempPathFactory, rows: list[dict[str, Any]]) -> None:
    path = tmp_path_factory.getbasetemp() / "back.parquet"
    write_parquet(path, rows, _SCHEMA)
    assert list(read_rows(path)) == list(enumerate(rows, start=1))


def test_equal_rows_are_equal_bytes_in_parquet(tmp_path: Path) -> None:
    rows = [{"s": "ž", "d": 0.1, "i": 3, "t": None}] * 50
    for name in ("one", "two"):
        write_parquet(tmp_path / name, rows, _SCHEMA)
    assert (tmp_path / "one").read_bytes() == (tmp_path / "two").read_bytes()


@pytest.mark.parametrize(
    "text",
    [
        "\n=1+1",
        "\r\n-1",
        "\u00a0=1",
        " =1",
        "\u3000@x",
        "\u200b=1",
        "\ufeff+1",
        "\u2060\u200d=1",
        "\u00ad=1",
        "\u034f=1",
        "＝1",
        "－1",
        "＠x",
        "﹢1",
        "\x00=1",
    ],
    ids=ascii,
)
def test_a_formula_behind_what_nobody_sees_or_in_wide_signs_is_guarded_too(text: str) -> None:
    [_, [cell]] = csv.reader(io.StringIO(to_csv([{"a": text}], ["a"]), newline=""))
    assert cell == "'" + text
    assert unguard_cell(cell) == text


@pytest.mark.parametrize("text", ["'=1", "''=1", "'", "'a", "a=1", "=1", "it's"])
def test_what_was_guarded_comes_back_as_it_was(text: str) -> None:
    [_, [cell]] = csv.reader(io.StringIO(to_csv([{"a": text}], ["a"]), newline=""))
    assert unguard_cell(cell) == text


def test_no_control_character_stands_in_json() -> None:
    text = "a\x1b[31m\x07\x9b2J\x7f\x00\u202eb"
    written = to_json({"a": text})
    assert not any(unicodedata.category(c) in ("Cc", "Cf") for c in written.replace("\n", ""))
    assert json.loads(written) == {"a": text}


TOML_TEXTS = st.text(st.characters(exclude_categories=("Cs",)), max_size=20)
TOML_VALUES = TOML_TEXTS | st.integers(-(2**63), 2**63 - 1) | st.booleans() | st.floats(allow_nan=False) | st.lists(TOML_TEXTS, max_size=3)


@given(st.dictionaries(TOML_TEXTS, TOML_VALUES | st.dictionaries(TOML_TEXTS, TOML_VALUES, max_size=3), max_size=4))
def test_toml_is_read_back(data: dict[str, Any]) -> None:
    assert tomllib.loads(to_toml(data)) == data


def test_toml_leaves_out_what_has_no_value() -> None:
    assert to_toml({"a": None, "b": {"c": None, "d": "e"}}) == '[b]\nd = "e"\n'


def test_a_file_of_another_schema_version_is_refused_with_what_to_do(tmp_path: Path) -> None:
    """Also where its other fields are not those of this version; what is no such file is left to its reader."""
    with pytest.raises(ContentError, match="schema version 1; this program reads version 2 only; make it again"):
        refuse_other_schema(b'{"old": true, "schema_version": 1}', 2, tmp_path, "make it again")
    for data in (b'{"schema_version": 2}', b"{}", b"[1]", b"\xff", b'{"schema_version": "1"}'):
        refuse_other_schema(data, 2, tmp_path, "make it again")


def test_a_read_only_medium_is_one_sentence_and_nothing_at_the_end(tmp_path: Path) -> None:
    """Such a medium refuses to remove even a file that is not there."""
    program = """
import errno, os, pathlib, sys
from harness.errors import StoreError
from harness.row_files import write_atomic
def refuse(*_, **__):
    raise OSError(errno.EROFS, "Read-only file system")
os.open = os.unlink = refuse
try:
    write_atomic(pathlib.Path(sys.argv[1]), b"x")
except StoreError as err:
    print(err)
"""
    done = subprocess.run([sys.executable, "-c", program, str(tmp_path / "c.json")], capture_output=True, text=True, check=True)
    assert "c.json cannot be written (Read-only file system)" in done.stdout and not done.stderr
