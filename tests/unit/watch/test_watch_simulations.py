"""What a watch and an extension promise, in made worlds; the tables are those of docs/error-rates.md (`make simulations`)."""

from __future__ import annotations

import math
from collections.abc import Iterator
from datetime import date, timedelta
from functools import cache
from typing import NamedTuple

import numpy as np
import pytest

from harness.correction.certificate import CertifiedJudge
from harness.stats.core.arrays import Floats, Ints
from harness.stats.estimation.betting import BETS, limits_of_repeats, log_factors, mixed_wealth, reference_limits
from harness.stats.intervals.cluster_mean import cluster_mean
from harness.stats.intervals.intervals import t_quantile
from harness.stats.intervals.noninferiority import transport
from harness.watch.watch_check import check_watch
from harness.watch.watch_options import WatchOptions
from harness.watch.watch_plan import Day, Reference, Seen, SeenAnchors, SeenCell, SeenProduction, WatchedCell, WatchPlan

LEVEL, DROP, ALPHA, PER_DAY, DAYS, REFERENCE = 0.8, 0.1, 0.05, 30, 500, 300
QUIET = (0, 50, 200, 450)
GROUPS = (20, 50, 100)
FIRST = date(2026, 1, 1)


def _wealth(hits: Ints, null: Floats, *, one_start: bool = False, per_day: int = PER_DAY) -> Floats:
    """(days, runs) log e of days with so many hits (runs, days) against "the mean is `null` (runs,) or more"."""
    up, down = (np.stack([log_factors([value], float(one)) for one in null]) for value in (1.0, 0.0))
    factors = hits.T[..., None] * up + (per_day - hits.T)[..., None] * down
    if not one_start:
        return mixed_wealth(factors).log_e
    return np.logaddexp.reduce(np.cumsum(factors, axis=0), axis=-1) - math.log(len(BETS))


def _lower_limits(runs: int, rng: np.random.Generator, alpha: float) -> Floats:
    return np.array([reference_limits(hits / REFERENCE, REFERENCE, alpha).lower for hits in rng.binomial(REFERENCE, LEVEL, runs)])


def _peeking_z(hits: Ints) -> Floats:
    """(days, runs) one-sided z of all days so far, against the known level."""
    n = PER_DAY * np.arange(1, hits.shape[1] + 1)
    return np.asarray((np.cumsum(hits, axis=1) / n - LEVEL) / np.sqrt(LEVEL * (1 - LEVEL) / n)).T


def _first(alarms: np.ndarray) -> Floats:
    """(runs,) the first day, from 1, on which a test gives alarm; infinity for never."""
    return np.where(alarms.any(axis=0), alarms.argmax(axis=0) + 1.0, math.inf)


# ---- false alarms


@cache
def false_alarms(kind: str, runs: int = 1000) -> float:
    """The share of runs of 500 quiet days in which a test, looked at after each day, gives any alarm."""
    rng = np.random.default_rng(71)
    if kind == "anchors that were asked once, as if then were known":
        return _asked_once(rng, runs)
    if "ten of a group" in kind:
        return _grouped(rng, 400, by_text="text by text" in kind)
    hits = rng.binomial(PER_DAY, LEVEL, (runs, DAYS))
    if kind == "z-test that peeks":
        return float(np.isfinite(_first(_peeking_z(hits) < -1.6449)).mean())
    known, limit = np.full(runs, LEVEL), math.log(1 / ALPHA)
    if kind == "level estimated, as if it were known":
        known = rng.binomial(REFERENCE, LEVEL, runs) / REFERENCE
    elif kind == "level by its lower limit":
        known, limit = _lower_limits(runs, rng, ALPHA / 2), math.log(2 / ALPHA)
    return float(np.isfinite(_first(_wealth(hits, known) >= limit)).mean())


