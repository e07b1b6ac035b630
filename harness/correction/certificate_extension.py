"""The scope of a certificate: other texts that it was extended to, and the watch that it depends on."""

from __future__ import annotations

from datetime import date, timedelta

import msgspec

from harness.correction.certificate_file import ComparedBy


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
