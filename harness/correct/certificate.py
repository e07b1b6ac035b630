"""Certificates: a verdict made portable, so that other programs can use a judge's scores of new texts without the labels.

>>> from harness import certificate
>>> certificate.SCHEMA_VERSION
2

`certificate.load("certificate.json").apply(scores, language="ja", metric="fluency", judge="openai/gpt-4o-2024-08-06")` corrects the mean of
new scores; with `confidence=` it says which scores can be accepted. Both are refused where the certificate is stale or forbids it.
docs/certificate.schema.json describes the file.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, date, datetime
from pathlib import Path
from typing import Any, Self, TypeVar

import msgspec
import numpy as np
from numpy.typing import ArrayLike, NDArray

from harness.content.tags import canonical, choose_from
from harness.correct.acceptance import Confidence, share_left_out
from harness.correct.certificate_extension import CertifiedWatch, Extension
from harness.correct.certified_map import CalibratedTexts, CertifiedMap, calibrated_texts
from harness.correct.label_sets import Per
from harness.correct.map_input import EXPECTED
from harness.correct.mean_estimates import ends
from harness.data.columns import CodedColumn
from harness.decide.options import DecisionOptions
from harness.decide.rule import VerdictName
from harness.errors import CertificateError, ContentError, StaleCertificate, UsageError, UseForbidden
from harness.measure.options import Annotators, CompareOptions, Rule, Standardise
from harness.model import CONDITION, JudgeCondition, JudgeIdentity, Sampling, Scale, Score
from harness.stats import LabelledSpread, LabelledSummary, correct_with_summary
from harness.stats.core.arrays import Floats, ShapeError

T = TypeVar("T")
SCHEMA_VERSION = 2
_READABLE = (1, SCHEMA_VERSION)
"""Version 1 has corrections without `spread`."""
MAX_BYTES = 16 * 1024 * 1024
_ALLOWED: tuple[VerdictName, ...] = ("use", "use corrected")
_ROUNDING = 1e-9
_NOT_EXTENDED = "and neither thresholds of acceptance nor scores and sets text by text"
_AGAIN = "make a new certificate with 'harness certify'"


class CertifiedJudge(Sampling, frozen=True, kw_only=True):
    """Who judged, and how. `settings` are None for recorded judgments, of which only the name is known.

    `judgments` is a hash of its scores of labelled texts (None in certificates of earlier versions).
    """

    name: str
    settings: dict[str, Any] | None
    variant: str
    judgments: str | None = None

    @property
    def condition(self) -> JudgeCondition:
        return JudgeCondition.of({**msgspec.structs.asdict(self), "judge": self.name})


class ComparedBy(msgspec.Struct, frozen=True):
    """The options of the comparison that numbers were made with, so that they can be made again; None is the default."""

    annotators: str | None
    majority: Rule
    where: dict[str, tuple[str, ...]]
    standardise: Standardise

    @classmethod
    def of(cls, compare: CompareOptions, **further: Any) -> Self:
        annotators = None if compare.annotators is None else str(compare.annotators)
        where = {name: tuple(values) for name, values in sorted(compare.where.items())}
        return cls(annotators, compare.majority, where, compare.standardise, **further)

    def compare(self, judges: tuple[str, ...]) -> CompareOptions:
        """The same comparison of these judges."""
        annotators = None if self.annotators is None else Annotators.parse(self.annotators)
        return CompareOptions(annotators=annotators, majority=self.majority, where=self.where, judges=judges, standardise=self.standardise)


class CertifiedOptions(ComparedBy, frozen=True):
    """What the numbers were made with, beside the thresholds of the verdicts.

    `alpha`, `delta` and `confidence` are those of automatic acceptance, `level`, `per` and `this_draw` those of label sets. `length` says
    whether maps of ordered classes read the length of a text.
    """

    alpha: float
    delta: float
    confidence: Confidence | None
    level: float = 0.9
    per: Per = "group"
    this_draw: float | None = None
    length: bool = False


class CertifiedData(msgspec.Struct, frozen=True):
    """The labels: `sha256` of items and labels, how the labelled items were drawn, and when people labelled them (None: unknown)."""

    id: str
    version: str
    sha256: str
    sampling: str
    annotators: str
    labelled_from: str | None = None
    labelled_to: str | None = None


class Correction(msgspec.Struct, frozen=True):
    """Parameters of the corrected mean, or of the share of class `share_of`.

    `n` labelled items in `groups` independent groups have the means `mean_label` and `mean_judge`; variances and covariance are those of
    these two means over groups, and `spread` is what degrees of freedom and the weight of the judge are computed from, for new scores. A
    score that cannot be read counts as `failure_value`. Without `spread` (schema version 1) groups are taken as equal.
    """

    share_of: Score | None
    n: int
    groups: int
    mean_label: float
    mean_judge: float
    variance_label: float
    variance_judge: float
    covariance: float
    failure_value: float
    spread: LabelledSpread | None = None

    def __post_init__(self) -> None:
        numbers = (self.mean_label, self.mean_judge, self.variance_label, self.variance_judge, self.covariance, self.failure_value)
        if not all(map(math.isfinite, numbers)):
            raise ValueError("the numbers of a correction are finite")
        if self.n < self.groups or self.groups < 2:
            raise ValueError("a correction needs two groups, and no more groups than labels")
        if min(self.variance_label, self.variance_judge) < 0 or self.covariance**2 > self.variance_label * self.variance_judge * (1 + 1e-6):
            raise ValueError("these are no variances with their covariance")
        if self.spread is not None:
            self._refuse_impossible(self.spread)

    def _refuse_impossible(self, spread: LabelledSpread) -> None:
        """Raise for groups that are not those of the correction, and for sums of squares that no numbers have."""
        numbers = (*spread.sizes, *spread.between, *spread.within)
        if not all(map(math.isfinite, numbers)) or min(spread.sizes, default=0) <= 0 or min(spread.times, default=0) < 1:
            raise ValueError("the sizes of groups are above 0, and sums of squares are finite")
        if len(spread.sizes) != len(spread.times) or sum(spread.times) != self.groups:
            raise ValueError(f"the sizes in spread are not of {self.groups} groups")
        if not math.isclose(sum(size * times for size, times in zip(spread.sizes, spread.times, strict=True)), self.n, rel_tol=1e-6):
            raise ValueError(f"the sizes in spread do not add up to {self.n} labels")
        for squares, products, others in (spread.between, spread.within):
            if min(squares, others) < 0 or products**2 > squares * others * (1 + 1e-6) + _ROUNDING:
                raise ValueError("these are no sums of squares and products")

    @property
    def summary(self) -> LabelledSummary:
        means = (self.mean_label, self.mean_judge)
        return LabelledSummary(self.n, self.groups, *means, self.variance_label, self.variance_judge, self.covariance, self.spread)


class CertifiedThreshold(msgspec.Struct, frozen=True):
    """From which confidence on answers agree with people in a share 1 - `alpha`, with probability 1 - `delta`.

    `threshold` is None where nothing is certified, with the `reason`. It is about `n` labelled texts and says nothing of `left_out`
    others, which have no commonest label (None in certificates of earlier versions, which did not count them).
    """

    confidence: str
    alpha: float
    delta: float
    threshold: float | None
    coverage: float
    agreement: float | None
    agreement_lower: float | None
    n: int
    reason: str | None
    left_out: int | None = None

    @property
    def left_out_share(self) -> float | None:
        """`left_out` as a share of the labelled texts; None where it is unknown."""
        return None if self.left_out is None else share_left_out(self.n, self.left_out)


class CertifiedCell(msgspec.Struct, frozen=True, kw_only=True):
    """What the judge may be used for in one language on one metric, with the numbers for it.

    Attributes:
        scale: of the metric; `classes` are the scores that `confusion` counts, and `values` what they stand for in means.
        rubric: version and hash; None for recorded judgments.
        verdict, reason, sentence, not_for, n, groups, k: as `harness compare` gives them.
        annotators: the highest number of annotators of one item.
        corrections: parameters of the mean (first, on ordered scales) and of each class's share; empty with the `correction_reason`.
        confusion: (k, k) labelled items by people's aggregate (rows) and the judge's commonest answer (columns).
        agreement_error: standard error, over groups, of the share of the confusion counts in which both agree; None in certificates of
            earlier versions, and where it is undefined.
        acceptance: the certified threshold; None with the `acceptance_reason`.
        recalibration: the map from the judge's scores to people's, text by text; None with the `recalibration_reason`.
    """

    language: str
    metric: str
    scale: Scale
    classes: tuple[Score, ...]
    values: tuple[float, ...] | None
    rubric: str | None
    verdict: VerdictName
    reason: str
    sentence: str
    not_for: tuple[str, ...]
    n: int
    groups: int
    annotators: int
    k: int | None
    corrections: tuple[Correction, ...]
    correction_reason: str | None
    confusion: tuple[tuple[int, ...], ...]
    acceptance: CertifiedThreshold | None
    acceptance_reason: str | None
    agreement_error: float | None = None
    recalibration: CertifiedMap | None = None
    recalibration_reason: str | None = None

    def __post_init__(self) -> None:
        k = len(self.classes)
        if self.scale.classes and self.classes != self.scale.classes:
            raise ValueError(f"the classes of {self.language}/{self.metric} are not those of its scale")
        if self.values is not None and len(self.values) != k:
            raise ValueError(f"{self.language}/{self.metric} has {k} classes, and values of {len(self.values)}")
        if [len(row) for row in self.confusion] != [k] * k:
            raise ValueError(f"the confusion counts of {self.language}/{self.metric} are not of {k} classes")
        if self.recalibration is not None:
            self.recalibration.refuse_other_scale(k, self.scale.kind)
        try:
            right = canonical(self.language)
        except UsageError as err:
            raise ValueError(str(err)) from None
        if right != self.language:
            raise ValueError(f"language '{self.language}' is not canonical; it should be '{right}'")

    def off_scale(self) -> Iterator[str]:
        """What no labels and scores on the cell's scale can give, in words: means outside it, shares and confidences outside 0 to 1."""
        place = f"{self.language}/{self.metric}"
        for correction in self.corrections:
            low, high = self._range(correction.share_of)
            what = "the mean" if correction.share_of is None else f"the share of {correction.share_of}"
            for name in ("mean_label", "mean_judge", "failure_value"):
                value = getattr(correction, name)
                if not low - _ROUNDING <= value <= high + _ROUNDING:
                    yield f"{name} of {what} of {place} is {value:g}, which is not on its scale, {low:g} to {high:g}"
        for name in ("threshold", "coverage", "agreement", "agreement_lower"):
            value = getattr(self.acceptance, name, None)
            if value is not None and not 0 <= value <= 1:
                yield f"{name} of the acceptance of {place} is {value:g}, which is not from 0 to 1"

    def _range(self, share_of: Score | None) -> tuple[float, float]:
        """The smallest and largest possible mean of scores, or share of a class."""
        if share_of is not None:
            return 0.0, 1.0
        if self.scale.kind == "interval":
            low, high = self.scale.min, self.scale.max
            return -math.inf if low is None else low, math.inf if high is None else high
        values = self.values or (math.nan,)
        return min(values), max(values)


