"""The flags of `harness generate`."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from harness.cli.arguments import (
    add_flag,
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
    add_flag(p, "--task NAME", "what is written: summarize, open_prompt, continue_writing, rate_story, ...", required=True)
    add_flag(p, "--by JUDGE ...", "who writes: any judge that is a model; repeatable", required=True)
    languages_flag(p, "languages, separated by commas: ja,cs (default: all that have inputs)")
    add_flag(p, "--data DIR", "take the inputs of a data folder instead of the control items'", Path)
    add_flag(p, "--limit N", "only the first N inputs of each language", positive_integer)
    content_flag(p)
    base_url_flag(p, "writers")
    how = p.add_argument_group("how to ask")
    add_flag(how, "--temperature T", "sampling temperature (default: 0)", single_temperature, default=0.0)
    add_flag(how, "--top-p P", "nucleus sampling (default: the endpoint's default)", single_top_p)
    add_flag(how, "--own-language", "ask in the language of the items instead of English")
    add_flag(how, "--allow-unreviewed", "allow instructions that no native reader has reviewed")
    add_flag(how, "--seed N", "seed of the calls (default: 0)", seed, default=0)
    add_flag(how, "--reask KINDS", "refused: ask calls that a model refused again; endpoint; both", reask, default=())
    engine_flags(p, detach=False)
    p.set_defaults(detach=False, fresh=False)
    add_flag(p, "--out DIR", "the data folder to write; replies are kept there, and outputs are added to it", Path, required=True)
    add_flag(p, "--dry-run", "show a request for each language, calls, tokens and cost; ask nobody")
    show_texts_flag(p)
    add_flag(p, "--yes", "send the texts of --data to the endpoint without asking for consent")
    json_flag(p)
