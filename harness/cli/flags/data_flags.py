"""The flags of `harness data`."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from harness.cli.arguments import add_flag, command, content_flag, group, json_flag, languages_flag


def data_flags(commands: Any) -> None:
    sub = group(commands, "data", "list, fetch, check and remove published data with people's labels")
    p = command(
        sub, "list", "data:show_list", "list published data: languages, texts, annotators, judges, licence, and whether they are here"
    )
    languages_flag(p, "only data in these languages: ja,cs")
    content_flag(p)
    json_flag(p)
    p = command(sub, "get", "data:get", "fetch published data from their authors, check and convert them")
    p.add_argument("names", nargs="*", metavar="NAME", help="what to fetch; see 'harness data list'")
    languages_flag(p, "all data in these languages: ja,cs")
    add_flag(p, "--all", "all data that can be fetched")
    add_flag(p, "--yes", "accept the licences without being asked")
    add_flag(p, "--partial", "convert what there is where the origin lacks files")
    _home(p)
    content_flag(p)
    p = command(sub, "check", "data:check", "read fetched data again and hold them against the hashes of their card")
    p.add_argument("names", nargs="*", metavar="NAME", help="what to check (default: all that are here)")
    _home(p)
    content_flag(p)
    json_flag(p)
    p = command(sub, "remove", "data:remove", "remove fetched data and their raw files")
    p.add_argument("names", nargs="+", metavar="NAME", help="what to remove")
    _home(p)
    content_flag(p)
    p = command(sub, "path", "data:path", "print the folder of fetched data")
    p.add_argument("name", metavar="NAME", help="whose folder")
    _home(p)
    content_flag(p)


def _home(p: Any) -> None:
    add_flag(p, "--to DIR", "the folder for data folders (default: in the user's folder for data)", Path)
