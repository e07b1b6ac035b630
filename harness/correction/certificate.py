"""Certificates: a verdict made portable, so that other programs can use a judge's scores of new texts without the labels.

>>> from harness import certificate
>>> certificate.SCHEMA_VERSION
5

`certificate.load("certificate.json").apply(scores, language="ja", metric="fluency", judge="openai/gpt-4o-2024-08-06")` corrects the mean of
new scores; with `confidence=` it says which scores can be accepted, with
`probabilities=` what may be believed of them. All are refused where the certificate is stale or forbids it.
docs/certificate.schema.json describes the file.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, date, datetime
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
from numpy.typing import ArrayLike

from harness.content.tags import choose_from
from harness.correction.certificate_extension import CertifiedWatch, Extension
from harness.correction.certificate_file import CHANGED, HASHES, ComparedBy, SealedFile, certificate_kind, read_certificate_file
from harness.correction.certified_cell import (
    AGAIN,
    AcceptedScores,
    BelievedProbabilities,
    CertifiedCell,
    CorrectedMean,
    accepted_scores,
    believed_probabilities,
    calibrate_texts,
    corrected_mean,
    texts_without_mean,
)
from harness.correction.options import Confidence, Per
from harness.decide.options import DecisionOptions
from harness.decide.rule import VerdictName
from harness.errors import CertificateError, ContentError, StaleCertificate, UseForbidden
from harness.model import CONDITION, JudgeCondition, JudgeIdentity, Sampling, Scale, Score

SCHEMA_VERSION = 5
_ALLOWED: tuple[VerdictName, ...] = ("use", "use corrected")
_NOT_EXTENDED = "and neither thresholds of acceptance nor scores and sets text by text"


class CertifiedJudge(Sampling, frozen=True, kw_only=True):
    """Who judged, and how. `settings` are None for recorded judgments, of which only the name is known.

    `judgments` is a hash of its scores of labelled texts.
    """

    name: str
    settings: dict[str, Any] | None
    variant: str
    judgments: str

    @property
    def condition(self) -> JudgeCondition:
        return JudgeCondition.of({**msgspec.structs.asdict(self), "judge": self.name})


class CertifiedOptions(ComparedBy, frozen=True):
    """The options that the numbers were made with, beside the thresholds of the verdicts.

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


