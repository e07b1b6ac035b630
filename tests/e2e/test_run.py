"""`harness run` from beginning to end: the files it leaves, what a second run costs, and what is rebuilt from the store alone."""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest
from rich.cells import cell_len

import harness
from harness.content.library import bundled_root
from harness.runs.preparation import prepare
from harness.runs.runner import open_judges, planned_calls
from tests.translation_folder import CARD, write_translations

Cli = Callable[..., Any]
BASELINE = ("run", "--langs", "ja,cs", "--judge", "baseline/constant-best")
DERIVED = ("report.json", "report.csv", "report.parquet", "judgments.parquet")


def contents(folder: Path) -> dict[str, bytes]:
    """What a run's derived files hold; run.json is not among them, as it has a clock."""
    return {name: (folder / name).read_bytes() for name in DERIVED}


@pytest.mark.slow
def test_a_run_from_another_folder_leaves_its_files_there(command: Cli, tmp_path: Path, run_folder: Callable[[Path], Path]) -> None:
    done = command(*BASELINE)
    assert done.returncode == 0
    assert "Japanese" in done.stdout and "Czech" in done.stdout
    assert [path.name for path in tmp_path.iterdir()] == ["results"]
    folder = run_folder(tmp_path / "results")
    assert sorted(path.name for path in folder.iterdir()) == sorted([*DERIVED, "answers.json", "run.json", "sections", "spec.toml"])
    record = json.loads((folder / "run.json").read_bytes())
    [session] = record["sessions"]
    [judge] = session["judges"]
    assert judge["asked"] == pq.read_table(folder / "judgments.parquet").num_rows > 0
    assert {row["language"] for row in pq.read_table(folder / "report.parquet").to_pylist()} == {"cs", "ja"}
    assert (folder / "report.csv").read_text(encoding="utf-8").startswith("language,task,metric,judge")


def test_a_second_run_asks_nothing_and_writes_the_same_bytes(
    cli: Cli, out: Path, rows: Callable[..., Any], run_folder: Callable[[Path], Path]
) -> None:
    first = cli(*BASELINE, "--out", out)
    files, attempts = contents(run_folder(out)), rows(out, "SELECT * FROM attempts")
    second = cli(*BASELINE, "--out", out)
    assert (second.code, second.out) == (0, first.out)
    assert f"all {len(attempts)} calls are answered already" in second.err
    assert rows(out, "SELECT * FROM attempts") == attempts
    assert contents(run_folder(out)) == files


@pytest.mark.slow
@pytest.mark.parametrize("langs", ["cs,ja", "jpn,cs", "ja,CS"])
def test_the_same_languages_in_other_words_are_the_same_run(cli: Cli, out: Path, langs: str) -> None:
    for spelling in ("ja,cs", langs):
        assert cli("run", "--langs", spelling, "--limit", "1", "--judge", "baseline/random", "--out", out).code == 0
    assert len(list((out / "runs").iterdir())) == 1


def test_deleted_files_are_rebuilt_byte_for_byte(command: Cli, cli: Cli, out: Path, run_folder: Callable[[Path], Path]) -> None:
    first = cli(*BASELINE, "--out", out)
    folder = run_folder(out)
    files = contents(folder)
    shutil.rmtree(out / "runs")
    again = command("report", "--out", out)
    assert (again.returncode, again.stdout) == (0, first.out)
    assert contents(folder) == files


def test_a_further_language_is_all_that_is_asked_for(ask: Cli, endpoint: Any, out: Path, rows: Callable[..., Any]) -> None:
    ask("--langs", "ja,cs")
    before, asked = rows(out, "SELECT * FROM attempts ORDER BY call_id"), len(endpoint.requests)
    assert ask("--langs", "ja,cs,en").code == 0
    new = endpoint.requests[asked:]
    assert new and all("meant to be in English" in request.body["messages"][1]["content"] for request in new)
    after = {row["call_id"]: row for row in rows(out, "SELECT * FROM attempts")}
    assert [after[row["call_id"]] for row in before] == before
    assert len(after) == len(before) + len(new)


def test_more_repeats_ask_only_for_the_further_ones(ask: Cli, endpoint: Any) -> None:
    ask()
    first = list(endpoint.requests)
    assert ask("--repeats", "3").code == 0
    further = endpoint.requests[len(first) :]
    assert len(further) == 2 * len(first)
    assert {request.body["seed"] for request in first} == {0}
    assert {request.body["seed"] for request in further} == {1, 2}


