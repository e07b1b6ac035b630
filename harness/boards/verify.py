"""Verify a submission, for `harness board verify`: ask some of its calls again, twice each, and compare the replies.

A judge does not always answer the same, so it is compared with its own retest noise. A submission holds if it differs no more from the
fresh replies than these differ from each other, by the exact test of `harness.stats.agreement.variance_components`.
"""

from __future__ import annotations

import math
import os
import random
import secrets
import tempfile
import time
from collections.abc import Mapping, Sequence
from contextlib import nullcontext
from pathlib import Path

import msgspec

from harness.asking_options import Settings
from harness.boards.board import SUBMISSIONS, whole_board
from harness.boards.card import CARD, JudgeCard, VerificationRecord, write_card
from harness.boards.examined_submission import examine
from harness.boards.expected_submission import Baselines, expected_calls
from harness.boards.submission_files import REPLIES, decode_row, read_lines
from harness.boards.submission_options import VerifyOptions
from harness.content.tags import choose_from
from harness.engines import JudgeWork, ask_all, check_engine
from harness.engines.work import with_ids
from harness.errors import ContentError, IncompleteRun, UsageError
from harness.judges import Judge, JudgeOptions, opening_name
from harness.judges.judge_protocol import Environment
from harness.measure.summaries import Outcome, Retest, retest_outcomes
from harness.model import JudgeIdentity, Reply
from harness.runs import (
    PlannedCalls,
    Prepared,
    Price,
    Watcher,
    added,
    estimate_cost,
    estimate_usage,
    of_judge,
    price_for_engine,
    read_metrics,
    reopen_judge,
    reply_failures,
)
from harness.store import Store

MIN_CALLS = 20  # calls that are asked again at least
LEVEL = 0.05  # a submission does not hold if its p-value is below
_PASSES = ("first", "second")


class DifferingAnswer(msgspec.Struct, frozen=True):
    """One metric of one call on which the three answers differ. An answer is a score or the name of a failure."""

    call_id: str
    language: str
    item_id: str
    metric: str
    submitted: object
    first: object
    second: object

    @property
    def alone(self) -> bool:
        """Return whether the fresh answers agree with each other, but not with the submitted one."""
        return self.first == self.second != self.submitted


class Verification(msgspec.Struct, frozen=True):
    """The result. `drawn` counts the calls that were asked again, by language; `found` is the result of the retest.

    `renamed` names the models of the submitted and of the fresh replies, if no model answered both.
    """

    submission: Path
    judge: str
    seed: int
    calls: int
    drawn: dict[str, int]
    found: Retest
    differing: tuple[DifferingAnswer, ...]
    renamed: tuple[str, str] | None = None

    @property
    def holds(self) -> bool:
        return self.renamed is None and self.found.p >= LEVEL


