"""The words of an answer: of single verdicts, of judges, and of the conditions under which they were asked."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from harness.content.tags import english_name
from harness.decide.class_shares import words_of_bar, words_of_share
from harness.decide.verdicts import Verdict
from harness.model import SAMPLING, Variant, axis_words, parse_variant
from harness.reports.tables.columns import metric_words
from harness.reports.tables.numbers import coefficient, counted, percent

Sides = Sequence[Sequence[Verdict]]
"""The verdicts of each judge under each condition."""


_WORDS: dict[tuple[str, Any], str] = {
    ("call", "single"): "one metric a call",
    ("call", "joint"): "all metrics in one call",
    ("call", "conversation"): "one metric after the other in one conversation",
    ("instructions", "simple"): "short instructions",
    ("instructions", "detailed"): "detailed instructions",
    ("shots", 0): "no examples",
    ("justification", "before"): "reason first",
    ("justification", "after"): "score first",
    ("justification", "none"): "score alone",
    ("language", "english"): "instructions in English",
    ("language", "own"): "instructions in the texts' language",
    ("metric_order", "forward"): "metrics in order",
    ("metric_order", "reversed"): "metrics in reverse order",
    ("probabilities", True): "probabilities of scores",
    ("probabilities", False): "no probabilities",
    ("answer", "json"): "answer as JSON",
    ("answer", "text"): "answer in its own words",
    ("answer", "spans"): "errors marked",
    ("persona", True): "with a persona",
    ("persona", False): "without a persona",
    ("explain", True): "asked to explain",
    ("explain", False): "not asked to explain",
    ("question", "scale"): "the classes as statements and levels",
    ("question", "choice"): "the classes as a choice",
    ("options", "forward"): "options in their order",
    ("options", "reversed"): "options in reversed order",
}


def style_of(verdict: Verdict | Mapping[str, Any]) -> str:
    """Return `good`, `bad` or `open`: how a verdict, or its flat object in JSON, is coloured; words say the same."""
    if verdict["verdict"] == "use" or verdict["controls"] == "passes":
        return "good"
    return "bad" if verdict["verdict"] == "do not use" or verdict["controls"] == "fails" else "open"


def difference_words(people: bool) -> str:
    """Return the name of the difference that is shown."""
    return "judge − people" if people else "judge − constant"


def shown_value(verdict: Verdict | Mapping[str, Any], people: bool) -> float | None:
    """Return judge minus people, or minus a constant where `people` is False or labels are constructed; None where it is undefined.

    It is None too where most answers cannot be read: they count as wrong, so the number would be about replies and not about a judge.
    """
    if "unread" in verdict["obstacles"]:
        return None
    value: float | None = verdict["gap"] if people and not verdict["controls"] else verdict["base_diff"]
    return value


def place_of(verdict: Verdict) -> str:
    """Return the language and metric of a verdict in words: `Czech (task quality)`."""
    return f"{english_name(verdict['language'])} ({metric_words(verdict['metric'])})"


def texts_of(verdict: Verdict) -> dict[str, Any]:
    """Return the filters that show the texts of a verdict: those with two annotators, or those with a label where it is about controls."""
    texts = {"compared": True} if verdict.controls else {"annotators": "two or more"}
    return {name: value for name, value in verdict.key.items() if value is not None} | texts


def annotators_of(verdicts: Sequence[Verdict]) -> str:
    """Return who gave the labels, in words: native speakers only where all of the labels are theirs."""
    return "native speakers" if all(verdict.texts.labels == "native" for verdict in verdicts) else "people"


def nobody_to_compare(verdicts: Sequence[Verdict]) -> bool:
    """Return True where no text has the scores of two people, so that nothing can be compared with how far people agree."""
    return all("annotators" in verdict.words.obstacles for verdict in verdicts)


def maybe_copies(verdicts: Sequence[Verdict]) -> bool:
    """Return True where no verdict rests on the scores, because they equal people's in every text."""
    return all("copied" in verdict.words.obstacles for verdict in verdicts)


def second_person_texts(verdict: Verdict) -> int:
    """Return how many texts a second person has to score for a verdict where no text has the scores of two."""
    return max(int(setting(verdict, "items") or 30), verdict.settled_by or 0)


def easiest(verdicts: Sequence[Verdict]) -> Verdict:
    """Return the question that a second person's scores of the fewest texts settle."""
    return min(verdicts, key=second_person_texts)


def bar_words(verdicts: Sequence[Verdict]) -> str:
    """Return the bar that verdicts are held against, in words: `80 % of each class`, or by class where it differs."""
    return words_of_bar([share for verdict in verdicts for share in verdict.shares])


def shares_words(verdict: Verdict) -> str:
    """The share of each class that the judge finds, with the limit that counts: empty where classes are not two."""
    who = "the person" if verdict.basis == "bar" else "people"
    upper = verdict.decision.verdict == "do not use"
    limits = [f"at {'most' if upper else 'least'} {percent(share.upper if upper else share.lower)}" for share in verdict.shares]
    shares = [share for share in zip(verdict.shares, limits, strict=True) if share[0].n]
    return " and ".join(f"{percent(share.share)} of {words_of_share(share, who)} ({limit})" for share, limit in shares)


