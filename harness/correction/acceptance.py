"""Automatic acceptance: the confidence above which a judge's answers need no person, per language and metric."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, Literal

import msgspec
import numpy as np
from numpy.typing import NDArray

from harness.content.specs import DatasetCard
from harness.correction.cell_results import CellResults, KeyedRow, refuse_unless_random
from harness.correction.unread_cells import UnreadCells, refuse_unread
from harness.decide.sentences import unread_words
from harness.errors import UsageError
from harness.measure.answer_counts import total_answers
from harness.measure.cells import number, sort_key
from harness.measure.compare import AlignedData, Recording, align
from harness.measure.item_table import ItemTable, item_tables
from harness.measure.options import CompareOptions
from harness.model import CONDITION
from harness.stats import Acceptance, acceptance_threshold
from harness.stats.core.arrays import Floats
from harness.stats.intervals.cluster_mean import LEAST_CORRELATION

Confidence = Literal["probability", "repeats", "votes"]
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


class AcceptOptions(msgspec.Struct, frozen=True):
    """Which errors are tolerated: a share `alpha` of accepted answers may disagree with people; `delta` is the chance that more do.

    `confidence`: None takes probabilities where there are any, else repeats. `sampling`: `random` takes labelled texts as a random sample
    even if the dataset card does not say so; what comes out then holds only under this condition, and says so.
    """

    alpha: float = 0.1
    delta: float = 0.1
    confidence: Confidence | None = None
    sampling: Literal["random"] | None = None

    def __post_init__(self) -> None:
        for name, flag in (("alpha", "--alpha-risk"), ("delta", "--delta")):
            if not 0 < getattr(self, name) < 1:
                raise UsageError(f"{flag} is {getattr(self, name):g}; it should be a number between 0 and 1, both excluded")

    def __str__(self) -> str:
        """As signatures print them."""
        taken = f" sampling={self.sampling}" if self.sampling else ""
        groups = f"variance=cr2 correlation={LEAST_CORRELATION:g}"
        return f"accept alpha={self.alpha:g} delta={self.delta:g} confidence={self.confidence or 'default'} {groups}{taken}"


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
    """Thresholds of cells; `unread` are cells without one, because most answers cannot be read."""

    signature: str
    alpha: float
    delta: float
    thresholds: tuple[AcceptedFrom, ...]
    notes: tuple[str, ...]
    unread: tuple[UnreadCells, ...] = ()
    schema_version: int = 1


def accept(sources: Sequence[Recording], compare: CompareOptions, options: AcceptOptions = AcceptOptions()) -> Acceptances:
    """Find the lowest confidence from which on a share 1 - alpha of a judge's answers gives people's aggregate, with probability 1 - delta.

    Raises UsageError unless the labelled items are a random sample, by the dataset card or by `options.sampling`; where votes are asked for
    and there is only one judge; and as `measure.compare` does. Raises JudgeError where most answers of every judge cannot be read.
    """
    assumed = [assumption(source.data.about, options, "no automatic acceptance") for source in sources]
    laid_out = align(sources, compare)
    cells = [cell for judged in laid_out.judged for cell in item_tables(judged, by_source="source" in laid_out.by)]
    cells, unread = refuse_unread(cells, "nothing is accepted by the scores")
    if options.confidence == "votes":
        cells = list(_panels(cells))
    if not cells:
        raise UsageError("nothing to accept: no judge has scores on a metric that people labelled")
    thresholds = sorted((accepted_from(cell, compare, options) for cell in cells), key=lambda each: sort_key(each.key))
    notes = (*laid_out.notes, *_left_out_notes(thresholds), GUARANTEE, *dict.fromkeys(filter(None, assumed)))
    return Acceptances(laid_out.signed(use=str(options)), options.alpha, options.delta, tuple(thresholds), notes, unread)


def assumption(about: DatasetCard, options: AcceptOptions, what: str) -> str | None:
    """What `options` assume against the dataset card, as a sentence; None where the card says that labelled texts are a random sample.

    Raises UsageError where neither says so: `what` needs it.
    """
    if about.sampling == "random":
        return None
    if options.sampling is None:
        refuse_unless_random(about, what, ", or pass --sampling random to see what would hold if they had been")
    stated = "does not say how texts were drawn" if about.sampling == "unknown" else f'says sampling = "{about.sampling}"'
    return f"--sampling random: the dataset card of '{about.id}' {stated}. The promise holds {ONLY_IF}."


def acceptances_laid_out(laid_out: AlignedData, compare: CompareOptions) -> tuple[AcceptedFrom, ...]:
    """The threshold of every cell of sources that are laid out; none, with the reason, where labels are no random sample."""
    thresholds = []
    for judged in laid_out.judged:
        is_random = judged.data.about.sampling == "random"
        for cell in item_tables(judged, by_source="source" in laid_out.by):
            nothing = AcceptedFrom(key=cell.key, confidence="none", reason=NOT_RANDOM)
            thresholds.append(accepted_from(cell, compare, AcceptOptions()) if is_random else nothing)
    return tuple(sorted(thresholds, key=lambda each: sort_key(each.key)))


def accepted_from(cell: ItemTable, compare: CompareOptions, options: AcceptOptions) -> AcceptedFrom:
    """The certified threshold of one cell, or the reason why there is none."""
    if cell.counts.mostly_unread:
        return AcceptedFrom(key=cell.key, confidence="none", reason=unread_words(cell.counts))
    if cell.classes.continuous:
        return AcceptedFrom(key=cell.key, confidence="none", reason=CONTINUOUS)
    name, confidence = confidence_of(cell, options)
    agrees, known = agrees_with_people(cell)
    left_out = int((cell.labelled & ~known).sum())
    counts: dict[str, Any] = {"n": int(known.sum()), "groups": len(np.unique(cell.group[known])), "left_out": left_out}
    if confidence is None or is_unequal(cell):
        return AcceptedFrom(key=cell.key, confidence=name, reason=NO_CONFIDENCE if confidence is None else UNEQUAL, **counts)
    independent = len(np.unique(cell.group)) == len(cell.group)
    found: Acceptance = acceptance_threshold(
        confidence, agrees, None if independent else cell.group, alpha=options.alpha, delta=options.delta
    )
    return AcceptedFrom(
        key=cell.key,
        confidence=name,
        threshold=number(found.threshold),
        coverage=found.coverage,
        agreement=number(found.agreement),
        agreement_lower=number(found.agreement_lower),
        **counts,
        n_start=found.n_start,
        reason=found.reason,
    )


def share_left_out(n: int, left_out: int) -> float | None:
    """Which share of labelled texts a guarantee says nothing of; None without labelled texts.

    >>> share_left_out(150, 50), share_left_out(0, 0)
    (0.25, None)
    """
    return left_out / (n + left_out) if n + left_out else None


def _left_out_notes(thresholds: Sequence[AcceptedFrom]) -> Iterator[str]:
    """Yield a sentence on the texts that the guarantee does not cover; none if it covers all."""
    places = {(each.key["metric"], each.key["language"]): each for each in thresholds if each.left_out}
    if places:
        where = [f"{each.left_out:,} of {each.n + each.left_out:,} in {tag}/{metric}" for (metric, tag), each in places.items()]
        more = f" and {len(where) - _NAMED} more (--json has all)" if len(where) > _NAMED else ""
        yield (
            f"The guarantee says nothing of texts without a commonest label, on which people disagree: {', '.join(where[:_NAMED])}{more}. "
            "--majority strict counts them as disagreement with the judge."
        )


def agrees_with_people(cell: ItemTable) -> tuple[Floats, NDArray[np.bool_]]:
    """(items,) whether the judge gives people's aggregate, NaN outside the guarantee; and which texts the guarantee is about."""
    return np.where(cell.compared, cell.right, math.nan), cell.compared


