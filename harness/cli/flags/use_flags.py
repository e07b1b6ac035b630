"""The flags of the commands that use a judge's scores: correct, accept, calibrate, certify, improve, explain."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from harness.cli.arguments import (
    add_flag,
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
    add_flag(what, "--by KEYS", "keys of the items to group by, beside language, metric, judge and condition (default: system)", names)
    add_flag(what, "--shares", "the shares of all classes instead of the mean")
    add_flag(what, "--class CLASS", "the share of this class instead of the mean", dest="share_of")
    add_flag(what, "--versus KEY=NAME", "add the difference of each system from one: system=NAME")
    add_flag(
        what,
        "--prevalence-shift",
        "the labels come from elsewhere, where classes are more or less common: correct by the judge's error rates "
        "(Rogan-Gladen) instead of by the mean error",
    )
    add_flag(
        what,
        "--borrow",
        "add estimates that shrink towards the judge's error in the other languages: they hold on average over languages",
        choices=("languages",),
    )
    shown = p.add_argument_group("output")
    add_flag(shown, "--figure FILE", "draw three intervals a system: .svg, .pdf or .png (extra 'figures')", Path)
    json_flag(shown)


def accept_flags(commands: Any) -> None:
    """`accept`."""
    p = command(commands, "accept", "use:accept", "find from which confidence on a judge's answers can be accepted without a person")
    judged_source(p)
    guarantee = p.add_argument_group("what to guarantee")
    _acceptance_flags(guarantee)
    add_flag(
        guarantee,
        "--sampling",
        "take the labelled texts as a random sample though the dataset card does not say so; the promise holds only under this condition",
        choices=("random",),
    )
    chain = p.add_argument_group("several judges, a person last")
    add_flag(
        chain,
        "--cascade",
        "ask the judges of --judge one after the other, the cheapest first, each about what those before it left; "
        "one guarantee for all accepted answers",
    )
    add_flag(
        chain,
        "--price NAME=N ...",
        "with --cascade, what this judge's answers to 1,000 texts cost in US dollars; repeatable (default: what the run was charged, "
        "else by list prices of models)",
        priced,
        default=[],
    )
    prices_flag(chain)
    add_flag(
        chain,
        "--order",
        "with --cascade: price, the cheapest first, if all prices are known (default); named, as --judge names them",
        choices=("price", "named"),
    )
    add_flag(
        chain,
        "--units",
        "with --cascade, texts that share groups: design_effect, approximate (default); one_per_group, exact, accepts fewer",
        choices=("design_effect", "one_per_group"),
    )
    add_flag(
        chain,
        "--to FILE",
        "with --cascade, write the certificate of the chain to this file (JSON), which 'harness run --cascade FILE' follows",
        Path,
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
    add_flag(how, "--delta N", "the tolerated chance that more of them differ (default: 0.1)", share, default=0.1)
    add_flag(
        how,
        "--confidence",
        "probability: of the answer's token; repeats: the share of the commonest answer; votes: the same over several judges, "
        "in a cascade over those asked so far (default: probabilities where there are any, else repeats)",
        choices=("probability", "repeats", "votes"),
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
    add_flag(how, "--numbers", "the map of scores that are numbers (default: linear)", choices=("linear", "isotonic"), default="linear")
    add_flag(how, "--seed N", "of the folds and of the halves (default: 0)", seed, default=0)
    _set_flags(p)
    json_flag(p)


def _with_flag(parser: Any) -> None:
    add_flag(parser, "--with", "let the map of ordered classes read the text's length too", dest="covariate", choices=("length",))


def _set_flags(parser: Any) -> None:
    what = parser.add_argument_group("what label sets promise")
    add_flag(what, "--level N", "the share of new texts whose set holds a person's score (default: 0.9)", share, default=0.9)
    add_flag(
        what,
        "--per",
        "group: a random text of a new random group (default); text: a random text, whose sets are larger",
        choices=("group", "text"),
        default="group",
    )
    add_flag(what, "--this-draw N", "hold the level with this probability for this draw of labels, not on average", share)


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
    add_flag(what, "--to FILE", "write the certificate of one judge to this file (JSON)", Path)
    add_flag(
        what,
        "--check FILE",
        "make a certificate again and say what of it is stale, and why; exit code 1 if anything is, or if it allows nothing",
        Path,
    )
    add_flag(
        what,
        "--extend FILE",
        "may this certificate serve the texts of RUN_OR_DIR too, of which people labelled a random probe? If shown, it gets a line "
        "that says so (in --to FILE, or in place); exit code 1 if it is shown that it may not, 7 if more labels are needed",
        Path,
    )
    add_flag(what, "--by KEYS", "with --extend: keys of the items, such as system; each value is tested by itself", names)
    add_flag(what, "--from TAG", "with --extend: the certified language whose numbers are to serve", dest="from_language")
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
    add_flag(asked, "--variant NAME ...", "a setting beside the plain one (default: about eight); repeatable")
    add_flag(asked, "--prompt FILE ...", "a prompt of your own (TOML); repeatable", Path)
    add_flag(asked, "--rubric FILE ...", "a wording of your own of a metric's rubric (TOML); repeatable", Path)
    add_flag(asked, "--candidates FILE", "the candidates as a file (TOML); see docs/improve.md", Path)
    add_flag(asked, "--limit N", "only the first N texts of each language and task", positive_integer)
    add_flag(asked, "--allow-unreviewed", "allow instructions that no native reader has reviewed")
    base_url_flag(asked, "judges")
    content_flag(asked)  # type: ignore[arg-type]
    add_flag(asked, "--yes", "send the texts without asking for consent")
    engine_flags(p, detach=False)
    p.set_defaults(detach=False, fresh=False, reask=())
    how = p.add_argument_group("how to choose and confirm")
    add_flag(how, "--start NAME", "the judge or setting to beat (default: the plainest of the first judge)")
    add_flag(how, "--share N", "share of independent texts that choose; others confirm (default: 0.6)", share, default=0.6)
    add_flag(
        how,
        "--keep-within N",
        "a language gets the choice only where it is shown not to lose more agreement than this (default: 0.1)",
        share,
        default=0.1,
    )
    add_flag(
        how,
        "--labels FILE ...",
        "a round of labels of the same texts (labels.jsonl or a data folder), given twice or more: show which candidate wins under "
        "each, and confirm nothing",
        Path,
    )
    add_flag(how, "--reuse", "confirm on labels that have confirmed before, at a stricter level")
    add_flag(how, "--dry-run", "only say how many texts there are, what they can show, and what asking costs")
    add_flag(how, "--seed N", "seed of the division (default: 0)", seed, default=0)
    add_flag(how, "--to FILE.toml", "write the choice as a file for 'harness run --spec'", Path)
    decision_flags(p)
    json_flag(p)


def explain_flags(commands: Any) -> None:
    """`explain`."""
    p = command(commands, "explain", "use:explain", "show what a judge's errors follow: the length, language or system of texts")
    judged_source(p)
    add_flag(
        p,
        "--by KEYS",
        "what errors may follow: length, language, system, script, or a key of the items with 40 values at most "
        "(default: length,language,system, as far as the data have them)",
        names,
    )
    add_flag(p, "--all", "a row for each effect that is not shown too")
    json_flag(p)
