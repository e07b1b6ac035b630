"""Automatic acceptance: the confidence above which a judge's answers need no person, per language and metric."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from harness.content.specs import DatasetCard
from harness.correction.cell_results import CellResults, KeyedRow, UnreadCells, copied_sentences, refuse_unless_random, refuse_unread
from harness.correction.correction_options import AcceptOptions
from harness.decide.verdict_sentences import unread_words
from harness.errors import UsageError
from harness.measure.cells import number, sort_key
from harness.measure.compare import JudgedTables, Recording, align
from harness.measure.item_table import ItemTable, item_tables, total_answers
from harness.measure.options import MeasureOptions
from harness.model import CONDITION
from harness.stats.core.arrays import Floats
from harness.stats.estimation.acceptance import Acceptance, acceptance_threshold

_NAMED = 3  # languages and metrics that a sentence names
NO_CONFIDENCE = (
    "no confidence: the judgments have no probabilities and no repeats; ask with --variant probabilities or with --repeats 5, "
    "record probs, or take --confidence votes where several judges scored the same texts"
)
UNEQUAL = "the labelled texts were drawn with unequal probabilities; label texts that are drawn with one probability"
NOT_RANDOM = "the labelled texts are not stated to be a random sample (sampling in data.toml)"
CONTINUOUS = "continuous scores have no classes that could be equal to a person's"
ONLY_IF = "only if the labelled texts are like a random draw of the texts that are judged"
ONE_JUDGE = "votes need several judges that scored the same texts"
GUARANTEE = (
    "The guarantee is about texts like the labelled ones, on average over the draw of the labels, for each row by itself and not for each "
    "class. For a claim about all of L languages at once, divide --delta by L."
)


class AcceptedFrom(KeyedRow, frozen=True, kw_only=True):
    """From which confidence on answers are accepted in one cell. Undefined numbers are None.

    Attributes:
        key: language, metric, judge and condition; with votes the judge is `votes of k judges`.
        confidence: `probability`, `repeats`, `votes`, or `none`.
        threshold: the lowest certified confidence; None if nothing is certified, with the `reason`.
        coverage: share of the n labelled texts that it accepts.
        agreement, agreement_lower: how often accepted answers give people's aggregate: observed, and guaranteed.
        n, groups: texts that the guarantee is about, and independent texts among them: those whose annotators have an aggregate, and with
            `majority:strict` all labelled ones.
        left_out: labelled texts that it says nothing of, because no label is the commonest; 0 with `median` and `strict`.
        n_start: labelled texts that the first candidate needs.
    """

    confidence: str
    threshold: float | None = None
    coverage: float = 0.0
    agreement: float | None = None
    agreement_lower: float | None = None
    n: int = 0
    groups: int = 0
    left_out: int = 0
    n_start: int | None = None
    reason: str | None = None

    @property
    def left_out_share(self) -> float | None:
        """`left_out` as a share of the labelled texts; None without labelled texts."""
        return share_left_out(self.n, self.left_out)

    def flat(self) -> dict[str, Any]:
        return super().flat() | {"left_out_share": self.left_out_share}


class Acceptances(CellResults, frozen=True):
    """Thresholds of cells; `unread` are cells without one, because most answers cannot be read; `copied` as in `copied_sentences`."""

    signature: str
    alpha: float
    delta: float
    thresholds: tuple[AcceptedFrom, ...]
    notes: tuple[str, ...]
    unread: tuple[UnreadCells, ...] = ()
    copied: tuple[str, ...] = ()
    schema_version: int = 1


def accept(sources: Sequence[Recording], compare: MeasureOptions, options: AcceptOptions = AcceptOptions()) -> Acceptances:
    """Find the lowest confidence from which on a share 1 - alpha of a judge's answers gives people's aggregate, with probability 1 - delta.

    Raises UsageError unless the labelled items are a random sample, by the dataset card or by `options.sampling`; where votes are asked for
    and there is only one judge; and as `measure.compare` does. Raises JudgeError where most answers of every judge cannot be read.
    """
    assumed = [assumption(source.data.about, options, "no automatic acceptance") for source in sources]
    aligned = align(sources, compare)
    cells = [cell for judged in aligned.tables for cell in item_tables(judged, by_source="source" in aligned.by)]
    cells, unread = refuse_unread(cells, "nothing is accepted by the scores")
    if options.confidence == "votes":
        cells = list(_vote_panels(cells))
    if not cells:
        raise UsageError("nothing to accept: no judge has scores on a metric that people labelled")
    thresholds = sorted((accepted_from(cell, compare, options) for cell in cells), key=lambda threshold: sort_key(threshold.key))
    notes = (*aligned.notes, *_left_out_notes(thresholds), GUARANTEE, *dict.fromkeys(filter(None, assumed)))
    copied = copied_sentences(aligned)
    return Acceptances(aligned.signed(use=str(options)), options.alpha_risk, options.delta, tuple(thresholds), notes, unread, copied)


def assumption(about: DatasetCard, options: AcceptOptions, what: str) -> str | None:
    """Return what `options` assume against the dataset card, as a sentence; None where the card states a random sample.

    Raises UsageError where neither says so: `what` needs it.
    """
    if about.sampling == "random":
        return None
    if options.sampling is None:
        refuse_unless_random(about, what, "\n  To see what would hold if it were one: --sampling random.")
    stated = "does not say how texts were drawn" if about.sampling == "unknown" else f'says sampling = "{about.sampling}"'
    return f"--sampling random: the dataset card of '{about.id}' {stated}. The promise holds {ONLY_IF}."


def acceptances_of_tables(aligned: JudgedTables, compare: MeasureOptions) -> tuple[AcceptedFrom, ...]:
    """Return the threshold of every cell of aligned sources; none, with the reason, where labels are no random sample."""
    thresholds = []
    for judged in aligned.tables:
        is_random = judged.data.about.sampling == "random"
        for cell in item_tables(judged, by_source="source" in aligned.by):
            nothing = AcceptedFrom(key=cell.key, confidence="none", reason=NOT_RANDOM)
            thresholds.append(accepted_from(cell, compare, AcceptOptions()) if is_random else nothing)
    return tuple(sorted(thresholds, key=lambda threshold: sort_key(threshold.key)))


def accepted_from(cell: ItemTable, compare: MeasureOptions, options: AcceptOptions) -> AcceptedFrom:
    """Return the certified threshold of one cell, or the reason why there is none."""
    if cell.counts.mostly_unread:
        return AcceptedFrom(key=cell.key, confidence="none", reason=unread_words(cell.counts))
    if cell.classes.continuous:
        return AcceptedFrom(key=cell.key, confidence="none", reason=CONTINUOUS)
    name, confidence = confidence_of(cell, options)
    agrees, has_reference = agrees_with_people(cell)
    left_out = int((cell.labelled & ~has_reference).sum())
    counts: dict[str, Any] = {"n": int(has_reference.sum()), "groups": len(np.unique(cell.group[has_reference])), "left_out": left_out}
    if confidence is None or is_unequal(cell):
        return AcceptedFrom(key=cell.key, confidence=name, reason=NO_CONFIDENCE if confidence is None else UNEQUAL, **counts)
    independent = len(np.unique(cell.group)) == len(cell.group)
    acceptance: Acceptance = acceptance_threshold(
        confidence, agrees, None if independent else cell.group, alpha=options.alpha_risk, delta=options.delta
    )
    return AcceptedFrom(
        key=cell.key,
        confidence=name,
        threshold=number(acceptance.threshold),
        coverage=acceptance.coverage,
        agreement=number(acceptance.agreement),
        agreement_lower=number(acceptance.agreement_lower),
        **counts,
        n_start=acceptance.n_start,
        reason=acceptance.reason,
    )


def share_left_out(n: int, left_out: int) -> float | None:
    """Return the share of labelled texts that a guarantee says nothing of; None without labelled texts.

    >>> share_left_out(150, 50), share_left_out(0, 0)
    (0.25, None)
    """
    return left_out / (n + left_out) if n + left_out else None


def _left_out_notes(thresholds: Sequence[AcceptedFrom]) -> Iterator[str]:
    """Yield a sentence on the texts that the guarantee does not cover; none if it covers all."""
    by_cell = {(threshold.key["metric"], threshold.key["language"]): threshold for threshold in thresholds if threshold.left_out}
    if by_cell:
        where = [f"{cell.left_out:,} of {cell.n + cell.left_out:,} in {tag}/{metric}" for (metric, tag), cell in by_cell.items()]
        more = f" and {len(where) - _NAMED} more (--json has all)" if len(where) > _NAMED else ""
        yield (
            f"The guarantee says nothing of texts without a commonest label, on which people disagree: {', '.join(where[:_NAMED])}{more}. "
            "--majority strict counts them as disagreement with the judge."
        )


def agrees_with_people(cell: ItemTable) -> tuple[Floats, NDArray[np.bool_]]:
    """Return (items,) whether the judge gives people's aggregate, NaN outside the guarantee; and which texts the guarantee is about."""
    return np.where(cell.compared, cell.right, math.nan), cell.compared


