"""Commands for published studies and large jobs."""

from __future__ import annotations

from dataclasses import field
from pathlib import Path
from typing import Annotated

from harness.cli.command import Command, command
from harness.cli.commands.shared import (
    BodyFlags,
    BudgetFlags,
    CardFlags,
    ContentFlags,
    EngineFlags,
    HeaderFlags,
    JsonFlags,
    OutFlags,
    PricesFlags,
    RecordedHeaderFlags,
    ShowTextsFlags,
    SpeedFlags,
)
from harness.options import Count, Endpoints, Flag, Names, Reask, Seed, Temperature, TopP


@command("batch:status")
class BatchStatus(JsonFlags, OutFlags, RecordedHeaderFlags):
    """Flags of `harness batch status`.

    harness batch status
    harness batch status --out results --json
    """

    base_url: Annotated[Endpoints | None, Flag(metavar="[JUDGE=]URL")] = None
    """the endpoint that was asked (default: from the environment); repeatable for several judges"""


@command("batch:collect")
class BatchCollect(JsonFlags, OutFlags, RecordedHeaderFlags, PricesFlags):
    """Flags of `harness batch collect`.

    harness batch collect
    harness batch collect first --json
    """

    run: Annotated[str | None, Flag("RUN")] = field(default=None, kw_only=False)
    """a run's name, the beginning of one, or its folder (default: the latest run with batches)"""
    base_url: Annotated[Endpoints | None, Flag(metavar="[JUDGE=]URL")] = None
    """the endpoint that was asked (default: from the environment); repeatable for several judges"""


@command("batch:forget")
class BatchForget(OutFlags):
    """Flags of `harness batch forget`.

    harness batch forget batch_1
    harness batch forget batch_1 --out results
    """

    batch: Annotated[str, Flag("BATCH")] = field(kw_only=False)
    """the id that 'harness batch status' shows"""


class GenerateAsking(Command, group="how to ask"):
    """Flags of `harness generate`."""

    temperature: Annotated[Temperature, Flag(metavar="T")] = 0.0
    """sampling temperature"""
    top_p: Annotated[TopP | None, Flag(metavar="P")] = None
    """nucleus sampling (default: the endpoint's default)"""
    own_language: bool = False
    """ask in the language of the items instead of English"""
    allow_unreviewed: bool = False
    """allow instructions that no native reader has reviewed"""
    seed: Annotated[Seed, Flag(metavar="N")] = 0
    """seed of the calls"""
    reask: Annotated[Reask, Flag(metavar="KINDS")] = ()
    """ask calls again whose reply was: refused (by the model), missing, truncated"""


@command("generate:generate_texts", first="task by langs data limit base_url own_language temperature out dry_run yes")
class Generate(JsonFlags, ShowTextsFlags, BudgetFlags, SpeedFlags, EngineFlags, BodyFlags, HeaderFlags, ContentFlags, GenerateAsking):
    """Flags of `harness generate`.

    harness generate --task summarize --by openai/gpt-4o --out made --dry-run
    harness generate --task summarize --by openai/gpt-4o --by openai/gpt-4o-mini --langs ja --out made
    """

    task: Annotated[str, Flag(metavar="NAME")]
    """what is written: summarize, open_prompt, continue_writing, rate_story, ..."""
    by: Annotated[tuple[str, ...], Flag(metavar="JUDGE")]
    """who writes: any judge that is a model; repeatable"""
    langs: Annotated[Names | None, Flag("--langs --lang", metavar="TAGS")] = None
    """languages, separated by commas: ja,cs (default: all that have inputs)"""
    data: Annotated[Path | None, Flag(metavar="DIR")] = None
    """take the inputs of a data folder instead of the control items'"""
    limit: Annotated[Count | None, Flag(metavar="N")] = None
    """only the first N inputs of each language"""
    base_url: Annotated[Endpoints | None, Flag(metavar="[JUDGE=]URL")] = None
    """the OpenAI-compatible endpoint of all openai/ writers, or of one; repeatable"""
    out: Annotated[Path, Flag(metavar="DIR")]
    """the data folder to write; replies are kept there, and outputs are added to it"""
    dry_run: bool = False
    """show a request for each language, calls, tokens and cost; ask nobody"""
    yes: bool = False
    """send the texts of --data to the endpoint without asking for consent"""


@command("pairs:pairs")
class Pairs(ContentFlags, CardFlags):
    """Flags of `harness pairs`.

    harness pairs made --out pairs
    harness pairs made --out pairs --against human --control longer
    """

    data: Annotated[Path, Flag("DIR")] = field(kw_only=False)
    """a data folder whose items have one output each, and a 'system'"""
    against: Annotated[str, Flag(metavar="SYSTEM|human|all")] = "all"
    """each pair holds an output of this system"""
    equal: Annotated[str | None, Flag(metavar="METRIC:TOL")] = None
    """only pairs that people scored alike: their mean scores differ by TOL at most (Fluency:0.5)"""
    control: Annotated[Names, Flag(metavar="METRICS")] = ()
    """control questions whose answers are computed and become labels: longer, more_vowels, more_readable"""
    out: Annotated[Path, Flag(metavar="DIR")]
    """the data folder to write; it must not exist"""


@command("store:check")
class StoreCheck(JsonFlags, OutFlags):
    """Flags of `harness store check`.

    harness store check
    harness store check --out results --json
    """


@command("store:export")
class StoreExport(OutFlags):
    """Flags of `harness store export`.

    harness store export --to made.jsonl
    harness store export --out results --to made.jsonl
    """

    to: Annotated[Path, Flag(metavar="FILE")]
    """the file to write (.jsonl)"""
    judge: Annotated[str | None, Flag(metavar="NAME")] = None
    """only this judge's replies"""


@command("store:gc")
class StoreGc(JsonFlags, OutFlags):
    """Flags of `harness store gc`.

    harness store gc
    harness store gc --out results
    """

    dry_run: bool = False
    """show what would be removed, and remove nothing"""


@command("store:merge")
class StoreMerge(JsonFlags):
    """Flags of `harness store merge`.

    harness store merge here there --out both
    harness store merge here there --out both --verbose
    """

    sources: Annotated[tuple[Path, ...], Flag("DIR")] = field(kw_only=False)
    """a results folder to read"""
    out: Annotated[Path, Flag(metavar="DIR")]
    """the results folder to merge into; created if it does not exist"""
