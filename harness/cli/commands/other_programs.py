"""Commands for judges and scores of other programs."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field
from pathlib import Path
from typing import Annotated, Any

from harness.cli.command import Command, command
from harness.cli.commands.shared import CardFlags, ContentFlags, JsonFlags, OutFlags
from harness.exchange.scores.score_options import ScoreChoice, ScoreImportOptions
from harness.options import Flag, Names, ReadsEach, Temperature, body_field, header


@command("other_programs:import_", first="to append kind preset item_from language metric judge text scale map json")
class ImportScores(JsonFlags, ContentFlags):
    """Flags of `harness import`.

    harness import results.json --to data/judged
    harness import log.eval --to data/judged --judge openai/gpt-4o --language ja
    """

    files: Annotated[tuple[Path, ...], Flag("FILE")] = field(kw_only=False)
    """files of one kind, such as a batch's output and input"""
    to: Annotated[Path, Flag(metavar="DIR")]
    """the data folder to write or to add to"""
    options: ScoreImportOptions = field(default_factory=ScoreImportOptions)


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

    harness export promptfoo-judge --judge openai/gpt-4o --metric translation_quality --to evals
    harness export promptfoo-judge --judge openai/gpt-4o --metric task_quality --task open_prompt --to evals
    """

    judge: Annotated[str, Flag(metavar="NAME")]
    """the judge that is asked: openai/<model> or any other that is a model"""
    to: Annotated[Path, Flag(metavar="DIR")]
    """the folder of promptfooconfig.yaml"""


@command("other_programs:inspect_scores")
class ExportInspectScores(OutFlags, CardFlags):
    """Flags of `harness export inspect-scores`.

    harness export inspect-scores pariksha --to scores.jsonl
    harness export inspect-scores first --judge openai/gpt-4o --metric task_quality --to scores.jsonl
    """

    source: Annotated[str, Flag("RUN_OR_DIR")] = field(kw_only=False)
    """a data folder with judgments, a run's folder, or the name of a run in --out"""
    to: Annotated[Path, Flag(metavar="FILE.jsonl")]
    """the file to write; item ids are Inspect's sample ids"""
    choice: ScoreChoice = field(default_factory=ScoreChoice)


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
