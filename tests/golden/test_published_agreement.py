"""How far people agree in published sets without judges: what the command prints from the raw files equals what others computed."""

from __future__ import annotations

import gzip
import hashlib
import json
import runpy
import statistics
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator
from itertools import combinations
from pathlib import Path
from typing import Any

import pytest

import harness
from harness.content.library import Library
from harness.data.folders import fetched_folder
from harness.stats import pearson, spearman
from tests.conftest import ROOT

pytestmark = [pytest.mark.needs("raw data"), pytest.mark.slow]

SETS = ["adparaphrase_v2", "bilingual_examples", "wmt_qe_2023"]


@pytest.fixture(scope="module")
def home(raw_data: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The raw files of the sets as links in `OWNER/REPO/COMMIT/PATH`, and beside them the folder for converted data."""
    folder = tmp_path_factory.mktemp("published")
    for name in SETS:
        for row in json.loads((raw_data / name / "MANIFEST.json").read_text("utf-8")):
            source = raw_data / name / "files" / row["path"]
            if source.is_file():
                link = folder / "mirror" / row["repository"] / row["commit"] / row["path"]
                link.parent.mkdir(parents=True, exist_ok=True)
                link.symlink_to(source)
    return folder


@pytest.fixture(autouse=True)
def _fetched(home: Path, cli: Callable[..., Any], monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setenv("HARNESS_DATA_MIRROR", str(home / "mirror"))
    monkeypatch.setenv("HARNESS_DATA_HOME", str(home / "home"))
    for name in SETS:
        assert cli("data", "get", name, "--yes").code == 0
    yield


def expected(raw_data: Path, name: str) -> dict[str, Any]:
    numbers: dict[str, Any] = json.loads((raw_data / name / "expected.json").read_text("utf-8"))
    return numbers


def cells(cli: Callable[..., Any], name: str) -> dict[tuple[str, str], dict[str, Any]]:
    done = cli("labels", "check", name, "--json")
    assert done.code == 0, done.err
    return {(cell["language"], cell["metric"]): cell for cell in json.loads(done.out)["cells"]}


@pytest.mark.parametrize("name", SETS)
def test_the_rows_are_the_known_ones(raw_data: Path, name: str) -> None:
    numbers, folder = expected(raw_data, name), fetched_folder(name)
    assert folder is not None
    for table, rows in numbers.get("rows", numbers.get("rows_part_here")).items():
        lines = gzip.decompress((folder / f"{table}.jsonl.gz").read_bytes()).split(b"\n")
        for row in rows:
            assert hashlib.sha256(lines[row["row"]]).hexdigest() == row["sha256"], (table, row["row"])
    labels = [json.loads(line) for line in gzip.decompress((folder / "labels.jsonl.gz").read_bytes()).splitlines()]
    assert all(row in labels for row in numbers["exact_rows"]["labels"])


def test_the_votes_of_adparaphrase(raw_data: Path, cli: Callable[..., Any]) -> None:
    known = expected(raw_data, "adparaphrase_v2")["numbers"]
    by_metric = cells(cli, "adparaphrase_v2")
    asked = by_metric["ja", "is_paraphrase"]
    numbers = [asked[name] for name in ("human_pa", "human_fleiss", "human_ac1")]
    assert numbers == pytest.approx(known["is_paraphrase"]["agreement_fleiss_gwet"], abs=6e-5)
    assert asked["no_majority"] == known["is_paraphrase"]["without_unique_commonest"]
    preferred = by_metric["ja", "preference"]
    assert (preferred["labelled"], preferred["no_majority"], round(preferred["human_fleiss"], 2)) == (16_460, 1_252, 0.17)
    data = harness.load("adparaphrase_v2")
    assert len({item.group for item in data.items}) == expected(raw_data, "adparaphrase_v2")["numbers"]["different_ad1"]
    votes: dict[str, Counter[Any]] = {"is_paraphrase": Counter(), "preference": Counter()}
    by_item: dict[tuple[str, str], Counter[Any]] = defaultdict(Counter)
    for row in data.labels:
        votes[row.metric][row.score] += 1
        by_item[row.item_id, row.metric][row.score] += 1
    assert votes["is_paraphrase"] == known["is_paraphrase"]["votes"]
    majority = {"is_paraphrase": Counter[Any](), "preference": Counter[Any]()}
    for (_, metric), counts in by_item.items():
        (score, most), *others = counts.most_common()
        if not others or others[0][1] < most:
            majority[metric][score] += 1
    assert majority["is_paraphrase"] == known["is_paraphrase"]["majority"]
    assert (majority["preference"]["A"], majority["preference"].total()) == (8_189, 15_208)


def test_the_places_of_annotators_of_wmt_qe(raw_data: Path) -> None:
    """Means, spreads, and how alike the scores of two places are."""
    scores: dict[str, dict[str, list[float]]] = defaultdict(lambda: defaultdict(list))
    data = harness.load("wmt_qe_2023")
    languages = {item.item_id: item.language for item in data.items}
    for row in data.labels:
        scores[languages[row.item_id]][row.annotator_id.removeprefix(f"{languages[row.item_id]}-pos")].append(float(row.score))
    for language, known in expected(raw_data, "wmt_qe_2023")["numbers_part_here"].items():
        places = scores[language]
        assert {place: len(values) for place, values in places.items()} == dict.fromkeys(known["mean_by_place"], known["texts"])
        for name, statistic in (("mean_by_place", statistics.fmean), ("sd_by_place", statistics.pstdev)):
            assert {place: statistic(values) for place, values in places.items()} == pytest.approx(known[name], abs=6e-5), name
        assert {place: len(set(values)) for place, values in places.items()} == known["different_scores_by_place"]
        for a, b in combinations(places, 2):
            differences = [abs(x - y) for x, y in zip(places[a], places[b], strict=True)]
            pair = {
                "pearson": pearson(places[a], places[b]).value,
                "spearman": spearman(places[a], places[b]).value,
                "equal": statistics.fmean(difference == 0 for difference in differences),
                "mean_abs_difference": statistics.fmean(differences),
            }
            assert pair == pytest.approx(known["pairs"][a + b], abs=6e-5), (language, a, b)


def test_the_two_people_of_each_language_of_bilingual_examples(raw_data: Path, cli: Callable[..., Any]) -> None:
    by_metric = cells(cli, "bilingual_examples")
    scores: dict[tuple[str, str], dict[str, list[int]]] = defaultdict(lambda: defaultdict(list))
    for row in harness.load("bilingual_examples").labels:
        language, _, annotator = row.annotator_id.partition("-")
        scores[language, row.metric][annotator].append(int(row.score))
    for name, known in expected(raw_data, "bilingual_examples")["numbers"].items():
        language, metric = name.split()
        [pair] = by_metric[language, metric]["pairs"]
        assert pair["n"] == known["texts"]
        assert (pair["pa"], pair["cohen_kappa"]) == pytest.approx((known["equal"], known["cohen"]), abs=6e-5), name
        people = scores[language, metric]
        assert pearson(people["A1"], people["A2"]).value == pytest.approx(known["pearson"], abs=6e-5), name
        for annotator, counts in people.items():
            assert {str(score): number for score, number in Counter(counts).items()} == known[annotator], (name, annotator)


def test_the_board_has_the_drawn_pairs_and_submissions_without_problems(cli: Callable[..., Any]) -> None:
    frozen = runpy.run_path(str(ROOT / "leaderboards" / "freeze.py"))["frozen"]
    written = (ROOT / "leaderboards" / "adparaphrase-v2" / "board.toml").read_text("utf-8")
    assert written.endswith(frozen(Library(), "adparaphrase-v2", None, 200, 1, 1))
    assert not written.endswith(frozen(Library(), "adparaphrase-v2", None, 200, 1, 2))
    assert cli("board", "check", "adparaphrase-v2").code == 0
    pairs = {*Library().board("adparaphrase-v2").items["ja"]}
    data = harness.load("adparaphrase_v2")
    votes = Counter(row.score for row in data.labels if row.item_id in pairs and row.metric == "preference")
    card = (ROOT / "leaderboards" / "adparaphrase-v2" / "CARD.md").read_text("utf-8")
    assert f"Votes: `ad_preference` {', '.join(f'{score} {votes[score]}' for score in ('A', 'B', 'skip'))}." in card
