"""`harness run --cascade`: the second judge is asked only where the first is not sure, and a repeated command asks nothing."""

from __future__ import annotations

import json
import re
import threading
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec
import pytest

from harness.correction import cascade_certificate
from harness.row_files import to_json
from tests.conftest import write_rows
from tests.e2e.conftest import Answer, Endpoint, Request

pytestmark = pytest.mark.slow

Cli = Callable[..., Any]
METRIC = "linguistic_acceptability"
CHEAP, BETTER = "openai/cheap-1", "openai/better-1"
PRICES = "".join(f'["{name}"]\ninput = {n}\noutput = {n}\nas_of = "2026-01"\n' for n, name in ((1, CHEAP), (30, BETTER)))


def _folder(path: Path, texts: int, labelled: bool, start: int = 0) -> Path:
    """Every third text is a hard one, on which the cheap judge does not agree with itself."""
    names = [f"t{number}" for number in range(start, start + texts)]
    items = [
        {"item_id": name, "language": "cs", "task": "open_prompt", "prompt": "Napište větu.", "output": f"Číslo {name[1:]}."}
        for name in names
    ]
    write_rows(path / "items.jsonl", items)
    if labelled:
        rows = [{"item_id": n, "annotator_id": who, "metric": METRIC, "score": _truth(int(n[1:]))} for n in names for who in "ab"]
        write_rows(path / "labels.jsonl", rows)
    scale = f'[metrics.{METRIC}]\nkind = "ordinal"\nclasses = [0, 1, 2]\nbest = 2\n'
    card = f'id = "cascaded"\nannotators = "persistent"\nsampling = "random"\n{scale}'
    (path / "data.toml").write_text(card, encoding="utf-8")
    return path


def _truth(number: int) -> int:
    return number * 7 % 3


def _script(endpoint: Endpoint) -> Callable[[Request], Answer]:
    """The cheap judge gives every score once to a hard text that it is asked about three times."""
    times: Counter[int] = Counter()
    lock = threading.Lock()

    def script(request: Request) -> Answer:
        number = int(re.findall(r"Číslo (\d+)\.", json.dumps(request.body["messages"], ensure_ascii=False))[-1])
        score = _truth(number)
        if request.body["model"] == "cheap-1" and number % 3 == 0:
            with lock:
                times[number] += 1
                score = times[number] % 3
        return endpoint.saying({"justification": "Proto.", "score": score}, model=request.body["model"])

    return script


@pytest.fixture
def certified(tmp_path: Path, cli: Cli, endpoint: Endpoint) -> Path:
    """The certificate of a chain, from a run of both judges about 160 labelled texts, three times."""
    endpoint.script = _script(endpoint)
    folder, prices = _folder(tmp_path / "labelled", 160, labelled=True), tmp_path / "prices.toml"
    prices.write_text(PRICES, encoding="utf-8")
    judges = ("--judge", BETTER, "--judge", CHEAP)
    asked = ("--data", folder, "--base-url", endpoint.url, "--repeats", "3", "--temperature", "1", "--variant", "single", "--yes")
    made = cli("run", *asked, *judges, "--out", tmp_path / "one", "--json")
    assert made.code == 0, made.err
    [run] = [each.name for each in (tmp_path / "one" / "runs").iterdir()]
    found = cli(
        "accept", run, "--out", tmp_path / "one", "--cascade", *judges, "--prices", prices, "--to", tmp_path / "chain.json", "--json"
    )
    assert found.code == 0, found.err
    [cascade] = json.loads(found.out)["cascades"]
    assert [step["judge"] for step in cascade["steps"]] == [CHEAP, BETTER] and cascade["steps"][0]["confidence"] == "repeats"
    assert cascade["steps"][0]["price_from"] == "charged in the run" and cascade["price"] < cascade["steps"][1]["price"]
    endpoint.requests.clear()
    return tmp_path / "chain.json"


