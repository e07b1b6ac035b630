"""Probes of a submission: what it would look like if a judge did not judge. They find, and a reader judges: no finding is a verdict.

- does it beat the baselines `constant-best`, `majority` and `length`, which read nothing?
- are its replies to one prompt what its temperature says: the same at 0, different somewhere above?
- does it give one justification for different scores of unlike texts?
- are its replies another submission's?
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
from numpy.typing import NDArray

from harness.analyse import gains_over, of_rule
from harness.boards.replies import REPLIES, ReplyRow, decode_row, lines_of
from harness.boards.scoring import Entry
from harness.content import Board, Dataset
from harness.protocol import Prepared

SHORTEST = 20  # letters: whoever says less than that may well say it twice
MANY = 0.05  # share of justifications that stand for different scores of unlike texts, above which it is flagged
TWIN = 0.9  # share of longer replies equal to another submission's, above which it is flagged
ENOUGH = 20  # replies or pairs that a share needs to be flagged
BASELINES = ("constant-best", "majority", "length")
_MIXED = np.uint64(0x9E3779B97F4A7C15)  # so that prompt and reply make one key
_ROWS = 1 << 14
_LETTERS = re.compile(r"[^\w]+|[\d_]+")


class Finding(msgspec.Struct, frozen=True):
    """What one probe found of one judge: a sentence with its numbers, and whether a reader should look closer."""

    probe: str
    judge: str
    sentence: str
    numbers: dict[str, Any]
    flagged: bool


@dataclass(frozen=True, eq=False)
class Traces:
    """A submission's replies, reduced to what probes compare; arrays (replies,) unless said otherwise.

    `prompt` and `text` are hashes, `long` whether the reply has a justification of some length. Of its justifications (of joint calls
    several a reply): `reason` the hash of the letters, 0 for a short one, `exact` of the text, `score` of what stands beside it as a text,
    `group` the number of the item's group.
    """

    prompt: NDArray[np.uint64]
    text: NDArray[np.uint64]
    long: NDArray[np.bool_]
    temperature: NDArray[np.float64]
    reason: NDArray[np.uint64]
    exact: NDArray[np.uint64]
    score: NDArray[np.uint64]
    group: NDArray[np.uint64]


def traces(rows: Iterable[ReplyRow], data: Dataset) -> Traces:
    """What replies leave to be compared. Rows of items that `data` does not have are passed over."""
    groups = {name: number for number, name in enumerate(sorted({item.group for item in data.items}))}
    of_item = {item.item_id: groups[item.group] for item in data.items}
    replies: list[tuple[int, int, bool, float]] = []
    reasons: list[tuple[int, int, int, int]] = []
    for row in rows:
        if row.item_id not in of_item:
            continue
        told = [(_letters(reason), reason, score) for reason, score in _justifications(row.reply.text)]
        replies.append((_hash(row.prompt_id), _hash(row.reply.text), any(len(said) >= SHORTEST for said, _, _ in told), row.temperature))
        group = of_item[row.item_id]
        reasons += [(_hash(said) if len(said) >= SHORTEST else 0, _hash(reason), _hash(score), group) for said, reason, score in told]
    prompt, text, long, temperature = zip(*replies, strict=True) if replies else ((), (), (), ())
    reason, exact, score, group_of = zip(*reasons, strict=True) if reasons else ((), (), (), ())
    return Traces(
        prompt=np.array(prompt, np.uint64),
        text=np.array(text, np.uint64),
        long=np.array(long, bool),
        temperature=np.array(temperature, np.float64),
        reason=np.array(reason, np.uint64),
        exact=np.array(exact, np.uint64),
        score=np.array(score, np.uint64),
        group=np.array(group_of, np.uint64),
    )


def traces_of(folder: Path, data: Dataset) -> Traces:
    """Of a submission's folder that has been checked. Raises ContentError for what cannot be read."""
    return traces((decode_row(line) for _, line in lines_of(folder / REPLIES)), data)


def _hash(text: str) -> int:
    return int.from_bytes(hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=8).digest()) or 1


def _letters(text: str) -> str:
    """A text without case, digits, punctuation and white space: what stays when only those differ is nearly the same.

    >>> _letters("Fluent, in 2 places!") == _letters("fluent in 3 places")
    True
    """
    return _LETTERS.sub("", text.casefold())


