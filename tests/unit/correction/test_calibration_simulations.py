"""Calibrated scores and label sets hold what they promise in made worlds; `make simulations` prints the tables for docs/error-rates.md."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import NamedTuple

import numpy as np
import pytest

from harness.correction.calibrate import calibrate_metric
from harness.correction.correction_options import CalibrateOptions, SetOptions
from harness.correction.mean_estimates import APART, Sample, mean_estimates, with_other_languages
from harness.correction.score_maps import LabelSets, MapInput, NumberLine, SetMaker, learn, sets_at
from harness.stats.core.arrays import Floats
from harness.stats.estimation.map_quality import label_rows
from harness.stats.estimation.shrinkage import shrink
from tests.unit.correction.calibration_worlds import ScoreWorld, draw_input

NOTHING = (
    ScoreWorld("8 languages, 30 groups of 2, five classes", slope=0.0),
    ScoreWorld("8 languages, 30 groups of 2, two classes, three labels", classes=2, slope=0.0, labels=3),
    ScoreWorld("8 languages, 30 groups of 2, numbers", classes=0, slope=0.0),
)
SETS = (
    ScoreWorld("five classes, groups of 2"),
    ScoreWorld("three classes (many ties), groups of 2", classes=3),
    ScoreWorld("five classes, groups of 1 to 6, large ones harder", sizes=(1, 2, 6), harder=1.0),
    ScoreWorld("numbers, groups of 2", classes=0),
)
LABELS = (30, 100, 500)
OTHERS = 60  # groups of each other language
PRIORS: dict[str, Callable[[np.random.Generator, int], Floats]] = {
    "normal": lambda rng, n: rng.normal(size=n),
    "uniform": lambda rng, n: np.sqrt(3) * rng.uniform(-1, 1, n),
    "two points": lambda rng, n: rng.choice([-1.0, 1.0], n),
    "heavy tails": lambda rng, n: rng.standard_t(4, n) / np.sqrt(2),
    "skewed": lambda rng, n: rng.exponential(size=n) - 1,
}
"""How languages differ: draws with mean 0 and variance 1."""
BETWEEN = 0.15
ALIKE, MANY_LABELS, FEW_LABELS = 0.03, 0.02, 0.12
"""Sd between languages that are alike, and standard errors of a language with many labels and of the one with few, which lies apart."""
OTHERS_APART, SDS_APART = (4, 7, 9, 11), (0, 1, 2, 3)
LEAST_COVERAGE, FALSE_GAIN = 0.895, 0.05


# ---- gains where there is none


def false_gains(world: ScoreWorld, draws: int, seed: int = 0) -> tuple[float, float]:
    """Share of draws in which a gain is shown in any language, and over raw scores alone in all languages together."""
    rng, shown, over_raw = np.random.default_rng(seed), 0, 0
    for _ in range(draws):
        found = calibrate_metric(draw_input(world, [30] * 8, rng), CalibrateOptions())
        shown += any(cell.shown for cell in found.cells) or found.overall.shown
        over_raw += (found.overall.over_scores or 0) > 0
    return shown / draws, over_raw / draws


def gains_table(draws: int = 100) -> Iterator[str]:
    """How often a gain is shown where scores carry nothing."""
    yield "| scores that carry nothing | gain shown in any language or in all | map better than raw scores |"
    yield "| --- | --- | --- |"
    for world in NOTHING:
        shown, over_raw = false_gains(world, draws)
        yield f"| {world.name} | {shown:.1%} | {over_raw:.0%} |"


# ---- label sets


class SetCoverage(NamedTuple):
    """Mean coverage of new labels by group and by text, sd over draws, mean size; shares of draws below the level and without a set."""

    by_group: float
    by_text: float
    sd: float
    size: float
    below: float
    nothing: float


def coverage(world: ScoreWorld, labels: int, options: SetOptions, draws: int, seed: int = 0) -> SetCoverage:
    """Coverage of the sets of one language with `labels` labels beside three others, over draws of labels and languages."""
    rng, rows = np.random.default_rng(seed), []
    groups = round(labels / np.mean(world.sizes))
    for _ in range(draws):
        shifts = rng.normal(scale=world.between, size=4)
        given = draw_input(world, [groups, OTHERS, OTHERS, OTHERS], rng, shifts.tolist())
        sets = SetMaker(given, learn(given), options).make(0)
        rows.append((*_held(sets, draw_input(world, [1500], rng, shifts[:1].tolist())), sets.threshold is None))
    by_group, by_text, size, nothing = np.array(rows, np.float64).T
    return SetCoverage(
        by_group.mean(), by_text.mean(), by_group.std(ddof=1), size.mean(), (by_group < options.level).mean(), nothing.mean()
    )


def _held(sets: LabelSets, new: MapInput) -> tuple[float, float, float]:
    """Coverage of a new text of a random group and of a random text, and the mean size."""
    predicted = sets.curve.predict(new.x)
    if isinstance(sets.curve, NumberLine):
        reach = np.inf if sets.threshold is None else sets.threshold
        inside = np.isnan(predicted) | (np.abs(new.mean - predicted) <= reach)
        ends = np.clip(np.stack([predicted - reach, predicted + reach]), 0, 100)
        size = np.where(np.isnan(predicted), 100, ends[1] - ends[0]).mean()
        text = np.arange(len(new))
    else:
        held = sets_at(predicted, new.kind, sets.threshold)
        text, y = label_rows(new.counts)
        inside, size = held[text, y], held.sum(axis=1).mean()
    group = np.unique(new.group[text], return_inverse=True)[1]
    shares = np.bincount(group, inside) / np.bincount(group)
    return float(shares.mean()), float(inside.mean()), float(size)


def oracle_size(world: ScoreWorld, seed: int = 1) -> float:
    """The mean size where the map and the threshold come from 4,000 groups each of the same language."""
    rng = np.random.default_rng(seed)
    sizes = []
    for _ in range(20):
        shift = [rng.normal(scale=world.between)]
        given = draw_input(world, [8000], rng, shift)
        sizes.append(_held(SetMaker(given, learn(given), SetOptions()).make(0), draw_input(world, [3000], rng, shift))[2])
    return float(np.mean(sizes))


def sets_table(draws: int = 100) -> Iterator[str]:
    """Coverage of label sets at 90 %."""
    yield "| world | labels | promise | by group | by text | sd of a draw | draws below 90 % | mean size (oracle) | every score |"
    yield "| --- | --- | --- | --- | --- | --- | --- | --- | --- |"
    promises = {"by group": SetOptions(), "by text": SetOptions(per="text"), "this draw, 95 %": SetOptions(this_draw=0.95)}
    for world in SETS:
        oracle = oracle_size(world)
        for labels in LABELS:
            for name, options in promises.items():
                if name == "by group" or world.harder:
                    one = coverage(world, labels, options, draws)
                    yield (
                        f"| {world.name} | {labels} | {name} | {one.by_group:.1%} | {one.by_text:.1%} | {one.sd:.1%} | {one.below:.0%} | "
                        f"{one.size:.2f} ({oracle:.2f}) | {one.nothing:.0%} |"
                    )


# ---- borrowed intervals


class BorrowedCoverage(NamedTuple):
    """Coverage on average over languages, twice its simulation error, coverage in the worst language; width and RMSE divided by those
    without the other languages; share given."""

    mean: float
    two_errors: float
    worst: float
    width: float
    error: float
    given: float


def borrowed(
    prior: str, languages: int, draws: int, outlier: float = 0.0, *, most: int = 50, skewed: bool = True, seed: int = 0
) -> tuple[BorrowedCoverage, float]:
    """Coverage over draws of languages and labels, 15 in the first language to `most` in the last; estimated variances.

    Second, how often the first language is refused: `outlier` moves it by so many standard deviations of a new language.
    """
    rng = np.random.default_rng(seed)
    labels = np.linspace(15, most, languages).astype(int)
    hits, ratios, squares = np.full((draws, languages), np.nan), [], []
    for draw in range(draws):
        true = BETWEEN * PRIORS[prior](rng, languages)
        true[0] = outlier * np.hypot(BETWEEN, 0.5 / np.sqrt(15)) if outlier else true[0]
        samples = [_sample(shift, count, rng, skewed) for shift, count in zip(true, labels.tolist(), strict=True)]
        plain = [mean_estimates([(one, 1.0)], share=False) for one in samples]
        for at, (figure, own) in enumerate(zip(with_other_languages(plain, samples, share=False), plain, strict=True)):
            base = own.corrected if own.corrected.ci else own.labels_alone
            if figure.value is not None and figure.ci is not None and base.value is not None and base.ci is not None:
                hits[draw, at] = figure.ci[0] <= true[at] <= figure.ci[1]
                ratios.append((figure.ci[1] - figure.ci[0]) / (base.ci[1] - base.ci[0]))
                squares.append(((figure.value - true[at]) ** 2, (base.value - true[at]) ** 2))
    square = np.mean(squares, axis=0)
    by_language = np.nanmean(hits[:, 1 if outlier else 0 :], axis=0)
    apart = float(np.isnan(hits).mean(axis=0)[0])
    found = BorrowedCoverage(
        float(np.nanmean(hits)),
        2 * float(np.nanstd(np.nanmean(hits, axis=1), ddof=1)) / np.sqrt(draws),
        float(by_language.min()),
        float(np.mean(ratios)),
        float(np.sqrt(square[0] / square[1])),
        1 - float(np.isnan(hits).mean()),
    )
    return found, apart


def _sample(shift: float, labels: int, rng: np.random.Generator, skewed: bool, texts: int = 400) -> Sample:
    """Texts with a judge's score, of which some are labelled; the judge's error has the mean `shift`, and is skewed or normal."""
    f = rng.normal(scale=0.6, size=texts)
    y = np.full(texts, np.nan)
    y[:labels] = f[:labels] + 0.5 * (rng.exponential(size=labels) - 1 if skewed else rng.normal(size=labels)) + shift
    return Sample(y, f, np.arange(texts))


class BorrowedWorld(NamedTuple):
    """How many languages, the most labels of one of them, whether errors are skewed, and how far the first language lies apart."""

    languages: int
    most: int = 50
    skewed: bool = True
    outlier: float = 0.0

    def __str__(self) -> str:
        labels = "15" if self.most == 15 else f"15 to {self.most}"
        return f"{self.languages} | {labels} | {'skewed' if self.skewed else 'normal'}"


BORROWED = (BorrowedWorld(5), BorrowedWorld(8), BorrowedWorld(12), BorrowedWorld(5, most=15), BorrowedWorld(5, skewed=False))
OUTLIERS = (BorrowedWorld(6, outlier=5), BorrowedWorld(12, outlier=5))


def borrowed_table(draws: int = 400) -> Iterator[str]:
    """Intervals with the other languages at 95 %; as many draws as give each world the languages of `draws` worlds of twelve."""
    yield "| languages differ as | languages | labels | errors | mean over languages | worst language | width | RMSE | refused |"
    yield "| --- | --- | --- | --- | --- | --- | --- | --- | --- |"
    for prior in PRIORS:
        for world in BORROWED:
            yield borrowed_row(prior, world, draws)
    for world in OUTLIERS:
        yield borrowed_row("normal", world, draws)


def borrowed_row(prior: str, world: BorrowedWorld, draws: int) -> str:
    """One row; of a world with a language apart, how often that one is refused."""
    times = draws * 12 // world.languages
    one, apart = borrowed(prior, world.languages, times, world.outlier, most=world.most, skewed=world.skewed)
    name = f"{prior}, one {world.outlier:g} sd away" if world.outlier else prior
    refused = apart if world.outlier else 1 - one.given
    covered = f"{one.mean:.1%} ± {one.two_errors:.1%} | {one.worst:.1%}"
    return f"| {name} | {world} | {covered} | {one.width:.2f} | {one.error:.2f} | {refused:.0%} |"


def apart_covered(languages: int, sds: float, draws: int) -> tuple[float, float]:
    """Coverage of a language with few labels that lies so many sd from others with many labels; and how often it is refused."""
    rng, hits = np.random.default_rng(0), []
    errors, true = [FEW_LABELS, *[MANY_LABELS] * (languages - 1)], sds * ALIKE
    for _ in range(draws):
        y = np.concatenate([[true], rng.normal(scale=ALIKE, size=languages - 1)]) + rng.normal(scale=errors)
        found = shrink(y, errors, within=APART)
        assert found.half_width[0] <= 1.96 * FEW_LABELS + 1e-6, "never wider than without the others"
        hits.append(abs(found.value[0] - true) <= found.half_width[0] if abs(found.apart[0]) <= APART else np.nan)
    return float(np.nanmean(hits)), float(np.isnan(hits).mean())


def apart_table(draws: int = 1000) -> Iterator[str]:
    """Coverage at 95 % of a language that lies apart from others, where its few labels hide it."""
    yield f"| others | {' | '.join(f'{sds} sd away' for sds in SDS_APART)} | refused, {SDS_APART[-1]} sd away |"
    yield "| --- " * (len(SDS_APART) + 2) + "|"
    for others in OTHERS_APART:
        found = [apart_covered(others + 1, sds, draws) for sds in SDS_APART]
        yield f"| {others} | {' | '.join(f'{covered:.1%}' for covered, _ in found)} | {found[-1][1]:.0%} |"


TABLES = (gains_table, sets_table, borrowed_table, apart_table)


@pytest.mark.slow
@pytest.mark.parametrize("world", NOTHING, ids=lambda one: one.name)
def test_no_gain_is_shown_of_scores_that_carry_nothing(world: ScoreWorld) -> None:
    shown, over_raw = false_gains(world, 60)
    assert shown <= FALSE_GAIN and over_raw > 0.9


@pytest.mark.slow
@pytest.mark.parametrize("world", SETS, ids=lambda one: one.name)
@pytest.mark.parametrize("labels", LABELS)
def test_sets_hold_their_level_by_group(world: ScoreWorld, labels: int) -> None:
    assert coverage(world, labels, SetOptions(), 60).by_group >= LEAST_COVERAGE


@pytest.mark.slow
def test_sets_by_text_and_of_this_draw_hold_theirs() -> None:
    harder = SETS[2]
    assert coverage(harder, 500, SetOptions(), 40).by_text < coverage(harder, 500, SetOptions(per="text"), 40).by_text >= LEAST_COVERAGE
    assert coverage(harder, 100, SetOptions(this_draw=0.95), 60).below <= 0.1


@pytest.mark.slow
@pytest.mark.parametrize("prior", list(PRIORS))
def test_borrowed_intervals_hold_on_average_over_languages(prior: str) -> None:
    found, _ = borrowed(prior, 5, 300)
    assert 0.93 <= found.mean <= 0.99 and found.worst >= 0.9 and found.width < 1


@pytest.mark.slow
def test_an_outlying_language_is_refused() -> None:
    assert borrowed("normal", 8, 60, outlier=5)[1] >= 0.8


@pytest.mark.slow
@pytest.mark.parametrize(("others", "least"), [(4, 0.9), (9, 0.8)])
def test_a_language_with_few_labels_is_covered_where_it_lies_apart_from_others_that_seem_alike(others: int, least: float) -> None:
    assert apart_covered(others + 1, 3, 300)[0] >= least
    assert apart_covered(others + 1, 2, 300)[0] >= 0.93
