"""The flags of `harness run`, of its report and its list."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from harness.cli.arguments import (
    base_url_flag,
    by_task_flag,
    command,
    content_flag,
    decision_flags,
    engine_flags,
    figure_flags,
    form_flags,
    json_flag,
    languages_flag,
    majority_flag,
    names,
    orders,
    out_flag,
    own_system,
    positive_integer,
    reask,
    seed,
    show_texts_flag,
    shown_sources,
    temperatures,
    top_ps,
    tuned_judge,
)


def run_flags(commands: Any) -> None:
    p = command(commands, "run", "run:run", "ask judges and report how well they agree with the labels")
    p.add_argument("--spec", type=Path, metavar="FILE", help="a file with flags of this command (TOML); flags given here take precedence")
    what = p.add_argument_group("what to judge")
    languages_flag(what, "languages, separated by commas: ja,cs (default: all that have items)")
    what.add_argument("--tasks", type=names, metavar="NAMES", help="only these tasks")
    what.add_argument("--metrics", type=names, metavar="NAMES", help="only these metrics")
    what.add_argument(
        "--board", metavar="NAME", help="the board whose protocol is used, or a collection of boards: people (default: controls)"
    )
    what.add_argument("--full", action="store_true", help="all test items (short for --board controls-full)")
    what.add_argument(
        "--data", type=Path, metavar="DIR", help="judge the items of a data folder, or of a language pack, instead of a board's"
    )
    what.add_argument(
        "--unlabelled",
        action="store_true",
        help="with --data: also judge items without a label, so that 'harness correct' can extend the labels to them",
    )
    what.add_argument("--limit", type=positive_integer, metavar="N", help="only the first N items of each language and task")
    what.add_argument(
        "--study",
        metavar="NAME",
        help="ask as a study does, with its section in the report: chiang-lee, self-preference, languages (of rubric, item and "
        "justification, on the same texts); other flags take precedence",
    )
    what.add_argument(
        "--cascade",
        type=Path,
        metavar="FILE",
        help="ask the judges of this certificate ('harness accept --cascade --to FILE') one after the other, each about what those before "
        "it left, and write who answers each text; usually with --data DIR --unlabelled",
    )
    content_flag(what)  # type: ignore[arg-type]
    who = p.add_argument_group("judges")
    who.add_argument(
        "--judge",
        action="append",
        metavar="NAME",
        help="openai/<model>[@<label>], local/<model or .gguf>, baseline/<name>, python:<module>:<function>, replay/<file> or a panel of "
        "them, panel/<file.toml>; repeatable",
    )
    who.add_argument(
        "--is",
        dest="own_system",
        type=own_system,
        action="append",
        metavar="JUDGE=SYSTEM",
        help="for --study self-preference: the system of the data that a judge is (default: the one with its name); repeatable",
    )
    who.add_argument(
        "--tuned",
        type=tuned_judge,
        action="append",
        metavar="NEW=OLD",
        help="for --study self-preference: a judge that was tuned, and the judge before; both are the system of the latter; repeatable",
    )
    base_url_flag(who, "judges")
    how = p.add_argument_group("how to ask")
    how.add_argument(
        "--variant",
        action="append",
        metavar="NAME",
        help="single, joint, detailed, few-shot, score-only, text, persona, ... joined by '+'; repeatable",
    )
    how.add_argument(
        "--prompt",
        type=Path,
        action="append",
        metavar="FILE",
        help="a prompt of your own (TOML) instead of the usual variants; repeatable, to compare prompts; see 'harness new prompt'",
    )
    how.add_argument(
        "--rubric",
        type=Path,
        action="append",
        metavar="FILE",
        help="a wording of your own of a metric's rubric (TOML, as in rubrics/), in place of the usual one; repeatable",
    )
    how.add_argument("--temperature", type=temperatures, metavar="T[,T]", help="sampling temperatures (default: the board's)")
    how.add_argument("--top-p", type=top_ps, metavar="P[,P]", help="nucleus sampling (default: the endpoint's default)")
    how.add_argument(
        "--order",
        type=orders,
        default=("forward",),
        metavar="ORDER",
        help="of the two texts of a pair: forward, swapped, both (default: forward)",
    )
    how.add_argument(
        "--shown-source",
        type=shown_sources,
        default=(),
        metavar="SOURCES",
        help="also ask with the names of the systems in the texts' headings: correct, or swapped in a pair; correct,swapped",
    )
    how.add_argument(
        "--perturb",
        action="append",
        metavar="NAME[:DOSE,..]",
        help="also ask about perturbed texts: shuffle-words:0.1,0.5, truncate, inject, ...; repeatable; see docs/studies.md",
    )
    how.add_argument(
        "--segmenter",
        type=names,
        default=("icu",),
        metavar="NAMES",
        help="how perturbations split texts into words: icu, whitespace (default: icu)",
    )
    how.add_argument(
        "--examples", type=Path, metavar="DIR", help="a data folder whose labelled items are the few-shot examples (default: dev items)"
    )
    how.add_argument("--allow-unreviewed", action="store_true", help="allow instructions that no native reader has reviewed")
    how.add_argument("--repeats", type=positive_integer, metavar="N", help="ask each question N times")
    how.add_argument("--seed", type=seed, default=0, metavar="N", help="seed for everything random (default: 0)")
    majority_flag(how, None, "the board's, or drop")
    how.add_argument(
        "--reask",
        type=reask,
        default=(),
        metavar="KINDS",
        help="refused: ask calls that the judge refused again, up to three times; endpoint: ask calls again whose stored reply is a "
        "refusal by the endpoint (stored by earlier versions); both: refused,endpoint",
    )
    how.add_argument(
        "--fresh", action="store_true", help="ask every call again, even if it has an answer; the last reply counts, and all are kept"
    )
    engine_flags(p)
    out_flag(p)
    p.add_argument(
        "--dry-run",
        action="store_true",
        help="show calls, tokens, cost and the beginning of a prompt; --verbose: one prompt of each kind; ask no judge",
    )
    show_texts_flag(p)
    p.add_argument(
        "--yes",
        action="store_true",
        help="send the texts of --data, and fetch data of a collection, without asking for consent",
    )
    by_task_flag(p)
    json_flag(p)


def report_flags(commands: Any) -> None:
    p = command(commands, "report", "run:report", "rebuild a run's report from the store, without asking a judge")
    p.add_argument("run", nargs="?", metavar="RUN", help="a run's name, the beginning of one, or its folder (default: the latest run)")
    p.add_argument(
        "--figures",
        action="store_true",
        help="write the report's figures (SVG, PDF, PNG) to the run's folder (extra 'figures')",
    )
    figure_flags(p)
    languages_flag(p, "show only these languages; verdicts stay corrected for all that the run tested")
    majority_flag(p, None, "the run's")
    decision_flags(p)
    by_task_flag(p)
    form = form_flags(p.add_argument_group("output"))
    form.add_argument(
        "--html", nargs="?", const="", metavar="FILE", help="write one self-contained page (default: report.html in the run's folder)"
    )
    out_flag(p)


def runs_flags(commands: Any) -> None:
    p = command(commands, "runs", "run:runs", "list the runs of a results folder")
    out_flag(p)
    json_flag(p)
