"""The roles of a table's columns, decided together: by what the cells hold first, then by the words in the columns' names.

A judge's column is never a person in silence: a column of scores that neither its name nor a flag explains is asked about or refused.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from statistics import median
from typing import Any, NamedTuple

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
    are_places,
    field_name,
    find_pair_key,
    find_probability_columns,
    list_aggregates,
    name_scorer,
    name_without_side,
    names_question,
    probabilities_of_verdicts,
    side_of,
)
from harness.text import one_line, quoted

_OUTPUTS = ("output", "response", "answer", "translation", "summary", "completion", "reply", "text")  # names of the text that is judged
MTURK_INPUT = "Input."  # columns of Mechanical Turk's results that the workers were shown
_JUDGED = ("output", "output_a", "output_b")


class SideColumn(NamedTuple):
    """A column of one side's scores on one metric; `who` names the judge or person."""

    column: str
    side: Side
    who: str
    metric: str


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


class RoleFinder:
    """Finds the roles step by step; every step sees what the ones before it have set."""

    def __init__(
        self,
        columns: Sequence[SourceColumn],
        options: TableOptions,
        ask: Callable[[str], Role] | None = None,
        settled: Mapping[str, Role] | None = None,
    ) -> None:
        self.columns, self.options, self.ask = {column.name: column for column in columns}, options, ask
        self.roles: dict[str, Role] = dict(settled or {})
        self.notes: list[str] = []
        stated = options.columns
        absent = [name for name in stated if name not in self.columns]
        # Names of --human and --judge that are no columns are raters, where one column holds them all.
        self.rater_sides: dict[str, Side] = {name: "judge" if name in options.judge else "human" for name in absent}
        self.stated_rater: SourceColumn | None = None
        if absent:
            named = set(absent) <= {*options.human, *options.judge}
            columns_with_names = [
                column for column in columns if named and not column.is_text and set(absent) <= {str(value) for value in column.counts}
            ]
            if not columns_with_names:
                is_no = "is not a column" if len(absent) == 1 else "are not columns"
                raise UsageError(f"{quoted(absent)} {is_no} of the table; its columns are: {', '.join(self.columns)}")
            [self.stated_rater, *_] = columns_with_names
            human, judge = ([name for name in names if name in self.columns] for names in (options.human, options.judge))
            self.options = options = replace(options, human=tuple(human), judge=tuple(judge))
            stated = options.columns
        for flag, names in (("--human", options.human), ("--judge", options.judge)):
            if texts := [name for name in names if self.columns[name].is_text]:
                raise UsageError(f"{flag} {texts[0]}: {self._holds_texts(texts[0])}")
        self.roles |= stated
        if options.language in self.columns:
            self.roles[options.language] = "language"
        if options.metric in self.columns:
            self.roles[options.metric] = "metric"
        free = [column for name, column in self.columns.items() if self.roles.get(name) in (None, "judge") and column.filled]
        probability_columns = find_probability_columns(free, list(self.columns.values()))
        self.probabilities = [columns for columns in probability_columns if side_of(columns.judge) != "human"]
        self.roles |= dict.fromkeys((name for columns in self.probabilities for name in columns.columns), "probability")
        self.options = replace(options, judge=tuple(name for name in options.judge if self.roles[name] == "judge"))

    def find_all(self) -> TableRoles:
        """Return the roles. Raises UsageError for a column of scores that nothing explains, and where a side has no scores."""
        likeliest = () if self._has_judge_scores() else tuple(map(self._add_likeliest, self.probabilities))
        self._set_aside()
        self._find_languages_and_texts()
        self._find_places_in_groups()
        if "text" not in self.roles.values():  # then comments that stand in every row are what was scored, such as reviews of a shop
            remarks = [self.columns[name] for name, role in self.roles.items() if role == "reason" and name in self.columns]
            full_texts = [column.name for column in remarks if column.is_text and column.is_key and side_of(column.name) is None]
            self.roles |= dict.fromkeys(full_texts if len(full_texts) == 1 else (), "text")
        kind, rater, scores = self._find_rows_of_scores(judged=True)
        if not scores:
            kind, scores = None, self._find_columns_of_scores()
        self._find_keys(bool(rater or kind))
        judges: frozenset[str] = frozenset()
        if kind is None and rater is not None and any(self.roles[column.column] == "score" for column in scores):
            judges = self._find_judges_in_rows(self.columns[rater])
        elif kind is None:
            self._refuse_one_side({column.side for column in scores})
            self._refuse_repeated_texts()
        by_column: dict[str, Role] = {name: self.roles.get(name, "unused") for name in self.columns}
        probabilities = self._assign_probabilities(scores)
        by_column |= dict.fromkeys((name for columns in probabilities.values() for name in columns.columns), "probability")
        return TableRoles(by_column, tuple(scores), self._name_texts(), kind, rater, judges, tuple(self.notes), probabilities, likeliest)

    def has_judge(self) -> bool:
        """Return whether a column of scores or of probabilities, or the name of somebody who gave scores, is a judge's."""
        return bool(self.probabilities) or self._has_judge_scores()

    def _has_judge_scores(self) -> bool:
        if self.options.judge or "judge" in self.rater_sides.values():
            return True
        words, columns = column_words(), [column for column in self.columns.values() if column.name not in self.roles and column.filled]
        if any(side_of(column.name) == "judge" and self._is_scores(column, columns) for column in columns):
            return True
        raters = [column for column in columns if words.in_name("annotator", column.name) and column.words and not column.is_text]
        if any(is_judge_name(str(value)) for column in raters for value in column.counts):
            return True
        self._set_aside()
        self._find_languages_and_texts()
        return any(self._names_people_and_judges(column) for column in self._list_free())

    def find_people(self) -> TableRoles:
        """Return the roles of a table that no judge has scored: columns of scores are people's.

        Raises UsageError for a judge's scores, and for scores that nothing explains where others are people's by name.
        """
        self._set_aside()
        self._find_languages_and_texts()
        _, rater, scores = self._find_rows_of_scores(judged=False)
        if not scores and "score" not in self.roles.values():
            if "annotator" not in self.roles.values():  # else the number of a turn is a part of the item's id
                self._find_places_in_groups()
            # The columns of people's scores: those that look like scores, and a constant one between two others of its scale.
            free, words = self._list_free(), column_words()
            scored = [column for column in free if column.looks_like_scores and not words.in_name("group", column.name)]
            names = list(self.columns)
            ends = [names.index(column.name) for column in scored]
            if "annotator" in self.roles.values():
                scored = self._without_facts(scored)
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
            self._set_gold_aside(people)
            by_name = [name for name in people if sides[name] == "human" or name in self.options.human]
            if by_name and len(by_name) < len(people):
                self._explain([name for name in people if name not in by_name], people)
            self.roles |= dict(people)
            scores = [SideColumn(name, "human", name, "") for name in people]
            self._refuse_parts_of_one_answer(scores)
        self._find_keys(rater is not None or "annotator" in self.roles.values())
        by_column: dict[str, Role] = {name: self.roles.get(name, "unused") for name in self.columns}
        return TableRoles(by_column, tuple(scores), {}, None, rater, notes=tuple(self.notes))

    def _list_free(self) -> list[SourceColumn]:
        return [column for name, column in self.columns.items() if name not in self.roles and column.filled]

    def _set_aside(self) -> None:
        """Set aside what is about raters or the task, and what raters wrote."""
        words = column_words()
        for column in self._list_free():
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
            elif parts & words.metadata and not column.is_text and not self._is_kind(column):
                self.roles[column.name] = "unused"

    def _add_likeliest(self, columns: ProbabilityColumns) -> SourceColumn:
        """Add the column of the likeliest class, which is the score of a judge that gave probabilities alone."""
        name = columns.judge or "judge"
        while name in self.columns:
            name += "_likeliest"
        self.columns[name] = added = SourceColumn(name, columns.likeliest())
        self.options = replace(self.options, judge=(*self.options.judge, name))
        self.notes.append(f"the score of '{name}' is the likeliest class by {', '.join(columns.columns)}")
        if tied := len(added.cells) - added.filled:
            self.notes.append(
                f"{tied} of {len(added.cells)} rows have no likeliest class: two are as likely, or the probabilities are no whole"
            )
        return added

    def _assign_probabilities(self, scores: Sequence[SideColumn]) -> dict[str, ProbabilityColumns]:
        """Return the columns of probabilities by the judge's column whose they are: the only judge, or the one that their names name.

        A confidence that stands beside the verdicts of the only judge is the probability of the verdict, if there are two.
        """
        judges = [] if any(self.roles.get(score.column) == "score" for score in scores) else [s for s in scores if s.side == "judge"]
        assigned: dict[str, ProbabilityColumns] = {}
        for columns in self.probabilities:
            named = [score for score in judges if columns.judge and set(name_parts(columns.judge)) <= set(name_parts(score.column))]
            of_judge = named or (judges if not columns.judge or len(self.probabilities) == 1 else [])
            if len(of_judge) == 1:
                assigned.setdefault(of_judge[0].column, columns)
            else:
                self.notes.append(f"{', '.join(columns.columns)} are not read: they are no probabilities of the classes of one judge")
        if self.probabilities or len(judges) != 1:
            return assigned
        [judge] = judges
        verdicts, names = self.columns[judge.column], list(self.columns)
        people = (self.columns[score.column].scores for score in scores if score.side == "human" and score.metric == judge.metric)
        classes = sorted({*verdicts.scores, *(score for of_person in people for score in of_person)}, key=str)
        sure = [column for name, column in self.columns.items() if {*name_parts(name)} & column_words().sureness]
        for column in sure if len(classes) == 2 else ():
            beside = side_of(column.name) == "judge" or names.index(column.name) == names.index(judge.column) + 1
            if self.roles.get(column.name, "unused") != "unused" or column.name in self.options.drop or not beside:
                continue
            if of_verdicts := probabilities_of_verdicts(column, verdicts, classes):
                self.notes.append(f"'{column.name}' is read as the probability of the verdict in '{judge.column}'")
                return {judge.column: of_verdicts}
        return assigned

    def _has_pair(self, column: SourceColumn) -> bool:
        """Return whether another column of words is the same of the other text of a pair, as model_a is of model_b."""
        partners = (other for name, other in self.columns.items() if are_pair(column.name, name) or are_pair(name, column.name))
        return any(other.words and not other.is_text for other in partners)

    def _find_languages_and_texts(self) -> None:
        for column in self._list_free():
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
        for column in self._list_free():
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

    def _find_rows_of_scores(self, *, judged: bool) -> tuple[str | None, str | None, list[SideColumn]]:
        """Return (kind, rater, columns of scores) of a table with a row a rater's scores; the rater alone where scores are in columns.

        In a table that is `judged`, a column that may name the raters is asked about.
        """
        words, free = column_words(), self._list_free()
        scored = [column for column in free if self._is_scores(column, free)]
        plain = [column for column in scored if side_of(column.name) is None and words.in_name("scores", column.name)]
        kinds = [column for column in free if column not in plain and column.words and self._is_kind(column)]
        kind = next(iter(kinds), None)
        raters = [column for column in free if column not in plain and column is not kind and self._is_rater(column, scored)]
        rater = next(iter(raters or [column for column in free if column is not kind and self._is_account_of_raters(column)]), None)
        rater = self.stated_rater or rater
        sided = [column for column in scored if column not in (kind, rater) and side_of(column.name)]
        sided += [self.columns[name] for name in (*self.options.human, *self.options.judge)]
        if kind is None and rater is None and scored and not sided:  # then what stands in rows of the same texts may say who scored them
            rater = next((column for column in free if column not in scored and self._names_people_and_judges(column)), None)
            tellers = [column for column in free if column not in scored and self._may_name_raters(column)] if judged else []
            if rater is None and tellers:
                [rater, *_] = tellers
                about = f"'{rater.name}' tells rows of the same texts apart, and none of its words looks like the name of a judge"
                self._ask_for_judges(rater, about, f"if '{rater.name}' does not say who scored: --drop '{rater.name}'")
        if rater is not None:
            self.roles[rater.name] = "annotator"
        if sided or (kind is None and rater is None):
            return None, rater.name if rater else None, []
        criteria = [column for column in plain if column.looks_like_scores] or plain[:1]
        criteria = criteria or [column for column in scored if column not in (kind, rater) and column.looks_like_scores]
        if not criteria:
            return None, rater.name if rater else None, []
        criteria = self._without_facts(criteria)
        if kind is not None:
            self.roles[kind.name] = "annotator"
        metric = next((column for column in self._list_free() if self._is_metric(column, criteria)), None) if len(criteria) == 1 else None
        if metric is not None and "metric" not in self.roles.values():
            self.roles[metric.name] = "metric"
        for column in criteria:
            self.roles[column.name] = "score"
        single = len(criteria) == 1 and (bool(plain) or metric is not None)
        metrics = ["" if single else column.name for column in criteria]
        scores = [SideColumn(column.name, "human", "", metric) for column, metric in zip(criteria, metrics, strict=True)]
        return kind.name if kind else None, rater.name if rater else None, scores

    def _is_kind(self, column: SourceColumn) -> bool:
        """Return whether all values speak for people or for judges, such as human and llm, and some for each."""
        sides = {side_of(str(value)) for value in column.counts}
        return len(column.counts) <= _MOST_KINDS and sides == {"human", "judge"}

    def _is_rater(self, column: SourceColumn, scored: Sequence[SourceColumn]) -> bool:
        words = column_words()
        if column.is_text or not column.repeats or not words.in_name("annotator", column.name):
            return False
        only = set(name_parts(column.name)) - {"id", "name", "no", "nr", "type"}
        if any(words.in_name("scores", part) for part in only):
            return False
        if any(are_places([column.name, name]) for name in self.columns if name != column.name):
            return False  # one of several people or judges, each with a column
        of_people = any(side_of(other.name) == "human" for other in scored if other is not column)
        if of_people and all(is_judge_name(str(value)) for value in column.counts):
            return False  # the judge of the row, whose scores stand beside a person's
        if column not in scored:
            return True
        # Scores of an annotator, or the numbers of annotators: these stand in several rows of one text, and are one column.
        if column.words:
            return words.rank_of_name("annotator", column.name) is not None and self._tells_rows_of_texts_apart(column)
        other_scores = [other for other in scored if other is not column and side_of(other.name) is None and other.repeats]
        if any(words.in_name("id", part) for part in name_parts(column.name)):
            return True
        if other_scores and not any(other.is_numeric for other in scored if other is not column):
            return True  # scores are words
        named_scores = any(words.in_name("scores", other.name) for other in other_scores)
        keys = [name for name, role in self.roles.items() if role == "text"]
        keys += [name for name in self.columns if words.rank_of_name("id", name) is not None]
        several = any(self.columns[name].repeats for name in keys)
        is_named = named_scores or words.rank_of_name("annotator", column.name) is not None
        return bool(other_scores) and several and is_named

    def _may_name_raters(self, column: SourceColumn) -> bool:
        """Return whether a column may name who scored: most texts stand in several rows, each with another of a few names."""
        words = column_words()
        if column.is_text or not column.words or not 1 < len(column.counts) <= _MOST_SYSTEMS or column.filled < len(column.cells):
            return False
        if any(words.in_name(role, column.name) for role in ("system", "metric", "language", "group")):
            return False
        texts = [name for name, role in self.roles.items() if role == "text"]
        ids = [name for name in self.columns if name != column.name and words.in_name("id", name) and self.columns[name].repeats]
        metrics = [
            other.cells for name, other in self.columns.items() if words.in_name("metric", name) and self._is_metric(other, [column])
        ]
        rows = list(zip(*(self.columns[name].cells for name in texts or ids[:1]), strict=True))
        several = sum(count > 1 for count in Counter(rows).values())
        return 2 * several > len(set(rows)) and len({*zip(rows, column.cells, *metrics, strict=True)}) == len(rows)

    def _names_people_and_judges(self, column: SourceColumn) -> bool:
        """Return whether a column may name who scored, and some of its names are judges' and some are not."""
        return len({is_judge_name(str(value)) for value in column.counts}) == 2 and self._may_name_raters(column)

    def _find_judges_in_rows(self, rater: SourceColumn) -> frozenset[str]:
        """Return the names of judges among the raters of rows. Asks where none of them, or all of them, look like one."""
        names = [str(value) for value in rater.counts]
        judges = {name for name in names if self.rater_sides.get(name, "judge" if is_judge_name(name) else "human") == "judge"}
        if not judges:
            about = f"no column with a judge's scores was found, and no name in '{rater.name}', which says who scored, looks like a judge's"
            self._ask_for_judges(rater, about, "a table that no judge has scored is the beginning of 'harness start TABLE'")
            judges = {name for name in names if self.rater_sides.get(name) == "judge"}
        if len(judges) == len(names):
            people = ",".join(names[:-1]) or names[0]
            raise UsageError(
                f"'{rater.name}' names who scored each row, and all names look like judges: {_listed(names)}; say who is a person, such "
                f"as --human '{people}'"
            )
        return frozenset(judges)

    def _ask_for_judges(self, rater: SourceColumn, about: str, otherwise: str) -> None:
        """Ask which of the raters in rows are judges. Raises UsageError where nobody can answer."""
        names = [str(value) for value in rater.counts]
        if self.ask is None or len(names) > _MOST_KINDS:
            open_names = [name for name in names if name not in self.rater_sides] or names
            raise UsageError(
                f"{about} ({_listed(names)}); if a judge (a model or a program) is among them, name it, such as "
                f"--judge '{open_names[-1]}'; {otherwise}"
            )
        for name in names:
            side = self.ask(name)
            if side not in ("human", "judge"):
                raise UsageError(f"'{name}' is neither a person nor a judge: take its rows out of the table (column '{rater.name}')")
            self.rater_sides[name] = "human" if side == "human" else "judge"

    def _is_account_of_raters(self, column: SourceColumn) -> bool:
        """Return whether accounts or e-mail addresses are the raters'."""
        if column.is_text or not (column.is_mail or (column.repeats and column_words().in_name("account", column.name))):
            return False
        return self._tells_rows_of_texts_apart(column)

    def _tells_rows_of_texts_apart(self, column: SourceColumn) -> bool:
        """Return whether most texts stand in several rows, each with another value of a column."""
        texts = [name for name, role in self.roles.items() if role == "text"]
        ids = [name for name in self.columns if column_words().in_name("id", name) and name != column.name]
        for names in (texts, *([name] for name in ids)):
            rows = list(zip(*(self.columns[name].cells for name in names), strict=True))
            items = Counter(rows)
            several = sum(count > 1 for count in items.values())
            if 2 * several > len(items) and len({*zip(rows, column.cells, strict=True)}) == len(rows):
                return True
        return False

    def _is_metric(self, column: SourceColumn, criteria: Sequence[SourceColumn]) -> bool:
        is_named = bool(column_words().in_name("metric", column.name))
        return is_named and column not in criteria and not column.is_text and column.repeats and len(column.counts) <= _MOST_METRICS

    def _is_scores(self, column: SourceColumn, candidates: Iterable[SourceColumn]) -> bool:
        """Return whether a column holds scores: numbers, words of verdicts, or words that another column of scores has too."""
        if not column.may_be_scores or (column_words().in_name("id", column.name) and column.is_key):
            return False
        if column.is_numeric:
            return bool(side_of(column.name)) or column.looks_like_scores or bool(column_words().in_name("scores", column.name))
        side = "judge" if column.name in self.options.judge else side_of(column.name)
        if side == "judge" and 2 * sum(column.scores[word] for word in column.words) < column.filled:
            return True  # numbers, and replies of the judge without a score
        verdicts = column_words().verdicts
        if column.words <= verdicts.good | verdicts.bad | verdicts.first | verdicts.second | verdicts.tie:
            return True
        if not (side_of(column.name) or column.name in (*self.options.human, *self.options.judge)):
            return column.looks_like_scores or self._shares_words(column, candidates)
        return self._shares_words(column, candidates) or self._names_systems(column)

    def _shares_words(self, column: SourceColumn, candidates: Iterable[SourceColumn]) -> bool:
        stated = (self.columns[name] for name in (*self.options.human, *self.options.judge))
        scored = [other for other in (*candidates, *stated) if other is not column and other.may_be_scores]
        return any(2 * sum(column.scores[word] for word in column.words & other.words) > column.filled for other in scored)

    def _names_systems(self, column: SourceColumn) -> bool:
        """Return whether the words are the names of the systems whose texts are compared."""
        key = find_pair_key(column.name)
        partners = [other for name, other in self.columns.items() if find_pair_key(name) and find_pair_key(name) != key]
        names = {str(value).casefold() for other in partners for value in other.counts}
        return not column.is_text and bool(names) and column.words <= names | column_words().verdicts.tie

    def _find_columns_of_scores(self) -> list[SideColumn]:
        """Return the columns of scores of people and of judges. Raises UsageError for one that nothing explains."""
        free = self._list_free()
        sides: dict[str, Side] = dict.fromkeys(self.options.human, "human")
        sides |= dict.fromkeys(self.options.judge, "judge")
        unexplained = []
        for column in free:
            if not self._is_scores(column, free):
                continue
            side = side_of(column.name)
            if column_words().in_name("id", column.name) and not column_words().in_name("scores", column.name):
                continue
            if side:
                sides[column.name] = side
            else:
                unexplained.append(column)
        named_scores = [column for column in unexplained if column_words().in_name("scores", column.name)]
        if "annotator" in self.roles.values() and "human" not in sides.values():  # the scores of the person in the row
            of_person = named_scores if len(named_scores) == 1 else [column for column in unexplained if self._varies_within_items(column)]
            for column in of_person:
                sides[column.name] = "human"
                unexplained.remove(column)
        self._set_gold_aside(sides)
        self._ask_about_aggregates(sides)
        one_side = len({*sides.values()}) < 2
        side_scores = {score for name in sides for score in self.columns[name].scores}
        open_columns = [
            column.name
            for column in unexplained
            if (column.looks_like_scores and (one_side or column.words or set(column.numbers) <= side_scores))
            or (one_side and column.words and column.words <= side_scores)
            if not column_words().in_name("group", column.name)
        ]
        shares = [self.columns[name] for name in (*sides, *open_columns) if self.columns[name].is_numeric]
        shares = [column for column in shares if column.numbers[0] >= 0 and column.numbers[-1] <= 1]
        self._refuse_parts_of_one_answer([SideColumn(column.name, "human", column.name, "") for column in shares])
        self._explain(open_columns, sides, ("human", "judge"))
        self.roles |= dict(sides)
        scores = self._assign_metrics(sides)
        self._refuse_parts_of_one_answer(scores)
        self._refuse_scores_of_one_text(scores)
        return scores

    def _refuse_scores_of_one_text(self, scores: Sequence[SideColumn]) -> None:
        """Raise UsageError where each text of a pair has a column of scores: such a row holds two texts, and no preference."""
        texts = [name for name, role in self.roles.items() if role == "text"]
        pairs = [(first, second) for first in texts for second in texts if are_pair(first, second)]
        for column in scores if pairs else ():
            other = next((other for other in scores if other.side == column.side and are_pair(column.column, other.column)), None)
            if other and max(len(self.columns[name].numbers) for name in (column.column, other.column)) > len(_JUDGED):  # no preferences
                (first, second), *_ = pairs
                raise UsageError(
                    f"'{column.column}' and '{other.column}' seem to be the scores of '{first}' and of '{second}': give each text a row of "
                    "its own, with its scores; a preference between them is one column"
                )

    def _explain(self, names: Sequence[str], sides: dict[str, Side], needed: Sequence[Side] = ()) -> None:
        """Ask for the roles of columns of scores. Raises UsageError where nobody can answer; the flags that it names lead to an answer.

        Args:
            names: the columns.
            sides: the sides of the other columns of scores; those of `names` are added.
            needed: the sides without which nothing can be compared.
        """
        if names and self.ask is None:
            listed, absent = ",".join(names), [side for side in needed if side not in sides.values()]
            unknown = f"{quoted(names)} {'holds' if len(names) == 1 else 'hold'} scores, and nothing says who gave them"
            if len(absent) == 2 and len(names) == 1:
                raise UsageError(
                    f"{unknown}; no other column was found to hold scores, and a comparison needs a person's and a judge's: name "
                    "both with --human COLUMN and --judge COLUMN, or say --judge NAME where a column names who scored; the columns are: "
                    f"{', '.join(self.columns)}"
                )
            if len(absent) == 2:
                raise UsageError(
                    f"{unknown}: pass --human with those of people and --judge with those of a judge (a model or a program), such as "
                    f"--human '{','.join(names[:-1])}' --judge '{names[-1]}'; --drop COLUMN takes one out"
                )
            judges = " ".join(f"--judge '{name}'" for name in names)
            missing = {"human": "; without --human, no person has scored", "judge": "; without --judge, no judge has scored"}
            raise UsageError(
                f"{unknown}: pass --human '{listed}' if it was people, {judges} if it was a judge (a model or a program), "
                f"--drop '{listed}' if it does not matter{''.join(missing[side] for side in absent)}"
            )
        for name in names:
            role = self.ask(name) if self.ask else "unused"
            if role in ("human", "judge"):
                sides[name] = "human" if role == "human" else "judge"
            else:
                self.roles[name] = "unused"

    def _refuse_parts_of_one_answer(self, scores: Sequence[SideColumn]) -> None:
        """Raise UsageError for columns that together are one answer: ranks, or shares that add up to 1 in each row."""
        for columns in _group_columns(scores, lambda column: (column.side, column.metric)).values():
            names = [column.column for column in columns]
            if len(names) < 3 or not all(self.columns[name].is_numeric for name in names):
                continue
            rows = zip(*(self.columns[name].cells for name in names), strict=True)
            numbers = [[cell_score(cell) for cell in row if cell is not None] for row in rows]
            full = [[score for score in row if isinstance(score, float)] for row in numbers if len(row) == len(names)]
            if full and all(sorted(row) == [float(rank) for rank in range(1, len(names) + 1)] for row in full):
                raise UsageError(f"{quoted(names)} hold ranks (1 to {len(names)} once in each row), which are no scores")
            if full and all(abs(sum(row) - 1) < _ROUNDING for row in full):
                raise UsageError(f"{quoted(names)} add up to 1 in each row: one answer in several columns, no scores")

    def _set_gold_aside(self, sides: dict[str, Side]) -> None:
        """Set aside what was made of the scores of several people: a gold label, a median."""
        people = [name for name, side in sides.items() if side == "human" and name not in self.options.human]
        aggregates = list_aggregates(people)
        if len(aggregates) == len(people):  # then they were made of scores that are not here
            aggregates = []
        for name in people:
            other_people = [self.columns[other] for other in people if other != name]
            if len(other_people) >= 2 and (name in aggregates or _is_median(self.columns[name], other_people)):
                del sides[name]
                self.roles[name] = "unused"
                self.notes.append(f"'{name}' is made of other people's scores, and no person (--human '{name}', if it is one)")

    def _ask_about_aggregates(self, sides: dict[str, Side]) -> None:
        """Ask whether a column beside one person's is a second person, where its name says that it is made of several people's scores."""
        people = [name for name, side in sides.items() if side == "human"]
        aggregates = [name for name in list_aggregates(people) if name not in self.options.human]
        of_metric = {name: name_without_side(name) for name in people}
        of_judges = {name_without_side(name) for name, side in sides.items() if side == "judge"}
        are_metrics = len({*of_metric.values()}) == len(people) and of_judges.issuperset(of_metric.values())
        if len(aggregates) == len(people) > 1 and not are_metrics:
            left_out = " ".join(f"--drop '{name}'" for name in aggregates if name != aggregates[-1])
            raise UsageError(
                f"{quoted(aggregates)} seem to be made of several people's scores, and no column has one person's: they are not several "
                f"people; keep one of them, as in {left_out}, or pass --human '{','.join(aggregates)}' if each is one person's"
            )
        for name in aggregates:
            persons = [other for other in people if other not in aggregates and of_metric[other] in (of_metric[name], "")]
            if len(persons) != 1:
                continue
            if self.ask is None:
                raise UsageError(
                    f"'{name}' seems to be made of several people's scores, and '{persons[0]}' is one person's, so they cannot count as "
                    f"two people: pass --drop '{name}' or --drop '{persons[0]}', or --human '{name}' if one person gave these scores"
                )
            if self.ask(name) != "human":
                del sides[name]
                self.roles[name] = "unused"

    def _assign_metrics(self, sides: dict[str, Side]) -> list[SideColumn]:
        """Return the columns of scores with their metrics: what is left of a name that people's and judges' columns share."""
        rests = {name: name_without_side(name) for name in sides}
        shared = {rest for name, rest in rests.items() if sides[name] == "human"}
        shared &= {rest for name, rest in rests.items() if sides[name] == "judge"}
        several = len(shared - {""}) > 0
        scores: list[SideColumn] = []
        for name, side in sides.items():
            metric = rests[name] if several else ""
            scores.append(SideColumn(name, side, name_scorer(name, metric), metric))
        # Keep the one of a judge's several columns on a metric that has people's scores: the others are numbers behind its verdict.
        chosen: list[SideColumn] = []
        for (metric, who), columns in _group_columns(scores, lambda column: (column.metric, (column.side, column.who))).items():
            if who[0] == "judge" and len(columns) > 1:
                people = {
                    score
                    for column in scores
                    if column.side == "human" and column.metric == metric
                    for score in self.columns[column.column].scores
                }
                fitting = [column for column in columns if set(self.columns[column.column].scores) <= people]
                for column in columns if fitting else ():
                    if column is not fitting[0]:
                        self.roles[column.column] = "unused"
                columns = fitting[:1] or columns
            chosen += columns
        columns_of = Counter((column.side, column.who) for column in chosen)
        alone = {column.column for column in chosen if not column.metric and columns_of[column.side, column.who] == 1}
        return [column._replace(who=column.column) if column.column in alone else column for column in chosen]  # named as its column

    def _find_keys(self, rated: bool) -> None:
        """Find the id, the group and the system among the columns that are left."""
        words = column_words()
        self.roles |= dict.fromkeys((column.name for column in self._list_free() if column.is_mail), "unused")  # of people
        roles: tuple[Role, ...] = ("id", "group", "system")
        for role in roles:
            if role in self.roles.values():
                continue
            free = [column for column in self._list_free() if words.in_name(role, column.name)]
            if role == "id":
                filled = [column for column in free if column.filled == len(column.cells)]
                of_raters = [column for column in filled if rated and self._is_item_of_raters(column)]
                free = (
                    of_raters
                    or [column for column in filled if column.is_key]
                    or [column for column in filled if rated or len(column.counts) > _MOSTLY * column.filled]
                )
                asked = [column for column in self._list_free() if column.is_key and column.words and names_question(column.name)]
                self.roles |= dict.fromkeys((column.name for column in asked if not rated), "text")
                free = free or [column for column in self._list_free() if column.is_key and not column.is_text and not rated]
                free = free or ([column for column in self._list_free() if self._is_item_of_raters(column)] if rated else [])
                free.sort(key=lambda column: (-len(column.counts), not column.name.startswith(MTURK_INPUT)) if rated else ())
            else:
                free = [column for column in free if column.repeats and len(column.counts) > 1]
                free = [column for column in free if role == "group" or (column.words and len(column.counts) <= _MOST_SYSTEMS)]
            if free and role == "id" and rated and self._has_second_part(free[0]):
                self.roles[free[0].name] = "group"  # the item is known by its texts, or by both columns
            elif free:
                self.roles[free[0].name] = role
        if not rated and not {"id", "group"} & {*self.roles.values()}:
            # Ids that stand in several rows with different texts name what these texts share.
            for column in self._list_free():
                is_filled = column.filled == len(column.cells) <= _MANY_ROWS_OF_GROUP * len(column.counts)
                if column.repeats and is_filled and words.rank_of_name("id", column.name) is not None:
                    self.roles[column.name] = "group"
                    self.notes.append(f"'{column.name}' stands in several rows with different texts: they count as one group")
                    break
        if rated and (key := next((name for name, column_role in self.roles.items() if column_role == "id"), None)) is not None:
            for name, column_role in list(self.roles.items()):
                if column_role == "text" and name in self.columns and not self._is_constant_within(name, key):
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

    def _without_facts(self, scored: list[SourceColumn]) -> list[SourceColumn]:
        """Return the columns of raters' scores without those that are the same in all rows of a text, such as the number of a turn."""
        texts = [name for name, role in self.roles.items() if role == "text" and self.columns[name].repeats]
        return [column for column in scored if not any(self._is_constant_within(column.name, text) for text in texts)] or scored

    def _has_second_part(self, first: SourceColumn) -> bool:
        """Return whether another column together with this one tells the items of several raters, as a turn does in a conversation."""
        raters = [self.columns[name].cells for name, role in self.roles.items() if role == "annotator"]
        texts = [self.columns[name].cells for name in self.roles if self.roles[name] == "text"]
        if not raters or not texts or all(self._is_constant_within(name, first.name) for name in self.roles if self.roles[name] == "text"):
            return False
        return any(are_items_of_raters((first, second), texts, raters[0]) for second in self._list_free() if second is not first)

    def _varies_within_items(self, column: SourceColumn) -> bool:
        """Return whether rows of one item, by the id or the texts, hold different scores: then they are the raters'."""
        ids = [name for name in self.columns if column_words().rank_of_name("id", name) is not None and self.columns[name].repeats]
        keys = ids[:1] or [name for name, role in self.roles.items() if role == "text"]
        first: dict[Any, Any] = {}
        rows = zip(zip(*(self.columns[name].cells for name in keys), strict=True), column.cells, strict=False)
        return bool(keys) and any(first.setdefault(key, cell) != cell for key, cell in rows)

    def _is_constant_within(self, name: str, key: str) -> bool:
        first: dict[Any, Any] = {}
        pairs = zip(self.columns[key].cells, self.columns[name].cells, strict=True)
        return all(first.setdefault(item, text) == text for item, text in pairs if text is not None)

    def _holds_texts(self, name: str) -> str:
        """Say that a column holds texts, with the first of them."""
        first = next(str(cell) for cell in self.columns[name].cells if cell is not None)
        return f"'{name}' holds texts, such as '{one_line(first)[:_SHOWN]}', and no scores"

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
        texts = [f"; {self._holds_texts(name)}" for name, role in self.roles.items() if role == "text" and side_of(name) in lacking][:1]
        for name, column in self.columns.items():
            if name in self.options.columns or side_of(name) not in lacking:
                continue
            flag_of_column = f"--{side_of(name)} '{name}'"
            is_rater = column_words().rank_of_name("annotator", name) is not None and side_of(name) == "human"
            is_open = self.roles.get(name, "annotator") == "annotator" and not is_rater and not column.is_id
            if is_open and column.words and len(column.scores) <= MOST_CLASSES and column.repeats:  # words that no other column has
                texts.append(f"; '{name}' holds words: {_listed(sorted(column.words))}; if they are scores: {flag_of_column}")
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
            few = 1 < len(column.counts) <= _MOST_SYSTEMS and column.filled == len(texts) and not column.is_text and column.words
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
                    rest = {field_name(more, _JUDGED): more for more in names if more not in (name, other)}
                    return rest | {"output_a": name, "output_b": other}
        ranked = sorted(
            names, key=lambda name: next((rank for rank, word in enumerate(_OUTPUTS) if word in name_parts(name)), len(_OUTPUTS))
        )
        output = ranked[:1] if ranked and set(name_parts(ranked[0])) & {*_OUTPUTS} else names[-1:]
        return {("output" if name in output else field_name(name, _JUDGED)): name for name in names}


