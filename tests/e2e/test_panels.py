"""A panel from its file to its page: in a run, in a comparison of the run, and in one of its members alone."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import harness
from harness.cli import main
from harness.cli.spec_file import spec_of
from harness.errors import UsageError
from harness.model import Failure
from harness.render.html.report import command_notes, command_of
from harness.runs import RunResult, RunSpec, reopen
from harness.sources import OpenedSource, open_sources, with_panels

MEMBERS = ("baseline/length", "baseline/random", "baseline/majority")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = tmp_path_factory.mktemp("panels")
    (made / "jury.toml").write_text(f"members = {list(MEMBERS)}\n", "utf-8")
    (made / "last.toml").write_text(f"members = {list(MEMBERS)}\nties = 'first'\n", "utf-8")
    return made


@pytest.fixture(scope="module")
def result(folder: Path) -> RunResult:
    spec = RunSpec(
        board="controls-parallel", languages=("cs",), tasks=("open_prompt",), judges=("baseline/random", f"panel/{folder}/jury.toml")
    )
    return harness.run(spec, folder / "results")


def scores(source: Any, judge: str) -> dict[tuple[Any, ...], Any]:
    judged = source.take(source.judge.recode({judge: 0}) == 0)
    keys = zip(judged.item, judged.metric, judged.variant, judged.repeat, strict=True)
    return dict(zip(keys, (failure or score for score, failure in zip(judged.score, judged.failure, strict=True)), strict=True))


def test_a_run_asks_its_members_once_and_computes_the_panel(result: RunResult) -> None:
    protocol = result.protocol
    assert [one.name for one in protocol.judges.identities] == ["baseline/random", "baseline/length", "baseline/majority"]
    assert [one.name for one in protocol.judges.all][-1] == "panel/jury" and protocol.judges.panels["panel/jury"].members == MEMBERS
    assert result.name.startswith("controls-parallel-cs-random+length+majority+jury-")
    votes = [scores(result.judgments, name) for name in MEMBERS]
    panel = scores(result.judgments, "panel/jury")
    assert panel.keys() == votes[0].keys() and len(panel) > 30
    for key, answer in panel.items():
        given = [vote[key] for vote in votes]
        assert answer == max(given, key=given.count) if len(set(given)) < 3 else answer == Failure.TIED
    assert Failure.TIED in panel.values(), "the words for a tie are tested"


def test_the_run_is_read_again_without_its_file(result: RunResult, folder: Path) -> None:
    again = reopen(result.name, folder / "results")
    assert again.protocol == result.protocol and scores(again.judgments, "panel/jury") == scores(result.judgments, "panel/jury")


@pytest.mark.slow
def test_report_and_page(result: RunResult, folder: Path) -> None:
    report = harness.report(result)
    assert (
        "rule=majority" in report.signatures["panel/jury"]
        and "members=baseline/length + baseline/random" in report.signatures["panel/jury"]
    )
    assert {row["judge"] for row in report.ablations["panels"]["rows"]} == {"panel/jury"}
    page = harness.write_page(result, folder / "report.html").read_text("utf-8")
    assert '<h2 id="panels">Panels</h2>' in page and "chosen on" in page and "tied" in page
    command = command_of(result.protocol)
    assert "--judge panel/jury.toml" in command and any("panels" in note for note in command_notes(result.protocol))


def test_a_comparison_computes_the_same_panel(result: RunResult, folder: Path) -> None:
    """The panel of the run, and the same panel from its file over the run's recorded members, under another name."""
    opened, judges = with_panels(open_sources([result], None, folder), [f"panel/{folder}/last.toml"])
    assert judges == [*MEMBERS, "panel/last"]
    panel, members = scores(opened[0].recording.judgments, "panel/last"), scores(result.judgments, MEMBERS[0])
    jury = scores(result.judgments, "panel/jury")
    assert panel == {key: members[key] if answer == Failure.TIED else answer for key, answer in jury.items()}


