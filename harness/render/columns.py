"""The registry of columns: what every table of results can show, under which heading, in which format, and what it means.

The terminal, Markdown, CSV, LaTeX and HTML read `COLUMNS`; a new column is one entry there.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from enum import StrEnum, auto
from typing import Any

from harness.render.numbers import (
    UNDEFINED,
    Interval,
    class_shares,
    coefficient,
    counts_by_name,
    difference,
    percent,
    probability,
    two_digits,
)
from harness.text import terminal_safe

Row = Mapping[str, Any]
"""A flat row: every number under its name, its interval under `<name>_ci`."""
EMPTY = ("", UNDEFINED)
"""Texts that say nothing. A column is left out of a table where every row has one of them."""
INTERVAL_HEADING = "[95 %]"
NO_INTERVAL, FEW_RARE_CASES = "†", "‡"
SIGNS = {
    NO_INTERVAL: "too few independent texts for an interval",
    FEW_RARE_CASES: "a class is expected in fewer than 15 items, so the intervals may be too narrow",
    UNDEFINED: "undefined (--json gives the reason)",
}
"""What signs beside and in place of numbers mean."""


class TableName(StrEnum):
    """The tables that columns stand in. Ablations have a member for each section, and for each second table of a section."""

    REPORT = auto()  # a run in the terminal, in Markdown and LaTeX
    REPORT_WIDE = auto()  # columns that Markdown and LaTeX add to it
    ANSWER = auto()  # the lines of an answer on a page
    COMPARISON = auto()
    SYSTEMS = auto()
    AGREEMENT_LEVELS = auto()
    LABELS = auto()
    SEALED = auto()
    STANDINGS = auto()
    OVERALL = auto()
    VARIANTS = auto()
    FEW_SHOT = auto()
    SCORE_POSITION = auto()
    METRIC_ORDER = auto()
    DRAG = auto()
    CONSISTENCY = auto()
    TEMPERATURE = auto()
    TRENDS = auto()
    PERTURBATIONS = auto()
    INJECTION = auto()
    LENGTH = auto()
    JUSTIFICATION_LANGUAGE = auto()


CELL_TABLES = frozenset({TableName.REPORT, TableName.REPORT_WIDE, TableName.ANSWER, TableName.COMPARISON, TableName.SYSTEMS})
"""The tables whose rows are cells: CSV and Parquet have all their columns."""


@dataclass(frozen=True)
class ColumnFormat:
    """How one kind of value is written.

    `csv_type` is its Arrow type in CSV and Parquet. `latex_digits` is siunitx's table-format and `latex_number` the number in it; without
    digits the values are no numbers, and LaTeX leaves the column out. `unit` stands in LaTeX's heading.
    """

    text: Callable[[Any, Interval | None], str]
    csv_type: str = "string"
    latex_digits: str = ""
    latex_number: Callable[[float], str] = str
    unit: str = ""

    @property
    def numeric(self) -> bool:
        return bool(self.latex_digits)


def _text(value: Any, interval: Interval | None) -> str:
    return UNDEFINED if value is None else terminal_safe(str(value))


def _count(value: int | None, interval: Interval | None) -> str:
    return UNDEFINED if value is None else str(value)


def _integer(value: float) -> str:
    return f"{value:.0f}"


def _one_decimal_of_percent(value: float) -> str:
    return f"{100 * value:.1f}"


def _three_decimals(value: float) -> str:
    return f"{value:.3f}"


TEXT = ColumnFormat(_text)
COUNT = ColumnFormat(_count, "int64", "5.0", _integer)
COUNT_OR_BLANK = ColumnFormat(lambda value, interval: str(value) if value else "", "int64", "5.0", _integer)
SHARE = ColumnFormat(percent, "double", "3.1", _one_decimal_of_percent, "%")
POINTS = ColumnFormat(difference, "double", "-3.1", _one_decimal_of_percent, "points")
COEFFICIENT = ColumnFormat(coefficient, "double", "-1.3", _three_decimals)
PROBABILITY = ColumnFormat(lambda value, interval: probability(value), "double", "1.3", _three_decimals)
NUMBER = ColumnFormat(lambda value, interval: UNDEFINED if value is None else f"{value:g}", "double", "5.1", lambda value: f"{value:.1f}")
CLASS_SHARES = ColumnFormat(lambda value, interval: class_shares(value))
NAMED_COUNTS = ColumnFormat(lambda value, interval: counts_by_name(value))


@dataclass(frozen=True)
class Column:
    """One column of the registry.

    Args:
        name: the name of its value in JSON and CSV, and in the rows that it is read from.
        heading: what stands above it; ` [95 %]` is added where it has intervals.
        format: how its values are written.
        tables: where it stands.
        legend: what it means, without the heading and the full stop.
        value: reads its value from a row; by default `row[name]`.
        text: writes a row's cell, where the format alone cannot.
        signs: whether `†` and `‡` stand beside its numbers.
        interval: whether it has an interval, in the row under `<name>_ci`.
        no_interval_in: tables that have no room for its interval.
        same_as: the column that it often repeats; where all rows of a table show the same in both, only that one is shown.
        latex: whether LaTeX has it.
        key: whether it names the row.
    """

    name: str
    heading: str
    format: ColumnFormat
    tables: frozenset[TableName]
    legend: str
    value: Callable[[Row], Any] | None = None
    text: Callable[[Row], str] | None = None
    signs: bool = False
    interval: bool = True
    no_interval_in: frozenset[TableName] = frozenset()
    same_as: str = ""
    latex: bool = True
    key: bool = False

    def value_of(self, row: Row) -> Any:
        return self.value(row) if self.value else row.get(self.name)

    def interval_of(self, row: Row, tables: Iterable[TableName] = ()) -> Interval | None:
        """The ends of its interval in a row; None without one, and in tables that do not show it."""
        return row.get(f"{self.name}_ci") if self.interval and not self.no_interval_in.intersection(tables) else None

    def cell_text(self, row: Row, tables: Iterable[TableName] = ()) -> str:
        """A row's text in this column."""
        if self.text:
            return self.text(row)
        text = self.format.text(self.value_of(row), self.interval_of(row, tables))
        return f"{text}{_signs(row, self.name)}" if self.signs else text

    def sort_key(self, row: Row) -> float | None:
        """What a page sorts the row by: a number, or the sum of counts; None: by its text."""
        value = self.value_of(row)
        if self.format is NAMED_COUNTS and value is not None:
            return float(sum(value.values()))
        return float(value) if isinstance(value, (int, float)) else None

    @property
    def legend_line(self) -> str:
        return f"{self.heading}: {self.legend}."


