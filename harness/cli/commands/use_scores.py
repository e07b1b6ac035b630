"""Commands that use a judge's scores."""

from __future__ import annotations

from dataclasses import field
from pathlib import Path
from typing import Annotated, Literal

from harness.cli.commands.find_out import CompareTable
from harness.cli.commands.shared import (
    AcceptanceFlags,
    AskedAgainFlags,
    BaseUrlFlags,
    CardFlags,
    ContentFlags,
    DayFlags,
    DecisionsFlags,
    EngineFlags,
    FiguresFlags,
    HeaderFlags,
    JsonFlags,
    JudgedFlags,
    LengthFlags,
    OutFlags,
    PricesFlags,
    RestrictionsFlags,
    SetsFlags,
    SpeedFlags,
)
from harness.cli.flags import Command, command, flag
from harness.options import Count, Names, NonNegativeShare, PricedJudges, Seed, Share


class ImproveCandidates(Command, group="candidates that are asked (of a data folder without recorded answers of --judge)"):
    """Flags of `harness improve`."""

    variant: Annotated[
        tuple[str, ...] | None,
        flag(metavar="NAME"),
    ] = None
    """a setting beside the plain one (default: about eight); repeatable"""
    prompt: Annotated[
        tuple[Path, ...] | None,
        flag(metavar="FILE"),
    ] = None
    """a prompt of your own (TOML); repeatable"""
    rubric: Annotated[
        tuple[Path, ...] | None,
        flag(metavar="FILE"),
    ] = None
    """a wording of your own of a metric's rubric (TOML); repeatable"""
    candidates: Annotated[Path | None, flag(metavar="FILE")] = None
    """the candidates as a file (TOML); see docs/improve.md"""
    limit: Annotated[Count | None, flag(metavar="N")] = None
    """only the first N texts of each language and task"""
    allow_unreviewed: bool = False
    """allow instructions that no native reader has reviewed"""
    yes: bool = False
    """send the texts without asking for consent"""


class ImproveChoice(Command, group="how to choose and confirm"):
    """Flags of `harness improve`."""

    start: Annotated[str | None, flag(metavar="NAME")] = None
    """the judge or setting to beat (default: the plainest of the first judge)"""
    share: Annotated[Share, flag(metavar="N")] = 0.6
    """share of independent texts that choose; others confirm"""
    keep_within: Annotated[Share, flag(metavar="N")] = 0.1
    """a language gets the choice only where it is shown not to lose more agreement than this"""
    labels: Annotated[tuple[Path, ...] | None, flag(metavar="FILE")] = None
    """a round of labels of the same texts (labels.jsonl or a data folder), given twice or more: show which candidate wins under each,
    and confirm nothing"""
    reuse: bool = False
    """confirm on labels that have confirmed before, at a stricter level"""
    dry_run: bool = False
    """only say how many texts there are, what they can show, and what asking costs"""
    majority: Literal["drop", "median", "strict"] = "drop"
    """how the labels of several annotators become one reference"""
    seed: Annotated[Seed, flag(metavar="N")] = 0
    """seed of the division"""
    to: Annotated[Path | None, flag(metavar="FILE.toml")] = None
    """write the choice as a file for 'harness run --spec'"""


@command("improve:improve", first="judge base_url variant prompt start limit dry_run yes to settings")
class Improve(
    JsonFlags,
    DecisionsFlags,
    SpeedFlags,
    EngineFlags,
    ContentFlags,
    HeaderFlags,
    BaseUrlFlags,
    JudgedFlags,
    ImproveChoice,
    ImproveCandidates,
):
    """Flags of `harness improve`.

    harness improve data/ratings --judge openai/gpt-4o --dry-run
    harness improve pariksha --langs hi --to chosen.toml
    """


@command("use:explain", first="judge langs by all json")
class Explain(JsonFlags, JudgedFlags):
    """Flags of `harness explain`.

    harness explain pariksha
    harness explain pariksha --langs hi,ta --by length,system --all
    """

    by: Annotated[Names | None, flag(metavar="KEYS")] = None
    """what errors may follow: length, language, system, script, or a key of the items with 40 values at most (default:
    length,language,system, as far as the data have them)"""
    all: bool = False
    """a row for each effect that is not shown too"""


