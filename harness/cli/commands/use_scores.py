"""Commands that use a judge's scores. A command is a frozen dataclass; its fields are its flags."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Literal

from harness.cli.commands.shared import (
    Acceptance,
    AskedAgain,
    BaseUrl,
    Card,
    Content,
    Day,
    Decisions,
    Engine,
    Header,
    Json,
    Judged,
    Length,
    Out,
    Prices,
    Restrictions,
    Sets,
    Speed,
    command,
    flag,
)
from harness.cli.values import Count, Names, NonNegativeShare, PricedJudges, Seed, Share


@command("improve:improve")
@dataclass(frozen=True, kw_only=True)
class Improve(Json, Decisions, Speed, Engine, Content, Header, BaseUrl, Judged):
    """Flags of `harness improve`."""

    variant: Annotated[
        tuple[str, ...] | None,
        flag(metavar="NAME", group="candidates that are asked (of a data folder without recorded answers of --judge)"),
    ] = None
    """a setting beside the plain one (default: about eight); repeatable"""
    prompt: Annotated[
        tuple[Path, ...] | None,
        flag(metavar="FILE", group="candidates that are asked (of a data folder without recorded answers of --judge)"),
    ] = None
    """a prompt of your own (TOML); repeatable"""
    rubric: Annotated[
        tuple[Path, ...] | None,
        flag(metavar="FILE", group="candidates that are asked (of a data folder without recorded answers of --judge)"),
    ] = None
    """a wording of your own of a metric's rubric (TOML); repeatable"""
    candidates: Annotated[
        Path | None, flag(metavar="FILE", group="candidates that are asked (of a data folder without recorded answers of --judge)")
    ] = None
    """the candidates as a file (TOML); see docs/improve.md"""
    limit: Annotated[
        Count | None, flag(metavar="N", group="candidates that are asked (of a data folder without recorded answers of --judge)")
    ] = None
    """only the first N texts of each language and task"""
    allow_unreviewed: Annotated[bool, flag(group="candidates that are asked (of a data folder without recorded answers of --judge)")] = (
        False
    )
    """allow instructions that no native reader has reviewed"""
    yes: Annotated[bool, flag(group="candidates that are asked (of a data folder without recorded answers of --judge)")] = False
    """send the texts without asking for consent"""
    start: Annotated[str | None, flag(metavar="NAME", group="how to choose and confirm")] = None
    """the judge or setting to beat (default: the plainest of the first judge)"""
    share: Annotated[Share, flag(metavar="N", group="how to choose and confirm")] = 0.6
    """share of independent texts that choose; others confirm"""
    keep_within: Annotated[Share, flag(metavar="N", group="how to choose and confirm")] = 0.1
    """a language gets the choice only where it is shown not to lose more agreement than this"""
    labels: Annotated[tuple[Path, ...] | None, flag(metavar="FILE", group="how to choose and confirm")] = None
    """a round of labels of the same texts (labels.jsonl or a data folder), given twice or more: show which candidate wins under each,
    and confirm nothing"""
    reuse: Annotated[bool, flag(group="how to choose and confirm")] = False
    """confirm on labels that have confirmed before, at a stricter level"""
    dry_run: Annotated[bool, flag(group="how to choose and confirm")] = False
    """only say how many texts there are, what they can show, and what asking costs"""
    majority: Annotated[Literal["drop", "median", "strict"], flag(group="how to choose and confirm")] = "drop"
    """how the labels of several annotators become one reference"""
    seed: Annotated[Seed, flag(metavar="N", group="how to choose and confirm")] = 0
    """seed of the division"""
    to: Annotated[Path | None, flag(metavar="FILE.toml", group="how to choose and confirm")] = None
    """write the choice as a file for 'harness run --spec'"""


@command("use:explain")
@dataclass(frozen=True, kw_only=True)
class Explain(Json, Judged):
    """Flags of `harness explain`."""

    by: Annotated[Names | None, flag(metavar="KEYS")] = None
    """what errors may follow: length, language, system, script, or a key of the items with 40 values at most (default:
    length,language,system, as far as the data have them)"""
    all: bool = False
    """a row for each effect that is not shown too"""


