"""Write submissions: a run that follows a board's protocol exactly becomes a folder with its raw replies (`harness submit`), and a judge
whose scores were recorded elsewhere a folder with these scores (`harness board record`)."""

from __future__ import annotations

import hashlib
import shutil
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

import msgspec

from harness.boards.board import SUBMISSIONS, whole_board
from harness.boards.card import CARD, JudgeCard, Part, card_complaints, folder_complaint, quote, read_card, slug, write_card
from harness.boards.examined_submission import examine
from harness.boards.expected_submission import Baselines, ExpectedCalls, expected_calls, with_probabilities
from harness.boards.recorded_scores import RECORDED, RecordedJudgments, identity_of, refuse_several_answers, score_lines
from harness.boards.submission_files import FILE, FOLDER, REPLIES, SCORES, ReplyRow, compress_lines, kind_of
from harness.boards.submission_options import SubmitterStatement
from harness.content import Library
from harness.content.library import bundled_root
from harness.content.specs import Board, read_spec
from harness.content.tags import choose_from
from harness.decide.verdict_sentences import unread_sentence, unread_words
from harness.errors import ContentError, JudgeError, StoreError, UsageError
from harness.judges import traits_of
from harness.measure.item_table import count_all_answers
from harness.model import Failure, JudgeIdentity
from harness.offensive_texts import hides_texts
from harness.row_files import jsonl_lines, write_atomic
from harness.runs import Prepared, RunProtocol, RunResult
from harness.store import Store


class WrittenSubmission(msgspec.Struct, frozen=True):
    """One submission that was written."""

    folder: Path
    card: JudgeCard
    calls: int


def submit(result: RunResult, out: Path, board: str, about: SubmitterStatement, judges: Sequence[str] = ()) -> list[WrittenSubmission]:
    """Write the submissions of all judges of a run, or of the named ones, to a board. Nothing is sent anywhere.

    Raises:
        UsageError: if the run does not follow the board's protocol (lists every difference), a judge is not in the run, a folder's name
            is not valid, or another submission exists already.
        JudgeError: if most answers of a judge cannot be read.
        StoreError: if a submission cannot be written.
    """
    library = result.prepared.library
    spec = library.board(board)
    identities = _choose_judges(result.protocol, judges, about)
    data = Path(result.protocol.texts.data) if result.protocol.texts.data else None
    prepared = whole_board(board, tuple(map(Path, result.protocol.texts.content)), data)
    may_quote = hides_texts([prepared.data.about]) and not all(traits_of(identity).decides for identity in identities)
    if may_quote and not about.scores_alone:
        raise UsageError(
            f"the texts of '{prepared.data.about.id}' are extremely offensive, and a submission's raw replies may quote them; nothing was "
            "written. --scores-alone submits the scores without words"
        )
    if about.scores_alone and not may_quote:
        raise UsageError("these replies can be published, so that others can read them again; submit them without --scores-alone")
    if sentences := list(differences(result, prepared.protocol, part=about.part)):
        hint = "\n         Or add --part: a part is shown with what it covers, and first texts alone have no rank."
        named = " ".join(f"--judge {identity.name}" for identity in identities)
        lines = "".join(f"\n         - {line}" for line in sentences)
        raise UsageError(
            f"run {result.name} does not follow the protocol of {prepared.protocol.texts.source}:{lines}\n"
            f"         This command does: harness run --board {prepared.protocol.texts.board}{' --data DIR' if data else ''} {named}\n"
            "         Use the same --out: calls that have a reply already are not asked again."
            f"{'' if any(differences(result, prepared.protocol, part=True)) else hint}"
        )
    for identity in identities:
        answers = count_all_answers(result.judgments.take(result.judgments.judge.equals(identity.name)))
        if answers.mostly_unread and not traits_of(identity).is_baseline:
            hint = "; --judge submits other judges of the run without it" if len(identities) > 1 else ""
            raise JudgeError(unread_sentence(answers, f"nothing was written, as {identity.name} would have no rank{hint}"))
    parent = _submissions_folder(library, spec, about.into)
    folders = {identity.name: _submission_folder(parent, identity, about) for identity in identities}
    if len(set(folders.values())) < len(folders):
        raise UsageError("two judges would get the same folder; submit them one by one with --judge and --name")
    part = None
    if about.part:  # what the run covers; a run of everything is no part
        texts = result.protocol.texts
        languages = texts.languages if texts.languages != prepared.protocol.texts.languages else ()
        part = Part(languages, texts.limit) if languages or texts.limit else None
    expected = expected_calls(prepared)
    conditions, board_conditions = result.protocol.questions.conditions, prepared.protocol.questions.conditions
    if not set(board_conditions) <= set(conditions):
        expected = expected.with_token_probabilities()
    if about.scores_alone:
        return [_write_scores(identity, folders[identity.name], expected, result, about, part) for identity in identities]
    with Store.reading(out) as store:
        return [_write(identity, folders[identity.name], expected, prepared, store, about, part) for identity in identities]


