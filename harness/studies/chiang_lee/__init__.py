"""Chiang & Lee (2023), Can large language models be an alternative to human evaluation? (arXiv 2305.01937)."""

COMMANDS = {
    "study chiang-lee": (
        "harness.studies.chiang_lee.flags:StudyChiangLee",
        "compare samples of a judge's ratings with people's, by text and by system (Chiang & Lee 2023)",
    ),
    "study alter-texts": (
        "harness.studies.chiang_lee.flags:StudyAlterTexts",
        "make altered texts from the control items, for the task rate_altered_text",
    ),
}
