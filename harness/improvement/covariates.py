"""Covariates of texts as columns of a regression, with the effect of every level: what may explain a judge's errors."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np

from harness.content.tags import likely_script
from harness.data.columns import CodedColumn
from harness.data.dataset import Dataset
from harness.errors import UsageError
from harness.measure.judged_table import item_key
from harness.stats.core.arrays import Floats, Ints
from harness.text import graphemes

LENGTH, SYSTEM, SCRIPT = "length", "system", "script"
MOST_LEVELS = 40


class Factor(NamedTuple):
    """One covariate of n texts.

    Attributes:
        name: of the covariate, or `system × length` of an interaction.
        levels: of each effect; (None,) of a standardised number.
        columns: (n, c) of the regression. Levels are coded against their mean, so that the last one is minus the sum of the others.
        contrasts: (levels, c) what makes each effect of the coefficients.
    """

    name: str
    levels: tuple[tuple[str, ...] | None, ...]
    columns: Floats
    contrasts: Floats

    def crossed_with(self, other: Factor) -> Factor:
        """Return the interaction of two covariates."""
        columns: Floats = np.einsum("ni,nj->nij", self.columns, other.columns).reshape(len(self.columns), -1)
        levels = tuple((*(first or ()), *(second or ())) for first in self.levels for second in other.levels)
        return Factor(f"{self.name} × {other.name}", levels, columns, np.asarray(np.kron(self.contrasts, other.contrasts), np.float64))


def text_lengths(data: Dataset) -> Floats:
    """Return (items,) the logarithm of the length of each output in visible characters; NaN for an item with two outputs or none."""
    texts = (item.fields.get(names[0]) if len(names := data.outputs_of(item)) == 1 else None for item in data.items)
    return np.array([np.log(len(graphemes(text))) if isinstance(text, str) and text else np.nan for text in texts])


def item_codes(data: Dataset, name: str) -> CodedColumn:
    """Return the value of a key for every item; the script is that of its language. Raises UsageError for an unknown key or many values."""
    if name == SCRIPT:
        scripts = {tag: likely_script(tag) for tag in {item.language for item in data.items}}
        return CodedColumn.from_values(scripts[item.language] for item in data.items)
    column = item_key(data, name)
    if len(column.values) > MOST_LEVELS:
        raise UsageError(f"'{name}' has {len(column.values):,} values; what errors follow should have {MOST_LEVELS} at most")
    return column


def length_factor(logs: Floats, language: Ints) -> tuple[Factor, float] | None:
    """Return text lengths (n,) less the mean of their language, in standard deviations, and how many times as long one deviation is.

    None where lengths do not vary. A text without a length counts as one of its language's mean.
    """
    centred = np.where(np.isnan(logs), 0.0, logs)
    has_length = ~np.isnan(logs)
    for code in np.unique(language):
        rows = language == code
        centred[rows] -= centred[rows & has_length].mean() if (rows & has_length).any() else 0.0
    centred[~has_length] = 0.0
    spread = float(centred[has_length].std()) if has_length.any() else 0.0
    if spread <= 1e-9:
        return None
    return Factor(LENGTH, (None,), (centred / spread)[:, None], np.ones((1, 1))), float(np.exp(spread))


def level_factor(name: str, column: CodedColumn) -> Factor | None:
    """Return a covariate with levels, each against the mean of all; None with one level.

    Of two levels only the first has an effect, because the other mirrors it.
    """
    name_of = [*map(str, column.values), "none"]  # of the code -1
    names, level_of_text = np.unique([name_of[code] for code in column.codes.tolist()], return_inverse=True)
    k = len(names)
    if k < 2:
        return None
    contrasts = np.vstack([np.eye(k - 1), np.full((1, k - 1), -1.0)])
    levels = tuple((level,) for level in names.tolist())
    effects = 1 if k == 2 else k
    return Factor(name, levels[:effects], contrasts[level_of_text], contrasts[:effects])


def check_independence(factors: Sequence[Factor], n: int) -> Iterator[tuple[Factor, bool]]:
    """Yield every factor, with True if it is linearly independent of those before it."""
    design = np.ones((n, 1))
    for factor in factors:
        wider = np.column_stack([design, factor.columns])
        says_more = bool(np.linalg.matrix_rank(wider) == wider.shape[1] < n)
        if says_more:
            design = wider
        yield factor, says_more