class CorrectedMean(msgspec.Struct, frozen=True):
    """The corrected mean of new scores, or share of a class.

    Attributes:
        estimate, interval: of people's mean label in the population that the labels and the new texts come from; 95 % unless asked
            otherwise. None with the `reason`.
        judge_only: the mean of the new scores, whose bias is unknown.
        effective_labels: number of labels that would be as precise without the judge.
        lam: weight of the judge, from 0 (labels alone) to 1.
        labels, scores: how many labels and new scores it rests on.
        error: standard error of the estimate; `label_error` is the part that comes from the labelled texts.
        not_for: what the verdict does not cover.
        unchecked: what of judge, prompt and rubric could not be compared with the certificate.
        texts: what people are expected to say of each text, with label sets; None with the `texts_reason`.
    """

    estimate: float | None
    interval: tuple[float, float] | None
    judge_only: float
    effective_labels: float | None
    lam: float | None
    labels: int
    scores: int
    error: float | None
    label_error: float | None
    not_for: tuple[str, ...]
    unchecked: tuple[str, ...]
    reason: str | None
    texts: CalibratedTexts | None = None
    texts_reason: str | None = None


class AcceptedScores(msgspec.Struct, frozen=True, eq=False):
    """Which new scores can be accepted without a person.

    Attributes:
        accepted: (items,) booleans, all false where nothing is certified; then the `reason` says why.
        threshold: the lowest accepted confidence.
        agreement_lower: the certified agreement of accepted answers with people's aggregate, where they have one.
        left_out_share: the share of labelled texts without a commonest label, of which `agreement_lower` says nothing; None if unknown.
        unchecked: what of judge, prompt and rubric could not be compared with the certificate.
    """

    accepted: NDArray[np.bool_]
    threshold: float | None
    agreement_lower: float | None
    unchecked: tuple[str, ...]
    reason: str | None
    left_out_share: float | None = None


