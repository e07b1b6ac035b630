"""`harness atlas`: the answers of the bundled file, its pages, and that the file is what comparisons of its sets give."""

from __future__ import annotations

import json
import re
import shlex
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from rich.cells import cell_len

import harness
from harness.content.library import Library, bundled_root
from harness.judge_atlas.atlas import FILE, read_atlas
from harness.judge_atlas.atlas_rows import rows_of_set
from harness.row_files import parquet_table
from tests.e2e.pages import chromium, opened

ATLAS = read_atlas(bundled_root() / FILE)


def test_a_language_is_answered_from_the_file_alone(cli: Callable[..., Any]) -> None:
    shown = cli("atlas", "--lang", "Japanese")
    assert shown.code == 0 and shown.out.startswith("Japanese: which judge for what\nIn Japanese, use no judge for 6 of 8 metrics of harm;")
    assert "✗ harm, 6 of 8 metrics: do not use gpt-4-turbo for bias" in shown.out
    assert "points below people" in shown.out and "nobody has labels of" in shown.out and "The newest judge here is" in shown.out
    assert "insult" in shown.out and "rtp_lx" in shown.out


def test_all_languages_stand_in_one_table(cli: Callable[..., Any]) -> None:
    shown = cli("atlas").out
    assert all(f"({tag})" in shown for tag in ATLAS.languages)
    assert len({row.language for row in ATLAS.rows}) >= 40 and len({row.judge for row in ATLAS.rows}) >= 29
    assert "People's labels and no judge yet: Catalan (ca), Galician (gl)" in shown


