"""Options of the import of scores (how files are read, what they mean, where they are written), and the choice of scores to export."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, ClassVar

from harness.exchange.labels.table_options import DataNames, PseudonymOptions
from harness.exchange.scores.formats import SCORE_KINDS
from harness.options import Flag, Names, OneOf, Options, Temperature, TopP


@dataclass(frozen=True, kw_only=True)
class ScoreFileOptions(Options):
    """Say how files of scores are read."""

    heading: ClassVar[str] = "how to read them"

    kind: Annotated[Annotated[str, OneOf(SCORE_KINDS)] | None, Flag("--from")] = None
    """the kind of file, if it cannot be detected"""
    preset: Annotated[str | None, Flag(metavar="NAME", setting=True)] = None
    """field names of score records: mlflow, deepeval, langfuse, langsmith, phoenix, openai-evals, fastchat, table, ..."""
    wide_metrics: Annotated[Names | None, Flag(metavar="COLUMNS")] = None
    """columns of a table with the scores on one metric each"""
    filter: Annotated[str | None, Flag(metavar="NAME", setting=True)] = None
    """lm-eval: the filter whose samples are read"""
    label_from: Annotated[str | None, Flag(metavar="FIELD", setting=True)] = None
    """lm-eval: the field of a document that holds people's label, e.g. doc.label"""
    take_values: Annotated[bool, Flag(setting=True)] = False
    """take the program's own scores, also where the file keeps the judge's raw reply"""
    allow_refused: Annotated[bool, Flag()] = False
    """import the other rows where some are refused (default: then nothing is written); refused.jsonl holds the refused rows"""


@dataclass(frozen=True, kw_only=True)
class ScoredOptions(Options):
    """Say what was scored, and by whom."""

    heading: ClassVar[str] = "what was scored, and by whom (--map FILE.toml can hold all of this)"

    item_from: Annotated[str | None, Flag(metavar="FIELDS")] = None
    """the field that holds the item's id, e.g. vars.item_id; or several that make it, e.g. question_id,model,turn"""
    id_pattern: Annotated[str | None, Flag(metavar="REGEX", setting=True)] = None
    """parts of the id: (?P<item>.+):(?P<metric>.+); also language, judge and repeat"""
    language_from: Annotated[str | None, Flag(metavar="FIELD", setting=True)] = None
    """the field that holds the language, e.g. metadata.language"""
    language: Annotated[str | None, Flag(metavar="TAG")] = None
    """the language of all items"""
    task: Annotated[str | None, Flag(metavar="NAME")] = None
    """the task of all items (default: imported)"""
    metric: Annotated[str | None, Flag(metavar="NAME")] = None
    """the metric of scores that name none"""
    judge: Annotated[str | None, Flag(metavar="NAME")] = None
    """the judge's name, if the file has none or another one is wanted"""
    text: Annotated[tuple[str, ...], Flag(metavar="NAME=FIELD")] = ()
    """a field that becomes a text of the items"""
    group: Annotated[str | None, Flag(metavar="FIELD")] = None
    """the field that names what items share"""
    system: Annotated[str | None, Flag(metavar="FIELD")] = None
    """the field that names the system that wrote the texts"""
    items: Annotated[str | None, Flag(metavar="FILE|DIR|bundled")] = None
    """where the items are (default: in the files, or in --to)"""


@dataclass(frozen=True, kw_only=True)
class ScoreValueOptions(Options):
    """Say what the scores mean."""

    heading: ClassVar[str] = "what the scores mean; a scale is never guessed"

    scale: Annotated[tuple[str, ...], Flag(metavar="METRIC=SCALE")] = ()
    """e.g. fluency=0,1,2:best=2 or fluency=0..1:best=1"""
    map: Annotated[tuple[str, ...], Flag(metavar="[METRIC:]PAIRS|FILE")] = ()
    """scores for words, such as C=1,P=0.5,I=0; or a mapping in TOML; flags take precedence"""
    rename: Annotated[tuple[str, ...], Flag(metavar="OLD=NEW")] = ()
    """another name for a metric"""
    drop: Annotated[tuple[str, ...], Flag(metavar="METRIC")] = ()
    """leave a metric out"""


@dataclass(frozen=True, kw_only=True)
class ScoreImportOptions(PseudonymOptions, DataNames, ScoreValueOptions, ScoredOptions, ScoreFileOptions):
    """Say how files of scores are read, what they mean, and what they add to a folder."""

    heading: ClassVar[str] = "flags"

    append: Annotated[bool, Flag()] = False
    """add to a folder that already has judgments"""


@dataclass(frozen=True, kw_only=True)
class ScoreChoice(Options):
    """Choose the judgments that are exported; None where there is only one to choose."""

    heading: ClassVar[str] = "flags"

    judge: Annotated[str | None, Flag(metavar="NAME")] = None
    """the judge, if there are several"""
    metric: Annotated[str | None, Flag(metavar="NAME")] = None
    """the metric, if there are several"""
    variant: Annotated[str | None, Flag(metavar="NAME")] = None
    """the variant, if there are several"""
    temperature: Annotated[Temperature | None, Flag(metavar="T")] = None
    """the temperature, if there are several"""
    top_p: Annotated[TopP | None, Flag(metavar="P")] = None
    """the top-p, if there are several"""
