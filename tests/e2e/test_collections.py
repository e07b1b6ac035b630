"""Boards asked together, by the command: made sets come from a mirror of the test, a mock endpoint is the judge.

A judge that copies one person's labels may be used; one that answers at random may not. Real sets are asked where they are.
"""

from __future__ import annotations

import csv
import gzip
import hashlib
import json
import random
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from harness.content.library import Library
from harness.data import load_folder
from tests.e2e.conftest import Answer, Endpoint, Request

Cli = Callable[..., Any]
Command = Callable[..., Any]
COMMIT = "a" * 40
PEOPLE = ("p1", "p2", "p3")
TEXTS = 60  # in each language, each by itself
CARD = """\
id = "{name}"
version = "1.0.0"
title = "{title}"
languages = ["cs", "ja"]
licence = "none"
citation = "nobody"
get = "harness data get {name}"
source = "{source}"
annotators = "persistent"
sampling = "random"
{further}
[tasks]
{task} = "{ours}"

[qualities]
{metric} = "{quality}"

[metrics.{metric}]
{scale}

[mapping]
task = "{task}"
columns = {{ item_id = "id", language = "language" }}
texts = {{ {texts} }}
wide = [
{wide}
]

[[sources]]
origin = "github:made/{name}@{commit}"
files = [{{ path = "table.csv", bytes = {bytes}, sha256 = "{sha256}" }}]

[converted]
items = {{ rows = {rows} }}
labels = {{ rows = {labels} }}
"""
BOARD = """\
id = "{board}"
version = "1.0.0"
title = "{title}"
description = "Made texts."
languages = ["cs", "ja"]
variants = ["score-only"]
temperature = 0
repeats = 1
majority = "drop"
annotators = "2+"
statistics = ["pa_failed_wrong"]
rank_by = "pa_failed_wrong"

[data]
card = "{name}"
sha256 = "{sha256}"

[tasks]
{ours} = "1.0.0"

[rubrics]
{metric} = "1.0.0"
"""
COLLECTION = """\
id = "made"
version = "1.0.0"
title = "Made labels"
description = "Made boards."
boards = ["made-insults", "made-pairs"]
"""


class MadeSet(NamedTuple):
    """A published set that is invented: `rows` of its only file by item, with a score of each person."""

    name: str
    fields: dict[str, Any]
    texts: tuple[str, ...]
    rows: list[dict[str, Any]]


INSULTS: dict[str, Any] = {
    "title": "Made insults",
    "source": "native",
    "task": "made_insults",
    "ours": "rate_harm",
    "metric": "insult",
    "quality": "harm",
    "scale": 'kind = "ordinal"\nclasses = [1, 2, 3]\nbest = 1',
    "further": "",
}
PAIRS: dict[str, Any] = {
    "title": "Made advertisements",
    "source": "people",
    "task": "made_pairs",
    "ours": "compare_advertisements",
    "metric": "ad_preference",
    "quality": "preference",
    "scale": 'kind = "nominal"\nclasses = ["A", "B", "skip"]\nswap = { A = "B", B = "A" }',
    "further": "",
}


def made_set(name: str, fields: dict[str, Any], classes: tuple[Any, ...], texts: tuple[str, ...]) -> MadeSet:
    """Texts with an own number; three people see the same class in most of them, and each errs by himself in one of eight."""
    chance = random.Random(name)
    rows = []
    for language in ("cs", "ja"):
        for number in range(TEXTS):
            seen = classes[number % len(classes)]
            scores = {who: seen if chance.random() > 1 / 8 else chance.choice(classes) for who in PEOPLE}
            item = f"{name}-{language}-{number}"
            rows.append({"id": item, "language": language, **{text: f"{item} {text}" for text in texts}, **scores})
    return MadeSet(name, fields, texts, rows)


SETS = (
    made_set("made_insults", INSULTS, (1, 2, 3), ("output",)),
    made_set("made_pairs", PAIRS, ("A", "B", "skip"), ("output_a", "output_b")),
)
LABELS = {row["id"]: row for one in SETS for row in one.rows}


