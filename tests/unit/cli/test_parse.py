"""The app: every command and flag is explained, and what cannot be is refused in words before anything is loaded."""

from __future__ import annotations

import re
import shlex
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, get_args

import pytest

from harness.cli import function_of, parse
from harness.cli.command import FIRST, Command, class_of, examples_of, fields_of, value_of
from harness.cli.commands import commands, leaves
from harness.cli.flags import app_of
from harness.cli.help import help_of, settings_help
from harness.measure.options import Annotators

LEAVES = leaves()
COMMANDS = list(dict.fromkeys(words.split()[0] for words in commands()))
NEEDED = {
    "import": ["file", "--to", "folder"],
    "export promptfoo-judge": ["--judge", "openai/m", "--to", "folder"],
    "export hub": ["folder", "--to", "new"],
    "export inspect-scores": ["run", "--to", "f"],
    "gate": ["DIR", "--policy", "F"],
    "pairs": ["DIR", "--out", "PAIRS"],
    "generate": ["--task", "summarize", "--by", "openai/m", "--out", "DIR"],
    "study self-preference": ["--data", "DIR"],
    "study chiang-lee": ["--data", "DIR"],
    "study alter-texts": ["--out", "DIR"],
    "study export-finetuning": ["--data", "DIR", "--question", "longer", "--out", "SET"],
    "list": ["languages"],
    "new": ["task", "x"],
    "data remove": ["hanna"],
    "data show": ["hanna"],
    "data path": ["hanna"],
    "models": ["list"],
    "compare": ["folder"],
    "correct": ["folder"],
    "accept": ["folder"],
    "calibrate": ["folder"],
    "probabilities": ["folder"],
    "prompt-hash": ["run"],
    "batch forget": ["batch_1"],
    "labels import": ["file", "--to", "folder"],
    "labels export": ["folder", "--to", "file"],
    "labels plan": ["folder", "--to", "f"],
    "labels page": ["folder", "--out", "pages"],
    "labels reviews": ["folder"],
    "labels serve": ["pages"],
    "labels check": ["folder"],
    "labels needed": ["folder"],
    "store export": ["--to", "f"],
    "store merge": ["folder", "--out", "folder"],
    "submit": ["run", "--board", "controls"],
    "watch init": ["folder", "run", "--certificate", "f"],
    "watch add": ["folder", "data", "--date", "2026-05-31"],
    "watch check": ["folder", "--junit", "f"],
    "watch draw": ["folder"],
    "start": ["file"],
    "improve": ["run"],
    "explain": ["run"],
    "board show": ["controls"],
    "board verify": ["controls", "judge"],
    "board record": ["controls", "--origin", "MIT"],
    "board seal": ["controls", "--labels", "folder", "--recipient", "age1x"],
    "board open": ["controls", "--key", "f", "--to", "folder"],
    "board rotate": ["controls", "--key", "f", "--recipient", "age1x"],
}


def parsed(*arguments: str) -> Any:
    return parse(arguments)[0]


@pytest.fixture
def refused(capsys: pytest.CaptureFixture[str]) -> Callable[..., str]:
    """The one line that is said about arguments that are refused, after the command's name."""

    def refuse(*arguments: str) -> str:
        with pytest.raises(SystemExit) as caught:
            parsed(*arguments)
        said = capsys.readouterr()
        assert caught.value.code == 2 and not said.out
        assert said.err.count("\n") == 1
        return said.err.partition(": ")[2].strip()

    return refuse


def test_these_are_the_commands() -> None:
    assert list(COMMANDS) == [
        *("atlas", "start", "run", "compare", "report", "runs"),
        *("improve", "explain", "correct", "accept", "calibrate", "probabilities", "certify", "prompt-hash", "gate", "watch"),
        *("labels", "data", "import", "export", "board", "submit"),
        *("batch", "generate", "pairs", "study", "store", "list", "check", "new", "models", "doctor"),
    ]
    assert [name for name in LEAVES if name.startswith("labels")] == [
        *("labels import", "labels export", "labels check", "labels needed", "labels plan", "labels reviews", "labels page", "labels serve")
    ]
    assert [name for name in LEAVES if name.startswith("store")] == ["store check", "store export", "store gc", "store merge"]


