"""The scale of a metric, from the scores that people and judges gave, and what each score is on it; cells recoded as the user says.

A recoding is written `judge:0..1=1..5`, `judge:4..5=pass,1..3=fail`.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

import msgspec

from harness.content.column_words import column_words
from harness.errors import ContentError, UsageError
from harness.exchange.labels.cell_scores import MOST_CLASSES, cell_score
from harness.exchange.labels.source_table import SourceTable
from harness.exchange.labels.table_columns import SourceColumn
from harness.model import Scale, Score
from harness.text import quoted

_HARDLY = 0.1  # of people's range
_RARE = 0.1  # of a judge's words: rarer ones that people do not use are no class
_MISSING_CODES = (-1.0, -9.0, -99.0, -999.0, 9.0, 88.0, 99.0, 999.0)
_TEN = 10  # where usual scales of a few points end
_USUAL_POINTS = (5.0, 7.0)  # of a scale that begins at 1
_FEW = 0.05  # of the scores of people or judge
PAIR = Scale(kind="nominal", classes=("A", "B", "tie"), swap={"A": "B", "B": "A"})

_NUMBER = r"[+-]?\d+(?:\.\d+)?"
_RANGE = re.compile(rf"({_NUMBER})\.\.({_NUMBER})")
_DIGITS = 12  # of a recoded number: 0.1 + 0.2 is 0.3


class ReadScale(NamedTuple):
    """A scale, and the point of it that each score of the table means; a score that means none is missing."""

    scale: Scale
    points: Mapping[float | str, Score]

    @property
    def described(self) -> str:
        """The scale as it is shown: `fail < pass`, `1 to 5`."""
        if self.scale.kind == "interval":
            return self.scale.describe()
        classes = list(map(str, self.scale.classes))
        if self.scale.kind == "nominal":
            return ", ".join(classes)
        return " < ".join(classes) if len(classes) == 2 else f"{classes[0]} to {classes[-1]}"


def read_scale(
    metric: str, people: Sequence[SourceColumn], judges: Sequence[SourceColumn], stated: Scale | None, *, pair: bool
) -> ReadScale:
    """Return the scale of a metric and how the cells are read on it.

    Args:
        metric: its name, for messages.
        people, judges: the columns of scores of either side; without a judge, people alone make the scale.
        stated: the scale that the user names.
        pair: whether two texts are compared.

    Raises:
        UsageError: where people's and judges' scores are on different scales, or people gave one class only.
    """
    labelled = sum((column.scores for column in people), Counter[float | str]())
    judged = sum((column.scores for column in judges), Counter[float | str]()) if judges else labelled
    if stated:
        return ReadScale(stated, {score: point for score in (*labelled, *judged) if (point := _find_point(score, stated)) is not None})
    if pair and (points := _read_pair_points({*labelled, *judged})):
        return ReadScale(PAIR, points)
    if _are_words(labelled):
        if judges and all(
            any(str(value).strip().casefold() == "none" for column in side for value in column.counts) for side in (people, judges)
        ):
            raise UsageError(
                f"'none' on '{metric}' may be a class, as people and judge both say it, or mean that there is no answer: write another "
                "word for the class in the table, or empty these cells"
            )
        if ordered := _read_ordered_words(labelled, judged, people, judges):
            return ordered
    if _are_words(labelled) != _are_words(judged) or (_are_words(labelled) and not set(labelled) & set(judged)):
        if matched := _match_verdicts(labelled, judged, people):
            return matched
        raise UsageError(_differ(metric, labelled, judged, judges, people))
    if _are_words(labelled):
        _refuse_several_labels([*people, *judges])
        # A scale of words: people's, and those that a judge often says; of two, the better one is known by its word.
        total = sum(judged.values())
        words = [score for score in labelled if isinstance(score, str)]
        words += [score for score in judged if isinstance(score, str) and score not in labelled and judged[score] > _RARE * total]
        words += [
            score for score in judged if score not in labelled and len(labelled) == 1 and score not in words and isinstance(score, str)
        ]
        spelling = _count_spellings([*people, *judges])
        if len(words) == 2 and {_find_polarity(word) for word in words} == {True, False}:
            words.sort(key=lambda word: bool(_find_polarity(word)))
            classes = tuple(spelling[word] for word in words)
            read = ReadScale(Scale(kind="ordinal", classes=classes, best=classes[1]), dict(zip(words, classes, strict=True)))
        else:
            words.sort()
            read = ReadScale(
                Scale(kind="nominal", classes=tuple(spelling[word] for word in words)), {word: spelling[word] for word in words}
            )
    else:
        read = _scale_of_numbers(metric, labelled, judged, people, judges)
    if len({read.points[score] for score in labelled if score in read.points}) < 2:
        raise UsageError(
            f"people gave one class only on '{metric}': {_describe_scores(labelled)}; nothing shows what the judge does with the others"
        )
    return read


def _refuse_several_labels(columns: Sequence[SourceColumn]) -> None:
    """Raise UsageError for cells with several labels, such as `rude;toxic` where `rude` and `toxic` stand in other cells too."""
    for column in columns:
        for mark in (";", "|", ","):
            parts_of = {word: [part.strip() for part in word.split(mark)] for word in sorted(column.words)}
            times = Counter(part for parts in parts_of.values() for part in {*parts})
            for word, parts in parts_of.items():
                if len(parts) > 1 and all(part in parts_of or (mark != "," and times[part] > 1) for part in parts):
                    raise UsageError(
                        f"'{column.name}' holds several labels in a cell, such as '{word}': give each label a column of yes and no, for "
                        "people and judge, or write one label into each cell"
                    )


def _are_words(scores: Counter[float | str]) -> bool:
    words = sum(count for score, count in scores.items() if isinstance(score, str))
    return 2 * words > sum(scores.values())


def _find_point(score: float | str, scale: Scale) -> Score | None:
    """Return the point of a stated scale that a score means, by its number or its word; None where it means none."""
    if scale.kind == "interval":
        return score if isinstance(score, float) and scale.holds(score) else None
    text = score if isinstance(score, str) else f"{score:g}"
    return next((point for point in scale.classes if point == score or str(point).casefold() == text), None)


def _read_pair_points(scores: Iterable[float | str]) -> dict[float | str, Score] | None:
    """Return which of two texts each score prefers; None where a score says something else."""
    verdicts = column_words().verdicts
    points: dict[float | str, Score] = {}
    for score in scores:
        text = score if isinstance(score, str) else f"{score:g}"
        if text in verdicts.first:
            points[score] = "A"
        elif text in verdicts.second:
            points[score] = "B"
        elif text in verdicts.tie:
            points[score] = "tie"
        else:
            return None
    return points


def _find_polarity(score: float | str) -> bool | None:
    """Return whether a score stands for the better of two classes; None where no word or number says it."""
    verdicts = column_words().verdicts
    if score in (0.0, 1.0):
        return score == 1.0
    return True if score in verdicts.good else False if score in verdicts.bad else None


def _match_verdicts(labelled: Counter[float | str], judged: Counter[float | str], people: Sequence[SourceColumn]) -> ReadScale | None:
    """Return one scale of two classes for words and numbers of the same meaning, such as pass and 1; None where they are not known."""
    sides = [[score for score in scores if _find_polarity(score) is not None] for scores in (labelled, judged)]
    if any(len(verdicts) != len(scores) or not verdicts for verdicts, scores in zip(sides, (labelled, judged), strict=True)):
        return None
    spelling = _count_spellings(people)
    names = {_find_polarity(score): spelling.get(score, score) for score in labelled}
    if len(names) != len(labelled) or len(names) < 2:
        return None
    classes = tuple(name if isinstance(name := names[good], str) else int(name) for good in (False, True))
    scale = Scale(kind="ordinal", classes=classes, best=classes[1])
    return ReadScale(scale, {score: classes[bool(_find_polarity(score))] for score in (*labelled, *judged)})


def _read_ordered_words(
    labelled: Counter[float | str], judged: Counter[float | str], people: Sequence[SourceColumn], judges: Sequence[SourceColumn]
) -> ReadScale | None:
    """Return a scale from low to high for words such as *disagree*, *neutral*, *agree*; None where no known scale has people's words.

    A judge's rare other words are no answer. Each step is written as people write it.
    """
    for order in column_words().verdicts.orders:
        steps = order.step_of_word
        unknown = sum(count for word, count in judged.items() if word not in steps)
        used = sorted({steps[str(word)] for word in (*labelled, *judged) if word in steps})
        if not steps.keys() >= labelled.keys() or unknown > _RARE * judged.total() or len({steps[str(word)] for word in labelled}) < 2:
            continue
        words = [word for word in (*labelled, *judged) if word in steps]
        spelling = {**_count_spellings(judges), **_count_spellings(people)}
        # Two words of one step, such as "agree" and "somewhat agree", are two classes, and nothing says which is the higher one.
        if any(len({*of_side} & {*order.words[step]}) > 1 for of_side in (labelled, judged) for step in used):
            continue
        names = {steps[str(word)]: spelling[word] for word in reversed(words)}
        classes = tuple(names[step] for step in used)
        best = None if order.best == "neither" else classes[0 if order.best == "first" else -1]
        return ReadScale(Scale(kind="ordinal", classes=classes, best=best), {word: names[steps[str(word)]] for word in words})
    return None


def _count_spellings(columns: Sequence[SourceColumn]) -> dict[float | str, str]:
    """Return the commonest spelling of each word."""
    spellings: dict[float | str, Counter[str]] = {}
    for column in columns:
        for value, count in column.counts.items():
            if isinstance(score := cell_score(value), str):
                spellings.setdefault(score, Counter())[str(value).strip()] += count
    return {score: counts.most_common(1)[0][0] for score, counts in spellings.items()}


def _scale_of_numbers(
    metric: str,
    labelled: Counter[float | str],
    judged: Counter[float | str],
    of_people: Sequence[SourceColumn],
    judges: Sequence[SourceColumn],
) -> ReadScale:
    people, judge = (sorted(score for score in scores if isinstance(score, float)) for scores in (labelled, judged))
    code = missing_code(people, judge)
    if code is None and _is_zero_no_answer(labelled, judged if judges else Counter()):
        code = 0
    if code is not None:
        times, ends = labelled[code] + (judged[code] if judges else 0), "LOWEST..HIGHEST" if code else f"0..{max(*people, *judge):g}"
        raise UsageError(
            f"{code:g} may mean that there is no answer (it stands in {times} {'cell' if times == 1 else 'cells'} of '{metric}'): "
            f"{'empty these cells' if judges else f'if so, pass --no-answer={code:g}'}; else say the scale: --scale {metric}={ends}"
        )
    columns = [*of_people, *judges]
    all_integers = [all(number.is_integer() for number in numbers) for numbers in (people, judge)]
    for column in judges:
        if _are_other_numbers(people, column.numbers):
            raise UsageError(
                _differ(metric, labelled, column.scores, [column, *(other for other in judges if other is not column)], of_people)
            )
    for column in of_people:
        rest = sorted({number for other in of_people if other is not column for number in other.numbers})
        if rest and column.numbers and column.numbers[-1] <= 1 < rest[-1] and not all(map(float.is_integer, column.numbers)):
            raise UsageError(
                f"people are on different scales of '{metric}': '{column.name}' {_describe_scores(column.scores)}, the others "
                f"{rest[0]:g} to {rest[-1]:g}; say how one becomes the other, as in --recode '{column.name}:0..1=1..5', or "
                f"'{column.name}:0..1=5..1' if a high number means the opposite"
            )
    stated = set().union(*(column.out_of for column in columns))
    if len(stated) > 1:
        raise UsageError(
            _differ(metric, labelled, judged, judges, of_people, f" (out of {' and '.join(f'{end:g}' for end in sorted(stated))})")
        )
    low, high = min(people[0], judge[0]), max(people[-1], judge[-1], *stated)
    if all(all_integers) and high - low < MOST_CLASSES:
        classes = tuple(range(int(low), int(high) + 1))
        return ReadScale(Scale(kind="ordinal", classes=classes, best=classes[-1]), {float(point): point for point in classes})
    low, high = (0.0, 1.0) if low >= 0 and high <= 1 else (0.0, 100.0) if low >= 0 and 50 < high <= 100 else (low, high)
    return ReadScale(Scale(kind="interval", min=low, max=high, best=high), {number: number for number in (*people, *judge)})


def missing_code(people: Sequence[float], judge: Sequence[float] = ()) -> float | None:
    """Return the number that stands for no answer: a usual code, far from all other scores, or below a scale from 0 on one side alone.

    >>> missing_code([1, 2, 3, 99]), missing_code([1, 2, -1]), missing_code([0, 1, 2]), missing_code([1, 2, 3, 4, 5, 9])
    (99, -1, None, 9)
    >>> missing_code([-1, 0, 1], [-1, 0, 1]), missing_code([-1, 0, 1], [0, 1])
    (None, -1)
    """
    numbers = [*people, *judge]
    for end in {min(numbers, default=0), max(numbers, default=0)} & {*_MISSING_CODES}:
        remaining = [number for number in numbers if number != end]
        one_side = bool(judge) and (end in people) != (end in judge) and all(float(number).is_integer() for number in numbers)
        low, high = min(remaining, default=0), max(remaining, default=0)
        is_far = end >= 2 * high - low and end > high + 1 and (low <= 1 or end > 2 * high - low)
        if remaining and (is_far or end < 0 < low or (end < 0 == low and one_side)):
            return end
    return None


def _is_zero_no_answer(labelled: Counter[float | str], judged: Counter[float | str]) -> bool:
    """Return whether a few zeros of people or judge, and not of both, stand beside whole numbers from 1 to 5 or 7.

    Scales of five and seven points begin at 1 or at 0: 0 to 4 is one, 0 to 5 is hardly one.

    >>> _is_zero_no_answer(Counter({0.0: 2, 1.0: 9, 3.0: 20, 5.0: 29}), Counter({1.0: 30, 5.0: 30}))
    True
    >>> few_zeros, many_zeros = Counter({0.0: 1, 1.0: 49, 5.0: 50}), Counter({0.0: 20, 1.0: 30, 5.0: 50})
    >>> [_is_zero_no_answer(*sides) for sides in ((few_zeros, few_zeros), (many_zeros, Counter()), (few_zeros, Counter()))]
    [False, False, True]
    """
    numbers = {score for score in (*labelled, *judged) if isinstance(score, float)}
    with_zeros = [side for side in (labelled, judged) if side[0.0]]
    if len(with_zeros) != 1 or not all(map(float.is_integer, numbers)) or min(numbers) < 0 or max(numbers) not in _USUAL_POINTS:
        return False
    return 1.0 in numbers and with_zeros[0][0.0] <= _FEW * with_zeros[0].total()


def _are_other_numbers(people: Sequence[float], judge: Sequence[float]) -> bool:
    """Return whether a judge's sorted numbers are on another scale than people's: shares, of ten and not of five, from 0 and not from 1.

    >>> _are_other_numbers([1, 2, 3, 4, 5], [0.2, 0.9]), _are_other_numbers([1, 2, 3, 4, 5], [0, 1, 2, 3, 4])
    (True, True)
    >>> _are_other_numbers([1, 2, 3, 4, 5], [0.21, 1.01]), _are_other_numbers([1, 2, 3, 4, 5], [1.5, 3.2])
    (True, False)
    >>> _are_other_numbers([10, 20, 30, 40, 50], [1, 2, 3, 4, 5]), _are_other_numbers([20, 60, 90], [10, 30, 40])
    (True, False)
    """
    integers = [all(float(number).is_integer() for number in numbers) for numbers in (people, judge)]
    low, high = people[0], people[-1]
    if not judge or judge[-1] >= 2 * max(high, 1) or (judge[-1] <= 1 < high and (high > 2 or not integers[1])):
        return True
    if judge[-1] <= _TEN < high and 2 * judge[-1] <= high:
        return True  # of ten at most, and not of fifty or a hundred
    if integers[0] and (low, high) == (0, 1) and not integers[1]:
        return True
    if not integers[1] and judge[-1] <= low + _HARDLY * (high - low):
        return True  # fractions that end where people's scores begin
    ends, judge_ends = (low, high), (judge[0], judge[-1])
    from_0 = min(ends, judge_ends)
    return all(integers) and from_0[0] == 0 and max(ends, judge_ends) == (1, from_0[1] + 1)


def _differ(
    metric: str,
    labelled: Counter[float | str],
    judged: Counter[float | str],
    judges: Sequence[SourceColumn],
    of_people: Sequence[SourceColumn],
    stated: str = "",
) -> str:
    column = judges[0].name if judges else "COLUMN"
    people, judge = _describe_scores(labelled), _describe_scores(judged)
    if column in {person.name for person in of_people}:  # rows of scores, which a recoding would change on both sides
        return (
            f"people and judge are on different scales of '{metric}'{stated}: people {people}, the judge {judge}, both in '{column}'; "
            "nothing says how one becomes the other: bring them to one scale in the table, or give people and judge a column each"
        )
    say = "".join(
        f"--recode '{column}:{rules}'{condition}, or " for rules, condition in _list_recodings(labelled, judged, of_people, judges)
    )
    leave_out = f", or leave the column out: --drop '{column}'" if len(judges) > 1 else ""
    return (
        f"people and judge are on different scales of '{metric}'{stated}: people {people}, the judge {judge} ('{column}'); nothing says "
        f"how one becomes the other: {f'say it, as in {say}' if say else ''}bring them to one scale in the table{leave_out}"
    )


def _ends_of_scale(numbers: Sequence[float], columns: Sequence[SourceColumn]) -> tuple[float, float]:
    """Return where the scale of sorted numbers begins and ends: as cells state it, shares from 0 to 1, percentages, else as they are.

    >>> _ends_of_scale([0.2, 0.9], []), _ends_of_scale([20, 80], []), _ends_of_scale([1, 5], [SourceColumn("human", ["4/5"])])
    ((0, 1), (0, 100), (0, 5.0))
    """
    low, high = numbers[0], numbers[-1]
    stated = set().union(*(column.out_of for column in columns))
    if len(stated) == 1 and low >= 0:
        return 0, stated.pop()
    if low >= 0 and (high <= 1 or 10 < high <= 100):
        return 0, 1 if high <= 1 else 100
    return low, high


def _list_recodings(
    labelled: Counter[float | str], judged: Counter[float | str], of_people: Sequence[SourceColumn], judges: Sequence[SourceColumn]
) -> Iterator[tuple[str, str]]:
    """Yield recodings of a judge's scores that give each of them a score of people, with the condition under which one is meant."""
    numbers, judge_numbers = (sorted(score for score in scores if isinstance(score, float)) for scores in (labelled, judged))
    ends = [f"{end:g}" for end in _ends_of_scale(numbers, of_people)] if numbers else []
    points = list(map(str, labelled)) if _are_words(labelled) else ends
    points.sort(key=lambda point: _find_polarity(point) is False)  # the better one is first, or the lowest
    if len(points) != 2 or _are_words(labelled) != all(isinstance(score, str) for score in labelled):
        return
    first, second = points
    if _are_words(judged):
        words = sorted(map(str, judged), key=lambda word: _find_polarity(word) is False)
        if len(words) == 2 and not judge_numbers:
            same = second if numbers else first
            other = first if numbers else second
            yield f"{words[0]}={same},{words[1]}={other}", f" if '{words[0]}' means '{same}'"
            yield f"{words[0]}={other},{words[1]}={same}", f" if it means '{other}'"
    elif len(judge_numbers) == len(judged):
        low, high = _ends_of_scale(judge_numbers, judges) if numbers else (judge_numbers[0], judge_numbers[-1])
        if numbers:
            yield f"{low:g}..{high:g}={first}..{second}", " if a high number means the same on both"
            yield f"{low:g}..{high:g}={second}..{first}", " if it means the opposite"
        elif low < high:
            middle = next(number for number in judge_numbers if number > (low + high) / 2)
            yield f"{middle:g}..{high:g}={first},{low:g}..{high:g}={second}", f" if high numbers mean '{first}'"
            yield f"{middle:g}..{high:g}={second},{low:g}..{high:g}={first}", f" if they mean '{second}'"


