"""The form of the questions: agreement by variant, by number of examples, and by the position of the score in the answer."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import msgspec
import numpy as np
from numpy.typing import NDArray

from harness.data.columns import NO_VALUE
from harness.measure.condition_rows import (
    LEVELS,
    SCORE_LEVELS,
    Row,
    level_of,
    new_row,
    put_agreement,
    put_difference,
    put_gap,
    put_moved,
    section,
    versus,
    with_q,
)
from harness.measure.judged_table import JudgedTable
from harness.model import SAMPLING, Variant, parse_variant
from harness.reports.sections.section import (
    AGREEMENT_DIFFERENCE,
    BY_METRIC,
    Found,
    Section,
    SectionTable,
    cells_at,
    of_answers,
    tests_shown,
)
from harness.reports.tables.column import COEFFICIENT, COUNT_OR_BLANK, PROBABILITY, SHARE, Column, TableName
from harness.reports.tables.columns import columns_in
from harness.stats.core.arrays import Ints

SAME = ("metric", "judge", *SAMPLING, "order", "repeat")
"""The keys in which two answers must be equal to differ in the variant only."""
Q = "q: Benjamini-Yekutieli over the rows of one level (language and metric, language, …) of this table"
EQUALLY = "on the same items, failures counted as wrong; two-sided"
ITSELF = "what the others are compared with"


def variants(answers: JudgedTable) -> Found | None:
    """Agreement of every variant, and its paired difference from the plainest variant if there are several."""
    clean = answers.clean
    if np.isnan(clean.hit[:]).all():
        return None
    names = [*clean.column("variant").values]
    rows = _rows_with_differences(clean, {name: names[0] for name in names})
    if len(names) > 1:
        with_q(rows, "diff", level_of)
    several = {"hypothesis": f"H0: the variant agrees with the annotators' aggregate as often as '{names[0]}', {EQUALLY}. {Q}"}
    note = (
        "pa_pairwise and human_pa are a pair: the judge's and people's mean agreement with single annotators on the same items. "
        "pa is with their aggregate and has no human counterpart."
    )
    return section("Agreement by variant", rows, note=note, **(several if len(names) > 1 else {}))


def few_shot(answers: JudgedTable) -> Found | None:
    """Agreement by the number of examples, and the paired difference from the smallest number, for variants that differ in nothing else."""
    clean = answers.clean
    if np.isnan(clean.hit[:]).all():
        return None
    rows = []
    for family in families(clean.column("variant").values, "shots"):
        names = sorted(family, key=lambda name: family[name].shots)
        kept = _asked_more_than_once(clean, names)
        compared = _rows_with_differences(clean.take(kept), dict.fromkeys(names, names[0]))
        rows += [{**row, "shots": family[row["variant"]].shots} for row in compared]
    with_q(rows, "diff", level_of)
    hypothesis = f"H0: with examples the judge agrees with the annotators' aggregate as often as with the fewest, {EQUALLY}. {Q}"
    return section("Agreement by number of examples", rows, hypothesis=hypothesis)


def _asked_more_than_once(clean: JudgedTable, names: Sequence[str]) -> NDArray[np.bool_]:
    """Rows of these variants under each judge and sampling with two or more of the variants."""
    variant, condition = clean.column("variant"), clean.joint(("judge", *SAMPLING))
    chosen = np.isin(variant.codes, [variant.values.index(name) for name in names])
    pairs = np.unique(np.stack([condition[chosen], variant.codes[chosen]]), axis=1)[0]
    return np.asarray(chosen & np.isin(condition, np.flatnonzero(np.bincount(pairs, minlength=1) > 1)))


def _rows_with_differences(clean: JudgedTable, against: dict[str, str]) -> list[Row]:
    """Rows of all variants, each with its difference from the variant that `against` gives, if there are several."""
    rows = []
    of, partner = clean.column("variant"), np.full(len(clean), NO_VALUE)
    for name, other in against.items():
        if name != other:
            mine, theirs = (np.flatnonzero(of.codes == of.values.index(each)) for each in (name, other))
            partner[mine] = clean.partners(mine, theirs, SAME)
    for key, ours in cells_at(clean, LEVELS):
        row, other = new_row(key), against[key["variant"]]
        put_agreement(row, clean, ours)
        if len(against) > 1:
            row["versus"] = None if other == key["variant"] else other
            if row["versus"]:
                put_difference(row, "diff", versus(clean, ours, partner[ours]))
            else:
                put_gap(row, "diff", ITSELF)
        rows.append(row)
    return rows


def variant_of(text: str) -> Variant | None:
    """Return the variant that a text names; None if the text is not a variant, which is possible in data folders."""
    try:
        return parse_variant(text)
    except ValueError:
        return None


def families(names: Sequence[str], axis: str) -> Iterator[dict[str, Variant]]:
    """Variants that differ in one axis only, two or more at a time."""
    found: dict[Variant, dict[str, Variant]] = {}
    for name in names:
        if variant := variant_of(name):
            rest = msgspec.structs.replace(variant, **{axis: getattr(Variant(), axis)})
            found.setdefault(rest, {})[name] = variant
    return (family for family in found.values() if len(family) > 1)


def pairs_by(names: Sequence[str], axis: str, ours: str, theirs: str) -> list[tuple[str, str]]:
    """Pairs of variants of which the first has `ours` on an axis and the second `theirs`, all else being equal."""
    found = []
    for family in families(names, axis):
        by_value = {getattr(variant, axis): name for name, variant in family.items()}
        if ours in by_value and theirs in by_value:
            found.append((by_value[ours], by_value[theirs]))
    return found


def score_position(answers: JudgedTable) -> Found | None:
    """What changes if the score comes before its justification: the score, and the agreement."""
    clean = answers.clean
    rows = []
    for after, before in pairs_by(clean.column("variant").values, "justification", "after", "before"):
        for row, ours, theirs in moved_rows(clean, after, before):
            put_difference(row, "diff", versus(clean, ours, theirs))
            rows.append(row)
    for name in ("moved", "diff"):
        with_q(rows, name, level_of)
    hypothesis = (
        "H0 (moved): the score is the same on average whether it stands before or after its justification, on the same items; H0 (diff): "
        f"both agree with the annotators' aggregate equally often, {EQUALLY}. {Q}"
    )
    return section("Score before or after its justification", rows, hypothesis=hypothesis)


def moved_rows(clean: JudgedTable, ours: str, theirs: str) -> Iterator[tuple[Row, Ints, Ints]]:
    """Yield rows of one variant with its mean score change from another variant, and the numbers of the answers of both."""
    every, of = np.arange(len(clean)), clean.column("variant")
    mine, other = (every[of.codes == of.values.index(name)] for name in (ours, theirs))
    partner = clean.partners(mine, other, SAME)
    for key, at in cells_at(clean.take(mine), SCORE_LEVELS):
        row = new_row(key, versus=theirs)
        put_moved(row, clean, mine[at], partner[at])
        yield row, mine[at], partner[at]


PAIRED_ANSWERS = (
    Column("n", "pairs", COUNT_OR_BLANK, "pairs of answers that could both be read"),
    Column("unreadable", "unread", COUNT_OR_BLANK, "pairs in which an answer could not be read"),
)
SCORE_CHANGE = (
    Column("moved", "score change", COEFFICIENT, "the mean change of the score, in points; + is toward the best"),
    Column("moved_q", "q-value of the change", PROBABILITY, "the p-value of the score change, corrected over the rows of one level"),
    Column("changed", "changed", SHARE, "the share of pairs with two different scores"),
)

VARIANTS = Section(
    "variants",
    "Does another way of asking agree better with people? Differences are from the plainest variant, on the same items, failures as wrong.",
    tests_shown("diff", "better", "worse"),
    (SectionTable((*columns_in(TableName.CONDITIONS, TableName.CONDITIONS_PAIRWISE), *AGREEMENT_DIFFERENCE)),),
    of_answers(variants),
    in_every_run=True,
    least_values=("variant", 2),
)
FEW_SHOT = Section(
    "few_shot",
    "Do examples help? Differences are from the fewest examples, on the same items, failures as wrong.",
    tests_shown("diff", "better", "worse"),
    (SectionTable((*columns_in(TableName.CONDITIONS), *AGREEMENT_DIFFERENCE), keys=("shots",)),),
    of_answers(few_shot),
)
SCORE_POSITION = Section(
    "score_position",
    "Does it matter whether the score stands before or after its justification? Scores are compared on the same items, in points "
    "toward the best.",
    tests_shown("moved", "kinder", "harsher"),
    (SectionTable((*PAIRED_ANSWERS, *AGREEMENT_DIFFERENCE, *SCORE_CHANGE), levels=BY_METRIC),),
    of_answers(score_position),
)
