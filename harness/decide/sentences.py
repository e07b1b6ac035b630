"""Verdicts in words: the sentence, the missing tests, and the limits of a verdict. Numbers are in points of a hundred."""

from __future__ import annotations

import math
from collections.abc import Sequence

from harness.content.tags import english_name
from harness.decide.cell_tests import CellTests
from harness.decide.more_labels import FurtherTexts
from harness.decide.options import DecisionOptions
from harness.decide.rule import BASE_WORSE, FAILS, ONE_CLASS, WORSE, Controls, Decision, DecisionInputs, has_enough
from harness.model import BY_PEOPLE


def apart(value: float, unit: str) -> str:
    """A signed difference of shares in words, for example `3.4 points below`; `unit` is the pair of words for less and more.

    >>> apart(-0.0734, "below above"), apart(0.0, "below above"), apart(0.1, "less,more")
    ('7.3 points below', '0.0 points above', '10.0 points more')
    """
    less, more = unit.replace(",", " ").split()
    return f"{100 * abs(value):.1f} points {more if value >= 0 else less}"


_ANNOTATORS = {"native": "native speakers", "people": "people"}


def equal_groups(groups: int, effective: float | None) -> str:
    """For how many equal groups these groups stand, in words; empty where it is their number, and where there is no group.

    >>> equal_groups(41, 2.207), equal_groups(20, 16.94), equal_groups(20, 19.98), equal_groups(0, 2.9)
    ('2.2', '17', '', '')
    """
    if not groups or effective is None or math.isnan(effective):
        return ""
    shown = f"{effective:.1f}" if effective < 9.95 else f"{effective:.0f}"
    return "" if float(shown) == groups else shown


def _as_if(one: CellTests) -> str:
    """A further sentence where groups are of different sizes; else empty."""
    shown = equal_groups(one.texts.groups, one.effective_groups) if one.texts.labels in BY_PEOPLE else ""
    if not shown:
        return ""
    most = f"; in the corrected tests none counts for more than {one.cap:.1f} texts" if math.isfinite(one.cap) else ""
    return f" The texts are in {one.texts.groups} groups of different sizes and count as if in {shown} equal groups{most}."


def _place(one: CellTests) -> str:
    language = one.key["language"]
    return f"{one.key['judge']} for {str(one.key['metric']).replace('_', ' ')} in {english_name(language) if language else 'any language'}"


def sentence(
    one: CellTests,
    decision: Decision,
    controls: Controls | None,
    k: FurtherTexts | None,
    family: int,
    missing: Sequence[str],
    options: DecisionOptions,
) -> str:
    """One verdict as one or two sentences.

    Args:
        one: the tests of the cell.
        decision: what the decision table says.
        controls: the result on constructed labels.
        k: labelled texts that are still needed.
        family: number of cells that were corrected together.
        missing: what `reasons` gave.
        options: the thresholds.
    """
    if controls is not None:
        return _controls_sentence(one, controls, missing)
    as_if = _as_if(one) if has_enough(one.texts, options) else ""
    return _native_sentence(one, decision, k, family, missing, options) + as_if


def _native_sentence(
    one: CellTests, decision: Decision, k: FurtherTexts | None, family: int, missing: Sequence[str], options: DecisionOptions
) -> str:
    place, among = _place(one), f" ({family} cells were tested)" if family > 1 else ""
    match decision.verdict:
        case "use":
            return f"Use {place}: {_gap(one)}; {_margin(options)} below is ruled out. It is {_base(one)}{among}."
        case "use corrected":
            shown = "it is shown to be worse than people" if "worse" in decision.reason else "it is not shown to be as good as people"
            more = "" if k is None else f" Without correction: label {k} more texts, if the judge is as good as people."
            worth = f"{one.gain:.2f}" if math.isfinite(one.gain) else "any number of"
            many = f"With its scores of many further texts, each label counts as {worth} labels."
            return f"Use {place} with corrected means only: {shown} ({_gap(one)}). {many}{more}"
        case "do not use":
            return f"Do not use {place}: {missing[0]}{among}."
        case "no verdict":
            why, missing_scores = "one person scored each text. Next", "second ratings of"
            if one.aggregate:
                why = "the data have one released score a text, not the scores of people behind it. Missing"
                missing_scores = "the scores of two annotators or more for"
            return (
                f"No verdict, {place}: nobody to compare with; {why}: {missing_scores} {options.items} texts or more, {options.groups} of "
                "them independent. They show how far two people are apart; the judge is held against that."
            )
        case _:
            return _too_few(one, place, k, missing, options)


def _gap(one: CellTests) -> str:
    measure = "closeness to" if one.texts.closeness else "agreement with"
    people = _ANNOTATORS.get(one.texts.labels, "the annotators")
    return f"its {measure} {people} is {apart(one.gap.mean, 'below above')} their {measure} each other"


def _base(one: CellTests) -> str:
    if one.texts.interval:
        place = "closer to" if one.baseline.mean >= 0 else "farther from"
        return f"{100 * abs(one.baseline.mean):.1f} points {place} people's mean than a constant score"
    return f"right {apart(one.baseline.mean, 'less more')} often than a constant answer"


def _margin(options: DecisionOptions) -> str:
    return f"{100 * options.margin:g} points"


