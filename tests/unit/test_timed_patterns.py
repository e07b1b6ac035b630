"""Patterns of users on texts of others: what takes for ever is given up, and every place that reads with a pattern says so."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from harness import timed_patterns
from harness.timed_patterns import Pattern, SlowPattern, pattern_of

ENDLESS = r"(?:\w+\s*)+: (\d)"
HOSTILE = "word " * 6000 + "a" * 40 + ": x"
ENDLESS_NAME = r"(?P<item>(?:\w|\w\w)+)!"
NAME = "x" * 70 + "-!x"
PROMPT = f'metric = "task_quality"\nread = \'regex:{ENDLESS}\'\n[[message]]\nrole = "user"\ntext = "{{{{output}}}}"\n'


@pytest.fixture(autouse=True)
def soon(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(timed_patterns, "SECONDS", 0.05)
    pattern_of.cache_clear()


def test_a_text_on_which_a_pattern_does_not_end_is_given_up_once() -> None:
    pattern = Pattern(ENDLESS)
    assert [match[1] for match in pattern.find_all("the score is: 2")] == ["2"]
    for _ in range(3):
        with pytest.raises(SlowPattern):
            pattern.find_all(HOSTILE)
    assert (pattern.tried, pattern.slow) == (2, 1)
    with pytest.raises(SlowPattern):
        Pattern(ENDLESS_NAME).full_match(NAME)


def test_it_reads_what_the_standard_library_reads() -> None:
    pattern = Pattern(r"(?im)^(?P<word>[\wěščř]+)\s*(?<!\d)(?P<grade>[ABC])$")
    assert pattern.names == {"word", "grade"} and pattern.groups == 2
    assert [match["grade"] for match in pattern.find_all("Známka A\nznámka: B\nΒαθμός c")] == ["A", "c"]
    for wrong in ("(", "(?P<a>x)(?P<a>y", "[z-a]", r"\1"):
        with pytest.raises(ValueError, match="not a regular expression: "):
            Pattern(wrong)


def run(cli: Callable[..., Any], folder: Path, monkeypatch: pytest.MonkeyPatch, texts: int, hostile: int) -> Any:
    """A run over Czech texts with the endless pattern; the judge gives `hostile` of them an answer that the pattern does not end on."""
    data = folder / "data"
    data.mkdir()
    items = [
        {"item_id": f"i{n}", "language": "cs", "task": "open_prompt", "prompt": "Popiš les.", "output": f"Les {n}."} for n in range(texts)
    ]
    labels = [{"item_id": item["item_id"], "annotator_id": "a", "metric": "task_quality", "score": 1} for item in items]
    for file, rows in (("items.jsonl", items), ("labels.jsonl", labels)):
        (data / file).write_text("".join(json.dumps(row) + "\n" for row in rows), "utf-8")
    (folder / "hasty.toml").write_text(PROMPT)
    (folder / f"replies_{texts}.py").write_text(
        f"version = {hostile}\n"
        "def score(item):\n"
        "    n = int(item['item_id'][1:])\n"
        f"    return str(n) + {HOSTILE!r} if n < {hostile} else 'it is: 1'\n"
    )
    monkeypatch.chdir(folder)
    monkeypatch.syspath_prepend(str(folder))
    arguments = ("--data", data, "--prompt", "hasty.toml", "--judge", f"python:replies_{texts}:score", "--json")
    return cli("run", *arguments, "--out", folder / "results")


def test_a_hostile_answer_is_a_failure_with_a_name(cli: Callable[..., Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    done = run(cli, tmp_path, monkeypatch, texts=12, hostile=2)
    assert done.code == 0, done.err
    [cell] = json.loads(done.out)["cells"]
    assert cell["failures"] == {"slow_pattern": 2} and cell["n"] == 10 and cell["pa"] == 1.0


def test_a_pattern_that_ends_on_few_answers_stops_the_run_with_what_would_be_right(
    cli: Callable[..., Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    done = run(cli, tmp_path, monkeypatch, texts=60, hostile=60)
    assert done.code == 2 and "Traceback" not in done.err
    assert f"the pattern regex:{ENDLESS} needed more than" in done.err and "All answers so far are kept" in done.err


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (("import", "records.jsonl", "--to", "new", "--id-pattern", ENDLESS_NAME), "records.jsonl:1:record 1: --id-pattern"),
        (("labels", "import", "wide.csv", "--to", "new", "--wide-items", ENDLESS_NAME), "--wide-items"),
        (("labels", "import", f"{NAME}.csv", "--to", "new", "--annotator-from-file", ENDLESS_NAME), "--annotator-from-file"),
    ],
)
def test_every_place_that_reads_with_a_pattern_says_that_it_is_slow(
    cli: Callable[..., Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, arguments: tuple[str, ...], says: str
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "records.jsonl").write_text(
        json.dumps({"item_id": NAME, "judge": "m", "metric": "q", "score": 1, "output": "Text."}) + "\n"
    )
    (tmp_path / "wide.csv").write_text(f"annotator_id,{NAME}\neva,1\n")
    (tmp_path / f"{NAME}.csv").write_text("item_id,metric,score\ni,q,1\n")
    done = cli(*arguments)
    assert done.code == 2 and says in done.err and "needs more than" in done.err, done.err
