"""The columns of ratings by several samples beside those of people (Chiang & Lee 2023)."""

from __future__ import annotations

from itertools import pairwise
from math import isclose

from harness.reports.tables.column import COEFFICIENT, COUNT, COUNT_OR_BLANK, PROBABILITY, SHARE, TEXT, Column, Row, TableName, in_tables

_RATINGS = in_tables(TableName.RATINGS)
_SYSTEMS = in_tables(TableName.RATED_SYSTEMS)
_DIFFERENCES = in_tables(TableName.RATED_DIFFERENCES)
_ORDERS = in_tables(TableName.RATED_ORDERS)


def _order(row: Row) -> str:
    """The systems and their means, the best first, with a sign between neighbours.

    >>> _order({"order": ["a", "b", "c"], "means": [2.5, 1.0, 1.0]})
    'a (2.50) > b (1.00) = c (1.00)'
    """
    means = row["means"]
    signs = ["", *(" = " if isclose(better, worse) else " > " for better, worse in pairwise(means))]
    return "".join(f"{sign}{name} ({mean:.2f})" for sign, name, mean in zip(signs, row["order"], means, strict=True))


RATING_COLUMNS: tuple[Column, ...] = (
    Column("texts", "texts", COUNT, _RATINGS, "texts with a readable score"),
    Column("n", "texts", COUNT, _SYSTEMS, "texts with a readable score"),
    Column("unreadable", "unread", COUNT, _RATINGS, "answers without a readable score, refusals included"),
    Column("refused", "refused", SHARE, _RATINGS, "the share of answers that are refusals", interval=False),
    Column("alpha_ordinal", "α ordinal", COEFFICIENT, _RATINGS, "Krippendorff's alpha of the judge's samples, ordinal"),
    Column("people_alpha_ordinal", "people's α ord.", COEFFICIENT, _RATINGS, "Krippendorff's alpha of the annotators, ordinal"),
    Column("alpha_interval", "α interval", COEFFICIENT, _RATINGS, "Krippendorff's alpha of the judge's samples, interval"),
    Column(
        "people_alpha_interval",
        "people's α int.",
        COEFFICIENT,
        _RATINGS,
        "Krippendorff's alpha of the annotators, interval",
    ),
    Column(
        "exact",
        "all equal",
        SHARE,
        _RATINGS,
        "of texts with two readable scores or more, the share whose scores are all the same",
        interval=False,
    ),
    Column(
        "people_exact",
        "people all equal",
        SHARE,
        _RATINGS,
        "the share of texts to which all annotators give the same score",
        interval=False,
    ),
    Column("r", "r", COEFFICIENT, _RATINGS, "Pearson's r of people's means and the judge's over all texts", interval=False),
    Column("tau_in_prompt", "tau in prompts", COEFFICIENT, _RATINGS, "the mean over prompts of Kendall's tau-b over the texts of a prompt"),
    Column("identical", "same twice", COUNT_OR_BLANK, _RATINGS, "texts that are the same as their original"),
    Column(
        "identical_mean", "their mean", COEFFICIENT, _RATINGS, "the mean score of these texts; their meaning is preserved", interval=False
    ),
    Column("mean", "mean", COEFFICIENT, _SYSTEMS, "the mean of the texts' mean scores"),
    Column("sd", "sd", COEFFICIENT, _SYSTEMS, "the standard deviation of the texts' mean scores", interval=False),
    Column("people_mean", "people's mean", COEFFICIENT, _SYSTEMS, "the same of people, on these texts"),
    Column("people_sd", "people's sd", COEFFICIENT, _SYSTEMS, "the same of people, on these texts", interval=False),
    Column("tau", "tau", COEFFICIENT, _SYSTEMS, "Kendall's tau-b over texts between people's means and the judge's", interval=False),
    Column("annotators_tau", "people's tau", COEFFICIENT, _SYSTEMS, "the mean tau-b over pairs of annotators", interval=False),
    Column("welch", "difference", COEFFICIENT, _DIFFERENCES, "the mean of the first system minus that of the second", interval=False),
    Column("welch_t", "Welch's t", COEFFICIENT, _DIFFERENCES, "Welch's t of the texts' means", interval=False),
    Column("welch_q", "q", PROBABILITY, _DIFFERENCES, "the p-value of Welch's t, corrected over the metrics", interval=False),
    Column("paired", "by prompt", COEFFICIENT, _DIFFERENCES, "the mean difference within prompts"),
    Column(
        "paired_q", "q by prompt", PROBABILITY, _DIFFERENCES, "the p-value of the difference within prompts, corrected over the metrics"
    ),
    Column("people_welch", "people's difference", COEFFICIENT, _DIFFERENCES, "the difference of people's means", interval=False),
    Column(
        "people_welch_q", "people's q", PROBABILITY, _DIFFERENCES, "the p-value of Welch's t of people's means, corrected", interval=False
    ),
    Column("order", "systems, the best first", TEXT, _ORDERS, "systems by the mean of the rater's scores", value=_order, interval=False),
)
