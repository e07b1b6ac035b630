"""Derive judgments from a reply: one for each metric of its query, in the item's own frame. Reading a reply again asks no judge."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import lru_cache
from typing import NamedTuple

import msgspec

from harness.data.judgments import first_share
from harness.data.labels import OUTPUT
from harness.model import LONGEST_EXCERPT, Failure, JudgeIdentity, Judgment, Query, Reply, Scale
from harness.parse import (
    Reading,
    Vocabulary,
    entropy,
    expected_score,
    read_by_rule,
    read_decisions,
    read_reply,
    read_text,
    score_probabilities,
)
from harness.parse.choice_on_scale import clean, failed_reading
from harness.parse.language import detect_language, is_identifier_loaded
from harness.parse.probabilities import FORMS as FORMS_OF_DECISIONS
from harness.parse.reasoning import answer_of
from harness.parse.reply import place
from harness.prompts import OwnPrompt

_MAX_DETECTED = 1 << 15  # languages that are kept until `derive_judgments` needs them
_BLOCK = 128  # texts identified together: the identifier's tables are large, so single texts between other work cost far more
_detected: dict[tuple[str, Vocabulary], str] = {}
_waiting: list[tuple[str, Vocabulary]] = []
_cached_language_of = lru_cache(maxsize=1 << 12)(detect_language)  # judges repeat themselves


class ReadingRules(NamedTuple):
    """The rules for reading replies: the scales of the metrics, the parser's words, and prompts of the user with their rules."""

    scales: Mapping[str, Scale]
    vocabulary: Vocabulary
    own_prompts: Mapping[str, OwnPrompt] = {}


def read_metrics(query: Query, reply: Reply, rules: ReadingRules) -> dict[str, Reading]:
    """Return the reading of a reply for each metric of a query, in the order of the texts that the judge saw.

    A call that the endpoint refused has no score: `missing`, or `refused`. A reply that was stored cut is not read: `truncated`. Answers to
    prompts of the user's own are read by their rule.
    """
    if reply.whole_length:
        return dict.fromkeys(query.metrics, failed_reading(Failure.TRUNCATED))
    scales, vocabulary = {metric: rules.scales[metric] for metric in query.metrics}, rules.vocabulary
    if reply.form in FORMS_OF_DECISIONS and not reply.refusal:
        return read_decisions(reply.text, scales, query.condition.variant)
    ended = {"finish_reason": reply.finish_reason, "refusal": reply.refusal}
    if prompt := rules.own_prompts.get(query.condition.variant.prompt):
        [metric] = query.metrics
        return {metric: read_by_rule(reply.text, prompt.rule, scales[metric], vocabulary, **ended)}
    if query.condition.variant.answer == "text":
        [metric] = query.metrics
        reading = read_text(reply.text, scales[metric], vocabulary, **ended)
        if query.condition.variant.explain and reading.score is not None:  # the reasons stand around the score
            reading = msgspec.structs.replace(reading, justification=clean(answer_of(reply.text).strip()) or None)
        return {metric: reading}
    return read_reply(reply.text, scales, joint=query.condition.variant.call == "joint", vocabulary=vocabulary, **ended)


def reply_failures(query: Query, reply: Reply, rules: ReadingRules) -> list[Failure]:
    """Return the failures of the query's metrics; empty if all have a score."""
    readings = read_metrics(query, reply, rules).values()
    return [Failure(reading.failure) for reading in readings if reading.failure is not None]


def count_failures(query: Query, reply: Reply, rules: ReadingRules) -> int:
    """Count the metrics of the query that have no score.

    Also detects the languages of justifications ahead of time, while other calls are in flight, because `derive_judgments` needs them.
    """
    readings = read_metrics(query, reply, rules).values()
    if len(_detected) + len(_waiting) < _MAX_DETECTED:
        _waiting.extend((reading.justification, rules.vocabulary) for reading in readings if reading.justification)
    if len(_waiting) >= _BLOCK and is_identifier_loaded():
        _detected.update((text, _cached_language_of(*text)) for text in _waiting)
        _waiting.clear()
    return sum(reading.failure is not None for reading in readings)


def derive_judgments(
    query: Query,
    reply: Reply,
    call_id: str,
    identity: JudgeIdentity,
    rules: ReadingRules,
    asked_language: str = "en",
    detect_language: bool = True,
) -> Iterator[Judgment]:
    """The judgments of one reply, in the order in which the query names its metrics.

    `detect_language` also identifies the language of each justification.
    """
    scales, joint = rules.scales, query.condition.variant.call == "joint"
    probs = score_probabilities(reply.tokens, {metric: scales[metric] for metric in query.metrics}, joint=joint) if reply.tokens else {}
    swapped = query.condition.order == "swapped"
    for metric, reading in read_metrics(query, reply, rules).items():
        scale, class_probs = scales[metric], reading.probs or probs.get(metric)
        if swapped and class_probs:
            class_probs = {str(scale.exchanged(score)): class_probs[str(score)] for score in scale.classes}
        detected_language = None
        if detect_language and reading.justification and query.condition.variant.answer != "text":  # a text is asked for in no language
            text = (reading.justification, rules.vocabulary)
            detected_language = _detected.get(text) or _cached_language_of(*text)
        marked = reading.spans if query.condition.variant.answer == "spans" else None
        if marked is not None and not query.condition.perturbation:  # errors of a perturbed text have no places: it is not kept
            marked = place(marked, str(query.item.fields.get(OUTPUT, "")))
        yield Judgment(
            item_id=query.item.item_id,
            language=query.item.language,
            task=query.item.task,
            metric=metric,
            judge=identity.name,
            condition=query.condition,
            repeat=query.repeat,
            score=scale.exchanged(reading.score) if swapped and reading.score is not None else reading.score,
            failure=Failure(reading.failure) if reading.failure else None,
            raw_choice=reading.raw_choice,
            excerpt=((reply.text or reply.refusal or "").strip()[:LONGEST_EXCERPT] or None) if reading.raw_choice is None else None,
            justification=reading.justification,
            call_id=call_id,
            probs=class_probs,
            expected=expected_score(class_probs, scale) if class_probs else None,
            entropy=entropy(class_probs) if class_probs else None,
            share_a=first_share(class_probs, scale) if class_probs else None,
            further_numbers=reading.further_numbers,
            spans=marked,
            asked_language=asked_language,
            detected_language=detected_language,
        )
