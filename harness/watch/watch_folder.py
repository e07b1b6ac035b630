"""`harness watch`: begin a watch, begin it again after an alarm, add a day, and check it. Its folder holds everything; days need no label.

The first start's files stand in the folder itself, those of start 2 in `starts/2`. A restart is a line of the log, which is written after
its files: a process that is killed leaves a restart as a whole, or files that do not count and are written again.
"""

from __future__ import annotations

import hashlib
import secrets
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from importlib.metadata import version
from pathlib import Path

import msgspec
import numpy as np

from harness.correction import certificate
from harness.correction.cell_results import judged_rows
from harness.correction.certificate import Certificate, CertifiedWatch, EarlierWatch
from harness.correction.certified_cell import AGAIN, CertifiedCell
from harness.correction.certify import JudgedRun
from harness.correction.correction_options import SampleOptions
from harness.correction.labels_budget import draw_label_sample
from harness.correction.staleness import certified_run_settings, condition_changes, staleness
from harness.data.judgments import Judgments
from harness.decide.verdict_sentences import unread_sentence
from harness.errors import ContentError, JudgeError, StaleCertificate, UsageError, UseForbidden
from harness.measure.compare import Recording, align
from harness.measure.item_table import count_all_answers, item_tables
from harness.measure.options import Annotators, MeasureOptions
from harness.model import JudgeCondition
from harness.row_files import make_folder, sha256_of, to_json, write_atomic
from harness.stats.estimation.betting import limits_of_repeats, reference_limits
from harness.watch.watch_check import (
    Answers,
    WatchCheck,
    answers_of,
    certified_texts,
    check_watch,
    draw_anchors,
    read_certified,
    refuse_unanswered,
    scores_by_group,
    see_anchors,
    see_production,
    watch_record,
    watched,
    without_certified,
)
from harness.watch.watch_options import WatchOptions
from harness.watch.watch_plan import (
    CERTIFICATE,
    GROUPS,
    HEAD,
    LOG,
    PLAN,
    SCHEMA_VERSION,
    Anchor,
    Day,
    Head,
    Quantity,
    Reference,
    Restart,
    SeenAnchors,
    SeenCell,
    SeenProduction,
    Stream,
    WatchedCell,
    WatchPlan,
    anchors_hash,
    append_day,
    certified_hash,
    locked,
    read_anchors,
    read_log,
    read_plan,
    refuse_date,
    write_head,
    write_plan,
)

STARTS = "starts"


@dataclass(frozen=True, slots=True)
class StartedWatch:
    """A watch as its last start has it.

    Attributes:
        folder: of the watch.
        number: of the last start, from 1.
        plan: of the last start; its files stand in `home`.
        log: every line.
        days: those after the last start.
        earlier: the starts before, with what ended them.
    """

    folder: Path
    number: int
    plan: WatchPlan
    log: tuple[Day, ...]
    days: tuple[Day, ...]
    earlier: tuple[EarlierWatch, ...]

    @property
    def home(self) -> Path:
        return home_of(self.folder, self.number)

    @property
    def previous(self) -> str:
        """The hash to which the next line of the log is chained."""
        return self.log[-1].hash if self.log else read_plan(self.folder).sha256


def home_of(folder: Path, number: int) -> Path:
    """Return the folder of the files of a start."""
    return folder if number == 1 else folder / STARTS / str(number)


def open_watch(folder: Path) -> StartedWatch:
    """Read the plan of the last start, and the log. Raises UsageError where there is no watch, ContentError for what was changed."""
    plan = read_plan(folder)
    number, since, earlier = 1, 0, list[EarlierWatch]()
    log = read_log(folder, plan.sha256)
    for position, day in enumerate(log):
        if day.restart is None:
            continue
        earlier.append(EarlierWatch(since=plan.since, until=day.date, ended=day.restart.because, certificate=plan.certificate))
        number, since = number + 1, position + 1
        path = home_of(folder, number) / PLAN
        if not path.is_file() or (plan := read_plan(path.parent)).sha256 != day.restart.plan:
            raise ContentError(f"not the plan with which the watch was started again on {day.date}; restore it", path)
    return StartedWatch(folder, number, plan, tuple(log), tuple(log[since:]), tuple(earlier))


