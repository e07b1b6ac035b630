"""A data folder as a data set for a hub: what `datasets` reads, what the card says, and what comes back."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest
import yaml

import harness
from tests.conftest import write_rows
from tests.judged_folder import judged_folder

Cli = Callable[..., Any]
HOSTILE = "a\n---\nlicense: mit\n<script>alert(1)</script> [x](javascript:y) \u202e| `b` \x1b[31m"


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return judged_folder(tmp_path_factory.mktemp("data") / "made", labelled=0.9, noise=0.05)


@pytest.fixture
def mixed(tmp_path: Path) -> Path:
    """Two languages and splits, classes that are words, texts that attack, and a key with values of several types."""
    folder = tmp_path / "mixed"
    folder.mkdir()
    items = [
        {"item_id": "a", "language": "pt-BR", "task": "t", "output": HOSTILE, "length": 3, "further": [1, "x"]},
        {"item_id": "b", "language": "ja", "task": "t", "output": "b", "length": 2.5, "further": "y", "split": "dev", "big": 2**70},
    ]
    write_rows(folder / "items.jsonl", items)
    scores = [("a", "p1", "tone", "good"), ("a", "p2", "tone", "bad"), ("b", "p1", "Fluency", 3)]
    write_rows(folder / "labels.jsonl", [dict(zip(("item_id", "annotator_id", "metric", "score"), row, strict=True)) for row in scores])
    rows = [{"item_id": "a", "judge": f"m/{HOSTILE}", "metric": "Fluency", "score": None, "failure": "refused"}]
    write_rows(folder / "judgments.jsonl", rows)
    title = HOSTILE.replace("\n", "\\n").replace("\x1b", "\\u001b").replace('"', "'")
    scale = '[metrics.tone]\nkind = "nominal"\nclasses = ["good", "bad"]\n'
    (folder / "data.toml").write_text(f'id = "mixed"\nannotators = "persistent"\ntitle = "{title}"\n{scale}', "utf-8")
    return folder


def front_matter(card: str) -> dict[str, Any]:
    _, head, _ = card.split("---\n", 2)
    found: dict[str, Any] = yaml.safe_load(head)
    return found


def test_what_was_written_is_a_data_folder_with_the_same_numbers(cli: Cli, folder: Path, tmp_path: Path) -> None:
    done = cli("export", "hub", folder, "--to", tmp_path / "hub", "--license", "cc-by-4.0")
    assert done.code == 0 and done.out.strip() == str(tmp_path / "hub")
    assert done.err == "240 items, 1,332 labels, 480 judgments written; read README.md before you publish\n"
    own, read = harness.load(folder), harness.load(tmp_path / "hub")
    assert read.items == own.items and read.sha256 == own.sha256
    assert read.judgments and own.judgments and read.judgments.sha256 == own.judgments.sha256
    again = cli("export", "hub", folder, "--to", tmp_path / "hub")
    assert again.code == 2 and "hub exists; choose a new folder" in again.err


def test_the_card_says_what_the_data_say_and_what_nobody_knows(cli: Cli, folder: Path, tmp_path: Path) -> None:
    cli("export", "hub", folder, "--to", tmp_path / "hub", "--license", "cc-by-4.0")
    card = (tmp_path / "hub" / "README.md").read_text("utf-8")
    head = front_matter(card)
    assert (head["language"], head["license"], head["size_categories"], head["pretty_name"]) == (["ja"], "cc-by-4.0", ["n<1K"], "made")
    files = {"split": "test", "path": "labels.parquet"}
    assert head["configs"][1] == {"config_name": "labels", "data_files": [files]} and len(head["configs"]) == 3
    assert "| ja | chat | tone | 222 | 666 | 81 % \\[77–85\\] | .73 \\[.64 .80\\] |" in card
    assert "1,332 labels with 3 annotator ids. The labels come from people." in card
    assert "How people were chosen, instructed and paid: **Not stated in the data." in card
    assert "- model/one: 480 rows" in card and "Items were drawn: random." in card


def test_constructed_labels_are_nobodys_and_unread_texts_say_so(cli: Cli, tmp_path: Path) -> None:
    run = harness.run(harness.RunSpec(languages=("cs",), tasks=("summarize",), judges=("baseline/length",)), tmp_path / "out")
    assert cli("export", "hub", run.name, "--out", tmp_path / "out", "--to", tmp_path / "hub").code == 0
    card = (tmp_path / "hub" / "README.md").read_text("utf-8")
    assert "human-annotations" not in card and front_matter(card)["annotations_creators"] == ["machine-generated"]
    assert "The labels come from nobody: they were constructed with the texts" in card and "How far people agree" not in card
    assert "- No native reader has reviewed the texts in cs." in card
    assert "Signature: judge:baseline/length&#64;learnt" in card


def test_texts_from_elsewhere_are_neither_markup_nor_metadata(cli: Cli, mixed: Path, tmp_path: Path) -> None:
    assert cli("export", "hub", mixed, "--to", tmp_path / "hub").code == 0
    card = (tmp_path / "hub" / "README.md").read_text("utf-8")
    head = front_matter(card)
    assert "license" not in head and head["pretty_name"].startswith("a\n---\nlicense: mit")
    assert (head["language"], head["language_bcp47"]) == (["ja", "pt"], ["ja", "pt-BR"])
    assert "\x1b" not in card and "\u202e" not in card and not re.search(r"(?<!\\)<script|\n---\nlicense", card)
    assert "1 of them without a score" in card
    names = {config["config_name"]: config["data_files"][0]["split"] for config in head["configs"]}
    assert names == {"items": "all", "labels": "all", "judgments": "all"}


def test_columns_have_one_type_and_none_is_empty(cli: Cli, mixed: Path, tmp_path: Path) -> None:
    cli("export", "hub", mixed, "--to", tmp_path / "hub")
    items = pq.read_table(tmp_path / "hub" / "items.parquet").to_pylist()
    assert [(row["length"], row["further"], row["big"], row["split"]) for row in items] == [
        (3.0, '[\n  1,\n  "x"\n]', None, "test"),
        (2.5, "y", str(2**70), "dev"),
    ]
    assert items[0]["output"] == HOSTILE and "system" not in items[0]
    labels = pq.read_table(tmp_path / "hub" / "labels.parquet").to_pylist()
    assert [(row["score"], row["language"]) for row in labels] == [("good", "pt-BR"), ("bad", "pt-BR"), ("3", "ja")]


def test_what_cannot_be_published_is_refused(cli: Cli, tmp_path: Path) -> None:
    absent = cli("export", "hub", tmp_path / "nowhere", "--to", tmp_path / "hub")
    assert absent.code == 2 and not (tmp_path / "hub").exists()


@pytest.mark.slow  # importing `datasets` takes seconds
def test_datasets_loads_each_config(cli: Cli, folder: Path, tmp_path: Path) -> None:
    import datasets

    cli("export", "hub", folder, "--to", tmp_path / "hub")
    loaded = {
        name: datasets.load_dataset(str(tmp_path / "hub"), name, split="test", cache_dir=str(tmp_path / "cache"))
        for name in ("items", "labels", "judgments")
    }
    assert {name: len(rows) for name, rows in loaded.items()} == {"items": 240, "labels": 1332, "judgments": 480}
    first = loaded["labels"][0]
    assert (type(first["score"]), first["language"]) == (int, "ja") and first["item_id"] in set(loaded["items"]["item_id"])
    assert len(loaded["labels"].filter(lambda row: row["metric"] == "tone")) == 666


def test_scores_in_numbers_beside_scores_in_words_come_back(cli: Cli, tmp_path: Path) -> None:
    """A column of Parquet has one type, so the numbers stand in it as texts."""
    folder = tmp_path / "data"
    folder.mkdir()
    write_rows(folder / "items.jsonl", [{"item_id": name, "language": "cs", "task": "t", "output": f"Text {name}"} for name in "ab"])
    scores = {"tone": ("good", "3"), "grade": (3, 1), "points": (2.5, 7)}
    rows = [{"item_id": item, "metric": metric, "score": pair[at]} for at, item in enumerate("ab") for metric, pair in scores.items()]
    write_rows(folder / "labels.jsonl", [{**row, "annotator_id": "eva"} for row in rows])
    write_rows(folder / "judgments.jsonl", [{**row, "judge": "m"} for row in rows])
    (folder / "data.toml").write_text(
        'id = "data"\nannotators = "persistent"\n[metrics.tone]\nkind = "nominal"\nclasses = ["good", "3"]\n'
        '[metrics.grade]\nkind = "ordinal"\nclasses = [1, 2, 3]\n[metrics.points]\nkind = "interval"\nmin = 0\nmax = 10\n',
        "utf-8",
    )
    assert cli("export", "hub", folder, "--to", tmp_path / "hub").code == 0
    before, read = harness.load(folder), harness.load(tmp_path / "hub")
    assert list(read.labels.score) == ["good", 3, 2.5, "3", 1, 7] and read.sha256 == before.sha256
    assert read.judgments and before.judgments and read.judgments.sha256 == before.judgments.sha256
