"""Numbers of three data sets with continuous scores, computed by independent programs (pandas, SciPy) or published by others.

`expected.json` of each data set has them, to four digits mostly. The data are not part of the project.

Left out are numbers of what the data sets do not hold: rows that were dropped on the way to them (tutorials, attention checks of WMT24,
errors moved to the end of their text or by Unicode normalisation), BLEU scores, and Kendall's tau-c, which is no statistic of this program.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from functools import cache, cached_property
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from harness.annotate import label_check
from harness.annotate.label_check import LabelCheck
from harness.content import Library
from harness.data.dataset import load_folder
from harness.measure import compare
from harness.measure.compare import Recording
from harness.measure.label_counts import item_scores
from harness.measure.options import MeasureOptions
from harness.measure.score_cells import second_ratings
from harness.model import ErrorSpan
from harness.row_files import read_rows
from harness.stats import human_pa, krippendorff_alpha
from harness.stats.agreement.correlation import Correlation, score_correlation
from harness.stats.agreement.variance_components import one_way_icc, standardised, two_way_icc

pytestmark = pytest.mark.needs("shared data")

THREE, FOUR = 5.01e-4, 5.01e-5  # rounding of three and of four digits
TWO = 5.01e-3
METHODS: dict[Correlation, str] = {"pearson": "pearson", "spearman": "spearman", "kendall": "kendall_tau_b"}
NAMES = {"pearson": "pearson", "spearman": "spearman", "kendall_tau_b": "kendall_tau"}
PENALTY = {"minor": 1, "major": 5}  # the weights of MQM
LANGUAGES = ["cs", "ja"]


class DataSet:
    """One folder: the data as the program reads them, its comparisons and its check of the labels, each made once."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.expected: Any = json.loads((folder / "expected.json").read_text("utf-8"))
        self.compared = cache(self._compared)
        self.table = cache(self._table)

    @cached_property
    def data(self) -> Any:
        return load_folder(self.folder, Library(), with_judgments=True)

    def _compared(self, level: Any = "item", standardise: Any = "none") -> list[dict[str, Any]]:
        """The cells, without those of metrics that are made of marked errors. No number here depends on resamples, so a few will do."""
        options = MeasureOptions(level=level, standardise=standardise, resamples=100)
        cells = compare.compare([Recording(self.data.id, self.data, self.data.judgments)], options).cells
        return [cell.flat() for cell in cells if cell.key["metric"] not in self.data.about.penalties]

    @cached_property
    def check(self) -> LabelCheck:
        return label_check.check_labels(self.data, MeasureOptions(by=label_check.BY, resamples=100), lambda: None)

    def _table(self, name: str) -> pd.DataFrame:
        """The rows of a file, with the keys that the program does not use (account, campaign)."""
        return pd.DataFrame(row for _, row in read_rows(self.folder / f"{name}.jsonl.gz"))

    @cached_property
    def labelled(self) -> pd.DataFrame:
        """Every label beside the keys of its item, `z` standardised within annotator and language."""
        rows = self.table("labels").merge(self.table("items").drop(columns=["source", "output"], errors="ignore"), on="item_id")
        rows["z"] = standardised(rows["score"], rows["annotator_id"] + rows["language"])
        return rows


@pytest.fixture(scope="module")
def wmt24(shared_data: Path) -> DataSet:
    return DataSet(shared_data / "wmt24_esa")


@pytest.fixture(scope="module")
def wmt23(shared_data: Path) -> DataSet:
    return DataSet(shared_data / "wmt23_esa_de")


@pytest.fixture(scope="module")
def hanna(shared_data: Path) -> DataSet:
    return DataSet(shared_data / "hanna")


def assert_correlations(found: Mapping[str, Any], wanted: Mapping[str, float], names: Mapping[str, str] = NAMES) -> None:
    for name, own in names.items():
        if name in wanted:
            assert found[own] == pytest.approx(wanted[name], abs=FOUR), name


