"""Prompt specs for the bundled tasks and rubrics: every task, variant, and set of texts that an item may have."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import Any

import pytest

from harness.content import Library
from harness.model import Variant
from harness.prompts import PromptSpec, english_wording, own_language_wording

# task -> sets of texts that are not empty, in the order in which a judge reads them
TEXT_NAMES = {
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
def make_spec(library: Library) -> Callable[..., PromptSpec]:
    """A prompt spec, by default in Japanese; a joint call has all metrics of the task, a single call has one."""

    def make(
        variant: Variant | None = None, task: str = "summarize", text_names: tuple[str, ...] | None = None, **other: Any
    ) -> PromptSpec:
        variant = variant or Variant()
        task_spec = library.task(task)
        metrics = other.get("metrics") or (task_spec.metrics if variant.call == "joint" else ("task_quality",))
        rubrics = tuple(map(library.rubric, metrics))
        language = other.get("language", "ja")
        wording = (
            own_language_wording(library, task_spec, rubrics, language)
            if variant.language == "own"
            else english_wording(task_spec, rubrics, language)
        )
        scales = {rubric.id: rubric.scale for rubric in rubrics}
        return PromptSpec(wording, scales, variant, language, text_names or TEXT_NAMES[task][-1], other.get("examples", ()))

    return make


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    if "variant" in metafunc.fixturenames:
        metafunc.parametrize("variant", VARIANTS, ids=str)
    if "text_names" in metafunc.fixturenames:
        cases = [(task, names) for task, sets in TEXT_NAMES.items() for names in sets]
        metafunc.parametrize(("task", "text_names"), cases, ids=[f"{task}-{'+'.join(names)}" for task, names in cases])
