"""`--spec FILE`: flags from a file, which those of the command line override; and the same flags as a file again."""

from __future__ import annotations

import dataclasses
import json
import tomllib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from harness.cli import parse
from harness.cli.command import class_of, fields_of, value_of
from harness.cli.spec_file import spec_of, write_spec
from harness.errors import ContentError, UsageError
from harness.runs import RunSpec

SPEC = """
data = "answers"
langs = ["cs", "ja"]
judge = ["openai/m", "baseline/majority"]
temperature = [0, 0.7]
rpm = ["openai/m=60"]
repeats = 3
unlabelled = true
fresh = false
prompt = ["a.toml"]
"""


@pytest.fixture
def spec(tmp_path: Path) -> Path:
    path = tmp_path / "study.toml"
    path.write_text(SPEC, "utf-8")
    return path


def test_a_file_holds_flags(spec: Path) -> None:
    read = parse(["run", "--spec", str(spec)])[0]
    assert (read.request.data, read.request.languages, read.request.judges) == (
        spec.parent / "answers",
        ("cs", "ja"),
        ("openai/m", "baseline/majority"),
    )
    assert (read.request.temperatures, read.asking.rpm, read.request.repeats) == ((0.0, 0.7), {"openai/m": 60.0}, 3)
    assert (read.request.unlabelled, read.asking.fresh, read.request.prompts) == (True, False, (spec.parent / "a.toml",))


@pytest.mark.parametrize(
    ("command", "text", "words"),
    [
        ("compare", 'sources = ["t.csv"]\nhuman = "ann,bob"\nmargin = 0.05\nwhere = {metric = ["tone"]}\nbar = "0.9"\n', ()),
        ("improve", 'source = "d"\njudge = ["openai/a", "openai/b"]\nalpha = 0.01\nlimit = 5\nrpm = ["openai/a=60"]\n', ()),
        ("certify", 'source = "d"\njudge = "gpt-4o"\nto = "c.json"\nmargin = 0.2\n', ()),
        ("gate", 'source = "d"\npolicy = "p.toml"\nset = "x"\n', ("set",)),
        (
            "labels import",
            'sources = ["r.csv"]\nto = "out"\ncolumn = {score = "rating"}\nscale = ["score=1..5:best=5"]\nlanguage = "ja"\n',
            (),
        ),
    ],
)
def test_a_file_holds_the_flags_of_every_command(tmp_path: Path, command: str, text: str, words: tuple[str, ...]) -> None:
    """The command read from the file is the one of the same flags as words: one object, two views."""
    path = tmp_path / "s.toml"
    path.write_text(text, "utf-8")
    if words:  # no flag of this command
        with pytest.raises(ContentError, match=rf"s.toml:3: '{words[0]}' is not a flag of 'harness {command}'"):
            parse([*command.split(), "--spec", str(path)])
        return
    [of_file] = parse([*command.split(), "--spec", str(path)])
    stated: list[str] = []
    fields = {field.key: field for field in fields_of(class_of(command))}
    for key, value in tomllib.loads(text).items():
        pairs = (
            [f"{part}={','.join(texts) if isinstance(texts, list) else texts}" for part, texts in value.items()]
            if isinstance(value, dict)
            else value
        )
        for each in pairs if isinstance(pairs, list) else [pairs]:
            shown = str(tmp_path / each) if key in ("to", "policy") else str(each)
            stated += [shown] if fields[key].positional else [f"{fields[key].names[0]}={shown}"]
    [of_words] = parse([*command.split(), *stated])
    ignored = ("spec", "argv")
    assert {k: v for k, v in vars(of_file).items() if k not in ignored} == {k: v for k, v in vars(of_words).items() if k not in ignored}


def test_a_value_that_cannot_be_is_refused_with_its_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "s.toml"
    path.write_text('human = "a"\nmargin = "much"\n', "utf-8")
    with pytest.raises(SystemExit):
        parse(["compare", "t.csv", "--spec", str(path)])
    assert capsys.readouterr().err.strip() == f"harness compare: {path}:2: argument --margin: invalid float value: 'much'"


