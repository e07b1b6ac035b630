"""Options of labelling pages: their content and readers, the import of their result files, and a check of labels."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, ClassVar

from harness.measure.options import LabelSelection, MajorityRule, key_and_values, restrictions
from harness.options import Amount, Codes, Count, Flag, Names, Options, ReadsEach, Seed, Share
from harness.text import as_names

if TYPE_CHECKING:
    from harness.annotate.page_results import ReviewedJudge
    from harness.annotate.reviews import Reviewed


@dataclass(frozen=True, kw_only=True)
class PageTexts(Options):
    """Choose the texts of labelling pages, and what is asked about them."""

    heading: ClassVar[str] = "what is labelled"

    language: Annotated[str | None, Flag("--lang --langs", "TAG")] = None
    """the language of the items (default: the only one)"""
    tasks: Annotated[Names | None, Flag("--task", "NAMES")] = None
    """only these tasks"""
    metrics: Annotated[Names | None, Flag(metavar="NAMES")] = None
    """only these metrics, in this order"""
    items: Annotated[Path | None, Flag(metavar="FILE")] = None
    """only these items: the file of 'labels plan', or one id a line (.txt)"""
    next_items: Annotated[Count | None, Flag("--next", "N")] = None
    """only the next N items that nobody labelled yet, or with --review without a review, in the order of --items or the data"""
    random: Annotated[bool, Flag()] = False
    """the N of --next are drawn at random (--seed), not in the order of the data: a sheet may be sorted"""
    where: Annotated[Mapping[str, tuple[str, ...]], ReadsEach(key_and_values, restrictions), Flag(metavar="KEY=VALUE")] = field(
        default_factory=dict
    )
    """only items with this value, such as system=alpha, or a field of the items; may be repeated"""
    second: Annotated[bool, Flag()] = False
    """only items that one person has labelled, so that a second one scores them; different groups first"""
    fields: Annotated[Names | None, Flag("--fields --text", "NAMES")] = None
    """the texts that the page shows, for items of a task that tasks/ does not describe, or columns of a table"""
    mark_errors: Annotated[bool, Flag()] = False
    """errors are marked in the texts, each minor or major"""
    highlight_changes: Annotated[bool, Flag(setting=True)] = False
    """mark the words of the judged text that differ from the text before it, such as the original of an altered text"""
    pack: Annotated[str, Flag(metavar="NAME")] = ""
    """of 'bundled': the packs of this name, such as models or hard, not the languages' own"""
    blind_pairs: Annotated[bool, Flag()] = False
    """minimal pairs: readers who do not know which text is flawed say which is better, and mark where the flaw is"""

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.language is not None:
            from harness.content.tags import tag_of_words  # late: the names of all languages take time

            object.__setattr__(self, "language", tag_of_words(self.language))


@dataclass(frozen=True, kw_only=True)
class PageReaders(Options):
    """Say who labels, and what they see beside the texts."""

    heading: ClassVar[str] = "who labels"

    annotators: Annotated[Codes | None, Flag(metavar="N|CODES")] = None
    """how many annotators, or their codes, e.g. hana,taro (default: 3; of blind pairs 5)"""
    overlap: Annotated[Share, Flag(metavar="SHARE")] = 1.0
    """share of the texts that everybody labels; the rest is divided"""
    practice: Annotated[Amount, Flag(metavar="N")] = 3
    """development items with an explained answer first"""
    checks: Annotated[Amount, Flag(metavar="N", setting=True)] = 0
    """damaged texts among the others of each annotator"""
    blocks: Annotated[str, Flag(metavar="KEY", setting=True)] = ""
    """texts with the same value of KEY, such as system, one after the other, the blocks in random order (default: all mixed)"""
    exit_questions: Annotated[Path | None, Flag(metavar="FILE|none", setting=True)] = None
    """questions after the last text (TOML, like tasks/<task>/exit.toml), in place of the task's own"""
    interface: Annotated[Path | None, Flag(metavar="FILE.toml")] = None
    """the words of the page in the readers' language: a file of 'harness new interface TAG', filled in"""
    about: Annotated[Path | None, Flag(metavar="FILE")] = None
    """text of the first screen: who asks, what is kept, what to expect, consent"""
    seed: Annotated[Seed, Flag(metavar="N")] = 0
    """seed for the shares and the orders"""
    replace: Annotated[bool, Flag()] = False
    """replace the pages in the folder; answers on the old ones are then refused"""


@dataclass(frozen=True, kw_only=True)
class PageOptions(PageReaders, PageTexts):
    """Choose the content and the readers of labelling pages."""

    heading: ClassVar[str] = PageReaders.heading

    review: tuple[ReviewedJudge, Reviewed] | None = None
    """whose scores and reasons people are asked about, and these; None: people give scores themselves"""


@dataclass(frozen=True, kw_only=True)
class PageImportOptions(Options):
    """Say which result files of pages are read."""

    heading: ClassVar[str] = "result files of labelling pages"

    pages: Annotated[Path | None, Flag(metavar="FOLDER")] = None
    """the folder of the pages (default: beside or above the files)"""
    edited: Annotated[bool, Flag()] = False
    """read files that were changed after the page saved them"""
    one_person: Annotated[bool, Flag()] = False
    """one person answered a page on two devices; what was saved last counts"""


@dataclass(frozen=True, kw_only=True)
class LabelCheckOptions(LabelSelection, MajorityRule):
    """Select the labels that are checked, and the keys to group by."""

    heading: ClassVar[str] = "how to check"

    by: Annotated[Names, Flag(metavar="KEYS")] = ("language", "task", "metric")
    """keys to group by (default: language,task,metric); system adds each person's means by system"""
    seed: Annotated[Seed, Flag(metavar="N", setting=True)] = 0
    """seed for the bootstrap"""

    def __post_init__(self) -> None:
        super().__post_init__()
        object.__setattr__(self, "by", as_names(self.by))
