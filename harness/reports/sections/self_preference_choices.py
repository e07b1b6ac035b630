"""The section of self-preference of a run: choices between a judge's own output and another one, single texts, and control questions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import msgspec
import numpy as np

from harness.data.dataset import Dataset
from harness.data.judgments import Judgments
from harness.data.own_outputs import OwnComparison
from harness.measure.condition_rows import Row, new_row, put_share
from harness.measure.options import POOLED, CompareOptions
from harness.model import Item
from harness.reports.sections.own_answers import Condition, ControlAnswer, OwnAnswers, own_answers
from harness.reports.sections.own_differences import language_differences, pooled_over_languages, tuning_differences
from harness.reports.sections.self_preference import ALL_SOURCES, analyse_self_preference, fitted_points, line_json, pair_rows

NOTE = (
    "Questions about a judge's own output and another one of the same source text (Panickssery et al. 2024). recognition, preference: the "
    "mean probability of the own output, over both orders. individual: the mean score of single texts, and the mean probability of the yes "
    "to 'did you write this?'; share: own / (own + other) in each pair. controls: questions whose answer is computed. confidence_from: "
    "token probabilities, or choices where an endpoint gives none (several with repeats). Intervals are over source texts. labels: the "
    "same with the names of the systems in the headings, correct or in each other's place. Language * is all languages."
)


_LIMITS = {"overall_quality": (1.0, 5.0), "own_text": (0.0, 1.0)}


def self_preference_section(
    data: Dataset,
    judgments: Judgments,
    own: Mapping[str, str],
    options: CompareOptions,
    *,
    tuned: Mapping[str, str] = {},
    refused: Mapping[str, Mapping[str, str]] = {},
) -> dict[str, Any] | None:
    """The section of self-recognition and self-preference; None if no text is of its judge.

    Args:
        data: pairs with the keys `system_a` and `system_b`, and their texts alone.
        judgments: those on other metrics are passed over.
        own: `{judge: the system that it is}`; other judges are the system of their own name.
        options: the seed and number of resamples.
        tuned: `{judge: the judge before it was tuned}`.
        refused: `{language: {control question: why it is not asked there}}`.

    `rows` are by judge, condition, language and other system (`*`: all); `labels` are the same with the systems named in the headings;
    `individual` are single texts by system, `controls` the control questions, `languages` and `tuned` paired differences; `mutual`,
    `points` and `line` are those of `SelfPreference.as_json`, `control_lines` the same with a control question in place of recognition.
    """
    answers = own_answers(data, judgments, own)
    unnamed = answers.comparisons.get("none", [])
    if not unnamed and not any(item.system == answers.own[judge] for judge, item, _, _ in answers.single):
        return None
    found = analyse_self_preference(unnamed, answers.single, own=answers.own, limits=_LIMITS, seed=options.seed).as_json()
    overall = _overall(answers, options)
    labels = [
        {**row, "shown_source": shown}
        for shown in ("correct", "swapped")
        for row in _pair_rows(answers.comparisons.get(shown, []), answers, options)
        if row["source"] == ALL_SOURCES
    ]
    before = {_judge(answers, new): _judge(answers, old) for new, old in _tuned_conditions(answers, tuned)}
    return {
        "title": "Self-preference",
        "note": NOTE,
        "rows": [_row(row, answers) for part in (found, overall) for row in pair_rows(part)],
        "labels": labels,
        "individual": [_row(row, answers) for part in (found, overall) for row in part["individual"]],
        "controls": list(_control_rows(answers, options)),
        "languages": [_row(row, answers) for row in language_differences(unnamed, data)],
        "tuned": [_row(row, answers) for row in tuning_differences(unnamed, before)],
        "mutual": [_mutual_row(row) for part in (found, overall) for row in part["mutual"]],
        "points": found["points"],
        "line": found["line"],
        "control_lines": list(_control_lines(answers, options.seed)),
        "refused": [{"language": tag, "metric": metric, "reason": why} for tag, of in refused.items() for metric, why in of.items()],
    }


def _overall(answers: OwnAnswers, options: CompareOptions) -> dict[str, Any]:
    """The analysis of all languages together; empty with one language."""
    single = [(judge, _pooled(item), metric, value) for judge, item, metric, value in answers.single]
    several = len({item.language for _, item, _, _ in answers.single} | {one.language for one in answers.comparisons.get("none", [])}) > 1
    comparisons = list(pooled_over_languages(answers.comparisons.get("none", []))) if several else []
    return analyse_self_preference(comparisons, single if several else (), own=answers.own, limits=_LIMITS, seed=options.seed).as_json()


def _pooled(item: Item) -> Item:
    return msgspec.structs.replace(item, language=POOLED, group=f"{item.language}\t{item.group}")


def _pair_rows(comparisons: Sequence[OwnComparison], answers: OwnAnswers, options: CompareOptions) -> list[Row]:
    found = analyse_self_preference(comparisons, own=answers.own, limits=_LIMITS, seed=options.seed).as_json()
    return [_row(row, answers) for row in pair_rows(found)]


def _row(row: Mapping[str, Any], answers: OwnAnswers) -> Row:
    """A row with the keys of every section in place of the label of judge and condition."""
    label = str(row["judge"])
    judge, variant, temperature, top_p = answers.conditions[label]
    keys = {"language": POOLED, "task": POOLED, "metric": POOLED}
    condition = {"judge": judge, "variant": variant, "temperature": temperature, "top_p": top_p}
    made: Row = {**keys, **row, **condition, "confidence_from": answers.sources.get(label, ""), "undefined": dict(row.get("undefined", {}))}
    if "before_judge" in made:
        made["before_judge"] = answers.conditions[made["before_judge"]][0]
    return made


def _mutual_row(row: Mapping[str, Any]) -> Row:
    return {**row, "task": POOLED, "metric": POOLED, "pair": " + ".join(row["judges"])}


def _judge(answers: OwnAnswers, condition: Condition) -> str:
    return next(label for label, known in answers.conditions.items() if known == condition)


def _tuned_conditions(answers: OwnAnswers, tuned: Mapping[str, str]) -> list[tuple[Condition, Condition]]:
    """Each condition of a tuned judge, and the same condition of the judge before."""
    known = set(answers.conditions.values())
    pairs = [(one, (tuned[one[0]], *one[1:])) for one in answers.conditions.values() if one[0] in tuned]
    return [(new, old) for new, old in pairs if old in known]


def _control_rows(answers: OwnAnswers, options: CompareOptions) -> list[Row]:
    """Accuracy and confidence by judge, control question and language, and over all languages."""
    cells: dict[tuple[str, str, str], list[ControlAnswer]] = {}
    for one in answers.controls:
        for language in (one.language, POOLED):
            cells.setdefault((one.judge, one.metric, language), []).append(one)
    several = len({one.language for one in answers.controls}) > 1
    rows = []
    for (judge, metric, language), own in sorted(cells.items()):
        if language == POOLED and not several:
            continue
        row = new_row({"judge": judge, "language": language, "metric": metric}, n=len(own))
        groups = np.unique([f"{one.language}\t{one.group}" for one in own], return_inverse=True)[1]
        for name, values in (("accuracy", [one.correct for one in own]), ("right", [one.confidence for one in own])):
            drawing = {"seed": options.seed, "resamples": options.resamples}
            put_share(row, name, np.array(values), groups, drawing, "no answer")
        rows.append(_row(row, answers))
    return rows


def _control_lines(answers: OwnAnswers, seed: int) -> list[dict[str, Any]]:
    """For each control question the points of preference against the confidence in the right answer, and their line."""
    unnamed = answers.comparisons.get("none", [])
    lines = []
    for metric in dict.fromkeys(one.metric for one in answers.controls):
        x = [(one.judge, one.language, one.dataset, one.group, one.confidence) for one in answers.controls if one.metric == metric]
        line, points = fitted_points(x, [row for row in unnamed if row.question == "preference"], seed)
        named = [{"judge": p.judge, "language": p.language, "right": p.recognition, "preference": p.preference} for p in points]
        lines.append({"metric": metric, "points": named, "line": line_json(line)})
    return lines
