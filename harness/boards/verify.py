"""`harness board verify`: some of a submission's calls are asked again, twice, and held against what was submitted.

A judge does not always answer the same, so the measure is its own retest noise: a submission holds if it is no further from the fresh
answers than these are from each other, by the exact test of `harness.stats.retest`.
"""

from __future__ import annotations

import math
import os
import random
import secrets
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path

import msgspec

from harness.analyse import Outcome, Retest, held_against
from harness.asking import Watcher, estimate, price_asked
from harness.boards.anew import Baselines
from harness.boards.card import CARD, JudgeCard, Verified, write_card
from harness.boards.check import SUBMISSIONS, whole_board
from harness.boards.replies import REPLIES, decode_row, lines_of
from harness.boards.scoring import examine
from harness.boards.wanted import wanted_by
from harness.engines import Settings, Work, ask_all, check_engine
from harness.engines.work import only
from harness.errors import ContentError, IncompleteRun, UsageError
from harness.judges import Judge, JudgeOptions, open_judge
from harness.judges.environment import Environment
from harness.judgments import failures
from harness.judgments.derive import read
from harness.model import Call, JudgeIdentity, Reply, Scale
from harness.plan import Calls, Plan, rough_usage
from harness.prices import Price
from harness.protocol import Prepared
from harness.store import Store

SHARE = 0.05
LEAST = 20  # calls, however few that share is
LEVEL = 0.05  # a submission whose p is below does not hold
_PASSES = ("first", "second")


class Differing(msgspec.Struct, frozen=True):
    """One metric of one call on which the three answers are not the same; a failure stands in the place of a score."""

    call_id: str
    language: str
    item_id: str
    metric: str
    submitted: object
    first: object
    second: object

    @property
    def alone(self) -> bool:
        """Whether the fresh answers agree with each other and not with the submitted one."""
        return self.first == self.second != self.submitted


class Verification(msgspec.Struct, frozen=True):
    """What came of it. `drawn`: calls asked again, by language; `renamed`: other models that answered, `(submitted, fresh)`."""

    submission: Path
    judge: str
    seed: int
    calls: int
    drawn: dict[str, int]
    found: Retest
    differing: tuple[Differing, ...]
    renamed: tuple[str, str] | None = None

    @property
    def holds(self) -> bool:
        return self.renamed is None and self.found.p >= LEVEL


def verify(
    board: str,
    submission: str,
    watcher: Watcher,
    settings: Settings,
    *,
    share: float = SHARE,
    seed: int | None = None,
    base_url: str | None = None,
    content: Sequence[Path] = (),
    data: Path | None = None,
    out: Path | None = None,
) -> Verification:
    """Ask a share of a submission's calls again, twice each, and mark its card as verified if it holds; otherwise change nothing.

    Args:
        board, submission: a board, and the folder of one of its submissions, by name or path.
        share: of the board's calls, at least 20 of them, spread over the languages; `seed` draws them, by default one that nobody could
            know beforehand.
        base_url, content, data, settings: as for a run.
        out: a results folder for what is answered, from which the same command goes on; by default one that is thrown away.

    Raises:
        UsageError, ContentError, JudgeError, StoreError as a run; IncompleteRun when calls are left without an answer.
    """
    check_engine(settings)
    prepared = whole_board(board, content, data)
    folder = _folder(prepared, board, submission)
    card = _sound(prepared, folder)
    judge = _opened(card.identity, prepared, base_url, settings)
    check_engine(settings, [judge])
    seed = secrets.randbelow(10**9) if seed is None else seed
    plan = prepared.plan(None)
    calls = plan.calls(card.identity)
    chosen = draw(_by_language(plan, calls), share, seed)
    wanted = only(calls, {call_id for ids in chosen.values() for call_id in ids})
    assert isinstance(wanted, Calls)
    if prepared.data.private and judge.endpoint:
        watcher.consent(judge.endpoint, len(wanted))
    with _results(out) as results:
        fresh = _ask_twice(judge, wanted, prepared, results, watcher, settings)
    verification = _compared(wanted, prepared.data.scales, _submitted(folder, wanted), fresh, folder, card, seed, chosen)
    if verification.holds:
        write_card(folder / CARD, _verified(card, verification))
    return verification


