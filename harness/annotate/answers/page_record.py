"""The record of labelling pages: the item behind each key. It stays with the maker of the pages; annotators get the pages only."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Literal

import msgspec

from harness.content.specs import ExitQuestion
from harness.errors import ContentError, refuse_pipe, unreadable
from harness.model import Item, Scale, Score
from harness.row_files import refuse_other_schema

RECORD = "pages.json"
SCHEMA_VERSION = 1


class Drawn(msgspec.Struct, frozen=True, omit_defaults=True):
    """The draw of an item: its probability to be labelled, the stratum that it was drawn from, and its probability to be labelled by all.

    `overlap_probability` is the first times the share of texts that every annotator reads; None where all read all.
    """

    inclusion_probability: float | None = None
    stratum: str | None = None
    overlap_probability: float | None = None


class ReviewedScore(msgspec.Struct, frozen=True):
    """A judge's score, and its reason, for people to review."""

    score: Score
    reason: str


class ReviewedJudge(msgspec.Struct, frozen=True):
    """Whose reasons are reviewed: the judge, the run, and the condition under which it was asked."""

    judge: str
    source: str
    variant: str
    temperature: float | None = None


class PageItem(msgspec.Struct, frozen=True, omit_defaults=True):
    """The item and the role behind one key of a page.

    `role` is `label` for an item whose answers become labels; answers to `practice` items and to `check`s (damaged texts) never do.
    `expected` are the explained answers of a practice item.
    """

    key: str
    item_id: str
    role: Literal["label", "practice", "check"] = "label"
    expected: dict[str, Score] = {}


class LabellingPage(msgspec.Struct, frozen=True):
    """One page: its id, its file, whose it is, and its items in reading order."""

    page: str
    file: str
    annotator: str
    items: tuple[PageItem, ...]


class PageRecord(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """All pages that were made together.

    Attributes:
        source: the data folder as it was named, or `bundled`.
        language: of all items.
        version: hash of what the pages show of the items; see `version_of`.
        fields: `{task: texts that are shown}`.
        metrics: `{task: metrics that are asked about}`.
        scales: `{metric: scale}`.
        drawn: `{item_id: how it was drawn}`, for items from a plan.
        pages: the pages.
        replaced: ids of earlier pages that these replace.
        review: on pages about a judge's reasons, whose they are; None on pages that ask for scores.
        reviewed: `{item_id: {metric: score and reason}}` on these pages.
        pack: the name of the packs whose items the pages show, if these are bundled; empty for the languages' own packs.
        blind_pairs: whether the pages show minimal pairs, a twin beside its flawless text.
        exit_questions: what is asked after the last text.
        blocks: the key of the items whose values stand in blocks, such as `system`; empty where texts are mixed.
    """

    source: str
    language: str
    version: str
    fields: dict[str, tuple[str, ...]]
    metrics: dict[str, tuple[str, ...]]
    scales: dict[str, Scale]
    drawn: dict[str, Drawn] = {}
    pages: tuple[LabellingPage, ...]
    replaced: tuple[str, ...] = ()
    review: ReviewedJudge | None = None
    reviewed: dict[str, dict[str, ReviewedScore]] = {}
    pack: str = ""
    blind_pairs: bool = False
    exit_questions: tuple[ExitQuestion, ...] = ()
    blocks: str = ""
    schema_version: int = SCHEMA_VERSION

    def page(self, name: str) -> LabellingPage | None:
        """Return the page with this id."""
        return next((page for page in self.pages if page.page == name), None)


def version_of(items: Iterable[Item], fields: Mapping[str, Sequence[str]]) -> str:
    """Hash of the texts that pages show of items, whatever their order. Labels and other keys of the items do not change it."""
    texts = sorted((item.item_id, item.language, item.task, [item.fields.get(name) for name in fields[item.task]]) for item in items)
    return hashlib.sha256(msgspec.json.encode(texts)).hexdigest()


def read_record(path: Path) -> PageRecord:
    """Read a record. Raises ContentError if it cannot be read or was made by another version of the program."""
    refuse_pipe(path)
    try:
        data = path.read_bytes()
        refuse_other_schema(data, SCHEMA_VERSION, path, "make the pages again with 'harness labels page'")
        record = msgspec.json.decode(data, type=PageRecord)
    except OSError as err:
        raise unreadable(err, path) from None
    except msgspec.DecodeError as err:
        raise ContentError(f"not a record of labelling pages ({err}); restore the file that 'harness labels page' wrote", path) from None
    return record
