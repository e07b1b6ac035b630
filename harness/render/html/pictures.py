"""Pictures of cases on pages: colour maps of judges and languages, reliability diagrams, and what the scores of one case look like."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from markupsafe import Markup

from harness.content.tags import english_name
from harness.decide.verdict_rule import BaselineSide
from harness.decide.verdicts import Verdict
from harness.html_pages import visible
from harness.measure.cells import Cell
from harness.measure.judged_table import JudgedTable
from harness.measure.options import POOLED
from harness.measure.summaries import LabelScorePairs, best_is_first, label_score_pairs
from harness.render.html.answer import ABOVE, BELOW, UNKNOWN, WITHIN, JudgedCells
from harness.render.html.marks import Point, bar, confusion_matrix, diagonal_panel
from harness.render.pictured import ReliabilityCurves, ReliabilityPanel, curves_words, reliability_curves
from harness.render.verdict_text import filters_of, languages_of
from harness.reports.answer.judged_sides import Side, is_baseline, plainest_first, side_name, side_of, sides_of
from harness.reports.answer.verdict_words import style_of
from harness.reports.sections.probabilities import NAME
from harness.reports.sections.section_registry import ShownSection
from harness.reports.tables.columns import metric_title, metric_words
from harness.reports.tables.numbers import class_shares, difference, percent
from harness.text import one_line

_SIGNS: dict[BaselineSide | None, str] = {"above": ABOVE, "below": BELOW, "not shown": WITHIN, None: UNKNOWN}
_WORDS: dict[BaselineSide | None, str] = {"above": "above", "below": "below", "not shown": "not shown", None: "not tested"}
_SENTENCES: dict[BaselineSide | None, str] = {
    "above": "shown above a constant answer, after correction for all verdicts of the judge",
    "below": "shown below a constant answer, after correction for all verdicts of the judge",
    "not shown": "not shown to differ from a constant answer, after correction for all verdicts of the judge",
    None: "not tested: the labels are too few for a verdict",
}


@dataclass(frozen=True)
class Square:
    """One number beside a constant answer: `sign` and `word` say what is shown, `title` says all. A click shows `show`."""

    number: str
    sign: str = ""
    word: str = ""
    title: str = ""
    show: Mapping[str, Any] = field(default_factory=dict)

    @property
    def colour(self) -> str:
        """The class of the style sheet where all that is shown points one way; none where nothing is shown, or both."""
        return {ABOVE: "above", BELOW: "below"}.get(self.sign, "")


@dataclass(frozen=True)
class Grid:
    """Rows of squares or of small figures, None where there is none. `rows_are` and `columns_are` say of what: `language`, `metric` …"""

    name: str
    rows_are: str
    columns: tuple[str, ...]
    rows: tuple[tuple[str, tuple[Any, ...]], ...]
    columns_are: str = ""


def language_metric_maps(cells: Sequence[Cell], verdicts: Sequence[Verdict]) -> list[Grid]:
    """Return a map of each side, languages × metrics, from cells that pool tasks; none of scores that are numbers, which equal no label.

    The sign of a square is what the verdict on it shows of judge and baseline.
    """
    cells = [cell for cell in cells if not cell.continuous]
    sides = sides_of(cells)
    marks = {(side_of(verdict.key), verdict["language"], verdict["metric"]): verdict.baseline.shown for verdict in verdicts}
    metrics = tuple(dict.fromkeys(cell["metric"] for cell in cells))
    squares = {}
    for cell in cells:
        square_key = side_of(cell.key), cell["language"], cell["metric"]
        base = cell.vs_baseline
        baseline = f"a constant answer {percent(base['pa'])}, difference {difference(base['diff'], base['ci'])}"
        title = f"{percent(cell['pa_failed_wrong'], cell['pa_failed_wrong_ci'])}, n {cell.n_ref:,}; {baseline}"
        show = {**filters_of(square_key[0]), "language": square_key[1], "metric": square_key[2], "compared": True}
        squares[square_key] = _square(percent(cell["pa_failed_wrong"]), [marks.get(square_key)], title, show)
    maps = []
    for side in sides:
        lines = ((language, tuple(squares.get((side, language, metric)) for metric in metrics)) for language in languages_of(cells))
        rows = tuple(line for line in lines if any(line[1]))
        maps.append(Grid(side_name(side, sides), "language", tuple(map(metric_title, metrics)), rows, "metric"))
    return maps


def judge_language_map(judged: Sequence[JudgedCells]) -> Grid | None:
    """Judges × languages, all metrics of a language together; None where there is only one judge under one condition, or no agreement.

    The sign of a square counts what the verdicts on its metrics show.
    """
    judged = [cells for cells in judged if cells.summary.n_ref]
    sides = sides_of([cells.cells[0] for cells in judged if cells.cells])
    if len(sides) < 2:
        return None
    languages = tuple(dict.fromkeys(cells.summary.language for cells in judged))
    squares = {}
    for one in judged:
        if not one.cells:
            continue
        summary, side = one.summary, side_of(one.cells[0].key)
        baseline = f"a constant answer {percent(summary.baseline)}, difference {difference(summary.diff, summary.ci)}"
        words = f"{percent(summary.pa_failed_wrong)}, n {summary.n_ref:,}; {baseline}"
        show = {**filters_of(side), "language": summary.language, "compared": True}
        numbers = {cell["metric"] for cell in one.cells if cell.continuous}
        beside_baseline = [verdict.baseline.shown for verdict in one.verdicts if verdict["metric"] not in numbers]
        squares[side, summary.language] = _square(percent(summary.pa_failed_wrong), beside_baseline, words, show)
    rows = tuple((side_name(side, sides), tuple(squares.get((side, language)) for language in languages)) for side in sides)
    rows_are = "judge" if len({side[:2] for side in sides}) > 1 else "condition"
    return Grid("all metrics together", rows_are, languages, rows, "language")


def _square(number: str, beside_baseline: Sequence[BaselineSide | None], title: str, show: Mapping[str, Any]) -> Square:
    """Return what one verdict shows, or several do: `above on 2, below on 1 of 5` where they are not of one kind."""
    kinds = [kind for kind in _SIGNS if kind in beside_baseline] or [None]
    decided = [kind for kind in kinds if kind in ("above", "below")]
    if len(kinds) == 1 or not decided:
        kind = kinds[0] if len(kinds) == 1 else "not shown"  # of several some are tested, and nothing is shown
        return Square(number, _SIGNS[kind], _WORDS[kind], f"{title}: {_SENTENCES[kind]}", show)
    word = f"{', '.join(f'{_WORDS[kind]} on {beside_baseline.count(kind)}' for kind in decided)} of {len(beside_baseline)}"
    sentence = f"metrics shown {word}, after correction for all verdicts of the judge"
    return Square(number, "".join(_SIGNS[kind] for kind in decided), word, f"{title}: {sentence}", show)


_SIZE, _INSET, _LEFT, _BOTTOM = 150, 6, 30, 18  # pixels of a panel, what is left free inside, and the room of its axes
_KEY = (
    "Dots: answers of about equal confidence, from left to right what the judge says, from below the share that equals people's commonest "
    "label, with 95 % bands. On the dashed diagonal probabilities hold; below it the judge is too sure. Line in ink: how often a further "
    "person is right. Blue: shown to hold; brown: shown not to; grey: not shown, or only after a refit."
)


def reliability_figures(section: ShownSection) -> Markup:
    """Return the panels of the section `probabilities` with what their signs mean; nothing for other sections."""
    curves = reliability_curves(section.section) if section.name == NAME else None
    if curves is None:
        return Markup("")
    several = {name: len({getattr(panel, name) for panel in curves.panels}) > 1 for name in ("metric", "side")}
    figures = []
    for panel in curves.panels:
        more = [metric_words(panel.metric)] if several["metric"] else []
        more += [panel.side] if several["side"] else []
        head = Markup("<figcaption><b>{}</b>{} <b class='{}'>{}</b> <small class='{}'>{}</small></figcaption>").format(
            visible(english_name(panel.language)),
            Markup("").join(Markup(" <small><bdi>{}</bdi></small>").format(visible(text)) for text in more),
            panel.look,
            panel.gap_words,
            panel.look,
            panel.verdict,
        )
        figures.append(Markup("<div>{}{}</div>").format(head, _panel(panel, curves)))
    words = f"{curves_words(curves)} {_KEY}"
    grid = Markup('<figure data-figure="reliability"><div class="reliability">{}</div></figure>').format(Markup("").join(figures))
    return grid + Markup('<p class="note">{}</p>').format(words)


def _panel(panel: ReliabilityPanel, curves: ReliabilityCurves) -> Markup:
    """The diagonal, people's line, bands, the curve and its dots, in a square with both axes."""

    def along(share: float) -> float:
        return _INSET + (_SIZE - 2 * _INSET) * (min(max(share, curves.start), 1.0) - curves.start) / (1 - curves.start)

    def x(share: float) -> str:
        return f"{_LEFT + along(share):.1f}"

    def y(share: float) -> str:
        return f"{_SIZE - along(share):.1f}"

    line = Markup('<line class="{}" x1="{}" y1="{}" x2="{}" y2="{}"/>')
    parts = [
        Markup('<rect class="frame" x="{}" y="0.5" width="{}" height="{}"/>').format(_LEFT + 0.5, _SIZE - 1, _SIZE - 1),
        line.format("rule dashed", x(curves.start), y(curves.start), x(1), y(1)),
    ]
    text = Markup('<text class="axis-text" x="{}" y="{}" text-anchor="{}">{}</text>')
    for share in (curves.start, 1.0):
        parts += [
            text.format(_LEFT - 4, float(y(share)) + 4, "end", percent(share)),
            text.format(x(share), _SIZE + 13, "middle", percent(share)),
        ]
    if panel.people is not None and panel.people > curves.start:
        parts.append(line.format("people", x(curves.start), y(panel.people), x(1), y(panel.people)))
        people_mark = Markup('<text class="small" x="{}" y="{}">people {}</text>')
        parts.append(people_mark.format(x(curves.start), float(y(panel.people)) - 4, percent(panel.people)))
    corners = " ".join(f"{x(b.confidence)},{y(b.share)}" for b in panel.bins)
    parts.append(Markup('<polyline class="curve {}" points="{}"/>').format(panel.look, corners))
    for b in panel.bins:
        band = (
            line.format(f"curve {panel.look}", x(b.confidence), y(b.interval[0]), x(b.confidence), y(b.interval[1])) if b.interval else ""
        )
        dot = Markup('<circle class="curve dot {}" cx="{}" cy="{}" r="3"/>').format(panel.look, x(b.confidence), y(b.share))
        parts.append(Markup("<g><title>{}</title>{}{}</g>").format(b.words, band, dot))
    head = '<svg viewBox="0 0 {0:g} {1:g}" role="group" aria-label="{2}">{3}</svg>'
    return Markup(head).format(_LEFT + _SIZE + 14, _SIZE + _BOTTOM, visible(panel.words), Markup("").join(parts))


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
    named = []
    for case in cases:
        side, language, metric = case
        name = f"{english_name(language)} · {metric_words(metric)}{f' · {side_name(side, sides)}' if len(sides) > 1 else ''}"
        about = filters_of(side) | {"language": language, "metric": metric}
        verdict = said.get(case)
        words = (style_of(verdict), verdict.words.sentence) if verdict else None
        if pictures[case]:
            named.append(CasePictures(name, about, words, tuple(pictures[case])))
    return named


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
        low, reach = pairs.ends[0], pairs.ends[1] - pairs.ends[0]
        most = max(point.n for point in pairs.by_mean)
        points = []
        for point in pairs.by_mean:
            quartiles = f"quartiles {point.quartiles[0]:g} to {point.quartiles[1]:g}"
            words = f"mean label {point.label:.3g}: mean score {point.score:.3g}, {quartiles}, n {point.n:,}"
            x, y, *whisker = ((value - low) / reach for value in (point.label, point.score, *point.quartiles))
            points.append(Point(x, y, (whisker[0], whisker[1]), point.n / most, words))
        drawn = diagonal_panel(points, f"{_place(pairs.key)}: score against the annotators' mean")
        yield CasePicture("Score against the mean label" if whose != "people" else "Score against people's mean", note, drawn)
    if pairs.reliability:
        note = "Right: the probability that the judge gave to its score; up: the share of right scores."
        most = max(point.n for point in pairs.reliability)
        points = [
            Point(p.confidence, p.right, None, p.n / most, f"confidence {percent(p.confidence)}: {percent(p.right)} right, n {p.n:,}")
            for p in pairs.reliability
        ]
        drawn = diagonal_panel(points, f"{_place(pairs.key)}: share right against confidence")
        yield CasePicture("Confidence and right answers", note, drawn)


