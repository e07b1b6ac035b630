"""The pages of docs show what their commands print; `python docs/make_blocks.py DATA` writes the whole outputs again."""

from __future__ import annotations

import doctest
import importlib.util
import json
import re
import shlex
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parents[2]
COMMAND_OR_EXCERPT = re.compile(r"`harness ((?:compare|run) [^`\n]+)`|^```text\n(.*?)^```", re.DOTALL | re.MULTILINE)


def script(name: str) -> Any:
    """One of the programs in docs that write parts of pages."""
    spec = importlib.util.spec_from_file_location(name, ROOT / "docs" / f"{name}.py")
    assert spec and spec.loader
    module = sys.modules[name] = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


production = script("make_production")
make = script("make_blocks")
BLOCKS = {page.stem: make.BLOCK.findall(make.PART.sub("", page.read_text("utf-8"))) for page in make.pages()}
EVERY = [(page, *block) for page, blocks in BLOCKS.items() for block in blocks]


@pytest.fixture(scope="module")
def mirror(raw_data: Path, tmp_path_factory: pytest.TempPathFactory) -> Path | None:
    """The raw files as links in `OWNER/REPO/COMMIT/PATH`; None where they are absent."""
    if not raw_data.is_dir():
        return None
    home = tmp_path_factory.mktemp("origin") / "mirror"
    for manifest in raw_data.glob("*/MANIFEST.json"):
        rows = json.loads(manifest.read_text("utf-8"))
        several = len({row["repository"] for row in rows}) > 1
        for row in rows:
            source = manifest.parent / "files" / (row["repository"].replace("/", "+") if several else "") / row["path"]
            link = home / row["repository"] / row["commit"] / row["path"]
            if source.is_file() and not link.exists():
                link.parent.mkdir(parents=True, exist_ok=True)
                link.symlink_to(source)
    return home


def test_the_blocks_of_replications_begin_with_their_data() -> None:
    for get, command, _ in BLOCKS["replications"]:
        assert get and get.split()[4] in command


@pytest.mark.parametrize(("page", "fewest"), [("replications", 4), ("decisions", 1), ("rule", 1)])
def test_a_page_has_blocks(page: str, fewest: int) -> None:
    assert len(BLOCKS[page]) >= fewest


@pytest.mark.slow
@pytest.mark.needs("shared data")
@pytest.mark.parametrize(("page", "get", "command", "shown"), EVERY, ids=[f"{page}-{command[:40]}" for page, _, command, _ in EVERY])
def test_a_block_is_what_its_command_prints(
    cli: Callable[..., Any],
    shared_data: Path,
    mirror: Path | None,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    page: str,
    get: str,
    command: str,
    shown: str,
) -> None:
    """Sets that lie there converted are used as they are; others are fetched as the block says, from the raw files."""
    for folder in shared_data.iterdir():
        (tmp_path / folder.name).symlink_to(folder)
    if "stars" in shlex.split(command):  # the folder of docs/production.md
        production.write_stars(tmp_path / "stars", shared_data / "alttest")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "88")  # as the pages were made
    if get and not (shared_data / shlex.split(get)[4]).exists():
        if mirror is None:
            pytest.skip("no raw files to fetch from")
        monkeypatch.setenv("HARNESS_DATA_MIRROR", str(mirror))
        monkeypatch.setenv("HARNESS_DATA_HOME", str(mirror.parent / "home"))
        fetched = cli(*shlex.split(get)[2:])
        assert fetched.code == 0, fetched.err
    done = cli(*shlex.split(command))
    assert done.code == 0, done.err
    whole = "".join(f"{line.rstrip()}\n" for line in done.out.strip("\n").splitlines())
    assert make.as_long(whole, shown) == shown


def test_a_block_may_leave_lines_out() -> None:
    assert make.as_long("a\nb\nc\nd\n", "A\nB\n") == "a\nb\nc\nd\n"
    assert make.as_long("a\nb\nc\nd\n", "A\nB\n…\n") == "a\nb\n…\n"
    assert make.as_long("a\nb\nc\nd\ne\n", "A\n…\nc\nD\n…\n") == "a\n…\nc\nd\n…\n"
    with pytest.raises(SystemExit, match="begins like 'c'"):
        make.as_long("a\nb\n", "A\n…\nc\n")


@pytest.mark.slow
@pytest.mark.needs("shared data")
def test_the_page_on_production_says_what_its_certificate_gives(
    cli: Callable[..., Any], shared_data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    made, page = production, ROOT / "docs" / "production.md"
    left_out = made.write_stars(tmp_path / "stars", shared_data / "alttest")
    assert made.kept_promises(tmp_path / "stars", left_out) in " ".join(page.read_text("utf-8").split())
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "88")  # as the pages were made
    assert cli("certify", "stars", "--to", "certificate.json").code == 0
    found = doctest.testfile(str(page), module_relative=False)
    assert found.attempted >= 4 and not found.failed


def excerpts() -> dict[tuple[str, str], list[str]]:
    """The excerpts of each page and command: the last command that the page names in its text before them."""
    found: dict[tuple[str, str], list[str]] = {}
    for page in sorted((ROOT / "docs").glob("*.md")):
        command = ""
        for match in COMMAND_OR_EXCERPT.finditer(page.read_text("utf-8")):
            if match[1]:
                command = match[1]
            else:
                found.setdefault((page.stem, command), []).append(match[2])
    return found


@pytest.mark.slow
@pytest.mark.needs("shared data")
@pytest.mark.parametrize(("page", "command"), excerpts())
def test_excerpts_stand_in_what_their_command_prints(
    cli: Callable[..., Any], shared_data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, page: str, command: str
) -> None:
    for folder in (*shared_data.iterdir(), ROOT / "docs" / "own"):
        (tmp_path / folder.name).symlink_to(folder)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "88")  # as the pages were made
    done = cli(*shlex.split(command))
    assert done.code == 0, done.err
    printed = "".join(f"{line.rstrip()}\n" for line in done.out.splitlines())
    for shown in excerpts()[page, command]:
        assert shown.removesuffix("…\n") in printed


def test_the_words_of_the_first_run_are_those_of_its_command(cli: Callable[..., Any], tmp_path: Path) -> None:
    """What stands below the table depends on the languages and the labels, not on the judge."""
    text = (ROOT / "docs" / "getting-started.md").read_text("utf-8")
    words = text[text.index("\nNo native reader has reviewed") : text.index("```\n\nSmolLM2")]
    done = cli("run", "--langs", "ja,cs", "--judge", "baseline/majority", "--out", tmp_path)
    assert done.code == 0 and " ".join(words.split()) in " ".join(done.out.split())
