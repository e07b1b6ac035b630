"""Asks other libraries for their values of cases.json and writes answers.json: `make oracles`.

Runs in an environment of its own (requirements.txt), never in the project's: two of the libraries are GPL, so each is
imported only inside the functions that ask it. A case that a library refuses, or calls NaN, is null.
"""

from __future__ import annotations

import json
import math
import warnings
from collections.abc import Callable, Mapping
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np

HERE = Path(__file__).parent
REFUSALS = (ValueError, ZeroDivisionError, IndexError, np.linalg.LinAlgError)
Case = Mapping[str, Any]
Asks = Mapping[str, Callable[[], Any]]


def matrix(case: Case) -> np.ndarray:
    """Class codes, items x raters, NaN for gaps."""
    return np.array([[math.nan if c == "." else float(c) for c in item] for item in case["items"]])


def scale(case: Case) -> list[float]:
    """The numbers that the classes stand for."""
    return [float(v) for v in case["values"] or range(case["classes"])]


def scores(case: Case) -> np.ndarray:
    """The same as `matrix` in numbers of the scale."""
    codes = matrix(case)
    return np.where(np.isnan(codes), np.nan, np.array(scale(case))[np.nan_to_num(codes).astype(int)])


def two_raters(case: Case) -> tuple[np.ndarray, np.ndarray]:
    """The codes of both raters on the items that both have."""
    codes = matrix(case)
    return tuple(codes[~np.isnan(codes).any(axis=1)].astype(int).T)


def by_krippendorff(case: Case) -> Asks:
    from krippendorff import alpha

    def ask(level: str) -> float:
        return alpha(scores(case).T, value_domain=scale(case), level_of_measurement=level)

    return {f"alpha_{level}": lambda level=level: ask(level) for level in ("nominal", "ordinal", "interval")}


def by_irrcac(case: Case) -> Asks:
    import pandas as pd
    from irrCAC.raw import CAC

    ratings = scores(case)
    if len(ratings) == 1:  # its variance divides by n - 1; the coefficient of the item twice is the same
        ratings = np.repeat(ratings, 2, axis=0)

    def ask(weights: str) -> float:
        found = CAC(pd.DataFrame(ratings), weights=weights, categories=scale(case), digits=15).gwet()
        return found["est"]["coefficient_value"]

    return {"ac1": lambda: ask("identity"), "ac2_linear": lambda: ask("linear"), "ac2": lambda: ask("quadratic")}


def by_scikit_learn(case: Case) -> Asks:
    from sklearn.metrics import cohen_kappa_score, f1_score

    if matrix(case).shape[1] != 2:
        return {}
    (a, b), classes = two_raters(case), range(case["classes"])
    asks = {"weighted_f1": lambda: f1_score(a, b, labels=classes, average="weighted", zero_division=0) if len(a) else math.nan}
    asks["cohen_kappa"] = lambda: cohen_kappa_score(a, b, labels=classes)
    if case["values"] is None:  # its weights know positions only
        asks["linear_kappa"] = lambda: cohen_kappa_score(a, b, labels=classes, weights="linear")
        asks["quadratic_kappa"] = lambda: cohen_kappa_score(a, b, labels=classes, weights="quadratic")
    return asks


def by_statsmodels(case: Case) -> Asks:
    from statsmodels.stats.contingency_tables import SquareTable, mcnemar
    from statsmodels.stats.inter_rater import fleiss_kappa

    codes, k = matrix(case), case["classes"]
    asks: dict[str, Callable[[], Any]] = {}
    if not np.isnan(codes).any():  # it takes equal numbers of raters only
        asks["fleiss_kappa"] = lambda: fleiss_kappa((codes[:, :, None] == np.arange(k)).sum(axis=1))
    if codes.shape[1] != 2:
        return asks
    a, b = two_raters(case)
    table = np.bincount(a * k + b, minlength=k * k).reshape(k, k)
    used = (table.sum(axis=0) + table.sum(axis=1)) > 0  # its matrix is singular with a class that nobody used
    homogeneity = SquareTable(table[used][:, used].astype(float), shift_zeros=False).homogeneity
    asks["stuart_maxwell"] = lambda: _test(homogeneity())
    if k == 2:
        asks["mcnemar_exact"] = lambda: _test(mcnemar(table, exact=True))
        asks["mcnemar_chi2"] = lambda: _test(mcnemar(table, exact=False, correction=False))
    return asks


def _test(found: Any) -> list[float]:
    return [found.statistic, found.pvalue]


def numbers_by_scipy(case: Case) -> Asks:
    from scipy import stats

    x, y = (np.array(case[side], float) for side in "xy")
    both = ~(np.isnan(x) | np.isnan(y))
    asks = {"kendall_tau": stats.kendalltau, "spearman": stats.spearmanr, "pearson": stats.pearsonr}
    return {name: lambda ask=ask: ask(x[both], y[both])[0] for name, ask in asks.items()}


def p_by_statsmodels(case: Case) -> Asks:
    from statsmodels.stats.multitest import multipletests

    methods = {"holm": "holm", "benjamini_hochberg": "fdr_bh", "benjamini_yekutieli": "fdr_by"}
    return {name: lambda method=method: multipletests(case["p"], method=method)[1] for name, method in methods.items()}


def share_by_statsmodels(case: Case) -> Asks:
    from statsmodels.stats.proportion import proportion_confint

    return {"wilson": lambda: proportion_confint(case["successes"], case["n"], 1 - case["level"], "wilson")}


LIBRARIES: dict[str, list[tuple[str, Callable[[Case], Asks]]]] = {
    "raters": [
        ("krippendorff", by_krippendorff),
        ("irrCAC", by_irrcac),
        ("scikit-learn", by_scikit_learn),
        ("statsmodels", by_statsmodels),
    ],
    "numbers": [("scipy", numbers_by_scipy)],
    "p": [("statsmodels", p_by_statsmodels)],
    "share": [("statsmodels", share_by_statsmodels)],
}


def answer(ask: Callable[[], Any]) -> float | list[float] | None:
    try:
        with warnings.catch_warnings(action="ignore"):  # what they warn of is in the answer
            found = np.asarray(ask(), float)
    except REFUSALS:
        return None
    if not np.isfinite(found).all():
        return None
    return np.vectorize(lambda x: float(f"{x:.12g}"), otypes=[float])(found).tolist()


def main() -> None:
    cases = json.loads((HERE / "cases.json").read_text(encoding="utf-8"))
    statistics: dict[str, str] = {}
    answers: dict[str, dict[str, Any]] = {}
    for name, case in cases.items():
        answers[name] = {}
        for library, asks_of in LIBRARIES[case["kind"]]:
            for statistic, ask in asks_of(case).items():
                statistics[statistic] = library
                answers[name][statistic] = answer(ask)
    distributions = sorted({*statistics.values(), "numpy", "pandas"}, key=str.lower)
    head = {"versions": {d: version(d) for d in distributions}, "library": statistics}
    lines = [f"{json.dumps(name)}: {json.dumps(values)}" for name, values in answers.items()]
    text = json.dumps(head, indent=1)[:-2] + ',\n "answers": {\n' + ",\n".join(lines) + "\n}}\n"
    (HERE / "answers.json").write_text(text, encoding="utf-8")
    print(f"{sum(map(len, answers.values()))} values of {len(cases)} cases by {', '.join(f'{d} {version(d)}' for d in distributions)}")


if __name__ == "__main__":
    main()
