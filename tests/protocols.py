"""A run protocol for tests that ask nobody."""

from __future__ import annotations

from harness.model import Condition, JudgeIdentity
from harness.runs.protocol import AskedJudges, AskedQuestions, AskedTexts, RunProtocol, WordingVersions

PROTOCOL = RunProtocol(
    texts=AskedTexts(
        source="controls@1.0.0",
        title="A title",
        constructed=True,
        data=None,
        content=(),
        board="controls",
        languages=("en",),
        limit=None,
        data_sha256="d" * 64,
    ),
    questions=AskedQuestions(("m",), (Condition(),)),
    wording=WordingVersions(tasks={"open_prompt": "1.0.0"}, rubrics={"m": "1.0.0"}, prompts="p" * 16),
    judges=AskedJudges(
        (
            JudgeIdentity("openai", "one", {"endpoint": "a-very-long-name.of-a-host.example"}),
            JudgeIdentity("local", "two", {"sha256": "f" * 64}),
        )
    ),
)
