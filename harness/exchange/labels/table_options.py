"""Options of tables: how a source is read, what its columns and scores mean, and where it is written; and the roles of the columns of a
table with people's and judges' scores.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, ClassVar, Literal

from harness.options import Count, Flag, Names, Options
from harness.text import as_names


@dataclass(frozen=True, kw_only=True)
class SourceOptions(Options):
    """Say how a source is read. Without `kind`, the source decides."""

    heading: ClassVar[str] = "how to read it"

    kind: Annotated[
        Literal["csv", "tsv", "xlsx", "sheet", "jsonl", "json", "parquet", "hf", "label-studio", "argilla"] | None,
        Flag("--from", metavar="KIND"),
    ] = None
    """the kind of source, if it cannot be detected: csv, tsv, xlsx, sheet, jsonl, json, parquet, hf, label-studio, argilla"""
    sheet: Annotated[str | None, Flag(metavar="NAME", setting=True)] = None
    """the worksheet of a workbook (default: the first that is not empty)"""
    encoding: Annotated[str | None, Flag(metavar="NAME", setting=True)] = None
    """encoding of a CSV file that is neither UTF-8 nor UTF-16 with a byte order mark, e.g. cp1252"""
    header_row: Annotated[Count | None, Flag(metavar="N", setting=True)] = None
    """the row of a table that names its columns (default: the first, or the first below a title)"""
    revision: Annotated[str | None, Flag(metavar="NAME", setting=True)] = None
    """commit, tag or branch of hf:owner/name"""
    split: Annotated[str | None, Flag(metavar="NAME", setting=True)] = None
    """which split of a Hugging Face data set"""


@dataclass(frozen=True, kw_only=True)
class PseudonymOptions(Options):
    """Say how annotators are called in the folder."""

    heading: ClassVar[str] = "annotators and folder"

    keep_annotators: Annotated[bool, Flag(setting=True)] = False
    """keep annotators' ids instead of pseudonyms"""
    salt_file: Annotated[Path | None, Flag(metavar="FILE", setting=True)] = None
    """the salt of the pseudonyms; created if it does not exist (default: in the user's settings)"""


@dataclass(frozen=True, kw_only=True)
class DataNames(Options):
    """Say how the data are called."""

    heading: ClassVar[str] = PseudonymOptions.heading

    id: Annotated[str | None, Flag(metavar="NAME", setting=True)] = None
    """name of the data (default: the folder's name)"""
    title: Annotated[str | None, Flag(metavar="TEXT", setting=True)] = None
    """title of the data"""


@dataclass(frozen=True, kw_only=True)
class ReadingOptions(PseudonymOptions, SourceOptions):
    """Say how a source is read, and what becomes of wrong rows and of annotators' names."""

    heading: ClassVar[str] = SourceOptions.heading

    allow_refused: Annotated[bool, Flag()] = False
    """import the other rows where some are refused (default: then nothing is written); refused.jsonl holds the refused rows"""
    partly: bool = False
    """columns of scores may stay unread, as the card of a published set says which are read"""


@dataclass(frozen=True, kw_only=True)
class ImportOptions(ReadingOptions):
    """Say how a source is read, and what it adds to a folder."""

    heading: ClassVar[str] = "flags"

    append: Annotated[bool, Flag()] = False
    """add to a folder that already has labels"""
    second_round: Annotated[bool, Flag()] = False
    """scores of items that are labelled already: of a further person, whom verdicts count, or a person's own repeats, which they do not"""
    unlabelled: Annotated[bool, Flag()] = False
    """the table has texts and no scores: for a judge, or to be labelled later"""
    items: Annotated[str | None, Flag(metavar="FILE|DIR|bundled", group=SourceOptions.heading)] = None
    """where the items are (default: in the source)"""


@dataclass(frozen=True, kw_only=True)
class ColumnOptions(Options):
    """Say what the columns of a source mean."""

    heading: ClassVar[str] = "what its columns mean (--map can hold all of this)"

    map: Annotated[Path | None, Flag(metavar="FILE")] = None
    """a mapping in TOML; flags take precedence"""
    column: Annotated[tuple[str, ...], Flag(metavar="ROLE=COLUMN")] = ()
    """the role of a column; roles: item_id, annotator_id, metric, score, source, language, task, split, group, system, parallel_id"""
    text: Annotated[tuple[str, ...], Flag(metavar="FIELD=COLUMN")] = ()
    """a column that becomes a text of the items"""
    id_from: Annotated[Names | None, Flag(metavar="COLUMNS", setting=True)] = None
    """columns whose values together are an item's id; '#' is the number of the row"""
    group: Annotated[str | None, Flag(metavar="COLUMN", setting=True)] = None
    """short for --column group=COLUMN"""
    system: Annotated[str | None, Flag(metavar="COLUMN", setting=True)] = None
    """short for --column system=COLUMN"""
    language: Annotated[str | None, Flag(metavar="TAG")] = None
    """the language of all rows"""
    task: Annotated[str | None, Flag(metavar="NAME", setting=True)] = None
    """the task of all rows"""
    metric: Annotated[str | None, Flag(metavar="NAME")] = None
    """the metric of all scores"""
    annotator: Annotated[str | None, Flag(metavar="NAME", setting=True)] = None
    """the annotator of all scores"""
    annotator_from_file: Annotated[str | None, Flag(metavar="REGEX", setting=True)] = None
    r"""the annotator of all scores is in the file's name, e.g. ratings_(.+)\.csv"""
    wide_annotators: Annotated[Names | None, Flag(metavar="COLUMNS")] = None
    """columns with the scores of one annotator each"""
    wide_metrics: Annotated[Names | None, Flag(metavar="COLUMNS")] = None
    """columns with the scores on one metric each"""
    human: Annotated[Names | None, Flag(metavar="NAMES")] = None
    """columns or annotators that are people, though their names look like a judge's"""
    wide_items: Annotated[str | None, Flag(metavar="REGEX", setting=True)] = None
    r"""columns with the scores of one item each, as forms have: \[(?P<item>[^]]+)\] (?P<metric>.+)"""