def test_a_joint_call_asks_all_metrics_of_an_item_at_once(ask: Cli, endpoint: Any, replies: Callable[[Path], Any], out: Path) -> None:
    def answer(request: Any) -> Any:
        metrics = request.body["response_format"]["json_schema"]["schema"]["properties"]
        return endpoint.saying({metric: {"justification": "So.", "score": 1} for metric in metrics})

    endpoint.script = answer
    done = ask("--variant", "joint", "--json")
    assert done.code == 0 and len(replies(out)) == len(endpoint.requests) == 2
    report = json.loads(done.out)
    assert sum(cell["n"] for cell in report["by_metric"]) > 2
    assert all(cell["coverage"] == 1 for cell in report["by_metric"])


def test_concurrency_changes_no_byte_of_the_report(ask: Cli, tmp_path: Path, run_folder: Callable[[Path], Path]) -> None:
    reports = []
    for concurrency in ("1", "16"):
        folder = tmp_path / concurrency
        assert ask("--limit", "4", "--concurrency", concurrency, "--out", folder).code == 0
        reports.append(contents(run_folder(folder)))
    assert reports[0] == reports[1]


def test_judges_stand_side_by_side(cli: Cli, out: Path) -> None:
    done = cli("run", "--langs", "cs", "--judge", "baseline/length", "--judge", "baseline/random", "--out", out, "--json")
    assert {cell["judge"] for cell in json.loads(done.out)["cells"]} == {"baseline/length", "baseline/random"}


def test_full_asks_every_test_item_and_pays_only_for_the_rest(cli: Cli, out: Path, rows: Callable[..., Any]) -> None:
    count = "SELECT COUNT(*) AS n, COUNT(DISTINCT call_id) AS different FROM attempts"
    cli("run", "--langs", "cs", "--judge", "baseline/majority", "--out", out)
    [controls] = rows(out, count)
    assert cli("run", "--langs", "cs", "--judge", "baseline/majority", "--out", out, "--board", "controls-full").code == 0
    [everything] = rows(out, count)
    assert everything["n"] == everything["different"] > controls["n"]


def test_runs_lists_every_run_oldest_first(cli: Cli, out: Path) -> None:
    for judge in ("random", "length"):
        cli("run", "--langs", "cs", "--limit", "1", "--judge", f"baseline/{judge}", "--out", out)
    listed = cli("runs", "--out", out)
    assert listed.code == 0
    first, second = listed.out.split()
    assert "random" in first and "length" in second
    assert {first, second} == {path.name for path in (out / "runs").iterdir()}
    assert list(json.loads(cli("runs", "--out", out, "--json").out)) == sorted([first, second])


def test_a_report_is_named_by_its_unique_beginning(cli: Cli, out: Path, refused: Callable[..., None]) -> None:
    for langs in ("cs", "ja"):
        cli("run", "--langs", langs, "--limit", "1", "--judge", "baseline/random", "--out", out)
    assert "Czech" in cli("report", "controls-cs", "--out", out).out
    assert "Japanese" in cli("report", "--out", out).out  # the latest
    refused(cli("report", "controls", "--out", out), 2, "matches several runs", "controls-cs", "controls-ja")
    refused(cli("report", "other", "--out", out), 2, "no run 'other'")


@pytest.mark.parametrize(
    "arguments",
    [
        ("run", "--langs", "cs", "--limit", "1", "--judge", "baseline/random"),
        ("run", "--langs", "cs", "--limit", "1", "--judge", "baseline/random", "--dry-run"),
        ("report",),
        ("runs",),
    ],
    ids=["run", "dry-run", "report", "runs"],
)
def test_json_is_all_that_is_on_stdout(command: Cli, cli: Cli, out: Path, arguments: tuple[str, ...]) -> None:
    cli("run", "--langs", "cs", "--limit", "1", "--judge", "baseline/random", "--out", out)
    done = command(*arguments, "--out", out, "--json")
    assert done.returncode == 0
    assert json.loads(done.stdout)
    assert done.stdout.endswith("}\n")


def test_the_rule_for_the_reference_of_a_run_and_of_its_report(cli: Cli, out: Path) -> None:
    asked = ("run", "--langs", "cs", "--limit", "1", "--judge", "baseline/random", "--out", out)
    [signature] = json.loads(cli(*asked, "--majority", "strict", "--json").out)["signatures"].values()
    assert "|majority:strict|" in signature
    refused = cli("report", "--out", out, "--majority", "median")
    assert refused.code == 2 and "has classes without an order, so no median; take --majority drop or strict" in refused.err
    for flags, rule in ((("--majority", "drop"), "drop"), ((), "strict")):
        [signature] = json.loads(cli("report", "--out", out, "--json", *flags).out)["signatures"].values()
        assert f"|majority:{rule}|" in signature