def assert_pairs(x: Any, y: Any, wanted: Mapping[str, float]) -> None:
    """The correlations of two lists of scores, and their number."""
    both = np.column_stack([np.asarray(x, float), np.asarray(y, float)])
    both = both[~np.isnan(both).any(axis=1)]
    assert "n" not in wanted or len(both) == wanted["n"]
    for method, name in METHODS.items():
        if name in wanted:
            found = score_correlation(method, both[:, 0], both[:, 1], np.zeros(len(both)))
            assert found.value == pytest.approx(wanted[name], abs=FOUR), name


def assert_systems(x: pd.Series, y: pd.Series, wanted: Mapping[str, float]) -> None:
    """The correlations of two lists of systems' means, and the share of pairs of systems in the same order."""
    both = pd.concat([x, y], axis=1, join="inner").dropna()
    assert len(both) == wanted["systems"]
    assert_pairs(both.iloc[:, 0], both.iloc[:, 1], wanted)
    order = [np.sign(np.subtract.outer(column, column))[np.triu_indices(len(both), 1)] for column in both.to_numpy().T]
    assert (order[0] == order[1]).mean() == pytest.approx(wanted["pairwise_accuracy"], abs=FOUR)


def penalty(errors: tuple[ErrorSpan, ...]) -> int:
    return sum(PENALTY[error.severity or ""] for error in errors)


# WMT24, English into Czech and Japanese: one person an item, 0 to 100


@pytest.mark.parametrize("language", LANGUAGES)
def test_wmt24_labels(wmt24: DataSet, language: str) -> None:
    """Counts, mean, standard deviation, variance shares, and the level of each annotator."""
    wanted = wmt24.expected["languages"][language]
    [cell] = [one for one in wmt24.check.cells if one["language"] == language and one["metric"] == "translation_quality"]
    assert (cell["items"], cell["labels"], cell["groups"]) == (wanted["items"], wanted["labels"], wanted["documents"])
    assert wanted["counts"]["kept"] == cell["labels"] and cell["raters"] == {"1": cell["labels"]}
    assert wanted["share_of_items_with_2_or_more_annotators"] == 0
    assert len(cell["annotators"]) == wanted["annotators"]
    assert cell["mean_labels"] == pytest.approx(wanted["mean"], abs=THREE)
    assert cell["sd_labels"] == pytest.approx(wanted["sd"], abs=FOUR)
    shares = wanted["variance_explained_eta2"]
    for name, key in (("annotator", "annotator"), ("system", "system"), ("segment", "segment"), ("group", "document")):
        assert cell["variance_shares"][name] == pytest.approx(shares[key], abs=FOUR), name
    people = {one["annotator"]: one for one in cell["annotators"]}
    rows = wmt24.labelled[wmt24.labelled["language"] == language]
    full = rows.groupby("annotator_id")["score"].agg(lambda scores: (scores == 100).mean())
    for name, one in wanted["annotators_table"].items():
        assert people[name]["n"] == one["labels"]
        assert people[name]["mean"] == pytest.approx(one["mean"], abs=TWO)
        assert people[name]["sd"] == pytest.approx(one["sd"], abs=TWO)
        assert full[name] == pytest.approx(one["share_100"], abs=THREE)


@pytest.mark.parametrize("language", LANGUAGES)
def test_wmt24_texts_and_marked_errors(wmt24: DataSet, language: str) -> None:
    wanted = wmt24.expected["languages"][language]
    items = [item for item in wmt24.data.items if item.language == language]
    ids = {item.item_id: item for item in items}
    rows = wmt24.labelled[wmt24.labelled["language"] == language]
    for name, key in (("accounts", "account"), ("documents", "doc_id"), ("segments", "segment"), ("systems", "system")):
        assert rows[key].nunique() == wanted[name], name
    assert rows["score"].median() == wanted["median"]
    assert (rows["score"] == 100).mean() == pytest.approx(wanted["share_100"], abs=FOUR)
    assert (rows["score"] >= 90).mean() == pytest.approx(wanted["share_at_least_90"], abs=FOUR)
    assert sum(item.fields["output"].count("\ufffd") for item in items) == wanted["characters_U+FFFD_in_outputs"]
    first = wmt24.data.labels.take(wmt24.data.labels.metric.equals("translation_quality"))
    marked = [(item, errors) for table in (first, wmt24.data.second) for item, errors in zip(table.item, table.spans, strict=True)]
    marked = [(ids[item], errors) for item, errors in marked if item in ids]
    placed = [(error, item.fields["output"]) for item, errors in marked for error in errors if error.start is not None]
    assert sum(len(errors) for _, errors in marked) == wanted["spans"]
    assert sum(not 0 <= error.start <= error.end <= len(text) for error, text in placed) == wanted["spans_out_of_range"]
    assert sum(bool(errors) for _, errors in marked[: len(rows)]) / len(rows) == pytest.approx(wanted["labels_with_a_span"], abs=FOUR)