def _describe_scores(scores: Counter[float | str]) -> str:
    if not _are_words(scores):
        numbers = [score for score in scores if isinstance(score, float)]
        return f"{min(numbers):g} to {max(numbers):g}" if numbers else "none"
    return quoted(str(score) for score, _ in scores.most_common(4))


class Recode(NamedTuple):
    """Numbers from `low` to `high`, or one value, become numbers of the range `to`, in proportion, or one value."""

    low: float | str
    high: float | str
    to: tuple[float, float] | float | str

    def recoded(self, score: float | str) -> float | str | None:
        """Return what a score becomes; None where it is not meant."""
        if isinstance(self.low, str) or isinstance(self.high, str) or isinstance(score, str):
            return self.to if score == self.low and not isinstance(self.to, tuple) else None
        if not self.low <= score <= self.high:
            return None
        if not isinstance(self.to, tuple):
            return self.to
        share = (score - self.low) / (self.high - self.low)
        return round(self.to[0] + share * (self.to[1] - self.to[0]), _DIGITS)


def recoded_columns(table: SourceTable, columns: Sequence[SourceColumn], recodes: Sequence[str]) -> tuple[list[SourceColumn], list[str]]:
    """Return the columns with those cells recoded that the user names, and a note on each of them.

    Raises UsageError for another form, ContentError for a cell that none of a column's rules means.
    """
    by_name, notes = {column.name: column for column in columns}, []
    for text in recodes:
        name = max((name for name in by_name if text.startswith(f"{name}:")), key=len, default=None)
        if name is None:
            raise UsageError(
                f"--recode {text}: begin with a column of the table, such as judge:0..1=1..5; its columns are: {', '.join(by_name)}"
            )
        rules = [_parse_rule(part, text) for part in text[len(name) + 1 :].split(",")]
        cells: list[str | int | float | bool | None] = []
        for record, cell in zip(table.records, by_name[name].cells, strict=True):
            score = None if cell is None else cell_score(cell)
            value = next((value for rule in rules if score is not None and (value := rule.recoded(score)) is not None), None)
            if score is not None and value is None:
                raise ContentError(f"'{cell}' is none of the values in --recode {text}", record.place(name))
            cells.append(value)
        by_name[name] = msgspec.structs.replace(by_name[name], cells=cells)
        notes.append(f"{quoted([name])} was recoded: {text[len(name) + 1 :]}")
    return list(by_name.values()), notes


def _parse_rule(part: str, text: str) -> Recode:
    source, sign, target = part.rpartition("=")
    low, high = _ends(source)
    to_low, to_high = _ends(target)
    if not (sign and source.strip() and target.strip()):
        raise UsageError(f"--recode {text}: write COLUMN:VALUE=VALUE or COLUMN:LOW..HIGH=LOW..HIGH, several with commas; got '{part}'")
    if isinstance(to_low, str) or isinstance(to_high, str) or to_low == to_high:
        spelling = target.strip()
        return Recode(low, high, to_low if isinstance(to_low, float) else spelling)
    if isinstance(low, str) or isinstance(high, str) or low >= high:
        raise UsageError(f"--recode {text}: '{source}' is no range from a lower to a higher number, and '{target}' is a range")
    return Recode(low, high, (to_low, to_high))


def _ends(text: str) -> tuple[float | str, float | str]:
    if match := _RANGE.fullmatch(text.strip()):
        return float(match[1]), float(match[2])
    score = cell_score(text)
    value = text.strip().casefold() if score is None else score
    return value, value
