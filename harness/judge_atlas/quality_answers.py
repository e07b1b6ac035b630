"""The atlas's answers about one language, judge or quality: the answer by quality, and the rows that it rests on."""

from __future__ import annotations

import difflib
from collections.abc import Callable, Iterable, Sequence
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
class QualityAnswer:
    """The answer about one quality in one language: `use`, `use corrected`, `do not use` or `not known yet`.

    Attributes:
        best: the judge that the answer names, on its metric with the most texts; of an answer against all judges, the closest one.
        allowed: the metrics of this quality for which this judge, asked like this, has the answer in this set; empty if there are none.
        metrics: how many metrics of this quality its set has.
        rows: the rows of the quality that have a verdict; where none has one, all of them.
        agreeing: how many of its sets have the answer about some judge.
        differ: whether a judge may be used in one set and must not be used in another.
    """

    quality: str
    answer: str
    best: AtlasRow
    allowed: tuple[str, ...]
    metrics: int
    rows: tuple[AtlasRow, ...]
    agreeing: int
    differ: bool

    @property
    def sets(self) -> int:
        """The number of sets with rows of the quality."""
        return len({row.set for row in self.rows})


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
        if row.verdict != NO_VERDICT and row.texts >= LEAST_TEXTS and row.groups >= LEAST_GROUPS
    }
    return WrongUses(len(families), ALPHA * len(families))


def select(atlas: Atlas, language: str | None = None, judge: str | None = None, quality: str | None = None) -> tuple[AtlasRow, ...]:
    """Return the rows of a language (tag or name), a judge and a quality. Raises UsageError for one that no row has, with near names."""
    rows = atlas.rows
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
        answers = answers_by_quality(row for row in atlas.rows if row.language == neighbour)
        words = (f"{answer.quality} {f'use {answer.best.judge}' if answer.allowed else answer.answer}" for answer in answers)
        hints.append(f"{atlas.languages[neighbour]}: {', '.join(words)}")
    return f" A hint only, because no verdict speaks for another language: of languages near it, this is known. {'; '.join(hints)}."


def answers_by_quality(rows: Iterable[AtlasRow]) -> list[QualityAnswer]:
    """Return the answers about the qualities of one language's rows: *use* first, then *use corrected*, *do not use*, *not known yet*.

    A quality is *use* if a judge may be used for one of its metrics or more; the answer names these metrics. It is *do not use* only if
    every verdict is. Rows without a verdict say nothing where others have one.
    """
    by_quality: dict[str, list[AtlasRow]] = {}
    for row in rows:
        by_quality.setdefault(row.subject, []).append(row)
    answers = [
        _answer_of_quality(quality, [row for row in quality_rows if row.verdict != NO_VERDICT] or quality_rows)
        for quality, quality_rows in by_quality.items()
    ]
    return sorted(answers, key=lambda answer: (ORDER.index(answer.answer), answer.quality))


def _answer_of_quality(quality: str, rows: Sequence[AtlasRow]) -> QualityAnswer:
    sides: dict[tuple[str, str, str], list[AtlasRow]] = {}
    for row in rows:
        sides.setdefault((row.set, row.judge, row.condition), []).append(row)
    allowed: list[AtlasRow] = []
    for answer in (USE, CORRECTED):
        fit = [[row for row in side if row.verdict == answer] for side in sides.values()]
        allowed = max(fit, key=lambda rows_of_answer: (len(rows_of_answer), sum(row.texts for row in rows_of_answer)))
        if allowed:
            best = max(allowed, key=lambda row: row.texts)
            break
    else:
        answer = AGAINST if all(row.verdict == AGAINST for row in rows) else OPEN
        best = max(rows, key=lambda row: row.gap if row.gap is not None else -1.0 if row.right is None else row.right - 2.0)
    agreeing = len({row.set for row in rows if answer in (row.verdict, OPEN)})
    metrics = len({row.metric for row in rows if row.set == best.set})
    return QualityAnswer(quality, answer, best, tuple(row.metric for row in allowed), metrics, tuple(rows), agreeing, _differ(rows))


def _differ(rows: Sequence[AtlasRow]) -> bool:
    """Return True if a judge may be used in one set and must not be used in another."""
    for judge in {row.judge for row in rows}:
        judge_rows = [row for row in rows if row.judge == judge]
        for_it, against = ({row.set for row in judge_rows if row.verdict == verdict} for verdict in (USE, AGAINST))
        if for_it and against - for_it:
            return True
    return False


def _rows_with(rows: Sequence[AtlasRow], what: str, wanted: str, value_of: Callable[[AtlasRow], str]) -> tuple[AtlasRow, ...]:
    matching = tuple(row for row in rows if value_of(row).casefold() == wanted.casefold())
    if not matching:
        names = sorted({value_of(row) for row in rows})
        near = difflib.get_close_matches(wanted, names, n=3, cutoff=0.4)
        raise UsageError(f"no {what} '{wanted}' in these rows of the atlas; there are {', '.join(near or names[:12])}")
    return matching
