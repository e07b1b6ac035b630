"""What scores may be used for: languages side by side, corrected means, acceptance, certificates, probabilities, labels needed."""

from __future__ import annotations

import shlex
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from rich.console import Group, RenderableType
from rich.text import Text

from harness.content.tags import both_names, english_name
from harness.correction.acceptance import Acceptances
from harness.correction.calibrate import Calibrated
from harness.correction.certificate import Certificate
from harness.correction.certified_cell import CertifiedCell
from harness.correction.correct import Corrected
from harness.correction.extension import CertificateCheck, ExtensionResult
from harness.correction.probabilities import Probabilities
from harness.decide.more_labels import MORE_THAN
from harness.decide.options import DecisionOptions
from harness.measure.options import POOLED
from harness.model import CONDITION, SIDE
from harness.render.fitted_table import FittedTable
from harness.render.terminal import dim_lines, doubt_lines, legend_of, print_lines, table_heading
from harness.reports.answer.parts import CORRECTED, SIGNS, STYLES, joined, state_of
from harness.reports.tables.columns import (
    COUNT,
    SHARE,
    TEXT,
    Column,
    Row,
    TableName,
    columns_in,
    interval_of_points,
    lenient_text,
    metric_words,
)
from harness.reports.tables.numbers import UNDEFINED, counted, difference, percent, probability, rounded_up
from harness.reports.tables.text_table import Heading, TextTable, key_text, tabulate, varying_keys
from harness.text import terminal_safe

if TYPE_CHECKING:
    from harness.correction.labels_budget import LabelBudget, PlannedLabels
    from harness.decide.language_comparisons import LanguageComparison


def languages_table(comparisons: Sequence[LanguageComparison]) -> TextTable:
    """Return a row for each metric, judge and condition."""
    rows: list[Row] = []
    for comparison in comparisons:
        gap = comparison.gap
        lenient = sorted((row.leniency, row.language) for row in comparison.languages if row.leniency is not None)
        rows.append(
            {
                **comparison.key,
                "mean_gap": gap.mean if gap else None,
                "mean_gap_ci": gap.ci if gap else None,
                "further_language": interval_of_points(gap.prediction if gap else None),
                "i2": gap.i2 if gap else None,
                "rates_p": comparison.rates.p_groups if comparison.rates else None,
                "same_level": f"{sum(row.same_level for row in comparison.languages)} of {len(comparison.languages)}",
                "most_lenient": lenient_text(lenient[-1][1], lenient[-1][0]) if len(lenient) > 1 else None,
                "least_lenient": lenient_text(lenient[0][1], lenient[0][0]) if len(lenient) > 1 else None,
                "dif_effect": comparison.dif.effect if comparison.dif else None,
                "parallel_fleiss": comparison.consistency.fleiss if comparison.consistency else None,
            }
        )
    return tabulate(rows, columns_in(TableName.LANGUAGES), ("metric", *varying_keys(rows, SIDE)))


_MANY_CELLS = 40
"""Of more cells than this, only those without a verdict have rows, from the fewest missing texts on."""
_MOST_ROWS = 20


def render_budget(budget: LabelBudget, *, all_rows: bool = False) -> RenderableType:
    """Return what is labelled of every cell, and what is missing; with `all_rows` of all cells, however many there are."""
    rows = [cell.flat() | {"language": english_name(str(cell.key["language"]))} for cell in budget.cells]
    missing = [row for row in rows if row["verdict"] not in ("use", "do not use")]
    decided = len(rows) - len(missing)
    settled = sorted((row for row in missing if row["more_for_verdict"] is not None), key=lambda row: row["more_for_verdict"])
    no_help = [row for row in missing if row["more_for_verdict"] is None]
    parts = [f"{decided:,} of {counted(len(rows), 'question')} {'has' if decided == 1 else 'have'} a verdict"]
    parts += [f"{len(settled):,} need{'s' if len(settled) == 1 else ''} more labels"] if settled else []
    parts += [f"for {len(no_help):,} more labels will not help"] if no_help else []
    first = Text(f"{'; '.join(parts)}.\n", style="bold")
    few = all_rows or len(rows) <= _MANY_CELLS
    shown_rows = rows if few else settled[:_MOST_ROWS]
    sides = varying_keys(rows, SIDE)
    table = tabulate(shown_rows, columns_in(TableName.LABELS_NEEDED), ("language", "metric", *sides))
    lines = [] if few else [*_no_help_lines(no_help, sides), f"{len(rows) - len(shown_rows):,} more rows: --all."]
    new = [Text(line) for line in _new_languages(budget)]
    tables = [FittedTable(table)] if shown_rows else []
    below = [Text(f"\n{line}") for line in lines]
    return Group(first, *tables, *below, *([Text(""), *new] if new else []), dim_lines(table.legend if shown_rows else ()))


