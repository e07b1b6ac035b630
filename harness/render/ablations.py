"""Ablations: for each section its question, its finding in a sentence, and its tables; and all of them in the terminal."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from rich.console import Console, Group, RenderableType
from rich.text import Text

from harness.judges import traits_of
from harness.measure.options import POOLED
from harness.render.fitted_table import FittedTable
from harness.render.terminal import dim_lines
from harness.reports.tables.column import COUNT, COUNT_OR_BLANK, Column, Row, TableName
from harness.reports.tables.columns import columns_in
from harness.reports.tables.minimal_pair_columns import language_columns, rows_across_languages
from harness.reports.tables.numbers import coefficient, counted, percent
from harness.reports.tables.self_preference_columns import rows_across_systems, system_columns
from harness.reports.tables.text_table import TextTable, key_text, tabulate, varying_keys
from harness.reports.tables.titles import metric_words
from harness.text import terminal_safe

Section = Mapping[str, Any]
_KEYS = ("source", "language", "task", "metric", "judge", "variant", "temperature", "top_p")
_PIPE_WIDTH = 160  # of output that no terminal shows
_IN_EVERY_RUN = {"variants", "length", "justification_language"}  # sections that need no further condition; --json has them
_FEW_NAMES = 3  # of pairs in a sentence
_FEW_ROWS = 24  # rows of a finer level that are shown below those of a coarser one
_SHOWN_BELOW = 0.05  # the q-value below which a difference counts as shown


@dataclass(frozen=True)
class _SectionLayout:
    """How rows are shown: the table of the registry, further keys, and which levels of detail, the coarsest first.

    `plainest`: where there are many rows, only those of the plainest variant at the lowest temperature. Without a table, languages are the
    columns, so that the rows of a construction in all languages are one; with `systems`, systems are. `title` names the table.
    """

    table: TableName | None
    keys: tuple[str, ...] = ()
    levels: tuple[tuple[str, ...], ...] = (("language",), ("language", "metric"))
    plainest: bool = False
    systems: bool = False
    title: str = ""


@dataclass(frozen=True)
class _SectionText:
    """One section: the question, its finding in words, its table, and further tables with the names that the section has them under."""

    question: str
    finding: Callable[[Section], str]
    layout: _SectionLayout
    further: tuple[tuple[str, _SectionLayout], ...] = ()


@dataclass(frozen=True)
class ShownSection:
    """A section as it is read: its title, what it asks and finds, its tables with the rows of each, its name in JSON, and all of it."""

    title: str
    text: str
    tables: tuple[TextTable, ...]
    rows: tuple[tuple[Row, ...], ...] = ()
    name: str = ""
    section: Section = field(default_factory=dict)

    @property
    def legend(self) -> tuple[str, ...]:
        return tuple(ablation_legend([self]))


def shown_ablations(sections: Mapping[str, Section]) -> list[ShownSection]:
    """The sections of a report, in their order. Agreement by variant is left out where there is one variant, as the report has it."""
    shown = []
    for name, section_text in _SECTIONS.items():
        section = sections.get(name)
        if section and not (name == "variants" and len({row["variant"] for row in section["rows"]}) < 2):
            shown.append(_shown_section(name, section, section_text))
    return shown


def ablation_legend(sections: Sequence[ShownSection]) -> list[str]:
    """What the headings and signs of all tables mean, each once."""
    return list(dict.fromkeys(line for section in sections for table in section.tables for line in table.legend))


def render_ablations(sections: Mapping[str, Section]) -> RenderableType:
    """The sections for a terminal."""
    parts: list[RenderableType] = []
    shown = shown_ablations(sections)
    for section in shown:
        parts += [Text(f"\n{section.title}", style="bold cyan"), Text(section.text)]
        for table in section.tables:
            parts += [*(Text(line, style="dim") for line in (table.shared, table.no_result) if line), FittedTable(table)]
    if legend := ablation_legend(shown):
        parts.append(dim_lines(legend))
    return Group(*parts)


def print_ablations(sections: Mapping[str, Section], console: Console | None = None) -> None:
    """Print the sections of a run that asked under several conditions; nothing for any other run."""
    variants = {row["variant"] for row in sections.get("variants", {}).get("rows", ())}
    if len(variants) > 1 or set(sections) - _IN_EVERY_RUN:
        console = console or Console()
        (console if console.is_terminal else Console(width=_PIPE_WIDTH)).print(render_ablations(sections))


def _shown_section(name: str, section: Section, section_text: _SectionText) -> ShownSection:
    layouts = [(section["rows"], section_text.layout)] if section["rows"] or not section_text.further else []
    layouts += [(section[part], layout) for part, layout in section_text.further if section.get(part)]
    rows = [_rows_at_levels(_across(every, layout), layout) for every, layout in layouts]
    tables = (_table(own, layout) for own, (_, layout) in zip(rows, layouts, strict=True))
    text = f"{section_text.question} {section_text.finding(section)}".strip()
    return ShownSection(terminal_safe(section["title"]), text, tuple(tables), tuple(map(tuple, rows)), name, section)


def _across(rows: Sequence[Row], layout: _SectionLayout) -> Sequence[Row]:
    """The rows of a table: those of the section, or one for several of them that stand in columns."""
    if layout.table:
        return rows
    return rows_across_systems(rows) if layout.systems else rows_across_languages(rows)


def _table(rows: Sequence[Row], layout: _SectionLayout) -> TextTable:
    """A section's rows as text. What all rows share stands above the table; a table without any number gives the reasons."""
    names = tuple(dict.fromkeys((*_KEYS, *layout.keys)))
    keys = varying_keys(rows, names)
    table = tabulate(rows, _columns(rows, layout), keys, tables=(layout.table,) if layout.table else ())
    shared = [
        f"{name.replace('_', ' ')} {key_text(name, rows[0][name])}" for name in names if name not in keys and _is_told(rows[0].get(name))
    ]
    told = ": ".join(filter(None, (layout.title, ", ".join(shared))))
    return replace(table, shared=told, no_result=_no_result(rows, table, layout))


