"""`harness board` and `harness submit`."""

from __future__ import annotations

import os
import shlex
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import msgspec

from harness.asking_options import Settings
from harness.boards.allowed_changes import TABLE
from harness.boards.board import OpenBoard, open_board, submissions_of
from harness.boards.checked_boards import CheckedBoards, CheckedSubmission, check_boards
from harness.boards.examined_submission import ScoredSubmission
from harness.boards.probes import Finding
from harness.boards.recorded_scores import RECORDED
from harness.boards.sealed_labels import open_labels
from harness.boards.sealed_labels import rotate as rotate_labels
from harness.boards.sealed_labels import seal as seal_labels
from harness.boards.submit import WrittenSubmission
from harness.boards.submit import record as record_scores
from harness.boards.submit import submit as submit_run
from harness.boards.verify import LEVEL, Verification
from harness.boards.verify import verify as verify_submission
from harness.cli.commands.leaderboards import (
    BoardBuild,
    BoardCheck,
    BoardOpen,
    BoardRecord,
    BoardRotate,
    BoardSeal,
    BoardShow,
    BoardVerify,
    Submit,
)
from harness.cli.content import other_checkout
from harness.cli.streams import print_json, print_message
from harness.content import Board, Library
from harness.content.canary import HOW_TO_MARK
from harness.content.library import bundled_root
from harness.content.tags import resolve
from harness.decide.verdict_sentences import unread_sentence
from harness.errors import JUDGE, UNCHECKED, ContentError, MissingData, UsageError
from harness.judges import traits_of
from harness.options import part_of
from harness.render.terminal import working
from harness.row_files import to_json, write_together
from harness.runs import Prepared, reopen, run_place
from harness.text import terminal_safe

_SHOWN_JUDGMENTS = 20  # differing judgments on the screen


def verify(arguments: BoardVerify) -> int:
    from harness.render.progress import TerminalWatcher

    result = verify_submission(
        arguments.board,
        arguments.submission,
        TerminalWatcher(assume_yes=arguments.yes),
        part_of(arguments.asking, Settings),
        arguments.options,
    )
    if arguments.json:
        agreed = {"agreement": 1 - result.found.apart, "retest": 1 - result.found.apart_fresh}
        parts = {"submission": str(result.submission), "holds": result.holds, **agreed}
        sys.stdout.write(to_json(msgspec.structs.asdict(result) | parts))
    else:
        for line in _summarise_verification(result):
            print(terminal_safe(line))
    return 0 if result.holds else 1


def _summarise_verification(result: Verification) -> Iterator[str]:
    numbers = result.found
    drawn = ", ".join(f"{tag} {count}" for tag, count in result.drawn.items() if count)
    low, high = numbers.alone_interval
    yield f"{result.judge}: {result.calls} calls asked again, twice each (seed {result.seed}; {drawn})"
    yield f"agreement   {100 * (1 - numbers.apart):.1f} % of the fresh scores equal the submitted ones"
    yield f"retest      {100 * (1 - numbers.apart_fresh):.1f} % of the fresh scores equal each other"
    yield f"test        p = {numbers.p:.3g}: how often one judge would differ from itself as much (not verified below {LEVEL:g})"
    yield (
        f"alone       {numbers.alone} of {result.calls} submitted replies differ from two fresh ones that agree "
        f"(95 %: {100 * low:.1f} to {100 * high:.1f} % of all)"
    )
    rows = sorted(result.differing, key=lambda answer: not answer.alone)
    for answer in rows[:_SHOWN_JUDGMENTS]:
        yield (
            f"  {answer.language} {answer.item_id} {answer.metric}: submitted {answer.submitted}, fresh {answer.first} and {answer.second} "
            f"(call {answer.call_id[:12]})"
        )
    if len(rows) > _SHOWN_JUDGMENTS:
        yield f"  and {len(rows) - _SHOWN_JUDGMENTS:,} more that differ"
    if result.renamed:
        before, now = result.renamed
        yield f"another model answers: {now}; the submitted replies are from {before}"
    yield "verified: judge.toml was marked" if result.holds else "not verified: no file was changed"


def seal(arguments: BoardSeal) -> int:
    sealed = seal_labels(
        arguments.board, arguments.labels, arguments.recipient, content=arguments.content, data=arguments.data, canary=arguments.canary
    )
    if arguments.json:
        return print_json(sealed)
    lines = [
        f"{sealed.labels:,} labels of {sealed.items:,} items are sealed in {sealed.file}; {sealed.unlabelled:,} items have none",
        f"commitment  {sealed.sealed.commitment}",
        f"canary      {sealed.sealed.canary}",
        *(f"no canary in {path}; {HOW_TO_MARK}" for path in sealed.unmarked),
        "Raise the version of the board and run 'harness check'. Keep the labels and the keys in a place that is not published.",
    ]
    for line in lines:
        print(terminal_safe(line))
    return 0


def open_(arguments: BoardOpen) -> int:
    folder = open_labels(arguments.board, arguments.key, arguments.to, content=arguments.content)
    print(
        terminal_safe(
            f"labels.jsonl and salt.txt are in {folder}; 'cat salt.txt labels.jsonl | sha256sum' there gives the board's commitment"
        )
    )
    return 0


def rotate(arguments: BoardRotate) -> int:
    path = rotate_labels(arguments.board, arguments.key, arguments.recipient, content=arguments.content)
    print(
        terminal_safe(f"{path} is now encrypted for {len(arguments.recipient)} keys; earlier copies of it still open with the earlier keys")
    )
    return 0


