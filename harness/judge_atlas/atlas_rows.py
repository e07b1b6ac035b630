"""Rows of the atlas from the verdicts of comparisons."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import chain
from pathlib import Path

import msgspec

from harness.content.specs import Board, BoardCollection, DatasetCard, read_spec
from harness.content.tags import english_name
from harness.correction.probabilities import CellProbabilities
from harness.decide.gate_measurements import gap_over_sets
from harness.decide.verdicts import Verdict
from harness.judge_atlas.atlas import AcrossSets, Atlas, AtlasJudge, AtlasRow, AtlasSet, BestOfLanguage, SetRanking
from harness.judges import traits_of
from harness.measure.language_rankings import LanguageRanking
from harness.model import BY_PEOPLE, CELL, JudgeCondition

JUDGES = "catalog/judges.toml"
_DIGITS = 6  # of numbers in the file


class _JudgeFile(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    judges: dict[str, AtlasJudge]


class ComparedSet(msgspec.Struct, frozen=True):
    """The comparison of a set: its signature, its rows, and whether the set is here in part."""

    signature: str
    rows: tuple[AtlasRow, ...]
    partial: bool = False
    rankings: tuple[SetRanking, ...] = ()


def read_judges(path: Path) -> dict[str, AtlasJudge]:
    """Read the dates of the models behind judges, by the judges' names. Raises ContentError, with the line where there is one."""
    return read_spec(path, _JudgeFile).judges


def rows_of_set(
    card: DatasetCard,
    verdicts: Sequence[Verdict],
    probabilities: Sequence[CellProbabilities] = (),
    quality_of: Callable[[str], str] | None = None,
    board: str = "",
) -> tuple[AtlasRow, ...]:
    """Return a row for each verdict on a judge that rests on labels of people; none on baselines, and on judges trained on such labels.

    Args:
        card: of the set.
        verdicts, probabilities: of its comparison, or of the standings of a `board` on it.
        quality_of: what people ask about with a metric; by default what the card says.
    """
    believed = {tuple(cell.key.get(name) for name in CELL): cell for cell in probabilities}
    return tuple(
        _row(
            card,
            verdict,
            believed.get(tuple(verdict.key.get(name) for name in CELL)),
            quality_of or (lambda metric: card.qualities.get(metric, "")),
            board,
        )
        for verdict in verdicts
        if verdict.texts.labels in BY_PEOPLE
        and not traits_of(str(verdict["judge"])).is_baseline
        and verdict["judge"] not in card.judges_trained_on_it
    )


def rankings_of_set(card: DatasetCard, rankings: Iterable[LanguageRanking]) -> tuple[SetRanking, ...]:
    """Return the rankings of a set's judges by language, with numbers of a few digits."""
    made = []
    for ranking in rankings:
        best = tuple(
            BestOfLanguage(one.language, one.judge, round(one.value, _DIGITS), round(one.probability, _DIGITS), one.texts)
            for one in ranking.best
        )
        made.append(
            SetRanking(
                set=card.id,
                quality=card.qualities.get(ranking.metric, ""),
                metric=ranking.metric,
                judges=ranking.judges,
                best=best,
                tau=_short(ranking.tau),
                tau_ci=ranking.tau_ci and (round(ranking.tau_ci[0], _DIGITS), round(ranking.tau_ci[1], _DIGITS)),
                reversed=ranking.reversed,
            )
        )
    return tuple(made)


def joined(
    cards: Mapping[str, DatasetCard],
    compared: Mapping[str, ComparedSet],
    judges: Mapping[str, AtlasJudge],
    earlier: Atlas | None = None,
    boards: Sequence[Board] = (),
    collections: Sequence[BoardCollection] = (),
    from_boards: Mapping[str, Sequence[AtlasRow]] = {},
) -> Atlas:
    """Return the atlas of these comparisons, and of an earlier one's rows of other sets and boards. Its edition is left open.

    Args:
        cards: of all published sets with labels of people, by name.
        compared: of the sets that were compared.
        judges: the models behind judges, as far as they are known.
        earlier: an earlier atlas, whose rows of sets that were not compared stay.
        boards, collections: all there are; beside a set stand the boards on its data, by the collection that asks them together.
        from_boards: the rows of the submissions to each board that is here, by board.
    """
    earlier_rows = [
        row for row in (earlier.all_rows if earlier else ()) if (row.board not in from_boards if row.board else row.set not in compared)
    ]
    rows = [*earlier_rows, *(row for comparison in compared.values() for row in comparison.rows), *chain(*from_boards.values())]
    stay = {row.set for row in earlier_rows if not row.board}
    sets = {name: earlier.sets[name] if earlier and name in stay else _about(card, compared.get(name)) for name, card in cards.items()}
    sets = {name: msgspec.structs.replace(about, boards=_boards_on(name, boards, collections)) for name, about in sets.items()}
    rows.sort(key=lambda row: (row.language, row.quality, row.metric, row.set, row.judge, row.condition))
    toys = {name for name, judge in judges.items() if judge.toy}
    rankings = [ranking for ranking in (earlier.rankings if earlier else ()) if ranking.set not in compared]
    rankings += [ranking for comparison in compared.values() for ranking in comparison.rankings]
    tags = {row.language for row in rows} | {tag for about in sets.values() for tag in about.languages}
    return Atlas(
        sets=dict(sorted(sets.items())),
        judges={name: judges[name] for name in sorted({row.judge for row in rows} & judges.keys())},
        languages={tag: english_name(tag) for tag in sorted(tags)},
        rows=tuple(row for row in rows if row.judge not in toys),
        across=across_sets([row for row in rows if row.judge not in toys]),
        toy_rows=tuple(row for row in rows if row.judge in toys),
        rankings=tuple(sorted(rankings, key=lambda ranking: (ranking.quality, ranking.metric, ranking.set))),
    )


