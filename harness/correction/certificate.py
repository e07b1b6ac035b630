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

import hashlib
import json
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from typing import Any, Self, TypeVar

import msgspec
import numpy as np
from numpy.typing import ArrayLike

from harness.content.tags import choose_from
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
from harness.correction.correction_options import Confidence, Per
from harness.decide.options import DecisionOptions
from harness.decide.verdict_rule import VerdictName
from harness.errors import CertificateError, ContentError, StaleCertificate, UsageError, UseForbidden, unreadable
from harness.measure.options import Annotators, MeasureOptions, Rule, Standardise
from harness.model import CONDITION, JudgeCondition, JudgeIdentity, Sampling, Scale, Score
from harness.row_files import refuse_other_schema

MAX_BYTES = 16 * 1024 * 1024
HASHES = "'harness prompt-hash RUN' prints the hashes of a run"
CHANGED = "it was changed after it was written: its hash is not that of its content"


class ComparedBy(msgspec.Struct, frozen=True):
    """The options of the comparison that numbers were made with, so that they can be made again; None is the default."""

    annotators: str | None
    majority: Rule
    where: dict[str, tuple[str, ...]]
    standardise: Standardise

    @classmethod
    def of(cls, compare: MeasureOptions, **fields: Any) -> Self:
        annotators = None if compare.annotators is None else str(compare.annotators)
        where = {name: tuple(values) for name, values in sorted(compare.restrictions.items())}
        return cls(annotators, compare.majority, where, compare.standardise, **fields)

    def compare(self, judges: tuple[str, ...]) -> MeasureOptions:
        """The same comparison of these judges."""
        annotators = None if self.annotators is None else Annotators.parse(self.annotators)
        return MeasureOptions(annotators=annotators, majority=self.majority, where=self.where, judges=judges, standardise=self.standardise)


class SealedFile(msgspec.Struct, frozen=True, kw_only=True):
    """The common part of the certificates of a judge and of a cascade.

    Attributes:
        schema_version: of the file's form.
        harness: the version of the program that made it.
        sha256: of everything else in it.
    """

    schema_version: int
    harness: str
    sha256: str = ""

    def sealed(self) -> Self:
        """Return the same with the hash of its content."""
        return msgspec.structs.replace(self, sha256=self._content_hash())

    @property
    def is_sealed(self) -> bool:
        """True if its hash is that of its content."""
        return self.sha256 == self._content_hash()

    def _content_hash(self) -> str:
        bare = msgspec.structs.replace(self, sha256="")
        return hashlib.sha256(msgspec.json.encode(bare, order="sorted")).hexdigest()


Sealed = TypeVar("Sealed", bound=SealedFile)
T = TypeVar("T")


class _Head(msgspec.Struct):
    kind: str = "judge"


def certificate_kind(path: Path, again: str) -> str:
    """Return `judge` or `cascade`, of which a file is the certificate. Raises ContentError if it cannot be read or is no JSON."""
    return _decode(_read_bytes(path), _Head, path, again).kind


def read_certificate_file(path: Path, form: type[Sealed], kind: str, version: int, again: str) -> Sealed:
    """Return a certificate of this form from its file, whatever its hash (`is_sealed`).

    Raises ContentError for a file that is none, of another kind or schema version, with a field twice, with other fields, or with values
    that contradict each other; `again` says what to do.
    """
    raw = _read_bytes(path)
    head = _decode(raw, _Head, path, again)
    if head.kind != kind:
        raise ContentError(f"the certificate of a {head.kind}, and the certificate of a {kind} is needed", path)
    refuse_other_schema(raw, version, path, again)
    certificate = _decode(raw, form, path, again)
    try:
        written = json.loads(raw, object_pairs_hook=_refuse_repeated_keys)
    except (ValueError, RecursionError) as err:
        raise ContentError(f"not a certificate: {err}; {again}", path) from None
    for problem in _list_unknown_fields(written, json.loads(msgspec.json.encode(certificate))):
        raise ContentError(f"not a certificate: {problem}; {again}", path)
    return certificate


def _read_bytes(path: Path) -> bytes:
    try:
        if not path.is_file() and path.exists():  # a pipe without a writer would never end
            raise ContentError("not a file; name the file of a certificate", path)
        with open(path, "rb") as file:
            raw = file.read(MAX_BYTES + 1)
    except OSError as err:
        raise unreadable(err, path) from None
    if len(raw) > MAX_BYTES:
        raise ContentError(f"larger than {MAX_BYTES >> 20} MiB; this is no certificate", path)
    return raw


def _decode(raw: bytes, form: type[T], path: Path, again: str) -> T:
    try:
        return msgspec.json.decode(raw, type=form)
    except (msgspec.ValidationError, UsageError) as err:
        raise ContentError(f"not a certificate: {err}; {again}", path) from None
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as err:
        raise ContentError(f"not a whole JSON file ({err}); copy the certificate again, or {again}", path) from None


