"""A listing of commands means the parser whose help it looks like."""

from __future__ import annotations

import argparse
import re
from pathlib import Path

import pytest

from harness.cli import listing
from harness.cli.flags.shared import LINES
from harness.cli.listing import add_commands, first_words
from harness.cli.parser import LISTINGS

WATCH = """
harness watch: keep a certificate

harness watch add (watch:add): add a day, which is told in a
        line that goes on
    folder DIR (Path): the folder of the watch
    others NAME (nargs=*): further ones
    --share, --part N (share default=0.5): a share (default: 0.5)
    --where KEY=VALUES ... (default=): only these
    --title TEXT (default=): its title
    --langs TAGS (names default=): only these languages
    --old NAME (dest=title): hidden
    [output]
    --level ({item,system} default=item): what is compared
    (one of)
    @json
    --csv: print CSV
    []
    --yes: without asking

harness doctor (system:doctor): show what is there
"""


@pytest.fixture(scope="module")
def parser() -> argparse.ArgumentParser:
    made = argparse.ArgumentParser(prog="harness")
    add_commands(made.add_subparsers(), WATCH)
    return made


def test_flags_have_their_defaults_and_kinds(parser: argparse.ArgumentParser) -> None:
    given = vars(parser.parse_args(["watch", "add", "here"])) | {"command": None}
    assert given == {
        **{"folder": Path("here"), "others": [], "share": 0.5, "where": [], "title": "", "langs": (), "level": "item"},
        **{"json": False, "csv": False, "yes": False, "verbose": False, "command": None},
    }


def test_flags_are_read(parser: argparse.ArgumentParser) -> None:
    words = ["watch", "add", "here", "a", "b", "--part", "1", "--where", "a=1", "--where", "b=2", "--old", "x", "--langs", "ja,cs", "--csv"]
    given = parser.parse_args(words)
    assert (given.others, given.share, given.where, given.title, given.langs) == (["a", "b"], 1.0, ["a=1", "b=2"], "x", ("ja", "cs"))
    assert given.csv and not given.json


@pytest.mark.parametrize("words", [["--csv", "--json"], ["--level", "word"], ["--share", "2"], ["--lev", "item"]], ids=" ".join)
def test_what_a_listing_does_not_allow_is_refused(parser: argparse.ArgumentParser, words: list[str]) -> None:
    with pytest.raises(SystemExit):
        parser.parse_args(["watch", "add", "here", *words])


def test_the_help_looks_like_the_listing(parser: argparse.ArgumentParser, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        parser.parse_args(["watch", "add", "--help"])
    shown = " ".join(capsys.readouterr().out.split())
    assert "Add a day, which is told in a line that goes on. positional arguments: DIR the folder of the watch" in shown
    assert "output: --level {item,system} what is compared --json print JSON for programs, unrounded --csv print CSV" in shown
    assert "--old" not in shown
    assert first_words(WATCH) == ["watch", "doctor"]


def test_a_line_that_is_no_flag_is_a_bug() -> None:
    with pytest.raises(AssertionError, match="not a line of a listing: --yes without asking"):
        add_commands(argparse.ArgumentParser().add_subparsers(), "harness go (a:b): go\n    --yes without asking")


def test_every_shared_line_is_used_in_several_places() -> None:
    used = re.findall(r"^    (@[a-z-]+)$", "\n".join([*LISTINGS.values(), LINES]), re.MULTILINE)
    assert {name: used.count(name) for name in listing._shared() if used.count(name) < 2} == {}
