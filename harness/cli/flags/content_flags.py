"""The flags of the commands of content: list, check and new."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from harness.cli.arguments import add_flag, command, content_flag, json_flag, out_flag


def list_flags(commands: Any) -> None:
    p = command(commands, "list", "content:list_content", "list languages, tasks, rubrics, published data sets, boards or judges")
    p.add_argument("kind", choices=("languages", "tasks", "rubrics", "datasets", "boards", "judges"))
    content_flag(p)
    json_flag(p)


def check_flags(commands: Any) -> None:
    p = command(commands, "check", "content:check", "check all content: fields, scales, ids and versions")
    p.set_defaults(in_checkout=True)
    add_flag(p, "--accept", "if nothing is wrong, write content.lock for content that is new or whose version was raised")
    content_flag(p)
    json_flag(p)


def new_flags(commands: Any) -> None:
    p = command(commands, "new", "content:new", "create the files of a new language pack, task, rubric or prompt, or a gate's policy")
    p.add_argument("kind", choices=("language", "task", "rubric", "prompt", "gate"))
    p.add_argument("name", help="a language tag such as 'ko', a name such as 'translate', or for gate a run or data folder")
    add_flag(
        p,
        "--into DIR",
        "the folder to write into (default: the current folder; for content inside a checkout, the checkout)",
        Path,
        default=None,
    )
    out_flag(p)