def _place(key: Mapping[str, Any]) -> str:
    return f"{english_name(str(key['language']))}, {metric_words(str(key['metric']))}"


def _class_shares(cell: Cell, reverse: bool, whose: str) -> CasePicture:
    """Class shares of people above the judge's, by how many annotators agree where there are three.

    `reverse` where the first class is the best one: each bar goes from the worst class to the best. `whose` says who gave the labels.
    """
    levels = [("", cell.n_ref, cell.distribution_labels, cell.distribution_judge)]
    if by_level := cell.distribution_by_agreement:
        levels = [(_LEVELS[name], level["items"], level["labels"], level["judge"]) for name, level in by_level.items() if level["items"]]
    row = Markup('<div class="shares">{}<span class="hidden">{}: {}</span></div>')
    figures = []
    for name, items, labels, judge in levels:
        bars = []
        for who, shares in ((whose, labels), ("judge", judge)):
            if shares:
                names = list(shares)[::-1] if reverse else list(shares)
                drawn = bar({label: shares[label] for label in names}, names, who, people=who != "judge")
                bars.append(row.format(drawn, who, class_shares(shares)))
        head = f"{name}, n {items:,}" if name else f"n {items:,}"
        figures.append(Markup('<div class="level"><small>{}</small>{}</div>').format(head, Markup("").join(bars)))
    classes = list(cell.distribution_labels or {})[:: -1 if reverse else 1]
    note = f"Upper bar: {whose}; lower bar: the judge. From light to dark: {', '.join(map(one_line, classes))}."
    return CasePicture("Class shares", note, Markup("").join(figures), wide=True)
