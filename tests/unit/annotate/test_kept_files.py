"""Answers about blind pairs become labels, a table of pairs that are kept, and lines about the readers."""

from __future__ import annotations

import csv
import json
import tomllib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec
import pytest

from harness.annotate.blind_pairs import blind_pairs
from harness.annotate.labelling_options import PageOptions
from harness.annotate.page_import import import_page_results
from harness.annotate.page_results import PageAnswer, PageRecord, checksum, read_record
from harness.annotate.pages_for_annotators import make_pages
from harness.content import Library
from harness.data import load_folder
from harness.errors import ContentError, UsageError
from harness.exchange.labels.label_import import ImportSummary
from harness.exchange.labels.table_options import ImportOptions

LIBRARY = Library()
KEEP = ImportOptions(keep_annotators=True)
Reads = Callable[..., Path]


@pytest.fixture
def source(tmp_path: Path) -> Path:
    """A data folder with two flawless texts, and a twin of each."""
    folder = tmp_path / "own"
    folder.mkdir()
    texts = {"a": "Kočka spala.", "b": "Pes štěkal."}
    twins = {"a-twin": ("a", "Kočka spal."), "b-twin": ("b", "Pes štěkala.")}
    shared = {"language": "cs", "task": "open_prompt", "prompt": "Napiš větu."}
    rows = [{"item_id": name, "group": name, "output": text, **shared} for name, text in texts.items()]
    rows += [
        {"item_id": name, "group": base, "twin": base, "construction": "=agreement", "output": text, **shared}
        for name, (base, text) in twins.items()
    ]
    labels = [
        {"item_id": row["item_id"], "annotator_id": "c", "metric": "linguistic_acceptability", "score": 1 if "twin" in row else 2}
        for row in rows
    ]
    for name, own in (("items", rows), ("labels", labels)):
        (folder / f"{name}.jsonl").write_text("".join(json.dumps(row) + "\n" for row in own), "utf-8")
    (folder / "data.toml").write_text('id = "own"\nsource = "constructed"\n', "utf-8")
    return folder


@pytest.fixture
def reads(tmp_path: Path, source: Path) -> Reads:
    """The result file of one reader, who sees every flaw or calls both texts as good."""
    data = load_folder(source, LIBRARY)
    made = make_pages(data, str(source), tmp_path / "pages", LIBRARY, PageOptions(blind_pairs=True, annotators=5))
    record, pairs = read_record(made.record), blind_pairs(data, LIBRARY).by_id

    def write(number: int, *, sees: bool = True, saved: str = "2026-01-31T10:00:00.000Z") -> Path:
        page = record.pages[number]
        answers = [
            PageAnswer(
                key=entry.key,
                practice=False,
                place=place,
                scores={"preference": pairs[entry.item_id].fields["better"] if sees else "tie"},
                errors=None,
                no_errors=True,
                skip=None,
                comment=None,
                ms=1000,
                changed=saved,
            )
            for place, entry in enumerate(page.items, start=1)
        ]
        path = made.record.parent / f"{page.annotator}.json"
        path.write_text(json.dumps(_result(record, page.page, page.annotator, answers, saved)), "utf-8")
        return path

    return write


def _result(record: PageRecord, page: str, annotator: str, answers: list[PageAnswer], saved: str) -> dict[str, Any]:
    return {
        "kind": "judge-harness labels",
        "schema_version": 1,
        "page": page,
        "version": record.version,
        "annotator": annotator,
        "session": f"s-{annotator}",
        "saved": saved,
        "answers": msgspec.to_builtins(answers),
        "checksum": checksum(answers),
    }


def imported(tmp_path: Path, *results: Path) -> ImportSummary:
    return import_page_results(list(results), tmp_path / "pairs", options=KEEP)


def table(tmp_path: Path) -> dict[str, dict[str, str]]:
    lines = (tmp_path / "pairs" / "pairs_kept.csv").read_text("utf-8").splitlines()
    return {row["item_id"]: row for row in csv.DictReader(lines)}


def readers(tmp_path: Path) -> list[dict[str, str]]:
    found: list[dict[str, str]] = tomllib.loads((tmp_path / "pairs" / "reviewed_by.toml").read_text("utf-8"))["reviewed_by"]
    return found


def test_later_results_are_added_to_earlier_ones(tmp_path: Path, reads: Reads) -> None:
    first = imported(tmp_path, reads(0), reads(1, sees=False))
    assert first.hints[-1].startswith("pairs kept (4 of 5 readers agree with what is constructed): 0 of 0; 2 have fewer than 5 readers")
    assert {row["kept"] for row in table(tmp_path).values()} == {"fewer than 5 readers"}
    again = imported(tmp_path, reads(2, saved="2026-02-01T09:00:00.000Z"), reads(3), reads(4))
    assert "2 of 2. pairs_kept.csv has each pair" in again.hints[-1]
    assert {name: (row["agree"], row["equal"], row["kept"]) for name, row in table(tmp_path).items()} == {
        "a-twin": ("4", "1", "yes"),
        "b-twin": ("4", "1", "yes"),
    }
    assert [(row["who"], row["when"]) for row in readers(tmp_path)] == [
        ("cs-A1", "2026-01-31"),
        ("cs-A2", "2026-01-31"),
        ("cs-A3", "2026-02-01"),
        ("cs-A4", "2026-01-31"),
        ("cs-A5", "2026-01-31"),
    ]
    assert {row["read"] for row in readers(tmp_path)} == {"2 minimal pairs of own, without knowing which text is flawed"}


def test_a_second_import_changes_nothing(tmp_path: Path, reads: Reads) -> None:
    results = [reads(number) for number in range(5)]
    imported(tmp_path, *results)
    before = {path.name: path.read_bytes() for path in (tmp_path / "pairs").iterdir()}
    assert imported(tmp_path, *results).labels == 0
    assert {path.name: path.read_bytes() for path in (tmp_path / "pairs").iterdir()} == before


def test_names_of_flaws_are_no_formulas(tmp_path: Path, reads: Reads) -> None:
    imported(tmp_path, reads(0))
    assert {row["construction"] for row in table(tmp_path).values()} == {"'=agreement"}


def test_answers_about_pairs_do_not_go_into_the_data_of_single_texts(tmp_path: Path, source: Path, reads: Reads) -> None:
    for to in (None, source):
        with pytest.raises(UsageError, match="name a folder with --to"):
            import_page_results([reads(0)], to, options=KEEP)


@pytest.mark.parametrize("content", ["reviewed_by = 3", "x", "[[reviewed_by]]\nname = 1", ""])
def test_a_list_of_readers_that_was_changed(tmp_path: Path, reads: Reads, content: str) -> None:
    imported(tmp_path, reads(0))
    (tmp_path / "pairs" / "reviewed_by.toml").write_text(content, "utf-8")
    with pytest.raises(ContentError, match="not the list of readers that an import wrote"):
        imported(tmp_path, reads(1))
