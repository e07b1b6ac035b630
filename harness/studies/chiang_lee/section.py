"""Ratings on a scale by several samples of a judge beside those of people: the measures of Chiang & Lee (2023), arXiv 2305.01937.

Means and spread by system, agreement of the samples with each other, tests between systems, and the order of texts and of systems.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations, pairwise

import numpy as np

from harness.content.tags import english_name
from harness.data.dataset import Dataset
from harness.data.judgments import Judgments
from harness.measure.condition_rows import Row, new_row, put_difference, put_mean, put_number, put_share, rows_by_level, with_q
from harness.measure.options import Drawing, MeasureOptions
from harness.model import CONDITION, Failure, Scale
from harness.reports.answer.judged_sides import Side, plainest_first, side_of
from harness.reports.answer.parts import Card
from harness.reports.answer.verdict_words import condition_words
from harness.reports.sections.section import (
    BY_TASK,
    JudgmentsWithItems,
    Opening,
    OpeningNumber,
    Section,
    SectionInput,
    SectionNumbers,
    SectionTable,
    mean_of,
)
from harness.reports.tables.columns import COEFFICIENT, COUNT, COUNT_OR_BLANK, PROBABILITY, SHARE, TEXT, Column, metric_words
from harness.reports.tables.columns import Row as ReadRow
from harness.reports.tables.numbers import coefficient, counted
from harness.stats.agreement.agreement import alpha_of_humans
from harness.stats.agreement.correlation import kendall_tau, pearson, score_correlation
from harness.stats.core.arrays import Floats, Ints, Kind
from harness.stats.core.rows import count_classes, tabulate
from harness.stats.core.statistic import Estimated, estimate
from harness.stats.intervals.bootstrap import intervals
from harness.stats.intervals.intervals import no_interval, welch_test
from harness.stats.intervals.paired import paired_difference
from harness.studies.chiang_lee.study import STUDY

_ALPHA = 0.05
_MOST_NUMBERS = 8  # that a page opens with
_OF_ALTERED_TEXTS = "meaning_preserved"  # the metric that only pairs of an original and its altered text have


def open_page(section: SectionNumbers) -> Opening | None:
    """Return how far scores agree, with people's or with each other, and what is shown of systems or altered texts; None without rows."""
    rows: Sequence[ReadRow] = section.get("rows", ())
    if not rows:
        return None
    judges = list(dict.fromkeys(row["judge"] for row in rows))
    plainest = {judge: plainest_first(_side(row) for row in rows if row["judge"] == judge)[0] for judge in judges}
    plainest_rows = [row for row in rows if _side(row) == plainest[row["judge"]]]
    altered = any(row["metric"] == _OF_ALTERED_TEXTS for row in rows)
    # The correlation with people of each language and metric; without people, how far samples of a question agree.
    people = any(row["r"] is not None for row in plainest_rows)
    name, letter = ("r", "r") if people else ("alpha_ordinal", "α")
    shown = [row for row in plainest_rows if row[name] is not None]
    who = judges[0] if len(judges) == 1 else f"{len(judges)} judges"
    title = f"{who}: nothing is known of its scores"
    if shown:
        values = sorted(row[name] for row in shown)
        ends = f"{letter} {' to '.join(dict.fromkeys(map(coefficient, (values[0], values[-1]))))}"
        if people:
            title = f"{who}: mean scores correlate with people's by {ends}"
        else:
            title = f"Asked the same again, {who} {'agrees with itself' if len(judges) == 1 else 'agree with themselves'} by {ends}"
    languages = list(dict.fromkeys(row["language"] for row in rows))
    conditions = {_side(row)[2:] for row in rows}
    condition = condition_words(plainest_rows[0], rows) or "one condition"
    facts = (
        f"{counted(max(row['texts'] for row in rows), 'text')} a question · {', '.join(map(english_name, languages))}"
        f"{f' · of {len(conditions)} conditions the plainest: {condition}' if len(conditions) > 1 else ''}"
    )
    cards = list(_differences([row for row in section.get("differences", ()) if _side(row) == plainest[row["judge"]]], altered))
    if people and (alphas := sorted(row["alpha_ordinal"] for row in plainest_rows if row["alpha_ordinal"] is not None)):
        ends = " to ".join(dict.fromkeys(map(coefficient, (alphas[0], alphas[-1]))))
        cards.append(Card("open", "With itself", f"Asked the same again, its scores agree by α {ends}: 1 is the same score each time."))
    cards.append(Card("open", "How sure", "These are observations, not tests."))
    numbers = []
    for row in shown[:_MOST_NUMBERS]:
        about = f"{english_name(row['language'])} · {metric_words(row['metric'])}"
        about = about if len(judges) == 1 else f"{row['judge']}: {about}"
        numbers.append(OpeningNumber(about, row[name], None, coefficient(row[name]), (-1.0, 1.0), ("−1", "0: chance", "1: perfect")))
    measure = (
        "Pearson's r of the judge's mean scores and people's." if people else "Krippendorff's α of the judge's samples of one question."
    )
    return Opening(title, facts, tuple(cards), "Verdicts", tuple(numbers), measure)


