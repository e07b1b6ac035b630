"""HANNA: a cell of the table is a list of 96 stories' scores."""

from harness.published.hanna import JUDGES, METRICS, VARIANTS
from tests.unit.published.releases import Release


def test_a_story_is_its_row_and_its_place_in_the_list(release: Release) -> None:
    cell = str([-1.0, 2.3333333333, *[4.0] * 94])
    columns = [f"Human {k} {short}" for k in (1, 2, 3) for short in METRICS]
    columns += [f"{judge} {short} {number}" for judge in JUDGES for short in [*METRICS, "AVG"] for number in VARIANTS]
    rows = [[name, *[cell] * len(columns)] for name in ("Human", "GPT")]
    release.csv("hanna_metric_scores_llm.csv", [["Model", *columns], *rows], "dig-team/hanna-benchmark-asg")
    stories = [{"story_id": "97", "prompt": "p", "story": "e\u0301"}, {"story_id": "1", "prompt": "p", "story": "s"}]
    release.json("data/hanna/hanna_test_qwen_2_5_14b.json", stories, "thu-coai/HPSS")
    tables = release.convert("hanna")
    assert [(item["item_id"], item["system"], item["prompt_id"], item["output"]) for item in tables["items"]] == [
        ("hanna-0001", "Human", "prompt-01", "s"),
        ("hanna-0097", "GPT", "prompt-01", "é"),
    ]
    assert len(tables["labels"]) == 2 * 96 * 18 and len(tables["judgments"]) == 2 * 96 * 6 * 5 * 4
    assert [row["score"] for row in tables["judgments"][:3]] == [-1, 2.333333, 4]
    assert [row["annotator_id"] for row in tables["labels"][:3]] == ["pos1", "pos2", "pos3"]
