"""The quality of a label set before any judge is compared with it: coverage, agreement, and annotators who differ; texts that occur twice,
or are not in the language that their item names.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from importlib.metadata import version
from itertools import combinations
from typing import Any, NamedTuple

import msgspec
import numpy as np

from harness.content.tags import codes_of_one_language
from harness.data.columns import NO_VALUE, CodedColumn, Codes, rows_by_number
from harness.data.dataset import Dataset
from harness.data.further_tables import AttentionCheck
from harness.data.judgments import Judgments
from harness.errors import UsageError
from harness.measure.cells import bounds, named_shares, number, reasons, sort_key
from harness.measure.compare import CI_METHOD, matching, of_metrics, only_where, refuse_median_of_names
from harness.measure.judged_table import factorise, item_key
from harness.measure.label_counts import Classes, ItemScores, LabelCounts, count_labels
from harness.measure.label_counts import numbers as to_numbers
from harness.measure.options import POOLED, Annotators, Drawing, MeasureOptions
from harness.measure.score_cells import NO_SECOND, NOT_CLASSES, NOT_INTERVAL, people_statistics, second_ratings, source_texts
from harness.model import Item
from harness.options import RESAMPLES
from harness.parse.language import MIN_LETTERS, identify_language, known_languages
from harness.signature import ComparisonSignature
from harness.stats.agreement.agreement import cohen_kappa
from harness.stats.agreement.correlation import NAMES as CORRELATIONS
from harness.stats.agreement.correlation import score_correlation
from harness.stats.agreement.describe import RARE, distribution_of_labels, rarest_expected
from harness.stats.agreement.variance_components import eta_squared
from harness.stats.core.arrays import Floats, Ints
from harness.stats.core.catalogue import cell_statistics, human_statistics, undefined_by_scale
from harness.stats.core.rows import tabulate
from harness.stats.core.statistic import estimate
from harness.stats.intervals.bootstrap import intervals
from harness.stats.intervals.intervals import proportion_interval
from harness.text import short_repr

SCHEMA_VERSION = 1
HUMAN_NAMES = tuple(statistic.name for statistic in human_statistics(2, "interval"))
_ICC = ("icc", "icc_mean", "icc_crossed", "icc_crossed_mean")
BY = ("language", "task", "metric")
OF_PAIRS = ("pa", "cohen_kappa", "linear_kappa", "quadratic_kappa")
MIN_COMMON = 20
"""Two annotators must share so many items before a report calls their answers constant or their agreement poor."""
MAX_PAIRS = 500
CONSTANT = "answers constantly"
APART = "agrees with nobody beyond chance"
ONE_PERSON = "gave equal scores to every text that both scored: probably one person under two names, or a copied column"
MIN_VARIED = 10
"""Of the texts that two annotators share, so many must have another score than the most frequent one: else equal scores are no surprise."""


class LabelCheck(msgspec.Struct, frozen=True):
    """The result of `harness labels check`. `cells` are grouped by language, task and metric, or by the keys in `by`."""

    signature: str
    ci_method: str
    cells: tuple[dict[str, Any], ...]
    flagged: tuple[dict[str, Any], ...]  # conspicuous annotators: {language, task, metric, annotator, n, why}
    duplicates: tuple[list[str], ...]
    misplaced: tuple[WrongLanguageText, ...]
    texts_identified: int
    languages_unknown: tuple[str, ...]
    notes: tuple[str, ...]
    language_codes: tuple[list[str], ...] = ()  # of one language, under which items stand apart
    attention_checks: tuple[dict[str, Any], ...] = ()  # how often people scored a damaged text below its original
    means: tuple[dict[str, Any], ...] = ()  # grouped by system: {language, task, metric, system, annotator (* for all), n, mean, sd}
    schema_version: int = SCHEMA_VERSION

    def __repr__(self) -> str:
        return short_repr(self, self.signature.partition("|")[0], cells=len(self.cells), flagged_annotators=len(self.flagged))


class _MetricCells(NamedTuple):
    """Data that the cells of all metrics share: the `cell` and `group` of every item, and `item_codes`, the index of every label's item."""

    data: Dataset
    keys: list[dict[str, Any]]
    cell: Ints
    group: Codes
    item_codes: Codes
    drawing: Drawing

    def rows_of_cells(self, metric: str) -> list[Ints]:
        """Return the rows of one metric's labels, cell by cell."""
        rows = np.flatnonzero(self.data.labels.metric.equals(metric))
        return [rows[numbers] for numbers in rows_by_number(self.cell[self.item_codes[rows]], len(self.keys))]


