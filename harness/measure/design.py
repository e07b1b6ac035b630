"""Sampling designs: texts with unequal probabilities count by 1 / probability, so that means are those of all texts.

A text that was drawn with probability 0.1 stands for ten texts. `harness labels plan` draws and states the probabilities, the import keeps
them in the items.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import msgspec
import numpy as np

from harness.data.columns import CodedColumn
from harness.data.dataset import Dataset
from harness.errors import UsageError
from harness.measure.label_counts import LabelCounts
from harness.stats.core.arrays import Floats, Ints

PROBABILITY, STRATUM = "inclusion_probability", "stratum"
LEAST_FOR_GAIN = 20
"""With fewer texts, the gain against a simple random sample cannot be estimated: strata are almost empty."""
SIGNED = PROBABILITY.replace("_", "-")  # in signatures


class Design(msgspec.Struct, frozen=True):
    """The weight of each item of a data set, (items,), 1 / probability (NaN where none is stated), and the code of its stratum."""

    weight: Floats
    stratum: Ints


def stated_probabilities(data: Dataset) -> Floats | None:
    """Return the inclusion probability of every item, (items,), NaN where none is stated; None if no item states one.

    Raises UsageError for one that is no number above 0 and at most 1.
    """
    stated = [item.fields.get(PROBABILITY) for item in data.items]
    if all(value is None for value in stated):
        return None
    for item, value in zip(data.items, stated, strict=True):
        if value is not None and (isinstance(value, bool) or not isinstance(value, (int, float)) or not 0 < value <= 1):
            raise UsageError(f"{PROBABILITY} of item '{item.item_id}' is {value!r}; it should be a number above 0 and at most 1")
    return np.array([np.nan if value is None else value for value in stated], np.float64)


def design_of(data: Dataset, counted: Mapping[str, LabelCounts]) -> tuple[Design | None, tuple[str, ...]]:
    """Return how the labelled items were drawn, and a note where stated probabilities cannot be used.

    There is no design, and every text counts once, if no text states a probability, if all labelled texts have the same, if some have none,
    or if the dataset card does not say that they are a random sample.
    """
    probability = stated_probabilities(data)
    labelled = (
        np.logical_or.reduce([labels.counts.sum(axis=1) > 0 for labels in counted.values()]) if counted else np.zeros(len(data.items), bool)
    )
    if probability is None or not labelled.any():
        return None, ()
    stated = probability[labelled]
    if absent := int(np.isnan(stated).sum()):
        if absent == len(stated):
            return None, ()
        return None, (
            f"{absent:,} of {len(stated):,} labelled texts state no {PROBABILITY}, so every text counts once. Compare texts of one plan "
            "alone (--where), or state the probability of every labelled text.",
        )
    if np.ptp(stated) <= 1e-12:
        return None, ()
    if data.about.sampling != "random":
        return None, (f'Texts state an {PROBABILITY}, but data.toml does not say sampling = "random", so every text counts once.',)
    strata = CodedColumn.from_values(str(item.fields.get(STRATUM, "")) for item in data.items)
    return Design(1 / probability, strata.codes.astype(np.int64)), ()


def design_notes(design: Design, counted: Mapping[str, LabelCounts], gains: Sequence[float | None]) -> Iterator[str]:
    """Yield a sentence on what is weighted, one on what is not, and one on the gain (`Cell.sample_gain` of every cell)."""
    labelled = np.logical_or.reduce([labels.counts.sum(axis=1) > 0 for labels in counted.values()])
    low, high = 1 / design.weight[labelled].max(), 1 / design.weight[labelled].min()
    yield (
        f"Texts were drawn with probabilities from {low:.2g} to {high:.2g}: shares, means, agreement, coefficients, intervals and verdicts "
        "weight each text by 1 / probability and describe all texts that it was drawn from."
    )
    if any(labels.scores is not None for labels in counted.values()):
        yield (
            "Of scores that are numbers, correlations over texts, errors and leniency weight each text too (Kendall's τ each pair, by the "
            "product of its two weights). Means, reliability, comparisons within source texts and --versus count each text once."
        )
    defined = [gain for gain in gains if gain is not None]
    if not defined:
        yield f"No cell has {LEAST_FOR_GAIN} texts, from which the gain of such a sample can be estimated (--by metric pools cells)."
    else:
        span = f"{defined[0]:.2f}" if len(defined) == 1 else f"{min(defined):.2f} to {max(defined):.2f}"
        yield (
            f"Gain against a simple random sample of the same size: {span} (its variance of the judge's agreement, divided by that of this "
            "sample; below 1, the unequal probabilities cost more than the strata gained)."
        )
