"""The starts of a watch: the first one, and a new one with a new reference after each alarm, in one folder with one log.

The first start's files stand in the folder itself, those of start 2 in `starts/2`. A restart is a line of the log, which is written after
its files: a process that is killed leaves a restart as a whole, or files that do not count and are written again.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date
from pathlib import Path

from harness.correct.certificate_extension import EarlierWatch
from harness.errors import ContentError, UsageError
from harness.watch.daily_log import Day, Restart, append_day, read_log
from harness.watch.watch_check import check_watch, watch_record
from harness.watch.watch_plan import PLAN, WatchPlan, read_plan

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
        """What the next line of the log is chained to."""
        return self.log[-1].hash if self.log else read_plan(self.folder).sha256


def home_of(folder: Path, number: int) -> Path:
    """Where the files of a start stand."""
    return folder if number == 1 else folder / STARTS / str(number)


def open_watch(folder: Path) -> StartedWatch:
    """Read the plan of the last start, and the log. Raises UsageError where there is no watch, ContentError for what was changed."""
    plan = read_plan(folder)
    number, since, earlier = 1, 0, list[EarlierWatch]()
    log = read_log(folder, plan.sha256)
    for place, day in enumerate(log):
        if day.restart is None:
            continue
        earlier.append(EarlierWatch(since=plan.since, until=day.date, ended=day.restart.because, certificate=plan.certificate))
        number, since = number + 1, place + 1
        path = home_of(folder, number) / PLAN
        if not path.is_file() or (plan := read_plan(path.parent)).sha256 != day.restart.plan:
            raise ContentError(f"not the plan with which the watch was started again on {day.date}; restore it", path)
    return StartedWatch(folder, number, plan, tuple(log), tuple(log[since:]), tuple(earlier))


def why_ended(watch: StartedWatch, today: date) -> str:
    """What the last start of a watch found. Raises UsageError where it found nothing: then there is no reason to begin again."""
    found = watch_record(watch.plan, check_watch(watch.plan, watch.days, today), watch.earlier).ended
    if found is None:
        raise UsageError(
            f"the watch in {watch.folder} has found no change since {watch.plan.since}; go on with 'harness watch add'. Only an alarm ends "
            "a watch: starting again without one would throw away what its days have shown so far"
        )
    return found


def record_restart(watch: StartedWatch, plan: WatchPlan, because: str) -> None:
    """Append the line of a restart to the log; the files of the new start are there already."""
    append_day(watch.folder, Day(plan.since, {}, restart=Restart(watch.number + 1, plan.sha256, because)), watch.previous)
