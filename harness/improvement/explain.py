"""Regress the errors of a judge, its scores minus people's, on the length, language and system of texts."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any, Literal, NamedTuple

import msgspec
import numpy as np

from harness.content.tags import likely_script
from harness.correction.cell_results import UnreadCells, over_languages, refuse_unread
from harness.data.columns import CodedColumn
from harness.data.dataset import Dataset
from harness.errors import UsageError
from harness.improvement.improvement_options import USUAL_COVARIATES, ExplainOptions
from harness.judges import traits_of
from harness.measure.cells import number
from harness.measure.compare import Recording, align
from harness.measure.item_table import ItemTable, item_tables
from harness.measure.judged_table import JudgedTable, item_key
from harness.measure.options import Annotators, MeasureOptions
from harness.model import CONDITION, JudgeCondition
from harness.segmentation import graphemes
from harness.stats.core.arrays import Floats, Ints
from harness.stats.intervals.multiplicity import benjamini_yekutieli
from harness.stats.intervals.regression import LEAST_FREEDOM, cluster_regression
from harness.stats.ranking import AdjustedPreference, length_overlap, preference_by_length

ALPHA = 0.05
Outcome = Literal["shown", "not shown", "too few groups"]
ASSOCIATION = (
    "An effect is an association, not a cause. For example, if better texts are longer, a judge that uses less of the scale than people "
    "seems to follow the length. Effects of 'system' and 'system ×' change how systems compare."
)
HOW = (
    "An effect is in points of the scale: the judge's score minus people's mean, compared with the mean of all levels. A length is "
    "compared with other texts of its language. Texts of a group count together (standard errors CR2). q is corrected over all effects "
    f"of a judge and metric (Benjamini-Yekutieli); an effect is shown if q is at most {ALPHA:g}. Below {LEAST_FREEDOM:g} degrees of "
    f"freedom nothing is tested. Detectable is the smallest effect that would be found in 80 % of such data at {ALPHA:g}, before the "
    "correction."
)
NOISE = (
    "Noise alone: if the judge differed from people only as its own answers to the same call differ, 95 % of effects would be smaller "
    "than this."
)

LENGTH, SYSTEM, SCRIPT = "length", "system", "script"
MOST_LEVELS = 40


class ErrorEffect(msgspec.Struct, frozen=True, kw_only=True):
    """The effect of one covariate, or of one level of it. Undefined numbers are None.

    Attributes:
        covariate: `length`, `language`, …, or `system × length` of an interaction.
        level: the names of its levels; empty of a length, whose unit is one standard deviation.
        value, low, high: points of the scale, with a 95 % interval; of a level against the mean of all levels.
        freedom: degrees of freedom; below 4 nothing is tested.
        p, q: two-sided; q is corrected over all effects of the judge and metric.
        detectable: the least effect that would be found with a power of 80 % at 5 %.
        noise: of judges that were asked the same more than once, the size that 95 % of effects stay below if answers to the same call vary
            as they do, and nothing else.
    """

    covariate: str
    level: tuple[str, ...]
    value: float | None
    low: float | None = None
    high: float | None = None
    freedom: float | None
    p: float | None = None
    q: float | None = None
    detectable: float | None = None
    outcome: Outcome
    noise: float | None = None


class ExplainedErrors(msgspec.Struct, frozen=True, kw_only=True):
    """The errors of one judge and condition on one metric, all languages together.

    Attributes:
        key: that of a cell (`CELL`) without its language.
        n, groups: labelled texts with a readable score, and independent groups.
        mean_error: judge minus people, in points.
        times_longer: how many times as long a text is that is one standard deviation longer; None without lengths.
        effects: interactions with the system first.
        left_out: covariates that say nothing here, with the reason.
    """

    key: dict[str, Any]
    n: int
    groups: int
    mean_error: float
    times_longer: float | None
    effects: tuple[ErrorEffect, ...]
    left_out: tuple[str, ...]


class Explained(msgspec.Struct, frozen=True):
    """The errors of all judges, with what is needed to make them again; most answers of `unread` cells cannot be read."""

    signature: str
    by: tuple[str, ...]
    metrics: tuple[ExplainedErrors, ...]
    notes: tuple[str, ...]
    pairs: tuple[ExplainedPairs, ...] = ()
    unread: tuple[UnreadCells, ...] = ()
    schema_version: int = 1

    def as_json(self) -> dict[str, Any]:
        """Return one object for programs: `{schema_version, signature, by, metrics, notes, pairs, unread}`."""
        fields: dict[str, Any] = msgspec.to_builtins(self)
        for metric in (*fields["metrics"], *fields["pairs"]):
            metric |= metric.pop("key")
        return fields | {"unread": [cells.flat() for cells in self.unread]}


def explain(source: Recording, compare: MeasureOptions, options: ExplainOptions = ExplainOptions()) -> Explained:
    """Regress a judge's scores minus people's mean on covariates of the texts, for every judge, condition and metric with numbers.

    Baselines are left out. Raises UsageError for unknown covariates, for lengths of data without texts, where no metric has scores that are
    numbers, and as `measure.align`. Raises JudgeError where most
    answers of every judge cannot be read.
    """
    compare = replace(compare, annotators=compare.annotators or Annotators(1))
    aligned = align([source], compare)
    judged = aligned.tables[0]
    by_judges = (cell for cell in item_tables(judged) if not cell.is_baseline)
    readable, unread = refuse_unread(by_judges, "no error is explained by the scores")
    cells = over_languages(readable)
    usable = [alike for alike in cells if alike[0].means is not None and not alike[0].classes.order_only]
    broken = [JudgeCondition.of(left_out.key) for left_out in unread if left_out.of_all]
    pairs = tuple(
        pair
        for pair in explain_pairs(judged)
        if JudgeCondition.of(pair.key) not in broken and not any(cells.covers(pair.key) for cells in unread)
    )
    if not usable and not pairs:
        raise UsageError("nothing to explain: no metric has scores that are numbers, on one scale for judges and people")
    signature = aligned.signed(use=str(options))
    if not usable:
        return Explained(signature, (LENGTH,), (), (*aligned.notes, PAIRS_HOW), pairs, unread)
    covariates = _Covariates(judged.data, options.by)
    metrics = [errors for alike in usable if (errors := _explain_cells(alike, covariates)) is not None]
    if not metrics:
        raise UsageError("nothing to explain: no labelled text has a readable score; see 'harness compare'")
    if not any(metric.effects for metric in metrics):
        reasons = (
            "; ".join(dict.fromkeys(reason for metric in metrics for reason in metric.left_out)) or "the items have no output and no system"
        )
        raise UsageError(f"nothing to explain errors with ({reasons}); name a key of the items with --by, such as --by domain")
    without = sorted({str(alike[0].key["metric"]) for alike in cells if alike not in usable})
    notes: tuple[str, ...] = (f"Without scores that are numbers, so left out: {', '.join(without)}.",) if without else ()
    noisy = any(effect.noise is not None for metric in metrics for effect in metric.effects)
    notes += (HOW, *([NOISE] if noisy else []), ASSOCIATION, *([PAIRS_HOW] if pairs else []))
    return Explained(signature, covariates.by, tuple(metrics), (*aligned.notes, *notes), pairs, unread)


class _Covariates:
    """The covariates of all items of the data."""

    def __init__(self, data: Dataset, by: tuple[str, ...] | None) -> None:
        lengths = text_lengths(data) if LENGTH in (by or USUAL_COVARIATES) else np.full(len(data.items), np.nan)
        has_lengths = not np.isnan(lengths).all()
        if by and LENGTH in by and not has_lengths:
            raise UsageError("--by length needs texts, and the items have no single output; leave it out")
        names = by or tuple(name for name in USUAL_COVARIATES if name != SYSTEM or any(item.system is not None for item in data.items))
        self.by = tuple(dict.fromkeys(name for name in names if name != LENGTH or has_lengths))
        self.lengths = lengths
        self.levels: dict[str, CodedColumn] = {name: item_codes(data, name) for name in self.by if name != LENGTH}

    def factors(self, item: Ints, language: Ints) -> tuple[list[Factor], list[str], float | None]:
        """Return the factors of some items, the reasons why others are left out, and how many times longer a standard deviation is."""
        factors, left_out, times = [], [], None
        for name in self.by:
            if name == LENGTH:
                length = length_factor(self.lengths[item], language)
                factor, times = length or (None, None)
            else:
                factor = level_factor(name, self.levels[name].take(item))
            if factor is None:
                left_out.append(f"{name}: all texts have the same")
            else:
                factors.append(factor)
        return factors, left_out, times


class _Errors(NamedTuple):
    """Judge minus people (n,), with the codes of what texts share; `noise` is the variance of the judge's mean between repeats or NaN."""

    error: Floats
    item: Ints
    group: Ints
    language: Ints
    noise: Floats


