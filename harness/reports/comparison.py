"""A comparison with its verdicts, languages side by side, and sections."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import msgspec

from harness.correction.acceptance import AcceptedFrom, acceptances_laid_out
from harness.decide.annotator_pooling import pooled_annotator_tests
from harness.decide.languages import LanguageComparison, language_comparisons
from harness.decide.options import DecisionOptions
from harness.decide.verdicts import Verdict, tests_of_aligned, verdicts_of_tests
from harness.measure.compare import AlignedData, Comparison, Recording, align, compare_aligned
from harness.measure.options import CompareOptions
from harness.reports.answer.steps import LabelPages, label_pages
from harness.reports.sections.calibrated_scores import calibrate_scores
from harness.reports.sections.pairs import summarise_pairs
from harness.reports.sections.runs_over_time import compare_runs
from harness.reports.sections.section import SectionNumbers
from harness.reports.sections.section_registry import comparison_sections
from harness.signature import ComparisonSignature
from harness.text import short_repr


class DecidedComparison(Comparison, frozen=True, kw_only=True):
    """Cells, and what each judge may be used for by language and metric. Correlations of systems have none of this.

    Attributes:
        verdicts: one a language, metric, judge and condition.
        alternative_annotators: the alternative annotator test by task, each (text, metric) an item; empty unless the card of the data or
            a flag names its scoring.
        languages: one a metric, judge and condition: its languages side by side.
        acceptance: the confidence from which on answers can be accepted, one a language, metric, judge and condition; None where it was
            not asked for.
        pairs: the section of choices between two texts, one a data set that has any.
        sections: minimal pairs, the same texts in several languages, panels, one judge in several runs, and probabilities, by name; of
            several sources every row names its `source`.
        pages: how people label more of the first source, for the next step of an answer.
    """

    verdicts: tuple[Verdict, ...] = ()
    alternative_annotators: tuple[dict[str, Any], ...] = ()
    languages: tuple[LanguageComparison, ...] = ()
    acceptance: tuple[AcceptedFrom, ...] | None = None
    pairs: tuple[Mapping[str, Any], ...] = ()
    sections: Mapping[str, Mapping[str, Any]] = msgspec.field(default_factory=dict)
    pages: LabelPages = LabelPages()

    def __repr__(self) -> str:
        return short_repr(self, self.source, cells=len(self.cells), verdicts=len(self.verdicts))

    def as_json(self) -> dict[str, Any]:
        """Return one object for programs: that of `Comparison`, and a list for each part that was computed."""
        fields = super().as_json()
        fields.pop("pages")
        for name in ("verdicts", "languages", "acceptance"):
            part = getattr(self, name)
            fields.pop(name)
            if part is not None:
                fields[name] = [row.flat() for row in part]
        for name in ("alternative_annotators", "pairs", "sections"):
            if not fields[name]:
                fields.pop(name)
        return fields


def compare(
    sources: Sequence[Recording],
    options: CompareOptions,
    decision: DecisionOptions = DecisionOptions(),
    *,
    full: bool = False,
    sections: bool = True,
) -> DecidedComparison:
    """Compare the judgments of each source with its labels, and decide. Raises UsageError as `measure.compare` does.

    Args:
        sources: judgments with the labels that they are compared with.
        options: which items and judges, how annotators become one reference, and the keys to group cells by.
        decision: the thresholds of the verdicts.
        full: whether to add acceptance and what each score is worth, and the comparisons of languages that take longer.
        sections: whether to add the choices between two texts and the sections.
    """
    laid_out = align(sources, options)
    compared = compare_aligned(laid_out, options)
    tests = tests_of_aligned(laid_out, decision) if options.level == "item" else ()
    signed = decision.with_bar() if any(cell.basis == "bar" for cell in tests) else decision
    signature = msgspec.structs.replace(
        ComparisonSignature.parse(compared.signature),
        decide=signed.signed(judged.data.about for judged in laid_out.judged) if tests else "",
    )
    fields = {name: getattr(compared, name) for name in Comparison.__struct_fields__} | {"signature": str(signature)}
    in_sections = laid_out.judged if tests and sections else ()
    return DecidedComparison(
        **fields,
        verdicts=verdicts_of_tests(tests, decision),
        alternative_annotators=pooled_annotator_tests(tests, decision, [judged.data.about for judged in laid_out.judged]),
        languages=language_comparisons(laid_out, tests, options, decision, full=full) if tests else (),
        acceptance=acceptances_laid_out(laid_out, options) if full and tests else None,
        pairs=tuple(filter(None, (summarise_pairs(judged.data, judged.judgments, options) for judged in in_sections))),
        pages=label_pages(sources[0].name, sources[0].data),
        sections=_join_sections(sources, laid_out, options, full=full) if in_sections else {},
    )


def _join_sections(
    sources: Sequence[Recording], laid_out: AlignedData, options: CompareOptions, *, full: bool
) -> dict[str, SectionNumbers]:
    """Return the sections of all sources, which hold only what the options keep; those of several sources are joined row by row."""
    of_source = msgspec.structs.replace(options, where={}, judges=None, versus=None)
    joined: dict[str, dict[str, Any]] = {}
    for source in laid_out.sources:
        for name, section in comparison_sections(source, of_source).items():
            of_all, key = joined.setdefault(name, {}), {"source": source.name} if len(laid_out.sources) > 1 else {}
            for part, value in section.items():
                if isinstance(value, list):
                    of_all[part] = [*of_all.get(part, []), *({**key, **row} for row in value)]
                else:
                    of_all.setdefault(part, value)
    sections = {**joined, **compare_runs(laid_out, options)}
    return sections | calibrate_scores(sources, options) if full else sections
