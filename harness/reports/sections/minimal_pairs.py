"""Minimal pairs: a flawed text beside its flawless twin, and the share in which the judge scores the flawless one higher.

An item names its flawless text in the key `twin`, and its flaw in `construction`. A judge that gives every text the same score finds no
flaw, and one that gives every text a bad score has false alarms only: no constant looks good.

Two twins of one flawless text whose `construction` ends in `-subtle` and `-plain` have the same flaw, which the rest of the name names:
`strengths` says how much more often a judge sees the plain one.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from harness.content.tags import english_name
from harness.data.columns import NO_VALUE, CodedColumn, combination_ids, last_matching_rows
from harness.data.dataset import Dataset
from harness.judges import traits_of
from harness.measure.condition_rows import Row, new_row, put_number, put_share, section, text_clusters
from harness.measure.judged_table import JudgedTable
from harness.measure.options import POOLED
from harness.model import CONDITION
from harness.reports.sections.perturbations import SENSITIVITY_FROM, put_sensitivity
from harness.reports.sections.section import OVER_LANGUAGES, Section, SectionNumbers, SectionTable, cells_at, rows_across
from harness.reports.tables.columns import COEFFICIENT, COUNT_OR_BLANK, SHARE, TEXT, Column
from harness.reports.tables.columns import Row as ReadRow
from harness.reports.tables.numbers import UNDEFINED, counted, percent
from harness.reports.tables.text_table import key_text, varying_keys
from harness.stats.core.arrays import Floats, Ints
from harness.stats.intervals.regression import logit_rise
from harness.text import terminal_safe

LEVELS: tuple[tuple[str, ...], ...] = (("language", "metric"), ("language",), ("metric",), ())
NO_PAIR = "no pair of readable scores"
NO_FLAWLESS = "no readable score of a text without a flaw"
NO_BEST = "the scale has no best end"
NO_FLAW = "no flaw that was scored at both strengths"
NO_TEMPTING = "no readable score of a text that tempts"
FLAW, HARMLESS, TEMPTING = "flaw", "harmless", "tempting"
SUBTLE, PLAIN = "subtle", "plain"
_STRENGTH_LEVELS: tuple[tuple[str, ...], ...] = ((), ("flaw", "metric"), ("language",))
_SIGNS = {"higher": 1, "equal": 0, "lower": -1}
NOTE = (
    "A flawed text beside the flawless text that it was made from, on the metric of the flaw, under one condition and repeat. higher, "
    "equal, lower: shares of the pairs by the score of the flawless text. sensitivity = P(higher) + ½ P(equal): ½ for a judge that sees "
    "nothing and for every constant. false_alarms: of texts that are labelled with the best score, the share that is scored below it. "
    "Pairs without two readable scores are counted (unreadable) and left out, as are flawed texts whose flawless text was not judged "
    "(unpaired). Intervals are clustered by text, translations of one text together."
)


@dataclass(frozen=True, eq=False)
class _Entries:
    """The entries that are counted: pairs, and texts without a flaw.

    `row` has the entry's keys. `better` and `worse` are the rows of a pair's answers: about the text with the better label and about the
    other one (of a harmless change: the original first); -1 for a missing one, and in entries that are no pair. `flawless` says that the
    entry is a text without a flaw, `cluster` what it shares with others, `construction` and `kind` what was done to the text.
    """

    row: Ints
    better: Ints
    worse: Ints
    flawless: NDArray[np.bool_]
    cluster: Ints
    construction: CodedColumn
    kind: NDArray[np.str_]

    @staticmethod
    def concatenate(parts: list[_Entries]) -> _Entries:
        names = ("row", "better", "worse", "flawless", "cluster", "kind")
        joined: dict[str, Any] = {name: np.concatenate([getattr(part, name) for part in parts]) for name in names}
        return replace(parts[0], construction=CodedColumn.concatenate([part.construction for part in parts]), **joined)


def score_minimal_pairs(answers: JudgedTable) -> SectionNumbers | None:
    """Return the section of minimal pairs; None where no judged item names a `twin` that stands in the data.

    `rows` are by language and metric, by language, by metric, and over all. `constructions` has a row a construction over the languages,
    with its `kind`: a flaw, a harmless change, or a text that tempts to a false alarm. `crossed` has counts by construction and language,
    `strengths` what is seen of flaws at two strengths, where there are any.
    """
    # `{item: its flawless text}`, of items that name another item of the data which names none itself.
    data = answers.data
    base_of = {
        position: data.positions.get(item.fields["twin"], -1)
        for position, item in enumerate(data.items)
        if _is_name(item.fields.get("twin"))
    }
    twins = {position: base for position, base in base_of.items() if base >= 0 and base not in base_of}
    if not twins:
        return None
    clean = answers.clean
    cluster = text_clusters(clean.data)
    pairs = _pair_answers(clean, twins, cluster)
    # The texts without a flaw: all of them once; those after a harmless change, by the change; those that tempt, by what tempts.
    flaw = pairs.kind == FLAW
    paired = (pairs.better >= 0) & (pairs.worse >= 0)
    harmless = np.flatnonzero(~flaw & paired)
    tempting, tempts = _find_tempting(clean)
    flawless_rows = np.unique(np.concatenate([pairs.better[paired], pairs.worse[harmless], tempting]))
    flawless = [
        _text_entries(clean, flawless_rows, cluster, CodedColumn.empty(len(flawless_rows)), FLAW),
        _text_entries(clean, pairs.worse[harmless], cluster, pairs.construction.take(harmless), HARMLESS),
        _text_entries(clean, tempting, cluster, tempts, TEMPTING),
    ]
    entries = _Entries.concatenate([pairs, *flawless])
    if not len(entries.row):
        return None
    kind = CodedColumn.from_values(entries.kind.tolist())
    table = clean.take(entries.row).with_keys(construction=entries.construction, kind=kind)
    has_name = entries.construction.codes != NO_VALUE
    each_text = np.flatnonzero(~(entries.flawless & has_name))  # every text without a flaw also stands among those without a name
    rows = [_put_shares(new_row(key), clean, entries, each_text[cell]) for key, cell in cells_at(table.take(each_text), LEVELS)]
    by_name, condition = np.flatnonzero(has_name), (*CONDITION, "kind", "construction")
    constructions, crossed = (
        [write(new_row(key), clean, entries, by_name[cell]) for key, cell in table.take(by_name).cells(level, condition)]
        for level, write in ((("metric",), _put_shares), (("language", "metric"), _put_counts))
    )
    strengths = _strength_rows(clean, entries)
    more = {"strengths": strengths} if strengths else {}
    return section("Minimal pairs", rows, note=NOTE, constructions=constructions, crossed=crossed, **more)


def _strength_rows(clean: JudgedTable, entries: _Entries) -> list[Row]:
    """Return rows over all flaws (`flaw` is `*`), by flaw, and by language; none without flaws at two strengths.

    A row also has the false alarms on texts that tempt: those of its language and, of one flaw, those on the metric of the flaw.
    """
    # the entries of subtle flaws that were also scored plain; 1 where each strength was seen, else 0; and the flaws' names
    paired = (entries.kind == FLAW) & (entries.construction.codes != NO_VALUE) & (entries.better >= 0) & (entries.worse >= 0)
    flaws = np.flatnonzero(paired)
    step = clean.points[entries.better[flaws]] - clean.points[entries.worse[flaws]]
    construction = entries.construction.take(flaws)
    parts_of_names = [str(construction.values[code]).rpartition("-") for code in construction.codes]
    flaw = CodedColumn.from_values(name for name, _, _ in parts_of_names)
    strength = np.array([strength if name else "" for name, _, strength in parts_of_names], object)
    twins = [clean.data.items[item].fields["twin"] for item in np.asarray(clean.item)[entries.row[flaws]].tolist()]
    columns = [clean.column(name).take(entries.row[flaws]) for name in ("metric", *CONDITION, "order", "repeat")]
    question = combination_ids([*columns, CodedColumn.from_values(twins), flaw], np.zeros(len(flaws), np.int8))
    readable = ~np.isnan(step)
    at_subtle = np.flatnonzero(readable & (strength == SUBTLE))
    at_plain = last_matching_rows(question, np.flatnonzero(readable & (strength == PLAIN)))[at_subtle]
    at_subtle, at_plain = at_subtle[at_plain >= 0], at_plain[at_plain >= 0]
    if not len(at_subtle):
        return []
    subtle, seen_subtle, seen_plain = flaws[at_subtle], (step[at_subtle] > 0).astype(float), (step[at_plain] > 0).astype(float)
    by_flaw = clean.take(entries.row[subtle]).with_keys(flaw=flaw.take(at_subtle))
    tempting = np.flatnonzero(entries.kind == TEMPTING)
    texts, alarm = clean.take(entries.row[tempting]), 1.0 - clean.best[entries.row[tempting]]
    rows = []
    for level in _STRENGTH_LEVELS:
        names = [name for name in level if name != "flaw"]
        cells_of_texts = {tuple(key[name] for name in (*names, *CONDITION)): cell for key, cell in texts.cells(names)}
        for key, cell in by_flaw.cells(level):
            groups = entries.cluster[subtle[cell]]
            row = new_row({"flaw": POOLED, **key})
            row |= {"n": len(cell), "groups": len(np.unique(groups))}
            put_share(row, f"seen_{SUBTLE}", seen_subtle[cell], groups, clean.drawing, NO_FLAW)
            put_share(row, f"seen_{PLAIN}", seen_plain[cell], groups, clean.drawing, NO_FLAW)
            rise = logit_rise(seen_subtle[cell], seen_plain[cell], groups, **clean.drawing)
            put_number(row, "slope", rise.value, rise.interval, why=rise.reason)
            of_texts = cells_of_texts.get(tuple(key[name] for name in (*names, *CONDITION)), np.empty(0, np.int64))
            row["n_tempting"] = int((~np.isnan(alarm[of_texts])).sum())
            put_share(row, "false_alarms", alarm[of_texts], entries.cluster[tempting[of_texts]], clean.drawing, NO_TEMPTING)
            rows.append(row | {"metric": POOLED})
    return rows


def has_twins(data: Dataset) -> bool:
    """Return whether an item names its flawless text."""
    return any(_is_name(item.fields.get("twin")) for item in data.items)


def _is_name(value: Any) -> bool:
    return isinstance(value, str) and bool(value)


def _pair_answers(clean: JudgedTable, twins: Mapping[int, int], cluster: Ints) -> _Entries:
    """Return every answer about a twin beside the one about its flawless text, on metrics on which both are labelled."""
    base_of = np.full(len(clean.data.items), -1, np.int64)
    base_of[list(twins)] = list(twins.values())
    items = np.asarray(clean.item, np.int64)
    twin = np.flatnonzero(base_of[items] >= 0)
    # For each row, the row about another item with the same metric, condition and repeat; -1 without one.
    size = len(clean)
    rows_and_questions = np.concatenate([np.arange(size), twin])
    columns = [clean.column(name).take(rows_and_questions) for name in ("metric", *CONDITION, "order", "repeat")]
    about = CodedColumn(tuple(clean.data.items), np.concatenate([clean.item, base_of[items[twin]]]).astype(np.int32))
    ids = combination_ids([*columns, about], np.zeros(len(rows_and_questions), np.int8))
    base = last_matching_rows(ids, np.arange(size))[size:]
    has_base = base >= 0
    gap = np.where(has_base, clean.label_points[np.maximum(base, 0)] - clean.label_points[twin], np.nan)
    usable = ~has_base | ~np.isnan(gap)
    twin, base, gap = twin[usable], base[usable], gap[usable]
    turned = gap < 0  # the text with the flaw is the one that the other names
    names = [clean.data.items[item].fields.get("construction") for item in items[twin].tolist()]
    return _Entries(
        row=twin,
        better=np.where(turned, twin, base),
        worse=np.where(turned, base, twin),
        flawless=np.zeros(len(twin), bool),
        cluster=cluster[items[twin]],
        construction=CodedColumn.from_values(name if _is_name(name) else None for name in names),
        kind=np.where(gap == 0, HARMLESS, FLAW),
    )


def _find_tempting(clean: JudgedTable) -> tuple[Ints, CodedColumn]:
    """Return the rows about texts that tempt a judge to a false alarm on this metric, and what tempts (`tempts = {name: metric}`)."""
    tempts = {
        position: item.fields["tempts"] for position, item in enumerate(clean.data.items) if isinstance(item.fields.get("tempts"), dict)
    }
    items = np.asarray(clean.item)
    matches = [
        (row, name)
        for row in np.flatnonzero(np.isin(items, list(tempts))).tolist()
        for name, metric in tempts[int(items[row])].items()
        if _is_name(name) and metric == clean.column("metric").at(row)
    ]
    return np.array([row for row, _ in matches], np.int64), CodedColumn.from_values(name for _, name in matches)


def _text_entries(clean: JudgedTable, rows: Ints, cluster: Ints, construction: CodedColumn, kind: str) -> _Entries:
    nothing, size = np.full(len(rows), -1), len(rows)
    cluster = cluster[np.asarray(clean.item)[rows]]
    return _Entries(rows, nothing, nothing, np.ones(size, bool), cluster, construction, np.full(size, kind))


@dataclass(frozen=True, eq=False)
class _ReadPairs:
    """The pairs of some entries with two readable scores (rows of both answers), and the rows of texts without a flaw."""

    better: Ints
    worse: Ints
    groups: Ints
    step: Floats  # 1, 0, -1: the flawless text is scored higher, equal, lower
    alarm: Floats  # of texts without a flaw: 1 if scored below the best, NaN if not readable
    alarm_groups: Ints


def _read_pairs(row: Row, clean: JudgedTable, entries: _Entries, entry_rows: Ints) -> _ReadPairs:
    """Return the pairs of some entries, of which the row gets the counts. Harmless changes count only where they stand alone."""
    texts, pairs = (
        entry_rows[entries.flawless[entry_rows]],
        entry_rows[~entries.flawless[entry_rows] & (entries.kind[entry_rows] == row.get("kind", FLAW))],
    )
    answered = pairs[(entries.better[pairs] >= 0) & (entries.worse[pairs] >= 0)]
    read = answered[clean.readable[entries.better[answered]] & clean.readable[entries.worse[answered]]]
    better, worse = entries.better[read], entries.worse[read]
    alarm = 1.0 - clean.best[entries.row[texts]]
    row |= {"n": len(read), "unreadable": len(answered) - len(read), "unpaired": len(pairs) - len(answered)}
    row |= {"groups": len(np.unique(entries.cluster[read])), "n_flawless": int((~np.isnan(alarm)).sum())}
    step = np.sign(clean.points[better] - clean.points[worse])
    return _ReadPairs(better, worse, entries.cluster[read], step, alarm, entries.cluster[texts])


def _put_shares(row: Row, clean: JudgedTable, entries: _Entries, cell: Ints) -> Row:
    """Return the row with shares and their intervals."""
    pairs = _read_pairs(row, clean, entries, cell)
    why = NO_BEST if len(pairs.step) and np.isnan(pairs.step).all() else NO_PAIR
    for name, sign in _SIGNS.items():
        put_share(row, name, np.where(np.isnan(pairs.step), np.nan, pairs.step == sign), pairs.groups, clean.drawing, why)
    put_sensitivity(row, clean, pairs.better, pairs.worse, pairs.groups, why)
    put_share(row, "false_alarms", pairs.alarm, pairs.alarm_groups, clean.drawing, NO_FLAWLESS)
    return row


def _put_counts(row: Row, clean: JudgedTable, entries: _Entries, cell: Ints) -> Row:
    """Return the row with counts alone: one language has too few texts of one construction for more."""
    pairs = _read_pairs(row, clean, entries, cell)
    row |= {f"{name}_n": int((pairs.step == sign).sum()) for name, sign in _SIGNS.items()}
    row["false_alarms_n"] = int(np.nansum(pairs.alarm))
    return row


_COLUMNS = (
    Column("n", "pairs", COUNT_OR_BLANK, "pairs of a flawless and a flawed text with two readable scores"),
    Column("unreadable", "unread", COUNT_OR_BLANK, "pairs in which a score could not be read"),
    Column("unpaired", "unpaired", COUNT_OR_BLANK, "flawed texts whose flawless text was not judged"),
    Column(
        "sensitivity",
        "sensitivity",
        COEFFICIENT,
        "how often the flawless text scores above its flawed twin, ties counting half; ½ if the judge sees nothing, as for every constant",
    ),
    Column("higher", "flawless higher", SHARE, "the share of pairs in which the flawless text has the higher score"),
    Column("equal", "equal", SHARE, "the share in which both have the same score"),
    Column("lower", "flawless lower", SHARE, "the share in which the flawless text has the lower score"),
    Column("n_flawless", "flawless texts", COUNT_OR_BLANK, "texts without a flaw that have a readable score"),
    Column("false_alarms", "false alarms", SHARE, "the share of texts without a flaw that are scored below the best score"),
)
_STRENGTH_COLUMNS = (
    Column("n", "flaws", COUNT_OR_BLANK, "flaws with readable scores at both strengths"),
    Column("seen_subtle", "subtle seen", SHARE, "the share of subtle flaws for which the flawless text has the higher score"),
    Column("seen_plain", "plain seen", SHARE, "the share of the same flaws, made plain, for which the flawless text has the higher score"),
    Column(
        "slope",
        "slope",
        COEFFICIENT,
        "how much more often the plain flaw is seen: difference of the two shares on the logit scale; 0 if strength makes no difference",
    ),
    Column("n_tempting", "texts that tempt", COUNT_OR_BLANK, "flawless texts with a form that is right but looks wrong"),
    Column("false_alarms", "false alarms there", SHARE, "the share of them that is scored below the best score"),
)
_FROM = replace(SENSITIVITY_FROM, text=lambda row: "" if row.get("from") == "scores" else str(row.get("from") or ""))


def _join_languages(rows: Sequence[ReadRow]) -> list[Row]:
    """Return rows by construction and language as one row a construction, its languages under `by_language`."""
    names = ("source", "task", "metric", *CONDITION, "kind", "construction")
    return [{"language": POOLED, **row} for row in rows_across(rows, names, "language", "by_language")]


def _make_language_columns(rows: Sequence[ReadRow]) -> list[Column]:
    """Return a column of counts for each language that the rows have."""

    def column(tag: str) -> Column:
        return Column(tag, tag, TEXT, english_name(tag), text=lambda row: counts_text(row["by_language"].get(tag)))

    return [column(str(tag)) for tag in dict.fromkeys(tag for row in rows for tag in row["by_language"])]


def counts_text(row: ReadRow | None) -> str:
    """Return the counts of a construction in a language: `3 · 1 · 0`, or false alarms among texts without a flaw: `1/4`.

    >>> counts_text({"kind": "flaw", "n": 4, "higher_n": 3, "equal_n": 1, "lower_n": 0})
    '3 · 1 · 0'
    >>> counts_text({"kind": "tempting", "n_flawless": 4, "false_alarms_n": 1})
    '1/4'
    """
    if row is None:
        return UNDEFINED
    if row["kind"] == FLAW:
        return " · ".join(str(row[f"{name}_n"]) for name in _SIGNS) if row["n"] else UNDEFINED
    return f"{row['false_alarms_n']}/{row['n_flawless']}" if row["n_flawless"] else UNDEFINED


def _describe_flaws(numbers: SectionNumbers) -> str:
    """Return, for each judge and condition, how often the flawless text is scored higher, equal and lower."""
    pooled = [row for row in numbers["rows"] if row["language"] == row["task"] == row["metric"] == POOLED]
    judged = [row for row in pooled if row["higher"] is not None and not traits_of(str(row["judge"])).is_baseline]
    varying = varying_keys(judged, ("source", *CONDITION))
    sentences = []
    for row in judged:
        side = ", ".join(key_text(name, row[name]) for name in varying)
        shares = f"higher in {percent(row['higher'])}, equal in {percent(row['equal'])}, lower in {percent(row['lower'])}"
        alarms = ""
        if row["false_alarms"] is not None:
            alarms = f"; false alarms: {percent(row['false_alarms'])} of {counted(row['n_flawless'], 'text')}"
        subject = f"{side}: the" if side else "The"
        sentences.append(f"{subject} flawless text is scored {shares} of {counted(row['n'], 'pair')}{alarms}.")
    return terminal_safe(" ".join(sentences))


MINIMAL_PAIRS = Section(
    "minimal_pairs",
    "Does the judge score a flawless text higher than its twin, which differs from it in one flaw alone? The second table has the "
    "flaws and the harmless changes over all languages; the third has counts: pairs with the flawless text scored higher · equal · "
    "lower, and where there is no flaw, false alarms / texts.",
    _describe_flaws,
    (
        SectionTable((*_COLUMNS, _FROM), levels=((), ("language",), ("language", "metric"))),
        SectionTable(_COLUMNS, "constructions", ("kind", "construction"), levels=OVER_LANGUAGES),
        SectionTable(_make_language_columns, "crossed", ("kind", "construction"), levels=OVER_LANGUAGES, across=_join_languages),
        SectionTable(_STRENGTH_COLUMNS, "strengths", ("flaw",), levels=((), ("language",)), title="flaws that come plain and subtle"),
    ),
    lambda inputs: score_minimal_pairs(inputs.answers) if has_twins(inputs.recording.data) and len(inputs.answers) else None,
    in_comparisons=True,
    standalone=True,
)
