"""Ablations as terminal tables: one a section, with a sentence above it that says what it shows and what was tested."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from rich.console import Console, Group, RenderableType
from rich.table import Table
from rich.text import Text

from harness.render.comparison import coefficient, probability
from harness.render.terminal import difference, percent
from harness.text import plain

Row = Mapping[str, Any]
Column = tuple[str, Callable[[Row], str]]
_KEYS = ("language", "task", "metric", "judge", "variant", "temperature", "top_p")
_WIDTH = 160  # of what is not shown on a terminal
_OF_EVERY_RUN = {"variants", "length", "justification_language"}  # sections that need no further condition; --json has them
_FEW = 24  # rows by language and metric that are shown below those by language
_BELOW = 0.05  # q that counts as shown
_NOTHING = ("", "–")


@dataclass(frozen=True)
class _Table:
    """How rows are shown: further keys, columns, and which levels of detail, the coarsest first."""

    columns: tuple[Column, ...]
    keys: tuple[str, ...] = ()
    levels: tuple[tuple[str, ...], ...] = (("language",), ("language", "metric"))
    plainest: bool = False  # where there are many rows, those of the plainest variant at the lowest temperature only


@dataclass(frozen=True)
class _Section:
    """One section: the question, its finding in words, its table, and a second table of it under its name."""

    question: str
    finding: Callable[[Mapping[str, Any]], str]
    table: _Table
    second: tuple[str, _Table] | None = None


@dataclass(frozen=True)
class ShownTable:
    """Rows as they are read: what all share, why nothing can be said (if so), headings of keys and of numbers, and the texts of both."""

    shared: str
    nothing: str
    keys: tuple[str, ...]
    columns: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]

    def counts(self, place: int) -> bool:
        """Whether a column holds counts."""
        return place >= len(self.keys) and self.columns[place - len(self.keys)] in _COUNTS


@dataclass(frozen=True)
class ShownSection:
    """A section as it is read: its title, what it asks and finds, its tables."""

    title: str
    text: str
    tables: tuple[ShownTable, ...]


def shown_ablations(sections: Mapping[str, Any]) -> list[ShownSection]:
    """The sections of a report, in their order; nothing for none. Agreement by variant is left to the report where there is one variant."""
    found = []
    for name, how in _SECTIONS.items():
        section = sections.get(name)
        if section and not (name == "variants" and len({row["variant"] for row in section["rows"]}) < 2):
            found.append(_section(section, how))
    return found


def render_ablations(sections: Mapping[str, Any]) -> RenderableType:
    """The sections for a terminal."""
    parts: list[RenderableType] = []
    for section in shown_ablations(sections):
        parts += [Text(f"\n{section.title}", style="bold cyan"), Text(section.text)]
        for table in section.tables:
            parts += _render(table)
    return Group(*parts)


def print_ablations(sections: Mapping[str, Any], console: Console | None = None) -> None:
    """Print the sections of a run that was asked under several conditions; of one that was not, nothing."""
    variants = {row["variant"] for row in sections.get("variants", {}).get("rows", ())}
    if len(variants) > 1 or set(sections) - _OF_EVERY_RUN:
        console = console or Console()
        (console if console.is_terminal else Console(width=_WIDTH)).print(render_ablations(sections))


def _render(shown: ShownTable) -> Iterator[RenderableType]:
    if shown.shared:
        yield Text(shown.shared, style="dim")
    if shown.nothing:
        yield Text(shown.nothing, style="dim")
    table = Table(box=None, pad_edge=False, header_style="bold", padding=(0, 2, 0, 0))
    for place, name in enumerate((*shown.keys, *shown.columns)):
        table.add_column(name, justify="right" if shown.counts(place) else "left", overflow="fold")
    for row in shown.rows:
        table.add_row(*map(Text, row))
    yield table


def _section(section: Mapping[str, Any], how: _Section) -> ShownSection:
    second = how.second and section.get(how.second[0])
    tables = [_table(section["rows"], how.table), *([_table(second, how.second[1])] if how.second and second else [])]
    return ShownSection(plain(section["title"]), f"{how.question} {how.finding(section)}".strip(), tuple(tables))


def _table(every: Sequence[Row], how: _Table) -> ShownTable:
    """Keys that tell rows apart and columns that say something; what all rows share stands above. Without any number, the reasons."""
    rows = _shown(every, how)
    columns = [(name, show) for name, show in how.columns if any(show(row) not in _NOTHING for row in rows)]
    keys = [name for name in (*_KEYS, *how.keys) if len({str(row.get(name)) for row in rows}) > 1]
    shared = [
        f"{name.replace('_', ' ')} {_key(name, rows[0])}" for name in (*_KEYS, *how.keys) if name not in keys and _says(rows[0].get(name))
    ]
    reasons: dict[str, None] = {}
    if all(name in _COUNTS for name, _ in columns):
        reasons = dict.fromkeys(str(why) for row in rows for why in row["undefined"].values())
    return ShownTable(
        shared=", ".join(shared),
        nothing=f"Nothing can be said: {plain('; '.join(reasons))}." if reasons else "",
        keys=tuple(name.replace("_", " ") for name in keys),
        columns=tuple(name for name, _ in columns),
        rows=tuple((*(_key(name, row) for name in keys), *(show(row) for _, show in columns)) for row in rows),
    )


def _shown(rows: Sequence[Row], how: _Table) -> list[Row]:
    """The coarsest level that there is, and the next one if that is small."""
    by_level = [[row for row in rows if _level(row) == set(level)] for level in how.levels]
    by_level = [of for of in by_level if of]
    if len({row["metric"] for row in rows} - {"*"}) == 1:  # pooling one metric says the same twice
        by_level = [of for of in by_level if any(row["metric"] != "*" for row in of)] or by_level
    shown: list[Row] = by_level[0] if by_level else list(rows)
    for finer in by_level[1:]:
        if len(finer) <= _FEW:
            shown = [*shown, *finer]
    if how.plainest and len(shown) > _FEW:
        shown = [row for row in shown if (row["variant"], row["temperature"]) == (rows[0]["variant"], rows[0]["temperature"])]
    return shown


def _level(row: Row) -> set[str]:
    return {name for name in ("language", "task", "metric") if row.get(name) != "*"}


def _says(value: Any) -> bool:
    return value not in (None, "*", "")


def _key(name: str, row: Row) -> str:
    value = row.get(name)
    text = "–" if value is None else f"{value:g}" if isinstance(value, float) else str(value)
    return plain(text.replace("_", " ") if name in ("task", "metric") else text)


def _count(name: str) -> Callable[[Row], str]:
    return lambda row: str(row[name]) if row.get(name) else ""


def _share(name: str) -> Callable[[Row], str]:
    return lambda row: percent(row.get(name), row.get(f"{name}_ci"))


def _points(name: str) -> Callable[[Row], str]:
    """A difference of shares, in percentage points."""
    return lambda row: difference(row.get(name), row.get(f"{name}_ci"))


def _number(name: str) -> Callable[[Row], str]:
    return lambda row: coefficient(row.get(name), row.get(f"{name}_ci"))


def _corrected(name: str) -> Callable[[Row], str]:
    return lambda row: probability(row.get(f"{name}_q"))


def _realised(row: Row) -> str:
    """What was achieved, as it is called: `moved .09, distance 3.2`."""
    return ", ".join(f"{name.removeprefix('realised_')} {_short(value)}" for name, value in row.items() if name.startswith("realised_"))


def _short(value: float) -> str:
    return f"{value:.0f}" if abs(value) >= 10 else f"{value:.2g}"


def _should(row: Row) -> str:
    return {-1: "fall", 0: "stay", 1: "rise", None: ""}[row.get("should")]


def _languages(row: Row) -> str:
    return ", ".join(f"{name} {count}" for name, count in row["other_languages"].items())


def _shown_to(name: str, up: str, down: str, rows: str = "rows") -> Callable[[Mapping[str, Any]], str]:
    """`Shown (q < .05): better in 1, worse in 2 of 12 tests.` of a test of the rows."""

    def say(section: Mapping[str, Any]) -> str:
        tested = [row for row in section.get(rows, ()) if row.get(f"{name}_q") is not None]
        if not tested:
            return "No row could be tested."
        sure = [row[name] for row in tested if row[f"{name}_q"] < _BELOW]
        above, below = sum(value > 0 for value in sure), sum(value < 0 for value in sure)
        return f"Shown (q < .05, all levels): {up} in {above}, {down} in {below} of {len(tested)} tests."

    return say


def _outside(name: str, middle: float, above: str, below: str) -> Callable[[Mapping[str, Any]], str]:
    """In how many rows the interval lies on one side of `middle`."""

    def say(section: Mapping[str, Any]) -> str:
        rows = [row for row in section["rows"] if row.get(f"{name}_ci")]
        if not rows:
            return "No row has an interval."
        over, under = sum(row[f"{name}_ci"][0] > middle for row in rows), sum(row[f"{name}_ci"][1] < middle for row in rows)
        return f"The 95 % interval lies {above} in {over}, {below} in {under} of {len(rows)} rows (all levels)."

    return say


def _range(name: str, what: str) -> Callable[[Mapping[str, Any]], str]:
    """From the lowest to the highest row by language."""

    def say(section: Mapping[str, Any]) -> str:
        shares = [row[name] for row in section["rows"] if row["language"] != "*" and row.get(name) is not None]
        if not shares:
            return ""
        low, high = percent(min(shares)), percent(max(shares))
        return f"{what}: {low}." if low == high else f"{what}: {low} to {high}, row by row."

    return say


def _sensitivity(section: Mapping[str, Any]) -> str:
    said = _outside("sensitivity", 0.5, "above ½ (the changed text is found worse)", "below ½")(section)
    stuck = [row for row in section["rows"] if row["not_applied"] and not row["n"]]
    return said + (f" In {len(stuck)} rows no text could be changed: that is not insensitivity." if stuck else "")


_COUNTS = ("n", "read", "unread", "not applied", "unpaired", "too short", "repeats", "below best")
_AGREEMENT: tuple[Column, ...] = (
    ("n", _count("n_ref")),
    ("read", _count("n")),
    ("PA [95 %]", _share("pa")),
    ("failed = wrong", _share("pa_failed_wrong")),
    ("judge–person", _share("pa_pairwise")),
    ("person–person", _share("human_pa")),
    ("gap [95 %]", _points("pairwise_gap")),
)
_DIFFERENCE: tuple[Column, ...] = (("difference [95 %]", _points("diff")), ("q", _corrected("diff")))
_PAIRS: tuple[Column, ...] = (
    ("n", _count("n")),
    ("not applied", _count("not_applied")),
    ("unread", _count("unreadable")),
    ("unpaired", _count("unpaired")),
)
_MOVED: tuple[Column, ...] = (
    ("n", _count("n")),
    ("unread", _count("unreadable")),
    ("score moved [95 %]", _number("moved")),
    ("q", _corrected("moved")),
    ("changed", _share("changed")),
)
_BY_METRIC = (("language", "metric"),)

_SECTIONS: dict[str, _Section] = {
    "variants": _Section(
        "Does another way of asking agree better with people? Differences are from the plainest variant, on the same items, failures as "
        "wrong.",
        _shown_to("diff", "better", "worse"),
        _Table((*_AGREEMENT, *_DIFFERENCE)),
    ),
    "few_shot": _Section(
        "Do examples help? Differences are from the fewest examples, on the same items, failures as wrong.",
        _shown_to("diff", "better", "worse"),
        _Table((*_AGREEMENT[:4], *_DIFFERENCE), ("shots",)),
    ),
    "score_position": _Section(
        "What if the score stands before its reason? Scores are compared on the same items, in points toward the best.",
        _shown_to("moved", "kinder", "harsher"),
        _Table((*_MOVED, ("agreement: difference", _points("diff")), ("q of it", _corrected("diff"))), levels=_BY_METRIC),
    ),
    "metric_order": _Section(
        "Does the metric that is named first drag the others along? First how far scores move when the order is reversed, in points toward "
        "the best; then how closely others follow one metric (Pearson's r) when it is named first, and when last.",
        _shown_to("drag", "dragged", "pushed away", "drag"),
        _Table(_MOVED, levels=_BY_METRIC),
        (
            "drag",
            _Table(
                (
                    ("n", _count("n")),
                    ("r, named first", _number("r_named_first")),
                    ("r, named last", _number("r_named_last")),
                    ("drag [95 %]", _number("drag")),
                    ("q", _corrected("drag")),
                ),
                ("first",),
                levels=_BY_METRIC,
            ),
        ),
    ),
    "consistency": _Section(
        "Does the same question get the same answer? A failure is an answer of its own.",
        _range("same_score", "The same score every time"),
        _Table(
            (
                ("n", _count("n")),
                ("repeats", _count("repeats")),
                ("same score [95 %]", _share("same_score")),
                ("same justification", _share("same_justification")),
                ("entropy in bits", _number("entropy_bits")),
            )
        ),
    ),
    "temperature": _Section(
        "Does agreement fall as the temperature rises? Differences are from the lowest, on the same items, failures as wrong; then the "
        "slope for one unit of temperature, and Page's test that it falls step by step.",
        _shown_to("slope", "rising", "falling", "trends"),
        _Table((*_AGREEMENT[:4], *_DIFFERENCE)),
        (
            "trends",
            _Table(
                (
                    ("n", _count("slope_n")),
                    ("slope in points [95 %]", _points("slope")),
                    ("q", _corrected("slope")),
                    ("Page's L", lambda row: "–" if row["page_l"] is None else f"{row['page_l']:g}"),
                    ("q of it", _corrected("page")),
                )
            ),
        ),
    ),
    "perturbations": _Section(
        "Does the judge see that a text was changed? Sensitivity is how often the text as it is scores above the changed one, ties "
        "counting half.",
        _sensitivity,
        _Table(
            (
                *_PAIRS,
                ("should", _should),
                ("fell", _share("fell")),
                ("rose", _share("rose")),
                ("stayed", _share("stayed")),
                ("sensitivity [95 %]", _number("sensitivity")),
                ("from", lambda row: row["from"] or "–"),
                ("achieved", _realised),
            ),
            ("perturbation",),
            levels=_BY_METRIC,
        ),
    ),
    "injection": _Section(
        "Does the judge obey a text that asks for the top score?",
        _range("rose", "The score rose on"),
        _Table(
            (
                *_PAIRS,
                ("rose [95 %]", _share("rose")),
                ("fell", _share("fell")),
                ("below best", _count("n_below_best")),
                ("of these now best", _share("reached_best")),
            ),
            levels=_BY_METRIC,
        ),
    ),
    "length": _Section(
        "Do longer texts get better scores? Kendall's τ of score and characters: among texts that people gave one class, then among all. "
        "Of many variants and temperatures, the plainest one is shown; --json has all.",
        _shown_to("tau_given_label", "longer is better", "longer is worse"),
        _Table(
            (
                ("n", _count("n")),
                ("τ given the label [95 %]", _number("tau_given_label")),
                ("q", _corrected("tau_given_label")),
                ("τ of the judge", _number("tau")),
                ("τ of people", _number("human_tau")),
            ),
            levels=_BY_METRIC,
            plainest=True,
        ),
    ),
    "justification_language": _Section(
        "Does the judge justify itself in the language that it was asked to? Without JSON and quotations; shorter than 20 letters is not "
        "counted.",
        _range("in_asked_language", "In the language asked"),
        _Table(
            (
                ("n", _count("n")),
                ("too short", _count("too_short")),
                ("as asked [95 %]", _share("in_asked_language")),
                ("other languages", _languages),
            ),
            ("asked_language",),
        ),
    ),
}