def check_labels(data: Dataset, options: MeasureOptions, watch: Callable[[], object] = lambda: None) -> LabelCheck:
    """Describe and check the labels of a data set.

    Of `options`, `by` (item keys and `metric`), `annotators` (default: all), `majority`, `where`, seed and resamples are used; `watch` is
    called after each text whose language was identified. Raises UsageError without labels, or for a key that no item has.
    """
    options = _label_options(options)
    all_data, data = data, _restricted(data, options)
    cells, flagged = _described(data, options)
    checks = attention_rows(data, options.seed, options.resamples)
    wrong, looked, unknown = misplaced(data.items, watch)
    return LabelCheck(
        signature=str(
            ComparisonSignature(
                data=(f"{all_data.about.id}@{all_data.about.version}+{all_data.sha256[:12]}",),
                judgments=(),
                judges=(),
                where=tuple(f"{name}={text}" for name, texts in options.restrictions.items() for text in texts),
                by=options.by,
                annotators=str(options.annotators),
                asked="none",
                majority=options.majority,
                level="item",
                versus="none",
                ci="wilson/cluster-bootstrap",
                seed=options.seed,
                resamples=options.resamples,
                harness=version("judge-harness"),
            )
        ),
        ci_method=CI_METHOD,
        cells=cells,
        flagged=flagged,
        duplicates=tuple(duplicates(data.items)),
        misplaced=tuple(wrong),
        texts_identified=looked,
        languages_unknown=tuple(sorted(unknown)),
        notes=tuple(dict.fromkeys((*data.about.notes, *data.labels.sighted_notes(), *attention_notes(checks), SAME_TO_IT))),
        language_codes=tuple(codes_of_one_language({item.language for item in data.items})),
        attention_checks=tuple(checks),
        means=tuple(means_by_system(data)) if "system" in options.by else (),
    )


def label_cells(data: Dataset, options: MeasureOptions) -> tuple[dict[str, Any], ...]:
    """Only the cells of a label check, without a look at the texts. Raises as `check_labels`."""
    options = _label_options(options)
    return _described(_restricted(data, options), options)[0]


def _label_options(options: MeasureOptions) -> MeasureOptions:
    """Return the options with the keys that a check needs: labels are checked metric by metric, so `--by system` adds to these."""
    by = options.by if "metric" in options.by else tuple(dict.fromkeys((*BY, *options.by)))
    return replace(options, by=by, annotators=options.annotators or Annotators(1))


def means_by_system(data: Dataset) -> list[dict[str, Any]]:
    """Return each person's mean and standard deviation of the scores of each system's texts, and those of all people (`*`).

    A row is `{language, task, metric, system, annotator, n, mean, sd}`; `sd` is None for one label. Scores that are no numbers have no
    mean, and their metrics no rows. Only persistent annotators have rows of their own: else nobody can be followed from text to text.

    Source: Chiang & Lee (2023), table 12.
    """
    scores: dict[tuple[str, str, str, str, str], list[float]] = {}
    persistent = data.about.annotators == "persistent"
    for label in data.labels:
        item, score = data.by_id[label.item_id], label.score
        if item.system is not None and isinstance(score, int | float) and not isinstance(score, bool):
            for person in (POOLED, label.annotator_id) if persistent else (POOLED,):
                scores.setdefault((item.language, item.task, label.metric, item.system, person), []).append(float(score))
    return [
        dict(zip(("language", "task", "metric", "system", "annotator"), key, strict=True))
        | {"n": len(values), "mean": float(np.mean(values)), "sd": float(np.std(values, ddof=1)) if len(values) > 1 else None}
        for key, values in sorted(scores.items())
    ]


