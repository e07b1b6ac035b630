"""The flags of `harness atlas`."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from harness.cli.arguments import command, json_flag


def atlas_flags(commands: Any) -> None:
    p = command(commands, "atlas", "atlas:show", "what is known of judges by language: which one may be used for what, on people's labels")
    p.add_argument("action", nargs="?", choices=("build",), help="make the atlas again, from the published sets that are on this machine")
    p.add_argument("--lang", metavar="LANGUAGE", help="only this language, by its tag or its name in any language: ja, Japanese, 日本語")
    p.add_argument("--judge", metavar="NAME", help="only this judge")
    p.add_argument("--quality", metavar="NAME", help="only this quality: harm, language, faithfulness, preference, ...")
    p.add_argument("--html", type=Path, metavar="DIR", help="write pages: an index, a page for each language and one for each judge")
    p.add_argument("--url", metavar="URL", help="with --html: the address where the pages will be, for pictures in previews of links")
    p.add_argument("--beside", action="append", default=[], metavar="NAME=PAGE", help="with --html: link to a page beside them; repeatable")
    p.add_argument(
        "--to", type=Path, metavar="FILE", help="with build: where to write it, and .parquet beside it (default: leaderboards/atlas.json)"
    )
    json_flag(p)
