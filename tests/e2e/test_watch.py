"""`harness watch` from a run to an alarm: a judge that changes on a day, texts that change, kills, and bad input."""

from __future__ import annotations

import json
import re
import signal
import subprocess
from collections.abc import Callable
from datetime import date, timedelta
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest

from harness import check_watch
from harness.correction import certificate as certificates
from harness.errors import StaleCertificate
from tests.conftest import write_rows
from tests.e2e.conftest import MODEL, Answer, Endpoint, Request

Cli = Callable[..., Any]
BEGAN = date(2026, 1, 1)
TOML = 'id = "own"\nannotators = "persistent"\nsampling = "random"\n'


class World:
    """A results folder with a run, its certificate, and a watch; the judge gives the number in a text, and later 0 to some of them."""

    def __init__(self, home: Path, cli: Cli, endpoint: Endpoint) -> None:
        self.home, self.cli, self.endpoint = home, cli, endpoint
        self.changed = False
        self.headers: tuple[str, ...] = ()
        endpoint.script = self.answer

    def answer(self, request: Request) -> Answer:
        [score] = re.findall(r"Text \d+ je (\d)", json.dumps(request.body["messages"], ensure_ascii=False))[-1:]
        number = int(re.findall(r"Text (\d+) je", json.dumps(request.body["messages"], ensure_ascii=False))[-1])
        said = 0 if self.changed and number % 2 else int(score)
        return self.endpoint.saying({"justification": "Protože.", "score": said}, model=MODEL)

    def folder(self, name: str, texts: list[int], *, labelled: bool, first: int = 0, judged: bool = False) -> Path:
        folder = self.home / name
        folder.mkdir()
        ids = [f"i{first + n}" for n in range(len(texts))]
        items = [
            {"item_id": each, "language": "cs", "task": "open_prompt", "prompt": "Popiš les.", "output": f"Text {first + n} je {score}."}
            for n, (each, score) in enumerate(zip(ids, texts, strict=True))
        ]
        labels = [
            {"item_id": each, "annotator_id": f"p{who}", "metric": "task_quality", "score": score if (n + who) % 12 else (score + 1) % 3}
            for n, (each, score) in enumerate(zip(ids, texts, strict=True))
            for who in range(3 if labelled else 0)
        ]
        judgments = [
            {"item_id": each, "judge": f"openai/{MODEL}", "metric": "task_quality", "score": score, "variant": "single", "temperature": 0.0}
            for each, score in zip(ids, texts, strict=True)
        ]
        write_rows(folder / "items.jsonl", items)
        write_rows(folder / "labels.jsonl", labels)
        if judged:
            write_rows(folder / "judgments.jsonl", judgments)
        (folder / "data.toml").write_text(TOML + ('[metrics.task_quality]\nkind="ordinal"\nclasses=[0,1,2]\nbest=2\n' if judged else ""))
        return folder

    @property
    def address(self) -> tuple[str, ...]:
        return ("--base-url", self.endpoint.url, "--out", str(self.home / "results"), *self.headers)

    def begin(self, **how: Any) -> Path:
        """Run, certify, and begin a watch."""
        data = self.folder("own", [2, 1, 2, 0, 2, 1] * 20, labelled=True)
        done = self.cli("run", "--data", data, "--metrics", "task_quality", "--judge", f"openai/{MODEL}", *self.address)
        assert done.code == 0, done.err
        [run] = (self.home / "results" / "runs").iterdir()
        done = self.cli("certify", run, "--to", self.home / "cert.json", "--set", "equal_scores=own")  # the judge answers as the one person
        assert done.code == 0, done.out + done.err
        done = self.init(run)
        assert done.code == 0, done.err
        return self.home / "watch"

    def init(self, run: Path, folder: str = "watch", certificate: str = "cert.json") -> Any:
        flags = ("--certificate", self.home / certificate, "--date", str(BEGAN), "--anchors", "60", "--repeats", "3", "--guard", "10")
        return self.cli("watch", "init", self.home / folder, run, *flags, *self.address)

    def add(self, day: int, *source: Any) -> Any:
        return self.cli("watch", "add", self.home / "watch", *source, "--date", str(BEGAN + timedelta(day)), *self.address)

    def production(self, day: int, texts: list[int]) -> Path:
        return self.folder(f"day{day}", texts, labelled=False, first=1000 * day, judged=True)

    def check(self, day: int, *flags: Any) -> Any:
        return self.cli("watch", "check", self.home / "watch", "--date", str(BEGAN + timedelta(day)), *flags)