def _no_help_lines(rows: Sequence[Row], sides: Sequence[str]) -> Iterator[str]:
    """Yield why more labels would not help, a sentence for each reason, with the metrics and the judges that it is about."""
    reasons: dict[str, dict[str, list[str]]] = {}
    for row in rows:
        of_reason = reasons.setdefault(str(row["reasons"]["more_for_verdict"]), {})
        names = of_reason.setdefault(f"{metric_words(str(row['metric']))} in {row['language']}", [])
        names.append(" ".join(key_text(side, row[side]) for side in sides))
    for reason, metrics in reasons.items():
        said = (f"{metric} ({', '.join(names)})" if sides else metric for metric, names in metrics.items())
        yield terminal_safe(f"More labels will not help ({reason}): {'; '.join(said)}.")


def _new_languages(budget: LabelBudget) -> Iterator[str]:
    """Yield what a new language needs for a corrected mean, a line for each metric and condition."""
    rows = [plan.flat() for plan in budget.new_languages or ()]
    sides = varying_keys(rows, SIDE)
    for row in rows:
        what = ", ".join([str(row["metric"]).replace("_", " "), *(key_text(name, row[name]) for name in sides)])
        if row["reason"] is not None:
            yield terminal_safe(f"A new language, {what}: {row['reason']}.")
            continue
        alone, helped = row["alone"], row["with_others"]
        fewer = "no number of labels suffices" if helped is None else f"{helped:,}, {alone - helped:,} fewer"
        yield terminal_safe(
            f"A new language, {what}: {alone:,} independent texts or groups for a corrected mean to ±{row['half_width']:.2g} points; with "
            f"{row['languages']} other languages {fewer}, if it is like them (on average over languages)."
        )


_TABLES = frozenset({TableName.VERDICTS})
_SCORING = {"accuracy": "equal scores", "neg_rmse": "distance", None: UNDEFINED}
_PASSED = {True: "yes", False: "no", None: UNDEFINED}
_POOLING = (
    Column(
        "metrics", "metrics", COUNT, "metrics of the task; each text counts once on each", _TABLES, value=lambda row: len(row["metrics"])
    ),
    Column("n", "texts", COUNT, "texts on a metric that two annotators labelled", _TABLES),
    Column(
        "read",
        "read",
        COUNT,
        "answers that could be read; the others count as a score that nobody gave, and by distance they are left out, as the authors do",
        _TABLES,
    ),
    Column(
        "scoring",
        "compared by",
        TEXT,
        "how people and judge are compared with the others: by equal scores, or by the distance of scores (minus the root mean square)",
        _TABLES,
        text=lambda row: _SCORING[row.get("scoring")],
    ),
    Column(
        "omega",
        "winning rate",
        SHARE,
        "the share of the tested annotators that the judge can replace: it represents the others as well as the person does, less epsilon",
        _TABLES,
    ),
    Column("rho", "advantage", SHARE, "how often the judge represents the others at least as well as the person does", _TABLES),
    Column(
        "passed",
        "passed",
        TEXT,
        "the judge can replace half of the tested annotators or more; it is no condition of a verdict",
        _TABLES,
        text=lambda row: _PASSED[row.get("passed")],
    ),
)