def _answer_noise(cell: ItemTable) -> Floats:
    """Return (items,) the variance of the mean of an item's answers; NaN with one answer, and for scores that are no classes."""
    values, times = cell.values, cell.answers.sum(axis=1)
    if values is None:
        return np.full(len(cell), np.nan)
    spread = cell.answer_shares @ values**2 - (cell.answer_shares @ values) ** 2
    return np.where(times > 1, spread / np.maximum(times - 1, 1), np.nan)


def _explain_cells(cells: Sequence[ItemTable], covariates: _Covariates) -> ExplainedErrors | None:
    parts = []
    for code, cell in enumerate(cells):
        assert cell.means is not None
        people, judge = cell.means
        rows = np.flatnonzero(cell.labelled & ~np.isnan(judge) & ~np.isnan(people))
        parts.append((judge[rows] - people[rows], cell.item[rows], cell.group[rows], np.full(len(rows), code), _answer_noise(cell)[rows]))
    errors = _Errors(*(np.concatenate(column) for column in zip(*parts, strict=True)))
    if not len(errors.error):
        return None
    offered, left_out, times = covariates.factors(errors.item, errors.language)
    mains = _independent_factors(offered, len(errors.error), left_out)
    system = next((factor for factor in mains if factor.name == SYSTEM), None)
    crossed = [system.crossed_with(other) for other in mains if other is not system] if system else []
    all_factors = _independent_factors([*mains, *crossed], len(errors.error), left_out)
    effects = [
        *_fit_effects(errors, all_factors, all_factors[len(mains) :]),
        *sorted(_fit_effects(errors, mains, mains), key=lambda effect: effect.covariate != SYSTEM),
    ]
    q = benjamini_yekutieli([np.nan if effect.p is None else effect.p for effect in effects])
    return ExplainedErrors(
        key=cells[0].key_over_languages,
        n=len(errors.error),
        groups=len(np.unique(errors.group)),
        mean_error=float(errors.error.mean()),
        times_longer=times,
        effects=tuple(
            msgspec.structs.replace(effect, q=number(effect_q), outcome="shown" if effect_q <= ALPHA else effect.outcome)
            for effect, effect_q in zip(effects, q.tolist(), strict=True)
        ),
        left_out=tuple(left_out),
    )