def test_other_replies_have_another_signature_in_a_run_its_report_and_a_gate(
    ask: Cli, cli: Cli, endpoint: Any, out: Path, tmp_path: Path
) -> None:
    policy, held = tmp_path / "gate.toml", tmp_path / "gate.json"
    policy.write_text("[[rule]]\nunread_at_most = 1.0\n", encoding="utf-8")
    found = []
    for score in (0, 1):
        endpoint.script = lambda _, score=score: endpoint.saying({"justification": "Because.", "score": score})
        asked = json.loads(ask("--fresh", "--json").out)
        again = json.loads(cli("report", asked["run"], "--out", out, "--json").out)
        cli("gate", asked["run"], "--out", out, "--policy", policy, "--json", held)
        found.append([each["signatures"] for each in (asked, again, json.loads(held.read_bytes()))])
        hashes = {re.search(r"\|judgments:(\w{12})\|", next(iter(text.values()))).group(1) for text in found[-1]}
        assert len(hashes) == 1
    assert not [text for text in found[0] if text in found[1]]


def test_a_dry_run_asks_nobody_and_writes_nothing(ask: Cli, endpoint: Any, tmp_path: Path) -> None:
    done = ask("--dry-run", "--verbose")
    assert done.code == 0
    assert endpoint.requests == [] and list(tmp_path.iterdir()) == []
    assert done.out.count("[system]") == done.out.count("[user]") == done.out.count("── cs open_prompt") >= 3
    assert ask().code == 0
    assert f"openai/tester-2024-01-01: {len(endpoint.requests)} calls, about " in done.out


def test_a_dry_run_fits_a_screen(cli: Cli) -> None:
    done = cli("run", "--langs", "cs,ja", "--variant", "fewshot:2", "--judge", "baseline/random", "--dry-run")
    lines = done.out.splitlines()
    assert len(lines) <= 20 and max(map(cell_len, lines)) <= 80
    assert done.out.count("[system]") == done.out.count("[user]") == 1 and "more lines" in done.out
    assert "30 kinds of prompts in all; --verbose shows a whole prompt of each" in done.out


def test_a_dry_run_prices_a_model_whose_price_is_known(cli: Cli) -> None:
    done = cli("run", "--langs", "cs", "--judge", "openai/gpt-4o-2024-08-06", "--dry-run", "--json")
    [row] = json.loads(done.out)["judges"]
    assert row["price"]["as_of"] and row["cost"] == pytest.approx(
        (row["prompt_tokens"] * row["price"]["input"] + row["answer_tokens"] * row["price"]["output"]) / 1e6
    )


def test_a_plan_says_what_a_character_takes_in_each_language(cli: Cli) -> None:
    done = cli("run", "--langs", "cs,ja", "--judge", "openai/gpt-4o-2024-08-06", "--dry-run", "--json")
    rates = {row["language"]: row["tokens_per_character"] for row in json.loads(done.out)["languages"]}
    assert 0.25 < rates["cs"] < rates["ja"] <= 1


