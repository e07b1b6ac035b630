"""Verdicts in words: the sentence, the missing tests, and the limits of a verdict. Numbers are in points of a hundred."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from harness.content.tags import english_name
from harness.decide.cell_tests import CellTests
from harness.decide.class_shares import mostly_missed, p_above_bar, words_of_bar, words_of_share
from harness.decide.more_labels import FurtherTexts
from harness.decide.options import DecisionOptions
from harness.decide.verdict_rule import (
    BASE_WORSE,
    BELOW_BAR,
    COPIES,
    FAILS,
    ONE_CLASS,
    UNREAD,
    WORSE,
    Controls,
    Decision,
    DecisionInputs,
    VerdictWords,
    has_enough,
)
from harness.measure.item_table import AnswerCounts
from harness.model import BY_PEOPLE


def apart(value: float, unit: str) -> str:
    """Return a signed difference of shares in words, for example `3.4 points below`; `unit` is the pair of words for less and more.

    >>> apart(-0.0734, "below above"), apart(0.0, "below above"), apart(0.1, "less,more")
    ('7.3 points below', '0.0 points above', '10.0 points more')
    """
    less, more = unit.replace(",", " ").split()
    return f"{100 * abs(value):.1f} points {more if value >= 0 else less}"


_ANNOTATORS = {"native": "native speakers", "people": "people"}
_SHOWN = {
    UNREAD: "unread",
    COPIES: "copied",
    ONE_CLASS: "constant",
    FAILS: "failures",
    WORSE: "worse",
    BASE_WORSE: "base_worse",
    BELOW_BAR: "below_bar",
}


_FAILURES = {
    "off_scale": "off the scale",
    "not_json": "not in the form that was asked for",
    "truncated": "cut before the score",
    "missing": "without a score",
}


def unread_words(answers: AnswerCounts) -> str:
    """Say how many answers could not be read, why, and how one of them reads.

    >>> unread_words(AnswerCounts(120, {"off_scale": 120}, "9"))
    "none of 120 answers could be read (off the scale), such as '9'"
    >>> unread_words(AnswerCounts(10, {"refused": 2, "truncated": 5}))
    '7 of 10 answers could not be read (cut before the score 5, refused 2)'
    """
    unread = sum(answers.unread.values())
    kinds = sorted(answers.unread.items(), key=lambda kind: -kind[1])
    said = [f"{_FAILURES.get(kind, kind.replace('_', ' '))}{f' {count:,}' if len(kinds) > 1 else ''}" for kind, count in kinds]
    many = (
        f"none of {answers.asked:,} answers could be read"
        if unread == answers.asked
        else f"{unread:,} of {answers.asked:,} answers could not be read"
    )
    example = f", such as '{answers.example}'" if answers.example else ""
    return f"{many} ({', '.join(said)}){example}"


REPAIR = "Look at this answer, repair the prompt, the endpoint or the scale, and ask again (harness run --fresh)"


def unread_sentence(answers: AnswerCounts, consequence: str) -> str:
    """Say what could not be read, what follows from that, and what to do.

    >>> unread_sentence(AnswerCounts(2, {"refused": 2}), "nothing is said of model/one")[:75]
    'None of 2 answers could be read (refused): nothing is said of model/one. Lo'
    """
    words = unread_words(answers)
    return f"{words[0].upper()}{words[1:]}: {consequence}. {REPAIR}."


def equal_groups(groups: int, effective: float | None) -> str:
    """Return the effective number of groups in words; empty where it is their number, and where there is no group.

    >>> equal_groups(41, 2.207), equal_groups(20, 16.94), equal_groups(20, 19.98), equal_groups(0, 2.9)
    ('2.2', '17', '', '')
    """
    if not groups or effective is None or math.isnan(effective):
        return ""
    number = f"{effective:.1f}" if effective < 9.95 else f"{effective:.0f}"
    return "" if float(number) == groups else number


_NO_CHANGE = "If the numbers are as measured here, more labels will not help"


class VerdictInWords(NamedTuple):
    """The words of a verdict, from its tests and its decision.

    `tests` are those of the cell, `tested` what the decision table looked at and `decision` what it says; `controls` is the result on
    constructed labels. `needed` are the texts still to be labelled, `family` is the number of cells that were corrected together.
    """

    tests: CellTests
    decision: Decision
    controls: Controls | None
    tested: DecisionInputs
    needed: FurtherTexts | None
    family: int
    options: DecisionOptions

    def words(self) -> VerdictWords:
        """Return the sentence, its reasons, what stands against `use`, and what a `use` does not cover."""
        # What stands against `use`, as short names: what is shown against the judge, else the tests that it does not pass.
        if self.decision.verdict == "use" or self.controls == "passes":
            obstacles: tuple[str, ...] = ()
        elif self.tested.unread and self.tested.labels in BY_PEOPLE | {"constructed"}:
            obstacles = ("unread",)
        elif self.controls == "fails":
            obstacles = ("base_worse",) if self.tested.q_base_worse <= self.options.alpha else ("constant",)
        elif self.decision in _SHOWN:
            obstacles = (_SHOWN[self.decision],)
        else:
            # The tests of `use` that a cell does not pass alone: `people`, `baseline`, `coverage`; `cells` if it passes all of them.
            # `labels` alone where there are too few to test, and `annotators` where no text has two.
            tests, options = self.tests, self.options
            if tests.basis == "people" and tests.texts.labels in BY_PEOPLE and not has_enough(tests.texts, options):
                obstacles = ("labels",) if tests.texts.n else ("annotators",)
            else:
                barred = any(share.bar is not None for share in tests.shares)
                passed = {
                    "people": tests.basis == "bar" or tests.p_people <= options.alpha or tests.texts.labels not in BY_PEOPLE,
                    "bar": not barred or p_above_bar(tests.shares) <= options.alpha,
                    "baseline": tests.tests.alone.base <= options.alpha,
                    "coverage": tests.coverage.share >= options.coverage,
                }
                obstacles = tuple(name for name, is_passed in passed.items() if not is_passed) or ("cells",)
                if self._few_texts_for_bar and self.needed is None:
                    obstacles = ("labels", *obstacles)
        reasons = tuple(map(self._obstacle_clause, obstacles))
        if self.tested.unread:
            reasons = (self._obstacle_clause("unread"),)
        elif self.controls == "not shown":
            is_read = self.tests.coverage.share >= self.options.coverage
            reasons = (f"it is {self._base_words}, which may be chance" if is_read else self._obstacle_clause("coverage"),)
        if self.controls is None:
            sentence = self._sentence(reasons)
            if self.tests.basis != "bar" and self.decision not in (UNREAD, COPIES):
                if any(share.bar is not None for share in self.tests.shares):  # a bar was asked for beside people's agreement
                    sentence += f" The bar ({words_of_bar(self.tests.shares)}) is asked for beside people: it finds {self.shares_words()}."
                # Most of a class may be missed whatever the verdict: people may agree as seldom.
                if share := mostly_missed(self.tests.shares):
                    of_class = words_of_share(share)
                    sentence += f" It misses most of {of_class}: it finds {_percent(share.share)} of it, at most {_percent(share.upper)}."
        elif self.controls == "passes":
            sentence = f"Passes the controls, {self._judge_words}: it is {self._base_words}. That is necessary, not sufficient."
        else:
            sentence = f"{'Fails the controls' if self.controls == 'fails' else 'Unknown'}, {self._judge_words}: {'; '.join(reasons)}."
        return VerdictWords(sentence, reasons, obstacles, tuple(self._list_exceptions()) if self.decision.verdict == "use" else ())

    def _sentence(self, reasons: Sequence[str]) -> str:
        """Return one verdict as one or two sentences, and a further one where groups are of different sizes."""
        tests, where, k, options = self.tests, self._judge_words, self.needed, self.options
        if tests.basis == "bar" and self.decision not in (UNREAD, COPIES):
            return self._bar_sentence(reasons)
        among, as_if, texts = f" ({self.family} cells were tested)" if self.family > 1 else "", "", tests.texts
        if texts.labels in BY_PEOPLE and has_enough(texts, options) and (groups := equal_groups(texts.groups, tests.effective_groups)):
            most = f"; in the corrected tests none counts for more than {tests.cap:.1f} texts" if math.isfinite(tests.cap) else ""
            as_if = f" The texts are in {texts.groups} groups of different sizes and count as if in {groups} equal groups{most}."
        match self.decision.verdict:
            case "use":
                return f"Use {where}: {self._gap_words}; {self._margin_words} below is ruled out. It is {self._base_words}{among}.{as_if}"
            case "use corrected":
                is_worse = "worse" in self.decision.reason
                finding = "it is shown to be worse than people" if is_worse else "it is not shown to be as good as people"
                more = "" if k is None else f" Without correction: label {k} more texts, if the judge is as good as people."
                worth = f"{tests.gain:.2f}" if math.isfinite(tests.gain) else "any number of"
                many = f"With its scores of many further texts, each label counts as {worth} labels."
                return f"Use {where} with corrected means only: {finding} ({self._gap_words}). {many}{more}{as_if}"
            case "do not use":
                return f"Do not use {where}: {reasons[0]}{among}.{as_if}"
            case "no verdict" if self.decision in (UNREAD, COPIES):
                return f"Unknown, {where}: {reasons[0]}."
            case "no verdict":
                why, missing = "one person scored each text. Next ('harness labels page' with --second)", "a second person's scores of"
                least = options.items if k is None else max(k.texts, options.items)
                if tests.aggregate:
                    why = "the data have one released score a text, not the scores of people behind it. Missing"
                    missing = "the scores of two annotators or more for"
                return (
                    f"Unknown, {where}: nobody to compare with; {why}: {missing} {least} texts or more, {options.groups} of "
                    f"them independent. They show how far two people are apart; the judge is held against that.{as_if}"
                )
        why = "; ".join(reasons)
        if k is None:
            return f"Unknown, {where}: {why}. {_NO_CHANGE}.{as_if}"
        if not has_enough(texts, options):
            return f"Unknown, {where}: too few labels: {reasons[0]}. Label {k} more texts with two annotators each.{as_if}"
        if k.more_than:
            return f"Unknown, {where}: {why}. Even {k.texts:,} more would not suffice for a judge as good as people.{as_if}"
        return f"Unknown, {where}: {why}. Label {k} more texts; that suffices if the judge is as good as people.{as_if}"

    def _bar_sentence(self, reasons: Sequence[str]) -> str:
        """Return the sentence of a verdict that rests on a bar."""
        tests, where, k, options = self.tests, self._judge_words, self.needed, self.options
        bars = {share.bar for share in tests.shares}
        bar = f"a bar of {_percent(bars.pop() or 0)}" if len(bars) == 1 else "the bars"
        among = f" ({self.family} cells were tested)" if self.family > 1 else ""
        texts = f"{tests.texts.labelled:,} texts"
        label = "Each text has one released label" if tests.aggregate else "One person labelled each text"
        alone = f" {label}, so how often two people agree is not known."
        shares = self.shares_words()
        match self.decision.verdict:
            case "use":
                return f"Use {where}, against {bar}: it finds {shares}; {texts}{among}.{alone}"
            case "use corrected":
                worth = f"{tests.gain:.2f}" if math.isfinite(tests.gain) else "any number of"
                many = f"With its scores of many further texts, each label counts as {worth} labels."
                return f"Use {where} with corrected means only: it finds {shares}, and {bar} is not shown to be passed. {many}{alone}"
            case "do not use":
                return f"Do not use {where}, against {bar}: {reasons[0]}; it finds {shares}; {texts}{among}.{alone}"
            case _ if k is None:
                more = f"{options.items} texts and more can show something" if self._few_texts_for_bar else _NO_CHANGE
                return f"Unknown, {where}, against {bar}: it finds {shares}; {texts}. {more}."
            case _:
                by_score = {str(share.score): share for share in self.tests.shares}
                by_class = [
                    f"about {count:,} more of {words_of_share(by_score[name], self._labelled_by)}" for name, count in k.by_class.items()
                ]
                total = f"{k} more texts"
                further_texts = f"{' and '.join(by_class)} ({total} of this mixture)" if by_class else total
                return f"Unknown, {where}, against {bar}: it finds {shares}; {texts}. Label {further_texts}.{alone}"

    @property
    def _few_texts_for_bar(self) -> bool:
        """True where texts are so few that what was seen of a bar says nothing of further ones."""
        texts, options = self.tests.texts, self.options
        return self.tests.basis == "bar" and (texts.labelled < options.items or texts.groups < options.groups)

    def shares_words(self) -> str:
        """Return the shares of each class that the judge finds, with the limits that count."""
        who = self._labelled_by if self.tests.basis == "bar" else "people"
        limit = [f"at least {_percent(share.lower)}" if share.n else "no text" for share in self.tests.shares]
        if self.decision.verdict == "do not use":
            limit = [f"at most {_percent(share.upper)}" if share.n else "no text" for share in self.tests.shares]
        parts = [
            f"{_percent(share.share)} of {words_of_share(share, who)} ({of_limit})"
            for share, of_limit in zip(self.tests.shares, limit, strict=True)
        ]
        return " and ".join(parts)

    @property
    def _labelled_by(self) -> str:
        """Return whose one label each text has."""
        return "the release" if self.tests.aggregate else "the person"

    @property
    def _judge_words(self) -> str:
        judge, metric, language = (self.tests.key[name] for name in ("judge", "metric", "language"))
        return f"{judge} for {str(metric).replace('_', ' ')} in {english_name(language) if language else 'any language'}"

    @property
    def _gap_words(self) -> str:
        measure = "closeness to" if self.tests.texts.closeness else "agreement with"
        people = _ANNOTATORS.get(self.tests.texts.labels, "the annotators")
        return f"its {measure} {people} is {apart(self.tests.gap.mean, 'below above')} their {measure} each other"

    @property
    def _base_words(self) -> str:
        mean = self.tests.baseline.mean
        if self.tests.texts.interval:
            return f"{100 * abs(mean):.1f} points {'closer to' if mean >= 0 else 'farther from'} people's mean than a constant score"
        return f"right {apart(mean, 'less more')} often than a constant answer"

    @property
    def _margin_words(self) -> str:
        return f"{100 * self.options.margin:g} points"

    def _obstacle_clause(self, obstacle: str) -> str:
        """Return an obstacle as a clause of the sentence."""
        tests, options, share = self.tests, self.options, self.tests.coverage.share
        match obstacle:
            case "worse":
                return f"{self._gap_words}; more than {self._margin_words} below is shown"
            case "people":
                return f"{self._gap_words}, and {self._margin_words} below is not ruled out"
            case "below_bar":
                low = min(self.tests.shares, key=lambda share: 1.0 if share.p_below is None else share.p_below)
                who = self._labelled_by if tests.basis == "bar" else "people"
                return f"it is shown to find less than {_percent(low.bar or 0)} of {words_of_share(low, who)}"
            case "bar":
                return "it is not shown to be above the bar of every class"
            case "base_worse":
                return f"it is {self._base_words}, which is shown"
            case "baseline":
                return f"it is {self._base_words}{', which may be chance' if tests.baseline.mean > 0 else ''}"
            case "unread":
                return f"{unread_words(tests.coverage.all)}; numbers of a set-up that does not work say nothing of a judge"
            case "copied":
                assert tests.copied
                return tests.copied.doubt
            case "failures":
                kinds = ", ".join(f"{kind} {count}" for kind, count in tests.coverage.failures.items())
                return f"it gives no readable score for {_per_hundred(1 - share)} of 100 texts ({kinds})"
            case "coverage":
                return f"it gives a readable score for {_per_hundred(share)} of 100 texts, and {_per_hundred(options.coverage)} are needed"
            case "constant":
                assert self.tests.commonest.judge
                commonest, variation = self.tests.commonest.judge[0], self.tests.variation
                often, usual = (
                    f"{variation.n - variation.others:,} of {variation.n:,} texts",
                    f"{variation.usual:,} of {variation.labels:,} labels",
                )
                return f"it does not vary: it gives '{commonest}' to {often}, and people's commonest class has {usual}"
            case "labels":
                if tests.basis == "bar":
                    can = f"; {options.items} and more can" if tests.texts.labelled < options.items else ""
                    return f"{tests.texts.labelled} texts are too few to say anything{can}"
                if tests.texts.n >= options.items:  # only what is missing is named: "30 of 30" reads as enough
                    texts = f"{tests.texts.groups} of the {tests.texts.n} texts with two annotators are independent"
                    return f"{texts}; {options.groups} independent ones are needed"
                if tests.texts.groups >= options.groups:
                    return f"{tests.texts.n} texts have two annotators; {options.items} are needed"
                texts = f"{tests.texts.n} texts have two annotators, {tests.texts.groups} of them independent"
                return f"{texts}; {options.items} and {options.groups} are needed"
            case "annotators":
                return f"no text has two annotators, and {options.items} in {options.groups} independent texts are needed"
            case _:
                return "the result is good, but not certain enough among so many tests"

    def _list_exceptions(self) -> Iterator[str]:
        """Yield what a `use` does not cover."""
        if not self.tests.level.same:
            yield "means and scores of systems: judge and people are not shown to be on one level"
            yield "comparisons across languages"
        if missed := mostly_missed(self.tests.shares):
            yield f"finding class '{missed.score}': most of it is missed"
        if self.tests.few_rare_cases:
            yield "the rarest class: fewer than 15 cases are expected"
        if self.tests.copied:
            yield f"anything at all, if these are copies of the labels: {self.tests.copied.words}"
        yield "other annotators than these"
        if self.tests.sampling != "random":
            yield "other texts than these: they were not drawn at random"


def _percent(share: float | None) -> str:
    """Return a share in percent; nothing is known of no share.

    >>> _percent(0.8765), _percent(None)
    ('88 %', '–')
    """
    return "–" if share is None else f"{100 * share:.0f} %"


def _per_hundred(share: float) -> str:
    return "none" if math.isnan(share) else f"{100 * share:.3g}"
