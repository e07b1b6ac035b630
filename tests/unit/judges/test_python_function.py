"""A judge that is one function: what it is called with, what it may return, and what happens when it fails."""

from __future__ import annotations

import asyncio
import hashlib
import json
import re
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from harness.errors import FatalReply, JudgeError, UsageError
from harness.judges import JudgeOptions, NoReply, open_judge
from harness.model import Call, Condition, Item, Message, Prompt, Query, Variant
from tests.conftest import HANG_SECONDS


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


_HOSTILE = [
    ("def score(item):\n    import sys; sys.exit(0)", r"called sys.exit\(0\) \(PLACE:2\); it should return a text, a score, None"),
    ("def score(item): raise SystemExit", r"called sys.exit\(\) \(PLACE:1\); it should return"),
    ("def score(item): raise SystemExit('enough')", r"called sys.exit\(enough\)"),
    ("def score(item): return next(iter(()))", r"raised StopIteration \(PLACE:1\); it should return a text"),
    ("def score(item): raise KeyboardInterrupt", r"raised KeyboardInterrupt \(PLACE:1\); it should return"),
    ("def score(item): raise GeneratorExit", r"raised GeneratorExit \(PLACE:1\); it should return"),
    ("from asyncio import CancelledError\ndef score(item): raise CancelledError", r"raised CancelledError \(PLACE:2\); it should return"),
    ("async def score(item): exit(0)", r"called sys.exit\(0\) \(PLACE:1\); it should return"),
    ("async def score(item): return next(iter(()))", r"raised StopIteration \(PLACE:1\); mend the function"),
    ("async def score(item): raise KeyboardInterrupt", r"raised KeyboardInterrupt \(PLACE:1\); it should return"),
    ("import asyncio\nasync def score(item): raise asyncio.CancelledError", r"raised CancelledError \(PLACE:2\); it should return"),
    ("async def inner(): return [1]\ndef score(item): return inner()", "returned list; it should return"),
    ("async def score(item): yield 1", "returned async_generator; it should return"),
    ("def score(item): return 'fine \\ud83d'", r"returned half of a character \(U\+D83D\), which no file can hold; it should return"),
    ("def score(item): return {'task_quality': '\\udc00'}", r"returned half of a character \(U\+DC00\)"),
    ("def score(item): return 10 ** 5000", "returned int, which cannot be written down"),
    ("def score(item): return {'task_quality': 10 ** 5000}", "returned dict, which cannot be written down"),
    (
        "class Odd:\n    def __str__(self): raise SystemError('no')\ndef score(item): return {'task_quality': Odd()}",
        r"returned dict, which cannot be written down \(SystemError: no\); it should return",
    ),
    (
        "class Odd(Exception):\n    def __str__(self): raise self\ndef score(item): raise Odd",
        r"raised Odd: a message that cannot be shown \(PLACE:3\); mend the function",
    ),
    ("def score(item): raise ValueError('half \\ud800')", r"raised ValueError: half \? \(PLACE:1\); mend the function"),
    ("def score(item): raise ValueError('x\\ny' * 999)", r"raised ValueError: x yx yx y.{280,300} \(PLACE:1\); mend"),
    ("def score(item): return score(item)", r"raised RecursionError: maximum recursion depth exceeded.* \(PLACE:1\); mend"),
    ("import json\ndef score(item): return json.loads('{')", r"raised JSONDecodeError: .* \(PLACE:2\); mend the function"),
]


@pytest.mark.parametrize(("code", "says"), _HOSTILE)
def test_a_run_ends_with_the_name_of_the_function_whatever_it_does(
    judge_of: Callable[[str], Any], cli: Callable[..., Any], tmp_path: Path, code: str, says: str
) -> None:
    name = judge_of(code).identity.model
    arguments = ("--langs", "cs", "--limit", "2", "--metrics", "task_quality", "--judge", f"python:{name}")
    done = cli("run", *arguments, "--out", tmp_path / "results")
    expected = rf"harness: python:{name} {says.replace('PLACE', name.split(':')[0] + '.py')}"
    assert done.code == 4 and "Traceback" not in done.err and re.search(expected, done.err), done.err