def _described(data: Dataset, options: MeasureOptions) -> tuple[tuple[dict[str, Any], ...], tuple[dict[str, Any], ...]]:
    assert options.annotators
    counted = count_labels(data, Judgments.from_rows(()), options.annotators, options.majority)
    refuse_median_of_names(counted, options)
    columns = {name: item_key(data, name) for name in options.by if name != "metric"}
    frame = _MetricCells(
        data,
        *factorise(columns, len(data.items)),
        group=data.clusters.codes,
        item_codes=data.labels.item.recode(data.positions),
        drawing=options.drawing,
    )
    cells: list[dict[str, Any]] = []
    flagged: list[dict[str, Any]] = []
    for metric, counts in counted.items():
        for metric_cells in _metric_cells(frame, metric, counts):
            cells.append(metric_cells)
            flagged += metric_cells.pop("flagged")
    cells = sorted(cells, key=lambda cell: sort_key({name: cell[name] for name in (*BY, *options.by)}))
    return tuple(cells), tuple(flagged)


def _restricted(data: Dataset, options: MeasureOptions) -> Dataset:
    """Return the items that `where` keeps, with their labels on the metrics that it keeps."""
    wanted = dict(options.restrictions)
    if metrics := wanted.pop("metric", None):
        matching(CodedColumn.from_values(data.labels.metric.used), metrics, "metric")
        data = of_metrics(data, metrics)
    data = only_where(data, wanted)
    if not len(data.labels):
        raise UsageError(f"{data.id} has no labels; labels.jsonl should hold some")
    return data


def _metric_cells(frame: _MetricCells, metric: str, counts: LabelCounts) -> list[dict[str, Any]]:
    """One metric's cells; cells without a label are left out."""
    keys, cell, group = frame.keys, frame.cell, frame.group
    classes, raters = counts.classes, counts.counts.sum(axis=1)
    labelled_items = np.flatnonzero(raters > 0)
    rows = tabulate(counts.counts[labelled_items], cell=cell[labelled_items], cells=len(keys), group=group[labelled_items])
    statistics = () if classes.continuous else human_statistics(len(classes.scores), classes.kind, classes.values)
    values, estimated = estimate(statistics, rows), intervals(statistics, rows, **frame.drawing)
    shares, rare = distribution_of_labels(rows), rarest_expected(rows)
    absent = {name: why for name, why in undefined_by_scale(classes.kind).items() if name.startswith("human_") or name.endswith("_labels")}
    if classes.continuous:
        absent = {name: NOT_CLASSES for name in HUMAN_NAMES}
    items = np.bincount(cell, minlength=len(keys)).tolist()
    out = []
    for c, (key, rows_here, labelled) in enumerate(
        zip(keys, frame.rows_of_cells(metric), rows_by_number(cell[labelled_items], len(keys)), strict=True)
    ):
        cell_items = labelled_items[labelled]
        if not len(cell_items):
            continue
        pairs, people, why_not = _people(frame, rows_here, cell_items, classes)
        numbers, number_fields = _of_numbers(frame, metric, counts, cell_items)
        undefined = (
            absent
            | reasons(values, estimated, c)
            | numbers.undefined
            | ({"pairs": why_not} | ({} if people else {"annotators": why_not}) if why_not else {})
        )
        cell_key = {name: key[name] for name in key if name not in ("judge", "variant")} | {"metric": metric}
        # Annotators who gave one class to 20 items or more while others gave several, or whose kappa with all others is 0 or less.
        flags = []
        for person in people or ():
            kappas = [p["cohen_kappa"] for p in pairs or () if p["n"] >= MIN_COMMON and person["annotator"] in (p["a"], p["b"])]
            if person["distribution"] is None:
                constant = person.get("sd") == 0
            else:
                several = person["others"] and max(person["others"].values()) <= 1 - 1 / MIN_COMMON
                constant = several and max(person["distribution"].values()) == 1
            constant = constant and person["n"] >= MIN_COMMON
            if constant or (kappas and all(kappa is not None and kappa <= 0 for kappa in kappas)):
                flags.append({**cell_key, "annotator": person["annotator"], "n": person["n"], "why": CONSTANT if constant else APART})
        out.append(
            cell_key
            | {
                "items": items[c],
                "labelled": len(cell_items),
                "coverage": len(cell_items) / items[c],
                "labels": int(raters[cell_items].sum()),
                "raters": {str(n): int(times) for n, times in zip(*np.unique(raters[cell_items], return_counts=True), strict=True)},
                "annotators": people,
                "no_majority": int((counts.reference[cell_items] < 0).sum()),
                "groups": len(np.unique(group[cell_items])),
                "few_rare_cases": bool(classes.kind != "interval" and rare[c] < RARE),
                "distribution_labels": named_shares(classes, shares[c]),
                **dict.fromkeys(absent),
                **{name: number(e.value[c]) for name, e in values.items()},
                **{f"{name}_ci": bounds(per[c]) for name, per in estimated.items()},
                **numbers.values,
                **number_fields,
                "pairs": pairs,
                "undefined": {name: why for name, why in undefined.items() if name not in numbers.defined},
                "flagged": [*flags, *_equal_annotators(frame, cell_key, rows_here, cell_items)],
            }
        )
    return out


