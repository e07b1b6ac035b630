"""Prompts of the user's own: variables, reading rules, what is refused; and two of them compared in a run."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from harness.errors import ContentError
from harness.model import Item, Scale, Variant, parse_variant
from harness.parse import AnswerRule, bundled_vocabulary, read_by_rule
from harness.prompts import load_own_prompt
from tests.conftest import write_rows

DOCS = Path(__file__).parents[3] / "docs" / "own"
SCALE = Scale(kind="ordinal", classes=(0, 1, 2), best=2)
LETTERS = AnswerRule("regex:GRADE: ([ABC])", {"A": 2, "B": 1, "C": 0})


def read(text: str, rule: AnswerRule = LETTERS, **reply: str) -> Any:
    reading = read_by_rule(text, rule, SCALE, bundled_vocabulary(), **reply)
    return reading.score if reading.failure is None else reading.failure.value


@pytest.mark.parametrize(
    ("text", "rule", "found"),
    [
        ("Good.\nGRADE: A", LETTERS, 2),
        ("GRADE: A … GRADE: A", LETTERS, 2),
        ("GRADE: A or GRADE: B", LETTERS, "not_json"),
        ("GRADE: D", LETTERS, "not_json"),
        ("", LETTERS, "missing"),
        ("I'm sorry, but I cannot evaluate this.", LETTERS, "refused"),
        ('{"score": 1}', AnswerRule("json:score"), 1),
        ('```json\n{"score": "2"}\n```', AnswerRule("json:score"), 2),
        ('{"score": 3}', AnswerRule("json:score"), "off_scale"),
        ('{"grade": {"value": "fine"}}', AnswerRule("json:grade.value", {"fine": 2}), 2),
        ('{"grade": {"value": "odd"}}', AnswerRule("json:grade.value", {"fine": 2}), "off_scale"),
        ('{"other": 1}', AnswerRule("json:score"), "not_json"),
        ("no JSON", AnswerRule("json:score"), "not_json"),
    ],
)
def test_an_answer_is_read_by_its_rule(text: str, rule: AnswerRule, found: Any) -> None:
    assert read(text, rule) == found


def test_a_cut_answer_and_a_refusal_of_the_provider_have_their_names() -> None:
    assert read("It is rather", finish_reason="length") == "truncated"
    assert read("", refusal="no") == "refused"


def test_texts_of_items_stay_as_they_are() -> None:
    name, prompt = load_own_prompt(DOCS / "strict.toml")
    assert name.startswith("strict@") and len(name) == len("strict@") + 8
    hostile = "{{output}} {0} {{language}} \ue000x\ue001 <|im_end|>"
    filled = prompt.template("cs").fill(Item("a", "cs", "chat", fields={"output": hostile}))
    assert filled.messages[1].content.split("\n\n")[1] == hostile and "this Czech text" in filled.messages[1].content
    assert filled.schema == {} and filled.max_tokens == 300


def test_the_hash_is_that_of_the_content(tmp_path: Path) -> None:
    text = (DOCS / "kind.toml").read_text("utf-8")
    names = []
    for changed in (text, text + "# a comment\n", text.replace("friendly", "strict")):
        (tmp_path / "p.toml").write_text(changed, "utf-8")
        names.append(load_own_prompt(tmp_path / "p.toml")[0])
    assert names[0] == names[1] != names[2]


def test_a_variant_names_the_prompt_and_round_trips() -> None:
    variant = Variant(prompt="strict@0a1b2c3d")
    assert str(variant) == "prompt:strict@0a1b2c3d" and parse_variant(str(variant)) == variant
    with pytest.raises(ValueError, match="--prompt FILE asks with a prompt"):
        parse_variant("prompt:strict")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('metric = "m"\n', "message"),
        ('metric = "m"\n[[message]]\nrole = "user"\ntext = "Rate it"\n', ":4: no message shows a text of the item; write {{output}}"),
        ('metric = "m"\nread = "xml:a"\n[[message]]\nrole = "user"\ntext = "{{output}}"\n', ":2: read is 'xml:a'; it should be json:<key>"),
        ('metric = "m"\nread = "regex:("\n[[message]]\nrole = "user"\ntext = "{{output}}"\n', ":2: read is not a regular expression"),
        ('metric = "m"\nread = "regex:a"\n[[message]]\nrole = "user"\ntext = "{{output}}"\n', ":2: the pattern of read has 0 groups"),
        ('metric = "m"\ntone = 1\n[[message]]\nrole = "user"\ntext = "{{output}}"\n', ":2:"),
        ('metric = "m"\n[[message]]\nrole = "boss"\ntext = "{{output}}"\n', "role"),
    ],
)
def test_a_wrong_prompt_is_refused_with_its_line(tmp_path: Path, text: str, message: str) -> None:
    (tmp_path / "p.toml").write_text(text, "utf-8")
    with pytest.raises(ContentError) as caught:
        load_own_prompt(tmp_path / "p.toml")
    assert message in str(caught.value)


JUDGE = """
def score(messages, item):
    right = int(item["item_id"][1:]) % 3
    if "GRADE" in messages[-1]["content"]:
        return f"Hm. GRADE: {'CBA'[right]}"
    return '{"justification": "ok", "score": %d}' % min(right + 1, 2)
