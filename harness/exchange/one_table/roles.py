"""The roles of a table's columns, decided together: by what the cells hold first, then by the words in the columns' names.

A judge's column is never a person in silence: a column of scores that neither its name nor a flag explains is asked about or refused."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import msgspec

from harness.content.column_words import column_words, is_judge_name, judge_refusal, name_parts
from harness.content.tags import language_named
from harness.errors import UsageError
from harness.exchange.labels.cell_scores import MOST_CLASSES, cell_score
from harness.exchange.labels.table_columns import SourceColumn
from harness.exchange.labels.table_options import Role, TableOptions
from harness.exchange.one_table.column_names import (
    ProbabilityColumns,
    Side,
    are_pair,
    field_name,
    list_aggregates,
    names_question,
    side_of,
)
from harness.exchange.one_table.columns_of_scores import ColumnsOfScores
from harness.exchange.one_table.role_state import JUDGED, MOST_SYSTEMS, MTURK_INPUT, SideColumn, listed
from harness.exchange.one_table.rows_of_scores import RowsOfScores
from harness.text import quoted

_OUTPUTS = ("output", "response", "answer", "translation", "summary", "completion", "reply", "text")  # names of the text that is judged


class TableRoles(msgspec.Struct, frozen=True):
    """The role of every column, and how the scores stand: in `scores` columns, or in rows by `rater` and `kind` of rater.

    Attributes:
        by_column: the role of each column.
        scores: columns with one side's scores. In a table with a row a score, the only one has the side `human` and is read by rater.
        texts: name of a text -> its column.
        kind: the column that says for each row whether a person or a judge gave the score.
        rater: the column that names who gave a row's scores.
        judges: the names in that column that are judges'.
        notes: sentences on columns that are set aside although they look like scores.
        probabilities: the columns of probabilities, by the column with the scores of the judge whose they are.
        likeliest: columns that are no part of the table: the likeliest class by a judge's probabilities, which is its score.
    """

    by_column: dict[str, Role]
    scores: tuple[SideColumn, ...]
    texts: dict[str, str]
    kind: str | None = None
    rater: str | None = None
    judges: frozenset[str] = frozenset()
    notes: tuple[str, ...] = ()
    probabilities: dict[str, ProbabilityColumns] = {}
    likeliest: tuple[SourceColumn, ...] = ()

    def first(self, role: Role) -> str | None:
        """Return the first column with a role."""
        return next((name for name, column_role in self.by_column.items() if column_role == role), None)

    @property
    def rows_are_scores(self) -> bool:
        """Return whether a row has one rater's scores, of a person or a judge."""
        return self.kind is not None or any(column.side == "human" and self.by_column[column.column] == "score" for column in self.scores)


