"""The text form of a perturbation, what it is applied to, and the kinds by name: bundled, of others, and broken."""

from __future__ import annotations

import os
import subprocess
import sys
import zlib
from collections.abc import Callable, Iterator
from importlib.metadata import EntryPoint
from pathlib import Path

import msgspec
import pytest

from harness import perturb, plugins
from harness.content import Library
from harness.errors import UsageError
from harness.model import Item
from harness.perturb import SEGMENTERS, Kind, Perturbation, Perturbed, apply, parse_perturbation, registered

BUNDLED = {
    "shuffle-words",
    "attention-check",
    "drop-words",
    "repeat-sentences",
    "swap-language",
    "strip-diacritics",
    "typos",
    "truncate",
    "swap-synonyms",
    "number-swap",
    "inject",
}


@pytest.mark.parametrize(
    ("text", "segmenter", "forms"),
    [
        ("shuffle-words", "icu", ["shuffle-words:0.1"]),
        ("shuffle-words:0.05,0.1,1", "icu", ["shuffle-words:0.05", "shuffle-words:0.1", "shuffle-words:1"]),
        ("shuffle-words:1e-1", "whitespace", ["shuffle-words:0.1@whitespace"]),
        ("shuffle-words:0.1@whitespace", "icu", ["shuffle-words:0.1@whitespace"]),
        ("drop-words@icu", "whitespace", ["drop-words:0.1"]),
        ("swap-language", "whitespace", ["swap-language"]),
        ("repeat-sentences", "whitespace", ["repeat-sentences:0.25"]),
        ("truncate:0.123456789012", "icu", ["truncate:0.123456789012"]),
        (" inject ", "icu", ["inject"]),
    ],
)
def test_a_text_form_is_read(text: str, segmenter: str, forms: list[str]) -> None:
    assert [str(one) for one in parse_perturbation(text, segmenter)] == forms


@pytest.mark.parametrize("name", sorted(BUNDLED))
@pytest.mark.parametrize("segmenter", SEGMENTERS)
def test_the_text_form_reads_back(name: str, segmenter: str) -> None:
    doses = registered()[name].doses
    form = name if doses is None else f"{name}:{doses.least},{doses.default / 3 + 0.1},{doses.most}"
    every = parse_perturbation(form, segmenter)
    assert len(every) == (1 if doses is None else 3)
    for one in every:
        assert parse_perturbation(str(one)) == (one,)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            "shufle-words",
            r"no perturbation 'shufle-words'\. Did you mean 'shuffle-words'\?\n +choose from: attention-check, drop-words, inject, ",
        ),
        ("", r"no perturbation ''\.\n +choose from: "),
        ("shuffle-words:", r"'' is not a dose of 'shuffle-words'; doses are numbers from 0\.05 to 1$"),
        ("shuffle-words:0.1,", r"'' is not a dose of 'shuffle-words'"),
        ("shuffle-words:much", r"'much' is not a dose of 'shuffle-words'"),
        ("shuffle-words:0", r"0\.0 is not a dose of 'shuffle-words'; doses are numbers from 0\.05 to 1$"),
        ("shuffle-words:1.01", r"1\.01 is not a dose"),
        ("shuffle-words:-0.1", r"-0\.1 is not a dose"),
        ("shuffle-words:nan", r"nan is not a dose"),
        ("shuffle-words:inf", r"inf is not a dose"),
        ("shuffle-words:0.1,0.10", r"perturbation 'shuffle-words' names the dose 0\.1 twice"),
        ("truncate:1", r"1\.0 is not a dose of 'truncate'; doses are numbers from 0\.05 to 0\.95$"),
        ("inject:0.1", r"perturbation 'inject' has no dose; write 'inject' alone"),
        ("inject:", r"'' is not a dose of 'inject', which has none; write 'inject' alone"),
        ("typos@whitespaces", r"no segmenter 'whitespaces'\. Did you mean 'whitespace'\?\n +choose from: icu, whitespace"),
        ("typos@", r"no segmenter ''"),
        ("inject@icu", r"perturbation 'inject' does not work on words, so it has no segmenter; write 'inject' instead of 'inject@icu'"),
    ],
)
def test_what_cannot_be_is_refused_with_what_can(text: str, message: str) -> None:
    with pytest.raises(UsageError, match=message):
        parse_perturbation(text)


def test_an_unknown_segmenter_is_refused() -> None:
    with pytest.raises(UsageError, match="no segmenter 'jieba'"):
        parse_perturbation("typos", "jieba")