def record(
    board: str, about: SubmitterStatement, judges: Sequence[str] = (), *, data: Path | None = None, content: Sequence[Path] = ()
) -> list[WrittenSubmission]:
    """Write the judgments in the data folder of a board as submissions of recorded scores: of all judges, or of the named ones.

    Raises:
        UsageError: if the board asks a question more than once, its data hold no judgments, or a folder's name is not valid.
        JudgeError: if most of a judge's answers have no score.
        MissingData: without the board's data.
    """
    prepared = whole_board(board, content, data)
    expected = expected_calls(prepared)
    refuse_several_answers(board, expected.queries)
    recorded = RecordedJudgments(prepared)
    candidates = recorded.judges()
    if not candidates:
        raise UsageError(f"the data of the board '{board}' hold no judgments; judgments.jsonl should hold some")
    names = [judge for judge, _ in candidates]
    for name in judges:
        if name not in names:
            raise UsageError(f"no judgments of '{quote(name)}'.{choose_from(dict.fromkeys(names), name)}")
    chosen = [(judge, variant) for judge, variant in candidates if not judges or judge in judges]
    if len(chosen) > 1 and (about.name is not None or about.title):
        raise UsageError(f"{len(chosen)} judges are chosen, and --name and --title are for one; choose it with --judge")
    parent = _submissions_folder(prepared.library, prepared.library.board(board), about.into)
    folders = {}
    for judge, variant in chosen:
        identity, several = identity_of(judge, variant), names.count(judge) > 1
        statement = replace(
            about,
            name=about.name if about.name is not None else slug(f"{identity.name}-{variant}" if several else identity.name) or None,
            title=about.title or (f"{judge}, {variant}" if several else ""),
        )
        folders[judge, variant] = (_submission_folder(parent, identity, statement), statement)
    written = []
    for pair, (folder, statement) in folders.items():
        identity = identity_of(*pair)
        lines = score_lines(expected.queries, recorded.outcomes(identity))
        card = _card(identity, expected, statement, scores_sha256=_digest(lines), origin=statement.origin, status=RECORDED)
        written.append(_write_folder(folder, card, SCORES, lines, prepared, expected))
    return written


def _choose_judges(protocol: RunProtocol, judges: Sequence[str], about: SubmitterStatement) -> list[JudgeIdentity]:
    identities = {identity.name: identity for identity in protocol.judges.identities}
    for name in judges:
        if name not in identities:
            raise UsageError(f"no judge '{name}' in the run.{choose_from(identities, name)}")
    chosen = [identities[name] for name in (dict.fromkeys(judges) or identities)]
    if len(chosen) > 1 and (about.name is not None or about.title):
        raise UsageError(f"the run has {len(chosen)} judges, and --name and --title are for one judge; choose it with --judge")
    for identity in chosen:
        if traits_of(identity).is_replay:
            raise UsageError(f"{identity.name} repeats the replies of another judge; submit the run in which that judge was asked")
        if any(not isinstance(value, str | int | float) for value in identity.settings.values()):
            raise UsageError(f"{identity.name} has settings that are neither text nor numbers; {CARD} cannot hold them")
    return chosen


