"""Rankings as labels: which of two answers was put before the other one, or that both were put in one place."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterator, Sequence
from itertools import combinations
from typing import Any

from harness.exchange.labels.table import Record
from harness.model import Scale
from harness.text import quoted

TIE = "tie"


def ranking_of(value: Any) -> dict[str, float] | None:
    """Return the place of each answer in a ranking: a list of answers with ranks, or a list in order; None for anything else.

    >>> ranking_of([{"value": "a", "rank": 1}, {"value": "b", "rank": 1}]), ranking_of(["b", "a"]), ranking_of(["a"])
    ({'a': 1, 'b': 1}, {'b': 1, 'a': 2}, None)
    """
    if not isinstance(value, list) or len(value) < 2:
        return None
    if all(isinstance(part, dict) and isinstance(part.get("value"), str) and "rank" in part for part in value):
        ranks = {part["value"]: part["rank"] for part in value if isinstance(part["rank"], (int, float))}
        return ranks if len({part["value"] for part in value}) == len(value) else None
    if all(isinstance(part, str) for part in value) and len(set(value)) == len(value):
        return {name: rank for rank, name in enumerate(value, start=1)}
    return None


def preferences(question: str, value: Any) -> Iterator[tuple[str, str]]:
    """Yield `(metric, the preferred answer or tie)` for each two answers of a ranking. Two answers alone keep the name of the question.

    >>> list(preferences("rank", ["b", "a", "c"]))
    [('rank.a-b', 'b'), ('rank.a-c', 'a'), ('rank.b-c', 'b')]
    """
    ranks = ranking_of(value) or {}
    for first, other in combinations(sorted(ranks), 2):
        yield (
            _name_pair_metric(question, ranks, first, other),
            TIE if ranks[first] == ranks[other] else min(first, other, key=lambda name: ranks[name]),
        )


def with_preferences(records: Sequence[Record]) -> tuple[list[Record], dict[str, Scale], list[str]]:
    """Return records whose scores that are rankings have become preferences, with the scales of their metrics and a note on them.

    Rankings are scores with ranks, and lists of the same words in different orders: in one order, several labels may have been chosen.
    """
    rankings: defaultdict[str, list[dict[str, float]]] = defaultdict(list)
    unranked: set[str] = set()
    ranked: set[str] = set()
    for record in records:
        metric, score = record.cells.get("metric"), record.cells.get("score")
        if score is None or (ranking := ranking_of(score)) is None:
            unranked.add(str(metric))
            continue
        rankings[str(metric)].append(ranking)
        ranked |= {str(metric)} if isinstance(score[0], dict) else set()
    for metric, question_rankings in rankings.items():
        if (
            metric not in unranked
            and len({tuple(ranking) for ranking in question_rankings}) > 1
            and len({frozenset(ranking) for ranking in question_rankings}) == 1
        ):
            ranked.add(metric)
    scales: dict[str, Scale] = {}
    for metric in ranked:
        names = sorted({name for ranking in rankings[metric] for name in ranking})
        for first, other in combinations(names, 2):
            scales[_name_pair_metric(metric, names, first, other)] = Scale(kind="nominal", classes=(first, other, TIE))
    note = f"rankings were read as which of two answers stands before the other one, or '{TIE}': {quoted(sorted(scales))}"
    preference_records = [
        record._replace(cells=record.cells | {"metric": metric, "score": score}) if metric else record
        for record in records
        for metric, score in (
            preferences(record.cells["metric"], record.cells["score"]) if record.cells.get("metric") in ranked else [("", "")]
        )
    ]
    return preference_records, scales, [note] if scales else []


def _name_pair_metric(metric: str, names: Collection[str], first: str, other: str) -> str:
    """The metric of two answers of a ranking of `names`."""
    return metric if len(names) == 2 else f"{metric}.{first}-{other}"
