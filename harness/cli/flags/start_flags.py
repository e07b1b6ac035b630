"""The flags of `harness start`."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from harness.cli.arguments import allow_refused_flag, command, json_flag
from harness.cli.flags.labels_flags import mapping_flags


def start_flags(commands: Any) -> None:
    p = command(
        commands, "start", "start:start", "begin with a spreadsheet: find its texts and scores, import them, and say what to do next"
    )
    p.add_argument("source", type=Path, metavar="FILE", help="CSV, TSV, XLSX, JSONL or Parquet, with people's scores or with texts alone")
    p.add_argument("--to", type=Path, metavar="DIR", help="the data folder to write (default: the file's name without its ending)")
    p.add_argument("--yes", action="store_true", help="take the guesses that are shown")
    p.add_argument("--plan", type=Path, metavar="FILE.toml", help="only write the mapping, to be corrected and passed as --map")
    allow_refused_flag(p)
    mapping_flags(p)
    json_flag(p)
