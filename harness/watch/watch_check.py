"""Tests whether the judge of a watch has changed, the texts, or both, from its plan and its log alone: every look gives the same.

Each stream of a cell has half of alpha: a quarter of alpha for the error of its reference levels, a quarter for its tests. Its e-value is
the mean of those of its one-sided tests. Over many cells e-BH says which e-values are an alarm.
"""

from __future__ import annotations

import hashlib
import math
from bisect import bisect_right
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from datetime import date
from pathlib import Path
from typing import Any, Literal

import msgspec
import numpy as np

from harness.correction.cell_results import judged_rows
from harness.correction.certificate import Certificate, CertifiedJudge, CertifiedWatch, EarlierWatch
from harness.correction.staleness import condition_changes
from harness.data.dataset import Dataset
from harness.data.judgments import Judgments
from harness.data.same_texts import text_key
from harness.errors import ContentError, UsageError
from harness.measure.compare import Recording
from harness.model import Item, Score
from harness.stats.core.arrays import Floats
from harness.stats.estimation.betting import e_benjamini_hochberg, log_factors, mixed_wealth
from harness.text import short_repr
from harness.watch.watch_plan import (
    CERTIFIED,
    STREAMS,
    Anchor,
    Day,
    Quantity,
    Reference,
    Seen,
    SeenAnchors,
    SeenProduction,
    Stream,
    WatchedCell,
    WatchPlan,
    certified_hash,
)

WatchAnswer = Literal["nothing shown", "not yet known", "the texts changed", "the judge changed", "both"]
_OF_PRODUCTION: tuple[Quantity, ...] = ("level", "readable")
_MOST = 700.0  # the largest logarithm of a number that a float holds


class WatchedDay(msgspec.Struct, frozen=True):
    """One day of a stream: how many values, their mean by quantity, and the e-value up to then."""

    date: date
    n: int
    means: dict[Quantity, float]
    e: float


class StreamState(msgspec.Struct, frozen=True, kw_only=True):
    """One stream of one cell.

    Attributes:
        e: the e-value after the last day; 1 without one. Large ones speak against "nothing changed".
        limit: what e has to reach for an alarm if no other cell is watched; e-BH asks for less where several cells are high.
        alarm: the first day on which e-BH named this cell; None without an alarm.
        moved: which quantity moved most, and where to: `agreement fell`; empty without an alarm.
        days: those with values.
    """

    e: float
    limit: float
    alarm: date | None
    moved: str
    days: tuple[WatchedDay, ...]


class CellState(msgspec.Struct, frozen=True, kw_only=True):
    """One cell: the answer, its reference levels, and its two streams."""

    language: str
    metric: str
    answer: WatchAnswer
    watched_class: Any
    references: tuple[Reference, ...]
    anchors: StreamState
    production: StreamState


class WatchCheck(msgspec.Struct, frozen=True, kw_only=True):
    """All cells of a watch.

    Attributes:
        judge, data, since: of the plan.
        last_day: of the log; None without a day.
        days: how many the log has.
        checked: the day of the check.
        expired: why the certificate does not hold any more; None if it does.
        earlier: the starts of the watch before this one, each with the alarm that ended it.
    """

    judge: str
    data: str
    since: date
    last_day: date | None
    days: int
    checked: date
    alpha: float
    guard: int
    cells: tuple[CellState, ...]
    expired: str | None
    earlier: tuple[EarlierWatch, ...] = ()
    schema_version: int = 1

    def __repr__(self) -> str:
        return short_repr(self, f"{self.judge}, {self.answer}", cells=len(self.cells), days=self.days)

    @property
    def answer(self) -> WatchAnswer:
        """The change over all cells: a change of the judge and one of the texts, in whatever cells, are both."""
        answers = {cell.answer for cell in self.cells}
        judge, texts = "the judge changed" in answers, "the texts changed" in answers
        if "both" in answers or (judge and texts):
            return "both"
        if judge or texts:
            return "the judge changed" if judge else "the texts changed"
        return "not yet known" if "not yet known" in answers else "nothing shown"

    @property
    def changed(self) -> bool:
        return self.answer in ("the texts changed", "the judge changed", "both")

    def as_json(self) -> dict[str, Any]:
        """One object for programs, with the answer."""
        fields: dict[str, Any] = msgspec.to_builtins(self)
        return fields | {"answer": self.answer}