def _justifications(text: str) -> Iterator[tuple[str, str]]:
    """(justification, score as text) in a reply that is JSON; of a joint call, each metric's. Nothing of other replies."""
    try:
        found = msgspec.json.decode(text)
    except (msgspec.DecodeError, RecursionError, UnicodeEncodeError):
        return
    members = [found, *found.values()] if isinstance(found, dict) else []
    for member in members:
        if isinstance(member, dict) and isinstance(member.get("justification"), str):
            yield member["justification"], str(member.get("score"))


# ---- the probes


def probe(board: Board, prepared: Prepared, entries: Mapping[str, Entry], traced: Mapping[str, Traces]) -> tuple[Finding, ...]:
    """Every probe of every judge, judge by judge.

    `entries` and `traced` are by the judge's id in the standings; one without traces is probed for what its judgments show. Baselines are
    what others are held against, and are not probed.
    """
    judged = {name: entry for name, entry in entries.items() if entry.card.provider != "baseline"}
    found: dict[str, list[Finding]] = {name: [] for name in judged}
    for finding in _over_baselines(board, prepared, judged):
        found[finding.judge].append(finding)
    for name in judged:
        if name in traced:
            found[name] += [of(name, traced[name]) for of in (_repeated, _copied)]
    for finding in _twins({name: traced[name] for name in judged if name in traced}):
        found[finding.judge].append(finding)
    return tuple(finding for own in found.values() for finding in own)


def _over_baselines(board: Board, prepared: Prepared, entries: Mapping[str, Entry]) -> Iterator[Finding]:
    """Does it beat what reads nothing, in each language? All metrics pooled, paired on the same questions."""
    variants = tuple(map(str, dict.fromkeys(condition.variant for condition in prepared.protocol.conditions)))
    protocol = prepared.protocol
    judgments = {name: entry.judgments for name, entry in entries.items()}
    found = gains_over(
        BASELINES,
        prepared.data,
        prepared.training,
        judgments,
        of_rule(board.majority, board.annotators),
        metrics=protocol.metrics,
        variants=variants,
        languages=protocol.languages,
        repeats=protocol.repeats,
        rank_by=board.rank_by,
    )
    by: dict[str, dict[str, dict[str, Any]]] = {name: {baseline: {} for baseline in BASELINES} for name in entries}
    for gain in found:
        known = gain.interval
        where = gain.language if len(variants) == 1 else f"{gain.language} {gain.variant}"
        by[gain.judge][gain.baseline][where] = {"diff": gain.diff, "ci": known, "beats": None if known is None else known[0] > 0}
    yield from (_beaten(name, own) for name, own in by.items())


def _beaten(judge: str, by: Mapping[str, Mapping[str, Mapping[str, Any]]]) -> Finding:
    parts, flagged = [], False
    for baseline, languages in by.items():
        told = {tag: each["beats"] for tag, each in languages.items() if each["beats"] is not None}
        beaten = sum(told.values())
        flagged |= beaten < len(told)
        where = _where(told)
        untold = f", {len(languages) - len(told)} cannot be told" if len(told) < len(languages) else ""
        parts.append(f"{baseline} in {beaten} of {len(languages)} languages{where}{untold}")
    return Finding("baselines", judge, f"Shown to beat {'; '.join(parts)}.", {name: dict(each) for name, each in by.items()}, flagged)


def _where(told: Mapping[str, bool]) -> str:
    """In which languages, by the shorter list."""
    beats, others = ([tag for tag, each in told.items() if each is which] for which in (True, False))
    if not beats or not others:
        return ""
    return f" (not in {', '.join(others)})" if len(others) < len(beats) else f" ({', '.join(beats)})"


def _repeated(judge: str, found: Traces) -> Finding:
    """Replies to one prompt: the same at temperature 0, and not all the same above."""
    _, first, which, times = np.unique(
        np.stack([found.prompt, found.temperature.view(np.uint64)]), axis=1, return_index=True, return_inverse=True, return_counts=True
    )
    which = which.reshape(-1)
    differs = np.bincount(which[found.text != found.text[first][which]], minlength=len(times)) > 0
    often, cold = times >= 2, found.temperature[first] == 0
    numbers: dict[str, Any] = {}
    parts, flagged = [], False
    if (asked := int((often & cold).sum())) > 0:
        unlike = int((differs & often & cold).sum())
        numbers |= {"prompts_at_0": asked, "differing_at_0": unlike}
        flagged |= unlike > 0
        parts.append(f"at temperature 0, {unlike} of {asked} prompts asked more than once had replies that differ")
    if (asked := int((often & ~cold).sum())) > 0:
        alike = asked - int((differs & often & ~cold).sum())
        numbers |= {"prompts_above_0": asked, "equal_above_0": alike}
        flagged |= alike == asked >= ENOUGH
        parts.append(f"above temperature 0, {alike} of {asked} such prompts had equal replies throughout")
    sentence = "; ".join(parts) or "no prompt was asked more than once, so that nothing can be said of its temperature"
    return Finding("repeats", judge, _sentence(sentence), numbers, flagged)


