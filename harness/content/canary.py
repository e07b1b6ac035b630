"""What can be seen of sealed labels without a key: that they are there, encrypted, and that their board's data carry its canary.

A canary is a sentence with a random number that stands in every data file of a board. Who filters a training corpus can look for it; who
finds that a model completes it knows that the files were trained on.
"""

from __future__ import annotations

import uuid
from pathlib import Path

from harness.errors import ContentError
from harness.tables import opened, parquet_table

LABELS = "labels.age"
MAX_BYTES = 256 * 1024 * 1024  # of a file of sealed labels
HOW_TO_MARK = 'add the key "canary" with its text to the first row'
_AGE = b"age-encryption.org/v1\n"
_CHUNK = 1 << 20


def new_canary() -> str:
    """A sentence that nothing else holds."""
    return f"Benchmark data, to be kept out of all training corpora. Canary {uuid.uuid4()}"


def holds_canary(path: Path, canary: str) -> bool:
    """Whether a file (JSONL, gzipped JSONL, Parquet or text) holds the canary. Raises ContentError for one that cannot be read."""
    if path.suffix == ".parquet":
        return any(canary in str(value) for column in parquet_table(path).columns for value in column.unique().to_pylist())
    wanted = canary.encode()
    with opened(path) as file:
        before = b""
        while chunk := file.read(_CHUNK):
            if wanted in before + chunk:
                return True
            before = chunk[-len(wanted) :]
    return False


def not_sealed(path: Path) -> str:
    """What is wrong with a file of sealed labels, as far as it can be seen without a key; empty when nothing is."""
    if path.is_symlink() or not path.is_file():
        return f"no {LABELS} here; 'harness board seal' makes it"
    if path.stat().st_size > MAX_BYTES:
        return f"more than {MAX_BYTES >> 20} MiB; sealed labels are never so long"
    try:
        with path.open("rb") as file:
            start = file.read(len(_AGE))
    except OSError as err:
        raise ContentError(f"cannot be read: {err.strerror or err}", path) from None
    return "" if start == _AGE else "not a file that age has encrypted; 'harness board seal' makes it"
