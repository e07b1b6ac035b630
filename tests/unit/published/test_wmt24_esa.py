"""WMT24: which rows are labels, which are second ratings, and where judges' spans stand."""

import json
from typing import Any

from tests.unit.published.releases import Release

WMT, SPANS = "wmt-conference/wmt24-news-systems", "llm-span-annotators/span-annotation"


def row(account: str, score: int, document: str = "d1", kind: str = "TGT", end: float = 1.0, spans: list[Any] | None = None) -> list[Any]:
    return [account, "S-1.5", 1, kind, "eng", "ces", score, document, "False", json.dumps(spans or []), 0.0, end]


def written(release: Release, rows: list[list[Any]]) -> Release:
    for path, lines in (
        ("documents/en-cs.docs", "canary\tcanary\nnews\td1"),
        ("sources/en-cs.txt", "canary\nA cat."),
        ("references/en-cs.refA.txt", "canary\nKočka."),
    ):
        release.text(f"txt/{path}", lines + "\n", WMT)
    release.text("txt/system-outputs/en-cs/S-1.5.txt", "canary\nJedna koc\u030cka.\n", WMT)
    release.csv("humeval/esa_generalMT2024_wave2.csv", rows, WMT)
    release.csv("humeval/esa_generalMT2024_wave3.csv", [], WMT)
    release.json("humeval/annotator_mapping.json", {"Annotator01": ["c1", "c2"]}, WMT)
    metadata = {"output_idx": "1|d1|S-1.5|en-cs"}
    where = {"orig_example_idx": 40, "dataset": "wmt24-news", "split": "en-cs"}
    release.json_lines("outputs/mt-eval/wmt24-news/en-cs.jsonl", [{**where, "setup_id": "s-1-5", "metadata": metadata}], SPANS)
    marked = [{"start": 6, "text": "koc\u030cka", "type": 0, "reason": "r"}, {"start": 0, "text": "Kdo", "type": 1, "reason": "r"}]
    release.json_lines(
        "annotations/model/mt-eval/zeroshot/gpt4o/annotations.jsonl", [{**where, "setup_id": "s-1-5", "annotations": marked}], SPANS
    )
    second = [{**where, "setup_id": "S-1.5", "annotations": [], "annotator_group": group} for group in (0, 1)]
    release.json_lines("annotations/human/mt-eval/annotations.jsonl", second, SPANS)
    return release


def test_the_last_rating_is_the_label_and_documents_shown_again_are_second_ratings(release: Release) -> None:
    rows = [
        row("c1", 50, end=9.0, spans=[{"start_i": 6, "end_i": 11, "severity": "minor"}]),
        row("c1", 10, end=3.0),
        row("c2", 70, "d1#dup", end=2.0),
        row("c2", 71, "d1#incomplete", end=1.0),
        row("c1", 0, "d1#bad", "BAD"),
        row("c1", 0, "ende-tutorial1"),
    ]
    tables = written(release, rows).convert("wmt24_esa")
    [item], [label] = tables["items"], tables["labels"]
    assert (item["item_id"], item["doc_id"], item["output"]) == ("cs-0001-S-1.5", "d1", "Jedna kočka.")
    assert (label["annotator_id"], label["score"], label["account"]) == ("Annotator01", 50, "c1")
    assert label["spans"] == [{"severity": "minor", "start": 6, "end": 11}]
    assert [(row["score"], row["kind"]) for row in tables["second_ratings"]] == [(71, "incomplete"), (70, "dup")]


def test_a_judges_span_stands_in_the_composed_text_or_is_unplaced(release: Release) -> None:
    tables = written(release, [row("c1", 50)]).convert("wmt24_esa")
    [judgment], [second] = tables["judgments"], tables["second_spans"]
    assert (judgment["judge"], judgment["penalty"], judgment["score"]) == ("gpt-4o-2024-11-20", 6, 76)
    assert judgment["spans"] == [
        {"severity": "major", "text": "kočka", "start": 6, "end": 11, "reason": "r"},
        {"severity": "minor", "text": "Kdo", "unplaced": True, "reason": "r"},
    ]
    assert second == {"item_id": "cs-0001-S-1.5", "annotator_id": "another-person", "spans": [], "penalty": 0}