def _side(row: ReadRow) -> Side:
    return side_of({**row, "source": None})


def _differences(differences: Sequence[ReadRow], altered: bool) -> Iterator[Card]:
    """Between systems, or between the versions of a text, which stand in the data as systems."""
    heading, what, unit = ("Altered texts", "versions", "texts") if altered else ("Between systems", "systems", "prompts")
    tested = [row for row in differences if row["paired_q"] is not None]
    significant = [row for row in tested if row["paired_q"] <= _ALPHA]
    if tested:
        sentence = (
            f"Of {counted(len(tested), 'difference')} between {what}' means within {unit} {len(significant)} are shown after correction"
        )
        yield Card("good" if significant else "open", heading, f"{sentence}.")
    elif differences:
        has = "in both versions" if altered else "with texts of both systems"
        yield Card("open", heading, f"Unknown: too few texts. A test needs 8 {unit} {has}; ask about more of them.")


LEVELS = (("language", "task", "metric"),)
HUMAN = "human"
NOTE = (
    "mean, sd: of the texts' means over samples (judge) or annotators (people). alpha: Krippendorff's alpha of the samples, and of the "
    "annotators. exact: the share of texts on which all of them give the same score. welch: Welch's t-test of two systems on the texts' "
    "means, q corrected over the metrics; paired: the same difference within prompts. tau: Kendall's tau-b over texts between people's "
    "means and the samples' means; tau_p: the p of no correlation; annotators_tau: the mean over pairs of annotators. r: Pearson's r of "
    "both means over all texts; tau_in_prompt: the mean over prompts of Kendall's tau-b over the prompt's texts. Intervals are over groups "
    "of texts."
)
_ONE_SAMPLE = "each question was asked once"
_NO_PEOPLE = "no text has scores of two annotators"
_NOT_PERSISTENT = "annotators' ids are not those of persons"
_NO_LABELS = "no labels"
_FEW_TEXTS = "fewer than two texts with labels"
_KINDS: tuple[Kind, ...] = ("ordinal", "interval")

Scores = Mapping[int, Mapping[str, float]]
"""{position of an item: {rater: score}}; raters are the samples of a judge, or annotators."""


@dataclass(frozen=True, eq=False)
class _Ratings:
    """The scores of one metric, task and language: of a judge's samples under one condition, and of people for the same items."""

    scale: Scale
    samples: Scores
    people: Scores
    persistent: bool
    systems: Mapping[int, str]
    group: Ints

    @property
    def sides(self) -> dict[str, Scores]:
        """Return the scores of the judge's samples and of people, by what stands before the names of their numbers."""
        return {"": self.samples, "people_": self.people}

    def means(self, scores: Scores, items: Sequence[int]) -> Floats:
        """Return (items,) the mean score of each item; NaN without one."""
        return np.array([mean_of(list(scores.get(item, {}).values())) for item in items])

    def both_means(self, items: Sequence[int]) -> tuple[Floats, Floats, Ints]:
        """Return the means of the judge and of people, and the groups, of the items that have both."""
        judge_means, people_means = (self.means(scores, items) for scores in self.sides.values())
        has_both = ~np.isnan(judge_means) & ~np.isnan(people_means)
        return judge_means[has_both], people_means[has_both], self.group[items][has_both]

    @property
    def by_system(self) -> dict[str, list[int]]:
        """Return `{system: its items with a score of the judge}`, in the order of names; one unnamed system where items name none."""
        items: dict[str, list[int]] = defaultdict(list)
        for item in self.samples:
            items[self.systems.get(item, "")].append(item)
        return dict(sorted(items.items()))


