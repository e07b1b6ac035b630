"""The standings of a board: one table for each language, all judges on the same questions, with facts from their cards and replies."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from itertools import product
from typing import Any, NamedTuple

import msgspec
import numpy as np

from harness.boards.examined_submission import ScoredSubmission
from harness.boards.recorded_scores import PROVIDER, RECORDED
from harness.content import Board
from harness.correction.correction_options import ProbabilityOptions
from harness.correction.probabilities import CellProbabilities, probabilities_of_table
from harness.data.judgments import Judgments
from harness.decide.options import DecisionOptions
from harness.decide.verdict_sentences import unread_sentence
from harness.decide.verdicts import Verdict, verdicts_of_tables
from harness.judges import traits_of
from harness.measure.board_ranking import rank
from harness.measure.board_ranking_by_scores import RankedJudge, Ranking, RankingInput
from harness.measure.compare import align
from harness.measure.item_table import AnswerCounts, count_all_answers
from harness.measure.options import POOLED, of_rule
from harness.measure.recordings import recording
from harness.model import BY_PEOPLE, parse_variant
from harness.runs import Prepared, price_of

SCHEMA_VERSION = 5


class Spending(msgspec.Struct, frozen=True):
    """The cost of 1,000 judgments in one language. US dollars are None if no price is known or no token was counted."""

    dollars: float | None
    seconds: float
    prices: str | None  # the date of the prices; `always` for a judge that costs nothing


class Contender(msgspec.Struct, frozen=True):
    """One judge of a board: what its card says, and what it costs, by language. `id` differs for judges with the same name."""

    id: str
    name: str
    title: str
    model: str
    baseline: bool
    status: str
    open_weights: str
    exposure: str
    exposure_note: str
    families: tuple[str, ...]
    answered_by: dict[str, int]
    spending: dict[str, Spending]
    answers: AnswerCounts  # how many judgments its replies hold, and which of them cannot be read
    part: str = ""  # what it covers of the board, in words; empty for all of it

    @property
    def short_name(self) -> str:
        """The name, of a recorded judge that of the model."""
        return self.name.removeprefix(f"{PROVIDER}/")

    @property
    def display_name(self) -> str:
        """The name that tables show: the title, else the short name."""
        name = self.title or self.short_name
        return f"{name} (a part: {self.part})" if self.part else name

    @property
    def asked_elsewhere(self) -> bool:
        """Return whether its scores come from published data, whose authors asked it in their own way."""
        return self.status == RECORDED and self.name.startswith(f"{PROVIDER}/")

    @property
    def unread(self) -> bool:
        """Return whether most answers of a judge cannot be read, so that it has no rank; never of a baseline."""
        return self.answers.mostly_unread and not self.baseline


class Overall(msgspec.Struct, frozen=True):
    """One judge over all languages. `mean` and `worst` are None if it has no number in one language: a blank cannot be averaged.

    A language in which most of its answers cannot be read is a blank.
    """

    judge: str
    variant: str
    by_language: dict[str, float | None]
    mean: float | None
    worst: float | None
    worst_language: str | None
    beats_baseline: int  # languages in which it is shown to beat the majority baseline
    tested: int  # languages in which this can be tested
    verdicts: dict[str, int]  # how many of its cells, language × metric, have each verdict
    probabilities: dict[str, int] = {}  # the same of the verdicts on its probabilities; empty for a judge without any


class Standings(msgspec.Struct, frozen=True):
    """Everything that a board's tables show. Equal entries give equal standings in any order: no clock, no host, no path."""

    schema_version: int
    board: str
    title: str
    description: str
    rank_by: str
    statistics: tuple[str, ...]
    languages: tuple[str, ...]
    variants: tuple[str, ...]
    repeats: int
    constructed: bool
    native: bool  # whether every label is said to be a native speaker's
    unreviewed: tuple[str, ...]  # languages whose texts no native reader has read
    judges: tuple[Contender, ...]
    tables: tuple[Ranking, ...]
    overall: tuple[Overall, ...]
    verdicts: tuple[Verdict, ...]  # of each submission by itself: another one changes none of them
    probabilities: tuple[CellProbabilities, ...] = ()  # of each submission that has some, as `harness probabilities` says
    dataset: str = ""  # the name of its dataset card; empty for the project's own texts

    def as_json(self) -> dict[str, Any]:
        """One object for programs, unrounded."""
        fields: dict[str, Any] = msgspec.to_builtins(self)
        verdicts = [verdict.flat() for verdict in self.verdicts]
        return fields | {"verdicts": verdicts, "probabilities": [cell.flat() for cell in self.probabilities]}

    @property
    def unread(self) -> list[str]:
        """A sentence for each judge most of whose answers cannot be read."""
        return [unread_sentence(judge.answers, f"{judge.display_name} has no rank") for judge in self.judges if judge.unread]

    def judge(self, name: str) -> Contender:
        """The judge with this id."""
        return next(judge for judge in self.judges if judge.id == name)

    def table(self, language: str, variant: str = "", metric: str = POOLED) -> Ranking | None:
        """One table; None for a language without numbers. The default variant is the board's first."""
        key = (language, variant or self.variants[0], metric)
        return next((table for table in self.tables if (table.language, table.variant, table.metric) == key), None)