def _asked_once(rng: np.random.Generator, runs: int, anchors: int = 300) -> float:
    """An unchanged judge that is right on each anchor with a chance of its own; the level then is what it said once on all of them."""
    found = []
    for _ in range(runs):
        chance = rng.beta(4, 1, anchors)
        then = (rng.random(anchors) < chance).mean()
        drawn = chance[rng.integers(0, anchors, (DAYS, PER_DAY))]
        hits = (rng.random((DAYS, PER_DAY)) < drawn).sum(axis=1)
        found.append(np.isfinite(_first(_wealth(hits[None], np.array([then])) >= math.log(1 / ALPHA)))[0])
    return float(np.mean(found))


def _grouped(rng: np.random.Generator, runs: int, *, by_text: bool, groups: int = 30, size: int = 10) -> float:
    chance = rng.beta(4, 1, (runs, DAYS, groups))
    hits = rng.binomial(size, chance)
    found = []
    for run in hits:
        counts = np.stack([(run == value).sum(axis=1) for value in range(size + 1)], axis=1)  # (days, values)
        values = np.arange(size + 1) / size
        if by_text:
            counts, values = np.stack([size * groups - run.sum(axis=1), run.sum(axis=1)], axis=1), np.array([0.0, 1.0])
        log_e = mixed_wealth(log_factors(np.broadcast_to(values, counts.shape), LEVEL, counts)).log_e
        found.append(log_e.max() >= math.log(1 / ALPHA))
    return float(np.mean(found))


KINDS = (
    "z-test that peeks",
    "betting, level known",
    "level estimated, as if it were known",
    "level by its lower limit",
    "anchors that were asked once, as if then were known",
    "ten of a group each, text by text",
    "ten of a group each, group means",
)


@cache
def false_watches(runs: int = 200) -> dict[str, float]:
    """The share of whole watches with any alarm in 500 quiet days: a random judge, 200 anchors asked five times, 300 reference groups."""
    rng, found = np.random.default_rng(72), []
    for _ in range(runs):
        plan, chance = _plan(rng)
        days = [_quiet_day(number, chance, rng) for number in range(DAYS)]
        found.append(
            [state.alarm is not None for cell in check_watch(plan, days, FIRST).cells for state in (cell.anchors, cell.production)]
        )
    anchors, production = np.mean(found, axis=0)
    return {"anchors": float(anchors), "production": float(production), "any": float(np.mean(np.any(found, axis=1)))}


def _plan(rng: np.random.Generator, anchors: int = 200, repeats: int = 5) -> tuple[WatchPlan, Floats]:
    """A watch with a reference that was drawn, and the chance of each anchor to be answered with 1."""
    chance = rng.beta(4, 1, anchors)
    then = (rng.random((anchors, repeats)) < chance[:, None]).astype(float)
    alpha = ALPHA / 4
    references = []
    for quantity in ("agreement", "level"):
        lower, upper = limits_of_repeats(then.tolist(), alpha / 4)
        references.append(Reference(stream="anchors", quantity=quantity, mean=float(then.mean()), n=then.size, lower=lower, upper=upper))  # type: ignore[arg-type]
    before = rng.binomial(REFERENCE, LEVEL) / REFERENCE
    for quantity, mean in (("level", before), ("readable", 1.0)):
        limits = reference_limits(mean, REFERENCE, alpha / 3)
        references.append(Reference(stream="production", quantity=quantity, mean=mean, n=REFERENCE, lower=limits.lower, upper=limits.upper))  # type: ignore[arg-type]
    cell = WatchedCell(
        language="ja", metric="m", classes=(0, 1), levels=(0.0, 1.0), span=None, watched_class=None, references=tuple(references)
    )
    plan = WatchPlan(
        schema_version=1,
        harness="0",
        certificate="",
        judge=CertifiedJudge(name="model/one", settings=None, variant="default", judgments=""),
        run=None,
        data="made",
        since=FIRST,
        options=WatchOptions(),
        cells=(cell,),
        anchors="",
        certified="",
        nonce="",
    )
    return plan, chance