class _Numbers(NamedTuple):
    """Statistics of interval metrics by name, with their intervals, and the reasons of undefined ones."""

    values: dict[str, Any]
    undefined: dict[str, str]

    @property
    def defined(self) -> set[str]:
        return {name for name, value in self.values.items() if value is not None}


def _of_numbers(frame: _MetricCells, metric: str, counts: LabelCounts, items: Ints) -> tuple[_Numbers, dict[str, Any]]:
    """Return what the labels of an interval metric say as numbers: reliability and level, the variance that annotators, systems and source
    texts explain, and people's correlation with second ratings.
    """
    if counts.scores is None:
        more_fields = dict.fromkeys(("variance_shares", "second_ratings", "second_spans"))
        nothing = dict.fromkeys(_ICC)
        return _Numbers(nothing | {f"{name}_ci": None for name in _ICC}, dict.fromkeys((*_ICC, *more_fields), NOT_INTERVAL)), more_fields
    scored = people_statistics(frame.data, [counts], items, frame.group.astype(np.int64))
    selected = scored if counts.classes.continuous else {name: statistic for name, statistic in scored.items() if name in _ICC}
    values: dict[str, Any] = {name: number(statistic.value) for name, statistic in selected.items()}
    values |= {f"{name}_ci": bounds(statistic.interval) for name, statistic in selected.items()}
    why = {name: statistic.reason for name, statistic in selected.items() if statistic.reason}
    why |= {
        f"{name}_ci": statistic.interval.reason for name, statistic in selected.items() if statistic.interval.reason and name not in why
    }
    scores = counts.scores.of_items(items)
    # One-way eta² of the annotator, the system, the source text and the group; None where labels do not say which.
    data, item = frame.data, items[scores.item]
    factors: dict[str, Ints | None] = {"annotator": scores.annotator if data.about.annotators == "persistent" else None}
    system = item_key(data, "system").codes[item].astype(np.int64)
    factors["system"] = system if len(system) and system.min() >= 0 else None
    segment = source_texts(data)[item] if data.about.segment else None
    factors["segment"] = segment if segment is not None and segment.min(initial=0) >= 0 else None
    factors["group"] = frame.group[item].astype(np.int64)
    shares = {name: None if codes is None else number(eta_squared(scores.raw, codes).value) for name, codes in factors.items()}
    second = _second_ratings(frame, metric, counts.scores, items)
    spans = error_agreement(frame.data, metric, items)
    why |= {name: NO_SECOND for name, result in (("second_ratings", second), ("second_spans", spans)) if result is None}
    return _Numbers(values, why), {"variance_shares": shares, "second_ratings": second, "second_spans": spans}


def _second_ratings(frame: _MetricCells, metric: str, scores: ItemScores, items: Ints) -> dict[str, Any] | None:
    """Correlations of the labels with second ratings by another person, and by the same one; None without second ratings."""
    if frame.data.second is None:
        return None
    inside = np.zeros(len(frame.data.items), bool)
    inside[items] = True
    ratings: dict[str, Any] = {}
    for name, same in (("another_person", False), ("same_person", True)):
        item, again = second_ratings(frame.data, metric, scores, same_person=same)
        item, again = item[inside[item]], again[inside[item]]
        x, group = scores.raw_mean[item], frame.group[item].astype(np.int64)
        correlations = {key: score_correlation(method, x, again, group) for method, key in CORRELATIONS.items()}
        distance = np.abs(x - again)
        ratings[name] = {"n": len(item), "mae": float(distance.mean()), "equal": float((distance == 0).mean())} if len(item) else {"n": 0}
        ratings[name] |= {key: number(correlation.value) for key, correlation in correlations.items()}
        ratings[name] |= {f"{key}_ci": bounds(correlation.interval) for key, correlation in correlations.items()}
    return ratings


