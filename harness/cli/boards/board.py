"""`harness submit`, `harness board`."""

from __future__ import annotations

import os
import shlex
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import msgspec

from harness.boards.board import open_board
from harness.boards.checked_boards import CheckedBoards, CheckedSubmission, check_boards
from harness.boards.examined_submission import ScoredSubmission
from harness.boards.probes import Finding
from harness.boards.recorded import RECORDED
from harness.boards.submit import SubmitterStatement, WrittenSubmission
from harness.boards.submit import record as record_scores
from harness.boards.submit import submit as submit_run
from harness.cli.arguments import given_fields
from harness.cli.commands.leaderboards import BoardCheck, BoardRecord, Submit
from harness.cli.content import other_checkout
from harness.content import Board, Library
from harness.decide.sentences import unread_sentence
from harness.errors import JUDGE, UNCHECKED, ContentError, UsageError
from harness.judges import traits_of
from harness.row_files import to_json
from harness.runs import Prepared, reopen, run_place
from harness.text import terminal_safe


def submit(arguments: Submit) -> int:
    name, out = run_place(arguments.run, arguments.out)
    run = reopen(name, out)
    into = arguments.into or _find_checkout(arguments.board)
    about = SubmitterStatement(**given_fields(arguments, SubmitterStatement) | {"into": into})
    written = submit_run(run, out, arguments.board, about, arguments.judge)
    if arguments.json:
        return _print_written(written)
    for submission in written:
        print(terminal_safe(f"{submission.card.name}: {submission.calls:,} replies written to {submission.folder}"))
    print(terminal_safe("\n".join(["", *_list_next_steps(written, arguments.board), "", "Nothing has been sent anywhere."])))
    return 0


def _find_checkout(board: str) -> Path | None:
    """The checkout that the command is called in, which has to have the board; None in the program's own checkout."""
    checkout = other_checkout()
    if checkout is not None and not (checkout / "leaderboards" / board / "board.toml").is_file():
        raise UsageError(
            f"the checkout {checkout} has no board '{board}'; call this in a checkout that has it, or name one with --into DIR"
        )
    return checkout


def record(arguments: BoardRecord) -> int:
    about = SubmitterStatement(**given_fields(arguments, SubmitterStatement))
    written = record_scores(arguments.board, about, arguments.judge, data=arguments.data, content=arguments.content)
    if arguments.json:
        return _print_written(written)
    for submission in written:
        print(
            terminal_safe(
                f"{submission.card.title or submission.card.name}: {submission.calls:,} recorded scores written to {submission.folder}"
            )
        )
    print(terminal_safe(f"\nNothing has been sent anywhere. 'harness board check {arguments.board}' reads them again."))
    return 0


def _print_written(written: Sequence[WrittenSubmission]) -> int:
    sys.stdout.write(
        to_json([{"folder": str(submission.folder), "calls": submission.calls, "card": submission.card} for submission in written])
    )
    return 0


def _list_next_steps(written: Sequence[WrittenSubmission], board: str) -> list[str]:
    first = written[0].folder
    absolute = first.resolve()
    checkout = next(
        (above for above in absolute.parents if (above / ".git").exists()), absolute.parents[3]
    )  # leaderboards/BOARD/submissions
    folders = " ".join(shlex.quote(submission.folder.resolve().relative_to(checkout).as_posix()) for submission in written)
    elsewhere = [] if checkout == Path.cwd() else [f"  [ ] cd {shlex.quote(os.path.relpath(checkout))}"]
    hosts = sorted({str(submission.card.settings["endpoint"]) for submission in written if "endpoint" in submission.card.settings})
    names = ", ".join(submission.card.name for submission in written)
    return [
        "What is left to do, in the checkout that holds leaderboards/:",
        "  [ ] read judge.toml: does the model's name have a date? You may change title, contact, open_weights, exposure and families"
        + ("" if written[0].card.contact else "; contact is empty"),
        *([f"  [ ] judge.toml names the endpoint ({', '.join(hosts)}): may that be public?"] if hosts else []),
        "  [ ] do the terms of the model's provider allow you to publish the replies?",
        *elsewhere,
        f"  [ ] git switch -c submit-{first.name}",
        f"  [ ] harness board check {shlex.quote(board)}",
        f"  [ ] git add {folders}",
        f"  [ ] git commit -m {shlex.quote(f'{names} on {board}')}",
        "  [ ] harness board check --changed origin/main",
        "  [ ] push the branch and open a pull request that says how the run was made",
    ]


