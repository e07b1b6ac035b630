"""Columns: each value once, four bytes a row; and their reading from every kind of file, with `file:line` for what is wrong."""

from __future__ import annotations

import gzip
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any, Literal

import msgspec
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.data.columns import (
    NO_VALUE,
    CodedColumn,
    ColumnBuilder,
    checked_columns,
    combination_ids,
    first_rows,
    last_matching_rows,
    read_columns,
    rows_by_number,
    unique_integers,
)
from harness.errors import ContentError
from harness.row_files import write_parquet

VALUES = st.none() | st.sampled_from(["a", "b", "", "1"]) | st.integers(-2, 2) | st.sampled_from([0.5, 1.0])
ROWS = st.lists(VALUES, max_size=20)


class Row(msgspec.Struct):
    name: str
    score: int | float | str
    kind: Literal["x", "y"] | None = None
    many: list[int | None] | None = None


# Columns


@given(ROWS)
def test_a_column_holds_its_rows(rows: list[Any]) -> None:
    column = CodedColumn.from_values(rows)
    assert list(column) == rows and len(column) == len(rows)
    assert len(set(column.values)) == len(column.values) and None not in column.values
    assert ((column.codes == NO_VALUE) == [row is None for row in rows]).all()


@pytest.mark.parametrize(
    ("values", "kind"), [(1, np.int8), (128, np.int8), (129, np.int16), (1 << 15, np.int16), (1 + (1 << 15), np.int32)]
)
def test_codes_have_as_few_bytes_as_their_values_take(values: int, kind: type) -> None:
    rows = [*range(values), None]
    column = CodedColumn.from_values(rows)
    assert column.codes.dtype == column.take(np.array([0, values])).codes.dtype == kind and list(column) == rows


def test_values_come_in_the_order_of_first_use_and_equal_numbers_are_one() -> None:
    column = CodedColumn.from_values(["b", 1, None, 1.0, "1", "b", 2.0, 2])
    assert column.values == ("b", 1, "1", 2.0) and column.codes.tolist() == [0, 1, -1, 1, 2, 0, 3, 3]


@given(st.lists(ROWS, min_size=1, max_size=4))
def test_columns_one_after_the_other_hold_all_rows(parts: list[list[Any]]) -> None:
    together = CodedColumn.concatenate([CodedColumn.from_values(part) for part in parts])
    assert list(together) == [row for part in parts for row in part]
    assert len(set(together.values)) == len(together.values)


@given(st.lists(ROWS, max_size=4))
def test_a_column_is_built_piece_by_piece(parts: list[list[Any]]) -> None:
    coder = ColumnBuilder()
    for part in parts:
        coder.add(part)
    whole = CodedColumn.from_values([row for part in parts for row in part])
    values, codes = coder.finish()
    assert (values, codes.tolist()) == (whole.values, whole.codes.tolist()) and codes.dtype == np.int32


@given(ROWS)
def test_codes_of_another_order_are_minus_one_for_what_it_does_not_have(rows: list[Any]) -> None:
    index = {"b": 0, 1: 1, "never": 2}
    assert CodedColumn.from_values(rows).recode(index).tolist() == [-1 if row is None else index.get(row, -1) for row in rows]


def test_some_rows_keep_all_values_and_know_which_are_used() -> None:
    column = CodedColumn.from_values(["a", None, "b", "a", "c"])
    for rows in (np.array([2, 0, 1]), np.array([True, True, True, False, False])):
        part = column.take(rows)
        assert part.values == column.values and part.used == ["a", "b"]
    assert list(column.take(np.array([2, 0, 1]))) == ["b", "a", None]
    assert CodedColumn.from_values([None]).used == [] and list(CodedColumn.from_values([])) == []