def standings(board: Board, prepared: Prepared, entries: Sequence[ScoredSubmission]) -> Standings:
    """Rank `entries` on a board.

    Args:
        board: its protocol.
        prepared: the whole board, as `whole_board` prepares it.
        entries: of its submissions, in any order.

    Raises:
        UsageError: if the board ranks by a statistic that cannot rank judges.
    """
    protocol = prepared.protocol
    by_id = entries_by_id(entries)
    # Without the columns that nothing here needs: the justifications of a hundred judges take much memory.
    columns = (*Judgments.COLUMNS, "confidence", "probs")
    judgments = {judge: Judgments(**{column: entry.judgments.columns[column] for column in columns}) for judge, entry in by_id.items()}
    variants = tuple(str(parse_variant(text)) for text in board.variants)
    tables = rank(
        ranking_input(
            board,
            prepared,
            {judge: ranked_judgments for judge, ranked_judgments in judgments.items() if by_id[judge].card.ranked},
            variants,
        ),
        statistics=board.statistics,
        unranked=[judge for judge, entry in by_id.items() if traits_of(entry.card.identity).is_baseline],
        on_label_scale=[judge for judge, entry in by_id.items() if entry.card.recorded],
    )
    decided = {judge: _decide(board, prepared, judge, judgments[judge]) for judge in by_id}
    unreviewed = () if protocol.texts.data else prepared.library.unreviewed(protocol.texts.board, protocol.texts.languages)
    return Standings(
        schema_version=SCHEMA_VERSION,
        board=protocol.texts.source,
        title=board.title,
        description=board.description,
        rank_by=board.rank_by,
        statistics=board.statistics,
        languages=protocol.texts.languages,
        variants=variants,
        repeats=protocol.questions.repeats,
        constructed=protocol.texts.constructed,
        native=set(prepared.data.labels.source.used) == {"native"},
        unreviewed=tuple(unreviewed),
        judges=tuple(_contender(judge, entry, prepared) for judge, entry in by_id.items()),
        tables=tables,
        overall=tuple(_overall(decided, variants, protocol.texts.languages, tables)),
        verdicts=tuple(verdict for of_judge in decided.values() for verdict in of_judge.verdicts),
        probabilities=tuple(cell for of_judge in decided.values() for cell in of_judge.probabilities),
        dataset="" if board.data == "bundled" else board.data.card,
    )


def ranking_input(board: Board, prepared: Prepared, judgments: Mapping[str, Judgments], variants: Sequence[str]) -> RankingInput:
    """Return the input of a board's tables: judgments by judge, under the board's rule."""
    protocol, rule = prepared.protocol, of_rule(board.majority, board.annotators)
    cells = protocol.questions.metrics, variants, protocol.texts.languages
    return RankingInput(prepared.data, prepared.training, judgments, rule, *cells, protocol.questions.repeats, board.rank_by)


class DecidedJudge(NamedTuple):
    """What is said of one submission by itself: verdicts on its scores, and on its probabilities where it has some."""

    verdicts: list[Verdict]
    probabilities: list[CellProbabilities]


def _decide(board: Board, prepared: Prepared, judge: str, judgments: Judgments) -> DecidedJudge:
    source, rule = recording(judgments, prepared.data, prepared.training, judge), of_rule(board.majority, board.annotators)
    if not len(source.judgments) or prepared.data.sealed:
        return DecidedJudge([], [])
    aligned = align([source], rule)
    cells = probabilities_of_table(aligned.tables[0], ProbabilityOptions())[0] if prepared.data.about.source in BY_PEOPLE else []
    return DecidedJudge(
        [
            msgspec.structs.replace(verdict, key=verdict.key | {"judge": judge})
            for verdict in verdicts_of_tables(aligned, rule, DecisionOptions())
        ],
        [msgspec.structs.replace(cell, key=cell.key | {"judge": judge}) for cell in cells],
    )