def confidence_of(cell: ItemTable, options: AcceptOptions) -> tuple[str, Floats | None]:
    """Return the kind of the answers' confidence, and its values; None where there is nothing to read."""
    if options.confidence == "votes":
        return "votes", cell.repeat_share
    if options.confidence in (None, "probability") and not np.isnan(cell.probability).all():
        return "probability", cell.probability
    if options.confidence in (None, "repeats") and (cell.asked > 1).any():
        return "repeats", cell.repeat_share
    return options.confidence or "none", None


def is_unequal(cell: ItemTable) -> bool:
    """Return True if labelled items had clearly different chances to be drawn, by what they state or by strata."""
    labelled = cell.labelled
    if cell.inclusion is not None:
        stated = cell.inclusion[labelled]
        return bool(np.isnan(stated).any() or (len(stated) and stated.max() > stated.min()))
    if cell.stratum is None or not labelled.any():
        return False
    shares = np.array([labelled[cell.stratum == code].mean() for code in np.unique(cell.stratum)])
    return bool(shares.max() > 1.1 * shares.min())


def _vote_panels(cells: Sequence[ItemTable]) -> Iterator[ItemTable]:
    """Yield the votes of all judges on each language and metric: each judge has one vote, its commonest answer, and baselines have none."""
    panels: dict[tuple[Any, ...], list[ItemTable]] = {}
    for cell in (cell for cell in cells if not cell.is_baseline):
        panels.setdefault((cell.key.get("source"), *cell.language_and_metric), []).append(cell)
    if all(len({cell.key["judge"] for cell in panel}) < 2 for panel in panels.values()):
        raise UsageError(f"{ONE_JUDGE}; take --confidence repeats, or record the judgments of other judges too")
    for panel in panels.values():
        judges = {cell.key["judge"] for cell in panel}
        if len(judges) > 1:
            what = "judges" if len(panel) == len(judges) else "judges and conditions"
            yield _join_panel(panel, {**dict.fromkeys(CONDITION), "judge": f"votes of {len(panel)} {what}"})


