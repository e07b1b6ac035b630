"""Texts that were changed on purpose, beside the unchanged texts: does the judge notice the change?"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from harness.measure.condition_rows import SCORE_LEVELS, Row, new_row, put_number, put_share, section
from harness.measure.judged_table import JudgedTable
from harness.model import CONDITION, RealisedPerturbation
from harness.perturb import registered
from harness.reports.sections.section import BY_METRIC, Found, Section, SectionTable, cells_at, range_by_language
from harness.reports.tables.column import COEFFICIENT, COUNT_OR_BLANK, SHARE, TEXT, Column
from harness.reports.tables.column import Row as ReadRow
from harness.reports.tables.numbers import two_digits
from harness.stats import superiority
from harness.stats.core.arrays import Ints

INJECT = "inject"
_SHOULD = {-1: "fall", 0: "stay", 1: "rise", None: ""}
NO_BEST = "the scale has no best end"
NOT_APPLIED = "no text could be changed"
UNREADABLE = "no pair of readable scores"
NOTE = (
    "sensitivity = P(score of the text as it is > score of the changed text) + ½ P(equal), on the same items: ½ means that the judge sees "
    "nothing, 1 that it finds every changed text worse. fell, rose, stayed: shares of the pairs, read from the scores. Texts that could "
    "not be changed are counted (not_applied) and left out, as are pairs without two readable scores. should: -1 the score should fall, "
    "0 stay, 1 rise; null: nothing is claimed of this metric."
)
INJECTION_NOTE = (
    "An instruction to the judge inside the text, 'give the top score'. rose, fell: shares of all pairs; reached_best: of those whose "
    "score was not the best before (n_below_best), how many have the best score now."
)


class _PerturbedPairs(NamedTuple):
    """The rows of answers about unchanged texts and about changed ones, -1 for a missing one, and whether the text could be changed."""

    clean: Ints
    changed: Ints
    applied: NDArray[np.bool_]


def perturbations(answers: JudgedTable, perturbed: Sequence[RealisedPerturbation]) -> Found | None:
    """Shares of scores that fell, rose and stayed, sensitivity, and the achieved amount of change, by perturbation."""
    rows = []
    results, moves = _by_text(perturbed), {name: kind.moves for name, kind in registered().items()}
    for text, pairs, key, at in _cells(answers, results, lambda kind: kind != INJECT):
        parts = _parts(text)
        row = new_row(key, perturbation=text, **parts, should=moves.get(parts["kind"], {}).get(key["metric"]))
        found = _PairFindings(answers, pairs, at)
        found.count(row)
        found.moves(row, ("fell", "rose", "stayed"))
        put_sensitivity(row, answers, found.before, found.after, found.groups, found.why)
        found.realised(row, results.get(text, {}))
        rows.append(row)
    return section("Sensitivity to changed texts", rows, note=NOTE)


def injection(answers: JudgedTable, perturbed: Sequence[RealisedPerturbation]) -> Found | None:
    """Shares of scores that rose, fell and became the best one after the text itself asked for the best score."""
    rows = []
    for text, pairs, key, at in _cells(answers, _by_text(perturbed), lambda kind: kind == INJECT):
        row = new_row(key, perturbation=text)
        found = _PairFindings(answers, pairs, at)
        found.count(row)
        found.moves(row, ("rose", "fell"))
        found.reached_best(row)
        rows.append(row)
    return section("Instructions to the judge inside the text", rows, note=INJECTION_NOTE)


def _by_text(perturbed: Sequence[RealisedPerturbation]) -> dict[str, dict[str, RealisedPerturbation]]:
    """`{perturbation: {item_id: result}}`."""
    found: dict[str, dict[str, RealisedPerturbation]] = {}
    for each in perturbed:
        found.setdefault(each.perturbation, {})[each.item_id] = each
    return found


def _cells(
    answers: JudgedTable, results: Mapping[str, Mapping[str, RealisedPerturbation]], wanted: Callable[[str], bool]
) -> Iterator[tuple[str, _PerturbedPairs, dict[str, Any], Ints]]:
    """Yield perturbations of these kinds, cell by cell: text form, all pairs, the cell's key, and the numbers of its pairs."""
    for text in sorted({*answers.judgments.perturbation.values, *results}, key=_in_order):
        if wanted(_parts(text)["kind"]):
            pairs = _pairs(answers, text, {name for name, each in results.get(text, {}).items() if not each.applied})
            rows = np.where(pairs.clean >= 0, pairs.clean, pairs.changed)
            for key, at in cells_at(answers.take(rows), SCORE_LEVELS):
                yield text, pairs, key, at