def why_ended(watch: StartedWatch, today: date) -> str:
    """Return what the last start of a watch found. Raises UsageError where it found nothing: then there is no reason to begin again."""
    ended = watch_record(watch.plan, check_watch(watch.plan, watch.days, today), watch.earlier).ended
    if ended is None:
        raise UsageError(
            f"the watch in {watch.folder} has found no change since {watch.plan.since}; go on with 'harness watch add'. Only an alarm ends "
            "a watch: starting again without one would throw away what its days have shown so far"
        )
    return ended


def record_restart(watch: StartedWatch, plan: WatchPlan, because: str) -> None:
    """Append the line of a restart to the log; the files of the new start are there already."""
    append_day(watch.folder, Day(plan.since, {}, restart=Restart(watch.number + 1, plan.sha256, because)), watch.previous)


ASKED = "asked"
"""The folder of the judge's replies: a results folder for each day."""
Asking = Callable[[Mapping[str, int], Path], Judgments]
"""Asks the judge about items, each so many times, with the replies in a results folder."""


class NewScores(msgspec.Struct, frozen=True):
    """The input of one day: production scores, and recorded answers on anchors where the judge is not asked; None for neither."""

    production: Recording | None = None
    answers: Recording | None = None


def begin(folder: Path, start: WatchStart, options: WatchOptions, since: date, ask: Asking | None, *, restart: bool = False) -> WatchPlan:
    """Begin a watch: draw its anchors, ask the judge about each several times, and fix the reference levels. The same command continues.

    Args:
        folder: of the new watch; `since` is its first day.
        start: the certificate, what it was made from, and the run to ask again.
        options: how the watch is kept.
        ask: asks the judge; None for recorded judgments, whose answers are those of the certified data.
        restart: start a watch again that an alarm has ended. Its log goes on, and its anchors and certificate are kept.

    Raises UsageError where the folder holds a watch already, and for scales without ends; for a restart without a watch, without an alarm,
    with the certificate that the alarm ended, and on a day of the log; and what `ask` raises. Raises JudgeError where most answers on
    the anchors cannot be read.
    """
    if not restart:
        if (folder / PLAN).exists():
            raise UsageError(f"{folder} holds a watch already; after an alarm, start it again with --restart and a new certificate")
        make_folder(folder, private=True)
        with locked(folder):
            return _write_start(folder, start, options, since, ask, ())
    open_watch(folder)  # before the lock: without a watch there is no folder to lock
    with locked(folder):
        watch = open_watch(folder)
        because = why_ended(watch, since)
        # Refuse a restart on a day of the log, and one with the certificate that the alarm has ended.
        last = watch.log[-1].date
        if since <= last:
            raise UsageError(f"a restart on {since} is not after {last}, the last day of the log; give a later --date")
        ended = certificate.load(watch.home / CERTIFICATE)
        if msgspec.structs.replace(start.certificate, watch=None).sealed() == msgspec.structs.replace(ended, watch=None).sealed():
            raise UsageError(
                "the certificate is the one that the alarm has ended, with the same labels and scores; run the judge again or label new "
                "texts, make a certificate with 'harness certify', and start again with that one"
            )
        check(folder, since)  # programs that load the certificate meanwhile learn that it has ended
        earlier = (*watch.earlier, EarlierWatch(since=watch.plan.since, until=since, ended=because, certificate=watch.plan.certificate))
        plan = _write_start(folder, start, options, since, ask, earlier)
        keep_certificate(watch)
        record_restart(watch, plan, because)
        copy_certificate(folder, home_of(folder, watch.number + 1))
    return plan


