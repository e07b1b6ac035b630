"""The worth of each score: a judge's scores before and after a map to people's scores, language by language, and label sets."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import msgspec

from harness.content.tags import english_name
from harness.correction.calibrate import ALPHA, CalibratedCell, CalibratedMetric, metrics_of_all_judges
from harness.correction.correction_options import CalibrateOptions
from harness.measure.compare import Recording
from harness.measure.condition_rows import new_row, section
from harness.measure.options import POOLED, MeasureOptions
from harness.reports.sections.section import FEW_NAMES, Section, SectionNumbers, SectionTable
from harness.reports.tables.columns import COUNT_OR_BLANK, PROBABILITY, TEXT, Column, Row
from harness.reports.tables.numbers import UNDEFINED, coefficient, counted, percent, points, signed

NAME = "calibrated_scores"
NOTE = (
    "after: what the map of the other folds says of each text (folds of groups); Brier's score (of numbers the squared error) = "
    "miscalibration - discrimination + uncertainty. over_scores, over_constant: by how much the map lowers it, against the raw scores and "
    "against the same map without the judge's score; p is the larger of both, q Holm's over the languages of a metric; shown at "
    f"{ALPHA:g}. "
    "A rising map keeps the order of texts within a language: no gain in Kendall's tau is claimed. gaps: best language minus worst, beside "
    "what equal languages with these errors have. sets: conformal, each language with its own threshold, from labels that the map has not "
    "seen"
)
_SIDES = ("agreement", "loss", "error", "error_ci", "leniency", "leniency_ci")
_PARTS = ("miscalibration", "discrimination", "uncertainty")
_BY_LANGUAGE = (("language", "metric"), ("metric",))


def calibrated_section(metrics: Sequence[CalibratedMetric]) -> SectionNumbers:
    """Return the section: a row for each language and for all of them (`*`); `parts` of the loss, label `sets`, and `gaps`."""
    rows, parts, sets, gaps = [], [], [], []
    for metric in metrics:
        for cell in (*metric.cells, *([metric.overall] if len(metric.cells) > 1 else [])):
            key = {**metric.key, "language": cell.language, "task": POOLED}
            row = {**new_row(key), "n": cell.n, "labels": cell.labels, "groups": cell.groups, **_before_and_after(cell, _SIDES)}
            row |= {name: getattr(cell, name) for name in ("over_scores", "over_constant", "p", "q", "advice")}
            row |= {"kind": metric.kind, "method": metric.method}
            row["undefined"] = {name: cell.advice for name in ("p", "q") if row[name] is None}
            rows.append(row)
            parts.append({**new_row(key), **_before_and_after(cell, _PARTS)})
            if cell.sets is not None:
                values = {name: value for name, value in msgspec.structs.asdict(cell.sets).items() if name != "curve"}
                undefined = {} if cell.sets.reason is None else {"threshold": cell.sets.reason}
                sets.append({**key, "kind": metric.kind, **values, "undefined": undefined})
        quantity = "squared error" if metric.kind == "numbers" else "agreement"
        for when, gap in (("before", metric.gap_before), ("after", metric.gap_after)):
            if gap is not None:
                values = {name: getattr(gap, name) for name in ("gap", "by_chance", "by_chance_95", "p")}
                gaps.append(new_row({**metric.key, "language": POOLED, "task": POOLED}, when=when, gap_of=quantity, **values))
    return section("What each score is worth", rows, note=NOTE, parts=parts, sets=sets, gaps=gaps) or {}


def calibrate_scores(sources: Sequence[Recording], options: MeasureOptions) -> dict[str, SectionNumbers]:
    """Return the section by its name, with the numbers of `calibrate` for every judge and condition but baselines.

    Empty where nothing can be mapped, and of several sources.
    """
    metrics = metrics_of_all_judges(sources[0], options, CalibrateOptions(seed=options.seed)) if len(sources) == 1 else []
    return {NAME: calibrated_section(metrics)} if metrics else {}


def _before_and_after(cell: CalibratedCell, names: Sequence[str]) -> dict[str, Any]:
    sides = (("before", cell.before), ("after", cell.after))
    return {f"{name}_{when}": getattr(side, name) for when, side in sides for name in names}


def _write_before_and_after(name: str, write: Callable[[Any, Any], str], *, intervals: bool = False) -> Callable[[Row], str]:
    """Return a function that writes what was before and what is after: `57 % → 68 %`; empty where neither is defined."""

    def text(row: Row) -> str:
        sides = [(row[f"{name}_{when}"], row.get(f"{name}_ci_{when}") if intervals else None) for when in ("before", "after")]
        return "" if all(value is None for value, _ in sides) else " → ".join(write(*side) for side in sides)

    return text


def _two_decimals(value: float | None, ends: Any) -> str:
    return coefficient(value)


def _set_size(row: Row) -> str:
    if row["threshold"] is None:
        return str(row["reason"])
    size = row["mean_size"]
    return UNDEFINED if size is None else f"{size:.1f} {'points wide' if row['kind'] == 'numbers' else 'scores'}"


def _describe_gains(numbers: SectionNumbers) -> str:
    rows = [row for row in numbers["rows"] if row["language"] != POOLED]
    several = len({row["metric"] for row in rows}) > 1 or len({row["judge"] for row in rows}) > 1
    gaining = [row for row in rows if row["advice"] == "use the map"]
    falling = [row for row in rows if row["advice"].startswith("refused")]
    refused = "the map falls, as higher scores went with lower ones of people, and is refused: do not rely on the scores there"
    sentences = (
        _gain_sentence(gaining, falling, rows, several),
        f"In {_name_languages(falling, several)} {refused}." if falling else "",
        _fewer_equal_sentence(gaining),
        "" if several else _gap_sentence(numbers),
    )
    return " ".join(filter(None, sentences))


def _fewer_equal_sentence(gaining: Sequence[Row]) -> str:
    """Say where a map that helps equals people's scores less often, in whole percent."""
    sides = [(row, percent(row["agreement_before"]), percent(row["agreement_after"])) for row in gaining if row["agreement_before"]]
    fewer = [
        f"{english_name(row['language'])} ({before} → {after})"
        for row, before, after in sides
        if before != after and row["agreement_after"] < row["agreement_before"]
    ]
    return f"It equals people's scores less often in {', '.join(fewer)}, and says better how sure each score is." if fewer else ""