def _columns(rows: Sequence[Row], layout: _SectionLayout) -> Sequence[Column]:
    if layout.table:
        return columns_in(layout.table)
    return system_columns(rows) if layout.systems else language_columns(rows)


def _no_result(rows: Sequence[Row], table: TextTable, layout: _SectionLayout) -> str:
    """Why a table has nothing but counts; empty where it has other numbers."""
    if not layout.table:
        return ""
    counts = {column.name for column in columns_in(layout.table) if column.format in (COUNT, COUNT_OR_BLANK)}
    if any(not heading.key and heading.name not in counts for heading in table.headings):
        return ""
    reasons = dict.fromkeys(str(reason) for row in rows for reason in row["undefined"].values())
    return f"No result: {terminal_safe('; '.join(reasons))}." if reasons else ""


def _rows_at_levels(rows: Sequence[Row], layout: _SectionLayout) -> list[Row]:
    """The rows of the coarsest level, and those of finer levels if they are few."""
    by_level = [[row for row in rows if _level(row) == set(level)] for level in layout.levels]
    by_level = [at_level for at_level in by_level if at_level]
    if len({row["metric"] for row in rows} - {POOLED}) == 1:  # pooling one metric says the same twice
        by_level = [at_level for at_level in by_level if any(row["metric"] != POOLED for row in at_level)] or by_level
    kept: list[Row] = by_level[0] if by_level else list(rows)
    for finer in by_level[1:]:
        if len(finer) <= _FEW_ROWS:
            kept = [*kept, *finer]
    if layout.plainest and len(kept) > _FEW_ROWS:
        kept = [row for row in kept if (row["variant"], row["temperature"]) == (rows[0]["variant"], rows[0]["temperature"])]
    return kept


