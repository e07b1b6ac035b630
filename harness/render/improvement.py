"""A choice and its confirmation in the terminal, by language; and candidates under several rounds of labels."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from harness.content.tags import both_names, english_name
from harness.correction.cascade import VOTES, WORDS, AcceptedCascade, AcceptedCascades
from harness.correction.cascade_certificate import CascadedRun
from harness.decide.verdicts import Verdict
from harness.improvement.explain import PEOPLE, ErrorEffect, Explained, ExplainedErrors, ExplainedPairs
from harness.improvement.improve import Improved, ImprovedLanguage, RoundsCompared, candidate_words
from harness.model import JudgeCondition
from harness.render.fitted_table import plain_table
from harness.render.terminal import dim_lines, table_heading
from harness.reports.answer.parts import SIGNS, STYLES, joined, state_of
from harness.reports.tables.columns import metric_title, metric_words
from harness.reports.tables.numbers import UNDEFINED, counted, difference, percent, probability, rounded_up, signed, two_digits
from harness.text import one_line, terminal_safe

_MOST_REMAINING = 8
CALIBRATED = (
    "The run has the judge's own scores. Replace each of them yourself, which is the choice: 'a → b' makes b of scores from a on (of named "
    "classes: of a)."
)


def render_improved(improved: Improved, written: Path | None = None) -> RenderableType:
    """Return the answer, the confirmation by language, verdicts before and after, and the disagreements that remain."""
    parts: list[RenderableType] = [Text(terminal_safe(line)) for line in _answer(improved)]
    parts += [Text(""), _languages(improved), Text("")]
    parts += [Text(terminal_safe(line), style="dim") for line in _reading(improved)]
    if improved.remaining:
        rows: list[tuple[RenderableType, ...]] = []
        for row in improved.remaining[:_MOST_REMAINING]:
            widest = row.examples[0]
            example = f"{widest.item_id}: {widest.text}" if widest.text else widest.item_id
            text = Text(terminal_safe(example), overflow="ellipsis", no_wrap=True)
            scores = (terminal_safe("–" if score is None else str(score)) for score in (widest.people, widest.judge))
            rows.append((english_name(row.language), metric_words(row.metric), f"{row.wrong} of {row.n}", *scores, text))
        parts += [
            Text("\nWhere the choice still differs from people, on the texts that confirmed:"),
            plain_table(("language", "metric", "differs", "people", "judge", "for example (--json has more)"), rows),
        ]
    next_step = f"harness run --spec {written}" if written else "--to FILE.toml writes the choice for harness run --spec"
    parts.append(Text(f"\nNext: {next_step}"))
    if steps := calibration_steps(improved):
        parts += [Text(terminal_safe(line)) for line in (CALIBRATED, *(f"  {step}" for step in steps))]
    return Group(*parts)


def calibration_steps(improved: Improved) -> list[str]:
    """Return what becomes of scores, where the choice is calibrated and is used."""
    used = {row.language for row in improved.languages if row.setting == "chosen"}
    return [str(row) for row in improved.calibration if row.language in used]


def _answer(improved: Improved) -> Iterator[str]:
    shown_rows = [row for row in improved.languages if row.shown]
    gains = [row for row in improved.languages if row.setting == "chosen"]
    yield f"Chosen of {counted(len(improved.candidates), 'candidate')}: {candidate_words(improved.chosen)}"
    yield f"Start: {candidate_words(improved.start)}"
    rates = f"{percent(improved.together.agreement_chosen)}, and the start on {percent(improved.together.agreement_start)}"
    yield f"It agrees with people on {rates} of {improved.confirm_texts:,} questions that did not choose: {_points(improved.together)}."
    if shown_rows:
        yield f"A gain is shown in {_names(shown_rows)}."
    elif improved.together.shown:
        yield "A gain is shown over all languages together."
    if not_shown := [row for row in improved.languages if not row.shown]:
        yield f"Not shown in {_names(not_shown)}."
    if blind := [row for row in improved.languages if row.agreement_constant >= row.agreement_chosen]:
        shares = ", ".join(f"{percent(row.agreement_constant)} in {english_name(row.language)}" for row in blind)
        yield f"One answer for all texts of a metric, without reading them, agrees as often as the choice or more often: {shares}."
    unchanged = [row for row in improved.languages if row.setting == "start"]
    if not any(row.shown for row in (*improved.languages, improved.together)):
        yield "Keep the start: no gain is shown."
    elif unchanged:
        yield f"Keep the start in {_names(unchanged)}: a loss of {improved.options.keep_within * 100:.0f} points there is not ruled out."
    if gains:
        yield f"Use the choice in {_names(gains)}."
    if gains and unchanged:
        everywhere = f"{percent(improved.together.agreement_chosen)} with the choice everywhere"
        yield f"With these settings {percent(improved.agreement_used)} of all answers agree, and {everywhere}."
    if improved.uses:
        yield f"These labels have confirmed {counted(improved.uses, 'time')} before, so that this test is at {improved.level * 100:g} %."


def _points(row: ImprovedLanguage) -> str:
    interval = "–" if math.isnan(row.gain.low) else f"{difference(row.gain.low)} to {difference(row.gain.high)}"
    return f"{difference(row.gain.gain)} points [{interval}]"


def _names(rows: list[ImprovedLanguage]) -> str:
    return ", ".join(english_name(row.language) for row in rows)


def _languages(improved: Improved) -> Table:
    grouped = any(row.gain.groups != row.gain.texts for row in (*improved.languages, improved.together))
    numbers = ("start agrees", "choice agrees", "gain [95 %]", "p", "texts", *(["groups"] if grouped else []))
    rows = []
    for row in (*improved.languages, improved.together):
        points = f"{SIGNS['good' if row.shown else 'open']} {_points(row).replace(' points', '')}"
        gain = (percent(row.agreement_start), percent(row.agreement_chosen), points)
        groups = [f"{row.gain.groups:,}"] if grouped else []
        counts = ("–" if row.p is None else probability(row.p), f"{row.gain.texts:,}", *groups)
        together = row.language == "*"
        verdicts = (_verdicts(improved.before, row.language), _verdicts(improved.after, row.language))
        cells = ("", "", "") if together else (row.setting, *verdicts)
        name = "all" if together else english_name(row.language)
        rows.append((name, *gain, *counts, *cells))
    headings = ("language", *numbers, "use", "verdict start", "verdict choice")
    table = plain_table(headings, rows, range(1, 1 + len(numbers)), unbroken=(0, 3))
    table.padding = (0, 1, 0, 0)
    return table


def _verdicts(verdicts: Sequence[Verdict], language: str) -> str:
    counts = Counter(SIGNS[STYLES[state_of(verdict)]] for verdict in verdicts if verdict.key["language"] == language)
    return " ".join(f"{sign} {counts[sign]}" for sign in SIGNS.values() if counts[sign]) or "–"


def _reading(improved: Improved) -> Iterator[str]:
    rounds = ", ".join(f"{len(stage.kept)} of them after {stage.texts}" for stage in improved.halving.rounds)
    yield f"Chosen on {improved.choose_texts:,} other questions by successive halving: {rounds}."
    yield (
        f"gain: {SIGNS['good']} shown over the start and over the best constant, at {improved.level * 100:g} % after Holm over languages. "
        f"use: the choice where a loss of {improved.options.keep_within * 100:.0f} points is ruled out at that level, "
        "if a gain is shown anywhere."
    )
    signs = f"{SIGNS['good']} use, {SIGNS['bad']} do not use, {SIGNS['open']} unknown"
    yield f"Numbers of a gain are percentage points. verdict: on the questions that confirmed; {signs}."
    yield "agreement: with the commonest label; an answer that cannot be read is wrong."


def render_rounds(compared: RoundsCompared) -> RenderableType:
    """Return which candidate wins under which round, how far each agrees, and where the rounds differ."""
    same = len(set(compared.winners)) == 1
    lines = [
        f"{'Every round' if same else name} agrees most with {candidate_words(winner)}."
        for name, winner in list(zip(compared.rounds, compared.winners, strict=True))[: 1 if same else None]
    ]
    lines.append(f"The rounds differ on {compared.differing:,} of {compared.common:,} questions that have a commonest label in each.")
    parts: list[RenderableType] = [Text(terminal_safe(line)) for line in lines]
    rows = []
    for candidate, row in zip(compared.candidates, compared.agreement, strict=True):
        cells = [f"{percent(share)}{' *' if winner == candidate else '  '}" for share, winner in zip(row, compared.winners, strict=True)]
        rows.append([terminal_safe(candidate_words(candidate)), *cells])
    names = [terminal_safe(name) for name in compared.rounds]
    parts += [Text(""), plain_table(("candidate", *names), rows, range(1, len(names) + 1))]
    if compared.examples:
        examples = []
        for example in compared.examples:
            texts = (terminal_safe("–" if text is None else str(text)) for text in (example.item_id, *example.labels))
            examples.append((english_name(example.language), metric_words(example.metric), *texts))
        parts += [Text("\nWhere they differ:"), plain_table(("language", "metric", "text", *names), examples)]
    reading = (
        f"\nAgreement on the {counted(compared.questions, 'question')} that choose. Nothing is confirmed, and no label is spent: decide "
        "which instructions you mean, then choose by their labels."
    )
    return Group(*parts, Text(reading, style="dim"))


def render_cascades(cascades: AcceptedCascades) -> RenderableType:
    """Return a block for each language and metric, and below all of them what the guarantee is about."""
    parts: list[RenderableType] = []
    for cascade in cascades.cascades:
        parts.append(table_heading(one_line(f"{both_names(cascade.language)}, {metric_words(cascade.metric)}")))
        parts += [*(Text(terminal_safe(line)) for line in _sentences(cascade, cascades)), _steps(cascade)]
    confidences = {step.confidence: None for cascade in cascades.cascades for step in cascade.steps}
    votes = "; its votes are those of the judges before it too" if VOTES in confidences else ""
    legend = (
        f"answers from: the lowest confidence ({', '.join(confidences)}) with which a judge answers. "
        "Each judge is asked only about texts that those above it left. Of all accepted answers together at most "
        f"{percent(cascades.alpha)} differ from people's commonest label, "
        f"which is untrue with a chance of at most {percent(cascades.delta)}. "
        f"alone: if only this judge answered, under the same promise{votes}."
    )
    return Group(*parts, dim_lines(map(terminal_safe, (legend, *cascades.notes))))


def _sentences(cascade: AcceptedCascade, cascades: AcceptedCascades) -> Iterator[str]:
    if cascade.risk is None:
        yield f"Nothing is accepted without a person: {cascade.reason}."
    else:
        answers = ", ".join(f"{step.judge} answers {percent(step.coverage)}" for step in cascade.steps if step.coverage)
        yield f"{answers}; {percent(cascade.person)} are left to people."
        bound = f"at most {percent(cascade.upper)} with {percent(1 - cascades.delta)} confidence"
        answers = counted(cascade.left_out_accepted, "accepted answer")
        bound += f", not counting {answers} to texts on which people disagree" if cascade.left_out_accepted else ""
        bound += f"; {cascades.only_if}" if cascades.only_if else ""
        yield f"{percent(cascade.risk)} of the accepted answers are wrong; {bound}."
        if cascade.price is not None:
            yield f"1,000 texts cost {dollars(cascade.price)} without the people."
        tested = f"{counted(cascade.n, 'labelled text')} in {counted(cascade.groups, 'group')} test the chain"
        other_texts = f", and {cascade.finding:,} others found its thresholds" if cascade.finding else ""
        yield f"{tested}{other_texts}; {WORDS[cascade.units]}."
    if alone := cascade.better_single_judge:
        price = cascade.alone_price(alone)
        cheaper = cascade.price is not None and price is not None and price < cascade.price
        words = f"for {dollars(price)}, less than the cascade costs" if cheaper else "but is asked about every text"
        by = " by the same votes" if alone.confidence == VOTES else ""
        yield f"{alone.judge} alone answers {percent(alone.alone_coverage)}{by}, {words}."
    # of judges whose confidences are votes only those after the last one that answers: the votes of those before it are counted
    last = max((index for index, step in enumerate(cascade.steps) if step.coverage), default=0)
    silent = ((index, step) for index, step in enumerate(cascade.steps) if cascade.risk is not None and not step.coverage)
    if idle := [step.judge for index, step in silent if step.confidence != VOTES or index > last]:
        yield f"Leave out {', '.join(idle)}, which {'answers' if len(idle) == 1 else 'answer'} nothing in this chain."
    if cascade.left_out:
        total = cascade.n + cascade.finding + cascade.left_out
        yield f"Left out: {cascade.left_out:,} of {total:,} labelled texts have no commonest label; --majority strict counts them as wrong."
    if cascade.not_asked:
        yield f"Left out: {counted(cascade.not_asked, 'labelled text')} that not every judge was asked about."


def dollars(price: float | None) -> str:
    """Return a price with the digits that tell judges apart."""
    return UNDEFINED if price is None else "$0" if price == 0 else f"${price:,.2f}" if price >= 0.095 else f"${two_digits(price)}"


def _steps(cascade: AcceptedCascade) -> Table:
    priced = any(step.price is not None for step in cascade.steps)
    differ = len({(step.condition.words(), step.confidence) for step in cascade.steps}) > 1
    numbers = (*(["$ / 1,000"] if priced else []), "answers from", "of all texts", "alone: from", "of all texts", "wrong at most")
    rows: list[list[RenderableType]] = []
    for step in cascade.steps:
        asked = [one_line(step.condition.words()), step.confidence] if differ else []
        price = [dollars(step.price)] if priced else []
        answers = (_threshold(step.threshold), percent(step.coverage))
        alone = (_threshold(step.alone_threshold), percent(step.alone_coverage), percent(step.alone_upper))
        rows.append([one_line(step.judge), *asked, *price, *answers, *alone])
    left = ["", ""] if differ else []
    rows.append(["a person", *left, *([""] if priced else []), "", percent(cascade.person), "", "", ""])
    headings = ("step", *(["asked", "confidence"] if differ else []), *numbers)
    return plain_table(headings, rows, range(len(headings) - len(numbers), len(headings)), unbroken=(0,))


def _threshold(value: float | None) -> str:
    return UNDEFINED if value is None else rounded_up(value)


def print_cascade_check(
    judges: Sequence[str], stale: Sequence[str], not_made_again: Sequence[str], allowed: Sequence[tuple[str, str]], only_if: str | None
) -> None:
    """Print whether the certificate of a cascade still holds, and why not."""
    unknown = f"not shown to be as certified: this could not be made again: {', '.join(not_made_again)}" if not_made_again else ""
    lines = [f"certificate of a cascade, {' then '.join(judges)}: {'stale' if stale else unknown or 'holds'}"]
    lines += [f"  {reason}" for reason in stale]
    if not stale and not not_made_again:
        cells = ", ".join(f"{language}/{metric}" for language, metric in allowed)
        lines.append(
            f"  answers are accepted in {cells}{f'; this holds {only_if}' if only_if else ''}"
            if allowed
            else "  nothing is accepted without a person"
        )
    for line in lines:
        print(terminal_safe(line))


def print_cascaded(cascaded_run: CascadedRun) -> None:
    """Print a line for each judge, and what is left to people."""
    total = len(cascaded_run.answers)
    lines = [
        f"{step.judge}: asked about {step.asked:,} of {counted(total, 'question')}, answers {step.answered:,} "
        f"({percent(step.answered / total)})"
        for step in cascaded_run.steps
    ]
    lines.append(f"a person: {cascaded_run.for_people:,} ({percent(cascaded_run.for_people / total)})")
    for cell, upper in cascaded_run.upper.items():
        if upper is not None:
            condition = f", {cascaded_run.only_if}" if cascaded_run.only_if else ""
            lines.append(f"{cell}: at most {percent(upper)} of the accepted answers are wrong, as certified{condition}")
    for line in lines:
        print(terminal_safe(line))


_MOST_ROWS = 40
"""With more effects than this, only those that are shown have rows of their own."""
_MOST_BLOCKS, _FEW_BLOCKS = 12, 6
"""Of more questions than the first, only the second number have a block, from the largest effect on."""
_MOST_NAMES = 4
"""Texts with higher, or with lower scores, that a sentence names."""


def render_explained(explained: Explained, *, all_rows: bool = False) -> RenderableType:
    """Return a block for each metric and judge. `all_rows`: rows for effects that are not shown too, however many there are."""
    shows_all = all_rows or sum(len(metric.effects) for metric in explained.metrics) <= _MOST_ROWS
    parts: list[RenderableType] = [Text(terminal_safe(_summary(explained)), style="bold")]
    metrics, alike = explained.metrics, list[str]()
    if len(metrics) > 1:
        alike = [reason for reason in metrics[0].left_out if all(reason in metric.left_out for metric in metrics)]
    if not all_rows and len(metrics) > _MOST_BLOCKS:
        shown = (
            [effect.value for effect in metric.effects if effect.outcome == "shown" and effect.value is not None] for metric in metrics
        )
        largest = [max(map(abs, values), default=0.0) for values in shown]
        metrics = tuple(metrics[index] for index in sorted(range(len(metrics)), key=lambda index: -largest[index])[:_FEW_BLOCKS])
        parts.append(Text(f"Shown: the {_FEW_BLOCKS} questions with the largest effects. --all has all {len(explained.metrics):,}."))
    for metric in metrics:
        condition = JudgeCondition.of(metric.key)
        title = one_line(f"{metric_title(str(metric.key['metric']))}, {condition.judge}: {condition.words()}")
        parts += [Text(""), Text(title, style="bold cyan")]
        parts += [Text(terminal_safe(line)) for line in _findings(metric)]
        rows = [effect for effect in metric.effects if shows_all or effect.outcome == "shown"]
        parts += [_table(rows)] if rows and shows_all else []
        if len(rows) < len(metric.effects):
            parts.append(Text(_rest([effect for effect in metric.effects if effect.outcome != "shown"])))
        parts += [Text(terminal_safe(f"Left out: {reason}.")) for reason in metric.left_out if reason not in alike]
    if alike:
        parts += [Text(""), *(Text(terminal_safe(f"Left out: {reason}.")) for reason in alike)]
    parts += render_pairs(explained.pairs) if explained.pairs else []
    more = () if shows_all else ("--all has a row for each effect.",)
    return Group(*parts, dim_lines(map(terminal_safe, (*explained.notes, *more))))


def _summary(explained: Explained) -> str:
    """Return what errors follow, and on how many metrics."""
    by_metric = [{effect.covariate for effect in metric.effects if effect.outcome == "shown"} for metric in explained.metrics]
    followed = Counter(covariate for covariates in by_metric for covariate in covariates)
    of_all = f"of {counted(len(explained.metrics), 'question')}"
    errors = "The judge's errors" if len({metric.key["judge"] for metric in explained.metrics}) < 2 else "The judges' errors"
    if not followed:
        return f"{errors} follow nothing that was tested{f', in any {of_all}' if len(explained.metrics) > 1 else ''}."
    return f"{errors} follow {joined([f'{name} ({count} {of_all})' for name, count in followed.most_common()])}."


def _findings(metric: ExplainedErrors) -> Iterator[str]:
    texts = f"{counted(metric.n, 'text')} in {counted(metric.groups, 'group')}"
    side = "above" if metric.mean_error > 0 else "below"  # not "too generous": the highest score is not the best one on every scale
    yield f"On average its scores are {abs(metric.mean_error):.2f} points {side} people's ({texts})."
    levels = [effect for effect in metric.effects if effect.outcome == "shown" and effect.level and effect.value is not None]
    for side, sign in (("higher", 1), ("lower", -1)):
        effects = [effect for effect in levels if (effect.value or 0.0) * sign > 0]
        if effects:
            largest = sorted(effects, key=lambda effect: -abs(effect.value or 0.0))
            names = [f"{_effect_name(effect)} ({signed(effect.value or 0.0, 2)})" for effect in largest[:_MOST_NAMES]]
            names += [f"{len(effects) - _MOST_NAMES} more"] if len(effects) > _MOST_NAMES else []
            yield f"Compared with this average, its scores are {side} for {joined(names)}."
    for effect in metric.effects:
        if effect.outcome != "shown" or effect.level or effect.value is None:
            continue
        times = "longer texts"
        if metric.times_longer is not None:
            times = f"texts {metric.times_longer:.1f} times as long as others of their language"
        side = "higher" if effect.value > 0 else "lower"
        points = f"{abs(effect.value):.2f} points {side}"
        yield f"For {times}, its scores are {points}, compared with people's. This is an association, not a cause."


def _effect_name(effect: ErrorEffect) -> str:
    """Return what errors may follow: `system CTRL`, `Hindi`, `length`."""
    if effect.covariate == "language" and effect.level:
        return english_name(effect.level[0])
    return f"{effect.covariate} {' × '.join(effect.level)}".rstrip()


def _table(effects: Sequence[ErrorEffect]) -> Table:
    noisy = any(effect.noise is not None for effect in effects)
    rows = []
    for effect in effects:
        numbers = [_effect_interval(effect.value, effect.low, effect.high), probability(effect.q), _detectable(effect)]
        numbers += [UNDEFINED if effect.noise is None else f"±{effect.noise:.2f}"] if noisy else []
        rows.append([one_line(_effect_name(effect)), *numbers, effect.outcome])
    headings = ("judge − people, for", "points [95 %]", "q", "detectable", *(["noise alone"] if noisy else []), "")
    return plain_table(headings, rows, range(1, len(headings) - 1))


def _effect_interval(value: float | None, low: float | None, high: float | None) -> str:
    """`+0.12 [+0.02 to +0.22]`; a dash for none."""
    ends = "" if low is None or high is None else f" [{signed(low, 2)} to {signed(high, 2)}]"
    return UNDEFINED if value is None else f"{signed(value, 2)}{ends}"


def _detectable(effect: ErrorEffect | ExplainedPairs) -> str:
    """Return the least effect that would have been found, where none was."""
    return UNDEFINED if effect.detectable is None or effect.outcome == "shown" else f"{effect.detectable:.2f}"


def _rest(effects: Sequence[ErrorEffect]) -> str:
    """Return what has no row: how many effects, and the range of what would have been found."""
    parts = []
    for name in dict.fromkeys(effect.covariate for effect in effects):
        name_effects = [effect for effect in effects if effect.covariate == name]
        detectables = [effect.detectable for effect in name_effects if effect.detectable is not None]
        # As printed, so that no range has two equal ends.
        ends = " to ".join(dict.fromkeys(f"{end(detectables):.2f}" for end in (min, max))) if detectables else "too few groups"
        parts.append(f"{name}{'' if len(name_effects) == 1 else f', {len(name_effects)} effects'} ({ends})")
    return f"Not shown: {'; '.join(parts)}. In brackets: the smallest effect that these texts could show, in points."


_MOST_SYSTEMS = 15


def render_pairs(explained_pairs: Sequence[ExplainedPairs]) -> list[RenderableType]:
    """Return a block for each metric: sentences, a row for people and each judge, and the systems of each."""
    parts: list[RenderableType] = []
    for metric in dict.fromkeys(str(pairs.key["metric"]) for pairs in explained_pairs):
        metric_pairs = [pairs for pairs in explained_pairs if pairs.key["metric"] == metric]
        parts += [Text(""), Text(one_line(f"{metric_title(metric)}: choices and the length of the texts"), style="bold cyan")]
        rows = []
        for pairs in metric_pairs:
            if pairs.outcome == "shown" and pairs.length is not None and pairs.times_longer is not None:
                times = f"{pairs.times_longer:.1f} times as long as the other has {math.exp(pairs.length):.2f} times the odds to be chosen"
                parts.append(Text(terminal_safe(f"{_who(pairs)}: a text {times}. This is an association, not a cause.")))
            length = (_effect_interval(pairs.length, pairs.low, pairs.high), probability(pairs.q), _detectable(pairs))
            positions = (UNDEFINED if value is None else signed(value, 2) for value in (pairs.place, pairs.place_adjusted))
            rows.append([one_line(_who(pairs)), f"{pairs.n:,}", f"{pairs.groups:,}", *length, *positions, pairs.outcome])
        headings = ("choices of", "choices", "groups", "length [95 %]", "q", "detectable", "first place", "beside length", "")
        parts.append(plain_table(headings, rows, range(1, len(headings) - 1)))
        for pairs in (pairs for pairs in metric_pairs if pairs.systems):
            first = pairs.systems[:_MOST_SYSTEMS]
            systems = [(one_line(system.name), signed(system.raw, 2), signed(system.adjusted, 2)) for system in first]
            if len(pairs.systems) > len(first):
                systems.append((f"and {counted(len(pairs.systems) - len(first), 'other')}; --json has all", "", ""))
            parts.append(plain_table((one_line(f"systems, by {_who(pairs)}"), "log-odds", "beside length"), systems, (1, 2)))
        parts += [Text(terminal_safe(f"{_who(pairs)}, left out: {reason}")) for pairs in metric_pairs for reason in pairs.left_out]
    return parts


def _who(pairs: ExplainedPairs) -> str:
    condition = JudgeCondition.of(pairs.key)
    return PEOPLE if condition.judge == PEOPLE else f"{condition.judge}: {condition.words()}".removesuffix(": ")