def test_a_comparison_shows_it_in_every_form(result: RunResult, folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    arguments = ["compare", str(result.folder), "--judge", f"panel/{folder}/last.toml"]
    assert main([*arguments, "--sections", str(folder / "sections"), "--md"]) == 0
    shown = capsys.readouterr().out
    assert "## Panels" in shown and "## Minimal pairs" in shown and "panel/last@members=baseline/length + " in shown
    assert sorted(path.name for path in (folder / "sections").iterdir())[:3] == [
        "minimal_pairs.constructions.csv",
        "minimal_pairs.crossed.csv",
        "minimal_pairs.csv",
    ]
    assert "panel/last" in (folder / "sections" / "panels.csv").read_text("utf-8")
    assert main([*arguments, "--html", str(folder / "compare.html")]) == 0
    page = (folder / "compare.html").read_text("utf-8")
    assert '<h2 id="panels">' in page and '<h2 id="minimal_pairs">' in page and "pairs:" in page


def test_members_that_judged_nothing_here(result: RunResult, folder: Path) -> None:
    (folder / "odd.toml").write_text('members = ["baseline/random", "openai/nobody"]\n', "utf-8")
    opened: list[OpenedSource] = open_sources([result], None, folder)
    with pytest.raises(UsageError, match="panel/odd has the member 'openai/nobody', which judged nothing here"):
        with_panels(opened, [f"panel/{folder}/odd.toml"])
    with pytest.raises(UsageError, match="have a judge 'panel/jury' already"):
        with_panels(opened, [f"panel/{folder}/jury.toml"])
    assert with_panels(opened, ["panel/jury"]) == (opened, ["panel/jury"]), "a recorded panel is a judge like any other"


def test_paths_of_panels_in_a_specification_file(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(folder)
    flags = spec_of("run", ["--judge", "panel/jury.toml", "--judge", "baseline/random"])
    assert flags["judge"] == [f"panel/{folder.resolve()}/jury.toml", "baseline/random"]


def test_one_model_under_several_personas(cli: Any, endpoint: Any, tmp_path: Path) -> None:
    """Each persona is a setting of its judge: it begins the system's words, and the panel has a vote of each."""
    personas = {"teacher": "You are a strict teacher.", "friend": "You are a friendly neighbour."}
    names = [f"openai/m@{name}" for name in personas]
    lines = [f"members = {names}", 'ties = "first"', "[personas]", *(f'"openai/m@{name}" = "{words}"' for name, words in personas.items())]
    (tmp_path / "jury.toml").write_text("\n".join(lines), "utf-8")
    endpoint.script = lambda request: endpoint.saying({"justification": "So.", "score": int("teacher" not in str(request.body))})
    asked = ("run", "--langs", "cs", "--tasks", "open_prompt", "--limit", "2", "--judge", f"panel/{tmp_path}/jury.toml")
    done = cli(*asked, "--base-url", endpoint.url, "--out", tmp_path / "out", "--json")
    assert done.code == 0, done.err
    systems = [request.body["messages"][0]["content"].split("\n")[0] for request in endpoint.requests]
    assert {*systems} == {*personas.values()} and systems.count(personas["teacher"]) == systems.count(personas["friend"])
    count = len(endpoint.requests)
    assert cli(*asked, "--base-url", endpoint.url, "--out", tmp_path / "out").code == 0 and len(endpoint.requests) == count
    (tmp_path / "jury.toml").write_text("\n".join(lines).replace("strict", "kind"), "utf-8")
    assert cli(*asked, "--base-url", endpoint.url, "--out", tmp_path / "out").code == 0
    assert len(endpoint.requests) == count + count // 2  # another persona is another judge


def test_a_persona_of_a_judge_that_is_no_chat_model_is_refused(cli: Any, tmp_path: Path) -> None:
    (tmp_path / "jury.toml").write_text(f'members = {list(MEMBERS)}\n[personas]\n"baseline/length" = "You are long."\n', "utf-8")
    done = cli("run", "--langs", "cs", "--judge", f"panel/{tmp_path}/jury.toml", "--out", tmp_path / "out")
    assert done.code == 3 and "'baseline/length' cannot have a persona" in done.err and "jury.toml:" in done.err