def _people(
    frame: _MetricCells, rows: Ints, items: Ints, classes: Classes
) -> tuple[list[dict[str, Any]] | None, list[dict[str, Any]] | None, str | None]:
    """Return the pairs of annotators, the annotators, and the reason if both are None: only persistent annotators can be followed across
    items.

    `rows` are labels of one metric; labels of items that are not in `items` are ignored.
    """
    kind = frame.data.about.annotators
    if kind != "persistent":
        return None, None, f"annotators are {kind}: nobody can be followed from item to item"
    index = np.full(len(frame.cell), -1, np.int64)
    index[items] = np.arange(len(items))
    item_index = index[frame.item_codes[rows]]
    rows, item_index = rows[item_index >= 0], item_index[item_index >= 0]
    names, scores = (column.take(rows) for column in (frame.data.labels.annotator, frame.data.labels.score))
    present = sorted(names.used)
    who = names.recode({name: i for i, name in enumerate(present)})
    if classes.continuous:
        return None, _annotators_in_numbers(who, to_numbers(scores), present), NOT_CLASSES
    table = np.full((len(items), len(present)), -1, np.int64)
    table[item_index, who] = scores.recode(classes.index())
    # Each annotator's number of labels and shares of the classes, and the other annotators' shares on the same items.
    out = []
    for column, name in enumerate(present):
        rated = table[:, column] >= 0
        annotator_shares, other_shares = _shares(table[rated, column], classes), _shares(np.delete(table[rated], column, axis=1), classes)
        out.append({"annotator": name, "n": int(rated.sum()), "distribution": annotator_shares, "others": other_shares})
    return _pairs(table, frame.group[items], present, classes, frame.drawing), out, None


def _annotators_in_numbers(who: Codes, scores: Floats, names: list[str]) -> list[dict[str, Any]]:
    """Each annotator's number of labels, their mean and standard deviation: how strict people are."""
    out = []
    for code, name in enumerate(names):
        annotator_scores = scores[who == code]
        spread = float(annotator_scores.std(ddof=1)) if len(annotator_scores) > 1 else None
        out.append(
            {
                "annotator": name,
                "n": len(annotator_scores),
                "mean": float(annotator_scores.mean()),
                "sd": spread,
                "distribution": None,
                "others": None,
            }
        )
    return out


def _pairs(table: Ints, group: Codes, names: list[str], classes: Classes, drawing: Drawing) -> list[dict[str, Any]]:
    """Agreement of every two annotators who share items; pairs that share the most items come first."""
    joint = (table >= 0).astype(np.int64)
    common = joint.T @ joint
    wanted = sorted((p for p in combinations(range(len(names)), 2) if common[p]), key=lambda p: -common[p])[:MAX_PAIRS]
    if not wanted:
        return []
    rated_by_both = [np.flatnonzero((table[:, a] >= 0) & (table[:, b] >= 0)) for a, b in wanted]
    first = np.concatenate([table[rows, a] for rows, (a, _) in zip(rated_by_both, wanted, strict=True)])
    second = np.concatenate([table[rows, b] for rows, (_, b) in zip(rated_by_both, wanted, strict=True)])
    cell = np.repeat(np.arange(len(wanted)), [len(rows) for rows in rated_by_both])
    k = len(classes.scores)
    rows = tabulate(np.eye(k, dtype=np.int64)[first], second, cell=cell, cells=len(wanted), group=group[np.concatenate(rated_by_both)])
    statistics = [s for s in cell_statistics(k, classes.kind, classes.values) if s.name in OF_PAIRS]
    values, interval_values = estimate(statistics, rows), intervals(statistics, rows, **drawing)
    return [
        {"a": names[a], "b": names[b], "n": int(common[a, b])}
        | {name: number(e.value[i]) for name, e in values.items()}
        | {f"{name}_ci": bounds(per[i]) for name, per in interval_values.items()}
        | {"undefined": reasons(values, interval_values, i)}
        for i, (a, b) in enumerate(wanted)
    ]


