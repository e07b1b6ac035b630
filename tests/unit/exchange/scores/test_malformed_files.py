"""Files of other programs with something wrong in them: every reader refuses them in a sentence that names the file, or reads the rest."""

from __future__ import annotations

import copy
import json
import math
import random
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from harness.content import Library
from harness.errors import HarnessError
from harness.exchange.scores.external_scores import ReadOptions
from harness.exchange.scores.score_import import import_scores, read_scores
from harness.exchange.scores.score_options import ScoreImportOptions
from harness.row_files import open_archive

FILES = Path(__file__).parents[1] / "files"
MUTATIONS = 25  # of each file
LIBRARY = Library()
WRONG: tuple[Any, ...] = (
    None,
    [],
    {},
    "",
    "x",
    0,
    -1,
    10**400,
    1e999,
    math.nan,
    True,
    [[]],
    [None],
    [1],
    {"a": None},
    {"value": []},
    "1e999",
)
BATCH = [
    {"custom_id": "a:fluency", "method": "POST", "url": "/v1", "body": {"model": "gpt-4o", "messages": []}},
    {
        "id": "1",
        "custom_id": "a:fluency",
        "response": {
            "status_code": 200,
            "body": {"model": "gpt-4o-2024-08-06", "choices": [{"message": {"content": '{"score": 2}'}, "finish_reason": "stop"}]},
        },
        "error": None,
    },
]
ANTHROPIC = [
    {
        "custom_id": "a:fluency",
        "result": {"type": "succeeded", "message": {"model": "m", "content": [{"type": "text", "text": "2"}], "stop_reason": "end_turn"}},
    }
]


def inspect_log() -> Any:
    with open_archive(FILES / "graded.eval", 1 << 24, "log") as log:
        names = [name for name in log.names if name.startswith("samples/")]
        return json.loads(log.read("header.json")) | {"samples": [json.loads(log.read(name)) for name in names[:2]]}


def lines(name: str) -> Any:
    return [json.loads(line) for line in (FILES / name).read_text("utf-8").splitlines()][:3]


def whole(name: str) -> Any:
    return json.loads((FILES / name).read_text("utf-8"))


SOURCES: dict[str, tuple[str, Callable[[], Any]]] = {
    "inspect": ("log.json", inspect_log),
    "every scorer of inspect": ("log.json", lambda: whole("inspect-scorers.json")),
    "langfuse": ("trace.json", lambda: whole("langfuse-trace.json")),
    "our own scores in inspect": ("log.json", lambda: whole("ours-inspect.json")),
    "promptfoo": ("results.json", lambda: whole("results-with-human-rating.json")),
    "promptfoo lines": ("results.jsonl", lambda: lines("ours-promptfoo.jsonl")),
    "lm-eval": ("samples.jsonl", lambda: lines("lm-eval-samples.jsonl")),
    "mlflow": ("traces.json", lambda: whole("mlflow-traces.json")),
    "deepeval": ("run.json", lambda: whole("deepeval-test-run.json")),
    "label studio": ("snapshot.json", lambda: whole("snapshot-with-predictions.json")),
    "argilla": ("records.json", lambda: whole("records.json")),
    "openai batch": ("batch.jsonl", lambda: BATCH),
    "anthropic batch": ("batch.jsonl", lambda: ANTHROPIC),
}


def places(node: Any, trail: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """The way to every value."""
    yield trail
    for key, below in node.items() if isinstance(node, dict) else enumerate(node) if isinstance(node, list) else ():
        yield from places(below, (*trail, key))


def changed(content: Any, trail: tuple[Any, ...], value: Any) -> Any:
    if not trail:
        return value
    made = copy.deepcopy(content)
    node = made
    for key in trail[:-1]:
        node = node[key]
    node[trail[-1]] = value
    return made


def written(path: Path, content: Any) -> Path:
    rows = content if path.suffix == ".jsonl" and isinstance(content, list) else [content]
    path.write_text("\n".join(json.dumps(row) for row in rows), "utf-8")
    return path


def metrics_of(path: Path) -> tuple[str, ...]:
    return tuple(sorted({score.metric or "fluency" for score in read_scores([path], None, ReadOptions()).scores}))


def imported(path: Path, to: Path, metrics: tuple[str, ...] = ("calibrated_judge", "fluency", "politeness", "model_graded_qa")) -> None:
    options = ScoreImportOptions(
        scale=tuple(f"{metric}=0,1,2:best=2" for metric in metrics),
        map=("C=1,I=0",),
        language="en",
        judge="openai/m",
        metric="fluency",
        keep_annotators=True,
    )
    import_scores([path], to, options, LIBRARY)


@pytest.mark.parametrize("source", SOURCES)
def test_a_wrong_value_anywhere_ends_in_a_sentence(source: str, tmp_path: Path) -> None:
    name, content = SOURCES[source][0], SOURCES[source][1]()
    metrics = metrics_of(written(tmp_path / name, content))
    imported(tmp_path / name, tmp_path / "unchanged", metrics)
    draw = random.Random(source)
    trails = list(places(content))
    for number in range(MUTATIONS):
        trail, value = draw.choice(trails), draw.choice(WRONG)
        path = written(tmp_path / name, changed(content, trail, value))
        try:
            imported(path, tmp_path / f"to{number}", metrics)
        except HarnessError as err:
            assert str(err).strip()
        except Exception as err:  # pragma: no cover
            pytest.fail(f"{trail} = {value!r}: {type(err).__name__}: {err}")


@pytest.mark.parametrize("epoch", [1e999, 10**400, -1, 0, 1.5, "two", 10**9, math.nan, True, None, []], ids=repr)
def test_an_absurd_epoch_is_refused_with_its_sample(epoch: Any, tmp_path: Path) -> None:
    path = written(tmp_path / "log.json", changed(inspect_log(), ("samples", 1, "epoch"), epoch))
    with pytest.raises(HarnessError) as caught:
        imported(path, tmp_path / "to")
    assert caught.value.exit_code == 3 and str(caught.value).startswith(f"{path}:sample 2: epoch ")


@pytest.mark.parametrize("header", [[], None, 1, {"eval": []}, {"eval": None}, {}], ids=repr)
def test_a_header_of_another_form_is_refused(header: Any, tmp_path: Path) -> None:
    with zipfile.ZipFile(tmp_path / "log.eval", "w") as log:
        log.writestr("header.json", json.dumps(header))
    with pytest.raises(HarnessError) as caught:
        imported(tmp_path / "log.eval", tmp_path / "to")
    assert caught.value.exit_code == 3 and "log.eval:header.json: the header of a log has an object 'eval'" in str(caught.value)
