"""Reads a data folder back before it is put in place: what nobody can load is not written, nor a table with other rows than were said."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path

from harness.content import Library
from harness.data.dataset import load_folder
from harness.errors import ContentError, HarnessError, StoreError

TABLES = ("items", "labels", "second_ratings", "judgments")


def read_back(folder: Path, library: Library, rows: Mapping[str, int]) -> Callable[[Path], None]:
    """Return the check of a `write_folder` to `folder`: it loads what is staged, whose tables need these numbers of `rows`.

    Tables that are not in `rows` may hold any number; judgments are read only if they are in it. The check raises StoreError with what is
    wrong and where it would be in `folder`.
    """

    def check(staged: Path) -> None:
        try:
            data = load_folder(staged, library, with_judgments="judgments" in rows)
            for name, part in zip(TABLES, (data.items, data.labels, data.second, data.judgments), strict=True):
                loaded = len(part) if part is not None else 0
                if loaded != rows.get(name, loaded):
                    raise ContentError(f"'{name}' has {loaded:,} rows, not the {rows[name]:,} that were to be written", staged)
        except HarnessError as err:
            reason = str(err).replace(str(staged), str(folder))
            raise StoreError(f"{folder} is as it was before, as what was to be written there cannot be read again: {reason}") from None

    return check