class CorrectEstimates(Command, group="what to estimate"):
    """Flags of `harness correct`."""

    by: Annotated[Names | None, flag(metavar="KEYS")] = None
    """keys of the items to group by, beside language, metric, judge and condition (default: system)"""
    shares: bool = False
    """the shares of all classes instead of the mean"""
    share_of: Annotated[str | None, flag(name="--class", metavar="CLASS")] = None
    """the share of this class instead of the mean"""
    versus: Annotated[str | None, flag(metavar="KEY=NAME")] = None
    """add the difference of each system from one: system=NAME"""
    prevalence_shift: bool = False
    """the labels come from elsewhere, where classes are more or less common: correct by the judge's error rates (Rogan-Gladen) instead
    of by the mean error"""
    borrow: Literal["languages"] | None = None
    """add estimates that shrink towards the judge's error in the other languages: they hold on average over languages"""


@command("use:correct", first="judge langs by shares share_of versus prevalence_shift borrow figure json")
class Correct(JsonFlags, JudgedFlags, CorrectEstimates):
    """Flags of `harness correct`.

    harness correct pariksha
    harness correct pariksha --by system --versus system=gpt-4 --figure means.svg
    """

    figure: Annotated[Path | None, flag(metavar="FILE", group="output")] = None
    """draw three intervals a system: .svg, .pdf or .png (extra 'figures')"""


class AcceptCascade(Command, group="several judges, a person last"):
    """Flags of `harness accept`."""

    cascade: bool = False
    """ask the judges of --judge one after the other, the cheapest first, each about what those before it left; one guarantee for all
    accepted answers"""
    price: Annotated[PricedJudges, flag(metavar="NAME=N")] = ()
    """with --cascade, what this judge's answers to 1,000 texts cost in US dollars; repeatable (default: what the run was charged, else
    by list prices of models)"""
    order: Literal["price", "named"] | None = None
    """with --cascade: price, the cheapest first, if all prices are known (default); named, as --judge names them"""
    units: Literal["design_effect", "one_per_group"] | None = None
    """with --cascade, texts that share groups: design_effect, approximate (default); one_per_group, exact, accepts fewer"""
    to: Annotated[Path | None, flag(metavar="FILE")] = None
    """with --cascade, write the certificate of the chain to this file (JSON), which 'harness run --cascade FILE' follows"""


@command("use:accept", first="judge langs alpha_risk delta confidence cascade order to json")
class Accept(JsonFlags, PricesFlags, AcceptanceFlags, JudgedFlags, AcceptCascade):
    """Flags of `harness accept`.

    harness accept pariksha --alpha-risk 0.1
    harness accept pariksha --cascade --judge gpt-4o-mini --judge gpt-4o --to cascade.json
    """

    sampling: Annotated[Literal["random"] | None, flag(group="what to guarantee")] = None
    """take the labelled texts as a random sample though the dataset card does not say so; the promise holds only under this condition"""


@command("use:calibrate", first="judge langs covariate level per numbers json")
class Calibrate(JsonFlags, SetsFlags, LengthFlags, JudgedFlags, group="how to learn"):
    """Flags of `harness calibrate`.

    harness calibrate pariksha
    harness calibrate pariksha --langs hi --level 0.8 --json
    """

    numbers: Literal["linear", "isotonic"] = "linear"
    """the map of scores that are numbers"""
    seed: Annotated[Seed, flag(metavar="N")] = 0
    """of the folds and of the halves"""


class ProbabilitiesOutput(Command, group="output", recorded=False):
    """Flags of `harness probabilities`."""

    figure: Annotated[Path | None, flag(metavar="FILE")] = None
    """draw confidence against how often it is right, a panel a language: .svg, .pdf or .png (needs the extra 'figures')"""
    to: Annotated[Path | None, flag(metavar="DIR")] = None
    """keep the table as a data folder"""


