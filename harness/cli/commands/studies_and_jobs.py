"""Commands for published studies and large jobs."""

from __future__ import annotations

from dataclasses import field
from pathlib import Path
from typing import Annotated

from harness.asking_options import Addresses, Prices, Settings
from harness.cli.command import command
from harness.cli.commands.shared import (
    CardFlags,
    ContentFlags,
    JsonFlags,
    OutFlags,
    ShowTextsFlags,
)
from harness.options import Flag, Names
from harness.runs import GenerateSpec


@command("jobs:status")
class BatchStatus(JsonFlags, OutFlags):
    """Flags of `harness batch status`.

    harness batch status
    harness batch status --out results --json
    """

    addresses: Addresses = field(default_factory=Addresses)


@command("jobs:collect_batch")
class BatchCollect(JsonFlags, OutFlags):
    """Flags of `harness batch collect`.

    harness batch collect
    harness batch collect first --json
    """

    run: Annotated[str | None, Flag("RUN")] = field(default=None, kw_only=False)
    """a run's name, the beginning of one, or its folder (default: the latest run with batches)"""
    addresses: Addresses = field(default_factory=Addresses)
    pricing: Prices = field(default_factory=Prices)


@command("jobs:forget")
class BatchForget(OutFlags):
    """Flags of `harness batch forget`.

    harness batch forget batch_1
    harness batch forget batch_1 --out results
    """

    batch: Annotated[str, Flag("BATCH")] = field(kw_only=False)
    """the id that 'harness batch status' shows"""


@command("jobs:generate_texts", first="task writers languages data limit base_url own_language temperature out dry_run yes")
class Generate(JsonFlags, ShowTextsFlags):
    """Flags of `harness generate`.

    harness generate --task summarize --by openai/gpt-4o --out made --dry-run
    harness generate --task summarize --by openai/gpt-4o --by openai/gpt-4o-mini --langs ja --out made
    """

    request: GenerateSpec
    asking: Settings = field(default_factory=Settings)
    out: Annotated[Path, Flag(metavar="DIR")]
    """the data folder to write; replies are kept there, and outputs are added to it"""
    dry_run: bool = False
    """show a request for each language, calls, tokens and cost; ask nobody"""
    yes: bool = False
    """send the texts of --data to the endpoint without asking for consent"""


@command("jobs:pairs")
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
    one_style: Annotated[bool, Flag()] = False
    """write all outputs in one style: single spaces, a capital first, a full stop last; the folder says how many that changed"""
    out: Annotated[Path, Flag(metavar="DIR")]
    """the data folder to write; it must not exist"""


@command("jobs:check")
class StoreCheck(JsonFlags, OutFlags):
    """Flags of `harness store check`.

    harness store check
    harness store check --out results --json
    """


@command("jobs:export")
class StoreExport(OutFlags):
    """Flags of `harness store export`.

    harness store export --to made.jsonl
    harness store export --out results --to made.jsonl
    """

    to: Annotated[Path, Flag(metavar="FILE")]
    """the file to write (.jsonl)"""
    judge: Annotated[str | None, Flag(metavar="NAME")] = None
    """only this judge's replies"""


@command("jobs:gc")
class StoreGc(JsonFlags, OutFlags):
    """Flags of `harness store gc`.

    harness store gc
    harness store gc --out results
    """

    dry_run: bool = False
    """show what would be removed, and remove nothing"""


@command("jobs:merge")
class StoreMerge(JsonFlags):
    """Flags of `harness store merge`.

    harness store merge here there --out both
    harness store merge here there --out both --verbose
    """

    sources: Annotated[tuple[Path, ...], Flag("DIR")] = field(kw_only=False)
    """a results folder to read"""
    out: Annotated[Path, Flag(metavar="DIR")]
    """the results folder to merge into; created if it does not exist"""
