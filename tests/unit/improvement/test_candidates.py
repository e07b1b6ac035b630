"""Calibrated scores as candidates: learnt on the half that chooses alone, and confirmed like any other candidate."""

from __future__ import annotations

import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
import pytest

import harness
from harness.data.columns import CodedColumn
from harness.improvement.candidates import CalibratedCandidates, is_calibrated
from harness.improvement.questions import halves, recorded_candidates
from harness.measure.compare import Recording
from harness.measure.options import MeasureOptions
from harness.render.improvement import CALIBRATED
from tests.conftest import write_rows

CARD = 'id = "one"\nannotators = "persistent"\n[metrics.tone]\nkind = "ordinal"\nclasses = [0, 1, 2, 3]\nbest = 3\n'
Judge = Callable[[int, random.Random], int | None]


def lenient(truth: int, draw: random.Random) -> int:
    """A class too high, but for one text in ten."""
    return min(3, truth + 1) if draw.random() < 0.9 else draw.randrange(4)


def blind(truth: int, draw: random.Random) -> int:
    return draw.randrange(4)


def reversed_scale(truth: int, draw: random.Random) -> int:
    return 3 - truth if draw.random() < 0.9 else draw.randrange(4)


def folder(path: Path, judge: Judge, seed: int = 3, texts: int = 150) -> Path:
    """Two languages, labels of two people who agree and give 0 most often, and one judge."""
    draw, items, labels, judgments = random.Random(seed), [], [], []
    for language in ("cs", "ja"):
        for n in range(texts):
            name, truth = f"{language}-{n}", draw.choice((0, 0, 0, 1, 2, 2))
            items.append({"item_id": name, "language": language, "task": "chat", "output": "…"})
            labels += [{"item_id": name, "annotator_id": who, "metric": "tone", "score": truth} for who in "ab"]
            judgments.append({"item_id": name, "judge": "one", "metric": "tone", "score": judge(truth, draw)})
    for table, rows in (("items", items), ("labels", labels), ("judgments", judgments)):
        write_rows(path / f"{table}.jsonl", rows)
    (path / "data.toml").write_text(CARD, encoding="utf-8")
    return path


def candidates(data: harness.Dataset) -> tuple[CalibratedCandidates, tuple]:  # type: ignore[type-arg]
    assert data.judgments is not None
    questions, recorded = recorded_candidates(Recording("one", data, data.judgments), MeasureOptions(), least=1)
    divided = halves(questions, 0.6, 0)
    return CalibratedCandidates(recorded, (0,), divided[0], MeasureOptions()), divided


def with_labels(data: harness.Dataset, of: set[str], score: int) -> harness.Dataset:
    """The data where everybody gave these items this score."""
    labels = data.labels.take(np.arange(len(data.labels)))
    values = [score if item in of else old for item, old in zip(labels.item, labels.score, strict=True)]
    labels.score = CodedColumn.from_values(values)
    return msgspec.structs.replace(data, labels=labels)


def calibrated_scores(answers: CalibratedCandidates, confirming: object) -> dict[str, object]:
    found = answers.recording((0, 1), confirming).judgments  # type: ignore[arg-type]
    rows = zip(found.item, found.variant, found.score, strict=True)
    return {item: score for item, variant, score in rows if variant.endswith("calibrated")}


@pytest.mark.slow
def test_a_lenient_judge_is_better_when_it_is_calibrated(tmp_path: Path) -> None:
    found = harness.improve(folder(tmp_path / "one", lenient))
    assert is_calibrated(found.chosen) and found.start == found.chosen._replace(variant="default")
    assert [each.shown for each in found.languages] == [True, True] and found.together.agreement_chosen > 0.8
    assert {verdict.key["variant"] for verdict in found.after} == {"default+calibrated"} and found.after
    assert [str(each).partition(":")[0] for each in found.calibration] == ["cs tone", "ja tone"]
    assert [new for _, new in found.calibration[0].steps] == [0, 1, 2]
    assert found.flags["chosen"] == found.flags["start"] == {"judge": ["one"]}
    assert found.halving.asked == 0, "calibrated scores ask for nothing"


