"""Commands that use a judge's scores."""

from __future__ import annotations

from dataclasses import field
from pathlib import Path
from typing import Annotated, Literal

from harness.asking_options import Addresses, Prices, Settings
from harness.cli.command import Command, command
from harness.cli.commands.shared import (
    AskedAgainFlags,
    ContentFlags,
    DayFlags,
    FiguresFlags,
    JsonFlags,
    JudgedFlags,
    OutFlags,
)
from harness.correction.correction_options import AcceptOptions, CalibrateOptions, CertifyOptions, CorrectOptions, ProbabilityOptions
from harness.decide.options import DecisionOptions
from harness.exchange.labels.table_options import TableOptions
from harness.gate.policy import GateOptions
from harness.improvement.improvement_options import ExplainOptions, ImproveOptions
from harness.options import Count, Flag, Names, PricedJudges
from harness.watch.watch_options import WatchOptions


class ImproveCandidates(Command, group="candidates that are asked (of a data folder without recorded answers of --judge)"):
    """Flags of `harness improve`."""

    variant: Annotated[
        tuple[str, ...] | None,
        Flag(metavar="NAME"),
    ] = None
    """a setting beside the plain one (default: about eight); repeatable"""
    prompt: Annotated[
        tuple[Path, ...] | None,
        Flag(metavar="FILE"),
    ] = None
    """a prompt of your own (TOML); repeatable"""
    rubric: Annotated[
        tuple[Path, ...] | None,
        Flag(metavar="FILE"),
    ] = None
    """a wording of your own of a metric's rubric (TOML); repeatable"""
    candidates: Annotated[Path | None, Flag(metavar="FILE")] = None
    """the candidates as a file (TOML); see docs/improve.md"""
    limit: Annotated[Count | None, Flag(metavar="N")] = None
    """only the first N texts of each language and task"""
    allow_unreviewed: bool = False
    """allow instructions that no native reader has reviewed"""
    yes: bool = False
    """send the texts without asking for consent"""


class ImproveNow(Command, group="how to choose and confirm"):
    """Flags of `harness improve`."""

    labels: Annotated[tuple[Path, ...] | None, Flag(metavar="FILE")] = None
    """a round of labels of the same texts; given twice or more, show which candidate wins under each, and confirm nothing"""
    dry_run: bool = False
    """only say how many texts there are, what they can show, and what asking costs"""
    to: Annotated[Path | None, Flag(metavar="FILE.toml")] = None
    """write the choice as a file for 'harness run --spec'"""


@command("use_scores:improve", first="judges base_url variant prompt start limit dry_run yes to")
class Improve(
    JsonFlags,
    ContentFlags,
    JudgedFlags,
    ImproveNow,
    ImproveCandidates,
):
    """Flags of `harness improve`.

    harness improve data/ratings --judge openai/gpt-4o --dry-run
    harness improve pariksha --langs hi --to chosen.toml
    """

    options: ImproveOptions = field(default_factory=ImproveOptions)
    asking: Settings = field(default_factory=Settings)
    addresses: Addresses = field(default_factory=Addresses)
    decision: DecisionOptions = field(default_factory=DecisionOptions)


@command("use_scores:explain", first="judges languages by all json")
class Explain(JsonFlags, JudgedFlags):
    """Flags of `harness explain`.

    harness explain pariksha
    harness explain pariksha --langs hi,ta --by length,system --all
    """

    options: ExplainOptions = field(default_factory=ExplainOptions)
    all: bool = False
    """a row for each effect that is not shown too"""


@command("use_scores:correct", first="judges languages by shares share_of versus prevalence_shift borrow figure json")
class Correct(JsonFlags, JudgedFlags):
    """Flags of `harness correct`.

    harness correct pariksha
    harness correct pariksha --by system --versus system=gpt-4 --figure means.svg
    """

    options: CorrectOptions = field(default_factory=CorrectOptions)
    figure: Annotated[Path | None, Flag(metavar="FILE", group="output")] = None
    """draw three intervals a system: .svg, .pdf or .png (extra 'figures')"""