def annotator_pooling_table(rows: Sequence[Mapping[str, Any]]) -> TextTable:
    """One row for each task, judge and condition."""
    varying = varying_keys(rows, ("source", "language", *CONDITION))
    return tabulate([dict(row) for row in rows], _POOLING, ("task", *varying))


def render_plan(
    planned: Sequence[PlannedLabels], decision: DecisionOptions, *, cells: int, half_width: float, shares_given: bool
) -> RenderableType:
    """Return how many texts `use` takes before any judge was asked, a row for each metric and agreement, and what stands behind it."""
    texts = [plan.for_verdict for plan in planned]
    known = sorted({number for number in texts if number is not None})
    ends = [f"about {known[0]:,}", *([f"{known[-1]:,}"] if len(known) > 1 else [])] if known else []
    ends = [*ends[:1], str(MORE_THAN)] if None in texts else ends
    count = " to ".join(ends)
    first = f"{count[:1].upper()}{count[1:]} labelled texts show that a judge may be used, if it is as good as one more person.\n"
    heads = (
        Heading("metric", "metric"),
        Heading("agreement", "two people agree", number=True),
        Heading("annotators", "people a text", number=True),
        Heading("for_verdict", "texts for 'use'", number=True),
        Heading("for_half_width", f"texts for ±{100 * half_width:g} points", number=True),
        Heading("constant", "best constant", number=True),
    )
    by_language = any(plan.people.language for plan in planned)
    rows = []
    for plan in planned:
        people = plan.people
        row = (
            metric_words(people.metric),
            percent(people.agreement),
            str(people.annotators),
            str(MORE_THAN) if plan.for_verdict is None else f"about {plan.for_verdict:,}",
            f"{plan.for_half_width:,}",
            percent(plan.constant),
        )
        rows.append((english_name(people.language) if people.language else "", *row) if by_language else row)
    table = TextTable((Heading("language", "language", key=True), *heads) if by_language else heads, tuple(rows))
    return Group(Text(first, style="bold"), FittedTable(table), dim_lines(plan_sentences(planned, decision, cells, shares_given)))


def plan_sentences(planned: Sequence[PlannedLabels], decision: DecisionOptions, cells: int, shares_given: bool) -> Iterator[str]:
    """Yield what stands behind the numbers."""
    people = planned[0].people
    if people.texts is None:
        classes = ", ".join(map(str, people.classes))
        if shares_given:
            yield f"Nobody labelled yet. Assumed: people give {classes} as often as --shares says."
        else:
            yield (
                f"Nobody labelled yet. Assumed: {classes} are equally common; --shares says otherwise, and where a class is rare, more "
                "texts are needed."
            )
        if len(planned) > 1:
            yield "How often two people agree is not known, so several values are shown; --people-agree 0.7 takes one. 30 texts show it."
    else:
        yield "People's agreement and the shares of classes are those of the labels, unless a flag says otherwise; no judge was asked."
    where = "one metric in one language" if cells == 1 else f"each of {cells} cells (metrics in languages) that are tested together"
    chance = f"{100 * decision.power:.0f} %"
    yield (
        f"The judge is taken to be one more person. With so many texts 'use' is shown in {where} with a chance of {chance}: at most "
        f"{100 * decision.margin:g} points below people, and better than the best constant. A worse judge needs more texts, or is never "
        "shown to be good enough."
    )
    if cells == 1:
        yield "--cells 10 says how many metrics in languages you will test together: the more, the more texts each of them needs."
    yield "Texts count once for each source: ten answers to one question are not ten independent texts."