@pytest.fixture
def world(tmp_path: Path, cli: Cli, endpoint: Endpoint) -> World:
    return World(tmp_path, cli, endpoint)


@pytest.mark.slow
def test_a_judge_that_changes_on_a_day_is_found_by_its_anchors(world: World) -> None:
    watch = world.begin()
    assert world.check(0).code == 7, "no day yet"
    for day in (1, 2):
        assert world.add(day).code == 0
    assert world.check(2).code == 0
    before = len(world.endpoint.requests)
    world.changed = True
    for day in range(3, 12):
        done = world.add(day)
        assert done.code == 0, done.err
    asked = (len(world.endpoint.requests) - before) / 9
    assert asked == 30, "each drawn anchor is asked anew, as often as it was drawn"
    done = world.check(12, "--json", "--junit", world.home / "w.xml", "--figure", world.home / "w.svg")
    found = json.loads(done.out)
    assert (done.code, found["answer"], found["days"]) == (1, "the judge changed", 11)
    [cell] = found["cells"]
    assert (cell["anchors"]["moved"].split()[1], cell["production"]["days"]) == ("fell", [])
    assert date.fromisoformat(cell["anchors"]["alarm"]) > BEGAN + timedelta(2)
    suites = ElementTree.parse(world.home / "w.xml").getroot()
    assert [case.get("name") for case in suites.iter("testcase") if case.find("failure") is not None] == ["task_quality: anchors", "holds"]
    assert "log10 e" in "".join(ElementTree.parse(world.home / "w.svg").getroot().itertext())
    assert check_watch(watch, BEGAN + timedelta(12)).answer == "the judge changed"
    held = certificates.load(watch / "certificate.json")
    with pytest.raises(StaleCertificate, match="its watch found: the judge changed"):
        held.apply([1, 2] * 20, language="cs", metric="task_quality", judge=f"openai/{MODEL}")


@pytest.mark.slow
@pytest.mark.parametrize(("share", "code"), [(2, 4), (3, 0)])
def test_no_watch_begins_with_answers_that_cannot_be_read(world: World, share: int, code: int) -> None:
    """`begin` asks the certified judge again: of three answers two are off the scale, or one is."""
    world.begin()
    [run] = (world.home / "results" / "runs").iterdir()
    answer, numbers = world.answer, iter(range(10_000))
    broken = Answer(body=world.endpoint.saying({"justification": "Protože.", "score": 77}, model=MODEL).body)
    world.endpoint.script = lambda request: broken if next(numbers) % 6 >= share else answer(request)
    done = world.init(run, "other")
    assert done.code == code, done.err
    if code:
        assert "120 of 180 answers could not be read (off the scale), such as '77'" in done.err, done.err
        assert "no watch of openai/" in done.err and not (world.home / "other" / "watch.json").exists()


@pytest.mark.slow
def test_texts_that_change_are_put_down_to_the_texts_after_the_guard(world: World) -> None:
    world.begin()
    for day in range(1, 4):
        assert world.add(day, world.production(day, [2, 1, 2, 0, 2, 1] * 5)).code == 0
    answers = []
    for day in range(4, 22):
        assert world.add(day, world.production(day, [0, 1, 2, 0, 1, 1] * 5)).code == 0
        answers.append(world.check(day).code)
    shown = world.check(22)
    assert shown.code == 1 and shown.out.startswith("The texts that ") and "does not hold any more" in shown.out, shown.out
    assert answers[0] == 0 and 7 in answers and answers[-1] == 1, "nothing shown, then not yet known, then the texts"
    assert "level fell" in shown.out and "none (" in shown.out


@pytest.mark.slow
def test_a_quiet_watch_keeps_its_certificate_until_it_is_too_old(world: World) -> None:
    watch = world.begin()
    for day in range(1, 6):
        assert world.add(day, world.production(day, [2, 1, 2, 0, 2, 1] * 3)).code == 0
    assert world.check(6).code == 0
    held = certificates.load(watch / "certificate.json")
    scores: dict[str, Any] = {"language": "cs", "metric": "task_quality", "judge": f"openai/{MODEL}"}
    assert held.watch is not None and held.watch.checked_to == BEGAN + timedelta(5)
    with pytest.raises(StaleCertificate, match="more than 90 days ago"):
        held.apply([1, 2] * 20, **scores, today=BEGAN + timedelta(96))
    late = world.check(96)
    assert late.code == 1 and "does not hold any more" in late.out
    same = world.cli("watch", "draw", watch, "--date", "2026-02-02").out
    assert sum(int(line.split("\t")[0]) for line in same.splitlines()) == 30
    assert (
        same
        == world.cli("watch", "draw", watch, "--date", "2026-02-02").out
        != world.cli("watch", "draw", watch, "--date", "2026-02-03").out
    )