class Certificate(msgspec.Struct, frozen=True, kw_only=True):
    """A judge under one condition, and what it may be used for by language and metric.

    Attributes:
        schema_version: of this file's form.
        harness: the version of the program that made it.
        judge, data: who judged, and the labels.
        prompt: hash of everything that words the prompts; None for recorded judgments.
        thresholds: when a verdict is given.
        options: what else the numbers were made with; None in certificates of earlier versions, whose numbers cannot be made again.
        signature: everything that moved a number.
        unchecked: what staleness cannot be checked by, because it was not known.
        cells: one for each language and metric.
        extensions: other texts that cells were shown to serve too.
        watch: the watch that the certificate depends on; None where nobody watches it.
    """

    schema_version: int
    harness: str
    judge: CertifiedJudge
    data: CertifiedData
    prompt: str | None
    thresholds: DecisionOptions
    signature: str
    unchecked: tuple[str, ...]
    cells: tuple[CertifiedCell, ...]
    options: CertifiedOptions | None = None
    extensions: tuple[Extension, ...] = ()
    watch: CertifiedWatch | None = None

    def __post_init__(self) -> None:
        if self.schema_version > 1 and any(correction.spread is None for cell in self.cells for correction in cell.corrections):
            raise ValueError(f"a correction has no spread, which schema version {self.schema_version} has")

    @property
    def can_be_made_again(self) -> bool:
        """Whether it says how its numbers were made, and this program makes them in the same way."""
        return self.options is not None and self.schema_version == SCHEMA_VERSION

    @property
    def allowed(self) -> tuple[CertifiedCell, ...]:
        """The cells in which the judge's scores may be used: those with the verdict `use` or `use corrected`."""
        return tuple(cell for cell in self.cells if cell.verdict in _ALLOWED)

    def off_scale(self) -> tuple[str, ...]:
        """Numbers that are impossible on their scales, in words; empty if there is none."""
        return tuple(problem for cell in self.cells for problem in cell.off_scale())

    def cell(self, language: str, metric: str) -> CertifiedCell:
        """The cell of a language and metric, or the one that was extended to it. Raises StaleCertificate where there is none."""
        extended = (each.from_language for each in self.extensions if (each.language, each.metric) == (language, metric))
        for source in (language, *extended):
            for cell in self.cells:
                if (cell.language, cell.metric) == (source, metric):
                    return cell
        have = [f"{cell.language}/{cell.metric}" for cell in self.cells]
        wanted = f"{language}/{metric}"
        raise StaleCertificate(
            f"the certificate has nothing on {wanted}; {_AGAIN} from labels in that language.{choose_from(have, wanted)}"
        )

    def apply(
        self,
        scores: ArrayLike | Sequence[Score | None],
        *,
        language: str,
        metric: str,
        judge: str | JudgeIdentity,
        prompt: str | None = None,
        rubric: str | None = None,
        scale: Scale | None = None,
        groups: ArrayLike | Sequence[Any] | None = None,
        share_of: Score | None = None,
        confidence: ArrayLike | None = None,
        expected: ArrayLike | None = None,
        lengths: ArrayLike | Sequence[str] | None = None,
        level: float = 0.95,
        today: date | None = None,
        **condition: str | float | None,
    ) -> CorrectedMean | AcceptedScores:
        """Correct the mean of new scores and calibrate each of them, or with `confidence` say which can be accepted.

        The new texts have to come from the population that the labelled ones were drawn from, and none of their groups may be labelled.

        Args:
            scores: (items,) the judge's scores of new texts; None or NaN where none could be read.
            language, metric: which cell of the certificate.
            judge: the judge's name, or its identity, whose settings are then compared too.
            prompt, rubric: hashes as in the certificate; needed where it has them.
            scale: of the scores, if it is to be compared.
            groups: (items,) what texts share, such as a prompt; None if they are independent.
            share_of: a class whose share is estimated instead of the mean.
            confidence: (items,) in the unit of the certificate's threshold, NaN where there is none.
            expected: (items,) expected scores by token probabilities, where the certificate's map reads these; NaN where there is none.
            lengths: (items,) characters of each judged text, or the texts themselves; needed where the certificate's map reads the length.
            level: of the interval of the mean, in (0, 1).
            today: the day on which a watched certificate has to hold; by default today (UTC).
            condition: of the new scores, `variant` and axes of `SAMPLING` such as `temperature`, if they are to be compared.

        Raises:
            StaleCertificate: for another judge, condition, prompt, rubric, language, metric or scale, for numbers off the scale, and for a
                certificate that its watch has ended.
            UseForbidden: where the verdict is `do not use`, `too few labels` or `no verdict`, or the certificate has no such numbers.
            CertificateError: where something that has to be compared, or that the map reads, is not given.
            UsageError: for arrays that do not fit together.
        """
        cell = self.cell(language, metric)
        if self.watch is not None and (expired := self.watch.expired(today or datetime.now(UTC).date())):
            raise StaleCertificate(f"the certificate does not hold any more: {expired}; {_AGAIN}")
        self._refuse_other_condition(condition)
        for problem in cell.off_scale():
            raise StaleCertificate(f"{problem}; {_AGAIN}")
        unchecked = self._refuse_stale(cell, judge, prompt, rubric, scale)
        if cell.verdict not in _ALLOWED:
            raise UseForbidden(f"the certificate's verdict on {language}/{metric} is '{cell.verdict}': {cell.sentence}")
        if (extended := cell.language != language) and confidence is not None:
            raise UseForbidden(f"for {language}/{metric} the mean and agreement of {cell.language} were shown to hold, {_NOT_EXTENDED}")
        if confidence is not None:
            return _accepted(cell, scores, confidence, unchecked)
        texts, reason = (None, f"extended from {cell.language}: {_NOT_EXTENDED}") if extended else _texts(cell, scores, expected, lengths)
        if texts is not None and not cell.corrections:
            return _without_mean(cell, scores, unchecked, texts)
        mean = _corrected(cell, scores, groups, share_of, level, unchecked)
        return msgspec.structs.replace(mean, texts=texts, texts_reason=reason)

    def _refuse_stale(
        self, cell: CertifiedCell, judge: str | JudgeIdentity, prompt: str | None, rubric: str | None, scale: Scale | None
    ) -> tuple[str, ...]:
        """Raise for what differs from the certificate; return what could not be compared."""
        for problem in judge_problems(self.judge, judge):
            raise StaleCertificate(f"{problem}; {_AGAIN}")
        for name, own, given in (("prompt", self.prompt, prompt), ("rubric", cell.rubric, rubric)):
            if own is not None and given is None:
                raise CertificateError(f"pass {name}=: the certificate holds for {name} {own} only")
            if own is not None and given != own:
                raise StaleCertificate(f"the {name} is {given}, and the certificate holds for {own}; {_AGAIN}")
        if scale is not None and scale != cell.scale:
            raise StaleCertificate(
                f"the scale of '{cell.metric}' is {scale.describe()}, in the certificate {cell.scale.describe()}; {_AGAIN}"
            )
        unknown = [name for name, own in (("prompt", self.prompt), ("rubric", cell.rubric)) if own is None]
        return (*unknown, *(["settings of the judge"] if self.judge.settings is None or isinstance(judge, str) else []))

    def _refuse_other_condition(self, given: Mapping[str, Any]) -> None:
        for name, value in given.items():
            if name not in CONDITION[1:]:
                raise TypeError(f"apply() got an unexpected keyword argument '{name}'; a condition has {', '.join(CONDITION[1:])}")
            own = getattr(self.judge, name)
            if value is not None and value != own:
                stated = "does not state it" if own is None else f"holds for {own}"
                raise StaleCertificate(f"the {name} is {value}, and the certificate {stated}; {_AGAIN}")


