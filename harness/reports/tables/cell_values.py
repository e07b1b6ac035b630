"""What columns read from a row, and write in its cell, where a name and a format alone cannot; `columns.tsv` names these functions."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from harness.reports.tables.column import Row
from harness.reports.tables.numbers import UNDEFINED, class_shares, coefficient, difference, percent, rounded_up, signed
from harness.reports.tables.obstacles import OBSTACLES


def _first_known(*names: str) -> Callable[[Row], Any]:
    """Reads the first of some statistics that is defined."""
    return lambda row: next((row[name] for name in names if row.get(name) is not None), None)


def _continuous(name: str) -> Callable[[Row], Any]:
    """Reads a statistic where scores are continuous; where they are classes, agreement stands in its place."""
    return lambda row: row.get(name) if row.get("pa") is None else None


def _right(*, interval: bool) -> Callable[[Row], Any]:
    """Reads the agreement with the labels, or the closeness to them, where nobody is compared with people."""
    return lambda row: row["right"] if row["people"] is None and bool(row["interval"]) is interval else None


def _pairs(name: str, *, closeness: bool) -> Callable[[Row], Any]:
    """Reads a number that is closeness in some rows and a share of equal scores in others: one heading for each."""
    return lambda row: row[name] if row["closeness"] is closeness else None


def _text_of_pairs(name: str, *, closeness: bool) -> Callable[[Row], str]:
    """Writes such a number; blank in the rows of the other kind."""
    return lambda row: percent(row[name]) if row["closeness"] is closeness else ""


def _rank(row: Row) -> str:
    if row.get("rank") is None:
        return UNDEFINED
    ends = row.get("rank_ci")
    return f"{row['rank']}{f' [{ends[0]}–{ends[1]}]' if ends else ''}{' ▼' if row.get('below_baseline') else ''}"


def _asked(row: Row) -> str:
    return f"{row['n_asked']:,} of {row['n_asked'] + row['not_asked']:,}" if row.get("not_asked") else ""


def _versus(row: Row) -> str:
    written = coefficient if row.get("versus_statistic") else difference
    return written(row.get("versus_diff"), row.get("versus_diff_ci"))


def _labelled(row: Row) -> str:
    return f"{row['labelled']:,}" + (f" of {row['items']:,}" if row["labelled"] < row["items"] else "")


def _two_decimals(name: str) -> Callable[[Row], str]:
    """Writes a number of continuous scores; blank where scores are classes."""
    return lambda row: f"{row[name]:.2f}" if row.get("distribution_labels") is None and row.get(name) is not None else ""


def _variance_shares(row: Row) -> str:
    shares = row.get("variance_shares") or {}
    return ", ".join(f"{name} {percent(share)}" for name, share in shares.items() if share is not None)


def _second_ratings(row: Row) -> str:
    other = (row.get("second_ratings") or {}).get("another_person") or {}
    return f"{coefficient(other['pearson'])} (n {other['n']})" if other.get("n") else ""


def _second_spans(row: Row) -> str:
    found = row.get("second_spans") or {}
    return f"{coefficient(found['kappa'])} (n {found['n']})" if found.get("n") else ""


def _groups(row: Row) -> str:
    """`41 as 2.2, ≤14.4`: blank where all groups are of one size, and for controls, whose verdict compares nobody with people."""
    from harness.decide.sentences import equal_groups

    shown = "" if row.get("controls") else equal_groups(row["groups"], row.get("effective_groups"))
    if not shown:
        return ""
    return f"{row['groups']} as {shown}" + ("" if row["cap"] is None else f", ≤{row['cap']:.1f}")


def _replaced(row: Row) -> str:
    test = row.get("alt_test") or {}
    return UNDEFINED if test.get("omega") is None else f"{round(test['omega'] * test['annotators'])} of {test['annotators']}"


def _labels_needed(row: Row) -> str:
    """`240` further texts, `>3,000`, or nothing where more labels would not help."""
    return "" if row.get("k") is None else f"{'>' if row.get('more_than_k') else ''}{row['k']:,}"


def _for_half_width(row: Row) -> str:
    count = row.get("more_for_half_width")
    return UNDEFINED if count is None else "enough" if count == 0 else f"{count:,} more"


def _for_verdict(row: Row) -> str:
    k = row.get("more_for_verdict")
    if k is not None:
        return f"more than {k:,} more" if row.get("more_than") else f"about {k:,} more"
    if row["verdict"] == "no verdict":
        return str(row["reasons"]["more_for_verdict"])
    return str(row["verdict"]) if row["verdict"] in ("use", "do not use") else "no number would do"


def _estimate(name: str) -> Callable[[Row], str]:
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


def _borrowed(row: Row) -> str:
    if row.get("borrowed") is None:
        return ""
    return row["borrowed"]["reason"] or f"~ {_estimate('borrowed')(row)}"


def _why_not_corrected(row: Row) -> str:
    reasons = [row[name]["reason"] for name in ("corrected", "labels_alone", "judge_alone")]
    return next((reason for reason in reasons if reason), "")


VALUES: dict[str, Callable[[Row], Any]] = {
    "all_failures": lambda row: sum((row.get("failures") or {}).values()),
    "alpha": _first_known("alpha_ordinal", "alpha_interval", "alpha_nominal"),
    "human_alpha": _first_known("human_alpha_ordinal", "human_alpha_nominal"),
    "continuous_tau": _continuous("kendall_tau"),
    "continuous_r": _continuous("pearson"),
    "equal_scores": _pairs("agreement", closeness=False),
    "equal_scores_of_people": _pairs("people", closeness=False),
    "closeness": _pairs("agreement", closeness=True),
    "closeness_of_people": _pairs("people", closeness=True),
    "right": _right(interval=False),
    "right_closeness": _right(interval=True),
    "effective_labels": lambda row: None if row["effective_labels"] is None else round(row["effective_labels"]),
}
"""What reads a column's value, by its name in `columns.tsv`."""

