"""Numbers of three data sets with continuous scores, computed by independent programs (pandas, SciPy) or published by others.

`expected.json` of each data set has them, to four digits mostly. The data are not part of the project.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from harness import api
from harness.stats import krippendorff_alpha
from harness.stats.continuous import score_correlation
from harness.stats.correlation import Correlation
from harness.stats.intraclass import two_way_icc
from harness.stats.severity import standardised

pytestmark = pytest.mark.needs("shared data")

FOUR = 5.01e-5  # rounding of four digits
METHODS: dict[Correlation, str] = {"pearson": "pearson", "spearman": "spearman", "kendall": "kendall_tau_b"}
NAMES = {"pearson": "pearson", "spearman": "spearman", "kendall_tau_b": "kendall_tau"}


def expected(folder: Path) -> Any:
    return json.loads((folder / "expected.json").read_text("utf-8"))


@cache
def compared(folder: Path, level: Any = "item", standardise: Any = "none", where: tuple[tuple[str, str], ...] = ()) -> list[dict[str, Any]]:
    chosen = {name: [value] for name, value in where}
    return [cell.flat() for cell in api.compare(folder, level=level, standardise=standardise, where=chosen).cells]


@cache
def checked(folder: Path) -> tuple[dict[str, Any], ...]:
    return api.check_labels(folder).cells


@cache
def table(folder: Path, name: str) -> pd.DataFrame:
    return pd.read_json(folder / f"{name}.jsonl.gz", lines=True)


def assert_correlations(found: Mapping[str, Any], wanted: Mapping[str, float], names: Mapping[str, str] = NAMES) -> None:
    for name, own in names.items():
        if name in wanted:
            assert found[own] == pytest.approx(wanted[name], abs=FOUR), name


# WMT24, English into Czech and Japanese: one person an item, 0 to 100


@pytest.mark.parametrize("language", ["cs", "ja"])
def test_wmt24_labels(shared_data: Path, language: str) -> None:
    """Counts, mean, standard deviation, variance shares, and people's correlation with second ratings."""
    folder = shared_data / "wmt24_esa"
    wanted = expected(folder)["languages"][language]
    [cell] = [one for one in checked(folder) if one["language"] == language]
    assert (cell["items"], cell["labels"], cell["groups"]) == (wanted["items"], wanted["labels"], wanted["documents"])
    assert len(cell["annotators"]) == wanted["annotators"]
    assert cell["mean_labels"] == pytest.approx(wanted["mean"], abs=5.01e-4)
    assert cell["sd_labels"] == pytest.approx(wanted["sd"], abs=FOUR)
    shares = wanted["variance_explained_eta2"]
    for name, key in (("annotator", "annotator"), ("system", "system"), ("segment", "segment"), ("group", "document")):
        assert cell["variance_shares"][name] == pytest.approx(shares[key], abs=FOUR), name
    for who in ("another_person", "same_person"):
        assert cell["second_ratings"][who]["n"] == wanted["second_ratings"][who]["n"]
        assert_correlations(cell["second_ratings"][who], wanted["second_ratings"][who])
    people = {one["annotator"]: one for one in cell["annotators"]}
    for name, one in wanted["annotators_table"].items():
        assert people[name]["n"] == one["labels"]
        assert people[name]["mean"] == pytest.approx(one["mean"], abs=5.01e-3)
        assert people[name]["sd"] == pytest.approx(one["sd"], abs=5.01e-3)


@pytest.mark.parametrize("language", ["cs", "ja"])
def test_wmt24_systems_by_raw_and_standardised_scores(shared_data: Path, language: str) -> None:
    folder = shared_data / "wmt24_esa"
    wanted = expected(folder)["languages"][language]["systems_table"]
    items, labels = table(folder, "items"), table(folder, "labels")
    rows = labels.merge(items[items["language"] == language][["item_id", "system"]], on="item_id")
    rows["z"] = standardised(rows["score"], rows["annotator_id"])
    means = rows.groupby("system")[["score", "z"]].mean()
    ranks = means.rank(ascending=False)
    assert set(means.index) == set(wanted)
    for system, one in wanted.items():
        assert means.loc[system, "score"] == pytest.approx(one["mean"], abs=FOUR)
        assert means.loc[system, "z"] == pytest.approx(one["mean_z_by_annotator"], abs=FOUR)
        assert (ranks.loc[system, "score"], ranks.loc[system, "z"]) == (one["rank"], one["rank_z"])


