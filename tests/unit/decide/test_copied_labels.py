"""A judge whose score is a person's in every text may be a copy of the labels: it is said first, and a gate does not pass."""

from __future__ import annotations

import json
import random
import statistics
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import harness
from harness import CompareOptions
from harness.decide.verdict_rule import COPIES
from tests.conftest import write_rows
from tests.judged_folder import judged_folder

Row = Mapping[str, Any]


@pytest.fixture(scope="module")
def labelled(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, list[Row]]:
    """Return a data folder with three people a text, and its labels."""
    folder = judged_folder(tmp_path_factory.mktemp("copies") / "made", labelled=1.0, noise=0.05)
    return folder, [json.loads(line) for line in (folder / "labels.jsonl").read_text("utf-8").splitlines()]


@pytest.fixture
def copied(labelled: tuple[Path, list[Row]], tmp_path: Path) -> Callable[..., Path]:
    """Write the folder with the scores of the label rows that `chosen` picks as a judge's, and labels that `kept` keeps."""
    folder, labels = labelled

    def write(chosen: Callable[[Row], bool], kept: Callable[[Row], bool] = lambda row: True, **changed: Any) -> Path:
        new = tmp_path / "copied"
        for name in ("items.jsonl", "data.toml"):
            new.mkdir(exist_ok=True)
            (new / name).write_bytes((folder / name).read_bytes())
        write_rows(new / "labels.jsonl", [row for row in labels if kept(row)])
        judged = {(row["item_id"], row["metric"]): row["score"] for row in labels if chosen(row)}
        rows = [{"item_id": item, "judge": "model/copy", "metric": metric, "score": score} for (item, metric), score in judged.items()]
        write_rows(new / "judgments.jsonl", [row | changed if n == 0 else row for n, row in enumerate(rows)])
        return new

    return write


def copies(folder: Path) -> dict[str, tuple[str | None, int] | None]:
    found = {verdict["metric"]: verdict.copied for verdict in harness.compare(folder).verdicts}
    return {metric: (copied.annotator, copied.texts) if copied and not copied.nearly else None for metric, copied in found.items()}


def test_a_copy_of_one_person_is_said_first_everywhere(copied: Callable[..., Path], cli: Callable[..., Any], tmp_path: Path) -> None:
    folder = copied(lambda row: row["annotator_id"] == "p1")
    assert copies(folder) == {"tone": ("p1", 240), "errors": ("p1", 240)}
    first = cli("compare", folder).out.splitlines()
    assert first[1] == "○ Unknown: Japanese (errors) and Japanese (tone): scores may be copies of the labels."
    assert first[2].startswith(
        "○ Is model/copy a copy of the labels? In Japanese (errors) its score is that of 'p1' in every one of 240 texts"
    )
    assert "Is model/copy a copy of the labels?" in cli("compare", folder, "--md").out
    verdicts = json.loads(cli("compare", folder, "--json").out)["verdicts"]
    assert all(verdict["copied"] == {"annotator": "p1", "texts": 240} for verdict in verdicts)
    page = tmp_path / "page.html"
    assert cli("compare", folder, "--html", page).code == 0 and "a copy of the labels?" in page.read_text("utf-8")


def test_no_use_rests_on_a_copy(copied: Callable[..., Path], cli: Callable[..., Any], tmp_path: Path) -> None:
    """Neither the title, the verdicts, labels still to make nor a certificate say yes."""
    folder, certificate = copied(lambda row: row["annotator_id"] == "p1"), tmp_path / "certificate.json"
    told = harness.compare(folder)
    assert {(verdict.decision, verdict.answer, verdict.words.obstacles, verdict.needed) for verdict in told.verdicts} == {
        (COPIES, "no verdict", ("copied",), None)
    }
    assert all("it may be a copy" in verdict.words.sentence and not verdict.words.not_for for verdict in told.verdicts)
    shown = cli("compare", folder).out
    assert shown.startswith("Japanese: it is unknown whether model/copy may be used: its scores may be copies of the labels")
    assert "copy may be used for" not in shown and "Use it" not in shown and "○ unknown  scores may be copies of the labels" in shown
    assert "model/copy may be used for" not in cli("compare", folder, "--md").out
    assert COPIES.reason in cli("labels", "needed", folder).out
    assert "It allows nothing" in cli("certify", folder, "--to", certificate).out
    cells = json.loads(certificate.read_text("utf-8"))["cells"]
    assert {cell["verdict"] for cell in cells} == {"no verdict"}


