"""Columns: their formats, and the registry with heading, format and meaning of every column of results; titles of metrics.

The terminal, Markdown, CSV, LaTeX and HTML read `COLUMNS`; a new column is one line of `columns.tsv`, whose fields are those of `Column`.
Its options are flags (`key`, `signs`, `no_interval`, `no_latex`), and `value`, `text`, `text_in`, `same_as` and `no_interval_in` with `=`:
`value` and `text` name a function of `VALUES` and `TEXTS`, `text_in` a key under which the row has its text."""

from __future__ import annotations

import csv
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass
from enum import StrEnum, auto
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

from harness.content import Library
from harness.model import Score
from harness.reports.answer.parts import SIGNS, STYLES, against_words, cause_words, state_of
from harness.reports.tables.numbers import (
    UNDEFINED,
    Interval,
    class_shares,
    coefficient,
    counts_by_name,
    difference,
    percent,
    probability,
    rounded_up,
    signed,
)
from harness.text import terminal_safe

Row = Mapping[str, Any]
"""A flat row: every number under its name, its interval under `<name>_ci`."""
EMPTY = ("", UNDEFINED)
"""Texts that say nothing. A column is left out of a table where every row has one of them."""
INTERVAL_HEADING = "[95 %]"
NO_INTERVAL, FEW_RARE_CASES = "†", "‡"
SIGN_MEANINGS = {
    NO_INTERVAL: "too few independent texts for an interval",
    FEW_RARE_CASES: "a class is expected in fewer than 15 items, so the intervals may be too narrow",
    UNDEFINED: "undefined (--json gives the reason)",
}
"""What signs beside and in place of numbers mean."""


class TableName(StrEnum):
    """The tables that columns of the registry stand in. The tables of sections name their columns themselves."""

    REPORT = auto()  # a run in the terminal, in Markdown and LaTeX
    REPORT_WIDE = auto()  # columns that Markdown and LaTeX add to it
    VERDICTS = auto()
    VERDICTS_ALONE = auto()  # columns that need 120 characters beside people, and stand alone where nobody is compared with people
    VERDICTS_REASONS = auto()  # columns that need 120 characters
    VERDICTS_WIDE = auto()  # columns that need 180 characters
    CORRECTED = auto()
    ACCEPTANCE = auto()
    ANSWER = auto()  # the lines of an answer on a page
    COMPARISON = auto()
    SYSTEMS = auto()
    AGREEMENT_LEVELS = auto()
    LABELS = auto()
    SEALED = auto()
    STANDINGS = auto()
    OVERALL = auto()
    CONDITIONS = auto()  # agreement in sections that compare conditions
    CONDITIONS_PAIRWISE = auto()  # judge and people with single annotators, beside it
    LANGUAGES = auto()
    LABELS_NEEDED = auto()
    REVIEWS = auto()  # people's answers to a judge's reasons


CELL_TABLES = frozenset({TableName.REPORT, TableName.REPORT_WIDE, TableName.ANSWER, TableName.COMPARISON, TableName.SYSTEMS})
"""The tables whose rows are cells: CSV and Parquet have all their columns."""


