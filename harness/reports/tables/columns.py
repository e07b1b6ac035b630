"""The registry of columns: heading, format and meaning of every column of results.

The terminal, Markdown, CSV, LaTeX and HTML read `COLUMNS`; a new column is one entry there.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from harness.reports.tables.column import (
    CLASS_SHARES,
    COEFFICIENT,
    COUNT,
    COUNT_OR_BLANK,
    NAMED_COUNTS,
    NUMBER,
    PERCENT_OF_SCALE,
    POINTS,
    PROBABILITY,
    SHARE,
    TEXT,
    Column,
    Row,
    TableName,
)
from harness.reports.tables.column import in_tables as _in
from harness.reports.tables.decision_columns import DECISION_COLUMNS
from harness.reports.tables.numbers import UNDEFINED, class_shares, coefficient, difference, percent
from harness.reports.tables.review_columns import REVIEW_COLUMNS
from harness.reports.tables.use_columns import ACCEPTANCE_COLUMNS, CORRECTED_COLUMNS
from harness.reports.tables.verdict_columns import VERDICT_COLUMNS

_RUN = _in(TableName.REPORT, TableName.ANSWER)
_LEAVE_ONE_OUT = _in(TableName.REPORT_WIDE, TableName.ANSWER, TableName.STANDINGS)


def _first_known(*names: str) -> Callable[[Row], Any]:
    """Reads the first of some statistics that is defined."""
    return lambda row: next((row[name] for name in names if row.get(name) is not None), None)


def _continuous(name: str) -> Callable[[Row], Any]:
    """Reads a statistic where scores are continuous; where they are classes, agreement stands in its place."""
    return lambda row: row.get(name) if row.get("pa") is None else None


def _two_decimals(row: Row, name: str) -> str:
    return f"{row[name]:.2f}" if row.get("distribution_labels") is None and row.get(name) is not None else ""


def _variance_shares(row: Row) -> str:
    shares = row.get("variance_shares") or {}
    return ", ".join(f"{name} {percent(share)}" for name, share in shares.items() if share is not None)


def _second_ratings(row: Row) -> str:
    other = (row.get("second_ratings") or {}).get("another_person") or {}
    return f"{coefficient(other['pearson'])} (n {other['n']})" if other.get("n") else ""


def _second_spans(row: Row) -> str:
    found = row.get("second_spans") or {}
    return f"{coefficient(found['kappa'])} (n {found['n']})" if found.get("n") else ""


def _labels_and_judge(row: Row) -> str:
    return f"{class_shares(row['distribution_labels'])} → {class_shares(row['distribution_judge'])}"


def _asked(row: Row) -> str:
    return f"{row['n_asked']:,} of {row['n_asked'] + row['not_asked']:,}" if row.get("not_asked") else ""


def _labelled(row: Row) -> str:
    return f"{row['labelled']:,}" + (f" of {row['items']:,}" if row["labelled"] < row["items"] else "")


def _versus(row: Row) -> str:
    written = coefficient if row.get("versus_statistic") else difference
    return written(row.get("versus_diff"), row.get("versus_diff_ci"))


def _rank(row: Row) -> str:
    if row.get("rank") is None:
        return UNDEFINED
    ends = row.get("rank_ci")
    return f"{row['rank']}{f' [{ends[0]}–{ends[1]}]' if ends else ''}{' ▼' if row.get('below_baseline') else ''}"


COLUMNS: tuple[Column, ...] = (
    # Standings: who, and in which place
    Column(
        "rank",
        "rank",
        COUNT,
        "the place, with its 95 % interval: the true rank lies in it in 95 of 100 such samples; ▼: shown to be below the baseline",
        _in(TableName.STANDINGS),
        text=_rank,
    ),
    Column(
        "group",
        "group",
        TEXT,
        "judges without a common letter are shown to differ (paired differences, corrected for all pairs by Holm)",
        _in(TableName.STANDINGS),
    ),
    Column(
        "judge", "judge", TEXT, "who answered; in brackets its name behind the title", _in(TableName.STANDINGS, TableName.OVERALL), key=True
    ),
    Column(
        "mean",
        "mean",
        SHARE,
        "the mean over the languages, always beside the worst one; a judge without a number in one language has no mean",
        _in(TableName.OVERALL),
    ),
    Column(
        "worst", "worst language", SHARE, "the lowest number, and its language", _in(TableName.OVERALL), text=lambda row: row["worst_text"]
    ),
    Column(
        "beats_baseline",
        "beats the baseline in",
        COUNT,
        "in how many languages the interval of judge − baseline lies above 0, of those that have one",
        _in(TableName.OVERALL),
        text=lambda row: row["beats_baseline_text"],
    ),
    Column(
        "verdicts",
        "verdicts",
        NAMED_COUNTS,
        "how many cells, language × metric, have each verdict (docs/decisions.md); corrected over all cells of the judge",
        _in(TableName.OVERALL),
    ),
    # How much there is to compare
    Column(
        "n_asked",
        "asked",
        COUNT,
        "labelled items that the judge was asked about, of all; blank: all of them. On the others it is neither right nor wrong",
        _in(TableName.COMPARISON, TableName.ANSWER),
        text=_asked,
        latex=False,
    ),
    Column(
        "n_ref", "n", COUNT, "answers with a label", _in(TableName.REPORT, TableName.ANSWER, TableName.COMPARISON, TableName.CONDITIONS)
    ),
    Column(
        "n",
        "read",
        COUNT,
        "answers with a label that could be read",
        _in(TableName.REPORT, TableName.ANSWER, TableName.COMPARISON, TableName.CONDITIONS),
    ),
    Column("n", "systems", COUNT, "systems that have a mean score by the judge and one by people", _in(TableName.SYSTEMS)),
    Column(
        "failures",
        "unread",
        COUNT_OR_BLANK,
        "items that the judge was asked about and that have no readable score; they count in people's means",
        _in(TableName.SYSTEMS),
        value=lambda row: sum((row.get("failures") or {}).values()),
        latex=False,
    ),
    Column(
        "groups", "texts", COUNT, "independent texts; intervals resample texts and keep the systems", _in(TableName.SYSTEMS), latex=False
    ),
    # The judge and the labels
    Column(
        "pa",
        "agreement",
        SHARE,
        "the share of the answers read that equal the label (of several annotators, their aggregate)",
        _in(TableName.REPORT, TableName.COMPARISON, TableName.CONDITIONS),
        signs=True,
    ),
    Column(
        "pa_failed_wrong",
        "agreement, failed = wrong",
        SHARE,
        "the share of all answers with a label that equal it; answers that could not be read count as wrong",
        _in(TableName.STANDINGS, TableName.CONDITIONS) | _RUN,
        signs=True,
        same_as="pa",
    ),
    Column(
        "note",
        "note",
        TEXT,
        "'below the baseline' where the interval of judge − baseline lies below 0, 'does not beat the baseline' where it holds 0",
        _in(TableName.STANDINGS),
    ),
    Column(
        "vs_baseline_pa",
        "baseline",
        SHARE,
        "agreement of the majority baseline, which reads no text: for each language, task and metric it gives the commonest label of the "
        "development items, or of the row where there are none",
        _RUN,
    ),
    Column(
        "vs_baseline_diff",
        "judge − baseline",
        POINTS,
        "the difference from the majority baseline on the same items, in percentage points; answers that could not be read count as wrong",
        _in(TableName.COMPARISON, TableName.STANDINGS) | _RUN,
    ),
    Column(
        "vs_baseline_q",
        "q-value (baseline)",
        PROBABILITY,
        "the p-value of the difference from the baseline, corrected over all rows",
        _in(TableName.COMPARISON),
        latex=False,
    ),
    # The judge and people
    Column(
        "judge_loo",
        "judge, leave-one-out",
        SHARE,
        "agreement of the judge with the remaining annotators when one is left out at a time",
        _LEAVE_ONE_OUT,
    ),
    Column(
        "human_loo",
        "people, leave-one-out",
        SHARE,
        "agreement of the annotator who is left out with the same remaining ones; only these two may be compared",
        _LEAVE_ONE_OUT,
    ),
    Column(
        "loo_gap",
        "judge − people",
        POINTS,
        "the difference of the two in percentage points",
        _LEAVE_ONE_OUT,
    ),
    Column(
        "pa_pairwise",
        "judge–person pairs",
        SHARE,
        "mean agreement of the judge with each annotator",
        _in(TableName.COMPARISON, TableName.CONDITIONS_PAIRWISE),
        no_interval_in=_in(TableName.COMPARISON),
    ),
    Column(
        "human_pa",
        "person–person pairs",
        SHARE,
        "mean agreement of two annotators on the same items; it may be compared with judge–person pairs, not with agreement",
        _in(TableName.COMPARISON, TableName.CONDITIONS_PAIRWISE, TableName.LABELS),
        no_interval_in=_in(TableName.COMPARISON),
    ),
    Column(
        "pairwise_gap",
        "difference of pairs",
        POINTS,
        "judge–person pairs minus person–person pairs, in percentage points",
        _in(TableName.COMPARISON, TableName.CONDITIONS_PAIRWISE),
    ),
    # Statistics
    Column(
        "cohen_kappa",
        "Cohen's κ",
        COEFFICIENT,
        "chance-corrected agreement of the judge and the annotators' aggregate",
        _in(TableName.COMPARISON, TableName.STANDINGS),
    ),
    Column(
        "human_fleiss",
        "Fleiss' κ of people",
        COEFFICIENT,
        "chance-corrected agreement of the annotators among themselves",
        _in(TableName.COMPARISON, TableName.LABELS),
        no_interval_in=_in(TableName.COMPARISON),
    ),
    Column(
        "alpha_ordinal",
        "Krippendorff's α",
        COEFFICIENT,
        "reliability of the judge and the annotators' aggregate, with the alpha that uses most of the scale's information",
        _in(TableName.COMPARISON, TableName.STANDINGS),
        value=_first_known("alpha_ordinal", "alpha_interval", "alpha_nominal"),
        interval=False,
        latex=False,
    ),
    Column(
        "human_alpha_ordinal",
        "Krippendorff's α of people",
        COEFFICIENT,
        "reliability of the annotators, with the alpha that uses most of the scale's information",
        _in(TableName.LABELS),
        value=_first_known("human_alpha_ordinal", "human_alpha_nominal"),
        interval=False,
    ),
    Column(
        "human_ac1",
        "Gwet's AC1 of people",
        COEFFICIENT,
        "chance-corrected agreement that bears skewed labels",
        _in(TableName.LABELS),
        interval=False,
    ),
    Column(
        "kendall_tau",
        "Kendall's τ",
        COEFFICIENT,
        "rank correlation of the judge's scores and the annotators' mean",
        _in(TableName.COMPARISON),
        interval=False,
        latex=False,
    ),
    Column(
        "kendall_tau",
        "Kendall's τ",
        COEFFICIENT,
        "rank correlation of the judge's scores and people's, where scores are numbers: from −1, the other way round, to 1, the same order",
        _in(TableName.ANSWER),
        value=_continuous("kendall_tau"),
    ),
    Column(
        "human_second_kendall_tau",
        "τ of two people",
        COEFFICIENT,
        "the same of the labels and of second scores by other people: what a judge may be compared with",
        _in(TableName.ANSWER),
    ),
    Column(
        "kendall_tau",
        "Kendall's τ",
        COEFFICIENT,
        "rank correlation of the systems' mean scores by the judge and by people",
        _in(TableName.SYSTEMS),
    ),
    Column("spearman", "Spearman's ρ", COEFFICIENT, "rank correlation of the same means", _in(TableName.SYSTEMS)),
    Column("pearson", "Pearson's r", COEFFICIENT, "linear correlation of the same means", _in(TableName.SYSTEMS)),
    Column(
        "leniency",
        "leniency",
        COEFFICIENT,
        "the judge's score minus the annotators' mean, in points of the scale; + is toward the best",
        _in(TableName.REPORT_WIDE, TableName.COMPARISON),
    ),
    Column(
        "leniency_of_scale",
        "leniency",
        PERCENT_OF_SCALE,
        "the judge's score minus the annotators' mean, in percent of the scale's length; + is toward the best",
        _in(TableName.STANDINGS),
    ),
    Column(
        "versus_diff",
        "judge − other",
        POINTS,
        "the paired difference of agreement from what --versus names, on the same items, in percentage points; of continuous scores, "
        "the difference of τ within source text (without source texts: of Kendall's τ)",
        _in(TableName.COMPARISON),
        text=_versus,
    ),
    Column(
        "versus_q",
        "q-value (other)",
        PROBABILITY,
        "the p-value of the difference from the other, corrected over all rows",
        _in(TableName.COMPARISON),
        latex=False,
    ),
    # Continuous scores
    Column(
        "pearson",
        "Pearson's r",
        COEFFICIENT,
        "linear correlation of the judge's scores and the annotators' mean",
        _in(TableName.COMPARISON),
        value=_continuous("pearson"),
        no_interval_in=_in(TableName.COMPARISON),
    ),
    Column(
        "kendall_tau_within",
        "τ within source text",
        COEFFICIENT,
        "rank correlation over the outputs for one source text, the mean over source texts",
        _in(TableName.COMPARISON),
    ),
    Column(
        "pearson_within",
        "r within source text",
        COEFFICIENT,
        "linear correlation over the outputs for one source text, the mean over source texts",
        _in(TableName.COMPARISON),
        no_interval_in=_in(TableName.COMPARISON),
        latex=False,
    ),
    Column(
        "acc_eq",
        "pairs right",
        SHARE,
        "the share of pairs of outputs for one source text that the judge orders as people do, ties included (tie-calibrated accuracy)",
        _in(TableName.COMPARISON),
    ),
    Column(
        "spa",
        "soft pairwise accuracy",
        COEFFICIENT,
        "how far the judge is as sure as people are which of two systems is better; 1 is best",
        _in(TableName.COMPARISON, TableName.SYSTEMS),
        latex=False,
    ),
    Column(
        "mae",
        "mean error",
        NUMBER,
        "how far the judge's score is from the annotators' mean, in points of the scale",
        _in(TableName.COMPARISON),
        text=lambda row: UNDEFINED if row.get("mae") is None else f"{row['mae']:.3g}",
        interval=False,
        latex=False,
    ),
    Column(
        "human_second_pearson",
        "r of two people",
        COEFFICIENT,
        "linear correlation of the labels and of second ratings by other people: what a judge may be compared with",
        _in(TableName.COMPARISON),
        no_interval_in=_in(TableName.COMPARISON),
        latex=False,
    ),
    # Classes and failures
    Column(
        "distribution_judge",
        "labels → judge",
        CLASS_SHARES,
        "how often each score stands in the labels → how often the judge gave it, in percent",
        _in(TableName.REPORT),
        text=_labels_and_judge,
    ),
    Column(
        "level", "annotators agree", TEXT, "full: all three, partial: two of three, none: no two", _in(TableName.AGREEMENT_LEVELS), key=True
    ),
    Column("items", "items", COUNT, "items with three annotators at this level of agreement", _in(TableName.AGREEMENT_LEVELS)),
    Column("labels", "labels", CLASS_SHARES, "how often annotators gave each score, in percent", _in(TableName.AGREEMENT_LEVELS)),
    Column("given", "judge", CLASS_SHARES, "how often the judge gave each score, in percent", _in(TableName.AGREEMENT_LEVELS)),
    Column("asked", "judgments", COUNT, "judgments that the judge was asked for", _in(TableName.SEALED)),
    Column("read", "read", COUNT, "judgments that could be read", _in(TableName.SEALED)),
    Column("coverage", "coverage", SHARE, "the share of the answers that could be read", _in(TableName.SEALED, TableName.STANDINGS)),
    Column(
        "failures",
        "failures",
        NAMED_COUNTS,
        "why answers could not be read, and how many",
        _in(TableName.REPORT, TableName.SEALED, TableName.STANDINGS),
    ),
    Column("consistency", "same answer", SHARE, "the share of questions with the same answer at every repeat", _in(TableName.STANDINGS)),
    Column(
        "dollars",
        "$ / 1,000",
        NUMBER,
        "US dollars for 1,000 judgments in the language, by the tokens that replies report and dated list prices",
        _in(TableName.STANDINGS),
        text=lambda row: row.get("dollars_text", UNDEFINED),
    ),
    Column(
        "seconds",
        "s / 1,000",
        NUMBER,
        "seconds of waiting for the replies of 1,000 judgments in the language, added up",
        _in(TableName.STANDINGS),
        text=lambda row: row.get("seconds_text", UNDEFINED),
    ),
    Column(
        "status",
        "status",
        TEXT,
        "submitted, or verified by asking a part of the calls again; recorded: scores from elsewhere without raw replies",
        _in(TableName.STANDINGS),
    ),
    Column(
        "open_weights", "open weights", TEXT, "whether the model's weights are public, as the submission says", _in(TableName.STANDINGS)
    ),
    Column(
        "exposure",
        "exposure",
        TEXT,
        "whether the model may have seen the board's data in training, as the submission says",
        _in(TableName.STANDINGS),
    ),
    # Labels alone
    Column("labelled", "items", COUNT, "items with a label, of all", _in(TableName.LABELS), text=_labelled),
    Column(
        "raters",
        "labels per item",
        TEXT,
        "how many items have how many labels: 4×2 means that four items have two",
        _in(TableName.LABELS),
        text=lambda row: ", ".join(f"{times}×{labels}" for labels, times in row["raters"].items()),
    ),
    Column("no_majority", "no majority", COUNT, "items without a unique commonest label", _in(TableName.LABELS)),
    Column(
        "mean_labels",
        "mean",
        NUMBER,
        "the mean label of continuous scores, in points of the scale",
        _in(TableName.LABELS),
        text=lambda row: _two_decimals(row, "mean_labels"),
        interval=False,
    ),
    Column(
        "sd_labels",
        "sd",
        NUMBER,
        "the standard deviation of continuous scores",
        _in(TableName.LABELS),
        text=lambda row: _two_decimals(row, "sd_labels"),
        interval=False,
    ),
    Column(
        "icc",
        "ICC(1,1)",
        COEFFICIENT,
        "how reliable one person's score is: the share of the variance of scores that lies between texts",
        _in(TableName.LABELS),
    ),
    Column(
        "variance_shares",
        "variance by",
        TEXT,
        "how much of the variance of the labels lies between annotators, systems, source texts (segment) and groups, each by itself (eta²)",
        _in(TableName.LABELS),
        text=_variance_shares,
    ),
    Column(
        "second_ratings",
        "r of two people",
        COEFFICIENT,
        "linear correlation of the labels and of second ratings by other people, and the number of these ratings",
        _in(TableName.LABELS),
        text=_second_ratings,
    ),
    Column(
        "second_spans",
        "κ of error or not",
        COEFFICIENT,
        "Cohen's kappa of two people on whether a text has an error, by their marks of two rounds, and the number of texts",
        _in(TableName.LABELS),
        text=_second_spans,
    ),
    Column("distribution_labels", "label shares", CLASS_SHARES, "how often each score was given, in percent", _in(TableName.LABELS)),
    *VERDICT_COLUMNS,
    *DECISION_COLUMNS,
    *CORRECTED_COLUMNS,
    *ACCEPTANCE_COLUMNS,
    *REVIEW_COLUMNS,
)
"""Every column, in the order in which tables show them."""


def columns_in(*tables: TableName) -> list[Column]:
    """The columns of some tables, in the order of the registry."""
    return [column for column in COLUMNS if column.tables.intersection(tables)]


def shown_intervals() -> frozenset[str]:
    """The statistics whose intervals a comparison shows on any screen or page."""
    return frozenset(column.name for column in columns_in(TableName.COMPARISON, TableName.ANSWER) if column.interval)


def legend_lines(columns: Iterable[Column]) -> list[str]:
    """What headings mean, a line for each column: `agreement: the share of …`."""
    return list(dict.fromkeys(column.legend_line for column in columns))