def check_watch(plan: WatchPlan, days: Sequence[Day], today: date, earlier: tuple[EarlierWatch, ...] = ()) -> WatchCheck:
    """Compute every test of the last start anew from the log; `today` the certificate has to hold, `earlier` are the starts before."""
    alpha = plan.options.alpha / 4
    streams = {stream: {cell.name: _gather_evidence(cell, stream, days, plan) for cell in plan.cells} for stream in STREAMS}
    alarms: dict[str, dict[str, date]] = {stream: {} for stream in streams}
    for stream, of_cells in streams.items():
        names = list(of_cells)
        for day in days:
            for number in e_benjamini_hochberg([of_cells[name].at(day.date) for name in names], alpha):
                alarms[stream].setdefault(names[number], day.date)
    cells = []
    for cell in plan.cells:
        states: dict[str, Any] = {}
        for stream, of_cells in streams.items():
            evidence, alarm = of_cells[cell.name], alarms[stream].get(cell.name)
            states[stream] = StreamState(
                e=evidence.days[-1].e if evidence.days else 1.0,
                limit=len(plan.cells) / alpha,
                alarm=alarm,
                moved=max(evidence.by_test, key=evidence.by_test.__getitem__) if alarm else "",
                days=evidence.days,
            )
        identity = {name: getattr(cell, name) for name in ("language", "metric", "watched_class", "references")}
        # Days are counted by those on which the judge was asked about anchors.
        anchors, production = states["anchors"], states["production"]
        asked_days = [day.date for day in anchors.days]
        answer: WatchAnswer = "not yet known"
        if anchors.days or production.days:
            new, again = (
                None if stream_state.alarm is None else sum(day <= stream_state.alarm for day in asked_days)
                for stream_state in (production, anchors)
            )
            answer = who_changed(new, again, len(asked_days), plan.options.guard)
        cells.append(CellState(answer=answer, **identity, **states))
    check = WatchCheck(
        judge=plan.judge.name,
        data=plan.data,
        since=plan.since,
        last_day=days[-1].date if days else None,
        days=len(days),
        checked=today,
        alpha=plan.options.alpha,
        guard=plan.options.guard,
        cells=tuple(cells),
        expired=None,
        earlier=earlier,
    )
    return msgspec.structs.replace(check, expired=watch_record(plan, check, earlier).expired(today))


def watch_record(plan: WatchPlan, check: WatchCheck, earlier: tuple[EarlierWatch, ...]) -> CertifiedWatch:
    """Return the certificate's statement about its watch after a check."""
    first = min((alarm for cell in check.cells for alarm in (cell.anchors.alarm, cell.production.alarm) if alarm), default=None)
    what = "a change, and not yet known of what" if check.answer == "not yet known" else check.answer
    return CertifiedWatch(
        since=plan.since,
        checked_to=check.last_day or plan.since,
        max_age=plan.options.max_age,
        ended=None if first is None else f"{what}; the first alarm was on {first}",
        recalibrated=plan.since if earlier else None,
        earlier=earlier,
    )


def watched(certificate: Certificate, plan: WatchPlan, check: WatchCheck) -> Certificate:
    """The certificate with its watch as the check found it."""
    return msgspec.structs.replace(certificate, watch=watch_record(plan, check, check.earlier)).sealed()


class _Evidence(msgspec.Struct, frozen=True):
    """One stream: its days, with e-values of all tests together, and after the last one the logarithm of that of each test."""

    days: tuple[WatchedDay, ...]
    by_test: dict[str, float]

    def at(self, day: date) -> float:
        """The e-value after the last of its days up to this one; 1 before the first."""
        n_days = bisect_right(self.days, day, key=lambda watched_day: watched_day.date)
        return self.days[n_days - 1].e if n_days else 1.0


