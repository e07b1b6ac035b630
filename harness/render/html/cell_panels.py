"""Sections of small figures, languages × metrics: confusion matrices, scores along the annotators' mean, reliability, class shares."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from markupsafe import Markup

from harness.content.tags import english_name
from harness.measure.cells import Cell
from harness.measure.label_score_pairs import LabelScorePairs, best_is_first, label_score_pairs
from harness.measure.options import POOLED
from harness.measure.outcomes import Outcomes
from harness.model import SIDE
from harness.render.html.marks import bar
from harness.render.html.sides import filters_of, side_of, sides_of
from harness.render.html.small_figures import Point, confusion_matrix, diagonal_panel
from harness.render.sides import Side, is_baseline, plainest_first, side_name
from harness.reports.tables.numbers import class_shares, percent
from harness.reports.tables.titles import metric_title, metric_words

_LEVELS = {"full": "all agree", "partial": "two agree", "none": "none agree"}


@dataclass(frozen=True)
class PanelGrid:
    """One side: figures by language and metric (None where there is none). `rows_are` is `language` or `metric`, columns the other."""

    name: str
    rows_are: str
    columns: tuple[str, ...]
    rows: tuple[tuple[str, tuple[Markup | None, ...]], ...]


def confusion_grids(pairs: Sequence[LabelScorePairs]) -> list[PanelGrid]:
    """Confusion matrices of every judge."""
    return _grids(pairs, lambda one: _confusion(one) if one.counts else None)


def mean_grids(pairs: Sequence[LabelScorePairs]) -> list[PanelGrid]:
    """Scores along the annotators' mean, where texts have several annotators."""
    return _grids(pairs, lambda one: _by_mean(one) if one.by_mean and one.ends else None)


def reliability_grids(pairs: Sequence[LabelScorePairs]) -> list[PanelGrid]:
    """Share of right scores along confidence."""
    return _grids(pairs, lambda one: _reliability(one) if one.reliability else None)


def _side(key: Mapping[str, Any]) -> Side:
    return tuple(key.get(name) for name in SIDE)


def _grids(pairs: Sequence[LabelScorePairs], draw: Callable[[LabelScorePairs], Markup | None]) -> list[PanelGrid]:
    """The grids of all judges that are no baselines; of baselines if there is no other judge."""
    drawn = [(_side(one.key), str(one.key["language"]), str(one.key["metric"]), draw(one)) for one in pairs]
    drawn = [each for each in drawn if each[3] is not None]
    sides = plainest_first(side for side, *_ in drawn)
    sides = [side for side in sides if not is_baseline(side)] or sides
    return [grid_of_places(side_name(side, sides), [each[1:] for each in drawn if each[0] == side]) for side in sides]


def grid_of_places(name: str, drawn: Iterable[tuple[str, str, Markup | None]], *, across: bool = True) -> PanelGrid:
    """Languages as rows; or as columns with `across`, if there are more of them than metrics, so that a row has room for many."""
    by_place = {(language, metric): figure for language, metric, figure in drawn}
    metrics = tuple(dict.fromkeys(metric for _, metric in by_place))
    languages = tuple(dict.fromkeys(language for language, _ in by_place))
    if across and len(languages) > len(metrics):
        by_metric = ((metric_title(metric), tuple(by_place.get((tag, metric)) for tag in languages)) for metric in metrics)
        return PanelGrid(name, "metric", tuple(map(english_name, languages)), tuple(by_metric))
    by_language = ((tag, tuple(by_place.get((tag, metric)) for metric in metrics)) for tag in languages)
    return PanelGrid(name, "language", tuple(map(metric_title, metrics)), tuple(by_language))


def _place(key: Mapping[str, Any]) -> str:
    return f"{english_name(str(key['language']))}, {metric_words(str(key['metric']))}"


def _confusion(one: LabelScorePairs) -> Markup:
    filters = filters_of(_side(one.key)) | {"language": one.key["language"], "metric": one.key["metric"], "compared": True}
    right = sum(row[n] for n, row in enumerate(one.counts))
    words = f"{_place(one.key)}: label by score, {percent(right / max(1, sum(map(sum, one.counts))))} on the diagonal"
    return confusion_matrix(one.classes, one.counts, filters, words)