def _signs(row: Row, name: str) -> str:
    signs = [NO_INTERVAL] if row.get(f"{name}_ci", ()) is None else []  # a row without the name is not of cells
    if row.get("few_rare_cases") and row.get("n_ref"):
        signs.append(FEW_RARE_CASES)
    return "".join(f" {sign}" for sign in signs)


def _first_known(*names: str) -> Callable[[Row], Any]:
    """Reads the first of some statistics that is defined."""
    return lambda row: next((row[name] for name in names if row.get(name) is not None), None)


def _labels_and_judge(row: Row) -> str:
    return f"{class_shares(row['distribution_labels'])} → {class_shares(row['distribution_judge'])}"


def _asked(row: Row) -> str:
    return f"{row['n_asked']} of {row['n_asked'] + row['not_asked']}" if row.get("not_asked") else ""


def _labelled(row: Row) -> str:
    return str(row["labelled"]) + (f" of {row['items']}" if row["labelled"] < row["items"] else "")


def _rank(row: Row) -> str:
    ends = row.get("rank_ci")
    return UNDEFINED if row.get("rank") is None else f"{row['rank']} [{ends[0]}–{ends[1]}]" if ends else str(row["rank"])


def _achieved(row: Row) -> str:
    """What a change achieved: `moved 0.09, distance 3.2`."""
    start = "realised_"
    return ", ".join(f"{name.removeprefix(start)} {two_digits(value)}" for name, value in row.items() if name.startswith(start))


