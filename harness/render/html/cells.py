"""Cells of a report or a comparison as sections of a page: the answer, the grid, the shares of classes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from markupsafe import Markup

from harness.analyse import POOLED, Cell
from harness.render.html.marks import Mark, bar, track
from harness.render.html.templates import spaced
from harness.render.terminal import difference, percent, shares

CONDITION = ("source", "judge", "variant", "temperature", "top_p")
_STEPS = (0.05, 0.15, 0.3)  # differences from the baseline from which colours grow stronger


def side_of(cell: Cell) -> tuple[Any, ...]:
    """Who judged, and how: what is set side by side."""
    return tuple(cell.key.get(name) for name in CONDITION)


def side_name(side: Sequence[Any], every: Sequence[Sequence[Any]]) -> str:
    """A side in words: the judge, and what tells it from other sides."""
    said = {"temperature": "T = {:g}", "top_p": "top-p {:g}"}
    parts = []
    for place, (name, value) in enumerate(zip(CONDITION, side, strict=True)):
        if value is None or value == POOLED:
            continue
        if name == "judge" or len({other[place] for other in every}) > 1:
            parts.append(said[name].format(value) if name in said and isinstance(value, (int, float)) else str(value))
    return " · ".join(parts)


def is_baseline(side: Sequence[Any]) -> bool:
    return str(side[CONDITION.index("judge")]).startswith("baseline/")


def sides_of(cells: Sequence[Cell]) -> list[tuple[Any, ...]]:
    """The different sides: judges first, baselines last, each in their order."""
    found = list(dict.fromkeys(map(side_of, cells)))
    return sorted(found, key=is_baseline)


def languages_of(cells: Sequence[Cell]) -> list[str]:
    return list(dict.fromkeys(cell["language"] for cell in cells))


@dataclass(frozen=True)
class Line:
    """One metric of one judge: agreement with the labels beside the baseline, and beside people where they can be compared."""

    metric: str
    task: str
    n: int
    read: int
    agreement: str
    baseline: str
    difference: str
    drawn: Markup
    judge_loo: str
    human_loo: str
    gap: str
    people_drawn: Markup | None
    dagger: bool


def line_of(cell: Cell) -> Line:
    versus = cell.vs_baseline
    agreement = percent(cell["pa_failed_wrong"], cell["pa_failed_wrong_ci"])
    baseline = percent(versus["pa"])
    paired = has_people(cell)
    judge, human = percent(cell["judge_loo"], cell["judge_loo_ci"]), percent(cell["human_loo"], cell["human_loo_ci"])
    return Line(
        metric=spaced(cell["metric"]),
        task=spaced(cell["task"]),
        n=cell.n_ref,
        read=cell.n,
        agreement=agreement,
        baseline=baseline,
        difference=difference(versus["diff"], versus["ci"]),
        drawn=track(
            [Mark("base", versus["pa"]), Mark("judge", cell["pa_failed_wrong"], cell["pa_failed_wrong_ci"])],
            f"judge {agreement}, baseline {baseline}",
        ),
        judge_loo=judge,
        human_loo=human,
        gap=difference(cell["loo_gap"], cell["loo_gap_ci"]),
        people_drawn=track(
            [Mark("people", cell["human_loo"]), Mark("judge", cell["judge_loo"], cell["judge_loo_ci"])],
            f"judge {judge}, people {human}, against the same other annotators",
        )
        if paired
        else None,
        dagger=cell["pa_failed_wrong_ci"] is None,
    )


def has_people(cell: Cell) -> bool:
    """Whether the judge can be compared with people: both against the same remaining annotators."""
    return cell["judge_loo"] is not None and cell["human_loo"] is not None


def beside_people(cells: Sequence[Cell], constructed: bool) -> str:
    """The judge beside people, in words; only of figures that may be compared."""
    if constructed:
        return "The labels are constructed with the texts, so there is no human figure to set beside it."
    paired = [cell for cell in cells if has_people(cell)]
    if not paired:
        return "No item has enough annotators, so there is no human figure to set beside it."
    below = [spaced(c["metric"]) for c in paired if c["loo_gap_ci"] and c["loo_gap_ci"][1] < 0]
    above = [spaced(c["metric"]) for c in paired if c["loo_gap_ci"] and c["loo_gap_ci"][0] > 0]
    tied = [spaced(c["metric"]) for c in paired if c["loo_gap_ci"] and c["loo_gap_ci"][0] <= 0 <= c["loo_gap_ci"][1]]
    unknown = [spaced(c["metric"]) for c in paired if not c["loo_gap_ci"]]
    said = [
        (below, "it agrees with the other annotators less than a person does on"),
        (tied, "it is not shown to differ from a person on"),
        (above, "it agrees more than a person does on"),
        (unknown, "there are too few independent texts to tell on"),
    ]
    return "Beside people: " + "; ".join(f"{words} {', '.join(dict.fromkeys(metrics))}" for metrics, words in said if metrics) + "."


@dataclass(frozen=True)
class Square:
    """One cell of the grid: `colour` is a class of the style sheet that says how far from the baseline, as `sign` and `words` do."""

    number: str
    interval: str
    sign: str
    words: str
    colour: str
    language: str
    metric: str
    n: int


@dataclass(frozen=True)
class Grid:
    """One side: a row a language, a square a metric (None where nothing was judged)."""

    name: str
    metrics: tuple[str, ...]
    rows: tuple[tuple[str, tuple[Square | None, ...]], ...]
    side: dict[str, Any]


def grids(cells: Sequence[Cell]) -> list[Grid]:
    """A grid a side of cells that are told apart by language and metric."""
    sides = sides_of(cells)
    metrics = tuple(dict.fromkeys(cell["metric"] for cell in cells))
    found = []
    for side in sides:
        own = {(cell["language"], cell["metric"]): cell for cell in cells if side_of(cell) == side}
        squares = (
            (language, tuple(_square(own[language, metric]) if (language, metric) in own else None for metric in metrics))
            for language in languages_of(cells)
        )
        rows = tuple((language, line) for language, line in squares if any(line))
        told = {name: value for name, value in zip(CONDITION, side, strict=True) if value is not None and value != POOLED}
        found.append(Grid(side_name(side, sides), metrics, rows, told))
    return found


def _square(cell: Cell) -> Square:
    versus, value = cell.vs_baseline, cell["pa_failed_wrong"]
    bounds = cell["pa_failed_wrong_ci"]
    interval = f"{100 * bounds[0]:.0f}–{100 * bounds[1]:.0f}" if bounds else "no interval"
    diff, ci = versus["diff"], versus["ci"]
    sign, words = "○", "not shown to differ"
    if not ci:
        sign, words = "·", "too few independent texts"
    elif ci[0] > 0:
        sign, words = "▲", "above the baseline"
    elif ci[1] < 0:
        sign, words = "▼", "below the baseline"
    return Square(percent(value), interval, sign, words, _colour(diff), cell["language"], cell["metric"], cell.n_ref)


def _colour(diff: float | None) -> str:
    step = 0 if diff is None else sum(abs(diff) >= least for least in _STEPS)
    return "" if not step or diff is None else f"{'up' if diff > 0 else 'down'}{step}"


@dataclass(frozen=True)
class Shares:
    """Bars of one cell: `(what, items, bar, words)` for people and judge, by how far annotators agree where there are three."""

    language: str
    metric: str
    task: str
    bars: tuple[tuple[str, str, int, Markup, str], ...]


def shares_of(cells: Sequence[Cell]) -> list[tuple[str, list[Shares]]]:
    """The class shares of every side: `(its name, a block a cell)`."""
    sides, found = sides_of(cells), []
    for side in sides:
        blocks = [_shares(cell) for cell in cells if side_of(cell) == side and cell.distribution_labels]
        if blocks:
            found.append((side_name(side, sides), blocks))
    return found


def _shares(cell: Cell) -> Shares:
    bars = []
    if cell.distribution_by_agreement:
        for level, of in cell.distribution_by_agreement.items():
            if of["items"]:
                bars += _pair(
                    {"full": "all agree", "partial": "two agree", "none": "none agree"}[level], of["items"], of["labels"], of["judge"]
                )
    else:
        bars += _pair("", cell.n_ref, cell.distribution_labels, cell.distribution_judge)
    return Shares(cell["language"], spaced(cell["metric"]), spaced(cell["task"]), tuple(bars))


def _pair(level: str, items: int, people: Any, judge: Any) -> list[tuple[str, str, int, Markup, str]]:
    classes = list(people or judge or {})
    return [
        (level, who, items, bar(given, classes, f"{who}{f', {level}' if level else ''}"), shares(given))
        for who, given in (("labels", people), ("judge", judge))
        if given
    ]
