"""The parser of `harness submit` and `harness board`."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from harness.cli.arguments import command, content, json, names, out


def submit_parser(commands: Any) -> None:
    p = command(commands, "submit", "board:submit", "write a run's replies into the folder of a board, to be proposed to it; sends nothing")
    p.add_argument("run", metavar="RUN", help="a run's name or its unique beginning")
    p.add_argument("--board", required=True, metavar="NAME", help="the board whose protocol the run follows")
    where = p.add_argument_group("what is submitted, and where it is written")
    where.add_argument("--judge", action="append", default=[], metavar="NAME", help="only this judge of the run; repeatable")
    where.add_argument("--name", metavar="DIRNAME", help="of the submission's folder (default: made of the judge's name)")
    where.add_argument("--into", type=Path, metavar="DIR", help="a checkout whose leaderboards/ it goes to (default: the one in use)")
    where.add_argument("--replace", action="store_true", help="put it in the place of an earlier submission of the same judge")
    out(where)  # type: ignore[arg-type]
    said = p.add_argument_group("what tables say of the judge")
    said.add_argument("--title", default="", metavar="TEXT", help="what it is called there (default: its name)")
    said.add_argument("--contact", default="", metavar="TEXT", help="whom to ask about the submission; it is published")
    said.add_argument("--open-weights", choices=("yes", "no", "unknown"), default="unknown", help="whether its weights can be had")
    said.add_argument(
        "--exposure",
        choices=("none", "possible", "trained", "unknown"),
        default="unknown",
        help="whether it may have seen the board's data in training",
    )
    said.add_argument("--exposure-note", default="", metavar="TEXT", help="what is known about that")
    said.add_argument(
        "--families", type=names, default=(), metavar="NAMES", help="model families that it shares with the systems whose texts it judges"
    )
    json(p)


def add(commands: Any) -> None:
    text = "look after leaderboards"
    parser = commands.add_parser("board", help=text, description=text[0].upper() + text[1:] + ".")
    sub = parser.add_subparsers(title="commands", metavar="COMMAND", required=True)
    for one in (_check,):
        one(sub)


def _check(sub: Any) -> None:
    p = command(sub, "check", "board:check", "read every reply of the submissions again, and say all that is wrong with them")
    p.add_argument("boards", nargs="*", metavar="BOARD", help="only these boards (default: all)")
    p.add_argument(
        "--changed",
        metavar="BASE",
        help="only what the commits since BASE (origin/main, say) bring, which may be new submissions and nothing else",
    )
    content(p)
    json(p)