@dataclass(frozen=True)
class ColumnFormat:
    """The format of one kind of value.

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


def _percent(value: float) -> str:
    return f"{100 * value:.1f}"


TEXT = ColumnFormat(lambda value, interval: UNDEFINED if value is None else terminal_safe(str(value)))
COUNT = ColumnFormat(lambda value, interval: UNDEFINED if value is None else f"{value:,}", "int64", "5.0", "{:.0f}".format)
COUNT_OR_BLANK = ColumnFormat(lambda value, interval: f"{value:,}" if value else "", "int64", "5.0", "{:.0f}".format)
SHARE = ColumnFormat(percent, "double", "3.1", _percent, "%")
POINTS = ColumnFormat(difference, "double", "-3.1", _percent, "points")
PERCENT_OF_SCALE = ColumnFormat(difference, "double", "-3.1", _percent, "% of the scale")
COEFFICIENT = ColumnFormat(coefficient, "double", "-1.3", "{:.3f}".format)
PROBABILITY = ColumnFormat(lambda value, interval: probability(value), "double", "1.3", "{:.3f}".format)
NUMBER = ColumnFormat(lambda value, interval: UNDEFINED if value is None else f"{value:g}", "double", "5.1", "{:.1f}".format)
CLASS_SHARES = ColumnFormat(lambda value, interval: class_shares(value))
NAMED_COUNTS = ColumnFormat(lambda value, interval: counts_by_name(value))


@dataclass(frozen=True)
class Column:
    """One column, of the registry or of a section.

    Args:
        name: the name of its value in JSON and CSV, and in the rows that it is read from.
        heading: what stands above it; ` [95 %]` is added where it has intervals.
        format: how its values are written.
        legend: what it means, without the heading and the full stop.
        tables: where it stands; none for a column of one section.
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
    legend: str
    tables: frozenset[TableName] = frozenset()
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
        """Return the ends of its interval in a row; None without one, and in tables that do not show it."""
        return row.get(f"{self.name}_ci") if self.interval and not self.no_interval_in.intersection(tables) else None

    def cell_text(self, row: Row, tables: Iterable[TableName] = ()) -> str:
        """Return a row's text in this column."""
        if self.text:
            return self.text(row)
        text = self.format.text(self.value_of(row), self.interval_of(row, tables))
        if self.signs and row.get(f"{self.name}_ci", ()) is None:  # a row without the name is not of cells
            text += f" {NO_INTERVAL}"
        if self.signs and row.get("few_rare_cases") and row.get("n_ref"):
            text += f" {FEW_RARE_CASES}"
        return text

    def sort_key(self, row: Row) -> float | None:
        """Return the number that a page sorts the row by (of counts their sum); None where it sorts by the text."""
        value = self.value_of(row)
        if self.format is NAMED_COUNTS and value is not None:
            return float(sum(value.values()))
        return float(value) if isinstance(value, (int, float)) else None

    @property
    def legend_line(self) -> str:
        return f"{self.heading_with_unit}: {self.legend}."

    @property
    def heading_with_unit(self) -> str:
        """The heading as tables show it: `judge − people (points)`. Percent signs stand beside the numbers."""
        unit = self.format.unit
        return f"{self.heading} ({unit})" if unit and unit != "%" else self.heading


class Obstacle(NamedTuple):
    """`against` is False for a test that is only not passed: then nothing is shown against the judge."""

    words: str
    against: bool = False


OBSTACLES = {
    "worse": Obstacle("worse than people", against=True),
    "people": Obstacle("may be worse than people"),
    "base_worse": Obstacle("worse than a constant answer", against=True),
    "baseline": Obstacle("may be no better than a constant answer"),
    "constant": Obstacle("one class for nearly all texts", against=True),
    "failures": Obstacle("many answers cannot be read", against=True),
    "unread": Obstacle("most answers cannot be read", against=True),
    "below_bar": Obstacle("below the bar", against=True),
    "bar": Obstacle("may be below the bar"),
    "coverage": Obstacle("too few readable answers"),
    "copied": Obstacle("may be a copy of the labels"),
    "cells": Obstacle("not certain enough among so many tests"),
    "labels": Obstacle("too few texts"),
    "annotators": Obstacle("one score a text"),
}


_FORMATS = {name.lower(): value for name, value in list(globals().items()) if isinstance(value, ColumnFormat)}


def _read_first(*names: str) -> Callable[[Row], Any]:
    """Return a function that reads the first of some statistics that is defined."""
    return lambda row: next((row[name] for name in names if row.get(name) is not None), None)


def _read_continuous(name: str) -> Callable[[Row], Any]:
    """Return a function that reads a statistic where scores are continuous; where they are classes, agreement stands in its place."""
    return lambda row: row.get(name) if row.get("pa") is None else None