# ---- comparing the run with the protocol


def differences(result: RunResult, board: RunProtocol, *, part: bool = False) -> Iterator[str]:
    """Every difference between a run and the board's protocol, one sentence each; of a `part`, not what it leaves out."""
    run = result.protocol
    if not any(condition in run.questions.conditions for condition in board.questions.conditions):  # token probabilities change no prompt
        plain = tuple(with_probabilities(condition, requested=False) for condition in run.questions.conditions)
        run = msgspec.structs.replace(run, questions=msgspec.structs.replace(run.questions, conditions=plain))
    run_texts, board_texts = run.texts, board.texts
    if run_texts.source != board_texts.source:
        yield f"it is a run of {quote(run_texts.source)}"
    yield from _set_differences(
        "language", run_texts.languages, [tag for tag in board_texts.languages if not part or tag in run_texts.languages]
    )
    yield from _set_differences("task", tuple(run.wording.tasks), tuple(board.wording.tasks))
    yield from _set_differences("metric", run.questions.metrics, board.questions.metrics)
    for word, run_versions, board_versions in (
        ("task", run.wording.tasks, board.wording.tasks),
        ("rubric", run.wording.rubrics, board.wording.rubrics),
    ):
        for name in sorted(run_versions.keys() & board_versions.keys()):
            if run_versions[name] != board_versions[name]:
                yield f"{word} {name} had version {run_versions[name]}, and the board has {board_versions[name]}"
    if run_texts.limit is not None and not part:
        yield f"it asked about the first {run_texts.limit} items of each language and task only (--limit)"
    same_cells = run_texts.languages == board_texts.languages and [*run.wording.tasks] == [*board.wording.tasks]
    if run_texts.limit is None and run_texts.data_sha256 != board_texts.data_sha256 and same_cells:
        yield "its items or labels differ from those of the board"
    if missing := [condition.words() for condition in board.questions.conditions if condition not in run.questions.conditions]:
        yield f"it lacks the condition{'s' if len(missing) > 1 else ''} {'; '.join(missing)}"
    if more := [condition.words() for condition in run.questions.conditions if condition not in board.questions.conditions]:
        yield f"it has the condition{'s' if len(more) > 1 else ''} {'; '.join(more)}, not on the board"
    if run.questions.repeats != board.questions.repeats:
        yield f"it asked {_times(run.questions.repeats)}, and the board asks {_times(board.questions.repeats)}"
    if run.questions.seed != board.questions.seed:
        yield f"its seed was {run.questions.seed}, and the board's is {board.questions.seed}"
    if run.questions.reask:
        yield "it repeated refused calls (--reask)"
    if run.wording.prompts != board.wording.prompts:
        yield "its prompts were rendered by another version of the program"
    if run.wording.examples != board.wording.examples:
        yield "its examples were taken from other data"
    if run.wording.instructions != board.wording.instructions:
        yield "its instructions in the items' languages had other versions"
    for judge, count in result.answers.missing.items():
        if count:
            yield f"{count:,} calls of {quote(judge)} have no answer"


def _set_differences(word: str, run_names: Sequence[str], board_names: Sequence[str]) -> Iterator[str]:
    if missing := [name for name in board_names if name not in run_names]:
        yield f"without the {word}{'s' if len(missing) > 1 else ''} {', '.join(missing)}"
    if more := [name for name in run_names if name not in board_names]:
        yield f"with the {word}{'s' if len(more) > 1 else ''} {', '.join(map(quote, more))}, not on the board"


def _times(number: int) -> str:
    return "once" if number == 1 else f"{number} times"


# ---- choosing the folder