@dataclass(frozen=True, kw_only=True)
class ScoreOptions(Options):
    """Say what the scores of a source mean."""

    heading: ClassVar[str] = "what its scores mean"

    scale: Annotated[tuple[str, ...], Flag(metavar="METRIC=SCALE")] = ()
    """e.g. tone=0,1,2:best=2, stars=1..5:best=5 (classes), warmth=1..5:kind=interval"""
    rename: Annotated[tuple[str, ...], Flag(metavar="OLD=NEW", setting=True)] = ()
    """another name for a metric"""
    category: Annotated[tuple[str, ...], Flag(metavar="METRIC:CATEGORY=SCORE", setting=True)] = ()
    """the score for a category"""
    flip: Annotated[tuple[str, ...], Flag(metavar="METRIC", setting=True)] = ()
    """reverse the scores of a metric on its scale"""
    drop: Annotated[tuple[str, ...], Flag(metavar="METRIC")] = ()
    """leave a metric out, e.g. a question for comments"""
    no_answer: Annotated[Names | None, Flag(metavar="TEXTS", setting=True)] = None
    """what cells hold that mean no answer, such as n/a,-,99: they count as empty"""
    source: Annotated[Literal["native", "people", "constructed", "model"] | None, Flag()] = None
    """who made the labels (default: people; native, if they are native speakers, as who answers a labelling page is)"""


@dataclass(frozen=True, kw_only=True)
class MappingOptions(DataNames, ScoreOptions, ColumnOptions):
    """Say what a source of labels means: a mapping file, and what takes precedence over it."""

    heading: ClassVar[str] = DataNames.heading

    annotators: Annotated[Literal["persistent", "positional", "anonymous", "aggregate"] | None, Flag(setting=True)] = None
    """what an annotator's id means"""
    sampling: Annotated[Literal["random", "convenience", "unknown"] | None, Flag()] = None
    """how the texts were chosen (default: unknown)"""


Role = Literal[
    "human", "judge", "text", "language", "id", "group", "system", "metric", "annotator", "score", "probability", "reason", "unused"
]


@dataclass(frozen=True, kw_only=True)
class TableOptions(Options):
    """State the roles of a table's columns, where their names and cells do not show them."""

    heading: ClassVar[str] = "columns of a table (docs/one-table.md)"

    judge: tuple[str, ...] = ()
    """columns with a judge's scores; the judges that are compared, if they are named, are columns of the table"""
    human: Annotated[Names, Flag(metavar="COLUMNS")] = ()
    """columns with people's scores, or names of people in a column of raters; a judge's are named with --judge"""
    text: Annotated[Names, Flag(metavar="COLUMNS")] = ()
    """columns with texts"""
    language: Annotated[str | None, Flag(metavar="COLUMN_OR_TAG")] = None
    """the column that names each text's language, or the language of all"""
    id: Annotated[str | None, Flag(metavar="COLUMN")] = None
    """the column of ids; two tables are joined by it"""
    group: Annotated[str | None, Flag(metavar="COLUMN")] = None
    """what texts share, such as a document: texts of one group are not independent"""
    metric: Annotated[str | None, Flag(metavar="COLUMN_OR_NAME")] = None
    """the column that names what was scored, or the name of it"""
    system: Annotated[str | None, Flag(metavar="COLUMN")] = None
    """the column that names whose text it is"""
    scale: Annotated[tuple[str, ...], Flag(metavar="[METRIC=]SCALE")] = ()
    """the scale, such as 1..5:best=5 or fail,pass:best=pass; repeatable"""
    recode: Annotated[tuple[str, ...], Flag(metavar="COLUMN:FROM=TO")] = ()
    """what a column's scores are on the other side's scale: judge:0..1=1..5 or judge:4..5=pass,1..3=fail; repeatable"""
    drop: Annotated[Names, Flag(metavar="COLUMNS")] = ()
    """columns that do not matter"""
    sampling: Annotated[Literal["random", "convenience", "unknown"] | None, Flag()] = None
    """how the texts were chosen; corrected means need random ones (default: unknown)"""
    source: Annotated[Literal["native", "people", "constructed"], Flag(setting=True)] = "people"
    """who labelled the texts; people are called native speakers only where this says so"""

    def __post_init__(self) -> None:
        super().__post_init__()
        for name in ("judge", "human", "text", "scale", "recode", "drop"):
            object.__setattr__(self, name, as_names(getattr(self, name)))

    @property
    def columns(self) -> dict[str, Role]:
        """The columns that are named outright, with their roles."""
        single: dict[Role, str | None] = {"id": self.id, "group": self.group, "system": self.system}
        several: dict[Role, tuple[str, ...]] = {"human": self.human, "judge": self.judge, "text": self.text, "unused": self.drop}
        roles: dict[str, Role] = {name: role for role, name in single.items() if name}
        return roles | {name: role for role, names in several.items() for name in names}