def _write_start(
    folder: Path, start: WatchStart, options: WatchOptions, since: date, ask: Asking | None, earlier: tuple[EarlierWatch, ...]
) -> WatchPlan:
    number = len(earlier) + 1
    anchors = choose_anchors(start, options)
    if ask is None:
        rows = judged_rows(start.source, start.certificate.judge.condition)
    else:
        run_folder = folder / ASKED / ("first" if number == 1 else f"first-{number}")
        rows = ask({anchor.item_id: options.repeats for anchor in anchors}, run_folder)
    answers = answers_of(rows)
    refuse_unanswered(anchors, {anchor.item_id: 1 for anchor in anchors}, answers, start.source.name)
    # Where most answers on the anchors cannot be read, days would be held against a set-up that does not work.
    anchored = {(anchor.item_id, anchor.metric) for anchor in anchors}
    on_anchors = np.array([key in anchored for key in zip(rows.item, rows.metric, strict=True)], bool)
    counted, judge = count_all_answers(rows.take(on_anchors)), start.certificate.judge.name
    if counted.mostly_unread:
        raise JudgeError(unread_sentence(counted, f"no watch of {judge} begins with them; after the repair, begin it in another folder"))
    plan, certified = make_watch_plan(start, anchors, answers, options, since)
    certificate_with_watch = watched(start.certificate, plan, check_watch(plan, [], since, earlier))
    if number == 1:
        write_head(folder, Head(0, plan.sha256))  # before the plan, without which a folder is no watch
    write_plan(home_of(folder, number), plan, anchors, certified, to_json(certificate_with_watch))
    return plan


def add_day(folder: Path, day: date, new: NewScores, today: date, ask: Asking | None = None) -> Day:
    """Ask the anchors of a day, take in its production scores, and append one line to the log.

    Nothing is appended unless all of it is there. A command that was killed is given again: it draws the same anchors, and asks those
    without a reply. The day comes after the last one of the log, and not after `today`. Without `ask` the judge is not asked.

    Raises UsageError without a watch, for a date out of order, a day without anything, scores of another judge, and those of certified
    texts alone; ContentError for a log, anchors or a certificate that were changed; StoreError where another process holds the folder.
    """
    read_plan(folder)  # before the lock: without a watch there is no folder to lock
    with locked(folder):
        watch = open_watch(folder)
        plan, days = watch.plan, watch.days
        read_own_certificate(watch)
        anchors = read_anchors(watch.home, plan)
        refuse_date(watch.log, day, today)
        if day < plan.since:
            raise UsageError(f"{day} is before the first day of the watch, {plan.since}")
        if ask is None and new.answers is None and new.production is None:
            raise UsageError(
                "nothing to add: the judge of this watch is known from recorded judgments only; name the day's scores, and its answers on "
                "anchors with --answers ('harness watch draw' says which)"
            )
        production, left_out, groups = dict[str, SeenProduction](), Counter[str](), list[str]()
        if new.production is not None:
            scores, left_out = without_certified(new.production, plan, read_certified(watch.home, plan))
            production, groups = see_production(scores, plan.judge, plan.cells, _known_groups(folder, days))
        # The result of the drawn anchors in each cell; nothing where the judge is not asked and no answers are recorded.
        if new.answers is None and ask is None:
            seen: dict[str, SeenAnchors] = {}
        else:
            times = draw_anchors(anchors, plan, day)
            if new.answers is not None:
                for problem in condition_changes(plan.judge, new.answers):
                    raise UsageError(f"{new.answers.name} holds no answers on anchors: {problem}")
                answers, where = answers_of(judged_rows(new.answers, plan.judge.condition)), new.answers.name
            else:
                assert ask is not None
                answers, where = answers_of(ask(times, folder / ASKED / str(day))), f"the run of {day}"
            refuse_unanswered(anchors, times, answers, where)
            seen_anchors = {cell.name: see_anchors(cell, anchors, times, answers) for cell in plan.cells}
            seen = {name: seen for name, seen in seen_anchors.items() if seen is not None}
        cells = {
            cell.name: SeenCell(anchors=seen.get(cell.name), production=production.get(cell.name), certified=left_out[cell.name])
            for cell in plan.cells
            if cell.name in seen or cell.name in production or left_out[cell.name]
        }
        if groups:  # before the line: what a killed command leaves is written again, and does not count without its line
            make_folder(folder / GROUPS, private=True)
            write_atomic(_path_of_groups(folder, day), text := "".join(f"{group}\n" for group in groups), private=True)
        source = new.production.name if new.production is not None else ""
        digest = hashlib.sha256(text.encode()).hexdigest() if groups else ""
        return append_day(folder, Day(day, cells, source, digest), watch.previous)


