"""The log, the draw of anchors, what a day holds, and what the whole log says."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from datetime import date, timedelta
from pathlib import Path
from typing import Any

import msgspec
import pytest

from harness import sources
from harness.correction import certificate
from harness.correction.certify import certify
from harness.decide.options import DecisionOptions
from harness.errors import ContentError, StaleCertificate, UsageError, UseForbidden
from harness.measure.compare import Recording
from harness.measure.options import MeasureOptions
from harness.render.gate_and_watch import day_lines, print_watch, stream_text
from harness.row_files import to_json
from harness.watch import watch_folder
from harness.watch.watch_check import check_watch, draw_anchors, see_anchors, see_production, who_changed
from harness.watch.watch_folder import NewScores, WatchStart, add_day, begin, check, choose_anchors, refuse_unfit
from harness.watch.watch_options import WatchOptions
from harness.watch.watch_plan import (
    Anchor,
    Day,
    Reference,
    Seen,
    SeenAnchors,
    SeenCell,
    SeenProduction,
    WatchedCell,
    WatchPlan,
    append_day,
    read_anchors,
    read_log,
    read_plan,
)
from tests.conftest import write_rows
from tests.judged_folder import judged_folder

BEGAN = date(2026, 1, 1)


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("watches")


@pytest.fixture(scope="module")
def recorded(home: Path) -> Callable[..., Recording]:
    def make(name: str, **how: Any) -> Recording:
        return sources.open_sources([judged_folder(home / name, **how)], None, home)[0].recording

    return make


@pytest.fixture(scope="module")
def start(recorded: Callable[..., Recording]) -> WatchStart:
    source = recorded("certified", prompts=300, repeats=3)
    held = certify(source, MeasureOptions())
    return WatchStart(held, source, None)


@pytest.fixture
def watch(start: WatchStart, tmp_path: Path) -> Path:
    begin(tmp_path / "w", start, WatchOptions(anchors=80), BEGAN, None)
    return tmp_path / "w"


def test_a_plan_holds_reference_levels_between_their_limits(watch: Path, start: WatchStart) -> None:
    plan = read_plan(watch)
    assert [cell.metric for cell in plan.cells] == ["errors", "tone"]
    for cell in plan.cells:
        assert [(one.stream, one.quantity) for one in cell.references] == [
            ("anchors", "agreement"),
            ("anchors", "level"),
            ("production", "level"),
            ("production", "readable"),
        ]
        assert all(0 <= one.lower < one.mean <= one.upper <= 1 for one in cell.references)
        assert [one.n for one in cell.references] == [240, 240, 300, 300], "three answers on each anchor; groups of two texts"
    anchors = read_anchors(watch, plan)
    labelled = start.source.data.labels.items_of_people()
    assert len({anchor.item_id for anchor in anchors}) == 80 and {anchor.item_id for anchor in anchors} <= labelled
    with pytest.raises(UsageError, match="holds a watch already"):
        begin(watch, start, WatchOptions(), BEGAN, None)


def test_anchors_are_drawn_where_nothing_says_that_people_are_native_speakers(recorded: Callable[..., Recording], tmp_path: Path) -> None:
    source = recorded("people", prompts=300, repeats=3, source="people")
    certificate = certify(source, MeasureOptions())
    begin(tmp_path / "w", WatchStart(certificate, source, None), WatchOptions(anchors=20), BEGAN, None)
    assert len(read_anchors(tmp_path / "w", read_plan(tmp_path / "w"))) >= 20


def test_the_draw_is_random_with_replacement_and_the_same_again() -> None:
    anchors = [Anchor(item_id=f"i{n}", language=tag, metric="m", labels={"1": 1}) for n in range(20) for tag in ("ja", "cs")]
    plan: Any = msgspec.convert(
        {"options": {}, "schema_version": 1, "harness": "", "certificate": "", "run": None, "data": "", "since": "2026-01-01", "cells": []}
        | {
            "anchors": "",
            "certified": "",
            "nonce": "",
            "judge": {"name": "j", "settings": None, "variant": "v", "temperature": None, "top_p": None, "judgments": ""},
        },
        WatchPlan,
    )
    days = [draw_anchors([one for one in anchors if one.language == "ja"], plan, BEGAN + timedelta(n)) for n in range(40)]
    assert days == [draw_anchors([one for one in anchors if one.language == "ja"], plan, BEGAN + timedelta(n)) for n in range(40)]
    assert all(sum(day.values()) == 30 for day in days) and len({tuple(sorted(day.items())) for day in days}) == 40
    drawn = {item: sum(day.get(item, 0) for day in days) for item in days[0] | days[1]}
    assert max(max(day.values()) for day in days) > 1 and min(drawn.values()) > 30, "each has the same chance"


@pytest.mark.parametrize(
    ("classes", "levels", "span", "score", "level", "agreement"),
    [((0, 1, 2), (0.0, 0.5, 1.0), None, 1, 0.5, 0.25), (("A", "B"), (1.0, 0.0), None, "A", 1.0, 0.75), ((), (), (1.0, 5.0), 3, 0.5, 0.75)],
)
def test_levels_and_agreement_lie_between_0_and_1(classes: Any, levels: Any, span: Any, score: Any, level: float, agreement: float) -> None:
    cell = WatchedCell(language="ja", metric="m", classes=classes, levels=levels, span=span, watched_class=None, references=())
    anchor = Anchor(item_id="i", language="ja", metric="m", labels={"1": 1, "A": 3}, mean_label=4.0)
    assert (cell.level(score), cell.agreement(score, anchor), cell.agreement(None, anchor)) == (level, agreement, 0.0)
    for off in ("C", 9):
        with pytest.raises(UsageError, match="off the scale of 'm'"):
            cell.level(off)
    seen = see_anchors(cell, [anchor], {"i": 3}, {("i", "m"): [score, None]})
    assert seen is not None and (seen.drawn, seen.unread) == (3, 2), "the last answer stands for further draws"


def test_groups_enter_as_one_and_only_once(recorded: Callable[..., Recording], watch: Path) -> None:
    plan, source = read_plan(watch), recorded("new", prompts=25, labelled=0, seed=4)
    seen, groups = see_production(source, plan.judge, plan.cells, ())
    tone = seen["ja/tone"]
    assert tone.level is not None and (tone.texts, tone.level.n, tone.known) == (50, 25, 0)
    assert len(groups) == 50, "25 groups in each of two cells"
    again, new = see_production(source, plan.judge, plan.cells, set(groups))
    assert (again["ja/tone"].known, again["ja/tone"].level, new) == (50, None, [])
    with pytest.raises(UsageError, match="holds no scores to watch: the judge 'model/one' is not in"):
        see_production(recorded("foreign", prompts=5, judge="model/two"), plan.judge, plan.cells, ())
    with pytest.raises(UsageError, match="there is nothing to add"):
        see_production(recorded("elsewhere", prompts=5, labelled=0, language="cs"), plan.judge, plan.cells, ())


def test_texts_that_the_certificate_was_made_from_are_no_new_ones(
    recorded: Callable[..., Recording], watch: Path, start: WatchStart, tmp_path: Path
) -> None:
    def later(number: int, system: str, rng: Any) -> dict[str, Any]:
        return {"output": f"文章 {number}。"} if number >= 30 else {}

    day, today = BEGAN + timedelta(1), BEGAN + timedelta(30)
    mixed = recorded("mixed", prompts=50, labelled=0, seed=3, fields=later)
    seen = add_day(watch, day, NewScores(mixed), today).cells["ja/tone"]
    assert seen.certified == 60 and seen.production is not None and seen.production.texts == 40
    assert seen.production.level is not None and seen.production.level.n == 20, "groups of the other texts"
    assert read_log(watch, read_plan(watch).sha256)[-1].cells["ja/tone"] == seen
    for name, source in (
        ("certified", start.source),
        ("bare", recorded("bare", prompts=50, labelled=0, fields=lambda *_: {"output": None})),
    ):
        with pytest.raises(UsageError, match=f"all .* texts of {name} are those that the certificate was made from; name texts that came"):
            add_day(watch, day + timedelta(1), NewScores(source), today)
    (watch / "certified.txt").write_text("0\n")
    with pytest.raises(ContentError, match="these are not the certified texts that the watch began with"):
        add_day(watch, day + timedelta(1), NewScores(mixed), today)


def day_of(number: int, share: float, *, production: float | None = None) -> Day:
    def seen(mean: float) -> Seen:
        hits = round(30 * mean)
        return Seen(hits / 30, 30, {"0": 30 - hits, "1": hits})

    anchors = SeenAnchors(30, 0, seen(share), seen(share))
    new = None if production is None else SeenProduction(30, 0, 0, seen(production))
    return Day(BEGAN + timedelta(number), {"ja/m": SeenCell(anchors=anchors, production=new)})


def test_the_log_is_a_chain(tmp_path: Path) -> None:
    previous = "start"
    for number in range(4):
        previous = append_day(tmp_path, day_of(number, 0.8), previous).hash
    path = tmp_path / "log.jsonl"
    lines = path.read_text().splitlines()
    assert [day.date for day in read_log(tmp_path, "start")] == [BEGAN + timedelta(n) for n in range(4)]
    assert json.loads(lines[0])["cells"]["ja/m"]["anchors"]["agreement"] == {"mean": 0.8, "n": 30, "counts": {"0": 6, "1": 24}}
    path.write_text("\n".join(lines) + '\n{"date":')
    assert len(read_log(tmp_path, "start")) == 4, "a line that was cut off does not count"
    for damaged, line in (
        ([lines[0], lines[2], lines[3]], 2),
        ([lines[1], *lines[1:]], 1),
        ([lines[0].replace("24", "25"), *lines[1:]], 1),
    ):
        path.write_text("\n".join(damaged) + "\n")
        with pytest.raises(ContentError, match=rf"log\.jsonl:{line}: this line, one before it, or watch.json was changed"):
            read_log(tmp_path, "start")
    path.write_text("[]\n")
    with pytest.raises(ContentError, match=r"log\.jsonl:1: not a day of a watch"):
        read_log(tmp_path, "start")
    (tmp_path / "other").mkdir()
    append_day(tmp_path / "other", day_of(3, 0.8), "start")
    last = read_log(tmp_path / "other", "start")[0].hash
    append_day(tmp_path / "other", day_of(1, 0.8), last)
    with pytest.raises(ContentError, match="2026-01-02 stands after 2026-01-04"):
        read_log(tmp_path / "other", "start")


def plan_of(level: float = 0.8, **options: Any) -> WatchPlan:
    streams: Any = (("anchors", "agreement"), ("anchors", "level"), ("production", "level"))
    references = tuple(
        Reference(stream=stream, quantity=quantity, mean=level, n=500, lower=level - 0.04, upper=level + 0.04)
        for stream, quantity in streams
    )
    cell = WatchedCell(language="ja", metric="m", classes=(0, 1), levels=(0.0, 1.0), span=None, watched_class=None, references=references)
    judge = {"name": "j", "settings": None, "variant": "v", "temperature": None, "top_p": None, "judgments": ""}
    fields = {"schema_version": 1, "harness": "", "certificate": "", "run": None, "data": "d", "since": "2026-01-01", "anchors": ""}
    fields |= {"certified": "", "nonce": ""}
    plan: WatchPlan = msgspec.convert(fields | {"judge": judge, "options": options, "cells": []}, WatchPlan)
    return msgspec.structs.replace(plan, cells=(cell,))


def test_what_the_whole_log_says() -> None:
    quiet = [day_of(n, 0.8, production=0.8) for n in range(30)]
    assert check_watch(plan_of(), [], BEGAN).answer == "not yet known"
    assert check_watch(plan_of(), quiet, BEGAN + timedelta(30)).answer == "nothing shown"
    broken = [*quiet, *(day_of(30 + n, 0.5, production=0.5) for n in range(10))]
    found = check_watch(plan_of(), broken, BEGAN + timedelta(40))
    [cell] = found.cells
    assert (found.answer, cell.anchors.moved.split()[1]) == ("the judge changed", "fell")
    assert cell.anchors.alarm is not None and BEGAN + timedelta(30) <= cell.anchors.alarm <= BEGAN + timedelta(33)
    assert found.expired is not None and "the judge changed; the first alarm was on 2026-0" in found.expired
    texts = [*quiet, *(day_of(30 + n, 0.8, production=0.97) for n in range(20))]
    assert check_watch(plan_of(guard=40), texts, BEGAN).answer == "not yet known"
    assert check_watch(plan_of(guard=5), texts, BEGAN).answer == "the texts changed"
    assert check_watch(plan_of(guard=5), texts, BEGAN).cells[0].production.moved == "level rose"
    later = [*texts, *(day_of(50 + n, 0.4, production=0.97) for n in range(5))]
    assert check_watch(plan_of(guard=5), later, BEGAN).answer == "both"
    assert check_watch(plan_of(tolerance=0.4), broken, BEGAN + timedelta(40)).answer == "nothing shown"


def test_one_look_says_what_many_say() -> None:
    days = [*(day_of(n, 0.8) for n in range(20)), *(day_of(20 + n, 0.6) for n in range(12))]
    once = check_watch(plan_of(), days, BEGAN).cells[0].anchors.alarm
    looks = [check_watch(plan_of(), days[: n + 1], BEGAN).cells[0].anchors.alarm for n in range(len(days))]
    assert once is not None and next(alarm for alarm in looks if alarm) == once == looks[-1]


def test_days_of_recorded_judgments(watch: Path, start: WatchStart, recorded: Callable[..., Recording]) -> None:
    new = recorded("monday", prompts=20, labelled=0, seed=9, fields=lambda number, system, rng: {"output": f"文章 {number}。"})
    today = BEGAN + timedelta(30)
    with pytest.raises(UsageError, match="nothing to add"):
        add_day(watch, BEGAN, NewScores(), today)
    added = add_day(watch, BEGAN + timedelta(1), NewScores(new, start.source), today)
    assert added.cells["ja/tone"].anchors is not None and added.source == "monday"
    partial = msgspec.structs.replace(start.source, judgments=start.source.judgments.for_items(["a0", "b0"]))
    with pytest.raises(UsageError, match=r"has no answer of the judge on \d+ of the anchors that are drawn"):
        add_day(watch, BEGAN + timedelta(2), NewScores(None, partial), today)
    assert check(watch, today).answer == "nothing shown"
    (watch / "certificate.json").write_text(to_json(start.certificate))
    with pytest.raises(ContentError, match="not the certificate that the watch"):
        check(watch, today)


@pytest.fixture(scope="module")
def again(recorded: Callable[..., Recording]) -> WatchStart:
    """Other labelled texts, and a certificate of them."""
    source = recorded("again", prompts=300, repeats=3, seed=5)
    held = certify(source, MeasureOptions())
    return WatchStart(held, source, None)


@pytest.fixture(scope="module")
def changed(recorded: Callable[..., Recording]) -> Recording:
    """The certified texts as another judge scores them."""
    return recorded("changed", prompts=300, repeats=3, noise=0.9)


def ended(watch: Path, changed: Recording) -> None:
    """Add days on which another judge answers, until the alarm."""
    for number in range(1, 9):
        add_day(watch, BEGAN + timedelta(number), NewScores(None, changed), BEGAN + timedelta(60))


def test_a_restart_keeps_the_log_and_the_old_alarm(watch: Path, start: WatchStart, again: WatchStart, changed: Recording) -> None:
    day, options = BEGAN + timedelta(20), WatchOptions(anchors=60)
    with pytest.raises(UsageError, match="has found no change since 2026-01-01"):
        begin(watch, again, options, day, None, restart=True)
    ended(watch, changed)
    log = (watch / "log.jsonl").read_bytes()
    with pytest.raises(UsageError, match="is the one that the alarm has ended"):
        begin(watch, start, options, day, None, restart=True)
    with pytest.raises(UsageError, match="is not after 2026-01-09, the last day of the log"):
        begin(watch, again, options, BEGAN + timedelta(8), None, restart=True)
    assert (watch / "log.jsonl").read_bytes() == log, "what is refused leaves no line"
    plan = begin(watch, again, options, day, None, restart=True)
    assert (watch / "log.jsonl").read_bytes().startswith(log)
    line = read_log(watch, read_plan(watch).sha256)[-1]
    assert line.restart is not None and (line.date, line.restart.start, line.restart.plan) == (day, 2, plan.sha256)
    assert line.restart.because.startswith("the judge changed; the first alarm was on 2026-01-0")
    held = certificate.load(watch / "certificate.json")
    assert held.watch is not None and (held.watch.ended, held.watch.since, held.watch.recalibrated) == (None, day, day)
    [before] = held.watch.earlier
    assert (before.since, before.until, before.ended) == (BEGAN, day, line.restart.because)
    kept = certificate.load(watch / "starts" / "1" / "certificate.json")
    assert kept.watch is not None and kept.watch.ended == line.restart.because
    with pytest.raises(UsageError, match="2026-01-20 is before 2026-01-21"):
        add_day(watch, day - timedelta(1), NewScores(None, again.source), day + timedelta(30))
    for number in range(4):
        add_day(watch, day + timedelta(number), NewScores(None, again.source), day + timedelta(30))
    found = check(watch, day + timedelta(4))
    assert (found.answer, found.days, found.since, len(found.earlier)) == ("nothing shown", 4, day, 1)
    with pytest.raises(UsageError, match="has found no change since 2026-01-21"):
        begin(watch, start, options, day + timedelta(9), None, restart=True)


def test_a_killed_restart_is_there_as_a_whole_or_not_at_all(
    watch: Path, again: WatchStart, changed: Recording, monkeypatch: pytest.MonkeyPatch
) -> None:
    ended(watch, changed)
    day, options = BEGAN + timedelta(20), WatchOptions(anchors=60)

    class Killed(BaseException):
        pass

    def killed(*_: object) -> None:
        raise Killed

    for step in ("record_restart", "copy_certificate"):
        with monkeypatch.context() as patch, pytest.raises(Killed):
            patch.setattr(watch_folder, step, killed)
            begin(watch, again, options, day, None, restart=True)
        held = certificate.load(watch / "certificate.json")
        assert held.watch is not None and held.watch.ended is not None, "programs still learn of the alarm"
        if step == "record_restart":
            assert check(watch, day).answer == "the judge changed", "files without their line do not count"
    assert check(watch, day).since == day, "the line counts"
    now = certificate.load(watch / "certificate.json").watch
    assert now is not None and (now.ended, now.recalibrated) == (None, day), "the next check puts the certificate in its place"
    plan = watch / "starts" / "2" / "watch.json"
    plan.write_text(plan.read_text().replace('"per_day": 30', '"per_day": 31'))
    with pytest.raises(ContentError, match="not the plan with which the watch was started again on 2026-01-21"):
        check(watch, day)


def test_certificates_that_cannot_be_watched(start: WatchStart, recorded: Callable[..., Recording]) -> None:
    other = msgspec.structs.replace(start, source=recorded("others", prompts=60, seed=11))
    with pytest.raises(StaleCertificate, match="the certificate is not of others as it is"):
        refuse_unfit(other, None)
    forbidden = recorded("forbidding", prompts=12)
    held = certify(forbidden, MeasureOptions(annotators=None))
    with pytest.raises(UseForbidden, match="allows nothing"):
        refuse_unfit(WatchStart(held, forbidden, None), None)
    assert len({anchor.item_id for anchor in choose_anchors(start, WatchOptions(anchors=100_000))}) == int(start.certificate.cells[0].n)
    with pytest.raises(UsageError, match="--per-day is 0"):
        WatchOptions(per_day=0)
    with pytest.raises(UsageError, match="--alpha lies between"):
        WatchOptions(alpha=1.0)


def test_days_count_those_on_which_the_judge_was_asked() -> None:
    assert who_changed(0, None, 0, 30) == "not yet known", "no anchor was asked since"
    only = [
        Day(BEGAN + timedelta(n), {"ja/m": SeenCell(production=day_of(n, 0.8, production=0.2).cells["ja/m"].production)}) for n in range(60)
    ]
    assert check_watch(plan_of(guard=30), only, BEGAN).answer == "not yet known"


def test_a_tail_that_was_cut_is_found(watch: Path, start: WatchStart, recorded: Callable[..., Recording], tmp_path: Path) -> None:
    today = BEGAN + timedelta(30)
    for number in (1, 2, 3):
        new = recorded(
            f"tail-{number}",
            prompts=20,
            labelled=0,
            seed=number,
            fields=lambda n, system, rng, k=number: {"group": f"{k}-{n}", "output": f"{k} {n}"},
        )  # type: ignore[misc]
        add_day(watch, BEGAN + timedelta(number), NewScores(new), today)
    check(watch, today)
    log, head = watch / "log.jsonl", watch / "head.json"
    whole, held = log.read_bytes(), head.read_bytes()
    for cut in (whole.splitlines(keepends=True)[:2], whole.splitlines(keepends=True)[:1], [], [whole[:-1]]):
        log.write_bytes(b"".join(cut))
        with pytest.raises(ContentError, match="lines, and had 3: the last ones were cut off"):
            check(watch, today)
    log.unlink()
    with pytest.raises(ContentError, match="had 3"):
        check(watch, today)
    log.write_bytes(whole)
    head.unlink()
    with pytest.raises(ContentError, match="this file is gone, which says how long the log was"):
        check(watch, today)
    for spoilt in (b"{}", b"", held.replace(b'"hash":"', b'"hash":"0'), b'{"lines":-1,"hash":""}'):
        head.write_bytes(spoilt)
        with pytest.raises(ContentError, match=r"head\.json"):
            check(watch, today)
    lines = whole.splitlines(keepends=True)
    log.write_bytes(b"".join(lines[:2]))  # the head was put back with the log: the certificate knows
    head.write_bytes(msgspec.json.encode({"lines": 2, "hash": json.loads(lines[1])["hash"]}) + b"\n")
    with pytest.raises(ContentError, match="the log was checked to 2026-01-04, and now ends on 2026-01-03"):
        check(watch, today)
    log.write_bytes(whole)
    head.write_bytes(msgspec.json.encode({"lines": 2, "hash": json.loads(lines[1])["hash"]}) + b"\n")
    assert check(watch, today).days == 3, "a process that was killed before it wrote the head has added its day"
    begin(tmp_path / "other", start, WatchOptions(anchors=80), BEGAN, None)
    for name in ("log.jsonl", "head.json"):
        (tmp_path / "other" / name).write_bytes((watch / name).read_bytes())
    with pytest.raises(ContentError, match="or it is of another watch"):
        check(tmp_path / "other", today)
    (watch / "groups" / "2026-01-03.txt").write_text("")
    with pytest.raises(ContentError, match="this file was changed, which says what texts the day had"):
        add_day(watch, BEGAN + timedelta(4), NewScores(new), today)


@pytest.mark.parametrize("forgery", ["gone", "a byte changed", "of another certification", "without its watch"])
def test_no_day_is_added_beside_another_certificate(watch: Path, start: WatchStart, tmp_path: Path, forgery: str) -> None:
    """The other one has the right judge, the right statement about its watch and its own right hash."""
    path, today = watch / "certificate.json", BEGAN + timedelta(1)
    stored = certificate.load(path)
    other = msgspec.structs.replace(certify(start.source, MeasureOptions(), DecisionOptions(margin=0.2)), watch=stored.watch).sealed()
    text = {
        "gone": None,
        "a byte changed": to_json(msgspec.structs.replace(stored, signature=f"{stored.signature} ")),
        "of another certification": to_json(other),
        "without its watch": to_json(start.certificate),
    }[forgery]
    path.unlink() if text is None else path.write_text(text, "utf-8")
    day = recorded_day(tmp_path)
    for use in (lambda: add_day(watch, today, NewScores(day), today), lambda: check(watch, today)):
        with pytest.raises(ContentError, match=r"certificate\.json"):
            use()
    assert not (watch / "log.jsonl").exists()
    path.write_text(to_json(stored), "utf-8")
    add_day(watch, today, NewScores(day), today)


def recorded_day(home: Path) -> Recording:
    """Twenty texts that the certified set lacks."""
    named: Any = lambda n, system, rng: {"group": f"d{n}", "output": f"日 {n}"}  # noqa: E731
    folder = judged_folder(home / "day", prompts=20, labelled=0, seed=1, fields=named)
    return sources.open_sources([folder], None, home)[0].recording


def edited(folder: Path, table: str, change: Callable[[dict[str, Any]], dict[str, Any]]) -> Path:
    """The folder with changed rows in a table."""
    path = folder / f"{table}.jsonl"
    write_rows(path, [change(json.loads(line)) for line in path.read_text("utf-8").splitlines()])
    return folder


def opened(folder: Path) -> Recording:
    return sources.open_sources([folder], None, folder.parent)[0].recording


def test_answers_that_cannot_be_read_are_a_change(watch: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    today = BEGAN + timedelta(30)
    for number in range(1, 9):
        folder = tmp_path / f"unread-{number}"
        judged_folder(folder, prompts=30, labelled=0, seed=number)
        edited(folder, "items", lambda row, k=number: row | {"group": f"{k}-{row['group']}", "output": f"{k} {row['item_id']}"})  # type: ignore[misc]
        if number > 3:
            edited(folder, "judgments", lambda row: row | {"score": None, "failure": "missing"})
        added = add_day(watch, BEGAN + timedelta(number), NewScores(opened(folder)), today)
        if number == 3:
            assert check(watch, today).answer == "nothing shown"
    assert "none of 60 texts (60 without a readable score) can be read" in " ".join(day_lines(added, "watch"))
    found = check(watch, today)
    assert found.answer == "not yet known" and all(cell.production.moved == "readable fell" for cell in found.cells)
    assert found.expired is not None, "the certificate has ended"
    print_watch(found, "watch")
    assert capsys.readouterr().out.splitlines()[0].startswith("model/one or its texts have changed, and it is unknown which")
    shown = stream_text(found.cells[0], "production")
    assert "readable answers 100 % then, 29 % in the mean of the last 7 days, 0 % on 2026-01-09" in shown


def test_a_clock_that_was_set_back_is_said(watch: Path, start: WatchStart) -> None:
    add_day(watch, BEGAN + timedelta(9), NewScores(None, start.source), BEGAN + timedelta(30))
    found = check(watch, BEGAN + timedelta(5))
    assert found.expired is not None and "the clock is wrong" in found.expired
    with pytest.raises(UsageError, match="is before 2026-01-10, the last day of the log"):
        add_day(watch, BEGAN + timedelta(5), NewScores(None, start.source), BEGAN + timedelta(5))


def test_certified_texts_under_new_ids_are_known_by_their_text(watch: Path, tmp_path: Path) -> None:
    folder = judged_folder(tmp_path / "renamed", prompts=300, repeats=3)
    for table in ("items", "labels", "judgments"):
        edited(folder, table, lambda row: row | {"item_id": f"new-{row['item_id']}"})
    with pytest.raises(UsageError, match="are those that the certificate was made from"):
        add_day(watch, BEGAN + timedelta(1), NewScores(opened(folder)), BEGAN + timedelta(30))


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no pipes with a name")
@pytest.mark.parametrize("name", ["log.jsonl", "head.json"])
def test_a_pipe_in_the_place_of_the_log_is_refused_at_once(watch: Path, name: str) -> None:
    (watch / name).unlink(missing_ok=True)
    os.mkfifo(watch / name)
    with pytest.raises(ContentError, match="a pipe or a device"):
        check(watch, BEGAN)