@pytest.mark.parametrize("language", LANGUAGES)
def test_wmt24_systems_and_domains(wmt24: DataSet, language: str) -> None:
    """Means, standard deviations and ranks, by scores as given, over domains, and standardised within annotator."""
    wanted = wmt24.expected["languages"][language]
    rows = wmt24.labelled[wmt24.labelled["language"] == language]
    found = rows.groupby("system").agg(n=("score", "size"), mean=("score", "mean"), sd=("score", "std"), mean_z_by_annotator=("z", "mean"))
    found["mean_over_domains"] = rows.groupby(["system", "domain"])["score"].mean().groupby("system").mean()
    for rank, name in (("rank", "mean"), ("rank_over_domains", "mean_over_domains"), ("rank_z", "mean_z_by_annotator")):
        found[rank] = found[name].rank(ascending=False)
    assert set(found.index) == set(wanted["systems_table"])
    for system, one in wanted["systems_table"].items():
        for name, value in one.items():
            assert found.loc[system, name] == pytest.approx(value, abs=FOUR), (system, name)
    domains = rows.groupby("domain")["score"].agg(["size", "mean"])
    assert set(domains.index) == set(wanted["domains"])
    for domain, one in wanted["domains"].items():
        assert (domains.loc[domain, "size"], domains.loc[domain, "mean"]) == (one["n"], pytest.approx(one["mean"], abs=FOUR))


def marked_by_people(data: Any) -> dict[str, Any]:
    """The errors that the first person of each text marked."""
    first = data.labels.take(data.labels.metric.equals("translation_quality"))
    return dict(zip(first.item, first.spans, strict=True))


@pytest.mark.parametrize("language", LANGUAGES)
def test_wmt24_two_people_on_one_text(wmt24: DataSet, language: str) -> None:
    """Second ratings by another person and by the same one, and the errors that another person marked."""
    wanted = wmt24.expected["languages"][language]
    [cell] = [one for one in wmt24.check.cells if one["language"] == language and one["metric"] == "translation_quality"]
    for who in ("another_person", "same_person"):
        one, own = wanted["second_ratings"][who], cell["second_ratings"][who]
        assert own["n"] == one["n"]
        assert_correlations(own, one)
        assert own["mae"] == pytest.approx(one["mean_abs_difference"], abs=TWO)
        assert own["equal"] == pytest.approx(one["equal"], abs=FOUR)
    counts = wanted["counts"]
    assert sum(cell["second_ratings"][who]["n"] for who in ("another_person", "same_person")) == counts["dup"] + counts["incomplete"]
    first = item_scores(wmt24.data, "translation_quality", "annotator")
    item, again = second_ratings(wmt24.data, "translation_quality", first, standardise=True)
    here = np.array([each.language == language for each in wmt24.data.items])[item]
    assert here.sum() == wanted["second_ratings"]["items_rated_by_two_persons"]  # ratings: one Czech text has two by one further person
    assert_pairs(first.mean[item[here]], again[here], wanted["second_ratings"]["another_person_z_by_annotator"])

    one = wanted["second_spans_another_person"]
    assert cell["second_spans"]["n"] == one["n"]
    assert cell["second_spans"]["agreement"] == pytest.approx(one["any_error_agreement"], abs=FOUR)
    assert cell["second_spans"]["kappa"] == pytest.approx(one["any_error_kappa"], abs=FOUR)
    data = wmt24.data
    marked = marked_by_people(data)
    both = [
        (penalty(marked[name]), penalty(errors))
        for name, errors in zip(data.second_spans.item, data.second_spans.spans, strict=True)
        if data.by_id[name].language == language
    ]
    assert_pairs(*zip(*both, strict=True), one)