def test_who_knows_that_equal_scores_are_the_judges_says_so(copied: Callable[..., Path], cli: Callable[..., Any], tmp_path: Path) -> None:
    """A judge may really agree with one person everywhere; then the signature and the verdict say what was taken for granted."""
    folder = copied(lambda row: row["annotator_id"] == "p1")
    own = harness.compare(folder, CompareOptions(equal_scores="own"))
    assert {verdict.decision.verdict for verdict in own.verdicts} == {"use"}
    assert all("equal_scores=own" in verdict.settings for verdict in own.verdicts)
    assert all("if these are copies of the labels" in " ".join(verdict.words.not_for) for verdict in own.verdicts)
    assert "equal_scores" not in harness.compare(folder).verdicts[0].settings
    (tmp_path / "gate.toml").write_text(
        "[decision]\nequal_scores = 'own'\n[[rule]]\nmetric = 'tone'\nat_least = 0.5\nverdict = 'use'\n", "utf-8"
    )
    assert cli("gate", folder, "--policy", tmp_path / "gate.toml").code == 0


def test_numbers_of_a_copy_say_so_in_their_first_lines(copied: Callable[..., Path], cli: Callable[..., Any]) -> None:
    told = (
        "model/copy in ja/tone: its score is that of 'p1' in every one of 240 texts, so that it may be a copy, and agreement shows nothing."
    )
    folder = copied(lambda row: row["annotator_id"] == "p1", probs={"0": 0.1, "1": 0.2, "2": 0.7})
    for command in ("accept", "correct", "calibrate", "probabilities"):
        done = cli(command, folder)
        assert done.code == 0 and f"○ {told}" in " ".join(done.out.split())[:1000], done.out + done.err
        assert told in json.loads(cli(command, folder, "--json").out)["copied"]
    assert told in harness.accept(folder).copied


def test_what_is_shown_against_a_copy_stays(copied: Callable[..., Path]) -> None:
    """Scores that are unreadable in half of the texts are of no use, wherever the others come from."""
    folder = copied(lambda row: row["annotator_id"] == "p1")
    rows = [json.loads(line) for line in (folder / "judgments.jsonl").read_text("utf-8").splitlines()]
    write_rows(
        folder / "judgments.jsonl",
        [row | {"score": None, "failure": "refused"} if int(row["item_id"][1:]) % 5 < 2 else row for row in rows],
    )
    assert {(verdict.decision.verdict, verdict.words.obstacles) for verdict in harness.compare(folder).verdicts} == {
        ("do not use", ("failures",))
    }


def test_a_gate_is_inconclusive_where_a_copy_would_pass(copied: Callable[..., Path], cli: Callable[..., Any], tmp_path: Path) -> None:
    limits = "at_least = 0.5\nbeats_baseline = true\nnot_below_people_by = 0.1\nverdict = 'use'\nmin_items = 30\nunread_at_most = 0.1\n"
    (tmp_path / "gate.toml").write_text(f"[[rule]]\nmetric = 'tone'\n{limits}", "utf-8")
    folder = copied(lambda row: row["annotator_id"] == "p1")
    done = cli("gate", folder, "--policy", tmp_path / "gate.toml", "--json", tmp_path / "gate.json")
    checks = {check["limit"]: check for check in json.loads((tmp_path / "gate.json").read_text("utf-8"))["checks"]}
    assert done.code == 7 and {name for name, check in checks.items() if check["outcome"] == "pass"} == {"min_items", "unread_at_most"}
    doubt = "its score is that of 'p1' in every one of 240 texts, so that it may be a copy, and agreement shows nothing"
    assert checks["at_least"]["reason"] == doubt and checks["verdict"]["reason"] == f"the verdict is 'no verdict': {doubt}"