def check(arguments: BoardCheck) -> int:
    library = Library(*arguments.content)
    checked = check_boards(
        library,
        arguments.boards,
        content=arguments.content,
        data=arguments.data,
        key=arguments.key,
        changed=arguments.changed,
        table=_render_table,
    )
    findings = _probe(library, checked, arguments)
    unread = [
        unread_sentence(submission.unread, f"{submission.judge} has no rank on {submission.board}")
        for submission in checked.submissions
        if submission.unread
    ]
    for line in unread:
        print(terminal_safe(line), file=sys.stderr)
    if arguments.json:
        sys.stdout.write(to_json(_to_json_object(checked) | {"findings": findings}))
    else:
        for problem in checked.problems:
            print(terminal_safe(" ".join(_make_printable(str(problem)).splitlines())))
        was_read = not (checked.change and checked.change.unreadable)
        sealed = _write_sealed_notes(library, arguments.boards, opened=arguments.key is not None) if was_read else []
        for line in [*_summarise_check(checked, library, arguments.boards), *sealed]:
            print(terminal_safe(" ".join(line.splitlines())), file=sys.stderr)
        for finding in findings:
            print(terminal_safe(f"{finding.judge}: {'look closer: ' if finding.flagged else ''}{finding.sentence}"), file=sys.stderr)
    if checked.problems:
        return 1
    if unread:
        return JUDGE
    return UNCHECKED if checked.unchecked else 0


def _probe(library: Library, checked: CheckedBoards, arguments: Any) -> list[Finding]:
    """Findings about the submissions of a change that has no problems; on boards with sealed labels only with the key."""
    if checked.change is None or checked.problems:
        return []
    findings = []
    for board in dict.fromkeys(submission.board for submission in checked.submissions):
        judges = {
            submission.judge
            for submission in checked.submissions
            if submission.board == board and not traits_of(submission.judge).is_baseline
        }
        if not judges or (library.board(board).sealed is not None and arguments.key is None):
            continue
        try:
            opened = open_board(library, board, arguments.content, data=arguments.data, key=arguments.key)
        except ContentError as err:
            print(terminal_safe(f"{board}: not probed, because probes need all submissions: {err}"), file=sys.stderr)
            continue
        findings += [finding for finding in opened.findings if finding.judge.partition("#")[0] in judges]
    return findings


def _render_table(board: Board, prepared: Prepared, entries: Mapping[Path, ScoredSubmission]) -> str:
    from harness.boards.board import findings_about
    from harness.boards.board_standings import standings
    from harness.render.markdown import standings_markdown

    return standings_markdown(standings(board, prepared, list(entries.values())), findings_about(board, prepared, entries))


def _write_sealed_notes(library: Library, names: Sequence[str], *, opened: bool) -> list[str]:
    sealed = [name for name in names or library.board_files if library.board(name).sealed is not None]
    if opened:
        return [f"{name}: the sealed labels match their commitment" for name in sealed]
    return [f"{name}: the labels are sealed; replies were checked, but numbers need --key FILE" for name in sealed]


def _to_json_object(checked: CheckedBoards) -> dict[str, Any]:
    """Every submission with its counts, and all problems in one list."""
    problems = [{"path": _make_printable(str(p.path)), "line": p.line, "message": p.message} for p in checked.problems]
    submissions = [
        msgspec.structs.asdict(submission) | {"submission": _make_printable(submission.submission), "problems": len(submission.problems)}
        for submission in checked.submissions
    ]
    change = checked.change and {"base": checked.change.base, "begin": checked.change.begin, "files": checked.change.files}
    return {"submissions": submissions, "problems": problems, "unchecked": checked.unchecked, "change": change}


def _make_printable(name: str) -> str:
    """A name with question marks for bytes that are not UTF-8."""
    return name.encode("utf-8", "replace").decode()


def _summarise_check(checked: CheckedBoards, library: Library, names: Sequence[str]) -> list[str]:
    lines = [_describe_submission(submission) for submission in checked.submissions]
    lines += [f"{name}: not checked: {' '.join(why.split())}" for name, why in checked.unchecked.items()]
    if checked.change is not None:
        base = checked.change.base
        lines.append(f"compared with {base.name}{f' ({base.ref})' if base.ref not in ('', base.name) else ''}, commit {base.commit}")
        lines.append(f"{checked.change.files:,} files changed since {checked.change.begin[:12]}")
        if checked.change.unreadable:
            lines.append("nothing was read: the change adds links or submodules outside submissions")
        if checked.change.uncommitted:
            lines.append(f"{checked.change.uncommitted:,} files of boards are not committed and were not checked")
    if checked.problems:
        return [*lines, f"{len(checked.problems)} problems"]
    if checked.unchecked:
        unchecked = f"{', '.join(checked.unchecked)} could not be checked"
        return [*lines, f"{len(checked.submissions)} submissions without problems, but {unchecked}" if checked.submissions else unchecked]
    if checked.submissions:
        return [*lines, f"{len(checked.submissions)} submissions, no problems"]
    roots = dict.fromkeys(library.board_files[name].parent.parent for name in names or library.board_files)
    return [*lines, f"no submissions in {', '.join(map(str, roots))}"]


def _describe_submission(submission: CheckedSubmission) -> str:
    name = _make_printable(f"{submission.board}/{submission.submission}")
    if submission.problems:
        return f"{name}: {len(submission.problems)} problems"
    failures = ", ".join(f"{kind.replace('_', ' ')} {count:,}" for kind, count in submission.failures.items())
    content = RECORDED + " scores" if submission.status == RECORDED else f"{submission.calls:,} calls"
    return f"{name}: {submission.judge}, {content}{f', not readable: {failures}' if failures else ''}"
