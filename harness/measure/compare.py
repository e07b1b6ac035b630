"""Recorded judgments × labels → cells: the computation of `harness compare`, for data folders and runs alike."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from importlib.metadata import version
from itertools import chain
from typing import TYPE_CHECKING, Any, TypeVar

import msgspec
import numpy as np
from numpy.typing import NDArray

from harness.content.specs import Asked
from harness.content.tags import resolve, suggest
from harness.data.columns import CodedColumn, combination_ids, first_rows, rows_by_number
from harness.data.dataset import Dataset
from harness.data.judgments import Judgments
from harness.data.labels import OUTPUT, lies_in, rows_with_errors
from harness.errors import UsageError
from harness.judges import Panel, traits_of
from harness.measure.cells import Cell, make_cells, pools_scales, rows_of_cells, sample_gain, sort_key, with_q
from harness.measure.judged_table import JudgedTable, as_text, factorise, item_key, with_missing
from harness.measure.label_counts import SIGNED, LabelCounts, continuous_metrics, count_labels, design_notes, design_of
from harness.measure.options import Annotators, MeasureOptions, annotators_needed
from harness.measure.paired_differences import add_versus, system_cells
from harness.measure.score_cells import second_ratings
from harness.model import CONDITION, SAMPLING
from harness.signature import ComparisonSignature
from harness.text import one_line, short_repr

if TYPE_CHECKING:
    from pandas import DataFrame


SCHEMA_VERSION = 1
CI_METHOD = (
    "95%: shares Wilson where every text is independent, else on the effective n of a cluster bootstrap over groups; differences Hall's "
    "skewness-corrected t over groups; means cluster bootstrap with Student's t; coefficients cluster bootstrap (BCa, widened to Student's "
    "t); none below 8 groups"
)

CI_SIGNED = "wilson/hall/cluster-bootstrap-2"
"""The method of intervals in a signature. Its number grows when the same method gives other numbers."""


class Recording(msgspec.Struct, frozen=True):
    """One data set with the judgments that are compared with its labels."""

    name: str
    data: Dataset
    judgments: Judgments
    asked: Asked | None = None  # which labelled items without a judgment count as asked, and failed; None: judgments are complete
    baseline: Mapping[tuple[str, str], Any] | None = None
    notes: tuple[str, ...] = ()  # for readers of its numbers
    panels: Mapping[str, Panel] = {}  # the panels among its judges, by name


_APART = "Metrics on different scales are not pooled: each has rows of its own."


Element = TypeVar("Element")


class LazySequence(Sequence[Element]):
    """A tuple that is computed on first use, once. What it is computed from is let go then."""

    def __init__(self, compute: Callable[[], Iterable[Element]]) -> None:
        self._compute: Callable[[], Iterable[Element]] | None = compute
        self._computed: tuple[Element, ...] = ()

    def computed(self) -> tuple[Element, ...]:
        """Return the tuple."""
        if self._compute is not None:
            self._computed, self._compute = tuple(self._compute()), None
        return self._computed

    def __len__(self) -> int:
        return len(self.computed())

    def __iter__(self) -> Iterator[Element]:
        return iter(self.computed())

    def __getitem__(self, index: Any) -> Any:
        return self.computed()[index]

    def __eq__(self, other: object) -> bool:
        return self.computed() == (other.computed() if isinstance(other, LazySequence) else other)

    def __hash__(self) -> int:
        return hash(self.computed())

    def __repr__(self) -> str:
        return repr(self.computed())

    def __reduce__(self) -> tuple[Any, ...]:
        return tuple, (self.computed(),)


class Comparison(msgspec.Struct, frozen=True):
    """Cells with everything that is needed to compute them again. Their statistics are computed on first use: verdicts do not need them."""

    signature: str
    ci_method: str
    cells: Sequence[Cell]
    level: str = "item"
    notes: tuple[str, ...] = ()  # for readers of the numbers
    warnings: tuple[str, ...] = ()  # those notes that a reader has to know, whatever else is shown
    left_out: dict[str, int] = {}  # texts on which people split evenly, by metric
    schema_version: int = SCHEMA_VERSION
    keys: tuple[dict[str, Any], ...] = ()  # those of the cells
    second_ratings: bool = False  # True if other people scored some texts again, which the cells then have statistics of

    def __repr__(self) -> str:
        return short_repr(self, self.source, cells=len(self.keys))

    @property
    def source(self) -> str:
        """The first part of the signature: what was compared."""
        return self.signature.partition("|")[0]

    @property
    def data_names(self) -> str:
        """The names of the data sets that were compared, with commas between several."""
        return re.sub(r"@[^,]*", "", self.source.removeprefix("data:"))

    def as_json(self) -> dict[str, Any]:
        """Return one object for programs: `{schema_version, signature, ci_method, level, notes, warnings, left_out, cells}`."""
        fields = msgspec.structs.asdict(self) | {"cells": [cell.flat() for cell in self.cells]}
        del fields["keys"], fields["second_ratings"]
        return fields

    def frame(self) -> DataFrame:
        """Return the cells as a pandas frame, one row for each cell: the names of `as_json`, with intervals as pairs.

        What is nested there has dotted names here: `vs_baseline.diff`, `distribution_labels.2`, `failures.refused`.
        """
        import pandas as pd  # late: half a second

        from harness.exchange.labels.source_table import flat

        rows = (flat(cell.flat()) for cell in self.cells)
        return pd.DataFrame([{name: value for name, value in row.items() if value != {}} for row in rows])


class JudgedTables(msgspec.Struct, frozen=True):
    """The judged tables of a comparison, one for each data set, restricted; cells and verdicts are computed from them."""

    by: tuple[str, ...]  # the keys to group by: those of the options, with `source` first where there are several
    tables: tuple[JudgedTable, ...]
    notes: tuple[str, ...]
    signature: str
    sources: tuple[Recording, ...] = ()  # what the options keep of each source, under distinct names

    def signed(self, **parts: str | tuple[str, ...]) -> str:
        """Return the signature with further parts."""
        return str(msgspec.structs.replace(ComparisonSignature.parse(self.signature), **parts))


def compare(sources: Sequence[Recording], options: MeasureOptions) -> Comparison:
    """Compare the judgments of each source with its labels.

    With several sources every cell names its `source`. Raises UsageError for unknown names, metrics that have no median, and
    sources without judgments or labels.
    """
    return compare_tables(align(sources, options), options)


def align(sources: Sequence[Recording], options: MeasureOptions) -> JudgedTables:
    """Lay the judgments of each source beside its labels. Raises as `compare`."""
    parts = _restrict_sources(sources, options)
    by = ("source", *options.by) if len(sources) > 1 else options.by
    if "temperature" in by:
        by = (*by, *(name for name in SAMPLING[1:] if any(part.judgments.columns[name].values for part in parts)))
    judged = tuple(_tables_of_parts(parts, options))
    notes = dict.fromkeys(note for part in parts for note in part.recording.notes)
    selected = tuple(msgspec.structs.replace(part.recording, name=part.name, data=part.data, judgments=part.judgments) for part in parts)
    # The signature: everything that can change a number of a comparison.
    abouts = [part.recording.data.about for part in parts]
    panels = (
        f"{name}@members={' + '.join(panel.members)}/rule={panel.rule}/ties={panel.ties}"
        for part in parts
        for name, panel in part.recording.panels.items()
    )
    signature = str(
        ComparisonSignature(
            data=tuple(f"{a.id}@{a.version}+{p.recording.data.sha256[:12]}" for a, p in zip(abouts, parts, strict=True)),
            judgments=tuple(part.recording.judgments.sha256[:12] for part in parts),
            judges=options.judges or ("all",),
            where=tuple(f"{name}={text}" for name, texts in options.restrictions.items() for text in texts),
            by=options.by,
            asked="/".join(dict.fromkeys(str(part.recording.asked or "plan") for part in parts)),
            annotators="/".join(dict.fromkeys(str(part.needed) for part in parts)),
            majority=options.majority,
            level=options.level,
            versus="=".join(options.versus) if options.versus else "none",
            ci=CI_SIGNED,
            seed=options.seed,
            resamples=options.resamples,
            harness=version("judge-harness"),
            standardise=options.standardise,
            weights=SIGNED if any(table.design for table in judged) else "none",
            panels=tuple(dict.fromkeys(panels)),
        )
    )
    return JudgedTables(by, judged, tuple(notes), signature, selected)


def judged_tables(sources: Sequence[Recording], options: MeasureOptions) -> tuple[JudgedTable, ...]:
    """Return the judgments of each source beside its labels, without the signature, whose hashes read every row. Raises as `compare`."""
    return tuple(_tables_of_parts(_restrict_sources(sources, options), options))


def table_of_all(source: Recording, options: MeasureOptions) -> JudgedTable:
    """Return all judgments of a recording, those of changed texts and the missing ones too, restricted as `compare` restricts them.

    Raises UsageError as `compare` does.
    """
    data, rows = restricted_rows(source.data, source.judgments, options)
    selected, clean = source.judgments.take(rows), source.judgments.clean
    needed = annotators_needed(options, data.most_annotators)
    continuous = continuous_metrics(source.data, clean)
    labels = count_labels(data, selected.clean, needed, options.majority, continuous=continuous) if len(data.labels) else {}
    table = JudgedTable.align(data, source.judgments, labels, source.name, options).take(rows)
    unchanged = selected.is_clean
    return JudgedTable.concatenate([with_missing(table.take(unchanged), source.asked, clean), table.take(~unchanged)])


def compare_tables(aligned: JudgedTables, options: MeasureOptions) -> Comparison:
    """Return the comparison of what `align` gave. Raises as `compare`."""
    by = aligned.by
    several_scales = "metric" not in by and any(pools_scales(judged, by) for judged in aligned.tables)
    options = replace(options, by=(*by, "metric") if several_scales else by)
    left_out = [count_left_out(judged, options) for judged in aligned.tables]
    # What makes labels less than they seem: copies of others, twins, and people who saw the judge's scores.
    label_warnings = [(*copy_notes(judged.data), *twin_notes(judged), *judged.data.labels.sighted_notes()) for judged in aligned.tables]
    notes = dict.fromkeys((*aligned.notes, *([_APART] if several_scales else [])))
    for part in zip(aligned.tables, left_out, label_warnings, strict=True):
        notes |= dict.fromkeys(_notes_of_table(*part, options))
    said_by_cards = {note for judged in aligned.tables for note in judged.data.about.notes}
    warnings = dict.fromkeys(note for note in aligned.notes if note not in said_by_cards)
    warnings |= dict.fromkeys(chain(*label_warnings))
    total_left_out = Counter[str]()
    for by_metric in left_out:
        total_left_out.update({metric: dropped for metric, (dropped, _) in by_metric.items()})
    keys = [key for judged in aligned.tables for table in rows_of_cells(judged, options.by) for key in table.keys]
    cells = LazySequence(partial(_cells_of_tables, aligned.tables, options))
    if options.level == "system" or options.versus:
        cells.computed()  # raises for options that do not fit the data
    return Comparison(
        aligned.signature,
        CI_METHOD,
        cells,
        options.level,
        tuple(notes),
        tuple(warnings),
        dict(total_left_out),
        keys=tuple(sorted(keys, key=sort_key)),
        second_ratings=any(judged.data.second is not None for judged in aligned.tables),
    )


def _cells_of_tables(tables: Sequence[JudgedTable], options: MeasureOptions) -> list[Cell]:
    """Return the cells of all tables, sorted by their keys and corrected together."""
    cells: list[Cell] = []
    for judged in tables:
        if options.level == "system":
            cells_of_table = system_cells(judged, options)
        else:
            cells_of_table = make_cells(judged, options)
            cells_of_table = add_versus(cells_of_table, judged, options) if options.versus else cells_of_table
        cells += add_asked(cells_of_table, judged, options)
    cells.sort(key=lambda cell: sort_key(cell.key))
    return with_q(cells) if options.level == "item" else cells


class _Part(msgspec.Struct, frozen=True):
    """The selected part of a recording, and the number of annotators that its items need."""

    name: str
    recording: Recording
    data: Dataset
    judgments: Judgments
    needed: Annotators


def _restrict_sources(sources: Sequence[Recording], options: MeasureOptions) -> list[_Part]:
    """Return the selected part of each source. Of several sources, those with nothing selected are left out, unless all are."""
    parts: list[_Part] = []
    errors: list[UsageError] = []
    names = [source.name for source in sources]
    for index, (name, source) in enumerate(zip(names, sources, strict=True)):
        if names.count(name) > 1:
            name = f"{name}#{names[:index].count(name) + 1}"
        try:
            data, judgments = restrict(source, options)
        except UsageError as err:
            errors.append(err)
            continue
        parts.append(_Part(name, source, data, judgments, annotators_needed(options, data.most_annotators)))
    if errors and not parts:
        raise errors[0]
    return parts


def _tables_of_parts(parts: Sequence[_Part], options: MeasureOptions) -> Iterator[JudgedTable]:
    """Yield a table of the parts with the same items and labels, so that judgments of the same data can be paired."""
    by_data: dict[str, list[_Part]] = {}
    for part in parts:
        by_data.setdefault(part.data.sha256 if len(parts) > 1 else "", []).append(part)
    for same in by_data.values():
        data, judgments = same[0].data, Judgments.concatenate([part.judgments for part in same])
        continuous = frozenset[str]().union(*(continuous_metrics(part.recording.data, part.recording.judgments.clean) for part in same))
        counted = count_labels(data, judgments, same[0].needed, options.majority, options.standardise, continuous)
        refuse_median_of_names(counted, options)
        tables = []
        for part in same:
            table = JudgedTable.align(data, part.judgments, counted, part.name, options)
            tables.append(with_missing(table, part.recording.asked, part.recording.judgments.clean))
        design, why = design_of(data, counted) if options.level == "item" else (None, ())
        # What the majority baseline has learnt for all of the parts; None if one of them has no baseline.
        learnt = [part.recording.baseline for part in same]
        shared_baseline = None if None in learnt else {pair: score for guesses in learnt for pair, score in (guesses or {}).items()}
        yield replace(JudgedTable.concatenate(tables), learnt=shared_baseline, design=design, design_notes=why)


def _notes_of_table(
    judged: JudgedTable, left_out: Mapping[str, tuple[int, int]], label_warnings: Sequence[str], options: MeasureOptions
) -> Iterator[str]:
    """Yield the notes for readers of the cells of one data set."""
    yield from not_asked_notes(judged, options)
    yield from score_notes(judged, options)
    yield from left_out_notes(left_out)
    yield from uneven_notes(judged, options)
    yield from error_notes(judged.data, judged.judgments)
    yield from label_warnings
    if options.level == "system":
        yield from unread_notes(judged, options)
        return
    yield from judged.design_notes
    if judged.design:
        rows_by_cell = (rows for table in rows_of_cells(judged, options.by) for rows in table.rows)
        yield from design_notes(judged.design, judged.labels, [sample_gain(judged, rows[judged.labelled[rows]]) for rows in rows_by_cell])


def restrict(source: Recording, options: MeasureOptions) -> tuple[Dataset, Judgments]:
    """Return the data and judgments that `where` and `judges` keep. Raises UsageError, with the possible names, if nothing is kept."""
    judgments = source.judgments.clean
    data, rows = restricted_rows(source.data, judgments, options)
    if not len(rows):
        raise UsageError(f"{source.name} has no judgments to compare; judgments.jsonl should hold some, or name a run")
    if not len(data.labels):
        raise UsageError(f"{source.name} has no labels to compare with; labels.jsonl should hold some")
    return data, judgments if len(rows) == len(judgments) else judgments.take(rows)


def restricted_rows(data: Dataset, judgments: Judgments, options: MeasureOptions) -> tuple[Dataset, NDArray[np.int64]]:
    """Return the data, and the rows of the judgments, that `where` and `judges` keep."""
    mask = np.ones(len(judgments), bool)
    wanted = dict(options.restrictions) | ({"judge": options.judges} if options.judges else {})
    for name in ("metric", *CONDITION):
        if name in wanted:
            mask &= matching(getattr(judgments, name), wanted.pop(name), name)
    if wanted:
        data = only_where(data, wanted)
        mask &= judgments.item.among(data.by_id)
    if "metric" in options.restrictions:
        data = of_metrics(data, options.restrictions["metric"])
    return data, np.flatnonzero(mask)


def only_where(data: Dataset, wanted: Mapping[str, Sequence[str]]) -> Dataset:
    """Return the items that have one of the wanted values, `{key: values}`, with their labels."""
    mask = np.ones(len(data.items), bool)
    for name, texts in wanted.items():
        column = item_key(data, name)
        mask &= matching(column, resolve(texts, column.values, "items") if name == "language" else texts, name)
    return data if mask.all() else data.only(item for item, keep in zip(data.items, mask.tolist(), strict=True) if keep)


def of_metrics(data: Dataset, metrics: Sequence[str]) -> Dataset:
    """Return the same items with their labels on some metrics only."""
    mask = data.labels.metric.among(metrics)
    return msgspec.structs.replace(data, labels=data.labels.take(mask))


def matching(column: Any, texts: Sequence[str], name: str) -> Any:
    """Return mask of the rows whose value, as text, is one of `texts`."""
    by_text = {as_text(value): code for code, value in enumerate(column.values)}
    for text in texts:
        if text not in by_text:
            raise UsageError(f"no {name} '{text}'.{suggest(text, list(by_text))}\n         choose from: {', '.join(sorted(by_text)[:40])}")
    return np.isin(column.codes, [by_text[text] for text in texts])


def refuse_median_of_names(counted: Mapping[str, LabelCounts], options: MeasureOptions) -> None:
    """Raise UsageError for a median of classes that have no order."""
    names = [metric for metric, labels in counted.items() if labels.classes.kind == "nominal"]
    if options.majority == "median" and names and options.level == "item":
        ordered = ",".join(metric for metric in counted if metric not in names) or "NAME"
        raise UsageError(f"'{names[0]}' has classes without an order, so no median; take --majority drop, or --where metric={ordered}")


_LEAST_TWINS = 30  # questions in which equal scores are no chance

_FEW = 3  # names that a sentence lists
_QUESTION = (*CONDITION, "metric")


def error_notes(data: Dataset, judgments: Judgments) -> Iterator[str]:
    """Yield a sentence where errors of people, or of judges, lie outside their text or quote words that are not in it."""
    tables = {"people": data.labels, "people of the second round": data.second_spans, "judges": judgments}
    for who, table in tables.items():
        marked, empty, outside, unplaced = _count_errors(data, table.item, table.spans) if table is not None else (0, 0, 0, 0)
        lost = [
            *([f"with an empty place: {empty:,}"] if empty else []),
            *([f"outside their text: {outside:,}"] if outside else []),
            *([f"with words that are not in it: {unplaced:,}"] if unplaced else []),
        ]
        if lost:
            yield f"Errors that {who} marked: {marked:,}; {'; '.join(lost)}. They are counted, and pages cannot show them in the text."


def _count_errors(data: Dataset, item: CodedColumn, column: CodedColumn) -> tuple[int, int, int, int]:
    """Count the marked errors, and those of them with an empty place, one outside the text, or none although something is quoted."""
    marked = empty = outside = unplaced = 0
    for row, errors in rows_with_errors(column):
        text = str(data.by_id[item.values[item.codes[row]]].fields.get(OUTPUT, ""))
        marked += len(errors)
        for error in errors:
            placed = error.start is not None or error.end is not None
            nothing = placed and error.start == error.end
            empty += nothing
            outside += placed and not nothing and not lies_in(error, text)
            unplaced += not placed and not error.missing
    return marked, empty, outside, unplaced


def score_notes(judged: JudgedTable, options: MeasureOptions) -> Iterator[str]:
    """Yield sentences on interval metrics whose items have one annotator each, on second ratings, and on standardised scores."""
    if options.level == "system":
        return
    data, used = judged.data, judged.judgments.metric.used
    language = item_key(data, "language")
    counted = {metric: labels for metric, labels in judged.labels.items() if labels.scores is not None and metric in used}
    for metric, labels in counted.items():
        if labels.classes.order_only:
            yield (
                f"The judge scored {metric} on {data.scales[metric].describe()}, people on {data.label_scale(metric).describe()}: only the "
                "order of the texts is compared, by correlations and pairs right. There is no agreement, no error and no verdict."
            )
    numbers = [metric for metric, labels in counted.items() if not labels.classes.order_only]
    if numbers:
        yield (
            f"Verdicts on {', '.join(numbers)}: scores are numbers, so verdicts rest on closeness (1 minus the distance of two scores, "
            "as a share of the length of the scale), not on the shares of equal scores that agreement and judge–person pairs are; a "
            "constant is the median label of other texts."
        )
    for metric, labels in counted.items():
        assert labels.scores is not None
        for code, tag in enumerate(language.values):
            in_language = language.codes == code
            n = labels.scores.n[in_language]
            if n.any() and n.max() == 1:
                is_released = data.about.annotators_of(metric) == "aggregate"
                who = "Each text has one released score, made from several people's" if is_released else "One person scored each text"
                yield (
                    f"{who} ({metric}, {tag}), so there is no ceiling: how far people agree cannot be computed from "
                    "these labels. Correlations say how far the judge follows these people; how well it could at best, they do not say."
                )
            if data.second is not None:
                item, _ = second_ratings(data, metric, labels.scores)
                again = int((in_language & (labels.scores.n > 0))[item].sum())
                if again:
                    yield (
                        f"Another person scored {again:,} texts a second time ({metric}, {tag}): the correlation of two people on them is "
                        "the ceiling that a judge's correlation may be compared with."
                    )
            # How many source texts have one labelled output.
            if not data.about.segment or labels.scores is None:
                single = 0
            else:
                segment = item_key(data, data.about.segment)
                labelled = in_language & (labels.scores.n > 0) & (segment.codes >= 0)
                single = int((np.bincount(segment.codes[labelled].astype(np.int64), minlength=1) == 1).sum())
            if single:
                yield f"{single:,} source texts have one output with a label ({metric}, {tag}); within a source text they say nothing."
    if counted and options.standardise != "none":
        yield (
            "Correlations use people's scores standardised within annotator. Errors, leniency, means and pairs right are on the scores as "
            "given, because standardising destroys ties and points."
        )


def copy_notes(data: Dataset) -> Iterator[str]:
    """Yield a sentence where equal texts join groups, so that fewer texts are independent than the data name groups."""
    pairs = list(zip(data.items, data.clusters, strict=True))
    if any(item.group != cluster for item, cluster in pairs):
        groups = len({(item.language, item.group) for item in data.items})
        clusters = len({(item.language, cluster) for item, cluster in pairs})
        yield f"Equal texts under several ids count as one: of {groups:,} groups of texts {clusters:,} are independent."


def twin_notes(judged: JudgedTable) -> Iterator[str]:
    """Yield a sentence for judges, no baselines, that give one and the same score to every question, not always the same."""
    judgments = judged.judgments
    side = combination_ids([judged.source, judgments.judge], np.zeros(len(judged), np.int8))
    question = combination_ids([judgments.metric, judgments.repeat], judged.item.astype(np.int64))
    answers: dict[tuple[bytes, bytes], list[int]] = {}
    for rows in rows_by_number(side):
        scores = judgments.score.codes[rows]
        if traits_of(str(judgments.judge.at(int(rows[0])))).is_baseline or len(np.unique(scores[scores >= 0])) < 2:
            continue
        rows = rows[np.lexsort((scores, question[rows]))]
        if len(rows) >= _LEAST_TWINS:
            answers.setdefault((question[rows].tobytes(), judgments.score.codes[rows].tobytes()), []).append(int(rows[0]))
    for (questions, _), twins in answers.items():
        names = [one_line(str(judgments.judge.at(row))) for row in twins]
        if len(set(names)) > 1:
            count = len(questions) // question.itemsize
            yield f"{' and '.join(names)} give the same score to all {count:,} questions: one may be a copy of the other."


def add_asked(cells: Sequence[Cell], judged: JudgedTable, options: MeasureOptions) -> list[Cell]:
    """Add to the cells `n_asked` and `not_asked`: how many labelled questions judges were asked, and how many not.

    A question is an item and a metric under one condition of one judge, with a reference (at the level of systems: with a label); asked
    several times, it counts once.
    """
    table = _add_unasked(judged)
    rows = np.flatnonzero(table.counted)
    table, was_asked = table.take(rows), rows < len(judged)
    keys, which = table.keyed(options.by)
    once = first_rows(combination_ids([*table.columns(_QUESTION).values(), table.source], which * len(judged.data.items) + table.item))
    number = [np.bincount(which[once[part]], minlength=len(keys)).tolist() for part in (was_asked[once], ~was_asked[once])]
    counts_by_key = {tuple(key.values()): pair for key, pair in zip(keys, zip(*number, strict=True), strict=True)}
    counts = [counts_by_key.get(tuple(cell.key.values()), (0, 0)) for cell in cells]
    return [msgspec.structs.replace(cell, n_asked=n, not_asked=not_asked) for cell, (n, not_asked) in zip(cells, counts, strict=True)]


def not_asked_notes(judged: JudgedTable, options: MeasureOptions) -> Iterator[str]:
    """Yield a sentence on how many labelled questions judges were not asked, by language; none if all were asked."""
    not_asked = _count_by_judge(judged.unasked, options) if judged.unasked is not None else {}
    all_questions = _count_by_judge(_add_unasked(judged), options) if not_asked else {}
    judges: dict[tuple[Any, ...], list[str]] = {}
    for judge, languages in not_asked.items():
        judges.setdefault(tuple((tag, n, all_questions[judge][tag]) for tag, n in sorted(languages.items())), []).append(str(judge))
    for pattern, names in judges.items():
        where = [f"{n:,} of {total:,} in {tag}" for tag, n, total in pattern]
        who = f"{_join_names(names, 'judges')}{' each' if len(names) > 1 else ''}"
        yield f"Not asked, so neither right nor wrong (labelled items times metrics): {who} {_join_names(where, 'languages')}."


def unread_notes(judged: JudgedTable, options: MeasureOptions) -> Iterator[str]:
    """Yield sentences, at the level of systems, on items that count in people's means and have no readable score of the judge."""
    unread = _count_by_judge(judged.take(judged.judgments.score.codes < 0), options)
    all_questions = _count_by_judge(judged, options) if unread else {}
    for judge, languages in unread.items():
        where = [f"{n:,} of {all_questions[judge][tag]:,} in {tag}" for tag, n in sorted(languages.items())]
        languages_in_words = _join_names(where, "languages")
        yield f"People's means rest on items without a readable score of {judge} too (items times metrics): {languages_in_words}."


