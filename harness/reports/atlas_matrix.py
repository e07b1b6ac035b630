"""The atlas at a glance: languages × qualities, with the judge that may be used and how many sets say so. Pages and pictures show it."""

from __future__ import annotations

import datetime
from collections.abc import Sequence
from dataclasses import dataclass
from typing import get_args

from harness.content.specs import Quality
from harness.judge_atlas.atlas_file import Atlas
from harness.judge_atlas.quality_answers import AGAINST, QualityAnswer, answers_by_quality
from harness.reports.answer_parts import SIGNS
from harness.reports.atlas_answer import STYLES
from harness.reports.tables.numbers import counted

QUALITIES: tuple[str, ...] = get_args(Quality)
OTHER = "other questions"
WAITING = "·"  # people's labels wait for a judge


@dataclass(frozen=True)
class QualitySquare:
    """One quality in one language: `good`, `bad`, `open`, or `none` where people's labels wait for a judge; words and what they rest on.

    `part` is `1 of 8` where the judge may be used for some metrics only. `gone`: the judge that is named is no longer served.
    """

    style: str
    words: str
    note: str
    part: str = ""
    gone: bool = False

    @property
    def sign(self) -> str:
        return SIGNS.get(self.style, WAITING)


@dataclass(frozen=True)
class LanguageRow:
    """A language with a square for each of `QUALITIES`, None where there are no labels, and the other questions by sign and count."""

    tag: str
    name: str
    squares: tuple[QualitySquare | None, ...]
    others: tuple[tuple[str, str, int], ...]


def atlas_matrix(atlas: Atlas, today: datetime.date, tags: Sequence[str] | None = None) -> list[LanguageRow]:
    """A row for each language, by name; or for some, in their order."""
    order = sorted(atlas.languages, key=lambda tag: atlas.languages[tag]) if tags is None else tags
    return [_language_row(atlas, tag, today) for tag in order]


def _language_row(atlas: Atlas, tag: str, today: datetime.date) -> LanguageRow:
    by_quality = {quality.quality: quality for quality in answers_by_quality(row for row in atlas.rows if row.language == tag)}
    labelled = {quality for about in atlas.sets.values() if tag in about.languages for quality in about.qualities}
    squares = tuple(
        _quality_square(atlas, by_quality[quality], today)
        if quality in by_quality
        else QualitySquare("none", "no judge yet", "people's labels")
        if quality in labelled
        else None
        for quality in QUALITIES
    )
    other_styles = [STYLES[quality.answer] for quality in by_quality.values() if quality.quality not in QUALITIES]
    other_styles += ["none"] * len(labelled - by_quality.keys() - {*QUALITIES})
    counts = tuple((style, sign, other_styles.count(style)) for style, sign in (*SIGNS.items(), ("none", WAITING)) if style in other_styles)
    return LanguageRow(tag, atlas.languages[tag], squares, counts)


def _quality_square(atlas: Atlas, quality: QualityAnswer, today: datetime.date) -> QualitySquare:
    style, sets = STYLES[quality.answer], counted(quality.sets, "set")
    say = sets if quality.agreeing == quality.sets else f"{quality.agreeing} of {sets}"
    if quality.allowed:
        part = f"{len(quality.allowed)} of {quality.metrics}" if len(quality.allowed) < quality.metrics else ""
        note = f"{part} metrics · {say}" if part else say
        return QualitySquare(style, quality.best.judge, note, part, atlas.judge(quality.best.judge).is_gone(today))
    judges = counted(len({row.judge for row in quality.rows}), "judge")
    if quality.answer == AGAINST:
        return QualitySquare(style, "use no judge", f"{judges} · {say}")
    against = sum(row.verdict == AGAINST for row in quality.rows)
    most = f"{against} of {len(quality.rows)} against · " if against else ""
    return QualitySquare(style, "not known", f"{most}{judges} · {say}")
