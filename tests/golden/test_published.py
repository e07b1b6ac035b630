"""Numbers that others published, or that independent programs compute, from the data sets that `catalog/` describes.

The data are not part of the project: without them these tests are skipped, and continuous integration turns the skip into a failure.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.metrics import cohen_kappa_score
from statsmodels.stats.inter_rater import aggregate_raters, fleiss_kappa

pytestmark = pytest.mark.needs("shared data")

Cli = Callable[..., Any]
Cells = dict[tuple[Any, ...], dict[str, Any]]


def asked(cli: Cli, *arguments: str | Path) -> list[dict[str, Any]]:
    done = cli(*arguments, "--json")
    assert done.code == 0, done.err
    cells: list[dict[str, Any]] = json.loads(done.out)["cells"]
    return cells


def expected(folder: Path) -> Any:
    return json.loads((folder / "expected.json").read_text("utf-8"))


# TruthfulQA-Multi, Calvo Figueras et al. (2025): agreement of two annotators, report_iaa.txt of the release


def test_cohens_kappas_of_truthfulqa_multi(cli: Cli, shared_data: Path) -> None:
    folder = shared_data / "truthfulqa_multi"
    found = {(c["language"], c["metric"]): c["pairs"] for c in asked(cli, "labels", "check", folder)}
    for language, published in expected(folder)["cohen_kappa"].items():
        for metric in ("truthfulness", "informativeness"):
            [pair] = found[language, metric]
            assert pair["n"] == published["n"]
            assert pair["cohen_kappa"] == pytest.approx(published[metric], abs=1e-12)


# BASSE, Barnes et al. (2025): correlations of system means, and ordinal alphas a round, Basque


@pytest.mark.parametrize(
    ("statistic", "table"), [("kendall_tau", "judge_kendall_tau_system_level"), ("spearman", "judge_spearman_system_level")]
)
def test_system_level_correlations_of_basse(cli: Cli, shared_data: Path, statistic: str, table: str) -> None:
    folder = shared_data / "basse"
    cells = asked(cli, "compare", folder, "--level", "system", "--where", "language=eu")
    found = {(c["judge"], c["metric"]): c for c in cells}
    rows = expected(folder)["eu"][table]
    assert len(found) == 5 * len(rows) == 30
    for row in rows:
        for metric in ("Coherence", "Consistency", "Fluency", "Relevance", "5W1H"):
            cell = found[row["Judge"], metric]
            assert cell["n"] == 20
            assert cell[statistic] == pytest.approx(row[metric], abs=5.01e-4), (row["Judge"], metric)


def test_ordinal_alphas_of_basse(cli: Cli, shared_data: Path) -> None:
    folder = shared_data / "basse"
    systems = "generator=claude,commandr,gpt4o,llama3,reka,subhead"  # the people who wrote summaries did not rate their own
    cells = asked(cli, "labels", "check", folder, "--where", "language=eu", "--where", systems, "--by", "language,metric,round")
    found = {(c["round"], c["metric"]): c["human_alpha_ordinal"] for c in cells}
    table = expected(folder)["eu"]["krippendorff_ordinal_alpha"]
    for row in table:
        for metric in ("Coherence", "Consistency", "Fluency", "Relevance", "5W1H"):
            assert found[row["round"] - 1, metric] == pytest.approx(row[metric], abs=5.01e-3), (row["round"], metric)


# PARIKSHA, Watts et al. (2024): ten Indic languages, against pandas, scikit-learn and statsmodels


def rated(folder: Path) -> pd.DataFrame:
    """One row an item and metric with exactly three annotators: their scores, and GPT-4's."""
    items = pd.read_json(folder / "items.jsonl.gz", lines=True)[["item_id", "language"]]
    labels = pd.read_json(folder / "labels.jsonl.gz", lines=True)
    judged = pd.read_json(folder / "judgments.jsonl.gz", lines=True)[["item_id", "metric", "score"]]
    people = labels.groupby(["item_id", "metric"])["score"].agg(list).rename("people").reset_index()
    people = people[people["people"].map(len) == 3]
    return people.merge(judged.rename(columns={"score": "judge"}), on=["item_id", "metric"]).merge(items, on="item_id")