class AcceptCascade(Command, group="several judges, a person last"):
    """Flags of `harness accept`."""

    cascade: bool = False
    """ask the judges of --judge one after the other, each about what those before it left, with one guarantee"""
    price: Annotated[PricedJudges, Flag(metavar="NAME=N")] = ()
    """with --cascade, US dollars for a judge's answers to 1,000 texts; repeatable (default: as charged, else list prices)"""
    order: Literal["price", "named"] | None = None
    """with --cascade: price, the cheapest first, if all prices are known (default); named, as --judge names them"""
    units: Annotated[Literal["design_effect", "one_per_group"] | None, Flag(setting=True)] = None
    """with --cascade, texts that share groups: design_effect, approximate (default); one_per_group, exact, accepts fewer"""
    to: Annotated[Path | None, Flag(metavar="FILE")] = None
    """with --cascade, write the certificate of the chain to this file (JSON), which 'harness run --cascade FILE' follows"""


@command("use_scores:accept", first="judges languages alpha_risk delta confidence cascade order to json")
class Accept(JsonFlags, JudgedFlags, AcceptCascade):
    """Flags of `harness accept`.

    harness accept pariksha --alpha-risk 0.1
    harness accept data/judged --cascade --judge gpt-4o-mini --judge gpt-4o --to cascade.json
    """

    options: AcceptOptions = field(default_factory=AcceptOptions)
    pricing: Prices = field(default_factory=Prices)


@command("use_scores:calibrate", first="judges languages covariate level per numbers json")
class Calibrate(JsonFlags, JudgedFlags):
    """Flags of `harness calibrate`.

    harness calibrate pariksha
    harness calibrate pariksha --langs hi --level 0.8 --json
    """

    options: CalibrateOptions = field(default_factory=CalibrateOptions)
    all: bool = False
    """also the parts of the loss, the sets, the gap between languages, and what the headings mean"""


class ProbabilitiesOutput(Command, group="output", recorded=False):
    """Flags of `harness probabilities`."""

    figure: Annotated[Path | None, Flag(metavar="FILE")] = None
    """draw confidence against how often it is right, a panel a language: .svg, .pdf or .png (needs the extra 'figures')"""
    to: Annotated[Path | None, Flag(metavar="DIR")] = None
    """keep the table as a data folder"""


@command("use_scores:probabilities", first="judges languages margin alpha figure human text json")
class ShowProbabilities(JsonFlags, FiguresFlags, OutFlags, ProbabilitiesOutput):
    """Flags of `harness probabilities`.

    harness probabilities data/ratings
    harness probabilities data/ratings --langs ja,cs --margin 0.03 --figure reliability.png
    """

    sources: Annotated[tuple[str, ...], Flag("SOURCE")] = field(kw_only=False)
    """a data folder with judgments, a run's folder, or the name of a run in --out; or a table, or two that an id joins"""
    options: ProbabilityOptions = field(default_factory=ProbabilityOptions)
    all: bool = False
    """also a sentence for each language and metric, people beside the judge, refits, cuts, and what the headings mean"""
    table: TableOptions = field(default_factory=TableOptions)


class CertifyTask(Command, group="what to do"):
    """Flags of `harness certify`."""

    to: Annotated[Path | None, Flag(metavar="FILE")] = None
    """write the certificate of one judge to this file (JSON)"""
    check: Annotated[Path | None, Flag(metavar="FILE")] = None
    """make a certificate again and list what is stale (exit code 1; 7 if not all of it could be made again)"""
    probe: Annotated[tuple[Path, ...] | None, Flag(metavar="RUN_OR_DIR")] = None
    """with --check: a probe that the certificate was extended by, to make the extension again; repeatable"""
    extend: Annotated[Path | None, Flag(metavar="FILE")] = None
    """test whether this certificate holds for the labelled texts of RUN_OR_DIR too (exit code 1: no; 7: unknown)"""
    by: Annotated[Names | None, Flag(metavar="KEYS")] = None
    """with --extend: keys of the items, such as system; each value is tested by itself"""
    from_language: Annotated[str | None, Flag("--from", metavar="TAG")] = None
    """with --extend: the certified language whose numbers are to serve"""