def _copied(judge: str, found: Traces) -> Finding:
    """Justifications that stand word for word, or nearly, beside different scores of items of different groups."""
    long = found.reason != 0
    nearly, exactly = (int(_elsewhere(hashes[long], found.score[long], found.group[long]).sum()) for hashes in (found.reason, found.exact))
    n = int(long.sum())
    numbers = {"justifications": n, "short": int((~long).sum()), "copied": exactly, "nearly_copied": nearly}
    if not n:
        return Finding("justifications", judge, f"No justification has the {SHORTEST} letters that can be compared.", numbers, False)
    sentence = (
        f"Of {n} justifications with {SHORTEST} letters or more, {exactly} stand word for word beside another score of an item of another "
        f"group, {nearly} if case, digits and punctuation do not count."
    )
    return Finding("justifications", judge, sentence, numbers, n >= ENOUGH and nearly / n > MANY)


def _elsewhere(reason: NDArray[np.uint64], score: NDArray[np.uint64], group: NDArray[np.uint64]) -> NDArray[np.bool_]:
    """Which justifications are used again with a different score for an item of a different group.

    Of all uses, without those of the same score and those of the same group (and with those of both, taken away twice), one is left.
    """
    left: NDArray[np.bool_] = _alike(reason) - _alike(reason, score) - _alike(reason, group) + _alike(reason, score, group) > 0
    return left


def _alike(*columns: NDArray[np.uint64]) -> NDArray[np.intp]:
    """For each row, how many have the same values."""
    _, which, times = np.unique(np.stack(columns), axis=1, return_inverse=True, return_counts=True)
    alike: NDArray[np.intp] = times[which.reshape(-1)]
    return alike


def _twins(traced: Mapping[str, Traces]) -> Iterator[Finding]:
    """Replies with a justification that are another submission's to the same prompt, letter by letter."""
    names = list(traced)
    keys = [np.unique(one.prompt[one.long] * _MIXED ^ one.text[one.long]) for one in traced.values()]
    shared = _shared(keys)
    for number, name in enumerate(names):
        yield _twin(name, names, shared[number], number, len(keys[number]))


def _shared(keys: Sequence[NDArray[np.uint64]]) -> NDArray[np.int64]:
    """How many keys each two have in common, (J, J); keys of one are different."""
    many = len(keys)
    together = np.concatenate([*keys, np.empty(0, np.uint64)])
    owner = np.repeat(np.arange(many), [len(own) for own in keys])
    _, which, times = np.unique(together, return_inverse=True, return_counts=True)
    order = np.argsort(which, kind="stable")
    order = order[times[which[order]] > 1]
    _, row = np.unique(which[order], return_inverse=True)
    shared = np.zeros((many, many))
    for start in range(0, int(row.max(initial=-1)) + 1, _ROWS):
        first, last = np.searchsorted(row, (start, start + _ROWS))
        has = np.zeros((_ROWS, many), np.float32)
        has[row[first:last] - start, owner[order[first:last]]] = 1
        shared += has.T @ has
    return shared.astype(np.int64)


def _twin(judge: str, names: Sequence[str], shared: NDArray[np.int64], own: int, n: int) -> Finding:
    others = [(int(count), name) for at, (count, name) in enumerate(zip(shared, names, strict=True)) if at != own]
    if not n:
        return Finding("twins", judge, "No reply has a justification that can be compared.", {"replies": 0}, False)
    if not others:
        return Finding("twins", judge, "There is no other submission to compare its replies with.", {"replies": n}, False)
    count, twin = max(others, key=lambda each: (each[0], each[1]))
    numbers = {"replies": n, "most_shared": count, "with": twin if count else None}
    if not count:
        return Finding("twins", judge, f"None of its {n} different replies with a justification is another submission's.", numbers, False)
    sentence = f"{count} of its {n} different replies with a justification are letter by letter those of {twin}."
    return Finding("twins", judge, sentence, numbers, n >= ENOUGH and count / n > TWIN)


def _sentence(text: str) -> str:
    return text[0].upper() + text[1:] + "."