def judge_problems(held: CertifiedJudge, judge: str | JudgeIdentity) -> Iterator[str]:
    """What of a judge's name and settings differs from a certificate, in words."""
    name = judge if isinstance(judge, str) else judge.name
    if name != held.name:
        yield f"the judge is '{name}', and the certificate is of '{held.name}'"
    elif isinstance(judge, JudgeIdentity) and held.settings is not None and judge.settings != held.settings:
        keys = sorted(judge.settings.keys() | held.settings.keys())
        changed = [key for key in keys if judge.settings.get(key) != held.settings.get(key)]
        yield f"the settings of '{name}' differ from the certificate's in {', '.join(changed)}"


def load(path: Path | str) -> Certificate:
    """Read a certificate.

    Raises:
        ContentError: if the file cannot be read, is no certificate, is cut off, has another schema version, or holds numbers that are
            impossible on their scales.
    """
    held = read(path)
    for problem in held.off_scale():
        raise ContentError(f"not a certificate: {problem}; {_AGAIN}", Path(path))
    return held


def read(path: Path | str) -> Certificate:
    """Read a certificate to check it, whatever its numbers. Raises as `load`, but for impossible numbers, which `off_scale` names."""
    return read_file(Path(path), Certificate, "judge", _READABLE, _AGAIN)