@command("use:probabilities", first="judge langs margin alpha figure human text json")
class Probabilities(JsonFlags, FiguresFlags, OutFlags, CompareTable, RestrictionsFlags, ProbabilitiesOutput):
    """Flags of `harness probabilities`.

    harness probabilities data/ratings
    harness probabilities data/ratings --langs ja,cs --margin 0.03 --figure reliability.png
    """

    sources: Annotated[tuple[str, ...], flag(name="SOURCE")] = field(kw_only=False)
    """a data folder with judgments, a run's folder, or the name of a run in --out; or a table, or two that an id joins"""
    judge: Annotated[tuple[str, ...] | None, flag(metavar="NAME", group="what to compare")] = None
    """only this judge; of a table, a column with a judge's scores; repeatable"""
    margin: Annotated[Share, flag(metavar="N", group="when they are believed")] = 0.05
    """confidence may differ this much from the share that is right"""
    alpha: Annotated[Share, flag(metavar="N", group="when they are believed")] = 0.05
    """the chance that any verdict of one kind is false among the languages and metrics of a judge"""
    majority: Annotated[Literal["drop", "median", "strict"], flag(group="what to compare")] = "drop"
    """how the labels of several annotators become one reference"""
    seed: Annotated[Seed, flag(metavar="N", group="what to compare")] = 0
    """of the folds of a refit, and of intervals of shares"""


class CertifyTask(Command, group="what to do"):
    """Flags of `harness certify`."""

    to: Annotated[Path | None, flag(metavar="FILE")] = None
    """write the certificate of one judge to this file (JSON)"""
    check: Annotated[Path | None, flag(metavar="FILE")] = None
    """make a certificate again and say what of it is stale, and why; exit code 1 if anything is, or if it allows nothing, 7 if not all
    of it could be made again, as without RUN_OR_DIR, or of an extended one without --probe"""
    probe: Annotated[tuple[Path, ...] | None, flag(metavar="RUN_OR_DIR")] = None
    """with --check: a probe that the certificate was extended by, to make the extension again; repeatable"""
    prices: Annotated[Path | None, flag(metavar="FILE")] = None
    """with --check of a cascade: your own prices (TOML); they take precedence over list prices"""
    extend: Annotated[Path | None, flag(metavar="FILE")] = None
    """may this certificate serve the texts of RUN_OR_DIR too, of which people labelled a random probe? If shown, it gets a line that
    says so (in --to FILE, or in place); exit code 1 if it is shown that it may not, 7 if more labels are needed"""
    by: Annotated[Names | None, flag(metavar="KEYS")] = None
    """with --extend: keys of the items, such as system; each value is tested by itself"""
    from_language: Annotated[str | None, flag(name="--from", metavar="TAG")] = None
    """with --extend: the certified language whose numbers are to serve"""


@command("use:certify", first="judge langs to check probe extend alpha_risk level settings json")
class Certify(JsonFlags, DecisionsFlags, LengthFlags, SetsFlags, AcceptanceFlags, OutFlags, RestrictionsFlags, CertifyTask):
    """Flags of `harness certify`.

    harness certify pariksha --judge gpt-4o --to certificate.json
    harness certify results/today --check certificate.json
    """

    source: Annotated[str | None, flag(name="RUN_OR_DIR")] = field(default=None, kw_only=False)
    """a data folder with judgments, a run's folder, or the name of a run in --out"""
    judge: Annotated[tuple[str, ...] | None, flag(metavar="NAME")] = None
    """only this judge; repeatable"""


@command("use:prompt_hash")
class PromptHash(JsonFlags, OutFlags):
    """Flags of `harness prompt-hash`.

    harness prompt-hash first
    harness prompt-hash first --out results --json
    """

    source: Annotated[str, flag(name="RUN")] = field(kw_only=False)
    """a run's folder, or the name of a run in --out"""


class GateFiles(Command, group="files to write"):
    """Flags of `harness gate`."""

    junit: Annotated[Path | None, flag(metavar="FILE")] = None
    """JUnit XML: a test suite a language, a test case a limit"""
    json: Annotated[Path | None, flag(metavar="FILE")] = None
    """JSON for programs, unrounded"""
    summary: Annotated[Path | None, flag(metavar="FILE.md")] = None
    """a Markdown table, such as for a pull request"""