def _shares(codes: Ints, classes: Classes) -> dict[str, float] | None:
    counts = np.bincount(codes[codes >= 0], minlength=len(classes.scores)).astype(np.float64)
    return named_shares(classes, counts / counts.sum() if counts.sum() else np.full(len(counts), np.nan))


def _equal_annotators(frame: _MetricCells, cell_key: Mapping[str, Any], rows: Ints, items: Ints) -> list[dict[str, Any]]:
    """Return every two annotators whose scores of the texts that both scored are all equal, though they vary.

    Whether ids follow a person from text to text does not matter here: no two people agree in everything. `rows` and `items` as in
    `_people`.
    """
    names, scores = (column.take(rows) for column in (frame.data.labels.annotator, frame.data.labels.score))
    present = sorted(names.used)
    index = np.full(len(frame.cell), -1, np.int64)
    index[items] = np.arange(len(items))
    item_index, who = index[frame.item_codes[rows]], names.recode({name: i for i, name in enumerate(present)})
    table = np.full((len(items), len(present)), -1, np.int64)
    table[item_index[item_index >= 0], who[item_index >= 0]] = scores.codes[item_index >= 0]
    scored = (table >= 0).astype(np.float32)
    shared = np.argwhere(np.triu(scored.T @ scored, 1) >= MIN_COMMON)
    equal = []
    for a, b in shared[: MAX_PAIRS * 10]:
        common = table[(table[:, a] >= 0) & (table[:, b] >= 0)][:, [a, b]]
        varied = len(common) - int(np.bincount(common[:, 0]).max())
        if varied >= MIN_VARIED and (common[:, 0] == common[:, 1]).all():
            equal.append({**cell_key, "annotator": f"{present[a]} and {present[b]}", "n": len(common), "why": ONE_PERSON})
    return equal


def attention_rows(data: Dataset, seed: int = 0, resamples: int = RESAMPLES) -> list[dict[str, Any]]:
    """One row a language, campaign and annotator, and one for all annotators of a campaign (`*`).

    A row is `{language, campaign, annotator, n, below, below_ci, equal, above}`: the number of damaged texts that were scored beside their
    originals, and the shares of them that were scored below, equal to and above the original, in the direction of the scale's best end.
    The interval respects that texts share documents. Ties count neither as seen nor as unseen.
    """
    scored = [check for check in data.checks if check.score is not None]
    keys: dict[tuple[str, str, str], list[AttentionCheck]] = {}
    for check in scored:
        group_key = (data.by_id[check.original_item_id].language, check.campaign)
        for annotator in dict.fromkeys((POOLED, check.annotator_id or POOLED)):
            keys.setdefault((*group_key, annotator), []).append(check)
    scales = {name: scale for name, scale in data.scales.items() if scale.kind == "interval" and scale.best is not None}
    low_is_good = {name for name, scale in scales.items() if scale.best == scale.min}
    first_metric = next(iter(data.labels.metric.used), "")  # that of checks which name none
    rows: list[dict[str, Any]] = []
    for key, checks in sorted(keys.items()):
        direction = np.array([-1 if (check.metric or first_metric) in low_is_good else 1 for check in checks])
        step = np.array([np.sign((check.score or 0.0) - (check.score_of_original or 0.0)) for check in checks]) * direction
        below = (step < 0).astype(np.float64)
        group = np.array([data.clusters.at(data.positions[check.original_item_id]) for check in checks])
        interval = proportion_interval(below, np.unique(group, return_inverse=True)[1], seed=seed, resamples=resamples)
        rows.append(
            dict(zip(("language", "campaign", "annotator"), key, strict=True))
            | {
                "n": len(checks),
                "below": number(below.mean()),
                "below_ci": bounds(interval),
                "equal": number((step == 0).mean()),
                "above": number((step > 0).mean()),
            }
        )
    return rows