@pytest.mark.parametrize("width", [80, 120])
@pytest.mark.parametrize("asked", [(), ("--lang", "cs"), ("--lang", "en"), ("--judge", "gpt-4-turbo")], ids=" ".join)
def test_no_line_is_wider_than_the_terminal_and_next_steps_are_commands(
    asked: tuple[str, ...], width: int, cli: Callable[..., Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = cli("atlas", *asked).out
    monkeypatch.setenv("COLUMNS", str(width))
    narrow = cli("atlas", *asked).out
    lines = narrow.splitlines()
    assert max(map(cell_len, lines)) <= width and not any(line != line.rstrip() for line in lines)
    steps = [line.rpartition(": ")[2] for line in whole.splitlines() if line.startswith("Next: ")]
    commands = re.findall(r"^ *(harness (?:.*\\\n)*.*)", narrow, re.M) + re.findall(r"^Next: .*: (harness .*)", narrow, re.M)
    said = [shlex.split(command.replace("\\\n", " ")) for command in commands]
    assert all(shlex.split(step) in said for step in steps) and bool(steps) == ("--lang" in asked)
    for row in ATLAS.rows if asked == ("--lang", "cs") else ():
        if row.language == "cs":
            sign = "✗ " if row.verdict == "do not use" else "○ "
            assert any(f" {row.judge[:4]}" in line and sign in line for line in lines), "each row has its judge and its verdict"


def test_rows_for_programs_are_those_of_the_notebook(cli: Callable[..., Any]) -> None:
    rows = json.loads(cli("atlas", "--quality", "preference", "--json").out)
    frame = harness.atlas()
    assert rows and len(rows) == int((frame["quality"] == "preference").sum())
    recorded = [row for row in rows if not row["toy"]]
    assert {row["labels"] for row in recorded} == {"native"} and {row["set"] for row in recorded} == {"alttest", "pariksha_pairwise"}
    assert {row["judge"] for row in rows if row["toy"]} >= {"decider/sparrow-nano"} and all(row["board"] for row in rows if row["toy"])


def test_what_is_not_there_is_said(cli: Callable[..., Any]) -> None:
    near = cli("atlas", "--lang", "sk")
    assert near.code == 2 and "A hint only" in near.err and "Czech: harm do not use or not known yet" in near.err and not near.out
    alone = cli("atlas", "--lang", "gl")
    assert alone.code == 0 and "Nothing is known of judges in Galician yet" in alone.out and "truthfulqa_multi" in alone.out
    unknown = cli("atlas", "--lang", "tlh")
    assert unknown.code == 2 and "nothing is known of judges in 'tlh'" in unknown.err and "harness labels page" in unknown.err
    nothing = cli("atlas", "--to", "atlas.json")
    assert nothing.code == 2 and "nothing is written" in nothing.err and not nothing.out


def test_pages_are_written_whole_and_only_of_everything(cli: Callable[..., Any], tmp_path: Path) -> None:
    done = cli("atlas", "--html", tmp_path / "site", "--url", "https://example.org")
    judged, judges = {row.language for row in ATLAS.rows}, {row.judge for row in ATLAS.rows}
    without = len(ATLAS.languages.keys() - judged)
    assert done.code == 0 and f"{len(judges)} judges, {len(judged)} languages with a verdict; {without} further languages" in done.out
    assert "(Catalan, Galician and Tetum)" in done.out
    assert f"<b>{without}</b> more with people’s labels alone" in (tmp_path / "site" / "index.html").read_text("utf-8")
    assert {path.parent.name for path in (tmp_path / "site").glob("*/index.html")} == {*ATLAS.languages, "rankings", "wanted"}
    part = cli("atlas", "--html", tmp_path / "other", "--lang", "ja")
    assert part.code == 2 and "pages of everything" in part.err and not (tmp_path / "other").exists()
    (tmp_path / "file").write_text("")
    taken = cli("atlas", "--html", tmp_path / "file")
    assert taken.code == 2 and "is a file; name a folder" in taken.err
    alone = cli("atlas", "--url", "https://example.org")
    assert alone.code == 2 and "add --html DIR" in alone.err
    nowhere = cli("atlas", "--html", tmp_path / "other", "--beside", "Leaderboards")
    assert (
        nowhere.code == 2
        and "--beside needs NAME=PAGE, such as Leaderboards=boards/index.html" in nowhere.err
        and not (tmp_path / "other").exists()
    )


def test_an_answer_needs_no_heavy_library() -> None:
    """Measured: 0.13 s of processor time. Numbers of other libraries would take longer than the answer."""
    done = subprocess.run([sys.executable, "-X", "importtime", "-m", "harness", "atlas", "--lang", "ja"], capture_output=True, text=True)
    assert done.returncode == 0 and re.search(r"\| +harness", done.stderr)
    assert not re.search(r"\| +(numpy|pandas|jinja2|guidance|rich\.table|matplotlib)\b", done.stderr)


def test_without_the_data_a_build_keeps_every_row(cli: Callable[..., Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HARNESS_DATA_HOME", str(tmp_path / "empty"))
    monkeypatch.chdir(tmp_path)
    nothing = cli("atlas", "build", "--to", tmp_path / "new.json")
    assert nothing.code == 2 and "harness data get --all" in nothing.err and not (tmp_path / "new.json").exists()
    kept = tmp_path / "atlas.json"
    kept.write_bytes((bundled_root() / FILE).read_bytes())
    done = cli("atlas", "build", "--to", kept)
    assert done.code == 0 and "the rows stay as they were: alttest" in done.err and "without rows: " not in done.err
    assert read_atlas(kept).rows == ATLAS.rows and read_rows_of(kept) == list(ATLAS.flat())


def read_rows_of(kept: Path) -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = parquet_table(kept.with_suffix(".parquet")).to_pylist()
    return rows


def test_the_bundled_parquet_has_the_rows_of_the_bundled_json() -> None:
    assert read_rows_of(bundled_root() / FILE) == list(ATLAS.flat())


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    from datetime import date

    from harness.render.html.atlas_site import atlas_site
    from harness.row_files import write_together

    folder = tmp_path_factory.mktemp("atlas")
    write_together({folder / name: page for name, page in atlas_site(ATLAS, date(2026, 1, 31)).items()})
    return folder


@pytest.mark.slow
@pytest.mark.needs("chromium")
def test_a_language_is_found_by_typing_its_name_in_another_language(site: Path) -> None:
    with chromium() as browser, opened(browser, site / "index.html") as shown:
        assert shown.said == [] and shown.elsewhere == []
        shown.page.fill("#search", "Japonšt")
        assert shown.page.inner_text("[role=status]") == "1 language"
        assert shown.page.eval_on_selector_all("li[data-tag]:not([hidden])", "all => all.map(row => row.dataset.tag)") == ["ja"]
        shown.page.press("#search", "Enter")
        shown.page.wait_for_url("**/ja/index.html")
        assert "Japanese: which judge for what" in shown.page.inner_text("h1") and shown.said == []


@pytest.mark.slow
@pytest.mark.needs("chromium")
@pytest.mark.needs("axe-core")
@pytest.mark.parametrize(("width", "scheme"), [(360, "light"), (1024, "light"), (1440, "dark")])
def test_pages_keep_nobody_out(site: Path, axe_core: str, width: int, scheme: str) -> None:
    with chromium() as browser:
        for name in ("index.html", "ja/index.html", "en/index.html", "ca/index.html", "judges/gpt-4o/index.html"):
            with opened(browser, site / name, width=width, scheme=scheme) as shown:
                shown.page.evaluate(axe_core)
                found = shown.page.evaluate("axe.run(document, {resultTypes: ['violations']})")["violations"]
                assert [(each["id"], each["nodes"][0]["html"][:200]) for each in found] == [], name
                assert shown.page.evaluate("document.documentElement.scrollWidth") <= width, name
                assert shown.said == [] and shown.elsewhere == []


def test_readme_shows_what_the_command_prints(cli: Callable[..., Any], monkeypatch: pytest.MonkeyPatch) -> None:
    text = (Path(__file__).resolve().parents[2] / "README.md").read_text("utf-8")
    [(command, block)] = re.findall(r"```console\n\$ harness (atlas[^\n]*)\n(.*?)```", text, re.DOTALL)
    monkeypatch.setenv("COLUMNS", "88")  # as the page was made
    printed = cli(*command.split()).out.splitlines()
    assert block.splitlines() and all(line in printed for line in block.splitlines() if line != "…")


@pytest.mark.needs("shared data")
@pytest.mark.parametrize(
    "name",
    [
        *("pariksha", "pariksha_pairwise", "alttest"),
        *(pytest.param(name, marks=pytest.mark.slow) for name in ("hanna", "basse", "wmt23_esa_de", "wmt24_esa", "chiang_lee_closer_look")),
    ],
)
def test_the_rows_of_a_set_are_those_of_its_comparison(shared_data: Path, name: str) -> None:
    card = Library().dataset_card(name)
    compared = harness.compare(shared_data / name)
    rows = sorted(rows_of_set(card, compared.verdicts), key=lambda row: (row.language, row.quality, row.metric, row.judge, row.condition))
    assert rows and rows == [row for row in ATLAS.rows if row.set == name] and compared.signature == ATLAS.sets[name].signature