@pytest.mark.parametrize(
    "perturbation",
    [
        Perturbation("unknown"),
        Perturbation("shuffle-words"),
        Perturbation("shuffle-words", 2.0),
        Perturbation("inject", 0.1),
        Perturbation("typos", 0.1, "spaces"),
    ],
    ids=str,
)
def test_a_perturbation_made_by_hand_is_checked_as_well(perturbation: Perturbation, make_item: Callable[..., Item]) -> None:
    with pytest.raises(UsageError):
        apply(perturbation, make_item(), (), 0)


def test_a_perturbation_goes_through_json() -> None:
    perturbation = Perturbation("shuffle-words", 0.1, "whitespace")
    assert msgspec.json.decode(msgspec.json.encode(perturbation), type=Perturbation) == perturbation


@pytest.mark.parametrize("value", ["", " \n\t", None, 3, ["a b c"], "half \ud800 a pair"], ids=repr)
def test_what_is_no_text_is_left_alone(perturb: Callable[..., Perturbed], value: object) -> None:
    for name in BUNDLED:
        left = perturb(name, "en", value)
        assert (left.applied, left.realised, left.item.fields["output"]) == (False, {}, value)


def test_an_item_without_the_output_is_left_alone(make_item: Callable[..., Item]) -> None:
    item = make_item()
    [perturbation] = parse_perturbation("inject")
    assert apply(perturbation, item, (), 0, outputs=("answer",)) == Perturbed(item, False, {})


def test_all_outputs_are_perturbed_and_what_was_achieved_is_their_mean() -> None:
    item = Item("i", "en", "pairwise", fields={"prompt": "a b", "first": "one two", "second": "one two three four", "third": "word"})
    [perturbation] = parse_perturbation("truncate:0.5")
    cut = apply(perturbation, item, (), 0, outputs=("first", "second", "third"))
    assert cut.applied
    assert cut.item.fields == {"prompt": "a b", "first": "one", "second": "one two", "third": "word"}
    assert (cut.realised["cut"], cut.realised["words"]) == (0.5, 3.0)


def test_equal_texts_of_an_item_are_perturbed_equally() -> None:
    text = "one two three four five six"
    item = Item("i", "en", "pairwise", fields={"first": text, "second": text})
    [perturbation] = parse_perturbation("shuffle-words:1")
    assert len(set(apply(perturbation, item, (), 0, outputs=("first", "second")).item.fields.values())) == 1


@pytest.mark.parametrize("form", ["shuffle-words:1", "drop-words:0.5", "typos:1", "number-swap:1"])
def test_items_texts_and_seeds_have_chance_of_their_own(output: Callable[..., str], form: str) -> None:
    text = "ten of 123456 green bottles standing on the wall of 987654 houses"
    assert len({output(form, "en", text, seed=seed) for seed in range(5)}) > 1
    assert len({output(form, "en", text, item_id=str(number)) for number in range(5)}) > 1


_ELSEWHERE = """
from harness.model import Item
from harness.perturb import apply, parse_perturbation
pool = tuple(Item(f"p{number}", "en", "t", group="g", fields={"output": f"text {number}"}) for number in range(20))
item = Item("i", "cs", "t", group="g", fields={"output": "Kočka leze dírou, pes oknem; 12 let."})
for form in ("shuffle-words:1", "drop-words:0.5", "typos:1", "number-swap:1", "swap-language"):
    print(ascii(apply(parse_perturbation(form)[0], item, pool, 3).item.fields["output"]))
"""


def test_every_process_makes_the_same() -> None:
    def made(hash_seed: str) -> str:
        environment = {**os.environ, "PYTHONHASHSEED": hash_seed}
        return subprocess.run([sys.executable, "-c", _ELSEWHERE], capture_output=True, text=True, check=True, env=environment).stdout

    assert made("1") == made("77")
    assert made("1").count("\n") == 5


def test_every_kind_says_what_it_does(library: Library) -> None:
    assert set(registered()) == BUNDLED
    for name, kind in registered().items():
        assert (kind.name, kind.broken) == (name, "")
        assert kind.summary
        assert kind.doses is None or kind.doses.least <= kind.doses.default <= kind.doses.most
        assert kind.moves or name == "attention-check"  # what a damage moves depends on the data
        assert set(kind.moves) <= set(library.rubric_files)
        assert set(kind.moves.values()) <= {-1, 0, 1}


# Other people's kinds.

_THEIRS = """
from harness.perturb import Change, Doses, Kind

def upper(item, pool, seed, dose, words):
    return Change(words.text.upper(), {"changed": dose})

KIND = Kind("upper", "capitals only", Doses(0.5, 0.1, 1.0), heeds_segmenter=False, moves={"linguistic_acceptability": -1}, perturb=upper)
NOT_A_KIND = 3
"""


