"""Tables with a row a score: one column says who gave it, or whether a person or a judge did, and one holds the scores."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from harness.content.column_words import column_words, is_judge_name, name_parts
from harness.errors import UsageError
from harness.exchange.labels.table_columns import SourceColumn
from harness.exchange.one_table.column_names import (
    are_places,
    side_of,
)
from harness.exchange.one_table.role_state import MOST_SYSTEMS, RoleState, SideColumn, listed

_MOST_KINDS = 6
_MOST_METRICS = 50


class RowsOfScores(RoleState):
    """Find the columns of raters, of kinds of raters and of scores."""

    def find_rows_of_scores(self, *, judged: bool) -> tuple[str | None, str | None, list[SideColumn]]:
        """Return (kind, rater, columns of scores) of a table with a row a rater's scores; the rater alone where scores are in columns.

        In a table that is `judged`, a column that may name the raters is asked about.
        """
        words, free = column_words(), self.list_free()
        scored = [column for column in free if self.is_scores(column, free)]
        plain = [column for column in scored if side_of(column.name) is None and words.in_name("scores", column.name)]
        kinds = [column for column in free if column not in plain and column.words and self.is_kind(column)]
        kind = next(iter(kinds), None)
        raters = [column for column in free if column not in plain and column is not kind and self._is_rater(column, scored)]
        rater = next(iter(raters or [column for column in free if column is not kind and self._is_account_of_raters(column)]), None)
        rater = self.stated_rater or rater
        sided = [column for column in scored if column not in (kind, rater) and side_of(column.name)]
        sided += [self.columns[name] for name in (*self.options.human, *self.options.judge)]
        if kind is None and rater is None and scored and not sided:  # then what stands in rows of the same texts may say who scored them
            rater = next((column for column in free if column not in scored and self.names_people_and_judges(column)), None)
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
        criteria = self.without_facts(criteria)
        if kind is not None:
            self.roles[kind.name] = "annotator"
        metric = next((column for column in self.list_free() if self._is_metric(column, criteria)), None) if len(criteria) == 1 else None
        if metric is not None and "metric" not in self.roles.values():
            self.roles[metric.name] = "metric"
        for column in criteria:
            self.roles[column.name] = "score"
        single = len(criteria) == 1 and (bool(plain) or metric is not None)
        metrics = ["" if single else column.name for column in criteria]
        scores = [SideColumn(column.name, "human", "", metric) for column, metric in zip(criteria, metrics, strict=True)]
        return kind.name if kind else None, rater.name if rater else None, scores

    def find_judges_in_rows(self, rater: SourceColumn) -> frozenset[str]:
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
                f"'{rater.name}' names who scored each row, and all names look like judges: {listed(names)}; say who is a person, such "
                f"as --human '{people}'"
            )
        return frozenset(judges)

    def _ask_for_judges(self, rater: SourceColumn, about: str, otherwise: str) -> None:
        """Ask which of the raters in rows are judges. Raises UsageError where nobody can answer."""
        names = [str(value) for value in rater.counts]
        if self.ask is None or len(names) > _MOST_KINDS:
            open_names = [name for name in names if name not in self.rater_sides] or names
            raise UsageError(
                f"{about} ({listed(names)}); if a judge (a model or a program) is among them, name it, such as "
                f"--judge '{open_names[-1]}'; {otherwise}"
            )
        for name in names:
            side = self.ask(name)
            if side not in ("human", "judge"):
                raise UsageError(f"'{name}' is neither a person nor a judge: take its rows out of the table (column '{rater.name}')")
            self.rater_sides[name] = "human" if side == "human" else "judge"

    def names_people_and_judges(self, column: SourceColumn) -> bool:
        """Return whether a column may name who scored, and some of its names are judges' and some are not."""
        return len({is_judge_name(str(value)) for value in column.counts}) == 2 and self._may_name_raters(column)

    def _may_name_raters(self, column: SourceColumn) -> bool:
        """Return whether a column may name who scored: most texts stand in several rows, each with another of a few names."""
        words = column_words()
        if column.is_text or not column.words or not 1 < len(column.counts) <= MOST_SYSTEMS or column.filled < len(column.cells):
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

    def is_kind(self, column: SourceColumn) -> bool:
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
