"""A judge's answers about its own texts in a run: choices between two texts, scores of single texts, and control questions."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any, NamedTuple

from harness.data.dataset import Dataset
from harness.data.judgments import Judgments
from harness.exchange.labels.pairs_of_outputs import COMPUTED, parallel_source
from harness.measure.condition_rows import Row, new_row, put_difference, put_gap, put_number, with_q
from harness.model import CONDITION, Item, JudgeCondition, Scale
from harness.reports.sections.section import mean_of
from harness.stats.intervals.intervals import welch_test
from harness.stats.intervals.paired import paired_difference
from harness.studies.self_preference.analysis import OwnComparison, Question
from harness.studies.self_preference.study import PREFERENCE, RECOGNITION, SINGLE_METRICS
from harness.text_measures import CONTROL_MEASURES

QUESTIONS: dict[str, Question] = {RECOGNITION: "recognition", PREFERENCE: "preference"}
SOURCES = {True: "token probabilities", False: "choices"}


@dataclass(frozen=True)
class ControlAnswer:
    """A judge's answers to one control question about a pair: means over orders and repeats.

    `correct` is the share of choices that are right, `confidence` the probability that the judge gives to the right text.
    """

    judge: str
    language: str
    dataset: str
    metric: str
    group: str
    correct: float
    confidence: float


@dataclass(frozen=True, eq=False)
class OwnAnswers:
    """The answers of a run. A `judge` is a judge under one condition, so that each configuration stands alone; `conditions` says which.

    `comparisons` are by shown source, `perturbed` those of changed texts by perturbation; `single` are `(judge, item, metric, value)`: the
    mean score, or the probability of the yes. `sources` says of each judge where its confidences are from: token probabilities, or choices.
    """

    comparisons: dict[str, list[OwnComparison]]
    perturbed: dict[str, list[OwnComparison]]
    single: list[tuple[str, Item, str, float]]
    controls: list[ControlAnswer]
    conditions: dict[str, JudgeCondition]
    systems: dict[str, str]
    sources: dict[str, str]


def own_answers(data: Dataset, judgments: Judgments, system_of: Mapping[str, str]) -> OwnAnswers:
    """Collect the answers of a run. Those about changed texts are kept apart.

    Args:
        data: pairs with the keys `system_a` and `system_b`, and single texts with their system.
        judgments: those on other metrics are passed over.
        system_of: `{judge: the system that it is}`; other judges are the system of their own name.
    """
    truths = {
        (label.item_id, label.metric): label.score
        for label in data.labels
        if label.annotator_id == COMPUTED and label.metric in CONTROL_MEASURES
    }
    shares: dict[tuple[Any, ...], dict[str, list[float]]] = defaultdict(lambda: defaultdict(list))
    values: dict[tuple[JudgeCondition, str, str], list[float]] = defaultdict(list)
    right: dict[tuple[JudgeCondition, str, str], list[tuple[float, float]]] = defaultdict(list)
    stated: dict[str, set[bool]] = defaultdict(set)
    for row in _rows(judgments):
        item = data.by_id.get(row.item)
        if item is None:
            continue
        system, systems = system_of.get(row.condition.judge, row.condition.judge), [item.fields.get(f"system_{side}") for side in "ab"]
        if row.metric in SINGLE_METRICS and row.value is not None and row.shown == ("none", ""):
            values[row.condition, row.item, row.metric].append(row.value)
        elif row.metric in QUESTIONS and system in systems and systems[0] != systems[1]:
            if (share := row.share(data.scales[row.metric])) is not None:
                shares[row.shown, row.condition, row.item, row.metric][row.order].append(share)
        elif (row.item, row.metric) in truths and row.shown == ("none", ""):
            share, chosen = row.share(data.scales[row.metric]), row.chosen(data.scales[row.metric])
            if share is not None and chosen is not None:
                first = truths[row.item, row.metric] == "A"
                right[row.condition, row.item, row.metric].append((chosen, share) if first else (1 - chosen, 1 - share))
        else:
            continue
        stated[str(row.condition)].add(row.is_stated)
    comparisons: dict[str, list[OwnComparison]] = defaultdict(list)
    perturbed: dict[str, list[OwnComparison]] = defaultdict(list)
    for key, by_order in shares.items():
        shown_source, perturbation = key[0]
        comparison = _comparison(data.by_id[key[2]], key, by_order, system_of)
        (perturbed[perturbation] if perturbation else comparisons[shown_source]).append(comparison)
    controls = []
    for (condition, item_id, metric), answers in right.items():
        correct, confidence = (mean_of(side) for side in zip(*answers, strict=True))
        item, dataset = data.by_id[item_id], str(data.by_id[item_id].fields.get("dataset") or "")
        controls.append(ControlAnswer(str(condition), item.language, dataset, metric, item.group, correct, confidence))
    conditions = {str(key): key for key in dict.fromkeys(_conditions(judgments))}
    return OwnAnswers(
        dict(comparisons),
        dict(perturbed),
        [(str(key[0]), data.by_id[key[1]], key[2], mean_of(answers)) for key, answers in values.items()],
        controls,
        conditions,
        {label: system_of.get(key.judge, key.judge) for label, key in conditions.items()},
        {label: " and ".join(SOURCES[kind] for kind in sorted(kinds, reverse=True)) for label, kinds in stated.items()},
    )


class _Row(NamedTuple):
    """One judgment: `shown` has the shown source and the perturbation.

    `share_a` and `value` are from token probabilities where `is_stated`.
    """

    item: str
    metric: str
    condition: JudgeCondition
    shown: tuple[str, str]
    order: str
    score: Any
    share_a: float | None
    value: float | None
    is_stated: bool

    def share(self, scale: Scale) -> float | None:
        """Return how much of the choice goes to the pair's first text."""
        return float(self.share_a) if self.share_a is not None else self.chosen(scale)

    def chosen(self, scale: Scale) -> float | None:
        return None if self.score is None else scale.share_of_first.get(self.score)