def majority(scores: list[int]) -> float:
    counts = np.bincount(scores)
    return float(np.argmax(counts)) if counts.max() > 1 else np.nan


@pytest.mark.parametrize("rule", ["drop", "median"])
def test_pariksha_equals_an_independent_computation(cli: Cli, shared_data: Path, rule: str) -> None:
    folder = shared_data / "pariksha"
    cells = asked(cli, "compare", folder, "--annotators", "3", "--majority", rule)
    rows = rated(folder)
    rows["reference"] = rows["people"].map(majority if rule == "drop" else np.median)
    groups = dict(list(rows.groupby(["language", "metric"])))
    assert len(groups) == len(cells) == 30
    for cell in cells:
        group = groups[cell["language"], cell["metric"]]
        people = np.array(group["people"].tolist())
        known = group.dropna(subset="reference")
        pairs = [(people[:, a] == people[:, b]).mean() for a, b in ((0, 1), (0, 2), (1, 2))]
        assert cell["human_pa"] == pytest.approx(np.mean(pairs), abs=1e-12)
        assert cell["human_fleiss"] == pytest.approx(fleiss_kappa(aggregate_raters(people)[0]), abs=1e-12)
        assert cell["n"] == cell["n_ref"] == len(known)
        assert cell["pa"] == pytest.approx((known["judge"] == known["reference"]).mean(), abs=1e-12)
        assert cell["cohen_kappa"] == pytest.approx(cohen_kappa_score(known["reference"].astype(int), known["judge"]), abs=1e-12)


# What the notes on the data state (rounded to three digits): means over ten languages under the median


@pytest.mark.parametrize(
    ("metric", "numbers"),
    [
        ("linguistic_acceptability", (0.663, 0.214, 0.686, 0.070)),
        ("task_quality", (0.580, 0.298, 0.525, 0.154)),
        ("hallucinations", (0.687, 0.305, 0.694, 0.179)),
    ],
)
def test_means_over_the_languages_of_pariksha(cli: Cli, shared_data: Path, metric: str, numbers: tuple[float, ...]) -> None:
    cells = asked(cli, "compare", shared_data / "pariksha", "--annotators", "3", "--majority", "median", "--where", f"metric={metric}")
    names = ("human_pa", "human_fleiss", "pa", "cohen_kappa")
    assert [round(float(np.mean([cell[name] for cell in cells])), 3) for name in names] == pytest.approx(numbers, abs=1e-9)


@pytest.mark.parametrize(
    ("data", "metric", "agreement", "fleiss", "n"),
    [("adparaphrase_ja", "is_paraphrase", 0.742, 0.462, 1238), ("adparaphrase_ja", "preference", 0.508, 0.161, 725)],
)
def test_agreement_of_anonymous_votes(cli: Cli, shared_data: Path, data: str, metric: str, agreement: float, fleiss: float, n: int) -> None:
    [cell] = asked(cli, "labels", "check", shared_data / data, "--where", f"metric={metric}")
    assert cell["labelled"] == n
    assert (round(cell["human_pa"], 3), round(cell["human_fleiss"], 3)) == (agreement, fleiss)
    assert cell["pairs"] is None and "anonymous" in cell["undefined"]["pairs"]