def _read_right(*, interval: bool) -> Callable[[Row], Any]:
    """Return a function that reads agreement with the labels, or closeness to them, where nobody is compared with people."""
    return lambda row: row["right"] if row["people"] is None and bool(row["interval"]) is interval else None


def _read_pairs(name: str, *, closeness: bool) -> Callable[[Row], Any]:
    """Return a function that reads a number that is closeness in some rows and a share of equal scores in the others."""
    return lambda row: row[name] if row["closeness"] is closeness else None


def _write_pairs(name: str, *, closeness: bool) -> Callable[[Row], str]:
    """Return a function that writes such a number; blank in the rows of the other kind."""
    return lambda row: percent(row[name]) if row["closeness"] is closeness else ""


def _rank_text(row: Row) -> str:
    if row.get("rank") is None:
        return UNDEFINED
    ends = row.get("rank_ci")
    return f"{row['rank']}{f' [{ends[0]}–{ends[1]}]' if ends else ''}{' ▼' if row.get('below_baseline') else ''}"


def _write_two_decimals(name: str) -> Callable[[Row], str]:
    """Return a function that writes a number of continuous scores; blank where scores are classes."""
    return lambda row: f"{row[name]:.2f}" if row.get("distribution_labels") is None and row.get(name) is not None else ""


def _coefficient_text(estimate: Mapping[str, Any] | None, name: str) -> str:
    """Return a coefficient with its number of pairs: `.62 (n 40)`; an empty text without any."""
    return f"{coefficient(estimate[name])} (n {estimate['n']})" if estimate and estimate.get("n") else ""


def _groups_text(row: Row) -> str:
    """Return `41 as 2.2, ≤14.4`: blank where all groups are of one size, and for controls, whose verdict compares nobody with people."""
    from harness.decide.verdict_sentences import equal_groups

    equal = "" if row.get("controls") else equal_groups(row["groups"], row.get("effective_groups"))
    if not equal:
        return ""
    return f"{row['groups']} as {equal}" + ("" if row["cap"] is None else f", ≤{row['cap']:.1f}")


def _verdict_text(row: Row) -> str:
    k = row.get("more_for_verdict")
    if k is not None:
        return f"over {k:,}" if row.get("more_than") else f"about {k:,}"
    if row["verdict"] == "no verdict":
        return str(row["reasons"]["more_for_verdict"])
    return f"{SIGNS[STYLES[row['verdict']]]} {row['verdict']}" if row["verdict"] in ("use", "do not use") else "will not help"


def _write_estimate(name: str) -> Callable[[Row], str]:
    """Return a function that writes an estimate: a share in percent, a difference of shares in points, a mean in points of its scale."""

    def text(row: Row) -> str:
        value, ci = row[name]["value"], row[name]["ci"]
        if row["quantity"] == "share":
            return difference(value, ci) if row["versus"] is not None else percent(value, ci)
        if value is None:
            return UNDEFINED
        sign = "" if row["versus"] is None else "+"
        return f"{value:{sign}.2f}" + (f" [{ci[0]:{sign}.2f} to {ci[1]:{sign}.2f}]" if ci else "")

    return text


def _deciding_reason(row: Row) -> str:
    """Return what is shown against a judge, with the number that decided; empty where a verdict is not against it."""
    return "; ".join(against_words(row["obstacles"], row["gap"], row["base_diff"])[:1]) if STYLES[state_of(row)] == "bad" else ""


VALUES: dict[str, Callable[[Row], Any]] = {
    "all_failures": lambda row: sum((row.get("failures") or {}).values()),
    "alpha": _read_first("alpha_ordinal", "alpha_interval", "alpha_nominal"),
    "human_alpha": _read_first("human_alpha_ordinal", "human_alpha_nominal"),
    "continuous_tau": _read_continuous("kendall_tau"),
    "continuous_r": _read_continuous("pearson"),
    "equal_scores": _read_pairs("agreement", closeness=False),
    "equal_scores_of_people": _read_pairs("people", closeness=False),
    "closeness": _read_pairs("agreement", closeness=True),
    "closeness_of_people": _read_pairs("people", closeness=True),
    "right": _read_right(interval=False),
    "right_closeness": _read_right(interval=True),
    "effective_labels": lambda row: None if row["effective_labels"] is None else round(row["effective_labels"]),
}
"""What reads a column's value, by its name in `columns.tsv`."""

