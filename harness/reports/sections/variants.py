"""Other ways of asking: agreement and correlations by variant, examples, position of the score and temperature, and how answers change.

`answer_changes` has what the other sections leave out: names of systems in the headings, changes of texts on scales that have no best end,
and every condition where no text has a label.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import Any

import msgspec
import numpy as np

from harness.data.columns import NO_VALUE, first_rows
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
    put_number,
    section,
    versus,
    with_q,
)
from harness.measure.judged_table import JudgedTable, means_by, ordered_table
from harness.measure.paired_differences import DIFFERENCES, correlation_differences
from harness.measure.score_cells import NO_SEGMENT_KEY, source_texts
from harness.model import CONDITION, SAMPLING, Variant, axis_words, parse_variant
from harness.reports.sections.section import (
    AGREEMENT_DIFFERENCE,
    BY_METRIC,
    Section,
    SectionInput,
    SectionNumbers,
    SectionTable,
    cells_at,
    of_answers,
    q_value,
    tests_shown,
)
from harness.reports.tables.columns import COEFFICIENT, COUNT_OR_BLANK, NUMBER, POINTS, PROBABILITY, SHARE, Column, TableName, columns_in
from harness.stats.agreement.concordance import joined_groups
from harness.stats.agreement.correlation import mean_of_segments, score_correlation, segment_correlations
from harness.stats.core.arrays import Ints
from harness.stats.core.statistic import Estimated
from harness.stats.intervals.intervals import no_interval
from harness.stats.intervals.paired import paired_difference
from harness.stats.intervals.regression import page_falling, slope

SAME = ("metric", "judge", *SAMPLING, "order", "repeat")
"""The keys in which two answers must be equal to differ in the variant only."""
Q = "q: Benjamini-Yekutieli over the rows of one level (language and metric, language, …) of this table"
EQUALLY = "on the same items, failures counted as wrong; two-sided"
ITSELF = "what the others are compared with"
WITHIN, OVERALL = "kendall_tau_within", "kendall_tau"


def compare_variants(answers: JudgedTable) -> SectionNumbers | None:
    """Return the agreement of every variant, and its paired difference from the plainest variant if there are several."""
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


def compare_examples(answers: JudgedTable) -> SectionNumbers | None:
    """Return the agreement by number of examples, and its difference from the smallest number, of variants that differ in nothing else."""
    clean = answers.clean
    if np.isnan(clean.hit[:]).all():
        return None
    variant, condition = clean.column("variant"), clean.joint(("judge", *SAMPLING))
    rows = []
    for family in families(variant.values, "shots"):
        names = sorted(family, key=lambda name: family[name].shots)
        in_family = np.isin(variant.codes, [variant.values.index(name) for name in names])
        pairs = np.unique(np.stack([condition[in_family], variant.codes[in_family]]), axis=1)[0]
        with_several = np.isin(condition, np.flatnonzero(np.bincount(pairs, minlength=1) > 1))  # of the variants
        compared = _rows_with_differences(clean.take(in_family & with_several), dict.fromkeys(names, names[0]))
        rows += [{**row, "shots": family[row["variant"]].shots} for row in compared]
    with_q(rows, "diff", level_of)
    hypothesis = f"H0: with examples the judge agrees with the annotators' aggregate as often as with the fewest, {EQUALLY}. {Q}"
    return section("Agreement by number of examples", rows, hypothesis=hypothesis)


def _rows_with_differences(clean: JudgedTable, against: dict[str, str]) -> list[Row]:
    """Return the rows of all variants, each with its difference from the variant that `against` gives, if there are several."""
    rows = []
    variant, partner = clean.column("variant"), np.full(len(clean), NO_VALUE)
    for name, other in against.items():
        if name != other:
            mine, other_rows = (np.flatnonzero(variant.codes == variant.values.index(name_of_variant)) for name_of_variant in (name, other))
            partner[mine] = clean.partners(mine, other_rows, SAME)
    for key, rows_of_variant in cells_at(clean, LEVELS):
        row, other = new_row(key), against[key["variant"]]
        put_agreement(row, clean, rows_of_variant)
        if len(against) > 1:
            row["versus"] = None if other == key["variant"] else other
            if row["versus"]:
                put_difference(row, "diff", versus(clean, rows_of_variant, partner[rows_of_variant]))
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
    """Return variants that differ in one axis only, two or more at a time."""
    by_rest: dict[Variant, dict[str, Variant]] = {}
    for name in names:
        if variant := variant_of(name):
            rest = msgspec.structs.replace(variant, **{axis: getattr(Variant(), axis)})
            by_rest.setdefault(rest, {})[name] = variant
    return (family for family in by_rest.values() if len(family) > 1)


def pairs_by(names: Sequence[str], axis: str, first: str, second: str) -> list[tuple[str, str]]:
    """Return the pairs of variants with the values `first` and `second` on an axis, all else being equal."""
    pairs = []
    for family in families(names, axis):
        by_value = {getattr(variant, axis): name for name, variant in family.items()}
        if first in by_value and second in by_value:
            pairs.append((by_value[first], by_value[second]))
    return pairs


def compare_score_positions(answers: JudgedTable) -> SectionNumbers | None:
    """Return what changes if the score comes before its justification: the score, and the agreement."""
    clean = answers.clean
    rows = []
    for after, before in pairs_by(clean.column("variant").values, "justification", "after", "before"):
        for row, rows_after, rows_before in moved_rows(clean, after, before):
            put_difference(row, "diff", versus(clean, rows_after, rows_before))
            rows.append(row)
    for name in ("moved", "diff"):
        with_q(rows, name, level_of)
    hypothesis = (
        "H0 (moved): the score is the same on average whether it stands before or after its justification, on the same items; H0 (diff): "
        f"both agree with the annotators' aggregate equally often, {EQUALLY}. {Q}"
    )
    return section("Score before or after its justification", rows, hypothesis=hypothesis)


def moved_rows(clean: JudgedTable, variant: str, other_variant: str) -> Iterator[tuple[Row, Ints, Ints]]:
    """Yield rows of one variant with its mean score change from another variant, and the numbers of the answers of both."""
    all_rows, variants = np.arange(len(clean)), clean.column("variant")
    mine, other = (all_rows[variants.codes == variants.values.index(name)] for name in (variant, other_variant))
    partner = clean.partners(mine, other, SAME)
    for key, cell_rows in cells_at(clean.take(mine), SCORE_LEVELS):
        row = new_row(key, versus=other_variant)
        put_moved(row, clean, mine[cell_rows], partner[cell_rows])
        yield row, mine[cell_rows], partner[cell_rows]


def correlate_variants(answers: JudgedTable) -> SectionNumbers | None:
    """Return the rank correlation with people of every variant on interval scales, and its difference from that of the plainest variant.

    The difference is that within source texts where the dataset card names them, else over all texts: on the same texts, those that
    both variants scored.
    """
    clean = answers.clean
    numeric = [metric for metric in clean.column("metric").used if clean.data.label_scale(metric).kind == "interval"]
    clean = clean.take(clean.column("metric").recode(dict.fromkeys(numeric, 0)) == 0)
    clean = clean.take(~np.isnan(clean.label_points[:]))
    names = clean.column("variant").used
    if len(names) < 2:
        return None
    variant = clean.column("variant")
    plainest = np.flatnonzero(variant.codes == variant.values.index(names[0]))
    partner = clean.partners(np.arange(len(clean)), plainest, SAME)
    rows = []
    for key, cell in clean.cells(("language", "metric")):
        row = new_row(key, versus=None if key["variant"] == names[0] else names[0])
        cell = cell[~np.isnan(clean.points[cell])]
        label, points, item = clean.label_points[cell], clean.points[cell], clean.item[cell].astype(np.int64)
        row["n"] = len(cell)
        overall = score_correlation("kendall", label, points, clean.group[cell])
        for name, estimate in ((OVERALL, overall), (WITHIN, _correlation_within(clean, label, points, item))):
            put_number(row, name, estimate.value, estimate.interval, why=estimate.reason)
        if row["versus"]:
            other = partner[cell]
            in_both = (other >= 0) & ~np.isnan(clean.points[np.maximum(other, 0)])
            scores = points[in_both], clean.points[other[in_both]]
            differences = correlation_differences(clean.data, item[in_both], item[in_both], label[in_both], *scores)
            put_difference(row, "tau_diff", differences[WITHIN if clean.data.about.segment else OVERALL])
            for name in DIFFERENCES:
                put_number(row, f"{name}_diff", differences[name].value, differences[name].interval, why=differences[name].reason)
        else:
            put_gap(row, "tau_diff", ITSELF)
        rows.append(row)
    with_q(rows, "tau_diff", level_of)
    where = "within source texts" if clean.data.about.segment else "over all texts"
    hypothesis = (
        f"H0: Kendall's tau-b with people {where} is the same as under '{names[0]}', on the same texts; two-sided. "
        "q: Benjamini-Yekutieli over the rows of this table"
    )
    return section("Order of texts by variant", rows, hypothesis=hypothesis)


def _correlation_within(answers: JudgedTable, x: Any, y: Any, item: Ints) -> Estimated:
    """Return the mean over source texts; repeats of a text are averaged first."""
    data = answers.data
    if not data.about.segment:
        return Estimated(math.nan, 0, no_interval(0, NO_SEGMENT_KEY), math.nan, NO_SEGMENT_KEY)
    segment, group = source_texts(data), answers.groups.astype(np.int64)
    has_segment = segment >= 0
    cluster = joined_groups(segment[has_segment], group[has_segment])
    _, first, index = np.unique(item, return_index=True, return_inverse=True)
    times = np.bincount(index, minlength=len(first))
    mean = np.bincount(index, y, minlength=len(first)) / np.maximum(times, 1)
    segments = segment_correlations(x[first], mean, segment[item[first]])
    return mean_of_segments(segments.kendall, cluster[segments.segment])


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
    of_answers(compare_variants),
    in_every_run=True,
    least_values=("variant", 2),
)
CORRELATIONS = Section(
    "correlations",
    "Does another way of asking order texts more as people do? Differences of Kendall's τ are from the plainest variant, on the same "
    "texts, within source texts where these are known.",
    tests_shown("tau_diff", "better", "worse"),
    (
        SectionTable(
            (
                Column("n", "texts", COUNT_OR_BLANK, "texts with a label and a readable score"),
                Column("kendall_tau", "Kendall's τ", COEFFICIENT, "rank correlation of the judge's scores and people's"),
                Column(
                    "kendall_tau_within",
                    "τ within source text",
                    COEFFICIENT,
                    "rank correlation over the outputs for one source text, the mean over source texts",
                ),
                Column("tau_diff", "difference of τ", COEFFICIENT, "the paired difference from the plainest variant"),
                q_value("tau_diff_q", "the difference of τ"),
            ),
            levels=BY_METRIC,
        ),
    ),
    of_answers(correlate_variants),
)
FEW_SHOT = Section(
    "few_shot",
    "Do examples help? Differences are from the fewest examples, on the same items, failures as wrong.",
    tests_shown("diff", "better", "worse"),
    (SectionTable((*columns_in(TableName.CONDITIONS), *AGREEMENT_DIFFERENCE), keys=("shots",)),),
    of_answers(compare_examples),
)
SCORE_POSITION = Section(
    "score_position",
    "Does it matter whether the score stands before or after its justification? Scores are compared on the same items, in points "
    "toward the best.",
    tests_shown("moved", "kinder", "harsher"),
    (SectionTable((*PAIRED_ANSWERS, *AGREEMENT_DIFFERENCE, *SCORE_CHANGE), levels=BY_METRIC),),
    of_answers(compare_score_positions),
    needs_labels=False,
)


_SHOWN = ("shown_source", "perturbation")
_SAME = ("metric", *CONDITION, "order", "repeat", *_SHOWN)
"""The keys in which two answers must be equal but for the one that is compared."""
CHANGES_HYPOTHESIS = (
    "H0: the score is the same on average under both conditions, on the same items; two-sided. q: Benjamini-Yekutieli over the rows of one "
    "level and one axis"
)


def compare_conditions(source: SectionInput) -> SectionNumbers | None:
    """Return the changes of answers from the plainest value of each axis of conditions to the others, all else being equal."""
    judgments = source.recording.judgments
    table = ordered_table(source.recording.data, judgments, source.options)
    if not len(table):
        return None
    table = table.with_keys(**{name: getattr(table.judgments, name) for name in _SHOWN})
    rows = [row for name in _SHOWN for row in _changes(table, name)]
    clean = table.clean.take(table.clean.judgments.is_clean)
    question = clean.joint(("language", "metric"))
    has_agreement = np.bincount(question, ~np.isnan(clean.hit[:]), minlength=1)[question] > 0
    without_agreement = clean.take(~has_agreement)
    for name in ("variant", *SAMPLING):  # agreement by variant and by temperature are sections of their own
        rows += _changes(without_agreement if name in ("variant", "temperature") else clean, name)
    with_q(rows, "moved", lambda row: (row["axis"], level_of(row)))
    return section("Answers under another condition", rows, hypothesis=CHANGES_HYPOTHESIS)


def _changes(table: JudgedTable, axis: str) -> Iterator[Row]:
    """Yield the rows of one axis: each of its values beside the plainest one, which is none where there are answers without it.

    Changed texts and names of the systems are asked about together too: then each row says what else holds for both of its answers.
    """
    column = table.column(axis)
    crossed = tuple(name for name in _SHOWN if name != axis and axis in _SHOWN and len(set(table.column(name).codes.tolist())) > 1)
    codes = sorted(set(column.codes.tolist()))
    plainest = NO_VALUE if axis in _SHOWN else min(codes, default=NO_VALUE)
    base = np.flatnonzero(column.codes == plainest)
    for code in codes:
        if code == plainest:
            continue
        mine = np.flatnonzero(column.codes == code)
        partner = table.partners(mine, base, tuple(name for name in _SAME if name != axis))
        for key, cell in cells_at(table.take(mine), SCORE_LEVELS, (*CONDITION, *crossed)):
            has_points = not np.isnan(table.points[mine[cell]]).all()
            if (partner[cell] < 0).all() or (axis == "perturbation" and has_points and key.get("shown_source") is None):
                continue  # the section on perturbations has these
            value, against = (None if class_code == NO_VALUE else column.values[class_code] for class_code in (code, plainest))
            both_with = {name: key.pop(name) for name in crossed}
            row = new_row(key, axis=axis, changed_to=_words(axis, value), changed_from=_words(axis, against))
            if both_with:
                row["both_with"] = ", ".join(_words(name, shared) for name, shared in both_with.items())
            put_moved(row, table, mine[cell], partner[cell])
            yield row


def _words(axis: str, value: object) -> str:
    if axis == "shown_source":
        return {None: "no names", "correct": "names of the systems", "swapped": "names exchanged"}[value]  # type: ignore[index]
    if value is None:
        return "unchanged text" if axis == "perturbation" else "left to the endpoint"
    return axis_words(axis, value)


ANSWER_CHANGES = Section(
    "answer_changes",
    "Do answers change with the way of asking? Each condition is compared with the plainest one, on the same items.",
    tests_shown("moved", "kinder", "harsher"),
    (SectionTable((*PAIRED_ANSWERS, *SCORE_CHANGE), keys=("changed_to", "changed_from", "both_with"), levels=BY_METRIC),),
    compare_conditions,
    needs_labels=False,
)


OTHERWISE = tuple(name for name in CONDITION if name != "temperature")
TEMPERATURE_HYPOTHESIS = (
    "H0 (diff): the judge agrees with the annotators' aggregate as often as at its lowest temperature, on the same items, failures counted "
    "as wrong, repeats averaged; two-sided. H0 (slope): agreement does not change with the temperature; two-sided. H0 (page): it does not "
    "fall from one temperature to the next, against the alternative that it does; Page's L over independent texts, one-sided. q: "
    "Benjamini-Yekutieli over the rows of one level (language and metric, language, …) of a table"
)


def compare_temperatures(answers: JudgedTable) -> SectionNumbers | None:
    """Return agreement at each temperature (`rows`) and its trend (`trends`), where a judge and variant have two temperatures or more."""
    clean = answers.clean
    rows: list[Row] = []
    trends: list[Row] = []
    for key, cell in cells_at(clean, LEVELS, OTHERWISE):
        codes = np.unique(clean.column("temperature").codes[cell])
        codes = codes[codes != NO_VALUE]
        if len(codes) < 2 or np.isnan(clean.hit[cell]).all():
            continue
        temperatures = [clean.column("temperature").values[code] for code in codes.tolist()]
        code_of_row, hit_of_row, answers = clean.column("temperature").codes[cell], clean.hit[cell], clean.take(cell)
        unit = answers.joint(("metric",), items=True)  # an item on a metric; repeats are averaged
        group = answers.group[first_rows(unit)]
        hits = [means_by(unit, np.where(code_of_row == code, hit_of_row, np.nan)) for code in codes]
        for code, degrees, hit in zip(codes, temperatures, hits, strict=True):
            row = new_row({**key, "temperature": degrees})
            put_agreement(row, clean, cell[code_of_row == code])
            is_lowest = degrees == temperatures[0]
            row["versus"] = None if is_lowest else temperatures[0]
            if is_lowest:
                put_gap(row, "diff", "the lowest temperature")
            else:
                put_difference(row, "diff", paired_difference(hit, hits[0], group))
            rows.append(row)
        table = np.stack(hits, axis=1)
        complete = ~np.isnan(table).any(axis=1)
        table, group = table[complete], group[complete]
        trend = new_row({**key, "temperature": "*"}, temperatures=temperatures)
        degrees_of_hits = np.tile(np.asarray(temperatures, np.float64), len(table))
        put_difference(trend, "slope", slope(degrees_of_hits, table.ravel(), np.repeat(group, table.shape[1]), **clean.drawing))
        trend["slope_n"] = len(table)
        text = np.unique(group, return_inverse=True)[1].astype(np.int64)
        test = page_falling(np.stack([means_by(text, column) for column in table.T], axis=1))
        put_number(trend, "page_l", test.statistic, why=test.reason)
        put_number(trend, "page_p", test.p, why=test.reason)
        trend |= {"page_blocks": test.blocks, "page_q": None}
        trends.append(trend)
    with_q(rows, "diff", level_of)
    for name in ("slope", "page"):
        with_q(trends, name, level_of)
    return section("Agreement by temperature", rows, hypothesis=TEMPERATURE_HYPOTHESIS, trends=trends)


TEMPERATURE = Section(
    "temperature",
    "Does agreement fall as the temperature rises? Differences are from the lowest temperature, on the same items, failures as wrong. "
    "The second table has the slope for one unit of temperature, and Page's test that agreement falls step by step.",
    tests_shown("slope", "rising", "falling", "trends"),
    (
        SectionTable((*columns_in(TableName.CONDITIONS), *AGREEMENT_DIFFERENCE)),
        SectionTable(
            (
                Column("slope_n", "questions", COUNT_OR_BLANK, "questions that were asked at every temperature"),
                Column("slope", "slope in points", POINTS, "the change of agreement for one unit of temperature, in percentage points"),
                q_value("slope_q", "the slope"),
                Column("page_l", "Page's L", NUMBER, "Page's test that agreement falls step by step as the temperature rises"),
                q_value("page_q", "Page's L"),
            ),
            "trends",
        ),
    ),
    of_answers(compare_temperatures),
)
