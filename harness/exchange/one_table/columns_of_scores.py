"""Tables with a column of scores for each judge, person and metric: which columns these are, and whose."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import replace
from statistics import median
from typing import Any

from harness.content.column_words import column_words, name_parts
from harness.errors import UsageError
from harness.exchange.labels.cell_scores import cell_score
from harness.exchange.labels.table_columns import SourceColumn
from harness.exchange.one_table.column_names import (
    ProbabilityColumns,
    Side,
    are_pair,
    list_aggregates,
    name_scorer,
    name_without_side,
    probabilities_of_verdicts,
    side_of,
)
from harness.exchange.one_table.role_state import JUDGED, RoleState, SideColumn
from harness.text import quoted

_ROUNDING = 0.01
_FEW_ROWS = 10


class ColumnsOfScores(RoleState):
    """Find the columns with scores, by what the cells hold and by names; ask about those that either could be."""

    def find_columns_of_scores(self) -> list[SideColumn]:
        """Return the columns of scores of people and of judges. Raises UsageError for one that nothing explains."""
        free = self.list_free()
        sides: dict[str, Side] = dict.fromkeys(self.options.human, "human")
        sides |= dict.fromkeys(self.options.judge, "judge")
        unexplained = []
        for column in free:
            if not self.is_scores(column, free):
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
        self.set_gold_aside(sides)
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
        self.refuse_parts_of_one_answer([SideColumn(column.name, "human", column.name, "") for column in shares])
        self.explain(open_columns, sides, ("human", "judge"))
        self.roles |= dict(sides)
        scores = self._assign_metrics(sides)
        self.refuse_parts_of_one_answer(scores)
        self._refuse_scores_of_one_text(scores)
        return scores

    def _refuse_scores_of_one_text(self, scores: Sequence[SideColumn]) -> None:
        """Raise UsageError where each text of a pair has a column of scores: such a row holds two texts, and no preference."""
        texts = [name for name, role in self.roles.items() if role == "text"]
        pairs = [(first, second) for first in texts for second in texts if are_pair(first, second)]
        for column in scores if pairs else ():
            other = next((other for other in scores if other.side == column.side and are_pair(column.column, other.column)), None)
            if other and max(len(self.columns[name].numbers) for name in (column.column, other.column)) > len(JUDGED):  # no preferences
                (first, second), *_ = pairs
                raise UsageError(
                    f"'{column.column}' and '{other.column}' seem to be the scores of '{first}' and of '{second}': give each text a row of "
                    "its own, with its scores; a preference between them is one column"
                )

    def explain(self, names: Sequence[str], sides: dict[str, Side], needed: Sequence[Side] = ()) -> None:
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

    def refuse_parts_of_one_answer(self, scores: Sequence[SideColumn]) -> None:
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

    def set_gold_aside(self, sides: dict[str, Side]) -> None:
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

    def _varies_within_items(self, column: SourceColumn) -> bool:
        """Return whether rows of one item, by the id or the texts, hold different scores: then they are the raters'."""
        ids = [name for name in self.columns if column_words().rank_of_name("id", name) is not None and self.columns[name].repeats]
        keys = ids[:1] or [name for name, role in self.roles.items() if role == "text"]
        first: dict[Any, Any] = {}
        rows = zip(zip(*(self.columns[name].cells for name in keys), strict=True), column.cells, strict=False)
        return bool(keys) and any(first.setdefault(key, cell) != cell for key, cell in rows)

    def assign_probabilities(self, scores: Sequence[SideColumn]) -> dict[str, ProbabilityColumns]:
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

    def add_likeliest(self, columns: ProbabilityColumns) -> SourceColumn:
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


def _group_columns(columns: Sequence[SideColumn], key: Callable[[SideColumn], Any]) -> dict[Any, list[SideColumn]]:
    groups: dict[Any, list[SideColumn]] = {}
    for column in columns:
        groups.setdefault(key(column), []).append(column)
    return groups


def _is_median(column: SourceColumn, other_people: Sequence[SourceColumn]) -> bool:
    """Return whether a column is the median of three others or more in every row."""
    if len(other_people) < 3 or column.words or len(column.cells) < _FEW_ROWS:
        return False
    rows = zip(column.cells, *(other.cells for other in other_people), strict=True)
    scores = [[None if cell is None else cell_score(cell) for cell in row] for row in rows]
    return all(row[0] == median(row[1:]) for row in scores if all(isinstance(score, float) for score in row))  # type: ignore[type-var]
