"""`harness compare --decide full` and `harness labels needed` with the real command: what is read, and what cannot be said."""

from __future__ import annotations

import json
import random
import re
import shlex
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, get_args

import pytest

from harness.annotate.page_results import read_record
from harness.decide.verdict_rule import VerdictName
from harness.reports.answer.parts import state_of
from tests.judged_folder import judged_folder

Cli = Callable[..., Any]
TAGS = ("cs", "de", "en", "fr", "ja", "zh")
DATA = """id = "made"
annotators = "{annotators}"
[metrics.fluency]
kind = "ordinal"
classes = [0, 1, 2]
best = 2
"""


@pytest.fixture
def folder(tmp_path: Path) -> Callable[..., Path]:
    """A data folder: 30 texts of each language, parallel to each other, three annotators and a judge with probabilities."""

    def make(tags: Sequence[str] = TAGS, *, annotators: str = "persistent", probs: bool = True, texts: int = 30) -> Path:
        rng, path = random.Random(0), tmp_path / f"made-{len(tags)}-{annotators}-{probs}"
        path.mkdir()
        items, labels, judged = [], [], []
        for number in range(texts):
            true = rng.randrange(3)
            for tag in tags:
                name = f"{tag}{number}"
                items.append({"item_id": name, "language": tag, "task": "chat", "parallel_id": str(number), "output": f"{name}."})
                for who in range(3):
                    given = true if rng.random() < 0.8 else rng.randrange(3)
                    labels.append({"item_id": name, "annotator_id": f"a{who}", "metric": "fluency", "score": given})
                score = true if rng.random() < 0.8 else rng.randrange(3)
                own = {str(c): 0.9 if c == score else 0.05 for c in range(3)}
                judged.append({"item_id": name, "judge": "one", "metric": "fluency", "score": score} | ({"probs": own} if probs else {}))
        for file, rows in (("items", items), ("labels", labels), ("judgments", judged)):
            (path / f"{file}.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows), "utf-8")
        (path / "data.toml").write_text(DATA.format(annotators=annotators), "utf-8")
        return path

    return make


def compared(cli: Cli, path: Path, *more: str) -> dict[str, Any]:
    done = cli("compare", path, "--json", *more)
    assert done.code == 0, done.err
    return dict(json.loads(done.out))


def test_everything_for_programs(cli: Cli, folder: Callable[..., Path]) -> None:
    path = folder()
    found = compared(cli, path, "--decide", "full")
    [one] = found["languages"]
    assert (one["metric"], one["judge"]) == ("fluency", "one") and [row["language"] for row in one["languages"]] == list(TAGS)
    assert one["gap"]["languages"] == 6 and one["rates"]["df"] == 5 and one["consistency"]["items"] == 30 and one["dif"]["parallel"]
    assert len(one["annotators"]) == 6 and one["reasons"] == {}
    probabilities = found["sections"]["probabilities"]
    assert len(probabilities["rows"]) == len(probabilities["bins"]) == len(probabilities["refits"]) == 6
    for row, curve in zip(probabilities["rows"], probabilities["bins"], strict=True):
        assert row["confidence"] == pytest.approx(0.9) and curve["n"] == row["n"] and row["language"] == curve["language"]
    plain = compared(cli, path)
    assert "acceptance" not in plain and plain["verdicts"] == found["verdicts"] and plain["signature"] == found["signature"]
    [short] = plain["languages"]
    assert short["gap"] == one["gap"] and short["dif"] is None and short["reasons"]["dif"] == "computed with --decide full"


def test_everything_for_people(cli: Cli, folder: Callable[..., Path]) -> None:
    shown = cli("compare", folder(), "--decide", "full").out
    assert "Across languages" in shown and "May its probabilities be believed?" in shown and "κ of parallel texts" in shown
    assert "mean of judge − people (points): the mean over languages" in shown


def test_what_cannot_be_said_is_said(cli: Cli, folder: Callable[..., Path]) -> None:
    path = folder(("ja",), annotators="anonymous", probs=False)
    found = compared(cli, path, "--decide", "full")
    [one] = found["languages"]
    assert one["gap"] is one["dif"] is one["rates"] is one["consistency"] is one["annotators"] is None
    assert one["reasons"] == dict.fromkeys(("gap", "dif", "rates", "consistency"), "one language") | {
        "annotators": "annotators are anonymous"
    }
    assert "probabilities" not in found["sections"]
    shown = cli("compare", path, "--decide", "full").out
    assert "Probabilities: no probabilities are recorded" in shown and "Across languages: one language." in shown


def test_under_five_languages_each_is_shown(cli: Cli, folder: Callable[..., Path]) -> None:
    [one] = compared(cli, folder(TAGS[:3]))["languages"]
    assert one["gap"] is None and one["reasons"]["gap"].startswith("fewer than five languages") and len(one["languages"]) == 3


def test_probabilities_that_are_none_are_refused(cli: Cli, folder: Callable[..., Path]) -> None:
    path = folder(("ja",))
    (path / "judgments.jsonl").write_text('{"item_id": "ja0", "judge": "one", "metric": "fluency", "score": 1, "probs": {"1": 7}}\n')
    done = cli("compare", path)
    assert done.code == 3 and "judgments.jsonl:1" in done.err and "'probs' should hold" in done.err


def test_labels_needed(cli: Cli, folder: Callable[..., Path]) -> None:
    path = folder()
    done = cli("labels", "needed", path, "--half-width", "0.04", "--json")
    assert done.code == 0, done.err
    found = json.loads(done.out)
    assert found["half_width"] == 0.04 and len(found["cells"]) == 6 and found["signature"].startswith("data:made")
    verdicts = {one["language"]: one for one in compared(cli, path)["verdicts"]}
    for cell in found["cells"]:
        assert cell["n"] == 30 and cell["texts_for_half_width"] == cell["n"] + cell["more_for_half_width"] > 200
        assert cell["more_for_verdict"] == verdicts[cell["language"]]["k"]
    narrow, wide = (json.loads(cli("labels", "needed", path, "--half-width", width, "--json").out) for width in ("0.03", "0.2"))
    assert narrow["cells"][0]["more_for_half_width"] > found["cells"][0]["more_for_half_width"] > wide["cells"][0]["more_for_half_width"]
    shown = cli("labels", "needed", path).out
    assert shown.startswith("0 of 6 questions have a verdict; 6 need more labels.") and "Japanese" in shown and "signature" in shown
    assert "more for ±: further texts until its interval is as narrow as --half-width asks for" in " ".join(shown.split())


@pytest.mark.parametrize("width", ["0", "0.7", "-1", "nan"])
def test_a_half_width_that_is_none(cli: Cli, folder: Callable[..., Path], width: str) -> None:
    done = cli("labels", "needed", folder(("ja",)), f"--half-width={width}")
    assert done.code == 2 and "half-width" in done.err and "Traceback" not in done.err


def test_a_folder_without_judgments(cli: Cli, folder: Callable[..., Path]) -> None:
    path = folder(("ja",))
    (path / "judgments.jsonl").unlink()
    done = cli("labels", "needed", path)
    assert done.code == 2 and "no judgments" in done.err


SETS: dict[str, dict[str, Any]] = {
    "good": {"labelled": 0.9, "noise": 0.05},
    "bad": {"labelled": 0.9, "noise": 1.1, "sampling": "convenience"},
    "unclear": {"labelled": 0.4, "noise": 0.35, "sampling": "convenience"},
    "corrected": {"labelled": 0.5, "noise": 0.45},
    "small": {"prompts": 12},
}


@pytest.mark.parametrize("options", SETS.values(), ids=SETS)
def test_every_command_says_the_same_word_for_a_verdict(cli: Cli, tmp_path: Path, options: dict[str, Any]) -> None:
    folder = judged_folder(tmp_path / "made", **options)
    (tmp_path / "gate.toml").write_text('[[rule]]\nverdict = "use"\n', "utf-8")
    assert cli("gate", folder, "--policy", tmp_path / "gate.toml", "--json", tmp_path / "gate.json").code in (0, 1, 7)
    assert cli("certify", folder, "--to", tmp_path / "certificate.json").code in (0, 1)
    compared = json.loads(cli("compare", folder, "--json").out)
    rows = {row["metric"]: row for row in compared["verdicts"]}
    words = {metric: row["answer"] for metric, row in rows.items()}
    verdicts = {metric: row["verdict"] for metric, row in rows.items()}
    assert set(words.values()) <= {*get_args(VerdictName), "not shown"}
    assert {metric for metric in rows if words[metric] != verdicts[metric]} == {m for m in rows if words[m] == "not shown"}
    certified = json.loads((tmp_path / "certificate.json").read_text("utf-8"))
    needed = json.loads(cli("labels", "needed", folder, "--json").out)
    for said in (certified, needed):
        assert {row["metric"]: row["verdict"] for row in said["cells"]} == verdicts
    for check in json.loads((tmp_path / "gate.json").read_text("utf-8"))["checks"]:
        word = words[check["metric"]]
        assert check["outcome"] == "pass" if word == "use" else f"the verdict is '{word}'" in check["reason"]
    screen = cli("compare", folder, "--all").out
    for metric, row in rows.items():
        assert re.search(rf"^(Japanese)? *{metric} +[✓✗○] {state_of(row)}( |$)", screen, re.MULTILINE), screen


@pytest.mark.parametrize(
    "options", [{"labelled": 0.4, "noise": 0.2, "sampling": "convenience"}, {"prompts": 12, "labelled": 0.5}], ids=["some", "few"]
)
def test_the_next_step_is_a_command_that_works(cli: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, options: dict[str, Any]) -> None:
    judged_folder(tmp_path / "made", **options)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "80")
    text = cli("compare", "made").out
    [command] = re.findall(r"harness (labels page made (?:.*\\\n)*.*)", text)
    made = cli(*shlex.split(command.replace("\\\n", " ")))
    assert made.code == 0, made.err
    wanted = int(command.split("--next ")[1].split()[0])
    entries = [entry for page in read_record(tmp_path / "pages" / "pages.json").pages for entry in page.items]
    assert len({entry.item_id for entry in entries if entry.role == "label"}) == wanted


