"""Commands for judges and scores of other programs."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field
from pathlib import Path
from typing import Annotated, Any

from harness.cli.command import Command, command
from harness.cli.commands.shared import AllowRefusedFlags, CardFlags, ContentFlags, FolderFlags, JsonFlags, OutFlags
from harness.exchange.scores.formats import SCORE_KINDS
from harness.options import Flag, Names, OneOf, ReadsEach, Temperature, TopP, body_field, header


class ImportScoresReading(Command, group="how to read them"):
    """Flags of `harness import`."""

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


class ImportScoresColumns(Command, group="what was scored, and by whom (--map FILE.toml can hold all of this)"):
    """Flags of `harness import`."""

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


class ImportScoresScores(Command, group="what the scores mean; a scale is never guessed"):
    """Flags of `harness import`."""

    scale: Annotated[tuple[str, ...], Flag(metavar="METRIC=SCALE")] = ()
    """e.g. fluency=0,1,2:best=2 or fluency=0..1:best=1"""
    map: Annotated[tuple[str, ...], Flag(metavar="[METRIC:]PAIRS|FILE")] = ()
    """scores for words, such as C=1,P=0.5,I=0; or a mapping in TOML; flags take precedence"""
    rename: Annotated[tuple[str, ...], Flag(metavar="OLD=NEW")] = ()
    """another name for a metric"""
    drop: Annotated[tuple[str, ...], Flag(metavar="METRIC")] = ()
    """leave a metric out"""


@command("other_programs:import_", first="to append kind preset item_from language metric judge text scale map json")
class ImportScores(JsonFlags, ContentFlags, AllowRefusedFlags, FolderFlags, ImportScoresScores, ImportScoresColumns, ImportScoresReading):
    """Flags of `harness import`.

    harness import results.json --to data/judged
    harness import log.eval --to data/judged --judge openai/gpt-4o --language ja
    """

    files: Annotated[tuple[Path, ...], Flag("FILE")] = field(kw_only=False)
    """files of one kind, such as a batch's output and input"""
    to: Annotated[Path, Flag(metavar="DIR")]
    """the data folder to write or to add to"""
    append: bool = False
    """add to a folder that already has judgments"""


class ExportPromptfooJudgeQuestion(Command, group="what is asked"):
    """Flags of `harness export promptfoo-judge`."""

    metrics: Annotated[Names | None, Flag("--metric", metavar="NAMES")] = None
    """metrics with a rubric, an assertion for each"""
    task: Annotated[str | None, Flag(metavar="NAME")] = None
    """the task that the texts belong to; needed if several tasks have the metric"""
    prompt: Annotated[Path | None, Flag(metavar="FILE")] = None
    """a prompt of your own (TOML) instead of metric and task"""
    variant: Annotated[str, Flag(metavar="NAME")] = "single"
    """single, detailed, score-only, ..."""
    temperature: Annotated[Temperature, Flag(metavar="T")] = 0.0
    """sampling temperature"""
    allow_unreviewed: bool = False
    """allow instructions that no native reader has reviewed"""
    language: Annotated[str, Flag(metavar="TAG|FIELD")] = "vars.language"
    """of the outputs, or where it stands"""
    base_url: Annotated[str | None, Flag(metavar="URL")] = None
    """the endpoint of an openai/ judge (default: from the environment)"""
    headers: Annotated[Mapping[str, str], ReadsEach(header, dict), Flag("--header", "NAME=$VARIABLE")] = field(default_factory=dict)
    """a further header of each request, for a gateway, with the environment variable that holds its value, which is not written; quote it
    for the shell; repeatable"""
    body: Annotated[Mapping[str, Any], ReadsEach(body_field, dict), Flag(metavar="NAME=VALUE")] = field(default_factory=dict)
    """a further field of each request, such as reasoning_effort=low; repeatable"""


@command("other_programs:promptfoo_judge", first="judge to metrics task prompt variant temperature base_url")
class ExportPromptfooJudge(ContentFlags, ExportPromptfooJudgeQuestion):
    """Flags of `harness export promptfoo-judge`.

    harness export promptfoo-judge --judge openai/gpt-4o --to evals
    harness export promptfoo-judge --judge openai/gpt-4o --to evals --metric fluency --task translate
    """

    judge: Annotated[str, Flag(metavar="NAME")]
    """the judge that is asked: openai/<model> or any other that is a model"""
    to: Annotated[Path, Flag(metavar="DIR")]
    """the folder of promptfooconfig.yaml"""


@command("other_programs:inspect_scores")
class ExportInspectScores(OutFlags, CardFlags):
    """Flags of `harness export inspect-scores`.

    harness export inspect-scores pariksha --to scores.jsonl
    harness export inspect-scores first --judge openai/gpt-4o --metric fluency --to scores.jsonl
    """

    source: Annotated[str, Flag("RUN_OR_DIR")] = field(kw_only=False)
    """a data folder with judgments, a run's folder, or the name of a run in --out"""
    to: Annotated[Path, Flag(metavar="FILE.jsonl")]
    """the file to write; item ids are Inspect's sample ids"""
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


@command("other_programs:hub")
class ExportHub(OutFlags, CardFlags):
    """Flags of `harness export hub`.

    harness export hub data/ratings --to upload
    harness export hub data/ratings --to upload --license cc-by-4.0
    """

    source: Annotated[str, Flag("RUN_OR_DIR")] = field(kw_only=False)
    """a data folder, a run's folder, or the name of a run in --out"""
    to: Annotated[Path, Flag(metavar="DIR")]
    """the folder to write; it must not exist"""
    license: Annotated[str | None, Flag(metavar="NAME")] = None
    """the licence of the data set as the hub names it, e.g. cc-by-4.0"""
