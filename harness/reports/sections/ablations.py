"""Ablations: the effect of each condition on a judge's scores, as tables of flat rows.

A section is `{"title", "hypothesis" or "note", "rows"}`; some have a second table (`trends`, `drag`). Rows hold their key (language,
task, metric, judge, variant, temperature, top_p; `*` where they pool), every number under its name, its 95 % interval under
`<name>_ci`, and under `undefined` the reason for every null. docs/statistics.md describes all of them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from harness.data.columns import NO_VALUE
from harness.data.dataset import Dataset
from harness.data.judgments import Judgments
from harness.judges import Panel
from harness.measure.answers import AnswerTable, tabulate_answers, variant_of
from harness.measure.options import CompareOptions
from harness.model import RealisedPerturbation
from harness.reports.sections.consistency import consistency
from harness.reports.sections.correlations import correlations
from harness.reports.sections.language import justification_language
from harness.reports.sections.language_factors import language_factors
from harness.reports.sections.length import length_effect
from harness.reports.sections.metric_order import metric_order, order_of_calls
from harness.reports.sections.minimal_pairs import has_twins, minimal_pairs
from harness.reports.sections.panel_gains import panel_gains
from harness.reports.sections.perturbations import injection, perturbations
from harness.reports.sections.temperature import temperature
from harness.reports.sections.variants import few_shot, score_position, variants

__all__ = ["ablations", "comparison_sections"]


def ablations(
    data: Dataset,
    judgments: Judgments,
    options: CompareOptions,
    perturbed: Sequence[RealisedPerturbation] = (),
    *,
    metrics: Sequence[str] | None = None,
    panels: Mapping[str, Panel] = {},
) -> dict[str, Any]:
    """Every section that the run contains, by name. The order of the judgments does not matter.

    Args:
        data: items, labels and scales; judgments of other items are ignored.
        judgments: of unchanged and of perturbed texts; only the former are compared with labels.
        options: how annotators become one reference, how many an item needs, seed and resamples; the same as for the run's cells.
        perturbed: the result of each perturbation for each item; a text that could not be changed is counted, not judged.
        metrics: in the order in which a forward joint call names them; by default in the order of the judgments.
        panels: the panels among the judges, by name.
    """
    shown = judgments.shown_source
    answers = tabulate_answers(data, judgments.take(shown.codes == NO_VALUE) if shown.values else judgments, options)
    if not len(answers):
        return {}
    found = {
        **_of_single_conditions(answers, panels),
        "language_factors": language_factors(answers) if _names_languages(answers) else None,
        "variants": variants(answers),
        "correlations": correlations(answers),
        "few_shot": few_shot(answers),
        "score_position": score_position(answers),
        "metric_order": metric_order(answers, metrics or order_of_calls(judgments)),
        "consistency": consistency(answers),
        "temperature": temperature(answers),
        "perturbations": perturbations(answers, perturbed),
        "injection": injection(answers, perturbed),
        "length": length_effect(answers),
        "justification_language": justification_language(answers),
    }
    return {name: section for name, section in found.items() if section}


def comparison_sections(data: Dataset, judgments: Judgments, options: CompareOptions, panels: Mapping[str, Panel] = {}) -> dict[str, Any]:
    """The sections that need no second condition, for comparisons: minimal pairs and panels. Arguments as `ablations`."""
    if not (panels or has_twins(data)):
        return {}
    answers = tabulate_answers(data, judgments.clean, options)
    return {name: section for name, section in _of_single_conditions(answers, panels).items() if section} if len(answers) else {}


def _of_single_conditions(answers: AnswerTable, panels: Mapping[str, Panel]) -> dict[str, dict[str, Any] | None]:
    return {"minimal_pairs": minimal_pairs(answers), "panels": panel_gains(answers, panels) if panels else None}


def _names_languages(answers: AnswerTable) -> bool:
    """Whether a variant names a language of the rubric or of the justification."""
    known = map(variant_of, answers.columns["variant"].values)
    return any(variant and (variant.reasons or variant.language not in ("english", "own")) for variant in known)