@pytest.mark.parametrize("name", LEAVES)
def test_every_command_has_help_and_all_its_flags_are_explained(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as caught:
        parsed(*name.split(), "--help")
    assert caught.value.code == 0
    shown = " ".join(capsys.readouterr().out.split())
    settings = " ".join(settings_help(name).split())
    assert commands()[name][1] in shown
    for field in fields_of(class_of(name)):
        assert field.text, f"{name} {field.names[0]}"
        if field.owner is Command and field.name not in class_of(name).first:  # of all commands: the overview explains it
            assert f"COMMAND {field.names[0]}" in help_of("")
        else:
            assert field.text in (settings if field.mark.setting else shown)
            assert not field.mark.setting or field.key in shown


def test_completion_explains_flags_whatever_was_read_before() -> None:
    app_of("compare")
    arguments = app_of("run", explained=True).assemble_argument_collection(parse_docstring=False)
    [by_task] = [argument for argument in arguments if argument.field_info.name == "by_task"]
    assert by_task.parameter.help and by_task.parameter.help.startswith("also show all verdicts")


def test_the_overview_names_every_command_with_its_purpose() -> None:
    text = " ".join(help_of("").split())
    for name in COMMANDS:
        assert f"{name} {commands()[name][1]}" in text


@pytest.mark.parametrize("words", [(), ("compare",), ("labels",), ("labels", "check")], ids=" ".join)
def test_help_is_a_command_too(words: tuple[str, ...], capsys: pytest.CaptureFixture[str]) -> None:
    shown = []
    for call in (("help", *words), (*words, "--help")):
        with pytest.raises(SystemExit) as caught:
            parsed(*call)
        assert caught.value.code == 0
        shown.append(capsys.readouterr().out)
    assert shown[0] == shown[1] and " ".join(("usage: harness", *words)) in shown[0]


@pytest.mark.parametrize(
    ("words", "suggestion"),
    [
        (("help", "comparee"), "Did you mean 'compare'?"),
        (("comparee", "--help"), "Did you mean 'compare'?"),
        (("halp",), "Did you mean 'help'?"),
        (("help", "labels", "chek"), "Did you mean 'check'?"),
        (("labels", "chek", "--help"), "Did you mean 'check'?"),
    ],
    ids=" ".join,
)
def test_the_help_of_a_misspelt_command_suggests_one(words: tuple[str, ...], suggestion: str, refused: Callable[..., str]) -> None:
    assert suggestion in refused(*words)


@pytest.mark.parametrize("name", LEAVES)
def test_help_shows_first_what_people_need(name: str) -> None:
    """At most twelve flags, and two examples that are read without a refusal."""
    flags = [field for field in fields_of(class_of(name)) if not field.positional]
    assert set(class_of(name).first) <= {field.name for field in flags}
    first = [field.names[0] for field in flags if field.name in class_of(name).first or field.group == FIRST]
    assert len(first) <= 12, first
    examples = examples_of(name)
    assert len(examples) == 2
    for example in examples:
        assert parse(shlex.split(example)[1:])[0].target == class_of(name).target


@pytest.mark.parametrize("name", LEAVES)
def test_every_command_leads_to_a_function(name: str) -> None:
    arguments = parsed(*name.split(), *NEEDED.get(name, []), "-v")
    assert isinstance(arguments, Command) and arguments.verbose is True
    assert callable(function_of(arguments))


@pytest.mark.parametrize("flag", ["--limit", "--repeats", "--concurrency"])
@pytest.mark.parametrize("number", ["0", "-1", "1.5", "x", "", "²", "1_0", " 1", "９", "9" * 5000, "1e3"], ids=lambda number: number[:8])
def test_a_count_is_a_whole_number_of_one_or_more(refused: Callable[..., str], flag: str, number: str) -> None:
    said = refused("run", f"{flag}={number}")
    shown = number if len(number) < 300 else f"{number[:60]}… ({len(number):,} characters)"
    assert said == f"argument {flag}: expected a whole number of 1 or more with at most nine digits; got '{shown}'"


@pytest.mark.parametrize("number", ["-1", "1.5", "x", "", "9" * 20], ids=str)
def test_a_seed_is_a_whole_number_that_every_endpoint_takes(refused: Callable[..., str], number: str) -> None:
    assert (
        refused("run", f"--seed={number}")
        == f"argument --seed: expected a whole number of 0 or more with at most nine digits; got '{number}'"
    )


@pytest.mark.parametrize("number", ["x", "", "0,,1", "0,", "-1", "nan", "inf", "0;1", "0,5,x", "1e999"])
def test_temperatures_are_numbers_of_zero_or_more(refused: Callable[..., str], number: str) -> None:
    said = refused("run", f"--temperature={number}")
    assert said == f"argument --temperature: temperatures are numbers of 0 or more, separated by commas; got '{number}'"


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("walk",), "no command 'walk'. 'harness help' lists all commands"),
        (("comapre", "x"), "no command 'comapre'. Did you mean 'compare'?"),
        (("get", "hanna"), "no command 'get'. Did you mean 'harness data get'?"),
        (("labels", "zzz"), "no command 'zzz'. 'harness help labels' lists all commands (import, export, "),
        (("run", "--lang-uages", "ja"), "unrecognized arguments: --lang-uages"),
        (("compare", "t.csv", "--margine", "0.2"), "unrecognized arguments: --margine 0.2. Did you mean '--margin'?"),
        (("compare", "t.csv", "--margin"), "argument --margin: expected one argument"),
        (("run", "--dry"), "--dry. Did you mean '--dry-run'? 'harness run --help' lists all flags"),
        (("store", "check", "--otu", "x"), "--otu x. Did you mean '--out'? 'harness store check --help' lists all flags"),
        (("generate", *["--task", "t", "--by", "j", "--out", "o", "--to", "x"]), "unrecognized arguments: --to x"),
        (("list", "everything"), "invalid choice: 'everything'"),
        (("store",), "COMMAND (one of "),
        (("store", "export"), "--to (the file to write (.jsonl)) is missing; for example: harness store export --to made.jsonl"),
        (("store", "merge"), "DIR (a results folder to read) and --out ("),
        (("store", "merge", "folder"), "--out (the results folder to merge into; created if it does not exist) is missing"),
        (("run", "--langs"), "expected one argument"),
        (("compare",), "is missing; for example: harness compare scores.xlsx"),
        (("compare", "x", "--json", "--csv"), "argument --csv: not allowed with argument --json"),
        (("compare", "x", "--csv", "--latex"), "argument --latex: not allowed with argument --csv"),
        (("compare", "x", "--majority", "mean"), "invalid choice: 'mean'"),
        (("compare", "x", "--level", "word"), "invalid choice: 'word'"),
        (("labels",), "is missing; for example: harness labels import ratings.xlsx"),
        (("labels", "check"), "DATA (a data folder) is missing"),
        (("labels", "serve", "pages", "--port", "x"), "argument --port: expected a port from 0 to 65535; got 'x'"),
        (("labels", "import"), "is missing; for example: harness labels import ratings.xlsx"),
        (("labels", "import", "x", "--to", "y", "--from", "docx"), "invalid choice: 'docx'"),
    ],
    ids=" ".join,
)
def test_what_is_not_known_or_missing_is_refused(refused: Callable[..., str], arguments: tuple[str, ...], words: str) -> None:
    assert words in refused(*arguments)


