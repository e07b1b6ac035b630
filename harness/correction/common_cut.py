"""One cut for all languages: what is accepted from a confidence on, and how often it is wrong, by language."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np

from harness.correction.cell_results import KeyedRow
from harness.correction.probability_cells import ProbabilityCell
from harness.correction.probability_rule import CUTS
from harness.measure.cells import number
from harness.stats import acceptance_threshold
from harness.stats.core.arrays import Floats, Ints
from harness.stats.intervals.recall_bar import share_found

ACCEPTED = "accept"
"""The cut that `harness accept` certifies for all languages together."""


class CommonCut(KeyedRow, frozen=True, kw_only=True):
    """Answers of one language with at least the confidence `cut`.

    Attributes:
        cut: the confidence; `origin` says where it comes from, `usual` or `accept`.
        n, groups: accepted answers with a commonest label, and independent texts among them.
        accepted: share of the answers that are accepted.
        wrong, wrong_ci: share of the accepted ones that are not the commonest label, with exact 95 % limits by groups; None where none is.
    """

    cut: float
    origin: str
    n: int
    groups: int
    accepted: float
    wrong: float | None
    wrong_ci: tuple[float, float] | None


class _Compared(NamedTuple):
    confidence: Floats
    right: Floats
    group: Ints


def common_cuts(cells: Sequence[ProbabilityCell], *, is_random: bool) -> Iterator[CommonCut]:
    """Yield every cut in every language of one metric of a judge.

    `is_random` says whether labels are a random sample: only then a cut for all languages together is certified (at most 10 % wrong, with
    the probability 90 %).
    """
    compared = [_Compared(cell.confidence[cell.compared], cell.right[cell.compared], cell.group[cell.compared]) for cell in cells]
    cuts = [(cut, "usual") for cut in CUTS]
    if is_random and any(len(cell.right) for cell in compared):
        together = _Compared(*(np.concatenate(part) for part in zip(*compared, strict=True)))
        certified = number(acceptance_threshold(*together).threshold)
        cuts += [] if certified is None else [(certified, ACCEPTED)]
    for cell, (confidence, right, group) in zip(cells, compared, strict=True):
        for cut, origin in cuts if len(right) else ():
            taken = confidence >= cut
            accepted = share_found(1 - right[taken], group[taken])
            yield CommonCut(
                key=cell.key,
                cut=cut,
                origin=origin,
                n=accepted.n,
                groups=accepted.groups,
                accepted=float(taken.mean()),
                wrong=number(accepted.share),
                wrong_ci=(accepted.lower(0.025), accepted.upper(0.025)) if accepted.n else None,
            )
