"""A judge that is one function: what it is called with, what it may return, and what happens when it fails."""

from __future__ import annotations

import asyncio
import hashlib
import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from harness.errors import FatalReply, JudgeError, UsageError
from harness.judges import JudgeOptions, NoReply, open_judge
from harness.model import Call, Condition, Item, Message, Prompt, Query, Variant


@pytest.fixture
def judge_of(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[str], Any]:
    """Opens `score` of a module with this code, in the working directory."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", list(sys.path))

    def open_code(code: str, name: str = "score") -> Any:
        module = f"judge_{hashlib.sha256(code.encode()).hexdigest()[:8]}"
        (tmp_path / f"{module}.py").write_text(code, "utf-8")
        return open_judge(f"python:{module}:{name}", JudgeOptions())

    return open_code


def call(*metrics: str) -> Call:
    item = Item("a", "cs", "chat", fields={"output": "Ahoj"})
    query = Query(item, metrics or ("tone",), Condition(Variant(call="joint" if len(metrics) > 1 else "single")), 1)
    return Call("c", Prompt("p", (Message("system", "s"), Message("user", "u")), {"type": "object"}, 10), query, 8)


def answer(judge: Any, *metrics: str) -> str:
    return str(asyncio.run(judge.answer(call(*metrics))).text)


@pytest.mark.parametrize(
    ("code", "metrics", "text"),
    [
        ("def score(messages): return messages[-1]['content'] + messages[0]['role']", (), "usystem"),
        ("async def score(item): return {'tone': len(item['output'])}", (), '{"score": 4}'),
        ("def score(item, metric, seed, repeat, schema, temperature): return f'{metric} {seed} {repeat}'", (), "tone 8 1"),
        ("def score(item, other=3): return 2", (), '{"score": 2}'),
        ("def score(metrics): return {m: 1 for m in metrics}", ("a", "b"), '{"a": {"score": 1}, "b": {"score": 1}}'),
        ("def score(): return None", (), ""),
        ("class Judge:\n    def __call__(self, item): return item['language']\nscore = Judge()", (), "cs"),
    ],
)
def test_a_function_gets_what_it_names_and_returns_a_text_or_a_score(
    judge_of: Callable[[str], Any], code: str, metrics: tuple[str, ...], text: str
) -> None:
    assert answer(judge_of(code), *metrics) == text


def test_its_identity_is_the_file_or_the_version_that_it_states(judge_of: Callable[[str], Any]) -> None:
    code = "def score(item): return 1"
    judge = judge_of(code)
    assert judge.identity.settings == {"sha256": hashlib.sha256(code.encode()).hexdigest()}
    assert judge.identity.name.startswith("python/judge_") and open_judge(judge.identity.name, JudgeOptions()).identity == judge.identity
    assert judge_of(f"version = 3\n{code}").identity.settings == {"version": "3"}


def test_failures_of_the_function_are_sentences(judge_of: Callable[[str], Any]) -> None:
    with pytest.raises(FatalReply, match=r"raised ZeroDivisionError: division by zero \(judge_\w+.py:2\); mend the function"):
        answer(judge_of("def score(item):\n    return 1 / 0"))
    with pytest.raises(NoReply, match="could not reach its model"):
        answer(judge_of("def score(item): raise ConnectionError('gone')"))
    with pytest.raises(FatalReply, match="returned list; it should return a text, a score"):
        answer(judge_of("def score(item): return [1]"))
    with pytest.raises(FatalReply, match="a dict with a score for each of a, b"):
        answer(judge_of("def score(item): return 1"), "a", "b")
    with pytest.raises(UsageError, match="has the parameter 'text'; a function may ask for messages, item"):
        judge_of("def score(text): return 1")
    with pytest.raises(UsageError, match="has no function 'score'; its functions: scores"):
        judge_of("def scores(item): return 1")
    with pytest.raises(JudgeError, match=r"cannot be imported: SyntaxError"):
        judge_of("def score(")
    with pytest.raises(JudgeError, match="it needs the module 'no_such_module'"):
        judge_of("import no_such_module")
    for name, message in (
        ("python:nowhere_at_all:f", "there is no module 'nowhere_at_all'"),
        ("python:x", "should be python:<module>:<function>"),
    ):
        with pytest.raises(UsageError, match=message):
            open_judge(name, JudgeOptions())


def test_a_run_asks_it_like_any_judge(judge_of: Callable[[str], Any], cli: Callable[..., Any], tmp_path: Path) -> None:
    (tmp_path / "five_lines.py").write_text(EXAMPLE, "utf-8")
    arguments = ("--langs", "cs", "--limit", "4", "--metrics", "task_quality", "--judge", "python:five_lines:score", "--json")
    done = cli("run", *arguments, "--out", tmp_path / "results")
    assert done.code == 0, done.err
    report = json.loads(done.out)
    assert {cell["judge"] for cell in report["cells"]} == {"python/five_lines:score"}
    assert sum(cell["n"] for cell in report["cells"]) == sum(cell["n_ref"] for cell in report["cells"]) > 0


EXAMPLE = (Path(__file__).parents[3] / "docs" / "own" / "five_lines.py").read_text("utf-8")