def _gather_evidence(cell: WatchedCell, stream: Stream, days: Sequence[Day], plan: WatchPlan) -> _Evidence:
    with_values = [(day.date, seen) for day in days if (seen := _seen_values(day, cell, stream))]
    references = [reference for reference in cell.references if reference.stream == stream]
    if not with_values:
        return _Evidence((), {})
    sides = ((1, "fell"), (-1, "rose"))
    tests = {
        f"{reference.quantity} {words}": (reference, sign)
        for reference in references
        for sign, words in sides
        if (reference.quantity, sign) != ("readable", -1)
    }
    counted = {reference.quantity: _count_values([seen.get(reference.quantity) for _, seen in with_values]) for reference in references}
    factors = np.stack(
        [_wealth_factors(*counted[reference.quantity], reference, sign, plan.options.tolerance) for reference, sign in tests.values()],
        axis=1,
    )
    log_wealth = mixed_wealth(factors).log_e  # (days, tests)
    mean = np.logaddexp.reduce(log_wealth, axis=1) - math.log(len(tests))
    watched_days = []
    for (when, seen), log_e in zip(with_values, mean.tolist(), strict=True):
        means = {quantity: reference.mean for quantity, reference in seen.items()}
        watched_days.append(WatchedDay(when, max(reference.n for reference in seen.values()), means, math.exp(min(log_e, _MOST))))
    return _Evidence(tuple(watched_days), dict(zip(tests, log_wealth[-1].tolist(), strict=True)))


def _seen_values(day: Day, cell: WatchedCell, stream: Stream) -> dict[Quantity, Seen]:
    """Return a day's values of one stream, by quantity; empty if nothing."""
    of_day = day.cells.get(cell.name)
    if of_day is None:
        return {}
    if stream == "production":
        parts = {name: getattr(of_day.production, name, None) for name in _OF_PRODUCTION}
        return {name: seen for name, seen in parts.items() if seen is not None}
    if of_day.anchors is None:
        return {}
    level: dict[Quantity, Seen] = {"level": of_day.anchors.level} if of_day.anchors.level else {}
    return {"agreement": of_day.anchors.agreement, **level}


def _count_values(of_days: Sequence[Seen | None]) -> tuple[Floats, Floats]:
    """(values,) all values that were seen on any day, and (days, values) how often each was seen."""
    values = sorted({value for seen in of_days if seen is not None for value in seen.counts}, key=float)
    counts = [[seen.counts.get(value, 0) if seen is not None else 0 for value in values] for seen in of_days]
    return np.array(list(map(float, values))), np.array(counts, np.float64).reshape(len(of_days), len(values))


def _wealth_factors(values: Floats, counts: Floats, reference: Reference, sign: int, tolerance: float) -> Floats:
    """(days, bets) by what days multiply the wealth against "no lower than the reference" (sign 1), or "no higher" (-1)."""
    null = max(0.0, (reference.lower if sign > 0 else 1 - reference.upper) - tolerance)
    towards_change = values if sign > 0 else 1 - values
    return np.asarray(counts @ log_factors(towards_change[:, None], null))


def who_changed(production: int | None, anchors: int | None, last_day: int, guard: int) -> WatchAnswer:
    """The answer from the days of the alarms, None without one. Days count those on which the judge was asked about anchors.

    The anchors are the same texts every day, so only the judge moves them. An alarm on production scores is put down to the texts when the
    anchors stayed silent for `guard` days after it; if they gave alarm before or by then, the judge explains it, and production says
    nothing until there is a new reference. Anchors that give alarm later than that are a second change.

    >>> [who_changed(40, anchors, 100, 30) for anchors in (None, 45, 90)], who_changed(90, None, 100, 30)
    (['the texts changed', 'the judge changed', 'both'], 'not yet known')
    """
    if anchors is not None:
        return "both" if production is not None and anchors > production + guard else "the judge changed"
    if production is None:
        return "nothing shown"
    return "the texts changed" if last_day >= production + guard else "not yet known"


Answers = Mapping[tuple[str, str], Sequence[Score | None]]
"""`{(item_id, metric): answers in the order of their repeats}`, None for an answer that cannot be read."""
_NAMED = 3  # anchors that a sentence names