class RoleFinder(RowsOfScores, ColumnsOfScores):
    """Finds the roles step by step; every step sees what the ones before it have set."""

    def find_all(self) -> TableRoles:
        """Return the roles. Raises UsageError for a column of scores that nothing explains, and where a side has no scores."""
        likeliest = () if self._has_judge_scores() else tuple(map(self.add_likeliest, self.probabilities))
        self._set_aside()
        self._find_languages_and_texts()
        self._find_places_in_groups()
        if "text" not in self.roles.values():  # then comments that stand in every row are what was scored, such as reviews of a shop
            remarks = [self.columns[name] for name, role in self.roles.items() if role == "reason" and name in self.columns]
            full_texts = [column.name for column in remarks if column.is_text and column.is_key and side_of(column.name) is None]
            self.roles |= dict.fromkeys(full_texts if len(full_texts) == 1 else (), "text")
        kind, rater, scores = self.find_rows_of_scores(judged=True)
        if not scores:
            kind, scores = None, self.find_columns_of_scores()
        self._find_keys(bool(rater or kind))
        judges: frozenset[str] = frozenset()
        if kind is None and rater is not None and any(self.roles[column.column] == "score" for column in scores):
            judges = self.find_judges_in_rows(self.columns[rater])
        elif kind is None:
            self._refuse_one_side({column.side for column in scores})
            self._refuse_repeated_texts()
        by_column: dict[str, Role] = {name: self.roles.get(name, "unused") for name in self.columns}
        probabilities = self.assign_probabilities(scores)
        by_column |= dict.fromkeys((name for columns in probabilities.values() for name in columns.columns), "probability")
        return TableRoles(by_column, tuple(scores), self._name_texts(), kind, rater, judges, tuple(self.notes), probabilities, likeliest)

    def has_judge(self) -> bool:
        """Return whether a column of scores or of probabilities, or the name of somebody who gave scores, is a judge's."""
        return bool(self.probabilities) or self._has_judge_scores()

    def _has_judge_scores(self) -> bool:
        if self.options.judge or "judge" in self.rater_sides.values():
            return True
        words, columns = column_words(), [column for column in self.columns.values() if column.name not in self.roles and column.filled]
        if any(side_of(column.name) == "judge" and self.is_scores(column, columns) for column in columns):
            return True
        raters = [column for column in columns if words.in_name("annotator", column.name) and column.words and not column.is_text]
        if any(is_judge_name(str(value)) for column in raters for value in column.counts):
            return True
        self._set_aside()
        self._find_languages_and_texts()
        return any(self.names_people_and_judges(column) for column in self.list_free())

    def find_people(self) -> TableRoles:
        """Return the roles of a table that no judge has scored: columns of scores are people's.

        Raises UsageError for a judge's scores, and for scores that nothing explains where others are people's by name.
        """
        self._set_aside()
        self._find_languages_and_texts()
        _, rater, scores = self.find_rows_of_scores(judged=False)
        if not scores and "score" not in self.roles.values():
            if "annotator" not in self.roles.values():  # else the number of a turn is a part of the item's id
                self._find_places_in_groups()
            # The columns of people's scores: those that look like scores, and a constant one between two others of its scale.
            free, words = self.list_free(), column_words()
            scored = [column for column in free if column.looks_like_scores and not words.in_name("group", column.name)]
            names = list(self.columns)
            ends = [names.index(column.name) for column in scored]
            if "annotator" in self.roles.values():
                scored = self.without_facts(scored)
            values = {score for column in scored for score in column.scores}
            for column in free:
                between = bool(ends) and min(ends) < names.index(column.name) < max(ends)
                if column not in scored and between and column.may_be_scores and set(column.scores) <= values:
                    scored.append(column)
            scored.sort(key=lambda column: names.index(column.name))
            sides = {column.name: None if column.name in self.options.human else side_of(column.name) for column in scored}
            if judges := [name for name, side in sides.items() if side == "judge"]:
                columns = ",".join(name for name in sides if name not in judges) or "COLUMNS"
                flag = f"name people's columns alone: --wide-annotators {columns}; or "
                raise UsageError(judge_refusal(judges, f"{flag}say that it is a person: --human '{judges[0]}'"))
            people: dict[str, Side] = dict.fromkeys(sides, "human")
            aggregates = list_aggregates([name for name in people if name not in self.options.human])
            if len(aggregates) == len(people) > 1:
                means = [name for name in aggregates if column_words().gold.intersection(name_parts(name))]
                left_out = "".join(f" --drop '{name}'" for name in aggregates if name not in means)
                raise UsageError(
                    f"{quoted(aggregates)} seem to be made of several people's scores, and no column has one person's: pass "
                    f"--wide-metrics '{','.join(means)}' --annotators aggregate{left_out}, or --wide-annotators '{','.join(aggregates)}' "
                    "if each is one person's"
                )
            self.set_gold_aside(people)
            by_name = [name for name in people if sides[name] == "human" or name in self.options.human]
            if by_name and len(by_name) < len(people):
                self.explain([name for name in people if name not in by_name], people)
            self.roles |= dict(people)
            scores = [SideColumn(name, "human", name, "") for name in people]
            self.refuse_parts_of_one_answer(scores)
        self._find_keys(rater is not None or "annotator" in self.roles.values())
        by_column: dict[str, Role] = {name: self.roles.get(name, "unused") for name in self.columns}
        return TableRoles(by_column, tuple(scores), {}, None, rater, notes=tuple(self.notes))

    def _set_aside(self) -> None:
        """Set aside what is about raters or the task, and what raters wrote."""
        words = column_words()
        for column in self.list_free():
            parts = set(name_parts(column.name)) - set(words.in_name("people", column.name).split())  # a native speaker is a person
            if column.nested:
                self.roles[column.name] = "text" if words.in_name("reason", column.name) == "" and "messages" in parts else "unused"
            elif not column.looks_like_scores and (
                words.in_name("reason", column.name) or parts & words.remarks or column.name.casefold().startswith("answer.")
            ):
                self.roles[column.name] = "reason"
            elif column.is_date or (column.holds_objects and parts & words.metadata):
                self.roles[column.name] = "unused"
            elif words.in_name("system", column.name) and column.words and self._has_pair(column):
                self.roles[column.name] = "system"
            elif parts & words.metadata and not column.is_text and not self.is_kind(column):
                self.roles[column.name] = "unused"

    def _has_pair(self, column: SourceColumn) -> bool:
        """Return whether another column of words is the same of the other text of a pair, as model_a is of model_b."""
        partners = (other for name, other in self.columns.items() if are_pair(column.name, name) or are_pair(name, column.name))
        return any(other.words and not other.is_text for other in partners)

    def _find_languages_and_texts(self) -> None:
        for column in self.list_free():
            if column.is_text:
                self.roles[column.name] = "text"
            elif "language" in self.roles.values() or self.options.language or len(column.counts) > _MOST_LANGUAGES:
                continue
            elif column_words().in_name("language", column.name) and any(language_named(str(value)) for value in column.counts):
                self.roles[column.name] = "language"

    def _find_places_in_groups(self) -> None:
        """Set aside numbers that number the texts within a group, such as the turns of a conversation: 1, 2, 3 in each of them.

        A column that has no other role, and names a text only together with this number, is the group.
        """
        words = column_words()
        texts = list(zip(*(self.columns[name].cells for name, role in self.roles.items() if role == "text"), strict=True))
        for column in self.list_free():
            is_named = bool({*name_parts(column.name)} & words.places)
            counted = column.is_numeric and not column.words and len(column.numbers) > 1 and all(map(float.is_integer, column.numbers))
            if (
                not counted
                or column.numbers[0] not in (0, 1)
                or column.is_key
                or side_of(column.name)
                or words.in_name("scores", column.name)
            ):
                continue
            if not is_named and (words.in_name("id", column.name) or len({*texts}) <= len(column.counts)):
                continue  # the number alone names a text
            for group in self.columns.values():
                is_key = words.in_name("id", group.name) or words.in_name("group", group.name)
                of_person = group.is_id or words.in_name("account", group.name) or words.in_name("annotator", group.name)
                if group is column or not is_key or of_person or group.is_text or not group.repeats or group.filled < len(group.cells):
                    continue
                numbers: dict[Any, dict[float | str | None, None]] = {}
                for key, cell in zip(group.cells, column.cells, strict=True):
                    numbers.setdefault(key, {})[None if cell is None else cell_score(cell)] = None
                rising = [[column.numbers[0] + step for step in range(len(of_group))] for of_group in numbers.values()]
                in_order = all(list(of_group) == run for of_group, run in zip(numbers.values(), rising, strict=True))
                complete = all({*of_group} == {*run} for of_group, run in zip(numbers.values(), rising, strict=True))
                if 2 * sum(len(of_group) > 1 for of_group in numbers.values()) > len(numbers) and (in_order or (is_named and complete)):
                    self.roles[column.name] = "unused"
                    if group.name not in self.roles and len({*texts}) > len(numbers) and "group" not in self.roles.values():
                        self.roles[group.name] = "group"
                    self.notes.append(f"'{column.name}' numbers the texts of each '{group.name}'")
                    break

    def _find_keys(self, rated: bool) -> None:
        """Find the id, the group and the system among the columns that are left."""
        words = column_words()
        self.roles |= dict.fromkeys((column.name for column in self.list_free() if column.is_mail), "unused")  # of people
        roles: tuple[Role, ...] = ("id", "group", "system")
        for role in roles:
            if role in self.roles.values():
                continue
            free = [column for column in self.list_free() if words.in_name(role, column.name)]
            if role == "id":
                filled = [column for column in free if column.filled == len(column.cells)]
                of_raters = [column for column in filled if rated and self._is_item_of_raters(column)]
                free = (
                    of_raters
                    or [column for column in filled if column.is_key]
                    or [column for column in filled if rated or len(column.counts) > _MOSTLY * column.filled]
                )
                asked = [column for column in self.list_free() if column.is_key and column.words and names_question(column.name)]
                self.roles |= dict.fromkeys((column.name for column in asked if not rated), "text")
                free = free or [column for column in self.list_free() if column.is_key and not column.is_text and not rated]
                free = free or ([column for column in self.list_free() if self._is_item_of_raters(column)] if rated else [])
                free.sort(key=lambda column: (-len(column.counts), not column.name.startswith(MTURK_INPUT)) if rated else ())
            else:
                free = [column for column in free if column.repeats and len(column.counts) > 1]
                free = [column for column in free if role == "group" or (column.words and len(column.counts) <= MOST_SYSTEMS)]
            if free and role == "id" and rated and self._has_second_part(free[0]):
                self.roles[free[0].name] = "group"  # the item is known by its texts, or by both columns
            elif free:
                self.roles[free[0].name] = role
        if not rated and not {"id", "group"} & {*self.roles.values()}:
            # Ids that stand in several rows with different texts name what these texts share.
            for column in self.list_free():
                is_filled = column.filled == len(column.cells) <= _MANY_ROWS_OF_GROUP * len(column.counts)
                if column.repeats and is_filled and words.rank_of_name("id", column.name) is not None:
                    self.roles[column.name] = "group"
                    self.notes.append(f"'{column.name}' stands in several rows with different texts: they count as one group")
                    break
        if rated and (key := next((name for name, column_role in self.roles.items() if column_role == "id"), None)) is not None:
            for name, column_role in list(self.roles.items()):
                if column_role == "text" and name in self.columns and not self.is_constant_within(name, key):
                    self.roles[name] = "reason"  # what raters wrote of an item differs from row to row

    def _is_item_of_raters(self, column: SourceColumn) -> bool:
        """Return whether rows of several raters are about the items of a column: each has one text, and no rater scores it twice."""
        rater = next((name for name, role in self.roles.items() if role == "annotator"), None)
        if rater is None or column.is_text or not 1 < len(column.counts) < column.filled == len(column.cells):
            return False
        row_keys = [rater, *(name for name, role in self.roles.items() if role == "metric")]
        rows = list(zip(column.cells, *(self.columns[name].cells for name in row_keys), strict=True))
        texts = [name for name, role in self.roles.items() if role == "text"]
        same = {row for row in zip(column.cells, *(self.columns[name].cells for name in texts), strict=True)}
        return len(set(rows)) == len(rows) and len(same) == len(column.counts)

    def _has_second_part(self, first: SourceColumn) -> bool:
        """Return whether another column together with this one tells the items of several raters, as a turn does in a conversation."""
        raters = [self.columns[name].cells for name, role in self.roles.items() if role == "annotator"]
        texts = [self.columns[name].cells for name in self.roles if self.roles[name] == "text"]
        if not raters or not texts or all(self.is_constant_within(name, first.name) for name in self.roles if self.roles[name] == "text"):
            return False
        return any(are_items_of_raters((first, second), texts, raters[0]) for second in self.list_free() if second is not first)

    def _refuse_one_side(self, sides: set[Side]) -> None:
        columns = ", ".join(self.columns)
        if not sides:
            what, flag, assigned = "people's or a judge's scores", "--human COLUMN and --judge COLUMN", ""
            more = "; a table that nobody has scored is the beginning of 'harness start TABLE'"
        elif "judge" not in sides:
            what, flag = "a judge's scores", "--judge COLUMN"
            people = [name for name, role in self.roles.items() if role == "human"]
            assigned = f" (people: {', '.join(people)})" if people else ""
            more = "; a table that no judge has scored is the beginning of 'harness start TABLE'"
        elif "human" not in sides:
            what, flag, assigned, more = "people's scores", "--human COLUMN", "", ""
            assigned = f" (judges: {', '.join(name for name, role in self.roles.items() if role == 'judge')})"
        else:
            return
        side = "human" if "judge" in sides else "judge"
        lacking = {side} if sides else {"human", "judge"}
        texts = [f"; {self.holds_texts(name)}" for name, role in self.roles.items() if role == "text" and side_of(name) in lacking][:1]
        for name, column in self.columns.items():
            if name in self.options.columns or side_of(name) not in lacking:
                continue
            flag_of_column = f"--{side_of(name)} '{name}'"
            is_rater = column_words().rank_of_name("annotator", name) is not None and side_of(name) == "human"
            is_open = self.roles.get(name, "annotator") == "annotator" and not is_rater and not column.is_id
            if is_open and column.words and len(column.scores) <= MOST_CLASSES and column.repeats:  # words that no other column has
                texts.append(f"; '{name}' holds words: {listed(sorted(column.words))}; if they are scores: {flag_of_column}")
            elif self.roles.get(name) == "unused" and column.looks_like_scores:
                texts.append(f"; '{name}' is set aside for its name; if it holds scores: {flag_of_column}")
        lists = [
            name
            for name, column in self.columns.items()
            if column.nested
            or column.holds_objects
            or any(isinstance(cell, str) and cell.startswith("[") and cell.endswith("]") for cell in column.counts)
        ]
        hold = "holds" if len(lists) == 1 else "hold"
        texts += [f"; {quoted(lists)} {hold} lists or objects, maybe with scores: give each score a column or a row"] if lists else []
        raise UsageError(
            f"no column with {what} was found{assigned}{''.join(texts)}; name it with {flag}; the columns are: {columns}{more}"
        )

    def _refuse_repeated_texts(self) -> None:
        """Raise UsageError where rows have the texts of other rows, and a column of names tells them apart: who scored, most likely."""
        texts = list(zip(*(self.columns[name].cells for name, role in self.roles.items() if role == "text"), strict=True))
        if not texts or 2 * len(set(texts)) > len(texts):
            return
        for name, column in self.columns.items():
            if name in self.options.drop:
                continue
            few = 1 < len(column.counts) <= MOST_SYSTEMS and column.filled == len(texts) and not column.is_text and column.words
            if (
                few
                and self.roles.get(name, "unused") in ("unused", "system")
                and len(set(zip(texts, column.cells, strict=True))) == len(texts)
            ):
                raise UsageError(
                    f"{len(set(texts)):,} texts stand in several rows, which '{name}' tells apart ({quoted(map(str, column.counts))}): "
                    "if it says who scored, give each of them a column of scores, or each score a row beside that name; if not: "
                    f"--drop '{name}'"
                )

    def _name_texts(self) -> dict[str, str]:
        """Return the texts by the names that they get: the one that is judged is `output`, of a pair `output_a` and `output_b`."""
        names = [name for name in self.columns if self.roles.get(name) == "text"]
        for name in names:
            for other in names:
                if are_pair(name, other):
                    rest = {field_name(more, JUDGED): more for more in names if more not in (name, other)}
                    return rest | {"output_a": name, "output_b": other}
        ranked = sorted(
            names, key=lambda name: next((rank for rank, word in enumerate(_OUTPUTS) if word in name_parts(name)), len(_OUTPUTS))
        )
        output = ranked[:1] if ranked and set(name_parts(ranked[0])) & {*_OUTPUTS} else names[-1:]
        return {("output" if name in output else field_name(name, JUDGED)): name for name in names}