def changed_copy(folder: Path, count: int) -> Path:
    """Change the scores of some texts of a folder."""
    rows = [json.loads(line) for line in (folder / "judgments.jsonl").read_text("utf-8").splitlines()]
    for metric in ("tone", "errors"):
        for row in [row for row in rows if row["metric"] == metric][:count]:
            row["score"] = 1 if row["score"] == 0 else 0
    write_rows(folder / "judgments.jsonl", rows)
    return folder


def test_a_copy_with_few_changes_is_said_and_changes_no_outcome(
    copied: Callable[..., Path], cli: Callable[..., Any], tmp_path: Path
) -> None:
    folder = changed_copy(copied(lambda row: row["annotator_id"] == "p1"), 2)
    near = [verdict.copied for verdict in harness.compare(folder).verdicts]
    assert all(copy and copy.nearly and (copy.annotator, copy.equal, copy.texts) == ("p1", 238, 240) for copy in near)
    assert {verdict.decision.verdict for verdict in harness.compare(folder).verdicts} == {"use"}
    assert "Is model/copy a copy of the labels?" in cli("compare", folder).out
    (tmp_path / "gate.toml").write_text("[[rule]]\nmetric = 'tone'\nat_least = 0.5\nverdict = 'use'\n", "utf-8")
    done = cli("gate", folder, "--policy", tmp_path / "gate.toml")
    assert done.code == 0 and "these may be copied scores, some of them changed" in " ".join(done.out.split())
    assert all(verdict.copied is None for verdict in harness.compare(changed_copy(folder, 20)).verdicts)


def test_one_answer_for_nearly_all_texts_is_no_copy(make_lenient: Callable[[bool], Path]) -> None:
    """A judge that says 1 of all texts but two equals a lenient person in 98 % of them; a copy has that person's rare scores too."""
    [constant] = harness.compare(make_lenient(False)).verdicts
    [copy] = harness.compare(make_lenient(True)).verdicts
    assert constant.copied is None
    assert copy.copied and copy.copied.nearly and (copy.copied.annotator, copy.copied.equal, copy.copied.texts) == ("mild", 396, 400)


@pytest.fixture
def make_lenient(tmp_path: Path) -> Callable[[bool], Path]:
    """Write 400 texts: one person calls 10 of them bad, two others 100 each; the judge has 4 other scores than the first, or says 1."""

    def write(is_copy: bool) -> Path:
        items, labels, judgments = [], [], []
        for n in range(400):
            name = f"t{n}"
            items.append({"item_id": name, "language": "cs", "task": "chat", "output": f"Text {n}."})
            mild = int(n % 40 != 0)
            scores = {"mild": mild, "strict": int(n % 4 != 1), "severe": int(n % 4 != 2)}
            labels += [{"item_id": name, "annotator_id": who, "metric": "harm", "score": score} for who, score in scores.items()]
            judged = (1 - mild if n % 100 == 3 else mild) if is_copy else int(n not in (0, 40))
            judgments.append({"item_id": name, "judge": "model/lenient", "metric": "harm", "score": judged})
        for table, rows in (("items", items), ("labels", labels), ("judgments", judgments)):
            write_rows(tmp_path / "lenient" / f"{table}.jsonl", rows)
        toml = 'id = "lenient"\nannotators = "persistent"\n[metrics.harm]\nkind = "ordinal"\nclasses = [0, 1]\nbest = 1\n'
        (tmp_path / "lenient" / "data.toml").write_text(toml, "utf-8")
        return tmp_path / "lenient"

    return write


def test_a_copy_of_the_commonest_label_is_found_too(copied: Callable[..., Path], labelled: tuple[Path, list[Row]]) -> None:
    scores: dict[tuple[str, str], list[int]] = {}
    for row in labelled[1]:
        scores.setdefault((row["item_id"], row["metric"]), []).append(row["score"])
    commonest = {key: max(given, key=given.count) for key, given in scores.items() if len(set(given)) < 3}
    folder = copied(lambda row: commonest.get((row["item_id"], row["metric"])) == row["score"])
    found = copies(folder)
    assert found["tone"] == (None, sum(metric == "tone" for _, metric in commonest)) and found["errors"] == (None, 240)


