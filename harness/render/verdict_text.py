"""Verdicts as text: sentences, tables and a matrix; the names of judges and conditions in them; how far people agree."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

from rich.cells import cell_len

from harness.content.tags import english_name
from harness.decide.verdicts import Verdict
from harness.judges import traits_of
from harness.measure.cells import Cell
from harness.measure.options import POOLED
from harness.model import SIDE
from harness.render.fitted_table import gap_between
from harness.reports.answer.build_answer import ONLY_BASELINES, build_answer
from harness.reports.answer.judged_sides import Side, judged_sides, side_of, side_text, sides_of_verdicts
from harness.reports.answer.next_steps import LabelPages
from harness.reports.answer.parts import SIGNS, Answer, VerdictMatrix, VerdictSquare
from harness.reports.answer.verdict_words import style_of
from harness.reports.tables.columns import Row, TableName, columns_in
from harness.reports.tables.numbers import coefficient, counted
from harness.reports.tables.text_table import Heading, TextTable, key_text, tabulate, varying_keys


def languages_of(cells: Iterable[Cell]) -> list[str]:
    return list(dict.fromkeys(cell["language"] for cell in cells))


def filters_of(side: Side) -> dict[str, Any]:
    """Return the filters of a page's browser of items that show the judgments of a side."""
    return {name: value for name, value in zip(SIDE, side, strict=True) if value is not None and value != POOLED}


WEAK = 0.3
"""Two people whose rank correlation is lower order hardly two of three pairs of texts alike."""
NO_BREAK_SPACE = "\u00a0"
_PLACE = ("metric", "task", "source")
_TWO = ("human_second_pearson", "human_second_kendall_tau")
_JUDGE_NUMBERS = ("pearson", "kendall_tau")


def two_people_sentence(cells: Sequence[Cell]) -> str:
    """Pearson's r and Kendall's τ of two people, and those of the judges with people, language by language.

    Empty where other people scored no texts again, or too few for an interval. Cells of baselines, and cells that pool languages or
    metrics, do not count.
    """
    judged = [
        cell
        for cell in cells
        if cell.flat().get("human_second_pearson_ci")
        and POOLED not in (cell["language"], cell["metric"], cell["judge"])
        and not traits_of(str(cell["judge"])).is_baseline
    ]
    varying = varying_keys([cell.key for cell in judged], _PLACE)
    cells_by_metric: dict[str, list[Cell]] = {}
    for cell in judged:
        more_keys = ", ".join(key_text(name, cell.key.get(name)) for name in varying)
        name = english_name(cell["language"])
        cells_by_metric.setdefault(f"{name} ({more_keys})" if more_keys else name, []).append(cell)
    if not cells_by_metric:
        return ""
    several = len({str(cell["judge"]) for cell_list in cells_by_metric.values() for cell in cell_list}) > 1
    sentences = []
    for name, place_cells in cells_by_metric.items():
        texts = counted((place_cells[0].score_counts or {}).get("second_ratings", 0), "text")
        sentences.append(
            f"In {name} a second person scored {texts}: the two people's scores correlate by {_range(place_cells[:1], _TWO)}, "
            f"the scores of {'judges' if several else 'the judge'} and people by {_range(place_cells, _JUDGE_NUMBERS)}."
        )
    if any((place_cells[0]["human_second_kendall_tau"] or 0.0) < WEAK for place_cells in cells_by_metric.values()):
        sentences.append(f"Where people agree little, a low correlation says little against {'a' if several else 'the'} judge.")
    return " ".join(sentences)


def _range(cells: Sequence[Cell], names: Sequence[str]) -> str:
    """`r .11 to .26, τ .06 to .16`: the lowest and the highest; one number where there is one judge."""
    ranges = []
    for sign, name in zip(("r", "τ"), names, strict=True):
        numbers = sorted(cell[name] for cell in cells if cell[name] is not None)
        ends = dict.fromkeys(map(coefficient, (numbers[0], numbers[-1]) if numbers else (None,)))
        ranges.append(f"{sign}{NO_BREAK_SPACE}{' to '.join(ends)}")
    return ", ".join(ranges)


