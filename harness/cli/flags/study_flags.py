"""The flags of the sections of published studies, and of the pairs of texts that they ask about."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from harness.cli.arguments import (
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
    p.add_argument("--data", type=Path, required=True, metavar="DIR", help="a data folder with recorded answers about pairs of outputs")
    p.add_argument("--judge", action="append", metavar="NAME", help="only this judge; repeatable")
    card_flag(p)
    p.add_argument("--seed", type=seed, default=0, metavar="N", help="seed for the resamples of the line (default: 0)")
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
    p.add_argument("--data", type=Path, required=True, metavar="DIR", help="a data folder with recorded scores and people's labels")
    p.add_argument("--judge", action="append", metavar="NAME", help="only this judge; repeatable")
    p.add_argument("--variant", action="append", metavar="NAME", help="only this variant; repeatable")
    p.add_argument("--metric", action="append", metavar="NAME", help="only this metric; repeatable")
    card_flag(p)
    p.add_argument("--seed", type=seed, default=0, metavar="N", help="seed for the resamples of intervals (default: 0)")
    json_flag(p)
    p = command(sub, "alter-texts", "study:alter_texts", "make altered texts from the control items, for the task rate_altered_text")
    languages_flag(p, "languages, separated by commas (default: all that have items)")
    p.add_argument(
        "--perturb",
        action="append",
        metavar="NAME:DOSE",
        help="a change; repeatable (default: typos:0.1 and shuffle-words:0.5); each text stands unchanged too",
    )
    p.add_argument("--limit", type=positive_integer, metavar="N", help="only the first N texts of each language")
    p.add_argument("--seed", type=seed, default=0, metavar="N", help="seed of the changes (default: 0)")
    p.add_argument("--out", type=Path, required=True, metavar="DIR", help="the data folder to write; it must not exist")
    content_flag(p)


def _study_export(sub: Any) -> None:
    p = command(
        sub, "export-finetuning", "study:export_fine_tuning", "write chats for fine-tuning a judge on a question about pairs, with answers"
    )
    p.add_argument("--data", type=Path, required=True, metavar="DIR", help="a data folder of pairs, as 'harness pairs' writes it")
    p.add_argument(
        "--question",
        required=True,
        metavar="NAME",
        help="recognition, longer, vowels, readable, always-1 or random (the last two are controls that can teach nothing)",
    )
    p.add_argument("--system", metavar="NAME", help="for recognition: the system of the data that the tuned model is")
    p.add_argument("--examples", type=positive_integer, metavar="N", help="at most N training examples (default: all)")
    p.add_argument("--split", type=share, default=0.2, metavar="SHARE", help="the share of source texts that is held out (default: 0.2)")
    languages_flag(p, "languages, separated by commas (default: all of the data)")
    p.add_argument("--seed", type=seed, default=0, metavar="N", help="seed of the split and of random answers (default: 0)")
    p.add_argument("--out", type=Path, required=True, metavar="DIR", help="the folder to write; it must not exist")
    content_flag(p)


def pairs_flags(commands: Any) -> None:
    """`pairs`."""
    p = command(commands, "pairs", "pairs:pairs", "make pairs of outputs from a data folder with outputs of several systems")
    p.add_argument("data", type=Path, metavar="DIR", help="a data folder whose items have one output each, and a 'system'")
    p.add_argument("--against", default="all", metavar="SYSTEM|human|all", help="each pair holds an output of this system (default: all)")
    p.add_argument(
        "--equal", metavar="METRIC:TOL", help="only pairs that people scored alike: their mean scores differ by TOL at most (Fluency:0.5)"
    )
    p.add_argument(
        "--control",
        type=names,
        default=(),
        metavar="METRICS",
        help="control questions whose answers are computed and become labels: longer, more_vowels, more_readable",
    )
    p.add_argument("--out", type=Path, required=True, metavar="DIR", help="the data folder to write; it must not exist")
    card_flag(p)
    content_flag(p)
