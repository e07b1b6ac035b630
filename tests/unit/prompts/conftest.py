"""Questions about the bundled tasks and rubrics: every task, variant, and set of texts that an item may have."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import Any

import pytest

from harness.content import Library
from harness.model import Variant
from harness.prompts import Question, english, own

# task -> sets of texts that are not empty, in the order in which a judge reads them
PRESENT = {
    "open_prompt": [("prompt", "output")],
    "continue_writing": [("left", "output"), ("right", "output"), ("left", "right", "output")],
    "summarize": [("passage", "output"), ("passage", "instruction", "output")],
}
VARIANTS = [
    Variant(call=call, instructions=instructions, justification=justification, language=language)  # type: ignore[arg-type]
    for call, instructions, justification, language in itertools.product(
        ("single", "joint"), ("simple", "detailed"), ("before", "after", "none"), ("english", "own")
    )
]


@pytest.fixture(scope="session")
def make_question(library: Library) -> Callable[..., Question]:
    """A question in Japanese unless told otherwise: about all metrics of the task in a joint call, else about one."""

    def make(variant: Variant | None = None, task: str = "summarize", present: tuple[str, ...] | None = None, **other: Any) -> Question:
        variant = variant or Variant()
        spec = library.task(task)
        metrics = other.get("metrics") or (spec.metrics if variant.call == "joint" else ("task_quality",))
        rubrics = tuple(map(library.rubric, metrics))
        language = other.get("language", "ja")
        wording = own(library, spec, rubrics, language) if variant.language == "own" else english(spec, rubrics, language)
        scales = {rubric.id: rubric.scale for rubric in rubrics}
        return Question(wording, scales, variant, language, present or PRESENT[task][-1], other.get("examples", ()))

    return make


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    if "variant" in metafunc.fixturenames:
        metafunc.parametrize("variant", VARIANTS, ids=str)
    if "present" in metafunc.fixturenames:
        cases = [(task, present) for task, sets in PRESENT.items() for present in sets]
        metafunc.parametrize(("task", "present"), cases, ids=[f"{task}-{'+'.join(present)}" for task, present in cases])