def _submissions_folder(library: Library, board: Board, into: Path | None) -> Path:
    """The folder that holds the board's submissions."""
    if into is None:
        home = library.board_files[board.id].parent
        if (bundled_root().name == "_content") and bundled_root() in home.parents:
            raise UsageError("submissions cannot be written into an installed program; name a checkout with --into DIR")
        return home / SUBMISSIONS
    if not into.is_dir():
        raise UsageError(f"--into {into} is not a folder; name a checkout, or any folder that should hold leaderboards/")
    home = into / "leaderboards" / board.id
    if (home / "board.toml").is_file():
        existing = read_spec(home / "board.toml", Board)
        if existing.version != board.version:
            raise UsageError(f"{home} has version {existing.version} of the board, and the run follows {board.version}; update one of them")
    return home / SUBMISSIONS


def _submission_folder(parent: Path, identity: JudgeIdentity, about: SubmitterStatement) -> Path:
    """The folder for one judge's submission. Raises UsageError if another submission has it."""
    name = about.name if about.name is not None else slug(identity.name)
    if about.name is None and not name:
        raise UsageError(f"'{quote(identity.name)}' gives no valid folder name; choose one with --name, of letters a to z, digits and '-'")
    if complaint := folder_complaint(name):
        raise UsageError(complaint)
    for path in (parent.parent.parent, parent.parent, parent):
        if kind_of(path) not in ("", FOLDER):
            raise UsageError(f"{path} is {kind_of(path)}, not a folder; no submission is written there")
    folder = parent / name
    if kind_of(folder):
        try:
            existing = read_card(folder / CARD) if kind_of(folder) == FOLDER and kind_of(folder / CARD) == FILE else None
        except ContentError:
            existing = None
        if existing is None:
            raise UsageError(f"{folder} exists already, and it is not known to belong to {identity.name}; choose another --name")
        if existing.name != identity.name:
            raise UsageError(f"{folder} is the submission of {quote(existing.name)}; choose another --name")
        if not about.replace:
            raise UsageError(f"{folder} holds an earlier submission of {identity.name}; pass --replace to replace it")
    return folder


# ---- writing


def _write(
    identity: JudgeIdentity,
    folder: Path,
    expected: ExpectedCalls,
    prepared: Prepared,
    store: Store,
    about: SubmitterStatement,
    part: Part | None,
) -> WrittenSubmission:
    covered = (expected.of_part(part.languages, part.limit) if part else expected).for_judge(identity)
    queries_by_call = covered.queries_by_call(identity)
    ids = sorted(queries_by_call)
    rows = []
    for call_id, reply in zip(ids, store.replies(ids), strict=True):
        if reply is None:
            raise UsageError(f"a call of {identity.name} has no answer in the store; was the store replaced? run the board again")
        fields = msgspec.structs.asdict(covered.rows[queries_by_call[call_id][0]])
        rows.append(ReplyRow(call_id=call_id, judge=identity.name, reply=msgspec.structs.replace(reply, beside={}), **fields))
    if hides_texts([prepared.data.about]):
        _refuse_quotations(rows, prepared)
    lines = list(jsonl_lines(rows))
    card = _card(identity, expected, about, replies_sha256=_digest(lines), part=part, token_probabilities=expected.token_probabilities)
    return _write_folder(folder, card, REPLIES, lines, prepared, expected)


def _write_scores(
    identity: JudgeIdentity, folder: Path, expected: ExpectedCalls, result: RunResult, about: SubmitterStatement, part: Part | None
) -> WrittenSubmission:
    """Write the scores of a run without its replies. A row has the score on the scale of people's labels, so both scales must be one."""
    prepared = result.prepared
    covered = expected.of_part(part.languages, part.limit) if part else expected
    refuse_several_answers(expected.board, covered.queries)
    for metric in prepared.protocol.questions.metrics:
        if prepared.library.rubric(metric).compared_with:
            raise UsageError(f"'{metric}' is asked on another scale than that of people's labels; its scores cannot stand without replies")
    own = result.judgments.take(result.judgments.judge.equals(identity.name))
    rows = zip(own.item, own.metric, own.score, own.failure, strict=True)
    outcomes = {(item, metric): Failure(failure) if score is None else score for item, metric, score, failure in rows}
    lines = score_lines(covered.queries, outcomes)
    origin = "asked by the submitter with the prompts of this board; the replies are left out, because they may quote offensive texts"
    card = _card(identity, expected, about, scores_sha256=_digest(lines), origin=origin, status=RECORDED, part=part)
    return _write_folder(folder, card, SCORES, lines, prepared, expected)


