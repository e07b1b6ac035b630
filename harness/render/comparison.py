"""Comparisons and label checks as terminal tables: a judge beside people, cell by cell."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from rich.console import Console, Group, RenderableType
from rich.table import Table
from rich.text import Text

from harness.analyse import LABELS_BY, Cell, Comparison, LabelCheck
from harness.content.tags import autonym, english_name
from harness.render.terminal import difference, percent, shares
from harness.text import plain

_SHOWN = 8  # examples of what is wrong in a label set
_WIDTH = 200  # of what is not shown on a terminal: nothing is cut there

Column = tuple[str, Callable[[Cell], str]]


def coefficient(value: float | None, interval: tuple[float, float] | None = None) -> str:
    """A coefficient as ink: `.35 [.21 .48]`; a dash for what is undefined."""
    if value is None:
        return "–"
    text = _short(value)
    return f"{text} [{_short(interval[0])} {_short(interval[1])}]" if interval else text


def probability(value: float | None) -> str:
    """A p or q as ink: `.034`, `.21`, `<.001`; a dash for what is undefined."""
    if value is None:
        return "–"
    return "<.001" if value < 0.0005 else f"{value:.3f}"[1:] if value < 0.0995 else _short(value) if value < 0.995 else "1"


def _short(value: float) -> str:
    text = f"{round(value, 2) + 0.0:.2f}"  # no -0
    return text.replace("0.", ".", 1) if abs(value) < 1 and text not in ("1.00", "-1.00") else text


_ITEMS: tuple[Column, ...] = (
    ("n", lambda c: str(c.n_ref)),
    ("read", lambda c: str(c.n)),
    ("PA [95 %]", lambda c: percent(c["pa"], c["pa_ci"]) + (" ‡" if c.few_rare_cases and c.n_ref else "")),
    ("− baseline", lambda c: difference(c.vs_baseline["diff"], c.vs_baseline["ci"])),
    ("q", lambda c: probability(c.vs_baseline["q"])),
    ("judge–person", lambda c: percent(c["pa_pairwise"])),
    ("person–person", lambda c: percent(c["human_pa"])),
    ("gap [95 %]", lambda c: difference(c["pairwise_gap"], c["pairwise_gap_ci"])),
    ("κ [95 %]", lambda c: coefficient(c["cohen_kappa"], c["cohen_kappa_ci"])),
    ("people's κ", lambda c: coefficient(c["human_fleiss"])),
    ("α", lambda c: coefficient(c["alpha_ordinal"] if c["alpha_ordinal"] is not None else c["alpha_nominal"])),
    ("τ", lambda c: coefficient(c["kendall_tau"])),
    ("leniency [95 %]", lambda c: coefficient(c["leniency"], c["leniency_ci"])),
)
_VERSUS: tuple[Column, ...] = (
    ("− other [95 %]", lambda c: difference(c.versus["diff"], c.versus["ci"]) if c.versus else ""),
    ("q of it", lambda c: probability(c.versus["q"]) if c.versus else ""),
)
_SYSTEMS: tuple[Column, ...] = (
    ("systems", lambda c: str(c.n)),
    ("texts", lambda c: str(c.groups)),
    ("Kendall τ [95 %]", lambda c: coefficient(c["kendall_tau"], c["kendall_tau_ci"])),
    ("Spearman ρ [95 %]", lambda c: coefficient(c["spearman"], c["spearman_ci"])),
    ("Pearson r [95 %]", lambda c: coefficient(c["pearson"], c["pearson_ci"])),
)
COUNTS = ("n", "read", "q", "systems", "texts")
_NOTES = (
    "PA: share of the answers read that equal the annotators' aggregate. − baseline: PA with failures counted as wrong, minus that of the",
    "best constant (in runs, of what the development items say), in percentage points; q: its p corrected over all rows. judge–person,",
    "person–person: mean pairwise agreement on the same items, and their difference (gap): these may be compared, PA and person–person may",
    "not. κ: judge and aggregate (Cohen); people's κ: annotators among themselves (Fleiss). α: judge and aggregate (Krippendorff, ordinal",
    "where the scale is). τ: with the annotators' mean. leniency: judge minus people in points of the scale, + toward the best.",
    "‡ a class is expected in fewer than 15 items: intervals may be too narrow. – undefined (--json gives the reason).",
)
_SYSTEM_NOTES = (
    "Correlations of the systems' mean scores, by the judge and by people; intervals resample texts and keep the systems.",
    "– undefined (--json gives the reason).",
)


_LABEL_NOTES = (
    "\nraters: how many items have how many labels. no majority: items without a unique commonest label. person–person: mean pairwise "
    "agreement.\nκ Fleiss, α Krippendorff (ordinal where the scale is), AC1 Gwet. – undefined (--json gives the reason)."
)


def render_comparison(found: Comparison, *, distributions: bool = False) -> RenderableType:
    """All cells, language by language; with the class distributions by agreement below, if asked for."""
    columns = columns_of(found)
    parts: list[RenderableType] = []
    for language in dict.fromkeys(cell.key["language"] for cell in found.cells):
        cells = [cell for cell in found.cells if cell.key["language"] == language]
        parts += [_heading(language), _table(cells, columns, found.cells)]
        if distributions:
            parts += [Text(""), *_by_agreement(cells, found.cells)]
    parts.append(Text("\n" + "\n".join((*legend(found), *map(plain, found.notes))), style="dim"))
    return Group(*parts)


def columns_of(found: Comparison) -> tuple[Column, ...]:
    """The columns of a comparison that say something of any cell."""
    every = _SYSTEMS if found.level == "system" else _ITEMS + (_VERSUS if any(cell.versus for cell in found.cells) else ())
    return tuple((name, show) for name, show in every if any(show(cell) not in ("", "–") for cell in found.cells))


def legend(found: Comparison) -> tuple[str, ...]:
    """What the columns mean, in lines that fit a terminal."""
    return _SYSTEM_NOTES if found.level == "system" else _NOTES


def _heading(language: Any) -> Text:
    known = isinstance(language, str) and language != "*"
    name = f"{english_name(language)} · {autonym(language)} ({language})" if known else "All languages"
    return Text(f"\n{plain(name)}", style="bold cyan")


def _table(cells: Sequence[Cell], columns: Sequence[Column], every: Sequence[Cell]) -> Table:
    """A row a cell."""
    keys = telling([cell.key for cell in every])
    table = Table(box=None, pad_edge=False, header_style="bold", padding=(0, 2, 0, 0))
    for name in keys:
        table.add_column(name, overflow="fold")
    for name, _ in columns:
        table.add_column(name, justify="right" if name in COUNTS else "left", overflow="fold")
    for cell in cells:
        table.add_row(*(Text(key_text(cell.key[name])) for name in keys), *(Text(show(cell)) for _, show in columns))
    return table


def telling(keys: Sequence[Mapping[str, Any]]) -> list[str]:
    """Keys that tell cells apart, other than the language; the metric always."""
    return [name for name in keys[0] if name != "language" and (name == "metric" or len({key[name] for key in keys}) > 1)] if keys else []


def key_text(value: Any) -> str:
    """A key as people read it: the temperature 0.0 is `0`, no value a dash."""
    return plain(f"{value:g}" if isinstance(value, float) else "–" if value is None else str(value))


def _by_agreement(cells: Sequence[Cell], every: Sequence[Cell]) -> Iterable[RenderableType]:
    """Class shares of people and judge where three annotators agree fully, partly, not at all."""
    keys = telling([cell.key for cell in every])
    table = Table(
        box=None, pad_edge=False, header_style="bold", padding=(0, 2, 0, 0), title="class shares by agreement", title_justify="left"
    )
    for name in (*keys, "agreement", "items", "people", "judge"):
        table.add_column(name, justify="right" if name == "items" else "left", overflow="fold")
    for cell in cells:
        for level, of in (cell.distribution_by_agreement or {}).items():
            row = (level, str(of["items"]), shares(of["labels"]), shares(of["judge"]))
            table.add_row(*(Text(key_text(cell.key[name])) for name in keys), *map(Text, row))
    return [table]


def render_label_check(found: LabelCheck) -> RenderableType:
    """Cells language by language, then what deserves a look."""
    parts: list[RenderableType] = []
    for language in dict.fromkeys(cell["language"] for cell in found.cells):
        parts += [_heading(language), _label_table([cell for cell in found.cells if cell["language"] == language], found.cells)]
    lines = [*_people(found), *_texts(found), *(f"note: {note}" for note in found.notes)]
    parts.append(Text("\n" + "\n".join(map(plain, lines))))
    parts.append(Text(_LABEL_NOTES, style="dim"))
    return Group(*parts)


def _label_table(cells: Sequence[Mapping[str, Any]], every: Sequence[Mapping[str, Any]]) -> Table:
    own = [name for name in cells[0] if name in LABELS_BY or (name not in _NOT_KEYS and not name.startswith(("human_", "mean_", "sd_")))]
    keys = [name for name in own if name != "language" and (name == "metric" or len({str(cell[name]) for cell in every}) > 1)]
    table = Table(box=None, pad_edge=False, header_style="bold", padding=(0, 2, 0, 0))
    for name in (*keys, "items", "raters", "no majority", "person–person [95 %]", "κ [95 %]", "α", "AC1", "label shares"):
        table.add_column(name, overflow="fold")
    for cell in cells:
        alpha = cell["human_alpha_ordinal"] if cell["human_alpha_ordinal"] is not None else cell["human_alpha_nominal"]
        table.add_row(
            *(Text(key_text(cell[name])) for name in keys),
            str(cell["labelled"]) + (f" of {cell['items']}" if cell["labelled"] < cell["items"] else ""),
            ", ".join(f"{times}×{n}" for n, times in cell["raters"].items()),
            str(cell["no_majority"]),
            percent(cell["human_pa"], cell["human_pa_ci"]),
            coefficient(cell["human_fleiss"], cell["human_fleiss_ci"]),
            coefficient(alpha),
            coefficient(cell["human_ac1"]),
            Text(shares(cell["distribution_labels"])),
        )
    return table


_NOT_KEYS = {"items", "labelled", "coverage", "labels", "raters", "annotators", "no_majority", "groups", "few_rare_cases"} | {
    "distribution_labels",
    "pairs",
    "undefined",
}


def _people(found: LabelCheck) -> Iterable[str]:
    for each in found.flagged[:_SHOWN]:
        yield f"annotator {each['annotator']} {each['why']}: {each['language']}, {each['metric']}, {each['n']} items"
    yield from _more(len(found.flagged), "annotators")


def _texts(found: LabelCheck) -> Iterable[str]:
    for ids in found.duplicates[:_SHOWN]:
        yield f"the same text: {', '.join(ids)}"
    yield from _more(len(found.duplicates), "repeated texts")
    for text in found.misplaced[:_SHOWN]:
        yield f"{text.item_id}: says {text.stated}, looks like {text.found}"
    yield from _more(len(found.misplaced), "texts in another language")
    yield f"{len(found.misplaced)} of {found.texts_identified} texts look like another language than they say"
    if found.languages_unknown:
        yield f"not looked at, as the identifier does not know them: {', '.join(found.languages_unknown)}"


def _more(count: int, what: str) -> Iterable[str]:
    if count > _SHOWN:
        yield f"… and {count - _SHOWN} more {what} (--json has all)"


def show(found: RenderableType, signature: str, console: Console | None = None) -> None:
    """Print to stdout; a pipe gets a generous width instead of cut columns. The signature is one line, to be pasted whole."""
    console = console or Console()
    if not console.is_terminal:
        console = Console(width=_WIDTH)
    console.print(found)
    console.print(Text(f"signature  {plain(signature)}", style="dim"), soft_wrap=True)