def _level(row: Row) -> set[str]:
    return {name for name in ("language", "task", "metric") if row.get(name) != POOLED}


def _is_told(value: Any) -> bool:
    return value not in (None, POOLED, "")


# Findings in words


def _tests_shown(name: str, up: str, down: str, rows: str = "rows") -> Callable[[Section], str]:
    """`Shown (q < .05): better in 1, worse in 2 of 12 tests.`, of a test of the rows."""

    def finding(section: Section) -> str:
        tested = [row for row in section.get(rows, ()) if row.get(f"{name}_q") is not None]
        if not tested:
            return "No row could be tested."
        shown = [row[name] for row in tested if row[f"{name}_q"] < _SHOWN_BELOW]
        above, below = sum(value > 0 for value in shown), sum(value < 0 for value in shown)
        return f"Shown (q < .05, all levels): {up} in {above}, {down} in {below} of {len(tested)} tests."

    return finding


def _range(name: str, what: str) -> Callable[[Section], str]:
    """The lowest and the highest row by language."""

    def finding(section: Section) -> str:
        shares = [row[name] for row in section["rows"] if row["language"] != POOLED and row.get(name) is not None]
        if not shares:
            return ""
        low, high = percent(min(shares)), percent(max(shares))
        return f"{what}: {low}." if low == high else f"{what}: from {low} to {high} in the rows by language."

    return finding


def _position(section: Section) -> str:
    """The range of choices of the first place, where confidences are from, and the pairs of equal texts."""
    sentences = [_range("first_position", "The text that is read first is chosen")(section)]
    sources = {row["confidence_from"] for row in section["systems"]}
    if sources:
        sentences.append(f"Confidences are from {' and '.join(sorted(sources))}.")
    if equal := section["identical"]:
        are = "pair has the same text twice and is" if len(equal) == 1 else "pairs have the same text twice and are"
        sentences.append(f"{len(equal)} {are} left out: {_first(equal)}.")
    if unnamed := section["unnamed"]:
        pairs = "1 pair does" if len(unnamed) == 1 else f"{len(unnamed)} pairs do"
        sentences.append(f"{pairs} not name both systems (system_a, system_b), so systems cannot be compared there: {_first(unnamed)}.")
    return terminal_safe(" ".join(filter(None, sentences)))


def _first(names: Sequence[str]) -> str:
    return ", ".join(names[:_FEW_NAMES]) + (" and others" if len(names) > _FEW_NAMES else "")


def _several_scores(section: Section) -> str:
    """How many answers name more than one score, and the first of them."""
    if not section["several"]:
        return "No answer with a score names another one."
    shown = [f"{one['item']} ({one['metric']}): {one['score']}, then {one['further_numbers']}" for one in section["examples"][:_FEW_NAMES]]
    count = section["several"]
    answers = "1 answer names" if count == 1 else f"{count} answers name"
    return terminal_safe(f"{answers} more than one score: {'; '.join(shown)}{' …' if count > len(shown) else ''}.")


def _preference_by_recognition(section: Section) -> str:
    """The line of preference against recognition, and judges that both prefer themselves."""
    told = [line_words(section["line"], "recognition")]
    told += [line_words(one["line"], f"the answer to '{metric_words(one['metric'])}'") for one in section["control_lines"]]
    mutual = [row for row in section["mutual"] if row["language"] != POOLED]
    if mutual:
        above = sum(row["total"] > 1 for row in mutual)
        told.append(f"In {above} of {len(mutual)} pairs of judges the two preferences add up to more than 1.")
    told += [f"Not asked: {metric_words(one['metric'])} in {one['language']} ({one['reason']})." for one in section["refused"]]
    return terminal_safe(" ".join(filter(None, told)))


def line_words(line: Mapping[str, Any] | None, what: str) -> str:
    """The slope of a line of preference, or why it has none; empty without a line."""
    if line is None:
        return ""
    if line["slope"] is None:
        return f"The line of preference against {what} is undefined: {line['reason']}."
    slope = coefficient(line["slope"], line["slope_ci"])
    return f"Preference changes by {slope} for each 1 of confidence in {what}, over {line['points']} points."