def chiang_lee(data: Dataset, judgments: Judgments, options: MeasureOptions) -> SectionNumbers | None:
    """Return the section of ratings of unchanged texts; None if no metric has numeric scores.

    `rows` are by language, task, metric, judge and condition: agreement of the samples and of people, refusals, identical pairs.
    `systems` adds the system, `differences` a pair of systems: each with the system of that name `human`, or all pairs without one.
    `orders` are the systems from the best to the worst by the judge's mean, by people's, and by each persistent annotator's.
    """
    cells = list(_cells(data, judgments))
    if not cells:
        return None
    texts = ((number, item.fields) for number, item in enumerate(data.items))
    equal = frozenset(
        number for number, text in texts if "original" in text and str(text["original"]).strip() == str(text.get("output", "")).strip()
    )
    tables: dict[str, list[Row]] = {
        "rows": [_agreement_row(key, ratings, failures, equal, options.drawing) for key, ratings, failures in cells],
        "systems": [row for key, ratings, _ in cells for row in _system_rows(key, ratings)],
        "differences": [row for key, ratings, _ in cells for row in _difference_rows(key, ratings)],
        "orders": [row for key, ratings, _ in cells for row in _order_rows(key, ratings)],
    }
    for name in ("welch", "people_welch", "paired"):
        with_q(tables["differences"], name, lambda row: tuple(str(row[k]) for k in ("language", "task", *CONDITION, "first", "second")))
    return {"title": "Chiang & Lee 2023", "note": NOTE, **tables}


def _cells(data: Dataset, judgments: Judgments) -> Iterator[tuple[Row, _Ratings, list[str | None]]]:
    """Yield every metric with numbers under every condition: its key, its scores, and the failure (or None) of each answer."""
    judgments = judgments.clean
    is_unnamed, is_forward = judgments.shown_source.codes < 0, judgments.order.recode({"swapped": 0}) < 0
    scales = {name: data.scales[name] for name in judgments.metric.used}
    numeric = {
        name: 0 for name, scale in scales.items() if scale.kind != "nominal" and all(isinstance(score, int) for score in scale.classes)
    }
    judgments, item_at, _, columns = JudgmentsWithItems.select(
        data, judgments, is_unnamed & is_forward & (judgments.metric.recode(numeric) == 0)
    )
    group = data.clusters.codes.astype(np.int64)
    people: dict[str, dict[int, dict[str, float]]] = defaultdict(lambda: defaultdict(dict))  # by metric, position and annotator
    for label in data.labels:
        if not isinstance(label.score, str):
            people[label.metric][data.positions[label.item_id]][label.annotator_id] = float(label.score)
    systems = {position: str(item.system) for position, item in enumerate(data.items) if item.system}
    for key, rows in rows_by_level(columns, LEVELS):
        cell = judgments.take(rows)
        samples: dict[int, dict[str, float]] = defaultdict(dict)
        for item, repeat, score in zip(item_at[rows].tolist(), cell.repeat, cell.score, strict=True):
            if score is not None:
                samples[item][str(repeat)] = float(score)
        judged = set(item_at[rows].tolist())
        labels = {item: scores for item, scores in people.get(key["metric"], {}).items() if item in judged}
        persistent = data.about.annotators == "persistent"
        yield key, _Ratings(data.scales[key["metric"]], samples, labels, persistent, systems, group), list(cell.failure)