def _path_of_groups(folder: Path, day: date) -> Path:
    return folder / GROUPS / f"{day}.txt"


def _known_groups(folder: Path, days: Sequence[Day]) -> set[str]:
    """The groups of these days, of which each that had new ones has a file of them. Raises ContentError for a changed file."""
    groups: set[str] = set()
    for day in days:
        path = _path_of_groups(folder, day.date)
        if day.groups and (not path.is_file() or sha256_of(path) != day.groups):
            gone = "was changed" if path.is_file() else "is gone"
            raise ContentError(f"this file {gone}, which says what texts the day had; restore it, or texts would count twice", path)
        groups.update(path.read_text("ascii").split() if day.groups else ())
    return groups


def check(folder: Path, today: date) -> WatchCheck:
    """Test the whole log, and write what was found into the watch's copy of the certificate, which other programs load.

    Raises UsageError without a watch, ContentError for a log, anchors, certified texts or a certificate that were changed.
    """
    watch = open_watch(folder)
    plan = watch.plan
    read_anchors(watch.home, plan)  # the days rest on them
    read_certified(watch.home, plan)
    stored = read_own_certificate(watch)
    result = check_watch(plan, watch.days, today, watch.earlier)
    again = watched(stored, plan, result)
    if again != stored:
        write_atomic(folder / CERTIFICATE, to_json(again), private=True)
    return result


def read_own_certificate(watch: StartedWatch) -> Certificate:
    """Read the certificate in the folder of a watch.

    Raises ContentError if it is not there, was changed, is not the one that the last start was begun with, or was checked to a later day
    than the log ends on.
    """
    path, plan = watch.folder / CERTIFICATE, watch.plan
    stored = certificate.load(path)
    if stored.watch is not None and stored.watch.since != plan.since and watch.number > 1:  # a restart was killed before its certificate
        stored = copy_certificate(watch.folder, watch.home)
    if stored.watch is None or _hash_without_watch(stored) != plan.certificate:
        raise ContentError(f"this is not the certificate that the watch in {watch.folder} was begun with; restore it", path)
    last = watch.days[-1].date if watch.days else plan.since
    if last < stored.watch.checked_to:
        raise ContentError(f"the log was checked to {stored.watch.checked_to}, and now ends on {last}; restore it", watch.folder / LOG)
    return stored


def _hash_without_watch(certified: Certificate) -> str:
    """The SHA-256 of the file that 'harness certify' wrote, whatever a watch has noted in it since."""
    return hashlib.sha256(to_json(msgspec.structs.replace(certified, watch=None).sealed()).encode()).hexdigest()


def record_beside(path: Path) -> CertifiedWatch | None:
    """Return the present statement of the watch in whose folder a certificate stands; None without one. Raises as `open_watch`."""
    if path.name != CERTIFICATE or not (path.parent / HEAD).is_file():
        return None
    watch = open_watch(path.parent)
    return watch_record(watch.plan, check_watch(watch.plan, watch.days, watch.plan.since, watch.earlier), watch.earlier)


def keep_certificate(watch: StartedWatch) -> None:
    """Keep the certificate of the last start, with the alarm that ended it."""
    make_folder(start_folder := watch.folder / STARTS / str(watch.number), private=True)
    write_atomic(start_folder / CERTIFICATE, to_json(certificate.load(watch.folder / CERTIFICATE)), private=True)


def copy_certificate(folder: Path, home: Path) -> certificate.Certificate:
    """Put the certificate of a restart where programs load it from; that of the start before stays in its own place."""
    restarted = certificate.load(home / CERTIFICATE)
    write_atomic(folder / CERTIFICATE, to_json(restarted), private=True)
    return restarted


def drawn(folder: Path, day: date) -> dict[str, int]:
    """Return how often to ask each anchor on a day, for judges that are asked by another program."""
    watch = open_watch(folder)
    return draw_anchors(read_anchors(watch.home, watch.plan), watch.plan, day)


