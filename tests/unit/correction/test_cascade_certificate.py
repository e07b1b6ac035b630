"""The certificate of a cascade says who answers new texts, and ends when anything that it rests on changes."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
import pytest

import harness
from harness import cascade_certificate
from harness.cli import main
from harness.correction.cascade_certificate import CascadeCertificate
from harness.errors import CertificateError, ContentError, StaleCertificate, UsageError
from harness.model import JudgeIdentity
from tests.cascade_folder import SKILL, cascade_folder

Cli = Callable[..., Any]
CHEAP, BETTER = SKILL
PLACE = {"language": "cs", "metric": "tone"}


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a cascade with its certificate, `chain.json`."""
    folder = cascade_folder(tmp_path_factory.mktemp("chain") / "d")
    names = ("--judge", CHEAP, "--judge", BETTER, "--price", f"{CHEAP}=1", "--price", f"{BETTER}=9")
    assert main(["accept", str(folder), "--cascade", *names, "--to", str(folder.parent / "chain.json"), "--json"]) == 0
    return folder


def _held(made: Path) -> CascadeCertificate:
    return cascade_certificate.load(made.parent / "chain.json")


def test_the_first_judge_that_is_sure_enough_answers(made: Path) -> None:
    held = _held(made)
    assert held.judges == (CHEAP, BETTER)
    first, second = (step.threshold or 2 for step in held.cells[0].chain.steps)
    scores = {CHEAP: [0, 1, 2, None], BETTER: [None, 2, 2, 1]}
    sure = {CHEAP: [first, first - 0.01, 0.1, 1.0], BETTER: [np.nan, second, second - 0.01, 0.99]}
    found = held.apply(scores, sure, **PLACE)
    assert found.by == (CHEAP, BETTER, None, BETTER) and found.scores == (0, 2, None, 1) and found.next is None
    assert found.upper is not None and found.upper <= 0.1 and "settings of the judges" in found.unchecked
    begun = held.apply({CHEAP: scores[CHEAP]}, {CHEAP: sure[CHEAP]}, **PLACE)
    assert begun.by == (CHEAP, None, None, None) and begun.next == BETTER


def test_it_gives_the_shares_that_it_certifies(made: Path) -> None:
    """Applied to the labelled texts themselves, the answers of the chain are wrong as seldom as promised."""
    held, rows = _held(made), [json.loads(line) for line in (made / "judgments.jsonl").read_text("utf-8").splitlines()]
    by_judge = {name: [row for row in rows if row["judge"] == name] for name in held.judges}
    scores = {name: [row["score"] for row in own] for name, own in by_judge.items()}
    sure = {name: [row["probs"][str(row["score"])] for row in own] for name, own in by_judge.items()}
    found = held.apply(scores, sure, **PLACE)
    said: dict[str, list[int]] = {}
    for line in (made / "labels.jsonl").read_text("utf-8").splitlines():
        label = json.loads(line)
        said.setdefault(label["item_id"], []).append(label["score"])
    names = [row["item_id"] for row in by_judge[CHEAP]]
    judged = [(score, said[name]) for score, name in zip(found.scores, names, strict=True) if score is not None]
    wrong = [score != labels[0] for score, labels in judged if len(set(labels)) == 1]
    assert len(wrong) > 300 and np.mean(wrong) < 0.1


@pytest.mark.parametrize(
    ("changed", "error", "words"),
    [
        ({"scores": {"openai/other": [1]}, "confidences": {"openai/other": [1.0]}}, StaleCertificate, "chain is openai/cheap then"),
        ({"scores": {BETTER: [1]}, "confidences": {BETTER: [1.0]}}, StaleCertificate, "its first judges, or of all"),
        ({"scores": {}, "confidences": {}}, StaleCertificate, "scores are of no judge"),
        ({"scores": {CHEAP: [7]}}, StaleCertificate, "score 7 is off the scale"),
        ({"scores": {CHEAP: [1, 2]}}, UsageError, "there are 2 scores"),
        ({"scores": {CHEAP: [[1]]}}, UsageError, "one dimension"),
        ({"confidences": {BETTER: [1.0]}}, UsageError, "confidences are of openai/better"),
        ({"confidences": {CHEAP: ["sure"]}}, UsageError, "are numbers"),
        ({"language": "de"}, StaleCertificate, "nothing on de/tone"),
        ({"judges": {CHEAP: JudgeIdentity("openai", "dear")}}, StaleCertificate, "openai/dear"),
    ],
)
def test_what_does_not_fit_is_refused(made: Path, changed: dict[str, Any], error: type[Exception], words: str) -> None:
    given: dict[str, Any] = {"scores": {CHEAP: [1]}, "confidences": {CHEAP: [1.0]}, **PLACE}
    with pytest.raises(error, match=words):
        _held(made).apply(**(given | changed))