def _gain_sentence(gaining: Sequence[Row], falling: Sequence[Row], rows: Sequence[Row], several: bool) -> str:
    if not gaining:
        return "No gain is shown: leave the scores as they are." if len(falling) < len(rows) else ""
    if len(rows) == 1:
        return "A gain is shown: use the map."
    gain, rest = f"A gain is shown in {len(gaining)} of {len(rows)}", [row for row in rows if row not in (*gaining, *falling)]
    if not several and 0 < len(rest) < len(gaining):
        return f"{gain} languages, not in {_name_languages(rest, several)}: leave the scores as they are there."
    what = "cells" if several else "languages" if len(gaining) == len(rows) else f"languages ({_name_languages(gaining, several)})"
    return f"{gain} {what}.{' Leave the scores of the others as they are.' if rest else ''}"


def _name_languages(rows: Sequence[Row], several: bool) -> str:
    names = [english_name(row["language"]) + (f" ({row['metric'].replace('_', ' ')})" if several else "") for row in rows]
    more = f" and {len(names) - FEW_NAMES} more" if len(names) > FEW_NAMES + 1 else ""
    return ", ".join(names[: FEW_NAMES if more else None]) + more


def _gap_sentence(numbers: SectionNumbers) -> str:
    """Return the gap before and after; that it grows is said only where it grows by more than 95 of 100 gaps of equal languages."""
    sides = {row["when"]: row for row in numbers["gaps"]}
    if len(sides) < 2:
        return ""
    before, after = sides["before"], sides["after"]
    write = (lambda value: f"{value:.2f}") if before["gap_of"] == "squared error" else points
    grown = after["gap"] - before["gap"] > max(before["by_chance_95"], after["by_chance_95"])
    return (
        f"Best and worst language lie {write(before['gap'])} apart in {before['gap_of']} before and {write(after['gap'])} after; equal "
        f"languages would lie {write(after['by_chance'])} apart by chance{'; the map widens the gap by more than that' if grown else ''}."
    )


