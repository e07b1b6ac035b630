"""The columns of tables beside verdicts: languages side by side, calibration, labels needed."""

from __future__ import annotations

from harness.reports.tables.column import COEFFICIENT, COUNT, POINTS, PROBABILITY, SHARE, TEXT, Column, Row, TableName, in_tables
from harness.reports.tables.numbers import UNDEFINED, signed

_LANGUAGES = in_tables(TableName.LANGUAGES)
_CALIBRATION = in_tables(TableName.CALIBRATION)
_NEEDED = in_tables(TableName.LABELS_NEEDED)


def _further(row: Row, name: str) -> str:
    count = row.get(name)
    return UNDEFINED if count is None else "enough" if count == 0 else f"{count:,} more"


def _for_verdict(row: Row) -> str:
    k = row.get("more_for_verdict")
    if k is not None:
        return f"more than {k:,} more" if row.get("more_than") else f"about {k:,} more"
    if row["verdict"] == "no verdict":
        return str(row["reasons"]["more_for_verdict"])
    return str(row["verdict"]) if row["verdict"] in ("use", "do not use") else "no number would do"


DECISION_COLUMNS: tuple[Column, ...] = (
    # Languages side by side
    Column("mean_gap", "mean of judge − people", POINTS, _LANGUAGES, "the mean over languages, by random effects, in percentage points"),
    Column(
        "further_language",
        "another language",
        TEXT,
        _LANGUAGES,
        "where the difference in a further language of this kind would lie (95 %), in percentage points",
    ),
    Column("i2", "I²", SHARE, _LANGUAGES, "the share of the variation between languages that is not chance"),
    Column("rates_p", "p of equal agreement", PROBABILITY, _LANGUAGES, "of the hypothesis that the judge is right equally often"),
    Column("same_level", "on people's level", TEXT, _LANGUAGES, "languages in which judge and people are shown to be on one level"),
    Column("most_lenient", "most lenient", TEXT, _LANGUAGES, "the language with the largest judge − people in points of the scale"),
    Column("least_lenient", "strictest", TEXT, _LANGUAGES, "the language with the smallest"),
    Column(
        "dif_effect",
        "same quality, other score",
        TEXT,
        _LANGUAGES,
        "the size of the difference between languages in the scores of texts that people score alike (Nagelkerke's R²)",
    ),
    Column(
        "parallel_fleiss",
        "κ of parallel texts",
        COEFFICIENT,
        _LANGUAGES,
        "Fleiss' kappa of the judge's scores of a text in all languages",
    ),
    # Calibration
    Column("answers", "answers", COUNT, _CALIBRATION, "scores with a probability and labels"),
    Column("confidence", "confidence", SHARE, _CALIBRATION, "the mean probability that the judge gave to its own scores"),
    Column("right", "right", SHARE, _CALIBRATION, "the share of these scores that are the commonest label"),
    Column("error", "error", COEFFICIENT, _CALIBRATION, "the root of the debiased squared calibration error, in units of probability"),
    Column("squared_error", "its square [95 %]", TEXT, _CALIBRATION, "the debiased square in thousandths; it may be negative by chance"),
    Column("brier", "Brier", COEFFICIENT, _CALIBRATION, "the mean squared difference of confidence and right"),
    Column("recalibrated_brier", "recalibrated", COEFFICIENT, _CALIBRATION, "the same with confidences corrected by what other texts say"),
    Column("method", "by", TEXT, _CALIBRATION, "how they are corrected"),
    # Labels that are needed
    Column("n", "texts", COUNT, _NEEDED, "texts with two annotators"),
    Column("agreement", "agreement", SHARE, _NEEDED, "the share of texts on which the judge gives the commonest label"),
    Column("half_width", "±", SHARE, _NEEDED, "the half-width of its 95 % interval, in percentage points"),
    Column(
        "more_for_half_width",
        "for the half-width",
        TEXT,
        _NEEDED,
        "further texts until its interval is as narrow as --half-width asks for",
        text=lambda row: _further(row, "more_for_half_width"),
    ),
    Column(
        "more_for_verdict",
        "for a verdict",
        TEXT,
        _NEEDED,
        "further texts until 'use' is shown, if the judge is as good as people; or the verdict that is there",
        text=_for_verdict,
    ),
)


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
