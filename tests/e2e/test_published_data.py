"""Published data by name, with the real command: from an origin on loopback to numbers."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any
from urllib.parse import unquote

import pytest

import harness
from harness.content.library import Library, bundled_root
from harness.judge_atlas.atlas import FILE, read_atlas
from harness.judge_atlas.atlas_rows import rows_of_set
from harness.published.fetch import raw_files
from tests.e2e.loopback import Loopback, Quiet

pytestmark = [pytest.mark.needs("raw data"), pytest.mark.needs("shared data")]


class Origin(Loopback):
    """Serves the raw files of all published sets as `OWNER/REPO/COMMIT/PATH`, and counts requests."""

    def __init__(self, raw_data: Path) -> None:
        self.files: dict[str, Path] = {}
        self.asked: list[str] = []
        for manifest in raw_data.glob("*/MANIFEST.json"):
            rows = json.loads(manifest.read_text("utf-8"))
            several = len({row["repository"] for row in rows}) > 1
            for row in rows:
                folder = manifest.parent / "files" / (row["repository"].replace("/", "+") if several else "")
                self.files[f"/{row['repository']}/{row['commit']}/{row['path']}"] = folder / row["path"]
        origin = self

        class Handler(Quiet):
            def do_GET(self) -> None:
                origin.asked.append(self.path)
                path = origin.files.get(unquote(self.path))  # paths may hold blanks and parentheses
                body = path.read_bytes() if path and path.is_file() else b""
                self.send_response(200 if body else 404)
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

        super().__init__(Handler)


@pytest.fixture
def origin(raw_data: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[Origin]:
    served = Origin(raw_data)
    monkeypatch.setenv("HARNESS_DATA_MIRROR", served.url.removesuffix("/v1"))
    monkeypatch.setenv("HARNESS_DATA_HOME", str(tmp_path / "home"))
    monkeypatch.chdir(tmp_path)
    yield served
    served.close()


@pytest.mark.slow
@pytest.mark.parametrize("name", ["rtp_lx", "llmeval2"])
def test_the_rows_of_the_atlas_are_those_of_the_comparison(origin: Origin, cli: Callable[..., Any], name: str) -> None:
    """As `tests/e2e/test_atlas.py` has it for sets with converted data. About 20 s of processor time for `rtp_lx`."""
    assert cli("data", "get", name, "--yes", "--partial").code == 0
    card, atlas = Library().dataset_card(name), read_atlas(bundled_root() / FILE)
    compared = harness.compare(name)
    rows = sorted(rows_of_set(card, compared.verdicts), key=lambda row: (row.language, row.quality, row.metric, row.judge, row.condition))
    assert rows and rows == [row for row in atlas.rows if row.set == name] and compared.signature == atlas.sets[name].signature


def test_judges_that_were_trained_on_such_labels_have_no_row_in_the_atlas(origin: Origin, cli: Callable[..., Any]) -> None:
    assert cli("data", "get", "textdetox", "--yes").code == 0
    card, compared = Library().dataset_card("textdetox"), harness.compare("textdetox")
    of_comparison = {str(verdict["judge"]) for verdict in compared.verdicts}
    of_atlas = {row.judge for row in rows_of_set(card, compared.verdicts)}
    assert of_atlas == {"gpt-4.1-mini", "gpt-4.1-nano"} and of_comparison - of_atlas == set(card.judges_trained_on_it)


def test_from_a_name_to_numbers(origin: Origin, cli: Callable[..., Any], shared_data: Path, tmp_path: Path) -> None:
    absent = cli("compare", "adparaphrase_ja")
    assert absent.code == 2 and "'harness data get adparaphrase_ja' fetches 0.1 MB" in absent.err
    near = cli("compare", "adparaphrase_jp")
    assert near.code == 2 and "Did you mean 'adparaphrase_ja'?" in near.err
    refused = cli("data", "get", "adparaphrase_ja")
    assert refused.code == 2 and "Pass --yes to agree" in refused.err and "licence: " in refused.err and not origin.asked
    fetched = cli("data", "get", "adparaphrase_ja", "--yes")
    assert fetched.code == 0 and Path(fetched.out.strip()) == tmp_path / "home" / "adparaphrase_ja", fetched.err
    nothing = cli("data", "check", "--to", tmp_path / "elsewhere")
    assert nothing.code == 2 and "so nothing was checked" in nothing.err
    assert cli("data", "check").err == "1 data set is as published\n"
    record = tmp_path / "home" / "adparaphrase_ja" / "fetched.json"
    whole = json.loads(record.read_text())
    [raw] = [f"{source.repository}/{file.path}" for source, file in raw_files(Library().dataset_card("adparaphrase_ja"))][:1]
    record.write_text(json.dumps(whole | {"missing": [raw]}))
    partial = cli("data", "check")
    assert partial.code == 6 and "its card cannot confirm: 1 of its raw files" in partial.err and "as published" not in partial.err
    record.write_text(json.dumps(whole))
    (record.parent / "data.toml").write_text('id = "mine"\n')
    overridden = cli("data", "check")
    assert overridden.code == 1 and "data.toml is no part of the published set" in overridden.out
    assert json.loads(cli("labels", "check", "adparaphrase_ja", "--json").out)["signature"].startswith("data:adparaphrase_ja@")
    (record.parent / "data.toml").unlink()
    record.rename(tmp_path / "fetched.json")
    assert cli("data", "check").code == 3
    (tmp_path / "fetched.json").rename(record)
    named, by_path = (
        cli("labels", "check", "adparaphrase_ja", "--json"),
        cli("labels", "check", str(shared_data / "adparaphrase_ja"), "--json"),
    )
    assert named.code == 0 and named.out == by_path.out
    again = cli("data", "get", "adparaphrase_ja", "--yes")
    assert again.code == 0 and "is here already" in again.err and len(origin.asked) == 1
    assert cli("data", "remove", "adparaphrase_ja").code == 0 and cli("data", "path", "adparaphrase_ja").code == 2


def test_a_folder_of_that_name_comes_first_and_the_output_says_so(
    origin: Origin, command: Callable[..., Any], shared_data: Path, tmp_path: Path
) -> None:
    os.symlink(shared_data / "hanna", tmp_path / "hanna")
    compared = command("compare", "hanna", cwd=tmp_path)
    said = f"'hanna' is the folder {tmp_path / 'hanna'}, not the published set that 'harness data get' fetches\n"
    assert compared.returncode == 0 and compared.stderr == said and not origin.asked


def test_a_name_works_wherever_a_folder_works(origin: Origin, cli: Callable[..., Any], tmp_path: Path) -> None:
    """Where it is not here, the message has the command, the megabytes and the licence, and the exit code is 2."""
    for words in (
        ("labels", "check", "korean_square"),
        ("labels", "export", "korean_square", "--to", "table.csv"),
        ("labels", "page", "korean_square", "--annotators", "one", "--out", "pages"),
        ("export", "hub", "korean_square", "--to", "hub"),
        ("run", "--data", "korean_square", "--judge", "baseline/majority"),
        ("compare", "korean_square"),
        ("correct", "korean_square"),
        ("data", "path", "korean_square"),
        ("pairs", "korean_square", "--out", "pairs"),
    ):
        absent = cli(*words)
        assert absent.code == 2, words
        assert "'harness data get korean_square' fetches 1.4 MB (licence: MIT" in absent.err, words
    assert cli("data", "get", "korean_square", "--yes").code == 0
    data = harness.load("korean_square")
    assert data.id == "korean_square" and len(data.items) == 735
    (row,) = (row for row in harness.datasets("ko") if row["name"] == "korean_square")
    assert row["folder"] == str(tmp_path / "home" / "korean_square") and row["state"] == "here" and row["bytes"] > 1_000_000
    assert cli("labels", "export", "korean_square", "--to", "table.csv").code == 0
    assert cli("export", "hub", "korean_square", "--to", "hub").code == 0


@pytest.mark.slow
def test_of_sets_chosen_by_language_a_mirror_may_lack_some(origin: Origin, cli: Callable[..., Any], tmp_path: Path) -> None:
    origin.files = {path: file for path, file in origin.files.items() if "AdParaphrase" in path}
    absent = cli("data", "get", "rtp_lx", "--yes")
    assert absent.code == 4 and "does not exist" in absent.err and "--partial converts what there is" in absent.err
    chosen = cli("data", "get", "--langs", "ja", "--yes")
    assert chosen.code == 0 and "rtp_lx is left out: " in chosen.err
    assert chosen.out.splitlines() == [str(tmp_path / "home" / name) for name in ("adparaphrase_ja", "adparaphrase_v2")]
    none = cli("data", "get", "--langs", "ko", "--yes")
    assert none.code == 4 and "korean_square is left out" in none.err


def test_the_list_says_what_a_set_has_and_what_is_here_in_part(origin: Origin, cli: Callable[..., Any]) -> None:
    listed = cli("data", "list", "--lang", "es")
    assert listed.code == 0 and "truthfulqa_multi" in listed.out
    before = " ".join(cli("data", "show", "llmeval2").out.split())
    assert "labels 26,240 by people, 1 a text (aggregate)" in before and "judgments 26,240 of gpt-4" in before
    assert "licence none stated" in before and "size 26.2 MB" in before and "metrics correctness" in before
    assert before.endswith("Next: harness data get llmeval2") and "Did you mean 'llmeval2'?" in cli("data", "show", "llmeval").err
    assert cli("data", "get", "llmeval2", "--yes", "--partial").code == 0
    (row,) = (row for row in harness.datasets("zh") if row["name"] == "llmeval2")
    assert row["state"] == "here in part" and row["judges"] == ["gpt-4"] and row["annotators_a_text"] == "1"


@pytest.mark.slow
def test_japanese_and_czech_have_verdicts_of_native_raters(origin: Origin, cli: Callable[..., Any], tmp_path: Path) -> None:
    fetched = cli("data", "get", "--lang", "ja,cs", "--yes")
    assert fetched.code == 0 and str(tmp_path / "home" / "rtp_lx") in fetched.out.splitlines(), fetched.err
    assert ("wmt24_esa is left out: " in fetched.err) == (not (tmp_path / "home" / "wmt24_esa").exists())
    shown = cli("compare", "rtp_lx", "--lang", "ja,cs")
    assert shown.code == 0 and "Do not use it" in shown.out and "Japanese" in shown.out and "Czech" in shown.out
    compared = cli("compare", "rtp_lx", "--lang", "ja,cs", "--json")
    verdicts = json.loads(compared.out)["verdicts"]
    assert {verdict["language"] for verdict in verdicts} == {"ja", "cs"} and len(verdicts) == 16
    assert {verdict["labels"] for verdict in verdicts} == {"native"} and any(verdict["verdict"] == "do not use" for verdict in verdicts)


def test_a_board_on_fetched_data_is_run_under_the_names_of_our_rubrics(origin: Origin, cli: Callable[..., Any], tmp_path: Path) -> None:
    run = ("run", "--board", "memerag", "--langs", "hi", "--judge", "baseline/majority", "--out", tmp_path / "results", "--json")
    absent = cli(*run)
    assert absent.code == 2 and "'harness data get memerag' fetches" in absent.err
    assert cli("data", "get", "memerag", "--yes").code == 0
    done = cli(*run)
    assert done.code == 0, done.err
    cells = {cell["metric"]: cell for cell in json.loads(done.out)["by_metric"]}
    assert set(cells) == {"faithfulness", "answer_relevance"}
    assert all(0 < cell["n_ref"] <= 112 for cell in cells.values())
