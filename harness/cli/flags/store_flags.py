"""The flags of `harness store`."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from harness.cli.arguments import command, group, json_flag, out_flag


def store_flags(commands: Any) -> None:
    sub = group(commands, "store", "check, export, clean or merge the replies of results folders")
    p = command(sub, "check", "store:check", "check the store: its file, and the relations and checksums of its rows")
    out_flag(p)
    json_flag(p)
    p = command(sub, "export", "store:export", "export the replies of a results folder, for replay/<file>")
    p.add_argument("--to", type=Path, required=True, metavar="FILE", help="the file to write (.jsonl)")
    p.add_argument("--judge", metavar="NAME", help="only this judge's replies")
    out_flag(p)
    p = command(sub, "gc", "store:gc", "delete unreferenced rows, never answers, and reclaim disk space")
    p.add_argument("--dry-run", action="store_true", help="show what would be removed, and remove nothing")
    p.add_argument(
        "--endpoint-refusals",
        action="store_true",
        help="also remove replies that are refusals by the endpoint (403 and others), which earlier versions stored as answers",
    )
    out_flag(p)
    json_flag(p)
    p = command(sub, "merge", "store:merge", "merge the results folders of several machines into one")
    p.add_argument("sources", nargs="+", type=Path, metavar="DIR", help="a results folder to read")
    p.add_argument("--out", type=Path, required=True, metavar="DIR", help="the results folder to merge into; created if it does not exist")
    json_flag(p)
