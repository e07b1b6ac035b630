"""Commands of the study of ratings."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from harness.cli.command import command
from harness.cli.commands.shared import CardFlags, ContentFlags, JsonFlags
from harness.options import Count, Flag, Names, Seed


@command("harness.studies.chiang_lee.commands:compare_ratings")
class StudyChiangLee(JsonFlags, CardFlags):
    """Flags of `harness study chiang-lee`.

    harness study chiang-lee --data pariksha
    harness study chiang-lee --data pariksha --metric tone --json
    """

    data: Annotated[Path, Flag(metavar="DIR")]
    """a data folder with recorded scores and people's labels"""
    judge: Annotated[tuple[str, ...] | None, Flag(metavar="NAME")] = None
    """only this judge; repeatable"""
    variant: Annotated[tuple[str, ...] | None, Flag(metavar="NAME")] = None
    """only this variant; repeatable"""
    metric: Annotated[tuple[str, ...] | None, Flag(metavar="NAME")] = None
    """only this metric; repeatable"""
    seed: Annotated[Seed, Flag(metavar="N", setting=True)] = 0
    """seed for the resamples of intervals"""


@command("harness.studies.chiang_lee.commands:write_texts")
class StudyAlterTexts(ContentFlags):
    """Flags of `harness study alter-texts`.

    harness study alter-texts --out altered
    harness study alter-texts --langs ja,cs --perturb typos:0.2 --limit 20 --out altered
    """

    langs: Annotated[Names | None, Flag("--langs --lang", metavar="TAGS")] = None
    """languages, separated by commas (default: all that have items)"""
    perturb: Annotated[tuple[str, ...] | None, Flag(metavar="NAME:DOSE")] = None
    """a change; repeatable (default: typos:0.1 and shuffle-words:0.5); each text stands unchanged too"""
    limit: Annotated[Count | None, Flag(metavar="N")] = None
    """only the first N texts of each language"""
    seed: Annotated[Seed, Flag(metavar="N")] = 0
    """seed of the changes"""
    out: Annotated[Path, Flag(metavar="DIR")]
    """the data folder to write; it must not exist"""