@pytest.fixture
def content(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, cli: Cli) -> Path:
    """A content folder with two boards and their collection; the mirror has their raw files, and nothing is fetched yet."""
    folder, mirror = tmp_path / "content", tmp_path / "mirror"
    monkeypatch.setenv("HARNESS_DATA_MIRROR", str(mirror))
    monkeypatch.setenv("HARNESS_DATA_HOME", str(tmp_path / "home"))
    monkeypatch.chdir(tmp_path)
    for one in SETS:
        raw = mirror / "made" / one.name / COMMIT / "table.csv"
        raw.parent.mkdir(parents=True)
        with raw.open("w", encoding="utf-8", newline="") as file:
            writer = csv.DictWriter(file, list(one.rows[0]))
            writer.writeheader()
            writer.writerows(one.rows)
        write_card(folder, one, raw)
        assert cli("data", "get", one.name, "--yes", "--to", tmp_path / "first", "--content", folder).code == 0
        frozen = load_folder(tmp_path / "first" / one.name, Library(folder), card=one.name).sha256
        board = one.name.replace("_", "-")
        write(folder / "leaderboards" / board / "board.toml", BOARD.format(board=board, name=one.name, sha256=frozen, **one.fields))
    write(folder / "leaderboards" / "made" / "collection.toml", COLLECTION)
    return folder


def write_card(folder: Path, one: MadeSet, raw: Path, **changes: str) -> None:
    metric = one.fields["metric"]
    card = CARD.format(
        name=one.name,
        texts=", ".join(f'{text} = "{text}"' for text in one.texts),
        wide="".join(f'  {{ column = "{who}", annotator = "{who}", metric = "{metric}" }},\n' for who in PEOPLE),
        commit=COMMIT,
        bytes=raw.stat().st_size,
        sha256=hashlib.sha256(raw.read_bytes()).hexdigest(),
        rows=len(one.rows),
        labels=len(one.rows) * len(PEOPLE),
        **one.fields | changes,
    )
    write(folder / "catalog" / one.name / "dataset.toml", card)