def render_corrected(corrected: Corrected) -> RenderableType:
    """Return what was estimated, then all numbers; a difference stands in the row of its first system, `one − other`."""
    defined = [number for number in corrected.numbers if number.corrected.value is not None]
    what = "share" if corrected.numbers[0].share_of is not None else "mean"
    first = (
        f"What people would say of all judged texts, by the judge's scores and some labels: {counted(len(defined), f'corrected {what}')}."
        if defined
        else f"No corrected {what} is known: the last column says why."
    )
    rows = []
    for number in corrected.numbers:
        row = number.flat() | {"class": number.share_of}
        if number.versus is not None:
            key, subtracted = number.versus
            row[key] = f"{number.key[key]} − {subtracted}"
        rows.append(row)
    names = [name for name in corrected.numbers[0].key if name not in ("language", "metric", *SIDE)]
    keys = (*varying_keys(rows, SIDE), "metric", *(name for name in names if any(row[name] is not None for row in rows)))
    keys = (*keys, *(["class"] if any(row["class"] is not None for row in rows) else []))
    return Group(Text(first, style="bold"), *doubt_lines(corrected.copied), _tables(rows, keys, TableName.CORRECTED, corrected.notes))


def render_acceptance(acceptances: Acceptances) -> RenderableType:
    """Return all thresholds, or where nothing is certified for one reason, that reason once."""
    rows = [threshold.flat() for threshold in acceptances.thresholds]
    certified = sum(row["threshold"] is not None for row in rows)
    first = f"Answers of the judge can be accepted without a person for {certified} of {counted(len(rows), 'question')}."
    reasons = {row["reason"] for row in rows}
    if not certified and len(rows) > 1 and len(reasons) == 1:
        reason = Text(terminal_safe(f"Why none: {reasons.pop()}."))
        return Group(Text(first, style="bold"), *doubt_lines(acceptances.copied), reason, dim_lines(map(terminal_safe, acceptances.notes)))
    table = _tables(rows, (*varying_keys(rows, SIDE), "metric"), TableName.ACCEPTANCE, acceptances.notes)
    return Group(Text(first, style="bold"), *doubt_lines(acceptances.copied), table)


def render_calibrated(calibrated: Calibrated, *, all_numbers: bool = False) -> RenderableType:
    """Return where a map of the judge's scores helps, then every metric with its finding and its first table.

    With `all_numbers` all tables, and below all of them what their headings mean.
    """
    from harness.reports.sections.calibrated_scores import CALIBRATED_SCORES, calibrated_section
    from harness.reports.sections.section_registry import shown_sections

    cells = [cell for metric in calibrated.metrics for cell in metric.cells if cell.language != POOLED]
    helped = sum(cell.advice == "use the map" for cell in cells)
    first = (
        f"Calibrated scores are better for {helped} of {counted(len(cells), 'question')} (a metric in a language)."
        if helped
        else "Calibrating helps nowhere."
    )
    parts: list[RenderableType] = [Text(first, style="bold"), *doubt_lines(calibrated.copied)]
    legend: dict[str, None] = {}
    for metric in calibrated.metrics:
        [section] = shown_sections({CALIBRATED_SCORES.name: calibrated_section([metric])})
        name, judge = (str(metric.key[key]) for key in ("metric", "judge"))
        parts += [table_heading(f"{metric_words(name)}, {judge}: {metric.method}"), Text(section.text.partition("not seen. ")[2])]
        for table in section.tables if all_numbers else [_short(table) for table in section.tables[:1]]:
            title, titled, _ = table.shared.partition(": ")
            parts += [Text(f"\n{title}" if titled else "", style="italic"), FittedTable(table)]
        legend |= dict.fromkeys(section.legend)
    promise = f"{calibrated.promise[0].upper()}{calibrated.promise[1:]}."
    about = "A map lowers the loss: how far people's answers are from what it expects. The share of equal scores may fall."
    warnings = map(terminal_safe, calibrated.warnings)
    said = (*legend, promise, *warnings, *map(terminal_safe, calibrated.notes)) if all_numbers else (about, promise, *warnings)
    return Group(*parts, dim_lines(said))


_SHORT = ("n", "agreement_after", "loss_after", "q", "advice")
_ADVICE = {"use the map": f"{SIGNS['good']} use the map", "leave the scores as they are": f"{SIGNS['open']} leave"}


