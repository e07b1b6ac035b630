"""`harness submit`: a run that follows a board's protocol to the letter becomes a folder with its raw replies."""

from __future__ import annotations

import hashlib
import shutil
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Literal

import msgspec

from harness.boards.anew import Baselines
from harness.boards.card import CARD, JudgeCard, card_complaints, folder_complaint, plainly, read_card, slug, write_card
from harness.boards.check import SUBMISSIONS, whole_board
from harness.boards.replies import REPLIES, ReplyRow, compressed
from harness.boards.scoring import examine
from harness.boards.structure import kind_of
from harness.boards.wanted import Wanted, wanted_by
from harness.content import Library
from harness.content.library import bundled_root
from harness.content.specs import Board, read_spec
from harness.content.tags import suggest
from harness.errors import ContentError, StoreError, UsageError
from harness.model import JudgeIdentity
from harness.protocol import Prepared, RunProtocol
from harness.runner import RunResult
from harness.store import Store
from harness.tables import jsonl_lines, write_atomic


class About(msgspec.Struct, frozen=True, kw_only=True):
    """What a submitter says of a judge, and where the submission goes.

    `name` is that of its folder (default: made of the judge's), `into` a folder with `leaderboards/`; `replace` puts it in the place of
    an earlier submission of the same judge.
    """

    name: str | None = None
    title: str = ""
    open_weights: Literal["yes", "no", "unknown"] = "unknown"
    contact: str = ""
    exposure: Literal["none", "possible", "trained", "unknown"] = "unknown"
    exposure_note: str = ""
    families: tuple[str, ...] = ()
    into: Path | None = None
    replace: bool = False


class Submission(msgspec.Struct, frozen=True):
    """What was written."""

    folder: Path
    card: JudgeCard
    calls: int


def submit(result: RunResult, out: Path, board: str, about: About, judges: Sequence[str] = ()) -> list[Submission]:
    """Write the submissions of a run's judges (of all of them, or of those named) to a board; nothing is sent anywhere.

    Raises:
        UsageError: where the run does not follow the board's protocol (every difference, one a line), a judge is not in it, a folder's
        name cannot be, or another submission is there already.  StoreError: where it cannot be written.
    """
    library = result.prepared.library
    spec = library.board(board)
    identities = _chosen(result.protocol, judges, about)
    data = Path(result.protocol.data) if result.protocol.data else None
    prepared = whole_board(board, tuple(map(Path, result.protocol.content)), data)
    _refuse_differences(result, prepared, identities)
    place = _place(library, spec, about.into)
    folders = {identity.name: _folder(place, identity, about) for identity in identities}
    if len(set(folders.values())) < len(folders):
        raise UsageError("two judges would be written into one folder; submit them one by one with --judge and --name")
    wanted = wanted_by(prepared)
    with Store.reading(out) as store:
        return [_write(identity, folders[identity.name], wanted, prepared, store, about) for identity in identities]


def _chosen(protocol: RunProtocol, judges: Sequence[str], about: About) -> list[JudgeIdentity]:
    known = {identity.name: identity for identity in protocol.identities}
    for name in judges:
        if name not in known:
            raise UsageError(f"no judge '{name}' in the run.{suggest(name, known)}\n         here: {', '.join(known)}")
    chosen = [known[name] for name in (dict.fromkeys(judges) or known)]
    if len(chosen) > 1 and (about.name is not None or about.title):
        raise UsageError(f"the run has {len(chosen)} judges, and --name and --title are of one; choose it with --judge")
    for identity in chosen:
        if identity.provider == "replay":
            raise UsageError(f"{identity.name} repeats what another judge has said; submit the run in which that one was asked")
        if any(not isinstance(value, str | int | float) for value in identity.settings.values()):
            raise UsageError(f"{identity.name} has settings that are neither texts nor numbers, which {CARD} cannot hold")
    return chosen


# ---- the run beside the protocol


def _refuse_differences(result: RunResult, prepared: Prepared, identities: Sequence[JudgeIdentity]) -> None:
    found = list(differences(result, prepared.protocol))
    if not found:
        return
    judges = " ".join(f"--judge {identity.name}" for identity in identities)
    data = " --data DIR" if result.protocol.data else ""
    lines = "".join(f"\n         - {line}" for line in found)
    raise UsageError(
        f"run {result.name} does not follow the protocol of {prepared.protocol.source}:{lines}\n"
        f"         What does: harness run --board {prepared.protocol.board}{data} {judges}\n"
        "         with the same --out, so that what was answered already is not asked again."
    )