@pytest.mark.slow
def test_a_killed_day_is_added_by_the_same_command(world: World, start: Callable[..., subprocess.Popen[str]]) -> None:
    watch = world.begin()
    assert world.add(1).code == 0
    log = (watch / "log.jsonl").read_bytes()
    world.endpoint.latency = 0.3
    seen = len(world.endpoint.requests)
    words = (
        "watch",
        "add",
        watch,
        world.production(2, [2, 1, 0] * 4),
        "--date",
        str(BEGAN + timedelta(2)),
        "--concurrency",
        "1",
        *world.address,
    )
    process = start(*words)
    world.endpoint.wait_for(seen + 5, process)
    busy = world.add(3)
    assert (busy.code, "in use by another" in busy.err) == (5, True), busy.err
    process.send_signal(signal.SIGKILL)
    process.wait()
    assert (watch / "log.jsonl").read_bytes() == log, "a day is there as a whole or not at all"
    (watch / "log.jsonl").write_bytes(log + b'{"date":"2026-01-03","cel')  # a kill while the line is written
    assert world.check(2).code == 0
    world.endpoint.latency = 0
    before = len(world.endpoint.requests)
    done = world.cli(*words)
    assert done.code == 0, done.err
    assert 0 < len(world.endpoint.requests) - before < 30, "replies from before the kill are kept"
    days = [json.loads(line)["date"] for line in (watch / "log.jsonl").read_text().splitlines()]
    assert days == ["2026-01-02", "2026-01-03"]


@pytest.mark.slow
def test_a_watch_starts_again_after_its_alarm_and_a_killed_restart_is_given_again(
    world: World, start: Callable[..., subprocess.Popen[str]]
) -> None:
    watch, home = world.begin(), world.home
    world.changed = True
    for day in range(1, 8):
        assert world.add(day).code == 0
    assert world.check(8).code == 1
    world.changed = False  # the old judge is back, people labelled other texts, and the judge is certified on these
    data = world.folder("new", [2, 1, 2, 0, 2, 1] * 20, labelled=True, first=500)
    before = set((home / "results" / "runs").iterdir())
    assert world.cli("run", "--data", data, "--metrics", "task_quality", "--judge", f"openai/{MODEL}", *world.address).code == 0
    [run] = set((home / "results" / "runs").iterdir()) - before
    assert world.cli("certify", run, "--to", home / "new.json", "--set", "equal_scores=own").code == 0
    words = ("watch", "init", watch, run, "--restart", "--certificate", home / "new.json", "--date", "2026-01-20", *world.address)
    log, seen = (watch / "log.jsonl").read_bytes(), len(world.endpoint.requests)
    world.endpoint.latency = 0.2
    process = start(*words, "--concurrency", "1")
    world.endpoint.wait_for(seen + 5, process)
    process.send_signal(signal.SIGKILL)
    process.wait()
    assert (watch / "log.jsonl").read_bytes() == log and world.check(8).code == 1, "the old alarm stands"
    world.endpoint.latency = 0
    done = world.cli(*words)
    assert done.code == 0, done.err
    assert "start 1, 2026-01-01 to 2026-01-20: the judge changed; the first alarm was on 2026-01-0" in done.out
    assert len(world.endpoint.requests) - seen < 60 * 3 + 5, "sixty anchors three times, as the first start asked them; replies are kept"
    assert world.add(19).code == 0, "the first day is that of the restart"
    assert world.add(20).code == 0
    done = world.check(20)
    assert done.code == 0 and done.out.startswith("No change of "), done.out
    assert "start 1, 2026-01-01" in done.out and (watch / "log.jsonl").read_bytes().startswith(log)
    held = certificates.load(watch / "certificate.json")
    assert held.watch is not None and str(held.watch.recalibrated) == "2026-01-20" and held.watch.ended is None