def _agreement_row(key: Row, ratings: _Ratings, failures: Sequence[str | None], equal: frozenset[int], drawing: Drawing) -> Row:
    row = new_row(key, n=len(failures), texts=len(ratings.samples), unreadable=sum(failure is not None for failure in failures))
    put_number(row, "refused", sum(failure == str(Failure.REFUSED) for failure in failures) / len(failures))
    for (prefix, scores), why in zip(ratings.sides.items(), (_ONE_SAMPLE, _NO_PEOPLE), strict=True):
        several = {item: by_rater for item, by_rater in scores.items() if len(by_rater) > 1}
        for kind in _KINDS:
            alpha = _alpha(several, ratings, kind, drawing)
            put_number(row, f"{prefix}alpha_{kind}", alpha.value, alpha.interval, why=alpha.reason or why)
        exact = np.array([float(len(set(by_rater.values())) == 1) for by_rater in several.values()])
        put_share(row, f"{prefix}exact", exact, ratings.group[list(several)] if several else np.empty(0, np.int64), drawing, why)
    # Pearson's r and Kendall's tau-b of the texts' means and people's over all texts, and the mean tau-b within prompts.
    judge_means, people_means, groups = ratings.both_means(sorted(ratings.samples))
    correlation = pearson(judge_means, people_means) if len(judge_means) > 1 else None
    put_number(row, "r", correlation.value if correlation else math.nan, why=(correlation.reason if correlation else None) or _FEW_TEXTS)
    _put_tau(row, judge_means, people_means, groups)
    prompts = [group for group in np.unique(groups).tolist() if (groups == group).sum() > 1]
    taus = np.array([kendall_tau(judge_means[groups == group], people_means[groups == group]).value for group in prompts])
    put_mean(row, "tau_in_prompt", taus, np.array(prompts, np.int64), (-1.0, 1.0), "no prompt has two texts with labels that differ")
    same = [item for item in ratings.samples if item in equal]
    row["identical"] = len(same)
    put_number(row, "identical_mean", mean_of(ratings.means(ratings.samples, same).tolist()), why="no pair has the same text twice")
    return row


def _put_tau(row: Row, judge_means: Floats, people_means: Floats, groups: Ints) -> None:
    """Put Kendall's tau-b of the texts' means and people's, with its interval and the p of no correlation, over groups of texts."""
    tau = score_correlation("kendall", judge_means, people_means, groups)
    put_number(row, "tau", tau.value if len(judge_means) > 1 else math.nan, tau.interval, why=_FEW_TEXTS if tau.n < 2 else tau.reason)
    put_number(row, "tau_p", tau.p, why=tau.interval.reason)


def _alpha(scores: Scores, ratings: _Ratings, kind: Kind, drawing: Drawing) -> Estimated:
    """Return Krippendorff's alpha of the raters over the items that two or more rated, with its interval over groups of texts."""
    if not scores:
        return Estimated(math.nan, 0, no_interval(0), math.nan, None)
    raters = sorted({rater for by_rater in scores.values() for rater in by_rater})
    scale = ratings.scale
    points = tuple(map(float, scale.classes))  # or the whole numbers between the ends of an interval scale
    if not points and scale.min is not None and scale.max is not None and scale.max - scale.min <= 100:
        points = tuple(map(float, range(math.ceil(scale.min), math.floor(scale.max) + 1)))
    values = sorted({*points, *(score for by_rater in scores.values() for score in by_rater.values())})
    code = {value: number for number, value in enumerate(values)}
    table = np.full((len(scores), len(raters)), np.nan)
    for line, by_rater in enumerate(scores.values()):
        for rater, score in by_rater.items():
            table[line, raters.index(rater)] = code[score]
    alpha = alpha_of_humans(kind, values)
    rows = tabulate(count_classes(table, len(values)), group=ratings.group[list(scores)])
    estimated, interval = estimate([alpha], rows)[alpha.name][0], intervals([alpha], rows, **drawing)[alpha.name][0]
    return Estimated(estimated.value, estimated.n, interval, math.nan, estimated.reason)


def _system_rows(key: Row, ratings: _Ratings) -> Iterator[Row]:
    for system, items in ratings.by_system.items():
        row = new_row({**key, "system": system}, n=len(items))
        for prefix, scores in ratings.sides.items():
            means = ratings.means(scores, items)
            put_mean(row, f"{prefix}mean", means, ratings.group[items], _limits(ratings.scale), _NO_LABELS)
            present = means[~np.isnan(means)]
            put_number(row, f"{prefix}sd", float(present.std(ddof=1)) if len(present) > 1 else math.nan, why="fewer than two texts")
        _put_tau(row, *ratings.both_means(items))
        # The mean over pairs of annotators of Kendall's tau-b over the texts that both rated.
        taus, why = [], "no two annotators whose scores of two texts differ"
        if not ratings.persistent:
            why = _NOT_PERSISTENT if ratings.people else _NO_LABELS
        people = sorted({name for item in items for name in ratings.people.get(item, {})}) if ratings.persistent else []
        for first, second in combinations(people, 2):
            common = [ratings.people[item] for item in items if {first, second} <= ratings.people.get(item, {}).keys()]
            if len(common) > 1:
                taus.append(kendall_tau([scores[first] for scores in common], [scores[second] for scores in common]).value)
        put_number(row, "annotators_tau", mean_of([tau for tau in taus if not math.isnan(tau)]), why=why)
        yield row