def _join_panel(panel: Sequence[ItemTable], key: Mapping[str, Any]) -> ItemTable:
    item = np.unique(np.concatenate([cell.item for cell in panel]))
    k = len(panel[0].classes.scores)
    labels, answers = np.zeros((len(item), k), np.int64), np.zeros((len(item), k), np.int64)
    answer_counts, group = np.zeros(len(item), np.int64), np.zeros(len(item), np.int64)
    designs = {name: getattr(panel[0], name) for name in ("inclusion", "stratum")}
    stated: dict[str, Any] = {name: np.zeros_like(design, shape=len(item)) for name, design in designs.items() if design is not None}
    for cell in panel:
        position = np.searchsorted(item, cell.item)
        labels[position], group[position] = cell.labels, cell.group
        answer_counts[position] += 1
        voted = cell.answer >= 0
        answers[position[voted], cell.answer[voted]] += 1
        for name, column in stated.items():
            column[position] = getattr(cell, name)
    first, unknown = panel[0].take(np.zeros(len(item), np.int64), **key), np.full(len(item), math.nan)
    return replace(
        first,
        people=replace(first.people, counts=labels),
        item=item,
        group=group,
        answers=answers,
        asked=answer_counts,
        counts=total_answers(cell.counts for cell in panel),
        probability=unknown,
        **stated,
    )
