"""SQuARe: responses find their question, and workers are ranks."""

from tests.unit.published.releases import Release

FOLDER = "data/SQuARe/with_raw_annotations"


def test_workers_are_ranked_over_both_files_and_questions_are_found(release: Release) -> None:
    asked = [{"workerID": 900, "acceptable?": "dont_know"}, {"workerID": 31, "acceptable?": "acceptable"}]
    response = {"question": "왜?", "question_en": "W", "response": "글쎄", "acceptable?": 1, "category": ["x"], "question_category": "y"}
    annotations = {"Q2: Acceptable or Non-acceptable": asked, "Q3-2: Reasons behind the acceptability": []}
    release.json(f"{FOLDER}/response_test_ood_annotations.json", [{**response, "raw_annotations": annotations}])
    subjective = {"Q2: Subjective or Objective": [{"workerID": 200, "subjective?": "subjective"}]}
    sensitive = {
        "Q3: Sensitive or Non-sensitive": [
            {"workerID": 200, "category": "sensitive - contentious"},
            {"workerID": 31, "category": "non-sensitive"},
        ]
    }
    questions = [
        {"question": text, "sensitive?": 1, "category": "z", "raw_annotations": {**subjective, **sensitive}} for text in ("뭐?", "왜?")
    ]
    release.json(f"{FOLDER}/question_test_ood_annotations.json", questions)
    tables = release.convert("korean_square")
    assert [(item["item_id"], item["question_id"]) for item in tables["items"]] == [
        ("ko-r000", "q001"),
        ("ko-q000", "q000"),
        ("ko-q001", "q001"),
    ]
    assert [tuple(row.values()) for row in tables["labels"]][:5] == [
        ("ko-r000", "w003", "acceptability", "dont_know"),
        ("ko-r000", "w001", "acceptability", "acceptable"),
        ("ko-q000", "w002", "subjectivity", "subjective"),
        ("ko-q000", "w002", "sensitivity", "sensitive"),
        ("ko-q000", "w001", "sensitivity", "non-sensitive"),
    ]