@pytest.mark.parametrize("command", list(dict.fromkeys([*LEAVES, *COMMANDS])))
def test_what_is_missing_is_shown_in_an_example_that_parses(capsys: pytest.CaptureFixture[str], command: str) -> None:
    try:
        parse(command.split())
    except SystemExit:
        said = capsys.readouterr().err
        if " missing; " in said:  # otherwise one of several flags is
            assert parse(said.rpartition("for example: harness ")[2].split())[0].target


@pytest.mark.parametrize(
    ("arguments", "name", "value"),
    [
        (("--langs", "ja,cs"), "languages", ("ja", "cs")),
        (("--langs", ""), "languages", ("",)),
        ((), "languages", None),
        (("--judge", "a/b", "--judge", "c/d"), "judges", ("a/b", "c/d")),
        ((), "judges", ("local/smollm2-135m",)),
        (("--temperature", "0,0.3,1"), "temperatures", (0.0, 0.3, 1.0)),
        (("--limit", "3"), "limit", 3),
        (("--seed", "0"), "seed", 0),
        ((), "seed", 0),
        (("--variant", "joint", "--variant", "detailed"), "variants", ("joint", "detailed")),
    ],
)
def test_flags_are_read(arguments: tuple[str, ...], name: str, value: Any) -> None:
    assert value_of(parsed("run", *arguments), name) == value


