"""The files for people: the labels of a data set as a table, or its items to be labelled, as a sheet or a Label Studio project; reads a
filled sheet.

Each task has a worksheet with one row for each item: its texts, a drop-down list for each metric, and a cell for a comment. The sheet is
blind: it shows no system, judge, label, group or note. Item ids are only in a hidden sheet that spreadsheet programs do not offer to
show. Rows have a key instead, so that sorting them does no harm. The hidden second row names the columns for the program.
"""

from __future__ import annotations

import hashlib
import io
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import msgspec

from harness.content import Library
from harness.content.lexicons import FALLBACK
from harness.content.specs import Interface, Rubric
from harness.content.tags import choose_from, english_name, likely_script
from harness.csv_formulas import looks_like_formula
from harness.data.dataset import Dataset
from harness.errors import ContentError, UsageError
from harness.exchange.labels.cell_scores import Unreadable, is_blank
from harness.exchange.labels.label_studio import interface, task_rows
from harness.exchange.labels.labelling_tasks import Selection, TaskSection, make_sections, rubric_in, section_in, selected_items
from harness.exchange.labels.source_table import Record, SourceTable, columns_of
from harness.exchange.labels.spreadsheets import grid, open_book
from harness.model import Item, Scale
from harness.offensive_texts import refuse_in_repository
from harness.row_files import escape_controls, to_csv, to_json, to_jsonl, write_atomic, write_parquet, write_together
from harness.text import without_controls

SCHEMA_VERSION = 1
MAX_CELL = 32_767  # characters (UTF-16 units) that a cell of a workbook can hold
MARKER = "_harness"
NAME_CELL, PROGRESS_CELL, NAMES_ROW, _TITLES_ROW, FIRST_ROW = "D1", "F1", 2, 3, 4
_LINE_HEIGHT, _MAX_HEIGHT = 15, 409  # points of a line and of the highest row that a workbook can have
_WIDTHS = {"number": 5, "key": 2, "language": 14, "comment": 30}
# Not allowed in XML 1.0: control characters except tab, line feed and carriage return; surrogates; two non-characters.
_UNWRITABLE = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\ud800-\udfff\ufffe\uffff]")
_RIGHT_TO_LEFT = {"Adlm", "Arab", "Aran", "Hebr", "Mand", "Nkoo", "Rohg", "Samr", "Syrc", "Thaa", "Yezi"}


def right_to_left(language: str) -> bool:
    """Return whether a language is written from right to left.

    >>> right_to_left("ar"), right_to_left("ja")
    (True, False)
    """
    return likely_script(language) in _RIGHT_TO_LEFT


def make_sheet(
    sections: Sequence[TaskSection], scales: Mapping[str, Scale], rubrics: Mapping[str, Rubric], annotator: str, interface: Interface
) -> Any:
    """Make the workbook; sections, rubrics and `interface` are in the reader's words.

    Raises UsageError with the name of the item if a text is too long for a cell.
    """
    import openpyxl  # late: 0.2 s

    book = openpyxl.Workbook()
    book.remove(book.active)
    hidden_sheet = _HiddenSheet(book, scales)
    sections = [section._replace(title=task_title(section, interface)) for section in sections]
    names = [_Worksheet(book, section, rubrics, interface.strings).write(annotator, hidden_sheet) for section in sections]
    # Write the guide, and return the name of its sheet.
    from openpyxl.styles import Alignment, Font

    sheet = book.create_sheet(_make_title(interface.strings["sheet_title"], book.sheetnames))
    sheet.column_dimensions["A"].width, sheet.column_dimensions["B"].width = 24, 110
    for row, (heading, right, bold) in enumerate(_write_guide_rows(sections, scales, rubrics, interface), start=1):
        for column, text in (("A", heading), ("B", right)):
            cell = sheet[f"{column}{row}"]
            _write(cell, text)
            cell.alignment, cell.font = Alignment(wrap_text=True, vertical="top"), Font(bold=bold or column == "A")
    _protect(sheet)
    guide = str(sheet.title)
    hidden_sheet.finish(sections, names)
    book.move_sheet(MARKER, offset=len(book.sheetnames))
    book.move_sheet(guide, offset=1 - book.sheetnames.index(guide))
    book.active = 0
    return book