def draw(calls: Mapping[str, Sequence[str]], share: float, seed: int) -> dict[str, list[str]]:
    """A random share of call ids, by language: as many of each as it has of all, and one at least where there is one for each.

    >>> {tag: len(ids) for tag, ids in draw({"cs": ["a"] * 300, "ja": ["b"] * 100}, 0.05, seed=0).items()}
    {'cs': 15, 'ja': 5}
    """
    total = sum(map(len, calls.values()))
    number = min(total, max(LEAST, math.ceil(round(share * total, 6))))
    due = {tag: number * len(ids) / total for tag, ids in calls.items()}
    least = 1 if number >= len(calls) else 0
    counts = {tag: max(least, math.floor(part)) for tag, part in due.items()}
    for tag in sorted(due, key=lambda tag: (counts[tag] - due[tag], tag)):  # the largest remainders first
        if sum(counts.values()) < number:
            counts[tag] += 1
    return {tag: random.Random(f"{seed}\x1f{tag}").sample(sorted(ids), min(counts[tag], len(ids))) for tag, ids in sorted(calls.items())}


# ---- the submission


def _folder(prepared: Prepared, board: str, submission: str) -> Path:
    home = prepared.library.board_files[board].parent / SUBMISSIONS
    for folder in (home / submission, Path(submission)):
        if (folder / CARD).is_file():
            return folder
    here = ", ".join(sorted(path.name for path in home.glob("*") if path.is_dir())) or "none"
    raise UsageError(f"no submission '{submission}' on the board '{board}'.\n         here: {here}")


def _sound(prepared: Prepared, folder: Path) -> JudgeCard:
    """The card of a submission with which nothing is wrong. Raises ContentError with the first thing that is."""
    wanted = wanted_by(prepared)
    found = examine(wanted, folder, Baselines(prepared, wanted))
    for problem in found.problems:
        raise ContentError(f"{problem.message} ('harness board check' says all that is wrong)", problem.path, problem.line)
    assert found.card is not None
    return found.card


def _opened(identity: JudgeIdentity, prepared: Prepared, base_url: str | None, settings: Settings) -> Judge:
    options = JudgeOptions(base_url, Environment(os.environ), prepared.training, prepared.protocol.seed, settings.timeout)
    judge = open_judge(identity.name, options)
    if judge.identity != identity:
        raise UsageError(
            f"{identity.name} was asked with the settings {_shown(identity)}, and here it has {_shown(judge.identity)}; "
            "an endpoint is named with --base-url or OPENAI_BASE_URL"
        )
    return judge


def _shown(identity: JudgeIdentity) -> str:
    return ", ".join(f"{name}={value}" for name, value in sorted(identity.settings.items())) or "none"


def _by_language(plan: Plan, calls: Calls) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for ask, call_id, first in zip(plan.asks(), calls.every_id(), calls.wanted, strict=True):
        if first:
            found.setdefault(ask.item.language, []).append(call_id)
    return found


def _submitted(folder: Path, wanted: Calls) -> dict[str, Reply]:
    ids = set(wanted.ids())
    rows = (decode_row(line) for _, line in lines_of(folder / REPLIES))
    return {row.call_id: row.reply for row in rows if row.call_id in ids}


def _verified(card: JudgeCard, found: Verification) -> JudgeCard:
    table = Verified(
        date=time.strftime("%Y-%m-%d", time.gmtime()),
        calls=found.found.n,
        agreement=round(1 - found.found.apart, 4),
        retest=round(1 - found.found.apart_fresh, 4),
        seed=found.seed,
    )
    return msgspec.structs.replace(card, status="verified", verified=table)


# ---- asking


@contextmanager
def _results(out: Path | None) -> Iterator[Path]:
    if out is not None:
        yield out
        return
    with tempfile.TemporaryDirectory(prefix="harness-verify-") as folder:
        yield Path(folder)