def test_the_second_judge_is_asked_where_the_first_is_not_sure(certified: Path, tmp_path: Path, cli: Cli, endpoint: Endpoint) -> None:
    new = _folder(tmp_path / "new", 30, labelled=False, start=1000)
    asked = ("run", "--cascade", certified, "--data", new, "--unlabelled", "--metrics", METRIC, "--base-url", endpoint.url, "--yes")
    planned = cli(*asked, "--out", tmp_path / "two", "--dry-run")
    assert planned.code == 0 and "openai/cheap-1: 90 calls" in planned.out and "as certified" in planned.out and not endpoint.requests
    found = cli(*asked, "--out", tmp_path / "two", "--json")
    assert found.code == 0, found.err
    answers = json.loads(found.out)["answers"]
    models = [request.body["model"] for request in endpoint.requests]
    by = {name: [each for each in answers if each["answered_by"] == name] for name in (CHEAP, BETTER, None)}
    assert models.count("cheap-1") == 90 and models.count("better-1") == 3 * (30 - len(by[CHEAP])) < 60
    assert len(by[CHEAP]) == 20 and len(by[BETTER]) == 10 and all(each["score"] == _truth(int(each["item_id"][1:])) for each in by[BETTER])
    endpoint.requests.clear()
    shown = cli(*asked, "--out", tmp_path / "two")
    assert not endpoint.requests, "a repeated command asks nothing"
    assert f"{CHEAP}: asked about 30 of 30 questions" in shown.out and "a person:" in shown.out
    [written] = (tmp_path / "two" / "runs").glob("*/cascade.jsonl")
    assert [json.loads(line) for line in written.read_text("utf-8").splitlines()] == answers
    second = next(each["run"] for each in json.loads(found.out)["steps"] if each["judge"] == BETTER)
    assert cli("report", second, "--out", tmp_path / "two", "--json").code == 0, "the run of a part is opened again"


def test_budgets_stop_the_chain_and_the_same_command_goes_on(certified: Path, tmp_path: Path, cli: Cli, endpoint: Endpoint) -> None:
    new = _folder(tmp_path / "new", 12, labelled=False, start=2000)
    asked = ("run", "--cascade", certified, "--data", new, "--unlabelled", "--metrics", METRIC, "--base-url", endpoint.url, "--yes")
    stopped = cli(*asked, "--out", tmp_path / "two", "--max-calls", "38")
    assert stopped.code == 6 and "better-1" in stopped.err and len(endpoint.requests) == 38
    resumed = cli(*asked, "--out", tmp_path / "two", "--json")
    assert resumed.code == 0 and len(json.loads(resumed.out)["answers"]) == 12


@pytest.mark.parametrize(
    ("flags", "words"),
    [
        (("--judge", CHEAP), "leave out --judge"),
        (("--repeats", "2", "--variant", "joint"), "leave out --variant, --repeats"),
        (("--langs", "cs", "--metrics", "fluency"), "fluency"),
    ],
)
def test_what_the_certificate_says_cannot_be_said_again(
    certified: Path, tmp_path: Path, cli: Cli, endpoint: Endpoint, flags: tuple[str, ...], words: str
) -> None:
    new = _folder(tmp_path / "new", 3, labelled=False)
    shown = cli("run", "--cascade", certified, "--data", new, "--unlabelled", "--base-url", endpoint.url, "--out", tmp_path / "two", *flags)
    assert shown.code == 2 and words in shown.err and not endpoint.requests


def test_a_changed_prompt_or_a_recorded_judge_is_refused(certified: Path, tmp_path: Path, cli: Cli, endpoint: Endpoint) -> None:
    new = _folder(tmp_path / "new", 3, labelled=False)
    asked = ("--data", new, "--unlabelled", "--metrics", METRIC, "--base-url", endpoint.url, "--out", tmp_path / "two")
    held = cascade_certificate.load(certified)
    for prompt, words in (("0" * 16, "the prompts of openai/cheap-1 are"), (None, "recorded elsewhere")):
        steps = (msgspec.structs.replace(held.steps[0], prompt=prompt), *held.steps[1:])
        other = tmp_path / "other.json"
        other.write_text(to_json(msgspec.structs.replace(held, steps=steps).sealed()), encoding="utf-8")
        shown = cli("run", "--cascade", other, *asked)
        assert shown.code == 2 and words in shown.err and not endpoint.requests
