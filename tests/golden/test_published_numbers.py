"""Numbers that are known of the newer published sets: how far people agree, and the means that authors print.

The raw files are not part of the project. Numbers of a whole set are left out where only a part of it is here.
"""

from __future__ import annotations

import statistics
from collections import Counter, defaultdict
from collections.abc import Iterator
from functools import cache
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sklearn.metrics import cohen_kappa_score

from harness import api
from harness.annotate.labelling_options import LabelCheckOptions
from harness.data.dataset import Dataset, load_folder
from harness.row_files import to_jsonl
from harness.stats import gwet_ac
from tests.golden.test_published_sets import LIBRARY, converted, expected, is_whole, raw_files

pytestmark = [pytest.mark.needs("shared data"), pytest.mark.needs("raw data"), pytest.mark.slow]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory, raw_data: Path) -> Any:
    @cache
    def made(name: str) -> Dataset:
        path = tmp_path_factory.mktemp("data") / name
        path.mkdir()
        for table, rows in converted(raw_data, name).items():
            path.joinpath(f"{table}.jsonl").write_bytes(to_jsonl(rows))
        return load_folder(path, LIBRARY)

    return made


def known(raw_data: Path, name: str, *words: str) -> Iterator[tuple[str, Any, float]]:
    """What is known, its value and its tolerance: the numbers whose description has all of the words."""
    for one in expected(raw_data, name)["published_or_reproduced"]:
        if all(word in one["what"] for word in words) and (is_whole(raw_data, name) or one["holds_for_the_part_here"]):
            yield one["what"], one["value"], max(one["tolerance"], 1e-9)


def test_people_agree_on_memerag_as_known(folder: Any, raw_data: Path) -> None:
    check = api.labels_check(folder("memerag"), LabelCheckOptions(where={"part": ("ext",)}))
    cells = {(cell["language"], cell["metric"]): cell for cell in check.cells}
    numbers = list(known(raw_data, "memerag", "Fleiss"))
    assert len(numbers) == len(cells) == 10
    for what, value, tolerance in numbers:
        _, tag, metric = what.partition(":")[0].split(", ")
        cell = cells[tag, metric]
        assert [cell["human_pa"], cell["human_fleiss"], cell["human_ac1"]] == pytest.approx(value, abs=tolerance), what
    [(_, sentences, _)] = known(raw_data, "memerag", "base: sentences")
    found = Counter(item.language for item in folder("memerag").items if item.fields["part"] == "base")
    assert [found[tag] for tag in ("de", "en", "es", "fr", "hi")] == sentences


def test_people_agree_on_square_as_known(folder: Any, raw_data: Path) -> None:
    data = folder("korean_square")
    cells = {cell["metric"]: cell for cell in api.labels_check(data).cells}
    numbers = list(known(raw_data, "korean_square", "Fleiss"))
    assert len(numbers) == len(cells) == 3
    for what, (agreement, fleiss, ac1), tolerance in numbers:
        metric = what.partition(":")[0]
        assert [cells[metric]["human_pa"], cells[metric]["human_fleiss"]] == pytest.approx([agreement, fleiss], abs=tolerance), what
        # The known AC1 counts three classes for every metric; the cards of the two questions name two, as nobody gave a third one.
        assert gwet_ac(label_table(data, metric), 3).value == pytest.approx(ac1, abs=tolerance), what
    assert cells["acceptability"]["human_ac1"] == pytest.approx(numbers[0][1][2], abs=2e-4)


def label_table(data: Dataset, metric: str) -> Any:
    """The labels as numbers of classes, (items, annotators), NaN where there is none."""
    classes, by_item = data.scales[metric].classes, defaultdict(list)
    for label in data.labels:
        if label.metric == metric:
            by_item[label.item_id].append(classes.index(label.score))
    width = max(map(len, by_item.values()))
    return np.array([codes + [np.nan] * (width - len(codes)) for codes in by_item.values()])


def test_the_majority_of_square_is_the_released_label(folder: Any, raw_data: Path) -> None:
    data, votes = folder("korean_square"), defaultdict(list)
    for label in data.labels:
        if label.metric == "acceptability":
            votes[label.item_id].append(label.score)
    [(_, count, _)] = known(raw_data, "korean_square", "majority of three")
    released = {name: ("non-acceptable", "acceptable")[data.by_id[name].fields["released_label"]] for name in votes}
    assert sum(statistics.mode(scores) == released[name] for name, scores in votes.items()) == count


def test_people_agree_on_multi_summeval_as_known(folder: Any, raw_data: Path) -> None:
    cells = {(cell["language"], cell["metric"]): cell for cell in api.labels_check(folder("multi_summeval")).cells}
    numbers = list(known(raw_data, "multi_summeval", "ICC"))
    assert len(numbers) == len(cells) == 14
    for what, value, tolerance in numbers:
        tag, metric = what.partition(":")[0].split(", ")
        assert [cells[tag, metric]["icc"], cells[tag, metric]["human_alpha_interval"]] == pytest.approx(value, abs=tolerance), what


