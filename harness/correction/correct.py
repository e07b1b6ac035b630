"""Corrected numbers: means, class shares and differences of systems, from a judge's scores and people's labels of some of the items."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import msgspec
import numpy as np
from numpy.typing import NDArray

from harness.content.tags import choose_from
from harness.correction.cell_results import CellResults, UnreadCells, copied_sentences, refuse_unless_random, refuse_unread, split_by
from harness.correction.correction_options import CorrectOptions
from harness.correction.mean_estimates import (
    ALL_LABELLED,
    AVERAGE,
    Figure,
    MeanEstimates,
    Sample,
    mean_estimates,
    mean_sample,
    share_sample,
    with_other_languages,
)
from harness.data.columns import CodedColumn
from harness.errors import UsageError
from harness.measure.cells import sort_key
from harness.measure.compare import Recording, align
from harness.measure.item_table import ItemTable, item_tables
from harness.measure.judged_table import as_text, item_key, means_by
from harness.measure.options import Annotators, MeasureOptions
from harness.model import CELL, Score
from harness.stats.core.arrays import Floats, Ints
from harness.stats.estimation.misclassification import INDISTINCT, corrected_shares, few_labels, rogan_gladen
from harness.stats.estimation.prediction_powered import prediction_powered_class_shares

BIAS_UNKNOWN = (
    "The judge alone is the mean of its scores: its bias is unknown, and its interval does not cover the bias. The labels alone and the "
    "corrected numbers are valid whatever the judge, because the labelled texts are a random sample; with few labels of a rare class its "
    "corrected share is a little too low (docs/using-scores.md)."
)
SHIFTED = (
    "A prevalence shift is declared: the labels come from elsewhere, and the corrected numbers are of the texts without a label. They are "
    "valid if the judge errs with each class as often here as there; texts count as independent."
)

_Z = 1.959963984540054
IMPOSSIBLE = "no share explains how often the judge gives the class, with the error rates that the labels show"
BINARY, SEVERAL = "Rogan-Gladen (Fieller)", "inverse confusion matrix"


class CorrectedNumber(MeanEstimates, frozen=True, kw_only=True):
    """Three estimates of one number.

    Attributes:
        key: that of a cell (`CELL`), and the keys to group by.
        quantity: `mean` in points of the scale, or `share`.
        share_of: the class of a share.
        versus: the key and its value that is subtracted, such as `("system", "base")`; None if the number is no difference.
        paired: whether the difference is that of texts of one group, such as answers to one prompt.
        borrowed: with the other languages, where it is asked for: it holds on average over languages.
    """

    key: dict[str, Any]
    quantity: str
    share_of: Score | None
    versus: tuple[str, Any] | None
    paired: bool | None
    borrowed: Figure | None = None

    def flat(self) -> dict[str, Any]:
        """Return one object for programs, with the parts of the key beside the other values."""
        values: dict[str, Any] = msgspec.to_builtins(self)
        if self.borrowed is None:
            del values["borrowed"]
        return {**values.pop("key"), **values}


class Corrected(CellResults, frozen=True):
    """Corrected numbers of cells; `unread` are cells without numbers, because most answers cannot be read."""

    signature: str
    sampling: str
    prevalence_shift: bool
    numbers: tuple[CorrectedNumber, ...]
    notes: tuple[str, ...]
    unread: tuple[UnreadCells, ...] = ()
    copied: tuple[str, ...] = ()
    schema_version: int = 1


def correct(sources: Sequence[Recording], compare: MeasureOptions, options: CorrectOptions = CorrectOptions()) -> Corrected:
    """Estimate means, class shares and differences from the judge alone, from the labels alone, and from both.

    Items count from one annotator on, if `compare` does not say otherwise. Raises UsageError unless the dataset card says that the labelled
    items are a random sample; for names that are not there; and as `measure.compare` does. Raises JudgeError where most answers of every
    judge cannot be read.
    """
    for source in sources:
        refuse_unless_random(source.data.about, "no corrected numbers")
    compare = replace(compare, annotators=compare.annotators or Annotators(1), by=options.by)
    aligned = align(sources, compare)
    if options.versus and options.versus[0] not in options.by:
        raise UsageError(f"--versus names '{options.versus[0]}', which is not in --by {','.join(options.by)}; add it there")
    if options.borrow and options.prevalence_shift:
        raise UsageError("no --borrow under --prevalence-shift: those labels come from elsewhere; leave one of them out")
    if options.versus and options.prevalence_shift:
        raise UsageError("no differences under --prevalence-shift: both systems share the judge's error rates; leave --versus out")
    numbers: list[CorrectedNumber] = []
    samples: dict[int, Sample] = {}
    cells: list[ItemTable] = []
    keys: dict[int, Mapping[str, CodedColumn]] = {}
    for judged in aligned.tables:
        of_items = {name: item_key(judged.data, name) for name in options.by if name not in CELL}
        of_data = list(item_tables(judged, by_source="source" in aligned.by))
        keys |= dict.fromkeys(map(id, of_data), of_items)
        cells += of_data
    readable, unread = refuse_unread(cells, "no number is corrected by the scores")
    for cell in readable:
        if cell.classes.continuous and (options.shares or options.share_of is not None or options.prevalence_shift):
            raise UsageError(f"{cell.key['metric']}: continuous scores have no classes: only their mean and differences are corrected")
        numbers += _correct_cell(cell, keys[id(cell)], options, compare, samples)
    if options.share_of is not None and not numbers:
        counted = [votes for judged in aligned.tables for votes in judged.labels.values()]
        classes = sorted({as_text(score) for votes in counted for score in votes.classes.scores})
        raise UsageError(f"no class '{options.share_of}'.{choose_from(classes, options.share_of)}")
    if not numbers:
        raise UsageError("nothing to correct: no judge has scores on a metric that people labelled")
    if options.versus:
        key, name = options.versus
        values = sorted({as_text(number.key[key]) for number in numbers if number.key[key] is not None})
        if name not in values:
            raise UsageError(f"no {key} '{name}'.{choose_from(values, name)}")
    if options.borrow:
        # Each number with what the other languages add; differences stay as they are.
        same: dict[tuple[Any, ...], list[CorrectedNumber]] = {}
        for number in (number for number in numbers if id(number) in samples):
            language_left_out = (*(value for name, value in number.key.items() if name != "language"), number.share_of)
            same.setdefault(language_left_out, []).append(number)
        borrowed: dict[int, Figure] = {}
        for alike in same.values():
            figures = with_other_languages(alike, [samples[id(number)] for number in alike], share=alike[0].quantity == "share")
            borrowed |= {id(number): figure for number, figure in zip(alike, figures, strict=True)}
        numbers = [msgspec.structs.replace(number, borrowed=borrowed.get(id(number))) for number in numbers]
    numbers.sort(key=lambda number: (*sort_key(number.key), number.versus is not None, *sort_key({"class": number.share_of})))
    notes = (*aligned.notes, SHIFTED if options.prevalence_shift else BIAS_UNKNOWN, *([AVERAGE] if options.borrow else []))
    copied = copied_sentences(aligned)
    return Corrected(aligned.signed(use=str(options)), "random", options.prevalence_shift, tuple(numbers), notes, unread, copied)


def _correct_cell(
    cell: ItemTable, keys: Mapping[str, CodedColumn], options: CorrectOptions, compare: MeasureOptions, samples: dict[int, Sample]
) -> Iterator[CorrectedNumber]:
    parts = list(split_by(cell, keys))
    for part in parts:
        if options.prevalence_shift:
            for share_of, three in shifted_estimates(part, shares=options.shares, share_of=options.share_of):
                yield _corrected_number(part.key, three, share_of)
        else:
            for share_of, sample, lam in _list_samples(part, options):
                number = _corrected_number(part.key, mean_estimates([(sample, 1.0)], share=share_of is not None, lam=lam), share_of)
                samples[id(number)] = sample
                yield number
    if options.versus:
        yield from _list_differences(parts, options)


def _list_samples(cell: ItemTable, options: CorrectOptions) -> Iterator[tuple[Score | None, Sample, float | None]]:
    """Yield what is estimated of a cell: the class (None for the mean), labels and scores, and the weight of the judge if it is given."""
    if cell.means is not None and not options.shares and options.share_of is None:
        yield None, mean_sample(cell), None
        return
    lam = None
    if options.share_of is None and cell.stratum is None and cell.inclusion is None and cell.labelled.any():
        lam = prediction_powered_class_shares(cell.label_shares, cell.answer_shares, cell.group).lam
    for score in cell.classes.scores:
        if options.share_of in (None, as_text(score)):
            yield score, share_sample(cell, score), lam


def _list_differences(parts: Sequence[ItemTable], options: CorrectOptions) -> Iterator[CorrectedNumber]:
    assert options.versus
    key, name = options.versus
    for base in (part for part in parts if as_text(part.key[key]) == name):
        same_keys = {other: value for other, value in base.key.items() if other != key}
        for part in parts:
            if part is not base and all(part.key[other] == value for other, value in same_keys.items()):
                for (share_of, sample, _), (_, base_sample, _) in zip(
                    _list_samples(part, options), _list_samples(base, options), strict=True
                ):
                    three, paired = _estimate_difference(sample, base_sample)
                    yield _corrected_number(part.key, three, share_of, (key, base.key[key]), paired)


def _estimate_difference(minuend: Sample, base: Sample) -> tuple[MeanEstimates, bool]:
    """Return one sample minus another: paired over the groups that both have; of independent samples where they share none."""
    shared = np.intersect1d(minuend.group, base.group)
    if not len(shared):
        return mean_estimates([(minuend, 1.0), (base, -1.0)], share=False), False
    a, b = (_average_by_group(sample, shared) for sample in (minuend, base))
    for name in ("inclusion", "stratum"):
        x, y = getattr(a, name), getattr(b, name)
        if x is not None and not np.array_equal(x, y, equal_nan=True):
            reason = f"the two systems' texts of one group differ in their {name}; draw whole groups, or leave --versus out"
            nothing = Figure(None, None, reason)
            paired = mean_estimates([(Sample(a.y - b.y, a.f - b.f, shared), 1.0)], share=False)
            return msgspec.structs.replace(
                paired, labels_alone=nothing, corrected=nothing, lam=None, effective_labels=None, labels_saved=None
            ), True
    return mean_estimates([(Sample(a.y - b.y, a.f - b.f, shared, a.inclusion, a.stratum), 1.0)], share=False), True


def _average_by_group(sample: Sample, shared: Ints) -> Sample:
    """Return means of the items of each shared group; of inclusion probability and stratum the first, NaN or -1 where they differ."""
    sample = sample.take(np.isin(sample.group, shared))
    position = np.searchsorted(shared, sample.group)
    y, f = (means_by(position, column, len(shared)) for column in (sample.y, sample.f))
    first = np.unique(position, return_index=True)[1]
    inclusion = None if sample.inclusion is None else sample.inclusion[first]
    return Sample(y, f, shared, inclusion, None if sample.stratum is None else sample.stratum[first])


def _corrected_number(
    key: dict[str, Any], three: MeanEstimates, share_of: Score | None, versus: tuple[str, Any] | None = None, paired: bool | None = None
) -> CorrectedNumber:
    quantity = "mean" if share_of is None else "share"
    return CorrectedNumber(**msgspec.structs.asdict(three), key=key, quantity=quantity, share_of=share_of, versus=versus, paired=paired)


def shifted_estimates(cell: ItemTable, *, shares: bool, share_of: str | None) -> Iterator[tuple[Score | None, MeanEstimates]]:
    """Yield pairs of a class (None for the mean) and its three estimates; the corrected one is of the texts without a label.

    Items without a reference are left out of the error rates. The arguments are as in `CorrectOptions`.
    """
    truth = cell.reference
    new = ~cell.labelled
    answers = np.nan_to_num(cell.answer_shares)
    k = len(cell.classes.scores)
    judged = answers[new].sum(axis=0)
    if k == 2:
        figures, method = _correct_two_classes(truth, answers, new), BINARY
    else:
        counts = np.stack([answers[truth == code].sum(axis=0) for code in range(k)])
        figures, method = _correct_several_classes(counts, judged, cell.classes.scores), SEVERAL
    as_mean = cell.values is not None and not shares and share_of is None
    if as_mean:
        assert cell.values is not None
        mean = _mean_from_shares(figures, cell.values)
        yield None, _three_estimates(cell, cell.label_shares @ cell.values, cell.answer_shares @ cell.values, mean, method)
        return
    for code, score in enumerate(cell.classes.scores):
        if share_of in (None, as_text(score)):
            figure = figures.shares[code]
            yield score, _three_estimates(cell, cell.label_shares[:, code], cell.answer_shares[:, code], figure, method, share=True)


@dataclass(frozen=True, eq=False)
class _CorrectedShares:
    """Corrected shares of all classes; of three classes or more also `theta` (k,), not cut to [0, 1], with its `covariance` (k, k)."""

    shares: list[Figure]
    covariance: Floats | None = None
    theta: Floats | None = None


def _correct_two_classes(truth: Ints, answers: Floats, new: NDArray[np.bool_]) -> _CorrectedShares:
    figures = []
    for code in (0, 1):
        negative, positive = answers[truth == 1 - code, code], answers[truth == code, code]
        estimate = rogan_gladen(
            float(answers[new, code].sum()),
            float(new.sum()),
            float(len(negative) - negative.sum()),
            float(len(negative)),
            float(positive.sum()),
            float(len(positive)),
        )
        reason = estimate.refusal or estimate.reason
        if reason:
            figures.append(_refused_figure(reason, bool(new.any())))
        else:  # an interval of no width means that no share in [0, 1] explains the data
            impossible = estimate.fieller[0] == estimate.fieller[1]
            figures.append(Figure(None, None, IMPOSSIBLE) if impossible else Figure(estimate.value, estimate.fieller, estimate.warning))
    return _CorrectedShares(figures)


def _correct_several_classes(counts: Floats, judged: Floats, names: Sequence[Score]) -> _CorrectedShares:
    estimate = corrected_shares(counts, judged)
    few = few_labels(counts.sum(axis=1), names) if estimate.refusal and estimate.refusal != INDISTINCT else None
    reason = few or estimate.refusal or estimate.reason
    if reason:
        return _CorrectedShares([_refused_figure(reason, judged.sum() > 0)] * len(judged))
    shares = [
        Figure(float(value), (max(0.0, float(value - _Z * error)), min(1.0, float(value + _Z * error))))
        for value, error in zip(estimate.projected, np.sqrt(np.diag(estimate.interval_covariance)), strict=True)
    ]
    return _CorrectedShares(shares, estimate.interval_covariance, estimate.value)


def _refused_figure(reason: str, any_judged: bool) -> Figure:
    return Figure(None, None, reason if any_judged else ALL_LABELLED)


def _mean_from_shares(figures: _CorrectedShares, values: Floats) -> Figure:
    if figures.theta is not None and figures.covariance is not None:
        mean, error = float(values @ figures.theta), math.sqrt(max(0.0, float(values @ figures.covariance @ values)))
        low, high = float(values.min()), float(values.max())
        return Figure(min(max(mean, low), high), (max(low, mean - _Z * error), min(high, mean + _Z * error)))
    share = figures.shares[-1]
    if share.value is None or share.ci is None or len(values) != 2:
        return Figure(None, None, share.reason)
    ends = [float(values[0] + end * (values[1] - values[0])) for end in (share.value, *share.ci)]
    return Figure(ends[0], (ends[1], ends[2]), share.reason)


def _three_estimates(cell: ItemTable, y: Floats, f: Floats, corrected: Figure, method: str, *, share: bool = False) -> MeanEstimates:
    """Return the judge alone of the texts without a label, the labels alone of those with one, and the corrected number."""
    new = ~cell.labelled
    labels = mean_estimates([(Sample(y[~new], f[~new], cell.group[~new]), 1.0)], share=share)
    judge = mean_estimates([(Sample(f[new], f[new], cell.group[new]), 1.0)], share=share)
    nothing: dict[str, Any] = dict.fromkeys(("lam", "effective_labels", "labels_saved"))
    unlabelled, alone = int(new.sum()), judge.judge_alone
    return msgspec.structs.replace(labels, unlabelled=unlabelled, judge_alone=alone, corrected=corrected, method=method, **nothing)