@pytest.mark.slow
def test_bad_input_is_refused_in_one_sentence(world: World, refused: Callable[..., None]) -> None:
    cli, home = world.cli, world.home
    refused(cli("watch", "check", home / "nothing"), 2, "holds no watch", "watch init")
    watch = world.begin()
    [run] = (home / "results" / "runs").iterdir()
    refused(world.init(run), 2, "holds a watch already", "--restart")
    again = ("--restart", "--certificate", home / "cert.json", *world.address)
    refused(cli("watch", "init", watch, run, *again), 2, "has found no change since 2026-01-01", "watch add")
    refused(cli("watch", "init", home / "nothing", run, *again), 2, "holds no watch")
    refused(world.init(run, "w2", "none.json"), 3, "none.json", "cannot be read")
    other = world.folder("other", [2, 1, 0] * 40, labelled=True, first=500, judged=True)
    refused(world.init(other, "w2"), 2, "the certificate is not of other")
    (home / "w.json").write_text("{}")
    refused(world.init(run, "w2", "w.json"), 3, "w.json", "not a certificate")
    assert world.add(5).code == 0
    refused(world.add(5), 2, "is in the log already")
    refused(world.add(4), 2, "2026-01-05 is before 2026-01-06")
    refused(cli("watch", "add", watch, "--date", "2999-01-01", *world.address), 2, "is in the future")
    said = cli("watch", "add", watch, "--date", "tomorrow", *world.address)
    assert said.code == 2 and "expected a day such as 2026-05-31; got 'tomorrow'" in said.err
    empty = world.folder("empty", [], labelled=False, judged=True)
    refused(world.add(6, empty), 2, "empty holds no scores to watch", "which has none")
    refused(world.add(6, run), 2, "are those that the certificate was made from", "name texts that came later")
    off_scale = world.production(7, [2, 1, 0])
    judged = off_scale / "judgments.jsonl"
    judged.write_text(judged.read_text().replace('"score": 1', '"score": 9').replace('"score":1', '"score":9'))
    done = world.add(7, off_scale)
    assert done.code == 0 and "of 3 texts (1 without a readable score) in 2 new groups" in done.out, done.out
    assert "no new level from 3 texts (1 without a readable score); 3 of them are in groups of earlier days" in world.add(8, off_scale).out
    [groups] = (watch / "groups").iterdir()
    kept = groups.read_text()
    groups.unlink()
    refused(world.add(9, off_scale), 3, f"{groups.name}: this file is gone", "restore it")
    groups.write_text(kept)
    mixed = world.folder("mixed", [2, 0, 2, 1, 2, 1] * 3, labelled=False, first=110, judged=True)
    said = world.add(9, mixed).out
    assert "of 8 texts in 8 new groups, left out: 10 texts that the certificate was made from" in said, said
    log, whole = watch / "log.jsonl", (watch / "log.jsonl").read_text()
    log.write_text(whole.replace('"drawn":30', '"drawn":31'))
    refused(world.check(9), 3, "log.jsonl:1", "was changed after it was written")
    refused(world.add(9), 3, "log.jsonl:1")
    log.write_text("".join(whole.splitlines(keepends=True)[:-1]))
    refused(world.check(9), 3, "log.jsonl", "the last ones were cut off")
    refused(world.add(9), 3, "log.jsonl", "the last ones were cut off")
    log.write_text(whole)
    for name, words in (("anchors.jsonl", "not those that the watch began with"), ("certified.txt", "not the certified texts")):
        whole = (watch / name).read_text()
        (watch / name).write_text(whole.replace('"2":3', '"2":2') if name == "anchors.jsonl" else whole.partition("\n")[2])
        refused(world.check(9), 3, name, words)
        refused(world.add(10, off_scale), 3, name, words)
        (watch / name).write_text(whole)
    assert world.check(9).code != 3


def test_headers_that_the_judge_was_asked_with_are_given_again(world: World, refused: Callable[..., None]) -> None:
    world.headers = ("--header", "X-Gateway=gateway-secret-0815")
    world.begin()
    assert world.add(1).code == 0
    assert {request.headers["x-gateway"] for request in world.endpoint.requests} == {"gateway-secret-0815"}
    asked = len(world.endpoint.requests)
    world.headers = ()
    refused(world.add(2), 2, "headers=X-Gateway", "--header NAME=VALUE")
    assert len(world.endpoint.requests) == asked
