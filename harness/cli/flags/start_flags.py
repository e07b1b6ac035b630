"""The flags of `harness start`."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from harness.cli.arguments import add_flag, allow_refused_flag, command, json_flag
from harness.cli.flags.labels_flags import mapping_flags


def start_flags(commands: Any) -> None:
    p = command(
        commands, "start", "start:start", "begin with a spreadsheet: find its texts and scores, import them, and say what to do next"
    )
    p.add_argument("source", type=Path, metavar="FILE", help="CSV, TSV, XLSX, JSONL or Parquet, with people's scores or with texts alone")
    add_flag(p, "--to DIR", "the data folder to write (default: the file's name without its ending)", Path)
    add_flag(p, "--yes", "take the guesses that are shown")
    add_flag(p, "--plan FILE.toml", "only write the mapping, to be corrected and passed as --map", Path)
    allow_refused_flag(p)
    mapping_flags(p)
    json_flag(p)
