"""What columns read from a row, and write in its cell, where a name and a format alone cannot; `columns.tsv` names these functions."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from harness.reports.tables.column import Row
from harness.reports.tables.numbers import UNDEFINED, class_shares, coefficient, difference, percent, rounded_up, signed
from harness.reports.tables.obstacles import OBSTACLES


def _read_first(*names: str) -> Callable[[Row], Any]:
    """Reads the first of some statistics that is defined."""
    return lambda row: next((row[name] for name in names if row.get(name) is not None), None)


def _read_continuous(name: str) -> Callable[[Row], Any]:
    """Reads a statistic where scores are continuous; where they are classes, agreement stands in its place."""
    return lambda row: row.get(name) if row.get("pa") is None else None


def _read_right(*, interval: bool) -> Callable[[Row], Any]:
    """Reads the agreement with the labels, or the closeness to them, where nobody is compared with people."""
    return lambda row: row["right"] if row["people"] is None and bool(row["interval"]) is interval else None


def _read_pairs(name: str, *, closeness: bool) -> Callable[[Row], Any]:
    """Reads a number that is closeness in some rows and a share of equal scores in others: one heading for each."""
    return lambda row: row[name] if row["closeness"] is closeness else None


def _write_pairs(name: str, *, closeness: bool) -> Callable[[Row], str]:
    """Writes such a number; blank in the rows of the other kind."""
    return lambda row: percent(row[name]) if row["closeness"] is closeness else ""


def _rank_text(row: Row) -> str:
    if row.get("rank") is None:
        return UNDEFINED
    ends = row.get("rank_ci")
    return f"{row['rank']}{f' [{ends[0]}–{ends[1]}]' if ends else ''}{' ▼' if row.get('below_baseline') else ''}"


def _write_two_decimals(name: str) -> Callable[[Row], str]:
    """Writes a number of continuous scores; blank where scores are classes."""
    return lambda row: f"{row[name]:.2f}" if row.get("distribution_labels") is None and row.get(name) is not None else ""


def _second_ratings_text(row: Row) -> str:
    other = (row.get("second_ratings") or {}).get("another_person") or {}
    return f"{coefficient(other['pearson'])} (n {other['n']})" if other.get("n") else ""


def _second_spans_text(row: Row) -> str:
    agreement = row.get("second_spans") or {}
    return f"{coefficient(agreement['kappa'])} (n {agreement['n']})" if agreement.get("n") else ""


def _groups_text(row: Row) -> str:
    """`41 as 2.2, ≤14.4`: blank where all groups are of one size, and for controls, whose verdict compares nobody with people."""
    from harness.decide.sentences import equal_groups

    equal = "" if row.get("controls") else equal_groups(row["groups"], row.get("effective_groups"))
    if not equal:
        return ""
    return f"{row['groups']} as {equal}" + ("" if row["cap"] is None else f", ≤{row['cap']:.1f}")


def _replaced_text(row: Row) -> str:
    test = row.get("alt_test") or {}
    return UNDEFINED if test.get("omega") is None else f"{round(test['omega'] * test['annotators'])} of {test['annotators']}"


def _verdict_text(row: Row) -> str:
    k = row.get("more_for_verdict")
    if k is not None:
        return f"more than {k:,} more" if row.get("more_than") else f"about {k:,} more"
    if row["verdict"] == "no verdict":
        return str(row["reasons"]["more_for_verdict"])
    return str(row["verdict"]) if row["verdict"] in ("use", "do not use") else "no number would do"


def _write_estimate(name: str) -> Callable[[Row], str]:
    """Writes one of three estimates: a share in percent, a difference of shares in percentage points, a mean in points of its scale."""

    def text(row: Row) -> str:
        value, ci = row[name]["value"], row[name]["ci"]
        if row["quantity"] == "share":
            return difference(value, ci) if row["versus"] is not None else percent(value, ci)
        return _points_of_scale(value, ci, signed=row["versus"] is not None)

    return text


def _points_of_scale(value: float | None, ci: Any, *, signed: bool) -> str:
    if value is None:
        return UNDEFINED
    sign = "+" if signed else ""
    ends = f" [{ci[0]:{sign}.2f} to {ci[1]:{sign}.2f}]" if ci else ""
    return f"{value:{sign}.2f}{ends}"


def _borrowed_text(row: Row) -> str:
    if row.get("borrowed") is None:
        return ""
    return row["borrowed"]["reason"] or f"~ {_write_estimate('borrowed')(row)}"


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
    "second_ratings": _second_ratings_text,
    "second_spans": _second_spans_text,
    "equal_scores": _write_pairs("agreement", closeness=False),
    "equal_scores_of_people": _write_pairs("people", closeness=False),
    "closeness": _write_pairs("agreement", closeness=True),
    "closeness_of_people": _write_pairs("people", closeness=True),
    "incomplete_coverage": lambda row: "" if row["coverage"] == 1 else percent(row["coverage"]),
    "groups": _groups_text,
    "replaced": _replaced_text,
    # `240` further texts, `>3,000`, or nothing where more labels would not help
    "labels_needed": lambda row: "" if row.get("k") is None else f"{'>' if row.get('more_than_k') else ''}{row['k']:,}",
    "obstacles": lambda row: " ".join(OBSTACLES[name].code for name in row["obstacles"]),
    "for_half_width": lambda row: (
        UNDEFINED if (count := row.get("more_for_half_width")) is None else "enough" if count == 0 else f"{count:,} more"
    ),
    "for_verdict": _verdict_text,
    "judge_alone": _write_estimate("judge_alone"),
    "labels_alone": _write_estimate("labels_alone"),
    "corrected": _write_estimate("corrected"),
    "borrowed": _borrowed_text,
    "labels_saved": lambda row: UNDEFINED if row["labels_saved"] is None else signed(row["labels_saved"]),
    "why_not_corrected": lambda row: next(
        (reason for name in ("corrected", "labels_alone", "judge_alone") if (reason := row[name]["reason"])), ""
    ),
    "threshold": lambda row: "nothing certified" if row["threshold"] is None else rounded_up(row["threshold"]),
    "why_not_accepted": lambda row: row["reason"] or "",
}
"""What writes a column's cell, by its name in `columns.tsv`."""


def points(ends: tuple[float, float] | None) -> str | None:
    """An interval of differences in percentage points: `-12 to +3`; None without one."""
    return None if ends is None else f"{signed(100 * ends[0])} to {signed(100 * ends[1])}"


def thousandths(value: float | None, ends: tuple[float, float] | None) -> str | None:
    """A squared error in thousandths with its interval: `4.1 [-0.2 8.4]`; None without one."""
    if value is None:
        return None
    interval = "" if ends is None else f" [{1000 * ends[0]:.1f} {1000 * ends[1]:.1f}]"
    return f"{1000 * value:.1f}{interval}"


def lenient_text(language: str, leniency: float) -> str:
    """A language with its leniency in points of the scale: `cs +0.12`."""
    return f"{language} {signed(leniency, 2)}"
