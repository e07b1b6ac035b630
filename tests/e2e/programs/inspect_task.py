"""An Inspect task whose answers are given: only the judge is a model."""

import json
from pathlib import Path

from inspect_ai import Task, task
from inspect_ai.dataset import Sample
from inspect_ai.model import ModelOutput
from inspect_ai.solver import Generate, Solver, TaskState, solver

TEXTS = json.loads((Path(__file__).parent / "texts.json").read_text("utf-8"))


@solver
def given_answer() -> Solver:
    async def solve(state: TaskState, generate: Generate) -> TaskState:
        state.output = ModelOutput.from_content("system-a", state.metadata["answer"])
        return state

    return solve


@task
def thanks() -> Task:
    samples = [
        Sample(id=text["item_id"], input=text["prompt"], metadata={"language": text["language"], "answer": text["answer"]})
        for text in TEXTS
    ]
    return Task(dataset=samples, solver=given_answer())