TEXTS: dict[str, Callable[[Row], str]] = {
    "rank": _rank,
    "asked": _asked,
    "versus": _versus,
    "mean_error": lambda row: UNDEFINED if row.get("mae") is None else f"{row['mae']:.3g}",
    "labels_and_judge": lambda row: f"{class_shares(row['distribution_labels'])} → {class_shares(row['distribution_judge'])}",
    "labelled": _labelled,
    "raters": lambda row: ", ".join(f"{times}×{labels}" for labels, times in row["raters"].items()),
    "mean_labels": _two_decimals("mean_labels"),
    "sd_labels": _two_decimals("sd_labels"),
    "variance_shares": _variance_shares,
    "second_ratings": _second_ratings,
    "second_spans": _second_spans,
    "equal_scores": _text_of_pairs("agreement", closeness=False),
    "equal_scores_of_people": _text_of_pairs("people", closeness=False),
    "closeness": _text_of_pairs("agreement", closeness=True),
    "closeness_of_people": _text_of_pairs("people", closeness=True),
    "incomplete_coverage": lambda row: "" if row["coverage"] == 1 else percent(row["coverage"]),
    "groups": _groups,
    "replaced": _replaced,
    "labels_needed": _labels_needed,
    "obstacles": lambda row: " ".join(OBSTACLES[name].code for name in row["obstacles"]),
    "for_half_width": _for_half_width,
    "for_verdict": _for_verdict,
    "judge_alone": _estimate("judge_alone"),
    "labels_alone": _estimate("labels_alone"),
    "corrected": _estimate("corrected"),
    "borrowed": _borrowed,
    "labels_saved": lambda row: UNDEFINED if row["labels_saved"] is None else signed(row["labels_saved"]),
    "why_not_corrected": _why_not_corrected,
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
    shown = "" if ends is None else f" [{1000 * ends[0]:.1f} {1000 * ends[1]:.1f}]"
    return f"{1000 * value:.1f}{shown}"


def lenient_text(language: str, leniency: float) -> str:
    """A language with its leniency in points of the scale: `cs +0.12`."""
    return f"{language} {signed(leniency, 2)}"
