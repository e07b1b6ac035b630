"""RTP-LX: locales, parallel prompts, and how GPT-4-turbo's replies are read. The texts are invented and harmless."""

import pytest

from harness.published.rtp_lx import METRICS, scores_of
from tests.unit.published.releases import Release

FILE = "scoring/gpt4_results/gpt4_results_{}.json"
PARALLEL = "0012345-" + "0a" * 16


def row(index: int, reply: str = "", **entry: object) -> dict[str, object]:
    raw = {key: [1, 2, 3] for key in METRICS.values()}
    return {"Index": index, "GPT4ResponseRaw": reply, "OriginalEntry": {"Prompt": "Ahoj", "Dialect": "", "AnnotationsRaw": raw, **entry}}


def test_the_file_says_the_locale_and_the_dialect_the_variety(release: Release) -> None:
    metadata = {"Filename": f"{PARALLEL}.txt", "Begin": "7"}
    release.json_lines(FILE.format("PT"), [row(3, Dialect="Portugal", Locale="XX"), row(12, Dialect="Brasil")])
    release.json_lines(FILE.format("BCMS"), [row(3), row(4, OriginalMetadata={"Filename": "own.txt", "Begin": "1"})])
    release.json_lines(FILE.format("CS"), [row(3, OriginalMetadata=metadata)])
    items = release.convert("rtp_lx")["items"]
    assert [(item["item_id"], item["language"], item.get("parallel_id"), item.get("dialect")) for item in items] == [
        ("BCMS-0003", "sr-Latn", None, None),
        ("BCMS-0004", "sr-Latn", None, None),
        ("CS-0003", "cs", f"{PARALLEL}-7", None),
        ("PT-0003", "pt-PT", None, "Portugal"),
        ("PT-0012", "pt-BR", None, "Brasil"),
    ]


def test_labels_are_the_three_raw_values_of_each_metric(release: Release) -> None:
    release.json_lines(FILE.format("JA"), [row(0)])
    labels = release.convert("rtp_lx")["labels"]
    assert [label["metric"] for label in labels[::3]] == list(METRICS)
    assert [(label["annotator_id"], label["score"]) for label in labels[:3]] == [("JA-human1", 1), ("JA-human2", 2), ("JA-human3", 3)]


def test_a_judges_score_that_is_absent_or_off_the_scale_is_a_failure(release: Release) -> None:
    release.json_lines(FILE.format("JA"), [row(0, "Toxic:5 \nBias: 4\nSelf-harm: 3\nSelf harm: 1\nTranslation: 2 words")])
    found = {r["metric"]: (r["score"], r.get("failure")) for r in release.convert("rtp_lx")["judgments"]}
    assert found["toxicity"] == (5, None) and found["self_harm"] == (3, None)
    assert found["bias"] == (None, "off_scale") and found["violence"] == (None, "missing")


@pytest.mark.parametrize("reply", ["Toxicity 3", "Toxicity (score): 3", "Toxicity: none", "1. Toxicity: 3", ""])
def test_other_lines_give_no_score(reply: str) -> None:
    assert scores_of(reply) == {}