def _conditions(judgments: Judgments) -> Iterator[JudgeCondition]:
    return map(JudgeCondition._make, zip(*(judgments.columns[name] for name in CONDITION), strict=True))


def _rows(judgments: Judgments) -> Iterator[_Row]:
    columns = (judgments.item, judgments.metric, judgments.shown_source, judgments.order, judgments.perturbation, judgments.score)
    stated = (judgments.share_a, judgments.expected, judgments.confidence)
    for condition, row in zip(_conditions(judgments), zip(*columns, *stated, strict=True), strict=True):
        item, metric, source, order, perturbation, score, share_a, expected, confidence = row
        # The score of a single text: its mean over token probabilities, the probability of "Yes", or what was answered.
        if isinstance(score, str):
            value = float(score == "Yes") if confidence is None else confidence if score == "Yes" else 1 - confidence
        else:
            value = expected if expected is not None else None if score is None else float(score)
        is_stated = confidence is not None or share_a is not None
        yield _Row(item, metric, condition, (source or "none", perturbation or ""), order or "forward", score, share_a, value, is_stated)


def _comparison(item: Item, key: tuple[Any, ...], by_order: Mapping[str, Sequence[float]], system_of: Mapping[str, str]) -> OwnComparison:
    condition: JudgeCondition = key[1]
    system = system_of.get(condition.judge, condition.judge)
    is_first = item.fields.get("system_a") == system
    shares = {order: mean_of(answers) if is_first else 1 - mean_of(answers) for order, answers in by_order.items()}
    first, second = ("forward", "swapped") if is_first else ("swapped", "forward")  # the order in which the own output stands first
    return OwnComparison(
        judge=str(condition),
        language=item.language,
        dataset=str(item.fields.get("dataset") or ""),
        group=item.group,
        own=system,
        other=str(item.fields["system_b" if is_first else "system_a"]),
        question=QUESTIONS[key[3]],
        confidence=mean_of(list(shares.values())),
        chose_own_first=_chosen(shares.get(first)),
        chose_own_second=_chosen(shares.get(second)),
    )


def _chosen(share: float | None) -> bool | None:
    """Return True if the own output got more than half; None for a tie or without an answer."""
    return None if share is None or share == 0.5 else share > 0.5


_NO_PARALLEL = "the languages have no source texts in common; source texts in common have one parallel_source"
OTHER_SYSTEMS, EACH_OTHER = "other systems", "each other"
_NO_UNCHANGED = "no pair was asked about before it was changed"
_NO_COMMON = "the two judges have no pair of one system in common"


def language_differences(comparisons: Sequence[OwnComparison], data: Dataset) -> list[Row]:
    """Return the first language minus the second, by judge and question: Welch's test of the source texts' means, and in parallel texts the
    paired difference.
    """
    parallel = {(item.language, item.group): source for item in data.items if (source := parallel_source(item))}
    by_cell: dict[tuple[str, str], dict[str, list[OwnComparison]]] = defaultdict(lambda: defaultdict(list))
    for comparison in comparisons:
        by_cell[comparison.judge, comparison.question][comparison.language].append(comparison)
    rows = []
    for (judge, question), by_language in sorted(by_cell.items()):
        for first, second in combinations(sorted(by_language), 2):
            row = new_row({"judge": judge, "question": question, "languages": f"{first} - {second}", "first": first, "second": second})
            means = []  # of each source text, by language
            for tag in (first, second):
                of_text: dict[str, list[float]] = {}
                for comparison in by_language[tag]:
                    of_text.setdefault(comparison.group, []).append(comparison.confidence)
                means.append([mean_of(values) for values in of_text.values()])
            welch = welch_test(*means)
            put_number(row, "welch", welch.value, why=welch.reason)
            put_number(row, "welch_p", welch.p, why=(welch.reason or "").replace("of a system", "in a language") or None)
            _put_paired(
                row, _by_parallel_text(by_language[first], parallel), _by_parallel_text(by_language[second], parallel), _NO_PARALLEL
            )
            rows.append(row)
    for name in ("welch", "paired"):
        with_q(rows, name, lambda row: row["judge"])
    return rows


