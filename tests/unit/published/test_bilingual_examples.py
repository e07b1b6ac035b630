"""Example sentences for dictionaries: two people's files of the same sentences, with means below the rows and a column twice."""

from __future__ import annotations

from typing import Any

import pytest

from harness.errors import ContentError
from tests.unit.published.releases import Release

ANSWERS = ["Typical", "Informative", "Intelligible", "Translation correct", "Overall rating"]


def write(release: Release, code: str, model: str, annotator: str, rows: list[list[Any]], more: list[str] | None = None) -> None:
    header = [code, "eng", f"example.{model}_src", f"example.{model}_tgt", *ANSWERS, "Comment", *(more or [])]
    path = f"datafiles/select_examples_{model}_{code}_eng_rated_{annotator}.tsv"
    release.csv(path, [header, *(cells + [""] * (len(header) - len(cells)) for cells in rows)], delimiter="\t")


def test_answers_are_numbers_and_the_rows_of_means_are_left_out(release: Release) -> None:
    sentences = [["uma", "house", "Uma boot.", "The house is big."], ["bee", "water", "Bee moos.", "The water is clear."]]
    first = [[*sentences[0], "Yes", "Somewhat", "No", "Yes", "5 Very good"], [*sentences[1], "", "Yes", "Yes", "No", "2: Pretty bad"]]
    means = [[], ["", "", "", "", "", "", "", "", "3.5"]]
    write(release, "tdt", "llama", "A1", [*first, *means])
    write(release, "tdt", "llama", "A2", [[*cells, "No", "No", "No", "No", "1: Bad"] for cells in sentences])
    labels = release.convert("bilingual_examples")["labels"]
    assert [(row["metric"], row["score"]) for row in labels if (row["item_id"], row["annotator_id"]) == ("tet-llama-01", "tet-A1")] == [
        ("typical", 2),
        ("informative", 1),
        ("intelligible", 0),
        ("translation_correct", 2),
        ("overall_rating", 5),
    ]
    second = [(row["annotator_id"], row["metric"], row["score"]) for row in labels if row["item_id"] == "tet-llama-02"]
    assert second[:4] == [
        ("tet-A1", "informative", 2),
        ("tet-A1", "intelligible", 2),
        ("tet-A1", "translation_correct", 0),
        ("tet-A1", "overall_rating", 2),
    ]
    assert [(annotator, score) for annotator, _, score in second[4:]] == [("tet-A2", score) for score in (0, 0, 0, 0, 1)]


def test_both_models_sentences_for_a_word_share_its_id(release: Release) -> None:
    scores = ["Yes", "Yes", "Yes", "Yes", "4 Good"]
    for model, sentence in (("llama", "L'e\u0301te\u0301 passe."), ("gpt4", "Il fait chaud en été.")):
        cells = ["e\u0301te\u0301", "summer", sentence, "It is summer."]
        write(release, "fra", model, "A1", [[*cells, *scores, "", "2 Bad", "earlier"]], ["Example quality", "Comment"])
        write(release, "fra", model, "A2", [[*cells, *scores]])
    tables = release.convert("bilingual_examples")
    assert [(item["item_id"], item["source_id"], item["system"], item["output"]) for item in tables["items"]] == [
        ("fr-gpt4-01", "fr-01", "gpt-4o", "Il fait chaud en été."),
        ("fr-llama-01", "fr-01", "llama-3.1-405b", "L'été passe."),
    ]
    assert list(tables["items"][0].items())[5:] == [
        ("word", "été"),
        ("word_in_english", "summer"),
        ("word_in_english_language", "en"),
        ("output", "Il fait chaud en été."),
        ("translation", "It is summer."),
        ("translation_language", "en"),
    ]
    assert {row["score"] for row in tables["labels"] if row["metric"] == "overall_rating"} == {4}


def test_files_of_different_sentences_are_refused(release: Release) -> None:
    write(release, "ind", "gpt4", "A1", [["air", "water", "Air jernih.", "The water is clear.", *["Yes"] * 4, "5 Very good"]])
    write(release, "ind", "gpt4", "A2", [["air", "water", "Air keruh.", "The water is murky.", *["Yes"] * 4, "5 Very good"]])
    with pytest.raises(ContentError, match=r"rated_A2\.tsv:2: is about another sentence than line 2 of .*rated_A1\.tsv"):
        release.convert("bilingual_examples")