def test_people_cost_what_their_pages_recorded(cli: Cli, tmp_path: Path) -> None:
    (tmp_path / "data").mkdir()
    folder = write_translations(tmp_path / "data")
    command_line = ("run", "--data", folder, "--judge", "baseline/constant-best", "--out", tmp_path / "out", "--wage", "18")
    refused = cli(*command_line)
    assert refused.code != 0 and "--wage needs the time that people took" in refused.err and not (tmp_path / "out").exists()
    items = [json.loads(line)["item_id"] for line in (folder / "items.jsonl").read_text("utf-8").splitlines()]
    rows = [{"item_id": item, "annotator_id": "eva", "role": "label", "seconds": 40.0} for item in items]
    (folder / "seen.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows), "utf-8")
    assert "took 40 seconds a text" in " ".join(cli(*command_line).out.split())
    page = cli("report", "--out", tmp_path / "out", "--wage", "18", "--html", tmp_path / "page.html")
    assert page.code == 0 and "1,000 texts cost 200.00 for one person" in (tmp_path / "page.html").read_text("utf-8")


def test_an_export_replays_to_the_same_numbers(ask: Cli, cli: Cli, endpoint: Any, out: Path, tmp_path: Path) -> None:
    original = json.loads(ask("--json").out)
    asked = len(endpoint.requests)
    export = tmp_path / "replies.jsonl"
    assert cli("store", "export", "--out", out, "--to", export).code == 0
    assert export.read_bytes().count(b"\n") == asked
    same = ("run", "--langs", "cs", "--tasks", "open_prompt", "--limit", "2")
    replayed = json.loads(cli(*same, "--judge", f"replay/{export}", "--out", tmp_path / "other", "--json").out)
    assert len(endpoint.requests) == asked

    def numbers(report: Any, judge: str) -> list[Any]:
        return [{k: v for k, v in cell.items() if k != "judge"} for cell in report["cells"] if cell["judge"].startswith(judge)]

    assert numbers(replayed, "replay/") == numbers(original, "openai/")


def test_a_data_folder_is_judged_and_reported_again_after_a_change_only_with_a_word(
    cli: Cli, data_folder: Callable[..., Path], out: Path, refused: Callable[..., None]
) -> None:
    folder = data_folder("Les je tichý.", "Strom stojí.")
    done = cli("run", "--data", folder, "--judge", "baseline/constant-best", "--out", out, "--json")
    [cell] = json.loads(done.out)["by_metric"]
    assert (cell["language"], cell["metric"], cell["n"]) == ("cs", "task_quality", 2)
    labels = folder / "labels.jsonl"
    labels.write_text(labels.read_text(encoding="utf-8").replace('"score": 1', '"score": 2'), encoding="utf-8")
    refused(cli("report", "--out", out), 3, "have changed since it was made")


def test_make_run_asks_the_most_labels_for_the_fewest_tokens_and_says_that_it_is_a_part(cli: Cli, out: Path) -> None:
    makefile = (bundled_root() / "Makefile").read_text("utf-8")
    [command] = re.findall(r"^run: setup\n\t\$\(BIN\)/harness (.+)$", makefile, re.MULTILINE)
    arguments = command.split()
    done = cli(*arguments, "--judge", "baseline/majority", "--out", out)
    assert done.code == 0 and "40 calls to ask" in done.err
    part = "2 of its 5 metrics and 2 of its 3 tasks. Without --metrics and --tasks the same command asks the rest, and nothing again."
    assert f"This is a part of the board: {part}" in done.err
    whole = cli("run", "--langs", "ja,cs", "--judge", "baseline/majority", "--out", out)
    assert "74 calls to ask, 40 answered already" in whole.err and "part of the board" not in whole.err
    cells = json.loads(cli("run", "--langs", "cs", "--judge", "baseline/majority", "--out", out, "--json").out)["by_metric"]
    most = sorted(cells, key=lambda cell: -cell["n_ref"])[:2]
    assert {cell["metric"] for cell in most} == set(arguments[arguments.index("--metrics") + 1].split(","))
    prepared = prepare(harness.RunSpec(languages=("ja", "cs"), metrics=tuple(cell["metric"] for cell in most)))
    lengths: dict[str, int] = dict.fromkeys(prepared.protocol.wording.tasks, 0)
    [calls] = planned_calls(prepared, open_judges(harness.RunSpec(judges=("baseline/majority",)), prepared)).values()
    for call in calls:
        lengths[call.query.item.task] += sum(len(message.content) for message in call.prompt.messages)
    assert set(sorted(lengths, key=lengths.__getitem__)[:2]) == set(arguments[arguments.index("--tasks") + 1].split(","))


def test_a_run_of_first_texts_says_that_it_is_a_part(cli: Cli, out: Path) -> None:
    done = cli("run", "--langs", "cs", "--limit", "1", "--judge", "baseline/majority", "--out", out)
    assert "part of the board: at most 1 of the texts of each language and task. Without --limit the same command asks the rest" in done.err


def test_a_run_without_an_answer_is_not_the_latest_run(cli: Callable[..., Any], closed_url: str, out: Path) -> None:
    assert cli("run", "--langs", "cs", "--limit", "1", "--judge", "baseline/random", "--out", out).code == 0
    asked = ("run", "--langs", "cs", "--limit", "1", "--judge", "openai/m", "--base-url", closed_url, "--max-minutes", "0.01", "--out", out)
    assert cli(*asked).code in (4, 6)
    shown = cli("report", "--out", out)
    assert (
        shown.code == 0
        and "baseline/random" in shown.out
        and "the latest run, controls-cs-m-" in shown.err
        and "has no answer yet" in shown.err
    )


def test_a_run_on_a_data_folder_repeats_what_readers_of_its_numbers_must_know(cli: Callable[..., Any], tmp_path: Path) -> None:
    """The notes of a card stand with --notes below the verdicts of a run, and of a comparison of the run, as below recorded judgments."""
    note = "Places 1 and 2 of the list agree more than two people would."
    folder = tmp_path / "small"
    folder.mkdir()
    write_translations(folder, card=CARD.replace('source = "native"', f'source = "people"\nnotes = ["{note}"]'))
    ran = cli("run", "--data", folder, "--judge", "baseline/random", "--out", tmp_path / "results")
    assert ran.code == 0 and note not in ran.out and " · --notes --all --by-task\n" in ran.out, ran.err
    [run] = (tmp_path / "results" / "runs").iterdir()
    for command in (("report", run.name, "--out", tmp_path / "results"), ("compare", run)):
        shown = cli(*command, "--notes")
        assert shown.code == 0 and note in shown.out, shown.err