@pytest.fixture
def plug_in(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[Callable[..., None]]:
    """Adds entry points `name = value`, as a stranger's package would; `strangers_kinds` is there to be imported."""
    (tmp_path / "strangers_kinds.py").write_text(_THEIRS)
    monkeypatch.syspath_prepend(tmp_path)

    def add(*points: tuple[str, str]) -> None:
        known = [EntryPoint(name, value, perturb.GROUP) for name, value in points]
        monkeypatch.setattr("importlib.metadata.entry_points", lambda group: known if group == perturb.GROUP else [])
        plugins.registered.cache_clear()

    yield add
    plugins.registered.cache_clear()


def test_a_strangers_kind_is_used_like_ours(plug_in: Callable[..., None], output: Callable[..., str]) -> None:
    plug_in(("upper", "strangers_kinds:KIND"))
    assert isinstance(registered()["upper"], Kind)
    assert output("upper:0.5", "en", "shout") == "SHOUT"
    assert output("upper", "en", "SHOUT") is None


@pytest.mark.parametrize(
    ("value", "message"),
    [
        (
            "no_such_package:KIND",
            "is registered by no_such_package:KIND, but cannot be loaded: it raised ModuleNotFoundError: No module named",
        ),
        ("strangers_kinds:NOT_A_KIND", "which is a int; it should be a harness.perturb.kind.Kind of that name"),
        ("strangers_kinds:KIND", "which is the perturbation 'upper'; it should be a harness.perturb.kind.Kind of that name"),
    ],
)
def test_a_broken_plug_in_fails_only_who_asks_for_it(plug_in: Callable[..., None], value: str, message: str) -> None:
    plug_in(("odd", value))
    assert parse_perturbation("inject")
    assert message in registered()["odd"].broken
    with pytest.raises(UsageError, match=message):
        parse_perturbation("odd")


_FAILING = """
from harness.perturb import Change, Kind

def perturb(item, pool, seed, dose, words):
    {body}

KIND = Kind("failing", "Fails.", None, False, {{}}, perturb)
"""


@pytest.mark.parametrize(
    ("body", "message"),
    [
        (
            "raise SystemExit(0)",
            r"the perturbation 'failing' called sys.exit\(0\) \(failing\d+.py:5\) on item 'i'; it should return a Change",
        ),
        ("return next(iter(()))", r"the perturbation 'failing' raised StopIteration \(failing\d+.py:5\) on item 'i'"),
        ("return 1 / 0", r"raised ZeroDivisionError: division by zero \(failing\d+.py:5\)"),
        ("return 'text'", "returned str for item 'i'; it should return a Change, or None"),
        ("return Change(3, {})", "returned Change for item 'i'; it should return a Change, or None"),
        ("return Change('a', {'size': 'large'})", "returned Change for item 'i'"),
        ("return Change('\\ud800', {})", "returned Change for item 'i'"),
    ],
)
def test_a_strangers_kind_that_fails_is_named_with_the_item_and_the_line(
    plug_in: Callable[..., None], output: Callable[..., str], tmp_path: Path, body: str, message: str
) -> None:
    module = f"failing{zlib.crc32(body.encode())}"
    (tmp_path / f"{module}.py").write_text(_FAILING.format(body=body))
    plug_in(("failing", f"{module}:KIND"))
    with pytest.raises(UsageError, match=message):
        output("failing", "en", "Some text.")


def test_a_module_of_kinds_that_ends_the_program_is_broken(plug_in: Callable[..., None], tmp_path: Path) -> None:
    (tmp_path / "ends_here.py").write_text("raise SystemExit(0)")
    plug_in(("odd", "ends_here:KIND"))
    with pytest.raises(UsageError, match=r"cannot be loaded: it called sys.exit\(0\) \(ends_here.py:1\)"):
        parse_perturbation("odd")


@pytest.mark.parametrize(
    ("points", "message"),
    [
        ([("inject", "theirs:KIND")], "perturbation 'inject' is registered twice: by this program and by theirs:KIND"),
        ([("odd", "one:KIND"), ("odd", "two:KIND")], "perturbation 'odd' is registered twice: by one:KIND and by two:KIND; uninstall one"),
    ],
)
def test_a_name_twice_is_an_error_that_names_both(plug_in: Callable[..., None], points: list[tuple[str, str]], message: str) -> None:
    plug_in(*points)
    for ask in (registered, lambda: parse_perturbation("typos")):
        with pytest.raises(UsageError, match=message):
            ask()


def test_the_same_entry_point_seen_twice_is_one(plug_in: Callable[..., None]) -> None:
    plug_in(("upper", "strangers_kinds:KIND"), ("upper", "strangers_kinds:KIND"))
    assert "upper" in registered()