def test_wmt24_judges_beside_people(wmt24: DataSet) -> None:
    """Correlations over items and over systems; two people's correlation stands beside them, raw and standardised."""
    wanted = wmt24.expected["languages"]
    systems = {(c["language"], c["judge"], c["variant"]): c for c in wmt24.compared("system")}
    plain, taken_out = wmt24.compared(), wmt24.compared("item", "annotator")
    assert len(plain) == sum(len(wanted[tag]["judges"]) for tag in LANGUAGES) == 14
    for cell, adjusted in zip(plain, taken_out, strict=True):
        of = wanted[cell["language"]]
        one = of["judges"][f"{cell['judge']} {cell['variant']}"]
        assert cell["n"] == one["with_score"]["n"]
        assert_correlations(cell, one["with_score"])
        assert cell["mean_judge"] == pytest.approx(one["mean"], abs=TWO)
        own = systems[cell["language"], cell["judge"], cell["variant"]]
        assert own["kendall_tau"] == pytest.approx(one["system_level_kendall"], abs=FOUR)
        names = {"pearson": "human_second_pearson", "kendall_tau_b": "human_second_kendall_tau"}
        assert_correlations(cell, of["second_ratings"]["another_person"], names)
        assert_correlations(adjusted, of["second_ratings"]["another_person_z_by_annotator"], names)
        assert adjusted["acc_eq"] == cell["acc_eq"] and adjusted["mae"] == cell["mae"]  # on scores as given


def test_wmt24_errors_of_judges(wmt24: DataSet) -> None:
    """The share of texts in which a judge marks no error, and its penalties with those of people."""
    data = wmt24.data
    people, judged = marked_by_people(data), data.judgments
    judged = judged.take(judged.metric.equals("translation_quality"))
    rows = zip(judged.item, judged.judge, judged.variant, judged.spans, strict=True)
    frame = pd.DataFrame(
        {"key": (data.by_id[item].language, f"{judge} {variant}"), "own": penalty(errors), "people": penalty(people[item])}
        | {"nothing": not errors}
        for item, judge, variant, errors in rows
    )
    found = dict(list(frame.groupby("key")))
    for language in LANGUAGES:
        for name, one in wmt24.expected["languages"][language]["judges"].items():
            own = found[language, name]
            assert own["nothing"].mean() == pytest.approx(one["without_any_error"], abs=THREE)
            assert_pairs(own["own"], own["people"], one["penalty_with_human_penalty"])


# WMT23, English into German: four kinds of labels


@pytest.fixture(scope="module")
def campaigns(wmt23: DataSet) -> dict[str, pd.DataFrame]:
    """The labels of every campaign."""
    every = pd.concat([wmt23.table("labels"), wmt23.table("second_ratings")])
    made = {str(name): rows.set_index("item_id") for name, rows in every.groupby("campaign")}
    return made | {"DA+SQM": made["WMT23-DA+SQM"]}


