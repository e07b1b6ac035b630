"""The answer that verdicts give: made once, shown by every page and screen in the same words."""

from harness.reports.answer.groups import VerdictGroup, axis_reach, beside_people, groups_of
from harness.reports.answer.made import answer_of
from harness.reports.answer.matrix import judges_in_order
from harness.reports.answer.steps import LabelPages, label_pages
from harness.reports.answer.words import (
    Sides,
    annotators_of,
    condition_words,
    difference_words,
    judge_of,
    place_of,
    reason_against,
    shown_value,
    side_names,
    style_of,
    texts_of,
)

__all__ = [
    "LabelPages",
    "Sides",
    "VerdictGroup",
    "annotators_of",
    "answer_of",
    "axis_reach",
    "beside_people",
    "condition_words",
    "difference_words",
    "groups_of",
    "judge_of",
    "judges_in_order",
    "label_pages",
    "place_of",
    "reason_against",
    "shown_value",
    "side_names",
    "style_of",
    "texts_of",
]
