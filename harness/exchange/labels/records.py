"""Reads JSONL, JSON, Parquet and data sets of Hugging Face: a folder written by `save_to_disk`, or a data set of the hub at a revision.

Nested objects become columns with dotted names. Rankings become labels: which of two answers was put before the other one, or that both
were put in one place.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Collection, Iterator, Sequence
from itertools import combinations
from pathlib import Path
from typing import Any

import msgspec

from harness.errors import ContentError, UsageError
from harness.exchange.labels import source_table as limits
from harness.exchange.labels.cell_scores import is_blank
from harness.exchange.labels.program_layouts import unwrapped_result
from harness.exchange.labels.source_table import Record, SourceTable, columns_of, flat
from harness.exchange.labels.spreadsheets import refuse_repeated, unpacked
from harness.model import Scale
from harness.row_files import open_bytes, read_rows
from harness.text import quoted


def read_jsonl(path: Path) -> SourceTable:
    """Read one object from each line. Raises ContentError with the line for anything else."""
    refuse_large(path)
    rows = list(read_rows(path))
    if not rows:
        raise ContentError("the file is empty; one JSON object on each line is expected", path)
    return table_from_rows("jsonl", [(number, flat(row)) for number, row in rows], f"{path}:")


def refuse_large(path: Path) -> None:
    """Raise ContentError for a file that is larger than the limit, packed or unpacked. Keeps nothing in memory."""
    with open_bytes(path) as file:
        file.seek(limits.MAX_BYTES)
        more = file.read(1)
    if more:
        raise ContentError(f"larger than {limits.MAX_BYTES >> 20} MiB unpacked; import it in parts", path)


def table_from_rows(kind: str, rows: list[tuple[int, dict[str, Any]]], head: str) -> SourceTable:
    """Make a table from numbered rows. Records leave out blank values."""
    records = [Record({key: value for key, value in row.items() if not is_blank(value)}, number, head) for number, row in rows]
    return SourceTable(kind, columns_of([row for _, row in rows]), records)


def read_parquet(path: Path) -> SourceTable:
    """Read the rows of a Parquet file, counted from 1. Raises ContentError when it cannot be read or is too large."""
    import pyarrow as pa  # late: 0.2 s
    import pyarrow.parquet as pq

    try:
        metadata = pq.read_metadata(path)
        names = pq.read_schema(path).names
    except (pa.ArrowException, OSError) as err:
        raise ContentError(f"not a readable Parquet file ({err})", path) from None
    if sum(metadata.row_group(number).total_byte_size for number in range(metadata.num_row_groups)) > limits.MAX_BYTES:
        raise ContentError(f"larger than {limits.MAX_BYTES >> 20} MiB unpacked; import it in parts", path)
    refuse_repeated(path, names, None)
    rows = [(number, flat(row)) for number, row in read_rows(path)]
    if not rows:
        raise ContentError("no rows", path)
    table = table_from_rows("parquet", rows, f"{path}:")
    return table._replace(columns=list(dict.fromkeys([*names, *table.columns])))


def load_json(path: Path) -> Any:
    """Read a JSON file (UTF-8, gzipped or not). Raises ContentError with the line of the first mistake."""
    data = unpacked(path).removeprefix(b"\xef\xbb\xbf")
    if not data.strip():
        raise ContentError("the file is empty", path)
    try:
        return msgspec.json.decode(data)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as err:
        reason = "nested too deeply" if isinstance(err, RecursionError) else str(err)
        _, says_where, byte = reason.rpartition("(byte ")
        end = int(byte.rstrip(")")) if says_where else len(data)
        line = data[:end].count(b"\n") + 1 if says_where or "truncated" in reason else None
        raise ContentError(f"not JSON in UTF-8 ({reason})", path, line) from None


def first_object(content: Any) -> dict[str, Any]:
    """The first object of a JSON list, or of the list `items` of an object; empty where there is none."""
    rows = content.get("items") if isinstance(content, dict) else content
    return rows[0] if isinstance(rows, list) and rows and isinstance(rows[0], dict) else {}


def objects_in(path: Path, content: Any) -> list[dict[str, Any]]:
    """Return the objects of a JSON list. Raises ContentError for any other content."""
    if not isinstance(content, list) or not all(isinstance(row, dict) for row in content):
        raise ContentError(
            "a list of objects is expected, one for each row, or columns as pandas writes them; results of other programs are read by "
            "'harness import'",
            path,
        )
    if not content:
        raise ContentError("an empty list: no records", path)
    return content


def json_rows_of(content: Any) -> Any:
    """Return the rows of an object that holds one list of objects, or columns as pandas writes them; any other content as it is.

    >>> json_rows_of({"version": 2, "data": [{"a": 1}]}), json_rows_of({"a": {"0": 1, "1": 2}})
    ([{'a': 1}], [{'a': 1}, {'a': 2}])
    >>> json_rows_of({"columns": ["a"], "index": [0], "data": [[1]]}), json_rows_of({"0": {"a": 1}}), json_rows_of({"a": [1], "b": [2]})
    ([{'a': 1}], [{'a': 1}], [{'a': 1, 'b': 2}])
    """
    if not isinstance(content, dict) or not content:
        return content
    names, data, values = content.get("columns"), content.get("data"), list(content.values())
    if isinstance(names, list) and isinstance(data, list):
        is_split = all(isinstance(name, str) for name in names) and all(isinstance(row, list) and len(row) == len(names) for row in data)
        return [dict(zip(names, row, strict=True)) for row in data] if is_split else content
    if all(isinstance(value, dict) for value in values) and values[0] and all(value.keys() == values[0].keys() for value in values):
        if all(key.isdecimal() for key in content):  # one object a row, by its number
            return values
        if all(key.isdecimal() for key in values[0]):
            return [{name: column[key] for name, column in content.items()} for key in values[0]]
        return content  # either rows or columns may have these names
    lists = [value for value in values if isinstance(value, list)]
    are_columns = len(lists) == len(values) and len({len(value) for value in lists}) == 1
    if are_columns and not any(isinstance(cell, dict) for value in lists for cell in value):
        return [dict(zip(content, row, strict=True)) for row in zip(*lists, strict=True)]
    if len(lists) == 1 and lists[0] and all(isinstance(row, dict) for row in lists[0]):
        return lists[0]
    return content


def read_json(path: Path, content: Any) -> SourceTable:
    """Read a list of plain objects, one for each row, or what `json_rows_of` makes one of."""
    rows = [
        (number, {name: unwrapped_result(value) for name, value in flat(row).items()})
        for number, row in enumerate(objects_in(path, json_rows_of(content)), start=1)
    ]
    return table_from_rows("json", rows, f"{path}:record ")


TIE = "tie"


def ranking_of(value: Any) -> dict[str, float] | None:
    """Return the place of each answer in a ranking: a list of answers with ranks, or a list in order; None for anything else.

    >>> ranking_of([{"value": "a", "rank": 1}, {"value": "b", "rank": 1}]), ranking_of(["b", "a"]), ranking_of(["a"])
    ({'a': 1, 'b': 1}, {'b': 1, 'a': 2}, None)
    """
    if not isinstance(value, list) or len(value) < 2:
        return None
    if all(isinstance(part, dict) and isinstance(part.get("value"), str) and "rank" in part for part in value):
        ranks = {part["value"]: part["rank"] for part in value if isinstance(part["rank"], (int, float))}
        return ranks if len({part["value"] for part in value}) == len(value) else None
    if all(isinstance(part, str) for part in value) and len(set(value)) == len(value):
        return {name: rank for rank, name in enumerate(value, start=1)}
    return None


def preferences(question: str, value: Any) -> Iterator[tuple[str, str]]:
    """Yield `(metric, the preferred answer or tie)` for each two answers of a ranking. Two answers alone keep the name of the question.

    >>> list(preferences("rank", ["b", "a", "c"]))
    [('rank.a-b', 'b'), ('rank.a-c', 'a'), ('rank.b-c', 'b')]
    """
    ranks = ranking_of(value) or {}
    for first, other in combinations(sorted(ranks), 2):
        yield (
            _name_pair_metric(question, ranks, first, other),
            TIE if ranks[first] == ranks[other] else min(first, other, key=lambda name: ranks[name]),
        )


def with_preferences(records: Sequence[Record]) -> tuple[list[Record], dict[str, Scale], list[str]]:
    """Return records whose scores that are rankings have become preferences, with the scales of their metrics and a note on them.

    Rankings are scores with ranks, and lists of the same words in different orders: in one order, several labels may have been chosen.
    """
    rankings: defaultdict[str, list[dict[str, float]]] = defaultdict(list)
    unranked: set[str] = set()
    ranked: set[str] = set()
    for record in records:
        metric, score = record.cells.get("metric"), record.cells.get("score")
        if score is None or (ranking := ranking_of(score)) is None:
            unranked.add(str(metric))
            continue
        rankings[str(metric)].append(ranking)
        ranked |= {str(metric)} if isinstance(score[0], dict) else set()
    for metric, question_rankings in rankings.items():
        if (
            metric not in unranked
            and len({tuple(ranking) for ranking in question_rankings}) > 1
            and len({frozenset(ranking) for ranking in question_rankings}) == 1
        ):
            ranked.add(metric)
    scales: dict[str, Scale] = {}
    for metric in ranked:
        names = sorted({name for ranking in rankings[metric] for name in ranking})
        for first, other in combinations(names, 2):
            scales[_name_pair_metric(metric, names, first, other)] = Scale(kind="nominal", classes=(first, other, TIE))
    note = f"rankings were read as which of two answers stands before the other one, or '{TIE}': {quoted(sorted(scales))}"
    preference_records = [
        record._replace(cells=record.cells | {"metric": metric, "score": score}) if metric else record
        for record in records
        for metric, score in (
            preferences(record.cells["metric"], record.cells["score"]) if record.cells.get("metric") in ranked else [("", "")]
        )
    ]
    return preference_records, scales, [note] if scales else []


def _name_pair_metric(metric: str, names: Collection[str], first: str, other: str) -> str:
    """The metric of two answers of a ranking of `names`."""
    return metric if len(names) == 2 else f"{metric}.{first}-{other}"


PREFIX = "hf:"


def is_saved(folder: Path) -> bool:
    """Return whether `save_to_disk` wrote a folder."""
    return any((folder / name).is_file() for name in ("dataset_dict.json", "state.json"))


def read_saved(folder: Path, split: str | None = None) -> SourceTable:
    """Read the rows of a saved data set, counted from 1. `split` picks one of several splits."""
    import pyarrow as pa

    library = _import_datasets()
    try:
        dataset = library.load_from_disk(str(folder))
    except (OSError, ValueError, KeyError, TypeError, pa.ArrowException) as err:
        raise ContentError(f"not a complete data set of save_to_disk ({_cut_to_first_line(err)})", folder) from None
    return _read_split(dataset, str(folder), split)


def read_hub(source: str, revision: str | None, split: str | None = None) -> SourceTable:
    """Read the rows of `hf:owner/name` at the commit of a revision, and note the commit.

    Raises UsageError without a revision or for an invalid name, ContentError when the data set cannot be fetched.
    """
    name = source.removeprefix(PREFIX)
    if not re.fullmatch(r"[\w.-]+(/[\w.-]+)?", name):
        raise UsageError(f"'{source}' is not hf:owner/name")
    if not revision:
        raise UsageError(f"{source} needs --revision: a branch, a tag or, best, a commit; without it nobody knows what was imported")
    from huggingface_hub import HfApi
    from huggingface_hub.errors import HfHubHTTPError

    library = _import_datasets()
    web_errors = HfHubHTTPError.__bases__  # the errors of the HTTP library that the hub's client uses
    try:
        commit = HfApi().dataset_info(name, revision=revision).sha
        dataset = library.load_dataset(name, revision=commit)
    except (*web_errors, OSError, ValueError, KeyError, library.exceptions.DatasetsError) as err:
        raise ContentError(f"cannot be fetched at revision '{revision}' ({_cut_to_first_line(err)})", source) from None
    table = _read_split(dataset, source, split)
    return table._replace(notes=[*table.notes, f"{source} was read at commit {commit}"])


def fetch_folder(name: str, revision: str) -> Path:
    """Fetch the data folder `owner/name` of the hub at a commit into the hub's cache, once, and return its path.

    Raises ContentError when it cannot be fetched.
    """
    from huggingface_hub import snapshot_download
    from huggingface_hub.errors import HfHubHTTPError, LocalEntryNotFoundError

    patterns = ["*.jsonl", "*.jsonl.gz", "*.parquet", "data.toml"]
    web_errors: Any = HfHubHTTPError.__bases__
    try:
        folder = snapshot_download(name, repo_type="dataset", revision=revision, allow_patterns=patterns)
    except (*web_errors, LocalEntryNotFoundError, OSError, ValueError) as err:
        raise ContentError(f"cannot be fetched at commit {revision} ({_cut_to_first_line(err)})", f"{PREFIX}{name}") from None
    return Path(folder)


def _import_datasets() -> Any:
    import datasets  # late: 1 s

    datasets.disable_progress_bars()
    return datasets


def _cut_to_first_line(err: Exception) -> str:
    return (str(err).strip().splitlines() or [type(err).__name__])[0]


def _read_split(dataset: Any, source: str, split: str | None) -> SourceTable:
    if isinstance(dataset, dict):
        if split is None and len(dataset) > 1:
            raise UsageError(f"{source} has the splits {', '.join(dataset)}; pick one with --split")
        if split is not None and split not in dataset:
            raise UsageError(f"--split {split}: {source} has {', '.join(dataset)}")
        dataset = dataset[split or next(iter(dataset))]
    # As Arrow, not as Python objects: images and sound would be decoded, which needs programs of their own.
    rows = dataset.with_format("arrow")[:].to_pylist() if len(dataset) else []
    if not rows:
        raise ContentError("no rows", source)
    table = table_from_rows("hf", [(number, flat(row)) for number, row in enumerate(rows, start=1)], f"{source}:")
    return table._replace(columns=list(dict.fromkeys([*dataset.column_names, *table.columns])))
