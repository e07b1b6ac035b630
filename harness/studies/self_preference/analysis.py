"""Self-recognition and self-preference: does a judge know its own outputs, and does it prefer them? Language by language.

The measures are those of Panickssery, Bowman & Feng (2024), LLM evaluators recognize and favor their own generations (arXiv 2404.13076).
"""

from __future__ import annotations

import hashlib
import math
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from importlib.metadata import version
from itertools import combinations
from pathlib import Path
from typing import Any, Literal

import msgspec
import numpy as np

from harness.content.tags import choose_from
from harness.data.dataset import Dataset
from harness.data.judgments import Judgments
from harness.errors import ContentError, UsageError
from harness.measure.condition_rows import Row
from harness.model import Item
from harness.row_files import find_table, json_rows, read_rows
from harness.signature import StudySignature
from harness.stats.agreement.concordance import tau_b_left_out
from harness.stats.core.arrays import Floats
from harness.stats.core.statistic import left_out_interval, of_group_sums, sums_by_group
from harness.stats.intervals.intervals import Interval, no_interval
from harness.stats.intervals.regression import Line, fit_line

Question = Literal["recognition", "preference"]
QUESTION_METRICS: dict[str, Question] = {"self_recognition": "recognition", "self_preference": "preference"}
_FIRST, _SECOND = "1", "2"  # the label of the output that is shown first, and of the one that is shown second


class OwnComparison(msgspec.Struct, frozen=True):
    """One judge, its own output and another one: which of the two it wrote, or which of the two it prefers."""

    judge: str
    language: str
    dataset: str
    group: str
    own: str
    other: str
    question: Question
    confidence: float  # the probability, in [0, 1], that the judge gives to its own output, a mean over both orders
    chose_own_first: bool | None = None  # whether it chose its own output when that stood first; None where this is not recorded
    chose_own_second: bool | None = None


class _Row(msgspec.Struct):
    """The keys of a row of a judgment file that compares two outputs; other rows have no `other_item_id`."""

    item_id: str
    judge: str
    metric: str
    score: float | str | None = None  # words are scores of other metrics
    other_item_id: str | None = None
    forward: str | int | None = None
    backward: str | int | None = None


def read_own_comparisons(path: Path, items: Mapping[str, Item]) -> Iterator[OwnComparison]:
    """Yield the comparisons in a judgment file. `item_id` is the judge's own output, `other_item_id` the other one, `score` the confidence.

    `forward` and `backward` are the labels that were chosen, 1 or 2, with the own output first and second. Rows of other metrics and rows
    without `other_item_id` are passed over.

    Raises:
        ContentError: with `file:line`, for an item that does not exist or has no system, two items of different source texts, one
            system compared with itself, a confidence outside 0 to 1 and a label other than 1 and 2.
    """
    for line, row in _rows(path):
        question = QUESTION_METRICS.get(row.metric)
        if question is None or row.other_item_id is None or row.score is None:
            continue
        try:
            outputs = []
            for name in (row.item_id, str(row.other_item_id)):
                if name not in items:
                    raise ValueError(f"no item '{name}' among the items")
                if not items[name].system:
                    raise ValueError(f"item '{name}' has no system; a comparison needs the system that wrote each output")
                outputs.append(items[name])
            own_output, other_output = outputs
            names = f"'{own_output.item_id}' and '{other_output.item_id}'"
            if own_output.group != other_output.group:
                raise ValueError(f"{names} are outputs of different source texts; a comparison needs one source text")
            if own_output.system == other_output.system:
                raise ValueError(f"{names} are both by '{own_output.system}'; a comparison needs two systems")
            if not isinstance(row.score, float) or not 0 <= row.score <= 1:
                raise ValueError(f"the score of '{row.metric}' is {row.score!r}; it should be a probability from 0 to 1")
            dataset = own_output.fields.get("dataset")  # the part of the data that an item belongs to
            yield OwnComparison(
                judge=row.judge,
                language=own_output.language,
                dataset="" if dataset is None else str(dataset),
                group=own_output.group,
                own=str(own_output.system),
                other=str(other_output.system),
                question=question,
                confidence=float(row.score),
                chose_own_first=_chose(row.forward, _FIRST),
                chose_own_second=_chose(row.backward, _SECOND),
            )
        except ValueError as err:
            raise ContentError(str(err), path, line) from None