def test_the_screen_and_the_file_say_what_becomes_of_scores(tmp_path: Path, cli: Callable[..., Any]) -> None:
    done = cli("improve", folder(tmp_path / "one", lenient), "--to", tmp_path / "best.toml")
    steps = [line.strip() for line in done.out.splitlines() if "→" in line and "tone:" in line]
    assert done.code == 0 and len(steps) == 2 and CALIBRATED in " ".join(done.out.split())
    assert all(f"# {step}" in (tmp_path / "best.toml").read_text("utf-8") for step in steps)


def test_where_no_gain_is_shown_every_language_keeps_the_start(tmp_path: Path, cli: Callable[..., Any]) -> None:
    done = cli("improve", folder(tmp_path / "one", blind), "--to", tmp_path / "best.toml")
    assert "Keep the start: no gain is shown." in done.out and "Use the choice" not in done.out and "→" not in done.out
    assert "→" not in (tmp_path / "best.toml").read_text("utf-8")


@pytest.mark.slow
def test_a_judge_that_knows_nothing_gains_nothing_that_counts(tmp_path: Path) -> None:
    shown = gained = 0
    for seed in range(12):
        found = harness.improve(folder(tmp_path / str(seed), blind, seed))
        shown += sum(each.shown for each in found.languages)
        gained += found.together.gain.low > 0
    assert gained >= 5, "where its map happens to rise, calibrated scores are the commonest label, which beats the scores themselves"
    assert shown == 0


def test_no_label_that_confirms_is_in_the_map(tmp_path: Path) -> None:
    data = harness.load(folder(tmp_path / "one", lenient))
    answers, (_, confirming) = candidates(data)
    scores = calibrated_scores(answers, confirming.texts)
    assert set(scores) == set(confirming.texts.items)
    other, _ = candidates(with_labels(data, set(scores), 3))
    assert calibrated_scores(other, confirming.texts) == scores


def test_a_map_of_the_choosing_half_has_not_seen_the_text_that_it_reads(tmp_path: Path) -> None:
    """One text with an answer that no other has: a map that saw its label would give it."""
    path = folder(tmp_path / "one", lambda truth, draw: min(truth, 1))
    data = harness.load(path)
    answers, (choosing, _) = candidates(data)
    before = answers.right((1,), choosing.texts)
    flipped = choosing.texts.questions[0].item_id
    relabelled, _ = candidates(with_labels(data, {flipped}, 3))
    assert relabelled.right((1,), choosing.texts)[0, 0] == 0.0 and before.mean() > 0.6


def test_where_a_map_falls_scores_stay_as_they_are(tmp_path: Path) -> None:
    answers, (choosing, confirming) = candidates(harness.load(folder(tmp_path / "one", reversed_scale)))
    for half in (choosing, confirming):
        raw, calibrated = answers.right((0, 1), half.texts).T
        np.testing.assert_array_equal(raw, calibrated)
    assert all(each.steps == () for each in answers.steps(1, confirming.texts))


def test_an_answer_that_cannot_be_read_is_wrong_here_too(tmp_path: Path) -> None:
    half_readable = folder(tmp_path / "one", lambda truth, draw: truth if draw.random() < 0.5 else None)
    answers, (_, confirming) = candidates(harness.load(half_readable))
    raw, calibrated = answers.right((0, 1), confirming.texts).T
    assert 0.3 < raw.mean() < 0.7 and not calibrated[raw == 0].any()


@pytest.mark.parametrize("seed", range(2))
def test_the_same_map_without_the_score_is_one_answer_a_language(tmp_path: Path, seed: int) -> None:
    answers, (_, confirming) = candidates(harness.load(folder(tmp_path / "one", lenient, seed)))
    constant = answers.constant(1, confirming.texts)
    assert constant is not None and answers.constant(0, confirming.texts) is None
    assert 0.4 < constant.mean() < 0.6, "half of the labels are 0"