def draw_anchors(anchors: Sequence[Anchor], plan: WatchPlan, day: date) -> dict[str, int]:
    """Return how often each anchor is drawn on a day: `per_day` draws a language, at random and with replacement.

    The draw depends on the plan's seed and the day alone, so a command that was killed draws the same anchors again.
    """
    drawn: Counter[str] = Counter()
    for language in sorted({anchor.language for anchor in anchors}):
        pool = sorted({anchor.item_id for anchor in anchors if anchor.language == language})
        seed = [plan.options.seed, day.toordinal(), *language.encode()]
        drawn.update(pool[number] for number in np.random.default_rng(seed).integers(0, len(pool), plan.options.per_day))
    return dict(drawn)


def answers_of(judgments: Judgments) -> dict[tuple[str, str], list[Score | None]]:
    """The answers on each item and metric, in the order of their repeats."""
    rows = sorted(
        zip(judgments.item, judgments.metric, (repeat or 0 for repeat in judgments.repeat), judgments.score, strict=True),
        key=lambda row: (row[0], row[1], row[2]),
    )
    answers: dict[tuple[str, str], list[Score | None]] = {}
    for item, metric, _, score in rows:
        answers.setdefault((item, metric), []).append(score)
    return answers


def refuse_unanswered(anchors: Sequence[Anchor], times: Mapping[str, int], answers: Answers, where: str) -> None:
    """Raise UsageError for drawn anchors without an answer, with their ids."""
    absent = sorted({anchor.item_id for anchor in anchors if anchor.item_id in times and (anchor.item_id, anchor.metric) not in answers})
    if absent:
        listed = ", ".join(absent[:_NAMED]) + (f" and {len(absent) - _NAMED} more" if len(absent) > _NAMED else "")
        problem = f"{where} has no answer of the judge on {len(absent)} of the anchors that are drawn: {listed}"
        raise UsageError(f"{problem}; an answer that cannot be read is a row without a score")


def see_anchors(cell: WatchedCell, anchors: Sequence[Anchor], times: Mapping[str, int], answers: Answers) -> SeenAnchors | None:
    """Return the result of the answers on the drawn anchors in one cell; None where none of them is of it.

    The k-th draw of an anchor takes its k-th answer, or its last one where there are fewer.
    """
    drawn_answers = [
        (anchor, answers[anchor.item_id, anchor.metric][min(draw, len(answers[anchor.item_id, anchor.metric]) - 1)])
        for anchor in anchors
        if (anchor.language, anchor.metric) == (cell.language, cell.metric)
        for draw in range(times.get(anchor.item_id, 0))
    ]
    agreement = Seen.of(cell.agreement(score, anchor) for anchor, score in drawn_answers)
    if agreement is None:
        return None
    read = [score for _, score in drawn_answers if score is not None]
    return SeenAnchors(len(drawn_answers), len(drawn_answers) - len(read), agreement, Seen.of(map(cell.level, read)))


Answer = tuple[Item, WatchedCell, Score | None]


def group_key(cell: WatchedCell, group: str) -> str:
    """A short hash of a group in a cell, under which it is remembered."""
    return hashlib.sha256(f"{cell.name}\x1f{group}".encode()).hexdigest()[:16]


def see_production(
    source: Recording, judge: CertifiedJudge, cells: Collection[WatchedCell], known_groups: Collection[str]
) -> tuple[dict[str, SeenProduction], list[str]]:
    """Return one day's scores in each cell, and the groups that came for the first time.

    A group enters as one value, the mean of its texts; one that an earlier day had (`known_groups`, as `group_key`) does not enter again,
    as it says the same twice. Raises UsageError for scores of another judge or condition, an empty day, and scores off the scale.
    """
    for problem in condition_changes(judge, source):
        raise UsageError(f"{source.name} holds no scores to watch: {problem}")
    by_group = scores_by_group(source, judge, cells)
    if not any(by_group.values()):
        raise UsageError(
            f"{source.name} has no score of '{judge.name}' in {', '.join(cell.name for cell in cells)}; there is nothing to add"
        )
    seen, new = dict[str, SeenProduction](), list[str]()
    for cell in cells:
        groups = by_group[cell.name]
        first = {key: levels for group, levels in groups.items() if (key := group_key(cell, group)) not in known_groups}
        read = {key: [level for level in levels if level is not None] for key, levels in first.items()}
        texts = sum(map(len, groups.values()))
        new += first
        if texts:
            seen[cell.name] = SeenProduction(
                texts=texts,
                unread=sum(level is None for levels in groups.values() for level in levels),
                known=texts - sum(map(len, first.values())),
                level=Seen.of(sum(levels) / len(levels) for levels in read.values() if levels),
                readable=Seen.of(len(read[key]) / len(levels) for key, levels in first.items()),
            )
    return seen, new