def _too_few(one: CellTests, place: str, k: FurtherTexts | None, missing: Sequence[str], options: DecisionOptions) -> str:
    if k is None:
        return f"Not shown, {place}: {'; '.join(missing)}. At what was seen, more labels would not change this."
    if not has_enough(one.texts, options):
        return f"Too few labels, {place}: {missing[0]}. Label {k} more texts with two annotators each."
    if k.more_than:
        return f"Too few labels, {place}: {'; '.join(missing)}. Even {k.texts:,} more would not suffice for a judge as good as people."
    return f"Too few labels, {place}: {'; '.join(missing)}. Label {k} more texts; that suffices if the judge is as good as people."


def _controls_sentence(one: CellTests, controls: Controls, missing: Sequence[str]) -> str:
    if controls == "passes":
        return f"Passes the controls, {_place(one)}: it is {_base(one)}. That is necessary, not sufficient."
    return f"{'Fails' if controls == 'fails' else 'Not shown to pass'} the controls, {_place(one)}: {'; '.join(missing)}."


def reasons(
    one: CellTests, decision: Decision, controls: Controls | None, tested: DecisionInputs, options: DecisionOptions
) -> tuple[str, ...]:
    """The tests that a judge did not pass, each as a clause; empty for a judge that passes all."""
    if decision.verdict == "use" or controls == "passes":
        return ()
    if controls == "not shown":
        return (f"it is {_base(one)}, which may be chance",) if one.coverage.share >= options.coverage else (_uncovered(one, options),)
    if decision == BASE_WORSE or (controls and tested.q_base_worse <= options.alpha):
        return (f"it is {_base(one)}, which is shown",)
    if decision == ONE_CLASS or controls:
        return (_constant(one),)
    if decision == FAILS:
        kinds = ", ".join(f"{kind} {count}" for kind, count in one.coverage.failures.items())
        return (f"it gives no readable score for {_per_hundred(1 - one.coverage.share)} of 100 texts ({kinds})",)
    if decision == WORSE:
        return (f"{_gap(one)}; more than {_margin(options)} below is shown",)
    return tuple(_missing(one, options)) if has_enough(tested, options) else (_few(one, options),)


def _constant(one: CellTests) -> str:
    assert one.commonest.judge
    given, found = one.commonest.judge[0], one.variation
    often, usual = f"{found.n - found.others:,} of {found.n:,} texts", f"{found.usual:,} of {found.labels:,} labels"
    return f"it does not vary: it gives '{given}' to {often}, and people's commonest class has {usual}"


def _uncovered(one: CellTests, options: DecisionOptions) -> str:
    return f"it gives a readable score for {_per_hundred(one.coverage.share)} of 100 texts, and {_per_hundred(options.coverage)} are needed"


def _few(one: CellTests, options: DecisionOptions) -> str:
    if not one.texts.n:
        return f"no text has two annotators, and {options.items} in {options.groups} independent texts are needed"
    n, groups = one.texts.n, one.texts.groups
    return f"{n} texts have two annotators, {groups} of them independent; {options.items} and {options.groups} are needed"


def _missing(one: CellTests, options: DecisionOptions) -> list[str]:
    clauses = {
        "people": f"{_gap(one)}, and {_margin(options)} below is not ruled out",
        "baseline": f"it is {_base(one)}" + (", which may be chance" if one.baseline.mean > 0 else ""),
        "coverage": _uncovered(one, options),
        "cells": "each test is passed alone, but not among so many cells",
    }
    return [clauses[name] for name in missing_tests(one, options)]


def missing_tests(one: CellTests, options: DecisionOptions) -> tuple[str, ...]:
    """The tests of `use` that a cell does not pass alone: `people`, `baseline`, `coverage`; `cells` if it passes all of them.

    `labels` alone where there are too few to test, and `annotators` where no text has two.
    """
    if one.texts.labels in BY_PEOPLE and not has_enough(one.texts, options):
        return ("labels",) if one.texts.n else ("annotators",)
    passed = {
        "people": one.tests.alone.gap <= options.alpha or one.texts.labels not in BY_PEOPLE,
        "baseline": one.tests.alone.base <= options.alpha,
        "coverage": one.coverage.share >= options.coverage,
    }
    return tuple(name for name, is_passed in passed.items() if not is_passed) or ("cells",)


_SHOWN = {ONE_CLASS: "constant", FAILS: "failures", WORSE: "worse", BASE_WORSE: "base_worse"}


def obstacles(
    one: CellTests, decision: Decision, controls: Controls | None, tested: DecisionInputs, options: DecisionOptions
) -> tuple[str, ...]:
    """What stands against `use`, as short names: what is shown against the judge, else the tests that it does not pass."""
    if decision.verdict == "use" or controls == "passes":
        return ()
    if controls == "fails":
        return ("base_worse",) if tested.q_base_worse <= options.alpha else ("constant",)
    return (_SHOWN[decision],) if decision in _SHOWN else missing_tests(one, options)


def _per_hundred(share: float) -> str:
    return "none" if math.isnan(share) else f"{100 * share:.3g}"


def not_for(one: CellTests, decision: Decision) -> tuple[str, ...]:
    """What a `use` does not cover."""
    if decision.verdict != "use":
        return ()
    limits = []
    if not one.level.same:
        limits += ["means and scores of systems: judge and people are not shown to be on one level", "comparisons across languages"]
    if one.few_rare_cases:
        limits.append("the rarest class: fewer than 15 cases are expected")
    limits.append("other annotators than these")
    if one.sampling != "random":
        limits.append("other texts than these: they were not drawn at random")
    return tuple(limits)
