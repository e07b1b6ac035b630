"""Published sets of others: from a content folder, which runs no code, and from a package. Fetches that are stopped, as real processes."""

from __future__ import annotations

import hashlib
import os
import resource
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.conftest import HANG_SECONDS
from tests.e2e.loopback import Loopback, Quiet

Cli = Callable[..., Any]
PLACE = "people/labels/0a1b"
TABLE = "id,text,rater,tone\n" + "".join(f"t{number},Testo {number * 7919},{who},{number % 3}\n" for number in range(2000) for who in "ab")
CARD = """\
id = "mine"
version = "1.0.0"
title = "Invented labels"
languages = ["it"]
licence = "CC0"
citation = "Nobody"
get = "harness data get mine"
source = "people"
annotators = "persistent"

[metrics.tone]
kind = "ordinal"
classes = [0, 1, 2]
best = 2

[[sources]]
origin = "github:people/labels@0a1b"
files = [{{ path = "labels.csv", bytes = {bytes}, sha256 = "{sha256}" }}]
"""
MAPPING = """
[mapping]
language = "it"
task = "chat"
metric = "tone"
columns = { item_id = "id", annotator_id = "rater", score = "tone" }
texts = { output = "text" }
"""


class Origin(Loopback):
    """Serves the table in two halves; the second one waits until `go_on` is set."""

    def __init__(self) -> None:
        self.waiting, self.go_on, self.body = threading.Event(), threading.Event(), TABLE.encode()
        self.go_on.set()
        origin = self

        class Handler(Quiet):
            def do_GET(self) -> None:
                self.send_response(200)
                self.send_header("Content-Length", str(len(origin.body)))
                self.end_headers()
                half = len(origin.body) // 2
                self.wfile.write(origin.body[:half])
                self.wfile.flush()
                origin.waiting.set()
                origin.go_on.wait(HANG_SECONDS)
                self.wfile.write(origin.body[half:])

        super().__init__(Handler)


