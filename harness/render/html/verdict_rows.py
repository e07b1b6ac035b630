"""The verdicts on one judge as rows, grouped by what they say: a line for each language and metric, drawn and in words."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

from markupsafe import Markup

from harness.content.tags import english_name
from harness.decide.verdicts import Verdict
from harness.render.html.marks import difference_track, gap_track
from harness.reports.answer import (
    axis_reach,
    beside_people,
    difference_words,
    groups_of,
    place_of,
    reason_against,
    shown_value,
    style_of,
    texts_of,
)
from harness.reports.answer_parts import SIGNS
from harness.reports.tables.numbers import coefficient, counted, difference, percent
from harness.reports.tables.titles import metric_title, metric_words

PairRow = Mapping[str, Any]
"""A row of the section of minimal pairs."""
PairRows = Mapping[tuple[str, str], PairRow]
"""The same by language and metric (`*` where they pool)."""


@dataclass(frozen=True)
class DrawnVerdict:
    """One language and metric: its name, the figure, the number, all in words, and what a click shows; of its minimal pairs the same.

    `note` says why it has its verdict, `beside` which numbers are compared.
    """

    name: str
    drawn: Markup | None
    number: str
    title: str
    show: dict[str, Any]
    note: str = ""
    beside: str = ""
    pairs: DrawnVerdict | None = None


@dataclass(frozen=True)
class DrawnGroup:
    """Rows with one kind of verdict; `folded` where they say little."""

    heading: str
    style: str
    sign: str
    rows: tuple[DrawnVerdict, ...]
    folded: bool


@dataclass(frozen=True)
class VerdictList:
    """The groups of one judge, and what they are drawn on: `reach` to both sides of 0, `limits` and `pairs` whether any row has them."""

    axis: str
    less: str
    more: str
    reach: str
    margin: str
    limits: bool
    pairs: bool
    groups: tuple[DrawnGroup, ...]


def verdict_list(verdicts: Sequence[Verdict], pairs: PairRows = MappingProxyType({})) -> VerdictList:
    """The verdicts on one judge under one condition, with its minimal pairs, if there are any."""
    people = beside_people(verdicts)
    values = [value for verdict in verdicts if (value := shown_value(verdict, people)) is not None]
    reach = axis_reach(values)
    alone = len({verdict["metric"] for verdict in verdicts}) > 1 and len({verdict["language"] for verdict in verdicts}) == 1

    def drawn(verdict: Verdict) -> DrawnVerdict:
        place = f"{english_name(verdict['language'])} · {metric_title(verdict['metric'])}"
        return _drawn(verdict, people, reach, metric_words(verdict["metric"]) if alone else place, pairs)

    found = list(groups_of(verdicts, people))
    groups = tuple(
        DrawnGroup(group.heading, group.style, SIGNS[group.style], tuple(map(drawn, group.verdicts)), group.says_little and len(found) > 1)
        for group in found
    )
    rows = [row for group in groups for row in group.rows]
    closeness = any(verdict.texts.closeness for verdict in verdicts)
    than = "people" if people else "a constant"
    return VerdictList(
        difference_words(people),
        f"the judge {'is less close than' if closeness else 'agrees less than'} {than}",
        "closer" if closeness else "more",
        difference(reach),
        percent(verdicts[0].margin).removesuffix("%").strip() if people else "",
        any(row.drawn is not None and 'class="limit"' in row.drawn for row in rows),
        any(row.pairs for row in rows),
        groups,
    )


def _drawn(verdict: Verdict, people: bool, reach: float, name: str, pairs: PairRows) -> DrawnVerdict:
    value, style = shown_value(verdict, people), style_of(verdict)
    texts = counted(verdict.texts.labelled, "text")
    words = f"{place_of(verdict)}: {verdict.answer}, {difference(value)}"
    drawn = None
    if value is not None and (verdict.agreement.gap if people else verdict.baseline.diff) is not None:
        tick = _limit(verdict) if people else None
        words += "; with so few texts not even a judge that agrees just as people do would be shown" if tick is not None else ""
        bound = verdict.bounds.gap if people else verdict.bounds.base
        drawn = gap_track(value, bound, verdict.margin if people else None, reach, style, words, tick)
    row = pairs.get((verdict["language"], verdict["metric"]))
    below = _drawn_pairs(verdict, row) if row and row["sensitivity"] is not None else None
    agreed = verdict.agreement
    compared = agreed.judge is not None and agreed.people is not None and not verdict.controls
    beside = f"judge {percent(agreed.judge)} · people {percent(agreed.people)}" if compared else ""
    return DrawnVerdict(name, drawn, difference(value), words, texts_of(verdict), f"{_reason(verdict)} · {texts}", beside, below)


def _drawn_pairs(verdict: Verdict, row: PairRow) -> DrawnVerdict:
    """Sensitivity on a line from 0 to 1 with ½ in its middle."""
    value, interval = row["sensitivity"], row["sensitivity_ci"]
    higher, equal, lower = (round(row[name] * row["n"]) for name in ("higher", "equal", "lower"))
    alarms = "" if row["false_alarms"] is None else f"; {round(row['false_alarms'] * row['n_flawless'])}/{row['n_flawless']} false alarms"
    title = (
        f"{place_of(verdict)}: minimal pairs, sensitivity {coefficient(value, interval)}; the flawless text is scored higher in {higher}, "
        f"equal in {equal}, lower in {lower} of {row['n']}{alarms}"
    )
    from_middle = interval and (interval[0] - 0.5, interval[1] - 0.5)
    drawn = difference_track(value - 0.5, from_middle, 0.5, title)
    return DrawnVerdict(f"pairs: {higher}/{row['n']} found{alarms}", drawn, coefficient(value), title, texts_of(verdict))


def _limit(verdict: Verdict) -> float | None:
    """The bound of a judge that agrees just as people do, where it lies below the margin: so few texts show nothing."""
    bound = verdict.bounds.perfect
    return bound if bound is not None and bound <= -verdict.margin and style_of(verdict) == "open" else None


def _reason(verdict: Verdict) -> str:
    """The verdict, and why: what is shown against the judge, or how many labels would settle it."""
    if style_of(verdict) == "bad":
        return reason_against(verdict)
    if style_of(verdict) == "open" and verdict.needed:
        return f"label {verdict.needed} more"
    return "as good as people" if verdict.answer == "use" else verdict.answer