def differences(result: RunResult, board: RunProtocol) -> Iterator[str]:
    """Everything in which a run is not what the board's protocol says, one sentence each."""
    run = result.protocol
    if run.source != board.source:
        yield f"it is a run of {plainly(run.source)}"
    yield from _left_out("language", run.languages, board.languages)
    yield from _left_out("task", tuple(run.tasks), tuple(board.tasks))
    yield from _left_out("metric", run.metrics, board.metrics)
    for word, mine, theirs in (("task", run.tasks, board.tasks), ("rubric", run.rubrics, board.rubrics)):
        for name in sorted(mine.keys() & theirs.keys()):
            if mine[name] != theirs[name]:
                yield f"{word} {name} was version {mine[name]} and is {theirs[name]}"
    if run.limit is not None:
        yield f"it asked about the first {run.limit} items of each language and task only (--limit)"
    elif run.data_sha256 != board.data_sha256 and (run.languages, [*run.tasks]) == (board.languages, [*board.tasks]):
        yield "its items or labels are not those of the board"
    if missing := [str(condition) for condition in board.conditions if condition not in run.conditions]:
        yield f"it did not ask under {', '.join(missing)}"
    if more := [str(condition) for condition in run.conditions if condition not in board.conditions]:
        yield f"it asked under {', '.join(more)}, which is not the board's"
    if run.repeats != board.repeats:
        yield f"it asked {_times(run.repeats)}, and the board asks {_times(board.repeats)}"
    if run.seed != board.seed:
        yield f"its seed was {run.seed}, and the board's is {board.seed}"
    if run.reask:
        yield "it asked refused calls again (--reask)"
    if run.prompts != board.prompts:
        yield "its prompts were worded by another version of the program"
    if run.examples != board.examples:
        yield "its examples were taken from other data"
    if run.instructions != board.instructions:
        yield "its instructions in the items' languages were other versions"
    for judge, count in result.answers.missing.items():
        if count:
            yield f"{count:,} calls of {plainly(judge)} have no answer"


def _left_out(word: str, mine: Sequence[str], theirs: Sequence[str]) -> Iterator[str]:
    if missing := [name for name in theirs if name not in mine]:
        yield f"without the {word}{'s' if len(missing) > 1 else ''} {', '.join(missing)}"
    if more := [name for name in mine if name not in theirs]:
        yield f"with the {word}{'s' if len(more) > 1 else ''} {', '.join(map(plainly, more))}, not on the board"


def _times(number: int) -> str:
    return "once" if number == 1 else f"{number} times"


# ---- where it goes


def _place(library: Library, board: Board, into: Path | None) -> Path:
    """The folder of the board's submissions."""
    if into is None:
        home = library.board_files[board.id].parent
        if (bundled_root().name == "_content") and bundled_root() in home.parents:
            raise UsageError("the boards of an installed program are not written to; name a checkout with --into DIR")
        return home / SUBMISSIONS
    if not into.is_dir():
        raise UsageError(f"--into {into} is no folder; name a checkout, or any folder that is to hold leaderboards/")
    home = into / "leaderboards" / board.id
    if (home / "board.toml").is_file():
        there = read_spec(home / "board.toml", Board)
        if there.version != board.version:
            raise UsageError(f"{home} has the board in version {there.version}, and the run follows {board.version}; bring one up to date")
    return home / SUBMISSIONS


def _folder(place: Path, identity: JudgeIdentity, about: About) -> Path:
    """The folder of one judge's submission, which nobody else has."""
    name = about.name if about.name is not None else slug(identity.name)
    if about.name is None and not name:
        raise UsageError(f"'{plainly(identity.name)}' gives no folder's name; choose one with --name, of letters a to z, digits and '-'")
    if complaint := folder_complaint(name):
        raise UsageError(complaint)
    for path in (place.parent.parent, place.parent, place):
        if kind_of(path) not in ("", "a folder"):
            raise UsageError(f"{path} is {kind_of(path)} and not a folder; a submission is not written through it")
    folder = place / name
    if kind_of(folder):
        _refuse_to_overwrite(folder, identity, about)
    return folder


