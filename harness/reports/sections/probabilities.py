"""May a judge's probabilities be believed, language by language? Confidence beside the share that is right, and what follows."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import msgspec

from harness.content.tags import english_name
from harness.correction.correction_options import ProbabilityOptions
from harness.correction.probabilities import (
    DO_NOT_HOLD,
    HOLD,
    NO_AGGREGATE,
    NOT_DISTRIBUTED,
    ONE_PERSON,
    PROBABILITY_VERDICTS,
    REFITTED,
    AcrossLanguages,
    CellProbabilities,
    CommonCut,
    probabilities_of_table,
)
from harness.measure.condition_rows import new_row, section
from harness.measure.options import POOLED
from harness.reports.sections.section import FEW_NAMES, Section, SectionInput, SectionNumbers, SectionTable, rows_across
from harness.reports.tables.columns import COEFFICIENT, COUNT, COUNT_OR_BLANK, POINTS, PROBABILITY, SHARE, TEXT, Column, Row, metric_words
from harness.reports.tables.numbers import coefficient, counted, percent, points, whole_points
from harness.text import one_line

NAME = "probabilities"
NOTE = (
    "confidence: mean probability of the judge's answers; right: the share that equals people's commonest label, person_right the mean "
    "share of people who gave the answer. gap = confidence - right, with Student's t over groups of texts. hold: the gap is shown within 5 "
    "points (two one-sided tests, exact limits by groups) and the slope is not shown outside .8 to 1.25; hold after refit: the same of "
    "values that a map of the other folds gives (Platt's, by language), if the map is shown to help; do not hold: the gap is shown beyond "
    "5 points or the slope outside, against the commonest label and single people alike; each kind of test by Holm over the languages and "
    "metrics of a judge. error_squared: squared calibration error without upward bias, over bins of equal count, each group against the "
    "others. skill: 1 - loss / loss of the frequencies of the other groups. people: what the other people of a text say of one person. "
    "bins: the reliability curve. cuts: what is accepted from one confidence on in all languages"
)
_LEAST_ACCEPTED = 10  # answers from a cut on, in a language
_SENTENCES = 4  # cells that are told one by one
_BY_CELL = (("language", "metric"),)
_BESIDE = ("person_", "people_", "error", "ece", "brier", "log_loss")  # how the names of numbers begin that stand beside a cell


def probabilities_section(
    cells: Sequence[CellProbabilities], languages: Sequence[AcrossLanguages], cuts: Sequence[CommonCut]
) -> SectionNumbers | None:
    """Return the section; None without cells.

    `rows` of cells, what stands `beside` them (people, class frequencies), `bins` of the curves, `refits`, `cuts`, and `languages` side by
    side.
    """
    rows, beside, bins, refits = (list[dict[str, Any]]() for _ in range(4))
    for cell in cells:
        reasons = dict(_reasons(cell))
        numbers = {name: value for name, value in cell.flat().items() if name not in (*cell.key, "bins", "refit")}
        for part, is_beside in ((rows, False), (beside, True)):
            row = new_row(_key(cell.key), **{name: value for name, value in numbers.items() if name.startswith(_BESIDE) is is_beside})
            row["undefined"] = {name: reason for name, reason in reasons.items() if name in row}
            part.append(row)
        bins += [new_row(_key(cell.key), bin=number, **values) for number, values in enumerate(cell.bins, 1)]
        if cell.refit is not None:
            refits.append(new_row(_key(cell.key), n=cell.n, verdict=cell.verdict, **msgspec.structs.asdict(cell.refit)))
    further_rows = {
        "beside": beside,
        "bins": bins,
        "refits": refits,
        "cuts": [new_row(_key(cut.key), **{k: v for k, v in cut.flat().items() if k not in cut.key}) for cut in cuts],
        "languages": [
            new_row({**_key(row.key), "language": POOLED}, **{k: v for k, v in row.flat().items() if k not in row.key}) for row in languages
        ],
    }
    return section("May its probabilities be believed?", rows, note=NOTE, **further_rows)


def _key(key: Mapping[str, Any]) -> dict[str, Any]:
    return {"language": POOLED, "task": POOLED, **key}


def _reasons(cell: CellProbabilities) -> Iterator[tuple[str, str]]:
    """Yield a reason for every number that a cell lacks."""
    for name, value in cell.flat().items():
        if value is None and name not in ("labels_needed", "reason", "refit"):
            if cell.reason == NO_AGGREGATE:
                yield name, NO_AGGREGATE
            elif name.startswith(("brier", "log_loss")):
                yield name, NOT_DISTRIBUTED if cell.brier is None else ONE_PERSON
            elif name.startswith("q_"):
                yield name, "too few independent texts" if cell.q_within is None else "no line or no map can be fitted"
            elif name == "people_right":
                yield name, ONE_PERSON
            else:
                yield name, "too few independent texts, or one confidence"


def _compute(inputs: SectionInput) -> SectionNumbers | None:
    if not inputs.recording.judgments.confidence.values:
        return None
    return probabilities_section(*probabilities_of_table(inputs.answers.clean, ProbabilityOptions(seed=inputs.options.seed)))


def probability_sentences(rows: Sequence[Row], refits: Sequence[Row]) -> list[str]:
    """Return a sentence for each cell: what it says, how often it is right, and what follows."""
    metrics, judges = ({row[name] for row in rows} for name in ("metric", "judge"))
    names = ("source", "language", "metric", "judge", "variant", "temperature")
    refit_of = {tuple(row.get(name) for name in names): row for row in refits}
    sentences = []
    for row in rows:
        if row["right"] is None:
            continue
        metric = f" ({one_line(metric_words(str(row['metric'])))})" if len(metrics) > 1 else ""
        judge = f"{one_line(str(row['judge']))}: in" if len(judges) > 1 else "In"
        ends = f" [{whole_points(row['right_ci'][0])} to {whole_points(row['right_ci'][1])}]" if row["right_ci"] else ""
        says = f"{judge} {english_name(row['language'])}{metric} it says {percent(row['confidence'])} and is right in"
        refit = refit_of.get(tuple(row.get(name) for name in names))
        needed = row["labels_needed"]
        if row["verdict"] == HOLD:
            end = "its probabilities hold"
        elif row["verdict"] == REFITTED and refit is not None:
            end = f"do not gate on them; refitted on {counted(row['n'], 'text')} they hold (gap {points(abs(refit['gap']))})"
        elif row["verdict"] == DO_NOT_HOLD:
            slope = row["cox_slope"]
            close = row["q_beyond"] is None or row["q_beyond"] > ProbabilityOptions().alpha
            extreme = (
                f" (slope {coefficient(slope)}: they are too {'extreme' if slope < 1 else 'timid'})" if close and slope is not None else ""
            )
            end = f"do not gate on them{extreme}"
        else:
            about = f"; about {counted(needed)} would do" if needed and needed > row["n"] else ""
            end = f"too few labels to say ({counted(row['n'], 'text')}{about})"
        sentences.append(f"{says} {percent(row['right'])} of texts{ends}: {end}.")
    return sentences


def probability_tally(rows: Sequence[Row]) -> str:
    """Return how many cells have each verdict, and which: `Its probabilities hold in 7 of 12 languages (Czech, …); …`."""
    answered = [row for row in rows if row["right"] is not None]
    one_metric = len({row["metric"] for row in answered}) == len({row["judge"] for row in answered}) == 1
    what = "languages" if one_metric else "languages and metrics"
    counts, parts = Counter(row["verdict"] for row in answered), list[str]()
    words = {HOLD: "hold", REFITTED: "hold after a refit", DO_NOT_HOLD: "do not hold"}
    for verdict in PROBABILITY_VERDICTS:
        if counts[verdict]:
            names = list(dict.fromkeys(english_name(row["language"]) for row in answered if row["verdict"] == verdict))
            more = f" and {len(names) - FEW_NAMES} more" if len(names) > FEW_NAMES + 1 else ""
            parts.append(
                f"{words.get(verdict, 'have too few labels')} in {counts[verdict]} of {len(answered)} {what if not parts else ''}".rstrip()
                + f" ({', '.join(names[: FEW_NAMES if more else None])}{more})"
            )
    return f"Its probabilities {'; they '.join(parts)}." if parts else ""


def headline(numbers: SectionNumbers) -> list[str]:
    """Return what is read first: a sentence for each cell where they are few, else how many have each verdict, then the sentences."""
    sentences = probability_sentences(numbers["rows"], numbers["refits"])
    if len(sentences) <= _SENTENCES:
        return [" ".join(sentences)] if sentences else []
    return [probability_tally(numbers["rows"]), *sentences]


def _finding(numbers: SectionNumbers) -> str:
    """Return the sentences where they are few, else the tally with the worst cell; then what one cut does, and how languages differ."""
    lines = headline(numbers)
    if not lines:
        return ""
    rows_with_gap = [row for row in numbers["rows"] if row["gap"] is not None]
    worst = max(rows_with_gap, key=lambda row: abs(row["gap"]))
    first = lines[0] if len(lines) == 1 else f"{lines[0]} {' '.join(probability_sentences([worst], numbers['refits']))}"
    sentences, cut = [first], 0.9
    accepted = [row for row in numbers["cuts"] if row["cut"] == cut and row["origin"] == "usual" and row["n"] >= _LEAST_ACCEPTED]
    if len({row["language"] for row in accepted}) > 1:
        best, worst = min(accepted, key=lambda row: row["wrong"]), max(accepted, key=lambda row: row["wrong"])
        shares = f"{percent(best['wrong'])} in each of {counted(len({row['language'] for row in accepted}), 'language')}"
        if percent(best["wrong"]) != percent(worst["wrong"]):
            metrics = {row["metric"] for row in accepted}
            cells = [
                f"{english_name(row['language'])}, {one_line(metric_words(str(row['metric'])))}"
                if len(metrics) > 1
                else english_name(row["language"])
                for row in (best, worst)
            ]
            shares = f"{percent(best['wrong'])} ({cells[0]}) to {percent(worst['wrong'])} ({cells[1]})"
        sentences.append(f"With one cut at {percent(cut)} for all languages, accepted answers are wrong in {shares}.")
    for row in numbers["languages"] if len(numbers["languages"]) == 1 else ():
        spread = ""
        if ends := row["spread_ci"]:
            spread = f"; gaps of languages spread by {points(row['spread'])} [{whole_points(ends[0])} to {whole_points(ends[1])}]"
        sentences.append(f"The largest gap is that of {english_name(row['worst'])}{spread}.")
    return " ".join(sentences)


_CELLS = (
    Column("n", "texts", COUNT_OR_BLANK, "answers with a probability whose text has a commonest label"),
    Column("confidence", "says", SHARE, "mean probability that the judge gave to its answers"),
    Column("right", "is right", SHARE, "share of these answers that are people's commonest label"),
    Column("gap", "gap", POINTS, "what it says minus how often it is right, in percentage points; + is too sure"),
    Column("cox_slope", "slope", COEFFICIENT, "of right on confidence, both as log-odds: 1 is calibrated, less is too extreme"),
    Column(
        "verdict", "its probabilities", TEXT, "whether they may be believed: tests of the gap (5 points) and the slope, Holm over the rows"
    ),
    Column("labels_needed", "texts needed", COUNT_OR_BLANK, "about how many labelled texts would decide, or a refit needs"),
)
_QUALITY = (
    Column("person_right", "one person", SHARE, "how often a single person gives the judge's answer"),
    Column("person_gap", "gap to one person", POINTS, "what it says minus that, in percentage points"),
    Column("people_right", "people", SHARE, "how often one person gives the commonest label of the text's other people: the ceiling"),
    Column(
        "error",
        "calibration error",
        POINTS,
        "root of the squared error over bins of equal count without upward bias, in points; below 0: chance alone would make more",
        interval=False,
    ),
    Column(
        "brier_skill",
        "Brier skill",
        COEFFICIENT,
        "of all classes' probabilities: 1 - Brier's score / that of the other groups' frequencies",
    ),
    Column("log_loss_skill", "log skill", COEFFICIENT, "the same of the log loss"),
    Column("brier_shared", "Brier, judge", COEFFICIENT, "Brier's score against people's labels, on texts with two people or more"),
    Column("brier_people", "Brier, people", COEFFICIENT, "the same of what the text's other people say of one person"),
    Column("brier_least", "least", COEFFICIENT, "the least that any probabilities can have, as people differ"),
)
_REFITS = (
    Column("n", "texts", COUNT_OR_BLANK, "that the map is learnt from"),
    Column("map_intercept", "intercept", COEFFICIENT, "log-odds of right = intercept + slope × log-odds of the confidence"),
    Column("map_slope", "slope", COEFFICIENT, "see intercept"),
    Column("gap", "gap after", POINTS, "refitted confidence minus the share right, on texts that the map has not seen"),
    Column("refitted_slope", "slope after", COEFFICIENT, "of the refitted confidences"),
    Column("brier_raw", "Brier", COEFFICIENT, "mean squared error of the raw confidences"),
    Column("brier", "after", COEFFICIENT, "that of the refitted ones"),
    Column("brier_constant", "without them", COEFFICIENT, "that of the share right elsewhere, whatever the confidence"),
    Column("refused", "refused", TEXT, "why the map is not used", text=lambda row: row["refused"] or ""),
)
_LANGUAGES = (
    Column("languages", "languages", COUNT, "with a gap and its error"),
    Column("mean", "typical gap", POINTS, "mean gap of a language (random effects), in points"),
    Column("spread", "spread", SHARE, "standard deviation of the gaps of languages beyond chance, in points"),
    Column("p", "p of equal gaps", PROBABILITY, "by Cochran's Q"),
    Column("worst", "largest gap", TEXT, "the language with the largest gap", text=lambda row: english_name(row["worst"])),
    Column("worst_gap", "its gap", POINTS, "the gap of that language, in percentage points"),
)


def _side_by_side(rows: Sequence[Row]) -> list[dict[str, Any]]:
    """Return one row a language, with its cuts by their name."""
    names = ("source", "language", "task", "metric", "judge", "variant", "temperature")
    cut_names = [f"{'accept: ' if row['origin'] == 'accept' else ''}≥ {percent(row['cut'])}" for row in rows]
    named_rows = [{**row, "at": name} for row, name in zip(rows, cut_names, strict=True)]
    return rows_across(named_rows, [name for name in names if name in rows[0]], "at", "cut")


def _cut_columns(rows: Sequence[Row]) -> list[Column]:
    names = list(dict.fromkeys(name for row in rows for name in row["cut"]))
    legend = "share of the answers with this confidence that are wrong with exact 95 % limits, and in brackets the share that has it"
    return [
        Column(name, name, TEXT, "the same from this confidence on" if number else legend, text=_write_cut(name))
        for number, name in enumerate(names)
    ]


def _write_cut(name: str) -> Callable[[Row], str]:
    def text(row: Row) -> str:
        cut = row["cut"].get(name)
        return "" if cut is None else f"{percent(cut['wrong'], cut['wrong_ci'])} (of {percent(cut['accepted'])})"

    return text


PROBABILITIES = Section(
    NAME,
    "Is it as often right as it says?",
    _finding,
    (
        SectionTable(_CELLS, levels=_BY_CELL),
        SectionTable(_QUALITY, part="beside", levels=_BY_CELL, title="beside people and beside class frequencies"),
        SectionTable(_REFITS, part="refits", levels=_BY_CELL, title="refitted by language"),
        SectionTable(
            _cut_columns, part="cuts", levels=_BY_CELL, title="one cut for all: wrong among accepted answers", across=_side_by_side
        ),
        SectionTable(_LANGUAGES, part="languages", levels=(("metric",),), title="languages side by side"),
    ),
    _compute,
    in_comparisons=True,
    standalone=True,
)
