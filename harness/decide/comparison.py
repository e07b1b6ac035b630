"""A comparison with its verdicts."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import msgspec

from harness.analyse import CompareOptions, Comparison, Recording, compare_laid_out, lay_out
from harness.decide.options import DecisionOptions
from harness.decide.verdicts import Verdict, verdicts_laid_out
from harness.signature import ComparisonSignature


class DecidedComparison(Comparison, frozen=True, kw_only=True):
    """Cells, and what each judge may be used for by language and metric. Correlations of systems have no verdicts."""

    verdicts: tuple[Verdict, ...] = ()

    def as_json(self) -> dict[str, Any]:
        """One object for programs: that of `Comparison`, and `verdicts`."""
        return super().as_json() | {"verdicts": [verdict.flat() for verdict in self.verdicts]}


def compare(sources: Sequence[Recording], options: CompareOptions, decision: DecisionOptions = DecisionOptions()) -> DecidedComparison:  # noqa: B008 (frozen)
    """Compare the judgments of each source with its labels, and decide. Raises UsageError as `analyse.compare` does.

    Args:
        sources: judgments with the labels that they are compared with.
        options: which items and judges, how annotators become one reference, and the keys to group cells by.
        decision: the thresholds of the verdicts.
    """
    laid_out = lay_out(sources, options)
    compared = compare_laid_out(laid_out, options)
    made = verdicts_laid_out(laid_out, options, decision) if options.level == "item" else ()
    signature = msgspec.structs.replace(ComparisonSignature.parse(compared.signature), decide=str(decision) if made else "")
    fields = {name: getattr(compared, name) for name in Comparison.__struct_fields__}
    return DecidedComparison(**(fields | {"signature": str(signature), "verdicts": made}))