@command("use:correct")
@dataclass(frozen=True, kw_only=True)
class Correct(Json, Judged):
    """Flags of `harness correct`."""

    by: Annotated[Names | None, flag(metavar="KEYS", group="what to estimate")] = None
    """keys of the items to group by, beside language, metric, judge and condition (default: system)"""
    shares: Annotated[bool, flag(group="what to estimate")] = False
    """the shares of all classes instead of the mean"""
    share_of: Annotated[str | None, flag(name="--class", metavar="CLASS", group="what to estimate")] = None
    """the share of this class instead of the mean"""
    versus: Annotated[str | None, flag(metavar="KEY=NAME", group="what to estimate")] = None
    """add the difference of each system from one: system=NAME"""
    prevalence_shift: Annotated[bool, flag(group="what to estimate")] = False
    """the labels come from elsewhere, where classes are more or less common: correct by the judge's error rates (Rogan-Gladen) instead
    of by the mean error"""
    borrow: Annotated[Literal["languages"] | None, flag(group="what to estimate")] = None
    """add estimates that shrink towards the judge's error in the other languages: they hold on average over languages"""
    figure: Annotated[Path | None, flag(metavar="FILE", group="output")] = None
    """draw three intervals a system: .svg, .pdf or .png (extra 'figures')"""


@command("use:accept")
@dataclass(frozen=True, kw_only=True)
class Accept(Json, Prices, Acceptance, Judged):
    """Flags of `harness accept`."""

    sampling: Annotated[Literal["random"] | None, flag(group="what to guarantee")] = None
    """take the labelled texts as a random sample though the dataset card does not say so; the promise holds only under this condition"""
    cascade: Annotated[bool, flag(group="several judges, a person last")] = False
    """ask the judges of --judge one after the other, the cheapest first, each about what those before it left; one guarantee for all
    accepted answers"""
    price: Annotated[PricedJudges, flag(metavar="NAME=N", group="several judges, a person last")] = ()
    """with --cascade, what this judge's answers to 1,000 texts cost in US dollars; repeatable (default: what the run was charged, else
    by list prices of models)"""
    order: Annotated[Literal["price", "named"] | None, flag(group="several judges, a person last")] = None
    """with --cascade: price, the cheapest first, if all prices are known (default); named, as --judge names them"""
    units: Annotated[Literal["design_effect", "one_per_group"] | None, flag(group="several judges, a person last")] = None
    """with --cascade, texts that share groups: design_effect, approximate (default); one_per_group, exact, accepts fewer"""
    to: Annotated[Path | None, flag(metavar="FILE", group="several judges, a person last")] = None
    """with --cascade, write the certificate of the chain to this file (JSON), which 'harness run --cascade FILE' follows"""


@command("use:calibrate")
@dataclass(frozen=True, kw_only=True)
class Calibrate(Json, Sets, Length, Judged):
    """Flags of `harness calibrate`."""

    numbers: Annotated[Literal["linear", "isotonic"], flag(group="how to learn")] = "linear"
    """the map of scores that are numbers"""
    seed: Annotated[Seed, flag(metavar="N", group="how to learn")] = 0
    """of the folds and of the halves"""


@command("use:certify")
@dataclass(frozen=True, kw_only=True)
class Certify(Json, Decisions, Length, Sets, Acceptance, Out, Restrictions):
    """Flags of `harness certify`."""

    source: Annotated[str | None, flag(name="RUN_OR_DIR")] = field(default=None, kw_only=False)
    """a data folder with judgments, a run's folder, or the name of a run in --out"""
    judge: Annotated[tuple[str, ...] | None, flag(metavar="NAME")] = None
    """only this judge; repeatable"""
    to: Annotated[Path | None, flag(metavar="FILE", group="what to do")] = None
    """write the certificate of one judge to this file (JSON)"""
    check: Annotated[Path | None, flag(metavar="FILE", group="what to do")] = None
    """make a certificate again and say what of it is stale, and why; exit code 1 if anything is, or if it allows nothing, 7 if not all
    of it could be made again, as without RUN_OR_DIR, or of an extended one without --probe"""
    probe: Annotated[tuple[Path, ...] | None, flag(metavar="RUN_OR_DIR", group="what to do")] = None
    """with --check: a probe that the certificate was extended by, to make the extension again; repeatable"""
    extend: Annotated[Path | None, flag(metavar="FILE", group="what to do")] = None
    """may this certificate serve the texts of RUN_OR_DIR too, of which people labelled a random probe? If shown, it gets a line that
    says so (in --to FILE, or in place); exit code 1 if it is shown that it may not, 7 if more labels are needed"""
    by: Annotated[Names | None, flag(metavar="KEYS", group="what to do")] = None
    """with --extend: keys of the items, such as system; each value is tested by itself"""
    from_language: Annotated[str | None, flag(name="--from", metavar="TAG", group="what to do")] = None
    """with --extend: the certified language whose numbers are to serve"""


