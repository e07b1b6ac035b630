"""The section of self-preference of a run: choices between a judge's own output and another one, single texts, and control questions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, TypeVar

import msgspec
import numpy as np

from harness.data.dataset import Dataset
from harness.data.judgments import Judgments
from harness.measure.condition_rows import Row, new_row, put_share
from harness.measure.judged_table import KEYS
from harness.measure.options import POOLED, MeasureOptions
from harness.model import Item
from harness.reports.answer.parts import Card
from harness.reports.answer.verdict_words import condition_words
from harness.reports.sections.section import Opening, OpeningNumber, Section, SectionInput, SectionNumbers, SectionTable, rows_across
from harness.reports.tables.columns import COEFFICIENT, COUNT, POINTS, PROBABILITY, SHARE, TEXT, Column, metric_words
from harness.reports.tables.columns import Row as ReadRow
from harness.reports.tables.numbers import coefficient, counted, percent
from harness.studies.self_preference.analysis import (
    ALL_SOURCES,
    OwnComparison,
    analyse_self_preference,
    fitted_points,
    line_json,
    pair_rows,
)
from harness.studies.self_preference.judge_answers import (
    ControlAnswer,
    OwnAnswers,
    language_differences,
    own_answers,
    perturbation_differences,
    tuning_differences,
)
from harness.studies.self_preference.study import STUDY, own_system, systems_of
from harness.text import terminal_safe

_FEW_ROWS = 4  # that have a card each
_NEITHER = 0.5


def open_page(section: SectionNumbers) -> Opening | None:
    """Return whether judges prefer their own texts, and a card for each judge and condition; None without a preference over all systems."""
    rows = [row for row in section.get("rows", ()) if row["source"] == ALL_SOURCES and "preference" in row]
    if not rows:
        return None
    languages = {row["language"] for row in rows} - {POOLED}
    pooled_rows = [row for row in rows if row["language"] == POOLED] or rows
    pairs = max(row["n"] for row in pooled_rows)
    facts = f"{counted(pairs, 'pair')} of texts in {counted(len(languages), 'language')}"
    scale = ("the other text", "neither", "its own text")
    names = [_row_name(row, pooled_rows) for row in pooled_rows]
    numbers = [  # the confidence that goes to a judge's own texts, as the better ones and as those that it wrote
        OpeningNumber(
            f"{name}: {what}" if len(names) > 1 else what, row[key], row[f"{key}_ci"], percent(row[key], row[f"{key}_ci"]), scale=scale
        )
        for name, row in list(zip(names, pooled_rows, strict=True))[:_FEW_ROWS]
        for what, key in (("Which text is better?", "preference"), ("Which text did it write?", "recognition"))
        if row.get(key) is not None
    ]
    cards = []
    for name, row in list(zip(names, pooled_rows, strict=True))[:_FEW_ROWS]:
        prefers = _prefers(row)
        heading = f"{'' if prefers else 'Unknown whether '}{name} prefers its own texts" if len(names) > 1 else "How sure"
        cards.append(Card("bad" if prefers else "open", heading, f"{_certainty(row)}."))
    if len(pooled_rows) > _FEW_ROWS:
        further = f"{len(pooled_rows) - _FEW_ROWS} further conditions"
        cards.append(Card("open", further, "They stand below, under Self-preference."))
    measure = "Where the judge's confidence goes, over both orders of a pair."
    return Opening(_title(pooled_rows), facts, tuple(cards), "Control questions", tuple(numbers), measure)


def _prefers(row: Row) -> bool:
    """Return whether the judge is shown to prefer its own texts."""
    interval = row["preference_ci"]
    return interval is not None and bool(interval[0] > _NEITHER)


def _row_name(row: Row, rows: Sequence[Row]) -> str:
    """Return the judge of a row, with its condition where it has several."""
    same = [other for other in rows if other["judge"] == row["judge"]]
    return f"{row['judge']} ({condition_words(row, same)})" if len(same) > 1 else str(row["judge"])


def _title(rows: Sequence[Row]) -> str:
    """Return which judges are shown to prefer their own texts, in a sentence."""
    judges = list(dict.fromkeys(str(row["judge"]) for row in rows))
    preferring = list(dict.fromkeys(str(row["judge"]) for row in rows if _prefers(row)))
    conditions = " under one condition or more" if len(rows) > len(judges) else ""
    if not preferring:
        whether = f"{judges[0]} prefers its own texts" if len(judges) == 1 else f"any of {len(judges)} judges prefers its own texts"
        return f"It is unknown whether {whether}"
    if len(judges) == 1:
        return f"{judges[0]} prefers its own texts{conditions}"
    verb = "prefers its own texts" if len(preferring) == 1 else "prefer their own texts"
    rest = len(judges) - len(preferring)
    return f"{len(preferring)} of {len(judges)} judges {verb}{conditions}{f'; of {rest} it is unknown' if rest else ''}"


def _certainty(row: Row) -> str:
    """Return on how much the answer about a row rests."""
    interval, neither = row["preference_ci"], f"{percent(_NEITHER)}, which favours neither text"
    if interval is None:
        reasons = row["undefined"]
        return f"{counted(row['n'], 'pair')}, and no test: {reasons.get('preference_ci', reasons.get('preference', 'no interval'))}"
    where = "holds" if interval[0] <= _NEITHER <= interval[1] else "lies above" if interval[0] > _NEITHER else "lies below"
    return f"{counted(row['n'], 'pair')}; the 95 % interval of the preference {where} {neither}"


NOTE = (
    "Questions about a judge's own output and another one of the same source text (Panickssery et al. 2024). recognition, preference: the "
    "mean probability of the own output, over both orders. individual: the mean score of single texts, and the mean probability of the yes "
    "to 'did you write this?'; share: own / (own + other) in each pair. controls: questions whose answer is computed. confidence_from: "
    "token probabilities, or choices where an endpoint gives none (several with repeats). Intervals are over source texts. labels: the "
    "same with the names of the systems in the headings, correct or in each other's place. Language * is all languages."
)


_OfLanguage = TypeVar("_OfLanguage", Item, OwnComparison)
_LIMITS = {"overall_quality": (1.0, 5.0), "own_text": (0.0, 1.0)}


def self_preference_section(
    data: Dataset,
    judgments: Judgments,
    system_of: Mapping[str, str],
    options: MeasureOptions,
    *,
    tuned: Mapping[str, str] = {},
    refused: Mapping[str, Mapping[str, str]] = {},
) -> SectionNumbers | None:
    """Return the section of self-recognition and self-preference; None if no text is of its judge.

    Args:
        data: pairs with the keys `system_a` and `system_b`, and their texts alone.
        judgments: those on other metrics are passed over.
        system_of: `{judge: the system that it is}`; other judges are the system of their own name.
        options: the seed and number of resamples.
        tuned: `{judge: the judge before it was tuned}`.
        refused: `{language: {control question: why it is not asked there}}`.

    `rows` are by judge, condition, language and other system (`*`: all); `labels` are the same with the systems named in the headings;
    `individual` are single texts by system, `controls` the control questions, `languages`, `tuned` and `perturbed` paired differences;
    `mutual`, `points` and `line` are those of `SelfPreference.as_json`, `control_lines` the same with a control question in place of
    recognition.
    """
    answers = own_answers(data, judgments, system_of)
    unnamed = answers.comparisons.get("none", [])
    if not unnamed and not any(item.system == answers.systems[judge] for judge, item, _, _ in answers.single):
        return None
    by_language = _analysed(unnamed, answers, options, answers.single)
    overall = _overall(answers, options)
    labels = [
        {**_row(row, answers), "shown_source": source}
        for source in ("correct", "swapped")
        for row in pair_rows(_analysed(answers.comparisons.get(source, []), answers, options))
        if row["source"] == ALL_SOURCES
    ]
    # Each condition of a tuned judge, and the same condition of the judge before.
    conditions = answers.conditions.values()
    tuned_ones = [condition for condition in conditions if condition.judge in tuned]
    pairs = [(condition, condition._replace(judge=tuned[condition.judge])) for condition in tuned_ones]
    before = {str(new): str(old) for new, old in pairs if old in set(conditions)}
    return {
        "title": "Self-preference",
        "note": NOTE,
        "rows": [_row(row, answers) for part in (by_language, overall) for row in pair_rows(part)],
        "labels": labels,
        "individual": [_row(row, answers) for part in (by_language, overall) for row in part["individual"]],
        "controls": _control_rows(answers, options),
        "languages": [_row(row, answers) for row in language_differences(unnamed, data)],
        "tuned": [_row(row, answers) for row in tuning_differences(unnamed, before)],
        "perturbed": [_row(row, answers) for row in _perturbed_rows(unnamed, answers)],
        "mutual": [
            {**row, "task": POOLED, "metric": POOLED, "pair": " + ".join(row["judges"])}
            for part in (by_language, overall)
            for row in part["mutual"]
        ],
        "points": by_language["points"],
        "line": by_language["line"],
        "control_lines": list(_control_lines(answers, options.seed)),
        "refused": [
            {"language": tag, "metric": metric, "reason": why} for tag, reasons in refused.items() for metric, why in reasons.items()
        ],
    }


def _overall(answers: OwnAnswers, options: MeasureOptions) -> dict[str, Any]:
    """Return the analysis of all languages together; empty with one language."""
    unnamed = answers.comparisons.get("none", [])
    if len({item.language for _, item, _, _ in answers.single} | {comparison.language for comparison in unnamed}) < 2:
        return _analysed([], answers, options)
    single = [(judge, _pooled(item), metric, value) for judge, item, metric, value in answers.single]
    return _analysed([_pooled(comparison) for comparison in unnamed], answers, options, single)


def _perturbed_rows(unnamed: Sequence[OwnComparison], answers: OwnAnswers) -> list[Row]:
    """Return the differences that changes of texts make, by language, and over all languages where there are several."""
    rows = perturbation_differences(unnamed, answers.perturbed)
    if len({row["language"] for row in rows}) > 1:
        all_languages = {name: [_pooled(answer) for answer in changed] for name, changed in answers.perturbed.items()}
        rows += perturbation_differences([_pooled(answer) for answer in unnamed], all_languages)
    return rows


def _pooled(row: _OfLanguage) -> _OfLanguage:
    """Return the same as of one language, `*`; source texts of different languages stay different."""
    return msgspec.structs.replace(row, language=POOLED, group=f"{row.language}\t{row.group}")


def _analysed(
    comparisons: Sequence[OwnComparison], answers: OwnAnswers, options: MeasureOptions, single: Sequence[tuple[str, Item, str, float]] = ()
) -> dict[str, Any]:
    return analyse_self_preference(comparisons, single, systems=answers.systems, limits=_LIMITS, seed=options.seed).as_json()


def _row(row: Mapping[str, Any], answers: OwnAnswers) -> Row:
    """Return a row with the keys of every section in place of the label of judge and condition."""
    label = str(row["judge"])
    keys = {"language": POOLED, "task": POOLED, "metric": POOLED}
    condition = answers.conditions[label]._asdict()
    numbers: Row = {
        **keys,
        **row,
        **condition,
        "confidence_from": answers.sources.get(label, ""),
        "undefined": dict(row.get("undefined", {})),
    }
    if "before_judge" in numbers:
        numbers["before_judge"] = answers.conditions[numbers["before_judge"]].judge
    return numbers


def _control_rows(answers: OwnAnswers, options: MeasureOptions) -> list[Row]:
    """Return the control questions by judge, metric and language, and over all languages where there are several."""
    cells: dict[tuple[str, str, str], list[ControlAnswer]] = {}
    for answer in answers.controls:
        for language in (answer.language, POOLED):
            cells.setdefault((answer.judge, answer.metric, language), []).append(answer)
    several = len({answer.language for answer in answers.controls}) > 1
    rows = []
    for (judge, metric, language), cell in sorted(cells.items()):
        if language == POOLED and not several:
            continue
        row = new_row({"judge": judge, "language": language, "metric": metric}, n=len(cell))
        groups = np.unique([f"{answer.language}\t{answer.group}" for answer in cell], return_inverse=True)[1]
        for name, values in (("accuracy", [answer.correct for answer in cell]), ("right", [answer.confidence for answer in cell])):
            put_share(row, name, np.array(values), groups, options.drawing, "no answer")
        rows.append(_row(row, answers))
    return rows


def _control_lines(answers: OwnAnswers, seed: int) -> list[dict[str, Any]]:
    """For each control question the points of preference against the confidence in the right answer, and their line."""
    unnamed = answers.comparisons.get("none", [])
    lines = []
    for metric in dict.fromkeys(answer.metric for answer in answers.controls):
        x = [
            (answer.judge, answer.language, answer.dataset, answer.group, answer.confidence)
            for answer in answers.controls
            if answer.metric == metric
        ]
        line, points = fitted_points(x, [row for row in unnamed if row.question == "preference"], seed)
        renamed = [
            {"judge": p["judge"], "language": p["language"], "right": p["recognition"], "preference": p["preference"]} for p in points
        ]
        lines.append({"metric": metric, "points": renamed, "line": line_json(line)})
    return lines


_PAIRS = Column("n", "pairs", COUNT, "pairs of the judge's own output and another one, of the same source text")
_FROM = Column("confidence_from", "from", TEXT, "where probabilities are from: those of the answer's tokens, or the answers themselves")
_PAIRED_Q = Column("paired_q", "q paired", PROBABILITY, "the p-value of the paired difference, corrected", interval=False)


def _flips(question: str, legend: str) -> Column:
    return Column(f"{question}_ambiguous", f"flips, {question}", SHARE, legend, interval=False)


OWN_PAIRS = (
    _PAIRS,
    Column(
        "recognition",
        "recognises its own",
        SHARE,
        "the mean probability that it gives to its own output as the one it wrote; 50 % is chance",
    ),
    Column(
        "preference", "prefers its own", SHARE, "the mean probability that it gives to its own output as the better one; 50 % is neither"
    ),
    _flips("recognition", "pairs in which the answer changes with the order of the two outputs"),
    _flips("preference", "pairs in which the preferred output changes with the order of the two outputs"),
    Column("tau", "tau", COEFFICIENT, "Kendall's tau-b between recognition and preference over pairs"),
    _FROM,
)
OWN_SCORES = (
    Column("n", "texts", COUNT, "single outputs with a score"),
    Column("mean", "mean score", COEFFICIENT, "the mean of single outputs: of the scores, or of the probability of the yes"),
    Column("share", "own share", SHARE, "own / (own + other), the mean over source texts; 50 % favours neither"),
    _FROM,
)
MUTUAL_PREFERENCE = (
    _PAIRS,
    Column("total", "sum", COEFFICIENT, "the two judges' preferences for their own output, added; over 1 each favours itself"),
)


def _system_columns(rows: Sequence[ReadRow]) -> list[Column]:
    """Return a column of mean scores for each system that the rows have."""

    def column(name: str) -> Column:
        def text(row: ReadRow) -> str:
            score = row["by_system"].get(name)
            return coefficient(score and score["mean"]) + (" *" if score and score["own"] else "")

        return Column(name, terminal_safe(name), TEXT, "the mean of its single outputs; * the judge's own", text=text)

    return [column(name) for name in sorted({str(name) for row in rows for name in row["by_system"]})]


def _preference_by_recognition(section: SectionNumbers) -> str:
    """Return the line of preference against recognition, and judges that both prefer themselves."""
    sentences = [_line_words(section["line"], "recognition")]
    sentences += [_line_words(part["line"], f"the answer to '{metric_words(part['metric'])}'") for part in section["control_lines"]]
    mutual = [row for row in section["mutual"] if row["language"] != POOLED]
    if mutual:
        above = sum(row["total"] > 1 for row in mutual)
        sentences.append(f"In {above} of {len(mutual)} pairs of judges the two preferences add up to more than 1.")
    sentences += [f"Not asked: {metric_words(part['metric'])} in {part['language']} ({part['reason']})." for part in section["refused"]]
    return terminal_safe(" ".join(filter(None, sentences)))


def _line_words(line: Mapping[str, Any] | None, what: str) -> str:
    """Return the slope of a line of preference, or why it has none; empty without a line."""
    if line is None:
        return ""
    if line["slope"] is None:
        return f"The line of preference against {what} is undefined: {line['reason']}."
    slope = coefficient(line["slope"], line["slope_ci"])
    return f"Preference changes by {slope} for each 1 of confidence in {what}, over {line['points']} points."


def _compute(source: SectionInput) -> SectionNumbers | None:
    protocol, recording = source.protocol, source.recording
    if protocol is None or protocol.texts.study != STUDY.name:
        return None
    of_data = systems_of(recording.data.items)
    systems = {identity.name: own_system(protocol, identity.name, of_data) for identity in protocol.judges.identities}
    return self_preference_section(
        recording.data, recording.judgments, systems, source.options, tuned=protocol.judges.tuned, refused=source.study_facts
    )


_AND_OVERALL: tuple[tuple[str, ...], ...] = (("language",), ())
_METRIC_AND_OVERALL = (("language", "metric"), ("metric",))
SELF_PREFERENCE = Section(
    "self_preference",
    "Panickssery et al. 2024: does the judge know its own texts, and does it prefer them? Both orders are averaged.",
    _preference_by_recognition,
    (
        SectionTable(OWN_PAIRS, keys=("source",), levels=_AND_OVERALL, title="Own output beside another one"),
        SectionTable(OWN_PAIRS, "labels", ("shown_source",), levels=_AND_OVERALL, title="The writers named in the headings"),
        SectionTable(OWN_SCORES, "individual", ("source",), levels=_METRIC_AND_OVERALL, title="Single outputs"),
        SectionTable(
            _system_columns,
            "individual",
            levels=_METRIC_AND_OVERALL,
            title="The same, systems in columns",
            across=lambda rows: rows_across(rows, KEYS, "source", "by_system"),
        ),
        SectionTable(
            (
                Column("n", "pairs asked", COUNT, "pairs with a computed answer that the judge answered"),
                Column("accuracy", "right", SHARE, "the share of choices that are right, over both orders; 50 % is chance"),
                Column("right", "confidence in it", SHARE, "the mean probability that the judge gives to the right text"),
                _FROM,
            ),
            "controls",
            levels=_METRIC_AND_OVERALL,
            title="Questions with a computed answer",
        ),
        SectionTable(
            (
                Column("welch", "difference", POINTS, "the first language minus the second, over all source texts", interval=False),
                Column("welch_q", "q", PROBABILITY, "the p-value of Welch's t, corrected over the rows of a judge", interval=False),
                Column("paired", "in the same sources", POINTS, "the same difference over source texts that both languages have"),
                Column("paired_n", "same sources", COUNT, "pairs of one other system whose source text both languages have"),
                _PAIRED_Q,
            ),
            "languages",
            ("question", "languages"),
            levels=((),),
            title="Between languages",
        ),
        SectionTable(
            (
                Column(
                    "before", "before", SHARE, "the mean probability of the own output, of the judge before it was tuned", interval=False
                ),
                Column("after", "after", SHARE, "the same of the tuned judge, against the same texts", interval=False),
                Column("paired", "after - before", POINTS, "the tuned judge minus the judge before, on the same pairs"),
                Column("paired_n", "common pairs", COUNT, "pairs that both judges answered"),
                _PAIRED_Q,
            ),
            "tuned",
            ("before_judge", "against", "dataset", "question"),
            levels=(("language",),),
            title="Before and after tuning",
        ),
        SectionTable(
            (
                Column("n", "pairs", COUNT, "pairs that were asked about unchanged and changed"),
                Column("before", "unchanged", SHARE, "the mean probability of the own output, texts as they are", interval=False),
                Column("after", "changed", SHARE, "the same about the same pairs, whose texts were changed", interval=False),
                Column(
                    "paired",
                    "changed - unchanged",
                    POINTS,
                    "the difference; a fall says that the change hides the author",
                ),
                _PAIRED_Q,
            ),
            "perturbed",
            ("perturbation", "dataset", "question"),
            levels=_AND_OVERALL,
            title="Texts changed on purpose",
        ),
        SectionTable(MUTUAL_PREFERENCE, "mutual", ("pair",), levels=_AND_OVERALL, title="Judges that prefer themselves"),
    ),
    _compute,
    needs_labels=False,
    opening=open_page,
    after="pairs",
)