def _rows(path: Path) -> Iterator[tuple[int, _Row]]:
    if path.suffix != ".parquet":
        yield from json_rows(path, _Row, "a judgment")
        return
    for line, row in read_rows(path):
        try:
            yield line, msgspec.convert(row, _Row)
        except msgspec.ValidationError as err:
            raise ContentError(f"not a judgment ({err})", path, line) from None


def _chose(label: str | int | None, own_label: str) -> bool | None:
    if label is None:
        return None
    if str(label) not in (_FIRST, _SECOND):
        raise ValueError(f"the chosen label is {label!r}; it should be 1 (the first output) or 2 (the second)")
    return str(label) == own_label


ALL_SOURCES = "*"
QUESTIONS = ("recognition", "preference")


class SelfPreference(msgspec.Struct, frozen=True):
    """All results. Every number of a row has its interval under `<name>_ci`, null where there is none; `n` counts pairs or texts.

    Attributes:
        pairwise: by judge, language, part of the data, source (`*`: all) and question, `confidence`: the mean probability that the judge
            gives to its own output; 0.5 is chance. Shares of pairs, None where choices are not recorded: `correct`, it chooses its own
            output in both orders; `incorrect`, the other one in both orders; `ambiguous`, the choice changes with the order.
        kendall_tau: `tau`, Kendall's tau-b between the confidences of recognition and of preference, over the pairs that have both.
        individual: the `mean` score of one metric of single outputs of one system; `own` says whether the system is the judge. `share` is
            the mean of own / (own + other) over pairs of one source text; None for its own system.
        mutual: two judges that are both systems: `total`, the sum of the confidences with which each prefers its own output over the
            other's. It is 1 if both agree about which output is better; over 1 each favours itself.
        points: the means of one judge in one part of the data, `recognition` and `preference`: the points of the figure.
        line: relates preference to recognition over judges and parts of the data; None with fewer than three points.
    """

    pairwise: list[Row]
    kendall_tau: list[Row]
    individual: list[Row]
    mutual: list[Row]
    points: list[Row]
    line: Line | None
    signature: str = ""

    def as_json(self) -> dict[str, Any]:
        """Return one object for programs."""
        head = {"schema_version": SCHEMA_VERSION, "study": "self-preference", "signature": self.signature}
        return head | msgspec.structs.asdict(self) | {"line": line_json(self.line)}


SCHEMA_VERSION = 1
_CONSTANT = "one of the two confidences is the same for all pairs"
Limits = tuple[float, float]
UNLIMITED: Limits = (-math.inf, math.inf)
_SHARE: Limits = (0.0, 1.0)
Part = tuple[str, str, str]  # judge, language, dataset