class Certificate(SealedFile, frozen=True, kw_only=True):
    """A judge under one condition, and what it may be used for by language and metric.

    Attributes:
        judge, data: who judged, and the labels.
        prompt: hash of everything that words the prompts; None for recorded judgments.
        thresholds: when a verdict is given.
        options: what else the numbers were made with.
        signature: everything that moved a number.
        unchecked: what staleness cannot be checked by, because it was not known.
        cells: one for each language and metric.
        extensions: other texts that cells were shown to serve too; `extended` counts them, so that none is taken away unseen.
        watch: the watch that the certificate depends on; None where nobody watches it.
    """

    judge: CertifiedJudge
    data: CertifiedData
    prompt: str | None
    thresholds: DecisionOptions
    signature: str
    unchecked: tuple[str, ...]
    cells: tuple[CertifiedCell, ...]
    options: CertifiedOptions
    extensions: tuple[Extension, ...] = ()
    extended: int = 0
    watch: CertifiedWatch | None = None

    def __post_init__(self) -> None:
        cell_names = [cell.name for cell in self.cells]
        if twice := next((cell_name for cell_name in cell_names if cell_names.count(cell_name) > 1), None):
            raise ValueError(f"{twice} stands twice in its cells")
        if self.extended != len(self.extensions):
            raise ValueError(f"it says that it has {self.extended} extensions, and {len(self.extensions)} stand in it")
        for line in self.extensions:
            if f"{line.from_language}/{line.metric}" not in cell_names:
                raise ValueError(f"it is extended to {line.name} by {line.from_language}, of which it has no cell")
        targets = [line.target for line in self.extensions]
        if doubled := next((line for line in self.extensions if targets.count(line.target) > 1), None):
            raise ValueError(f"its extension to {doubled.name} stands twice in it")

    @property
    def allowed(self) -> tuple[CertifiedCell, ...]:
        """The cells in which the judge's scores may be used: those with the verdict `use` or `use corrected`."""
        return tuple(cell for cell in self.cells if cell.verdict in _ALLOWED)

    def problems(self) -> tuple[str, ...]:
        """Return, in words, numbers that are impossible on their scales, and whether it was changed since it was written."""
        off_scale = (problem for cell in self.cells for problem in cell.off_scale())
        return (*off_scale, *(() if self.is_sealed else (CHANGED,)))

    def cell(self, language: str, metric: str) -> CertifiedCell:
        """Return the cell of a language and metric, or the one that was extended to it. Raises StaleCertificate where there is none."""
        extended = (
            extension.from_language for extension in self.extensions if (extension.language, extension.metric) == (language, metric)
        )
        for source in (language, *extended):
            for cell in self.cells:
                if (cell.language, cell.metric) == (source, metric):
                    return cell
        have = [cell.name for cell in self.cells]
        wanted = f"{language}/{metric}"
        raise StaleCertificate(f"the certificate has nothing on {wanted}; {AGAIN} from labels in that language.{choose_from(have, wanted)}")

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
        probabilities: ArrayLike | None = None,
        expected: ArrayLike | None = None,
        lengths: ArrayLike | Sequence[str] | None = None,
        level: float = 0.95,
        today: date | None = None,
        **condition: str | float | None,
    ) -> CorrectedMean | AcceptedScores | BelievedProbabilities:
        """Correct the mean of new scores and calibrate each of them, or with `confidence` say which can be accepted.

        With `probabilities` it gives those that may be believed: as they are where they hold, refitted where they hold after a refit.

        The new texts have to come from the population that the labelled ones were drawn from, and none of their groups may be labelled.

        Args:
            scores: (items,) the judge's scores of new texts; None or NaN where none could be read.
            language, metric: which cell of the certificate.
            judge: the judge's name, or its identity, whose settings are then compared too.
            prompt, rubric: hashes of the run that gave the scores, as `harness prompt-hash RUN` prints them; needed where the certificate
                has them.
            scale: of the scores, if it is to be compared.
            groups: (items,) what texts share, such as a prompt; None if they are independent.
            share_of: a class whose share is estimated instead of the mean.
            confidence: (items,) in the unit of the certificate's threshold, NaN where there is none.
            probabilities: (items,) the probability that the judge gave to each score, NaN where there is none.
            expected: (items,) expected scores by token probabilities, where the certificate's map reads these; NaN where there is none.
            lengths: (items,) characters of each judged text, or the texts themselves; needed where the certificate's map reads the length.
            level: of the interval of the mean, in (0, 1).
            today: the day on which a watched certificate has to hold; by default today (UTC).
            condition: of the new scores, `variant` and axes of `SAMPLING` such as `temperature`, if they are to be compared.

        Raises:
            StaleCertificate: for another judge, condition, prompt, rubric, language, metric or scale, for numbers off the scale, and for a
                certificate that its watch has ended.
            UseForbidden: where the verdict is `do not use`, `too few labels` or `no verdict`, or the certificate has no such numbers; for
                probabilities that are not shown to hold, not even refitted.
            CertificateError: where something that has to be compared, or that the map reads, is not given.
            UsageError: for arrays that do not fit together.
        """
        cell = self.cell(language, metric)
        if self.watch is not None and (expired := self.watch.expired(today or datetime.now(UTC).date())):
            raise StaleCertificate(f"the certificate does not hold any more: {expired}; {AGAIN}")
        self._refuse_other_condition(condition)
        for problem in cell.off_scale():
            raise StaleCertificate(f"{problem}; {AGAIN}")
        unchecked = self._refuse_stale(cell, judge, prompt, rubric, scale)
        if cell.verdict not in _ALLOWED:
            raise UseForbidden(f"the certificate's verdict on {language}/{metric} is '{cell.verdict}': {cell.sentence}")
        if (extended := cell.language != language) and (confidence is not None or probabilities is not None):
            raise UseForbidden(f"for {language}/{metric} the mean and agreement of {cell.language} were shown to hold, {_NOT_EXTENDED}")
        if probabilities is not None:
            return believed_probabilities(cell, probabilities, len(np.asarray(scores, object)), unchecked)
        if confidence is not None:
            return accepted_scores(cell, scores, confidence, unchecked)
        without_texts = (None, f"extended from {cell.language}: {_NOT_EXTENDED}")
        texts, reason = without_texts if extended else calibrate_texts(cell, scores, expected, lengths)
        if texts is not None and not cell.corrections:
            return texts_without_mean(cell, scores, unchecked, texts)
        mean = corrected_mean(cell, scores, groups, share_of, level, unchecked)
        return msgspec.structs.replace(mean, texts=texts, texts_reason=reason)

    def _refuse_stale(
        self, cell: CertifiedCell, judge: str | JudgeIdentity, prompt: str | None, rubric: str | None, scale: Scale | None
    ) -> tuple[str, ...]:
        """Raise for what differs from the certificate; return what could not be compared."""
        for problem in judge_problems(self.judge, judge):
            raise StaleCertificate(f"{problem}; {AGAIN}")
        for name, certified, current in (("prompt", self.prompt, prompt), ("rubric", cell.rubric, rubric)):
            if certified is not None and current is None:
                raise CertificateError(f"pass {name}=: the certificate holds for {name} {certified} only; {HASHES}")
            if certified is not None and current != certified:
                raise StaleCertificate(f"the {name} is {current}, and the certificate holds for {certified}; {AGAIN}")
        if scale is not None and scale != cell.scale:
            raise StaleCertificate(
                f"the scale of '{cell.metric}' is {scale.describe()}, in the certificate {cell.scale.describe()}; {AGAIN}"
            )
        unknown = [name for name, certified in (("prompt", self.prompt), ("rubric", cell.rubric)) if certified is None]
        return (*unknown, *(["settings of the judge"] if self.judge.settings is None or isinstance(judge, str) else []))

    def _refuse_other_condition(self, condition: Mapping[str, Any]) -> None:
        for name, value in condition.items():
            if name not in CONDITION[1:]:
                raise TypeError(f"apply() got an unexpected keyword argument '{name}'; a condition has {', '.join(CONDITION[1:])}")
            certified = getattr(self.judge, name)
            if value is not None and value != certified:
                stated = "does not state it" if certified is None else f"holds for {certified}"
                raise StaleCertificate(f"the {name} is {value}, and the certificate {stated}; {AGAIN}")


