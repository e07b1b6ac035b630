"""The parser of `harness submit` and `harness board`."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from harness.cli.arguments import above_zero, command, content, for_judge, group, json, names, one_share, out, positive, prices, seed, tries


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
    sub = group(commands, "board", "look after leaderboards")
    for one in (_show, _build, _check, _verify, _seal, _open, _rotate):
        one(sub)


def _show(sub: Any) -> None:
    p = command(sub, "show", "standings:show", "print a board's standings, ranked anew from the raw replies, and what probes find")
    p.add_argument("board", metavar="BOARD", help="the board's name; see 'harness list boards'")
    p.add_argument("--lang", metavar="TAG", help="only this language, with a table for each metric")
    _data(p)
    _labels_key(p)
    content(p)
    json(p)


def _build(sub: Any) -> None:
    p = command(sub, "build", "standings:build", "write TABLE.md of boards, and a static site of them")
    p.add_argument("boards", nargs="*", metavar="BOARD", help="only these boards (default: all with submissions)")
    p.add_argument("--site", type=Path, metavar="DIR", help="also write a site: an index, and a page for each board")
    _data(p)
    _labels_key(p)
    content(p)


def _check(sub: Any) -> None:
    p = command(sub, "check", "board:check", "read every reply of the submissions again, and say all that is wrong with them")
    p.add_argument("boards", nargs="*", metavar="BOARD", help="only these boards (default: all)")
    p.add_argument(
        "--changed",
        metavar="BASE",
        help="only what the commits since BASE (origin/main, say) bring, which may be new submissions and nothing else",
    )
    _data(p)
    _labels_key(p)
    content(p)
    json(p)


def _data(p: Any) -> None:
    p.add_argument("--data", type=Path, metavar="DIR", help="the data of a board that judges a data folder")


def _labels_key(p: Any) -> None:
    p.add_argument("--key", type=Path, metavar="FILE", help="an age key that opens the board's sealed labels, in memory only")


def _verify(sub: Any) -> None:
    p = command(sub, "verify", "verify:verify", "ask some of a submission's calls again, twice each, and mark it as verified if it holds")
    p.add_argument("board", metavar="BOARD", help="the board")
    p.add_argument("submission", metavar="SUBMISSION", help="the folder of the submission, by its name or path")
    p.add_argument("--share", type=one_share, default=0.05, metavar="S", help="of the board's calls, at least 20 of them (default: 0.05)")
    p.add_argument("--seed", type=seed, metavar="N", help="draws the calls (default: one that nobody could know beforehand)")
    p.add_argument("--base-url", metavar="URL", help="the endpoint of an openai/ judge, if not the environment's")
    _data(p)
    p.add_argument("--out", type=Path, metavar="DIR", help="keep what is answered, so that the same command goes on (default: thrown away)")
    content(p)
    speed = p.add_argument_group("how fast, and how far (moves no number)")
    speed.add_argument("--concurrency", type=positive, metavar="N", help="calls in flight")
    speed.add_argument("--rpm", type=for_judge(above_zero), metavar="N", help="requests a minute, at most")
    speed.add_argument("--tpm", type=for_judge(above_zero), metavar="N", help="tokens a minute, at most")
    tries(speed)
    speed.add_argument("--max-cost", type=above_zero, metavar="DOLLARS", help="ask nothing if it takes more than that")
    prices(speed)
    p.add_argument("--yes", action="store_true", help="send the texts of a private data folder to the endpoint without asking")
    json(p)


def _seal(sub: Any) -> None:
    p = command(sub, "seal", "seal:seal", "encrypt the labels of a board beside it, and commit to them")
    p.add_argument("board", metavar="BOARD", help="a board without labels, which are elsewhere")
    p.add_argument("--labels", type=Path, required=True, metavar="DIR|FILE", help="the labels, outside of what is published")
    _recipients(p)
    p.add_argument("--canary", metavar="TEXT", help="the sentence that stands in every data file of the board (default: a new one)")
    _data(p)
    content(p)
    json(p)


def _open(sub: Any) -> None:
    p = command(sub, "open", "seal:open_", "decrypt the sealed labels of a board into a new folder")
    p.add_argument("board", metavar="BOARD", help="the board")
    _key(p)
    p.add_argument("--to", type=Path, required=True, metavar="DIR", help="a folder that is not there yet, outside of what is published")
    content(p)


def _rotate(sub: Any) -> None:
    p = command(sub, "rotate", "seal:rotate", "encrypt the sealed labels of a board to other keys; the labels stay what they are")
    p.add_argument("board", metavar="BOARD", help="the board")
    _key(p)
    _recipients(p)
    content(p)


def _key(p: Any) -> None:
    p.add_argument("--key", type=Path, required=True, metavar="FILE", help="an age key that opens them, as age-keygen writes it")


def _recipients(p: Any) -> None:
    p.add_argument(
        "--recipient", action="append", required=True, metavar="age1…", help="a public key of age that can open the labels; repeatable"
    )
