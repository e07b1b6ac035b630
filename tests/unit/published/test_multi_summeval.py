"""Multi_SummEval: focus and coverage, later ratings of the same worker, and no id of a worker."""

from pytest import raises

from harness.errors import ContentError
from tests.unit.published.releases import Release

COLUMNS = ["task_id", "hit_id", "worker_id", "assignment_id", "annotation_res"]


def test_which_text_comes_first_names_the_metric_and_workers_are_numbered(release: Release) -> None:
    texts = [["id", "text1", "text2"], ["ZH-010-SYSTEM-REFERENCE-PG", "系统", "参考"], ["ZH-9-REFERENCE-SYSTEM-BERT", "甲", "乙"]]
    release.csv("mturk/samples/data_ZH.csv", texts)
    rated = [
        [0, "HIT", "WORKERB", "ASSIGN", "{'ZH-010-REFERENCE-SYSTEM-PG': 1.23456789, 'ZH-010-SYSTEM-REFERENCE-PG': 2.0}"],
        [1, "HIT", "WORKERA", "ASSIGN", "{'ZH-010-REFERENCE-SYSTEM-PG': -0.5}"],
        [2, "HIT", "WORKERB", "ASSIGN", "{'ZH-010-REFERENCE-SYSTEM-PG': 0.25, 'ZH-9-REFERENCE-SYSTEM-BERT': 1.0}"],
    ]
    release.csv("mturk/annotation_result/ZH/analysis_clean.csv", [COLUMNS, *rated])
    tables = release.convert("multi_summeval")
    assert [(item["item_id"], item["doc_id"], item["reference"], item["output"]) for item in tables["items"]] == [
        ("zh-9-BERT", "zh-9", "甲", "乙"),
        ("zh-010-PG", "zh-010", "参考", "系统"),
    ]
    assert [tuple(row.values()) for row in tables["labels"]] == [
        ("zh-010-PG", "zh-w01", "focus", 1.234568),
        ("zh-010-PG", "zh-w01", "coverage", 2),
        ("zh-010-PG", "zh-w02", "focus", -0.5),
        ("zh-9-BERT", "zh-w01", "focus", 1),
    ]
    assert [tuple(row.values()) for row in tables["second_ratings"]] == [("zh-010-PG", "zh-w01", "focus", 0.25)]
    assert not any(secret in str(tables) for secret in ("WORKER", "HIT", "ASSIGN"))


def test_an_entry_is_read_and_never_run(release: Release) -> None:
    release.csv("mturk/annotation_result/DE/analysis_clean.csv", [COLUMNS, [0, "h", "w", "a", "print('run')"]])
    with raises(ContentError, match=r"analysis_clean\.csv:2: 'annotation_res' holds no scores"):
        release.convert("multi_summeval")