def scores_by_group(
    source: Recording, judge: CertifiedJudge, cells: Collection[WatchedCell]
) -> Mapping[str, dict[str, list[float | None]]]:
    """`{cell: {group: levels of its answers}}`, None for an answer that cannot be read."""
    groups: dict[str, dict[str, list[float | None]]] = {cell.name: {} for cell in cells}
    cluster = dict(zip(source.data.by_id, source.data.clusters, strict=True))
    for item, cell, score in _answers_by_item(source, judge, cells):
        groups[cell.name].setdefault(cluster[item.item_id] or item.item_id, []).append(None if score is None else cell.level(score))
    return groups


def certified_texts(source: Recording, judge: CertifiedJudge, cells: Collection[WatchedCell]) -> tuple[str, ...]:
    """Short hashes that know the judged texts of the certified cells again, by their ids and by what is read of them, in order."""
    texts = _read_texts(_answers_by_item(source, judge, cells))
    return tuple(sorted({key for item, _ in texts for key in (_hash_parts([item.item_id]), *_text_keys(source.data, item))}))


def without_certified(source: Recording, plan: WatchPlan, certified: frozenset[str]) -> tuple[Recording, Counter[str]]:
    """New scores without those of certified texts, and how many were left out in each cell (by its name).

    A text is known by its id and its outputs, by all that is read of it under whatever id, or by its id alone where the new scores come
    without texts. Raises UsageError where no other text is left.
    """
    left_out, n_new, is_certified = Counter[str](), 0, dict[str, bool]()
    for item, cell in _read_texts(_answers_by_item(source, plan.judge, plan.cells)):
        if item.item_id not in is_certified:
            is_certified[item.item_id] = not certified.isdisjoint(_text_keys(source.data, item))
        left_out[cell.name] += is_certified[item.item_id]
        n_new += not is_certified[item.item_id]
    if not any(is_certified.values()):
        return source, left_out
    if not n_new:
        raise UsageError(
            f"all {len(is_certified):,} texts of {source.name} are those that the certificate was made from; name texts that came later"
        )
    new = (item.item_id for item in source.data.items if not is_certified.get(item.item_id))
    return msgspec.structs.replace(source, judgments=source.judgments.for_items(new)), left_out


def read_certified(home: Path, plan: WatchPlan) -> frozenset[str]:
    """Return what `certified_texts` gave when the watch began. Raises ContentError for a changed file."""
    path = home / CERTIFIED
    keys = tuple(path.read_text("ascii", "replace").split()) if path.is_file() else ()
    if certified_hash(keys) != plan.certified:
        raise ContentError("these are not the certified texts that the watch began with; restore the file, or begin another watch", path)
    return frozenset(keys)


def _answers_by_item(source: Recording, judge: CertifiedJudge, cells: Collection[WatchedCell]) -> Iterator[Answer]:
    rows, items = judged_rows(source, judge.condition), source.data.by_id
    by_place = {(cell.language, cell.metric): cell for cell in cells}
    for item_id, metric, score in zip(rows.item, rows.metric, rows.score, strict=True):
        cell = by_place.get((items[item_id].language, metric))
        if cell is not None:
            yield items[item_id], cell, score


def _read_texts(answers: Iterable[Answer]) -> Collection[tuple[Item, WatchedCell]]:
    """Each text once in each of its cells."""
    return {(item.item_id, cell.name): (item, cell) for item, cell, _ in answers}.values()


def _text_keys(data: Dataset, item: Item) -> tuple[str, ...]:
    """By its id and its outputs, and by all that is read of it; by its id alone where it comes without its outputs."""
    outputs, text = [item.fields.get(name) for name in data.outputs_of(item)], text_key(item, data.outputs_of(item))
    return (_hash_parts([item.item_id]),) if text is None else (_hash_parts([item.item_id, *outputs]), text)


def _hash_parts(parts: list[object]) -> str:
    return hashlib.sha256(msgspec.json.encode(parts, enc_hook=str)).hexdigest()[:16]
