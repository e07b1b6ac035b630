"""A choice and its confirmation in the terminal, by language; and candidates under several rounds of labels."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from pathlib import Path

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from harness.content.tags import english_name
from harness.decide.verdicts import Verdict
from harness.improvement.improve import Improved, ImprovedLanguage, candidate_words
from harness.improvement.label_rounds import RoundsCompared
from harness.render.fitted_table import plain_table
from harness.reports.tables.numbers import counted, difference, percent, probability
from harness.reports.tables.titles import metric_words
from harness.text import terminal_safe

_MOST_REMAINING = 8
CALIBRATED = (
    "The run has the judge's own scores. Replace each of them yourself, which is the choice: 'a → b' makes b of scores from a on (of named "
    "classes: of a)."
)


def render_improved(found: Improved, written: Path | None = None) -> RenderableType:
    """The answer, the confirmation by language, verdicts before and after, and the disagreements that remain."""
    parts: list[RenderableType] = [Text(terminal_safe(line)) for line in _answer(found)]
    parts += [Text(""), _languages(found), Text("")]
    parts += [Text(terminal_safe(line), style="dim") for line in _reading(found)]
    if found.remaining:
        parts += [Text("\nWhere the choice still differs from people, on the texts that confirmed:"), _remaining(found)]
    next_step = f"harness run --spec {written}" if written else "--to FILE.toml writes the choice for harness run --spec"
    parts.append(Text(f"\nNext: {next_step}"))
    if steps := calibration_steps(found):
        parts += [Text(terminal_safe(line)) for line in (CALIBRATED, *(f"  {step}" for step in steps))]
    return Group(*parts)


def calibration_steps(found: Improved) -> list[str]:
    """What becomes of scores, where the choice is calibrated and is used."""
    used = {each.language for each in found.languages if each.setting == "chosen"}
    return [str(each) for each in found.calibration if each.language in used]


def _answer(found: Improved) -> Iterator[str]:
    shown = [each for each in found.languages if each.shown]
    gains = [each for each in found.languages if each.setting == "chosen"]
    yield f"Chosen of {counted(len(found.candidates), 'candidate')}: {candidate_words(found.chosen)}"
    yield f"Start: {candidate_words(found.start)}"
    rates = f"{percent(found.together.agreement_chosen)}, and the start on {percent(found.together.agreement_start)}"
    yield f"It agrees with people on {rates} of {found.confirm_texts:,} questions that did not choose: {_points(found.together)}."
    if shown:
        yield f"A gain is shown in {_names(shown)}."
    elif found.together.shown:
        yield "A gain is shown over all languages together."
    if not_shown := [each for each in found.languages if not each.shown]:
        yield f"Not shown in {_names(not_shown)}."
    if blind := [each for each in found.languages if each.agreement_constant >= each.agreement_chosen]:
        shares = ", ".join(f"{percent(each.agreement_constant)} in {english_name(each.language)}" for each in blind)
        yield f"One answer for all texts of a metric, without reading them, agrees as often as the choice or more often: {shares}."
    kept = [each for each in found.languages if each.setting == "start"]
    if not any(each.shown for each in (*found.languages, found.together)):
        yield "Keep the start: no gain is shown."
    elif kept:
        yield f"Keep the start in {_names(kept)}: a loss of {found.options.margin * 100:.0f} points there is not ruled out."
    if gains:
        yield f"Use the choice in {_names(gains)}."
    if gains and kept:
        everywhere = f"{percent(found.together.agreement_chosen)} with the choice everywhere"
        yield f"With these settings {percent(found.agreement_used)} of all answers agree, and {everywhere}."
    if found.uses:
        yield f"These labels have confirmed {counted(found.uses, 'time')} before, so that this test is at {found.level * 100:g} %."


def _points(row: ImprovedLanguage) -> str:
    interval = "–" if math.isnan(row.gain.low) else f"{difference(row.gain.low)} to {difference(row.gain.high)}"
    return f"{difference(row.gain.gain)} points [{interval}]"


def _names(rows: list[ImprovedLanguage]) -> str:
    return ", ".join(english_name(each.language) for each in rows)


def _languages(found: Improved) -> Table:
    numbers = ("start agrees", "choice agrees", "gain (points) [95 %]", "p", "texts", "groups")
    rows = []
    for row in (*found.languages, found.together):
        gain = (percent(row.agreement_start), percent(row.agreement_chosen), _points(row).replace(" points", ""))
        counts = ("–" if row.p is None else probability(row.p), f"{row.gain.texts:,}", f"{row.gain.groups:,}")
        together = row.language == "*"
        verdicts = (_verdicts(found.before, row.language), _verdicts(found.after, row.language))
        own = ("", "", "") if together else (row.setting, *verdicts)
        name = "all" if together else english_name(row.language)
        rows.append((name, *gain, *counts, "shown" if row.shown else "not shown", *own))
    return plain_table(("language", *numbers, "gain", "use", "verdicts: start", "choice"), rows, range(1, 7))


def _verdicts(verdicts: Sequence[Verdict], language: str) -> str:
    own = [verdict.decision.verdict for verdict in verdicts if verdict.key["language"] == language]
    counts = {name: own.count(name) for name in dict.fromkeys(own)}
    return ", ".join(name if count == len(own) else f"{name} {count}" for name, count in counts.items()) or "–"


def _reading(found: Improved) -> Iterator[str]:
    rounds = ", ".join(f"{len(each.kept)} of them after {each.texts}" for each in found.halving.rounds)
    yield f"Chosen on {found.choose_texts:,} other questions by successive halving: {rounds}."
    yield (
        f"gain shown: over the start and over the best constant, at {found.level * 100:g} % after Holm over languages. "
        f"use: the choice where a loss of {found.options.margin * 100:.0f} points is ruled out at that level, if a gain is shown anywhere."
    )
    yield "verdicts: on the questions that confirmed. agreement: with the commonest label; an answer that cannot be read is wrong."


def _remaining(found: Improved) -> Table:
    rows: list[tuple[RenderableType, ...]] = []
    for row in found.remaining[:_MOST_REMAINING]:
        widest = row.examples[0]
        text = Text(terminal_safe(f"{widest.item_id}: {widest.text}" if widest.text else widest.item_id), overflow="ellipsis", no_wrap=True)
        scores = (terminal_safe(str(score)) for score in ("–" if score is None else score for score in (widest.people, widest.judge)))
        rows.append((english_name(row.language), metric_words(row.metric), f"{row.wrong} of {row.n}", *scores, text))
    return plain_table(("language", "metric", "differs", "people", "judge", "for example (--json has more)"), rows)


def render_rounds(found: RoundsCompared) -> RenderableType:
    """Which candidate wins under which round, how far each agrees, and where the rounds differ."""
    same = len(set(found.winners)) == 1
    lines = [
        f"{'Every round' if same else name} agrees most with {candidate_words(winner)}."
        for name, winner in list(zip(found.rounds, found.winners, strict=True))[: 1 if same else None]
    ]
    lines.append(f"The rounds differ on {found.differing:,} of {found.common:,} questions that have a commonest label in each.")
    parts: list[RenderableType] = [Text(terminal_safe(line)) for line in lines]
    parts += [Text(""), _agreement(found)]
    if found.examples:
        parts += [Text("\nWhere they differ:"), _examples(found)]
    reading = (
        f"\nAgreement on the {counted(found.questions, 'question')} that choose. Nothing is confirmed, and no label is spent: decide "
        "which instructions you mean, then choose by their labels."
    )
    return Group(*parts, Text(reading, style="dim"))


def _agreement(found: RoundsCompared) -> Table:
    rows = []
    for candidate, row in zip(found.candidates, found.agreement, strict=True):
        cells = [f"{percent(share)}{' *' if winner == candidate else '  '}" for share, winner in zip(row, found.winners, strict=True)]
        rows.append([terminal_safe(candidate_words(candidate)), *cells])
    return plain_table(map(terminal_safe, ("candidate", *found.rounds)), rows, range(1, len(found.rounds) + 1))


def _examples(found: RoundsCompared) -> Table:
    rows = (
        (
            english_name(row.language),
            metric_words(row.metric),
            *(terminal_safe("–" if text is None else str(text)) for text in (row.item_id, *row.labels)),
        )
        for row in found.examples
    )
    return plain_table(map(terminal_safe, ("language", "metric", "text", *found.rounds)), rows)