def _limits(scale: Scale) -> tuple[float, float]:
    points = [float(score) for score in scale.classes] or [scale.min or 0.0, scale.max if scale.max is not None else math.inf]
    return min(points), max(points)


def _difference_rows(key: Row, ratings: _Ratings) -> Iterator[Row]:
    """Yield tests between two systems: each with the people's texts if there are any, else all pairs."""
    names = [name for name in ratings.by_system if name]
    human = next((name for name in names if name.casefold() == HUMAN), None)
    pairs = [(human, name) for name in names if name != human] if human else list(combinations(names, 2))
    for first, second in pairs:
        row = new_row({**key, "first": first, "second": second, "systems": f"{first} - {second}"})
        for prefix, scores in ratings.sides.items():
            welch = welch_test(*(ratings.means(scores, ratings.by_system[name]) for name in (first, second)))
            for name, value in (("welch", welch.value), ("welch_t", welch.t), ("welch_p", welch.p)):
                put_number(row, f"{prefix}{name}", value, why=welch.reason or _NO_LABELS)
        by_prompt: dict[str, dict[int, list[float]]] = {}  # the judge's means of a system, by group
        for name in (first, second):
            items, of_system = ratings.by_system[name], by_prompt.setdefault(name, {})
            for group, mean in zip(ratings.group[items].tolist(), ratings.means(ratings.samples, items).tolist(), strict=True):
                of_system.setdefault(group, []).append(mean)
        first_means, second_means = ({group: mean_of(means) for group, means in by_prompt[name].items()} for name in (first, second))
        groups = sorted(first_means.keys() & second_means.keys())
        low, high = _limits(ratings.scale)
        compared = paired_difference(
            [first_means[g] for g in groups], [second_means[g] for g in groups], groups, bounds=(low - high, high - low)
        )
        put_difference(row, "paired", compared)
        yield row


def _order_rows(key: Row, ratings: _Ratings) -> Iterator[Row]:
    """Yield the systems from the best to the worst: by the judge, by people together, and by each persistent annotator."""
    if len([name for name in ratings.by_system if name]) < 2:
        return
    raters = {"judge": ratings.samples, "people": ratings.people}
    if ratings.persistent:
        people = sorted({name for by_annotator in ratings.people.values() for name in by_annotator})
        raters |= {
            f"annotator {name}": {item: {name: by_annotator[name]} for item, by_annotator in ratings.people.items() if name in by_annotator}
            for name in people
        }
    better = -1 if ratings.scale.best is None or ratings.scale.best == _limits(ratings.scale)[1] else 1
    for rater, scores in raters.items():
        means = {}
        for name, items in ratings.by_system.items():
            defined = [mean for mean in ratings.means(scores, items).tolist() if not math.isnan(mean)]
            if name and defined:
                means[name] = mean_of(defined)
        if means:
            order = sorted(means, key=lambda name: (better * round(means[name], 9), name))
            yield new_row({**key, "rater": rater}, order=order, means=[means[name] for name in order])


def _order(row: ReadRow) -> str:
    """Return the systems and their means, the best first, with a sign between neighbours.

    >>> _order({"order": ["a", "b", "c"], "means": [2.5, 1.0, 1.0]})
    'a (2.50) > b (1.00) = c (1.00)'
    """
    means = row["means"]
    signs = ["", *(" = " if math.isclose(better, worse) else " > " for better, worse in pairwise(means))]
    return "".join(f"{sign}{name} ({mean:.2f})" for sign, name, mean in zip(signs, row["order"], means, strict=True))


def _identical_pairs(numbers: SectionNumbers) -> str:
    """Return how texts that are the same as their original score: their meaning is preserved."""
    means = [row["identical_mean"] for row in numbers["rows"] if row["identical"]]
    return f"Texts that are the same as their original have mean scores from {min(means):.2f} to {max(means):.2f}." if means else ""


