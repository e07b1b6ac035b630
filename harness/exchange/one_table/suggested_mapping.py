"""The mapping that a table of labels or of texts suggests: the roles of its columns as an importer takes them. All are guesses."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from itertools import permutations
from typing import Any, NamedTuple

import msgspec
from rich.cells import cell_len

from harness.content.column_words import column_words, name_parts
from harness.content.specs import LabelMapping, ScoreColumn
from harness.exchange.labels.cell_scores import MOST_CLASSES, cell_score
from harness.exchange.labels.columns_of_source import find_columns
from harness.exchange.labels.program_layouts import ROW_NUMBER
from harness.exchange.labels.source_table import SourceTable
from harness.exchange.labels.table_columns import SourceColumn, columns_of_table
from harness.exchange.labels.table_options import Role, TableOptions
from harness.exchange.one_table.column_names import are_places, field_name
from harness.exchange.one_table.role_state import MTURK_INPUT
from harness.exchange.one_table.roles import RoleFinder, are_items_of_raters, is_total
from harness.exchange.one_table.scales import read_scale
from harness.model import Scale
from harness.text import quoted

_MOST_SYSTEMS = 20
_MOSTLY = 0.9  # of the texts are several words, in a table of short texts
_MANY = 0.25  # of the texts must look like a further language, to be one of the table's
_READ = 50  # texts whose language is identified
_WIDE = 25  # letters of a text whose language can be told
_RESPONDENTS = ("ResponseId", "Respondent ID")  # of Qualtrics and SurveyMonkey
_MTURK = ("HITId", "AssignmentId", "WorkerId")  # columns of its results
_NAMED: dict[str, Role] = {"item_id": "id", "annotator_id": "annotator", "metric": "metric", "score": "score", "language": "language"}


class SuggestedMapping(NamedTuple):
    """The mapping that the table suggests, and a sentence on each guess. `scored` is false for a table of texts alone."""

    mapping: LabelMapping
    guesses: Sequence[str]
    unused: Sequence[str]
    scored: bool
    doubts: Sequence[str] = ()  # what the guesses leave unexplained: a wrong guess would move numbers


def suggest_mapping(table: SourceTable, known_metrics: Collection[str], stated: LabelMapping) -> SuggestedMapping:
    """Guess what the columns of a table hold. What the user gave in the mapping `given` is not guessed.

    A column whose name says its role (`item_id`, `score`, `language`, …) has it. The roles of the others are those that `RoleFinder` finds.

    Raises UsageError for a judge's scores, and for scores that nothing explains.
    """
    return _Suggestion(table, known_metrics, stated).suggestion()


class _Suggestion:
    """The guesses so far: `mapping`, the columns `by_role` and the `used` ones, with a sentence on each guess."""

    def __init__(self, table: SourceTable, known_metrics: Collection[str], stated: LabelMapping) -> None:
        self.table, self.known_metrics, self.given, self.mapping = table, known_metrics, stated, stated
        self.columns = {column.name: column for column in columns_of_table(table)}
        self.guesses: list[str] = []
        self.guessed_system = ""  # that no name tells
        self.unclear_pairs = ""  # columns of people and questions, of which nothing says which is which
        self.languages: dict[str, int] = {}  # that many of the texts look like
        self.looked = 0
        self.named = {*stated.named_columns.values(), *stated.texts.values(), *stated.id_from, *stated.drop}
        self.named |= {wide.column for wide in stated.scored_columns}
        roles = ("item_id", "annotator_id", "metric", "score", "language", "task", "system", "group")
        self.by_role, guessed = find_columns(table, {}, [role for role in roles if self._open(role)], self.named)
        self.guesses += [f"{role.replace('_', ' ')}: the column '{name}', by its name" for role, name in guessed.items()]
        self.used = {*self.named, *self.by_role.values()}
        if {*_MTURK} <= {*table.columns}:
            facts = [name for name in table.columns if name not in self.used and not name.startswith((MTURK_INPUT, "Answer."))]
            self.used |= {*facts}
            self.guesses.append(f"what Mechanical Turk notes, and is not read: {quoted(facts)}")

    def _open(self, role: str) -> bool:
        stated = self.given
        taken = stated.constant(role) is not None or role in stated.named_columns or (role == "item_id" and bool(stated.id_from))
        return not (taken or (stated.scored_columns and role in ("score", "metric", "annotator_id")))

    def _guess(self, sentence: str, **changes: Any) -> None:
        self.guesses.append(sentence)
        self.mapping = msgspec.structs.replace(self.mapping, **changes)

    def _use(self, role: str, name: str, sentence: str) -> None:
        self.used.add(name)
        self.by_role[role] = name
        self.guesses.append(sentence)

    def _list_free(self) -> list[SourceColumn]:
        return [column for name, column in self.columns.items() if name not in self.used and column.filled]

    def _find_column(self, role: str) -> str | None:
        return self.by_role.get(role) or self.given.columns.get(role)  # type: ignore[call-overload]

    def suggestion(self) -> SuggestedMapping:
        """Turn the roles into a mapping, in the order in which one finding helps the next."""
        settled: dict[str, Role] = dict.fromkeys(self.used & self.columns.keys(), "unused")
        settled |= {name: _NAMED[role] for role in _NAMED if (name := self._find_column(role)) in self.columns}
        settled |= dict.fromkeys((name for name in self.given.texts.values() if name in self.columns), "text")
        settled |= dict.fromkeys((wide.column for wide in self.given.scored_columns if wide.column in self.columns), "score")
        human = tuple(name for name in self.given.human if name in self.columns)
        finder = RoleFinder(list(self.columns.values()), TableOptions(), settled=settled)
        finder.options = TableOptions(human=human, text=tuple(self.given.texts.values()))
        roles = finder.find_people()
        self.guesses += roles.notes
        aside = [name for name, role in roles.by_column.items() if name not in self.used and name in finder.roles and role == "unused"]
        if aside:
            self.guesses.append(f"not read, as facts about the people or the task, or made of other columns: {quoted(aside)}")
        self.used |= {*aside}
        unexplained = [name for name, role in roles.by_column.items() if role == "unused" and name not in self.used]
        self._guess_scores([score.column for score in roles.scores], roles.rater, unexplained)
        self._guess_texts({name for name, role in roles.by_column.items() if role == "text"}, roles.by_column)
        self._guess_ids(roles.first("id"), roles.first("group"), roles.first("system"))
        self.mapping = msgspec.structs.replace(
            self.mapping,
            columns={**self.given.columns, **{role: name for role, name in self.by_role.items() if role != "system"}},
            system=self.by_role.get("system") or self.mapping.system,
        )
        self._guess_language(roles.first("language"))
        scored = bool(self.mapping.scored_columns) or self._find_column("score") is not None
        return SuggestedMapping(
            self.mapping, self.guesses, [column.name for column in self._list_free()], scored, list(self._list_doubts(scored))
        )

    def _guess_scores(self, names: list[str], rater: str | None, unexplained: Sequence[str]) -> None:
        """Columns of scores: of one person each, or on one metric each. Of a table with a score column, only the scale is guessed."""
        stated = self.given
        if rater is not None and "annotator_id" not in self.by_role and self._open("annotator_id"):
            self._use("annotator_id", rater, f"annotator id: the column '{rater}', by its name")
        if score := self._find_column("score"):
            self._guess_one_person()
            column = self._find_column("metric")
            metrics = sorted(str(value) for value in self.columns[column].counts) if column in self.columns else []
            return self._guess_scales(metrics or [self._name_metric()], [score])
        if not stated.scored_columns and not names:
            # The question about a table of texts: the metric that the user names, from 1 to 5 where its scale is not known.
            metric = self._name_metric()
            if metric not in self.known_metrics and metric not in self.given.metrics:
                scale = Scale(kind="ordinal", classes=(1, 2, 3, 4, 5), best=5)
                sentence = f"scale of '{metric}': 1 to 5, as nobody has scored yet (--scale {metric}=LOWEST..HIGHEST:best=SCORE)"
                self._guess(sentence, metrics={**self.given.metrics, metric: scale})
            if numbers := [column.name for column in self._list_free() if column.is_numeric and column.repeats]:
                self._guess(f"no scores found; if {quoted(numbers)} hold people's scores: --wide-annotators {','.join(numbers)}")
            return
        if not stated.scored_columns:
            rated = self._find_column("annotator_id") is not None  # then a row is one person's
            if rated and len(names) == 1 and stated.metric is not None:
                self._use("score", names[0], f"score: the column '{names[0]}'")
                return self._guess_scales([stated.metric], names)
            pairs = () if rated else self._find_people_and_metrics(names)
            if pairs:
                self.used |= set(names)
                who, asked = ({str(pair.annotator): None for pair in pairs}, {str(pair.metric): None for pair in pairs})
                self._guess(
                    f"scores: the columns {quoted(names)}, of {quoted(who)} on {quoted(asked)} by their names "
                    "(--wide-annotators or --wide-metrics, if they are not)",
                    wide=pairs,
                )
            elif rated or all(name in self.known_metrics for name in names) or (stated.metric is None and self._differ(names)):
                self.used |= set(names)
                people = "(--wide-annotators, if they are people)"
                self._guess(f"scores: the columns {quoted(names)}, each on a metric of its own {people}", wide_metrics=tuple(names))
            else:
                names = self._list_people(names, unexplained)
                self.used |= set(names)
                questions = "(--wide-metrics, if they are questions)"
                self._guess(f"scores: the columns {quoted(names)}, each of one person {questions}", wide_annotators=tuple(names))
        wide = [wide_column for wide_column in self.mapping.scored_columns if wide_column.column in self.columns]
        if any(wide_column.annotator for wide_column in self.mapping.scored_columns) and stated.annotators is None:
            kind = "positional" if are_places([str(wide_column.annotator) for wide_column in wide]) else "persistent"
            self._guess(_WHO[kind], annotators=kind)
        if any(wide_column.metric for wide_column in self.mapping.scored_columns):
            if not any(wide_column.annotator for wide_column in self.mapping.scored_columns):
                self._guess_one_person()
            columns: dict[str, list[str]] = {}
            for wide_column in wide:
                columns.setdefault(wide_column.metric or self._name_metric(), []).append(wide_column.column)
            for metric, of_metric in columns.items():
                self._guess_scales([metric], of_metric)
        else:
            self._guess_scales([self._name_metric()], [wide_column.column for wide_column in wide])

    def _find_people_and_metrics(self, names: Sequence[str]) -> tuple[ScoreColumn, ...]:
        """Return the columns of several people on several metrics, such as fluency_jana and adequacy_jana; empty where they are none.

        A known metric, or numbered places such as R1 and R2, say which half of a name is which. Where nothing says it and every half stands
        with every other, `unclear_pairs` is set.
        """
        metrics = {part for name in (*self.known_metrics, *self.given.metrics) for part in name_parts(name)}
        for separator in (r"(?s)(.+?)[\s_.:/-]+(.+)", r"(?s)(.+)[\s_.:/-]+(.+?)"):
            halves = [match.groups() for name in names if (match := re.fullmatch(separator, name))]
            sides = [list(dict.fromkeys(side)) for side in zip(*halves, strict=True)]
            if len(halves) < len(names) or not all(1 < len(side) < len(names) for side in sides):
                continue
            names_metric = [any(metrics & {*name_parts(half)} for half in side) for side in sides]
            numbered = [are_places(side) for side in sides]
            if names_metric[0] == names_metric[1] and len(names) < len(sides[0]) * len(sides[1]):
                continue
            of_people = (1 if names_metric[0] else 0) if names_metric[0] != names_metric[1] else (0 if numbered[0] else 1)
            words = column_words()
            no_people = words.facts | words.gold | words.totals | words.metadata
            says_who = names_metric[0] != names_metric[1] or numbered[0] != numbered[1]
            if self.given.metric is not None or not says_who or any(no_people & {*name_parts(half)} for half in sides[of_people]):
                self.unclear_pairs = f"{quoted(sides[0])} with {quoted(sides[1])}"
                return ()
            pairs = zip(names, halves, strict=True)
            return tuple(ScoreColumn(column=name, annotator=half[of_people], metric=half[1 - of_people]) for name, half in pairs)
        return ()

    def _list_people(self, names: list[str], unexplained: Sequence[str]) -> list[str]:
        """Return the columns of one person each: those of scores without facts, and those beside them that no fact explains.

        A column is a person's too where it stands directly beside the others, has scores of their scale, and is one of these: the same
        score throughout; the column by which the rows were sorted, as the numbers of its rows begin again with each score; steps of 5 or
        10 on a scale of many scores.
        """
        words, order = column_words(), list(self.columns)
        facts = [name for name in self.columns if name_parts(name) and words.facts.issuperset(name_parts(name))]
        people = [name for name in names if name not in facts]
        if len(people) < 2:
            return names
        scores = {score for name in people for score in self.columns[name].scores}
        numbers = sorted(score for score in scores if isinstance(score, float))
        aside = {name: column for name in unexplained if (column := self.columns[name]).may_be_scores and name not in facts}
        while adjacent := [name for name in aside if any(abs(order.index(name) - order.index(other)) == 1 for other in people)]:
            for name in adjacent:
                column = aside.pop(name)
                of_scale = set(column.scores) <= scores and (len(column.counts) == 1 or self._is_sorted_by(column))
                in_steps = (
                    len(numbers) == len(scores)
                    and len(column.numbers) == len(column.scores) > 1
                    and column.repeats
                    and all(number % 5 == 0 for number in (*numbers, *column.numbers))
                    and numbers[-1] - numbers[0] > MOST_CLASSES
                    and numbers[0] <= column.numbers[0]
                    and column.numbers[-1] <= numbers[-1]
                )
                if of_scale or in_steps:
                    people.append(name)
        return sorted(people, key=order.index)

    def _is_sorted_by(self, column: SourceColumn) -> bool:
        """Return whether the rows are in the order of a column's scores, and those of one score in the order of their numbered ids."""
        ids = self.columns.get(self._find_column("item_id") or "")
        numbered = [re.fullmatch(r"(\D*)(\d+)", str(cell)) for cell in ids.cells] if ids is not None else []
        if not all(numbered) or len({match[1] for match in numbered if match}) != 1 or not column.counts_up:
            return False
        keys = [(cell_score(cell), int(match[2])) for cell, match in zip(column.cells, numbered, strict=True) if match]
        return keys == sorted(keys) and [key[1] for key in keys] != sorted(key[1] for key in keys)

    def _differ(self, names: Sequence[str]) -> bool:
        """Return whether columns have scales of their own: their highest scores are far from each other."""
        highest = [self.columns[name].numbers[-1] for name in names if self.columns[name].numbers]
        return len(highest) == len(names) and len(set(highest)) > 1 and max(highest) >= 2 * min(highest)

    def _name_metric(self) -> str:
        """A name for what was scored, where nothing says it."""
        if self.given.metric is None and self.mapping.metric is None:
            self._guess("metric: 'rating' (--metric NAME says what was asked)", metric="rating")
        return self.mapping.metric or ""

    def _guess_one_person(self) -> None:
        """The annotator of a table without one: all scores are of one person."""
        stated = self.given
        if not (self._find_column("annotator_id") or stated.annotator or stated.annotator_from_file or stated.annotators):
            self._guess("annotator: one person gave all scores (--column annotator_id=COLUMN, if there are several)", annotator="one")

    def _guess_scales(self, metrics: Sequence[str], names: Sequence[str]) -> None:
        """A scale for each metric that has none, from the scores seen; of numbers, the highest is the best."""
        no_answer = {text.strip().casefold() for text in self.mapping.no_answer}
        columns = [
            msgspec.structs.replace(column, cells=[None if str(cell).strip().casefold() in no_answer else cell for cell in column.cells])
            for column in (self.columns[name] for name in names if name in self.columns)
        ]
        for metric in metrics:
            seen = [score for column in columns for score in column.scores]
            if metric in self.mapping.metrics or metric in self.known_metrics or len(set(seen)) < 2:
                continue
            scale = read_scale(metric, columns, [], None, pair="output_b" in self.mapping.texts).scale
            numbers = [score for score in seen if isinstance(score, float)]
            seen_scores = (
                f"{min(numbers):g} to {max(numbers):g}" if numbers and scale.kind != "nominal" else quoted(map(str, scale.classes))
            )
            best = f"the best is {scale.best}" if scale.best is not None else "they have no order"
            how = f"--scale {metric}={'LOWEST..HIGHEST:best=SCORE' if numbers else 'WORST,…,BEST:kind=ordinal'}"
            sentence = (
                f"scale of '{metric}': {scale.describe()}, from the scores seen ({seen_scores}); {best} ({how}, if it is another one)"
            )
            self._guess(sentence, metrics={**self.mapping.metrics, metric: scale})
        none = sorted({str(cell) for column in columns for cell in column.counts if isinstance(cell, str) and cell_score(cell) is None})
        if none := [cell for cell in none if cell not in self.mapping.no_answer]:
            sentence = f"no answer: {quoted(none)}; these cells count as empty (--no-answer TEXTS)"
            self._guess(sentence, no_answer=(*self.mapping.no_answer, *none))

    def _guess_texts(self, texts_found: Collection[str], roles: dict[str, Role]) -> None:
        if self.given.texts:
            return
        texts: dict[str, str] = {}
        source = self.given.named_columns.get("group")  # texts of one source may be told by the text itself
        for name, column in self.columns.items():
            if (name in texts_found and name not in self.used) or (name == source and column.is_text):
                texts[field_name(name, texts)] = name
        remarks = [name for name, role in roles.items() if role == "reason" and name not in self.used]
        remarks += [name for name in texts.values() if self.columns[name].holds_objects]
        texts = {field: name for field, name in texts.items() if name not in remarks}
        short = [
            column
            for column in self._list_free()
            if column.name not in remarks
            and not column.is_date
            and sum(count for value, count in column.counts.items() if len(str(value).split()) > 1) > _MOSTLY * column.filled
        ]
        if not texts and short:
            longest = max(short, key=lambda column: sum(map(cell_len, map(str, column.counts))) / len(column.counts))
            texts = {field_name(longest.name, ()): longest.name}
        if remarks:
            self.guesses.append(f"remarks: {quoted(remarks)}; no judge sees them (--text FIELD=COLUMN, if they are a text of the item)")
        self.used |= {*texts.values(), *remarks}
        if texts:
            self._guess("texts: " + ", ".join(f"'{column}' as {field}" for field, column in texts.items()), texts=texts)

    def _guess_ids(self, key: str | None, group: str | None, system: str | None) -> None:
        """A column whose values all differ, or two columns that together do; else the number of the row."""
        rows = len(self.table.records)
        if group is not None and group not in self.used and self._open("group"):
            self._use("group", group, f"group: the column '{group}', by its name")
        if system is not None and system not in self.used and self._open("system"):
            self._use("system", system, f"system: the column '{system}', by its name")
        if "item_id" in self.by_role or not self._open("item_id"):
            return self._guess_system()
        rated = self._find_column("annotator_id") is not None or self._find_column("metric") is not None  # then an item has several rows
        if key is not None and key not in self.used and (rated or self.columns[key].is_key):
            why = "whose texts several people scored" if rated else "whose values all differ"
            self._use("item_id", key, f"item id: the column '{key}', {why}")
            return self._guess_system()
        free = [column for column in self.columns.values() if column.filled and not column.is_text]
        reusable = (self.by_role.get("system"), self.by_role.get("group"))
        free = [column for column in free if column.name not in self.used or column.name in reusable]
        rater, texts = self._find_column("annotator_id"), [self.columns[name].cells for name in self.mapping.texts.values()]
        raters = [column.cells for column in self.columns.values() if column.name == rater and texts]
        for first, second in permutations(free, 2) if raters else ():
            if are_items_of_raters((first, second), texts, raters[0]):
                names = (first.name, second.name)
                self.used |= {*names}
                self._guess(f"item id: {quoted(names)} together, whose texts several people scored", id_from=names)
                return self._guess_system()
        for first in free:
            for second in free:
                pairs = set(zip(first.cells, second.cells, strict=True))
                if first is not second and len(first.counts) >= len(second.counts) and len(pairs) == rows == first.filled == second.filled:
                    self.used |= {first.name, second.name}
                    self._guess(f"item id: '{first.name}' and '{second.name}' together", id_from=(first.name, second.name))
                    if first.repeats and self._open("group") and "group" not in self.by_role:
                        sentence = f"group: rows with the same '{first.name}' share a source, and count as one independent text"
                        self._guess(sentence, group=first.name)
                    return self._guess_system(second)
        self._guess("item id: the number of the row, as no column tells the rows apart (--id-from COLUMN,COLUMN)", id_from=(ROW_NUMBER,))
        self._guess_system()

    def _guess_system(self, *candidates: SourceColumn) -> None:
        if "system" in self.by_role or not self._open("system"):
            return
        rows = len(self.table.records)
        for column in (*candidates, *self._list_free()):
            few = 1 < len(column.counts) <= min(_MOST_SYSTEMS, rows // 2) and column.filled == rows
            if few and column.words and not column.numbers and not (column.is_date or column.is_address):
                self.guessed_system = column.name
                return self._use("system", column.name, f"system: the column '{column.name}'")

    def _guess_language(self, language_column: str | None) -> None:
        texts = self.mapping.texts
        if self.given.language or "language" in self.by_role or "language" in self.given.named_columns or not texts:
            return
        if language_column is not None and language_column not in self.used:
            self._use("language", language_column, f"language: the column '{language_column}', by its name")
            self.mapping = msgspec.structs.replace(self.mapping, columns={**self.mapping.columns, "language": language_column})
            return
        from harness.parse.language import identify_language  # late: loading its model takes half a second

        cells = [str(record.cells.get(column) or "") for record in self.table.records for column in texts.values()]
        long = [cell for cell in cells if cell_len(cell) >= _WIDE]
        long = long[:: max(len(long) // _READ, 1)]  # from the whole table: a table may be sorted by language
        if long := long or [" ".join(filter(None, cells[:_READ]))]:
            seen = Counter(identify_language(cell)[0] for cell in long)
            [(tag, count)] = seen.most_common(1)
            self.looked = len(long)
            self.languages = {other: times for other, times in seen.most_common() if times >= max(_MANY * len(long), 3) or other == tag}
            self._guess(f"language: {tag}, as {count} of {len(long)} texts look like it (--language TAG)", language=tag)

    def _list_doubts(self, scored: bool) -> Iterator[str]:
        """Yield a sentence on each thing that the guesses leave unexplained, with what would explain it."""
        if form := self._describe_form():
            yield form
            return
        repeated = [column.name for column in self._list_free() if column.repeats]
        if repeated and self.given.wide_items is None:
            people = [wide.column for wide in self.mapping.scored_columns if wide.annotator]
            yield (
                f"what are {quoted(repeated)}? Their values repeat, and nothing is read from them; if people gave them: --wide-annotators "
                f"{','.join([*people, *repeated])} with --scale or --category; if they do not matter: --drop {repeated[0]}"
            )
        if self.unclear_pairs:
            yield (
                f"the columns of scores look like {self.unclear_pairs}: people on several questions, and nothing says which are people; "
                "write the guess down with --plan FILE.toml, name annotator and metric of each column there in [[wide]], and pass it with "
                "--map"
            )
        nested = [name for name, column in self.columns.items() if name not in self.named and (column.nested or column.holds_objects)]
        if nested:
            yield f"{quoted(nested)} hold lists or objects, maybe with scores: give each score a column or a row, or --drop {nested[0]}"
        if len(self.languages) > 1:
            counts = ", ".join(f"{tag} ({count} of {self.looked})" for tag, count in self.languages.items())
            yield f"the texts look like several languages: {counts}; name their column (--column language=COLUMN), or --language TAG"
        if self.guessed_system and (not scored or (len(self.mapping.scored_columns) == 1 and self.mapping.scored_columns[0].annotator)):
            name = self.guessed_system
            yield f"'{name}' may hold people or their answers, or systems: --column annotator_id={name}, --system {name} or --drop {name}"
        annotators = self._find_column("annotator_id")
        if annotators and self.mapping.id_from == (ROW_NUMBER,) and not self.given.id_from and self.mapping.texts:
            cells = zip(*(self.columns[name].cells for name in self.mapping.texts.values()), strict=True)
            rows = {(text, record.number) for text, record in zip(cells, self.table.records, strict=True)}  # a row may be several people's
            if repeated_texts := sum(times > 1 for times in Counter(text for text, _ in rows).values()):
                yield (
                    f"{repeated_texts} texts stand in several rows, and no column says which rows are about one text: name it with "
                    "--column item_id=COLUMN, or say that each row is a text of its own: --id-from '#'"
                )
        states = self.columns.get("AssignmentStatus") if {*_MTURK} <= self.columns.keys() else None
        if rejected := sum(str(state).casefold() == "rejected" for state in states.cells) if states else 0:
            yield f"{rejected} assignments were rejected: take these rows out of the table"
        ids = self.columns[self.by_role["item_id"]].cells if self.by_role.get("item_id") in self.columns else ()
        if totals := [self.table.records[row].place() for row, name in enumerate(ids) if is_total(name)]:
            yield f"{', '.join(totals)}: a row of totals or means, and no text; take it out of the table"

    def _describe_form(self) -> str:
        """Return a sentence if columns look like the answers of a form, where a row is a person and a column has the scores of one text."""
        if self.mapping.wide_items is not None or self.given.scored_columns or any(column.is_text for column in self.columns.values()):
            return ""
        ids = "ResponseId" in self.columns  # of Qualtrics, whose columns are called Q1_1: elsewhere rater_1 may be a person
        for pattern, families in ((r"(.+?)\s*\[[^]]+\]", r"{} *\[(?P<item>[^]]+)\]"), (r"(\w+?)_\d+", r"{}_(?P<item>\d+)")):
            stem_counts = Counter(
                match[1] for name, column in self.columns.items() if column.filled and (match := re.fullmatch(pattern, name))
            )
            stems = [stem for stem, times in stem_counts.items() if times > 1]
            if not stems or not (ids or pattern.startswith("(.+")):
                continue
            flag = families.format(r"(?P<metric>.+?)" if len(stems) > 1 else ".*" if "[" in families else stems[0])
            who = next((column.name for column in self._list_free() if column.is_key and not re.fullmatch(pattern, column.name)), None)
            respondent = next((name for name in _RESPONDENTS if name in self.columns), None)
            who = respondent or self._find_column("annotator_id") or who or self.by_role.get("item_id") or "COLUMN"
            return (
                f"the columns of {quoted(stems)} look like the answers to a form: a row a person, a column a text; read them with "
                f"--wide-items '{flag}' --column 'annotator_id={who}' --language TAG, and the texts with --items FILE, or name what the "
                "columns are: --wide-annotators or --wide-metrics"
            )
        return ""


_WHO = {
    "persistent": "people: each column is one person throughout (--annotators positional, if anybody could be in it)",
    "positional": "people: the columns are numbered places, in which different people may stand (--annotators persistent, if each is one "
    "person throughout)",
}