def test_wmt23_labels(wmt23: DataSet, campaigns: dict[str, pd.DataFrame]) -> None:
    """Counts, the four kinds of labels campaign by campaign, and how much annotators, systems and segments explain."""
    wanted, data = wmt23.expected, wmt23.data
    cells = {cell["metric"]: cell for cell in wmt23.check.cells}
    assert set(cells) == {one["metric"] for one in wanted["labels"].values()} and len(cells) == 4
    fields = pd.DataFrame([(item.group, item.fields["segment"], item.system) for item in data.items])
    found = [len(data.items), *fields.nunique(), len(data.labels), len(data.judgments), len(data.second), len(data.checks)]
    assert found == list(wanted["counts"].values())
    assert sum(cell["labels"] for cell in cells.values()) == wanted["counts"]["labels"]
    for name, one in wanted["labels"].items():
        rows = campaigns[name]
        scores, best = rows["score"], data.scales[one["metric"]].best
        assert set(rows["metric"]) == {one["metric"]} and rows["annotator_id"].nunique() == one["annotators"]
        assert (len(rows), scores.min(), scores.max()) == (one["n"], one["min"], one["max"])
        assert (scores.mean(), scores.std(), (scores == best).mean()) == pytest.approx(
            (one["mean"], one["sd"], one["share_best"]), abs=FOUR
        )
    alone = wanted["labels"]["WMT23-DA+SQM"]  # a metric with one campaign
    assert cells["da_sqm"]["mean_labels"] == pytest.approx(alone["mean"], abs=FOUR)
    assert cells["da_sqm"]["sd_labels"] == pytest.approx(alone["sd"], abs=FOUR)
    for name, value in wanted["variance_explained_eta2_translation_quality"].items():
        assert cells["translation_quality"]["variance_shares"][name] == pytest.approx(value, abs=FOUR), name
    people = {one["annotator"]: one for one in cells["translation_quality"]["annotators"]}
    for name, one in wanted["annotators_translation_quality"].items():
        own = people[name.split()[1]]
        assert (own["n"], own["mean"], own["sd"]) == (one["labels"], pytest.approx(one["mean"], abs=TWO), pytest.approx(one["sd"], abs=TWO))


def test_wmt23_people_with_people(wmt23: DataSet, campaigns: dict[str, pd.DataFrame]) -> None:
    for pair, wanted in wmt23.expected["people_with_people"].items():
        first, second = (campaigns[name]["score"] for name in pair.split(" / "))
        both = pd.concat([first, second], axis=1, join="inner")
        assert_pairs(*both.to_numpy().T, wanted)


@pytest.mark.parametrize("metric", ["translation_quality", "translation_quality_ai_assisted"])
def test_wmt23_judges_beside_people(wmt23: DataSet, metric: str) -> None:
    """Over items and systems, with the mean of two people."""
    wanted = wmt23.expected
    cells = [cell for cell in wmt23.compared() if cell["metric"] == metric]
    systems = {cell["judge"]: cell for cell in wmt23.compared("system") if cell["metric"] == metric}
    assert {cell["judge"] for cell in cells} == set(wanted["judges_with_people_item_level"])
    for cell in cells:
        one = wanted["judges_with_people_item_level"][cell["judge"]][metric]
        assert cell["n"] == one["n"]
        assert_correlations(cell, one)
        level, own = wanted["judges_with_people_system_level"][cell["judge"]][metric], systems[cell["judge"]]
        assert own["n"] == level["systems"]
        assert_correlations(own, level)
        means = pd.DataFrame(own["systems"]).set_index("system")
        assert_systems(means["human"], means["judge"], level)


@pytest.fixture(scope="module")
def judged(wmt23: DataSet) -> Mapping[tuple[str, str], pd.Series]:
    """The scores of every judge on every metric. An automatic metric has one score, stored on the scales from 0 to 100."""
    rows = wmt23.table("judgments")
    found = {key: of.set_index("item_id")["score"] for key, of in rows.groupby(["judge", "metric"])}
    return found | {(judge, "mqm"): found[judge, "translation_quality"] for judge in set(rows["judge"]) if (judge, "mqm") not in found}


