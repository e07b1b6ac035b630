"""The prompts themselves, as guidance programs; their words come from `wording` and from content files.

What calls share comes first (role, task, examples, item), the metric comes last: a local model then reads an item once for all its
metrics, and providers' prompt caches hit.

Texts of items are untrusted: they enter as `guidance.string`, never through an f-string.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import guidance
from guidance import assistant, system, user

from harness.prompts.question import JUSTIFICATION_CHARACTERS, Question


@guidance(dedent=False)  # type: ignore[operator, untyped-decorator]
def judging(lm: Any, question: Question, texts: Mapping[str, str]) -> Any:
    """One call: role and task, examples, the item's texts, one or several metrics, and a hole for the answer."""
    words, task = question.wording.words, question.wording.task
    with system():
        lm += guidance.string(f"{words.system}\n{form_text(question)}")
    with user():
        meant_for = put(words.meant_for, language=question.wording.language_name)
        lm += guidance.string(f"{task.instruction.strip()}\n{meant_for}")
        for part in example_parts(question):
            lm += guidance.string(part)
        for name in question.present:
            lm += guidance.string(f'\n\n{put(words.heading, title=task.fields[name])}\n"""\n')
            lm += guidance.string(texts[name])
            lm += guidance.string('\n"""')
        for metric in question.scales:
            lm += guidance.string(f"\n\n{metric_text(metric, question)}")
        lm += guidance.string(f"\n\n{reminder(question)}")
    with assistant():
        lm += guidance.json(name="answer", schema=question.schema, max_tokens=question.max_tokens)
    return lm


def example_parts(question: Question) -> Iterator[str]:
    """Scored texts, metric by metric, each between triple quotes like the text to be judged."""
    if not question.examples:
        return
    wording = question.wording
    words = wording.words
    yield f"\n\n{words.examples}"
    for number, example in enumerate(question.examples, start=1):
        yield f"\n\n{put(words.example, number=str(number))}"
        for name, text in example.texts.items():
            yield f'\n{put(words.heading, title=wording.task.fields[name])}\n"""\n{text}\n"""'
        yield f"\n{put(words.given, title=wording.rubrics[example.metric].title, score=str(example.score))}"
    yield f"\n\n{words.now}"


def metric_text(metric: str, question: Question) -> str:
    """A metric as the variant wants it put: its simple instruction, or description and criteria for every score."""
    words, rubric = question.wording.words, question.wording.rubrics[metric]
    title = put(words.question_about if question.joint else words.question, metric=metric, title=rubric.title)
    if question.variant.instructions == "simple":
        return f"{title}\n{rubric.simple.strip()}"
    criteria = "\n".join(
        f"{put(words.score, score=score)}\n" + "\n".join(f"- {point}" for point in points) for score, points in rubric.criteria.items()
    )
    return f"{title}\n{rubric.description.strip()}\n{criteria}"


def form_text(question: Question) -> str:
    """The form of the answer in words, for endpoints that do not enforce a schema. It names no metric, so that all calls share it."""
    words = question.wording.words
    reason = put(words.justification_key, characters=str(JUSTIFICATION_CHARACTERS))
    return put(words.form_joint if question.joint else words.form_single, keys=_in_order(question, reason, words.score_key))


def reminder(question: Question) -> str:
    """The last line. Small models forget the form over a long text, and go on in the text's language."""
    words = question.wording.words
    return put(words.reminder, keys=_in_order(question, words.short_reason, words.the_score))


def _in_order(question: Question, reason: str, score: str) -> str:
    then = question.wording.words.then
    orders = {"before": put(then, first=reason, second=score), "after": put(then, first=score, second=reason), "none": score}
    return orders[question.variant.justification]


def put(template: str, **values: str) -> str:
    """The template with values in it. Not `str.format`: content files say what stands in braces, and nothing more.

    >>> put("{first}, then {second}", first="a {second}", second="b")
    'a {second}, then b'
    """
    pieces = template.split("{")
    out = [pieces[0]]
    for piece in pieces[1:]:
        name, brace, rest = piece.partition("}")
        out.append(values[name] + rest if brace and name in values else "{" + piece)
    return "".join(out)