TEXTS: dict[str, Callable[[Row], str]] = {
    "rank": _rank_text,
    "asked": lambda row: f"{row['n_asked']:,} of {row['n_asked'] + row['not_asked']:,}" if row.get("not_asked") else "",
    "versus": lambda row: (coefficient if row.get("versus_statistic") else difference)(row.get("versus_diff"), row.get("versus_diff_ci")),
    "mean_error": lambda row: UNDEFINED if row.get("mae") is None else f"{row['mae']:.3g}",
    "labels_and_judge": lambda row: f"{class_shares(row['distribution_labels'])} → {class_shares(row['distribution_judge'])}",
    "labelled": lambda row: f"{row['labelled']:,}" + (f" of {row['items']:,}" if row["labelled"] < row["items"] else ""),
    "raters": lambda row: ", ".join(f"{times}×{labels}" for labels, times in row["raters"].items()),
    "mean_labels": _write_two_decimals("mean_labels"),
    "sd_labels": _write_two_decimals("sd_labels"),
    "variance_shares": lambda row: ", ".join(
        f"{name} {percent(share)}" for name, share in (row.get("variance_shares") or {}).items() if share is not None
    ),
    "second_ratings": lambda row: _coefficient_text((row.get("second_ratings") or {}).get("another_person"), "pearson"),
    "second_spans": lambda row: _coefficient_text(row.get("second_spans"), "kappa"),
    "equal_scores": _write_pairs("agreement", closeness=False),
    "equal_scores_of_people": _write_pairs("people", closeness=False),
    "closeness": _write_pairs("agreement", closeness=True),
    "closeness_of_people": _write_pairs("people", closeness=True),
    "incomplete_coverage": lambda row: "" if row["coverage"] == 1 else percent(row["coverage"]),
    "groups": _groups_text,
    "replaced": lambda row: (
        UNDEFINED
        if (test := row.get("alt_test") or {}).get("omega") is None
        else f"{round(test['omega'] * test['annotators'])} of {test['annotators']}"
    ),
    "class_shares_found": lambda row: ", ".join(f"{share['score']} {percent(share['share'])}" for share in row["shares"] if share["n"]),
    "state": lambda row: f"{SIGNS[STYLES[state_of(row)]]} {state_of(row)}",
    "why": lambda row: cause_words(row) or _deciding_reason(row),
    "obstacles": lambda row: "; ".join(OBSTACLES[name].words for name in row["obstacles"]),
    "for_half_width": lambda row: (
        UNDEFINED if (count := row.get("more_for_half_width")) is None else "enough" if count == 0 else f"{count:,}"
    ),
    "for_verdict": _verdict_text,
    "judge_alone": _write_estimate("judge_alone"),
    "labels_alone": _write_estimate("labels_alone"),
    "corrected": _write_estimate("corrected"),
    "borrowed": lambda row: "" if row.get("borrowed") is None else row["borrowed"]["reason"] or f"~ {_write_estimate('borrowed')(row)}",
    "labels_saved": lambda row: UNDEFINED if row["labels_saved"] is None else signed(row["labels_saved"]),
    "why_not_corrected": lambda row: next(
        (reason for name in ("corrected", "labels_alone", "judge_alone") if (reason := row[name]["reason"])), ""
    ),
    "threshold": lambda row: "nothing certified" if row["threshold"] is None else rounded_up(row["threshold"]),
    "why_not_accepted": lambda row: row["reason"] or "",
}
"""What writes a column's cell, by its name in `columns.tsv`."""