_MOST_LANGUAGES = 200
_MOST_KINDS = 6
_SHOWN = 60  # characters of a text in a sentence
_SHOWN_NAMES = 5  # of raters in a sentence
_MOST_METRICS = 50
_MOST_SYSTEMS = 50
_FEW_ROWS = 10
_MANY_ROWS_OF_GROUP = 10  # of one id on average: more rows are no item's
_ROUNDING = 0.01
_MOSTLY = 0.9  # of the rows have an id of their own, where a row is a text


def _listed(names: Sequence[str]) -> str:
    """Return the first names in quotation marks, and how many more there are."""
    return quoted(names[:_SHOWN_NAMES]) + (f" and {len(names) - _SHOWN_NAMES} more" if len(names) > _SHOWN_NAMES else "")


def _is_median(column: SourceColumn, other_people: Sequence[SourceColumn]) -> bool:
    """Return whether a column is the median of three others or more in every row."""
    if len(other_people) < 3 or column.words or len(column.cells) < _FEW_ROWS:
        return False
    rows = zip(column.cells, *(other.cells for other in other_people), strict=True)
    scores = [[None if cell is None else cell_score(cell) for cell in row] for row in rows]
    return all(row[0] == median(row[1:]) for row in scores if all(isinstance(score, float) for score in row))  # type: ignore[type-var]


def are_items_of_raters(columns: Sequence[SourceColumn], texts: Sequence[Sequence[Any]], rater: Sequence[Any]) -> bool:
    """Return whether columns together tell the items that several raters scored: each has one text, and no rater scores it twice."""
    keys = list(zip(*(column.cells for column in columns), strict=True))
    items, rows = set(keys), set(zip(keys, rater, strict=True))
    return len(items) == len(set(zip(keys, *texts, strict=True))) < len(rows) == len(keys)


def is_total(cell: Any) -> bool:
    """Return whether an id says that its row has totals or means of the others."""
    return isinstance(cell, str) and cell.strip().casefold() in column_words().totals


def _group_columns(columns: Sequence[SideColumn], key: Callable[[SideColumn], Any]) -> dict[Any, list[SideColumn]]:
    groups: dict[Any, list[SideColumn]] = {}
    for column in columns:
        groups.setdefault(key(column), []).append(column)
    return groups


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