def test_arguments_of_the_command_take_precedence_as_flags_do(tmp_path: Path) -> None:
    (tmp_path / "s.toml").write_text('sources = ["t.csv"]\nhuman = "ann"\n', "utf-8")
    [read] = parse(["compare", "other.csv", "--json", "--spec", str(tmp_path / "s.toml")])
    assert value_of(read, "sources") == ("other.csv",) and value_of(read, "human") == ("ann",)
    (tmp_path / "b.toml").write_text('board = "controls"\nsubmission = "x"\n', "utf-8")
    [read] = parse(["board", "verify", "pariksha", "--spec", str(tmp_path / "b.toml")])
    assert (value_of(read, "board"), value_of(read, "submission")) == ("pariksha", "x")


def test_a_key_that_is_no_word_is_refused_with_its_line(tmp_path: Path) -> None:
    (tmp_path / "s.toml").write_text('human = "a"\n"a(" = 1\n', "utf-8")
    with pytest.raises(ContentError, match=r"s.toml:2: 'a\(' is not a flag of 'harness compare'"):
        parse(["compare", "t.csv", "--spec", str(tmp_path / "s.toml")])


def test_flags_of_the_command_take_precedence(spec: Path) -> None:
    read = parse(["run", f"--spec={spec}", "--judge", "baseline/random", "--repeats=1", "--langs", "de"])[0]
    assert (read.request.judges, read.request.repeats, read.request.languages) == (("baseline/random",), 1, ("de",))


def test_the_flags_of_a_run_are_a_file_that_gives_the_same_run(spec: Path, tmp_path: Path) -> None:
    first = parse(["run", "--spec", str(spec), "--seed", "4"])[0]
    from harness.row_files import to_toml

    again = tmp_path / "again" / "spec.toml"
    again.parent.mkdir()
    again.write_text(to_toml(spec_of("run", first.argv)), "utf-8")
    second = parse(["run", "--spec", str(again)])[0]
    ignored = ("spec", "argv")
    assert {k: v for k, v in vars(first).items() if k not in ignored} == {k: v for k, v in vars(second).items() if k not in ignored}


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("judges = ['x']\n", ":1: 'judges' is not a flag of 'harness run' that a file can hold. Did you mean 'judge'?"),
        ("seed = 1\ndry_run = true\n", ":2: 'dry_run' is not a flag"),
        ("langs = [['cs']]\n", ":1: 'langs' should be a text, a number or a list of them"),
        ("seed = \n", "not valid TOML"),
    ],
)
def test_other_files_are_refused_with_their_line(tmp_path: Path, text: str, message: str) -> None:
    path = tmp_path / "s.toml"
    path.write_text(text, "utf-8")
    with pytest.raises(ContentError) as caught:
        parse(["run", "--spec", str(path)])
    assert message in str(caught.value)


def test_a_missing_file_is_a_sentence(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="cannot be read: No such file"):
        parse(["run", "--spec", str(tmp_path / "no.toml")])


def test_a_run_keeps_its_flags_and_a_dry_run_prints_them(cli: Callable[..., Any], tmp_path: Path) -> None:
    path = tmp_path / "s.toml"
    path.write_text('langs = ["cs"]\nlimit = 2\nmetrics = "task_quality"\njudge = "baseline/random"\nout = "results"\n', "utf-8")
    expected = {"langs": "cs", "limit": "2", "metrics": "task_quality", "judge": ["baseline/random"]}
    dry = cli("run", "--spec", path, "--out", tmp_path / "out", "--dry-run", "--json")
    assert dry.code == 0 and {k: v for k, v in json.loads(dry.out)["spec"].items() if k != "out"} == expected
    assert cli("run", "--spec", path, "--out", tmp_path / "out").code == 0
    [kept] = (tmp_path / "out" / "runs").glob("*/spec.toml")
    assert {k: v for k, v in tomllib.loads(kept.read_text("utf-8")).items() if k != "out"} == expected