def _quiet_day(number: int, chance: Floats, rng: np.random.Generator) -> Day:
    anchors = rng.random(PER_DAY) < chance[rng.integers(0, len(chance), PER_DAY)]
    seen, level = _counted(int(anchors.sum())), _counted(int(rng.binomial(PER_DAY, LEVEL)))
    cell = SeenCell(anchors=SeenAnchors(PER_DAY, 0, seen, seen), production=SeenProduction(PER_DAY, 0, 0, level, _counted(PER_DAY)))
    return Day(FIRST + timedelta(number), {"ja/m": cell})


def _counted(hits: int) -> Seen:
    return Seen(hits / PER_DAY, PER_DAY, {"0": PER_DAY - hits, "1": hits})


# ---- delay


class Delay(NamedTuple):
    """Days until a drop is seen: the median of the runs without an alarm before it, and the share of those with one."""

    median: float
    false: float


@cache
def delay(kind: str, quiet: int, runs: int = 400) -> Delay:
    """How long a drop of 10 points takes after so many quiet days."""
    rng = np.random.default_rng(73)
    if kind.startswith("`harness watch`"):
        return _delay_of_anchors(rng, quiet, runs, steady="steady" in kind)
    level = np.r_[np.full(quiet, LEVEL), np.full(120, LEVEL - DROP)]
    hits = rng.binomial(PER_DAY, level, (runs, len(level)))
    if kind == "z-test that peeks":
        alarms = _peeking_z(hits) < -1.6449
    elif kind == "level from 300 labels":
        alarms = _wealth(hits, _lower_limits(runs, rng, ALPHA / 2)) >= math.log(2 / ALPHA)
    else:
        alarms = _wealth(hits, np.full(runs, LEVEL), one_start=kind == "one starting day") >= math.log(1 / ALPHA)
    first = _first(alarms)
    return Delay(float(np.median(first[first > quiet] - quiet)), float((first <= quiet).mean()))


def _delay_of_anchors(rng: np.random.Generator, quiet: int, runs: int, *, steady: bool, anchors: int = 200, repeats: int = 5) -> Delay:
    """The anchors' stream of a watch: a random judge, or one that always says the same of one text; draws with replacement."""
    chance = rng.beta(4, 1, (runs, anchors)) if not steady else (rng.random((runs, anchors)) < LEVEL).astype(float)
    then = (rng.random((runs, anchors, repeats)) < chance[..., None]).astype(float)
    limits = np.array([limits_of_repeats(each, ALPHA / 16) for each in then.tolist()])
    drop = np.r_[np.zeros(quiet), np.full(240, DROP)]
    hits = rng.binomial(PER_DAY, np.clip(chance.mean(axis=1)[:, None] - drop, 0, 1))
    fell, rose = _wealth(hits, limits[:, 0]), _wealth(PER_DAY - hits, 1 - limits[:, 1])
    first = _first(np.logaddexp(fell, rose) - math.log(2) >= math.log(4 / ALPHA))
    return Delay(float(np.median(first[first > quiet] - quiet)), float((first <= quiet).mean()))


DELAYS = (
    "level known",
    "level from 300 labels",
    "one starting day",
    "`harness watch`: anchors, a judge that is random",
    "`harness watch`: anchors, a judge that is steady",
    "z-test that peeks",
)


# ---- extension


class Extended(NamedTuple):
    """Shares of probes that a test calls inside the margin."""

    plain: float
    cje: float
    guarded: float


@cache
def extended(groups: int, shift: float, runs: int = 1500, margin: float = 0.15) -> Extended:
    """Residuals 0 or 1 in groups of three with the mean `shift`, less their level where the shift is 0."""
    rng, found = np.random.default_rng(74), []
    code = np.repeat(np.arange(groups), 3)
    for _ in range(runs):
        chance = rng.beta(4 * margin, 4 * (1 - margin), groups)
        x = (rng.random((groups, 3)) < chance[:, None]).ravel() - (margin - shift)
        test, plain = transport(x, code, margin), cluster_mean(x, code)
        reach = test.error * t_quantile(0.95, groups - 1)
        found.append((max(plain.p_above(-margin), plain.p_below(margin)) <= 0.05, abs(test.mean) + reach < margin, test.p <= 0.05))
    return Extended(*np.mean(found, axis=0).tolist())