_QUOTATION = 20  # characters of a text that no answer holds by chance, as a single word may


def _refuse_quotations(rows: Sequence[ReplyRow], prepared: Prepared) -> None:
    """Raise UsageError where a reply repeats a text that it is about: an endpoint may send back what it was sent."""
    for row in rows:
        item = prepared.data.by_id[row.item_id]
        try:
            answer = msgspec.json.encode(msgspec.json.decode(row.reply.text)).decode()
        except (msgspec.DecodeError, RecursionError):
            answer = row.reply.text
        texts = [str(item.fields.get(name, "")).strip() for name in prepared.library.task(item.task).fields]
        if any(len(text) >= _QUOTATION and text in f"{answer}\n{row.reply.refusal or ''}" for text in texts):
            raise UsageError(
                f"a reply of {row.judge} about item '{row.item_id}' repeats its text, which is not to be published; nothing was written"
            )


def _write_folder(
    folder: Path, card: JudgeCard, file: str, lines: Sequence[bytes], prepared: Prepared, expected: ExpectedCalls
) -> WrittenSubmission:
    """Write a card and the lines of a submission, and check them as everybody else will."""
    for key, message in card_complaints(card):
        raise UsageError(f"{card.name} cannot be submitted: {key}: {message}")
    compressed = compress_lines(lines)
    with _whole_folder(folder) as unfinished:
        write_card(unfinished / CARD, card)
        write_atomic(unfinished / file, compressed)
        examined = examine(expected, unfinished, Baselines(prepared, expected))
        for problem in examined.problems:
            raise UsageError(f"{card.name} cannot be submitted: {problem.path.name}: {problem.message}")
        if unread := examined.unread:
            raise JudgeError(f"{unread_words(unread)}: nothing was written, as {card.name} would have no rank")
    return WrittenSubmission(folder, card, len(lines))


def _digest(lines: Sequence[bytes]) -> str:
    return hashlib.sha256(b"".join(lines)).hexdigest()


def _card(identity: JudgeIdentity, expected: ExpectedCalls, about: SubmitterStatement, **content: Any) -> JudgeCard:
    """The card of a judge; `held` is what it says of the submission's content."""
    stated: dict[str, Any] = {
        name: getattr(about, name) for name in ("title", "open_weights", "contact", "exposure", "exposure_note", "families")
    }
    identifying: dict[str, Any] = {
        "provider": identity.provider,
        "model": identity.model,
        "settings": identity.settings,
        "board": expected.board,
    }
    return JudgeCard(name=identity.name, **stated, **identifying, **content)


@contextmanager
def _whole_folder(folder: Path) -> Iterator[Path]:
    """A temporary folder of the same name to write into. It replaces `folder` if the `with` ends without an error, else it is removed."""
    new_parents = [parent for parent in (folder.parent, *folder.parents) if not parent.exists()]
    try:
        folder.parent.mkdir(parents=True, exist_ok=True)
        temporary = Path(tempfile.mkdtemp(dir=folder.parent, prefix=f".{folder.name}."))
    except OSError as err:
        raise _write_error(folder, err) from None
    try:
        unfinished = temporary / folder.name
        unfinished.mkdir()
        yield unfinished
        earlier = temporary / "earlier"
        replacing = folder.exists()
        if replacing:
            folder.rename(earlier)
        try:
            unfinished.rename(folder)
        except OSError:
            if replacing:
                earlier.rename(folder)
            raise
    except OSError as err:
        raise _write_error(folder, err) from None
    finally:
        shutil.rmtree(temporary, ignore_errors=True)
        if not folder.exists():
            for parent in dict.fromkeys(new_parents):
                with suppress(OSError):
                    parent.rmdir()


def _write_error(folder: Path, err: OSError) -> StoreError:
    return StoreError(f"{folder} cannot be written ({err.strerror or err}); free some disk space, or choose another folder with --into")