def _independent_factors(factors: Sequence[Factor], n: int, left_out: list[str]) -> list[Factor]:
    independent = []
    for factor, says_more in check_independence(factors, n):
        if says_more:
            independent.append(factor)
        else:
            left_out.append(f"{factor.name}: cannot be told apart from {', '.join(earlier.name for earlier in independent) or 'the mean'}")
    return independent


def _fit_effects(errors: _Errors, factors: Sequence[Factor], wanted: Sequence[Factor]) -> Iterator[ErrorEffect]:
    """Fit all factors together and yield the effects of some, before p is corrected."""
    if not wanted:
        return
    columns = np.column_stack([np.ones(len(errors.error)), *(factor.columns for factor in factors)])
    start, rows, names = 1, [], []
    for factor in factors:
        end = start + factor.columns.shape[1]
        if any(factor is selected for selected in wanted):
            padded = np.zeros((len(factor.levels), columns.shape[1]))
            padded[:, start:end] = factor.contrasts
            rows.append(padded)
            names += [(factor.name, level or ()) for level in factor.levels]
        start = end
    regression = cluster_regression(errors.error, columns, errors.group, np.vstack(rows))
    # The size below which 95 % of effects stay if errors are noise of this variance, independent by text; NaN where a variance is unknown.
    contrasts = np.vstack(rows)
    if np.isnan(errors.noise).any():
        noise = np.full(len(contrasts), np.nan)
    else:
        lines = contrasts @ np.linalg.pinv(columns)
        noise = np.asarray(1.96 * np.sqrt(lines**2 @ errors.noise))
    always = {
        "value": regression.coefficients,
        "freedom": regression.freedom,
        "noise": noise,
    }
    tested = {"low": regression.interval[0], "high": regression.interval[1], "p": regression.p, "detectable": regression.detectable}
    for index, (name, level) in enumerate(names):
        refused = bool(regression.refused[index])
        defined = always if refused else always | tested
        numbers: dict[str, Any] = {what: number(float(values[index])) for what, values in defined.items()}
        yield ErrorEffect(covariate=name, level=level, outcome="too few groups" if refused else "not shown", **numbers)