_MOST_LANGUAGES = 200
_MANY_ROWS_OF_GROUP = 10  # of one id on average: more rows are no item's
_MOSTLY = 0.9  # of the rows have an id of their own, where a row is a text


def are_items_of_raters(columns: Sequence[SourceColumn], texts: Sequence[Sequence[Any]], rater: Sequence[Any]) -> bool:
    """Return whether columns together tell the items that several raters scored: each has one text, and no rater scores it twice."""
    keys = list(zip(*(column.cells for column in columns), strict=True))
    items, rows = set(keys), set(zip(keys, rater, strict=True))
    return len(items) == len(set(zip(keys, *texts, strict=True))) < len(rows) == len(keys)


def is_total(cell: Any) -> bool:
    """Return whether an id says that its row has totals or means of the others."""
    return isinstance(cell, str) and cell.strip().casefold() in column_words().totals


def find_roles(columns: Sequence[SourceColumn], options: TableOptions, ask: Callable[[str], Role] | None = None) -> TableRoles:
    """Return the roles of a table's columns.

    Args:
        columns: the columns as they stand.
        options: what the user says of them; nothing of it is guessed.
        ask: answers what a column of scores is that nothing explains; without it, such a column is refused.

    Raises:
        UsageError: for a column that is not there, for scores that nothing explains, and where people or judges have no scores.
    """
    return RoleFinder(columns, options, ask).find_all()