def kind_of(path: Path | str) -> str:
    """Whether a file is the certificate of a `judge` or of a `cascade`. Raises ContentError if it cannot be read or is no JSON."""
    return _decoded(_read(Path(path)), _Head, Path(path), _AGAIN).kind


def read_file(path: Path, form: type[T], kind: str, versions: Sequence[int], again: str) -> T:
    """A certificate of this form from its file.

    Raises ContentError for a file that is none, of another kind or of an unknown schema version; `again` says what to do.
    """
    raw = _read(path)
    head = _decoded(raw, _Head, path, again)
    if head.kind != kind:
        raise ContentError(f"the certificate of a {head.kind}, and the certificate of a {kind} is needed", path)
    if head.schema_version not in versions:
        known = f"version{'s' if len(versions) > 1 else ''} {' and '.join(map(str, versions))}"
        raise ContentError(f"schema version {head.schema_version}; this program reads {known}; {again}", path)
    return _decoded(raw, form, path, again)


def _read(path: Path) -> bytes:
    try:
        with open(path, "rb") as file:
            raw = file.read(MAX_BYTES + 1)
    except OSError as err:
        raise ContentError(f"cannot be read: {err.strerror or err}", path) from None
    if len(raw) > MAX_BYTES:
        raise ContentError(f"larger than {MAX_BYTES >> 20} MiB; this is no certificate", path)
    return raw