def _short(table: TextTable) -> TextTable:
    """Return the columns of a table of calibrated scores that say whether the map helps."""
    shown = _columns_of(table, _SHORT)
    return replace(shown, rows=tuple(tuple(_ADVICE.get(text, text) for text in row) for row in shown.rows))


def _columns_of(table: TextTable, names: Sequence[str]) -> TextTable:
    """Return the key columns of a table, and those with these names."""
    columns = [number for number, heading in enumerate(table.headings) if heading.key or heading.name in names]
    rows = tuple(tuple(row[number] for number in columns) for row in table.rows)
    return replace(table, headings=tuple(table.headings[number] for number in columns), rows=rows, sort_keys=())


def _tables(rows: Sequence[Row], keys: Sequence[str], name: TableName, notes: Sequence[str]) -> RenderableType:
    parts: list[RenderableType] = []
    tables = []
    for language in dict.fromkeys(row["language"] for row in rows):
        language_rows = [row for row in rows if row["language"] == language]
        tables.append(tabulate(language_rows, columns_in(name), keys, tables=(name,), shown_in=rows))
        title = both_names(language) if language else key_text("language", language)
        parts += [table_heading(title), FittedTable(tables[-1], sentences=("borrowed", "reason"))]
    return Group(*parts, dim_lines((*legend_of(tables), *map(terminal_safe, notes))))


def print_certificate(certificate: Certificate, path: str) -> None:
    """Print for how many questions the judge may be used, then a line for each language and metric."""
    of_all = counted(len(certificate.cells), "question")
    judge = f"{certificate.judge.name}, {certificate.judge.variant},"
    heading = f"{judge} may be used for {len(certificate.allowed)} of {of_all}. Certificate: {path}"
    print_lines([heading, *_cells(certificate), *_unchecked(certificate.unchecked)])


def print_check(certificate: Certificate, check: CertificateCheck, path: str) -> None:
    """Print whether a certificate still holds, why not, and what to do then; `path` is its file."""
    whose = f"the certificate of {certificate.judge.name}, {certificate.judge.variant},"
    if check.stale:
        lines = [f"The{whose[3:]} does not hold any more:", *(f"  - {reason}" for reason in check.stale), *_unchecked(check.unchecked)]
        print_lines([*lines, "Next: make a new one:", "  harness certify RUN_OR_DIR --to new.json"])
        return
    holds = "still holds" if certificate.allowed else "allows nothing, as before"
    lines, step = [f"The{whose[3:]} {holds}: all of it was made again and is the same."], []
    if not check.compared:
        lines = [f"It is unknown whether {whose} still holds: nothing was made again. It says:"]
        step = ["Next: name the run or data folder that it is of:", f"  harness certify --check {shlex.quote(path)} RUN_OR_DIR"]
    elif check.not_made_again:
        absent = ", ".join(check.not_made_again)
        lines = [f"It is unknown whether {whose} still holds: this could not be made again: {absent}. It says:"]
    lines += _cells(certificate)
    for line in certificate.extensions:
        where = "".join(f", {key} {value}" for key, value in line.where.items())
        cell = f"{english_name(line.language)}, {metric_words(line.metric)}{where}"
        lines.append(f"  extended on {line.date} to {cell} by {counted(line.labels, 'label')} of {line.data}")
    print_lines([*lines, *_unchecked(check.unchecked), *step])


_EXTENDED = {
    "extended": "The certificate of {judge} holds for {data} too: {count} of {targets}.",
    "refused": "Do not use the certificate of {judge} for {data}: it does not hold there, or cannot be tested.",
    "more labels": "It is unknown whether the certificate of {judge} holds for {data}: label more.",
}
_TARGET_SIGNS = {"extended": SIGNS["good"], "refused": SIGNS["bad"], "more labels": SIGNS["open"]}


