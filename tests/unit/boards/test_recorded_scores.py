"""Submissions of recorded scores: written from a data folder, read again, and never taken for more than they are."""

from __future__ import annotations

import gzip
import hashlib
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec
import pytest

from harness.api import run
from harness.asking_options import Settings
from harness.boards.board import open_board, whole_board
from harness.boards.card import Part, read_card, write_card
from harness.boards.checked_boards import check_boards
from harness.boards.recorded_scores import decode_score
from harness.boards.submission_files import SCORES
from harness.boards.submission_options import SubmitterStatement, VerifyOptions
from harness.boards.submit import record, submit
from harness.boards.verify import verify
from harness.content import Library
from harness.data import load_folder
from harness.errors import UsageError
from harness.notebook import Quiet
from harness.render.markdown import standings_markdown
from harness.runs import RunResult, RunSpec

BOARD = """id = "danish"
version = "1.0.0"
title = "Danish answers"
description = "Ten answers."
languages = ["da"]
variants = ["single"]
temperature = 0
repeats = {repeats}
majority = "drop"
annotators = ""
statistics = ["cohen_kappa"]
rank_by = "pa_failed_wrong"
[data]
card = "danish"
sha256 = "{sha256}"
[tasks]
open_prompt = "1.0.0"
[rubrics]
task_quality = "1.0.1"
"""
CARD = 'id = "danish"\nversion = "1.0.0"\ntitle = "Danish"\nlicence = "MIT"\ncitation = "nobody"\nget = "ask"\nsource = "native"\n'
ORIGIN = SubmitterStatement(origin="the authors' repository, MIT")
Rows = list[dict[str, Any]]


def write_rows(path: Path, rows: Rows) -> None:
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")


@pytest.fixture
def place(tmp_path: Path) -> Callable[..., tuple[Path, Path]]:
    """A data folder with two judges, one of them under two variants, and a content folder with a board on it."""

    def make(repeats: int = 1) -> tuple[Path, Path]:
        data, content = tmp_path / "danish", tmp_path / "content"
        data.mkdir()
        names = [f"i{n}" for n in range(10)]
        write_rows(
            data / "items.jsonl", [{"item_id": i, "language": "da", "task": "open_prompt", "prompt": "Hvad?", "output": i} for i in names]
        )
        write_rows(
            data / "labels.jsonl",
            [{"item_id": i, "annotator_id": "a", "metric": "task_quality", "score": n % 3} for n, i in enumerate(names)],
        )
        judged = [
            {"item_id": i, "judge": judge, "variant": variant, "metric": "task_quality", "score": (n + shift) % 3}
            for judge, variant, shift in (("m-1", "zero-shot", 0), ("m-1", "cot", 1), ("m-2", "zero-shot", 2))
            for n, i in enumerate(names)
            if (judge, i) != ("m-2", "i3")
        ]
        write_rows(data / "judgments.jsonl", judged)
        for name, text in (("catalog/danish/dataset.toml", CARD), ("leaderboards/danish/board.toml", BOARD)):
            (content / name).parent.mkdir(parents=True, exist_ok=True)
            sha256 = load_folder(data, Library(content)).sha256 if "board" in name else ""
            (content / name).write_text(text.replace("{sha256}", sha256).replace("{repeats}", str(repeats)), encoding="utf-8")
        return data, content

    return make


@pytest.fixture
def written(place: Callable[..., tuple[Path, Path]]) -> tuple[Path, Path, list[Path]]:
    data, content = place()
    about = SubmitterStatement(origin=ORIGIN.origin, into=content)
    return data, content, [one.folder for one in record("danish", about, data=data, content=[content])]


def problems(data: Path, content: Path) -> list[str]:
    return [problem.message for problem in check_boards(Library(content), ["danish"], content=[content], data=data).problems]


def rewrite(folder: Path, change: Callable[[Rows], Any]) -> None:
    """Change the rows of a submission, with the right hash in its card."""
    rows = [json.loads(line) for line in gzip.decompress((folder / SCORES).read_bytes()).splitlines()]
    change(rows)
    text = b"".join(json.dumps(row, separators=(",", ":")).encode() + b"\n" for row in rows)
    (folder / SCORES).write_bytes(gzip.compress(text))
    card = read_card(folder / "judge.toml")
    write_card(folder / "judge.toml", msgspec.structs.replace(card, scores_sha256=hashlib.sha256(text).hexdigest()))