def test_wmt23_judges_with_one_campaign(wmt23: DataSet, campaigns: dict[str, pd.DataFrame], judged: Any) -> None:
    """GEMBA-MQM with the labels of the metrics task without the reference: r = .502, as its organisers count it; and all others."""
    system = wmt23.table("items").set_index("item_id")["system"]
    for level in ("item", "system"):
        for judge, of in wmt23.expected[f"judges_with_people_{level}_level"].items():
            for which, wanted in of.items():
                if " " not in which:
                    continue  # a metric with both people, which the test above has
                name = "WMT23-MQM" if which.startswith("mqm") else which.removesuffix(" alone")
                metric = "mqm" if which.startswith("mqm") else "translation_quality" + ("_ai_assisted" if "AI" in name else "")
                both = pd.concat([campaigns[name]["score"], judged[judge, metric]], axis=1, join="inner").dropna()
                both = both[(system[both.index] != "refA").to_numpy()] if "without refA" in which else both
                if level == "item":
                    assert_pairs(*both.to_numpy().T, wanted)
                else:
                    means = both.groupby(system).mean()
                    assert_systems(means.iloc[:, 0], means.iloc[:, 1], wanted)
    assert wmt23.expected["judges_with_people_item_level"]["gemba-mqm-gpt4"]["mqm (WMT23-MQM only, without refA)"]["pearson"] == 0.5021


def test_wmt23_means_of_systems(wmt23: DataSet, campaigns: dict[str, pd.DataFrame], judged: Any) -> None:
    """By campaign and by judge; those of the metrics task equal the published file."""
    system = wmt23.table("items").set_index("item_id")["system"]
    published = wmt23.expected["published"]["WMT23-MQM system means (en-de.mqm.sys.score)"]
    for name, wanted in [*wmt23.expected["system_means"].items(), ("WMT23-MQM", published)]:
        scores = judged[name.split()[0], "mqm"] if "(mqm)" in name else campaigns[name]["score"]
        means = scores.groupby(system).mean()
        assert set(means.index) == set(wanted)
        for one, value in wanted.items():
            assert means[one] == pytest.approx(value, abs=FOUR), (name, one)


def test_wmt23_attention_checks(wmt23: DataSet) -> None:
    """How often the people of a campaign, and each of them, scored a damaged text below its original."""
    rows = {(row["campaign"], row["annotator"]): row for row in wmt23.check.attention_checks}
    for campaign, one in wmt23.expected["attention_checks"].items():
        row = rows[campaign, "*"]
        assert (row["n"], row["below"]) == (one["n"], pytest.approx(one["lower_than_original"], abs=FOUR))
        assert row["equal"] == pytest.approx(one["equal"], abs=FOUR)
        assert row["below_ci"][0] < row["below"] < row["below_ci"][1]
        checks = [check for check in wmt23.data.checks if check.campaign == campaign]
        assert np.mean([check.score for check in checks]) == pytest.approx(one["mean_bad"], abs=TWO)
        assert np.mean([check.score_of_original for check in checks]) == pytest.approx(one["mean_original"], abs=TWO)
        for annotator, own in one["by_annotator_share_lower"].items():
            found = rows[campaign, annotator]
            assert (found["n"], found["below"]) == (own["n"], pytest.approx(own["lower"], abs=THREE))


# HANNA: three lists of scores, and judges' mean scores in thirds


def test_hanna_people(hanna: DataSet) -> None:
    """Reliability on all stories and on those of machines, and means of systems as the paper prints them."""
    wanted, data, labels = hanna.expected, hanna.data, hanna.table("labels")
    systems = hanna.table("items").set_index("item_id")["system"]
    found = [len(data.items), systems.nunique(), len({item.group for item in data.items}), len(data.labels), len(data.judgments)]
    assert [*found, len([item for item in data.items if item.fields["output"]])] == list(wanted["counts"].values())
    cells = {cell["metric"]: cell for cell in hanna.check.cells}
    for metric, of in wanted["people_with_people"].items():
        cell, one = cells[metric], of["all"]
        assert cell["labelled"] == one["n_items"]
        assert cell["icc"] == pytest.approx(one["ICC(1,1)"], abs=FOUR)
        assert cell["human_alpha_interval"] == pytest.approx(one["krippendorff_alpha_interval"], abs=FOUR)
        assert cell["icc_crossed"] is None  # a place in a list is no person
        wide = labels[labels["metric"] == metric].pivot(index="item_id", columns="annotator_id", values="score")
        assert_reliability(wide, one)
        assert_reliability(wide[systems[wide.index] != "Human"], of["without human stories"])
        means = wide.mean(axis=1).groupby(systems).mean()
        for system, printed in wanted["system_means_people"].items():
            assert means[system] == pytest.approx(printed[metric], abs=TWO)