@given(st.lists(st.tuples(VALUES, VALUES, st.integers(0, 2)), max_size=20))
def test_combinations_are_numbered_in_the_order_of_their_codes(rows: list[tuple[Any, Any, int]]) -> None:
    columns = [CodedColumn.from_values([row[place] for row in rows]) for place in (0, 1)]
    start = np.array([row[2] for row in rows], np.int64)
    combinations = list(zip(start.tolist(), *(column.codes.tolist() for column in columns), strict=True))
    order = {combination: number for number, combination in enumerate(sorted(set(combinations)))}
    assert combination_ids(columns, start).tolist() == [order[combination] for combination in combinations]


def test_combinations_of_more_columns_than_an_integer_holds() -> None:
    wide = [CodedColumn.from_values(range(number, number + 40)) for number in range(20)]  # 41 ** 20 > 2 ** 63
    assert combination_ids(wide, np.zeros(40, np.int64)).tolist() == list(range(40))


@given(st.lists(st.integers(0, 4), max_size=20), st.data())
def test_rows_of_a_number_and_the_first_and_last_with_it(numbers: list[int], data: st.DataObject) -> None:
    key = np.array(numbers, np.int64)
    assert [rows.tolist() for rows in rows_by_number(key, 5)] == [
        [row for row, of in enumerate(numbers) if of == number] for number in range(5)
    ]
    dense = combination_ids([CodedColumn.from_values(numbers)], np.zeros_like(key))
    assert first_rows(dense).tolist() == [rows[0] for rows in rows_by_number(dense)]
    among = [row for row in range(len(numbers)) if data.draw(st.booleans())]
    expected = [max((row for row in among if numbers[row] == number), default=-1) for number in numbers]
    assert last_matching_rows(key, np.array(among, np.int64)).tolist() == expected


# Reading


def jsonl(path: Path, *rows: dict[str, Any] | str, end: str = "\n") -> Path:
    path.write_bytes(end.join(row if isinstance(row, str) else json.dumps(row, ensure_ascii=False) for row in rows).encode())
    return path


ONE, TWO = {"name": "ā", "score": 1, "more": [1]}, {"name": "b", "score": "two", "kind": "y", "many": [1, None]}


def as_lists(columns: Any) -> dict[str, list[Any]]:
    return {name: list(column) for name, column in columns.items()}


def in_parquet(path: Path, rows: list[dict[str, Any]], schema: dict[str, str]) -> Path:
    write_parquet(path, rows, schema)
    return path


WRITERS: dict[str, Callable[[Path], Path]] = {
    "plain": lambda folder: jsonl(folder / "t.jsonl", ONE, TWO, ""),
    "no last line end": lambda folder: jsonl(folder / "t.jsonl", ONE, TWO),
    "byte-order mark": lambda folder: jsonl(folder / "t.jsonl", "\ufeff" + json.dumps(ONE), TWO, ""),
    "Windows lines": lambda folder: jsonl(folder / "t.jsonl", ONE, TWO, "", end="\r\n"),
    "gzip": lambda folder: zipped(jsonl(folder / "t.jsonl", ONE, TWO, "")),
}


def zipped(path: Path) -> Path:
    target = path.with_suffix(".jsonl.gz")
    target.write_bytes(gzip.compress(path.read_bytes()))
    return target


@pytest.mark.parametrize("write", WRITERS.values(), ids=WRITERS.keys())
def test_every_kind_of_jsonl_gives_the_same_columns(tmp_path: Path, write: Callable[[Path], Path]) -> None:
    columns = read_columns(write(tmp_path), Row, "a row")
    assert as_lists(columns) == {"name": ["ā", "b"], "score": [1, "two"], "kind": [None, "y"], "many": [None, (1, None)]}
    assert columns.lines.tolist() == [1, 2]


def test_empty_lines_are_passed_over_and_counted(tmp_path: Path) -> None:
    columns = read_columns(jsonl(tmp_path / "t.jsonl", "", ONE, "", "  ", TWO), Row, "a row")
    assert columns.lines.tolist() == [2, 5] and list(columns["name"]) == ["ā", "b"]