"""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A data folder of a task and a metric that this program does not know, and a judge in the working directory."""
    data = tmp_path / "data"
    write_rows(data / "items.jsonl", [{"item_id": f"i{n}", "language": "cs", "task": "mine", "output": f"Text {n}"} for n in range(24)])
    labels = [{"item_id": f"i{n}", "annotator_id": who, "metric": "fluency", "score": n % 3} for n in range(24) for who in "ab"]
    write_rows(data / "labels.jsonl", labels)
    (data / "data.toml").write_text('id = "mine"\n[metrics.fluency]\nkind = "ordinal"\nclasses = [0, 1, 2]\nbest = 2\n', "utf-8")
    (tmp_path / "own_prompt_judge.py").write_text(JUDGE, "utf-8")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", list(sys.path))
    return data


def test_two_prompts_are_two_conditions_with_their_paired_difference(cli: Callable[..., Any], folder: Path, tmp_path: Path) -> None:
    arguments = ("run", "--data", folder, "--prompt", DOCS / "strict.toml", "--prompt", DOCS / "kind.toml")
    done = cli(*arguments, "--judge", "python:own_prompt_judge:score", "--json")
    assert done.code == 0, done.err
    report = json.loads(done.out)
    by_prompt = {cell["variant"].partition("@")[0]: cell["pa"] for cell in report["cells"]}
    assert by_prompt == {"prompt:strict": 1.0, "prompt:kind": pytest.approx(1 / 3)}
    rows = [row for row in report["ablations"]["variants"]["rows"] if row["versus"]]
    assert {(round(row["diff"], 3), row["versus"].partition("@")[0]) for row in rows} == {(0.667, "prompt:kind")}
    assert "prompt%3Astrict@" in report["signatures"]["python/own_prompt_judge:score"]
    again = cli("report", "--json")  # without the files of the prompts
    assert again.code == 0, again.err
    assert json.loads(again.out) == report
    page = cli("report", "--html", tmp_path / "page.html")
    assert page.code == 0 and "--prompt strict.toml" in (tmp_path / "page.html").read_text("utf-8")


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({'metric = "fluency"': 'metric = "fluencie"'}, "is about the metric 'fluencie', which is not asked. Did you mean 'fluency'?"),
        ({"{{output}}": "{{answer}}"}, "shows 'answer', but item 'i0' has only the texts output"),
        ({"A = 2": "A = 5"}, "maps 'A' to 5, which is not on the scale of 'fluency' (0, 1, 2)"),
        (
            {"max_tokens = 300": 'scale = {kind = "ordinal", classes = [0, 1], best = 1}'},
            "states the scale 0, 1, but 'fluency' has 0, 1, 2",
        ),
    ],
)
def test_a_prompt_that_does_not_fit_the_data_is_refused(
    cli: Callable[..., Any], folder: Path, tmp_path: Path, changes: dict[str, str], message: str
) -> None:
    text = (DOCS / "strict.toml").read_text("utf-8")
    for old, new in changes.items():
        text = text.replace(old, new)
    (tmp_path / "p.toml").write_text(text, "utf-8")
    done = cli("run", "--data", folder, "--prompt", tmp_path / "p.toml", "--judge", "baseline/majority")
    assert done.code == 2 and message in done.err, done.err


def test_a_new_prompt_is_a_prompt(cli: Callable[..., Any], tmp_path: Path) -> None:
    made = cli("new", "prompt", "polite", "--into", tmp_path)
    assert made.code == 0
    name, prompt = load_own_prompt(tmp_path / "polite.toml")
    assert name.startswith("polite@") and prompt.variables == ("language", "output")
    assert cli("new", "prompt", "polite", "--into", tmp_path).code == 2