def _decoded(raw: bytes, form: type[T], path: Path, again: str) -> T:
    try:
        return msgspec.json.decode(raw, type=form)
    except (msgspec.ValidationError, UsageError) as err:
        raise ContentError(f"not a certificate: {err}; {again}", path) from None
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as err:
        raise ContentError(f"not a whole JSON file ({err}); copy the certificate again, or {again}", path) from None


class _Head(msgspec.Struct):
    schema_version: int
    kind: str = "judge"


def _corrected(
    cell: CertifiedCell, scores: Any, groups: Any, share_of: Score | None, level: float, unchecked: tuple[str, ...]
) -> CorrectedMean:
    correction = _correction(cell, share_of)
    numbers = _numbers(cell, scores, share_of)
    given = np.where(np.isnan(numbers), correction.failure_value, numbers)
    try:
        found = correct_with_summary(correction.summary, given, _group_codes(groups), share=share_of is not None, level=level)
    except ShapeError as err:
        raise UsageError(str(err)) from None
    defined = found.reason is None
    return CorrectedMean(
        estimate=found.value if defined else None,
        interval=ends(found.interval),
        judge_only=float(np.nanmean(numbers)) if not np.isnan(numbers).all() else math.nan,
        effective_labels=found.effective_n if defined and math.isfinite(found.effective_n) else None,
        lam=found.lam if defined else None,
        labels=correction.n,
        scores=len(given),
        error=found.error if defined else None,
        label_error=math.sqrt(found.residual_variance) if defined else None,
        not_for=cell.not_for,
        unchecked=unchecked,
        reason=found.reason or found.interval.reason,
    )


