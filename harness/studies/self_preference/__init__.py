"""Panickssery, Bowman & Feng (2024), LLM evaluators recognize and favor their own generations (arXiv 2404.13076)."""

COMMANDS = {
    "study self-preference": (
        "harness.studies.self_preference.flags:StudySelfPreference",
        "show whether judges recognise and prefer their own outputs (Panickssery et al. 2024)",
    ),
    "study export-finetuning": (
        "harness.studies.self_preference.flags:StudyExportFinetuning",
        "write chats for fine-tuning a judge on a question about pairs, with answers",
    ),
}
