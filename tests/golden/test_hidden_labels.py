"""Published labels of one language are hidden, planned again and fed back through pages: the verdict is that of enough labels.

Of PARIKSHA's Telugu labels on hallucinations, those of three prompts stay, as a first round. The answers on the pages are the released
scores of the three native annotators; a text that an annotator did not score is skipped.
"""

from __future__ import annotations

import gzip
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec
import pytest

from harness.annotate.page_results import LabellingPage, PageAnswer, PageRecord, checksum, read_record

pytestmark = pytest.mark.needs("shared data")

LANGUAGE, METRIC = "te", "hallucinations"
FIRST_PROMPTS = 3
Row = dict[str, Any]
Scores = dict[tuple[str, str], Any]


def rows(path: Path) -> list[Row]:
    with gzip.open(path, "rt", encoding="utf-8") as file:
        return [json.loads(line) for line in file]


def hide(source: Path, folder: Path) -> Scores:
    """Write items, judgments, and the labels of the first prompts; return all scores, `{(item, annotator): score}`."""
    items = [row for row in rows(source / "items.jsonl.gz") if row["language"] == LANGUAGE]
    names = {row["item_id"] for row in items}
    labels, judgments = (
        [row for row in rows(source / f"{name}.jsonl.gz") if row["item_id"] in names and row["metric"] == METRIC]
        for name in ("labels", "judgments")
    )
    first = list(dict.fromkeys(row["prompt_id"] for row in items))[:FIRST_PROMPTS]
    shown = {row["item_id"] for row in items if row["prompt_id"] in first}
    folder.mkdir()
    for name, kept in {
        "items": items,
        "labels": [row for row in labels if row["item_id"] in shown],
        "judgments": judgments,
    }.items():
        (folder / f"{name}.jsonl").write_text("".join(json.dumps(row) + "\n" for row in kept), "utf-8")
    return {(row["item_id"], row["annotator_id"]): row["score"] for row in labels}


def result_file(folder: Path, record: PageRecord, page: LabellingPage, scores: Scores) -> Path:
    """What the page saves when its annotator has given these scores."""
    answers = []
    for place, entry in enumerate(page.items, start=1):
        score = scores.get((entry.item_id, page.annotator))
        given = {"scores": {}, "skip": "cannot_judge"} if score is None else {"scores": {METRIC: score}, "skip": None}
        given |= {"errors": None, "no_errors": False, "comment": None, "ms": 9000, "changed": "2026-01-01T11:59:00.000Z"}
        answers.append({"key": entry.key, "practice": False, "place": place, **given})
    result = {
        "kind": "judge-harness labels",
        "schema_version": 1,
        "page": page.page,
        "version": record.version,
        "annotator": page.annotator,
        "session": f"session of {page.annotator}",
        "saved": "2026-01-01T12:00:00.000Z",
        "answers": answers,
        "checksum": checksum(msgspec.convert(answers, list[PageAnswer])),
    }
    folder.mkdir(exist_ok=True)
    path = folder / f"{page.annotator}.json"
    path.write_text(json.dumps(result), "utf-8")
    return path


def verdict(cli: Callable[..., Any], folder: Path) -> Row:
    done = cli("compare", folder, "--json")
    assert done.code == 0, done.err
    [own] = json.loads(done.out)["verdicts"]
    return dict(own)


def test_labels_that_come_back_through_pages_change_the_verdict(cli: Callable[..., Any], shared_data: Path, tmp_path: Path) -> None:
    folder, plan, pages = tmp_path / "pariksha", tmp_path / "plan.jsonl", tmp_path / "pages"
    scores = hide(shared_data / "pariksha", folder)
    annotators = sorted({annotator for _, annotator in scores})
    before = verdict(cli, folder)
    assert before["verdict"] == "too few labels"

    done = cli("labels", "plan", folder, "--to", plan)
    assert done.code == 0, done.err
    planned = {row["item_id"]: row for row in map(json.loads, plan.read_text("utf-8").splitlines())}
    already = {json.loads(line)["item_id"] for line in (folder / "labels.jsonl").read_text("utf-8").splitlines()}
    assert len(planned) >= 100 and not planned.keys() & already

    wanted = ("--items", plan, "--metrics", METRIC, "--fields", "prompt,output", "--annotators", ",".join(annotators), "--practice", 0)
    done = cli("labels", "page", folder, *wanted, "--out", pages)
    assert done.code == 0, done.err
    record = read_record(pages / "pages.json")
    results = [result_file(pages / "results", record, page, scores) for page in record.pages]
    done = cli("labels", "import", *results, "--keep-annotators")
    assert done.code == 0, done.err

    labels = [json.loads(line) for line in (folder / "labels.jsonl").read_text("utf-8").splitlines()]
    came_back = {(row["item_id"], row["annotator_id"]): row["score"] for row in labels if row["item_id"] not in already}
    assert came_back == {key: score for key, score in scores.items() if key[0] in planned}
    items = {row["item_id"]: row for row in map(json.loads, (folder / "items.jsonl").read_text("utf-8").splitlines())}
    assert all(items[name]["inclusion_probability"] == row["inclusion_probability"] for name, row in planned.items())
    after = verdict(cli, folder)

    assert before["groups"] == FIRST_PROMPTS and after["groups"] == 20
    assert after["verdict"] == "use" and after["n"] > before["n"]
