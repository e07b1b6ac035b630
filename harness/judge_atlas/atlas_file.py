"""The atlas as a file: verdicts on judges by language, quality and published set. It holds numbers, no texts and no single labels."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import msgspec

from harness.errors import ContentError

FILE = "leaderboards/atlas.json"
SCHEMA_VERSION = 1


class AtlasSet(msgspec.Struct, frozen=True, kw_only=True):
    """A published set that verdicts rest on.

    Attributes:
        title, version, licence: of its card.
        labels: who labelled: `native`, or `people` where the release does not say that they are native speakers.
        annotators: how many people labelled a text, in words.
        signature: of the comparison that the verdicts come from; it parses back.
    """

    title: str
    version: str
    licence: str
    labels: str
    annotators: str
    signature: str


class AtlasRow(msgspec.Struct, frozen=True, kw_only=True):
    """The verdict on one judge in one language on one metric of one set, equal to that of `harness compare SET`. Shares are in [0, 1].

    Attributes:
        quality: what people ask about, from the card; empty where the card names none for the metric.
        condition: how the judge was asked, as the set records it.
        verdict, sentence: as `Verdict.answer` and `Verdict.sentence`.
        agreement, people, gap, bound: of the judge with people, of people with each other, their difference and its lower bound; None
            where undefined.
        closeness: whether these are closeness of numbers and not shares of equal scores.
        texts, groups, effective_groups: labelled texts, independent groups of texts, and for how many equal groups they stand.
    """

    language: str
    quality: str
    metric: str
    judge: str
    condition: str
    set: str
    verdict: str
    sentence: str
    agreement: float | None
    people: float | None
    gap: float | None
    bound: float | None
    closeness: bool
    texts: int
    groups: int
    effective_groups: float | None


class Atlas(msgspec.Struct, frozen=True, kw_only=True):
    """All rows, sorted by language, quality, metric, set, judge and condition; sets by id and English names of languages by tag."""

    sets: dict[str, AtlasSet]
    languages: dict[str, str]
    rows: tuple[AtlasRow, ...]
    schema_version: int = SCHEMA_VERSION

    def flat(self, rows: Iterable[AtlasRow] | None = None) -> Iterator[dict[str, Any]]:
        """Each row, of all or of some, as one object for programs, with what its set says of the labels."""
        for row in self.rows if rows is None else rows:
            about = self.sets[row.set]
            yield msgspec.structs.asdict(row) | {"labels": about.labels, "annotators": about.annotators, "licence": about.licence}


def read_atlas(path: Path) -> Atlas:
    """The atlas of a file. Raises ContentError for a file that is absent, of another schema, or no atlas."""
    try:
        atlas = msgspec.json.decode(path.read_bytes(), type=Atlas)
    except FileNotFoundError:
        raise ContentError("there is no atlas here; 'harness atlas build' writes it", path) from None
    except msgspec.DecodeError as err:
        raise ContentError(f"this is no atlas: {err}", path) from None
    if atlas.schema_version != SCHEMA_VERSION:
        raise ContentError(f"schema_version {atlas.schema_version} is not {SCHEMA_VERSION}, which this program reads", path)
    return atlas


def atlas_bytes(atlas: Atlas) -> bytes:
    """The file of an atlas: a row a line, so that changes can be read."""
    head = msgspec.structs.asdict(atlas)
    rows = head.pop("rows")
    text = msgspec.json.format(msgspec.json.encode(head), indent=1)[:-2]
    lines = b",\n".join(b"  " + msgspec.json.encode(row) for row in rows)
    return text + b',\n "rows": [\n' + lines + b"\n ]\n}\n"
