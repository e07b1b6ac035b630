"""The flags of `harness submit` and `harness board`."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from harness.cli.arguments import (
    command,
    content_flag,
    group,
    json_flag,
    names,
    out_flag,
    per_judge,
    positive_integer,
    positive_number,
    prices_flag,
    retry_flags,
    seed,
    share,
)


def submit_flags(commands: Any) -> None:
    p = command(
        commands, "submit", "boards.board:submit", "write a run's replies to a board's folder, so that they can be proposed; sends nothing"
    )
    p.add_argument("run", metavar="RUN", help="a run's name, the beginning of one, or its folder")
    p.add_argument("--board", required=True, metavar="NAME", help="the board whose protocol the run follows")
    where = _submission(p, "what to submit, and where to write it", "the run")
    where.add_argument("--part", action="store_true", help="a run of some languages or with --limit: submit it as a part, which says so")
    out_flag(where)
    _about(p)
    json_flag(p)


def _submission(p: Any, title: str, source: str) -> Any:
    """The judges of a submission, and the folder that is written."""
    where = p.add_argument_group(title)
    where.add_argument("--judge", action="append", default=[], metavar="NAME", help=f"only this judge of {source}; repeatable")
    where.add_argument("--name", metavar="DIRNAME", help="name of the submission's folder (default: from the judge's name)")
    where.add_argument("--into", type=Path, metavar="DIR", help="the checkout that holds leaderboards/ (default: the one in use)")
    where.add_argument("--replace", action="store_true", help="replace an earlier submission of the same judge")
    return where


def _about(p: Any) -> None:
    """What a submitter states about a judge."""
    about = p.add_argument_group("about the judge, for the tables")
    about.add_argument("--title", default="", metavar="TEXT", help="the judge's title in tables (default: its name)")
    about.add_argument("--contact", default="", metavar="TEXT", help="whom to ask about the submission; will be published")
    about.add_argument("--open-weights", choices=("yes", "no", "unknown"), default="unknown", help="whether its weights are available")
    about.add_argument(
        "--exposure",
        choices=("none", "possible", "trained", "unknown"),
        default="unknown",
        help="whether the judge may have seen the board's data in training",
    )
    about.add_argument("--exposure-note", default="", metavar="TEXT", help="what is known about the exposure")
    about.add_argument(
        "--families",
        type=names,
        default=(),
        metavar="NAMES",
        help="model families that the judge shares with the systems whose texts it judges",
    )


def board_flags(commands: Any) -> None:
    sub = group(commands, "board", "show, build, check, verify and seal leaderboards")
    for one in (_show, _build, _check, _record, _verify, _seal, _open, _rotate):
        one(sub)
    for parser in sub.choices.values():
        parser.set_defaults(in_checkout=True)


def _show(sub: Any) -> None:
    p = command(
        sub, "show", "boards.standings:show", "print a board's standings, recomputed from the raw replies, and the findings of probes"
    )
    p.add_argument("board", metavar="BOARD", help="the board's name; see 'harness list boards'")
    p.add_argument("--lang", metavar="TAG", help="only this language, with a table for each metric")
    _opened(p)
    json_flag(p)


def _build(sub: Any) -> None:
    p = command(sub, "build", "boards.standings:build", "write TABLE.md of each board, and a static site")
    p.add_argument("boards", nargs="*", metavar="BOARD", help="only these boards (default: all with submissions)")
    p.add_argument("--site", type=Path, metavar="DIR", help="also write a site to this folder: an index, and a page for each board")
    _opened(p)


def _check(sub: Any) -> None:
    p = command(sub, "check", "boards.board:check", "read every reply of the submissions again, and list all problems")
    p.add_argument("boards", nargs="*", metavar="BOARD", help="only these boards (default: all)")
    p.add_argument(
        "--changed",
        metavar="BASE",
        help="check only the commits since BASE (e.g. origin/main), which may add submissions and nothing else",
    )
    _opened(p)
    json_flag(p)


def _record(sub: Any) -> None:
    p = command(
        sub,
        "record",
        "boards.board:record",
        "write the judgments in a board's data folder as submissions of recorded scores, without raw replies",
    )
    p.add_argument("board", metavar="BOARD", help="a board that judges a data folder and asks every question once")
    p.add_argument("--origin", required=True, metavar="TEXT", help="where the scores come from, and under which licence; will be published")
    _data(p)
    _submission(p, "what to write, and where", "the judgments")
    _about(p)
    content_flag(p)
    json_flag(p)


def _opened(p: Any) -> None:
    """What a board is opened with."""
    _data(p)
    p.add_argument("--key", type=Path, metavar="FILE", help="an age key for the board's sealed labels; they are decrypted in memory only")
    content_flag(p)


def _data(p: Any) -> None:
    p.add_argument("--data", type=Path, metavar="DIR", help="the data, for a board that judges a data folder")


def _verify(sub: Any) -> None:
    p = command(
        sub,
        "verify",
        "boards.verify:verify",
        "ask a sample of a submission's calls again, twice each, and mark it as verified if the answers match",
    )
    p.add_argument("board", metavar="BOARD", help="the board")
    p.add_argument("submission", metavar="SUBMISSION", help="the submission's folder, by name or path")
    p.add_argument(
        "--share", type=share, default=0.05, metavar="S", help="share of the board's calls to ask, at least 20 calls (default: 0.05)"
    )
    p.add_argument("--seed", type=seed, metavar="N", help="seed for drawing the calls (default: random, so that nobody can predict it)")
    p.add_argument("--base-url", metavar="URL", help="the endpoint of an openai/ judge (default: from the environment)")
    _data(p)
    p.add_argument(
        "--out", type=Path, metavar="DIR", help="keep the replies, so that the same command can continue (default: discard them)"
    )
    content_flag(p)
    speed = p.add_argument_group("speed and limits (they change no number)")
    speed.add_argument("--concurrency", type=positive_integer, metavar="N", help="calls in flight")
    speed.add_argument("--rpm", type=per_judge(positive_number), metavar="N", help="at most N requests a minute")
    speed.add_argument("--tpm", type=per_judge(positive_number), metavar="N", help="at most N tokens a minute")
    retry_flags(speed)
    speed.add_argument("--max-cost", type=positive_number, metavar="DOLLARS", help="ask nothing if the calls would cost more than this")
    prices_flag(speed)
    p.add_argument("--yes", action="store_true", help="send the texts of a private data folder to the endpoint without asking for consent")
    json_flag(p)


def _seal(sub: Any) -> None:
    p = command(sub, "seal", "boards.seal:seal", "encrypt a board's labels, and publish a commitment (salted hash) to them")
    p.add_argument("board", metavar="BOARD", help="a board whose labels are kept elsewhere")
    p.add_argument("--labels", type=Path, required=True, metavar="DIR|FILE", help="the labels, outside the published folders")
    _recipients(p)
    p.add_argument("--canary", metavar="TEXT", help="the canary sentence in every data file of the board (default: a new one)")
    _data(p)
    content_flag(p)
    json_flag(p)


def _open(sub: Any) -> None:
    p = command(sub, "open", "boards.seal:open_", "decrypt the sealed labels of a board into a new folder")
    p.add_argument("board", metavar="BOARD", help="the board")
    _key(p)
    p.add_argument("--to", type=Path, required=True, metavar="DIR", help="a new folder, outside the published folders")
    content_flag(p)


def _rotate(sub: Any) -> None:
    p = command(sub, "rotate", "boards.seal:rotate", "encrypt a board's sealed labels for other keys; the labels do not change")
    p.add_argument("board", metavar="BOARD", help="the board")
    _key(p)
    _recipients(p)
    content_flag(p)


def _key(p: Any) -> None:
    p.add_argument("--key", type=Path, required=True, metavar="FILE", help="an age key that decrypts the labels, as written by age-keygen")


def _recipients(p: Any) -> None:
    p.add_argument(
        "--recipient", action="append", required=True, metavar="age1…", help="a public age key that may decrypt the labels; repeatable"
    )
