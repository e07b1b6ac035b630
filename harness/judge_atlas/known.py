"""What the atlas says of one language, judge or quality: the answer by quality, and the rows that it rests on."""

from __future__ import annotations

import difflib
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from harness.errors import UsageError
from harness.judge_atlas.atlas_file import Atlas, AtlasRow

USE, CORRECTED, AGAINST, OPEN = "use", "use corrected", "do not use", "not known yet"
ORDER = (USE, CORRECTED, AGAINST, OPEN)


@dataclass(frozen=True)
class KnownOfQuality:
    """The answer about one quality in one language: `use`, `use corrected`, `do not use` or `not known yet`.

    Attributes:
        best: the judge that the answer names, on its metric with the most texts; of an answer against all judges, the closest one.
        allowed: the metrics of this quality for which this judge, asked like this, has the answer in this set; empty if there are none.
        metrics: how many metrics of this quality its set has.
        rows: all rows of the quality.
        differ: whether a judge may be used in one set and must not be used in another.
    """

    quality: str
    answer: str
    best: AtlasRow
    allowed: tuple[str, ...]
    metrics: int
    rows: tuple[AtlasRow, ...]
    differ: bool


def select(atlas: Atlas, language: str | None = None, judge: str | None = None, quality: str | None = None) -> tuple[AtlasRow, ...]:
    """The rows of a language (tag or English name), a judge and a quality. Raises UsageError for one that no row has, with near names."""
    rows = atlas.rows
    if language is not None:
        tag = tag_of(atlas, language)
        rows = tuple(row for row in rows if row.language == tag)
    if judge is not None:
        rows = _with(rows, "judge", judge, lambda row: row.judge)
    if quality is not None:
        rows = _with(rows, "quality", quality, lambda row: row.quality or row.metric)
    return rows


def tag_of(atlas: Atlas, language: str) -> str:
    """The tag of a language that the atlas knows, by its tag or its English name, whatever the case. Raises UsageError else."""
    wanted = language.strip().replace("_", "-").casefold()
    for tag, name in atlas.languages.items():
        if wanted in (tag.casefold(), name.casefold()):
            return tag
    names = [*atlas.languages.values(), *atlas.languages]
    near = difflib.get_close_matches(language, names, n=1)
    hint = f" Did you mean '{near[0]}'?" if near else ""
    raise UsageError(
        f"nothing is known of judges in '{language}': no published set in the atlas has people's labels and recorded judgments in it.{hint}"
        " 'harness atlas' shows the languages that there are; 'harness labels page' makes a page on which people label your texts."
    )


def known_of(rows: Iterable[AtlasRow]) -> list[KnownOfQuality]:
    """The answers about the qualities of one language's rows: *use* first, then *use corrected*, *do not use*, *not known yet*.

    A quality is *use* if a judge may be used for one of its metrics or more; the answer names these metrics. It is *do not use* only if
    every verdict is.
    """
    by_quality: dict[str, list[AtlasRow]] = {}
    for row in rows:
        by_quality.setdefault(row.quality or row.metric, []).append(row)
    found = [_known(quality, own) for quality, own in by_quality.items()]
    return sorted(found, key=lambda each: (ORDER.index(each.answer), each.quality))


def _known(quality: str, rows: Sequence[AtlasRow]) -> KnownOfQuality:
    differ = _differ(rows)
    for answer in (USE, CORRECTED):
        sides = [[row for row in side if row.verdict == answer] for side in _sides(rows)]
        allowed = max(sides, key=lambda own: (len(own), sum(row.texts for row in own)))
        if allowed:
            best = max(allowed, key=lambda row: row.texts)
            return KnownOfQuality(quality, answer, best, tuple(row.metric for row in allowed), _metrics(rows, best), tuple(rows), differ)
    answer = AGAINST if all(row.verdict == AGAINST for row in rows) else OPEN
    closest = max(rows, key=lambda row: row.gap if row.gap is not None else -1.0)
    return KnownOfQuality(quality, answer, closest, (), _metrics(rows, closest), tuple(rows), differ)


def _sides(rows: Sequence[AtlasRow]) -> list[list[AtlasRow]]:
    """Rows by set, judge and condition."""
    found: dict[tuple[str, str, str], list[AtlasRow]] = {}
    for row in rows:
        found.setdefault((row.set, row.judge, row.condition), []).append(row)
    return list(found.values())


def _metrics(rows: Sequence[AtlasRow], best: AtlasRow) -> int:
    return len({row.metric for row in rows if row.set == best.set})


def _differ(rows: Sequence[AtlasRow]) -> bool:
    """Whether a judge may be used in one set and must not be used in another."""
    for judge in {row.judge for row in rows}:
        own = [row for row in rows if row.judge == judge]
        for_it, against = ({row.set for row in own if row.verdict == verdict} for verdict in (USE, AGAINST))
        if for_it and against - for_it:
            return True
    return False


def _with(rows: Sequence[AtlasRow], what: str, wanted: str, of: Callable[[AtlasRow], str]) -> tuple[AtlasRow, ...]:
    found = tuple(row for row in rows if of(row).casefold() == wanted.casefold())
    if not found:
        names = sorted({of(row) for row in rows})
        near = difflib.get_close_matches(wanted, names, n=3, cutoff=0.4)
        raise UsageError(f"no {what} '{wanted}' in these rows of the atlas; there are {', '.join(near or names[:12])}")
    return found
