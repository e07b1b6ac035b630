"""WMT23 quality estimation: scores as lists, whose places stand for people."""

from __future__ import annotations

from typing import Any

from harness.content.library import Library
from tests.unit.published.releases import Release

HEADER = ["index", "original", "translation", "scores", "mean", "z_scores", "z_mean"]


def row(index: int, source: str, translation: str, scores: str) -> list[Any]:
    return [index, source, translation, scores, 0.0, "[9, 9, 9]", 9.0]


def test_a_place_in_the_list_of_scores_is_an_annotator_of_its_language(release: Release) -> None:
    release.csv("task_1/en-gu/dev.engu.df.short.tsv", [HEADER, row(0, "One.", "એક.", "[100, 90, 85]")], delimiter="\t")
    release.csv("task_1/en-hi/dev.enhi.df.short.tsv", [HEADER, row(7, "Two.", "दो।", "[70,62.5,0.0,61]")], delimiter="\t")
    labels = release.convert("wmt_qe_2023")["labels"]
    assert {row["metric"] for row in labels} == {"translation_quality"}
    assert [(row["item_id"], row["annotator_id"], row["score"]) for row in labels] == [
        ("gu-dev-0000", "gu-pos1", 100),
        ("gu-dev-0000", "gu-pos2", 90),
        ("gu-dev-0000", "gu-pos3", 85),
        ("hi-dev-0007", "hi-pos1", 70),
        ("hi-dev-0007", "hi-pos2", 62.5),
        ("hi-dev-0007", "hi-pos3", 0),
        ("hi-dev-0007", "hi-pos4", 61),
    ]
    assert not any(isinstance(row["score"], float) and row["score"].is_integer() for row in labels)


def test_rows_end_and_quote_as_they_like_and_parts_follow_each_other(release: Release) -> None:
    """A file may end its lines with CR LF, quote every field, and lack the last line break; a text may hold a line break and quotes."""
    quoted = [["1234", 'He said ""no"".\nThen he left.', "ఇ\u0c46\u0c56", "[5, 10, 15]", "10.0", "[0, 0, 0]", "0.0"]]
    text = "\n".join("\t".join(f'"{cell}"' for cell in cells) for cells in [HEADER, *quoted])
    release.text("task_1/en-te/train.ente.df.short.tsv", text)
    release.csv("task_1/en-te/dev.ente.df.short.tsv", [HEADER, row(3, "Three.", "మూడు.", "[1, 2, 3]")], delimiter="\t")
    first, second = release.convert("wmt_qe_2023")["items"]
    assert (first["item_id"], second["item_id"]) == ("te-dev-0003", "te-train-1234")
    assert list(second.items()) == [
        ("item_id", "te-train-1234"),
        ("language", "te"),
        ("task", "translation"),
        ("part", "train"),
        ("source_language", "en"),
        ("source", 'He said "no".\nThen he left.'),
        ("output", "ఇ\u0c48"),
    ]


def test_the_card_takes_the_development_files_alone() -> None:
    [source] = Library().dataset_card("wmt_qe_2023").sources
    assert [file.path for file in source.files] == [f"task_1/en-{tag}/dev.en{tag}.df.short.tsv" for tag in ("gu", "hi", "ta", "te")]
