"""Verdicts on some texts, and where a candidate still differs from people there, with texts to read: often the gap is in the rubric."""

from __future__ import annotations

from collections.abc import Collection

import msgspec
import numpy as np

from harness.data.dataset import Dataset
from harness.decide.options import DecisionOptions
from harness.decide.verdicts import Verdict, verdicts_of_tables
from harness.improvement.questions import LabelledQuestions
from harness.measure.compare import Recording, align, judged_tables
from harness.measure.item_table import ItemTable, item_tables
from harness.measure.options import MeasureOptions
from harness.model import Item, JudgeCondition, Score
from harness.offensive import HIDDEN

_SHOWN = 5
_CHARACTERS = 300


class Disagreement(msgspec.Struct, frozen=True):
    """A text, its reference, and the judge's commonest answer; None: there is none, or several are as common."""

    item_id: str
    people: Score | None
    judge: Score | None
    text: str


class Remaining(msgspec.Struct, frozen=True):
    """Disagreements in one language and metric: `wrong` of `n`, and the widest of them."""

    language: str
    metric: str
    wrong: int
    n: int
    examples: tuple[Disagreement, ...]


def disagreements(
    source: Recording, compare: MeasureOptions, candidate: JudgeCondition, questions: LabelledQuestions
) -> tuple[Remaining, ...]:
    """Return a candidate's disagreements with people's reference on these questions, the largest share first."""
    wanted = set(questions.questions)
    [judged] = judged_tables([source], compare)
    rows = [
        _disagreements_of_cell(
            cell, judged.data, {question.item_id for question in wanted if (question.language, question.metric) == cell.language_and_metric}
        )
        for cell in item_tables(judged)
        if cell.condition == candidate and not cell.classes.continuous
    ]
    return tuple(sorted((row for row in rows if row.wrong), key=lambda row: (-row.wrong / row.n, row.language, row.metric)))


def _disagreements_of_cell(cell: ItemTable, data: Dataset, items: set[str]) -> Remaining:
    label, answer = cell.reference, cell.answer
    counted = np.array([data.items[index].item_id in items for index in cell.item.tolist()], bool) & cell.compared
    wrong = np.flatnonzero(counted & ~cell.right)
    widest = wrong[np.argsort(-np.abs(answer - label)[wrong], kind="stable")] if cell.values is not None else wrong
    scores, examples = cell.classes.scores, []
    for index in widest[:_SHOWN].tolist():
        item, answer_code = data.items[int(cell.item[index])], int(answer[index])
        people, judge = (scores[code] if code >= 0 else None for code in (int(label[index]), answer_code))
        examples.append(Disagreement(item.item_id, people, judge, _shown_text(item, data)))
    return Remaining(*cell.language_and_metric, len(wrong), int(counted.sum()), tuple(examples))


def _shown_text(item: Item, data: Dataset) -> str:
    if data.about.offensive:
        return HIDDEN
    texts = (" ".join(str(item.fields.get(name, "")).split()) for name in data.outputs_of(item))
    return " | ".join(text if len(text) <= _CHARACTERS else f"{text[:_CHARACTERS]}…" for text in texts if text)


def verdicts_on(source: Recording, items: Collection[str], compare: MeasureOptions, decision: DecisionOptions) -> tuple[Verdict, ...]:
    """Return the verdicts of all judges and conditions on the texts with these ids."""
    data = source.data.only(item for item in source.data.items if item.item_id in items)
    part = msgspec.structs.replace(source, data=data, judgments=source.judgments.for_items(data.by_id))
    return verdicts_of_tables(align([part], compare), compare, decision)