# ---- promises


def within(rate: float, limit: float, runs: int) -> bool:
    """Whether a rate is at most the limit, with two simulation errors."""
    return rate <= limit + 2 * math.sqrt(limit * (1 - limit) / runs)


@pytest.mark.slow
def test_false_alarms_stay_below_the_level_and_those_of_others_do_not() -> None:
    assert false_alarms("level by its lower limit") <= ALPHA
    assert within(false_alarms("betting, level known"), ALPHA, 1000)
    assert within(false_alarms("ten of a group each, group means"), ALPHA, 400)
    for other in ("z-test that peeks", "level estimated, as if it were known", "ten of a group each, text by text"):
        assert false_alarms(other) > 2 * ALPHA


@pytest.mark.slow
def test_a_whole_watch_gives_false_alarms_more_rarely_than_its_level() -> None:
    assert false_watches()["any"] <= ALPHA


@pytest.mark.slow
def test_a_drop_is_seen_as_soon_after_a_quiet_year_as_bets_on_all_starting_days_promise() -> None:
    for quiet in QUIET:
        assert delay("level known", quiet).median <= 20
        assert delay("level from 300 labels", quiet).median <= 100
    assert delay("one starting day", 450).median > 2 * delay("level known", 450).median


@pytest.mark.slow
@pytest.mark.parametrize("groups", GROUPS)
def test_a_shift_of_the_margin_is_rarely_extended(groups: int) -> None:
    found = extended(groups, 0.15)
    assert within(found.guarded, 0.05, 1500)
    assert found.plain > found.guarded


def test_limits_of_repeats_hold_for_random_and_for_steady_judges() -> None:
    rng, missed = np.random.default_rng(75), 0
    for number in range(400):
        chance = rng.beta(0.3, 0.3, 40) if number % 2 else rng.random(40)
        values = (rng.random((40, 4)) < chance[:, None]).astype(float).tolist()
        lower, upper = limits_of_repeats(values, 0.05)
        missed += not lower <= chance.mean() <= upper
        all_answers = reference_limits(float(np.mean(values)), 160, 0.05 / 3)
        assert lower >= all_answers.lower and upper <= all_answers.upper
    assert missed <= 0.1 * 400, "two one-sided limits of 5 %"


def test_limits_of_group_means_are_too_wide_rather_than_too_narrow() -> None:
    rng = np.random.default_rng(76)
    missed = [reference_limits(float(rng.binomial(5, rng.beta(4, 1, 50)).mean() / 5), 50, 0.05).lower > LEVEL for _ in range(2000)]
    assert np.mean(missed) <= 0.05


# ---- tables


def watch_table() -> Iterator[str]:
    yield "| 500 quiet days, looked at after each | any false alarm, % |"
    yield "| --- | --- |"
    for kind in KINDS:
        yield f"| {kind} | {100 * false_alarms(kind):.1f} |"
    whole = false_watches()
    for name in ("anchors", "production", "any"):
        yield f"| `harness watch`: {name} | {100 * whole[name]:.1f} |"


def delay_table() -> Iterator[str]:
    yield f"| test | {' | '.join(f'after {quiet} quiet days' for quiet in QUIET)} | alarm before the change, after {QUIET[-1]} days, % |"
    yield "| --- " * (len(QUIET) + 2) + "|"
    for kind in DELAYS:
        found = [delay(kind, quiet) for quiet in QUIET]
        yield f"| {kind} | {' | '.join(f'{one.median:g}' for one in found)} | {100 * found[-1].false:.1f} |"


def extension_table() -> Iterator[str]:
    yield "| groups of three | two t-tests, % | interval of 95 %, % | guarded, % | guarded, shift 0: shown, % |"
    yield "| --- " * 5 + "|"
    for groups in GROUPS:
        wrong, right = extended(groups, 0.15), extended(groups, 0.0)
        yield f"| {groups} | {100 * wrong.plain:.1f} | {100 * wrong.cje:.1f} | {100 * wrong.guarded:.1f} | {100 * right.guarded:.0f} |"
