"""The registry of columns: heading, format and meaning of every column of results.

The terminal, Markdown, CSV, LaTeX and HTML read `COLUMNS`; a new column is one line of `columns.tsv`, whose fields are those of `Column`.
Its options are flags (`key`, `signs`, `no_interval`, `no_latex`), and `value`, `text`, `text_in`, `same_as` and `no_interval_in` with `=`:
`value` and `text` name a function of `VALUES` and `TEXTS`, `text_in` a key under which the row has its text.
"""

from __future__ import annotations

import csv
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any

from harness.reports.answer.states import STYLES, against_words, cause_words, state_of
from harness.reports.answer_parts import SIGNS
from harness.reports.tables import column as formats
from harness.reports.tables.column import Column, ColumnFormat, Row, TableName
from harness.reports.tables.numbers import UNDEFINED, class_shares, coefficient, difference, percent, rounded_up, signed
from harness.reports.tables.obstacles import OBSTACLES

_FORMATS = {name.lower(): value for name, value in vars(formats).items() if isinstance(value, ColumnFormat)}


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
    from harness.decide.sentences import equal_groups

    equal = "" if row.get("controls") else equal_groups(row["groups"], row.get("effective_groups"))
    if not equal:
        return ""
    return f"{row['groups']} as {equal}" + ("" if row["cap"] is None else f", ≤{row['cap']:.1f}")


def _verdict_text(row: Row) -> str:
    k = row.get("more_for_verdict")
    if k is not None:
        return f"more than {k:,} more" if row.get("more_than") else f"about {k:,} more"
    if row["verdict"] == "no verdict":
        return str(row["reasons"]["more_for_verdict"])
    return str(row["verdict"]) if row["verdict"] in ("use", "do not use") else "no number would do"


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
        UNDEFINED if (count := row.get("more_for_half_width")) is None else "enough" if count == 0 else f"{count:,} more"
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
