"""Differences of self-recognition and self-preference: between languages, by tuning, and by changes of texts."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from itertools import combinations
from typing import Any

from harness.data.dataset import Dataset
from harness.exchange.labels.pairs_of_outputs import parallel_source
from harness.measure.condition_rows import Row, new_row, put_difference, put_gap, put_number, with_q
from harness.reports.sections.section import mean_of
from harness.stats import paired_difference
from harness.stats.intervals.intervals import welch_test
from harness.studies.self_preference.own_comparisons import OwnComparison

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
            welch = welch_test(*(_means(by_language[tag]) for tag in (first, second)))
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
                after, earlier = (_by_other_text(side, cell, against) for side in sides)
                key = {"judge": new, "language": cell[0], "dataset": cell[1], "question": cell[2], "before_judge": old, "against": against}
                row = new_row(key)
                for name, values in (("before", earlier), ("after", after)):
                    put_number(row, name, mean_of([values[key] for key in after if key in earlier]), why=_NO_COMMON)
                _put_paired(row, after, earlier, _NO_COMMON)
                rows.append(row)
    with_q(rows, "paired", lambda row: row["judge"])
    return rows


def _by_other_text(rows: Sequence[OwnComparison], cell: tuple[str, str, str], against: str) -> dict[tuple[str, str], float]:
    """Return the confidences by source text and other system; where two judges stand against each other, the other is no key."""
    of_cell = (row for row in rows if (row.language, row.dataset, row.question) == cell)
    return {(row.group, "" if against == EACH_OTHER else row.other): row.confidence for row in of_cell}


def perturbation_differences(comparisons: Sequence[OwnComparison], perturbed: Mapping[str, Sequence[OwnComparison]]) -> list[Row]:
    """Return the answers about changed texts minus those about the same pairs unchanged, by perturbation, judge, language and question.

    Does a change hide the author (arXiv 2404.13076, 5.1)? Recognition that falls says so, and preference that falls with it.
    """
    rows = []
    for perturbation, answers in sorted(perturbed.items()):
        for key in sorted({(answer.judge, answer.language, answer.dataset, answer.question) for answer in answers}):
            judge, *cell = key
            of_judge = ([answer for answer in side if answer.judge == judge] for side in (answers, comparisons))
            after, before = (_by_pair(side, (cell[0], cell[1], cell[2])) for side in of_judge)
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


def _by_pair(rows: Sequence[OwnComparison], cell: tuple[str, str, str]) -> dict[tuple[str, str, str], float]:
    return {(row.group, row.own, row.other): row.confidence for row in rows if (row.language, row.dataset, row.question) == cell}


def _by_parallel_text(rows: Sequence[OwnComparison], parallel: Mapping[tuple[str, str], str]) -> dict[tuple[str, str], float]:
    return {(text, row.other): row.confidence for row in rows if (text := parallel.get((row.language, row.group)))}


def _means(rows: Sequence[OwnComparison]) -> list[float]:
    """Return the mean of each source text."""
    groups: dict[str, list[float]] = defaultdict(list)
    for row in rows:
        groups[row.group].append(row.confidence)
    return [mean_of(values) for values in groups.values()]
