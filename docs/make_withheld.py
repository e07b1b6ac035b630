"""Borrowed strength on published labels: `python docs/make_withheld.py DATA …` prints a table of docs/error-rates.md.

DATA are names of data sets, folders or runs. Data without judgments need a run first, and its folder is then DATA; for the rows of MEMERAG:
`harness run --data memerag --metrics faithfulness --judge baseline/length`.

Of each language in turn, few of its labelled texts keep their label, and the truth is the
mean of all of them (without order: the share of the best class). Estimates by the language's own labels (prediction-powered inference)
stand beside the same with the other languages, which keep all their labels.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from harness.correction.mean_estimates import (
    MIN_LANGUAGES,
    Figure,
    MeanEstimates,
    Sample,
    judge_errors,
    mean_estimates,
    mean_or_share,
    with_other_languages,
)
from harness.errors import HarnessError, UsageError
from harness.measure.compare import align
from harness.measure.item_table import ItemTable, item_tables
from harness.measure.options import Annotators, MeasureOptions
from harness.sources import open_sources
from harness.stats.estimation.shrinkage import shrink

SIZES = (15, 20, 30, 50)
COLUMNS = (
    ("data, metric, judge", "labels", "RMSE, own labels", "with the others", "coverage, own labels", "with the others"),
    ("two worst languages, own labels", "with the others", "not given"),
)


def samples_of(source: str, judge: str | None, metrics: Sequence[str] | None, most: int) -> Iterator[tuple[str, dict[str, Sample]]]:
    """The labelled texts by language, of every metric and judge; every text by itself, since texts are what is drawn."""
    [opened] = open_sources([source], None, Path())
    where = {"metric": tuple(metrics)} if metrics else {}
    options = MeasureOptions(judges=(judge,) if judge else None, annotators=Annotators(1), where=where)
    cells: dict[tuple[Any, ...], list[ItemTable]] = {}
    for cell in item_tables(align([opened.recording], options).tables[0]):
        cells.setdefault((cell.key["metric"], cell.key["judge"]), []).append(cell)
    for (metric, name), alike in cells.items():
        chosen = sorted(alike, key=lambda cell: str(cell.key["language"]))
        chosen = chosen[:: max(1, -(-len(chosen) // most))]
        labelled = {str(cell.key["language"]): cell.take(np.flatnonzero(cell.labelled)) for cell in chosen}
        made = {tag: mean_or_share(cell) for tag, cell in labelled.items()}
        kept = {tag: one.take(~np.isnan(one.f)) for tag, one in made.items()}
        if len(kept) >= MIN_LANGUAGES:
            alone = {tag: replace(one, group=np.arange(len(one.y))) for tag, one in kept.items()}
            yield f"{opened.recording.name}, {metric}, {name}", alone


class Languages:
    """Languages of which one at a time has few labels."""

    def __init__(self, samples: Sequence[Sample]) -> None:
        self.samples = samples
        self.plain = [_plain(one) for one in samples]

    def trial(self, at: int, labels: int, rng: np.random.Generator) -> tuple[Figure, Figure]:
        """The estimates of one language when only so many of its texts, drawn at random, keep their label."""
        own = self.samples[at]
        few = replace(own, y=np.where(np.isin(np.arange(len(own.y)), rng.permutation(len(own.y))[:labels]), own.y, np.nan))
        found = _plain(few)
        given = [few if place == at else one for place, one in enumerate(self.samples)]
        plain = [found if place == at else one for place, one in enumerate(self.plain)]
        return found.corrected if found.corrected.ci else found.labels_alone, with_other_languages(plain, given, share=False)[at]


def _plain(sample: Sample) -> MeanEstimates:
    return mean_estimates([(sample, 1.0)], share=False)


def rows(name: str, by_language: Mapping[str, Sample], draws: int) -> Iterator[str]:
    """A row of the table for each number of labels that leaves half of each language's texts without one."""
    samples = list(by_language.values())
    truth, languages = [float(one.y.mean()) for one in samples], Languages(samples)
    for labels in SIZES:
        rng, able = np.random.default_rng(0), [at for at, one in enumerate(samples) if len(one.y) >= 2 * labels]
        errors, hits = np.full((2, len(samples), draws), np.nan), np.full((2, len(samples), draws), np.nan)
        for at in able:
            for draw in range(draws):
                for side, figure in enumerate(languages.trial(at, labels, rng)):
                    if figure.value is not None and figure.ci is not None:
                        errors[side, at, draw] = (figure.value - truth[at]) ** 2
                        hits[side, at, draw] = figure.ci[0] <= truth[at] <= figure.ci[1]
        both = ~np.isnan(errors).any(axis=0)  # compared where both are given
        rmse = [float(np.sqrt(one[both].mean())) for one in errors]
        covered = [float(np.nanmean(one[both])) for one in hits]
        worst = [_two_worst({list(by_language)[at]: float(np.mean(one[at][both[at]])) for at in able if both[at].any()}) for one in hits]
        missing = 1 - both[able].mean()
        cells = [*(f"{one:.3f}" for one in rmse), *(f"{one:.0%}" for one in covered), *worst, f"{missing:.0%}"]
        yield f"| {name} | {labels} | {' | '.join(cells)} |"


def _two_worst(covered: Mapping[str, float]) -> str:
    return ", ".join(f"{share:.0%} {tag}" for tag, share in sorted(covered.items(), key=lambda one: one[1])[:2])


def furthest(by_language: Mapping[str, Sample]) -> str:
    """The two languages in which the judge's error is furthest from that in the others, in standard errors of a new language."""
    errors = judge_errors(list(by_language.values()))
    apart = shrink(errors.value, errors.error).apart
    return ", ".join(f"{list(by_language)[at]} z = {apart[at]:+.1f}" for at in np.argsort(-np.abs(apart))[:2])


def main() -> None:
    parser = argparse.ArgumentParser(description="Borrowed strength on published labels.")
    parser.add_argument("sources", nargs="+")
    parser.add_argument("--judge")
    parser.add_argument("--metrics", type=lambda text: tuple(text.split(",")))
    parser.add_argument("--draws", type=int, default=50)
    parser.add_argument("--languages", type=int, default=10, help="at most so many, evenly from the sorted ones")
    given = parser.parse_args()
    try:
        print_table(given)
    except HarnessError as error:  # a name that is not there, or data without judgments
        parser.exit(error.exit_code, f"{parser.prog}: {error}\n")


def print_table(given: argparse.Namespace) -> None:
    found: list[tuple[str, dict[str, Sample]]] = []
    for source in given.sources:
        able = list(samples_of(source, given.judge, given.metrics, given.languages))
        if not able:
            raise UsageError(f"{source} has no metric with labels and scores in {MIN_LANGUAGES} languages, so none can borrow")
        found += able
    headings = [heading for part in COLUMNS for heading in part]
    print(f"| {' | '.join(headings)} |\n|{' --- |' * len(headings)}")
    for name, samples in found:
        for row in rows(name, samples, given.draws):
            print(row, flush=True)
    print("", "The two languages furthest from the others, by all labels:", sep="\n")
    for name, samples in found:
        print(f"{name}: {furthest(samples)}")


if __name__ == "__main__":
    main()