def judge_problems(certified: CertifiedJudge, judge: str | JudgeIdentity) -> Iterator[str]:
    """Yield the differences of a judge's name and settings from a certificate, in words."""
    name = judge if isinstance(judge, str) else judge.name
    if name != certified.name:
        yield f"the judge is '{name}', and the certificate is of '{certified.name}'"
    elif isinstance(judge, JudgeIdentity) and certified.settings is not None and judge.settings != certified.settings:
        keys = sorted(judge.settings.keys() | certified.settings.keys())
        changed = [key for key in keys if judge.settings.get(key) != certified.settings.get(key)]
        yield f"the settings of '{name}' differ from the certificate's in {', '.join(changed)}"


def load(path: Path | str) -> Certificate:
    """Read a certificate.

    Raises:
        ContentError: if the file cannot be read, is no certificate, is cut off, has another schema version or other fields, was changed
            after it was written, or holds numbers that are impossible on their scales.
    """
    certificate = read(path)
    for problem in certificate.problems():
        raise ContentError(f"not a certificate: {problem}; {AGAIN}", Path(path))
    return certificate


def read(path: Path | str) -> Certificate:
    """Read a certificate to check it. Raises as `load`, but for changes and impossible numbers, which `problems` names."""
    return read_certificate_file(Path(path), Certificate, "judge", SCHEMA_VERSION, AGAIN)


def kind_of(path: Path | str) -> str:
    """Return `judge` or `cascade`, of which a file is the certificate. Raises ContentError if it cannot be read or is no JSON."""
    return certificate_kind(Path(path), AGAIN)
