"""False alarms of tests before and after what guards them, for docs/error-rates.md; `make simulations` prints it."""

from __future__ import annotations

from collections.abc import Iterator

from harness.stats.estimation.misclassification import MIN_LABELS
from tests.unit.stats import test_language_differences as rates
from tests.unit.stats.estimation import test_misclassification as shares
from tests.unit.stats.intervals import test_judge_tests as one_class
from tests.unit.stats.intervals import test_panel as panel


def guarded_table() -> Iterator[str]:
    """A test at 5 % of a hypothesis that holds: how often it rejects as published, and as guarded."""
    yield "| what | world | as published | as guarded |"
    yield "| --- | --- | --- | --- |"
    for members, items in ((8, 60), (3, 200)):
        yield _row("panel minus its best member", f"{members} equal members, {items} texts", *panel.false_alarms(members, items, 1000))
    for texts in (20, 40, 60):
        yield _row("`rates`", f"nine languages, the same {texts} texts", *rates.false_alarms(9, texts, 1000))
    for languages in (2, 3):
        yield _row("`dif`", f"{languages} languages, 20 groups of 5", *rates.false_alarms_by_language(languages, 20, 1000))
    for labels in (10, 20, 30):
        held, ours = (shares.coverage(0.9, (0.1, 0.2, 0.7), labels, 1000, published=published) for published in (True, False))
        guarded = "refused" if labels < MIN_LABELS else f"{ours:.1%}"
        yield f"| coverage of corrected shares | three classes, {labels} labels of each | {held:.1%} | {guarded} |"
    for share, n in one_class.WORLDS:
        before, after, _ = one_class.grids(share, n, 200, 1)
        yield _row("one class, any of 15 cells", f"a judge like people, {share:.0%} of one class, {n} texts", before, after)
    for share in (0.9, 0.8):
        power = one_class.grids(share, 60, 50, 2, constant=True)[2]
        yield f"| one class, share of cells found | a constant judge, {share:.0%} of one class, 60 texts | | {power:.0%} |"


def _row(what: str, world: str, before: float, after: float) -> str:
    return f"| {what} | {world} | {before:.1%} | {after:.1%} |"