def show(arguments: BoardShow) -> int:
    with working("reading replies"):
        board = open_board(Library(*arguments.content), arguments.board, arguments.content, data=arguments.data, key=arguments.key)
    ranked = board.standings
    language = resolve((arguments.lang,), ranked.languages, "tables")[0] if arguments.lang else None
    if arguments.json:
        tables = tuple(table for table in ranked.tables if language in (None, table.language))
        sys.stdout.write(to_json(msgspec.structs.replace(ranked, tables=tables).as_json() | {"findings": board.findings}))
        return JUDGE if ranked.unread else 0
    from harness.render.standings import print_standings

    for line in ranked.unread:
        print(terminal_safe(line))
    print_standings(ranked, board.findings, language, all_tables=arguments.all)
    return JUDGE if ranked.unread else 0


def build(arguments: BoardBuild) -> int:
    """All boards are read and ranked before the first file is written."""
    from harness.render.markdown import standings_markdown

    library = Library(*arguments.content)
    names = tuple(arguments.boards or library.board_files)
    for name in names:
        library.board(name)
        if bundled_root().name == "_content" and bundled_root() in library.board_files[name].parents:
            raise UsageError(f"'{name}' is a board of the installed program, which cannot be changed; run this in a checkout")
    if arguments.site is not None and arguments.site.exists() and not arguments.site.is_dir():
        raise UsageError(f"--site {arguments.site} is a file; name a folder (it is created if it does not exist)")
    if (arguments.data or arguments.key) and len(names) != 1:
        raise UsageError("--data and --key need one board; name it")
    opened, left_out = list[OpenBoard](), dict[str, str]()
    with working("reading replies"):
        for name in names:
            if not submissions_of(library.board_files[name].parent):
                left_out[name] = "no submissions yet"
                continue
            try:
                opened.append(open_board(library, name, arguments.content, data=arguments.data, key=arguments.key))
            except MissingData as err:
                if name in arguments.boards:
                    raise
                left_out[name] = str(err)
    texts = {board.folder / TABLE: standings_markdown(board.standings, board.findings) for board in opened}
    if arguments.site:
        from harness.exchange.labels.mapping import PAGE_BESIDE, parse_pairs
        from harness.render.html.boards import board_pages

        beside = parse_pairs(arguments.beside, "--beside", form=PAGE_BESIDE)
        pages = board_pages([(board.standings, board.findings) for board in opened], beside)
        texts |= {arguments.site / name: text for name, text in pages.items()}
    write_together(texts)
    for path in texts:
        print(terminal_safe(str(path)))
    unread = [f"{board.board.id}: {line}" for board in opened for line in board.standings.unread]
    for line in (*unread, *(f"{name}: {why}" for name, why in left_out.items())):
        print_message(line)
    return JUDGE if unread else 0


def submit(arguments: Submit) -> int:
    name, out = run_place(arguments.run, arguments.out)
    run = reopen(name, out)
    checkout = None if arguments.about.into else other_checkout()
    if checkout is not None and not (checkout / "leaderboards" / arguments.board / "board.toml").is_file():
        raise UsageError(
            f"the checkout {checkout} has no board '{arguments.board}'; call this in a checkout that has it, or name one with --into DIR"
        )
    about = replace(arguments.about, into=arguments.about.into or checkout, part=arguments.part, scores_alone=arguments.scores_alone)
    written = submit_run(run, out, arguments.board, about, arguments.judge)
    if arguments.json:
        return _print_written(written)
    for submission in written:
        lines = "scores" if submission.card.recorded else "replies"
        print(terminal_safe(f"{submission.card.name}: {submission.calls:,} {lines} written to {submission.folder}"))
    print(terminal_safe("\n".join(["", *_list_next_steps(written, arguments.board), "", "Nothing has been sent anywhere."])))
    return 0


def record(arguments: BoardRecord) -> int:
    about = replace(arguments.about, origin=arguments.origin)
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
        print_message(line)
    if arguments.json:
        problems = [{"path": _make_printable(str(p.path)), "line": p.line, "message": p.message} for p in checked.problems]
        submissions = [
            msgspec.structs.asdict(submission)
            | {"submission": _make_printable(submission.submission), "problems": len(submission.problems)}
            for submission in checked.submissions
        ]
        change = checked.change and {"base": checked.change.base, "begin": checked.change.begin, "files": checked.change.files}
        sys.stdout.write(
            to_json(
                {"submissions": submissions, "problems": problems, "unchecked": checked.unchecked, "change": change}
                | {"findings": findings}
            )
        )
    else:
        for problem in checked.problems:
            print(terminal_safe(" ".join(_make_printable(str(problem)).splitlines())))
        was_read = not (checked.change and checked.change.unreadable)
        sealed = [name for name in arguments.boards or library.board_files if was_read and library.board(name).sealed is not None]
        said = "the labels are sealed; replies were checked, but numbers need --key FILE"
        said = said if arguments.key is None else "the sealed labels match their commitment"
        for line in [*_summarise_check(checked, library, arguments.boards), *(f"{name}: {said}" for name in sealed)]:
            print_message(" ".join(line.splitlines()))
        for finding in findings:
            print_message(f"{finding.judge}: {'look closer: ' if finding.flagged else ''}{finding.sentence}")
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
            print_message(f"{board}: not probed, because probes need all submissions: {err}")
            continue
        findings += [finding for finding in opened.findings if finding.judge.partition("#")[0] in judges]
    return findings


def _render_table(board: Board, prepared: Prepared, entries: Mapping[Path, ScoredSubmission]) -> str:
    from harness.boards.board import findings_about
    from harness.boards.standings import standings
    from harness.render.markdown import standings_markdown

    return standings_markdown(standings(board, prepared, list(entries.values())), findings_about(board, prepared, entries))


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