def test_one_person_a_text_of_many_people(copied: Callable[..., Path]) -> None:
    """Nobody labelled 30 texts, and the judge has the only label of each."""

    def only(row: Row) -> bool:
        return int(row["item_id"][1:]) % 3 == int(row["annotator_id"][1:])

    assert copies(copied(only, only)) == {"tone": ("p0", 80), "errors": ("p0", 80)}
    folder = copied(only, only)
    rows = [json.loads(line) for line in (folder / "labels.jsonl").read_text("utf-8").splitlines()]
    write_rows(folder / "labels.jsonl", [row | {"annotator_id": f"w{int(row['item_id'][1:]) % 12}"} for row in rows])
    assert copies(folder) == {"tone": (None, 240), "errors": (None, 240)}


@pytest.mark.parametrize("changed", [{"score": None, "failure": "refused"}, {"score": 9}], ids=["refused", "off the scale"])
def test_answers_that_cannot_be_read_hide_no_copy(copied: Callable[..., Path], changed: dict[str, Any]) -> None:
    found = copies(copied(lambda row: row["annotator_id"] == "p1", **changed))
    assert sorted(found.values(), key=str) == [("p1", 239), ("p1", 240)]


def test_one_other_score_few_texts_and_one_class_are_no_copy(copied: Callable[..., Path], labelled: tuple[Path, list[Row]]) -> None:
    first = next(row for row in labelled[1] if row["annotator_id"] == "p1")
    other = copies(copied(lambda row: row["annotator_id"] == "p1", score=1 - first["score"] if first["score"] in (0, 1) else 0))
    assert other[first["metric"]] is None and None in other.values()

    def few(row: Row) -> bool:
        return row["annotator_id"] == "p1" and int(row["item_id"][1:]) < 14

    assert set(copies(copied(few)).values()) == {None}
    assert set(copies(copied(lambda row: row["annotator_id"] == "p1" and row["score"] == 0)).values()) == {None}


def test_chance_agreement_with_one_of_many_people_is_no_copy(make_easy: Callable[[float], Path]) -> None:
    """Where nearly everybody says the same, a good judge equals somebody who labelled a part of the texts."""
    assert copies(make_easy(0.98)) == {"harm": None}


@pytest.fixture
def make_easy(tmp_path: Path) -> Callable[[float], Path]:
    """Write 400 texts, each labelled by 4 of 40 people, who are right this often; the judge is always right."""

    def write(right: float) -> Path:
        draw = np.random.default_rng(3)
        items, labels, judgments = [], [], []
        for n in range(400):
            name, truth = f"t{n}", int(draw.random() < 0.5)
            items.append({"item_id": name, "language": "cs", "task": "chat", "output": f"Text {n}."})
            for who in draw.permutation(40)[:4].tolist():
                said = truth if draw.random() < right else 1 - truth
                labels.append({"item_id": name, "annotator_id": f"w{who}", "metric": "harm", "score": said})
            judgments.append({"item_id": name, "judge": "model/good", "metric": "harm", "score": truth if n else 1 - truth})
        for table, rows in (("items", items), ("labels", labels), ("judgments", judgments)):
            write_rows(tmp_path / "easy" / f"{table}.jsonl", rows)
        toml = 'id = "easy"\nannotators = "persistent"\n[metrics.harm]\nkind = "ordinal"\nclasses = [0, 1]\nbest = 0\n'
        (tmp_path / "easy" / "data.toml").write_text(toml, "utf-8")
        return tmp_path / "easy"

    return write


def test_copies_of_numbers_are_found(tmp_path: Path) -> None:
    """Hundreds of different numbers are one class; they are compared as numbers, also where repeats are averaged."""
    draw = np.random.default_rng(5)
    items, labels, judgments = [], [], []
    for n in range(60):
        items.append({"item_id": f"t{n}", "language": "cs", "task": "chat", "output": f"Text {n}."})
        given = {who: round(float(draw.uniform(0, 100)), 3) for who in ("a", "b")}
        labels += [{"item_id": f"t{n}", "annotator_id": who, "metric": "da", "score": score} for who, score in given.items()]
        for judge, score in (("model/copy", given["b"]), ("model/other", given["b"] + 0.001)):
            judgments += [{"item_id": f"t{n}", "judge": judge, "metric": "da", "score": score, "repeat": k} for k in range(3)]
    for table, rows in (("items", items), ("labels", labels), ("judgments", judgments)):
        write_rows(tmp_path / f"{table}.jsonl", rows)
    toml = 'id = "numbers"\nannotators = "persistent"\n[metrics.da]\nkind = "interval"\nmin = 0\nmax = 101\nbest = 101\n'
    (tmp_path / "data.toml").write_text(toml, "utf-8")
    found = {verdict["judge"]: verdict.copied for verdict in harness.compare(tmp_path).verdicts}
    assert (
        found["model/other"] is None
        and found["model/copy"] is not None
        and (found["model/copy"].annotator, found["model/copy"].texts) == ("b", 60)
    )