def test_every_judge_and_variant_is_a_submission(written: tuple[Path, Path, list[Path]]) -> None:
    data, content, folders = written
    assert [folder.name for folder in folders] == ["recorded-m-1-cot", "recorded-m-1-zero-shot", "recorded-m-2"]
    cards = [read_card(folder / "judge.toml") for folder in folders]
    assert [(c.name, c.title, c.settings, c.status, c.origin) for c in cards] == [
        ("recorded/m-1", "m-1, cot", {"variant": "cot"}, "recorded", ORIGIN.origin),
        ("recorded/m-1", "m-1, zero-shot", {"variant": "zero-shot"}, "recorded", ORIGIN.origin),
        ("recorded/m-2", "", {"variant": "zero-shot"}, "recorded", ORIGIN.origin),
    ]
    assert problems(data, content) == []
    rows = [json.loads(line) for line in gzip.decompress((folders[2] / SCORES).read_bytes()).splitlines()]
    assert rows[3] == {"item_id": "i3", "metric": "task_quality", "failure": "missing"}


def test_they_stand_in_the_table_as_recorded(written: tuple[Path, Path, list[Path]]) -> None:
    data, content, _ = written
    opened = open_board(Library(content), "danish", [content], data=data)
    [table] = [one for one in opened.standings.tables if one.metric == "task_quality"]
    assert {opened.standings.judge(row.judge).display_name: row.value for row in table.rows} == {
        "m-1, zero-shot": 1.0,
        "m-1, cot": 0.0,
        "m-2": 0.0,
    }
    assert [finding.probe for finding in opened.findings] == ["baselines"] * 3, "there are no replies to look at"
    text = standings_markdown(opened.standings)
    assert "| recorded |" in text and "no replies that could be read again" in text


WRONG: list[tuple[Callable[[Rows], Any], str]] = [
    (lambda rows: rows[4].update(score=2.0), "1 scores are not those of the data folder, the first one 'task_quality' of item 'i4'"),
    (lambda rows: rows[4].update(score=7.0), "score 7 is outside the scale of the labels"),
    (lambda rows: rows.pop(), "1 of 10 questions are missing"),
    (lambda rows: rows.append(rows[-1]), "has a row already"),
    (lambda rows: rows.reverse(), "rows should be in the order of item and metric"),
    (lambda rows: rows[0].update(failure="missing"), "a score or a failure, and not both"),
    (lambda rows: rows[0].update(note="x"), "not a row of recorded scores"),
    (lambda rows: rows[0].update(item_id="<b>"), "is no question of this board"),
]


def test_wrong_scores_are_found(written: tuple[Path, Path, list[Path]]) -> None:
    data, content, folders = written
    scores, card = ((folders[1] / name).read_bytes() for name in (SCORES, "judge.toml"))
    for change, message in WRONG:
        rewrite(folders[1], change)
        assert any(message in found for found in problems(data, content)), message
        (folders[1] / SCORES).write_bytes(scores)
        (folders[1] / "judge.toml").write_bytes(card)
    assert problems(data, content) == []


def test_a_hash_a_status_and_an_origin_belong_to_the_scores(written: tuple[Path, Path, list[Path]]) -> None:
    data, content, folders = written
    path = folders[0] / "judge.toml"
    text = path.read_text("utf-8")
    for old, new, message in (
        ('status = "recorded"', 'status = "submitted"', "status should be 'recorded' exactly if"),
        ("scores_sha256", "replies_sha256", "this card is of a submission with replies.jsonl.gz, and the folder has scores.jsonl.gz"),
        (f'origin = "{ORIGIN.origin}"', 'origin = ""', "recorded scores need an origin"),
        ('scores_sha256 = "', f'scores_sha256 = "{"0" * 64}"\ncontact = "', "not scores_sha256 of judge.toml"),
    ):
        changed = text.replace('contact = ""\n', "") if "contact" in new else text
        path.write_text(changed.replace(old, new), encoding="utf-8")
        assert any(message in found for found in problems(data, content)), message
    path.write_text(text, encoding="utf-8")
    assert problems(data, content) == []


