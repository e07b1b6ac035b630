"""The flags of the commands that use a judge's scores: correct, accept, calibrate, certify, improve, explain."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from harness.cli.arguments import (
    base_url_flag,
    command,
    content_flag,
    decision_flags,
    engine_flags,
    json_flag,
    judged_source,
    majority_flag,
    names,
    positive_integer,
    priced,
    prices_flag,
    seed,
    share,
)


def correct_flags(commands: Any) -> None:
    """`correct`."""
    p = command(
        commands, "correct", "use:correct", "estimate means, class shares and differences of systems from a judge's scores and some labels"
    )
    judged_source(p)
    what = p.add_argument_group("what to estimate")
    what.add_argument(
        "--by",
        type=names,
        metavar="KEYS",
        help="keys of the items to group by, beside language, metric, judge and condition (default: system)",
    )
    what.add_argument("--shares", action="store_true", help="the shares of all classes instead of the mean")
    what.add_argument("--class", dest="share_of", metavar="CLASS", help="the share of this class instead of the mean")
    what.add_argument("--versus", metavar="KEY=NAME", help="add the difference of each system from one: system=NAME")
    what.add_argument(
        "--prevalence-shift",
        action="store_true",
        help="the labels come from elsewhere, where classes are more or less common: correct by the judge's error rates "
        "(Rogan-Gladen) instead of by the mean error",
    )
    what.add_argument(
        "--borrow",
        choices=("languages",),
        help="add estimates that shrink towards the judge's error in the other languages: they hold on average over languages",
    )
    shown = p.add_argument_group("output")
    shown.add_argument("--figure", type=Path, metavar="FILE", help="draw three intervals a system: .svg, .pdf or .png (extra 'figures')")
    json_flag(shown)


def accept_flags(commands: Any) -> None:
    """`accept`."""
    p = command(commands, "accept", "use:accept", "find from which confidence on a judge's answers can be accepted without a person")
    judged_source(p)
    _acceptance_flags(p.add_argument_group("what to guarantee"))
    chain = p.add_argument_group("several judges, a person last")
    chain.add_argument(
        "--cascade",
        action="store_true",
        help="ask the judges of --judge one after the other, the cheapest first, each about what those before it left; "
        "one guarantee for all accepted answers",
    )
    chain.add_argument(
        "--price",
        action="append",
        type=priced,
        default=[],
        metavar="NAME=N",
        help="with --cascade, what this judge's answers to 1,000 texts cost in US dollars; repeatable (default: what the run was charged, "
        "else by list prices of models)",
    )
    prices_flag(chain)
    chain.add_argument(
        "--order",
        choices=("price", "named"),
        help="with --cascade: price, the cheapest first, if all prices are known (default); named, as --judge names them",
    )
    chain.add_argument(
        "--units",
        choices=("design_effect", "one_per_group"),
        help="with --cascade, texts that share groups: design_effect, approximate (default); one_per_group, exact, accepts fewer",
    )
    chain.add_argument(
        "--to",
        type=Path,
        metavar="FILE",
        help="with --cascade, write the certificate of the chain to this file (JSON), which 'harness run --cascade FILE' follows",
    )
    json_flag(p)


def _acceptance_flags(how: Any) -> None:
    majority_flag(how, "drop")
    how.add_argument(
        "--alpha-risk",
        "--risk",
        type=share,
        default=0.1,
        metavar="N",
        help="the tolerated share of accepted answers that differ from people's label (default: 0.1)",
    )
    how.add_argument("--delta", type=share, default=0.1, metavar="N", help="the tolerated chance that more of them differ (default: 0.1)")
    how.add_argument(
        "--confidence",
        choices=("probability", "repeats", "votes"),
        help="probability: of the answer's token; repeats: the share of the commonest answer; votes: the same over several judges, "
        "in a cascade over those asked so far (default: probabilities where there are any, else repeats)",
    )


def calibrate_flags(commands: Any) -> None:
    """`calibrate`."""
    p = command(
        commands,
        "calibrate",
        "use:calibrate",
        "learn what people say of a text with a judge's score, by language: scores before and after, and sets with a guarantee",
    )
    judged_source(p)
    how = p.add_argument_group("how to learn")
    _with_flag(how)
    how.add_argument(
        "--numbers", choices=("linear", "isotonic"), default="linear", help="the map of scores that are numbers (default: linear)"
    )
    how.add_argument("--seed", type=seed, default=0, metavar="N", help="of the folds and of the halves (default: 0)")
    _set_flags(p)
    json_flag(p)


def _with_flag(parser: Any) -> None:
    parser.add_argument("--with", dest="covariate", choices=("length",), help="let the map of ordered classes read the text's length too")


def _set_flags(parser: Any) -> None:
    """What label sets promise."""
    what = parser.add_argument_group("what label sets promise")
    what.add_argument(
        "--level", type=share, default=0.9, metavar="N", help="the share of new texts whose set holds a person's score (default: 0.9)"
    )
    what.add_argument(
        "--per",
        choices=("group", "text"),
        default="group",
        help="group: a random text of a new random group (default); text: a random text, whose sets are larger",
    )
    what.add_argument(
        "--this-draw",
        type=share,
        metavar="N",
        help="hold the level with this probability for this draw of labels, not on average",
    )


def certify_flags(commands: Any) -> None:
    """`certify`."""
    p = command(
        commands,
        "certify",
        "use:certify",
        "write a judge's certificate for other programs, check whether one holds, or extend it to other texts",
    )
    judged_source(p, optional=True)
    what = p.add_argument_group("what to do")
    what.add_argument("--to", type=Path, metavar="FILE", help="write the certificate of one judge to this file (JSON)")
    what.add_argument(
        "--check",
        type=Path,
        metavar="FILE",
        help="make a certificate again and say what of it is stale, and why; exit code 1 if anything is, or if it allows nothing",
    )
    what.add_argument(
        "--extend",
        type=Path,
        metavar="FILE",
        help="may this certificate serve the texts of RUN_OR_DIR too, of which people labelled a random probe? If shown, it gets a line "
        "that says so (in --to FILE, or in place); exit code 1 if it is shown that it may not, 7 if more labels are needed",
    )
    what.add_argument(
        "--by", type=names, metavar="KEYS", help="with --extend: keys of the items, such as system; each value is tested by itself"
    )
    what.add_argument(
        "--from", dest="from_language", metavar="TAG", help="with --extend: the certified language whose numbers are to serve"
    )
    _acceptance_flags(p.add_argument_group("what to guarantee of automatic acceptance"))
    _set_flags(p)
    _with_flag(p.add_argument_group("how to learn the map from the judge's scores to people's"))
    decision_flags(p)
    json_flag(p)


def improve_flags(commands: Any) -> None:
    """`improve`."""
    p = command(
        commands,
        "improve",
        "improve:improve",
        "choose the judge or setting that agrees best with people, confirm it on other labels",
    )
    judged_source(p)
    asked = p.add_argument_group("candidates that are asked (of a data folder without recorded answers of --judge)")
    asked.add_argument(
        "--variant",
        action="append",
        metavar="NAME",
        help="a setting beside the plain one (default: about eight); repeatable",
    )
    asked.add_argument("--prompt", type=Path, action="append", metavar="FILE", help="a prompt of your own (TOML); repeatable")
    asked.add_argument(
        "--rubric", type=Path, action="append", metavar="FILE", help="a wording of your own of a metric's rubric (TOML); repeatable"
    )
    asked.add_argument("--candidates", type=Path, metavar="FILE", help="the candidates as a file (TOML); see docs/improve.md")
    asked.add_argument("--limit", type=positive_integer, metavar="N", help="only the first N texts of each language and task")
    asked.add_argument("--allow-unreviewed", action="store_true", help="allow instructions that no native reader has reviewed")
    base_url_flag(asked, "judges")
    content_flag(asked)  # type: ignore[arg-type]
    asked.add_argument("--yes", action="store_true", help="send the texts without asking for consent")
    engine_flags(p, detach=False)
    p.set_defaults(detach=False, fresh=False, reask=())
    how = p.add_argument_group("how to choose and confirm")
    how.add_argument("--start", metavar="NAME", help="the judge or setting to beat (default: the plainest of the first judge)")
    how.add_argument(
        "--share",
        type=share,
        default=0.6,
        metavar="N",
        help="share of independent texts that choose; others confirm (default: 0.6)",
    )
    how.add_argument(
        "--keep-within",
        type=share,
        default=0.1,
        metavar="N",
        help="a language gets the choice only where it is shown not to lose more agreement than this (default: 0.1)",
    )
    how.add_argument(
        "--labels",
        type=Path,
        action="append",
        metavar="FILE",
        help="a round of labels of the same texts (labels.jsonl or a data folder), given twice or more: show which candidate wins under "
        "each, and confirm nothing",
    )
    how.add_argument("--reuse", action="store_true", help="confirm on labels that have confirmed before, at a stricter level")
    how.add_argument("--dry-run", action="store_true", help="only say how many texts there are, what they can show, and what asking costs")
    how.add_argument("--seed", type=seed, default=0, metavar="N", help="seed of the division (default: 0)")
    how.add_argument("--to", type=Path, metavar="FILE.toml", help="write the choice as a file for 'harness run --spec'")
    decision_flags(p)
    json_flag(p)


def explain_flags(commands: Any) -> None:
    """`explain`."""
    p = command(commands, "explain", "use:explain", "show what a judge's errors follow: the length, language or system of texts")
    judged_source(p)
    p.add_argument(
        "--by",
        type=names,
        metavar="KEYS",
        help="what errors may follow: length, language, system, script, or a key of the items with 40 values at most "
        "(default: length,language,system, as far as the data have them)",
    )
    p.add_argument("--all", action="store_true", help="a row for each effect that is not shown too")
    json_flag(p)
