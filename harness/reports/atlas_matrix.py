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
    return [_row(atlas, tag, today) for tag in order]


def _row(atlas: Atlas, tag: str, today: datetime.date) -> LanguageRow:
    found = {each.quality: each for each in answers_by_quality(row for row in atlas.rows if row.language == tag)}
    labelled = {quality for about in atlas.sets.values() if tag in about.languages for quality in about.qualities}
    squares = tuple(
        _square(atlas, found[quality], today)
        if quality in found
        else QualitySquare("none", "no judge yet", "people's labels")
        if quality in labelled
        else None
        for quality in QUALITIES
    )
    others = [STYLES[each.answer] for each in found.values() if each.quality not in QUALITIES]
    others += ["none"] * len(labelled - found.keys() - {*QUALITIES})
    counts = tuple((style, sign, others.count(style)) for style, sign in (*SIGNS.items(), ("none", WAITING)) if style in others)
    return LanguageRow(tag, atlas.languages[tag], squares, counts)


def _square(atlas: Atlas, known: QualityAnswer, today: datetime.date) -> QualitySquare:
    style, sets = STYLES[known.answer], counted(known.sets, "set")
    say = sets if known.agreeing == known.sets else f"{known.agreeing} of {sets}"
    if known.allowed:
        part = f"{len(known.allowed)} of {known.metrics}" if len(known.allowed) < known.metrics else ""
        note = f"{part} metrics · {say}" if part else say
        return QualitySquare(style, known.best.judge, note, part, atlas.judge(known.best.judge).is_gone(today))
    judges = counted(len({row.judge for row in known.rows}), "judge")
    if known.answer == AGAINST:
        return QualitySquare(style, "use no judge", f"{judges} · {say}")
    against = sum(row.verdict == AGAINST for row in known.rows)
    most = f"{against} of {len(known.rows)} against · " if against else ""
    return QualitySquare(style, "not known", f"{most}{judges} · {say}")