def _without_mean(cell: CertifiedCell, scores: Any, unchecked: tuple[str, ...], texts: CalibratedTexts) -> CorrectedMean:
    """Calibrated texts of a cell that has no correction of means, with the reason."""
    numbers = _map_scores(cell, scores)
    no_mean = np.isnan(numbers).all() or (cell.values is None and cell.scale.kind != "interval")
    nothing: dict[str, None] = dict.fromkeys(("estimate", "interval", "effective_labels", "lam", "error", "label_error"))
    return CorrectedMean(
        **nothing,
        judge_only=math.nan if no_mean else float(np.nanmean(numbers)),
        labels=0,
        scores=len(numbers),
        not_for=cell.not_for,
        unchecked=unchecked,
        reason=cell.correction_reason,
        texts=texts,
    )


def _texts(
    cell: CertifiedCell, scores: Any, expected: ArrayLike | None, lengths: ArrayLike | Sequence[str] | None
) -> tuple[CalibratedTexts | None, str | None]:
    """What people are expected to say of each text, or why nothing is said."""
    held = cell.recalibration
    if held is None:
        return None, cell.recalibration_reason or "an earlier version made the certificate"
    numbers = _map_scores(cell, scores)
    if held.read == EXPECTED:
        if expected is None:
            return None, "the map reads expected scores by token probabilities; pass expected="
        given = np.asarray(expected, np.float64)
        if given.shape != numbers.shape:
            raise UsageError(f"expected has shape {given.shape} and scores {numbers.shape}; give one expected score a score")
        numbers = np.where(np.isnan(numbers), math.nan, given)
    two_named = cell.values is None and len(cell.classes) == 2
    values = np.arange(2.0) if two_named else None if cell.values is None else np.asarray(cell.values, np.float64)
    characters = None if held.length_scale is None else _characters(cell, lengths, len(numbers))
    return calibrated_texts(held, numbers, cell.classes, values, cell._range(None), characters), None


def _characters(cell: CertifiedCell, lengths: ArrayLike | Sequence[str] | None, texts: int) -> Floats:
    """(texts,) lengths that a map reads, which are given as numbers or as texts."""
    if lengths is None:
        place = f"{cell.language}/{cell.metric}"
        raise CertificateError(
            f"pass lengths=: the map of {place} reads the length of each text beside its score (characters, or the texts)"
        )
    given = [len(one) if isinstance(one, str) else one for one in lengths] if isinstance(lengths, Sequence) else lengths
    try:
        found = np.asarray(given, np.float64)
    except (TypeError, ValueError):
        raise UsageError("lengths are numbers of characters, texts, or None where there is no text") from None
    if found.shape != (texts,):
        raise UsageError(f"lengths has shape {found.shape} and there are {texts} scores; give one length a score")
    if (found < 0).any() or np.isinf(found).any():
        raise UsageError("lengths are numbers of characters, 0 or more")
    return found


def _map_scores(cell: CertifiedCell, scores: Any) -> Floats:
    """What a map reads of scores: points, or class codes where classes have names only; NaN where there is none."""
    if cell.values is not None or cell.scale.kind == "interval":
        return _numbers(cell, scores, None)
    codes = _class_codes(cell, scores if isinstance(scores, np.ndarray) else np.asarray(scores), scores)
    return np.where(codes < 0, math.nan, codes)