@pytest.mark.parametrize("data", [b"", b"\n\n", b"\xef\xbb\xbf"], ids=["nothing", "lines", "mark"])
def test_an_empty_file_has_columns_without_rows(tmp_path: Path, data: bytes) -> None:
    (tmp_path / "t.jsonl").write_bytes(data)
    columns = read_columns(tmp_path / "t.jsonl", Row, "a row")
    assert set(columns) == {"name", "score", "kind", "many"} and {len(column) for column in columns.values()} == {0}
    assert len(columns.lines) == 0


def test_more_rows_than_are_held_at_a_time(tmp_path: Path) -> None:
    rows = [{"name": f"n{number % 7}", "score": number % 3} for number in range(40_000)]
    columns = read_columns(jsonl(tmp_path / "t.jsonl", *rows), Row, "a row")
    assert list(columns["name"]) == [row["name"] for row in rows] and columns["score"].values == (0, 1, 2)
    assert columns.lines[-1] == 40_000


def test_equal_numbers_of_a_file_are_one_value(tmp_path: Path) -> None:
    columns = read_columns(jsonl(tmp_path / "t.jsonl", *({"name": "a", "score": score} for score in (1, 1.0, "1", 2.5))), Row, "a row")
    assert columns["score"].values == (1, "1", 2.5) and columns["score"].codes.tolist() == [0, 0, 1, 2]


BAD: dict[str, tuple[Any, str]] = {
    "no object": ("[1]", "not a row (Expected `object`, got `array`)"),
    "no JSON": ("{", "not a JSON object"),
    "a field missing": ({"name": "a"}, "not a row (Object missing required field `score`)"),
    "a number for a text": ({"name": 1, "score": 1}, "not a row (Expected `str`, got `int` - at `$.name`)"),
    "a truth value": ({"name": "a", "score": True}, "Expected `int | float | str`, got `bool`"),
    "null": ({"name": "a", "score": None}, "got `null`"),
    "a list": ({"name": "a", "score": [1]}, "got `array`"),
    "a word that is none": ({"name": "a", "score": 1, "kind": "z"}, "Invalid enum value 'z'"),
    "NaN": ('{"name": "a", "score": NaN}', "not a JSON object"),
}


@pytest.mark.parametrize(("row", "words"), BAD.values(), ids=BAD.keys())
@pytest.mark.parametrize("packed", [False, True], ids=["plain", "gzip"])
def test_a_bad_row_is_named_with_its_line(tmp_path: Path, row: Any, words: str, packed: bool) -> None:
    path = jsonl(tmp_path / "t.jsonl", ONE, "", row)
    path = zipped(path) if packed else path
    with pytest.raises(ContentError) as caught:
        read_columns(path, Row, "a row")
    assert str(caught.value).startswith(f"{path}:3: ") and words in str(caught.value)


def test_a_torn_gzip_is_said(tmp_path: Path) -> None:
    path = zipped(jsonl(tmp_path / "t.jsonl", *[ONE] * 100))
    path.write_bytes(path.read_bytes()[:-12])
    with pytest.raises(ContentError, match="the gzip file breaks off; fetch it again"):
        read_columns(path, Row, "a row")


# Parquet


def test_parquet_gives_the_columns_of_jsonl(tmp_path: Path) -> None:
    rows = [{"name": "a", "score": 1, "kind": "y"}, {"name": "b", "score": 2}, {"name": "a", "score": 1}]
    schema = {"name": "string", "score": "int64", "kind": "string"}
    there = read_columns(in_parquet(tmp_path / "t.parquet", rows, schema), Row, "a row")
    here = read_columns(jsonl(tmp_path / "t.jsonl", *rows), Row, "a row")
    assert as_lists(there) == as_lists(here) and there.lines.tolist() == here.lines.tolist() == [1, 2, 3]
    assert {name: column.values for name, column in there.items()} == {name: column.values for name, column in here.items()}


def test_an_empty_parquet_file_has_columns_without_rows(tmp_path: Path) -> None:
    columns = read_columns(in_parquet(tmp_path / "t.parquet", [], {"name": "string", "score": "double"}), Row, "a row")
    assert as_lists(columns) == {"name": [], "score": [], "kind": [], "many": []}


