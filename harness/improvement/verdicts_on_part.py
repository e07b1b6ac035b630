"""Verdicts on some of the texts of a recording."""

from __future__ import annotations

from collections.abc import Collection

import msgspec

from harness.decide.options import DecisionOptions
from harness.decide.verdicts import Verdict, verdicts_laid_out
from harness.measure.compare import Recording, align
from harness.measure.options import CompareOptions


def verdicts_on(source: Recording, items: Collection[str], compare: CompareOptions, decision: DecisionOptions) -> tuple[Verdict, ...]:
    """The verdicts of all judges and conditions on the texts with these ids."""
    data = source.data.only(item for item in source.data.items if item.item_id in items)
    part = msgspec.structs.replace(source, data=data, judgments=source.judgments.for_items(data.by_id))
    return verdicts_laid_out(align([part], compare), compare, decision)
