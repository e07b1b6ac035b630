"""The flags of `harness run`, of its report and its list."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from harness.cli.arguments import (
    add_flag,
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
    add_flag(p, "--spec FILE", "a file with flags of this command (TOML); flags given here take precedence", Path)
    what = p.add_argument_group("what to judge")
    languages_flag(what, "languages, separated by commas: ja,cs (default: all that have items)")
    add_flag(what, "--tasks NAMES", "only these tasks", names)
    add_flag(what, "--metrics NAMES", "only these metrics", names)
    add_flag(what, "--board NAME", "the board whose protocol is used, or a collection of boards: people (default: controls)")
    add_flag(what, "--full", "all test items (short for --board controls-full)")
    add_flag(what, "--data DIR", "judge the items of a data folder, or of a language pack, instead of a board's", Path)
    add_flag(what, "--unlabelled", "with --data: also judge items without a label, so that 'harness correct' can extend the labels to them")
    add_flag(what, "--limit N", "only the first N items of each language and task", positive_integer)
    add_flag(
        what,
        "--study NAME",
        "ask as a study does, with its section in the report: chiang-lee, self-preference, languages (of rubric, item and "
        "justification, on the same texts); other flags take precedence",
    )
    add_flag(
        what,
        "--cascade FILE",
        "ask the judges of this certificate ('harness accept --cascade --to FILE') one after the other, each about what those before "
        "it left, and write who answers each text; usually with --data DIR --unlabelled",
        Path,
    )
    content_flag(what)  # type: ignore[arg-type]
    who = p.add_argument_group("judges")
    add_flag(
        who,
        "--judge NAME ...",
        "openai/<model>[@<label>], local/<model or .gguf>, baseline/<name>, python:<module>:<function>, replay/<file> or a panel of "
        "them, panel/<file.toml>; repeatable",
    )
    add_flag(
        who,
        "--is JUDGE=SYSTEM ...",
        "for --study self-preference: the system of the data that a judge is (default: the one with its name); repeatable",
        own_system,
        dest="own_system",
    )
    add_flag(
        who,
        "--tuned NEW=OLD ...",
        "for --study self-preference: a judge that was tuned, and the judge before; both are the system of the latter; repeatable",
        tuned_judge,
    )
    base_url_flag(who, "judges")
    how = p.add_argument_group("how to ask")
    add_flag(how, "--variant NAME ...", "single, joint, detailed, few-shot, score-only, text, persona, ... joined by '+'; repeatable")
    add_flag(
        how,
        "--prompt FILE ...",
        "a prompt of your own (TOML) instead of the usual variants; repeatable, to compare prompts; see 'harness new prompt'",
        Path,
    )
    add_flag(
        how,
        "--rubric FILE ...",
        "a wording of your own of a metric's rubric (TOML, as in rubrics/), in place of the usual one; repeatable",
        Path,
    )
    add_flag(how, "--temperature T[,T]", "sampling temperatures (default: the board's)", temperatures)
    add_flag(how, "--top-p P[,P]", "nucleus sampling (default: the endpoint's default)", top_ps)
    add_flag(how, "--order ORDER", "of the two texts of a pair: forward, swapped, both (default: forward)", orders, default=("forward",))
    add_flag(
        how,
        "--shown-source SOURCES",
        "also ask with the names of the systems in the texts' headings: correct, or swapped in a pair; correct,swapped",
        shown_sources,
        default=(),
    )
    add_flag(
        how,
        "--perturb NAME[:DOSE,..] ...",
        "also ask about perturbed texts: shuffle-words:0.1,0.5, truncate, inject, ...; repeatable; see docs/studies.md",
    )
    add_flag(how, "--segmenter NAMES", "how perturbations split texts into words: icu, whitespace (default: icu)", names, default=("icu",))
    add_flag(how, "--examples DIR", "a data folder whose labelled items are the few-shot examples (default: dev items)", Path)
    add_flag(how, "--allow-unreviewed", "allow instructions that no native reader has reviewed")
    add_flag(how, "--repeats N", "ask each question N times", positive_integer)
    add_flag(how, "--seed N", "seed for everything random (default: 0)", seed, default=0)
    majority_flag(how, None, "the board's, or drop")
    add_flag(
        how,
        "--reask KINDS",
        "refused: ask calls that the judge refused again, up to three times; endpoint: ask calls again whose stored reply is a "
        "refusal by the endpoint (stored by earlier versions); both: refused,endpoint",
        reask,
        default=(),
    )
    add_flag(how, "--fresh", "ask every call again, even if it has an answer; the last reply counts, and all are kept")
    engine_flags(p)
    out_flag(p)
    add_flag(p, "--dry-run", "show calls, tokens, cost and the beginning of a prompt; --verbose: one prompt of each kind; ask no judge")
    show_texts_flag(p)
    add_flag(p, "--yes", "send the texts of --data, and fetch data of a collection, without asking for consent")
    by_task_flag(p)
    json_flag(p)


def report_flags(commands: Any) -> None:
    p = command(commands, "report", "run:report", "rebuild a run's report from the store, without asking a judge")
    p.add_argument("run", nargs="?", metavar="RUN", help="a run's name, the beginning of one, or its folder (default: the latest run)")
    add_flag(p, "--figures", "write the report's figures (SVG, PDF, PNG) to the run's folder (extra 'figures')")
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
