"""Values that no rating has are refused with their place, before anything is computed from them: halves of characters, sizes, repeats."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import harness
from harness.errors import ContentError, UsageError
from harness.model import MOST_CLASSES
from tests.conftest import write_rows

HALF = "a\ud800"
Cli = Callable[..., Any]


def folder(
    path: Path, *, scale: str = "classes = [0, 1, 2]\nbest = 2", kind: str = "ordinal", score: Any = None, repeat: int = 0, count: int = 40
) -> Path:
    """A data folder with three people and a judge, who all say `score` where there is one."""
    ids = [f"i{number}" for number in range(count)]
    write_rows(path / "items.jsonl", [{"item_id": i, "language": "cs", "task": "summarize", "passage": "x", "output": "y"} for i in ids])
    (path / "data.toml").write_text(f'id = "t"\nannotators = "persistent"\n[metrics.q]\nkind = "{kind}"\n{scale}\n')
    scores = [number % 3 if score is None or number % 3 else score for number in range(count)]
    people = [
        {"item_id": i, "annotator_id": f"a{a}", "metric": "q", "score": said} for i, said in zip(ids, scores, strict=True) for a in range(3)
    ]
    judged = [{"item_id": i, "judge": "j", "metric": "q", "score": said, "repeat": repeat} for i, said in zip(ids, scores, strict=True)]
    write_rows(path / "labels.jsonl", people)
    write_rows(path / "judgments.jsonl", judged)
    return path


@pytest.mark.parametrize("repeat", [2**80, 2**62, 10**6 + 1, -1])
def test_a_repeat_that_no_run_has_is_refused_with_its_line(tmp_path: Path, cli: Cli, repeat: int) -> None:
    done = cli("compare", folder(tmp_path / "set", repeat=repeat))
    assert done.code == 3 and "judgments.jsonl:1: not a judgment" in done.err and "at `$.repeat`" in done.err


@pytest.mark.parametrize(
    ("kind", "scale", "words"),
    [
        ("interval", "min = -1e308\nmax = 1e308\nbest = 1e308", "data.toml:3: [metrics.q]: -1e+308 is too large for a score"),
        ("interval", "min = 0\nmax = 1e13\nbest = 1e13", "data.toml:3: [metrics.q]: 1e+13 is too large for a score"),
        ("ordinal", f"classes = [0, 1, {10**15}]\nbest = 1", "1e+15 is too large for a score"),
        ("ordinal", f"classes = {[*range(1000)]}\nbest = 999", f"1,000 classes; at most {MOST_CLASSES} can be compared"),
        ("nominal", f"classes = {[*range(MOST_CLASSES + 1)]}", f"{MOST_CLASSES + 1} classes; at most {MOST_CLASSES}"),
    ],
)
def test_a_scale_without_bounds_is_refused(tmp_path: Path, cli: Cli, kind: str, scale: str, words: str) -> None:
    done = cli("compare", folder(tmp_path / "set", kind=kind, scale=scale))
    assert done.code == 3 and words in done.err, done.err


@pytest.mark.parametrize(("kind", "scale"), [("ordinal", "classes = [0, 1, 2]\nbest = 2"), ("interval", "min = 0\nmax = 2\nbest = 2")])
def test_minus_zero_is_zero(tmp_path: Path, cli: Cli, kind: str, scale: str) -> None:
    found = []
    for zero in (-0.0, 0.0):
        place = folder(tmp_path / str(zero) / "set", kind=kind, scale=scale, score=zero)
        assert '"score": -0.0' in (place / "labels.jsonl").read_text() or str(zero) == "0.0"
        answers = [json.loads(cli(*command, place, "--json").out) for command in (("compare",), ("labels", "check"))]
        for answer in answers:
            del answer["signature"]
        found.append(answers)
    assert found[0] == found[1] and '"-0"' not in json.dumps(found)


@pytest.mark.parametrize("who", ["labels", "judgments", "both"])
def test_one_constant_answer_is_an_answer_without_a_warning(tmp_path: Path, cli: Cli, who: str) -> None:
    place = folder(tmp_path / "set")
    for table in ("labels", "judgments") if who == "both" else (who,):
        rows = [json.loads(line) | {"score": 1} for line in (place / f"{table}.jsonl").read_text().splitlines()]
        write_rows(place / f"{table}.jsonl", rows)
    for command in (("compare",), ("labels", "check")):
        done = cli(*command, place)
        assert done.code == 0 and "Warning" not in done.err and "nan" not in done.out.lower().split(), (command, done)


def frames(**changed: dict[str, Any]) -> dict[str, Any]:
    import pandas as pd

    rows: dict[str, dict[str, Any]] = {
        "items": {"item_id": "i", "language": "cs", "task": "summarize", "passage": "x", "output": "y"},
        "labels": {"item_id": "i", "annotator_id": "a", "metric": "q", "score": 1},
        "judgments": {"item_id": "i", "judge": "j", "metric": "q", "score": 1},
    }
    return {name: pd.DataFrame([row | changed.get(name, {})], dtype=object) for name, row in rows.items()}


@pytest.mark.parametrize(
    ("table", "column"),
    [
        ("items", "output"),
        ("items", "group"),
        ("labels", "annotator_id"),
        ("labels", "score"),
        ("judgments", "judge"),
        ("judgments", "variant"),
    ],
)
def test_half_a_character_in_a_frame_is_refused_with_its_row(table: str, column: str) -> None:
    scales = {"q": {"kind": "ordinal", "classes": [0, 1], "best": 1}}
    with pytest.raises(ContentError, match=rf"^{table}:1: U\+D800 is half of a character"):
        harness.from_frames(**frames(**{table: {column: HALF}}), scales=scales)


def test_half_a_character_in_a_name_or_a_scale_is_refused() -> None:
    with pytest.raises(ContentError, match=r"^name: U\+D800"):
        harness.from_frames(**frames(), name=HALF)
    with pytest.raises(ContentError, match=r"^scales: U\+D800"):
        harness.from_frames(**frames(), scales={"q": {"kind": "nominal", "classes": ["b", HALF]}})
    with pytest.raises(UsageError, match="1,000 classes"):
        harness.from_frames(**frames(), scales={"q": {"kind": "ordinal", "classes": [*range(1000)], "best": 1}})


@pytest.mark.parametrize(
    "words", [("compare", HALF), ("labels", "check", HALF), ("start", f"{HALF}.csv"), ("run", "--out", HALF, "--langs", "cs")]
)
def test_half_a_character_on_the_command_line_is_a_sentence(cli: Cli, words: tuple[str, ...]) -> None:
    done = cli(*words)
    assert done.code in (2, 5) and done.err.startswith("harness") and "Traceback" not in done.err