@pytest.fixture
def origin(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[Origin]:
    served = Origin()
    monkeypatch.setenv("HARNESS_DATA_MIRROR", served.url.removesuffix("/v1"))
    monkeypatch.setenv("HARNESS_DATA_HOME", str(tmp_path / "home"))
    monkeypatch.chdir(tmp_path)
    yield served
    served.go_on.set()
    served.close()


def card(folder: Path, more: str = MAPPING) -> Path:
    """A folder whose catalog has the card of the invented set."""
    path = folder / "catalog" / "mine" / "dataset.toml"
    path.parent.mkdir(parents=True)
    path.write_text(CARD.format(bytes=len(TABLE), sha256=hashlib.sha256(TABLE.encode()).hexdigest()) + more)
    return folder


def tables(home: Path) -> list[str]:
    """The files of data folders, whole or not: all but raw files and locks."""
    files = (path.relative_to(home) for path in home.rglob("*") if path.is_file() and path.suffix != ".lock")
    return sorted(str(path) for path in files if path.parts[0] != "raw")


WHOLE = ["mine/fetched.json", "mine/items.jsonl.gz", "mine/labels.jsonl.gz"]


# ---- cards of others


def test_a_card_of_a_content_folder_is_data_and_its_mapping_converts(origin: Origin, cli: Cli, tmp_path: Path) -> None:
    content = card(tmp_path / "content")
    fetched = cli("data", "get", "mine", "--content", content, "--yes")
    assert fetched.code == 0, fetched.err
    assert "mine: 2,000 items, 4,000 labels" in fetched.err and tables(tmp_path / "home") == WHOLE


@pytest.mark.parametrize("name", ["mine", "hanna"])
def test_a_card_of_a_content_folder_never_runs_code(origin: Origin, command: Callable[..., Any], tmp_path: Path, name: str) -> None:
    """Neither a converter beside the card, nor one that the program or a package has for that name."""
    content, proof = card(tmp_path / "content", ""), tmp_path / "proof"
    evil = f"open({str(proof)!r}, 'w')\ndef convert(raw):\n    return {{}}\n"
    (content / "catalog" / "mine" / "mine.py").write_text(evil)
    (content / "harness_published_mine.py").write_text(evil)
    if name != "mine":  # a checkout replaces the bundled content, so that it may hold a card of the same name
        (content / "catalog" / "mine").rename(content / "catalog" / name)
        path = content / "catalog" / name / "dataset.toml"
        path.write_text(path.read_text().replace('id = "mine"', f'id = "{name}"'))
        (content / "content.lock").write_text("")
    refused = command("data", "get", name, "--content", content, "--yes", env={"PYTHONPATH": str(content)})
    assert refused.returncode == 2, refused.stderr
    assert ("never runs code" if name == "hanna" else "nothing converts them") in refused.stderr
    assert not proof.exists() and tables(tmp_path / "home") == []


def test_a_card_that_names_a_converter_is_refused(cli: Cli, tmp_path: Path) -> None:
    content = card(tmp_path / "content", '\n[converter]\nmodule = "os:system"\n')
    refused = cli("data", "list", "--content", content)
    assert refused.code == 3 and "catalog/mine/dataset.toml" in refused.err and "converter" in refused.err


CONVERTER = """
def convert(raw):
    rows = raw.table("labels.csv")
    items = dict.fromkeys(row["id"] for row in rows)
    return {
        "items": ({"item_id": item, "language": "it", "task": "chat", "output": item} for item in items),
        "labels": ({"item_id": row["id"], "annotator_id": row["rater"], "metric": "tone", "score": int(row["tone"])} for row in rows),
    }
"""


@pytest.fixture
def package(tmp_path: Path) -> Path:
    """A distribution of somebody else's, as pip installs it: a package with a catalog, and an entry point."""
    site = tmp_path / "site"
    card(site / "their_labels", "")
    (site / "their_labels" / "__init__.py").write_text("")
    (site / "their_labels" / "sets.py").write_text(CONVERTER)
    about = site / "their_labels-1.0.dist-info"
    about.mkdir()
    (about / "METADATA").write_text("Metadata-Version: 2.1\nName: their-labels\nVersion: 1.0\n")
    (about / "entry_points.txt").write_text("[harness.published]\nmine = their_labels.sets:convert\n")
    return site


@pytest.mark.slow
def test_a_package_adds_a_set_by_its_entry_point(origin: Origin, command: Callable[..., Any], tmp_path: Path, package: Path) -> None:
    path = {"PYTHONPATH": str(package)}
    listed = command("data", "list", "--lang", "it", env=path)
    assert listed.returncode == 0 and "Invented labels" in listed.stdout, listed.stderr
    fetched = command("data", "get", "mine", "--yes", env=path)
    assert fetched.returncode == 0 and "mine: 2,000 items, 4,000 labels" in fetched.stderr, fetched.stderr
    checked = command("labels", "check", "mine", "--json", env=path)
    assert checked.returncode == 0 and '"tone"' in checked.stdout, checked.stderr


@pytest.mark.slow
@pytest.mark.parametrize(
    ("code", "words"),
    [
        ("import nowhere\n", "the converter of 'mine' (their_labels.sets:convert) cannot be loaded: it raised ModuleNotFoundError"),
        (CONVERTER.replace('row["rater"]', 'row["worker"]'), "labels.csv:2: there is no 'worker' here; there is: id, text, rater, tone"),
        (
            CONVERTER.replace('int(row["tone"])', 'int(row["text"])'),
            "labels.csv:2: is not as the converter of 'mine' expects: invalid",
        ),
        (CONVERTER.replace("def convert(raw)", "def convert(raw, more)"), "is not as the converter of 'mine' expects: convert() missing"),
    ],
)
def test_a_packages_broken_converter_is_one_sentence(
    origin: Origin, command: Callable[..., Any], tmp_path: Path, package: Path, code: str, words: str
) -> None:
    (package / "their_labels" / "sets.py").write_text(code)
    refused = command("data", "get", "mine", "--yes", env={"PYTHONPATH": str(package)})
    assert refused.returncode in (2, 3) and words in refused.stderr and "Traceback" not in refused.stderr, refused.stderr
    assert tables(tmp_path / "home") == []


# ---- fetches that are stopped


def start(*words: str | Path, **options: Any) -> subprocess.Popen[str]:
    line = [sys.executable, "-m", "harness", *map(str, words)]
    return subprocess.Popen(line, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, **options)


def test_of_two_fetches_at_once_one_is_told_of_the_other(origin: Origin, tmp_path: Path) -> None:
    content = card(tmp_path / "content")
    origin.go_on.clear()
    first = start("data", "get", "mine", "--content", content, "--yes")
    assert origin.waiting.wait(HANG_SECONDS)
    second = start("data", "get", "mine", "--content", content, "--yes")
    _, said = second.communicate(timeout=HANG_SECONDS)
    assert second.returncode == 2 and "another command fetches or removes 'mine'" in said, said
    origin.go_on.set()
    _, said = first.communicate(timeout=HANG_SECONDS)
    assert first.returncode == 0 and tables(tmp_path / "home") == WHOLE, said


def test_ctrl_c_leaves_nothing_half_and_the_same_command_goes_on(origin: Origin, tmp_path: Path) -> None:
    content = card(tmp_path / "content")
    origin.go_on.clear()
    first = start("data", "get", "mine", "--content", content, "--yes")
    assert origin.waiting.wait(HANG_SECONDS)
    first.send_signal(signal.SIGINT)
    _, said = first.communicate(timeout=HANG_SECONDS)
    assert first.returncode == 130 and said.rstrip().endswith("harness: interrupted") and "Traceback" not in said, said
    assert not [path for path in (tmp_path / "home").rglob("*") if path.is_file() and path.suffix != ".lock"]
    origin.go_on.set()
    again = start("data", "get", "mine", "--content", content, "--yes")
    _, said = again.communicate(timeout=HANG_SECONDS)
    assert again.returncode == 0 and tables(tmp_path / "home") == WHOLE, said


@pytest.mark.parametrize("least", [20_000, 1_000])
def test_a_full_disk_is_one_sentence_and_the_same_command_goes_on(origin: Origin, tmp_path: Path, least: int) -> None:
    """A limit on the size of files stands for the disk: first the raw file does not fit, then, where it is there, the tables do not."""
    content = card(tmp_path / "content")
    words = ("data", "get", "mine", "--content", content, "--yes")
    if least == 1_000:
        raw = tmp_path / "home" / "raw" / PLACE / "labels.csv"
        raw.parent.mkdir(parents=True)
        raw.write_text(TABLE)
    full = start(*words, preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (least, least)))
    _, said = full.communicate(timeout=HANG_SECONDS)
    assert full.returncode == 5 and "make room or choose another" in said and "Traceback" not in said, said
    assert tables(tmp_path / "home") == []
    again = start(*words)
    _, said = again.communicate(timeout=HANG_SECONDS)
    assert again.returncode == 0 and tables(tmp_path / "home") == WHOLE, said


@pytest.mark.slow
def test_a_file_that_is_not_as_its_card_says_is_refused_and_not_kept(origin: Origin, cli: Cli, tmp_path: Path) -> None:
    content = card(tmp_path / "content")
    origin.body = TABLE.replace("Testo", "Tesla").encode()
    refused = cli("data", "get", "mine", "--content", content, "--yes")
    assert refused.code == 4 and "is not the file that the dataset card names" in refused.err
    assert not [path for path in (tmp_path / "home").rglob("*") if path.is_file() and path.suffix != ".lock"]
    origin.body = TABLE.encode()
    assert cli("data", "get", "mine", "--content", content, "--yes").code == 0 and os.listdir(tmp_path / "home" / "mine")
