"""Checks of sealed labels that need no key: the file exists and is encrypted, and the board's data files contain the canary.

A canary is a sentence with a random number in every data file of a board. Whoever filters a training corpus can search for it. A model
that completes it was trained on these files.
"""

from __future__ import annotations

import uuid
from pathlib import Path

from harness.errors import unreadable
from harness.row_files import open_bytes, parquet_table

LABELS = "labels.age"
MAX_BYTES = 256 * 1024 * 1024  # of a file of sealed labels
HOW_TO_MARK = 'add the key "canary" with its text to the first row'
_AGE = b"age-encryption.org/v1\n"
_CHUNK = 1 << 20


def new_canary() -> str:
    """Return a sentence that occurs nowhere else."""
    return f"Benchmark data, to be kept out of all training corpora. Canary {uuid.uuid4()}"


def holds_canary(path: Path, canary: str) -> bool:
    """Return True if a file (JSONL, gzipped JSONL, Parquet or text) contains the canary. Raises ContentError for an unreadable file."""
    if path.suffix == ".parquet":
        return any(canary in str(value) for column in parquet_table(path).columns for value in column.unique().to_pylist())
    searched = canary.encode()
    with open_bytes(path) as file:
        overlap = b""
        while chunk := file.read(_CHUNK):
            if searched in overlap + chunk:
                return True
            overlap = chunk[-len(searched) :]
    return False


def sealed_file_problem(path: Path) -> str:
    """Return what is wrong with a file of sealed labels, as far as that is visible without a key; empty when nothing is wrong."""
    if path.is_symlink() or not path.is_file():
        return f"no {LABELS} in this folder; 'harness board seal' creates it"
    if path.stat().st_size > MAX_BYTES:
        return f"larger than {MAX_BYTES >> 20} MiB, the limit for sealed labels"
    try:
        with path.open("rb") as file:
            start = file.read(len(_AGE))
    except OSError as err:
        raise unreadable(err, path) from None
    return "" if start == _AGE else "not a file encrypted with age; 'harness board seal' creates it"