class Factor(NamedTuple):
    """One covariate of n texts.

    Attributes:
        name: of the covariate, or `system × length` of an interaction.
        levels: of each effect; (None,) of a standardised number.
        columns: (n, c) of the regression. Levels are coded against their mean, so that the last one is minus the sum of the others.
        contrasts: (levels, c) what makes each effect of the coefficients.
    """

    name: str
    levels: tuple[tuple[str, ...] | None, ...]
    columns: Floats
    contrasts: Floats

    def crossed_with(self, other: Factor) -> Factor:
        """Return the interaction of two covariates."""
        columns: Floats = np.einsum("ni,nj->nij", self.columns, other.columns).reshape(len(self.columns), -1)
        levels = tuple((*(first or ()), *(second or ())) for first in self.levels for second in other.levels)
        return Factor(f"{self.name} × {other.name}", levels, columns, np.asarray(np.kron(self.contrasts, other.contrasts), np.float64))


def text_lengths(data: Dataset) -> Floats:
    """Return (items,) the logarithm of the length of each output in visible characters; NaN for an item with two outputs or none."""
    texts = (item.fields.get(names[0]) if len(names := data.outputs_of(item)) == 1 else None for item in data.items)
    return np.array([np.log(len(graphemes(text))) if isinstance(text, str) and text else np.nan for text in texts])


def item_codes(data: Dataset, name: str) -> CodedColumn:
    """Return the value of a key for every item; the script is that of its language. Raises UsageError for an unknown key or many values."""
    if name == SCRIPT:
        scripts = {tag: likely_script(tag) for tag in {item.language for item in data.items}}
        return CodedColumn.from_values(scripts[item.language] for item in data.items)
    column = item_key(data, name)
    if len(column.values) > MOST_LEVELS:
        raise UsageError(f"'{name}' has {len(column.values):,} values; what errors follow should have {MOST_LEVELS} at most")
    return column


def length_factor(logs: Floats, language: Ints) -> tuple[Factor, float] | None:
    """Return text lengths (n,) less the mean of their language, in standard deviations, and how many times as long one deviation is.

    None where lengths do not vary. A text without a length counts as one of its language's mean.
    """
    centred = np.where(np.isnan(logs), 0.0, logs)
    has_length = ~np.isnan(logs)
    for code in np.unique(language):
        rows = language == code
        centred[rows] -= centred[rows & has_length].mean() if (rows & has_length).any() else 0.0
    centred[~has_length] = 0.0
    spread = float(centred[has_length].std()) if has_length.any() else 0.0
    if spread <= 1e-9:
        return None
    return Factor(LENGTH, (None,), (centred / spread)[:, None], np.ones((1, 1))), float(np.exp(spread))


