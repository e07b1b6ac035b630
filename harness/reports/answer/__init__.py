"""The answer that verdicts give: made once, shown by every page and screen in the same words."""

from harness.reports.answer.condition_words import condition_words, side_names
from harness.reports.answer.label_pages import LabelPages, label_pages
from harness.reports.answer.made import answer_of
from harness.reports.answer.parts import Answer, Card, NextStep, Sentence, annotators_of, judge_of, place_of, style_of, texts_of

__all__ = [
    "Answer",
    "Card",
    "LabelPages",
    "NextStep",
    "Sentence",
    "annotators_of",
    "answer_of",
    "condition_words",
    "judge_of",
    "label_pages",
    "place_of",
    "side_names",
    "style_of",
    "texts_of",
]
