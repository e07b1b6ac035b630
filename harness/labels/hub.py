"""Hugging Face `datasets`: a folder that `save_to_disk` wrote, or a data set of the hub at a revision."""

from __future__ import annotations

import importlib
import re
from pathlib import Path
from typing import Any

from harness.errors import ContentError, UsageError
from harness.labels.records import table_of
from harness.labels.table import Table, flat

PREFIX = "hf:"


def is_saved(folder: Path) -> bool:
    """Whether a folder was written by `save_to_disk`."""
    return any((folder / name).is_file() for name in ("dataset_dict.json", "state.json"))


def read_saved(folder: Path, split: str | None = None) -> Table:
    """The rows of a saved data set, counted from 1; of several splits, `split` picks one."""
    import pyarrow as pa

    library = _datasets()
    try:
        found = library.load_from_disk(str(folder))
    except (OSError, ValueError, KeyError, TypeError, pa.ArrowException) as err:
        raise ContentError(f"not a data set that save_to_disk wrote whole ({_first_line(err)})", folder) from None
    return _table(found, str(folder), split)


def read_hub(source: str, revision: str | None, split: str | None = None) -> Table:
    """The rows of `hf:owner/name` at a revision. The commit that the revision names is what is read, and is noted.

    Raises UsageError without a revision or for a name that cannot be one, ContentError when it cannot be fetched.
    """
    name = source.removeprefix(PREFIX)
    if not re.fullmatch(r"[\w.-]+(/[\w.-]+)?", name):
        raise UsageError(f"'{source}' is not hf:owner/name")
    if not revision:
        raise UsageError(f"{source} needs --revision: a branch, a tag or, best, a commit; without it nobody knows what was imported")
    from huggingface_hub import HfApi
    from huggingface_hub.errors import HfHubHTTPError

    library = _datasets()
    web_errors = HfHubHTTPError.__bases__  # of whichever HTTP library the hub's client stands on
    try:
        commit = HfApi().dataset_info(name, revision=revision).sha
        found = library.load_dataset(name, revision=commit)
    except (*web_errors, OSError, ValueError, KeyError, library.exceptions.DatasetsError) as err:
        raise ContentError(f"cannot be fetched at revision '{revision}' ({_first_line(err)})", source) from None
    table = _table(found, source, split)
    return table._replace(notes=[*table.notes, f"{source} was read at commit {commit}"])


def fetch_folder(name: str, revision: str) -> Path:
    """The data folder that the hub's data set `owner/name` is at a commit, fetched into the hub's cache once.

    Raises ContentError when it cannot be fetched.
    """
    from huggingface_hub import snapshot_download
    from huggingface_hub.errors import HfHubHTTPError, LocalEntryNotFoundError

    wanted = ["*.jsonl", "*.jsonl.gz", "*.parquet", "data.toml"]
    web_errors: Any = HfHubHTTPError.__bases__
    try:
        found = snapshot_download(name, repo_type="dataset", revision=revision, allow_patterns=wanted)
    except (*web_errors, LocalEntryNotFoundError, OSError, ValueError) as err:
        raise ContentError(f"cannot be fetched at commit {revision} ({_first_line(err)})", f"{PREFIX}{name}") from None
    return Path(found)


def _datasets() -> Any:
    """The library, by name: a checkout has a folder `datasets/` of its own, which type checkers would take for it."""
    library = importlib.import_module("datasets")  # late: 1 s
    library.disable_progress_bars()
    return library


def _first_line(err: Exception) -> str:
    return (str(err).strip().splitlines() or [type(err).__name__])[0]


def _table(found: Any, source: str, split: str | None) -> Table:
    if isinstance(found, dict):
        if split is None and len(found) > 1:
            raise UsageError(f"{source} has the splits {', '.join(found)}; pick one with --split")
        if split is not None and split not in found:
            raise UsageError(f"--split {split}: {source} has {', '.join(found)}")
        found = found[split or next(iter(found))]
    # As Arrow, not as Python objects: images and sound would be decoded, which needs programs of their own.
    rows = found.with_format("arrow")[:].to_pylist() if len(found) else []
    if not rows:
        raise ContentError("no rows", source)
    table = table_of("hf", [(number, flat(row)) for number, row in enumerate(rows, start=1)], f"{source}:")
    return table._replace(columns=list(dict.fromkeys([*found.column_names, *table.columns])))