def _refuse_repeated_keys(pairs: Sequence[tuple[str, Any]]) -> dict[str, Any]:
    """Return an object of JSON. Raises ValueError for a key that stands twice, of which other programs may read the other value."""
    fields = dict(pairs)
    if len(fields) < len(pairs):
        names = [name for name, _ in pairs]
        raise ValueError(f"'{next(name for name in names if names.count(name) > 1)}' stands twice in one object")
    return fields


def _list_unknown_fields(written: Any, understood: Any, path: str = "") -> Iterator[str]:
    """Yield the fields that a file has beside those that are understood, and those that it lacks, in words."""
    if isinstance(written, dict) and isinstance(understood, dict):
        for name in sorted(written.keys() ^ understood.keys()):
            yield f"'{path}{name}' is no field of it" if name in written else f"its field '{path}{name}' is absent"
        for name in sorted(written.keys() & understood.keys()):
            yield from _list_unknown_fields(written[name], understood[name], f"{path}{name}.")
    elif isinstance(written, list) and isinstance(understood, list):
        for index, (written_part, understood_part) in enumerate(zip(written, understood, strict=False)):
            yield from _list_unknown_fields(written_part, understood_part, f"{path}{index}.")


class ShownWithin(msgspec.Struct, frozen=True, kw_only=True):
    """A mean difference that was tested against ±`margin`, all as shares: of the scale's range, or of texts.

    `interval` is a simultaneous one over all that was tested; None, as `p`, where the groups are too few to tell. `p` is not corrected.
    """

    mean: float
    interval: tuple[float, float] | None
    margin: float
    p: float | None


class ExtendedWith(ComparedBy, frozen=True):
    """The options that a probe was tested with: those of its comparison, and those of `harness.correction.extension.ExtendOptions`."""

    by: tuple[str, ...]
    from_language: str | None
    margin: float
    alpha: float


class Extension(msgspec.Struct, frozen=True, kw_only=True):
    """Other texts that a cell of the certificate was shown to serve too.

    Attributes:
        language, metric: of the texts.
        from_language: of the certified cell whose numbers serve them.
        where: what else is special about them, such as `{"system": "new"}`; empty if nothing.
        data, sha256: id and hash of the labelled texts that showed it.
        date: when it was shown.
        labels, groups: how many texts were labelled, and independent groups of them.
        residual: label minus corrected prediction; None on a scale without order.
        agreement: agreement with people less the certified agreement.
        q: p of both, corrected over the targets that were tested together.
        options: what the probe was tested with, so that the extension can be made again.
    """

    language: str
    metric: str
    from_language: str
    where: dict[str, str]
    data: str
    sha256: str
    date: date
    labels: int
    groups: int
    residual: ShownWithin | None
    agreement: ShownWithin
    q: float
    options: ExtendedWith

    @property
    def name(self) -> str:
        return f"{self.language}/{self.metric}"

    @property
    def target(self) -> tuple[str, str, str, tuple[tuple[str, str], ...]]:
        """A key that is unique among the extensions of a certificate."""
        return self.language, self.metric, self.from_language, tuple(sorted(self.where.items()))


class EarlierWatch(msgspec.Struct, frozen=True, kw_only=True):
    """A start of the watch that an alarm ended: from when until the restart, what was found, and the SHA-256 of its certificate."""

    since: date
    until: date
    ended: str
    certificate: str


class CertifiedWatch(msgspec.Struct, frozen=True, kw_only=True):
    """The watch that a certificate depends on.

    Attributes:
        since: the first day.
        checked_to: the last day whose scores were checked.
        max_age: for how many days after that the certificate holds.
        ended: what the watch found, with the day; None as long as it found nothing.
        recalibrated: the day on which the watch was started again with this certificate; None at its first start.
        earlier: the starts before, each with the alarm that ended it.
    """

    since: date
    checked_to: date
    max_age: int
    ended: str | None = None
    recalibrated: date | None = None
    earlier: tuple[EarlierWatch, ...] = ()

    def __post_init__(self) -> None:
        if self.max_age < 1 or self.checked_to < self.since:
            raise ValueError("a watch has a maximal age of a day or more, and was not checked before it began")

    def expired(self, today: date) -> str | None:
        """Return why the certificate does not hold on this day; None if it does."""
        if self.ended is not None:
            return f"its watch found: {self.ended}"
        if today < self.checked_to:
            return f"today is {today}, and it was watched until {self.checked_to}, which is later: the clock is wrong, or one of the dates"
        if today > self.checked_to + timedelta(days=self.max_age):
            return f"it was watched until {self.checked_to}, more than {self.max_age} days ago; see 'harness watch add' and 'check'"
        return None


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