def _by_mean(one: LabelScorePairs) -> Markup:
    assert one.ends
    low, reach = one.ends[0], one.ends[1] - one.ends[0]
    most = max(point.n for point in one.by_mean)
    points = []
    for point in one.by_mean:
        quartiles = f"quartiles {point.quartiles[0]:g} to {point.quartiles[1]:g}"
        words = f"mean label {point.label:.3g}: mean score {point.score:.3g}, {quartiles}, n {point.n:,}"
        whisker = ((point.quartiles[0] - low) / reach, (point.quartiles[1] - low) / reach)
        points.append(Point((point.label - low) / reach, (point.score - low) / reach, whisker, point.n / most, words))
    return diagonal_panel(points, f"{_place(one.key)}: score against the annotators' mean")


def _reliability(one: LabelScorePairs) -> Markup:
    most = max(point.n for point in one.reliability)
    points = [
        Point(p.confidence, p.right, None, p.n / most, f"confidence {percent(p.confidence)}: {percent(p.right)} right, n {p.n:,}")
        for p in one.reliability
    ]
    return diagonal_panel(points, f"{_place(one.key)}: share right against confidence")


def share_grids(cells: Sequence[Cell], reversed_metrics: frozenset[str] = frozenset(), whose: str = "people") -> list[PanelGrid]:
    """Class shares of people and of every judge, people above the judge, by how many annotators agree where there are three.

    `whose` says who gave the labels.

    `reversed_metrics` are those whose first class is the best one: their shares are drawn from the last class, so that each bar goes
    from the worst class to the best.
    """
    cells = [cell for cell in cells if cell.distribution_labels and cell["task"] == POOLED]
    sides = sides_of(cells)
    sides = [side for side in sides if not is_baseline(side)] or sides
    grids = []
    for side in sides:
        here = [cell for cell in cells if side_of(cell) == side]
        own = [(cell["language"], cell["metric"], _shares(cell, cell["metric"] in reversed_metrics, whose)) for cell in here]
        grids.append(grid_of_places(side_name(side, sides), own, across=False))
    return grids


def _shares(cell: Cell, reverse: bool, whose: str) -> Markup:
    return Markup("").join(
        _level_shares(level, items, ((whose, labels), ("judge", judge)), reverse) for level, items, labels, judge in _levels(cell)
    )


def _levels(cell: Cell) -> Iterator[tuple[str, int, Mapping[str, float] | None, Mapping[str, float] | None]]:
    if cell.distribution_by_agreement:
        for level, shares in cell.distribution_by_agreement.items():
            if shares["items"]:
                yield _LEVELS[level], shares["items"], shares["labels"], shares["judge"]
    else:
        yield "", cell.n_ref, cell.distribution_labels, cell.distribution_judge


def _level_shares(level: str, items: int, both: Sequence[tuple[str, Mapping[str, float] | None]], reverse: bool) -> Markup:
    head = f"{level}, n {items:,}" if level else f"n {items:,}"
    row = Markup('<div class="shares">{}<span class="hidden">{}: {}</span></div>')
    bars = Markup("").join(row.format(_bar(shares, who, reverse), who, class_shares(shares)) for who, shares in both if shares)
    return Markup('<div class="level"><small>{}</small>{}</div>').format(head, bars)


def _bar(shares: Mapping[str, float], who: str, reverse: bool) -> Markup:
    classes = list(shares)[::-1] if reverse else list(shares)
    return bar({name: shares[name] for name in classes}, classes, who)


@dataclass(frozen=True)
class Pictures:
    """All small figures of a page, section by section; a section without any is empty."""

    confusion: list[PanelGrid]
    by_mean: list[PanelGrid]
    reliability: list[PanelGrid]
    shares: list[PanelGrid]

    def sections(self) -> Iterator[tuple[str, str]]:
        """The ids and titles of the sections that a page has."""
        titles = (
            ("confusion", "Label by score"),
            ("means", "Score and mean label"),
            ("reliability", "Confidence"),
            ("classes", "Class shares"),
        )
        for title, grids in zip(titles, (self.confusion, self.by_mean, self.reliability, self.shares), strict=True):
            if grids:
                yield title


def pictures_of(sources: Sequence[tuple[str | None, Outcomes]], cells: Sequence[Cell]) -> Pictures:
    """The small figures of a page, from the outcomes of its sources (named where there are several) and its cells."""
    pairs = [one for name, judged in sources for one in label_score_pairs(judged, name)]
    whose = "constructed labels" if all(judged.data.about.source == "constructed" for _, judged in sources) else "people"
    falling = frozenset(metric for _, judged in sources for metric, scale in judged.data.scales.items() if best_is_first(scale))
    return Pictures(confusion_grids(pairs), mean_grids(pairs), reliability_grids(pairs), share_grids(cells, falling, whose))
