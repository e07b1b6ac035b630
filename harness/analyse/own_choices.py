"""Self-preference in a run: a judge's choices between its own output and another one, in both orders, as comparisons of own outputs."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import Any

from harness.analyse.ablations.rows import Row, new_row, put_number
from harness.analyse.options import POOLED, CompareOptions
from harness.analyse.self_preference import ALL_SOURCES, analyse_self_preference, pair_rows
from harness.data.dataset import Dataset
from harness.data.judgments import Judgments
from harness.data.own_outputs import OwnComparison, Question
from harness.model import Item

QUESTIONS: dict[str, Question] = {"authorship": "recognition", "forced_preference": "preference"}
NOTE = (
    "Choices between a judge's own output and another one of the same source text (Panickssery et al. 2024). recognition, preference: the "
    "mean probability of the own output, over both orders; from token probabilities, or from choices where an endpoint gives none. "
    "Intervals are over source texts. labels: the same with the names of the systems in the headings, correct or in each other's place."
)
_Condition = tuple[str, str, float, float | None]  # judge, variant, temperature, top-p


def self_preference_section(data: Dataset, judgments: Judgments, own: Mapping[str, str], options: CompareOptions) -> dict[str, Any] | None:
    """The section of self-recognition and self-preference; None if no pair holds an output of its judge.

    Args:
        data: pairs with the keys `system_a` and `system_b`.
        judgments: on the metrics of `QUESTIONS`, others are passed over.
        own: `{judge: the system that it is}`; other judges are the system of their own name.
        options: the seed of the line's resamples.

    `rows` are by judge, condition, language and other system (`*`: all); `labels` are the same with the systems named in the headings;
    `mutual`, `points` and `line` are those of `SelfPreference.as_json`.
    """
    comparisons = own_comparisons(data, judgments, own)
    unnamed = [row for shown, row in comparisons if shown == "none"]
    if not unnamed:
        return None
    found = analyse_self_preference([row for _, row in unnamed], seed=options.seed).as_json()
    conditions = {row.judge: condition for _, (condition, row) in comparisons}
    labels = [
        {**row, "shown_source": shown}
        for shown in ("correct", "swapped")
        for row in _rows([row for source, (_, row) in comparisons if source == shown], conditions, options)
        if row["source"] == ALL_SOURCES
    ]
    rows = [_with_condition(row, conditions) for row in pair_rows(found)]
    kept = {name: found[name] for name in ("mutual", "points", "line")}
    return {"title": "Self-preference", "note": NOTE, "rows": rows, "labels": labels, **kept}


def _rows(rows: Sequence[OwnComparison], conditions: Mapping[str, _Condition], options: CompareOptions) -> list[Row]:
    found = analyse_self_preference(rows, seed=options.seed).as_json() if rows else {"pairwise": [], "kendall_tau": []}
    return [_with_condition(row, conditions) for row in pair_rows(found)]


def _with_condition(row: Row, conditions: Mapping[str, _Condition]) -> Row:
    """A row with the keys of every section in place of the label of judge and condition."""
    judge, variant, temperature, top_p = conditions[row["judge"]]
    keys = {"task": POOLED, "metric": POOLED, "variant": variant, "temperature": temperature, "top_p": top_p}
    made = new_row({**row, **keys, "judge": judge})
    if "tau" in row:
        put_number(made, "tau", row["tau"], why="one of the two confidences is the same for all pairs")
    return made


def own_comparisons(data: Dataset, judgments: Judgments, own: Mapping[str, str]) -> list[tuple[str, tuple[_Condition, OwnComparison]]]:
    """`(shown source, (condition, comparison))` of every pair that holds an output of its judge.

    A comparison's `judge` is the judge with its condition, so that each configuration is a point of its own.
    """
    answers: dict[tuple[Any, ...], dict[str, list[float]]] = defaultdict(lambda: defaultdict(list))
    columns = (judgments.item, judgments.metric, judgments.judge, judgments.variant, judgments.temperature, judgments.top_p)
    rest = (judgments.shown_source, judgments.order, judgments.perturbation, judgments.score, judgments.share_a)
    for name, metric, judge, variant, temperature, top_p, shown, order, perturbation, score, stated in zip(*columns, *rest, strict=True):
        item = data.by_id.get(name)
        if item is None or metric not in QUESTIONS or perturbation or not _holds(item, own.get(judge, judge)):
            continue
        share = stated if stated is not None else data.scales[metric].share_of_first.get(score) if score is not None else None
        if share is not None:
            key = (shown or "none", (judge, variant, temperature, top_p), name, metric)
            answers[key][order or "forward"].append(float(share))
    return [(key[0], (key[1], _comparison(data.by_id[key[2]], key, by_order, own))) for key, by_order in answers.items()]


def _holds(item: Item, system: str) -> bool:
    systems = item.fields.get("system_a"), item.fields.get("system_b")
    return systems[0] != systems[1] and system in systems


def _comparison(item: Item, key: tuple[Any, ...], by_order: Mapping[str, Sequence[float]], own: Mapping[str, str]) -> OwnComparison:
    condition: _Condition = key[1]
    system = own.get(condition[0], condition[0])
    is_first = item.fields.get("system_a") == system
    shares = {order: sum(given) / len(given) if is_first else 1 - sum(given) / len(given) for order, given in by_order.items()}
    first, second = ("forward", "swapped") if is_first else ("swapped", "forward")  # the order in which the own output stands first
    return OwnComparison(
        judge=_label(condition),
        language=item.language,
        dataset=str(item.fields.get("dataset") or ""),
        group=item.group,
        own=system,
        other=str(item.fields["system_b" if is_first else "system_a"]),
        question=QUESTIONS[key[3]],
        confidence=sum(shares.values()) / len(shares),
        chose_own_first=_chosen(shares.get(first)),
        chose_own_second=_chosen(shares.get(second)),
    )


def _label(condition: _Condition) -> str:
    judge, variant, temperature, top_p = condition
    return f"{judge} {variant} T={temperature:g}" + ("" if top_p is None else f" top_p={top_p:g}")


def _chosen(share: float | None) -> bool | None:
    """Whether the own output got more than half; None for a tie or without an answer."""
    return None if share is None or share == 0.5 else share > 0.5