def verify(board: str, submission: str, watcher: Watcher, settings: Settings, options: VerifyOptions) -> Verification:
    """Ask a share of a submission's calls again, twice each. Mark its card as verified if it holds; otherwise change nothing.

    Args:
        board, submission: a board, and the folder of one of its submissions, by name or path.
        watcher, settings: as for a run.
        options: which calls are asked, and where.

    Raises:
        UsageError, ContentError, JudgeError, StoreError: as for a run.
        IncompleteRun: if calls have no reply.
    """
    check_engine(settings)
    prepared = whole_board(board, options.content, options.data)
    folder, card = _submission_to_verify(prepared, board, submission)
    environment, seed_of_calls = Environment(os.environ), prepared.protocol.questions.seed
    opening = opening_name(card.identity)
    headers = of_judge(options.headers, opening, [opening])
    timeout, address = settings.timeout, options.address_of(opening)
    judge = reopen_judge(card.identity, JudgeOptions(address, environment, prepared.training, seed_of_calls, timeout, headers))
    check_engine(settings, [judge])
    seed = secrets.randbelow(10**9) if options.seed is None else options.seed
    drawn, ids_by_language = calls_to_repeat(prepared, card.identity, options.share, seed)
    if prepared.data.private and judge.endpoint:
        watcher.consent(judge.endpoint, len(drawn))
    fresh = _ask_twice(judge, drawn, prepared, watcher, settings, options.out)
    drawn_ids = set(drawn.ids())
    rows = (decode_row(line) for _, line in read_lines(folder / REPLIES))
    submitted = {row.call_id: row.reply for row in rows if row.call_id in drawn_ids}
    calls_drawn = list(drawn)
    answers: list[list[Outcome]] = []  # on each metric a score, or the name of a failure
    for replies in [[submitted[call.call_id] for call in calls_drawn], *fresh]:
        readings = [read_metrics(call.query, reply, prepared.reading) for call, reply in zip(calls_drawn, replies, strict=True)]
        answers.append(
            [{metric: read.score if read.failure is None else str(read.failure) for metric, read in row.items()} for row in readings]
        )
    differing = []
    for call, *answers_to_call in zip(calls_drawn, *answers, strict=True):
        for metric in answers_to_call[0]:
            said = [answer[metric] for answer in answers_to_call]
            if len(set(said)) > 1:
                differing.append(DifferingAnswer(call.call_id, call.query.item.language, call.query.item.item_id, metric, *said))
    before = {reply.model for reply in submitted.values() if reply.model}
    now = {reply.model for replies in fresh for reply in replies if reply.model}
    verification = Verification(
        submission=folder,
        judge=card.name,
        seed=seed,
        calls=len(calls_drawn),
        drawn={tag: len(ids) for tag, ids in ids_by_language.items()},
        found=retest_outcomes(*answers),
        differing=tuple(differing),
        renamed=(", ".join(sorted(before)), ", ".join(sorted(now))) if before and now and not before & now else None,
    )
    if verification.holds:
        record = VerificationRecord(
            date=time.strftime("%Y-%m-%d", time.gmtime()),
            calls=verification.found.n,
            agreement=round(1 - verification.found.apart, 4),
            retest=round(1 - verification.found.apart_fresh, 4),
            seed=verification.seed,
        )
        write_card(folder / CARD, msgspec.structs.replace(card, status="verified", verified=record))
    return verification


def calls_to_repeat(prepared: Prepared, identity: JudgeIdentity, share: float, seed: int) -> tuple[PlannedCalls, dict[str, list[str]]]:
    """Return a drawn share of the calls that a board asks a judge, and their ids by language."""
    plan = prepared.plan(None)
    calls = plan.calls(identity)
    ids_of_calls: dict[str, list[str]] = {}
    for query, call_id, selected in zip(plan.queries(), calls.all_call_ids(), calls.selected, strict=True):
        if selected:
            ids_of_calls.setdefault(query.item.language, []).append(call_id)
    ids_by_language = draw_calls(ids_of_calls, share, seed)
    drawn = with_ids(calls, {call_id for ids in ids_by_language.values() for call_id in ids})
    assert isinstance(drawn, PlannedCalls)
    return drawn, ids_by_language


def draw_calls(calls: Mapping[str, Sequence[str]], share: float, seed: int) -> dict[str, list[str]]:
    """Draw a random share of call ids, in proportion to the size of each language, with at least one of each if there are enough.

    >>> {tag: len(ids) for tag, ids in draw_calls({"cs": ["a"] * 300, "ja": ["b"] * 100}, 0.05, seed=0).items()}
    {'cs': 15, 'ja': 5}
    """
    total = sum(map(len, calls.values()))
    number = min(total, max(MIN_CALLS, math.ceil(round(share * total, 6))))
    quotas = {tag: number * len(ids) / total for tag, ids in calls.items()}
    minimum = 1 if number >= len(calls) else 0
    counts = {tag: max(minimum, math.floor(quota)) for tag, quota in quotas.items()}
    for tag in sorted(quotas, key=lambda tag: (counts[tag] - quotas[tag], tag)):  # the largest remainders first
        if sum(counts.values()) < number:
            counts[tag] += 1
    return {tag: random.Random(f"{seed}\x1f{tag}").sample(sorted(ids), min(counts[tag], len(ids))) for tag, ids in sorted(calls.items())}


# ---- the submission


