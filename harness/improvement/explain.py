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
from harness.improvement.explain_pairs import HOW as PAIRS_HOW
from harness.improvement.explain_pairs import ExplainedPairs, explain_pairs
from harness.improvement.options import USUAL_COVARIATES, ExplainOptions
from harness.measure.cells import number
from harness.measure.compare import Recording, align
from harness.measure.item_table import ItemTable, item_tables
from harness.measure.judged_table import item_key
from harness.measure.options import Annotators, MeasureOptions
from harness.model import JudgeCondition
from harness.stats import benjamini_yekutieli
from harness.stats.core.arrays import Floats, Ints
from harness.stats.intervals.regression import LEAST_FREEDOM, cluster_regression
from harness.text import graphemes

ALPHA = 0.05
Outcome = Literal["shown", "not shown", "too few groups"]
ASSOCIATION = (
    "An effect is an association and no cause: a judge that uses less of the scale than people seems to follow the length if better texts "
    "are longer. Effects of 'system' and 'system ×' change differences between systems."
)
HOW = (
    "Effects are points of the scale, judge minus people's mean, against the mean of all levels; a length within its language. "
    f"Errors are by group (CR2), q is corrected over all effects of a judge and metric (Benjamini-Yekutieli); at {ALPHA:g} it is "
    f"shown. Below {LEAST_FREEDOM:g} degrees of freedom nothing is tested. Detectable: the least effect that would be found in 80 % of "
    f"such data, at {ALPHA:g} before the correction."
)
NOISE = "Noise alone: 95 % of effects would be smaller if judge and people agreed but for how a judge's answers to the same call differ."

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

    @property
    def moves_systems(self) -> bool:
        """True if it changes differences between systems."""
        return self.covariate.partition(" × ")[0] == SYSTEM


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
    always = {
        "value": regression.coefficients,
        "freedom": regression.freedom,
        "noise": _noise_alone(columns, np.vstack(rows), errors.noise),
    }
    tested = {"low": regression.interval[0], "high": regression.interval[1], "p": regression.p, "detectable": regression.detectable}
    for index, (name, level) in enumerate(names):
        refused = bool(regression.refused[index])
        defined = always if refused else always | tested
        numbers: dict[str, Any] = {what: number(float(values[index])) for what, values in defined.items()}
        yield ErrorEffect(covariate=name, level=level, outcome="too few groups" if refused else "not shown", **numbers)


def _noise_alone(columns: Floats, contrasts: Floats, variance: Floats) -> Floats:
    """Return (m,) the size below which 95 % of effects stay if errors are noise of this variance (n,), independent by text.

    NaN where a variance is unknown.
    """
    if np.isnan(variance).any():
        return np.full(len(contrasts), np.nan)
    lines = contrasts @ np.linalg.pinv(columns)
    return np.asarray(1.96 * np.sqrt(lines**2 @ variance))


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