def print_extension(extension: ExtensionResult, path: str | None) -> None:
    """Print whether the certificate may serve other texts, then why for each target; `path` is the file that has the new lines."""
    extended = sum(target.outcome == "extended" for target in extension.targets)
    targets = counted(len(extension.targets), "question")
    values = {"judge": extension.judge, "data": extension.data, "count": f"{extended:,}", "targets": targets}
    lines = [_EXTENDED[extension.outcome].format_map(values)]
    allowed = f"allowed: ±{extension.options.margin * 100:g}"
    for target in extension.targets:
        where = "".join(f", {key} {value}" for key, value in target.where.items())
        source = "" if target.from_language == target.language else f" by the numbers of {english_name(target.from_language)}"
        said = [target.reason] if target.reason else []
        if target.more_groups:
            step = f"Label about {counted(target.more_groups, 'more group')}"
            if target.more_groups_as_seen is None:
                step += ": they decide it if nothing has changed; if the difference is as large as seen, more labels will not help"
            elif target.more_groups_as_seen != target.more_groups:
                step += f" if nothing has changed, about {target.more_groups_as_seen:,} if the difference is as large as seen"
            said.append(step)
        state = {"extended": "it holds", "refused": "do not use it", "more labels": "unknown"}[target.outcome]
        name = f"{english_name(target.language)}, {metric_words(target.metric)}{where}{source}"
        lines.append(f"{_TARGET_SIGNS[target.outcome]} {name}: {': '.join((state, '. '.join(said))) if said else state}")
        labelled = f"{counted(target.labels, 'labelled text')} in {counted(target.groups, 'group')}"
        lines.append(f"    {labelled}, {counted(target.texts, 'judged text')}")
        for name, estimate in (
            ("labels minus corrected predictions", target.residual),
            ("agreement minus the certified one", target.agreement),
        ):
            if estimate is not None:
                lines.append(f"    {name}: {difference(estimate.mean, estimate.interval)} points ({allowed})")
        if target.q is not None:
            lines.append(f"    both allowed: p {probability(target.q)}, corrected over the targets")
    if path and extended:
        lines.append(f"{path} is extended.")
    print_lines(lines)


def _cells(certificate: Certificate) -> Iterator[str]:
    """Yield a line for each cell; what all of them lack for one reason is said once, at the end."""
    lacks = [_together(_uses_of(cell)) for cell in certificate.cells]
    alike = len(lacks) > 1 and lacks.count(lacks[0]) == len(lacks)
    for cell, parts in zip(certificate.cells, lacks, strict=True):
        state = state_of({"verdict": cell.verdict, "controls": None})
        yield f"  {SIGNS[STYLES[state]]} {english_name(cell.language)}, {metric_words(cell.metric)}: {state}"
        if state == CORRECTED:
            yield f"    - {cell.sentence.removesuffix('.')}"
        if not alike:
            yield from (f"    - {part}" for part in parts)
    if alike:
        yield "  In all of them:"
        yield from (f"    - {part}" for part in lacks[0])
    if not certificate.allowed:
        yield "It allows nothing: no verdict is 'use' or 'use corrected means only'."


def _together(parts: Iterable[tuple[str, str | None]]) -> list[str]:
    """Neighbours that have one reason share it.

    >>> _together([("no means", "few labels"), ("no map", "few labels"), ("no sets", None)])
    ['no means, no map (few labels)', 'no sets']
    """
    lines: list[str] = []
    for reason, alike in groupby(parts, key=lambda part: part[1]):
        said = [part_name for part_name, _ in alike]
        lines += [f"{', '.join(said)} ({reason})"] if reason else said
    return lines