def _parse_column(line: Mapping[str, str]) -> Column:
    options = {name: value for name, _, value in (option.partition("=") for option in line["options"].split())}
    key = options.get("text_in")
    return Column(
        line["name"],
        line["heading"],
        _FORMATS[line["format"]],
        line["legend"],
        _parse_tables(line["tables"]),
        value=VALUES[options["value"]] if "value" in options else None,
        text=(lambda row: row.get(key, UNDEFINED)) if key else TEXTS[options["text"]] if "text" in options else None,
        signs="signs" in options,
        interval="no_interval" not in options,
        no_interval_in=_parse_tables(options.get("no_interval_in", "")),
        same_as=options.get("same_as", ""),
        latex="no_latex" not in options,
        key="key" in options,
    )


def _parse_tables(names: str) -> frozenset[TableName]:
    return frozenset(map(TableName, names.split()))


with Path(__file__).with_name("columns.tsv").open(encoding="utf-8", newline="") as _lines:
    COLUMNS = tuple(map(_parse_column, csv.DictReader(_lines, delimiter="\t", quoting=csv.QUOTE_NONE)))
"""Every column, in the order in which tables show them."""


def columns_in(*tables: TableName) -> list[Column]:
    """Return the columns of some tables, in the order of the registry."""
    return [column for column in COLUMNS if column.tables.intersection(tables)]


def shown_intervals() -> frozenset[str]:
    """Return the statistics whose intervals a comparison shows on any screen or page."""
    return frozenset(column.name for column in columns_in(TableName.COMPARISON, TableName.ANSWER) if column.interval)


def legend_lines(columns: Iterable[Column]) -> list[str]:
    """Return the meaning of headings, a line for each column: `agreement: the share of …`."""
    return list(dict.fromkeys(column.legend_line for column in columns))


def interval_of_points(ends: tuple[float, float] | None) -> str | None:
    """Return an interval of differences in percentage points: `-12 to +3`; None without one."""
    return None if ends is None else f"{signed(100 * ends[0])} to {signed(100 * ends[1])}"


def lenient_text(language: str, leniency: float) -> str:
    """Return a language with its leniency in points of the scale: `cs +0.12`."""
    return f"{language} {signed(leniency, 2)}"


def metric_title(metric: str) -> str:
    """Return a metric's title; the name without underscores where no bundled rubric has it, and `all` where metrics are pooled.

    >>> metric_title("5W1H"), metric_title("my_metric")
    ('Who, what, when, where, why, how', 'my metric')
    """
    return "all" if metric == "*" else _titles().get(metric) or str(metric).replace("_", " ")


def metric_words(metric: str) -> str:
    """Return a metric's title inside a sentence.

    >>> metric_words("task_quality")
    'task quality'
    """
    title = metric_title(metric)
    return title if title[1:2].isupper() else title[:1].lower() + title[1:]


def class_title(metric: str, score: Score, scores: Collection[Score]) -> str:
    """Return a class with what it means, where the bundled rubric of the metric has the same classes and says it.

    >>> class_title("hallucinations", 1, (0, 1)), class_title("hallucinations", 1, (1, 2))
    ("'1' (yes, at least one such statement)", "'1'")
    """
    means = class_words(metric, score, scores)
    return f"'{score}' ({means})" if means != str(score) else f"'{score}'"


def class_words(metric: str, score: Score, scores: Collection[Score]) -> str:
    """Return what a class means, where the bundled rubric of the metric has the same classes and says it; else the class.

    >>> class_words("hallucinations", 1, (0, 1)), class_words("hallucinations", 1, (1, 2))
    ('yes, at least one such statement', '1')
    """
    library = Library()
    rubric = library.rubric(metric) if metric in library.rubric_files else None
    words = rubric.class_words if rubric and {*(rubric.scale.classes or ())} == {*scores} else {}
    return words.get(str(score), "").rstrip(".") or str(score)


@cache
def _titles() -> dict[str, str]:
    library = Library()
    return {name: library.rubric(name).title for name in library.rubric_files}