def test_pairwise_preferences_of_pariksha(cli: Cli, shared_data: Path) -> None:
    """Human agreement / Fleiss, and majority against GPT-4 / kappa, a language.

    80 Hindi pairs have a fourth annotator, and the notes do not say how they counted him: there only the majority is held.
    """
    noted = {
        "bn": (0.776, 0.648, 0.710, 0.528),
        "gu": (0.687, 0.519, 0.733, 0.563),
        "hi": (0.795, 0.614),
        "kn": (0.649, 0.403, 0.744, 0.537),
        "ml": (0.687, 0.522, 0.692, 0.504),
        "mr": (0.754, 0.625, 0.610, 0.441),
        "or": (0.661, 0.486, 0.712, 0.544),
        "pa": (0.783, 0.672, 0.604, 0.421),
        "ta": (0.612, 0.415, 0.662, 0.467),
        "te": (0.723, 0.576, 0.722, 0.550),
    }
    cells = asked(cli, "compare", shared_data / "pariksha_pairwise")
    found: dict[str, tuple[float, ...]] = {
        c["language"]: tuple(round(c[name], 3) for name in ("human_pa", "human_fleiss", "pa", "cohen_kappa")) for c in cells
    }
    found["hi"] = found["hi"][2:]
    assert found == noted


# Chiang & Lee (2023), Table 2: Pearson's r at the level of the data set, for the rows that its own data give


@pytest.mark.parametrize("variant", ["cot+score-only", "score-only", "free-text"])
def test_correlations_of_the_means_of_samples(shared_data: Path, variant: str) -> None:
    import harness
    from harness.stats import pearson

    folder = shared_data / "chiang_lee_closer_look"
    data = harness.load(folder)
    labels, judged = harness.frame_of(data, "labels"), harness.frame_of(data, "judgments")
    for metric, (r, _) in expected(folder)["results"][variant].items():
        own = judged[(judged["variant"] == variant) & (judged["metric"] == metric)].groupby("item_id")["score"].mean()
        human = labels[labels["metric"] == metric].set_index("item_id")["score"]
        both = pd.concat([own, human], axis=1, keys=["judge", "human"]).dropna()
        assert pearson(both["judge"], both["human"]).value == pytest.approx(r, abs=0.01)


# What recorded judgments were asked, and what pooled cells are held against


def test_what_a_judge_of_basse_was_not_shown_is_not_wrong(cli: Cli, shared_data: Path) -> None:
    """gpt-4o has 286 rows among the 489 Basque summaries with a majority on coherence."""
    folder = shared_data / "basse"
    only = ("--judge", "gpt-4o", "--where", "language=eu", "--where", "metric=Coherence")
    [cell] = asked(cli, "compare", folder, *only)
    assert (cell["n_ref"], cell["n"], cell["n_asked"], cell["not_asked"], cell["failures"]) == (286, 286, 286, 203, {})
    labels, rows = (pd.read_json(folder / f"{name}.jsonl.gz", lines=True) for name in ("labels", "judgments"))
    given = labels[(labels.metric == "Coherence") & labels.annotator_id.str.startswith("eu-")].groupby("item_id").score
    mode = given.agg(lambda scores: scores.mode()[0] if len(scores) > 1 and len(scores.mode()) == 1 else np.nan).dropna()
    judge = rows[(rows.judge == "gpt-4o") & (rows.metric == "Coherence")].set_index("item_id").score
    both = pd.concat([mode.rename("people"), judge.rename("judge")], axis=1, join="inner")
    assert len(both) == 286
    assert cell["pa_failed_wrong"] == pytest.approx((both.people == both.judge).mean())
    assert cell["vs_baseline"]["pa"] == pytest.approx(both.people.value_counts(normalize=True).max())


def test_a_pooled_baseline_of_pariksha_is_the_best_constant_of_each_language(cli: Cli, shared_data: Path) -> None:
    folder = shared_data / "pariksha"
    pooled = {cell["metric"]: cell for cell in asked(cli, "compare", folder, "--annotators", "3", "--by", "metric")}
    for metric, cell in pooled.items():
        parts = asked(cli, "compare", folder, "--annotators", "3", "--where", f"metric={metric}")
        constants = sum(part["vs_baseline"]["pa"] * part["n_ref"] for part in parts) / sum(part["n_ref"] for part in parts)
        assert cell["vs_baseline"]["pa"] == pytest.approx(constants)
    assert pooled["task_quality"]["vs_baseline"]["diff"] == pytest.approx(0.028, abs=5e-4)