TESTS = {"anchors": 4, "production": 3}
"""One-sided tests of a cell in each stream: agreement and level of anchors, and the level of production scores, on both sides; and whether
fewer production answers can be read, which agreement on anchors shows too."""


class WatchStart(msgspec.Struct, frozen=True):
    """The start of a watch: the certificate, what it was made from, and the run to ask again (its folder)."""

    certificate: Certificate
    source: Recording
    run: str | None


def refuse_unfit(start: WatchStart, judged_run: JudgedRun | None) -> None:
    """Raise StaleCertificate where a certificate is not of this source or does not hold, UseForbidden where it allows nothing."""
    certificate, name = start.certificate, start.source.name
    if certificate.watch is not None and certificate.watch.ended is not None:
        raise StaleCertificate(f"the certificate does not hold any more: its watch found: {certificate.watch.ended}; {AGAIN}")
    for problem in staleness(certificate, start.source, judged_run):
        raise StaleCertificate(f"the certificate is not of {name} as it is: {problem}")
    if judged_run is None and (stated := certified_run_settings(certificate)):
        raise StaleCertificate(f"the certificate is of a run, and {name} does not show {', '.join(stated)}; name the run")
    if not start.certificate.allowed:
        raise UseForbidden("the certificate allows nothing, so there is nothing to watch")


def choose_anchors(start: WatchStart, options: WatchOptions) -> tuple[Anchor, ...]:
    """Draw the anchors of each language among its labelled texts, as `labels plan` draws texts, with all labels that are watched."""
    # `{(language, metric, item_id): the item with its labels}` of what the certified judge has judged.
    [judged] = align([start.source], MeasureOptions(annotators=Annotators(1), judges=(start.certificate.judge.name,))).tables
    wanted, labelled = start.certificate.judge.condition, dict[tuple[str, str, str], Anchor]()
    for cell in (cell for cell in item_tables(judged) if JudgeCondition.of(cell.key) == wanted):
        language, metric = cell.key["language"], cell.key["metric"]
        means = cell.means[0] if cell.means is not None and cell.classes.kind == "interval" else None
        for row in np.flatnonzero(cell.labelled).tolist():
            item_id = judged.data.items[cell.item[row]].item_id
            counts = zip(cell.classes.scores, cell.labels[row].tolist(), strict=True)
            labelled[language, metric, item_id] = Anchor(
                item_id=item_id,
                language=language,
                metric=metric,
                labels={str(score): count for score, count in counts if count},
                mean_label=None if means is None else float(means[row]),
            )
    anchors = list[Anchor]()
    for language in dict.fromkeys(cell.language for cell in start.certificate.allowed):
        metrics = [cell.metric for cell in start.certificate.allowed if cell.language == language]
        by_people = start.source.data.labels.items_of_people([metrics[0]])
        candidates = [
            anchor
            for (tag, metric, item_id), anchor in labelled.items()
            if (tag, metric) == (language, metrics[0]) and item_id in by_people
        ]
        sample = SampleOptions(
            language=language,
            budget=max(1, min(options.anchors, len(candidates))),
            judge=start.certificate.judge.name,
            metric=metrics[0],
            least=1,
            seed=options.seed,
            labelled=True,
        )
        for drawn in sorted(draw_label_sample(start.source, sample).items, key=lambda item: item.item_id):
            anchors += [labelled[key] for metric in metrics if (key := (language, metric, drawn.item_id)) in labelled]
    return tuple(anchors)


