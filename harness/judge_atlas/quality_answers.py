"""The atlas's answers about one language, judge or quality: the answer by quality, and the rows that it rests on."""

from __future__ import annotations

import difflib
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from harness.errors import UsageError
from harness.judge_atlas.atlas_file import Atlas, AtlasRow

USE, CORRECTED, AGAINST, OPEN = "use", "use corrected", "do not use", "not known yet"
NO_VERDICT = "no verdict"  # nobody can say how far people agree
ORDER = (USE, CORRECTED, AGAINST, OPEN)
# the defaults of DecisionOptions, by which every verdict of an atlas was given; not imported, because an answer needs no numpy
ALPHA, LEAST_TEXTS, LEAST_GROUPS = 0.05, 30, 20
_NEAR = 30  # CLDR's distance of two languages; 20 for Galician and Spanish, or Belarusian and Russian


@dataclass(frozen=True)
class MetricAnswer:
    """The answer about one metric of one set in one language: `use`, `use corrected`, `do not use` or `not known yet`.

    It is `use` if some judge may be used, and `do not use` only if every verdict on every judge is.

    Attributes:
        metric, set: of the rows.
        best: the row of the judge that the answer names: of a use, a judge that is still served where there is one; else the judge whose
            agreement with people comes closest to theirs, of an unknown metric among those that are not shown unfit.
        gone: whether the judge of a use is no longer served.
        rows: all rows of the metric.
    """

    metric: str
    set: str
    answer: str
    best: AtlasRow
    gone: bool
    rows: tuple[AtlasRow, ...]

    @property
    def unfit(self) -> int:
        """The number of judges that are shown unfit, whatever way they were asked."""
        return len({row.judge for row in self.rows} - {row.judge for row in self.rows if row.verdict != AGAINST})


@dataclass(frozen=True)
class QualityAnswer:
    """The answers about the metrics of one quality in one language, by metric and set.

    `metrics` stand in the order *use*, *use corrected*, *do not use*, *not known yet*. Rows without a verdict say nothing where others of
    the quality have one. But where a metric has one score a text, and some judges are shown worse than a constant, the others stay open.
    """

    quality: str
    metrics: tuple[MetricAnswer, ...]

    @property
    def answer(self) -> str:
        """The answer if it is the same for all metrics; else empty."""
        answers = {metric.answer for metric in self.metrics}
        return answers.pop() if len(answers) == 1 else ""

    @property
    def rows(self) -> tuple[AtlasRow, ...]:
        """The rows of all metrics."""
        return tuple(row for metric in self.metrics for row in metric.rows)

    @property
    def sets(self) -> tuple[str, ...]:
        """The names of the sets, sorted."""
        return tuple(sorted({metric.set for metric in self.metrics}))

    def with_answers(self, *answers: str) -> tuple[MetricAnswer, ...]:
        """Return the metrics that have one of these answers."""
        return tuple(metric for metric in self.metrics if metric.answer in answers)

    @property
    def is_settled(self) -> bool:
        """True if a judge that is still served may be used for every metric."""
        return all(metric.answer in (USE, CORRECTED) and not metric.gone for metric in self.metrics)


class WrongUses(NamedTuple):
    """The number of families of tests that could say *use*, and how many of them at most are expected to hold a wrong one."""

    families: int
    expected: float


def wrong_uses(rows: Iterable[AtlasRow]) -> WrongUses:
    """Return how many families of these rows are expected to hold a wrong *use*, at most: the level of one times their number.

    A family has the rows of one judge under one condition in one set, which were corrected together. It counts if one of its rows could
    say *use*: with labels by which people can be compared, and enough texts. This holds however the families depend on each other.
    """
    families = {
        (row.judge, row.condition, row.set)
        for row in rows
        if row.verdict != NO_VERDICT
        and (row.people is not None or row.basis == "bar")
        and row.texts >= LEAST_TEXTS
        and row.groups >= LEAST_GROUPS
    }
    return WrongUses(len(families), ALPHA * len(families))


def select(
    atlas: Atlas, language: str | None = None, judge: str | None = None, quality: str | None = None, *, toys: bool = False
) -> tuple[AtlasRow, ...]:
    """Return the rows of a language (tag or name), a judge and a quality; those of toys only where a judge is named, or with `toys`.

    Raises UsageError for one that no row has, with near names.
    """
    rows = atlas.all_rows if toys or judge is not None else atlas.rows
    if language is not None:
        tag = tag_of(atlas, language)
        rows = tuple(row for row in rows if row.language == tag)
        if not rows and (judge or quality):
            raise UsageError(
                f"no judge was recorded beside people's labels in {atlas.languages[tag]}; 'harness atlas --lang {tag}' says more"
            )
    if judge is not None:
        rows = _rows_with(rows, "judge", judge, lambda row: row.judge)
    if quality is not None:
        rows = _rows_with(rows, "quality", quality, lambda row: row.subject)
    return rows