def self_preference_of(folder: Path, data: Dataset, *, judges: Sequence[str] = (), seed: int = 0) -> SelfPreference:
    """Return the analysis of a data folder: its recorded comparisons, and its judgments of outputs by systems.

    Args:
        folder: holds the judgments; rows with `other_item_id` compare two outputs (`read_own_comparisons`), others score one.
        data: the folder's items and judgments.
        judges: only these; all of them if empty.
        seed: of the resamples of the line.

    Raises:
        UsageError: if the folder has no comparisons, or a judge is not among those who compare.
        ContentError: as `read_own_comparisons`.
    """
    path = find_table(folder, "judgments")
    comparisons = list(read_own_comparisons(path, data.by_id)) if path else []
    if not comparisons:
        raise UsageError(
            f"{folder}: no judgment compares a judge's own output with another one; such rows have the keys 'other_item_id' and 'metric' "
            "self_recognition or self_preference"
        )
    comparing = sorted({row.judge for row in comparisons})
    for name in judges:
        if name not in comparing:
            raise UsageError(f"no judge '{name}' compares its own outputs.{choose_from(comparing, name)}")
    rows = [row for row in comparisons if not judges or row.judge in judges]
    chosen = sorted({row.judge for row in rows})
    single = []  # numeric scores of outputs whose system is known, of metrics that do not compare two outputs
    judged = Judgments.from_rows(()) if data.judgments is None else data.judgments
    for name, judge, metric, score in zip(judged.item, judged.judge, judged.metric, judged.score, strict=True):
        item = data.by_id[name]
        if judge in chosen and metric not in QUESTION_METRICS and item.system and isinstance(score, int | float):
            single.append((judge, item, metric, float(score)))
    preference = analyse_self_preference(rows, single, seed=seed)
    # The signature has all that can move a number: items, judgments, judges, the seed of the line and the version.
    digest = hashlib.sha256()
    for name in ("items", "judgments"):
        if table := find_table(folder, name):
            digest.update(table.read_bytes())
    of_data = f"{data.about.id}@{data.about.version}+{digest.hexdigest()[:12]}"
    signature = StudySignature("self-preference", (of_data,), tuple(chosen), seed, version("judge-harness"))
    return msgspec.structs.replace(preference, signature=str(signature))


def analyse_self_preference(
    comparisons: Sequence[OwnComparison],
    individual: Iterable[tuple[str, Item, str, float]] = (),
    *,
    systems: Mapping[str, str] = {},
    limits: Mapping[str, Limits] = {},
    seed: int = 0,
) -> SelfPreference:
    """Analyse comparisons of judges' own outputs with others, and scores of single outputs.

    Args:
        comparisons: in any order.
        individual: (judge, item, metric, score) of single outputs; the item's system may be the judge.
        systems: `{judge: the system that it is}` of judges without comparisons.
        limits: by metric, the smallest and the largest mean of single outputs, where they are known.
        seed: of the resamples of the line.

    Intervals are over source texts (cluster jackknife with Student's t); undefined with fewer than 8.
    """
    by_part: dict[Part, list[OwnComparison]] = defaultdict(list)
    for comparison in comparisons:
        by_part[comparison.judge, comparison.language, comparison.dataset].append(comparison)
    parts = dict(sorted(by_part.items()))
    systems = {**systems, **{judge: rows[0].own for (judge, _, _), rows in parts.items()}}
    recognition = [(r.judge, r.language, r.dataset, r.group, r.confidence) for r in comparisons if r.question == "recognition"]
    line, points = fitted_points(recognition, [row for row in comparisons if row.question == "preference"], seed)
    judge_of = {system: judge for judge, system in systems.items()}
    preferences: dict[tuple[str, str], dict[tuple[str, str], dict[str, float]]] = defaultdict(lambda: defaultdict(dict))
    for (judge, language, dataset), rows in parts.items():
        for row in rows:
            if row.question == "preference" and row.other in judge_of:
                preferences[language, dataset][judge, judge_of[row.other]][row.group] = row.confidence
    mutual = []
    for (language, dataset), by_pair in preferences.items():
        for judge_a, judge_b in combinations(sorted({judge for pair in by_pair for judge in pair}), 2):
            first, second = by_pair.get((judge_a, judge_b), {}), by_pair.get((judge_b, judge_a), {})
            sums = {group: first[group] + second[group] for group in first if group in second}
            if sums:
                key = {"judges": (judge_a, judge_b), "language": language, "dataset": dataset}
                mutual.append(_row(key, "total", mean_by_group(list(sums.values()), list(sums), (0.0, 2.0)), {"n": len(sums)}))
    return SelfPreference(
        [score for part, rows in parts.items() for score in _scores(part, rows)],
        [tau for part, rows in parts.items() for tau in _taus(part, rows)],
        _individual(list(individual), systems, limits),
        mutual,
        points,
        line,
    )