@pytest.mark.parametrize(
    ("arguments", "name", "value"),
    [
        ((), "sources", ("one",)),
        (("two",), "sources", ("one", "two")),
        (("--by", "metric,judge"), "by", ("metric", "judge")),
        ((), "by", ("language", "task", "metric", "judge", "variant", "temperature")),
        (("--where", "language=ja", "--where", "judge=a"), "where", {"language": ("ja",), "judge": ("a",)}),
        ((), "where", {}),
        (("--majority", "median"), "majority", "median"),
        ((), "majority", "drop"),
        ((), "level", "item"),
        (("--annotators", "2+"), "annotators", Annotators(2)),
        ((), "seed", 0),
        (("--versus", "judge=a/b"), "versus", ("judge", "a/b")),
    ],
    ids=str,
)
def test_flags_of_compare_are_read(arguments: tuple[str, ...], name: str, value: Any) -> None:
    assert value_of(parsed("compare", "one", *arguments), name) == value


def test_what_can_be_imported_and_exported_is_what_the_label_sets_can() -> None:
    """The listings have lists of their own, as those of `harness.exchange` take time to import."""
    from harness.content.specs import ROLES
    from harness.exchange.labels.choose_reader import KINDS
    from harness.exchange.labels.label_sheets import FORMATS
    from harness.model import Source

    imports, exports = ({field.names[0]: field for field in fields_of(class_of(f"labels {name}"))} for name in ("import", "export"))
    assert (imports["--from"].choices, exports["--format"].choices) == (KINDS, FORMATS)
    assert imports["--source"].choices == get_args(Source)
    assert imports["--column"].text.endswith(f"roles: {', '.join(ROLES)}")


def test_every_threshold_of_the_verdicts_is_listed_and_can_be_set(capsys: pytest.CaptureFixture[str]) -> None:
    from harness.decide.options import DecisionOptions
    from harness.options import fields_named, part_of

    for command in ("compare", "certify"):
        with pytest.raises(SystemExit) as caught:
            parsed(command, "--help-thresholds")
        shown = capsys.readouterr().out
        assert caught.value.code == 0
        assert re.findall(r"^  (\w+)=", shown, re.MULTILINE) == list(fields_named(DecisionOptions))
    for flags in (
        ("--set", "margin=.05", "--set", "items=50"),
        ("--margin", ".05", "--items=50"),
        ("--margin", "0.05", "--set", "items=50"),
    ):
        assert part_of(parsed("compare", "x", *flags).options, DecisionOptions) == DecisionOptions(margin=0.05, items=50)
    assert (certified := parsed("certify", "x", "--alpha", ".01", "--alpha-risk", ".2").options).alpha == 0.01
    assert certified.alpha_risk == 0.2