def test_lists_and_dictionaries_of_parquet_are_read(tmp_path: Path) -> None:
    import pyarrow as pa
    import pyarrow.parquet as pq

    table = pa.table({"name": pa.array(["a", "b", "a"]).dictionary_encode(), "score": [1, 2, 1], "many": [[1, None], None, []]})
    pq.write_table(table, tmp_path / "t.parquet", row_group_size=1)
    columns = read_columns(tmp_path / "t.parquet", Row, "a row")
    assert list(columns["name"]) == ["a", "b", "a"] and list(columns["many"]) == [(1, None), None, ()]


def test_what_pandas_writes_is_read_with_its_gaps(tmp_path: Path) -> None:
    import pandas as pd

    frame = pd.DataFrame({"name": ["a", "b"], "score": [1.0, 2.0], "kind": ["x", None], "other": [float("nan"), 1]})
    frame.to_parquet(tmp_path / "t.parquet")
    assert as_lists(read_columns(tmp_path / "t.parquet", Row, "a row"))["kind"] == ["x", None]


@pytest.mark.parametrize(
    ("rows", "schema", "line", "words"),
    [
        ([{"name": "a"}], {"name": "string"}, None, "not a row: no column 'score'"),
        ([{"name": "a", "score": 1.0}, {"name": "b"}], {"name": "string", "score": "double"}, 2, "not a row: 'score' is empty"),
        ([{"name": "a", "score": float("nan")}], {"name": "string", "score": "double"}, 1, "not a row: 'score' is empty"),
        ([{"name": 1, "score": 1}], {"name": "int64", "score": "int64"}, 1, "not a row (Expected `str`, got `int` in column 'name')"),
        ([{"name": "a", "score": True}], {"name": "string", "score": "bool"}, 1, "got `bool` in column 'score'"),
        (
            [{"name": "a", "score": 1, "kind": kind} for kind in ("x", None, "z")],
            {"name": "string", "score": "int64", "kind": "string"},
            3,
            "Invalid enum value 'z'",
        ),
    ],
    ids=["no column", "gap", "NaN", "number", "truth value", "word"],
)
def test_a_bad_parquet_row_is_named_with_its_number(
    tmp_path: Path, rows: list[dict[str, Any]], schema: dict[str, str], line: int | None, words: str
) -> None:
    path = in_parquet(tmp_path / "t.parquet", rows, schema)
    with pytest.raises(ContentError) as caught:
        read_columns(path, Row, "a row")
    assert str(caught.value).startswith(f"{path}:{line}: " if line else f"{path}: ") and words in str(caught.value)


def test_columns_of_any_table_are_checked_each_value_once() -> None:
    given = {
        "name": CodedColumn.from_values(["a", "b"]),
        "score": CodedColumn.from_values([1, 2.5]),
        "unknown": CodedColumn.from_values([object(), None]),
    }
    columns = checked_columns(given, 2, Row, "a row", Path("frame"))
    assert as_lists(columns) == {"name": ["a", "b"], "score": [1, 2.5], "kind": [None, None], "many": [None, None]}
    with pytest.raises(ContentError, match=r"frame:2: not a row: 'name' is empty"):
        checked_columns(
            {"name": CodedColumn.from_values(["a", None]), "score": CodedColumn.from_values([1, 1])}, 2, Row, "a row", Path("frame")
        )


@given(st.lists(st.integers(0, 30), max_size=60), st.sampled_from([31, 10**12]))
def test_distinct_integers_are_those_of_numpy_whether_there_are_many_possible_ones_or_few(numbers: list[int], size: int) -> None:
    key = np.array(numbers, np.int64)
    values, index = unique_integers(key, size)
    expected_values, expected_index = np.unique(key, return_inverse=True)
    assert values.tolist() == expected_values.tolist() and index.tolist() == expected_index.tolist()