class _HiddenSheet:
    """The hidden sheet: what the workbook is, the classes of its drop-down lists, and the item of each row."""

    def __init__(self, book: Any, scales: Mapping[str, Scale]) -> None:
        self.sheet = book.create_sheet(MARKER)
        self.sheet.sheet_state = "veryHidden"
        self.scales = scales
        self._row = 3
        self._lists: dict[str, str] = {}

    def add(self, item: Item) -> str:
        """Add an item, and return the key of its row."""
        key = hashlib.sha256(item.item_id.encode()).hexdigest()[:12]
        for column, text in enumerate((key, item.item_id, item.language, item.task), start=1):
            _write(self.sheet.cell(self._row, column), text)
        self._row += 1
        return key

    def classes(self, metric: str) -> str:
        """The range of cells with the classes of a metric. Unlike a list inside the drop-down, it may have any length and content."""
        if metric not in self._lists:
            column = 7 + len(self._lists)
            points = self.scales[metric].classes
            for row, point in enumerate(points, start=3):
                _write(self.sheet.cell(row, column), point)
            letter = self.sheet.cell(1, column).column_letter
            self._lists[metric] = f"{MARKER}!${letter}$3:${letter}${2 + len(points)}"
        return self._lists[metric]

    def finish(self, sections: Sequence[TaskSection], names: Sequence[str]) -> None:
        self.sheet["A1"] = "judge-harness sheet"
        self.sheet["B1"] = SCHEMA_VERSION
        metrics = dict.fromkeys(metric for section in sections for metric in section.metrics)
        about = {"sheets": names, "scales": {metric: self.scales[metric] for metric in metrics}}
        _write(self.sheet["A2"], msgspec.json.encode(about).decode())


