"""A judge's probabilities beside people's labels: the arrays of one language and metric."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import msgspec
import numpy as np
from numpy.typing import NDArray

from harness.data.columns import NO_VALUE
from harness.measure.judged_table import JudgedTable
from harness.measure.scores import numbers
from harness.parse.probabilities import SUM_TOLERANCE
from harness.stats import item_credits
from harness.stats.agreement.agreement import share_left_out
from harness.stats.core.arrays import Floats, Ints


@dataclass(frozen=True, eq=False)
class ProbabilityCell:
    """The answers of one cell that have a probability and a labelled text.

    Attributes:
        key: that of the cell.
        asked: answers of labelled texts, with a probability or not.
        confidence: (n,) the probability of the answer.
        right: (n,) 1 where the answer is the annotators' aggregate, else 0; NaN where they have none.
        person: (n,) share of the text's annotators who gave the answer.
        probabilities: (n, k) of all classes, sum 1; NaN where they are not stated or add up to something else.
        counts: (n, k) the text's labels of each class.
        group: (n,) codes of what texts share.
        next_person: (n,) how often an annotator gives the commonest label of the text's others; NaN with fewer than two.
    """

    key: dict[str, Any]
    asked: int
    confidence: Floats
    right: Floats
    person: Floats
    probabilities: Floats
    counts: Ints
    group: Ints
    next_person: Floats

    @property
    def compared(self) -> NDArray[np.bool_]:
        """(n,) answers whose text has an aggregate of labels."""
        return ~np.isnan(self.right)

    @property
    def distributed(self) -> NDArray[np.bool_]:
        """(n,) answers with a distribution over all classes."""
        return np.asarray(~np.isnan(self.probabilities).any(axis=1))


def probability_cells(judged: JudgedTable, by_source: bool = False) -> Iterator[ProbabilityCell]:
    """Yield every cell whose answers have probabilities; continuous scores have none."""
    if not judged.judgments.confidence.values:
        return
    confidence, text_of_probs = numbers(judged.judgments.confidence), judged.judgments.probs
    for key, rows in judged.rows_by_cell(by_source):
        labels = judged.labels[str(key["metric"])]
        rows = rows[judged.labelled[rows] & (judged.code[rows] >= 0)]
        used = rows[~np.isnan(confidence[rows])]
        if labels.classes.continuous or not len(used):
            continue
        counts, code = labels.counts[judged.item[used]], judged.code[used]
        distinct, place = np.unique(text_of_probs.codes[used], return_inverse=True)
        texts = ("{}" if code == NO_VALUE else str(text_of_probs.values[code]) for code in distinct.tolist())
        distributions = np.array([_distribution(text, labels.classes.scores) for text in texts])
        yield ProbabilityCell(
            key=key,
            asked=len(rows),
            confidence=np.clip(confidence[used], 0.0, 1.0),
            right=judged.hit[used],
            person=counts[np.arange(len(used)), code] / counts.sum(axis=1),
            probabilities=distributions[place],
            counts=counts,
            group=judged.group[used],
            next_person=item_credits(share_left_out("human"), counts, code),
        )


def _distribution(text: str, classes: tuple[Any, ...]) -> list[float]:
    """Return the probabilities of all classes, divided by their sum; NaN where they are no distribution."""
    stated = msgspec.json.decode(text, type=dict[str, float])
    values = [stated.get(str(score), 0.0) for score in classes]
    total = sum(values)
    if not stated or abs(total - 1) > SUM_TOLERANCE:
        return [float("nan")] * len(classes)
    return [value / total for value in values]
