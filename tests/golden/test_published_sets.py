"""The raw files of published data sets convert to what is known of them: the same rows, bytes, counts and published numbers.

The raw files are not part of the project. Some sets are only partly here: then a part of the known rows must come out, in their order.
"""

from __future__ import annotations

import gzip
import hashlib
import json
import statistics
from collections import Counter, defaultdict
from collections.abc import Iterator
from functools import cache
from itertools import combinations
from pathlib import Path
from typing import Any

import pytest
from sklearn.metrics import cohen_kappa_score

from harness.content.library import Library
from harness.data.dataset import load_folder
from harness.published.fetch import converter_of
from harness.published.raw import RawFiles
from harness.row_files import find_table, jsonl_lines, read_rows, to_jsonl

pytestmark = [pytest.mark.needs("shared data"), pytest.mark.needs("raw data"), pytest.mark.slow]

LIBRARY = Library()
CARDS = {name: card for name in LIBRARY.dataset_card_files if (card := LIBRARY.dataset_card(name)).sources}
TRIED = [name for name, card in CARDS.items() if card.tried]
NEW = [
    "adparaphrase_v2",
    "beyond_bleu_id",
    "bilingual_examples",
    "bio_mqm",
    "korean_square",
    "llmeval2",
    "memerag",
    "mlqe_catastrophic",
    "multi_summeval",
    "rtp_lx",
    "textdetox",
    "wmt_qe_2023",
]
KNOWN = [name for name in TRIED if name not in NEW]
PART_OF_RELEASE = {"wmt_qe_2023"}  # cards that take those files of the release that are here
OTHER_FLOATS = {("self_recognition", "judgments")}  # its rows are the same, but were written as 9.2e-05 where we write 0.000092


def raw_files(raw_data: Path, name: str) -> RawFiles:
    sources = CARDS[name].sources
    folder = raw_data / name / "files"
    folders = {one.repository: folder / one.repository.replace("/", "+") if len(sources) > 1 else folder for one in sources}
    return RawFiles(folders, {one.repository: [file.path for file in one.files] for one in sources}, partial=True)


@cache
def converted(raw_data: Path, name: str) -> dict[str, list[dict[str, Any]]]:
    convert = converter_of(CARDS[name])
    return {table: list(rows) for table, rows in convert(raw_files(raw_data, name)).items()}


@cache
def expected(raw_data: Path, name: str) -> dict[str, Any]:
    known: dict[str, Any] = json.loads((raw_data / name / "expected.json").read_text("utf-8"))
    return known


def is_whole(raw_data: Path, name: str) -> bool:
    return name in PART_OF_RELEASE or "part_here" not in expected(raw_data, name)


def plain(path: Path) -> bytes:
    data = path.read_bytes()
    return gzip.decompress(data) if path.suffix == ".gz" else data


@pytest.mark.parametrize("name", TRIED)
def test_a_card_names_the_files_of_the_release(raw_data: Path, name: str) -> None:
    manifest = json.loads((raw_data / name / "MANIFEST.json").read_text("utf-8"))
    listed = {(one.repository, one.commit, file.path, file.bytes, file.sha256) for one in CARDS[name].sources for file in one.files}
    raw = raw_files(raw_data, name)
    taken = [e for e in manifest if name not in PART_OF_RELEASE or raw.has(e["path"], e["repository"])]
    assert listed == {(e["repository"], e["commit"], e["path"], e["bytes"], e["sha256"]) for e in taken}


@pytest.mark.parametrize("name", TRIED)
def test_a_conversion_gives_the_known_number_of_rows(raw_data: Path, name: str) -> None:
    known = expected(raw_data, name)
    here, tables = known.get("part_here", known["full"]), converted(raw_data, name)
    whole = here if name in PART_OF_RELEASE else known["full"]
    assert set(tables) == set(CARDS[name].converted)
    for table, rows in tables.items():
        assert len(rows) == here[table], table
        assert CARDS[name].converted[table].rows == whole[table], table
    assert dict(sorted(Counter(row["language"] for row in tables["items"]).items())) == here["items_by_language"]
    if "labels" in tables:
        assert len({row["annotator_id"] for row in tables["labels"]}) == here["annotators"]
    if "judgments" in tables:
        scores = (row["scores"] if "scores" in row else row["score"] for row in tables["judgments"])
        assert sum(score is None for score in scores) == here["judgments_without_score"]


@pytest.mark.parametrize("name", TRIED)
def test_a_conversion_gives_the_hashes_of_its_card(raw_data: Path, name: str) -> None:
    for table, rows in converted(raw_data, name).items():
        known = CARDS[name].converted[table]
        if is_whole(raw_data, name) or len(rows) == known.rows:
            assert hashlib.sha256(to_jsonl(rows)).hexdigest() == known.sha256, table


@pytest.mark.parametrize("name", TRIED)
def test_a_card_says_whose_labels_and_judgments_there_are(raw_data: Path, name: str) -> None:
    """The numbers of annotators a text and the names of judges are those of the rows; of a part, some of them."""
    card, tables = CARDS[name], converted(raw_data, name)
    people: dict[tuple[str, str], set[str]] = defaultdict(set)
    for row in tables.get("labels", ()):
        people[row["item_id"], row["metric"]].add(row["annotator_id"])
    numbers = {len(each) for each in people.values()}
    said = [int(number) for number in card.annotators_a_text.replace(" or ", " to ").split(" to ") if number]
    judges = {row["judge"] for row in tables.get("judgments", ())}
    if is_whole(raw_data, name):
        assert {*said} == {min(numbers), max(numbers)} if numbers else not said
        assert {*card.judges} == judges
        assert {*card.languages} == ({row["language"] for row in tables["items"]} if numbers else set())
    else:
        assert judges <= {*card.judges} and all(said[0] <= number <= said[-1] for number in numbers)


