"""WMT23 English-German: which segment a row means, which rating counts, and how spans become MQM scores."""

import json
from typing import Any

from harness.published.wmt23_esa_de import CAMPAIGNS, FIRST, GEMBA, METRICS, RELEASED, SECOND, SYSTEMS, WMT23, Campaign
from tests.unit.published.releases import Release

TWICE = "elitr_minuting-19#GPT4-5shot"
SEGMENTS = 410


def row(
    login: str, item: int, document: str, score: int, *, kind: str = "TGT", end: float = 1.0, spans: list[Any] | None = None
) -> list[Any]:
    return [login, "wmt23", item, kind, "eng", "deu", score, document, "False", json.dumps(spans or []), 0.0, end]


def span(severity: str, *types: str, start: int | str = 0) -> dict[str, Any]:
    return {"start_i": start, "end_i": start, "severity": severity, "error_type": list(types) or None}


def written(release: Release, campaigns: dict[Campaign, list[list[Any]]]) -> Release:
    def shown(item: int, document: str, segment: int, system: str = "GPT4-5shot", **more: Any) -> dict[str, Any]:
        text = {"targetText": "Ein Satz.", "_item": f"{system} | {segment} | {document.partition('#')[0]}"}
        return {"itemID": item, "documentID": document, "itemType": "TGT", **text, **more}

    tutorial = {"itemID": 1, "documentID": "ende-tutorial1", "itemType": "TGT"}
    batches = [
        {
            "items": [
                tutorial,
                shown(90, TWICE, 398),
                shown(1, "d#AIRC", 0, "AIRC"),
                shown(2, "d#AIRC#bad1", 0, "AIRC", targetText="Ein Hund."),
            ]
        },
        {"items": [tutorial, shown(90, TWICE, 405)]},
    ]
    release.json(f"{CAMPAIGNS}/data/batches_wmt23_en-de_esa.json", batches)
    release.text(f"{CAMPAIGNS}/Annotators_mapping.csv", "\ufeffAnnotatorID,protocol,login,\n7,ESA,a05,\n8,ESA,a07,\n")
    for campaign in (*FIRST, *SECOND):
        release.csv(f"{CAMPAIGNS}/{campaign.file}.scores.csv", campaigns.get(campaign, []))
    release.text(f"{WMT23}/documents/en-de.docs", "news\td\n" * SEGMENTS)
    release.text(f"{WMT23}/sources/en-de.txt", "A sentence.\n" * SEGMENTS)
    nobody = "".join(f"{system}\tNone\n" * SEGMENTS for system in reversed(SYSTEMS))
    for system in SYSTEMS:
        release.text(f"{WMT23}/system-outputs/en-de/{system}.txt", "Ein Satz.\n" * SEGMENTS)
    for _, _, file, _ in RELEASED:
        release.text(f"{WMT23}/human-scores/{file}", nobody)
    release.text(GEMBA[0][1], nobody.replace("AIRC\tNone", "AIRC\t-26", 1))
    release.text(GEMBA[1][1], nobody)
    for number, (_, file, _) in enumerate(METRICS):
        scores = nobody.replace("AIRC\tNone", "AIRC\t0.123456789", 1) if not number else nobody
        release.text(f"{WMT23}/metric-scores/en-de/{file}.seg.score", scores)
    return release


def test_one_document_that_is_there_twice_is_told_apart_by_the_login(release: Release) -> None:
    rows = [row("a05", 90, TWICE, 60), row("a07", 90, TWICE, 70)]
    tables = written(release, {FIRST[0]: rows}).convert("wmt23_esa_de")
    assert [(label["item_id"], label["annotator_id"], label["score"]) for label in tables["labels"]] == [
        ("de-398-GPT4-5shot", "ann-8", 70),
        ("de-405-GPT4-5shot", "ann-7", 60),
    ]
    assert len(tables["items"]) == 2 * len(SYSTEMS)


def test_the_last_rating_counts_and_tutorials_and_duplicates_are_left_out(release: Release) -> None:
    rows = [row("a05", 1, "d#AIRC", 5, end=9.0), row("a05", 1, "d#AIRC", 4, end=2.0), row("a05", 1, "d#AIRC#duplicate", 3, end=99.0)]
    damaged = [row("a05", 2, "d#AIRC#bad1", 0, kind="BAD"), row("a05", 1, "ende-tutorial1", 1)]
    tables = written(release, {FIRST[0]: [*rows, *damaged], SECOND[0]: rows[:1]}).convert("wmt23_esa_de")
    assert [label["score"] for label in tables["labels"]] == [5]
    [check], [second] = tables["attention_checks"], tables["second_ratings"]
    assert (check["item_id"], check["output"], check["score"], check["score_of_original"]) == ("de-000-AIRC-bad", "Ein Hund.", 0, 5)
    assert (second["annotator_id"], second["campaign"]) == ("login-a05", "ESA-IAA")


def test_spans_of_campaigns_without_error_types_need_none(release: Release) -> None:
    marked = [{"start_i": 0, "end_i": 0, "severity": "minor"}]
    tables = written(release, {FIRST[0]: [row("a05", 1, "d#AIRC", 5, spans=marked)]}).convert("wmt23_esa_de")
    [labelled] = tables["labels"]
    assert (labelled["score"], [sorted(span) for span in labelled["spans"]]) == (5, [["end", "severity", "start"]])


def test_an_mqm_score_is_counted_from_the_spans(release: Release) -> None:
    spans = [span("minor", "Fluency", "Punctuation"), span("major", "Accuracy"), span("undecided"), span("minor", start="missing")]
    tables = written(release, {FIRST[4]: [row("a05", 1, "d#AIRC", 0, spans=spans)], FIRST[0]: [row("a05", 1, "d#AIRC", 1)]}).convert(
        "wmt23_esa_de"
    )
    label = tables["labels"][-1]
    assert (label["metric"], label["score"]) == ("mqm", -6.1)
    assert label["spans"][0] == {"severity": "minor", "type": "Fluency/Punctuation", "start": 0, "end": 1}
    assert label["spans"][3] == {"severity": "minor", "missing": True}


def test_judges_scores_are_rescaled_and_have_a_floor(release: Release) -> None:
    tables = written(release, {FIRST[0]: [row("a05", 1, "d#AIRC", 5)]}).convert("wmt23_esa_de")
    assert [(row["judge"], row["variant"], row["metric"], row["score"]) for row in tables["judgments"]] == [
        ("gemba-mqm-gpt4", "no-reference", "mqm", -26),
        ("gemba-mqm-gpt4", "no-reference", "translation_quality", 0),
        ("gemba-mqm-gpt4", "no-reference", "translation_quality_ai_assisted", 0),
        ("xcomet-xxl", "reference-A", "translation_quality", 12.3457),
        ("xcomet-xxl", "reference-A", "translation_quality_ai_assisted", 12.3457),
    ]
