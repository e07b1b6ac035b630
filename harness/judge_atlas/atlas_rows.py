"""Rows of the atlas from the verdicts of comparisons."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from harness.content.specs import DatasetCard
from harness.content.tags import english_name
from harness.decide.verdicts import Verdict
from harness.judge_atlas.atlas_file import Atlas, AtlasRow, AtlasSet
from harness.judges import traits_of
from harness.model import BY_PEOPLE, JudgeCondition

_DIGITS = 6  # of numbers in the file


def rows_of_set(card: DatasetCard, verdicts: Sequence[Verdict]) -> list[AtlasRow]:
    """A row for each verdict on a judge that rests on labels of people and compares with them; none on baselines."""
    return [
        _row(card, verdict)
        for verdict in verdicts
        if verdict.labels in BY_PEOPLE and verdict.verdict != "no verdict" and not traits_of(str(verdict["judge"])).is_baseline
    ]


def joined(cards: Mapping[str, DatasetCard], signatures: Mapping[str, str], rows: Sequence[AtlasRow], kept: Atlas | None = None) -> Atlas:
    """The atlas of these rows and of those that `kept` has of other sets.

    Args:
        cards, signatures: of the sets that were compared.
        rows: of these sets.
        kept: an earlier atlas, whose other sets stay.
    """
    others = {name: about for name, about in kept.sets.items() if name not in cards} if kept else {}
    every = [*rows, *(row for row in (kept.rows if kept else ()) if row.set in others)]
    used = {row.set for row in every}
    sets = {name: _about(card, signatures[name]) for name, card in cards.items()} | others
    return Atlas(
        sets={name: sets[name] for name in sorted(used)},
        languages={tag: english_name(tag) for tag in sorted({row.language for row in every})},
        rows=tuple(sorted(every, key=lambda row: (row.language, row.quality, row.metric, row.set, row.judge, row.condition))),
    )


def _about(card: DatasetCard, signature: str) -> AtlasSet:
    return AtlasSet(
        title=card.title,
        version=card.version,
        licence=card.licence,
        labels=card.source,
        annotators=card.annotators_a_text,
        signature=signature,
    )


def _row(card: DatasetCard, verdict: Verdict) -> AtlasRow:
    metric = str(verdict["metric"])
    return AtlasRow(
        language=str(verdict["language"]),
        quality=card.qualities.get(metric, ""),
        metric=metric,
        judge=str(verdict["judge"]),
        condition=JudgeCondition.of(verdict.key).words(),
        set=card.id,
        verdict=verdict.answer,
        sentence=verdict.sentence,
        agreement=_short(verdict.agreement),
        people=_short(verdict.people),
        gap=_short(verdict.gap),
        bound=_short(verdict.family_bound),
        closeness=verdict.closeness,
        texts=verdict.n_labelled,
        groups=verdict.groups,
        effective_groups=_short(verdict.effective_groups),
    )


def _short(value: float | None) -> float | None:
    return None if value is None else round(value, _DIGITS)