def _ask_twice(
    judge: Judge, wanted: Calls, prepared: Prepared, results: Path, watcher: Watcher, settings: Settings
) -> tuple[list[Reply], list[Reply]]:
    """Two fresh replies to every call, in a store each: in one, the second would be the first. Raises IncompleteRun when one is missing."""
    price = price_asked(judge.identity, settings)
    if settings.limits.cost is not None and price is None:
        raise UsageError(f"--max-cost needs a price, and none is known for {judge.identity.name}: give one with --prices FILE")
    left = [_unanswered(results / name, wanted) for name in _PASSES]
    both = estimate(left[0], price), estimate(left[1], price)
    whole = msgspec.structs.replace(
        both[0],
        calls=sum(one.calls for one in both),
        prompt_tokens=sum(one.prompt_tokens for one in both),
        answer_tokens=sum(one.answer_tokens for one in both),
        cost=None if price is None else sum(one.cost or 0 for one in both),
    )
    limit = settings.limits.cost
    if limit is not None and whole.cost is not None and whole.cost > limit:
        raise UsageError(f"asking {whole.calls} calls takes about ${whole.cost:.2f}, and --max-cost says {limit:g}; take a smaller --share")
    watcher.planned(judge.identity, whole, 2 * len(wanted) - whole.calls)
    first, second = (_ask_once(judge, wanted, prepared, results / name, watcher, settings, price) for name in _PASSES)
    return first, second


def _unanswered(folder: Path, wanted: Calls) -> Calls:
    with Store.writing(folder) as store:
        return wanted.without([number is not None for number in store.last_attempts(wanted.ids())])


def _ask_once(
    judge: Judge, wanted: Calls, prepared: Prepared, folder: Path, watcher: Watcher, settings: Settings, price: Price | None
) -> list[Reply]:
    scales = prepared.data.scales
    with Store.writing(folder) as store:
        missing = wanted.without([number is not None for number in store.last_attempts(wanted.ids())])
        interrupted, reason = False, ""
        if len(missing):
            work = Work(
                judge,
                missing,
                unreadable=lambda call, reply: len(failures(call.ask, reply, scales)),
                tokens=rough_usage,
                cost=price.of if price else lambda usage: 0.0,
                run=prepared.protocol.name,
            )
            show = watcher.progress([judge.identity])
            try:
                [outcome] = ask_all([work], store, settings, lambda work, state: show(judge.identity, state))
            finally:
                watcher.finished()
            interrupted, reason = outcome.interrupted, outcome.stopped or outcome.last_loss or ""
        replies = [reply for reply in store.replies(wanted.ids()) if reply is not None]
    if len(replies) < len(wanted):
        why = f" ({reason})" if reason else ""
        raise IncompleteRun(
            f"{len(wanted) - len(replies)} of {len(wanted)} calls have no answer{why}, so that nothing was decided; with --out DIR "
            "and --seed N the same command goes on",
            interrupted=interrupted,
        )
    return replies


# ---- comparing


def _compared(
    wanted: Calls,
    scales: Mapping[str, Scale],
    submitted: Mapping[str, Reply],
    fresh: tuple[list[Reply], list[Reply]],
    folder: Path,
    card: JudgeCard,
    seed: int,
    chosen: Mapping[str, Sequence[str]],
) -> Verification:
    calls = list(wanted)
    given = [submitted[call.call_id] for call in calls]
    outcomes = [[_outcome(call, reply, scales) for call, reply in zip(calls, replies, strict=True)] for replies in (given, *fresh)]
    differing = [
        Differing(call.call_id, call.ask.item.language, call.ask.item.item_id, metric, *(answer[metric] for answer in answers))
        for call, *answers in zip(calls, *outcomes, strict=True)
        for metric in answers[0]
        if len({answer[metric] for answer in answers}) > 1
    ]
    return Verification(
        submission=folder,
        judge=card.name,
        seed=seed,
        calls=len(calls),
        drawn={tag: len(ids) for tag, ids in chosen.items()},
        found=held_against(*outcomes),
        differing=tuple(differing),
        renamed=_renamed(given, [reply for replies in fresh for reply in replies]),
    )


def _outcome(call: Call, reply: Reply, scales: Mapping[str, Scale]) -> Outcome:
    """What a reply says about each metric: a score, or the name of the failure in its place."""
    readings = read(call.ask, reply, scales)
    return {metric: reading.score if reading.failure is None else str(reading.failure) for metric, reading in readings.items()}


def _renamed(submitted: Sequence[Reply], fresh: Sequence[Reply]) -> tuple[str, str] | None:
    """The names of the models that answered, if none that answered then answers now: it is another judge."""
    before, now = ({reply.model for reply in replies if reply.model} for replies in (submitted, fresh))
    return (", ".join(sorted(before)), ", ".join(sorted(now))) if before and now and not before & now else None
