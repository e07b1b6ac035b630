"""A comparison with its verdicts, languages side by side, and sections."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any

import msgspec

from harness.correction.acceptance import AcceptedFrom, acceptances_of_tables
from harness.decide.cell_tests import pooled_annotator_tests
from harness.decide.language_comparisons import LanguageComparison, language_comparisons
from harness.decide.options import DecisionOptions
from harness.decide.verdicts import Verdict, tests_of_tables, verdicts_of_tests
from harness.measure.compare import Comparison, JudgedTables, LazySequence, Recording, align, compare_tables
from harness.measure.options import MeasureOptions
from harness.reports.answer.next_steps import LabelPages, label_pages
from harness.signature import ComparisonSignature
from harness.text import short_repr

if TYPE_CHECKING:  # and late: the answer needs no section
    from harness.reports.sections.section import SectionNumbers


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
    alternative_annotators: Sequence[dict[str, Any]] = ()
    languages: Sequence[LanguageComparison] = ()
    acceptance: tuple[AcceptedFrom, ...] | None = None
    pairs: tuple[Mapping[str, Any], ...] = ()
    sections: Mapping[str, Mapping[str, Any]] = msgspec.field(default_factory=dict)
    pages: LabelPages = LabelPages()

    def __repr__(self) -> str:
        return short_repr(self, self.source, cells=len(self.keys), verdicts=len(self.verdicts))

    def as_json(self) -> dict[str, Any]:
        """Return one object for programs: that of `Comparison`, and a list for each part that was computed."""
        fields = super().as_json()
        fields.pop("pages")
        for name in ("verdicts", "languages", "acceptance"):
            part = getattr(self, name)
            fields.pop(name)
            if part is not None:
                fields[name] = [row.flat() for row in part]
        fields["alternative_annotators"] = [*self.alternative_annotators]
        for name in ("alternative_annotators", "pairs", "sections"):
            if not fields[name]:
                fields.pop(name)
        return fields


def compare(
    sources: Sequence[Recording],
    options: MeasureOptions,
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
    aligned = align(sources, options)
    cards = [judged.data.about for judged in aligned.tables]
    compared = compare_tables(aligned, options)
    tests = tests_of_tables(aligned, decision) if options.level == "item" else ()
    signed = decision.with_bar() if any(cell.basis == "bar" for cell in tests) else decision
    signature = msgspec.structs.replace(
        ComparisonSignature.parse(compared.signature),
        decide=signed.signed(cards) if tests else "",
    )
    fields = {name: getattr(compared, name) for name in Comparison.__struct_fields__} | {"signature": str(signature)}
    of_full: dict[str, Any] = {}
    if tests and sections:
        from harness.reports.sections.pairs import summarise_pairs

        of_full["pairs"] = tuple(filter(None, (summarise_pairs(judged.data, judged.judgments, options) for judged in aligned.tables)))
        of_full["sections"] = _join_sections(sources, aligned, options, full=full)
    if tests and full:
        of_full["acceptance"] = acceptances_of_tables(aligned, options)
    return DecidedComparison(
        **fields,
        verdicts=verdicts_of_tests(tests, decision),
        alternative_annotators=LazySequence(partial(pooled_annotator_tests, tests, decision, cards)),
        languages=LazySequence(partial(language_comparisons, aligned, tests, options, decision, full=full)) if tests else (),
        pages=label_pages(sources[0].name, sources[0].data),
        **of_full,
    )


def _join_sections(
    sources: Sequence[Recording], aligned: JudgedTables, options: MeasureOptions, *, full: bool
) -> dict[str, SectionNumbers]:
    """Return the sections of all sources, which hold only what the options keep; those of several sources are joined row by row."""
    from harness.reports.sections.calibrated_scores import calibrate_scores
    from harness.reports.sections.repeats_and_panels import compare_runs
    from harness.reports.sections.section_registry import comparison_sections

    of_source = replace(options, where={}, judges=None, versus=None)
    joined: dict[str, dict[str, Any]] = {}
    for source in aligned.sources:
        for name, section in comparison_sections(source, of_source).items():
            of_all, key = joined.setdefault(name, {}), {"source": source.name} if len(aligned.sources) > 1 else {}
            for part, value in section.items():
                if isinstance(value, list):
                    of_all[part] = [*of_all.get(part, []), *({**key, **row} for row in value)]
                else:
                    of_all.setdefault(part, value)
    sections = {**joined, **compare_runs(aligned, options)}
    return sections | calibrate_scores(sources, options) if full else sections