def make_watch_plan(
    start: WatchStart, anchors: Sequence[Anchor], answers: Answers, options: WatchOptions, since: date
) -> tuple[WatchPlan, tuple[str, ...]]:
    """The plan of a watch that begins with these answers on its anchors, and the hashes of its certified texts.

    Every reference has limits at the level that is left for its error: half of each stream's, shared by its tests and by all cells.
    Raises UsageError for scales without ends, and where no anchor or no text has a readable answer.
    """
    allowed = start.certificate.allowed
    bare = {(cell.language, cell.metric): _watch_cell(cell) for cell in allowed}
    before = scores_by_group(start.source, start.certificate.judge, bare.values())
    cells = []
    for key, cell in bare.items():
        cell_anchors = [anchor for anchor in anchors if (anchor.language, anchor.metric) == key]
        references = tuple(_cell_references(cell, cell_anchors, answers, before[cell.name], options.alpha / len(allowed)))
        cells.append(msgspec.structs.replace(cell, references=references))
    certified = certified_texts(start.source, start.certificate.judge, cells)
    plan = WatchPlan(
        schema_version=SCHEMA_VERSION,
        harness=version("judge-harness"),
        certificate=_hash_without_watch(start.certificate),
        judge=start.certificate.judge,
        run=start.run,
        data=start.certificate.data.id,
        since=since,
        options=options,
        cells=tuple(cells),
        anchors=anchors_hash(tuple(anchors)),
        certified=certified_hash(certified),
        nonce=secrets.token_hex(8),
    )
    return plan, certified


def _watch_cell(cell: CertifiedCell) -> WatchedCell:
    """The cell with the levels of its scores, without references."""
    scale, watched = cell.scale, None
    levels, span = tuple[float, ...](), None
    if scale.kind == "interval":
        if scale.min is None or scale.max is None:
            raise UsageError(f"the scale of '{cell.metric}' has no ends, so its scores have no level from 0 to 1; state min and max")
        span = scale.min, scale.max
    elif scale.kind == "ordinal":
        numbers = np.asarray(cell.values if cell.values is not None else range(len(cell.classes)), np.float64)
        levels = tuple(((numbers - numbers.min()) / max(float(np.ptp(numbers)), 1.0)).tolist())
    else:
        counts = np.asarray(cell.confusion, np.int64).sum(axis=0)
        watched = cell.classes[int(counts.argmax())]
        levels = tuple(float(score == watched) for score in cell.classes)
    return WatchedCell(
        language=cell.language,
        metric=cell.metric,
        classes=() if span else cell.classes,
        levels=levels,
        span=span,
        watched_class=watched,
        references=(),
    )


def _cell_references(
    cell: WatchedCell, anchors: Sequence[Anchor], answers: Answers, before: Mapping[str, list[float | None]], alpha: float
) -> Iterator[Reference]:
    anchor_answers = [answers[anchor.item_id, anchor.metric] for anchor in anchors]
    agreement = [[cell.agreement(score, anchor) for score in scores] for anchor, scores in zip(anchors, anchor_answers, strict=True)]
    level = [[cell.level(score) for score in scores if score is not None] for scores in anchor_answers]
    groups = [[level_or_none for level_or_none in levels if level_or_none is not None] for levels in before.values()]
    yield _estimate_reference(cell, "anchors", "agreement", agreement, alpha)
    yield _estimate_reference(cell, "anchors", "level", level, alpha)
    yield _estimate_reference(cell, "production", "level", [[sum(group) / len(group)] for group in groups if group], alpha)
    read = [[sum(level_or_none is not None for level_or_none in levels) / len(levels)] for levels in before.values()]
    yield _estimate_reference(cell, "production", "readable", read, alpha)


def _estimate_reference(
    cell: WatchedCell, stream: Stream, quantity: Quantity, values: Sequence[Sequence[float]], alpha: float
) -> Reference:
    """The mean over units of the means of their values, and its limits.

    Anchors are fixed texts with several answers each, so only the spread of answers on one text moves their mean; n counts the answers.
    Groups of production texts are a sample; n counts the groups.
    """
    readable = [unit for unit in values if unit]
    if not readable:
        raise UsageError(f"no answer of the judge in {cell.name} can be read, so there is no reference level")
    alpha = alpha / 4 / TESTS[stream]
    mean, n = sum(sum(unit) / len(unit) for unit in readable) / len(readable), sum(map(len, readable))
    limits = limits_of_repeats(readable, alpha) if stream == "anchors" else reference_limits(mean, n, alpha)
    return Reference(stream=stream, quantity=quantity, mean=mean, n=n, lower=limits.lower, upper=limits.upper)
