"""Commands of the study of self-preference."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from harness.cli.command import command
from harness.cli.commands.shared import CardFlags, ContentFlags, JsonFlags
from harness.options import Count, Flag, Names, Seed, Share


@command("harness.studies.self_preference.commands:self_preference")
class StudySelfPreference(JsonFlags, CardFlags):
    """Flags of `harness study self-preference`.

    harness study self-preference --data pairs
    harness study self-preference --data pairs --judge openai/gpt-4o --json
    """

    data: Annotated[Path, Flag(metavar="DIR")]
    """a data folder with recorded answers about pairs of outputs"""
    judge: Annotated[tuple[str, ...] | None, Flag(metavar="NAME")] = None
    """only this judge; repeatable"""
    seed: Annotated[Seed, Flag(metavar="N", setting=True)] = 0
    """seed for the resamples of the line"""


@command("harness.studies.self_preference.commands:export_fine_tuning")
class StudyExportFinetuning(ContentFlags):
    """Flags of `harness study export-finetuning`.

    harness study export-finetuning --data pairs --question longer --out chats
    harness study export-finetuning --data pairs --question longer --out chats --seed 1
    """

    data: Annotated[Path, Flag(metavar="DIR")]
    """a data folder of pairs, as 'harness pairs' writes it"""
    question: Annotated[str, Flag(metavar="NAME")]
    """recognition, longer, vowels, readable, always-1 or random (the last two are controls that can teach nothing)"""
    system: Annotated[str | None, Flag(metavar="NAME")] = None
    """for recognition: the system of the data that the tuned model is"""
    examples: Annotated[Count | None, Flag(metavar="N")] = None
    """at most N training examples (default: all)"""
    split: Annotated[Share, Flag(metavar="SHARE")] = 0.2
    """the share of source texts that is held out"""
    langs: Annotated[Names | None, Flag("--langs --lang", metavar="TAGS")] = None
    """languages, separated by commas (default: all of the data)"""
    seed: Annotated[Seed, Flag(metavar="N")] = 0
    """seed of the split and of random answers"""
    out: Annotated[Path, Flag(metavar="DIR")]
    """the folder to write; it must not exist"""