def test_constructed_labels_are_nobodys(copied: Callable[..., Path]) -> None:
    folder = copied(lambda row: row["annotator_id"] == "p1")
    toml = (folder / "data.toml").read_text("utf-8")
    (folder / "data.toml").write_text(toml.replace('source = "native"', 'source = "constructed"'), "utf-8")
    assert copies(folder) == {"tone": None, "errors": None}


def test_two_judges_with_the_same_scores_are_said(labelled: tuple[Path, list[Row]], tmp_path: Path) -> None:
    folder, _ = labelled
    rows = [json.loads(line) for line in (folder / "judgments.jsonl").read_text("utf-8").splitlines()]
    for path in folder.iterdir():
        (tmp_path / path.name).write_bytes(path.read_bytes())
    twins = [row | {"judge": judge} for row in rows for judge in ("model/one", "model/two")]
    write_rows(tmp_path / "judgments.jsonl", twins)
    told = "model/one and model/two give the same score to all 480 questions: one may be a copy of the other."
    assert told in harness.compare(tmp_path).notes
    twins[1] = twins[1] | {"score": 1 - twins[1]["score"] if twins[1]["score"] in (0, 1) else 0}
    write_rows(tmp_path / "judgments.jsonl", twins)
    assert told not in harness.compare(tmp_path).notes
    assert not any("a copy of the other" in note for note in harness.compare(folder).notes)


@pytest.mark.parametrize(
    ("scale", "aggregate", "words"),
    [
        ('kind = "interval"\nmin = 0\nmax = 100\nbest = 100', statistics.fmean, "people's mean"),
        ('kind = "interval"\nmin = 0\nmax = 100\nbest = 100', statistics.median, "people's"),
        ('kind = "ordinal"\nclasses = [0, 1, 2, 3, 4]\nbest = 4', lambda scores: round(statistics.fmean(scores)), "people's mean"),
        ('kind = "ordinal"\nclasses = [0, 1, 2, 3, 4]\nbest = 4', lambda scores: round(statistics.median(scores)), "people's median"),
    ],
)
def test_a_copy_of_the_mean_or_the_median_is_found(
    tmp_path: Path, cli: Callable[..., Any], scale: str, aggregate: Callable[[list[int]], float], words: str
) -> None:
    draw = random.Random(3)
    most = 100 if "interval" in scale else 4
    scores = [[draw.randint(0, most) for _ in range(4)] for _ in range(200)]
    write_rows(tmp_path / "items.jsonl", [{"item_id": f"i{n}", "language": "cs", "task": "t", "output": f"Text {n}."} for n in range(200)])
    labels = [
        {"item_id": f"i{n}", "annotator_id": f"p{who}", "metric": "m", "score": score}
        for n, four in enumerate(scores)
        for who, score in enumerate(four)
    ]
    write_rows(tmp_path / "labels.jsonl", labels)
    judgments = [{"item_id": f"i{n}", "judge": "x/y", "metric": "m", "score": aggregate(four)} for n, four in enumerate(scores)]
    write_rows(tmp_path / "judgments.jsonl", judgments)
    (tmp_path / "data.toml").write_text(f'id = "d"\nannotators = "persistent"\n[metrics.m]\n{scale}\n', "utf-8")
    shown = cli("compare", tmp_path).out
    assert "a copy of the labels?" in shown and words in shown, shown
    judgments[0]["score"] = 0 if judgments[0]["score"] > 2 else most
    write_rows(tmp_path / "judgments.jsonl", judgments)
    assert "a copy of the labels?" not in cli("compare", tmp_path).out