def test_wmt24_judges_beside_people(shared_data: Path) -> None:
    """Correlations over items and over systems; two people's correlation stands beside them, raw and standardised."""
    folder = shared_data / "wmt24_esa"
    wanted = expected(folder)["languages"]
    systems = {(c["language"], c["judge"], c["variant"]): c for c in compared(folder, "system")}
    plain, taken_out = compared(folder), compared(folder, "item", "annotator")
    assert len(plain) == sum(len(wanted[tag]["judges"]) for tag in ("cs", "ja")) == 14
    for cell, adjusted in zip(plain, taken_out, strict=True):
        of = wanted[cell["language"]]
        one = of["judges"][f"{cell['judge']} {cell['variant']}"]
        assert cell["n"] == one["with_score"]["n"]
        assert_correlations(cell, one["with_score"])
        assert cell["mean_judge"] == pytest.approx(one["mean"], abs=5.01e-3)
        own = systems[cell["language"], cell["judge"], cell["variant"]]
        assert own["kendall_tau"] == pytest.approx(one["system_level_kendall"], abs=FOUR)
        names = {"pearson": "human_second_pearson", "kendall_tau_b": "human_second_kendall_tau"}
        assert_correlations(cell, of["second_ratings"]["another_person"], names)
        assert_correlations(adjusted, of["second_ratings"]["another_person_z_by_annotator"], names)
        assert adjusted["acc_eq"] == cell["acc_eq"] and adjusted["mae"] == cell["mae"]  # on scores as given


# WMT23, English into German: four kinds of labels


def test_wmt23_labels(shared_data: Path) -> None:
    folder = shared_data / "wmt23_esa_de"
    wanted = expected(folder)
    cells = {cell["metric"]: cell for cell in checked(folder)}
    assert set(cells) == {"translation_quality", "translation_quality_ai_assisted", "mqm", "da_sqm"}
    assert sum(cell["labels"] for cell in cells.values()) == wanted["counts"]["labels"]
    shares = cells["translation_quality"]["variance_shares"]
    for name, value in wanted["variance_explained_eta2_translation_quality"].items():
        assert shares[name] == pytest.approx(value, abs=FOUR), name
    one = wanted["labels"]["WMT23-DA+SQM"]
    assert cells["da_sqm"]["labels"] == one["n"]
    assert cells["da_sqm"]["mean_labels"] == pytest.approx(one["mean"], abs=FOUR)
    assert cells["da_sqm"]["sd_labels"] == pytest.approx(one["sd"], abs=FOUR)


@cache
def campaigns(folder: Path) -> dict[str, pd.Series]:
    """The score of every item in every campaign."""
    every = pd.concat([table(folder, "labels"), table(folder, "second_ratings")])
    made = {name: rows.set_index("item_id")["score"] for name, rows in every.groupby("campaign")}
    return made | {"DA+SQM": made["WMT23-DA+SQM"]}


def test_wmt23_people_with_people(shared_data: Path) -> None:
    folder = shared_data / "wmt23_esa_de"
    for pair, wanted in expected(folder)["people_with_people"].items():
        first, second = (campaigns(folder)[name] for name in pair.split(" / "))
        both = pd.concat([first, second], axis=1, join="inner").to_numpy()
        assert len(both) == wanted["n"]
        for method, name in METHODS.items():
            found = score_correlation(method, both[:, 0], both[:, 1], np.zeros(len(both)))
            assert found.value == pytest.approx(wanted[name], abs=FOUR), (pair, name)


@pytest.mark.parametrize("metric", ["translation_quality", "translation_quality_ai_assisted"])
def test_wmt23_judges_beside_people(shared_data: Path, metric: str) -> None:
    """Over items and systems, with the mean of two people."""
    folder = shared_data / "wmt23_esa_de"
    wanted = expected(folder)
    cells = compared(folder, "item", "none", (("metric", metric),))
    systems = {cell["judge"]: cell for cell in compared(folder, "system", "none", (("metric", metric),))}
    assert {cell["judge"] for cell in cells} == set(wanted["judges_with_people_item_level"])
    for cell in cells:
        one = wanted["judges_with_people_item_level"][cell["judge"]][metric]
        assert cell["n"] == one["n"]
        assert_correlations(cell, one)
        level = wanted["judges_with_people_system_level"][cell["judge"]][metric]
        assert systems[cell["judge"]]["n"] == level["systems"]
        assert_correlations(systems[cell["judge"]], level)