@pytest.mark.parametrize("name", KNOWN)
def test_a_conversion_gives_the_known_rows_byte_for_byte(raw_data: Path, shared_data: Path, name: str) -> None:
    for table, rows in converted(raw_data, name).items():
        path = find_table(shared_data / name, table)
        assert path is not None
        lines = list(jsonl_lines(rows))
        if (name, table) in OTHER_FLOATS:
            known = list(jsonl_lines(json.loads(line) for line in plain(path).splitlines()))
        else:
            known = [line + b"\n" for line in plain(path).split(b"\n")[:-1]]
        if len(lines) == len(known):
            assert lines == known, table
        else:
            assert not is_whole(raw_data, name)
            assert_in_order(lines, iter(known))
        if (name, table) not in OTHER_FLOATS:
            assert hashlib.sha256(plain(path)).hexdigest() == CARDS[name].converted[table].sha256


def assert_in_order(lines: list[bytes], known: Iterator[bytes]) -> None:
    for line in lines:
        assert line in known, line[:300]


@pytest.mark.parametrize("name", NEW)
def test_a_converted_folder_is_read_with_its_card(raw_data: Path, tmp_path: Path, name: str) -> None:
    """Scores are on the scales of the card, every class of a whole set occurs, and groups and segments are keys of the items."""
    folder = tmp_path / name
    folder.mkdir()
    for table, rows in converted(raw_data, name).items():
        folder.joinpath(f"{table}.jsonl").write_bytes(to_jsonl(rows))
    data = load_folder(folder, LIBRARY, with_judgments=True)
    assert data.about == CARDS[name] and set(data.labels.metric.used) == set(data.about.metrics)
    assert {item.language for item in data.items} == set(CARDS[name].languages)
    used = set(zip(data.labels.metric, data.labels.score, strict=True))
    if is_whole(raw_data, name):
        assert {(metric, score) for metric, scale in data.about.metrics.items() for score in scale.classes} <= used
    for key in filter(None, (data.about.group, data.about.segment)):
        assert key == "group" or all(key in row for _, row in read_rows(folder / "items.jsonl"))


@pytest.mark.parametrize("name", TRIED)
def test_the_scores_of_a_conversion_have_the_known_means_and_counts(raw_data: Path, name: str) -> None:
    known, tables = expected(raw_data, name), converted(raw_data, name)
    numbers = known.get("numbers_part_here" if not is_whole(raw_data, name) else "numbers_full", ())
    languages = {row["item_id"]: row["language"] for row in tables["items"]}
    by_cell: dict[tuple[str, str], list[Any]] = defaultdict(list)
    for row in tables.get("labels", ()):
        for language in (languages.get(row["item_id"], row.get("language", "")), ""):
            by_cell[language, row["metric"]].append(row["score"])
    for number in numbers:
        kind, _, rest = number["what"].partition(" ")
        if number["what"].startswith("mean of all labels, "):
            *language, metric = number["what"].removeprefix("mean of all labels, ").split(", ")
            found: float = statistics.fmean(by_cell[language[0] if language else "", metric])
        elif number["what"].startswith("labels with score "):
            score, metric = rest.removeprefix("with score ").rsplit(", ", 1)
            found = sum(str(value) == score for value in by_cell["", metric])
        else:
            continue
        assert found == pytest.approx(number["value"], abs=max(number["tolerance"], 1e-9)), (kind, number["what"])


def test_the_published_kappas_of_rtp_lx(raw_data: Path) -> None:
    """Linear-weighted kappas of the places of annotators, by locale and metric."""
    scores: dict[tuple[str, str], dict[str, list[int]]] = defaultdict(lambda: defaultdict(list))
    for row in converted(raw_data, "rtp_lx")["labels"]:
        locale, _, place = row["annotator_id"].rpartition("-")
        scores[locale, row["metric"]][place].append(row["score"])
    published = [one for one in expected(raw_data, "rtp_lx")["published_or_reproduced"] if "kappa of positions" in one["what"]]
    assert len(published) >= 14
    for one in published:
        locale = one["what"].partition(":")[0]
        for metric, values in one["value"].items():
            people = [scores[locale, metric][f"human{number}"] for number in (1, 2, 3)]
            found = [cohen_kappa_score(*pair, weights="linear") for pair in combinations(people, 2)]
            assert found == pytest.approx(values, abs=one["tolerance"]), (locale, metric)


def test_names_of_workers_never_reach_a_data_folder(raw_data: Path) -> None:
    """Ids of crowd platforms and initials are in the raw files only."""
    for name, column in (("multi_summeval", "worker_id"), ("korean_square", "workerID"), ("bio_mqm", "Annotator_ID")):
        raw = raw_files(raw_data, name)
        paths = [path for path in (file.path for source in CARDS[name].sources for file in source.files) if raw.has(path)]
        if name == "multi_summeval":
            ids = {row[column] for path in paths if "annotation_result" in path for row in raw.table(path)}
        else:
            ids = {str(value) for path in paths for value in values_of(raw.json(path), column)}
        assert len(ids) >= 17
        written = {str(row[key]) for row in converted(raw_data, name)["labels"] for key in row if key != "spans"}
        assert not written & ids


def values_of(tree: Any, key: str) -> Iterator[Any]:
    children = tree.values() if isinstance(tree, dict) else tree if isinstance(tree, list) else ()
    if isinstance(tree, dict) and key in tree:
        yield tree[key]
    for child in children:
        yield from values_of(child, key)