def test_the_flags_of_a_run_are_the_fields_of_its_specification() -> None:
    flags = {field.name for field in fields_of(class_of("run"))}
    # read from other flags, or set by studies, `improve` and a cascade
    read_already = {"panels", "personas", "own_prompts", "own_rubrics", "crossed", "only"}
    fields = {field.name for field in dataclasses.fields(RunSpec)}
    assert fields - flags == read_already
    given = [
        "--langs",
        "cs",
        "--judge",
        "baseline/random",
        "--variant",
        "joint",
        "--top-p",
        "0.5",
        "--is",
        "a=b",
        "--is",
        "c=d",
        "--seed",
        "3",
    ]
    request = RunSpec(
        languages=("cs",), judges=("baseline/random",), variants=("joint",), top_ps=(0.5,), own_systems={"a": "b", "c": "d"}, seed=3
    )
    assert parse(["run", *given])[0].request == request
    assert parse(["run"])[0].request == RunSpec()


BY_LANGUAGE = """
langs = ["cs", "ja", "de"]
judge = ["openai/m"]
variant = ["single"]
[language.ja]
variant = ["detailed"]
prompt = ["a.toml"]
"""


def test_languages_with_flags_of_their_own_are_a_run_of_their_own(tmp_path: Path) -> None:
    path = tmp_path / "best.toml"
    path.write_text(BY_LANGUAGE, "utf-8")
    rest, own = parse(["run", "--spec", str(path), "--seed", "3"])
    assert (rest.request.languages, rest.request.variants, rest.request.prompts, rest.request.seed) == (("cs", "de"), ("single",), (), 3)
    assert (own.request.languages, own.request.variants, own.request.prompts, own.request.seed) == (
        ("ja",),
        ("detailed",),
        (tmp_path / "a.toml",),
        3,
    )
    assert own.request.judges == rest.request.judges == ("openai/m",)
    [only] = parse(["run", "--spec", str(path), "--langs", "ja"])
    assert (only.request.languages, only.request.variants) == (("ja",), ("detailed",))
    given, _ = parse(["run", "--spec", str(path), "--variant", "joint"])
    assert given.request.variants == ("joint",)


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ('langs = ["cs", "ja", "de"]', "", "name all languages"),
        ('["cs", "ja", "de"]', '["cs"]', r"\[language.ja\] is not among the languages of the file"),
        ("[language.ja]", "[language]", "a table of a language holds flags of its own"),
        ('variant = ["detailed"]', 'langs = ["ja"]', "a table of a language holds flags of its own"),
        ('variant = ["detailed"]', 'variants = ["detailed"]', "'variants' is not a flag"),
    ],
)
def test_a_table_of_a_language_that_cannot_be(tmp_path: Path, old: str, new: str, words: str) -> None:
    path = tmp_path / "best.toml"
    path.write_text(BY_LANGUAGE.replace(old, new), "utf-8")
    with pytest.raises(ContentError, match=words):
        parse(["run", "--spec", str(path)])


def test_a_choice_is_written_for_each_language(tmp_path: Path) -> None:
    path = tmp_path / "specs" / "best.toml"
    path.parent.mkdir()
    start, chosen = (
        {"judge": ["a"], "variant": ["single"], "repeats": 1},
        {"judge": ["a"], "prompt": [str(tmp_path / "p.toml")], "repeats": 1},
    )
    write_spec(path, start, chosen, {"cs": "chosen", "ja": "start"})
    assert tomllib.loads(path.read_text("utf-8")) == {
        "langs": ["cs", "ja"],
        "judge": ["a"],
        "repeats": 1,
        "language": {"cs": {"prompt": ["../p.toml"]}, "ja": {"variant": ["single"]}},
    }
    assert [(each.request.languages, each.request.variants, each.request.prompts) for each in parse(["run", "--spec", str(path)])] == [
        (("cs",), None, (tmp_path / "p.toml",)),
        (("ja",), ("single",), ()),
    ]
    write_spec(path, start, chosen, {"cs": "start", "ja": "start"})
    assert tomllib.loads(path.read_text("utf-8")) == {"langs": ["cs", "ja"], **start}