def attention_notes(rows: Sequence[dict[str, Any]]) -> Iterator[str]:
    """Yield a sentence for each campaign: all its people, and the one who saw the fewest."""
    for row in rows:
        if row["annotator"] != POOLED:
            continue
        people = [r for r in rows if r["annotator"] != POOLED and (r["language"], r["campaign"]) == (row["language"], row["campaign"])]
        subject = ", ".join(filter(None, (row["campaign"], row["language"])))
        ci = f" [{100 * row['below_ci'][0]:.0f} to {100 * row['below_ci'][1]:.0f}]" if row["below_ci"] else ""
        lowest = f", each person at least {100 * min(r['below'] for r in people):.0f} %" if people else ""
        yield (
            f"Attention checks ({subject}): people scored {100 * row['below']:.0f} %{ci} of {row['n']:,} damaged texts below their "
            f"originals{lowest}; {100 * row['equal']:.0f} % got the same score. "
            "'harness run --perturb attention-check' asks a judge about the same texts."
        )


def error_agreement(data: Dataset, metric: str, items: Ints) -> dict[str, Any] | None:
    """`{n, agreement, kappa}` of "marked an error" in the first round and in the second, over those of the (n,) `items` with marks of both.

    The labels of `metric` are the first round. None without marks of both. An item that several people marked has an error if one of them
    marked one.
    """
    if data.second_spans is None:
        return None
    labels = data.labels.take(data.labels.metric.equals(metric))
    inside = np.zeros(len(data.items), bool)
    inside[items] = True
    first, second = (_marked(data, table.item, table.spans) for table in (labels, data.second_spans))
    marked_twice = inside & (first >= 0) & (second >= 0)
    if not marked_twice.any():
        return None
    a, b = first[marked_twice], second[marked_twice]
    return {"n": len(a), "agreement": float((a == b).mean()), "kappa": number(cohen_kappa(a, b, 2).value)}


def _marked(data: Dataset, item: CodedColumn, spans: CodedColumn) -> Ints:
    """(items,) 1 where somebody marked an error, 0 where nobody who was asked did, -1 where nobody was asked."""
    marked = np.full(len(data.items), -1, np.int64)
    position = item.recode(data.positions)
    readable = (spans.codes != NO_VALUE) & (position != NO_VALUE)
    has_error = np.array([*(bool(errors) for errors in spans.values), False])[spans.codes]
    np.maximum.at(marked, position[readable], has_error[readable].astype(np.int64))
    return marked


_OUTPUTS = ("output", "output_a", "output_b")
_CLEAR = 0.9
SAME_TO_IT = "the identifier knows languages, not their varieties: pt-BR and pt-PT are one to it"


class WrongLanguageText(msgspec.Struct, frozen=True):
    """A text that seems to be in another language: the identified language, and the identifier's confidence (0 to 1)."""

    item_id: str
    field: str
    stated: str
    found: str
    probability: float


def duplicates(items: Iterable[Item]) -> list[list[str]]:
    """Ids of items of one language and task with the same output for the same input, each set in the order of the file.

    The input is the group that an item shares with others. If the item is its own group, the input is all its other texts.
    """
    items_by_text: dict[tuple[Any, ...], list[str]] = {}
    for item in items:
        texts = sorted((name, value) for name, value in item.fields.items() if isinstance(value, str))
        outputs = tuple(text for text in texts if text[0] in _OUTPUTS)
        inputs = item.group if item.group != item.item_id else tuple(texts)
        if any(value.strip() for _, value in outputs):
            items_by_text.setdefault((item.language, item.task, inputs, outputs), []).append(item.item_id)
    return [ids for ids in items_by_text.values() if len(ids) > 1]


def misplaced(items: Iterable[Item], watch: Callable[[], object] = lambda: None) -> tuple[list[WrongLanguageText], int, set[str]]:
    """Texts that seem to be in another language than their item, how many were checked, and the languages unknown to the identifier.

    The `output` of each item is checked (or `output_a`, `output_b`); texts with fewer than 20 letters are ignored. `watch` is called after
    each item.
    """
    wrong, looked, unknown = [], 0, set()
    for item in items:
        base = item.language.partition("-")[0]
        for name in _OUTPUTS:
            text = item.fields.get(name)
            if not isinstance(text, str) or sum(letter.isalpha() for letter in text) < MIN_LETTERS:
                continue
            if base not in known_languages():
                unknown.add(item.language)
                continue
            looked += 1
            language, probability = identify_language(text)
            if language != base and probability >= _CLEAR:
                wrong.append(WrongLanguageText(item.item_id, name, item.language, language, round(probability, 4)))
        watch()
    return wrong, looked, unknown