def test_prompts_that_it_knows_have_to_be_given(made: Path) -> None:
    held = _held(made)
    steps = tuple(msgspec.structs.replace(step, prompt="abc") for step in held.steps)
    asked = msgspec.structs.replace(held, steps=steps)
    given = {CHEAP: [1]}, {CHEAP: [1.0]}
    with pytest.raises(CertificateError, match="pass prompts"):
        asked.apply(*given, **PLACE)
    with pytest.raises(StaleCertificate, match="the prompt of openai/cheap is abd"):
        asked.apply(*given, **PLACE, prompts={CHEAP: "abd"})
    assert asked.apply(*given, **PLACE, prompts={CHEAP: "abc"}).by == (CHEAP,)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda text: text[: len(text) // 2], "not a whole JSON file"),
        (
            lambda text: text.replace('"schema_version": 2', '"schema_version": 1'),
            "schema",
        ),
        (lambda text: text.replace('"cascade"', '"judge"', 1), "certificate of a cascade is needed"),
        (lambda text: json.dumps(_with(json.loads(text), threshold=1.5)), "not from 0 to 1"),
        (lambda text: json.dumps(_with(json.loads(text), upper=0.4)), "above the tolerated share"),
    ],
)
def test_maintenanced_files_are_refused(made: Path, tmp_path: Path, change: Callable[[str], str], words: str) -> None:
    path = tmp_path / "chain.json"
    path.write_text(change((made.parent / "chain.json").read_text("utf-8")), encoding="utf-8")
    with pytest.raises(ContentError, match=words):
        cascade_certificate.load(path)


def _with(held: dict[str, Any], threshold: float | None = None, upper: float | None = None) -> dict[str, Any]:
    chain = held["cells"][0]["chain"]
    if threshold is not None:
        chain["steps"][0]["threshold"] = threshold
    if upper is not None:
        chain["upper"] = upper
    return held


def test_it_is_made_again_and_stale_after_any_change(made: Path, tmp_path: Path, cli: Cli) -> None:
    held, path = made.parent / "chain.json", tmp_path / "lower.json"
    assert "holds" in cli("certify", "--check", held, made).out
    path.write_text(json.dumps(_with(json.loads(held.read_text("utf-8")), threshold=0.2)), encoding="utf-8")
    lowered = cli("certify", "--check", path, made)
    assert lowered.code == 1 and "differs when it is made again: steps.0.threshold 0.2" in lowered.out
    other = cascade_folder(tmp_path / "d", seed=4)
    changed = json.loads(cli("certify", "--check", held, other, "--json").out)
    assert changed["allowed"] == [] and any("scores have changed" in reason for reason in changed["stale"])
    assert cli("certify", "--check", held).code == 2


def test_the_certificate_of_one_judge_is_no_cascade(made: Path, tmp_path: Path, cli: Cli) -> None:
    one = tmp_path / "one.json"
    assert cli("certify", made, "--judge", BETTER, "--to", one).code in (0, 1)
    with pytest.raises(ContentError, match="the certificate of a judge, and the certificate of a cascade is needed"):
        cascade_certificate.load(one)
    with pytest.raises(ContentError, match="the certificate of a cascade, and the certificate of a judge is needed"):
        harness.certificate.load(made.parent / "chain.json")


@pytest.mark.parametrize("more", [(), ("--dry-run",)])
def test_recorded_judges_cannot_be_asked(made: Path, tmp_path: Path, cli: Cli, more: tuple[str, ...]) -> None:
    shown = cli("run", "--cascade", made.parent / "chain.json", "--data", made, "--out", tmp_path / "out", *more)
    assert shown.code == 2 and "were recorded elsewhere, so it does not know how to ask" in shown.err
