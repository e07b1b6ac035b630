"""The certificate of a cascade: judges in the order in which they are asked, and the confidence above which each one's answer is accepted.

`harness.cascade_certificate.load("cascade.json").apply(scores, confidences, language="ja", metric="fluency")` says who answers each new
text, and which texts go on to the next judge or to a person.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Literal

import msgspec
import numpy as np
from numpy.typing import ArrayLike

from harness.content.tags import choose_from
from harness.correction.acceptance import ONLY_IF
from harness.correction.cascade import AcceptedCascade
from harness.correction.certificate import CertifiedData, CertifiedJudge, judge_problems
from harness.correction.certificate_file import CHANGED, HASHES, ComparedBy, SealedFile, read_certificate_file
from harness.correction.options import AcceptOptions, Confidence
from harness.errors import CertificateError, ContentError, StaleCertificate, UsageError
from harness.model import JudgeIdentity, Scale, Score
from harness.stats.core.arrays import Floats, Ints
from harness.stats.selection.cascade import Units, answered_by

SCHEMA_VERSION = 2
AGAIN = "make a new certificate with 'harness accept --cascade --to FILE'"


class CertifiedErrors(msgspec.Struct, frozen=True):
    """The tolerated errors, as `AcceptOptions` has them."""

    alpha: float
    delta: float
    confidence: Confidence | None
    sampling: Literal["random"] | None

    @classmethod
    def of(cls, options: AcceptOptions) -> CertifiedErrors:
        return cls(options.alpha_risk, options.delta, options.confidence, options.sampling)

    @property
    def options(self) -> AcceptOptions:
        return AcceptOptions(alpha_risk=self.alpha, delta=self.delta, confidence=self.confidence, sampling=self.sampling)


class CascadeOptions(ComparedBy, frozen=True):
    """The options that the numbers were made with."""

    accept: CertifiedErrors
    units: Units


class CertifiedStep(msgspec.Struct, frozen=True, kw_only=True):
    """One judge: how it is asked, how often about each text, and the hash of what words its prompts (None for recorded judgments)."""

    judge: CertifiedJudge
    repeats: int
    prompt: str | None


class CertifiedChain(msgspec.Struct, frozen=True, kw_only=True):
    """The chain in one language and metric: its scale, its rubric (None for recorded judgments) and its thresholds."""

    scale: Scale
    rubric: str | None
    chain: AcceptedCascade

    @property
    def name(self) -> str:
        return f"{self.chain.language}/{self.chain.metric}"


class CascadeAnswers(msgspec.Struct, frozen=True, eq=False):
    """The judges that answer new texts.

    Attributes:
        judge_index: (texts,) position of the judge whose answer is accepted, in the order in which judges are asked; -1 where none is.
        judges: the names of all judges of the chain.
        scores: (texts,) the accepted answer; None where there is none.
        judges_asked: how many of the judges have been asked. Texts without an answer go on to the next one, or to a person after the last.
        upper: the certified bound of the share of wrong answers among the accepted ones; None where nothing is certified.
        unchecked: what of judges, prompts and rubric could not be compared with the certificate.
        reason: why nothing is certified, or None.
    """

    judge_index: Ints
    judges: tuple[str, ...]
    scores: tuple[Score | None, ...]
    judges_asked: int
    upper: float | None
    unchecked: tuple[str, ...]
    reason: str | None

    @property
    def next(self) -> str | None:
        """The judge that texts without an answer go on to; None if that is a person."""
        return self.judges[self.judges_asked] if self.judges_asked < len(self.judges) and self.reason is None else None

    @property
    def by(self) -> tuple[str | None, ...]:
        """The judge that answers each text; None where there is no answer yet."""
        names = (*self.judges, None)
        return tuple(names[index] for index in self.judge_index)


class CascadeCertificate(SealedFile, frozen=True, kw_only=True):
    """A chain of judges with one promise for all accepted answers.

    Attributes:
        kind: tells it from the certificate of one judge.
        steps: the judges in the order in which they are asked; a person is the last.
        data: the labels.
        options: what the numbers were made with.
        signature: everything that moved a number.
        cells: one for each language and metric.
    """

    kind: Literal["cascade"]
    steps: tuple[CertifiedStep, ...]
    data: CertifiedData
    options: CascadeOptions
    signature: str
    cells: tuple[CertifiedChain, ...]

    def __post_init__(self) -> None:
        names = self.judges
        if len(names) < 2 or len(set(names)) < len(names):
            raise ValueError("a cascade has two judges or more, each once")
        cell_names = [cell.name for cell in self.cells]
        if twice := next((cell_name for cell_name in cell_names if cell_names.count(cell_name) > 1), None):
            raise ValueError(f"{twice} stands twice in its cells")
        for cell in self.cells:
            cell_name, steps = cell.name, cell.chain.steps
            if tuple(step.judge for step in steps) != names:
                raise ValueError(f"the judges of {cell_name} are not those of the steps")
            if any(step.threshold is not None and not 0 <= step.threshold <= 1 for step in steps):
                raise ValueError(f"a threshold of {cell_name} is not from 0 to 1")
            if any(step.threshold is not None for step in steps) and not 0 <= (cell.chain.upper or 0) <= self.options.accept.alpha:
                raise ValueError(f"thresholds of {cell_name} are certified, but their bound is above the tolerated share of errors")

    @property
    def judges(self) -> tuple[str, ...]:
        return tuple(step.judge.name for step in self.steps)

    @property
    def only_if(self) -> str | None:
        """The assumption of the promise beside the labels: None if the data say that they are a random sample."""
        return ONLY_IF if self.data.sampling != "random" else None

    def cell(self, language: str, metric: str) -> CertifiedChain:
        """Return the chain of a language and metric. Raises StaleCertificate where there is none."""
        for cell in self.cells:
            if (cell.chain.language, cell.chain.metric) == (language, metric):
                return cell
        have, wanted = [cell.name for cell in self.cells], f"{language}/{metric}"
        raise StaleCertificate(f"the certificate has nothing on {wanted}; {AGAIN} from labels in that language.{choose_from(have, wanted)}")

    def apply(
        self,
        scores: Mapping[str, Sequence[Score | None] | ArrayLike],
        confidences: Mapping[str, ArrayLike],
        *,
        language: str,
        metric: str,
        judges: Mapping[str, JudgeIdentity] | None = None,
        prompts: Mapping[str, str] | None = None,
        rubric: str | None = None,
        scale: Scale | None = None,
    ) -> CascadeAnswers:
        """Say who answers each new text: the first judge that is as sure as certified and has a score.

        The new texts have to come from the population that the labelled ones were drawn from.

        Args:
            scores: of the first judges of the chain, or of all, by name: (texts,) with None or NaN where there is none, as for texts that
                a judge was not asked about.
            confidences: the same with confidences, in the units of the certificate.
            language, metric: which cell of the certificate.
            judges: identities of the judges, if their settings are to be compared.
            prompts: hashes of their prompts, needed where the certificate has them.
            rubric, scale: as `Certificate.apply`.

        Raises:
            StaleCertificate: for other judges, prompts, rubric, language, metric or scale, and for scores off the scale.
            CertificateError: where something that has to be compared is not given.
            UsageError: for arrays that do not fit together.
        """
        cell = self.cell(language, metric)
        unchecked = self._refuse_stale(cell, tuple(scores), judges or {}, prompts or {}, rubric, scale)
        names = self.judges[: len(scores)]
        if set(confidences) != set(names):
            raise UsageError(f"confidences are of {', '.join(confidences) or 'no judge'}, and scores of {', '.join(names)}")
        judge_scores = [_read_scores(cell.scale, metric, scores[name]) for name in names]
        confidence = np.vstack([_read_confidences(confidences[name], read, name) for name, read in zip(names, judge_scores, strict=True)])
        if cell.chain.upper is None:
            judge_index: Ints = np.full(confidence.shape[1], -1)
        else:
            thresholds = [math.inf if step.threshold is None else step.threshold for step in cell.chain.steps[: len(names)]]
            judge_index = answered_by(confidence, thresholds)
        accepted = tuple(None if judge < 0 else judge_scores[judge][text] for text, judge in enumerate(judge_index.tolist()))
        return CascadeAnswers(judge_index, self.judges, accepted, len(names), cell.chain.upper, unchecked, cell.chain.reason)

    def _refuse_stale(
        self,
        cell: CertifiedChain,
        scored_judges: tuple[str, ...],
        identities: Mapping[str, JudgeIdentity],
        prompts: Mapping[str, str],
        rubric: str | None,
        scale: Scale | None,
    ) -> tuple[str, ...]:
        """Raise for what differs from the certificate; return what could not be compared."""
        if not scored_judges or set(scored_judges) != set(self.judges[: len(scored_judges)]):
            raise StaleCertificate(
                f"scores are of {', '.join(scored_judges) or 'no judge'}, and the certificate's chain is {' then '.join(self.judges)}; "
                "give scores of its first judges, or of all"
            )
        for step in self.steps[: len(scored_judges)]:
            name = step.judge.name
            for problem in judge_problems(step.judge, identities.get(name, name)):
                raise StaleCertificate(f"{problem}; {AGAIN}")
            _refuse_changed(f"prompt of {name}", f"prompts={{{name!r}: ...}}", step.prompt, prompts.get(name))
        _refuse_changed("rubric", "rubric=", cell.rubric, rubric)
        if scale is not None and scale != cell.scale:
            raise StaleCertificate(f"the scale is {scale.describe()}, in the certificate {cell.scale.describe()}; {AGAIN}")
        unknown = {
            "prompts": any(step.prompt is None for step in self.steps),
            "rubric": cell.rubric is None,
            "settings of the judges": any(step.judge.settings is None or step.judge.name not in identities for step in self.steps),
        }
        return tuple(what for what, is_unknown in unknown.items() if is_unknown)


def _refuse_changed(what: str, argument: str, certified: str | None, current: str | None) -> None:
    if certified is not None and current is None:
        raise CertificateError(f"pass {argument}: the certificate holds for the {what} {certified} only; {HASHES}")
    if certified is not None and current != certified:
        raise StaleCertificate(f"the {what} is {current}, and the certificate holds for {certified}; {AGAIN}")


def _read_scores(scale: Scale, metric: str, scores: Any) -> list[Score | None]:
    values = np.asarray(scores, object)
    if values.ndim != 1:
        raise UsageError(f"scores have shape {values.shape}; they should be of one dimension, one score a text")
    read: list[Score | None] = []
    for value in values.tolist():
        score = None if value is None or value != value else int(value) if isinstance(value, float) and value.is_integer() else value
        if score is not None and not scale.holds(score):
            raise StaleCertificate(f"score {score!r} is off the scale of '{metric}' in the certificate ({scale.describe()}); {AGAIN}")
        read.append(score)
    return read


def _read_confidences(confidences: ArrayLike, scores: list[Score | None], judge: str) -> Floats:
    try:
        sure = np.asarray(confidences, np.float64)
    except (TypeError, ValueError):
        raise UsageError(f"confidences of {judge} are numbers, None or NaN") from None
    if sure.shape != (len(scores),):
        raise UsageError(f"confidences of {judge} have shape {sure.shape}, and there are {len(scores)} scores; give one confidence a score")
    return np.where([score is None for score in scores], math.nan, sure)


def load(path: Path | str) -> CascadeCertificate:
    """Read the certificate of a cascade.

    Raises:
        ContentError: if the file cannot be read, is no certificate of a cascade, is cut off, has another schema version or other fields,
            was changed after it was written, or holds numbers that are impossible.
    """
    certificate = read(path)
    if not certificate.is_sealed:
        raise ContentError(f"not a certificate: {CHANGED}; {AGAIN}", Path(path))
    return certificate


def read(path: Path | str) -> CascadeCertificate:
    """Read the certificate of a cascade to check it, whatever its hash. Raises as `load` otherwise."""
    return read_certificate_file(Path(path), CascadeCertificate, "cascade", SCHEMA_VERSION, AGAIN)
