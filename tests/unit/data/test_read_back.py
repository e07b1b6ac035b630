"""A data folder is put in place only if it can be loaded and holds the rows that were said."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from harness.content import Library
from harness.data import load_folder
from harness.data.dataset import read_back
from harness.data.folders import write_folder
from harness.errors import StoreError
from harness.row_files import to_jsonl

ITEMS = [{"item_id": f"i{n}", "language": "cs", "task": "t", "output": f"Text {n}"} for n in range(3)]
LABELS = [{"item_id": f"i{n}", "annotator_id": "eva", "metric": "q", "score": 1} for n in range(3)]
ABOUT = b'id = "d"\nannotators = "persistent"\n[metrics.q]\nkind = "ordinal"\nclasses = [0, 1]\nbest = 1\n'


def files_of(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.iterdir()} if folder.is_dir() else {}


@pytest.fixture
def library() -> Library:
    return Library()


@pytest.mark.parametrize(
    ("labels", "rows", "words"),
    [
        ([*LABELS, {**LABELS[0], "annotator_id": "jan", "item_id": "i9"}], 4, r"d/labels\.jsonl:4: a label of item 'i9'"),
        ([{**LABELS[0], "score": 7}], 1, r"d/labels\.jsonl:1: score 7 is outside the scale"),
        (LABELS, 4, "'labels' has 3 rows, not the 4 that were to be written"),
    ],
)
@pytest.mark.parametrize("existing", [False, True])
def test_what_cannot_be_read_again_is_not_put_in_place(
    library: Library, tmp_path: Path, labels: list[dict[str, object]], rows: int, words: str, existing: bool
) -> None:
    folder = tmp_path / "d"
    if existing:
        write_folder(folder, {"items.jsonl": to_jsonl(ITEMS), "data.toml": ABOUT, "notes.txt": b"mine"})
    before = files_of(folder)
    files = {"items.jsonl.gz" if not existing else "items.jsonl": to_jsonl(ITEMS), "labels.jsonl": to_jsonl(labels), "data.toml": ABOUT}
    with pytest.raises(StoreError, match=rf"is as it was before.*{words}"):
        write_folder(folder, files, read_back(folder, library, {"items": 3, "labels": rows}))
    assert files_of(folder) == before and [path.name for path in tmp_path.iterdir()] == (["d"] if existing else [])


def test_files_that_stay_are_read_with_the_new_ones(library: Library, tmp_path: Path) -> None:
    folder = tmp_path / "d"
    write_folder(folder, {"items.jsonl": to_jsonl(ITEMS), "data.toml": ABOUT})
    write_folder(folder, {"labels.jsonl": to_jsonl(LABELS)}, read_back(folder, library, {"labels": 3}))
    assert len(load_folder(folder, library).labels) == 3 and sorted(files_of(folder)) == ["data.toml", "items.jsonl", "labels.jsonl"]


WRITER = 'version = "1"\ndef first_words(item):\n    return "Shrnutí: " + item["passage"].split(".")[0]\n'


@pytest.mark.parametrize(
    ("module", "command", "folder_stays"),
    [
        (
            "runs.generate",
            ("generate", "--task", "summarize", "--langs", "cs", "--limit", "2", "--by", "python:writer:first_words", "--out"),
            True,
        ),
        ("studies.chiang_lee.altered_texts", ("study", "alter-texts", "--langs", "cs", "--limit", "2", "--out"), False),
        ("exchange.scores.exports", ("export", "hub", "data", "--to"), False),
    ],
)
def test_every_command_that_writes_a_folder_reads_it_first(
    cli: Callable[..., Any],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    module: str,
    command: tuple[str, ...],
    folder_stays: bool,
) -> None:
    """A card that cannot be read stands for whatever a later version of a command may get wrong."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "writer.py").write_text(WRITER, "utf-8")
    write_folder(tmp_path / "data", {"items.jsonl": to_jsonl(ITEMS), "labels.jsonl": to_jsonl(LABELS), "data.toml": ABOUT})
    with monkeypatch.context() as patch:
        patch.setattr(f"harness.{module}.data_toml", lambda about: 'id = "d"\nannotators = "nobody"\n')
        failed = cli(*command, "new")
    assert failed.code == 5 and "new is as it was before, as what was to be written there cannot be read again: new/data.toml" in failed.err
    left = {path.name for path in Path("new").glob("[!.]*")} if Path("new").is_dir() else set()
    assert left == ({"store.sqlite"} if folder_stays else set()), "the answers of writers stay, as they were paid for"
    assert cli(*command, "new").code == 0 and load_folder(Path("new"), Library()).items