_FEW_LINES = 3
"""Questions of a judge of which each has a line of what was seen."""


def seen_agreement(verdicts: Sequence[Verdict]) -> Iterator[str]:
    """Yield what users of the field look for first, a line a question where they are few: agreement, kappa, the share of each class found.

    `It agrees with the person in 86 % of texts, κ .61; finds 97 % of what the person passed, 37 % of what the person failed; 240 texts.`
    On continuous scales the correlation stands in place of agreement. Labels that nobody gave, and answers that cannot be read, have none.
    """
    measured = [verdict for verdict in verdicts if verdict.kappa is not None or verdict.correlation is not None]
    if not measured or len(verdicts) > _FEW_LINES or any(verdict.controls for verdict in verdicts):
        return
    for verdict in measured:
        who = "the person" if verdict.basis == "bar" else "people"
        labels = "the person" if verdict.basis == "bar" else "most people" if verdict.texts.n else "the label"
        by = "" if verdict.correlation is None else coefficient(verdict.correlation)
        if verdict.texts.interval:
            said = f"correlates with {'mean scores of people' if verdict.texts.n else 'the scores of the texts'} by {by}"
        else:
            more = "".join(f", {name} {value}" for name, value in (("κ", coefficient(verdict.kappa)), ("correlation", by)) if value)
            said = f"agrees with {labels} in {percent(verdict.baseline.right)} of texts{more}"
        shares = [share for share in reversed(verdict.shares) if share.n and share.score is not None]
        shares_found = ", ".join(f"{percent(share.share)} of {words_of_share(share, who)}" for share in shares)
        subject = f"{place_of(verdict)}: it" if len(verdicts) > 1 else "It"
        yield f"{subject} {said}{f'; finds {shares_found}' if shares_found else ''}; {counted(verdict.texts.labelled, 'text')}."


def judge_of(verdict: Verdict) -> tuple[Any, Any]:
    """Return the judge of a verdict and, of several, its source."""
    return verdict.key.get("source"), verdict["judge"]


def setting(verdict: Verdict, name: str) -> str:
    """Return one threshold of a verdict, as its signature prints it; empty where it has none of the name."""
    return {key: value for key, _, value in (word.partition("=") for word in verdict.settings.split())}.get(name, "")


def side_names(sides: Sides) -> list[str]:
    """Return a name for each side: the judge where there are several, and what differs between the conditions of a judge.

    Of one judge under several conditions, the names are those of the conditions: `all metrics in one call, temperature 0.3`.
    """
    keys = [side[0].key for side in sides]
    sources, judges = ({str(key.get(name)) for key in keys} for name in ("source", "judge"))
    names = []
    for side in sides:
        same = [other[0].key for other in sides if judge_of(other[0]) == judge_of(side[0])]
        who = ": ".join(str(side[0].key[name]) for name, values in (("source", sources), ("judge", judges)) if len(values) > 1)
        condition = condition_words(side[0].key, same) if len(same) > 1 else ""
        names.append(f"{who} ({condition})" if who and condition else who or condition or str(side[0]["judge"]))
    return names


def condition_words(key: Mapping[str, Any], keys: Sequence[Mapping[str, Any]]) -> str:
    """Return how a judge was asked, as far as it differs between keys; all of it where nothing does.

    >>> one, two = ({"variant": name, "temperature": 0.0} for name in ("single", "joint+detailed"))
    >>> condition_words(one, [one, two]), condition_words(two, [one, two])
    ('one metric a call, short instructions', 'all metrics in one call, detailed instructions')
    >>> condition_words({"variant": "Prompt 3", "temperature": 0.7}, [])
    'Prompt 3, temperature 0.7'
    """
    differs = {name: len({str(other.get(name)) for other in keys}) != 1 for name in ("variant", *SAMPLING)}
    parts = [*_name_choices(str(key["variant"]), [str(other["variant"]) for other in keys])] if differs["variant"] else []
    parts += [axis_words(name, key[name]) for name in SAMPLING if differs[name] and key.get(name) is not None]
    return ", ".join(parts)


def _name_choices(text: str, texts: Sequence[str]) -> Iterator[str]:
    """Yield the choices of a variant that differ between all of them; its name where any of them is no variant of ours."""
    try:
        variant, variants = parse_variant(text), [parse_variant(other) for other in texts]
    except ValueError:
        yield text
        return
    if any(other.prompt for other in (variant, *variants)):
        yield text
        return
    for axis in Variant.__struct_fields__:
        if len({getattr(other, axis) for other in variants or (variant, Variant())}) > 1:
            value = getattr(variant, axis)
            if axis == "shots" and value:
                yield f"{value} {'example' if value == 1 else 'examples'} of each class"
            elif axis == "reasons":
                yield f"reasons in {english_name(value)}" if value else "reasons in the language of the instructions"
            elif axis == "rubric":
                yield f"rubric {value.partition('@')[0]}" if value else "the usual rubric"
            elif axis == "levels":
                yield f"{value} bands of a long scale" if value else "no bands of a long scale"
            else:
                yield _WORDS.get((axis, value)) or f"instructions in {english_name(value)}"
