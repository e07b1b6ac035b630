"""All that is drawn of one case, a language, a metric and a judge: labels by scores, scores by means, confidence, class shares."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from markupsafe import Markup

from harness.content.tags import english_name
from harness.decide.verdicts import Verdict
from harness.measure.cells import Cell
from harness.measure.judged_table import JudgedTable
from harness.measure.label_score_pairs import LabelScorePairs, best_is_first, label_score_pairs
from harness.measure.options import POOLED
from harness.render.html.marks import Point, bar, confusion_matrix, diagonal_panel
from harness.render.sides import Side, filters_of, is_baseline, plainest_first, side_name, side_of
from harness.reports.answer.words import style_of
from harness.reports.tables.numbers import class_shares, percent
from harness.reports.tables.titles import metric_words
from harness.text import one_line

_LEVELS = {"full": "all agree", "partial": "two agree", "none": "none agree"}
_Place = tuple[Side, str, str]  # side, language and metric


@dataclass(frozen=True)
class CasePicture:
    """A figure of a case: its title, how it is read, and the drawing. `wide` ones take the room that is left."""

    title: str
    note: str
    drawn: Markup
    wide: bool = False


@dataclass(frozen=True)
class CasePictures:
    """A case: its name, the filters of the browser that choose it, its verdict as `(style, sentence)`, and its pictures."""

    name: str
    about: dict[str, Any]
    verdict: tuple[str, str] | None
    pictures: tuple[CasePicture, ...]


def pictures_of_cases(
    sources: Sequence[tuple[str | None, JudgedTable]], cells: Sequence[Cell], verdicts: Sequence[Verdict]
) -> list[CasePictures]:
    """Every case that has a picture, by language and metric, then by judge; baselines only where there is no other judge.

    `sources` are the judgments of each source, named where there are several; `cells` pool tasks.
    """
    whose = "constructed labels" if all(judged.data.about.source == "constructed" for _, judged in sources) else "people"
    falling = frozenset(metric for _, judged in sources for metric, scale in judged.data.scales.items() if best_is_first(scale))
    pictures: dict[_Place, list[CasePicture]] = {}
    for name, judged in sources:
        for pairs in label_score_pairs(judged, name):
            pictures.setdefault((side_of(pairs.key), str(pairs.key["language"]), str(pairs.key["metric"])), []).extend(
                _of_pairs(pairs, whose)
            )
    for cell in cells:
        if cell.distribution_labels and cell["task"] == POOLED:
            case = side_of(cell.key), str(cell["language"]), str(cell["metric"])
            pictures.setdefault(case, []).append(_class_shares(cell, cell["metric"] in falling, whose))
    said = {(side_of(verdict.key), verdict["language"], verdict["metric"]): verdict for verdict in verdicts}
    sides = plainest_first(side for side, _, _ in pictures)
    sides = [side for side in sides if not is_baseline(side)] or sides
    order = {case: number for number, case in enumerate(dict.fromkeys((language, metric) for _, language, metric in pictures))}
    cases = sorted((case for case in pictures if case[0] in sides), key=lambda case: (order[case[1:]], sides.index(case[0])))
    return [_case(case, sides, said.get(case), pictures[case]) for case in cases if pictures[case]]


def _case(case: _Place, sides: Sequence[Side], verdict: Verdict | None, pictures: Sequence[CasePicture]) -> CasePictures:
    side, language, metric = case
    name = f"{english_name(language)} · {metric_words(metric)}{f' · {side_name(side, sides)}' if len(sides) > 1 else ''}"
    about = filters_of(side) | {"language": language, "metric": metric}
    return CasePictures(name, about, (style_of(verdict), verdict.words.sentence) if verdict else None, tuple(pictures))


def _of_pairs(pairs: LabelScorePairs, whose: str) -> Iterator[CasePicture]:
    """Yield the pictures of labels and scores of the same texts."""
    if pairs.counts:
        note = "Rows are labels, columns scores, from the worst class to the best, in percent of each row; the frame marks equal ones."
        filters = filters_of(side_of(pairs.key)) | {"language": pairs.key["language"], "metric": pairs.key["metric"], "compared": True}
        right = sum(row[n] for n, row in enumerate(pairs.counts))
        words = f"{_place(pairs.key)}: label by score, {percent(right / max(1, sum(map(sum, pairs.counts))))} on the diagonal"
        yield CasePicture("Label by score", note, confusion_matrix(pairs.classes, pairs.counts, filters, words))
    if pairs.by_mean and pairs.ends:
        note = "Right: the mean label of a text; up: the judge's score, with its quartiles. On the dashed line both are equal."
        yield CasePicture("Score against the mean label" if whose != "people" else "Score against people's mean", note, _by_mean(pairs))
    if pairs.reliability:
        note = "Right: the probability that the judge gave to its score; up: the share of right scores."
        yield CasePicture("Confidence and right answers", note, _reliability(pairs))


def _place(key: Mapping[str, Any]) -> str:
    return f"{english_name(str(key['language']))}, {metric_words(str(key['metric']))}"


def _by_mean(pairs: LabelScorePairs) -> Markup:
    assert pairs.ends
    low, reach = pairs.ends[0], pairs.ends[1] - pairs.ends[0]
    most = max(point.n for point in pairs.by_mean)
    points = []
    for point in pairs.by_mean:
        quartiles = f"quartiles {point.quartiles[0]:g} to {point.quartiles[1]:g}"
        words = f"mean label {point.label:.3g}: mean score {point.score:.3g}, {quartiles}, n {point.n:,}"
        x, y, *whisker = ((value - low) / reach for value in (point.label, point.score, *point.quartiles))
        points.append(Point(x, y, (whisker[0], whisker[1]), point.n / most, words))
    return diagonal_panel(points, f"{_place(pairs.key)}: score against the annotators' mean")


def _reliability(pairs: LabelScorePairs) -> Markup:
    most = max(point.n for point in pairs.reliability)
    points = [
        Point(p.confidence, p.right, None, p.n / most, f"confidence {percent(p.confidence)}: {percent(p.right)} right, n {p.n:,}")
        for p in pairs.reliability
    ]
    return diagonal_panel(points, f"{_place(pairs.key)}: share right against confidence")


def _class_shares(cell: Cell, reverse: bool, whose: str) -> CasePicture:
    """Class shares of people above the judge's, by how many annotators agree where there are three.

    `reverse` where the first class is the best one: each bar goes from the worst class to the best. `whose` says who gave the labels.
    """
    bars = (_level_shares(level, items, ((whose, labels), ("judge", judge)), reverse) for level, items, labels, judge in _levels(cell))
    classes = list(cell.distribution_labels or {})[:: -1 if reverse else 1]
    note = f"Upper bar: {whose}; lower bar: the judge. From light to dark: {', '.join(map(one_line, classes))}."
    return CasePicture("Class shares", note, Markup("").join(bars), wide=True)


def _levels(cell: Cell) -> Iterator[tuple[str, int, Mapping[str, float] | None, Mapping[str, float] | None]]:
    if cell.distribution_by_agreement:
        for level, shares in cell.distribution_by_agreement.items():
            if shares["items"]:
                yield _LEVELS[level], shares["items"], shares["labels"], shares["judge"]
    else:
        yield "", cell.n_ref, cell.distribution_labels, cell.distribution_judge


def _level_shares(level: str, items: int, raters: Sequence[tuple[str, Mapping[str, float] | None]], reverse: bool) -> Markup:
    head = f"{level}, n {items:,}" if level else f"n {items:,}"
    row = Markup('<div class="shares">{}<span class="hidden">{}: {}</span></div>')
    bars = []
    for who, shares in raters:
        if shares:
            classes = list(shares)[::-1] if reverse else list(shares)
            drawn = bar({name: shares[name] for name in classes}, classes, who, people=who != "judge")
            bars.append(row.format(drawn, who, class_shares(shares)))
    return Markup('<div class="level"><small>{}</small>{}</div>').format(head, Markup("").join(bars))
