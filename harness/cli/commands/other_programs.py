"""Commands for judges and scores of other programs. A command is a frozen dataclass; its fields are its flags."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated

from harness.cli.commands.shared import AllowRefused, Card, Content, Json, Out, command, flag
from harness.cli.values import Names, Temperature, TopP
from harness.exchange.scores.formats import ScoreKind


@command("import_scores:import_")
@dataclass(frozen=True, kw_only=True)
class ImportScores(Json, Content, AllowRefused):
    """Flags of `harness import`."""

    files: Annotated[tuple[Path, ...], flag(name="FILE")] = field(kw_only=False)
    """files of one kind, such as a batch's output and input"""
    to: Annotated[Path, flag(metavar="DIR")]
    """the data folder to write or to add to"""
    append: bool = False
    """add to a folder that already has judgments"""
    kind: Annotated[ScoreKind | None, flag(name="--from", metavar="KIND", group="how to read them")] = None
    """the kind of file, if it cannot be detected: """
    preset: Annotated[str | None, flag(metavar="NAME", group="how to read them")] = None
    """field names of score records: mlflow, deepeval, langfuse, langsmith, phoenix, openai-evals, fastchat, table, ..."""
    wide_metrics: Annotated[Names | None, flag(metavar="COLUMNS", group="how to read them")] = None
    """columns of a table with the scores on one metric each"""
    filter: Annotated[str | None, flag(metavar="NAME", group="how to read them")] = None
    """lm-eval: the filter whose samples are read"""
    label_from: Annotated[str | None, flag(metavar="FIELD", group="how to read them")] = None
    """lm-eval: the field of a document that holds people's label, e.g. doc.label"""
    take_values: Annotated[bool, flag(group="how to read them")] = False
    """take the program's own scores, also where the file keeps the judge's raw reply"""
    item_from: Annotated[
        str | None, flag(metavar="FIELDS", group="what was scored, and by whom (--map FILE.toml can hold all of this)")
    ] = None
    """the field that holds the item's id, e.g. vars.item_id; or several that make it, e.g. question_id,model,turn"""
    id_pattern: Annotated[
        str | None, flag(metavar="REGEX", group="what was scored, and by whom (--map FILE.toml can hold all of this)")
    ] = None
    """parts of the id: (?P<item>.+):(?P<metric>.+); also language, judge and repeat"""
    language_from: Annotated[
        str | None, flag(metavar="FIELD", group="what was scored, and by whom (--map FILE.toml can hold all of this)")
    ] = None
    """the field that holds the language, e.g. metadata.language"""
    language: Annotated[str | None, flag(metavar="TAG", group="what was scored, and by whom (--map FILE.toml can hold all of this)")] = None
    """the language of all items"""
    task: Annotated[str | None, flag(metavar="NAME", group="what was scored, and by whom (--map FILE.toml can hold all of this)")] = None
    """the task of all items (default: imported)"""
    metric: Annotated[str | None, flag(metavar="NAME", group="what was scored, and by whom (--map FILE.toml can hold all of this)")] = None
    """the metric of scores that name none"""
    judge: Annotated[str | None, flag(metavar="NAME", group="what was scored, and by whom (--map FILE.toml can hold all of this)")] = None
    """the judge's name, if the file has none or another one is wanted"""
    text: Annotated[
        tuple[str, ...], flag(metavar="NAME=FIELD", group="what was scored, and by whom (--map FILE.toml can hold all of this)")
    ] = ()
    """a field that becomes a text of the items"""
    group: Annotated[str | None, flag(metavar="FIELD", group="what was scored, and by whom (--map FILE.toml can hold all of this)")] = None
    """the field that names what items share"""
    system: Annotated[str | None, flag(metavar="FIELD", group="what was scored, and by whom (--map FILE.toml can hold all of this)")] = None
    """the field that names the system that wrote the texts"""
    items: Annotated[
        str | None, flag(metavar="FILE|DIR|bundled", group="what was scored, and by whom (--map FILE.toml can hold all of this)")
    ] = None
    """where the items are (default: in the files, or in --to)"""
    scale: Annotated[tuple[str, ...], flag(metavar="METRIC=SCALE", group="what the scores mean; a scale is never guessed")] = ()
    """e.g. fluency=0,1,2:best=2 or fluency=0..1:best=1"""
    map: Annotated[tuple[str, ...], flag(metavar="[METRIC:]PAIRS|FILE", group="what the scores mean; a scale is never guessed")] = ()
    """scores for words, such as C=1,P=0.5,I=0; or a mapping in TOML; flags take precedence"""
    rename: Annotated[tuple[str, ...], flag(metavar="OLD=NEW", group="what the scores mean; a scale is never guessed")] = ()
    """another name for a metric"""
    drop: Annotated[tuple[str, ...], flag(metavar="METRIC", group="what the scores mean; a scale is never guessed")] = ()
    """leave a metric out"""
    keep_annotators: Annotated[bool, flag(group="people and folder")] = False
    """keep people's ids instead of pseudonyms"""
    salt_file: Annotated[Path | None, flag(metavar="FILE", group="people and folder")] = None
    """the salt of the pseudonyms (default: in the user's settings)"""
    id: Annotated[str | None, flag(metavar="NAME", group="people and folder")] = None
    """name of the data (default: the folder's name)"""
    title: Annotated[str | None, flag(metavar="TEXT", group="people and folder")] = None
    """title of the data"""


