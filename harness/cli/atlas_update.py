"""`harness atlas update`: ask a judge on every board of people's labels that it has not answered; write the folder of a pull request."""

from __future__ import annotations

import datetime
import sys
from collections.abc import Iterator, Mapping
from functools import partial
from pathlib import Path

from harness.asking_options import Settings
from harness.boards.board import submissions_of, whole_board
from harness.boards.card import CARD, read_card
from harness.boards.examined_submission import examine
from harness.boards.expected_submission import Baselines, expected_calls
from harness.boards.standings import standings
from harness.boards.submission_options import SubmitterStatement
from harness.boards.submit import WrittenSubmission, submit
from harness.cli.commands.find_out import ShowAtlas
from harness.cli.data import fetch_sets
from harness.cli.streams import print_message
from harness.content import Library
from harness.content.library import bundled_root
from harness.content.specs import BoardData
from harness.data.asked_data import quality_of
from harness.data.folders import data_home, how_to_get
from harness.errors import HarnessError, IncompleteRun, UsageError
from harness.judge_atlas.atlas import FILE, Atlas, AtlasRow, read_atlas
from harness.judge_atlas.atlas_rows import rows_of_set
from harness.judges import traits_of
from harness.offensive_texts import refuse_in_repository
from harness.reports.atlas_answer import in_years
from harness.row_files import jsonl_lines, write_together
from harness.runs import RunSpec, absent_cards, askable_boards, board_specs, run_together

COLLECTION = "people"
ROWS, LETTER = "atlas-rows.jsonl", "PULL_REQUEST.md"


def update(arguments: ShowAtlas) -> int:
    """Ask, submit and write. Boards that cannot be asked, or whose replies cannot be published, are left out, and named."""
    if not arguments.judge:
        raise UsageError("name the judge that is asked with --judge, such as openai/gpt-4o-2024-08-06")
    if traits_of(arguments.judge).is_baseline:
        raise UsageError(f"{arguments.judge} is a baseline, and the atlas has no rows of baselines; name a judge")
    library, today = Library(), datetime.date.today()
    languages = (arguments.lang,) if arguments.lang else None
    spec = RunSpec(board=COLLECTION, judges=(arguments.judge,), languages=languages, base_url=dict(arguments.base_url))
    settings = Settings(max_cost=arguments.max_cost)
    answered = answered_boards(library, arguments.judge)
    specs, left_out = askable_boards(board_specs(spec, library.collection(COLLECTION), library), library)
    left_out += [f"{name} is left out: {arguments.judge} has a submission to it" for name in answered]
    specs = [board for board in specs if board.board not in answered]
    data_of_boards = [(str(board.board), library.board(str(board.board)).data) for board in specs]
    card_of_board = {name: library.dataset_card(data.card) for name, data in data_of_boards if isinstance(data, BoardData)}
    if not traits_of(arguments.judge).decides:  # nothing is paid for what `submit` refuses
        unpublished = [name for name, card in card_of_board.items() if card.offensive]
        left_out += [
            f"{name} is left out: its texts are extremely offensive, and replies in words may quote them; decision models can be asked"
            for name in unpublished
        ]
        specs = [board for board in specs if board.board not in unpublished]
    if not specs:
        raise UsageError("\n         ".join(["there is no board to ask:", *left_out]))
    if arguments.dry_run:
        from harness.cli.dry_run import plan_of_collection
        from harness.render.terminal import print_lines

        planned = plan_of_collection(f"Boards that {arguments.judge} has not answered", specs, library, settings, left_out)
        if arguments.json:
            sys.stdout.write(planned.as_json({}))
        else:
            print_lines(planned.text().splitlines())
        return 0
    from harness.render.progress import TerminalWatcher

    if arguments.to is None:
        raise UsageError("--to DIR names the folder of the pull request; it gets submissions, rows of the atlas and a text")
    for board in specs:
        if card := card_of_board.get(str(board.board)):
            refuse_in_repository(arguments.out, card)
    cards = list({card.id: card for card in absent_cards(specs, library).values()}.values())
    fetch_sets(cards, library, data_home(), assume_yes=arguments.yes, all_needed=False)
    absent = absent_cards(specs, library)
    left_out += [f"{name} is left out: its data are not here; {how_to_get(card)}" for name, card in absent.items()]
    specs = [board for board in specs if board.board not in absent]
    done = run_together(specs, arguments.out, TerminalWatcher(assume_yes=arguments.yes), settings)
    left_out += done.left_out
    if done.unfinished:
        raise IncompleteRun(done.unfinished, interrupted=done.interrupted)
    arguments.to.mkdir(parents=True, exist_ok=True)
    about = SubmitterStatement(into=arguments.to, replace=True, part=languages is not None)
    written, rows = dict[str, WrittenSubmission](), list[AtlasRow]()
    for name, result in done.results.items():
        try:
            [written[name]] = submit(result, arguments.out, name, about)
        except HarnessError as err:
            left_out.append(f"{name} is not submitted: {err}")
        else:
            rows += rows_of_submission(library, name, written[name].folder)
    if not written:
        raise UsageError("\n         ".join(["nothing can be submitted:", *left_out]))
    atlas = read_atlas(bundled_root() / FILE)
    letter = "\n".join(letter_lines(atlas, arguments.judge, written, rows, left_out, today)) + "\n"
    write_together({arguments.to / LETTER: letter.encode(), arguments.to / ROWS: b"".join(jsonl_lines(rows))})
    for line in left_out:
        print_message(f"note: {line}")
    print(f"{arguments.to}: {len(written)} submissions, {len(rows)} rows of the atlas; {LETTER} says what to do next")
    return 0