@command("gate:gate")
class Gate(OutFlags, CardFlags, GateFiles):
    """Flags of `harness gate`.

    harness gate first
    harness gate first --policy gate.toml --baseline last --junit gate.xml
    """

    source: Annotated[str, flag(name="RUN_OR_DIR")] = field(kw_only=False)
    """a data folder with judgments, a run's folder, or the name of a run in --out"""
    policy: Annotated[Path | None, flag(metavar="FILE")] = None
    """the limits (default: gate.toml, as 'harness new gate RUN' writes it)"""
    baseline: Annotated[str | None, flag(metavar="RUN_OR_DIR")] = None
    """an earlier run of the same items and labels, for max_drop"""
    all: bool = False
    """show the limits that hold too"""
    signature: bool = False
    """print the signature whole, not as a short hash"""


class WatchInitSettings(Command, group="how to watch"):
    """Flags of `harness watch init`."""

    anchors: Annotated[Count | None, flag(metavar="N")] = None
    """labelled texts of a language to draw from (default: 200)"""
    repeats: Annotated[Count | None, flag(metavar="N")] = None
    """how often to ask about each now (default: 5)"""
    per_day: Annotated[Count | None, flag(metavar="N")] = None
    """anchors of a language that are asked each day (default: 30)"""
    alpha: Annotated[Share | None, flag(metavar="N")] = None
    """the chance of any false alarm in a cell, over all days of a start (default: 0.05)"""
    guard: Annotated[Count | None, flag(metavar="DAYS")] = None
    """days with silent anchors until a change of production scores is put down to the texts (default: 30)"""
    tolerance: Annotated[NonNegativeShare | None, flag(metavar="N")] = None
    """a change by less does not matter, as a share of the scale (default: 0)"""
    max_age: Annotated[Count | None, flag(metavar="DAYS")] = None
    """the certificate holds so long after a checked day (default: 90)"""
    seed: Annotated[Seed | None, flag(metavar="N")] = None
    """of all draws (default: 0)"""


@command("watch:init", first="certificate restart anchors repeats per_day alpha tolerance max_age yes base_url date")
class WatchInit(AskedAgainFlags, DayFlags, WatchInitSettings):
    """Flags of `harness watch init`.

    harness watch init watch first --certificate certificate.json --yes
    harness watch init watch first --certificate certificate.json --anchors 100 --per-day 20
    """

    source: Annotated[str, flag(name="RUN_OR_DIR")] = field(kw_only=False)
    """the run or data folder that the certificate was made from"""
    certificate: Annotated[Path, flag(metavar="FILE")]
    """from 'harness certify'"""
    restart: bool = False
    """start the watch in DIR again, after its alarm, with a new certificate; its log goes on, and its settings hold if not given"""


@command("watch:add", first="date answers base_url yes max_cost out")
class WatchAdd(AskedAgainFlags, DayFlags):
    """Flags of `harness watch add`.

    harness watch add watch today --date 2026-05-31
    harness watch add watch today --answers anchors --date 2026-05-31
    """

    source: Annotated[str | None, flag(name="RUN_OR_DIR")] = field(default=None, kw_only=False)
    """the day's production scores: a run or a data folder with judgments"""
    answers: Annotated[str | None, flag(metavar="RUN_OR_DIR")] = None
    """recorded answers on the day's anchors ('harness watch draw'); the judge is not asked"""


@command("watch:check")
class WatchCheck(JsonFlags, DayFlags):
    """Flags of `harness watch check`.

    harness watch check watch
    harness watch check watch --junit watch.xml --figure days.svg
    """

    junit: Annotated[Path | None, flag(metavar="FILE")] = None
    """JUnit XML: a test suite a language, a test case a metric and stream"""
    figure: Annotated[Path | None, flag(metavar="FILE")] = None
    """draw all days: .svg, .pdf or .png (extra 'figures')"""


@command("watch:draw")
class WatchDraw(DayFlags):
    """Flags of `harness watch draw`.

    harness watch draw watch
    harness watch draw watch --date 2026-05-31
    """