def _correction(cell: CertifiedCell, share_of: Score | None) -> Correction:
    for correction in cell.corrections:
        if correction.share_of == share_of:
            return correction
    place = f"{cell.language}/{cell.metric}"
    if cell.correction_reason:
        raise UseForbidden(f"the certificate has no correction for {place}: {cell.correction_reason}")
    if share_of is None:
        raise UseForbidden(f"the scale of {place} has no order, so it has no mean; pass share_of= with one of its classes")
    raise UsageError(f"'{share_of}' is no class of {place}; its classes are {', '.join(map(str, cell.classes))}")


def _accepted(cell: CertifiedCell, scores: Any, confidence: ArrayLike, unchecked: tuple[str, ...]) -> AcceptedScores:
    numbers, sure = _numbers(cell, scores, cell.classes[0] if cell.values is None else None), np.asarray(confidence, np.float64)
    if sure.shape != numbers.shape:
        raise UsageError(f"confidence has shape {sure.shape} and scores {numbers.shape}; give one confidence a score")
    threshold = cell.acceptance
    if threshold is None or threshold.threshold is None:
        reason = cell.acceptance_reason if threshold is None else threshold.reason
        return AcceptedScores(np.zeros(len(sure), bool), None, None, unchecked, reason)
    accepted = np.asarray(~np.isnan(numbers) & (sure >= threshold.threshold))
    return AcceptedScores(accepted, threshold.threshold, threshold.agreement_lower, unchecked, None, threshold.left_out_share)


def _numbers(cell: CertifiedCell, scores: Any, share_of: Score | None) -> Floats:
    """The scores as numbers, or as 0 and 1 for the share of a class; NaN where there is none.

    Raises StaleCertificate for scores off the certificate's scale.
    """
    given = scores if isinstance(scores, np.ndarray) else np.asarray(scores)
    if given.ndim != 1:
        raise UsageError(f"scores have shape {given.shape}; they should be of one dimension, one score a text")
    if cell.scale.kind == "interval":
        numbers = _floats(given)
        low, high = cell.scale.min, cell.scale.max
        off = (numbers < (-math.inf if low is None else low)) | (numbers > (math.inf if high is None else high)) | np.isinf(numbers)
        if off.any():
            raise _off_scale(cell, float(numbers[off][0]))
        return numbers if share_of is None else np.where(np.isnan(numbers), math.nan, numbers == share_of)
    codes = _class_codes(cell, given, scores)
    values = np.asarray(cell.values, np.float64) if share_of is None else np.array([each == share_of for each in cell.classes], np.float64)
    return np.append(values, math.nan)[codes]


def _floats(given: NDArray[Any]) -> Floats:
    try:
        return given.astype(np.float64)
    except (TypeError, ValueError):
        raise UsageError("scores on this scale are numbers, None or NaN") from None


def _class_codes(cell: CertifiedCell, given: NDArray[Any], scores: Any) -> NDArray[np.int64]:
    """Positions among the classes, -1 for no score."""
    if given.dtype.kind in "iuf" and all(isinstance(score, int) for score in cell.classes):
        classes = np.array(cell.classes, np.float64)
        order = np.argsort(classes)
        place = np.minimum(np.searchsorted(classes[order], given), len(classes) - 1)
        codes = np.where(np.isnan(given.astype(np.float64)), -1, order[place])
        off = (codes >= 0) & (classes[order][place] != given)
        if off.any():
            raise _off_scale(cell, given[off][0].item())
        return codes
    column = CodedColumn.from_values(None if score is None or score != score else score for score in list(scores))
    for score in column.values:
        if not cell.scale.holds(score):
            raise _off_scale(cell, score)
    return column.recode({score: code for code, score in enumerate(cell.classes)}).astype(np.int64)


def _off_scale(cell: CertifiedCell, score: object) -> StaleCertificate:
    return StaleCertificate(
        f"score {score!r} is off the scale of '{cell.metric}' in the certificate ({cell.scale.describe()}); if the scale changed, {_AGAIN}"
    )


def _group_codes(groups: Any) -> NDArray[Any] | None:
    if groups is None:
        return None
    if isinstance(groups, np.ndarray) and groups.dtype.kind in "iu":
        return groups
    return CodedColumn.from_values(list(groups)).codes.astype(np.int64)