@pytest.mark.parametrize(
    ("texts", "groups", "words"),
    [
        (30, 10, "10 of the 30 texts with two annotators are independent; 20 independent ones are needed"),
        (25, 25, "25 texts have two annotators; 30 are needed"),
        (24, 12, "24 texts have two annotators, 12 of them independent; 30 and 20 are needed"),
    ],
)
def test_too_few_labels_names_only_what_is_missing(cli: Cli, tmp_path: Path, texts: int, groups: int, words: str) -> None:
    """A number that is reached, such as 30 of 30, is no reason."""
    made = tmp_path / "made"
    made.mkdir()
    (made / "data.toml").write_text(DATA.format(annotators="persistent"), "utf-8")
    items = [
        {"item_id": f"i{n}", "language": "cs", "task": "t", "group": f"g{n % groups}", "output": f"Text číslo {n}."} for n in range(texts)
    ]
    labels = [{"item_id": f"i{n}", "annotator_id": who, "metric": "fluency", "score": n % 3} for n in range(texts) for who in "ab"]
    judged = [{"item_id": f"i{n}", "judge": "one", "metric": "fluency", "score": (n + n // 5) % 3} for n in range(texts)]
    for name, rows in (("items", items), ("labels", labels), ("judgments", judged)):
        (made / f"{name}.jsonl").write_text("".join(f"{json.dumps(row)}\n" for row in rows), "utf-8")
    [verdict] = json.loads(cli("compare", made, "--json").out)["verdicts"]
    assert words in verdict["sentence"]