@command("export:promptfoo_judge")
@dataclass(frozen=True, kw_only=True)
class ExportPromptfooJudge(Content):
    """Flags of `harness export promptfoo-judge`."""

    judge: Annotated[str, flag(metavar="NAME")]
    """the judge that is asked: openai/<model> or any other that is a model"""
    to: Annotated[Path, flag(metavar="DIR")]
    """the folder of promptfooconfig.yaml"""
    metrics: Annotated[Names | None, flag(name="--metric", metavar="NAMES", group="what is asked")] = None
    """metrics with a rubric, an assertion for each"""
    task: Annotated[str | None, flag(metavar="NAME", group="what is asked")] = None
    """the task that the texts belong to; needed if several tasks have the metric"""
    prompt: Annotated[Path | None, flag(metavar="FILE", group="what is asked")] = None
    """a prompt of your own (TOML) instead of metric and task"""
    variant: Annotated[str, flag(metavar="NAME", group="what is asked")] = "single"
    """single, detailed, score-only, ..."""
    temperature: Annotated[Temperature, flag(metavar="T", group="what is asked")] = 0.0
    """sampling temperature"""
    allow_unreviewed: Annotated[bool, flag(group="what is asked")] = False
    """allow instructions that no native reader has reviewed"""
    language: Annotated[str, flag(metavar="TAG|FIELD", group="what is asked")] = "vars.language"
    """of the outputs, or where it stands"""
    base_url: Annotated[str | None, flag(metavar="URL", group="what is asked")] = None
    """the endpoint of an openai/ judge (default: from the environment)"""


@command("export:inspect_scores")
@dataclass(frozen=True, kw_only=True)
class ExportInspectScores(Out, Card):
    """Flags of `harness export inspect-scores`."""

    source: Annotated[str, flag(name="RUN_OR_DIR")] = field(kw_only=False)
    """a data folder with judgments, a run's folder, or the name of a run in --out"""
    to: Annotated[Path, flag(metavar="FILE.jsonl")]
    """the file to write; item ids are Inspect's sample ids"""
    judge: Annotated[str | None, flag(metavar="NAME")] = None
    """the judge, if there are several"""
    metric: Annotated[str | None, flag(metavar="NAME")] = None
    """the metric, if there are several"""
    variant: Annotated[str | None, flag(metavar="NAME")] = None
    """the variant, if there are several"""
    temperature: Annotated[Temperature | None, flag(metavar="T")] = None
    """the temperature, if there are several"""
    top_p: Annotated[TopP | None, flag(metavar="P")] = None
    """the top-p, if there are several"""


@command("export:hub")
@dataclass(frozen=True, kw_only=True)
class ExportHub(Out, Card):
    """Flags of `harness export hub`."""

    source: Annotated[str, flag(name="RUN_OR_DIR")] = field(kw_only=False)
    """a data folder, a run's folder, or the name of a run in --out"""
    to: Annotated[Path, flag(metavar="DIR")]
    """the folder to write; it must not exist"""
    license: Annotated[str | None, flag(metavar="NAME")] = None
    """the licence of the data set as the hub names it, e.g. cc-by-4.0"""