@command("use_scores:certify", first="judges languages to check probe extend alpha_risk level json")
class Certify(JsonFlags, OutFlags, CertifyTask):
    """Flags of `harness certify`.

    harness certify pariksha --judge gpt-4o --to certificate.json
    harness certify results/today --check certificate.json
    """

    source: Annotated[str | None, Flag("RUN_OR_DIR")] = field(default=None, kw_only=False)
    """a data folder with judgments, a run's folder, or the name of a run in --out"""
    options: CertifyOptions = field(default_factory=CertifyOptions)
    pricing: Prices = field(default_factory=Prices)


@command("use_scores:prompt_hash")
class PromptHash(JsonFlags, OutFlags):
    """Flags of `harness prompt-hash`.

    harness prompt-hash first
    harness prompt-hash first --out results --json
    """

    source: Annotated[str, Flag("RUN")] = field(kw_only=False)
    """a run's folder, or the name of a run in --out"""


class GateFiles(Command, group="files to write"):
    """Flags of `harness gate`."""

    junit: Annotated[Path | None, Flag(metavar="FILE")] = None
    """JUnit XML: a test suite a language, a test case a limit"""
    json: Annotated[Path | None, Flag(metavar="FILE")] = None
    """JSON for programs, unrounded"""
    summary: Annotated[Path | None, Flag(metavar="FILE.md")] = None
    """a Markdown table, such as for a pull request"""


@command("gate_and_watch:gate")
class Gate(OutFlags, GateFiles):
    """Flags of `harness gate`.

    harness gate first
    harness gate first --policy gate.toml --baseline last --junit gate.xml
    """

    source: Annotated[str, Flag("RUN_OR_DIR")] = field(kw_only=False)
    """a data folder with judgments, a run's folder, or the name of a run in --out"""
    policy: Annotated[Path | None, Flag(metavar="FILE")] = None
    """the limits (default: gate.toml, as 'harness new gate RUN' writes it)"""
    options: GateOptions = field(default_factory=GateOptions)
    all: bool = False
    """show the limits that hold too"""
    notes: bool = False
    """print what the data say about themselves too, and the signature whole, not as a short hash"""


@command("gate_and_watch:init", first="certificate restart anchors repeats per_day alpha tolerance max_age yes base_url date")
class WatchInit(AskedAgainFlags, DayFlags):
    """Flags of `harness watch init`.

    harness watch init watch first --certificate certificate.json --yes
    harness watch init watch first --certificate certificate.json --anchors 100 --per-day 20
    """

    source: Annotated[str, Flag("RUN_OR_DIR")] = field(kw_only=False)
    """the run or data folder that the certificate was made from"""
    certificate: Annotated[Path, Flag(metavar="FILE")]
    """from 'harness certify'"""
    restart: bool = False
    """start the watch in DIR again with a new certificate; its log goes on, and settings hold that no flag changes"""
    options: WatchOptions = field(default_factory=WatchOptions)


@command("gate_and_watch:add", first="date answers base_url yes max_cost out")
class WatchAdd(AskedAgainFlags, DayFlags):
    """Flags of `harness watch add`.

    harness watch add watch today --date 2026-05-31
    harness watch add watch today --answers anchors --date 2026-05-31
    """

    source: Annotated[str | None, Flag("RUN_OR_DIR")] = field(default=None, kw_only=False)
    """the day's production scores: a run or a data folder with judgments"""
    answers: Annotated[str | None, Flag(metavar="RUN_OR_DIR")] = None
    """recorded answers on the day's anchors ('harness watch draw'); the judge is not asked"""


@command("gate_and_watch:check")
class CheckWatch(JsonFlags, DayFlags):
    """Flags of `harness watch check`.

    harness watch check watch
    harness watch check watch --junit watch.xml --figure days.svg
    """

    junit: Annotated[Path | None, Flag(metavar="FILE")] = None
    """JUnit XML: a test suite a language, a test case a metric and stream"""
    figure: Annotated[Path | None, Flag(metavar="FILE")] = None
    """draw all days: .svg, .pdf or .png (extra 'figures')"""


@command("gate_and_watch:draw")
class WatchDraw(DayFlags):
    """Flags of `harness watch draw`.

    harness watch draw watch
    harness watch draw watch --date 2026-05-31
    """
