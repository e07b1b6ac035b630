"""The flags of `harness store`."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from harness.cli.arguments import add_flag, command, group, json_flag, out_flag


def store_flags(commands: Any) -> None:
    sub = group(commands, "store", "check, export, clean or merge the replies of results folders")
    p = command(sub, "check", "store:check", "check the store: its file, and the relations and checksums of its rows")
    out_flag(p)
    json_flag(p)
    p = command(sub, "export", "store:export", "export the replies of a results folder, for replay/<file>")
    add_flag(p, "--to FILE", "the file to write (.jsonl)", Path, required=True)
    add_flag(p, "--judge NAME", "only this judge's replies")
    out_flag(p)
    p = command(sub, "gc", "store:gc", "delete unreferenced rows, never answers, and reclaim disk space")
    add_flag(p, "--dry-run", "show what would be removed, and remove nothing")
    add_flag(
        p,
        "--endpoint-refusals",
        "also remove replies that are refusals by the endpoint (403 and others), which earlier versions stored as answers",
    )
    out_flag(p)
    json_flag(p)
    p = command(sub, "merge", "store:merge", "merge the results folders of several machines into one")
    p.add_argument("sources", nargs="+", type=Path, metavar="DIR", help="a results folder to read")
    add_flag(p, "--out DIR", "the results folder to merge into; created if it does not exist", Path, required=True)
    json_flag(p)