class _Worksheet:
    """The worksheet of a section: `titles` and `letters` of its columns by their names for the program, which may begin with their kind.

    The scores stand before the texts: these columns are frozen, so that a score can be chosen at every place of a long text.
    """

    def __init__(self, book: Any, section: TaskSection, rubrics: Mapping[str, Rubric], words: Mapping[str, str]) -> None:
        from openpyxl.styles import PatternFill

        self.section, self.words = section, words
        self.answers = PatternFill("solid", fgColor="FFF8DC")  # of cells that people fill in
        self.sheet = book.create_sheet(_make_title(section.title, book.sheetnames))
        self.languages = list(dict.fromkeys(item.language for item in section.items))
        self.titles = {
            "number": words["sheet_number"],
            "key": words["sheet_key"],
            **({"language": words["sheet_language"]} if len(self.languages) > 1 else {}),
            **{f"metric:{name}": title_of(name, rubrics) for name in section.metrics},
            **{f"text:{name}": title for name, title in section.fields.items()},
            "comment": words["comment"],
        }
        self.letters = {name: self.sheet.cell(1, number).column_letter for number, name in enumerate(self.titles, start=1)}
        self.texts = {name.removeprefix("text:"): letter for name, letter in self.letters.items() if name.startswith("text:")}
        self.metrics = {name.removeprefix("metric:"): letter for name, letter in self.letters.items() if name.startswith("metric:")}
        self.last_row = FIRST_ROW + len(section.items) - 1

    def write(self, annotator: str, hidden_sheet: _HiddenSheet) -> str:
        """Fill the worksheet in, and return its name."""
        from openpyxl.styles import Alignment, Protection

        sheet = self.sheet
        sheet.sheet_view.rightToLeft = all(map(right_to_left, self.languages))
        self._write_head(annotator)
        for row, item in enumerate(self.section.items, start=FIRST_ROW):
            key = hidden_sheet.add(item)
            for number, name in enumerate(self.titles, start=1):
                cell, (kind, _, field) = self.sheet.cell(row, number), name.partition(":")
                _write(cell, _make_content(name, item, key, row - FIRST_ROW + 1), f"item '{item.item_id}', '{field}'")
                direction = 2 if kind == "text" and right_to_left(item.language_of(field)) else 0
                cell.alignment = Alignment(wrap_text=True, vertical="top", readingOrder=direction)
                if kind in ("metric", "comment"):
                    cell.protection, cell.fill = Protection(locked=False), self.answers
        # Widths in which texts can be read: wider for longer ones, as a row can be only so high.
        for name, letter in self.letters.items():
            self.sheet.column_dimensions[letter].width = _WIDTHS.get(name, 13)
        self.sheet.column_dimensions[self.letters["key"]].hidden = True
        for name, letter in self.texts.items():
            longest = max((_measure_width(str(item.fields.get(name) or "")) for item in self.section.items), default=0)
            width = next(width for limit, width in ((40, 20), (600, 50), (1800, 80), (10**9, 110)) if longest <= limit)
            self.sheet.column_dimensions[letter].width = width
        # Heights in which the longest text of a row is seen whole, as far as a row can be so high.
        rooms = {letter: max(1, int(self.sheet.column_dimensions[letter].width) - 2) for letter in self.texts.values()}
        for row in range(FIRST_ROW, self.last_row + 1):
            lines = 1
            for letter, room in rooms.items():
                cell_lines = str(self.sheet[f"{letter}{row}"].value or "").split("\n")
                lines = max(lines, sum(-(-max(1, _measure_width(line)) // room) for line in cell_lines))
            self.sheet.row_dimensions[row].height = min(_MAX_HEIGHT, _LINE_HEIGHT * lines + 4)
        if self.section.items:
            # A formula at the top: how many scores are chosen, of all; its words have places for `{done}` and `{total}`.
            if letters := list(self.metrics.values()):
                total = f"{len(letters) * len(self.section.items):,}"
                before, after = self.words["progress"].replace("{total}", total).replace('"', "'").split("{done}")
                chosen = f"COUNTA({letters[0]}{FIRST_ROW}:{letters[-1]}{self.last_row})"
                self.sheet[PROGRESS_CELL].value = f'="{before}"&{chosen}&"{after}"'
            from openpyxl.worksheet.datavalidation import DataValidation

            for metric, letter in self.metrics.items():
                scale = hidden_sheet.scales[metric]
                if scale.kind == "interval":
                    low, high = (-1e9 if scale.min is None else scale.min), (1e9 if scale.max is None else scale.max)
                    rule = DataValidation(type="decimal", operator="between", formula1=f"{low:g}", formula2=f"{high:g}", allow_blank=True)
                else:
                    rule = DataValidation(type="list", formula1=f"={hidden_sheet.classes(metric)}", allow_blank=True)
                rule.showErrorMessage, rule.errorTitle, rule.error = True, self.words["sheet_off_scale"], scale.describe()[:250]
                rule.add(f"{letter}{FIRST_ROW}:{letter}{self.last_row}")
                self.sheet.add_data_validation(rule)
        # On paper: as wide as the page, in landscape, with the headings on every page.
        sheet.page_setup.orientation, sheet.page_setup.paperSize = "landscape", sheet.PAPERSIZE_A4
        sheet.page_setup.fitToWidth, sheet.page_setup.fitToHeight = 1, 0
        sheet.sheet_properties.pageSetUpPr.fitToPage = True
        sheet.print_title_rows = f"{_TITLES_ROW}:{_TITLES_ROW}"
        sheet.freeze_panes = f"{next(iter(self.texts.values()))}{FIRST_ROW}"
        _protect(sheet)
        return str(sheet.title)

    def _write_head(self, annotator: str) -> None:
        from openpyxl.styles import Alignment, Font, PatternFill, Protection

        sheet = self.sheet
        for name, letter in self.letters.items():
            _write(sheet[f"{letter}{NAMES_ROW}"], name)
            head = sheet[f"{letter}{_TITLES_ROW}"]
            _write(head, self.titles[name])
            head.font, head.fill = Font(bold=True), PatternFill("solid", fgColor="DDE6F0")
            head.alignment = Alignment(wrap_text=True, vertical="center")
        sheet.row_dimensions[NAMES_ROW].hidden, sheet.row_dimensions[_TITLES_ROW].height = True, 3 * _LINE_HEIGHT
        _write(sheet["A1"], self.words["your_code"].replace("{code}", ""))
        sheet["A1"].font = Font(bold=True)
        _write(sheet[NAME_CELL], annotator)
        sheet[NAME_CELL].protection, sheet[NAME_CELL].fill = Protection(locked=False), self.answers


def task_title(section: TaskSection, interface: Interface) -> str:
    """The title of a task in the reader's language; a task of one's own has only its own title."""
    return section.title if interface.tag == FALLBACK else interface.strings.get(f"task_{section.task}", section.title)


def title_of(metric: str, rubrics: Mapping[str, Rubric]) -> str:
    """The title of a metric for people."""
    return rubrics[metric].title if metric in rubrics else metric.replace("_", " ").capitalize()


def _make_content(name: str, item: Item, key: str, number: int) -> str | int | None:
    kind, _, field = name.partition(":")
    if kind == "text":
        value = item.fields.get(field)
        return value if isinstance(value, str) or value is None else str(value)
    computed: dict[str, str | int] = {"number": number, "key": key, "language": english_name(item.language)}
    return computed.get(name)


def _write(cell: Any, value: str | int | None, what: str = "the sheet") -> None:
    """Write a value into a cell, never as a formula, and without characters that a workbook cannot hold."""
    if isinstance(value, str):
        value = _UNWRITABLE.sub("\ufffd", value)
        if (length := len(value.encode("utf-16-le")) // 2) > MAX_CELL:
            raise UsageError(
                f"{what}: a text of {length} characters, and a cell holds {MAX_CELL}; Label Studio (--to FILE.json) holds more"
            )
    cell.value = value
    if isinstance(value, str):
        cell.data_type = "s"
        cell.quotePrefix = looks_like_formula(value)


def _make_title(title: str, taken: Sequence[str]) -> str:
    plain = re.sub(r"[\[\]:*?/\\'\x00-\x1f]", " ", title).strip()[:28] or "Texts"
    return plain if plain.casefold() not in map(str.casefold, taken) else f"{plain[:25]} {len(taken)}"


def _measure_width(text: str) -> int:
    from rich.cells import cell_len  # an East Asian letter is two columns wide

    return cell_len(text)


def _protect(sheet: Any) -> None:
    """Protect cells against mistakes: without a password, and people may change widths and heights."""
    sheet.protection.sheet = True
    sheet.protection.formatColumns = sheet.protection.formatRows = sheet.protection.formatCells = False


def _write_guide_rows(
    sections: Sequence[TaskSection], scales: Mapping[str, Scale], rubrics: Mapping[str, Rubric], interface: Interface
) -> Iterator[tuple[str, str, bool]]:
    """(left cell, right cell, heading?) of every row of the guide, in the reader's language."""
    words = interface.strings
    yield "", words["sheet_title"], True
    for number, name in enumerate(("sheet_name", "sheet_scores", "sheet_empty", "judge_alone"), start=1):
        yield str(number), words[name], False
    if interface.tag != FALLBACK and not interface.reviewed_by:
        yield "", words["unreviewed"], False
    for section in sections:
        yield "", "", False
        yield section.title, section.instruction, False
    for metric in dict.fromkeys(metric for section in sections for metric in section.metrics):
        yield "", "", False
        if (rubric := rubrics.get(metric)) is not None:
            yield rubric.title, rubric.detailed.description.strip(), False
            for criteria in rubric.detailed.criteria:
                yield str(criteria.score), "\n".join(f"• {point}" for point in criteria.points), False
        else:
            scale = scales[metric]
            best = f"; best is {scale.best:g}" if isinstance(scale.best, (int, float)) else f"; best is {scale.best}" if scale.best else ""
            yield title_of(metric, rubrics), f"{scale.describe()}{best}", False


def is_sheet(book: Any) -> bool:
    """Return whether a workbook was made by `sheet.make_sheet`."""
    return MARKER in book.sheetnames and book[MARKER]["A1"].value == "judge-harness sheet"


def read_sheet(path: Path, annotator: str | None = None) -> SourceTable:
    """Read a filled sheet in long form: one record for each item and metric, blank if no score was chosen.

    The annotator is `annotator`, or the name in the sheet. Raises ContentError when there is no name, or when needed parts of the sheet
    are missing.
    """
    book = open_book(path)
    marker = book[MARKER]
    if marker["B1"].value != SCHEMA_VERSION:
        raise ContentError(f"the sheet has version {marker['B1'].value}; this program reads version {SCHEMA_VERSION}", path)
    try:
        about = msgspec.json.decode(str(marker["A2"].value), type=_SheetInfo)
    except msgspec.DecodeError:
        raise ContentError(f"the hidden sheet '{MARKER}' was changed; export the sheet again and copy the answers over", path) from None
    item_of_key = {str(row[0]): row[1:4] for row in marker.iter_rows(min_row=3, max_col=4, values_only=True) if row[0] is not None}
    sheets = [book[name] for name in about.sheets if name in book.sheetnames]
    if not sheets:
        raise ContentError(f"the sheets with the answers were removed or renamed: {', '.join(about.sheets)}", path)
    records: list[Record] = []
    comments: list[dict[str, Any]] = []
    for sheet in sheets:
        annotator_name = annotator or _name_in(sheet) or _name_in(sheets[0])
        if not annotator_name:
            location = f"{path}:{sheet.title}!{NAME_CELL}"
            raise ContentError("the sheet has no name; write one into this cell or pass --annotator NAME", location)
        sheet_records = list(_read_records(sheet, path, item_of_key, annotator_name))
        records += sheet_records
        comments += [
            {"key": record.cells["item_id"], "annotator": annotator_name, "comment": record.cells["comment"]}
            for record in sheet_records
            if "comment" in record.cells
        ]
    if not any("score" in record.cells for record in records):
        raise ContentError("nothing is filled in yet", path)
    sheet_info = {"scales": about.scales, "comments": [*{(c["key"], c["annotator"]): c for c in comments}.values()]}
    return SourceTable("sheet", columns_of([record.cells for record in records]), records, about=sheet_info)


class _SheetInfo(msgspec.Struct):
    sheets: list[str]
    scales: dict[str, Scale]


def _name_in(sheet: Any) -> str:
    return str(sheet[NAME_CELL].value or "").strip()


def _read_records(sheet: Any, path: Path, item_of_key: Mapping[str, Any], annotator_name: str) -> Iterator[Record]:
    rows = dict(grid(sheet, path))
    names = {letter: str(name) for letter, name in rows.get(NAMES_ROW, {}).items()}
    if "key" not in names.values():
        location = f"{path}:{sheet.title}!{NAMES_ROW}"
        raise ContentError("the hidden row that names the columns was changed; export the sheet again", location)
    letters = {name: letter for letter, name in names.items()}
    for number, row in rows.items():
        if number < FIRST_ROW:
            continue
        cells = {names[letter]: value for letter, value in row.items() if letter in names}
        item_id, language, task = item_of_key.get(str(cells.get("key", "")), (None, None, None))
        about = {"language": language, "task": task, "annotator_id": annotator_name, "comment": cells.get("comment")}
        texts = {name[5:]: value for name, value in cells.items() if name.startswith("text:")}
        if item_id is None:
            item_id = Unreadable("this row does not belong to the sheet: its hidden key is missing or was changed")
        for name, letter in letters.items():
            if name.startswith("metric:"):
                values = {"item_id": item_id, **about, **texts, "metric": name[7:], "score": cells.get(name)}
                cells_with_values = {key: value for key, value in values.items() if not is_blank(value)}
                yield Record(cells_with_values, number, f"{path}:{sheet.title}!", {"score": letter})


FORMATS = ("csv", "jsonl", "parquet", "label-studio", "sheet")
_BY_SUFFIX = {".csv": "csv", ".jsonl": "jsonl", ".parquet": "parquet", ".json": "label-studio", ".xlsx": "sheet"}
_OF_ITEM = ("language", "task", "split", "group", "system")
_COLUMNS = ("item_id", *_OF_ITEM, "annotator_id", "metric", "score", "source")


class ExportSummary(NamedTuple):
    """The written files, and the numbers of items and labels (0 labels in files that people fill in)."""

    format: str
    files: tuple[Path, ...]
    items: int
    labels: int


def export_labels(
    data: Dataset, to: Path, library: Library, *, format: str | None = None, selection: Selection | None = None
) -> ExportSummary:
    """Write the labels of `data`, or its items to be labelled, to a file. Without `format`, the name of the file decides its kind.

    Raises UsageError for a selection that is empty or cannot be shown, StoreError when the file cannot be written.
    """
    kind = format or _BY_SUFFIX.get(to.suffix)
    if kind not in FORMATS:
        raise UsageError(
            f"--to {to}: unknown format; pass --format with one of {', '.join(FORMATS)}, or use a name that ends in {', '.join(_BY_SUFFIX)}"
        )
    refuse_in_repository(to, data.about)
    selected = selection or Selection()
    items = selected_items(data, selected)
    metrics = set(selected.metrics or data.scales)
    for name in metrics - data.scales.keys():
        raise UsageError(f"no metric '{name}' has a scale here.{choose_from(data.scales, name)}")
    if kind in ("sheet", "label-studio"):
        sections = make_sections(data, items, library, selected)
        if kind == "sheet":
            files = _write_sheet(to, sections, data, library, selected.annotator)
        else:
            files = _write_label_studio(to, sections, data, library)
        return ExportSummary(kind, files, sum(len(section.items) for section in sections), 0)
    items_by_id = {item.item_id: item for item in items}
    wanted_metrics = set(metrics)
    rows: list[dict[str, Any]] = []
    for label in data.labels:
        if label.metric in wanted_metrics and (item := items_by_id.get(label.item_id)):
            rows.append({name: getattr(item, name) for name in _OF_ITEM} | msgspec.structs.asdict(label))
    if not rows:
        raise UsageError("there are no labels of these languages, tasks and metrics to export")
    if kind == "csv":
        plain = [{name: without_controls(value) if isinstance(value, str) else value for name, value in row.items()} for row in rows]
        write_atomic(to, "\ufeff" + to_csv(plain, _COLUMNS), private=True)  # without this mark, Excel does not recognise UTF-8
    elif kind == "jsonl":
        lines = to_jsonl({name: row[name] for name in _COLUMNS if row[name] is not None} for row in rows)
        write_atomic(to, escape_controls(lines.decode("utf-8")), private=True)
    else:  # Parquet: scores are integers or numbers if all of them are, otherwise text
        types = {type(row["score"]) for row in rows}
        score = "int64" if types == {int} else "double" if types <= {int, float} else "string"
        typed = [{**row, "score": str(row["score"]) if score == "string" else row["score"]} for row in rows]
        write_parquet(to, typed, {name: score if name == "score" else "string" for name in _COLUMNS}, private=True)
    return ExportSummary(kind, (to,), len({row["item_id"] for row in rows}), len(rows))


def _find_rubrics(library: Library, metrics: Iterable[str]) -> dict[str, Rubric]:
    return {name: library.rubric(name) for name in metrics if name in library.rubric_files}


def _write_sheet(to: Path, sections: Sequence[TaskSection], data: Dataset, library: Library, annotator: str) -> tuple[Path, ...]:
    scales = {name: data.scales[name] for name in dict.fromkeys(metric for section in sections for metric in section.metrics)}
    languages = {item.language for section in sections for item in section.items}
    [language] = languages if len(languages) == 1 else [FALLBACK]
    rubrics = _find_rubrics(library, scales)
    if language in library.instruction_files:
        instructions = library.instructions(language)
        sections = [section_in(section, instructions) for section in sections]
        rubrics = {name: rubric_in(rubric, instructions) for name, rubric in rubrics.items()}
    book = make_sheet(sections, scales, rubrics, annotator, library.interface(language))
    out = io.BytesIO()
    book.save(out)
    write_atomic(to, out.getvalue(), private=True)
    return (to,)


def _write_label_studio(to: Path, sections: Sequence[TaskSection], data: Dataset, library: Library) -> tuple[Path, ...]:
    """Write the tasks and the labelling interface. A project has one interface, so it can hold only one of our tasks."""
    if len(sections) > 1:
        raise UsageError(f"a Label Studio project shows texts of one task; pick one with --task ({', '.join(s.task for s in sections)})")
    [section] = sections
    rubrics = _find_rubrics(library, section.metrics)
    instructions = {name: rubric.simple.instruction.strip() for name, rubric in rubrics.items()}
    questions = {name: (title_of(name, rubrics), instructions.get(name, ""), data.scales[name]) for name in section.metrics}
    interface_file = to.with_name(f"{to.stem}.xml")
    files = {to: to_json(task_rows(section.items, section.fields)), interface_file: interface(section.fields, questions)}
    write_together(files, private={to})
    return (to, interface_file)