@pytest.mark.parametrize(
    ("setting", "message"),
    [
        ("margine=0.1", "--set margine=0.1 should be a setting and its value, such as margin=0.05. Did you mean 'margin'?"),
        ("margin", "--set margin should be a setting and its value"),
        ("margin=x", "argument --margin: invalid float value: 'x'"),
        ("margin=2", "margin is 2; it should be a number between 0 and 1, both excluded"),
        ("family=none", "argument --family: invalid choice: 'none' (choose from judge, all)"),
    ],
)
def test_a_threshold_that_makes_no_sense_is_refused(cli: Callable[..., Any], setting: str, message: str) -> None:
    result = cli("compare", "x", "--set", setting)
    assert result.code == 2 and result.out == "" and message in result.err


@pytest.mark.parametrize("kind", ["languages", "tasks", "rubrics", "boards"])
def test_a_kind_of_which_there_is_none_is_listed_without_a_row(cli: Callable[..., Any], tmp_path: Path, kind: str) -> None:
    (tmp_path / "content.lock").write_text("", "utf-8")  # a folder that replaces the bundled content
    listed = cli("list", kind, "--content", tmp_path)
    assert (listed.code, listed.out, listed.err) == (0, "", f"there are no {kind} here\n")


def test_lists_of_one_command_do_not_leak_into_the_next() -> None:
    assert parsed("run", "--content", "a").request.content != parsed("run").request.content == ()


def test_help_imports_neither_the_parser_nor_what_the_command_needs() -> None:
    code = (
        "import sys\nfrom harness.cli import help_of\n"
        "slow = ('cyclopts', 'pandas', 'numpy', 'scipy', 'statsmodels', 'guidance', 'openai')\n"
        "for name in sys.argv[1:]:\n    help_of(name)\n    print(name, [module for module in slow if module in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code, *LEAVES], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines() == [f"{name} []" for name in LEAVES]


@pytest.mark.parametrize("arguments", [["--help"], ["--version"], ["run", "--help"], ["run", "--limit", "x"]], ids=" ".join)
def test_answering_without_a_run_loads_nothing_that_takes_time(arguments: list[str]) -> None:
    code = (
        "import sys\nfrom harness.cli import main\ntry: main(sys.argv[1:])\nexcept SystemExit: pass\n"
        "print([name for name in ('pandas', 'numpy', 'guidance', 'openai', 'msgspec', 'langcodes') if name in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code, *arguments], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[-1] == "[]"


def test_an_errors_message_is_plain_and_its_exit_code_is_the_errors(cli: Callable[..., Any]) -> None:
    result = cli("run", "--board", "no\x1b[31msuch")
    assert result.code == 2 and result.out == ""
    assert result.err.startswith("harness: no board 'no[31msuch'.") and "\x1b" not in result.err


def test_verbose_shows_the_traceback_before_the_message_and_the_exit_code_stays(cli: Callable[..., Any]) -> None:
    result = cli("run", "--board", "none", "-v")
    assert result.code == 2
    assert "Traceback" in result.err and "\nharness: no board 'none'" in result.err


def test_what_a_command_imports_is_exempt_from_collection_and_what_it_makes_is_not() -> None:
    program = "import gc; from harness.cli import main; main(['list', 'languages']); print(gc.isenabled(), gc.get_freeze_count() > 10_000)"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[-1] == "True True"


@pytest.mark.parametrize(
    "arguments", [["--help"], ["compare", "--help"], ["labels", "--help"], ["compare", "--help-thresholds"]], ids=" ".join
)
def test_help_has_no_colours_and_fits_its_width(
    arguments: list[str], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """It is read in pipes and documents too; of words that are longer than a line, only choices are."""
    monkeypatch.setenv("FORCE_COLOR", "1")
    monkeypatch.setenv("COLUMNS", "72")
    with pytest.raises(SystemExit) as caught:
        parse(arguments)
    shown = capsys.readouterr().out
    assert caught.value.code == 0 and "\x1b" not in shown
    texts = shown.partition("exit codes:")[0].partition("examples:")[0]
    assert [line for line in texts.splitlines() if len(line) > 72] == []
