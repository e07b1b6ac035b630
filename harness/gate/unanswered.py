"""Questions without an answer: labelled texts with a known or possible question to the judge and no reply on record."""

from __future__ import annotations

from collections import Counter
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from harness.data.columns import CodedColumn, combination_ids, first_rows
from harness.measure.compare import Recording
from harness.measure.judged_table import JudgedTable, ShownToJudges, item_key
from harness.model import CONDITION, CellKey, JudgeCondition
from harness.runs import RunResult


class Unanswered(NamedTuple):
    """The number of questions of a cell `without` an answer, of how many, and advice."""

    without: int
    questions: int
    advice: str

    def __str__(self) -> str:
        return f"{self.without:,} of {self.questions:,} questions have no answer; {self.advice}"


_NO_CALL = "run the same command again"
_NO_ROW = 'add their rows, or name in data.toml what the judge was shown ([asked] with rule = "column")'
_FEWER_ROWS = "some texts were asked more often than others; record the same number of repeats for each"


def unanswered_calls(result: RunResult) -> dict[CellKey, Unanswered]:
    """Return the cells of a run in which a labelled question has no answer: calls that were lost, or are still to be made.

    Repeats are questions of their own. The questions are those of the run's plan, so a cell without any answer is among them.
    """
    if not any(result.answers.missing.values()):
        return {}
    labelled, protocol = result.prepared.data.labelled_metrics, result.protocol
    planned: Counter[CellKey] = Counter()
    for query in result.prepared.plan(None).queries():
        condition = query.condition
        if condition.perturbation or condition.shown_source != "none":
            continue
        for metric in labelled.get(query.item.item_id, frozenset()) & set(query.metrics):
            planned[CellKey(query.item.language, metric, condition.of_judge(""))] += 1
    # The number of judgments of labelled questions, by cell.
    judgments, data = result.judgments.clean, result.prepared.data
    pairs = zip(judgments.item, judgments.metric, strict=True)
    labelled_rows = judgments.take(np.fromiter((metric in labelled.get(item, ()) for item, metric in pairs), bool, len(judgments)))
    language = item_key(data, "language").take(labelled_rows.item.recode(data.positions))
    columns = [language, labelled_rows.metric, *(getattr(labelled_rows, name) for name in CONDITION)]
    code = combination_ids(columns, np.zeros(len(labelled_rows), np.int8))
    counts = np.bincount(code).tolist()
    rows = (tuple(_value(column, row) for column in columns) for row in first_rows(code).tolist())
    keys = (CellKey(language, metric, JudgeCondition(*condition)) for language, metric, *condition in rows)
    answered = Counter(dict(zip(keys, counts, strict=True)))
    unanswered = {}
    for judge in protocol.judges.all:
        for of_any, questions in planned.items():
            key = of_any._replace(condition=of_any.condition._replace(judge=judge.name))
            if without := questions - answered[key]:
                unanswered[key] = Unanswered(without, questions, _NO_CALL)
    return unanswered


def unanswered_rows(recording: Recording, judged: JudgedTable) -> dict[CellKey, Unanswered]:
    """Return the cells of recorded judgments in which a labelled text has no row or fewer than others: they were deleted, or never there.

    Every judge and condition of the recording counts as asked about every labelled text, unless `[asked]` names by a column what it was
    shown; so a language whose rows are all gone is found too. It counts as asked about each text of a cell as often as about any other.
    """
    if recording.asked is None:
        return {}
    data = judged.data
    shown_items = ShownToJudges(recording.asked, data, recording.judgments.clean)
    language = item_key(data, "language")
    conditions = combination_ids([getattr(judged.judgments, name) for name in CONDITION], np.zeros(len(judged), np.int8))
    unanswered = {}
    for number, row in enumerate(first_rows(conditions).tolist()):
        condition = JudgeCondition(*(_value(judged.judgments.columns[name], row) for name in CONDITION))
        was_shown = shown_items.under(condition) if recording.asked.rule == "column" else np.ones(len(data.items), bool)
        for metric, votes in judged.labels.items():
            askable = (votes.counts.sum(axis=1) > 0) & was_shown
            cell_rows = (conditions == number) & judged.judgments.metric.equals(metric)
            times = np.bincount(judged.item[cell_rows], minlength=len(data.items))
            for code in np.unique(language.codes[askable]).tolist():
                if missed := _missed(times[askable & (language.codes == code)]):
                    unanswered[CellKey(language.values[code], metric, condition)] = missed
    return unanswered


def _missed(times: NDArray[np.intp]) -> Unanswered | None:
    """Return the missing answers of texts that were asked so many times; None where all were asked equally often."""
    most_times = max(int(times.max()), 1)
    if without := most_times * len(times) - int(times.sum()):
        return Unanswered(without, most_times * len(times), _FEWER_ROWS if times.min() else _NO_ROW)
    return None


def _value(column: CodedColumn, row: int) -> Any:
    code = column.codes[row]
    return column.values[code] if code >= 0 else None
