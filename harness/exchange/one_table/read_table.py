"""The way in for a table: it is read from a file or a frame, two are joined by an id, and its roles make a data set."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import islice, product
from pathlib import Path
from random import Random
from statistics import correlation, fmean
from typing import Any, NamedTuple

import msgspec
from rich.cells import cell_len

from harness.content.column_words import column_words
from harness.content.scale_text import parse_scale
from harness.content.specs import DatasetCard
from harness.content.tags import english_name, language_named, tag_of_cell
from harness.data.columns import CodedColumn, Columns, checked_columns
from harness.data.dataset import Dataset, assemble
from harness.data.judgments import NO_VARIANT, JudgmentRow, probabilities_text
from harness.data.labels import LabelRow
from harness.errors import ContentError, UsageError
from harness.exchange.labels.cell_scores import Unreadable, cell_score, is_blank
from harness.exchange.labels.choose_reader import KIND_BY_SUFFIX, read_source
from harness.exchange.labels.program_layouts import with_plain_names, with_scores_of_cells
from harness.exchange.labels.source_table import JUDGES_ALONE, Record, SourceTable, columns_of, flat, with_conversations
from harness.exchange.labels.spreadsheets import likely_encoding
from harness.exchange.labels.table_columns import SourceColumn, columns_of_table
from harness.exchange.labels.table_options import Role, SourceOptions, TableOptions
from harness.exchange.one_table.column_names import are_places, side_of
from harness.exchange.one_table.judge_replies import with_scores_of_replies
from harness.exchange.one_table.judges_in_rows import with_column_of_each_judge
from harness.exchange.one_table.role_state import SideColumn
from harness.exchange.one_table.roles import RoleFinder, TableRoles, find_roles, is_total
from harness.exchange.one_table.scales import ReadScale, read_scale, recoded_columns
from harness.model import Item, Scale
from harness.parse.language import UNDETERMINED, identify_language, other_language_of
from harness.text import normalised_id, one_line, person_key

TASK = "texts"
METRIC, PREFERENCE = "rating", "preference"  # of scores whose metric nothing names: on one text, and on two
_LEAST_OF_LANGUAGE = 30  # texts that look like a further language, for the table to be split by it
_SAMPLED = 2000  # texts of a large table
_NO_LANGUAGE = "zxx"  # the tag of texts without words, such as numbers or code
_SURE = 0.5  # mean probability of a language in its texts: in the published sets .66 and more where it is right, .45 and less where not
_FEW_LETTERS = 20  # nobody can tell the language of a shorter text; a Chinese character is as wide as two letters


class TableRecords(NamedTuple):
    """The data set, the scale of each metric as it was read, the languages, and what a reader should know of the reading."""

    data: Dataset
    scales: Mapping[str, ReadScale]
    languages: str
    notes: Sequence[str]


class RecordReader:
    """Reads the rows of a table by the roles of its columns."""

    def __init__(self, table: SourceTable, columns: Sequence[SourceColumn], roles: TableRoles, options: TableOptions, name: str) -> None:
        self.table, self.roles, self.options, self.name = table, roles, options, name
        self.columns = {column.name: column for column in (*columns, *roles.likeliest)}
        self.rows = len(table.records)
        self.notes: list[str] = list(roles.notes)
        self.metric_name = options.metric if options.metric and options.metric not in self.columns else METRIC
        if self.metric_name == METRIC and "output_a" in roles.texts:
            self.metric_name = PREFERENCE

    def read(self) -> TableRecords:
        """Return the data set. Raises UsageError and ContentError with the place of what cannot be read."""
        ids = self._read_ids()
        languages, seen = self._read_languages()
        items, row_of = self._make_items(ids, languages)
        scores = [score for score in self.roles.scores if self.columns[score.column].filled]
        # The columns of people's and of judges' scores by metric; of rows of scores, each part of the column by metric and side.
        by_metric: dict[str, tuple[list[SourceColumn], list[SourceColumn]]] = {}
        for score in scores:
            for metric, side, cells in self._split_by_metric(score):
                by_metric.setdefault(metric, ([], []))[side == "judge"].append(SourceColumn(score.column, cells))
        stated = self._read_stated_scales(by_metric)
        pair = "output_a" in self.roles.texts
        scales: dict[str, ReadScale] = {}
        for metric, (people, judges) in by_metric.items():
            if people and judges:
                score_columns = [self._without_names(column) for column in (*people, *judges)] if pair else [*people, *judges]
                scale = stated.get(metric) or stated.get("")
                scales[metric] = read_scale(metric, score_columns[: len(people)], score_columns[len(people) :], scale, pair=pair)
        # Note columns of one side whose scores are equal in every text: one may be a copy of the other.
        for index, first in enumerate(scores):
            for second in scores[index + 1 :]:
                if (first.side, first.metric) != (second.side, second.metric) or self.roles.rows_are_scores:
                    continue
                pairs = zip(self.columns[first.column].cells, self.columns[second.column].cells, strict=True)
                scored_pairs = [
                    (cell_score(first_score), cell_score(second_score))
                    for first_score, second_score in pairs
                    if first_score is not None and second_score is not None
                ]
                if len(scored_pairs) >= _MANY_EQUAL and all(first_score == second_score for first_score, second_score in scored_pairs):
                    names = f"'{first.column}' and '{second.column}'"
                    self.notes.append(f"{names} have the same score in all {len(scored_pairs):,} texts: one may be a copy of the other")
        probabilities = self._read_probabilities(scores, scales)
        labels, judgments = self._score_rows(scores, scales, ids, probabilities)
        raters = {score.who for score in self.roles.scores if score.side == "human"}
        about = DatasetCard(
            id=self.name,
            source=self.options.source,
            annotators="positional" if self.roles.rater is None and len(raters) > 1 and are_places(raters) else "persistent",
            sampling=self.options.sampling or "unknown",
        )
        path = Path(self.name)
        of_metrics = self.roles.rows_are_scores and self.roles.first("metric") is None
        hint = "; where rows are about several metrics, --metric COLUMN names the column that says which" if of_metrics else ""
        if repeated := list(islice(_find_repeated(labels, ("item_id", "annotator_id", "metric")), _MOST_FAULTS)):
            [location, *more] = [self.table.records[row_of[item]].place() for item, _ in repeated]
            item, metric = repeated[0]
            also = f" (also at {', '.join(more)})" if more else ""
            raise ContentError(f"one person scored '{item}' twice on '{metric}'{also}; keep one of the scores{hint}", location)
        # The number of each repeat: rows of one judge on one metric of one item follow each other.
        times: Counter[tuple[Any, ...]] = Counter()
        repeats = []
        for key in zip(judgments["item_id"], judgments["judge"], judgments["metric"], strict=True):
            repeats.append(times[key])
            times[key] += 1
        judgments |= {"variant": [NO_VARIANT] * len(repeats)} | ({"repeat": repeats} if any(repeats) else {})
        data = assemble(
            items,
            (_make_columns(labels, LabelRow, "a label", path), path),
            (_make_columns(judgments, JudgmentRow, "a judgment", path), path),
            {metric: read.scale for metric, read in scales.items()},
            about,
        )
        outputs = {TASK: tuple(name for name in ("output", "output_a", "output_b") if name in self.roles.texts)}
        return TableRecords(msgspec.structs.replace(data, outputs=outputs if outputs[TASK] else {}), scales, seen, self.notes)

    def _read_cells(self, name: str | None) -> Sequence[Any]:
        return [None] * self.rows if name is None else self.columns[name].cells

    def _read_ids(self) -> list[str]:
        """Return the id of each row's item: its id, else in a table with rows of several raters its texts, else the number of the row."""
        id_column = self.roles.first("id")
        self._refuse_totals(id_column)
        several = self.roles.rater is not None or self.roles.kind is not None
        if id_column is not None:
            ids = [normalised_id(str(cell)) if cell is not None else "" for cell in self._read_cells(id_column)]
            if not all(ids):
                location = self.table.records[ids.index("")].place(id_column)
                raise ContentError(f"no id: the cell is empty (column '{id_column}'); fill it, or take the row out", location)
            repeated = [(id_, count) for id_, count in Counter(ids).items() if count > 1]
            if several or not repeated:
                return ids
            return self._without_duplicates(id_column, ids)
        if several and self.roles.texts:
            texts = list(zip(*(self._read_cells(column) for column in self.roles.texts.values()), strict=True))
            first: dict[Any, str] = {}
            return [first.setdefault(text, str(row_number)) for row_number, text in enumerate(texts, start=1)]
        if several:
            raise UsageError("several raters score a text in rows of their own, and nothing tells the texts apart: --id COLUMN")
        return [str(number) for number in range(1, self.rows + 1)]

    def _refuse_totals(self, id_column: str | None) -> None:
        """Raise ContentError for a row of totals or means, which has no text."""
        texts = list(self.roles.texts.values())
        for name in dict.fromkeys(filter(None, (id_column, next(iter(self.columns), None), *texts))):
            other_texts = [self._read_cells(text) for text in texts if text != name]
            for row, cell in enumerate(self._read_cells(name)):
                at_end = row >= self.rows - _LAST_ROWS or name not in texts  # elsewhere, a text may be one word
                if at_end and is_total(cell) and all(cells[row] is None for cells in other_texts):
                    location = self.table.records[row].place(name)
                    raise ContentError(f"'{cell}' looks like a row of totals or means, and has no text; take it out of the table", location)
        # In any words: a last row that has scores, and alone has no text.
        columns = [self._read_cells(text) for text in texts]
        empty = [row for row in range(self.rows) if columns and all(cells[row] is None for cells in columns)]
        if empty and empty[0] >= self.rows - _LAST_ROWS and len(empty) < self.rows:
            scored = [score.column for score in self.roles.scores if self._read_cells(score.column)[empty[0]] is not None]
            if scored:
                location = self.table.records[empty[0]].place(scored[0])
                raise ContentError(
                    "this row has scores and alone has no text, as totals and means have; take it out of the table", location
                )

    def _without_duplicates(self, id_column: str, ids: list[str]) -> list[str]:
        """Return ids of which a repeated one stands in equal rows only. Raises ContentError for rows of one id that differ."""
        first: dict[str, int] = {}
        double = 0
        for index, id_ in enumerate(ids):
            earlier = first.setdefault(id_, index)
            if earlier == index:
                continue
            if any(column.cells[index] != column.cells[earlier] for column in self.columns.values()):
                location, earlier_location = (self.table.records[row].place(id_column) for row in (index, earlier))
                raise ContentError(
                    f"'{id_}' is also at {earlier_location}, with other cells: ids are unique in a table with a row a text; "
                    "--id COLUMN names another "
                    "column, and --group makes this one the group of the texts",
                    location,
                )
            double += 1
        self.notes.append(f"{double} row{'s' if double > 1 else ''} that stand{'' if double > 1 else 's'} twice in the table count once")
        return ids

    def _read_languages(self) -> tuple[list[str], str]:
        """Return the language of each row, and how it was found."""
        language_column = self.roles.first("language")
        if language_column is not None:
            cells = self._read_cells(language_column)
            tags: dict[Any, str] = {}
            for row, cell in enumerate(cells):
                if cell is None:
                    raise ContentError(
                        f"no language: the cell is empty (column '{language_column}')", self.table.records[row].place(language_column)
                    )
                if cell not in tags:
                    try:
                        tags[cell] = tag_of_cell(str(cell))
                    except UsageError as err:
                        raise ContentError(str(err), self.table.records[row].place(language_column)) from None
            used = list(dict.fromkeys(tags.values()))
            of_texts = [self._read_cells(column) for column in self.roles.texts.values()]
            for code in used:
                rows = [row for row, cell in enumerate(cells) if tags[cell] == code]
                of_code = (str(column[row]) for column in of_texts for row in rows if column[row] is not None)
                if sentence := other_language_of(code, of_code):
                    raise UsageError(f"{sentence} in the table (column '{language_column}')")
            return [tags[cell] for cell in cells], f"{', '.join(used[:6])}{', …' if len(used) > 6 else ''} ({language_column})"
        if self.options.language:
            stated_tag = language_named(self.options.language)
            if stated_tag is None:
                raise UsageError(f"--language '{self.options.language}' is neither a column of the table nor the tag of a language")
            return [stated_tag] * self.rows, stated_tag
        # What the texts look like: each text is identified, and a language counts from some texts on.
        names: list[str] = [name for name in ("output", "output_a", "output_b") if name in self.roles.texts] or list(self.roles.texts)
        if not names:
            return [UNDETERMINED] * self.rows, f"not known, as no column has texts ({UNDETERMINED}; --language TAG)"
        cells = list(zip(*(self._read_cells(self.roles.texts[name]) for name in names), strict=True))
        texts = [" ".join(str(cell) for cell in row if cell is not None) for row in cells]
        long = [text for text in texts if cell_len("".join(filter(str.isalpha, text))) >= _FEW_LETTERS]

        def is_sure(tag: str, identified: Sequence[tuple[str, float]]) -> bool:
            return tag != _NO_LANGUAGE and fmean(probability for of_text, probability in identified if of_text == tag) >= _SURE

        if len(long) > _SAMPLED:  # a language that has a tenth of the rows would show in a sample
            sample = [identify_language(text) for text in Random(0).sample(long, _SAMPLED)]
            [(main, count)] = Counter(tag for tag, _ in sample).most_common(1)
            if 20 * count > 19 * _SAMPLED and is_sure(main, sample):
                return [main] * self.rows, f"{main}, seen in the texts"
        seen = {text: identify_language(text) for text in dict.fromkeys(long)}
        if not seen:  # only short texts: together they are a long one
            seen = {(joined := " ".join(texts[:500])): identify_language(joined)}
        identified = [seen[text] for text in texts if text in seen] or list(seen.values())
        with_words = [pair for pair in identified if pair[0] != _NO_LANGUAGE]
        if not with_words:
            return [UNDETERMINED] * self.rows, f"not known, as the texts have no words of a language ({UNDETERMINED}; --language TAG)"
        counts = Counter(tag for tag, _ in with_words)
        [(main, _), *rarer] = counts.most_common()
        frequent = {main, *(tag for tag, count in rarer if count >= _LEAST_OF_LANGUAGE and 10 * count >= self.rows)}
        sure = {tag for tag in frequent if is_sure(tag, with_words)}
        if main not in sure:
            return [UNDETERMINED] * self.rows, f"not known, perhaps {english_name(main)} ({UNDETERMINED}; --language {main} if it is)"
        summary = ", ".join(f"{tag} ({counts[tag]} texts)" for tag in counts if tag in sure) if len(sure) > 1 else main
        return [seen[text][0] if text in seen and seen[text][0] in sure else main for text in texts], f"{summary}, seen in the texts"

    def _make_items(self, ids: Sequence[str], languages: Sequence[str]) -> tuple[list[Item], dict[str, int]]:
        """Return the items in the order of their first rows, and the number of the row where each begins."""
        texts = {name: self._read_cells(column) for name, column in self.roles.texts.items()}
        groups, systems = self._read_cells(self.roles.first("group")), self._read_cells(self.roles.first("system"))
        if "output_a" in self.roles.texts:
            system_columns = sorted(name for name, role in self.roles.by_column.items() if role == "system")[:2]
            texts |= {
                f"system_{letter}": self._read_cells(name)
                for letter, name in zip("ab", system_columns, strict=False)
                if len(system_columns) == 2
            }
            systems = self._read_cells(None)
        rows: dict[str, int] = {}
        items = []
        for row, id_ in enumerate(ids):
            if id_ in rows:
                continue
            rows[id_] = row
            fields = {name: str(cells[row]) for name, cells in texts.items() if cells[row] is not None}
            group, system = groups[row], systems[row]
            group = id_ if group is None else normalised_id(str(group))
            items.append(Item(id_, languages[row], TASK, group=group, system=None if system is None else str(system), fields=fields))
        for row, id_ in enumerate(ids):
            if languages[row] != languages[rows[id_]]:
                location = self.table.records[row].place()
                raise ContentError(f"'{id_}' is {languages[row]} here and {languages[rows[id_]]} before; a text has one language", location)
        return items, rows

    def _split_by_metric(self, score: SideColumn) -> Iterator[tuple[str, str, Sequence[Any]]]:
        """Yield (metric, side, cells) of a column of scores; one part, unless rows name the metric or who gave the score."""
        column = self.columns[score.column]
        metrics = self._read_cells(self.roles.first("metric")) if self.roles.rows_are_scores else [None] * self.rows
        if not self.roles.rows_are_scores:
            yield score.metric or self.metric_name, score.side, column.cells
            return
        parts: dict[tuple[str, str], list[Any]] = {}
        for row, cell in enumerate(column.cells):
            metric = score.metric or (self.metric_name if metrics[row] is None else str(metrics[row]))
            parts.setdefault((metric, self._find_side(row)), []).append(cell)
        for (metric, side), cells in parts.items():
            yield metric, side, cells

    def _find_side(self, row: int) -> str:
        """Return who gave a row's scores: a person or a judge."""
        if self.roles.kind is not None:
            cell = self._read_cells(self.roles.kind)[row]
            side = None if cell is None else side_of(str(cell))
            if side is None:
                location = self.table.records[row].place(self.roles.kind)
                raise ContentError(f"'{cell or ''}' says neither person nor judge (column '{self.roles.kind}')", location)
            return side
        rater = self._read_cells(self.roles.rater)[row]
        return "judge" if rater is not None and str(rater) in self.roles.judges else "human"

    def _read_stated_scales(self, metrics: Mapping[str, Any]) -> dict[str, Scale]:
        """Return the scales that the user names, by metric; one without a name is that of all metrics."""
        scales: dict[str, Scale] = {}
        for text in self.options.scale:
            name, equals, scale = text.partition("=")
            has_metric = bool(equals) and name in metrics
            if equals and not has_metric and ":" not in name:
                raise UsageError(f"--scale {text}: the table has no metric '{name}'; its metrics are {', '.join(metrics)}")
            scales[name if has_metric else ""] = parse_scale(scale if has_metric else text, "--scale ")
        return scales

    def _without_names(self, column: SourceColumn) -> SourceColumn:
        """Return a pair's scores with A and B in place of the names of the two systems, where cells hold these."""
        systems = sorted(name for name, role in self.roles.by_column.items() if role == "system")
        if len(systems) != 2 or not column.words & (_lower(self.columns[systems[0]]) | _lower(self.columns[systems[1]])):
            return column
        first, second = (self.columns[name].cells for name in systems)
        cells = ["A" if cell == a else "B" if cell == b else cell for cell, a, b in zip(column.cells, first, second, strict=True)]
        replaced = SourceColumn(column.name, cells)
        self.columns[column.name] = replaced
        return replaced

    def _read_probabilities(self, scores: Sequence[SideColumn], scales: Mapping[str, ReadScale]) -> dict[str, list[str | None]]:
        """Return a judge's probabilities of all classes in each row, as JSON, by its column of scores; with a note on rows without."""
        read: dict[str, list[str | None]] = {}
        for score in scores:
            columns = self.roles.probabilities.get(score.column)
            scale = scales.get(score.metric or self.metric_name)
            if columns is None or scale is None:
                continue
            names, classes = ", ".join(columns.columns), scale.scale.classes
            point_of = {cell_score(score): score for score in classes} | dict(scale.points)
            points = [point_of.get(named) for named in columns.by_class]
            if set(points) != set(classes) or len(points) != len(classes):
                listed = scale.scale.describe() if scale.scale.kind == "interval" else ", ".join(map(str, classes))
                self.notes.append(
                    f"{names} are not read: they are no probabilities of the classes of the scale ({listed}); --scale states others"
                )
                continue
            rows = columns.rows()
            named_rows = [dict(zip(map(str, points), row.values(), strict=True)) if row else None for row in rows]
            read[score.column] = [None if row is None else probabilities_text(row) for row in named_rows]
            if count := read[score.column].count(None):
                self.notes.append(f"{count} of {self.rows} rows have no probabilities that sum to 1 ({names})")
        return read

    def _score_rows(
        self,
        scores: Sequence[SideColumn],
        scales: Mapping[str, ReadScale],
        ids: Sequence[str],
        probabilities: Mapping[str, list[str | None]],
    ) -> tuple[dict[str, list[Any]], dict[str, list[Any]]]:
        """Return the columns of labels and of judgments. Raises ContentError with the places of people's cells that are no score."""
        labels: dict[str, list[Any]] = {name: [] for name in ("item_id", "annotator_id", "metric", "score")}
        judgments: dict[str, list[Any]] = {name: [] for name in ("item_id", "judge", "metric", "score")}
        if probabilities:
            judgments["probs"] = []
        people = list(dict.fromkeys(score.who for score in scores if score.side == "human"))
        names = {who: "person" if len(people) == 1 else f"person-{index}" for index, who in enumerate(people, start=1)}
        raters: dict[str, str] = {}
        who, metrics = self._read_cells(self.roles.rater or self.roles.kind), self._read_cells(self.roles.first("metric"))
        in_rows = self.roles.rows_are_scores
        faults: list[str] = []
        rows_seen: set[tuple[str, str, str]] = set()
        once = {score.column: len({*zip(ids, self.columns[score.column].cells, strict=True)}) == len({*ids}) for score in scores}
        row: tuple[Any, ...]
        for score in scores:
            for index, cell in enumerate(self.columns[score.column].cells):
                if cell is None or (value := cell_score(cell)) is None:
                    continue
                metric = score.metric or (str(metrics[index]) if in_rows and metrics[index] is not None else self.metric_name)
                if metric not in scales:
                    continue
                side = self._find_side(index) if in_rows else score.side
                point = scales[metric].points.get(value)
                if side == "judge":
                    judge = str(who[index]) if in_rows else score.who
                    row = (ids[index], judge, metric, str(cell) if point is None else point)
                    row += (probabilities[score.column][index] if score.column in probabilities else None,) if probabilities else ()
                elif point is None:
                    described = scales[metric].scale.describe()
                    faults.append(f"{self.table.records[index].place(score.column)}: '{cell}' is not on the scale ({described})")
                    continue
                else:
                    by_name = in_rows or (self.roles.rater is not None and who[index] is not None)
                    key = person_key(str(who[index])) if by_name else ""
                    person = raters.setdefault(key, f"person-{len(raters) + 1}") if by_name else names[score.who]
                    row = (ids[index], person, metric, point)
                if not in_rows and (self.roles.rater is None or (side == "judge" and once[score.column])):
                    if (row[0], row[1], row[2]) in rows_seen:  # a row that stands twice, or a judge's score beside each rater's
                        continue
                    rows_seen.add((row[0], row[1], row[2]))
                for values, part in zip((judgments if side == "judge" else labels).values(), row, strict=True):
                    values.append(part)
        if faults:
            more = f"\n         … and {len(faults) - _MOST_FAULTS} more" if len(faults) > _MOST_FAULTS else ""
            raise UsageError("people's scores that cannot be read:\n         " + "\n         ".join(faults[:_MOST_FAULTS]) + more)
        self._refuse_opposite_scores(scores, scales, labels, judgments)
        # Note texts that only one side scored.
        labelled, judged = (set(zip(rows["item_id"], rows["metric"], strict=True)) for rows in (labels, judgments))
        if not labelled & judged:
            raise UsageError("people and judge scored no text in common; nothing can be compared")
        if missing := len(labelled - judged):
            self.notes.append(f"{missing:,} of {len(labelled):,} labelled texts have no score of a judge and are left out, as not asked")
        if missing := len(judged - labelled):
            self.notes.append(f"{missing:,} judged texts have no person's label")
        return labels, judgments

    def _refuse_opposite_scores(
        self,
        scores: Sequence[SideColumn],
        scales: Mapping[str, ReadScale],
        labels: Mapping[str, Sequence[Any]],
        judgments: Mapping[str, Any],
    ) -> None:
        """Raise UsageError for a judge whose numbers fall where people's rise: most likely, its best score is the lowest."""
        numeric = {
            name: read.scale
            for name, read in scales.items()
            if read.scale.kind != "nominal" and not any(isinstance(point, str) for point in read.scale.classes)
        }
        if self.options.scale or self.options.recode or not numeric:
            return
        step = max(len(judgments["item_id"]) // _SAMPLED, 1)
        rows = zip(*(judgments[name][::step] for name in ("item_id", "metric", "judge", "score")), strict=True)
        sampled = [row for row in rows if row[1] in numeric and isinstance(row[3], (int, float))]
        people: dict[tuple[str, str], list[float]] = {(item, metric): [] for item, metric, _, _ in sampled}
        for item, metric, score in zip(*(labels[name] for name in ("item_id", "metric", "score")), strict=True):
            if (item, metric) in people:
                people[item, metric].append(score)
        pairs: dict[tuple[str, str], list[tuple[float, float]]] = {}
        for item, metric, judge, score in sampled:
            if of_people := people[item, metric]:
                pairs.setdefault((metric, judge), []).append((fmean(of_people), score))
        for (metric, judge), points in pairs.items():
            first, second = zip(*points, strict=True)
            if len(points) < _MANY_OPPOSITE or min(len({*first}), len({*second})) < 2 or (r := correlation(first, second)) > _OPPOSITE:
                continue
            scale = numeric[metric]
            low, high = (scale.min, scale.max) if scale.kind == "interval" else (scale.classes[0], scale.classes[-1])
            columns = [score.column for score in scores if (score.side, score.who, score.metric or metric) == ("judge", judge, metric)]
            how = f"--recode '{columns[0]}:{low:g}..{high:g}={high:g}..{low:g}'" if columns else "turn them round in the table"
            kind = ":kind=interval" if scale.kind == "interval" else ""
            raise UsageError(
                f"the scores of '{judge}' on '{metric}' fall where people's rise (correlation {r:.2f} in {len(points):,} texts), as if its "
                f"best score were the lowest: if so, {how}; if a high number means the same on both: "
                f"--scale '{metric}={low:g}..{high:g}{kind}'"
            )


_MANY_OPPOSITE, _OPPOSITE = 20, -0.5  # texts, and the correlation, that show a scale that runs the other way
_MOST_FAULTS = 5
_LAST_ROWS = 5  # of a table, where totals stand
_MANY_EQUAL = 10


def _lower(column: SourceColumn) -> set[str]:
    return {str(value).casefold() for value in column.counts} if not column.is_text else set()


def _make_columns(rows: Mapping[str, list[Any]], row: type[msgspec.Struct], what: str, path: Path) -> Columns:
    columns = {name: CodedColumn.from_values(values) for name, values in rows.items()}
    return checked_columns(columns, len(rows["item_id"]), row, what, path)


def _find_repeated(rows: Mapping[str, list[Any]], key: Sequence[str]) -> Iterator[tuple[str, str]]:
    """Yield item and metric of each second label of one person on one metric of one item."""
    seen: set[tuple[Any, ...]] = set()
    for values in zip(*(rows[name] for name in key), strict=True):
        if values in seen:
            yield values[0], values[2]
        seen.add(values)


_NO_TABLES = ("run.json", "report.json")  # of a run's folder
_DELIMITED = (".csv", ".tsv", ".txt", ".tab")


class OneTable(msgspec.Struct, frozen=True):
    """A table as it was read: its data set, the roles of its columns, and at most six lines that say how it was read."""

    data: Dataset
    roles: TableRoles
    lines: tuple[str, ...]


def is_table_file(source: Any) -> bool:
    """Return True if a source is a file with rows, by its name, or a frame. A file in a run's folder names the run."""
    if is_frame(source):
        return True
    if not isinstance(source, (str, Path)):
        return False
    path = Path(source)
    if path.name in _NO_TABLES or (path.parent / "run.json").is_file():
        return False
    return path.is_file() and any(suffix.lower() in KIND_BY_SUFFIX for suffix in path.suffixes)


def is_frame(source: Any) -> bool:
    """Return True for a frame of pandas, Polars or PyArrow."""
    return any(hasattr(source, name) for name in ("iterrows", "to_pandas", "collect"))


def read_one_table(sources: Sequence[Any], options: TableOptions | None = None, ask: Callable[[str], Role] | None = None) -> OneTable:
    """Read a table with people's and judges' scores, or two that an id joins.

    Args:
        sources: one or two files or frames.
        options: what the user says of the columns.
        ask: answers what a column of scores is that nothing explains.

    Raises:
        UsageError: for columns that nothing explains, and where people or judges have no scores.
        ContentError: for what cannot be read, with `file:line`.
    """
    if len(sources) > 2:
        raise UsageError(f"{len(sources)} tables were named; one table, or two that an id joins, can be compared")
    notes: list[str] = []
    options = options or TableOptions()
    tables = [_read(source, notes, options.metric) for source in sources]
    if len(tables) == 1 and JUDGES_ALONE in tables[0].about:
        raise UsageError(tables[0].about[JUDGES_ALONE])
    names = [Path(source).stem if isinstance(source, (str, Path)) else "table" for source in sources]
    table = tables[0] if len(tables) == 1 else _join_tables(tables, names, options, notes)
    table = with_column_of_each_judge(table, options.drop)
    return _make_table(table, columns_of_table(table), names[0], options, ask, notes)


def read_judged_table(source: Any, options: TableOptions | None = None, ask: Callable[[str], Role] | None = None) -> OneTable | None:
    """Read a table in which a judge has scored; None for any other table, and for what is no table. Raises as `read_one_table`."""
    if not is_table_file(source):
        return None
    notes: list[str] = []
    options = options or TableOptions()
    table = _read(source, notes, options.metric)
    if JUDGES_ALONE in table.about:
        raise UsageError(table.about[JUDGES_ALONE])
    table = with_column_of_each_judge(table, options.drop)
    columns = columns_of_table(table)
    if not RoleFinder(columns, options).has_judge():
        return None
    return _make_table(table, columns, Path(source).stem if isinstance(source, (str, Path)) else "table", options, ask, notes)


def _make_table(
    table: SourceTable, columns: list[SourceColumn], name: str, options: TableOptions, ask: Callable[[str], Role] | None, notes: list[str]
) -> OneTable:
    columns, read_replies = with_scores_of_replies(columns, options)
    columns, recoded = recoded_columns(table, columns, options.recode)
    _refuse_unreadable(table, [column.name for column in columns if not column.filled])
    roles = find_roles(columns, options, ask)
    _refuse_unreadable(table, [name for name, role in roles.by_column.items() if role != "unused"])
    read = RecordReader(table, columns, roles, options, name).read()
    notes += [*table.notes, *read_replies, *recoded, *read.notes]
    data = msgspec.structs.replace(read.data, about=msgspec.structs.replace(read.data.about, notes=tuple(notes)))
    return OneTable(data, roles, tuple(_describe_reading(roles, read, notes)))


def _refuse_unreadable(table: SourceTable, names: Sequence[str]) -> None:
    """Raise ContentError for cells of columns that have no value, such as formulas whose value was not stored."""
    for name in names:
        unreadable = [record for record in table.records if isinstance(record.cells.get(name), Unreadable)]
        if unreadable:
            more = f" ({len(unreadable)} cells of '{name}' have no value that can be read)" if len(unreadable) > 1 else ""
            raise ContentError(f"{unreadable[0].cells[name].reason}{more}", unreadable[0].place(name))


def _read(source: Any, notes: list[str], metric: str | None) -> SourceTable:
    if is_frame(source):
        # A frame as a table. Rows are counted from 1.
        frame = source
        if hasattr(frame, "collect"):  # a query of Polars that has not run yet
            frame = frame.collect()
        if hasattr(frame, "to_pandas"):
            frame = frame.to_pandas()
        names = [str(name) for name in frame.columns]
        if repeated := sorted({name for name in names if names.count(name) > 1}):
            raise UsageError(f"the frame has several columns called '{repeated[0]}'; give each column its own name")
        if not len(frame):
            raise UsageError("the frame has no rows")
        lists = [frame.iloc[:, number].tolist() for number in range(len(names))]
        rows = [flat({name: _make_plain(cell) for name, cell in zip(names, row, strict=True)}) for row in zip(*lists, strict=True)]
        records = [
            Record({key: value for key, value in row.items() if not is_blank(value)}, number, "row ")
            for number, row in enumerate(rows, start=1)
        ]
        return with_scores_of_cells(with_plain_names(with_conversations(SourceTable("frame", columns_of(rows), records))))
    path = Path(source)
    if {KIND_BY_SUFFIX.get(suffix.lower()) for suffix in path.suffixes} & {"json", "jsonl"}:
        from harness.exchange.one_table.program_results import read_program_results  # late: the readers of other programs

        if (results := read_program_results(path, metric)) is not None:
            return with_conversations(results)
    options = SourceOptions()
    if path.suffix.lower() in _DELIMITED and path.is_file() and (encoding := likely_encoding(path)):
        notes.append(f"{path.name} is not UTF-8; it is read as {encoding}")
        options = SourceOptions(encoding=encoding)
    return with_scores_of_cells(with_plain_names(read_source(str(path), options)))


def _make_plain(cell: Any) -> Any:
    """Return a cell of a frame without the types of numpy and pandas; a gap is None."""
    if cell is None or type(cell).__name__ in ("NAType", "NaTType") or (isinstance(cell, float) and cell != cell):
        return None
    if hasattr(cell, "tolist"):
        return cell.tolist()
    return cell if isinstance(cell, (str, int, float, bool, list, dict)) else str(cell)


def _join_tables(tables: Sequence[SourceTable], names: Sequence[str], options: TableOptions, notes: list[str]) -> SourceTable:
    """Return one table from two: rows of the one with repeated ids, or of the first, with the other's cells beside them.

    A column that both have keeps its name where its cells are equal, else it is called by its table: `people.score`.
    """
    keys = _find_shared_key(tables, options)
    ids = [[_read_id(record.cells.get(key)) for record in table.records] for table, key in zip(tables, keys, strict=True)]
    unique = [len(set(of_table)) == len(of_table) for of_table in ids]
    if not any(unique):
        raise UsageError(f"'{keys[0]}' repeats in both tables, so rows cannot be joined; one of them needs a row a text")
    order = (0, 1) if unique[1] else (1, 0)
    base, joined_table = (tables[index] for index in order)
    stems = (
        [names[index] for index in order]
        if names[0] != names[1]
        else [f"{name}{index + 1}" for index, name in zip(order, names, strict=True)]
    )
    right_by_id = {id_: record for id_, record in zip(ids[order[1]], joined_table.records, strict=True) if id_}
    shared = [name for name in base.columns if name in joined_table.columns and name not in keys]
    pairs = [(record.cells, right_by_id[id_].cells) for id_, record in zip(ids[order[0]], base.records, strict=True) if id_ in right_by_id]
    if not pairs:
        raise UsageError(f"the tables share no value of '{keys[0]}', so no row can be joined; name the column of ids with --id")
    differ = {name for name in shared if any(base_cells.get(name) != right_cells.get(name) for base_cells, right_cells in pairs)}
    key = keys[order[0]]

    def renamed(cells: Mapping[str, Any], stem: str, own_key: str) -> dict[str, Any]:
        return {key if name == own_key else f"{stem}.{name}" if name in differ else name: cell for name, cell in cells.items()}

    records, used = [], set()
    for id_, record in zip(ids[order[0]], base.records, strict=True):
        other = right_by_id.get(id_)
        used.add(id_)
        right_cells = renamed(other.cells, stems[1], keys[order[1]]) if other else {}
        records.append(record._replace(cells=right_cells | renamed(record.cells, stems[0], key)))
    alone = [record for id_, record in right_by_id.items() if id_ not in used]
    records += [record._replace(cells=renamed(record.cells, stems[1], keys[order[1]])) for record in alone]
    if missing := len(base.records) - len(pairs) + len(alone):
        notes.append(f"{missing} rows of one table have no row in the other (joined by '{key}')")
    columns = [
        *renamed(dict.fromkeys(base.columns), stems[0], key),
        *renamed(dict.fromkeys(joined_table.columns), stems[1], keys[order[1]]),
    ]
    return SourceTable("joined", list(dict.fromkeys(columns)), records, [*base.notes, *joined_table.notes])


def _read_id(cell: Any) -> str:
    return "" if cell is None else normalised_id(str(cell))


def _find_shared_key(tables: Sequence[SourceTable], options: TableOptions) -> tuple[str, str]:
    """Return the columns of ids that join two tables, by their common values: of one name, or of two names of ids."""
    first, second = tables
    if options.id:
        for table in tables:
            if options.id not in table.columns:
                raise UsageError(f"--id '{options.id}' is not a column of both tables; their columns are: {', '.join(table.columns)}")
        return options.id, options.id
    shared = [name for name in first.columns if name in second.columns]
    shared.sort(key=lambda name: not column_words().in_name("id", name))
    pairs = [(name, name) for name in shared]
    # Columns of ids may have two names, such as `item_id` and `ID`.
    first_ids, second_ids = (
        [name for name in table.columns if name not in shared and column_words().in_name("id", name)] for table in tables
    )
    for names in (*pairs, *product(first_ids, second_ids)):
        values = [[_read_id(record.cells.get(name)) for record in table.records] for table, name in zip(tables, names, strict=True)]
        unique = any(len(set(of_table)) == len(of_table) for of_table in values)
        if unique and 2 * len(set(values[0]) & set(values[1])) > min(len(set(of_table)) for of_table in values):
            return names
    raise UsageError("the two tables have no column of ids in common; give it one name in both, and name it with --id COLUMN")


def _describe_reading(roles: TableRoles, read: TableRecords, notes: Sequence[str]) -> list[str]:
    """Return the block that says how the table was read: at most six lines."""

    def names(role: Role) -> str:
        return ", ".join(one_line(name) for name, column_role in roles.by_column.items() if column_role == role)

    data = read.data
    people = sorted(set(data.labels.annotator.used))
    judges = sorted(data.judgments.judge.used) if data.judgments is not None else []
    if roles.rows_are_scores:
        parts = [f"people: {len(people)} ({names('annotator')})", f"judge: {', '.join(map(one_line, judges))}", f"scores: {names('score')}"]
    else:
        rated = f" by {len(people)} ({names('annotator')})" if roles.rater else ""
        parts = [f"people: {names('human')}{rated}", f"judge: {names('judge')}"]
    texts = ", ".join(one_line(column) for name, column in roles.texts.items() if name.startswith("output")) or "none"
    inputs = ", ".join(one_line(column) for name, column in roles.texts.items() if not name.startswith("output"))
    parts += [f"text: {texts}{f' (beside: {inputs})' if inputs else ''}", f"language: {read.languages}"]
    scales = {name: scale.described for name, scale in read.scales.items()}
    if len(set(scales.values())) == 1:
        metrics = f" ({', '.join(map(one_line, scales))})" if len(scales) > 1 else ""
        parts.append(f"scale: {one_line(next(iter(scales.values())))}{metrics}")
    else:
        parts.append("scales: " + "; ".join(f"{one_line(name)} {one_line(scale)}" for name, scale in scales.items()))
    lines = [" · ".join(parts)]
    keys = [f"{role}: {names(role)}" for role in _KEYS if names(role)]
    if unused := names("unused"):
        keys.append(f"not used: {unused}")
    if keys:
        lines.append(" · ".join(keys))
    return [*lines, *map(one_line, notes)][:_MOST_LINES]


_KEYS: tuple[Role, ...] = ("id", "group", "system", "metric", "probability", "reason")
_MOST_LINES = 6