def write(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")


def item_of(request: Request) -> str:
    return re.search(r"made_\w+-\w+-\d+", request.body["messages"][-1]["content"])[0]  # type: ignore[index]


def copying(endpoint: Endpoint, person: str, *, but: int = 1) -> Callable[[Request], Answer]:
    """Answers as one person did; as another did where they differ, in the first `but` such texts of each board and language."""
    differing: dict[str, list[str]] = {}
    for name, row in LABELS.items():
        if len(differing.setdefault(name.rpartition("-")[0], [])) < but and len({row["p1"], row["p2"], row["p3"]}) > 1:
            differing[name.rpartition("-")[0]].append(name)

    def script(request: Request) -> Answer:
        row, name = LABELS[item_of(request)], item_of(request)
        others = [row[other] for other in ("p1", "p2", "p3") if row[other] != row[person]]
        score = others[0] if others and name in differing[name.rpartition("-")[0]] else row[person]
        return endpoint.saying({"score": score}, model=request.body["model"])

    return script


def guessing(endpoint: Endpoint) -> Callable[[Request], Answer]:
    """Answers at random, another way for each model."""

    def script(request: Request) -> Answer:
        classes = (1, 2, 3) if "made_insults" in item_of(request) else ("A", "B", "skip")
        return endpoint.saying({"score": classes[int(request.key, 16) % 3]}, model=request.body["model"])

    return script


def asked(endpoint: Endpoint, content: Path, *flags: Any) -> tuple[Any, ...]:
    place = ("--content", content, "--base-url", endpoint.url, "--out", content.parent / "results")
    return ("run", "--board", "made", *place, *(flags or ("--judge", "openai/copy-2024-01-01")))


COPY = ("--judge", "openai/copy-2024-01-01")


def test_a_judge_that_answers_as_a_person_may_be_used_on_every_board(cli: Cli, endpoint: Endpoint, content: Path) -> None:
    endpoint.script = copying(endpoint, "p1")
    done = cli(*asked(endpoint, content, *COPY, "--langs", "ja,cs", "--yes"))
    assert done.code == 0, done.err
    assert "made_insults: Made insults" in done.err and "made_pairs: Made advertisements" in done.err, "both were fetched"
    first, _, rest = done.out.partition("Made insults")
    assert "openai/copy-2024-01-01 may be used for 4 of 4 questions" in first
    for sentence in ("✓ Czech: use it for harm and preference.", "✓ Japanese: use it for harm and preference."):
        assert sentence in first
    assert rest.count("use ") and "Made advertisements" in rest
    requests = len(endpoint.requests)
    again = cli(*asked(endpoint, content, *COPY, "--langs", "ja,cs", "--json"))
    assert again.code == 0 and len(endpoint.requests) == requests == 2 * 2 * TEXTS, "nothing is asked twice"
    found = json.loads(again.out)
    assert {verdict["labels"] for verdict in found["boards"]["made-insults"]["verdicts"]} == {"native"}
    assert {verdict["labels"] for verdict in found["boards"]["made-pairs"]["verdicts"]} == {"people"}
    answers = found["answer"]["sentences"]
    assert [style for style, _ in answers] == ["good", "good"] and found["left_out"] == []


def test_columns_that_do_not_fit_are_named_once_for_all_boards(
    cli: Cli, endpoint: Endpoint, content: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    endpoint.script = copying(endpoint, "p1")
    done = cli(*asked(endpoint, content, *COPY, "--langs", "ja,cs", "--yes"))
    assert done.code == 0 and done.out.count("Not in this width") == 1, done.out


@pytest.mark.slow
def test_a_judge_that_copies_a_person_may_be_used_on_no_board(cli: Cli, endpoint: Endpoint, content: Path) -> None:
    endpoint.script = copying(endpoint, "p1", but=0)
    done = cli(*asked(endpoint, content, *COPY, "--langs", "ja,cs", "--yes"))
    assert done.code == 0 and done.out.startswith("Made labels\n\nIt is unknown whether openai/copy-2024-01-01 may be used"), done.err
    assert "a copy of the labels" in done.out and "p1" in done.out and "✓" not in done.out


@pytest.mark.slow
def test_judges_that_guess_may_be_used_for_nothing(command: Command, endpoint: Endpoint, content: Path) -> None:
    endpoint.script = guessing(endpoint)
    judges = [word for number in range(5) for word in ("--judge", f"openai/guess-{number}")]
    done = command(*asked(endpoint, content, *judges, "--yes", "--json"))
    assert done.returncode == 0, done.stderr
    given = [verdict for board in json.loads(done.stdout)["boards"].values() for verdict in board["verdicts"]]
    assert len(given) == 5 * 4 and {verdict["verdict"] for verdict in given} == {"do not use"}


def test_baselines_alone_have_a_sentence_before_their_numbers(cli: Cli, endpoint: Endpoint, content: Path) -> None:
    done = cli(*asked(endpoint, content, "--judge", "baseline/random", "--judge", "baseline/length", "--yes"))
    assert done.out.startswith("Made labels\n\nOnly baselines were asked; an answer needs a judge\n"), done.out


def test_nothing_is_fetched_or_asked_without_consent(cli: Cli, endpoint: Endpoint, content: Path, refused: Callable[..., None]) -> None:
    done = cli(*asked(endpoint, content))
    refused(done, 2, "fetch 0.1 MB into", "Pass --yes to agree")
    assert "licence: none" in done.err and not endpoint.requests and not (content.parent / "home" / "made_insults").exists()
    planned = cli(*asked(endpoint, content, *COPY, "--dry-run"))
    assert planned.code == 0 and not (content.parent / "home" / "made_insults").exists()
    assert re.search(
        r"made-insults: at most [\d,]+ calls of each judge, by its card: its data are not here; 'harness data get made_insults' fetches",
        planned.out,
    )


def test_the_plan_counts_calls_by_board_and_language(cli: Cli, endpoint: Endpoint, content: Path) -> None:
    assert cli("data", "get", "made_insults", "made_pairs", "--yes", "--content", content).code == 0
    prices = content.parent / "prices.toml"
    prices.write_text('["openai/copy-2024-01-01"]\ninput = 1.0\noutput = 1.0\nas_of = "2026-01"\n', "utf-8")
    planned = cli(*asked(endpoint, content, *COPY, "--prices", prices, "--dry-run", "--json"))
    assert planned.code == 0 and not endpoint.requests, planned.err
    found = json.loads(planned.out)
    assert [(row["board"], row["calls"]) for row in found["boards"]] == [("made-insults", 2 * TEXTS), ("made-pairs", 2 * TEXTS)]
    assert [(row["language"], row["calls"]) for row in found["languages"]] == [("cs", 2 * TEXTS), ("ja", 2 * TEXTS)]
    [whole] = found["judges"]
    assert whole["calls"] == 4 * TEXTS and whole["cost"] == pytest.approx(sum(row["cost"] for row in found["languages"]))
    part = cli(*asked(endpoint, content, *COPY, "--dry-run", "--langs", "ja", "--metrics", "insult", "--limit", "7"))
    assert "made-insults  7 calls" in part.out and "made-pairs" not in part.out and "Czech" not in part.out


@pytest.mark.slow
def test_one_limit_holds_for_all_boards_and_the_same_command_goes_on(
    cli: Cli, endpoint: Endpoint, content: Path, refused: Callable[..., None]
) -> None:
    endpoint.script = copying(endpoint, "p2")
    limited = cli(*asked(endpoint, content, *COPY, "--yes", "--max-calls", "150"))
    refused(limited, 6, "made-pairs: calls without an answer: 90", "--max-calls 150 is used up")
    assert len(endpoint.requests) == 150
    whole = cli(*asked(endpoint, content, *COPY))
    assert whole.code == 0 and len(endpoint.requests) == 4 * TEXTS
    assert "90 calls to ask, 150 answered already" in whole.err.splitlines()[0], "the plan of all boards comes first"


def test_what_no_board_has_is_refused_with_what_there_is(cli: Cli, endpoint: Endpoint, content: Path, refused: Callable[..., None]) -> None:
    for flags, words in (
        (("--langs", "fi"), ("no board of 'made' for 'fi' (Finnish)", "choose from: cs, ja")),
        (("--metrics", "toxicity"), ("no metric 'toxicity' on a board of the collection", "ad_preference, insult")),
        (("--tasks", "rate_harm", "--metrics", "ad_preference"), ("no board of 'made' has these languages, tasks and metrics together",)),
        (("--data", "somewhere"), ("--data does not fit the collection 'made'",)),
        (("--unlabelled",), ("--unlabelled does not fit the collection 'made'",)),
    ):
        refused(cli(*asked(endpoint, content, *COPY, *flags)), 2, *words)
    refused(cli("board", "show", "made", "--content", content), 2, "'made' is a collection of boards", "made-insults, made-pairs")
    assert not endpoint.requests


def test_boards_that_cannot_be_asked_here_are_left_out_and_named(
    cli: Cli, endpoint: Endpoint, content: Path, refused: Callable[..., None]
) -> None:
    """Offensive texts stay out of repositories, and a mirror may lack a set."""
    endpoint.script = copying(endpoint, "p3")
    insults = SETS[0]
    raw = content.parent / "mirror" / "made"
    write_card(content, insults, raw / "made_insults" / COMMIT / "table.csv", further="offensive = true")
    (content.parent / "results").mkdir()
    (content.parent / "results" / ".git").mkdir()
    done = cli(*asked(endpoint, content, *COPY, "--yes"))
    assert done.code == 0, done.err
    assert (
        "made-insults is left out: the texts of 'made_insults' are extremely offensive" in done.out and "use it for preference" in done.out
    )
    assert len(endpoint.requests) == 2 * TEXTS and not (content.parent / "home" / "made_insults").exists()
    (raw / "made_pairs" / COMMIT / "table.csv").unlink()
    assert cli("data", "remove", "made_pairs", "--content", content).code == 0
    none = cli(*asked(endpoint, content, *COPY, "--yes"))
    refused(none, 2, "no board can be asked", "made-insults is left out", "made-pairs is left out: its data are not here")


def test_a_board_whose_set_is_here_in_part_is_left_out_and_named(cli: Cli, endpoint: Endpoint, content: Path) -> None:
    """A mirror lacks one of two raw files: the other board is asked, built and counted, and no hash is shown to anybody."""
    endpoint.script = copying(endpoint, "p3")
    pairs, home = content / "catalog" / "made_pairs" / "dataset.toml", content.parent / "mirror" / "made" / "made_pairs" / COMMIT
    head, *lines = (home / "table.csv").read_bytes().splitlines(keepends=True)
    files = []
    for name, part in (("first.csv", lines[:TEXTS]), ("second.csv", lines[TEXTS:])):
        (home / name).write_bytes(head + b"".join(part))
        size, digest = (home / name).stat().st_size, hashlib.sha256((home / name).read_bytes()).hexdigest()
        files.append(f'{{ path = "{name}", bytes = {size}, sha256 = "{digest}" }}')
    write(pairs, re.sub(r"files = \[.*?\]", f"files = [{', '.join(files)}]", pairs.read_text("utf-8")))
    (home / "second.csv").unlink()
    place = ("--content", content)
    assert cli("data", "get", "made_pairs", "--partial", "--yes", *place).code == 0
    done = cli(*asked(endpoint, content, *COPY, "--yes"))
    assert done.code == 0, done.err
    assert "made-pairs is left out: the board 'made-pairs' needs all of 'made_pairs', and only a part of it is here: 1 raw file" in done.out
    assert len(endpoint.requests) == 2 * TEXTS and "content hash" not in done.out + done.err
    plan = cli(*asked(endpoint, content, *COPY, "--dry-run"))
    assert plan.code == 0 and "made-pairs: not counted: the board 'made-pairs' needs all" in plan.out
    named = cli("board", "show", "made-pairs", *place)
    assert named.code == 2 and "only a part of it is here" in named.err


@pytest.mark.slow
def test_a_live_judge_is_submitted_checked_and_recomputed(cli: Cli, endpoint: Endpoint, content: Path) -> None:
    endpoint.script = copying(endpoint, "p1")
    assert cli(*asked(endpoint, content, *COPY, "--yes")).code == 0
    results = content.parent / "results"
    [run] = [path.name for path in (results / "runs").iterdir() if path.name.startswith("made-pairs")]
    submitted = cli("submit", run, "--board", "made-pairs", "--out", results, "--into", content)
    assert submitted.code == 0, submitted.err
    place = ("--content", content)
    assert cli("board", "check", "made-pairs", *place).code == 0
    shown = cli("board", "show", "made-pairs", *place, "--json")
    given = json.loads(shown.out)["verdicts"]
    assert {(verdict["language"], verdict["verdict"]) for verdict in given} == {("cs", "use"), ("ja", "use")}
    assert cli("board", "build", "made-pairs", *place).code == 0
    table = (content / "leaderboards" / "made-pairs" / "TABLE.md").read_text("utf-8")
    opening = table[: table.index("## All languages")]
    assert "| Czech | use |" in opening and "people's labels" in opening and "native" not in opening
    replies = content / "leaderboards" / "made-pairs" / "submissions" / "openai-copy-2024-01-01" / "replies.jsonl.gz"
    lines = gzip.decompress(replies.read_bytes()).replace(b'\\"skip\\"', b'\\"A\\"', 1)
    replies.write_bytes(gzip.compress(lines, mtime=0))
    assert cli("board", "check", "made-pairs", *place).code == 1, "an edited reply is found"
    assert cli("data", "remove", "made_pairs", *place).code == 0
    absent = cli("board", "check", "made-pairs", *place)
    assert absent.code == 6 and "made-pairs: not checked" in absent.err and "no problems" not in absent.err


@pytest.mark.slow
@pytest.mark.needs("shared data")
@pytest.mark.needs("raw data")
def test_the_boards_on_peoples_labels_end_in_verdicts(
    cli: Cli, endpoint: Endpoint, shared_data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Real sets in Japanese and Czech, a few texts of each board."""
    home = tmp_path / "home"
    home.mkdir()
    for name in ("adparaphrase_ja", "wmt24_esa"):
        (home / name).symlink_to(shared_data / name)
    monkeypatch.setenv("HARNESS_DATA_HOME", str(home))
    monkeypatch.setenv("HARNESS_DATA_MIRROR", str(tmp_path / "empty"))
    (tmp_path / "empty").mkdir()
    monkeypatch.chdir(tmp_path)
    endpoint.script = lambda request: endpoint.saying({"score": "A" if "Text A" in request.body["messages"][-1]["content"] else 3})
    judge = ("--judge", "openai/tester-2024-01-01", "--base-url", endpoint.url, "--out", tmp_path / "results")
    done = cli("run", "--board", "people", "--langs", "ja,cs", *judge, "--limit", "40", "--yes")
    assert done.code == 0, done.err
    assert "rtp-lx is left out: its data are not here" in done.out
    assert "Czech: no verdict for translation" in done.out and re.search(r"Japanese: .* for preference", done.out)


def test_the_collection_has_every_board_on_peoples_labels() -> None:
    library = Library()
    on_data = {name for name in library.board_files if not isinstance(library.board(name).data, str)}
    one_score_a_text = {"llmeval2"}  # of classes: neither verdicts nor an order of numbers
    assert set(library.collection("people").boards) == on_data - one_score_a_text