def test_linguists_agree_on_bio_mqm_as_known(raw_data: Path) -> None:
    """Of a part, the languages whose files are all here count: those whose mean of all labels is that of the whole."""
    answers_by_quality, rows = expected(raw_data, "bio_mqm"), converted(raw_data, "bio_mqm")
    means = {number["what"]: number["value"] for number in answers_by_quality["numbers_full"]}
    here = answers_by_quality.get("numbers_part_here", answers_by_quality["numbers_full"])
    whole = {number["what"].split(", ")[1] for number in here if number["value"] == means[number["what"]]}
    assert "pt-BR" in whole
    language = {item["item_id"]: item["language"] for item in rows["items"]}
    scores: dict[str, dict[str, list[float]]] = defaultdict(lambda: defaultdict(list))
    for label in rows["labels"]:
        scores[language[label["item_id"]]][label["item_id"]].append(label["score"])
    for one in answers_by_quality["published_or_reproduced"]:
        tag, _, what = one["what"].partition(": ")
        if what.startswith("items with two linguists") and tag in whole:
            pairs = np.array([both for both in scores[tag].values() if len(both) == 2])
            found = [len(pairs), np.corrcoef(pairs.T)[0, 1], np.mean(pairs[:, 0] == pairs[:, 1])]
            assert found == pytest.approx(one["value"], abs=one["tolerance"]), tag


def test_the_means_and_kappas_of_llmeval2_are_those_of_its_authors(raw_data: Path) -> None:
    numbers = list(known(raw_data, "llmeval2"))
    if not numbers:
        pytest.skip("only a part of llmeval2 is here")
    tables = converted(raw_data, "llmeval2")
    order = ["correctness", "explanation_correctness", "fluency", "accuracy", "logicality", "informativeness"]
    system = {item["item_id"]: item["system"] for item in tables["items"]}
    people, judge = ({(row["item_id"], row["metric"]): row["score"] for row in tables[name]} for name in ("labels", "judgments"))
    for what, value, tolerance in numbers:
        if ": mean of" in what:
            of = people if "mean of people" in what else judge
            chosen = [[s for (item, m), s in of.items() if m == metric and system[item] == what.partition(":")[0]] for metric in order]
            assert list(map(statistics.fmean, chosen)) == pytest.approx(value, abs=tolerance), what
        elif what.startswith("gpt-4 with"):
            metric = what.partition(", ")[2].partition(":")[0]
            pairs = [(score, judge[key]) for key, score in people.items() if key[1] == metric and key in judge]
            found = [statistics.fmean(a == b for a, b in pairs), cohen_kappa_score(*zip(*pairs, strict=True))]
            assert found == pytest.approx(value, abs=tolerance), what


def test_the_authors_check_of_memerag_counts_its_rows(raw_data: Path) -> None:
    """Every line of the raw files is a document, and every sentence of an answer an item."""
    raw = raw_files(raw_data, "memerag")
    paths = [file.path for source in LIBRARY.dataset_card("memerag").sources for file in source.files]
    answers = [line for path in paths for line in raw.json_lines(path)]
    assert len(answers) == len(converted(raw_data, "memerag")["documents"])
    assert sum(len(answer["answer"]) for answer in answers) == len(converted(raw_data, "memerag")["items"])


def test_people_agree_on_critical_errors_as_known(folder: Any, raw_data: Path) -> None:
    data, tables = folder("mlqe_catastrophic"), converted(raw_data, "mlqe_catastrophic")
    cells = {cell["language"]: cell for cell in api.labels_check(data).cells}
    numbers = expected(raw_data, "mlqe_catastrophic")["numbers_by_language"]
    assert numbers.keys() == cells.keys()
    by_place: dict[str, dict[str, list[str]]] = defaultdict(lambda: defaultdict(list))
    for row in tables["labels"]:
        tag, _, place = row["annotator_id"].partition("-pos")
        by_place[tag][place].append(row["score"])
    for tag, values in numbers.items():
        cell, places = cells[tag], by_place[tag]
        found = [cell["human_pa"], cell["human_fleiss"], cell["human_ac1"]]
        assert found == pytest.approx(values["agreement_fleiss_gwet"], abs=5.1e-5), tag
        assert {place: dict(Counter(scores)) for place, scores in places.items()} == values["scores_by_place"], tag
        for (first, second), value in values["pairs_agreement_cohen"].items():
            pair = places[first], places[second]
            found = [statistics.fmean(a == b for a, b in zip(*pair, strict=True)), cohen_kappa_score(*pair)]
            assert found == pytest.approx(value, abs=5.1e-5), (tag, first, second)
        triples = list(zip(*places.values(), strict=True))
        items = [item for item in tables["items"] if item["language"] == tag]
        assert Counter(item["part"] for item in items) == values["texts_by_part"]
        assert sum(len(set(triple)) == 1 for triple in triples) == values["unanimous"]
        released = [item["released_label"] == "ERR" for item in items]
        assert sum(released) == values["released_ERR"]
        majority = [triple.count("yes") >= 2 for triple in triples]
        assert sum(a == b for a, b in zip(released, majority, strict=True)) == values["released_label_is_majority"]


