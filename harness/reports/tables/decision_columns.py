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
    Column("mean_gap", "mean of judge − people", POINTS, "the mean over languages, by random effects, in percentage points", _LANGUAGES),
    Column(
        "further_language",
        "another language",
        TEXT,
        "where the difference in a further language of this kind would lie (95 %), in percentage points",
        _LANGUAGES,
    ),
    Column("i2", "I²", SHARE, "the share of the variation between languages that is not chance", _LANGUAGES),
    Column("rates_p", "p of equal agreement", PROBABILITY, "of the hypothesis that the judge is right equally often", _LANGUAGES),
    Column("same_level", "on people's level", TEXT, "languages in which judge and people are shown to be on one level", _LANGUAGES),
    Column("most_lenient", "most lenient", TEXT, "the language with the largest judge − people in points of the scale", _LANGUAGES),
    Column("least_lenient", "strictest", TEXT, "the language with the smallest", _LANGUAGES),
    Column(
        "dif_effect",
        "same quality, other score",
        TEXT,
        "the size of the difference between languages in the scores of texts that people score alike (Nagelkerke's R²)",
        _LANGUAGES,
    ),
    Column(
        "parallel_fleiss",
        "κ of parallel texts",
        COEFFICIENT,
        "Fleiss' kappa of the judge's scores of a text in all languages",
        _LANGUAGES,
    ),
    # Calibration
    Column("answers", "answers", COUNT, "scores with a probability and labels", _CALIBRATION),
    Column("confidence", "confidence", SHARE, "the mean probability that the judge gave to its own scores", _CALIBRATION),
    Column("right", "right", SHARE, "the share of these scores that are the commonest label", _CALIBRATION),
    Column("error", "error", COEFFICIENT, "the root of the debiased squared calibration error, in units of probability", _CALIBRATION),
    Column("squared_error", "its square [95 %]", TEXT, "the debiased square in thousandths; it may be negative by chance", _CALIBRATION),
    Column("brier", "Brier", COEFFICIENT, "the mean squared difference of confidence and right", _CALIBRATION),
    Column("recalibrated_brier", "recalibrated", COEFFICIENT, "the same with confidences corrected by what other texts say", _CALIBRATION),
    Column("method", "by", TEXT, "how they are corrected", _CALIBRATION),
    # Labels that are needed
    Column("n", "texts", COUNT, "texts with two annotators", _NEEDED),
    Column("agreement", "agreement", SHARE, "the share of texts on which the judge gives the commonest label", _NEEDED),
    Column("half_width", "±", SHARE, "the half-width of its 95 % interval, in percentage points", _NEEDED),
    Column(
        "more_for_half_width",
        "for the half-width",
        TEXT,
        "further texts until its interval is as narrow as --half-width asks for",
        _NEEDED,
        text=lambda row: _further(row, "more_for_half_width"),
    ),
    Column(
        "more_for_verdict",
        "for a verdict",
        TEXT,
        "further texts until 'use' is shown, if the judge is as good as people; or the verdict that is there",
        _NEEDED,
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
