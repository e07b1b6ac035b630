"""Where most answers of a judge could not be read, the first line says so, no verdict rests on them, and the exit code is 4."""

from __future__ import annotations

import json
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.conftest import write_rows
from tests.judged_folder import judged_folder

POLICY = 'version = 1\nalpha = 0.05\n[[rule]]\nlanguage = "cs"\nmetric = "harm"\nat_least = 0.7\nverdict = "use"\n'
TOML = 'id = "made"\nannotators = "persistent"\n[metrics.harm]\nkind = "ordinal"\nclasses = [0, 1]\nbest = 0\n'


@pytest.fixture
def folder(tmp_path: Path) -> Callable[..., Path]:
    """Write a data folder of 120 texts; `answers` gives what a judge answered in the text of a number."""

    def write(answers: Callable[[int], dict[str, Any]], people: int = 3, judge: str = "model/one") -> Path:
        texts = range(120)
        write_rows(
            tmp_path / "made" / "items.jsonl",
            [{"item_id": f"i{n}", "language": "cs", "task": "t", "output": f"Text číslo {n}."} for n in texts],
        )
        labels = [(n, who, (n * 7 + n // 5) % 2) for n in texts for who in range(people)]
        write_rows(
            tmp_path / "made" / "labels.jsonl",
            [{"item_id": f"i{n}", "annotator_id": f"a{who}", "metric": "harm", "score": score} for n, who, score in labels],
        )
        rows = [{"item_id": f"i{n}", "judge": judge, "metric": "harm"} | answers(n) for n in texts]
        write_rows(tmp_path / "made" / "judgments.jsonl", rows)
        (tmp_path / "made" / "data.toml").write_text(TOML, "utf-8")
        return tmp_path / "made"

    return write


@pytest.mark.parametrize("people", [1, 3])
@pytest.mark.parametrize(
    ("answer", "cause"),
    [({"score": 9}, "(off the scale), such as '9'"), ({"failure": "refused"}, "(refused)"), ({"failure": "not_json"}, "(not in the form")],
)
def test_answers_of_which_none_can_be_read_say_so_first(
    cli: Callable[..., Any], folder: Callable[..., Path], tmp_path: Path, people: int, answer: dict[str, Any], cause: str
) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        done = cli("compare", folder(lambda n: answer, people))
    assert done.code == 4 and done.out.splitlines()[0].startswith("None of 120 answers could be read") and cause in done.out.splitlines()[0]
    assert "Do not use" not in done.out and "second" not in done.out and "Warning" not in done.err
    assert "misses" not in done.out and " 0 %, at most" not in done.out, (
        "an answer that nobody could read is no class that the judge misses"
    )
    page = tmp_path / "page.html"
    assert cli("compare", folder(lambda n: answer, people), "--html", page).code == 4
    first_screen = page.read_text("utf-8").partition('id="items"')[0]
    assert "None of 120 answers could be read" in first_screen and "No verdict rests on answers that cannot be read" in first_screen
    assert "What to do" in first_screen and "read what it answered" in first_screen and 'class="rows"' not in first_screen
    assert "judge 0 %" not in first_screen and "<circle" not in first_screen, "a dot at −98 would be about replies, not about a judge"
    [verdict] = json.loads(cli("compare", folder(lambda n: answer, people), "--json").out)["verdicts"]
    assert verdict["answer"] == "no verdict" and not verdict["shares"] and verdict["unread"] == {answer.get("failure", "off_scale"): 120}


def test_more_than_half_is_enough_and_half_is_not(cli: Callable[..., Any], folder: Callable[..., Path]) -> None:
    for unread, code in ((61, 4), (60, 0)):
        done = cli("compare", folder(lambda n, unread=unread: {"failure": "refused"} if n < unread else {"score": n % 2}))
        assert done.code == code and (f"{unread} of 120 answers could not be read" in done.out.splitlines()[0]) is (code == 4)


def test_a_gate_is_inconclusive_and_says_why(cli: Callable[..., Any], folder: Callable[..., Path], tmp_path: Path) -> None:
    (tmp_path / "gate.toml").write_text(POLICY, "utf-8")
    done = cli("gate", folder(lambda n: {"score": 9}), "--policy", tmp_path / "gate.toml", "--json", tmp_path / "gate.json")
    checks = json.loads((tmp_path / "gate.json").read_text("utf-8"))["checks"]
    assert done.code == 4 and {check["outcome"] for check in checks} == {"inconclusive"}
    assert any("none of 120 answers could be read" in check["reason"] for check in checks)
    assert done.out.startswith("gate: inconclusive: none of 120 answers could be read (off the scale), such as '9'"), done.out


def test_an_answer_that_is_shown_is_one_safe_line(cli: Callable[..., Any], folder: Callable[..., Path]) -> None:
    first = cli("compare", folder(lambda n: {"score": "\x1b[31mred\nline " + "x" * 500})).out.splitlines()[0]
    assert "\x1b" not in first and "red line xxx" in first and len(first) < 200


def test_a_run_of_which_nothing_can_be_read_ends_with_4(cli: Callable[..., Any], endpoint: Any, tmp_path: Path) -> None:
    endpoint.script = lambda request: endpoint.saying({"score": 77})
    flags = ("--langs", "cs", "--judge", "openai/tester", "--base-url", endpoint.url, "--out", tmp_path, "--metrics", "problematic_content")
    done = cli("run", *flags)
    assert done.code == 4 and "None of 12 answers could be read (off the scale), such as '77'" in done.out
    assert cli("report", "--out", tmp_path).code == 4


@pytest.mark.parametrize("text", ["I would rather talk about the weather.", "Please log in to continue"])
def test_a_reply_without_any_score_is_shown_too(cli: Callable[..., Any], endpoint: Any, tmp_path: Path, text: str) -> None:
    endpoint.script = lambda request: endpoint.saying(text)
    flags = ("--langs", "cs", "--judge", "openai/tester", "--base-url", endpoint.url, "--out", tmp_path, "--metrics", "problematic_content")
    done = cli("run", *flags)
    assert done.code == 4 and "None of 12 answers could be read" in done.out and f"such as '{text}'" in " ".join(done.out.split()), done.out


RANDOM = TOML.replace("[metrics", 'sampling = "random"\n[metrics')
USES = [("correct",), ("accept",), ("calibrate",), ("explain",), ("certify", "--to", "c.json"), ("labels", "needed")]


def on(command: tuple[str, ...], source: Path) -> tuple[str | Path, ...]:
    """Return a command with its source behind its name."""
    words = 2 if command[0] == "labels" else 1
    return (*command[:words], source, *command[words:])


def random_sample(path: Path) -> Path:
    (path / "data.toml").write_text(RANDOM, "utf-8")
    return path


@pytest.mark.parametrize("command", USES)
def test_no_number_rests_on_answers_that_cannot_be_read(
    cli: Callable[..., Any], folder: Callable[..., Path], tmp_path: Path, command: tuple[str, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    for answers, words in ((lambda n: {"score": 9}, "none of 120"), (lambda n: {"score": 9 if n < 61 else n % 2}, "61 of 120")):
        done = cli(*on(command, random_sample(folder(answers))))
        assert done.code == 4 and done.out == "" and not (tmp_path / "c.json").exists(), done.out
        first = done.err.splitlines()[0]
        assert words in first and "(off the scale), such as '9'" in first and "model/one" in first, done.err
    half = cli(*on(command, random_sample(folder(lambda n: {"score": 9 if n < 60 else n * n % 2}))))
    assert half.code != 4, half.err


@pytest.mark.parametrize("command", [("correct",), ("accept",), ("explain",), ("labels", "needed")])
def test_of_two_judges_the_other_is_still_used(cli: Callable[..., Any], folder: Callable[..., Path], command: tuple[str, ...]) -> None:
    path = random_sample(folder(lambda n: {"score": 9}))
    rows = [json.loads(line) for line in (path / "judgments.jsonl").read_text("utf-8").splitlines()]
    others = [row | {"judge": "model/two", "score": (number // 3 + number // 7) % 2} for number, row in enumerate(rows)]
    write_rows(path / "judgments.jsonl", [*rows, *others])
    items = [json.loads(line) for line in (path / "items.jsonl").read_text("utf-8").splitlines()]
    write_rows(path / "items.jsonl", [row | {"output": row["output"] * (1 + number % 4)} for number, row in enumerate(items)])
    done = cli(*on(command, path))
    assert done.code == 4 and done.out.startswith("None of 120 answers could be read (off the scale), such as '9'"), done.out + done.err
    said = json.loads(cli(*on(command, path), "--json").out)
    assert [(one["judge"], one["unread"]) for one in said["unread"]] == [("model/one", {"off_scale": 120})]
    rows_of = next(said[name] for name in ("numbers", "thresholds", "metrics", "cells") if name in said)
    assert {row["judge"] for row in rows_of} == {"model/two"}


def test_scores_that_cannot_be_read_make_no_strata(cli: Callable[..., Any], folder: Callable[..., Path], tmp_path: Path) -> None:
    path = folder(lambda n: {"score": 9 if n % 3 else n % 2})
    rows = (path / "labels.jsonl").read_text("utf-8").splitlines()
    write_rows(path / "labels.jsonl", [json.loads(line) for line in rows[:90]])
    done = cli("labels", "plan", path, "--budget", "20", "--to", tmp_path / "next.jsonl")
    assert done.code == 0 and "80 of 120 answers could not be read (off the scale), such as '9'" in done.err, done.err
    assert "strata: scores" not in done.err and "score 0" not in done.err
    drawn = [json.loads(line) for line in (tmp_path / "next.jsonl").read_text("utf-8").splitlines()]
    assert {row["inclusion_probability"] for row in drawn} == {20 / 90} and {row["stratum"] for row in drawn} == {"all"}


def test_a_chain_and_a_probe_with_a_judge_that_cannot_be_read_are_no_verdict(
    cli: Callable[..., Any], folder: Callable[..., Path], tmp_path: Path
) -> None:
    path = random_sample(folder(lambda n: {"score": 9, "probs": {"0": 0.5, "1": 0.5}}))
    rows = [json.loads(line) for line in (path / "judgments.jsonl").read_text("utf-8").splitlines()]
    write_rows(path / "judgments.jsonl", [*rows, *({**row, "judge": "model/two", "score": 1} for row in rows)])
    done = cli("accept", path, "--cascade", "--judge", "model/two", "--judge", "model/one", "--to", tmp_path / "chain.json")
    assert done.code == 4 and "one of 120 answers could be read" in done.err.splitlines()[0] and not (tmp_path / "chain.json").exists()


@pytest.mark.parametrize("command", USES)
def test_one_metric_that_cannot_be_read_is_left_out_and_the_other_is_used(
    cli: Callable[..., Any], tmp_path: Path, command: tuple[str, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of the answers on `errors` six of ten are off the scale, of all answers three: the judge is used, and the cell is named."""
    monkeypatch.chdir(tmp_path)
    lengths = lambda number, system, rng: {"output": f"{system}{number} " + "x" * int(rng.integers(5, 60))}  # noqa: E731
    path = judged_folder(tmp_path / "made", prompts=300, fields=lengths, noise=0.1)
    rows = [json.loads(line) for line in (path / "judgments.jsonl").read_text("utf-8").splitlines()]
    write_rows(
        path / "judgments.jsonl", [row | {"score": 9} if row["metric"] == "errors" and n % 10 < 6 else row for n, row in enumerate(rows)]
    )
    done = cli(*on(command, path))
    assert done.code == 0, done.err
    assert "could not be read (off the scale), such as '9'" in done.out, done.out
    if command[0] == "certify":
        cells = {cell["metric"]: cell for cell in json.loads((tmp_path / "c.json").read_text("utf-8"))["cells"]}
        assert (
            cells["tone"]["corrections"]
            and "could not be read" in cells["errors"]["correction_reason"]
            and not cells["errors"]["corrections"]
        )
    else:
        said = json.loads(cli(*on(command, path), "--json").out)
        assert [(one["metric"], one["unread"]) for one in said["unread"]] == [("errors", {"off_scale": 360})]
        rows_of = next(said[name] for name in ("numbers", "thresholds", "metrics", "cells") if name in said)
        assert {row["metric"] for row in rows_of} == {"tone"}


def test_what_a_new_language_needs_rests_on_no_language_that_cannot_be_read(cli: Callable[..., Any], tmp_path: Path) -> None:
    """Six languages, in one of which the judge gives a score to three texts of ten: five are left to borrow from, and then four."""
    folders = [judged_folder(tmp_path / tag, prompts=40, language=tag) for tag in ("cs", "de", "en", "es", "it", "ja")]
    path = tmp_path / "all"
    for name in ("items", "labels", "judgments"):
        rows = []
        for tag in (folder.name for folder in folders):
            for line in (tmp_path / tag / f"{name}.jsonl").read_text("utf-8").splitlines():
                row = json.loads(line)
                rows.append(row | {key: f"{tag}-{row[key]}" for key in ("item_id", "group") if key in row})
        write_rows(path / f"{name}.jsonl", rows)
    (path / "data.toml").write_bytes((folders[0] / "data.toml").read_bytes())
    rows = [json.loads(line) for line in (path / "judgments.jsonl").read_text("utf-8").splitlines()]
    for broken, helping in (("ja",), 5), (("ja", "it"), 4):
        spoilt = [row | {"score": 9} if row["item_id"][:2] in broken and n % 10 < 7 else row for n, row in enumerate(rows)]
        write_rows(path / "judgments.jsonl", spoilt)
        done = cli("labels", "needed", path, "--borrow", "languages", "--json")
        said = json.loads(done.out)
        assert {one["languages"] for one in said["new_languages"]} == {helping}, said["new_languages"]
        assert done.code == 0 and {one["language"] for one in said["unread"]} == set(broken)
        assert not {cell["language"] for cell in said["cells"]} & set(broken)