def _refuse_to_overwrite(folder: Path, identity: JudgeIdentity, about: About) -> None:
    try:
        there = read_card(folder / CARD) if kind_of(folder) == "a folder" and kind_of(folder / CARD) == "a file" else None
    except ContentError:
        there = None
    if there is None:
        raise UsageError(f"{folder} is there already and is not known to be of {identity.name}; choose another --name")
    if there.name != identity.name:
        raise UsageError(f"{folder} is the submission of {plainly(there.name)}; choose another --name")
    if not about.replace:
        raise UsageError(f"{folder} holds an earlier submission of {identity.name}; --replace puts this one in its place")


# ---- writing it


def _write(identity: JudgeIdentity, folder: Path, wanted: Wanted, prepared: Prepared, store: Store, about: About) -> Submission:
    lines = list(jsonl_lines(_rows(identity, wanted, store)))
    card = _card(identity, wanted, lines, about)
    for key, message in card_complaints(card):
        raise UsageError(f"{identity.name} cannot be submitted like that: {key}: {message}")
    replies = compressed(lines)
    with _written_whole(folder) as unfinished:
        write_card(unfinished / CARD, card)
        write_atomic(unfinished / REPLIES, replies)
        for problem in examine(wanted, unfinished, Baselines(prepared, wanted)).problems:
            raise UsageError(f"{identity.name} cannot be submitted: {problem.path.name}: {problem.message}")
    return Submission(folder, card, len(lines))


def _card(identity: JudgeIdentity, wanted: Wanted, lines: Sequence[bytes], about: About) -> JudgeCard:
    digest = hashlib.sha256()
    for line in lines:
        digest.update(line)
    return JudgeCard(
        name=identity.name,
        title=about.title,
        provider=identity.provider,
        model=identity.model,
        settings=identity.settings,
        open_weights=about.open_weights,
        contact=about.contact,
        exposure=about.exposure,
        exposure_note=about.exposure_note,
        families=about.families,
        board=wanted.board,
        replies_sha256=digest.hexdigest(),
    )


def _rows(identity: JudgeIdentity, wanted: Wanted, store: Store) -> Iterator[ReplyRow]:
    """Every call of the board with its last reply, in the order of the call ids."""
    places = wanted.places(identity)
    ids = sorted(places)
    for call_id, reply in zip(ids, store.replies(ids), strict=True):
        if reply is None:
            raise UsageError(f"a call of {identity.name} has no answer any more; was the store exchanged? run the board again")
        call = wanted.expected[places[call_id][0]]
        said = msgspec.structs.asdict(call)
        yield ReplyRow(call_id=call_id, judge=identity.name, reply=reply, **said)


@contextmanager
def _written_whole(folder: Path) -> Iterator[Path]:
    """A folder of this name to write into that takes the place of `folder` when the `with` ends without an error, and is gone otherwise."""
    made = [parent for parent in (folder.parent, *folder.parents) if not parent.exists()]
    try:
        folder.parent.mkdir(parents=True, exist_ok=True)
        beside = Path(tempfile.mkdtemp(dir=folder.parent, prefix=f".{folder.name}."))
    except OSError as err:
        raise _unwritable(folder, err) from None
    try:
        unfinished = beside / folder.name
        unfinished.mkdir()
        yield unfinished
        _exchange(unfinished, folder, beside / "earlier")
    except OSError as err:
        raise _unwritable(folder, err) from None
    finally:
        shutil.rmtree(beside, ignore_errors=True)
        if not folder.exists():
            for parent in dict.fromkeys(made):
                with suppress(OSError):
                    parent.rmdir()


def _exchange(new: Path, folder: Path, earlier: Path) -> None:
    """Put `new` in the place of `folder`; what was there goes to `earlier`, and comes back if that fails."""
    replacing = folder.exists()
    if replacing:
        folder.rename(earlier)
    try:
        new.rename(folder)
    except OSError:
        if replacing:
            earlier.rename(folder)
        raise


def _unwritable(folder: Path, err: OSError) -> StoreError:
    return StoreError(f"{folder} cannot be written ({err.strerror or err}); make room or choose another folder with --into")