def _compute(source: SectionInput) -> SectionNumbers | None:
    if source.protocol is None or source.protocol.texts.study != STUDY.name:
        return None
    return chiang_lee(source.recording.data, source.recording.judgments, source.options)


_TAU = (
    Column("tau", "tau", COEFFICIENT, "Kendall's tau-b over texts between people's means and the judge's"),
    Column("tau_p", "p of tau", PROBABILITY, "the p-value of no correlation, over groups of texts", interval=False),
)
_AGREEMENT = (
    Column("texts", "texts", COUNT, "texts with a readable score"),
    Column("unreadable", "unread", COUNT, "answers without a readable score, refusals included"),
    Column("refused", "refused", SHARE, "the share of answers that are refusals", interval=False),
    Column("alpha_ordinal", "α ordinal", COEFFICIENT, "Krippendorff's alpha of the judge's samples, ordinal"),
    Column("people_alpha_ordinal", "people's α ord.", COEFFICIENT, "Krippendorff's alpha of the annotators, ordinal"),
    Column("alpha_interval", "α interval", COEFFICIENT, "Krippendorff's alpha of the judge's samples, interval"),
    Column("people_alpha_interval", "people's α int.", COEFFICIENT, "Krippendorff's alpha of the annotators, interval"),
    Column(
        "exact", "all equal", SHARE, "of texts with two readable scores or more, the share whose scores are all the same", interval=False
    ),
    Column("people_exact", "people all equal", SHARE, "the share of texts to which all annotators give the same score", interval=False),
    Column("r", "r", COEFFICIENT, "Pearson's r of people's means and the judge's over all texts", interval=False),
    *_TAU,
    Column("tau_in_prompt", "tau in prompts", COEFFICIENT, "the mean over prompts of Kendall's tau-b over the texts of a prompt"),
    Column("identical", "same twice", COUNT_OR_BLANK, "texts that are the same as their original"),
    Column("identical_mean", "their mean", COEFFICIENT, "the mean score of these texts; their meaning is preserved", interval=False),
)
_SYSTEMS = (
    Column("n", "texts", COUNT, "texts with a readable score"),
    Column("mean", "mean", COEFFICIENT, "the mean of the texts' mean scores"),
    Column("sd", "sd", COEFFICIENT, "the standard deviation of the texts' mean scores", interval=False),
    Column("people_mean", "people's mean", COEFFICIENT, "the same of people, on these texts"),
    Column("people_sd", "people's sd", COEFFICIENT, "the same of people, on these texts", interval=False),
    *_TAU,
    Column("annotators_tau", "people's tau", COEFFICIENT, "the mean tau-b over pairs of annotators", interval=False),
)
_DIFFERENCES = (
    Column("welch", "difference", COEFFICIENT, "the mean of the first system minus that of the second", interval=False),
    Column("welch_t", "Welch's t", COEFFICIENT, "Welch's t of the texts' means", interval=False),
    Column("welch_q", "q", PROBABILITY, "the p-value of Welch's t, corrected over the metrics", interval=False),
    Column("paired", "by prompt", COEFFICIENT, "the mean difference within prompts"),
    Column("paired_q", "q by prompt", PROBABILITY, "the p-value of the difference within prompts, corrected over the metrics"),
    Column("people_welch", "people's difference", COEFFICIENT, "the difference of people's means", interval=False),
    Column("people_welch_q", "people's q", PROBABILITY, "the p-value of Welch's t of people's means, corrected", interval=False),
)
_ORDERS = (Column("order", "systems, the best first", TEXT, "systems by the mean of the rater's scores", value=_order, interval=False),)

CHIANG_LEE = Section(
    "chiang_lee",
    "Do several samples of the judge rate texts as people do? Samples are compared with each other as annotators "
    "are, systems by the means of their texts.",
    _identical_pairs,
    (
        SectionTable(_AGREEMENT, levels=BY_TASK),
        SectionTable(_SYSTEMS, "systems", ("system",), levels=BY_TASK, plainest=True),
        SectionTable(_DIFFERENCES, "differences", ("systems",), levels=BY_TASK, plainest=True),
        SectionTable(_ORDERS, "orders", ("rater",), levels=BY_TASK, plainest=True),
    ),
    _compute,
    needs_labels=False,
    opening=open_page,
    after="pairs",
)
