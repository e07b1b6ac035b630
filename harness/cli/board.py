"""`harness submit`, `harness board`."""

from __future__ import annotations

import argparse
import shlex
import sys
from collections.abc import Sequence
from typing import Any

from harness.boards.build import open_board
from harness.boards.check import Checked, CheckedBoards, check_boards
from harness.boards.probes import Finding
from harness.boards.scoring import Entry
from harness.boards.submit import About, Submission
from harness.boards.submit import submit as submit_run
from harness.content import Board, Library
from harness.content.problem import Problem
from harness.errors import ContentError
from harness.protocol import Prepared
from harness.runner import reopen
from harness.tables import to_json
from harness.text import plain


def submit(arguments: argparse.Namespace) -> int:
    about = About(
        name=arguments.name,
        title=arguments.title,
        open_weights=arguments.open_weights,
        contact=arguments.contact,
        exposure=arguments.exposure,
        exposure_note=arguments.exposure_note,
        families=arguments.families,
        into=arguments.into,
        replace=arguments.replace,
    )
    written = submit_run(reopen(arguments.run, arguments.out), arguments.out, arguments.board, about, arguments.judge)
    if arguments.json:
        sys.stdout.write(to_json([{"folder": str(one.folder), "calls": one.calls, "card": one.card} for one in written]))
        return 0
    for one in written:
        print(plain(f"{one.card.name}: {one.calls:,} replies written to {one.folder}"))
    print(plain("\n".join(["", *_next_steps(written, arguments.board), "", "Nothing has been sent anywhere."])))
    return 0


def _next_steps(written: Sequence[Submission], board: str) -> list[str]:
    """What is left to do, as commands that can be pasted."""
    first = written[0].folder
    folders = " ".join(shlex.quote(str(one.folder)) for one in written)
    hosts = sorted({str(one.card.settings["endpoint"]) for one in written if "endpoint" in one.card.settings})
    names = ", ".join(one.card.name for one in written)
    return [
        "What is left to do, in the checkout that holds leaderboards/:",
        "  [ ] read judge.toml: is the model a dated one? title, contact, open_weights, exposure and families can be changed in it"
        + ("" if written[0].card.contact else "; contact is empty"),
        *([f"  [ ] it names the endpoint that was asked ({', '.join(hosts)}): may that be public?"] if hosts else []),
        "  [ ] may the replies be published, by the terms of whoever runs the model?",
        f"  [ ] git switch -c submit-{first.name}",
        f"  [ ] harness board check {shlex.quote(board)}",
        f"  [ ] git add {folders}",
        f"  [ ] git commit -m {shlex.quote(f'{names} on {board}')}",
        "  [ ] harness board check --changed origin/main",
        "  [ ] push the branch and open a pull request; say in it how the run was made",
    ]


def check(arguments: argparse.Namespace) -> int:
    library = Library(*arguments.content)
    found = check_boards(
        library,
        arguments.boards,
        content=arguments.content,
        data=arguments.data,
        key=arguments.key,
        changed=arguments.changed,
        table=_table,
    )
    findings = _probed(library, found, arguments)
    if arguments.json:
        sys.stdout.write(to_json(_as_json(found) | {"findings": findings}))
    else:
        for problem in found.problems:
            print(_one_line(problem))
        for line in [*_summary(found), *_of_sealed(library, arguments.boards, opened=arguments.key is not None)]:
            print(plain(" ".join(line.splitlines())), file=sys.stderr)
        for finding in findings:
            print(plain(f"{finding.judge}: {'look closer: ' if finding.flagged else ''}{finding.sentence}"), file=sys.stderr)
    return 1 if found.problems else 0


def _probed(library: Library, found: CheckedBoards, arguments: argparse.Namespace) -> list[Finding]:
    """What probes find of the submissions that a change brings, if nothing is wrong with them; of sealed labels only with the key."""
    if found.change is None or found.problems:
        return []
    findings = []
    for board in dict.fromkeys(one.board for one in found.submissions):
        judges = {one.judge for one in found.submissions if one.board == board and not one.judge.startswith("baseline/")}
        if not judges or (library.board(board).sealed is not None and arguments.key is None):
            continue
        try:
            opened = open_board(library, board, arguments.content, data=arguments.data, key=arguments.key)
        except ContentError as err:
            print(plain(f"{board}: not probed, as it takes all submissions: {err}"), file=sys.stderr)
            continue
        findings += [finding for finding in opened.findings if finding.judge.partition("#")[0] in judges]
    return findings


def _table(board: Board, prepared: Prepared, entries: Sequence[Entry]) -> str:
    """What TABLE.md should say of these submissions."""
    from harness.boards.standings import standings
    from harness.render.standings_markdown import standings_markdown

    return standings_markdown(standings(board, prepared, entries))


def _of_sealed(library: Library, names: Sequence[str], *, opened: bool) -> list[str]:
    """What was looked at of sealed labels."""
    sealed = [name for name in names or library.board_files if library.board(name).sealed is not None]
    if opened:
        return [f"{name}: its sealed labels are those that were committed to" for name in sealed]
    return [f"{name}: its labels are sealed; replies were checked, numbers are checked with --key FILE" for name in sealed]


def _as_json(found: CheckedBoards) -> dict[str, Any]:
    """Every submission with what was found, and all problems in one list."""
    problems = [{"path": _printable(str(p.path)), "line": p.line, "message": p.message} for p in found.problems]
    submissions = [
        {
            "board": one.board,
            "submission": _printable(one.submission),
            "judge": one.judge,
            "status": one.status,
            "calls": one.calls,
            "failures": one.failures,
            "problems": len(one.problems),
        }
        for one in found.submissions
    ]
    return {"submissions": submissions, "problems": problems, "unchecked": found.unchecked}


def _one_line(problem: Problem) -> str:
    """A problem as one line, whatever characters a stranger's file has in its name."""
    return plain(" ".join(_printable(str(problem)).splitlines()))


def _printable(name: str) -> str:
    """A name of bytes that are no UTF-8 with marks for them."""
    return name.encode("utf-8", "replace").decode()


def _summary(found: CheckedBoards) -> list[str]:
    lines = [_line(one) for one in found.submissions]
    lines += [f"{name}: not checked: {why}" for name, why in found.unchecked.items()]
    if found.change is not None:
        lines.append(f"{found.change.files:,} files changed since {found.change.base[:12]}")
        if found.change.uncommitted:
            lines.append(f"{found.change.uncommitted:,} files of boards are in no commit and were not looked at")
    if found.problems:
        return [*lines, f"{len(found.problems)} problems"]
    return [*lines, f"{len(found.submissions)} submissions, nothing is wrong" if found.submissions else "no submissions"]


def _line(one: Checked) -> str:
    where = _printable(f"{one.board}/{one.submission}")
    if one.problems:
        return f"{where}: {len(one.problems)} problems"
    unread = ", ".join(f"{kind.replace('_', ' ')} {count:,}" for kind, count in one.failures.items())
    return f"{where}: {one.judge}, {one.calls:,} calls{f', not readable: {unread}' if unread else ''}"
