"""Notes for readers of a comparison: on marked errors without a place in their text, and on continuous scores."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from harness.data.columns import CodedColumn, combination_ids, rows_by_number
from harness.data.dataset import Dataset
from harness.data.judgments import Judgments
from harness.data.marked_errors import OUTPUT, lies_in, rows_with_errors
from harness.judges import traits_of
from harness.measure.judged_table import JudgedTable, item_key
from harness.measure.label_counts import LabelCounts
from harness.measure.options import MeasureOptions
from harness.measure.score_cells import second_ratings
from harness.text import one_line

_LEAST_TWINS = 30  # questions in which equal scores are no chance


def error_notes(data: Dataset, judgments: Judgments) -> Iterator[str]:
    """Yield a sentence where errors of people, or of judges, lie outside their text or quote words that are not in it."""
    tables = {"people": data.labels, "people of the second round": data.second_spans, "judges": judgments}
    for who, table in tables.items():
        marked, empty, outside, unplaced = _count_errors(data, table.item, table.spans) if table is not None else (0, 0, 0, 0)
        lost = [
            *([f"with an empty place: {empty:,}"] if empty else []),
            *([f"outside their text: {outside:,}"] if outside else []),
            *([f"with words that are not in it: {unplaced:,}"] if unplaced else []),
        ]
        if lost:
            yield f"Errors that {who} marked: {marked:,}; {'; '.join(lost)}. They are counted, and pages cannot show them in the text."


def _count_errors(data: Dataset, item: CodedColumn, column: CodedColumn) -> tuple[int, int, int, int]:
    """Count the marked errors, and those of them with an empty place, one outside the text, or none although something is quoted."""
    marked = empty = outside = unplaced = 0
    for row, errors in rows_with_errors(column):
        text = str(data.by_id[item.values[item.codes[row]]].fields.get(OUTPUT, ""))
        marked += len(errors)
        for error in errors:
            placed = error.start is not None or error.end is not None
            nothing = placed and error.start == error.end
            empty += nothing
            outside += placed and not nothing and not lies_in(error, text)
            unplaced += not placed and not error.missing
    return marked, empty, outside, unplaced


def score_notes(judged: JudgedTable, options: MeasureOptions) -> Iterator[str]:
    """Yield sentences on interval metrics whose items have one annotator each, on second ratings, and on standardised scores."""
    if options.level == "system":
        return
    data, used = judged.data, judged.judgments.metric.used
    language = item_key(data, "language")
    counted = {metric: labels for metric, labels in judged.labels.items() if labels.scores is not None and metric in used}
    yield from (_other_scale_note(data, metric) for metric, labels in counted.items() if labels.classes.order_only)
    numbers = [metric for metric, labels in counted.items() if not labels.classes.order_only]
    if numbers:
        yield (
            f"Verdicts on {', '.join(numbers)}: scores are numbers, so verdicts rest on closeness (1 minus the distance of two scores, "
            "as a share of the length of the scale), not on the shares of equal scores that agreement and judge–person pairs are; a "
            "constant is the median label of other texts."
        )
    for metric, labels in counted.items():
        assert labels.scores is not None
        for code, tag in enumerate(language.values):
            in_language = language.codes == code
            n = labels.scores.n[in_language]
            if n.any() and n.max() == 1:
                yield (
                    f"One person scored each text ({metric}, {tag}), so there is no ceiling: how far people agree cannot be computed from "
                    "these labels. Correlations say how far the judge follows these people; how well it could at best, they do not say."
                )
            if data.second is not None:
                item, _ = second_ratings(data, metric, labels.scores)
                again = int((in_language & (labels.scores.n > 0))[item].sum())
                if again:
                    yield (
                        f"Another person scored {again:,} texts a second time ({metric}, {tag}): the correlation of two people on them is "
                        "the ceiling that a judge's correlation may be compared with."
                    )
            single = _count_single_outputs(data, labels, in_language)
            if single:
                yield f"{single:,} source texts have one output with a label ({metric}, {tag}); within a source text they say nothing."
    if counted and options.standardise != "none":
        yield (
            "Correlations use people's scores standardised within annotator. Errors, leniency, means and pairs right are on the scores as "
            "given, because standardising destroys ties and points."
        )


def _other_scale_note(data: Dataset, metric: str) -> str:
    return (
        f"The judge scored {metric} on {data.scales[metric].describe()}, people on {data.label_scale(metric).describe()}: only the order "
        "of the texts is compared, by correlations and pairs right. There is no agreement, no error and no verdict."
    )


def _count_single_outputs(data: Dataset, labels: LabelCounts, in_language: np.ndarray[tuple[int], np.dtype[np.bool_]]) -> int:
    """Return how many source texts have one labelled output."""
    if not data.about.segment or labels.scores is None:
        return 0
    segment = item_key(data, data.about.segment)
    labelled = in_language & (labels.scores.n > 0) & (segment.codes >= 0)
    return int((np.bincount(segment.codes[labelled].astype(np.int64), minlength=1) == 1).sum())


def copy_notes(data: Dataset) -> Iterator[str]:
    """Yield a sentence where equal texts join groups, so that fewer texts are independent than the data name groups."""
    pairs = list(zip(data.items, data.clusters, strict=True))
    if any(item.group != cluster for item, cluster in pairs):
        groups = len({(item.language, item.group) for item in data.items})
        clusters = len({(item.language, cluster) for item, cluster in pairs})
        yield f"Equal texts under several ids count as one: of {groups:,} groups of texts {clusters:,} are independent."


def twin_notes(judged: JudgedTable) -> Iterator[str]:
    """Yield a sentence for judges, no baselines, that give one and the same score to every question, not always the same."""
    judgments = judged.judgments
    side = combination_ids([judged.source, judgments.judge], np.zeros(len(judged), np.int8))
    question = combination_ids([judgments.metric, judgments.repeat], judged.item.astype(np.int64))
    answers: dict[tuple[bytes, bytes], list[int]] = {}
    for rows in rows_by_number(side):
        scores = judgments.score.codes[rows]
        if traits_of(str(judgments.judge.at(int(rows[0])))).is_baseline or len(np.unique(scores[scores >= 0])) < 2:
            continue
        rows = rows[np.lexsort((scores, question[rows]))]
        if len(rows) >= _LEAST_TWINS:
            answers.setdefault((question[rows].tobytes(), judgments.score.codes[rows].tobytes()), []).append(int(rows[0]))
    for (questions, _), twins in answers.items():
        names = [one_line(str(judgments.judge.at(row))) for row in twins]
        if len(set(names)) > 1:
            count = len(questions) // question.itemsize
            yield f"{' and '.join(names)} give the same score to all {count:,} questions: one may be a copy of the other."