def level_factor(name: str, column: CodedColumn) -> Factor | None:
    """Return a covariate with levels, each against the mean of all; None with one level.

    Of two levels only the first has an effect, because the other mirrors it.
    """
    name_of = [*map(str, column.values), "none"]  # of the code -1
    names, level_of_text = np.unique([name_of[code] for code in column.codes.tolist()], return_inverse=True)
    k = len(names)
    if k < 2:
        return None
    contrasts = np.vstack([np.eye(k - 1), np.full((1, k - 1), -1.0)])
    levels = tuple((level,) for level in names.tolist())
    effects = 1 if k == 2 else k
    return Factor(name, levels[:effects], contrasts[level_of_text], contrasts[:effects])


def check_independence(factors: Sequence[Factor], n: int) -> Iterator[tuple[Factor, bool]]:
    """Yield every factor, with True if it is linearly independent of those before it."""
    design = np.ones((n, 1))
    for factor in factors:
        wider = np.column_stack([design, factor.columns])
        says_more = bool(np.linalg.matrix_rank(wider) == wider.shape[1] < n)
        if says_more:
            design = wider
        yield factor, says_more


LEAST_GROUPS, LEAST_PAIRS = 8, 30
NAMED = 3  # of what is left out
PEOPLE = "people"
PAIRS_HOW = (
    "Pairs: the log-odds of a choice by a Bradley-Terry model with the place, the systems and the difference of the logarithms of the "
    "lengths, in standard deviations; errors by group. Length and quality go together: what people choose too is no bias of a judge, and "
    "an adjustment takes real quality away. Systems are in log-odds against the mean of all."
)


class PairedSystem(msgspec.Struct, frozen=True):
    """A system's strength in log-odds against the mean of all, as it is and beside the length."""

    name: str
    raw: float
    adjusted: float


class ExplainedPairs(msgspec.Struct, frozen=True, kw_only=True):
    """Effects on the choices of one judge and condition, or of people. Undefined numbers are None.

    Attributes:
        key: metric, judge (`people`) and condition.
        n, groups: choices between different texts, and independent groups.
        times_longer: how many times as long as the other a text is that is one standard deviation longer.
        length, low, high: log-odds for one standard deviation, with a 95 % interval; q is corrected over all rows of pairs.
        place, place_adjusted: log-odds of the text that is read first, without and with the length.
        detectable: the least length effect that would be found with a power of 80 % at 5 %.
        systems: their strengths; empty where pairs do not name two systems.
        left_out: why pairs or systems are left out, or why nothing is fitted.
    """

    key: dict[str, Any]
    n: int
    groups: int
    times_longer: float | None = None
    length: float | None = None
    low: float | None = None
    high: float | None = None
    p: float | None = None
    q: float | None = None
    detectable: float | None = None
    place: float | None = None
    place_adjusted: float | None = None
    systems: tuple[PairedSystem, ...] = ()
    left_out: tuple[str, ...]
    outcome: Literal["shown", "not shown", "refused"]


class _Choices(NamedTuple):
    """(choices,) the items, whether the second text was read first, and how much of the choice goes to the item's first text."""

    item: Ints
    swapped: Ints
    share: Floats

    def take(self, rows: Any) -> _Choices:
        return _Choices(self.item[rows], self.swapped[rows], self.share[rows])