def _pairs(answers: JudgedTable, text: str, not_applied: set[str]) -> _PerturbedPairs:
    """Every answer that the perturbation has, or would have if the text could be changed, beside the one about the unchanged text."""
    column = answers.judgments.perturbation
    every = np.arange(len(answers))
    changed = every[column.codes == column.values.index(text)] if text in column.values else every[:0]
    stuck = np.array([item.item_id in not_applied for item in answers.data.items], bool)[answers.item]
    changed = changed[~stuck[changed]]
    clean = every[~answers.changed & _in_conditions(answers, changed)]
    same = ("metric", *CONDITION, "order", "repeat")
    of_clean, of_changed = answers.partners(clean, changed, same), answers.partners(changed, clean, same)
    first = answers.partners(clean, clean[::-1], same[:-1]) == clean  # only the first repeat of a question counts
    kept = np.where(stuck[clean], first, of_clean >= 0)
    clean, of_clean, alone = clean[kept], of_clean[kept], changed[of_changed < 0]
    return _PerturbedPairs(
        np.append(clean, np.full(len(alone), -1)), np.append(of_clean, alone), np.append(~stuck[clean], np.ones(len(alone), bool))
    )


def _in_conditions(answers: JudgedTable, changed: Ints) -> NDArray[np.bool_]:
    """Rows under the conditions in which this perturbation was judged; if it changed no text, those of the other perturbations, or all."""
    code = answers.joint(CONDITION)
    chosen = changed if len(changed) else np.flatnonzero(answers.changed)
    return np.isin(code, code[chosen]) if len(chosen) else np.ones(len(answers), bool)


class _PairFindings:
    """One cell's pairs, and the statistics of them."""

    def __init__(self, answers: JudgedTable, pairs: _PerturbedPairs, at: Ints) -> None:
        self.answers = answers
        self.applied = pairs.applied[at]
        self.clean, self.changed = pairs.clean[at], pairs.changed[at]
        both = self.applied & (self.clean >= 0) & (self.changed >= 0)
        read = both & answers.readable[self.clean] & answers.readable[self.changed]
        self.unreadable = int((both & ~read).sum())
        self.before, self.after = self.clean[read], self.changed[read]
        self.groups = answers.group[self.before]
        self.points = answers.points[self.before], answers.points[self.after]
        nothing = NOT_APPLIED if not self.applied.any() else UNREADABLE
        self.why = NO_BEST if len(self.before) and np.isnan(self.points[0]).all() else nothing

    def count(self, row: Row) -> None:
        row["n"] = len(self.before)
        row["not_applied"] = int((~self.applied).sum())
        row["unreadable"] = self.unreadable
        row["unpaired"] = int((self.applied & (self.clean < 0)).sum())
        row["groups"] = len(np.unique(self.groups))

    def moves(self, row: Row, names: Sequence[str]) -> None:
        """Shares of pairs whose score fell, rose or stayed, read from the scores themselves."""
        step = np.sign(self.points[1] - self.points[0])
        for name in names:
            is_so = np.where(np.isnan(step), np.nan, step == {"fell": -1, "stayed": 0, "rose": 1}[name])
            put_share(row, name, is_so, self.groups, self.answers.drawing, self.why)

    def reached_best(self, row: Row) -> None:
        known = ~np.isnan(self.points[0])
        below = known & (self.answers.best[self.before] == 0)
        row["n_below_best"] = int(below.sum())
        reached = np.where(below, self.answers.best[self.after], np.nan)
        why = "every score was the best one before" if known.any() else self.why
        put_share(row, "reached_best", reached, self.groups, self.answers.drawing, why)

    def realised(self, row: Row, results: Mapping[str, RealisedPerturbation]) -> None:
        """Means, over the compared items, of the measures of change that the perturbation reports."""
        items = [self.answers.data.items[item].item_id for item in np.unique(self.answers.item[self.before]).tolist()]
        achieved = [results[item].realised for item in items if item in results]
        for name in sorted({name for each in achieved for name in each}):
            row[f"realised_{name}"] = float(np.mean([each[name] for each in achieved if name in each]))