def count_left_out(judged: JudgedTable, options: MeasureOptions) -> dict[str, tuple[int, int]]:
    """Return `{metric: (items left out, labelled items)}`: judged items without a reference, because no class is the commonest.

    Only the rule `drop` leaves items out; the median always exists, and `strict` counts such items as disagreement. Metrics that leave
    nothing out are not named.
    """
    if options.level != "item" or options.majority != "drop":
        return {}
    left_out = {}
    for metric, rows in judged.rows_by_metric.items():
        items = np.unique(judged.item[rows])
        labelled, compared = int(judged.labels[metric].labelled[items].sum()), int(judged.labels[metric].compared[items].sum())
        if compared < labelled:
            left_out[metric] = (labelled - compared, labelled)
    return left_out


def left_out_notes(left_out: Mapping[str, tuple[int, int]]) -> Iterator[str]:
    """Yield a sentence on what `count_left_out` returns; none if nothing is left out."""
    if left_out:
        where = [f"{dropped:,} of {labelled:,} for {metric}" for metric, (dropped, labelled) in left_out.items()]
        yield (
            f"Texts on which people split evenly are left out: {_join_names(where, 'metrics')}. "
            "--majority strict counts them as disagreement; --majority median takes the middle label."
        )


def uneven_notes(judged: JudgedTable, options: MeasureOptions) -> Iterator[str]:
    """Yield a sentence on judges that have more repeats of some items than of others in one cell; none if repeats are even.

    The judgments of a cell count alike, by design: `n_ref` is items times repeats. So uneven repeats weight the items.
    """
    if options.level != "item":
        return
    classes = {
        metric: 0 for metric, labels in judged.labels.items() if not labels.classes.continuous
    }  # correlations of numbers average repeats
    counts = judged.counted & (judged.judgments.metric.recode(classes) == 0)
    table = judged.take(np.flatnonzero(counts))
    of_cell = combination_ids(table.columns(options.by).values(), np.zeros(len(table), np.int8))
    alike = combination_ids([*table.columns(_QUESTION).values(), table.source], of_cell)
    question = combination_ids([], alike.astype(np.int64) * len(judged.data.items) + table.item)
    once, times = first_rows(question), np.bincount(question)
    least, most = (np.full(int(alike.max(initial=-1)) + 1, start) for start in (len(table), 0))
    np.minimum.at(least, alike[once], times)
    np.maximum.at(most, alike[once], times)
    uneven = once[(least < most)[alike[once]]]
    if len(uneven):
        judges = dict.fromkeys(str(judge) for judge in table.judgments.judge.take(uneven))
        fewest, highest = int(least[alike[uneven]].min()), int(most[alike[uneven]].max())
        yield (
            f"Items were answered {fewest:,} to {highest:,} times by {_join_names(list(judges), 'judges')}. Every repeat counts as one "
            "judgment, so items with more repeats weigh more in agreement and the other numbers of a cell. Verdicts average the repeats of "
            "an item first."
        )


def _join_names(names: Sequence[str], what: str) -> str:
    """Return `a, b, c and 3 more judges (--json has all)`."""
    more = len(names) - _FEW
    return ", ".join(names[:_FEW]) + (f" and {more} more {what} (--json has all)" if more > 0 else "")


def _count_by_judge(judged: JudgedTable, options: MeasureOptions) -> dict[Any, dict[Any, int]]:
    """Return `{judge: {language: number of questions with a reference}}`; each question counts once."""
    table = judged.take(np.flatnonzero(judged.counted))
    once = table.take(first_rows(combination_ids(table.columns(_QUESTION).values(), table.item)))
    keys, which = factorise({"judge": once.judgments.judge, "language": item_key(judged.data, "language").take(once.item)}, len(once))
    questions: dict[Any, dict[Any, int]] = {}
    for key, count in zip(keys, np.bincount(which, minlength=len(keys)).tolist(), strict=True):
        questions.setdefault(key["judge"], {})[key["language"]] = count
    return questions


def _add_unasked(judged: JudgedTable) -> JudgedTable:
    """Return the judgments and, after them, the questions that were not asked."""
    return judged if judged.unasked is None else JudgedTable.concatenate([judged, judged.unasked])