def _column(name: str, heading: str, legend: str, text: Callable[[Row], str]) -> Column:
    return Column(name, heading, TEXT, legend, text=text)


def _gap_column(name: str, heading: str, legend: str) -> Column:
    return _column(name, heading, legend, lambda row: f"{row[name]:.2f}" if row["gap_of"] == "squared error" else points(row[name]))


_COLUMNS = (
    Column("n", "texts", COUNT_OR_BLANK, "labelled texts that the judge scored; without --annotators those with one annotator too"),
    Column("groups", "groups", COUNT_OR_BLANK, "independent groups of texts"),
    _column(
        "agreement_after",
        "agreement",
        "share of people's labels that the score equals; after: that the most probable class equals",
        _write_before_and_after("agreement", percent),
    ),
    _column(
        "loss_after",
        "loss",
        "Brier's score, 0 to 2, of a raw score taken as certain, and of the map; of numbers the squared error; lower is better",
        _write_before_and_after("loss", _two_decimals),
    ),
    _column(
        "error_after",
        "calibration error [95 %]",
        "how far people's mean is from the score, or from what the map expects, in points of the scale, without its bias",
        _write_before_and_after("error", coefficient, intervals=True),
    ),
    _column(
        "leniency_after",
        "leniency",
        "score minus people's mean, in points, + is toward the best",
        _write_before_and_after("leniency", lambda value, ends: UNDEFINED if value is None else signed(value, 2)),
    ),
    Column("q", "gain, q", PROBABILITY, "q-value of the gain, against raw scores and against the map without the judge's score"),
    Column("advice", "advice", TEXT, "what to do with the scores of new texts"),
)

CALIBRATED_SCORES = Section(
    NAME,
    "What do people say of a text with this score? A map from the judge's scores to people's, before → after, on texts it has not seen.",
    _describe_gains,
    (
        SectionTable(_COLUMNS, levels=_BY_LANGUAGE),
        SectionTable(
            tuple(
                _column(f"{name}_after", name, legend, _write_before_and_after(name, _two_decimals))
                for name, legend in (
                    ("miscalibration", "the part of the loss that another map could still remove"),
                    ("discrimination", "the part that scores win over class shares, or over the mean"),
                    ("uncertainty", "the loss of class shares, or of the mean"),
                )
            ),
            part="parts",
            levels=_BY_LANGUAGE,
            title="parts of the loss, before → after",
        ),
        SectionTable(
            (
                _column("mean_size", "mean set", "how many scores a set holds on average, or how long an interval is", _set_size),
                _column(
                    "whole",
                    "says nothing",
                    "the judge's texts whose set holds every score",
                    lambda row: "" if row["threshold"] is None or row["whole"] is None else percent(row["whole"]),
                ),
                Column("learnt_from", "map of", TEXT, "what the map of the sets has learnt from"),
                _column(
                    "groups",
                    "threshold of",
                    "the independent groups whose labels set the threshold of the sets",
                    lambda row: counted(row["groups"], "group"),
                ),
            ),
            part="sets",
            levels=(("language", "metric"),),
            title="label sets",
        ),
        SectionTable(
            (
                Column("gap_of", "gap in", TEXT, "what languages are compared by"),
                _gap_column("gap", "gap", "best minus worst language"),
                _gap_column("by_chance", "by chance", "mean gap of equal languages"),
                _gap_column("by_chance_95", "95 % below", "below it in 95 of 100 draws of equal languages"),
                Column("p", "p", PROBABILITY, "p-value of equal languages, by Cochran's Q"),
            ),
            part="gaps",
            keys=("when",),
            levels=(("metric",),),
            title="the gap between languages",
        ),
    ),
)