def tag_of(atlas: Atlas, language: str) -> str:
    """Return the tag of a language of the atlas, by its tag or its name in any language, whatever the case.

    Raises UsageError for another language, with the answers of languages near it as a hint.
    """
    wanted = language.strip().replace("_", "-").casefold()
    for tag, name in atlas.languages.items():
        if wanted in (tag.casefold(), name.casefold()):
            return tag
    meant = _meant(language)
    if meant in atlas.languages:
        return meant
    names = [*atlas.languages.values(), *atlas.languages]
    near = difflib.get_close_matches(language, names, n=1)
    hint = _neighbour_hint(atlas, meant) if meant else f" Did you mean '{near[0]}'?" if near else ""
    raise UsageError(
        f"nothing is known of judges in '{language}': no published set in the atlas has people's labels in it.{hint}"
        " 'harness atlas' shows the languages that there are; 'harness labels page' makes a page on which people label your texts."
    )


def _meant(language: str) -> str:
    """Return the canonical tag that a tag or a name in any language means; empty for anything else."""
    import langcodes

    try:
        tag = langcodes.standardize_tag(language.strip())
    except ValueError:
        tag = ""
    if tag and langcodes.tag_is_valid(tag):
        return str(tag)
    try:
        return str(langcodes.find(language.strip()))
    except LookupError:
        return ""


def neighbours(atlas: Atlas, tag: str) -> list[str]:
    """Return the languages with verdicts that are near a language, the nearest first."""
    import langcodes

    judged = sorted({row.language for row in atlas.rows} - {tag})
    distances = {other: langcodes.tag_distance(tag, other) for other in judged}
    return sorted((other for other in judged if distances[other] < _NEAR), key=lambda other: distances[other])


def _neighbour_hint(atlas: Atlas, tag: str) -> str:
    near = neighbours(atlas, tag)
    if not near:
        return ""
    hints = []
    for neighbour in near[:2]:
        words = []
        for quality in answers_by_quality(row for row in atlas.rows if row.language == neighbour):
            judges = dict.fromkeys(f"use {metric.best.judge}" for metric in quality.with_answers(USE, CORRECTED))
            rest = dict.fromkeys(metric.answer for metric in quality.with_answers(AGAINST, OPEN))
            words.append(f"{quality.quality} {' or '.join([*judges, *rest])}")
        hints.append(f"{atlas.languages[neighbour]}: {', '.join(words)}")
    return f" A hint only, because no verdict speaks for another language: of languages near it, this is known. {'; '.join(hints)}."


def answers_by_quality(rows: Iterable[AtlasRow], gone: Collection[str] = ()) -> list[QualityAnswer]:
    """Return the answers about the qualities of one language's rows, those with a metric to be used first.

    `gone` names judges that are no longer served: where another judge may be used for a metric too, that one is named.
    """
    by_quality: dict[str, list[AtlasRow]] = {}
    for row in rows:
        by_quality.setdefault(row.subject, []).append(row)
    answers = []
    for quality, quality_rows in by_quality.items():
        judged = {(row.metric, row.set) for row in quality_rows if row.verdict != NO_VERDICT}
        compared = {(row.metric, row.set) for row in quality_rows if row.people is not None or row.basis == "bar"}
        telling = [row for row in quality_rows if row.verdict != NO_VERDICT or (row.metric, row.set) in judged - compared]
        answers.append(_answer_of_quality(quality, telling or quality_rows, gone))
    return sorted(answers, key=lambda answer: (ORDER.index(answer.metrics[0].answer), answer.quality))


def _answer_of_quality(quality: str, rows: Sequence[AtlasRow], gone: Collection[str]) -> QualityAnswer:
    """Answer metric by metric. Of several judges that may be used, the one that may be used for most metrics is named for all of these."""
    by_metric: dict[tuple[str, str], list[AtlasRow]] = {}
    for row in rows:
        by_metric.setdefault((row.metric, row.set), []).append(row)
    uses = Counter((row.judge, row.condition, row.verdict) for row in rows if row.verdict in (USE, CORRECTED))

    def fitness(row: AtlasRow) -> tuple[bool, bool, int, int]:
        return row.judge not in gone, row.verdict == USE, uses[row.judge, row.condition, row.verdict], row.texts

    metrics = []
    for (metric, name), metric_rows in by_metric.items():
        allowed = [row for row in metric_rows if row.verdict in (USE, CORRECTED)]
        if allowed:
            best = max(allowed, key=fitness)
            metrics.append(MetricAnswer(metric, name, best.verdict, best, best.judge in gone, tuple(metric_rows)))
            continue
        undecided = [row for row in metric_rows if row.verdict != AGAINST]
        best = max(undecided or metric_rows, key=_closeness)
        metrics.append(MetricAnswer(metric, name, OPEN if undecided else AGAINST, best, False, tuple(metric_rows)))
    return QualityAnswer(quality, tuple(sorted(metrics, key=lambda metric: ORDER.index(metric.answer))))


def _closeness(row: AtlasRow) -> float:
    """Return how close a judge comes to people; where people cannot be compared with, below all others, how close to their labels."""
    if row.gap is not None:
        return row.gap
    return -1.0 if row.right is None else row.right - 2.0


def _rows_with(rows: Sequence[AtlasRow], what: str, wanted: str, value_of: Callable[[AtlasRow], str]) -> tuple[AtlasRow, ...]:
    matching = tuple(row for row in rows if value_of(row).casefold() == wanted.casefold())
    if not matching:
        names = sorted({value_of(row) for row in rows})
        near = difflib.get_close_matches(wanted, names, n=3, cutoff=0.4)
        raise UsageError(f"no {what} '{wanted}' in these rows of the atlas; there are {', '.join(near or names[:12])}")
    return matching