def tuning_differences(comparisons: Sequence[OwnComparison], before: Mapping[str, str]) -> list[Row]:
    """Return a tuned judge minus the judge `before`, by language, part of the data and question.

    Against `other systems`, both prefer or recognise their own texts beside the same other texts: the same own ones, or where the tuned
    judge wrote new ones, each its own. Against `each other` are the texts of both: the tuned judge's answers about its new texts beside
    those of its earlier self, and the other way round.
    """
    by_judge: dict[str, list[OwnComparison]] = defaultdict(list)
    for comparison in comparisons:
        by_judge[comparison.judge].append(comparison)
    rows = []
    for new, old in before.items():
        systems = {comparison.own for judge in (new, old) for comparison in by_judge.get(judge, ())}
        for against in (OTHER_SYSTEMS, EACH_OTHER):
            sides = [
                [comparison for comparison in by_judge.get(judge, ()) if (comparison.other in systems) == (against == EACH_OTHER)]
                for judge in (new, old)
            ]
            for cell in sorted({(comparison.language, comparison.dataset, comparison.question) for comparison in sides[0]}):
                after, earlier = (  # where two judges stand against each other, the other system is no key
                    {
                        (row.group, "" if against == EACH_OTHER else row.other): row.confidence
                        for row in side
                        if (row.language, row.dataset, row.question) == cell
                    }
                    for side in sides
                )
                key = {"judge": new, "language": cell[0], "dataset": cell[1], "question": cell[2], "before_judge": old, "against": against}
                row = new_row(key)
                for name, values in (("before", earlier), ("after", after)):
                    put_number(row, name, mean_of([values[key] for key in after if key in earlier]), why=_NO_COMMON)
                _put_paired(row, after, earlier, _NO_COMMON)
                rows.append(row)
    with_q(rows, "paired", lambda row: row["judge"])
    return rows


def perturbation_differences(comparisons: Sequence[OwnComparison], perturbed: Mapping[str, Sequence[OwnComparison]]) -> list[Row]:
    """Return the answers about changed texts minus those about the same pairs unchanged, by perturbation, judge, language and question.

    Does a change hide the author (arXiv 2404.13076, 5.1)? Recognition that falls says so, and preference that falls with it.
    """
    rows = []
    for perturbation, answers in sorted(perturbed.items()):
        for key in sorted({(answer.judge, answer.language, answer.dataset, answer.question) for answer in answers}):
            judge, cell = key[0], key[1:]
            of_judge = ([answer for answer in side if answer.judge == judge] for side in (answers, comparisons))
            after, before = (
                {(row.group, row.own, row.other): row.confidence for row in side if (row.language, row.dataset, row.question) == cell}
                for side in of_judge
            )
            row = new_row(
                {"judge": judge, "language": cell[0], "dataset": cell[1], "question": cell[2], "perturbation": perturbation},
                n=len(after.keys() & before.keys()),
            )
            for name, values in (("before", before), ("after", after)):
                put_number(row, name, mean_of([values[pair] for pair in after if pair in before]), why=_NO_UNCHANGED)
            _put_paired(row, after, before, _NO_UNCHANGED)
            rows.append(row)
    with_q(rows, "paired", lambda row: row["judge"])
    return rows


def _put_paired(row: Row, first: Mapping[Any, float], second: Mapping[Any, float], why: str) -> None:
    """Return the paired difference over common keys, whose first part is the cluster."""
    common = [key for key in first if key in second]
    if not common:
        put_gap(row, "paired", why)
        return
    difference = paired_difference([first[key] for key in common], [second[key] for key in common], [key[0] for key in common])
    put_difference(row, "paired", difference)


def _by_parallel_text(rows: Sequence[OwnComparison], parallel: Mapping[tuple[str, str], str]) -> dict[tuple[str, str], float]:
    return {(text, row.other): row.confidence for row in rows if (text := parallel.get((row.language, row.group)))}