def entries_by_id(entries: Sequence[ScoredSubmission]) -> dict[str, ScoredSubmission]:
    """Entries by a unique id: the judge's name, numbered if several have it. The order does not depend on the order of `entries`."""
    by_id: dict[str, ScoredSubmission] = {}
    for entry in sorted(entries, key=lambda entry: (entry.card.name, entry.card.title, entry.card.content_sha256)):
        judge, number = entry.card.name, 1
        while judge in by_id:
            number += 1
            judge = f"{entry.card.name}#{number}"
        by_id[judge] = entry
    return by_id


# ---- what cards and replies say


_OF_CARD = ("name", "title", "model", "status", "open_weights", "exposure", "exposure_note", "families")
"""What a table shows as the card says it."""


def _contender(judge: str, entry: ScoredSubmission, prepared: Prepared) -> Contender:
    card, answers = entry.card, entry.answers
    language = {item.item_id: item.language for item in prepared.data.items}
    judgments: Counter[str] = Counter()
    for item, count in zip(entry.judgments.item.values, np.bincount(entry.judgments.item.codes).tolist(), strict=False):
        judgments[language.get(item, "")] += count
    price, spending = price_of(card.identity), {}
    for tag, spent in sorted(answers.spent.get(card.name, {}).items()):
        if not judgments.get(tag) or card.recorded:
            continue
        counted = spent.usage.prompt_tokens + spent.usage.completion_tokens > 0
        dollars = None
        if price is not None and (counted or not (price.input or price.output)):
            dollars = price.cost(spent.usage) - price.cost(spent.batched) + price.in_batch().cost(spent.batched)
        spending[tag] = Spending(
            dollars=None if dollars is None else round(1000 * dollars / judgments[tag], 9),
            seconds=round(1000 * spent.seconds / judgments[tag], 6),
            prices=price.as_of if price else None,
        )
    return Contender(
        id=judge,
        **{name: getattr(card, name) for name in _OF_CARD},
        baseline=traits_of(card.identity).is_baseline,
        answers=count_all_answers(entry.judgments),
        part=card.part.words if card.part else "",
        answered_by=answers.answered_by.get(card.name, {}),
        spending=spending,
    )


# ---- over the languages


def _overall(
    decided: Mapping[str, DecidedJudge], variants: Sequence[str], languages: Sequence[str], tables: Sequence[Ranking]
) -> list[Overall]:
    """Every judge over all languages, sorted by mean; judges without a mean come last."""
    ranked: dict[tuple[str, str], Mapping[str, RankedJudge]] = {
        (table.variant, table.language): {row.judge: row for row in table.rows} for table in tables if table.metric == POOLED
    }
    overall = []
    for variant, (judge, of_judge) in product(variants, decided.items()):
        rows = {tag: ranked.get((variant, tag), {}).get(judge) for tag in languages}
        values = {tag: row.value if row and not row.unread else None for tag, row in rows.items()}
        defined = {tag: value for tag, value in values.items() if value is not None}
        complete = bool(defined) and len(defined) == len(values)
        worst = min(defined, key=lambda tag: (defined[tag], tag)) if complete else None
        tested = [row.beats_baseline for row in rows.values() if row and row.beats_baseline is not None]
        verdicts = Counter(verdict.answer for verdict in of_judge.verdicts if verdict["variant"] == variant)
        probabilities = Counter(cell.verdict for cell in of_judge.probabilities if cell.key["variant"] == variant)
        overall.append(
            Overall(
                judge=judge,
                variant=variant,
                by_language=values,
                mean=sum(defined.values()) / len(defined) if complete else None,
                worst=defined[worst] if worst else None,
                worst_language=worst,
                beats_baseline=sum(tested),
                tested=len(tested),
                verdicts=dict(sorted(verdicts.items())),
                probabilities=dict(sorted(probabilities.items())),
            )
        )
    return sorted(overall, key=lambda row: (variants.index(row.variant), row.mean is None, -(row.mean or 0.0), row.judge))