def explain_pairs(judged: JudgedTable) -> tuple[ExplainedPairs, ...]:
    """Fit the choices of people and of every judge and condition, for every metric that compares two texts."""
    data, texts = judged.data, _Texts(judged.data)
    people = {**dict.fromkeys(CONDITION), "judge": PEOPLE}
    rows = [
        _explain_choices(key, choices, texts)
        for metric in data.scales
        if data.scales[metric].swap
        for key, choices in (({"metric": metric, **people}, _choices_of_people(judged, metric)), *_choices_of_judges(judged, metric))
        if len(choices.item)
    ]
    q = benjamini_yekutieli([np.nan if row.p is None else row.p for row in rows])
    return tuple(
        row if row.p is None else msgspec.structs.replace(row, q=number(row_q), outcome="shown" if row_q <= ALPHA else "not shown")
        for row, row_q in zip(rows, q.tolist(), strict=True)
    )


def _read_credits(data: Dataset, metric: str, scores: Sequence[Any]) -> Floats:
    share = data.scales[metric].share_of_first
    return np.array([np.nan if score is None else share.get(score, np.nan) for score in scores], np.float64)


def _choices_of_people(judged: JudgedTable, metric: str) -> _Choices:
    data, labels = judged.data, judged.data.labels
    item = labels.item.recode(data.positions).astype(np.int64)
    rows = np.flatnonzero(labels.metric.equals(metric) & np.isin(item, judged.item))
    return _Choices(item[rows], np.zeros(len(rows), np.int64), _read_credits(data, metric, list(labels.score.take(rows))))


def _choices_of_judges(judged: JudgedTable, metric: str) -> Iterator[tuple[dict[str, Any], _Choices]]:
    table = judged.take(np.flatnonzero(judged.judgments.metric.equals(metric)))
    rows = table.judgments
    share = _read_credits(judged.data, metric, list(rows.score))
    swapped = rows.order.equals("swapped").astype(np.int64)
    conditions = list(zip(*(getattr(rows, name) for name in CONDITION), strict=True))
    codes = {condition: code for code, condition in enumerate(dict.fromkeys(conditions))}
    code = np.array([codes[condition] for condition in conditions], np.int64)
    for condition, number_of_condition in codes.items():
        if not traits_of(str(condition[0])).is_baseline:
            yield (
                {"metric": metric, **dict(zip(CONDITION, condition, strict=True))},
                _Choices(table.item, swapped, share).take(code == number_of_condition),
            )


class _Texts:
    """The two texts of every item: how much longer the first is, whether both are the same, their systems and groups."""

    def __init__(self, data: Dataset) -> None:
        logs = [
            [
                float(np.log(len(graphemes(text)))) if isinstance(text := item.fields.get(name), str) and text else np.nan
                for item in data.items
            ]
            for name in ("output_a", "output_b")
        ]
        self.longer = np.array(logs[0]) - np.array(logs[1])
        self.same = np.array([item.fields.get("output_a") == item.fields.get("output_b") for item in data.items])
        names = [[str(item.fields.get(name) or "") for item in data.items] for name in ("system_a", "system_b")]
        self.names = sorted({name for side in names for name in side})
        self.systems = [np.array([self.names.index(name) for name in side], np.int64) for side in names]
        self.group = data.clusters.codes.astype(np.int64)


