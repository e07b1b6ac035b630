"""Makes cases.json, the inputs that `make oracles` puts to other libraries and the tests to `harness.stats`.

`.venv-oracles/bin/python tests/golden/oracles/cases.py` writes it anew (then `make oracles`); it is committed, so that nothing
else needs this generator. An item's labels are a string with one character a rater: the class, or "." where there is none.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np

SEED = 20
HERE = Path(__file__).parent

KRIPPENDORFF = ["00.0", "1122", "2222", "2222", "1111", "0123", "3333", "0010", "1111", ".444", "..00", ".2.."]

# raters, classes, items, share of the commonest class, how often a rater reads the true class, share of gaps, values
DRAWN: dict[str, tuple[int, int, int, float, float, float, list[float] | None]] = {
    "two raters, two classes": (2, 2, 60, 0.6, 0.7, 0.0, None),
    "two raters, two classes, skewed": (2, 2, 120, 0.95, 0.6, 0.0, None),
    "two raters, two classes, gaps": (2, 2, 80, 0.7, 0.6, 0.2, None),
    "two raters, three classes": (2, 3, 90, 0.5, 0.7, 0.0, None),
    "two raters, three classes, by chance": (2, 3, 90, 0.4, 0.0, 0.0, None),
    "two raters, three classes, skewed, gaps": (2, 3, 150, 0.9, 0.5, 0.15, None),
    "two raters, four classes, uneven values": (2, 4, 80, 0.4, 0.6, 0.1, [1, 2, 3, 5]),
    "two raters, five classes": (2, 5, 100, 0.3, 0.6, 0.0, None),
    "two raters, six classes, gaps": (2, 6, 100, 0.3, 0.8, 0.3, None),
    "two raters, seven classes, few items": (2, 7, 15, 0.2, 0.5, 0.0, None),
    "three raters, two classes, skewed": (3, 2, 100, 0.95, 0.5, 0.0, None),
    "three raters, three classes": (3, 3, 100, 0.6, 0.7, 0.0, None),
    "three raters, three classes, gaps": (3, 3, 100, 0.6, 0.7, 0.25, None),
    "three raters, three classes, uneven values": (3, 3, 60, 0.4, 0.7, 0.1, [0, 1, 4]),
    "three raters, five classes": (3, 5, 100, 0.4, 0.5, 0.0, None),
    "three raters, seven classes, gaps": (3, 7, 70, 0.3, 0.6, 0.2, None),
    "four raters, four classes, by chance": (4, 4, 40, 0.25, 0.0, 0.0, None),
    "five raters, five classes, gaps": (5, 5, 80, 0.3, 0.6, 0.4, None),
    "eight raters, six classes": (8, 6, 40, 0.3, 0.7, 0.0, None),
    "twelve raters, three classes, mostly gaps": (12, 3, 60, 0.7, 0.7, 0.7, None),
    "twenty raters, two classes": (20, 2, 40, 0.8, 0.7, 0.0, None),
    "twenty raters, seven classes": (20, 7, 30, 0.3, 0.6, 0.0, None),
    "twenty raters, seven classes, uneven values, gaps": (20, 7, 40, 0.3, 0.6, 0.5, [-3, -1, 0, 0.5, 1, 2, 10]),
}

WRITTEN: dict[str, tuple[int, list[str]]] = {
    "Krippendorff's table": (5, KRIPPENDORFF),
    "a skewed pair": (2, ["01"] * 3 + ["10"] * 3 + ["11"] * 94),
    "two raters, both constant": (3, ["11"] * 12),
    "two raters, each constant on its own class": (3, ["02"] * 12),
    "two raters, one constant": (3, ["10", "11", "12", "11", "10", "12", "11"]),
    "two raters, two classes, one constant": (2, ["10", "11", "11", "10", "11"]),
    "two raters, two classes, identical": (2, ["00", "11", "11", "00", "11"]),
    "two raters, identical": (4, ["00", "11", "33", "11", "00", "33"]),
    "two raters, opposite": (2, ["01", "10", "01", "10", "01", "10"]),
    "two raters, one item, same": (3, ["11"]),
    "two raters, one item, different": (3, ["02"]),
    "two raters, two items": (2, ["00", "10"]),
    "two raters, no overlap": (3, ["0.", ".1", "2.", ".."]),
    "two raters, overlap on one item": (3, ["0.", ".1", "12", ".."]),
    "two raters, ends of the scale only": (7, ["06", "66", "00", "60", "00", "66", "00"]),
    "two raters, middle of the scale never used": (5, ["04", "44", "00", "34", "01", "11", "40", "33"]),
    "three raters, constant": (4, ["222"] * 10),
    "three raters, constant but for one label": (3, ["222"] * 20 + ["122"]),
    "three raters, constant with gaps": (2, ["00.", "0.0", ".00", "0..", "..."]),
    "three raters, one label an item": (3, ["0..", ".1.", "..2"]),
    "three raters, identical": (3, ["000", "111", "222", "111"]),
    "three raters, all different": (3, ["012", "120", "201", "012"]),
    "three raters, an unused class": (4, ["001", "113", "333", "011", "000", "133"]),
    "twenty raters, one item": (3, ["01201201201201201212"]),
}


def labels(rng: np.random.Generator, raters: int, k: int, items: int, top: float, skill: float, gaps: float) -> list[str]:
    margins = np.append(np.full(k - 1, (1 - top) / (k - 1)), top)
    true = rng.choice(k, items, p=margins)
    codes = np.where(rng.random((items, raters)) < skill, true[:, None], rng.choice(k, (items, raters), p=margins))
    missing = rng.random((items, raters)) < gaps
    return ["".join("." if gap else str(code) for code, gap in zip(*row, strict=True)) for row in zip(codes, missing, strict=True)]


def raters_cases(rng: np.random.Generator) -> dict[str, Any]:
    drawn = {
        name: {"kind": "raters", "classes": k, "values": values, "items": labels(rng, raters, k, items, top, skill, gaps)}
        for name, (raters, k, items, top, skill, gaps, values) in DRAWN.items()
    }
    written = {name: {"kind": "raters", "classes": k, "values": None, "items": items} for name, (k, items) in WRITTEN.items()}
    return drawn | written


def numbers_cases(rng: np.random.Generator) -> dict[str, Any]:
    def pair(x: Any, y: Any) -> dict[str, Any]:
        return {"kind": "numbers", "x": [_number(v) for v in x], "y": [_number(v) for v in y]}

    real, thirds = rng.normal(size=60), rng.integers(0, 7, 90) / 3
    gaps = np.where(rng.random(60) < 0.2, np.nan, real)
    scores = np.clip(np.rint(thirds + rng.normal(0, 0.7, 90)), 0, 2)
    return {
        "numbers without ties": pair(real, real + rng.normal(size=60)),
        "numbers with gaps": pair(gaps, real + rng.normal(size=60)),
        "means of three labels and a judge's scores": pair(thirds, scores),
        "two levels each": pair(rng.integers(0, 2, 50), rng.integers(0, 2, 50)),
        "means of nine systems": pair(rng.normal(2, 0.1, 9), rng.normal(2, 0.1, 9)),
        "large numbers of little spread": pair(1e6 + real[:30], 1e6 - real[:30] + rng.normal(0, 0.1, 30)),
        "two numbers": pair([1, 2], [5, 3]),
        "numbers in reverse": pair(range(8), range(8, 0, -1)),
        "one side constant": pair([1, 1, 1, 1], [1, 2, 3, 4]),
        "both sides constant": pair([1, 1, 1], [2, 2, 2]),
        "one number": pair([1], [2]),
        "numbers that never meet": pair([1, np.nan, 2], [np.nan, 3, np.nan]),
    }


def p_cases(rng: np.random.Generator) -> dict[str, Any]:
    grid = np.where(np.arange(135) < 40, rng.random(135) ** 8, rng.random(135))
    lists = {
        "one p": [0.03],
        "p with ties": np.round(rng.random(30) ** 3, 1).tolist(),
        "p of a grid": [float(f"{p:.8g}") for p in grid],
        "p all one": [1.0] * 5,
        "p zero and one": [0.0, 1.0, 0.5, 0.0],
        "p just at the level": [0.0125, 0.05, 0.025, 0.0167],
    }
    return {name: {"kind": "p", "p": p} for name, p in lists.items()}


def share_cases() -> dict[str, Any]:
    shares = [(0, 10), (1, 10), (8, 10), (10, 10), (0, 1), (1, 1), (150, 200), (1, 2470), (1234, 2470), (2470, 2470)]
    return {
        f"share {hits} of {n} at {level}": {"kind": "share", "successes": hits, "n": n, "level": level}
        for level in (0.9, 0.95, 0.99)
        for hits, n in shares
    }


def _number(value: float) -> float | None:
    return None if np.isnan(value) else float(f"{value:.8g}")


def main() -> None:
    rng = np.random.default_rng(SEED)
    cases = raters_cases(rng) | numbers_cases(rng) | p_cases(rng) | share_cases()
    lines = [f"{json.dumps(name)}: {json.dumps(case)}" for name, case in cases.items()]
    (HERE / "cases.json").write_text("{\n" + ",\n".join(lines) + "\n}\n", encoding="utf-8")


if __name__ == "__main__":
    main()
