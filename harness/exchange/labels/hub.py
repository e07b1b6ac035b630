"""Reads Hugging Face data sets: a folder written by `save_to_disk`, or a data set of the hub at a revision."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from harness.errors import ContentError, UsageError
from harness.exchange.labels.records import table_from_rows
from harness.exchange.labels.table import SourceTable, flat

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
