"""The flags of `harness submit` and `harness board`."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from harness.cli.arguments import (
    add_flag,
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
    add_flag(p, "--board NAME", "the board whose protocol the run follows", required=True)
    where = _submission(p, "what to submit, and where to write it", "the run")
    add_flag(where, "--part", "a run of some languages or with --limit: submit it as a part, which says so")
    out_flag(where)
    _about(p)
    json_flag(p)


def _submission(p: Any, title: str, source: str) -> Any:
    where = p.add_argument_group(title)
    add_flag(where, "--judge NAME ...", f"only this judge of {source}; repeatable", default=[])
    add_flag(where, "--name DIRNAME", "name of the submission's folder (default: from the judge's name)")
    add_flag(where, "--into DIR", "the checkout that holds leaderboards/ (default: the one in use)", Path)
    add_flag(where, "--replace", "replace an earlier submission of the same judge")
    return where


def _about(p: Any) -> None:
    about = p.add_argument_group("about the judge, for the tables")
    add_flag(about, "--title TEXT", "the judge's title in tables (default: its name)", default="")
    add_flag(about, "--contact TEXT", "whom to ask about the submission; will be published", default="")
    add_flag(about, "--open-weights", "whether its weights are available", choices=("yes", "no", "unknown"), default="unknown")
    add_flag(
        about,
        "--exposure",
        "whether the judge may have seen the board's data in training",
        choices=("none", "possible", "trained", "unknown"),
        default="unknown",
    )
    add_flag(about, "--exposure-note TEXT", "what is known about the exposure", default="")
    add_flag(about, "--families NAMES", "model families that the judge shares with the systems whose texts it judges", names, default=())


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
    add_flag(p, "--lang TAG", "only this language, with a table for each metric")
    add_flag(p, "--all", "also a table for each language, the findings of probes and what the headings mean")
    _opened(p)
    json_flag(p)


def _build(sub: Any) -> None:
    p = command(sub, "build", "boards.standings:build", "write TABLE.md of each board, and a static site")
    p.add_argument("boards", nargs="*", metavar="BOARD", help="only these boards (default: all with submissions)")
    add_flag(p, "--site DIR", "also write a site to this folder: an index, and a page for each board", Path)
    add_flag(p, "--beside NAME=PAGE ...", "with --site: link to a page beside them", default=[])
    _opened(p)


def _check(sub: Any) -> None:
    p = command(sub, "check", "boards.board:check", "read every reply of the submissions again, and list all problems")
    p.add_argument("boards", nargs="*", metavar="BOARD", help="only these boards (default: all)")
    add_flag(p, "--changed BASE", "check only the commits since BASE (e.g. origin/main), which may add submissions and nothing else")
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
    add_flag(p, "--origin TEXT", "where the scores come from, and under which licence; will be published", required=True)
    _data(p)
    _submission(p, "what to write, and where", "the judgments")
    _about(p)
    content_flag(p)
    json_flag(p)


def _opened(p: Any) -> None:
    _data(p)
    add_flag(p, "--key FILE", "an age key for the board's sealed labels; they are decrypted in memory only", Path)
    content_flag(p)


def _data(p: Any) -> None:
    add_flag(p, "--data DIR", "the data, for a board that judges a data folder", Path)


def _verify(sub: Any) -> None:
    p = command(
        sub,
        "verify",
        "boards.verify:verify",
        "ask a sample of a submission's calls again, twice each, and mark it as verified if the answers match",
    )
    p.add_argument("board", metavar="BOARD", help="the board")
    p.add_argument("submission", metavar="SUBMISSION", help="the submission's folder, by name or path")
    add_flag(p, "--share S", "share of the board's calls to ask, at least 20 calls (default: 0.05)", share, default=0.05)
    add_flag(p, "--seed N", "seed for drawing the calls (default: random, so that nobody can predict it)", seed)
    add_flag(p, "--base-url URL", "the endpoint of an openai/ judge (default: from the environment)")
    _data(p)
    add_flag(p, "--out DIR", "keep the replies, so that the same command can continue (default: discard them)", Path)
    content_flag(p)
    speed = p.add_argument_group("speed and limits (they change no number)")
    add_flag(speed, "--concurrency N", "calls in flight", positive_integer)
    add_flag(speed, "--rpm N", "at most N requests a minute", per_judge(positive_number))
    add_flag(speed, "--tpm N", "at most N tokens a minute", per_judge(positive_number))
    retry_flags(speed)
    add_flag(speed, "--max-cost DOLLARS", "ask nothing if the calls would cost more than this", positive_number)
    prices_flag(speed)
    add_flag(p, "--yes", "send the texts of a private data folder to the endpoint without asking for consent")
    json_flag(p)


def _seal(sub: Any) -> None:
    p = command(sub, "seal", "boards.seal:seal", "encrypt a board's labels, and publish a commitment (salted hash) to them")
    p.add_argument("board", metavar="BOARD", help="a board whose labels are kept elsewhere")
    add_flag(p, "--labels DIR|FILE", "the labels, outside the published folders", Path, required=True)
    _recipients(p)
    add_flag(p, "--canary TEXT", "the canary sentence in every data file of the board (default: a new one)")
    _data(p)
    content_flag(p)
    json_flag(p)


def _open(sub: Any) -> None:
    p = command(sub, "open", "boards.seal:open_", "decrypt the sealed labels of a board into a new folder")
    p.add_argument("board", metavar="BOARD", help="the board")
    _key(p)
    add_flag(p, "--to DIR", "a new folder, outside the published folders", Path, required=True)
    content_flag(p)


def _rotate(sub: Any) -> None:
    p = command(sub, "rotate", "boards.seal:rotate", "encrypt a board's sealed labels for other keys; the labels do not change")
    p.add_argument("board", metavar="BOARD", help="the board")
    _key(p)
    _recipients(p)
    content_flag(p)


def _key(p: Any) -> None:
    add_flag(p, "--key FILE", "an age key that decrypts the labels, as written by age-keygen", Path, required=True)


def _recipients(p: Any) -> None:
    add_flag(p, "--recipient age1… ...", "a public age key that may decrypt the labels; repeatable", required=True)