@command("use:prompt_hash")
@dataclass(frozen=True, kw_only=True)
class PromptHash(Json, Out):
    """Flags of `harness prompt-hash`."""

    source: Annotated[str, flag(name="RUN")] = field(kw_only=False)
    """a run's folder, or the name of a run in --out"""


@command("gate:gate")
@dataclass(frozen=True, kw_only=True)
class Gate(Out, Card):
    """Flags of `harness gate`."""

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
    junit: Annotated[Path | None, flag(metavar="FILE", group="files to write")] = None
    """JUnit XML: a test suite a language, a test case a limit"""
    json: Annotated[Path | None, flag(metavar="FILE", group="files to write")] = None
    """JSON for programs, unrounded"""
    summary: Annotated[Path | None, flag(metavar="FILE.md", group="files to write")] = None
    """a Markdown table, such as for a pull request"""


@command("watch:init")
@dataclass(frozen=True, kw_only=True)
class WatchInit(AskedAgain, Day):
    """Flags of `harness watch init`."""

    source: Annotated[str, flag(name="RUN_OR_DIR")] = field(kw_only=False)
    """the run or data folder that the certificate was made from"""
    certificate: Annotated[Path, flag(metavar="FILE")]
    """from 'harness certify'"""
    restart: bool = False
    """start the watch in DIR again, after its alarm, with a new certificate; its log goes on, and its settings hold if not given"""
    anchors: Annotated[Count | None, flag(metavar="N", group="how to watch")] = None
    """labelled texts of a language to draw from (default: 200)"""
    repeats: Annotated[Count | None, flag(metavar="N", group="how to watch")] = None
    """how often to ask about each now (default: 5)"""
    per_day: Annotated[Count | None, flag(metavar="N", group="how to watch")] = None
    """anchors of a language that are asked each day (default: 30)"""
    alpha: Annotated[Share | None, flag(metavar="N", group="how to watch")] = None
    """the chance of any false alarm in a cell, over all days of a start (default: 0.05)"""
    guard: Annotated[Count | None, flag(metavar="DAYS", group="how to watch")] = None
    """days with silent anchors until a change of production scores is put down to the texts (default: 30)"""
    tolerance: Annotated[NonNegativeShare | None, flag(metavar="N", group="how to watch")] = None
    """a change by less does not matter, as a share of the scale (default: 0)"""
    max_age: Annotated[Count | None, flag(metavar="DAYS", group="how to watch")] = None
    """the certificate holds so long after a checked day (default: 90)"""
    seed: Annotated[Seed | None, flag(metavar="N", group="how to watch")] = None
    """of all draws (default: 0)"""


@command("watch:add")
@dataclass(frozen=True, kw_only=True)
class WatchAdd(AskedAgain, Day):
    """Flags of `harness watch add`."""

    source: Annotated[str | None, flag(name="RUN_OR_DIR")] = field(default=None, kw_only=False)
    """the day's production scores: a run or a data folder with judgments"""
    answers: Annotated[str | None, flag(metavar="RUN_OR_DIR")] = None
    """recorded answers on the day's anchors ('harness watch draw'); the judge is not asked"""


@command("watch:check")
@dataclass(frozen=True, kw_only=True)
class WatchCheck(Json, Day):
    """Flags of `harness watch check`."""

    junit: Annotated[Path | None, flag(metavar="FILE")] = None
    """JUnit XML: a test suite a language, a test case a metric and stream"""
    figure: Annotated[Path | None, flag(metavar="FILE")] = None
    """draw all days: .svg, .pdf or .png (extra 'figures')"""


@command("watch:draw")
@dataclass(frozen=True, kw_only=True)
class WatchDraw(Day):
    """Flags of `harness watch draw`."""