def across_sets(rows: Sequence[AtlasRow]) -> tuple[AcrossSets, ...]:
    """Return the variation of each judge's difference from people between three sets or more of one language and quality.

    The difference in a set is the mean over its metrics and conditions; its standard error is the largest of theirs, because they rest on
    the same texts.
    """
    gaps_by_set: dict[tuple[str, str, str, bool], dict[str, list[tuple[float, float]]]] = {}
    for row in rows:
        if row.gap is not None and row.gap_error:
            by_set = gaps_by_set.setdefault((row.language, row.subject, row.judge, row.closeness), {})
            by_set.setdefault(row.set, []).append((row.gap, row.gap_error))
    across = []
    for (language, quality, judge, closeness), by_set in sorted(gaps_by_set.items()):
        gaps = [sum(gap for gap, _ in values) / len(values) for values in by_set.values()]
        if spread := gap_over_sets(gaps, [max(error for _, error in values) for values in by_set.values()]):
            sd, lo, hi, _ = (round(value, _DIGITS) for value in spread)
            key = {"language": language, "quality": quality, "judge": judge}
            across.append(AcrossSets(**key, closeness=closeness, sets=tuple(sorted(by_set)), sd=sd, lo=lo, hi=hi))
    return tuple(across)


def _boards_on(name: str, boards: Sequence[Board], collections: Sequence[BoardCollection]) -> dict[str, tuple[str, ...]]:
    """Return the names that `harness run --board` takes to ask about a set, with the languages: a collection, or a board that none has."""
    languages: dict[str, set[str]] = {}
    for board in boards:
        if board.data != "bundled" and board.data.card == name:
            asks = next((collection.id for collection in collections if board.id in collection.boards), board.id)
            languages.setdefault(asks, set()).update(board.languages)
    return {asks: tuple(sorted(tags)) for asks, tags in sorted(languages.items())}


def _about(card: DatasetCard, compared: ComparedSet | None) -> AtlasSet:
    return AtlasSet(
        title=card.title,
        version=card.version,
        licence=card.licence,
        labels=card.source,
        annotators=card.annotators_a_text,
        languages=card.languages,
        qualities=tuple(sorted({card.qualities.get(metric, metric) for metric in card.metrics})),
        signature=compared.signature if compared else "",
        partial=bool(compared and compared.partial),
    )


def _row(card: DatasetCard, verdict: Verdict, believed: CellProbabilities | None, quality_of: Callable[[str], str], board: str) -> AtlasRow:
    metric = str(verdict["metric"])
    return AtlasRow(
        language=str(verdict["language"]),
        quality=quality_of(metric),
        metric=metric,
        judge=str(verdict["judge"]),
        condition=JudgeCondition.of(verdict.key).words(),
        set=card.id,
        verdict=verdict.answer,
        sentence=verdict.words.sentence,
        agreement=_short(verdict.agreement.judge),
        people=_short(verdict.agreement.people),
        gap=_short(verdict.agreement.gap),
        bound=_short(verdict.bounds.gap),
        right=_short(verdict.baseline.right),
        over_constant=_short(verdict.baseline.diff),
        closeness=verdict.texts.closeness,
        texts=verdict.texts.labelled,
        groups=verdict.texts.groups,
        effective_groups=_short(verdict.effective_groups),
        gap_error=_short(verdict.agreement.error),
        obstacles=" ".join(verdict.words.obstacles),
        needed=verdict.settled_by,
        basis=verdict.basis,
        board=board,
        probabilities=believed.verdict if believed else "",
        confidence=_short(believed.confidence) if believed else None,
        confidence_gap=_short(believed.gap) if believed else None,
    )


def _short(value: float | None) -> float | None:
    return None if value is None else round(value, _DIGITS)