def test_wmt23_judges_with_one_campaign(shared_data: Path) -> None:
    """GEMBA-MQM with the labels of the metrics task without the reference: r = .502, as its organisers count it; and all others."""
    folder = shared_data / "wmt23_esa_de"
    judged = table(folder, "judgments")
    for judge, of in expected(folder)["judges_with_people_item_level"].items():
        for which, wanted in of.items():
            if " " not in which:
                continue  # a metric with both people, which the test above has
            name = "WMT23-MQM" if which.startswith("mqm") else which.removesuffix(" alone")
            metric = "mqm" if which.startswith("mqm") else "translation_quality" + ("_ai_assisted" if "AI" in name else "")
            own = judged[judged["judge"] == judge]
            if metric not in set(own["metric"]):
                metric = "translation_quality"  # an automatic metric has one score, stored on the scales from 0 to 100
            scores = own[own["metric"] == metric].set_index("item_id")["score"]
            both = pd.concat([campaigns(folder)[name], scores], axis=1, join="inner").dropna()
            both = both[[not name.endswith("-refA") for name in both.index]] if "without refA" in which else both
            assert len(both) == wanted["n"]
            for method, key in METHODS.items():
                found = score_correlation(method, *both.to_numpy().T, np.zeros(len(both)))
                assert found.value == pytest.approx(wanted[key], abs=FOUR), (judge, which, key)


def test_wmt23_attention_checks(shared_data: Path) -> None:
    """How often the people of a campaign, and each of them, scored a damaged text below its original."""
    folder = shared_data / "wmt23_esa_de"
    rows = {(row["campaign"], row["annotator"]): row for row in api.check_labels(folder).attention_checks}
    wanted = expected(folder)["attention_checks"]
    for campaign, one in wanted.items():
        row = rows[campaign, "*"]
        assert (row["n"], row["below"]) == (one["n"], pytest.approx(one["lower_than_original"], abs=FOUR))
        assert row["equal"] == pytest.approx(one["equal"], abs=FOUR)
        assert row["below_ci"][0] < row["below"] < row["below_ci"][1]
        for annotator, own in one["by_annotator_share_lower"].items():
            found = rows[campaign, annotator]
            assert (found["n"], found["below"]) == (own["n"], pytest.approx(own["lower"], abs=5.01e-4))


# HANNA: three lists of scores, and judges' mean scores in thirds


def test_hanna_people(shared_data: Path) -> None:
    """Reliability on all stories, and means of systems as the paper prints them."""
    folder = shared_data / "hanna"
    wanted = expected(folder)
    labels = table(folder, "labels")
    systems = table(folder, "items").set_index("item_id")["system"]
    cells = {cell["metric"]: cell for cell in checked(folder)}
    for metric, of in wanted["people_with_people"].items():
        cell, one = cells[metric], of["all"]
        assert cell["labelled"] == one["n_items"]
        assert cell["icc"] == pytest.approx(one["ICC(1,1)"], abs=FOUR)
        assert cell["human_alpha_interval"] == pytest.approx(one["krippendorff_alpha_interval"], abs=FOUR)
        assert cell["icc_crossed"] is None  # a place in a list is no person
        wide = labels[labels["metric"] == metric].pivot(index="item_id", columns="annotator_id", values="score")
        machine = wide[systems[wide.index] != "Human"]
        for name, scores in (("all", wide), ("without human stories", machine)):
            assert two_way_icc(scores)[1].value == pytest.approx(of[name]["ICC(2,3)"], abs=FOUR)
            ordinal = krippendorff_alpha(scores.to_numpy().astype(int) - 1, 5, "ordinal").value
            assert ordinal == pytest.approx(of[name]["krippendorff_alpha_ordinal"], abs=FOUR)
        means = wide.mean(axis=1).groupby(systems).mean()
        for system, printed in wanted["system_means_people"].items():
            assert means[system] == pytest.approx(printed[metric], abs=5.01e-3)


@pytest.mark.parametrize("metric", ["relevance", "coherence", "empathy", "surprise", "engagement", "complexity"])
def test_hanna_judges_beside_people(shared_data: Path, metric: str) -> None:
    folder = shared_data / "hanna"
    wanted = expected(folder)["judges"]
    cells = compared(folder, "item", "none", (("metric", metric),))
    systems = {(cell["judge"], cell["variant"]): cell for cell in compared(folder, "system", "none", (("metric", metric),))}
    assert len(cells) == 20
    for cell in cells:
        one = wanted[cell["judge"]][cell["variant"]][metric]
        assert cell["failures"].get("off_scale", 0) == one["off_scale"]
        assert cell["kendall_tau"] == pytest.approx(one["kendall_all_on_scale"], abs=FOUR)
        assert cell["pearson"] == pytest.approx(one["pearson_all_on_scale"], abs=FOUR)
        if not one["off_scale"]:
            own = systems[cell["judge"], cell["variant"]]
            assert own["kendall_tau"] == pytest.approx(one["system_level_kendall"], abs=FOUR)
            assert own["pearson"] == pytest.approx(one["system_level_pearson"], abs=FOUR)