def assert_reliability(scores: pd.DataFrame, wanted: Mapping[str, float]) -> None:
    """Three lists of scores from 1 to 5, (stories, lists)."""
    codes = scores.to_numpy().astype(int) - 1
    pairs = [(scores.iloc[:, a], scores.iloc[:, b]) for a, b in ((0, 1), (0, 2), (1, 2))]
    r, tau = (
        np.mean([score_correlation(method, *pair, np.zeros(len(scores))).value for pair in pairs]) for method in ("pearson", "kendall")
    )
    found = {
        "n_items": len(scores),
        "ICC(1,1)": one_way_icc(scores)[0].value,
        "ICC(2,3)": two_way_icc(scores)[1].value,
        "krippendorff_alpha_interval": krippendorff_alpha(codes, 5, "interval").value,
        "krippendorff_alpha_ordinal": krippendorff_alpha(codes, 5, "ordinal").value,
        "mean_pairwise_pearson": r,
        "mean_pairwise_kendall_tau_b": tau,
        "pairwise_exact_agreement": human_pa(codes, 5).value,
    }
    assert found == pytest.approx(dict(wanted), abs=FOUR)


@pytest.mark.slow
def test_hanna_judges_beside_people(hanna: DataSet) -> None:
    """Twenty judges on six criteria, over stories and over systems, with what is on the scale."""
    wanted = hanna.expected["judges"]
    systems = {(cell["metric"], cell["judge"], cell["variant"]): cell for cell in hanna.compared("system")}
    assert len(hanna.compared()) == 20 * 6
    for cell in hanna.compared():
        one = wanted[cell["judge"]][cell["variant"]][cell["metric"]]
        assert cell["failures"].get("off_scale", 0) == one["off_scale"]
        assert cell["kendall_tau"] == pytest.approx(one["kendall_all_on_scale"], abs=FOUR)
        assert cell["pearson"] == pytest.approx(one["pearson_all_on_scale"], abs=FOUR)
        if not one["off_scale"]:
            own = systems[cell["metric"], cell["judge"], cell["variant"]]
            assert own["kendall_tau"] == pytest.approx(one["system_level_kendall"], abs=FOUR)
            assert own["pearson"] == pytest.approx(one["system_level_pearson"], abs=FOUR)


@pytest.mark.slow
def test_hanna_scores_as_released(hanna: DataSet) -> None:
    """With the means that unreadable ratings pulled off the scale: what the release's own numbers rest on."""
    systems = hanna.table("items").set_index("item_id")["system"]
    labels, rows = hanna.table("labels"), hanna.table("judgments")
    people = labels.groupby(["metric", "item_id"])["score"].mean()
    published = hanna.expected["published"]["beluga-13b prompt1-simple system means"]
    for (judge, variant, metric), of in rows.groupby(["judge", "variant", "metric"]):
        one = hanna.expected["judges"][judge][variant][metric]
        both = pd.concat([people[metric], of.set_index("item_id")["score"]], axis=1, keys=["people", "judge"])
        system = systems[both.index]
        assert both["judge"].mean() == pytest.approx(one["mean"], abs=FOUR)
        machine = both[(system != "Human").to_numpy()]
        assert_pairs(machine["people"], machine["judge"], {"n": 960, "kendall_tau_b": one["kendall_without_human_stories_all_scores"]})
        means = both.groupby(system).mean()
        assert_pairs(
            means["people"], means["judge"], {"kendall_tau_b": one["system_level_kendall"], "pearson": one["system_level_pearson"]}
        )
        if (judge, variant) == ("beluga-13b", "prompt1-simple"):
            assert all(means.loc[name, "judge"] == pytest.approx(printed[metric], abs=TWO) for name, printed in published.items())
    assert hanna.expected["published"]["largest_difference_to_ours"] <= TWO