def confidence_of(cell: ItemTable, options: AcceptOptions) -> tuple[str, Floats | None]:
    """What the confidence of the answers is read from, and its values; None where there is nothing to read."""
    if options.confidence == "votes":
        return "votes", cell.repeat_share
    if options.confidence in (None, "probability") and not np.isnan(cell.probability).all():
        return "probability", cell.probability
    if options.confidence in (None, "repeats") and (cell.asked > 1).any():
        return "repeats", cell.repeat_share
    return options.confidence or "none", None


def is_unequal(cell: ItemTable) -> bool:
    """Whether labelled items had clearly different chances to be drawn, by what they state or by strata."""
    labelled = cell.labelled
    if cell.inclusion is not None:
        stated = cell.inclusion[labelled]
        return bool(np.isnan(stated).any() or (len(stated) and stated.max() > stated.min()))
    if cell.stratum is None or not labelled.any():
        return False
    shares = np.array([labelled[cell.stratum == code].mean() for code in np.unique(cell.stratum)])
    return bool(shares.max() > 1.1 * shares.min())


def _panels(cells: Sequence[ItemTable]) -> Iterator[ItemTable]:
    """The votes of all judges on each language and metric: each judge has one vote, its commonest answer, and baselines have none."""
    panels: dict[tuple[Any, ...], list[ItemTable]] = {}
    for cell in (cell for cell in cells if not cell.is_baseline):
        panels.setdefault((cell.key.get("source"), *cell.place), []).append(cell)
    if all(len({cell.key["judge"] for cell in panel}) < 2 for panel in panels.values()):
        raise UsageError(f"{ONE_JUDGE}; take --confidence repeats, or record the judgments of other judges too")
    for panel in panels.values():
        judges = {cell.key["judge"] for cell in panel}
        if len(judges) > 1:
            what = "judges" if len(panel) == len(judges) else "judges and conditions"
            yield _panel(panel, {**dict.fromkeys(CONDITION), "judge": f"votes of {len(panel)} {what}"})


def _panel(panel: Sequence[ItemTable], key: Mapping[str, Any]) -> ItemTable:
    item = np.unique(np.concatenate([cell.item for cell in panel]))
    k = len(panel[0].classes.scores)
    labels, answers = np.zeros((len(item), k), np.int64), np.zeros((len(item), k), np.int64)
    asked, group = np.zeros(len(item), np.int64), np.zeros(len(item), np.int64)
    known = {name: getattr(panel[0], name) for name in ("inclusion", "stratum")}
    stated: dict[str, Any] = {name: np.zeros_like(own, shape=len(item)) for name, own in known.items() if own is not None}
    for cell in panel:
        place = np.searchsorted(item, cell.item)
        labels[place], group[place] = cell.labels, cell.group
        asked[place] += 1
        voted = cell.answer >= 0
        answers[place[voted], cell.answer[voted]] += 1
        for name, column in stated.items():
            column[place] = getattr(cell, name)
    first, unknown = panel[0].take(np.zeros(len(item), np.int64), **key), np.full(len(item), math.nan)
    return replace(
        first,
        people=replace(first.people, counts=labels),
        item=item,
        group=group,
        answers=answers,
        asked=asked,
        counts=total_answers(cell.counts for cell in panel),
        probability=unknown,
        **stated,
    )