@pytest.mark.parametrize(
    ("code", "says"),
    [
        ("import sys; sys.exit(0)", r"its module called sys.exit\(0\) \(\w+.py:1\); it should only define functions"),
        ("raise StopIteration", r"its module raised StopIteration \(\w+.py:1\); it should only define functions"),
        ("raise KeyboardInterrupt", r"its module raised KeyboardInterrupt \(\w+.py:1\); it should only define functions"),
        ("class Odd(Exception):\n    def __str__(self): raise self\nraise Odd", r"Odd: a message that cannot be shown \(\w+.py:3\)"),
        ("def __getattr__(name): exit(3)", r"its module called sys.exit\(3\)"),
        ("x = '\\ud800'\nassert 0, x", r"AssertionError: \? \(\w+.py:2\)"),
    ],
)
def test_a_module_that_does_more_than_define_functions_is_named(judge_of: Callable[[str], Any], code: str, says: str) -> None:
    with pytest.raises(JudgeError, match=r"judge 'python:judge_\w+:score' cannot be imported: " + says):
        judge_of(code)


def test_ctrl_c_while_a_module_is_imported_is_no_fault_of_the_module(judge_of: Callable[[str], Any]) -> None:
    with pytest.raises(KeyboardInterrupt):
        judge_of("import os, signal, time\nos.kill(os.getpid(), signal.SIGINT)\ntime.sleep(60)")


def test_numbers_of_other_libraries_are_scores(judge_of: Callable[[str], Any]) -> None:
    assert answer(judge_of("import numpy\ndef score(item): return numpy.int64(2)")) == '{"score": "2"}'
    assert answer(judge_of("import numpy\ndef score(item): return numpy.str_('two')")) == "two"


def test_a_function_that_never_returns_is_given_up(judge_of: Callable[[str], Any]) -> None:
    for code in ("import time\ndef score(item): time.sleep(3)", "import asyncio\nasync def score(item): await asyncio.sleep(60)"):
        judge = judge_of(code)
        judge._timeout = 0.05
        with pytest.raises(NoReply, match=r"did not return within 0.05 s"):
            answer(judge)


def test_ctrl_c_ends_a_run_whose_function_never_returns(tmp_path: Path) -> None:
    (tmp_path / "endless.py").write_text("import time\ndef score(item):\n    open('begun', 'w').close()\n    time.sleep(600)")
    command = [sys.executable, "-m", "harness", "run", "--langs", "cs", "--limit", "1", "--judge", "python:endless:score", "--out", "out"]
    with subprocess.Popen(command, cwd=tmp_path, stdin=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True) as process:
        while not (tmp_path / "begun").exists():
            assert process.poll() is None
            time.sleep(0.02)
        process.send_signal(signal.SIGINT)
        said = process.communicate(timeout=HANG_SECONDS)[1]
    assert process.returncode == 130 and "Traceback" not in said, said


def test_a_judge_that_was_asked_is_asked_again_in_another_event_loop(judge_of: Callable[[str], Any]) -> None:
    judge = judge_of("import time\ndef score(item): time.sleep(0.01); return 1")

    async def asked() -> set[str]:
        await judge.start([])
        return {reply.text for reply in await asyncio.gather(*(judge.answer(call()) for _ in range(80)))}

    assert asyncio.run(asked()) == asyncio.run(asked()) == {'{"score": 1}'}


def test_a_run_asks_it_like_any_judge(judge_of: Callable[[str], Any], cli: Callable[..., Any], tmp_path: Path) -> None:
    (tmp_path / "five_lines.py").write_text(EXAMPLE, "utf-8")
    arguments = ("--langs", "cs", "--limit", "4", "--metrics", "task_quality", "--judge", "python:five_lines:score", "--json")
    done = cli("run", *arguments, "--out", tmp_path / "results")
    assert done.code == 0, done.err
    report = json.loads(done.out)
    assert {cell["judge"] for cell in report["cells"]} == {"python/five_lines:score"}
    assert sum(cell["n"] for cell in report["cells"]) == sum(cell["n_ref"] for cell in report["cells"]) > 0


EXAMPLE = (Path(__file__).parents[3] / "docs" / "own" / "five_lines.py").read_text("utf-8")