def answered_boards(library: Library, judge: str) -> list[str]:
    """Return the boards of people's labels to whose present version a judge has a submission."""
    answered = []
    for name in library.collection(COLLECTION).boards:
        board = library.board(name)
        cards = (read_card(folder / CARD) for folder in submissions_of(library.board_files[name].parent))
        if any(card.name == judge and card.part is None and card.board == f"{board.id}@{board.version}" for card in cards):
            answered.append(name)
    return answered


def rows_of_submission(library: Library, name: str, folder: Path) -> tuple[AtlasRow, ...]:
    """Return the rows of the atlas that a submission gives: the verdicts of its board on this judge."""
    board, prepared = library.board(name), whole_board(name)
    assert board.data != "bundled"
    expected = expected_calls(prepared)
    entry = examine(expected, folder, Baselines(prepared, expected)).entry
    assert entry is not None, "a submission is examined before it is written"
    ranked, card = standings(board, prepared, [entry]), library.dataset_card(board.data.card)
    qualities = partial(quality_of, card=card, library=library)
    return rows_of_set(card, ranked.verdicts, ranked.probabilities, qualities, name)


def letter_lines(
    atlas: Atlas, judge: str, written: Mapping[str, WrittenSubmission], rows: list[AtlasRow], left_out: list[str], today: datetime.date
) -> Iterator[str]:
    """Yield the text of the pull request: what was asked, what it says, and how old the newest judge of each language is with it."""
    yield from (f"# {judge} on {len(written)} boards of people's labels", "")
    with_rows = {row.board for row in rows}
    for name, submission in written.items():
        yield f"- `{name}`: {submission.calls:,} replies" + ("" if name in with_rows else "; the board ranks judges and gives no verdicts")
    yield from (f"- {' '.join(line.split())}" for line in left_out)
    counts = {verdict: sum(row.verdict == verdict for row in rows) for verdict in dict.fromkeys(row.verdict for row in rows)}
    yield from ("", f"Verdicts: {', '.join(f'{verdict} {count}' for verdict, count in sorted(counts.items())) or 'none'}.", "")
    released = atlas.judge(judge).released
    if released is None:
        yield from (
            f"When {judge} was released is not known here; the table counts it once `catalog/judges.toml` says it, with the source.",
            "",
        )
    yield from ("| language | newest judge | released | age |", "| --- | --- | --- | --- |")
    for tag in sorted({row.language for row in rows}, key=lambda tag: atlas.languages.get(tag, tag)):
        rows_of_language = [row for row in (*atlas.rows, *rows) if row.language == tag]
        newest = atlas.newest_judge(rows_of_language)
        age = (newest.name, str(newest.released), in_years(newest.released, today)) if newest.name else ("unknown", "", "")
        yield f"| {atlas.languages.get(tag, tag)} | {' | '.join(age)} |"
    yield from (
        "",
        "Next: read each `judge.toml` (contact, open_weights, exposure), copy `leaderboards/` into a checkout, run `harness board check`,",
        f"and open a pull request with this text. `{ROWS}` is for readers: `harness atlas build` makes the same rows from the submissions.",
    )