def _uses_of(cell: CertifiedCell) -> Iterator[tuple[str, str | None]]:
    """Yield what a cell says of means, acceptance, scores and probabilities; beside what it lacks, the reason."""
    if cell.corrections:
        yield f"means are corrected by {cell.corrections[0].n} labels", None
    else:
        yield "no corrected means", cell.correction_reason
    acceptance = cell.acceptance
    if acceptance is None or acceptance.threshold is None:
        reason = cell.acceptance_reason if acceptance is None else (acceptance.reason or "").partition(";")[0]
        yield "no answer is accepted without a person", reason
    else:
        threshold = f"{acceptance.confidence} {rounded_up(acceptance.threshold)}"
        accepted = f"answers are accepted from {threshold} on, {percent(acceptance.coverage)} of them"
        if acceptance.left_out != 0:
            share = percent(acceptance.left_out_share)
            accepted += f"; nothing is said of the {share} of labelled texts without a commonest label"
        yield accepted, None
    recalibration = cell.recalibration
    if recalibration is None:
        yield "no map", cell.recalibration_reason
    else:
        scores = "scores are calibrated text by text" if recalibration.shown else f"scores are not calibrated ({recalibration.advice})"
        if recalibration.length_scale is not None:
            scores += ", and the map reads the length of the text too"
        sets = recalibration.sets
        coverage = f"sets of scores hold a person's score of {percent(sets.level)} of texts"
        coverage = f"sets hold {sets.reason}" if sets.threshold is None else coverage
        yield f"{scores}; {coverage}", None
    if cell.probabilities is not None:
        yield _PROBABILITIES[cell.probabilities.verdict], None


_PROBABILITIES = {
    "hold": "its probabilities hold",
    "hold after refit": "its probabilities hold only refitted",
    "do not hold": "its probabilities do not hold",
    "too few labels": "its probabilities: too few labels",
}


def _unchecked(names: Sequence[str]) -> Iterator[str]:
    if names:
        yield f"It names {joined([f'no {name}' for name in names])}, so a change of these is not noticed."


_OF_PROBABILITIES = ("n", "confidence", "right", "verdict", "labels_needed")


def render_probabilities(measured: Probabilities, *, all_numbers: bool = False) -> RenderableType:
    """Return whether probabilities hold, in sentences where they are few, and a table of languages and metrics.

    With `all_numbers` a sentence for each of them, all tables, and what their headings mean.
    """
    from harness.reports.sections.probabilities import PROBABILITIES, headline, probabilities_section
    from harness.reports.sections.section_registry import shown_sections

    numbers = probabilities_section(measured.cells, measured.languages, measured.cuts) or {}
    [section] = shown_sections({PROBABILITIES.name: numbers})
    first, *sentences = headline(numbers) or [""]
    parts: list[RenderableType] = [Text(terminal_safe(first), style="bold"), *doubt_lines(measured.copied)]
    if all_numbers:
        parts += [Text(terminal_safe(line)) for line in sentences]
    rest_of_text = section.text.removeprefix("Is it as often right as it says?").strip()
    for line in headline(numbers):
        rest_of_text = rest_of_text.replace(line, "").strip()
    parts += [Text(rest_of_text)] if rest_of_text else []
    if not all_numbers:
        cells = _columns_of(section.tables[0], _OF_PROBABILITIES)
        named = tuple((english_name(row[0]), *row[1:]) for row in cells.rows) if cells.headings[0].name == "language" else cells.rows
        return Group(*parts, Text(""), FittedTable(replace(cells, rows=named)), dim_lines(map(terminal_safe, measured.notes)))
    for table in section.tables:
        parts += [Text(""), *(Text(line, style="dim") for line in (table.shared, table.no_result) if line), FittedTable(table)]
    return Group(*parts, dim_lines((*section.legend, *map(terminal_safe, measured.notes))))


def draw_probabilities(measured: Probabilities, path: Path, width: Literal["single", "double"], names: Literal["english", "own"]) -> None:
    """Draw the reliability curves, a panel a language and metric. Raises UsageError as `write_figure`."""
    from harness.render.figures.charts import draw_reliability
    from harness.render.figures.style import WIDTHS, FigureOptions, write_figure
    from harness.reports.sections.probabilities import probabilities_section

    section = probabilities_section(measured.cells, measured.languages, measured.cuts) or {}
    write_figure(path, lambda options: draw_reliability(section, measured.signature, options), FigureOptions(WIDTHS[width], names))