def _submission_to_verify(prepared: Prepared, board: str, submission: str) -> tuple[Path, JudgeCard]:
    """Return the folder and the card of a submission that can be asked again. Raises ContentError with its first problem."""
    home = prepared.library.board_files[board].parent / SUBMISSIONS
    folder = next((path for path in (home / submission, Path(submission)) if (path / CARD).is_file()), None)
    if folder is None:
        names = sorted(path.name for path in home.glob("*") if path.is_dir())
        raise UsageError(f"no submission '{submission}' on the board '{board}'.{choose_from(names, submission)}")
    expected = expected_calls(prepared)
    examined = examine(expected, folder, Baselines(prepared, expected))
    for problem in examined.problems:
        raise ContentError(f"{problem.message} ('harness board check' lists all problems)", problem.path, problem.line)
    card = examined.card
    assert card is not None
    if card.recorded:
        raise UsageError(f"{folder.name} holds recorded scores without raw replies; nothing can be verified, so it stays 'recorded'")
    if card.part is not None:
        raise UsageError(f"{folder.name} covers a part of the board ({card.part.words}); only whole submissions are verified")
    if card.token_probabilities:
        raise UsageError(
            f"{folder.name} holds token probabilities, which are not asked for again; submit the board's own variant to be verified"
        )
    return folder, card


# ---- asking


def _ask_twice(
    judge: Judge, drawn: PlannedCalls, prepared: Prepared, watcher: Watcher, settings: Settings, out: Path | None
) -> tuple[list[Reply], list[Reply]]:
    """Ask every call twice. Each pass has its own store, because a store would return the first reply instead of asking again.

    Raises IncompleteRun if a reply is missing.
    """
    limit, price = settings.max_cost, price_for_engine(judge.identity, settings)
    if limit is not None and price is None:
        raise UsageError(f"--max-cost needs a price, and {judge.identity.name} has no known price; give one with --prices FILE")
    with nullcontext(out) if out else tempfile.TemporaryDirectory(prefix="harness-verify-") as results:
        folders = [Path(results) / name for name in _PASSES]
        costs = []
        for folder in folders:
            with Store.writing(folder) as store:
                costs.append(estimate_cost(_unanswered(drawn, store), price))
        total = added(*costs)
        if limit is not None and total.cost is not None and total.cost > limit:
            raise UsageError(
                f"asking {total.calls} calls costs about ${total.cost:.2f}, more than --max-cost {limit:g}; use a smaller --share"
            )
        watcher.planned(judge.identity, total, 2 * len(drawn) - total.calls)
        first, second = (_ask_once(judge, drawn, prepared, folder, watcher, settings, price) for folder in folders)
    return first, second


def _unanswered(drawn: PlannedCalls, store: Store) -> PlannedCalls:
    return drawn.without([number is not None for number in store.last_attempts(drawn.ids())])


def _ask_once(
    judge: Judge, drawn: PlannedCalls, prepared: Prepared, folder: Path, watcher: Watcher, settings: Settings, price: Price | None
) -> list[Reply]:
    rules = prepared.reading
    with Store.writing(folder) as store:
        missing = _unanswered(drawn, store)
        interrupted, reason = False, ""
        if len(missing):
            work = JudgeWork(
                judge,
                missing,
                unreadable=lambda call, reply: len(reply_failures(call.query, reply, rules)),
                tokens=estimate_usage,
                cost=price.cost if price else lambda usage: 0.0,
                run=prepared.protocol.name,
            )
            show = watcher.progress([judge.identity])
            try:
                [outcome] = ask_all([work], store, settings, lambda work, state: show(judge.identity, state))
            finally:
                watcher.finished()
            interrupted, reason = outcome.interrupted, outcome.stopped or outcome.last_loss or ""
        replies = [reply for reply in store.replies(drawn.ids()) if reply is not None]
    if len(replies) < len(drawn):
        why = f" ({reason})" if reason else ""
        raise IncompleteRun(
            f"{len(drawn) - len(replies)} of {len(drawn)} calls have no answer{why}, so nothing was decided; with --out DIR "
            "and --seed N the same command can be continued",
            interrupted=interrupted,
        )
    return replies