def _explain_choices(key: dict[str, Any], choices: _Choices, texts: _Texts) -> ExplainedPairs:
    usable = choices.take(~np.isnan(choices.share) & ~np.isnan(texts.longer[choices.item]) & ~texts.same[choices.item])
    left_out = [] if len(usable.item) else ["no pair has two different texts and a choice"]
    # Drop the choices between two systems of which one is nearly always longer; return the rest and the names of such systems.
    first, second = (side[usable.item] for side in texts.systems)
    refused = [overlap for overlap in length_overlap(first, second, texts.longer[usable.item]) if overlap.hardly]
    rows = np.ones(len(usable.item), bool)
    for overlap in refused:
        a, b = overlap.pair
        rows &= ~(((first == a) & (second == b)) | ((first == b) & (second == a)))
    words = [f"{texts.names[a]} against {texts.names[b]}" for a, b in (overlap.pair for overlap in refused)]
    usable, hardly = usable.take(rows), words
    if hardly:
        left_out.append(f"lengths hardly overlap, so no adjustment: {_list_first(hardly)}")
    usable, one_way = _drop_one_sided(usable, texts)
    if one_way:
        left_out.append(f"win all or no choices, so no finite strength: {_list_first(one_way)}")
    groups, longer = len(np.unique(texts.group[usable.item])), texts.longer[usable.item]
    spread = float(longer.std()) if len(longer) else 0.0
    if len(usable.item) < LEAST_PAIRS or groups < LEAST_GROUPS:
        left_out.append(f"{len(usable.item)} choices in {groups} groups are left; {LEAST_PAIRS} in {LEAST_GROUPS} are needed")
    elif spread <= 1e-9:
        left_out.append("all texts are as long as the other")
    else:
        try:
            return _fit_choices(key, usable, texts, spread, left_out)
        except (ValueError, np.linalg.LinAlgError) as err:
            left_out.append(str(err))
    return ExplainedPairs(key=key, n=len(usable.item), groups=groups, left_out=tuple(left_out), outcome="refused")


def _drop_one_sided(choices: _Choices, texts: _Texts) -> tuple[_Choices, list[str]]:
    """Drop systems that win all or none of their choices; return the other choices and the names of these systems.

    Where pairs do not name two systems, all choices remain.
    """
    dropped: list[str] = []
    while True:
        first, second = (side[choices.item] for side in texts.systems)
        differing = first != second
        sides = np.concatenate([first[differing], second[differing]])
        won = np.concatenate([choices.share[differing], 1 - choices.share[differing]])
        ends = [code for code in np.unique(sides).tolist() if won[sides == code].mean() in (0.0, 1.0)]
        if not ends:
            return choices, dropped
        dropped += [texts.names[code] for code in ends]
        choices = choices.take(~(differing & (np.isin(first, ends) | np.isin(second, ends))))


def _list_first(names: Sequence[str]) -> str:
    more = f" and {len(names) - NAMED:,} more" if len(names) > NAMED else ""
    return f"{'; '.join(names[:NAMED])}{more}"


def _fit_choices(key: dict[str, Any], choices: _Choices, texts: _Texts, spread: float, left_out: list[str]) -> ExplainedPairs:
    from scipy.special import stdtrit

    swapped = choices.swapped == 1
    system_a, system_b = (side[choices.item] for side in texts.systems)
    systems, codes = np.unique(np.concatenate([system_a, system_b]), return_inverse=True)
    first, second = (np.where(swapped, *sides) for sides in (np.split(codes, 2)[::-1], np.split(codes, 2)))
    longer = np.where(swapped, -1, 1) * texts.longer[choices.item] / spread
    group = texts.group[choices.item]
    fit: AdjustedPreference = preference_by_length(first, second, np.where(swapped, 1 - choices.share, choices.share), longer, group)
    groups = len(np.unique(group))
    reach, power = (float(stdtrit(groups - 1, level)) * fit.length_error for level in (0.975, 0.8))
    return ExplainedPairs(
        key=key,
        n=len(choices.item),
        groups=groups,
        times_longer=float(np.exp(spread)),
        length=fit.length,
        low=fit.length - reach,
        high=fit.length + reach,
        p=number(fit.length_p),
        detectable=reach + power,
        place=fit.raw_place,
        place_adjusted=fit.place,
        systems=_sort_systems([texts.names[code] for code in systems], fit),
        left_out=tuple(left_out),
        outcome="not shown",
    )


def _sort_systems(names: Sequence[str], fit: AdjustedPreference) -> tuple[PairedSystem, ...]:
    if len(names) < 2:
        return ()
    raw, adjusted = fit.raw - fit.raw.mean(), fit.adjusted - fit.adjusted.mean()
    systems = (
        PairedSystem(name, float(strength), float(adjusted_strength))
        for name, strength, adjusted_strength in zip(names, raw, adjusted, strict=True)
    )
    return tuple(sorted(systems, key=lambda system: -system.raw))