def pair_rows(analysis: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Return one row a judge, language, part of the data and source: both questions and their tau, from the lists of the JSON."""
    rows: dict[tuple[str, ...], dict[str, Any]] = {}
    names = ("judge", "language", "dataset", "source")
    for score in analysis["pairwise"]:
        row = rows.setdefault(tuple(score[name] for name in names), {name: score[name] for name in (*names, "n")} | {"undefined": {}})
        question = score["question"]
        row |= {question: score["confidence"], f"{question}_ci": score["confidence_ci"]}
        row["undefined"] |= {name.replace("confidence", question): why for name, why in score["undefined"].items()}
        row |= {f"{question}_{share}": score[share] for share in ("correct", "incorrect", "ambiguous")}
    for tau in analysis["kendall_tau"]:
        row = rows[tuple(tau[name] for name in names)]
        row |= {"tau": tau["tau"], "tau_ci": tau["tau_ci"]}
        row["undefined"] |= tau["undefined"]
    return list(rows.values())


def _row(key: Row, name: str, estimate: tuple[float, Interval], more: Row) -> Row:
    """Return a row with a number and its interval; what is undefined is None, with its reason under `undefined`."""
    value, interval = estimate
    reason = (_CONSTANT if name == "tau" else "no value") if math.isnan(value) else interval.reason
    undefined = {} if not reason else {name if math.isnan(value) else f"{name}_ci": reason}
    number = None if math.isnan(value) else value
    return {**key, name: number, **more, f"{name}_ci": _ends(interval), "reason": reason, "undefined": undefined}


def _ends(interval: Interval | None) -> tuple[float, float] | None:
    return None if interval is None or interval.reason else (interval.lo, interval.hi)


def _by_source(rows: Sequence[OwnComparison]) -> dict[str, list[OwnComparison]]:
    """Return the rows of all sources together, then those of each source."""
    sources = sorted({row.other for row in rows})
    return {ALL_SOURCES: list(rows)} | {source: [row for row in rows if row.other == source] for source in sources}


def _scores(part: Part, rows: Sequence[OwnComparison]) -> Iterator[Row]:
    for source, chosen in _by_source(rows).items():
        for question in QUESTIONS:
            answers = [row for row in chosen if row.question == question]
            if answers:
                key = {**_keys(part), "source": source, "question": question}
                estimate = mean_by_group([row.confidence for row in answers], [row.group for row in answers], _SHARE)
                choices = [
                    (row.chose_own_first, row.chose_own_second)
                    for row in answers
                    if None not in (row.chose_own_first, row.chose_own_second)
                ]
                counts = {
                    "correct": choices.count((True, True)),
                    "incorrect": choices.count((False, False)),
                    "ambiguous": sum(a != b for a, b in choices),
                }
                shares = {name: count / len(choices) if choices else None for name, count in counts.items()}
                yield _row(key, "confidence", estimate, {"n": len(answers), **shares})


def _keys(part: Iterable[str]) -> Row:
    return dict(zip(("judge", "language", "dataset"), part, strict=True))


def _taus(part: Part, rows: Sequence[OwnComparison]) -> Iterator[Row]:
    for source, chosen in _by_source(rows).items():
        pairs: dict[tuple[str, str], dict[str, float]] = defaultdict(dict)
        for row in chosen:
            pairs[row.group, row.other][row.question] = row.confidence
        complete = {key: answers for key, answers in pairs.items() if len(answers) == len(QUESTIONS)}
        if not complete:
            continue
        x, y = (np.array([answers[question] for answers in complete.values()]) for question in QUESTIONS)
        values = tau_b_left_out(x, y, [group for group, _ in complete])
        estimate = float(values[0]), left_out_interval(values, (-1, 1), scale="fisher")
        yield _row({**_keys(part), "source": source}, "tau", estimate, {"n": len(complete)})


def _individual(rows: Sequence[tuple[str, Item, str, float]], system_of: Mapping[str, str], limits: Mapping[str, Limits]) -> list[Row]:
    """Return means by judge, language, part, metric and system, and shares of the own output beside each other system."""
    cells: dict[tuple[str, str, str, str], dict[str, dict[str, float]]] = defaultdict(lambda: defaultdict(dict))
    for judge, item, metric, score in rows:
        dataset = str(item.fields.get("dataset") or "")
        cells[judge, item.language, dataset, metric][str(item.system)][item.group] = score
    individual = []
    for (*part, metric), systems in sorted(cells.items()):
        mine = system_of.get(part[0])
        for system, scores in sorted(systems.items()):
            key = {**_keys(part), "metric": metric, "source": system, "own": system == mine}
            # The mean of own / (own + other) over common source texts; pairs of which both scores are 0 are left out.
            own_scores = {} if system == mine else systems.get(mine or "", {})
            common = {group: (own_scores[group], scores[group]) for group in own_scores if group in scores}
            shares = {group: own / (own + other) for group, (own, other) in common.items() if own + other > 0}
            share, interval = mean_by_group(list(shares.values()), list(shares), _SHARE) if shares else (None, None)
            mean = mean_by_group(list(scores.values()), list(scores), limits.get(metric, UNLIMITED))
            individual.append(_row(key, "mean", mean, {"n": len(scores), "share": share}) | {"share_ci": _ends(interval)})
    return individual


def fitted_points(
    x: Iterable[tuple[str, str, str, str, float]], preferences: Iterable[OwnComparison], seed: int
) -> tuple[Line | None, list[Row]]:
    """Return a line through three points or more, and a point for each judge and part of the data: the mean of x and the mean preference.

    `x` are (judge, language, dataset, group, value): confidences of recognition, or in the right answer to a control question.
    """
    sums: dict[Part, dict[str, Floats]] = defaultdict(lambda: defaultdict(lambda: np.zeros(4)))
    for judge, language, dataset, group, value in x:
        sums[judge, language, dataset][group] += (value, 1, 0, 0)
    for row in preferences:
        sums[row.judge, row.language, row.dataset][row.group] += (0, 0, row.confidence, 1)
    totals = {part: np.sum(list(groups.values()), axis=0) for part, groups in sorted(sums.items())}
    complete = {part: total for part, total in totals.items() if total[1] and total[3]}
    means = {part: (float(total[0] / total[1]), float(total[2] / total[3])) for part, total in complete.items()}
    points = [{**_keys(part), "recognition": recognised, "preference": preferred} for part, (recognised, preferred) in means.items()]
    strata = ["\t".join(part[1:]) for part in complete]
    line = fit_line([dict(sums[part]) for part in complete], strata, seed=seed) if len(points) > 2 else None
    return line, points


def line_json(line: Line | None) -> dict[str, Any] | None:
    """Return a line for programs; its slope is None with a reason if all points have one x."""
    if line is None:
        return None
    slope, intercept = (None if math.isnan(value) else value for value in (line.slope, line.intercept))
    numbers = {"slope": slope, "slope_ci": _ends(line.slope_interval), "intercept": intercept, "points": line.points}
    reason = "all points have the same value on the horizontal axis" if slope is None else line.slope_interval.reason
    return numbers | {"reason": reason}


def mean_by_group(values: Sequence[float], groups: Sequence[Any], bounds: Limits = UNLIMITED) -> tuple[float, Interval]:
    """Return the mean of values between bounds, and its interval over groups; NaN without values.

    >>> mean, interval = mean_by_group([0.4, 0.6] * 8, [n // 2 for n in range(16)])
    >>> mean, interval.reason
    (0.5, 'no variation between texts')
    """
    if not values:
        return math.nan, no_interval(0)
    _, codes = np.unique(np.asarray(groups), return_inverse=True)
    features = np.stack([np.ones(len(values)), np.asarray(values, np.float64)], axis=1)
    divide: Callable[[Floats], Floats] = lambda sums: sums[..., 1] / sums[..., 0]  # noqa: E731
    estimated = of_group_sums(sums_by_group(features, codes), divide, bounds)
    return estimated.value, estimated.interval
