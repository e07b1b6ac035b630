"""Probes: searches for signs that a judge did not judge. A finding is a reason to look closer, not a verdict.

- Does it beat the baselines `constant-best`, `majority` and `length`, which read no text?
- Do its replies to one prompt fit its temperature: equal at 0, not all equal above?
- Does it give the same justification for different scores of different texts?
- Are its replies equal to another submission's?
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

from harness.boards.examined_submission import ScoredSubmission
from harness.boards.standings import ranking_input
from harness.boards.submission_files import REPLIES, ReplyRow, decode_row, read_lines
from harness.content import Board
from harness.data.dataset import Dataset
from harness.judges import traits_of
from harness.measure.board_ranking import gains_over
from harness.runs import Prepared

MIN_LETTERS = 20  # shorter justifications may well be equal by chance
COPIED_SHARE = 0.05  # flagged above this share of justifications that are copied to other scores of other texts
TWIN_SHARE = 0.9  # flagged above this share of replies that equal another submission's
MIN_COUNT = 20  # replies or justifications that a share needs to be flagged
_BASELINE_WORDS = {
    "constant-best": "“always the best score”",
    "majority": "“always people's commonest score”",
    "length": "“longer is better”",
}
BASELINES = tuple(_BASELINE_WORDS)
_MIXER = np.uint64(0x9E3779B97F4A7C15)  # combines the hashes of prompt and reply into one key
_BLOCK = 1 << 14  # keys that are counted at once
_NOT_LETTERS = re.compile(r"[^\w]+|[\d_]+")


class Finding(msgspec.Struct, frozen=True):
    """The finding of one probe about one judge: a sentence with its numbers. `flagged`: a reader should look closer."""

    probe: str
    judge: str
    sentence: str
    numbers: dict[str, Any]
    flagged: bool


@dataclass(frozen=True, eq=False)
class Traces:
    """A submission's replies, reduced to what probes compare. All values but `long` and `temperature` are hashes or numbers of groups.

    One value a reply: `prompt`, `text`, `long` (whether it has a justification of at least 20 letters), `temperature`.
    One value a justification (a joint call has several): `letters` (the hash of its letters, 0 if it is short), `exact` (the hash of its
    whole text), `score` (the hash of the score beside it, as text), `group` (the number of the item's group).
    """

    prompt: NDArray[np.uint64]
    text: NDArray[np.uint64]
    long: NDArray[np.bool_]
    temperature: NDArray[np.float64]
    letters: NDArray[np.uint64]
    exact: NDArray[np.uint64]
    score: NDArray[np.uint64]
    group: NDArray[np.uint64]


_OF_REPLIES = np.dtype([("prompt", np.uint64), ("text", np.uint64), ("long", bool), ("temperature", np.float64)])
_OF_JUSTIFICATIONS = np.dtype([(name, np.uint64) for name in ("letters", "exact", "score", "group")])


def collect_traces(rows: Iterable[ReplyRow], data: Dataset) -> Traces:
    """Reduce replies to what probes compare. Rows of items that are not in `data` are skipped."""
    groups = {name: number for number, name in enumerate(sorted(data.clusters.used))}
    group_of_item = {item_id: groups[name] for item_id, name in zip(data.by_id, data.clusters, strict=True)}
    replies: list[tuple[int, int, bool, float]] = []
    justifications: list[tuple[int, int, int, int]] = []
    for row in rows:
        if row.item_id not in group_of_item:
            continue
        group, is_long = group_of_item[row.item_id], False
        for justification, score_text in _justifications(row.reply.text):
            only_letters = _NOT_LETTERS.sub("", justification.casefold())
            compared = len(only_letters) >= MIN_LETTERS
            is_long |= compared
            justifications.append((_hash(only_letters) if compared else 0, _hash(justification), _hash(score_text), group))
        replies.append((_hash(row.prompt_id), _hash(row.reply.text), is_long, row.temperature))
    tables = np.array(replies, _OF_REPLIES), np.array(justifications, _OF_JUSTIFICATIONS)
    return Traces(**{name: np.ascontiguousarray(table[name]) for table in tables for name in table.dtype.names or ()})


def read_traces(folder: Path, data: Dataset) -> Traces:
    """The traces of a submission that has been checked. Raises ContentError if its replies cannot be read."""
    return collect_traces((decode_row(line) for _, line in read_lines(folder / REPLIES)), data)


def _hash(text: str) -> int:
    return int.from_bytes(hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=8).digest()) or 1


def _justifications(text: str) -> Iterator[tuple[str, str]]:
    """(justification, score as text) in a JSON reply, for each metric of a joint call. Other replies have none."""
    try:
        reply = msgspec.json.decode(text)
    except (msgspec.DecodeError, RecursionError, UnicodeEncodeError):
        return
    members = [reply, *reply.values()] if isinstance(reply, dict) else []
    for member in members:
        if isinstance(member, dict) and isinstance(member.get("justification"), str):
            yield member["justification"], str(member.get("score"))


# ---- the probes


def probe(board: Board, prepared: Prepared, entries: Mapping[str, ScoredSubmission], traces: Mapping[str, Traces]) -> tuple[Finding, ...]:
    """Run every probe on every judge, and order the findings by judge.

    `entries` and `traces` are keyed by the judge's id in the standings. A judge without traces is only compared with the baselines.
    Baselines themselves are not probed.
    """
    judged = {judge: entry for judge, entry in entries.items() if not traits_of(entry.card.identity).is_baseline}
    findings: dict[str, list[Finding]] = {judge: [] for judge in judged}
    for finding in _probe_baselines(board, prepared, judged):
        findings[finding.judge].append(finding)
    for judge in judged:
        if judge in traces:
            findings[judge] += [probe_replies(judge, traces[judge]) for probe_replies in (_probe_repeats, _probe_justifications)]
    for finding in _probe_twins({judge: traces[judge] for judge in judged if judge in traces}):
        findings[finding.judge].append(finding)
    return tuple(finding for judge_findings in findings.values() for finding in judge_findings)


def _probe_baselines(board: Board, prepared: Prepared, entries: Mapping[str, ScoredSubmission]) -> Iterator[Finding]:
    """Does a judge beat the baselines in each language? All metrics are pooled, and both are compared on the same questions."""
    variants = tuple(map(str, dict.fromkeys(condition.variant for condition in prepared.protocol.questions.conditions)))
    judgments = {name: entry.judgments for name, entry in entries.items()}
    gains = gains_over(BASELINES, ranking_input(board, prepared, judgments, variants))
    numbers: dict[str, dict[str, dict[str, Any]]] = {judge: {baseline: {} for baseline in BASELINES} for judge in entries}
    for gain in gains:
        interval = gain.interval
        column = gain.language if len(variants) == 1 else f"{gain.language} {gain.variant}"
        beats = None if interval is None else interval[0] > 0
        numbers[gain.judge][gain.baseline][column] = {"diff": gain.diff, "ci": interval, "beats": beats}
    for judge, by_baseline in numbers.items():
        parts, flagged = [], False
        for baseline, languages in by_baseline.items():
            tested = {tag: gain["beats"] for tag, gain in languages.items() if gain["beats"] is not None}
            beaten, fails = ([tag for tag, beats in tested.items() if beats is value] for value in (True, False))
            flagged |= bool(fails)
            exceptions = ""  # the languages in which the judge beats a baseline, or those in which it does not: the shorter list
            if beaten and fails:
                exceptions = f" (not in {', '.join(fails)})" if len(fails) < len(beaten) else f" ({', '.join(beaten)})"
            untested = f", too few texts in {len(languages) - len(tested)}" if len(tested) < len(languages) else ""
            if len(languages) == 1:
                where = ": too few texts" if not tested else ": yes" if beaten else ": no"
            else:
                where = f" in {len(beaten) or 'none'} of {len(languages)} languages{exceptions}{untested}"
            parts.append(f"{_BASELINE_WORDS[baseline]}{where}")
        yield Finding("baselines", judge, f"Shown to be better than {'; '.join(parts)}.", dict(by_baseline), flagged)


def _probe_repeats(judge: str, traces: Traces) -> Finding:
    """Do replies to one prompt fit the temperature: equal at 0, not all equal above?"""
    _, first, prompt, times = np.unique(
        np.stack([traces.prompt, traces.temperature.view(np.uint64)]), axis=1, return_index=True, return_inverse=True, return_counts=True
    )
    prompt = prompt.reshape(-1)
    differs = np.bincount(prompt[traces.text != traces.text[first][prompt]], minlength=len(times)) > 0
    repeated, at_0 = times >= 2, traces.temperature[first] == 0
    numbers: dict[str, Any] = {}
    parts, flagged = [], False
    if (n_prompts := int((repeated & at_0).sum())) > 0:
        differing = int((differs & repeated & at_0).sum())
        numbers |= {"prompts_at_0": n_prompts, "differing_at_0": differing}
        flagged |= differing > 0
        parts.append(f"at temperature 0, {differing} of {n_prompts} prompts that were asked more than once have different replies")
    if (n_prompts := int((repeated & ~at_0).sum())) > 0:
        equal = n_prompts - int((differs & repeated & ~at_0).sum())
        numbers |= {"prompts_above_0": n_prompts, "equal_above_0": equal}
        flagged |= equal == n_prompts >= MIN_COUNT
        parts.append(f"above temperature 0, {equal} of {n_prompts} such prompts have only equal replies")
    sentence = "; ".join(parts) or "no prompt was asked more than once, so its temperature cannot be tested"
    return Finding("repeats", judge, sentence[0].upper() + sentence[1:] + ".", numbers, flagged)


def _probe_justifications(judge: str, traces: Traces) -> Finding:
    """Are justifications copied, exactly or nearly, to different scores of items of different groups?"""
    long = traces.letters != 0
    score, group = traces.score[long], traces.group[long]
    counts = []
    for hashes in (traces.letters, traces.exact):
        # Uses with a different score for an item of a different group, by inclusion and exclusion: all uses, minus those with the same
        # score, minus those in the same group, plus those with both.
        text = hashes[long]
        elsewhere = _count_equal(text) - _count_equal(text, score) - _count_equal(text, group) + _count_equal(text, score, group)
        counts.append(int((elsewhere > 0).sum()))
    (nearly, exactly), n = counts, int(long.sum())
    numbers = {"justifications": n, "short": int((~long).sum()), "copied": exactly, "nearly_copied": nearly}
    if not n:
        return Finding("justifications", judge, f"No justification has the {MIN_LETTERS} letters needed for a comparison.", numbers, False)
    sentence = (
        f"{exactly} of {n} reasons with {MIN_LETTERS} letters or more are reused word for word for a different text with a different "
        f"score, {nearly} if case, digits and punctuation are ignored."
    )
    return Finding("justifications", judge, sentence, numbers, n >= MIN_COUNT and nearly / n > COPIED_SHARE)


def _count_equal(*columns: NDArray[np.uint64]) -> NDArray[np.intp]:
    """For each row, the number of rows with the same values."""
    _, value, times = np.unique(np.stack(columns), axis=1, return_inverse=True, return_counts=True)
    counts: NDArray[np.intp] = times[value.reshape(-1)]
    return counts


def _probe_twins(traces: Mapping[str, Traces]) -> Iterator[Finding]:
    """Do replies with a justification equal another submission's replies to the same prompts, letter by letter?"""
    judges = list(traces)
    keys = [np.unique(trace.prompt[trace.long] * _MIXER ^ trace.text[trace.long]) for trace in traces.values()]
    shared = _count_shared_keys(keys)
    for position, judge in enumerate(judges):
        n, flagged = len(keys[position]), False
        counts = [
            (int(count), name) for number, (count, name) in enumerate(zip(shared[position], judges, strict=True)) if number != position
        ]
        numbers: dict[str, Any] = {"replies": n}
        if not n:
            sentence = "No reply has a justification that can be compared."
        elif not counts:
            sentence = "There is no other submission to compare its replies with."
        else:
            count, twin = max(counts)
            numbers |= {"most_shared": count, "with": twin if count else None}
            flagged = n >= MIN_COUNT and count / n > TWIN_SHARE
            sentence = f"{count} of its {n} different replies with a justification equal those of {twin}, letter by letter."
            if not count:
                sentence = f"None of its {n} different replies with a justification equals another submission's."
        yield Finding("twins", judge, sentence, numbers, flagged)


def _count_shared_keys(keys: Sequence[NDArray[np.uint64]]) -> NDArray[np.int64]:
    """The number of keys that each two judges share, (J, J). No judge has a key twice."""
    n_judges = len(keys)
    all_keys = np.concatenate([*keys, np.empty(0, np.uint64)])
    owner = np.repeat(np.arange(n_judges), [len(judge_keys) for judge_keys in keys])
    _, key, times = np.unique(all_keys, return_inverse=True, return_counts=True)
    order = np.argsort(key, kind="stable")
    order = order[times[key[order]] > 1]
    _, row = np.unique(key[order], return_inverse=True)
    shared = np.zeros((n_judges, n_judges))
    for start in range(0, int(row.max(initial=-1)) + 1, _BLOCK):
        first, last = np.searchsorted(row, (start, start + _BLOCK))
        has_key = np.zeros((_BLOCK, n_judges), np.float32)
        has_key[row[first:last] - start, owner[order[first:last]]] = 1
        shared += has_key.T @ has_key
    return shared.astype(np.int64)
