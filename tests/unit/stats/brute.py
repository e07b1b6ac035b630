"""The definitions written out in loops, to hold the vectorised ones against."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from itertools import combinations

Row = Sequence[int]


def present(row: Row) -> list[int]:
    return [int(c) for c in row if c >= 0]


def modes(row: Sequence[int]) -> list[int]:
    counts = Counter(row)
    return [c for c, n in counts.items() if n == max(counts.values())]


def mean(xs: list[float]) -> float:
    return sum(xs) / len(xs) if xs else float("nan")


def pa(judge: Row, labels: Sequence[Row], rule: str, failed_wrong: bool = False) -> float:
    hits = []
    for j, row in zip(judge, labels, strict=True):
        seen = present(row)
        if not seen or (j < 0 and not failed_wrong):
            continue
        best = [sorted(seen)[(len(seen) - 1) // 2]] if rule == "median" else modes(seen)
        if len(best) > 1 and rule == "drop":
            continue
        hits.append(float(len(best) == 1 and best[0] == j))
    return mean(hits)


def human_pa(labels: Sequence[Row]) -> float:
    items = [present(row) for row in labels]
    return mean([mean([float(a == b) for a, b in combinations(seen, 2)]) for seen in items if len(seen) >= 2])


def pa_pairwise(judge: Row, labels: Sequence[Row]) -> float:
    items = [(j, present(row)) for j, row in zip(judge, labels, strict=True)]
    return mean([mean([float(j == c) for c in seen]) for j, seen in items if j >= 0 and len(seen) >= 2])


def loo(judge: Row | None, labels: Sequence[Row]) -> float:
    out = []
    for i, row in enumerate(labels):
        seen = present(row)
        if len(seen) < 2 or (judge is not None and judge[i] < 0):
            continue
        credit = []
        for a, own in enumerate(seen):
            rest = modes(seen[:a] + seen[a + 1 :])
            answer = own if judge is None else judge[i]
            credit.append(float(answer in rest) / len(rest))
        out.append(mean(credit))
    return mean(out)


def all_agree(labels: Sequence[Row]) -> float:
    return mean([float(len(set(present(row))) == 1) for row in labels if len(present(row)) >= 2])


def fleiss(labels: Sequence[Row], k: int) -> float:
    items = [present(row) for row in labels if len(present(row)) >= 2]
    pooled = [c for seen in items for c in seen]
    chance = sum((pooled.count(c) / len(pooled)) ** 2 for c in range(k))
    return (human_pa(items) - chance) / (1 - chance)