def test_people_and_the_judge_score_indonesian_translations_as_known(folder: Any, raw_data: Path) -> None:
    tables = converted(raw_data, "beyond_bleu_id")
    cells = {cell["metric"]: cell for cell in api.labels_check(folder("beyond_bleu_id")).cells}
    numbers = expected(raw_data, "beyond_bleu_id")["numbers"]
    assert numbers
    for metric, values in numbers.items():
        found = [cells[metric]["human_pa"], cells[metric]["human_fleiss"], cells[metric]["human_ac1"]]
        assert found == pytest.approx(values["agreement_fleiss_gwet"], abs=5.1e-5), metric
        rows = [row for row in tables["labels"] if row["metric"] == metric]
        scores = {number: [row["score"] for row in rows if row["annotator_id"] == f"evaluator{number}"] for number in "123"}
        counts = {number: {str(score): count for score, count in Counter(given).items()} for number, given in scores.items()}
        assert counts == values["scores"]
        for (first, second), pair in values["pairs"].items():
            equal = statistics.fmean(a == b for a, b in zip(scores[first], scores[second], strict=True))
            correlation = np.corrcoef(scores[first], scores[second])[0, 1]
            assert [equal, correlation] == pytest.approx([pair["equal"], pair["pearson"]], abs=5.1e-5), (metric, first, second)
        of_judge = [row["score"] for row in tables["judgments"] if row["metric"] == metric]
        means = [statistics.fmean(row["score"] for row in rows), statistics.fmean(of_judge)]
        assert means == pytest.approx([values["mean_people"], values["mean_judge"]], abs=5.1e-5)


def test_panels_and_judges_score_detoxified_texts_as_known(raw_data: Path) -> None:
    tables = converted(raw_data, "textdetox")
    items = {item["item_id"]: item for item in tables["items"]}
    panels: dict[tuple[str, str], dict[str, list[float]]] = defaultdict(lambda: defaultdict(list))
    for row in tables["labels"]:
        panels[items[row["item_id"]]["language"], row["metric"]][row["item_id"]].append(row["score"])
    judged: dict[tuple[str, str, str], dict[str, float]] = defaultdict(dict)
    for row in tables["judgments"]:
        if row["score"] is not None:
            key = items[row["item_id"]]["language"], row["metric"], f"{row['judge']} {row['variant']}"
            judged[key][row["item_id"]] = row["score"]
    for tag, numbers in expected(raw_data, "textdetox")["numbers_by_language"].items():
        texts = [item for item in items.values() if item["language"] == tag]
        several = [items[name] for name, scores in panels[tag, "fluency"].items() if len(scores) > 1]
        found = [len(texts), len({item["source_id"] for item in texts}), len(several), len({item["source_id"] for item in several})]
        names = ["texts", "sources", "texts_with_two_or_more_panels", "their_sources"]
        assert found == [numbers[name] for name in names], tag
        assert sum(item["source"] == item["output"] for item in texts) == numbers["unchanged_texts"]
        for metric, values in numbers["metrics"].items():
            by_item = panels[tag, metric]
            counts = {str(score): count for score, count in Counter(score for scores in by_item.values() for score in scores).items()}
            assert counts == values["scores"], (tag, metric)
            pairs = [list(combinations(scores, 2)) for scores in by_item.values() if len(scores) > 1]
            equal = statistics.fmean(statistics.fmean(a == b for a, b in pairs_of_item) for pairs_of_item in pairs)
            distance = statistics.fmean(abs(a - b) for pairs_of_item in pairs for a, b in pairs_of_item)
            known_values = [values["panel_panel_agreement"], values["panel_panel_mean_abs_difference"]]
            assert [equal, distance] == pytest.approx(known_values, abs=5.1e-5), (tag, metric)
            for judge, of_judge in values["judges"].items():
                scores = judged[tag, metric, judge]
                shares = [statistics.fmean(score == panel for panel in by_item[name]) for name, score in scores.items()]
                found = [len(scores), statistics.fmean(shares), statistics.fmean(scores.values())]
                names = ["n", "mean_share_of_panels_that_gave_the_same_score", "mean_judge"]
                assert found == pytest.approx([of_judge[name] for name in names], abs=5.1e-5), (tag, metric, judge)