SHORT_NAMES = {"output_content_quality": "content quality", "problematic_content": "problematic"}
"""Metrics in a narrow terminal."""
_WIDE = 180
_FEW_ROWS = 12  # without a verdict, that are shown where there is nothing else
_FEW_SENTENCES = 3  # of verdicts with a condition
_BESIDE_CONSTANT = "c"
_WHY = 14  # characters of a cause at least, which may be broken
_TABLES = (TableName.VERDICTS, TableName.VERDICTS_ALONE, TableName.VERDICTS_REASONS, TableName.VERDICTS_WIDE)
_FIRST = ("language", "metric", "answer", "why", "gap", "right", "right_closeness", "n_labelled", "family_bound", "agreement", "people")


@dataclass(frozen=True)
class ScreenTable:
    """A table of verdicts for a terminal: its name (empty where there is only one), headings above its rows, and a line below it.

    `sentences` are those of certificates, of verdicts whose use has a condition.
    """

    name: str
    table: TextTable
    headings: Mapping[int, str]
    below: str = ""
    sentences: tuple[str, ...] = ()


def verdict_tables(verdicts: Sequence[Verdict], width: int = _WIDE) -> Iterator[tuple[str, TextTable]]:
    """For each judge and condition its name and its table; judges first, baselines last.

    The name is empty where there is only one. A language is named in its first row only. Columns that have no room in `width` characters
    are left out, and then long names of metrics are short.
    """
    sides = sides_of_verdicts(verdicts)
    for side in sides:
        yield side_text(side[0].key) if len(sides) > 1 else "", _table(side, width)


def screen_tables(verdicts: Sequence[Verdict], width: int = _WIDE, *, all_rows: bool = False) -> Iterator[ScreenTable]:
    """Yield what a terminal shows of verdicts below the answer.

    Of one judge the rows with a verdict, and those that more labels would settle; of several a matrix. Where there are only baselines, all
    rows of the plainest condition of each. With `all_rows` all rows of everyone.
    """
    sides = judged_sides(verdicts)
    if all_rows:
        yield from (ScreenTable(name, table, {}) for name, table in verdict_tables(verdicts, width))
    elif not sides:
        baselines = sides_of_verdicts(verdicts)
        plainest: dict[Side, Sequence[Verdict]] = {}
        for side in baselines:
            plainest.setdefault(side_of(side[0].key)[:2], side)
        omitted = len(baselines) - len(plainest)
        below = f"Shown: the plainest condition of each. --all has {counted(omitted, 'other condition')}." if omitted else ""
        for name, table in verdict_tables([verdict for side in plainest.values() for verdict in side], width):
            yield ScreenTable(name, table, {}, below)
    elif len(sides) == 1:
        [side] = sides
        decided = [verdict for style in ("good", "bad") for verdict in side if style_of(verdict) == style]
        corrected = [verdict for verdict in side if verdict.answer == "use corrected"]
        near = sorted((verdict for verdict in side if verdict.settled_by), key=lambda verdict: verdict.settled_by or 0)
        rows = [*decided, *corrected, *near] or side[:_FEW_ROWS]
        below = f"{len(side) - len(rows):,} more unknown: --all." if len(rows) < len(side) else ""
        yield ScreenTable("", _table(rows, width), {}, below, tuple(verdict.words.sentence for verdict in corrected[:_FEW_SENTENCES]))
    else:
        first, *other_matrices = build_answer(sides).matrices
        below = (
            f"Shown: asked with {first.condition}. --all has {counted(len(other_matrices), 'other condition')}." if other_matrices else ""
        )
        yield ScreenTable("", *_matrix_table(first), below)


def _matrix_table(matrix: VerdictMatrix) -> tuple[TextTable, dict[int, str]]:
    """Return a matrix as text, `✓ +9` in a cell of one verdict, and the headings above its rows."""
    headings = (Heading("row", matrix.rows_are, key=True), *(Heading(f"c{n}", column.name) for n, column in enumerate(matrix.columns)))
    rows = tuple((row.name, *("–" if square is None else square_text(square, " ") for square in row.squares)) for row in matrix.rows)
    signs = ", ".join(f"{sign} {words}" for _, sign, words in matrix.signs)
    texts = [square_text(square, " ") for row in matrix.rows for square in row.squares if square is not None]
    constant = f"; {_BESIDE_CONSTANT}: judge − constant, which decided" if any(text.endswith(_BESIDE_CONSTANT) for text in texts) else ""
    legend = (signs, f"number: {matrix.axis}, in percentage points{constant}" if matrix.axis else "number: metrics")
    groups = {number: row.group for number, row in enumerate(matrix.rows) if row.group}
    return TextTable(headings, rows, legend=legend, signs=legend), groups


