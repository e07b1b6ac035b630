"""The flags of the sections of published studies, and of the pairs of texts that they ask about."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from harness.cli.arguments import (
    add_flag,
    card_flag,
    command,
    content_flag,
    group,
    json_flag,
    languages_flag,
    names,
    positive_integer,
    seed,
    share,
)


def study_flags(commands: Any) -> None:
    """`study`."""
    sub = group(commands, "study", "the section of a published study from recorded answers, and texts for one")
    p = command(
        sub,
        "self-preference",
        "study:self_preference",
        "show whether judges recognise and prefer their own outputs (Panickssery et al. 2024)",
    )
    add_flag(p, "--data DIR", "a data folder with recorded answers about pairs of outputs", Path, required=True)
    add_flag(p, "--judge NAME ...", "only this judge; repeatable")
    card_flag(p)
    add_flag(p, "--seed N", "seed for the resamples of the line (default: 0)", seed, default=0)
    json_flag(p)
    _study_chiang_lee(sub)
    _study_export(sub)


def _study_chiang_lee(sub: Any) -> None:
    p = command(
        sub,
        "chiang-lee",
        "study:chiang_lee_section",
        "compare samples of a judge's ratings with people's, by text and by system (Chiang & Lee 2023)",
    )
    add_flag(p, "--data DIR", "a data folder with recorded scores and people's labels", Path, required=True)
    add_flag(p, "--judge NAME ...", "only this judge; repeatable")
    add_flag(p, "--variant NAME ...", "only this variant; repeatable")
    add_flag(p, "--metric NAME ...", "only this metric; repeatable")
    card_flag(p)
    add_flag(p, "--seed N", "seed for the resamples of intervals (default: 0)", seed, default=0)
    json_flag(p)
    p = command(sub, "alter-texts", "study:alter_texts", "make altered texts from the control items, for the task rate_altered_text")
    languages_flag(p, "languages, separated by commas (default: all that have items)")
    add_flag(
        p, "--perturb NAME:DOSE ...", "a change; repeatable (default: typos:0.1 and shuffle-words:0.5); each text stands unchanged too"
    )
    add_flag(p, "--limit N", "only the first N texts of each language", positive_integer)
    add_flag(p, "--seed N", "seed of the changes (default: 0)", seed, default=0)
    add_flag(p, "--out DIR", "the data folder to write; it must not exist", Path, required=True)
    content_flag(p)


def _study_export(sub: Any) -> None:
    p = command(
        sub, "export-finetuning", "study:export_fine_tuning", "write chats for fine-tuning a judge on a question about pairs, with answers"
    )
    add_flag(p, "--data DIR", "a data folder of pairs, as 'harness pairs' writes it", Path, required=True)
    add_flag(
        p,
        "--question NAME",
        "recognition, longer, vowels, readable, always-1 or random (the last two are controls that can teach nothing)",
        required=True,
    )
    add_flag(p, "--system NAME", "for recognition: the system of the data that the tuned model is")
    add_flag(p, "--examples N", "at most N training examples (default: all)", positive_integer)
    add_flag(p, "--split SHARE", "the share of source texts that is held out (default: 0.2)", share, default=0.2)
    languages_flag(p, "languages, separated by commas (default: all of the data)")
    add_flag(p, "--seed N", "seed of the split and of random answers (default: 0)", seed, default=0)
    add_flag(p, "--out DIR", "the folder to write; it must not exist", Path, required=True)
    content_flag(p)


def pairs_flags(commands: Any) -> None:
    """`pairs`."""
    p = command(commands, "pairs", "pairs:pairs", "make pairs of outputs from a data folder with outputs of several systems")
    p.add_argument("data", type=Path, metavar="DIR", help="a data folder whose items have one output each, and a 'system'")
    add_flag(p, "--against SYSTEM|human|all", "each pair holds an output of this system (default: all)", default="all")
    add_flag(p, "--equal METRIC:TOL", "only pairs that people scored alike: their mean scores differ by TOL at most (Fluency:0.5)")
    add_flag(
        p,
        "--control METRICS",
        "control questions whose answers are computed and become labels: longer, more_vowels, more_readable",
        names,
        default=(),
    )
    add_flag(p, "--out DIR", "the data folder to write; it must not exist", Path, required=True)
    card_flag(p)
    content_flag(p)