def _identical_pairs(section: Section) -> str:
    """Whether the meaning of texts that are the same as their original counts as preserved."""
    rows = [row for row in section["rows"] if row["identical"]]
    if not rows:
        return ""
    means = [row["identical_mean"] for row in rows]
    return f"Texts that are the same as their original have mean scores from {min(means):.2f} to {max(means):.2f}."


def _sensitivity(section: Section) -> str:
    """In how many rows the interval of the sensitivity lies on one side of ½, and in how many no text could be changed."""
    return " ".join(_sensitivity_sentences(section["rows"]))


def _sensitivity_sentences(rows: Sequence[Row]) -> Iterator[str]:
    intervals = [row["sensitivity_ci"] for row in rows if row.get("sensitivity_ci")]
    above, below = sum(low > 0.5 for low, _ in intervals), sum(high < 0.5 for _, high in intervals)
    if intervals:
        where = f"above ½ (the changed text is found worse) in {above}, below ½ in {below}"
        yield f"The 95 % interval lies {where} of {len(intervals)} rows (all levels)."
    else:
        yield "No row has an interval."
    unchanged = sum(1 for row in rows if row["not_applied"] and not row["n"])
    if unchanged:
        yield f"In {unchanged} rows no text could be changed: that is not insensitivity."


def _flaws_found(section: Section) -> str:
    """For each judge and condition: how often the flawless text is scored higher, equal and lower."""
    pooled = [row for row in section["rows"] if not _level(row)]
    told = [row for row in pooled if row["higher"] is not None and not traits_of(str(row["judge"])).is_baseline]
    if not told:
        return ""
    sides = varying_keys(told, _SIDES)
    return terminal_safe(" ".join(_flaws_found_by(row, ", ".join(key_text(name, row[name]) for name in sides)) for row in told))


def _flaws_found_by(row: Row, side: str) -> str:
    shares = f"higher in {percent(row['higher'])}, equal in {percent(row['equal'])}, lower in {percent(row['lower'])}"
    alarms = (
        "" if row["false_alarms"] is None else f"; false alarms: {percent(row['false_alarms'])} of {counted(row['n_flawless'], 'text')}"
    )
    return f"{side}{': the' if side else 'The'} flawless text is scored {shares} of {counted(row['n'], 'pair')}{alarms}."


def _shares_changed(section: Section) -> str:
    tested = [row["margins_q"] for row in section["rows"] if row["margins_q"] is not None]
    return f"Shown (q < .05): a change in {sum(q < _SHOWN_BELOW for q in tested)} of {len(tested)} tests." if tested else ""