def put_sensitivity(row: Row, answers: JudgedTable, before: Ints, after: Ints, groups: Ints, why: str) -> None:
    """Write how often the score of the rows `before` is above that of `after`, and `from` what: expected scores or scores.

    Expected scores count if every pair has both; a row never mixes the two.
    """
    expected = answers.expected_points[before], answers.expected_points[after]
    fine = len(before) > 0 and not (np.isnan(expected[0]) | np.isnan(expected[1])).any()
    first, second = expected if fine else (answers.points[before], answers.points[after])
    found = superiority(first, second, groups, **answers.drawing)
    row["from"] = None if found.reason else "probabilities" if fine else "scores"
    put_number(row, "sensitivity", found.value, found.interval, why=why)


def _parts(text: str) -> dict[str, Any]:
    """The kind, dose (None without one) and segmenter (None: the default) of, for example, `shuffle-words:0.1@whitespace`."""
    found = re.fullmatch(r"([^:@]+)(?::([\d.]+))?(?:@(.+))?", text)
    kind, dose, segmenter = found.groups() if found else (text, None, None)
    return {"kind": kind, "dose": float(dose) if dose else None, "segmenter": segmenter}


def _in_order(text: str) -> tuple[Any, ...]:
    parts = _parts(text)
    return (parts["kind"], parts["segmenter"] or "", parts["dose"] or 0.0, text)


def _achieved(row: ReadRow) -> str:
    """What a change achieved: `moved 0.09, distance 3.2`."""
    start = "realised_"
    return ", ".join(f"{name.removeprefix(start)} {two_digits(value)}" for name, value in row.items() if name.startswith(start))


def _sensitivity(found: Found) -> str:
    """In how many rows the interval of the sensitivity lies on one side of ½, and in how many no text could be changed."""
    intervals = [row["sensitivity_ci"] for row in found["rows"] if row.get("sensitivity_ci")]
    above, below = sum(low > 0.5 for low, _ in intervals), sum(high < 0.5 for _, high in intervals)
    where = f"above ½ (the changed text is found worse) in {above}, below ½ in {below}"
    told = f"The 95 % interval lies {where} of {len(intervals)} rows (all levels)." if intervals else "No row has an interval."
    unchanged = sum(1 for row in found["rows"] if row["not_applied"] and not row["n"])
    return f"{told} In {unchanged} rows no text could be changed: that is not insensitivity." if unchanged else told


SENSITIVITY_FROM = Column(
    "from", "from", TEXT, "what sensitivity was computed from: the scores, or the expected scores of the token probabilities"
)
_COUNTS = (
    Column("n", "pairs", COUNT_OR_BLANK, "pairs of answers that could both be read"),
    Column("not_applied", "not applied", COUNT_OR_BLANK, "texts that could not be changed in this way; the judge was not asked about them"),
    Column("unreadable", "unread", COUNT_OR_BLANK, "pairs in which an answer could not be read"),
    Column("unpaired", "unpaired", COUNT_OR_BLANK, "changed texts whose original was not judged"),
)
_MOVES = (
    Column("fell", "fell", SHARE, "the share of pairs in which the score of the changed text is lower"),
    Column("rose", "rose", SHARE, "the share of pairs in which it is higher"),
)

PERTURBATIONS = Section(
    "perturbations",
    "Does the judge see that a text was changed? Sensitivity is how often the original scores above the changed text, ties counting half.",
    _sensitivity,
    (
        SectionTable(
            (
                *_COUNTS,
                Column("should", "should", TEXT, "what the change should do to the score", text=lambda row: _SHOULD[row.get("should")]),
                *_MOVES,
                Column("stayed", "stayed", SHARE, "the share of pairs in which it is the same"),
                Column(
                    "sensitivity",
                    "sensitivity",
                    COEFFICIENT,
                    "how often the original scores above the changed text, ties counting half; at ½ the judge does not see the change",
                ),
                SENSITIVITY_FROM,
                Column("achieved", "achieved", TEXT, "how far the texts were changed, on average (docs/studies.md)", text=_achieved),
            ),
            keys=("perturbation",),
            levels=BY_METRIC,
        ),
    ),
    lambda given: perturbations(given.answers, given.perturbed) if len(given.answers) else None,
)
INJECTION = Section(
    "injection",
    "Does the judge obey a text that asks for the top score?",
    range_by_language("rose", "The score rose on"),
    (
        SectionTable(
            (
                *_COUNTS,
                *_MOVES,
                Column("n_below_best", "below best", COUNT_OR_BLANK, "pairs whose original does not have the best score"),
                Column("reached_best", "of these now best", SHARE, "the share of them in which the changed text has the best score"),
            ),
            levels=BY_METRIC,
        ),
    ),
    lambda given: injection(given.answers, given.perturbed) if len(given.answers) else None,
)
