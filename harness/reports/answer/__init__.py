"""The answer that verdicts give: made once, shown by every page and screen in the same words."""

from harness.reports.answer.condition_words import condition_words, side_names
from harness.reports.answer.groups import VerdictGroup, axis_reach, beside_people, groups_of
from harness.reports.answer.label_pages import LabelPages, label_pages
from harness.reports.answer.made import answer_of
from harness.reports.answer.matrix import judges_in_order
from harness.reports.answer.verdict_words import (
    Sides,
    annotators_of,
    difference_words,
    judge_of,
    place_of,
    reason_against,
    shown_value,
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