_SIDES = ("source", "judge", "variant", "temperature", "top_p")
_BY_METRIC = (("language", "metric"),)
_AND_OVERALL: tuple[tuple[str, ...], ...] = (("language",), ())
_METRIC_AND_OVERALL = (("language", "metric"), ("metric",))
_OVER_LANGUAGES = (("metric",),)
_BY_TASK = (("language", "task", "metric"),)
_SECTIONS: dict[str, _SectionText] = {
    "pairs": _SectionText(
        "Which of two texts does the judge choose, and does the choice follow the place of a text?",
        _position,
        _SectionLayout(TableName.PAIRS),
        (("systems", _SectionLayout(TableName.PAIR_SYSTEMS, ("system",))),),
    ),
    "self_preference": _SectionText(
        "Panickssery et al. 2024: does the judge know its own texts, and does it prefer them? Both orders are averaged.",
        _preference_by_recognition,
        _SectionLayout(TableName.OWN_PAIRS, ("source",), levels=_AND_OVERALL, title="Own output beside another one"),
        (
            (
                "labels",
                _SectionLayout(TableName.OWN_PAIRS, ("shown_source",), levels=_AND_OVERALL, title="The writers named in the headings"),
            ),
            ("individual", _SectionLayout(TableName.OWN_SCORES, ("source",), levels=_METRIC_AND_OVERALL, title="Single outputs")),
            ("individual", _SectionLayout(None, levels=_METRIC_AND_OVERALL, systems=True, title="The same, systems in columns")),
            ("controls", _SectionLayout(TableName.OWN_CONTROLS, levels=_METRIC_AND_OVERALL, title="Questions with a computed answer")),
            ("languages", _SectionLayout(TableName.OWN_LANGUAGES, ("question", "languages"), levels=((),), title="Between languages")),
            (
                "tuned",
                _SectionLayout(
                    TableName.OWN_TUNED, ("before_judge", "dataset", "question"), levels=(("language",),), title="Before and after tuning"
                ),
            ),
            (
                "mutual",
                _SectionLayout(TableName.MUTUAL_PREFERENCE, ("pair",), levels=_AND_OVERALL, title="Judges that prefer themselves"),
            ),
        ),
    ),
    "chiang_lee": _SectionText(
        "Do several samples of the judge rate texts as people do? Samples are compared with each other as annotators "
        "are, systems by the means of their texts.",
        _identical_pairs,
        _SectionLayout(TableName.RATINGS, levels=_BY_TASK),
        (
            ("systems", _SectionLayout(TableName.RATED_SYSTEMS, ("system",), levels=_BY_TASK, plainest=True)),
            ("differences", _SectionLayout(TableName.RATED_DIFFERENCES, ("systems",), levels=_BY_TASK, plainest=True)),
            ("orders", _SectionLayout(TableName.RATED_ORDERS, ("rater",), levels=_BY_TASK, plainest=True)),
        ),
    ),
    "free_text": _SectionText(
        "Does the judge give one score when it answers in its own words? The first score that it names counts.",
        _several_scores,
        _SectionLayout(TableName.FREE_TEXT),
    ),
    "minimal_pairs": _SectionText(
        "Does the judge score a flawless text higher than its twin, which differs from it in one flaw alone? The second table has the "
        "flaws and the harmless changes over all languages; the third has counts: pairs with the flawless text scored higher · equal · "
        "lower, and where there is no flaw, false alarms / texts.",
        _flaws_found,
        _SectionLayout(TableName.MINIMAL_PAIRS, levels=((), ("language",), ("language", "metric"))),
        (
            ("constructions", _SectionLayout(TableName.CONSTRUCTIONS, ("kind", "construction"), levels=_OVER_LANGUAGES)),
            ("crossed", _SectionLayout(None, ("kind", "construction"), levels=_OVER_LANGUAGES)),
        ),
    ),
    "same_texts": _SectionText(
        "Does the score shift with the language when the text stays the same? The second table has the consistency over languages by "
        "metric. Consistent does not mean right.",
        _tests_shown("shift", "kinder", "harsher"),
        _SectionLayout(TableName.SAME_TEXTS),
        (("metrics", _SectionLayout(TableName.SAME_TEXTS_METRICS, levels=_OVER_LANGUAGES)),),
    ),
    "panels": _SectionText(
        "Does a panel of judges agree with the labels more often than the best of its members, which is chosen on other texts?",
        _tests_shown("diff", "better", "worse"),
        _SectionLayout(TableName.PANELS),
    ),
    "runs": _SectionText(
        "Does the judge agree with the labels as it did in an earlier run? Differences are from the first run of each language and "
        "metric, on the same items.",
        _tests_shown("diff", "better", "worse"),
        _SectionLayout(TableName.RUNS, levels=_BY_METRIC),
    ),
    "run_shares": _SectionText(
        "Does the judge give the classes as often as before? A change of class shares proves nothing about agreement, and neither does its "
        "absence.",
        _shares_changed,
        _SectionLayout(TableName.RUN_SHARES, levels=_BY_METRIC),
    ),
    "language_factors": _SectionText(
        "What do the languages of the rubric, of the item and of the justification do to the score of the same text? Each is English or "
        "the language of the row.",
        _tests_shown("effect", "kinder", "harsher"),
        _SectionLayout(TableName.LANGUAGE_FACTORS, ("factor",)),
    ),
    "variants": _SectionText(
        "Does another way of asking agree better with people? Differences are from the plainest variant, on the same items, failures as "
        "wrong.",
        _tests_shown("diff", "better", "worse"),
        _SectionLayout(TableName.VARIANTS),
    ),
    "correlations": _SectionText(
        "Does another way of asking order texts more as people do? Differences of Kendall's τ are from the plainest variant, on the same "
        "texts, within source texts where these are known.",
        _tests_shown("tau_diff", "better", "worse"),
        _SectionLayout(TableName.CORRELATIONS, levels=_BY_METRIC),
    ),
    "few_shot": _SectionText(
        "Do examples help? Differences are from the fewest examples, on the same items, failures as wrong.",
        _tests_shown("diff", "better", "worse"),
        _SectionLayout(TableName.FEW_SHOT, ("shots",)),
    ),
    "score_position": _SectionText(
        "Does it matter whether the score stands before or after its justification? Scores are compared on the same items, in points "
        "toward the best.",
        _tests_shown("moved", "kinder", "harsher"),
        _SectionLayout(TableName.SCORE_POSITION, levels=_BY_METRIC),
    ),
    "metric_order": _SectionText(
        "Does the metric that is named first drag the others along? The first table shows how far scores move when the order is reversed, "
        "in points toward the best. The second shows how closely another metric follows the first one (Pearson's r) when that is named "
        "first, and when it is named last.",
        _tests_shown("drag", "dragged", "pushed away", "drag"),
        _SectionLayout(TableName.METRIC_ORDER, levels=_BY_METRIC),
        (("drag", _SectionLayout(TableName.HALO_EFFECT, ("first",), levels=_BY_METRIC)),),
    ),
    "consistency": _SectionText(
        "Does the same question get the same answer? A failure counts as an answer of its own.",
        _range("same_score", "The same score every time"),
        _SectionLayout(TableName.CONSISTENCY),
    ),
    "temperature": _SectionText(
        "Does agreement fall as the temperature rises? Differences are from the lowest temperature, on the same items, failures as wrong. "
        "The second table has the slope for one unit of temperature, and Page's test that agreement falls step by step.",
        _tests_shown("slope", "rising", "falling", "trends"),
        _SectionLayout(TableName.TEMPERATURE),
        (("trends", _SectionLayout(TableName.TRENDS)),),
    ),
    "perturbations": _SectionText(
        "Does the judge see that a text was changed? Sensitivity is how often the original scores above the changed text, ties counting "
        "half.",
        _sensitivity,
        _SectionLayout(TableName.PERTURBATIONS, ("perturbation",), levels=_BY_METRIC),
    ),
    "injection": _SectionText(
        "Does the judge obey a text that asks for the top score?",
        _range("rose", "The score rose on"),
        _SectionLayout(TableName.INJECTION, levels=_BY_METRIC),
    ),
    "length": _SectionText(
        "Do longer texts get better scores? Kendall's τ of score and number of characters, first among texts with the same label, then "
        "among all. Of many variants and temperatures only the plainest is shown; --json has all.",
        _tests_shown("tau_given_label", "longer is better", "longer is worse"),
        _SectionLayout(TableName.LENGTH, levels=_BY_METRIC, plainest=True),
    ),
    "justification_language": _SectionText(
        "Does the judge justify its scores in the language that it was asked to use? JSON and quotations do not count, nor do "
        "justifications shorter than 20 letters.",
        _range("in_asked_language", "In the language asked"),
        _SectionLayout(TableName.JUSTIFICATION_LANGUAGE, ("asked_language",)),
    ),
}