def square_text(square: VerdictSquare, between: str) -> str:
    """`✓ +9` of one verdict, `✗ −7c` where the difference to a constant answer decided; of several the sign and the words of each kind."""
    if square.number:
        return f"{square.parts[0][1]} {square.number}{_BESIDE_CONSTANT if square.over_constant else ''}"
    return between.join(f"{sign} {words}" for _, sign, words in square.parts)


def _table(verdicts: Sequence[Verdict], width: int) -> TextTable:
    """Rows of one judge, with the columns that have room in `width` characters without breaking a row."""
    names = {} if width >= _WIDE else SHORT_NAMES
    rows: list[Row] = []
    before = None
    for verdict in verdicts:
        row = verdict.flat() | {"metric": names.get(verdict["metric"], verdict["metric"])}
        language = verdict["language"]
        row["language"] = "" if language == before else english_name(language)
        before = language
        rows.append(row)
    table = tabulate(rows, columns_in(*_TABLES), ("language", "metric"), tables=_TABLES)
    order = [heading.name for heading in table.headings]
    widths = dict(zip(order, column_widths(table), strict=True))
    widths["why"] = min(widths.get("why", 0), _WHY)
    fitting: list[str] = []
    gap = gap_between(width)
    taken = -gap
    for name in sorted(order, key=lambda name: _FIRST.index(name) if name in _FIRST else len(_FIRST) + order.index(name)):
        if taken + gap + widths[name] <= width or len(fitting) < 3:
            fitting.append(name)
            taken += gap + widths[name]
    if len(fitting) == len(order):
        return table
    columns = [column for column in columns_in(*_TABLES) if column.name in fitting]
    absent = tuple(heading.text for heading in table.headings if heading.name not in fitting)
    return replace(tabulate(rows, columns, ("language", "metric"), tables=_TABLES), absent=absent)


def column_widths(table: TextTable) -> list[int]:
    """Return the widths in which no text of a column is broken: the longest, or the longest word of the heading."""
    columns = zip(*table.rows, strict=True) if table.rows else ((),) * len(table.headings)
    return [max(map(cell_len, (*texts, *head.text.split()))) for head, texts in zip(table.headings, columns, strict=True)]


class AnswerLine(NamedTuple):
    """One line of an answer. Styles are `title`, `seen`, `good`, `bad`, `open`, `next` and `note`; a next step may have a `command`."""

    style: str
    sentence: str
    full_text: str
    command: str = ""


def answer_lines(verdicts: Sequence[Verdict], pages: LabelPages = LabelPages()) -> Iterator[AnswerLine]:
    """Yield the answer of verdicts in lines; none without a verdict. Of baselines alone it says that there is nobody to judge."""
    if sides := judged_sides(verdicts):
        yield from lines_of(build_answer(sides, pages))
    elif verdicts:
        yield AnswerLine("title", ONLY_BASELINES, ONLY_BASELINES)


def lines_of(answer: Answer) -> Iterator[AnswerLine]:
    """Yield an answer: its title, what was seen, a line for each card, how sure it is, and the first step."""
    if answer.title:
        yield AnswerLine("title", answer.title, answer.title)
    for line in answer.seen:
        yield AnswerLine("seen", line, line)
    for card in answer.cards:
        yield AnswerLine(card.style, f"{SIGNS[card.style]} {card.sentence}", f"{SIGNS[card.style]} {card.whole}")
    if answer.sure:
        yield AnswerLine("note", answer.sure, answer.sure)
    for step in [step for step in answer.steps if not step.show][:1]:
        text = f"Next: {step.text}"
        yield AnswerLine("next", text, f"{text}: {step.command}" if step.command else text, step.command)