def test_recorded_scores_are_never_verified(written: tuple[Path, Path, list[Path]]) -> None:
    data, content, _ = written
    with pytest.raises(UsageError, match="without raw replies; nothing can be verified"):
        verify("danish", "recorded-m-2", Quiet(), Settings(), VerifyOptions(content=(content,), data=data))


def test_what_cannot_be_recorded_is_said(place: Callable[..., tuple[Path, Path]]) -> None:
    data, content = place(repeats=2)
    about = SubmitterStatement(origin="o", into=content)
    with pytest.raises(UsageError, match="asks every question 2 times"):
        record("danish", about, data=data, content=[content])
    board = content / "leaderboards" / "danish" / "board.toml"
    board.write_text(board.read_text("utf-8").replace("repeats = 2", "repeats = 1"), encoding="utf-8")
    with pytest.raises(UsageError, match="no judgments of 'm-3'"):
        record("danish", about, ["m-3"], data=data, content=[content])
    with pytest.raises(UsageError, match="origin: recorded scores need an origin"):
        record("danish", SubmitterStatement(into=content), data=data, content=[content])
    (data / "judgments.jsonl").unlink()
    with pytest.raises(UsageError, match="hold no judgments"):
        record("danish", about, data=data, content=[content])
    assert not (content / "leaderboards" / "danish" / "submissions").exists()
    assert whole_board("danish", [content], data).protocol.questions.metrics == ("task_quality",)


def offensive_run(place: Callable[..., tuple[Path, Path]], out: Path, limit: int | None = None) -> RunResult:
    """A run of the board whose texts are extremely offensive, which therefore publishes no replies in words."""
    data, content = place()
    card = content / "catalog" / "danish" / "dataset.toml"
    card.write_text(f"{card.read_text('utf-8')}offensive = true\n", "utf-8")
    return run(RunSpec(board="danish", data=data, content=(content,), judges=("baseline/random",), limit=limit), out)


def test_scores_of_offensive_texts_stand_without_their_replies(place: Callable[..., tuple[Path, Path]], tmp_path: Path) -> None:
    result = offensive_run(place, tmp_path / "out", limit=4)
    content, data = tmp_path / "content", tmp_path / "danish"
    with pytest.raises(UsageError, match=r"raw replies may quote them; nothing was written\. --scores-alone"):
        submit(result, tmp_path / "out", "danish", SubmitterStatement(into=content, part=True))
    [one] = submit(result, tmp_path / "out", "danish", SubmitterStatement(into=content, part=True, scores_alone=True))
    assert sorted(path.name for path in one.folder.iterdir()) == ["judge.toml", SCORES]
    assert (one.card.name, one.card.status, one.card.part, one.calls) == ("baseline/random", "recorded", Part((), 4), 4)
    rows = [json.loads(line) for line in gzip.decompress((one.folder / SCORES).read_bytes()).splitlines()]
    assert [(row["item_id"], row["score"]) for row in rows] == sorted(zip(result.judgments.item, result.judgments.score, strict=True))
    assert problems(data, content) == []
    opened = open_board(Library(content), "danish", [content], data=data)
    text = standings_markdown(opened.standings)
    assert "Only the scores of baseline/random (a part: first 4 texts" in text and "asked elsewhere" not in text


def test_replies_that_can_be_published_are_submitted_whole(place: Callable[..., tuple[Path, Path]], tmp_path: Path) -> None:
    data, content = place()
    result = run(RunSpec(board="danish", data=data, content=(content,), judges=("baseline/random",)), tmp_path / "out")
    with pytest.raises(UsageError, match="submit them without --scores-alone"):
        submit(result, tmp_path / "out", "danish", SubmitterStatement(into=content, scores_alone=True))


def test_a_score_may_be_the_name_of_a_class() -> None:
    assert decode_score(b'{"item_id": "i", "metric": "m", "score": "no"}').score == "no"