def _should(row: Row) -> str:
    return {-1: "fall", 0: "stay", 1: "rise", None: ""}[row.get("should")]


_AGREEMENT = frozenset({TableName.VARIANTS, TableName.FEW_SHOT, TableName.TEMPERATURE})
_TWO_ANSWERS = frozenset({TableName.SCORE_POSITION, TableName.METRIC_ORDER})
_CHANGED_TEXTS = frozenset({TableName.PERTURBATIONS, TableName.INJECTION})
_RUN = frozenset({TableName.REPORT, TableName.ANSWER})
_LEAVE_ONE_OUT = frozenset({TableName.REPORT_WIDE, TableName.ANSWER, TableName.STANDINGS})


def _in(*tables: TableName) -> frozenset[TableName]:
    return frozenset(tables)


COLUMNS: tuple[Column, ...] = (
    # Standings: who, and in which place
    Column(
        "rank",
        "rank",
        COUNT,
        _in(TableName.STANDINGS),
        "the place, with its 95 % interval: the true rank lies in it in 95 of 100 such samples",
        text=_rank,
    ),
    Column(
        "group",
        "group",
        TEXT,
        _in(TableName.STANDINGS),
        "judges without a common letter are shown to differ (paired differences, corrected for all pairs by Holm)",
    ),
    Column(
        "judge", "judge", TEXT, _in(TableName.STANDINGS, TableName.OVERALL), "who answered; in brackets its name behind the title", key=True
    ),
    Column(
        "mean",
        "mean",
        SHARE,
        _in(TableName.OVERALL),
        "the mean over the languages, always beside the worst one; a judge without a number in one language has no mean",
    ),
    Column(
        "worst", "worst language", SHARE, _in(TableName.OVERALL), "the lowest number, and its language", text=lambda row: row["worst_text"]
    ),
    Column(
        "beats_baseline",
        "beats the baseline in",
        COUNT,
        _in(TableName.OVERALL),
        "in how many languages the interval of judge − baseline lies above 0, of those that have one",
        text=lambda row: row["beats_baseline_text"],
    ),
    # How much there is to compare
    Column(
        "n_asked",
        "asked",
        COUNT,
        _in(TableName.COMPARISON, TableName.ANSWER),
        "labelled items that the judge was asked about, of all; blank: all of them. On the others it is neither right nor wrong",
        text=_asked,
        latex=False,
    ),
    Column("n_ref", "n", COUNT, _in(TableName.REPORT, TableName.ANSWER, TableName.COMPARISON) | _AGREEMENT, "answers with a label"),
    Column(
        "n",
        "read",
        COUNT,
        _in(TableName.REPORT, TableName.ANSWER, TableName.COMPARISON) | _AGREEMENT,
        "answers with a label that could be read",
    ),
    Column("n", "systems", COUNT, _in(TableName.SYSTEMS), "systems that have a mean score by the judge and one by people"),
    Column(
        "failures",
        "unread",
        COUNT_OR_BLANK,
        _in(TableName.SYSTEMS),
        "items that the judge was asked about and that have no readable score; they count in people's means",
        value=lambda row: sum((row.get("failures") or {}).values()),
        latex=False,
    ),
    Column(
        "groups", "texts", COUNT, _in(TableName.SYSTEMS), "independent texts; intervals resample texts and keep the systems", latex=False
    ),
    # The judge and the labels
    Column(
        "pa",
        "agreement",
        SHARE,
        _in(TableName.REPORT, TableName.COMPARISON) | _AGREEMENT,
        "the share of the answers read that equal the label (of several annotators, their aggregate)",
        signs=True,
    ),
    Column(
        "pa_failed_wrong",
        "agreement, failed = wrong",
        SHARE,
        _in(TableName.STANDINGS) | _RUN | _AGREEMENT,
        "the share of all answers with a label that equal it; answers that could not be read count as wrong",
        signs=True,
        same_as="pa",
    ),
    Column(
        "note",
        "note",
        TEXT,
        _in(TableName.STANDINGS),
        "'does not beat the baseline' where the interval of judge − baseline does not lie above 0",
    ),
    Column(
        "vs_baseline_pa",
        "baseline",
        SHARE,
        _RUN,
        "agreement of the majority baseline, which reads no text: for each language, task and metric it gives the commonest label of the "
        "development items, or of the row where there are none",
    ),
    Column(
        "vs_baseline_diff",
        "judge − baseline",
        POINTS,
        _in(TableName.COMPARISON, TableName.STANDINGS) | _RUN,
        "the difference from the majority baseline on the same items, in percentage points; answers that could not be read count as wrong",
    ),
    Column(
        "vs_baseline_q",
        "q-value (baseline)",
        PROBABILITY,
        _in(TableName.COMPARISON),
        "the p-value of the difference from the baseline, corrected over all rows",
        latex=False,
    ),
    # The judge and people
    Column(
        "judge_loo",
        "judge, leave-one-out",
        SHARE,
        _LEAVE_ONE_OUT,
        "agreement of the judge with the remaining annotators when one is left out at a time",
    ),
    Column(
        "human_loo",
        "people, leave-one-out",
        SHARE,
        _LEAVE_ONE_OUT,
        "agreement of the annotator who is left out with the same remaining ones; only these two may be compared",
    ),
    Column(
        "loo_gap",
        "judge − people",
        POINTS,
        _LEAVE_ONE_OUT,
        "the difference of the two in percentage points",
    ),
    Column(
        "pa_pairwise",
        "judge–person pairs",
        SHARE,
        _in(TableName.COMPARISON, TableName.VARIANTS),
        "mean agreement of the judge with each annotator",
        no_interval_in=_in(TableName.COMPARISON),
    ),
    Column(
        "human_pa",
        "person–person pairs",
        SHARE,
        _in(TableName.COMPARISON, TableName.VARIANTS, TableName.LABELS),
        "mean agreement of two annotators on the same items; it may be compared with judge–person pairs, not with agreement",
        no_interval_in=_in(TableName.COMPARISON),
    ),
    Column(
        "pairwise_gap",
        "difference of pairs",
        POINTS,
        _in(TableName.COMPARISON, TableName.VARIANTS),
        "judge–person pairs minus person–person pairs, in percentage points",
        latex=False,
    ),
    # Statistics
    Column(
        "cohen_kappa",
        "Cohen's κ",
        COEFFICIENT,
        _in(TableName.COMPARISON, TableName.STANDINGS),
        "chance-corrected agreement of the judge and the annotators' aggregate",
    ),
    Column(
        "human_fleiss",
        "Fleiss' κ of people",
        COEFFICIENT,
        _in(TableName.COMPARISON, TableName.LABELS),
        "chance-corrected agreement of the annotators among themselves",
        no_interval_in=_in(TableName.COMPARISON),
    ),
    Column(
        "alpha_ordinal",
        "Krippendorff's α",
        COEFFICIENT,
        _in(TableName.COMPARISON, TableName.STANDINGS),
        "reliability of the judge and the annotators' aggregate, with the alpha that uses most of the scale's information",
        value=_first_known("alpha_ordinal", "alpha_interval", "alpha_nominal"),
        interval=False,
        latex=False,
    ),
    Column(
        "human_alpha_ordinal",
        "Krippendorff's α of people",
        COEFFICIENT,
        _in(TableName.LABELS),
        "reliability of the annotators, with the alpha that uses most of the scale's information",
        value=_first_known("human_alpha_ordinal", "human_alpha_nominal"),
        interval=False,
    ),
    Column(
        "human_ac1",
        "Gwet's AC1 of people",
        COEFFICIENT,
        _in(TableName.LABELS),
        "chance-corrected agreement that bears skewed labels",
        interval=False,
    ),
    Column(
        "kendall_tau",
        "Kendall's τ",
        COEFFICIENT,
        _in(TableName.COMPARISON),
        "rank correlation of the judge's scores and the annotators' mean",
        interval=False,
        latex=False,
    ),
    Column(
        "kendall_tau",
        "Kendall's τ",
        COEFFICIENT,
        _in(TableName.SYSTEMS),
        "rank correlation of the systems' mean scores by the judge and by people",
    ),
    Column("spearman", "Spearman's ρ", COEFFICIENT, _in(TableName.SYSTEMS), "rank correlation of the same means"),
    Column("pearson", "Pearson's r", COEFFICIENT, _in(TableName.SYSTEMS), "linear correlation of the same means"),
    Column(
        "leniency",
        "leniency",
        COEFFICIENT,
        _in(TableName.REPORT_WIDE, TableName.COMPARISON),
        "the judge's score minus the annotators' mean, in points of the scale; + is toward the best",
    ),
    Column(
        "leniency_of_scale",
        "leniency",
        POINTS,
        _in(TableName.STANDINGS),
        "the judge's score minus the annotators' mean, in percent of the scale's length; + is toward the best",
    ),
    Column(
        "versus_diff",
        "judge − other",
        POINTS,
        _in(TableName.COMPARISON),
        "the paired difference from what --versus names, on the same items, in percentage points",
        latex=False,
    ),
    Column(
        "versus_q",
        "q-value (other)",
        PROBABILITY,
        _in(TableName.COMPARISON),
        "the p-value of the difference from the other, corrected over all rows",
        latex=False,
    ),
    # Classes and failures
    Column(
        "distribution_judge",
        "labels → judge",
        CLASS_SHARES,
        _in(TableName.REPORT),
        "how often each score stands in the labels → how often the judge gave it, in percent",
        text=_labels_and_judge,
    ),
    Column(
        "level", "annotators agree", TEXT, _in(TableName.AGREEMENT_LEVELS), "full: all three, partial: two of three, none: no two", key=True
    ),
    Column("items", "items", COUNT, _in(TableName.AGREEMENT_LEVELS), "items with three annotators at this level of agreement"),
    Column("labels", "labels", CLASS_SHARES, _in(TableName.AGREEMENT_LEVELS), "how often annotators gave each score, in percent"),
    Column("given", "judge", CLASS_SHARES, _in(TableName.AGREEMENT_LEVELS), "how often the judge gave each score, in percent"),
    Column("asked", "judgments", COUNT, _in(TableName.SEALED), "judgments that the judge was asked for"),
    Column("read", "read", COUNT, _in(TableName.SEALED), "judgments that could be read"),
    Column("coverage", "coverage", SHARE, _in(TableName.SEALED, TableName.STANDINGS), "the share of the answers that could be read"),
    Column(
        "failures",
        "failures",
        NAMED_COUNTS,
        _in(TableName.REPORT, TableName.SEALED, TableName.STANDINGS),
        "why answers could not be read, and how many",
    ),
    Column("consistency", "same answer", SHARE, _in(TableName.STANDINGS), "the share of questions with the same answer at every repeat"),
    Column(
        "dollars",
        "$ / 1,000",
        NUMBER,
        _in(TableName.STANDINGS),
        "US dollars for 1,000 judgments in the language, by the tokens that replies report and dated list prices",
        text=lambda row: row.get("dollars_text", UNDEFINED),
    ),
    Column(
        "seconds",
        "s / 1,000",
        NUMBER,
        _in(TableName.STANDINGS),
        "seconds of waiting for the replies of 1,000 judgments in the language, added up",
        text=lambda row: row.get("seconds_text", UNDEFINED),
    ),
    Column("status", "status", TEXT, _in(TableName.STANDINGS), "submitted, or verified by asking a part of the calls again"),
    Column(
        "open_weights", "open weights", TEXT, _in(TableName.STANDINGS), "whether the model's weights can be had, as the submission says"
    ),
    Column(
        "exposure",
        "exposure",
        TEXT,
        _in(TableName.STANDINGS),
        "whether the model may have seen the board's data in training, as the submission says",
    ),
    # Labels alone
    Column("labelled", "items", COUNT, _in(TableName.LABELS), "items with a label, of all", text=_labelled),
    Column(
        "raters",
        "labels per item",
        TEXT,
        _in(TableName.LABELS),
        "how many items have how many labels: 4×2 means that four items have two",
        text=lambda row: ", ".join(f"{times}×{labels}" for labels, times in row["raters"].items()),
    ),
    Column("no_majority", "no majority", COUNT, _in(TableName.LABELS), "items without a unique commonest label"),
    Column("distribution_labels", "label shares", CLASS_SHARES, _in(TableName.LABELS), "how often each score was given, in percent"),
    # Ablations: what was compared
    Column("n", "pairs", COUNT_OR_BLANK, _TWO_ANSWERS | _CHANGED_TEXTS, "pairs of answers that could both be read"),
    Column(
        "n",
        "questions",
        COUNT_OR_BLANK,
        _in(TableName.DRAG, TableName.CONSISTENCY),
        "items (and repeats) that were compared",
    ),
    Column("slope_n", "questions", COUNT_OR_BLANK, _in(TableName.TRENDS), "questions that were asked at every temperature"),
    Column("n", "texts", COUNT_OR_BLANK, _in(TableName.LENGTH), "texts with a readable score"),
    Column("n", "justifications", COUNT_OR_BLANK, _in(TableName.JUSTIFICATION_LANGUAGE), "justifications whose language was identified"),
    Column(
        "not_applied",
        "not applied",
        COUNT_OR_BLANK,
        _CHANGED_TEXTS,
        "texts that could not be changed in this way; the judge was not asked about them",
    ),
    Column("unreadable", "unread", COUNT_OR_BLANK, _TWO_ANSWERS | _CHANGED_TEXTS, "pairs in which an answer could not be read"),
    Column("unpaired", "unpaired", COUNT_OR_BLANK, _CHANGED_TEXTS, "changed texts whose original was not judged"),
    # Ablations: what moved
    Column(
        "diff",
        "difference",
        POINTS,
        _AGREEMENT | _in(TableName.SCORE_POSITION),
        "agreement minus that of the condition that it is compared with, on the same items, failures as wrong, in percentage points",
    ),
    Column(
        "diff_q",
        "q-value of the difference",
        PROBABILITY,
        _AGREEMENT | _in(TableName.SCORE_POSITION),
        "its p-value, corrected over the rows of one level",
    ),
    Column("moved", "score change", COEFFICIENT, _TWO_ANSWERS, "the mean change of the score, in points; + is toward the best"),
    Column(
        "moved_q",
        "q-value of the change",
        PROBABILITY,
        _TWO_ANSWERS,
        "the p-value of the score change, corrected over the rows of one level",
    ),
    Column("changed", "changed", SHARE, _TWO_ANSWERS, "the share of pairs with two different scores"),
    Column(
        "r_named_first",
        "r, named first",
        COEFFICIENT,
        _in(TableName.DRAG),
        "Pearson's r of the two metrics' scores when the one is named first",
    ),
    Column("r_named_last", "r, named last", COEFFICIENT, _in(TableName.DRAG), "the same when it is named last"),
    Column(
        "drag",
        "drag",
        COEFFICIENT,
        _in(TableName.DRAG),
        "the difference of the two; + means that the metric named first drags the other along",
    ),
    Column("drag_q", "q-value of the drag", PROBABILITY, _in(TableName.DRAG), "its p-value, corrected over the rows of one level"),
    Column("repeats", "repeats", COUNT_OR_BLANK, _in(TableName.CONSISTENCY), "how often a question was asked, at most"),
    Column("same_score", "same score", SHARE, _in(TableName.CONSISTENCY), "the share of questions with the same answer every time"),
    Column(
        "same_justification",
        "same justification",
        SHARE,
        _in(TableName.CONSISTENCY),
        "the share of questions with the same justification every time",
    ),
    Column(
        "entropy_bits",
        "entropy in bits",
        COEFFICIENT,
        _in(TableName.CONSISTENCY),
        "how much the answers to one question vary; 0 means not at all",
    ),
    Column(
        "slope",
        "slope in points",
        POINTS,
        _in(TableName.TRENDS),
        "the change of agreement for one unit of temperature, in percentage points",
    ),
    Column("slope_q", "q-value of the slope", PROBABILITY, _in(TableName.TRENDS), "its p-value, corrected over the rows of one level"),
    Column("page_l", "Page's L", NUMBER, _in(TableName.TRENDS), "Page's test that agreement falls step by step as the temperature rises"),
    Column("page_q", "q-value of Page's L", PROBABILITY, _in(TableName.TRENDS), "its p-value, corrected over the rows of one level"),
    Column("should", "should", TEXT, _in(TableName.PERTURBATIONS), "what the change should do to the score", text=_should),
    Column("fell", "fell", SHARE, _CHANGED_TEXTS, "the share of pairs in which the score of the changed text is lower"),
    Column("rose", "rose", SHARE, _CHANGED_TEXTS, "the share of pairs in which it is higher"),
    Column("stayed", "stayed", SHARE, _in(TableName.PERTURBATIONS), "the share of pairs in which it is the same"),
    Column(
        "sensitivity",
        "sensitivity",
        COEFFICIENT,
        _in(TableName.PERTURBATIONS),
        "how often the original scores above the changed text, ties counting half; at ½ the judge does not see the change",
    ),
    Column(
        "from",
        "from",
        TEXT,
        _in(TableName.PERTURBATIONS),
        "what sensitivity was computed from: the scores, or the expected scores of the token probabilities",
    ),
    Column(
        "achieved",
        "achieved",
        TEXT,
        _in(TableName.PERTURBATIONS),
        "how far the texts were changed, on average (docs/perturbations.md)",
        text=_achieved,
    ),
    Column("n_below_best", "below best", COUNT_OR_BLANK, _in(TableName.INJECTION), "pairs whose original does not have the best score"),
    Column(
        "reached_best",
        "of these now best",
        SHARE,
        _in(TableName.INJECTION),
        "the share of them in which the changed text has the best score",
    ),
    Column(
        "tau_given_label",
        "τ given the label",
        COEFFICIENT,
        _in(TableName.LENGTH),
        "Kendall's τ of the judge's score and the number of characters, among texts with the same label",
    ),
    Column("tau_given_label_q", "q-value of τ", PROBABILITY, _in(TableName.LENGTH), "its p-value, corrected over the rows of one level"),
    Column("tau", "τ of the judge", COEFFICIENT, _in(TableName.LENGTH), "the same among all texts"),
    Column("human_tau", "τ of people", COEFFICIENT, _in(TableName.LENGTH), "the same of the annotators' scores, among all texts"),
    Column(
        "too_short",
        "too short",
        COUNT_OR_BLANK,
        _in(TableName.JUSTIFICATION_LANGUAGE),
        "justifications too short to identify their language",
    ),
    Column(
        "in_asked_language",
        "as asked",
        SHARE,
        _in(TableName.JUSTIFICATION_LANGUAGE),
        "the share of justifications in the language that was asked for",
    ),
    Column(
        "other_languages",
        "other languages",
        NAMED_COUNTS,
        _in(TableName.JUSTIFICATION_LANGUAGE),
        "the languages of the others, and how many",
    ),
)
"""Every column, in the order in which tables show them."""


def columns_in(*tables: TableName) -> list[Column]:
    """The columns of some tables, in the order of the registry."""
    return [column for column in COLUMNS if column.tables.intersection(tables)]


def legend_lines(columns: Iterable[Column]) -> list[str]:
    """What headings mean, a line for each column: `agreement: the share of …`."""
    return list(dict.fromkeys(column.legend_line for column in columns))
