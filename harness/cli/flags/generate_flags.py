"""The flags of `harness generate`."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from harness.cli.arguments import (
    base_url_flag,
    command,
    content_flag,
    engine_flags,
    json_flag,
    languages_flag,
    positive_integer,
    reask,
    seed,
    show_texts_flag,
    single_temperature,
    single_top_p,
)


def generate_flags(commands: Any) -> None:
    p = command(commands, "generate", "generate:generate_texts", "let models write the outputs of a task, as a data folder to be judged")
    p.add_argument(
        "--task", required=True, metavar="NAME", help="what is written: summarize, open_prompt, continue_writing, rate_story, ..."
    )
    p.add_argument("--by", action="append", required=True, metavar="JUDGE", help="who writes: any judge that is a model; repeatable")
    languages_flag(p, "languages, separated by commas: ja,cs (default: all that have inputs)")
    p.add_argument("--data", type=Path, metavar="DIR", help="take the inputs of a data folder instead of the control items'")
    p.add_argument("--limit", type=positive_integer, metavar="N", help="only the first N inputs of each language")
    content_flag(p)
    base_url_flag(p, "writers")
    how = p.add_argument_group("how to ask")
    how.add_argument("--temperature", type=single_temperature, default=0.0, metavar="T", help="sampling temperature (default: 0)")
    how.add_argument("--top-p", type=single_top_p, metavar="P", help="nucleus sampling (default: the endpoint's default)")
    how.add_argument("--own-language", action="store_true", help="ask in the language of the items instead of English")
    how.add_argument("--allow-unreviewed", action="store_true", help="allow instructions that no native reader has reviewed")
    how.add_argument("--seed", type=seed, default=0, metavar="N", help="seed of the calls (default: 0)")
    how.add_argument(
        "--reask", type=reask, default=(), metavar="KINDS", help="refused: ask calls that a model refused again; endpoint; both"
    )
    engine_flags(p, detach=False)
    p.set_defaults(detach=False, fresh=False)
    p.add_argument(
        "--out",
        type=Path,
        required=True,
        metavar="DIR",
        help="the data folder to write; replies are kept there, and outputs are added to it",
    )
    p.add_argument("--dry-run", action="store_true", help="show a request for each language, calls, tokens and cost; ask nobody")
    show_texts_flag(p)
    p.add_argument("--yes", action="store_true", help="send the texts of --data to the endpoint without asking for consent")
    json_flag(p)
