"""A cascade of judges in the terminal: who answers how much, how often that is wrong, and what is left to people."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from harness.content.tags import both_names
from harness.correction.cascade import VOTES, WORDS, AcceptedCascade, AcceptedCascades
from harness.correction.cascade_run import CascadedRun
from harness.render.fitted_table import plain_table
from harness.render.terminal import dim_lines, table_heading
from harness.reports.tables.numbers import UNDEFINED, counted, percent, rounded_up, two_digits
from harness.reports.tables.titles import metric_words
from harness.text import one_line, terminal_safe


def render_cascades(found: AcceptedCascades) -> RenderableType:
    """A block for each language and metric, and below all of them what the guarantee is about."""
    parts: list[RenderableType] = []
    for cascade in found.cascades:
        parts.append(table_heading(one_line(f"{both_names(cascade.language)}, {metric_words(cascade.metric)}")))
        parts += [*(Text(terminal_safe(line)) for line in _sentences(cascade, found)), _steps(cascade)]
    return Group(*parts, dim_lines(map(terminal_safe, (_legend(found), *found.notes))))


def _sentences(cascade: AcceptedCascade, found: AcceptedCascades) -> Iterator[str]:
    if cascade.risk is None:
        yield f"Nothing is accepted without a person: {cascade.reason}."
    else:
        answers = ", ".join(f"{step.judge} answers {percent(step.coverage)}" for step in cascade.steps if step.coverage)
        yield f"{answers}; {percent(cascade.person)} are left to people."
        bound = f"at most {percent(cascade.upper)} with {percent(1 - found.delta)} confidence"
        answers = counted(cascade.left_out_accepted, "accepted answer")
        bound += f", not counting {answers} to texts on which people disagree" if cascade.left_out_accepted else ""
        bound += f"; {found.only_if}" if found.only_if else ""
        yield f"{percent(cascade.risk)} of the accepted answers are wrong; {bound}."
        if cascade.price is not None:
            yield f"1,000 texts cost {dollars(cascade.price)} without the people."
        tested = f"{counted(cascade.n, 'labelled text')} in {counted(cascade.groups, 'group')} test the chain"
        others = f", and {cascade.finding:,} others found its thresholds" if cascade.finding else ""
        yield f"{tested}{others}; {WORDS[cascade.units]}."
    if alone := cascade.better_alone:
        price = cascade.alone_price(alone)
        cheaper = cascade.price is not None and price is not None and price < cascade.price
        words = f"for {dollars(price)}, less than the cascade costs" if cheaper else "but is asked about every text"
        by = " by the same votes" if alone.confidence == VOTES else ""
        yield f"{alone.judge} alone answers {percent(alone.alone_coverage)}{by}, {words}."
    if idle := _idle(cascade):
        yield f"Leave out {', '.join(idle)}, which {'answers' if len(idle) == 1 else 'answer'} nothing in this chain."
    if cascade.left_out:
        total = cascade.n + cascade.finding + cascade.left_out
        yield f"Left out: {cascade.left_out:,} of {total:,} labelled texts have no commonest label; --majority strict counts them as wrong."
    if cascade.not_asked:
        yield f"Left out: {counted(cascade.not_asked, 'labelled text')} that not every judge was asked about."


def _idle(cascade: AcceptedCascade) -> list[str]:
    """The judges that answer nothing in the chain; if confidences are votes, those after the last one that answers."""
    last = max((place for place, step in enumerate(cascade.steps) if step.coverage), default=0)
    idle = ((place, step) for place, step in enumerate(cascade.steps) if cascade.risk is not None and not step.coverage)
    return [step.judge for place, step in idle if step.confidence != VOTES or place > last]


def dollars(price: float | None) -> str:
    """A price with the digits that tell judges apart."""
    return UNDEFINED if price is None else "$0" if price == 0 else f"${price:,.2f}" if price >= 0.095 else f"${two_digits(price)}"


def _steps(cascade: AcceptedCascade) -> Table:
    priced = any(step.price is not None for step in cascade.steps)
    numbers = (*(["$ / 1,000"] if priced else []), "answers from", "of all texts", "alone: from", "of all texts", "wrong at most")
    rows = []
    for step in cascade.steps:
        price = [dollars(step.price)] if priced else []
        answers = (_threshold(step.threshold), percent(step.coverage))
        alone = (_threshold(step.alone_threshold), percent(step.alone_coverage), percent(step.alone_upper))
        rows.append([one_line(f"{step.judge}: {step.condition.words()}"), step.confidence, *price, *answers, *alone])
    rows.append(["a person", "", *([""] if priced else []), "", percent(cascade.person), "", "", ""])
    return plain_table(("step", "confidence", *numbers), rows, range(2, 8))


def _threshold(value: float | None) -> str:
    return UNDEFINED if value is None else rounded_up(value)


def _legend(found: AcceptedCascades) -> str:
    votes = any(step.confidence == VOTES for cascade in found.cascades for step in cascade.steps)
    return (
        "Each judge is asked only about texts that those above it left. Of all accepted answers together at most "
        f"{percent(found.alpha)} differ from people's commonest label, which is untrue with a chance of at most {percent(found.delta)}. "
        f"alone: if only this judge answered, under the same promise{'; its votes are those of the judges before it too' if votes else ''}."
    )


def print_cascade_check(
    judges: Sequence[str], stale: Sequence[str], not_made_again: Sequence[str], allowed: Sequence[tuple[str, str]], only_if: str | None
) -> None:
    """Print whether the certificate of a cascade still holds, and why not."""
    unknown = f"not shown to be as certified: this could not be made again: {', '.join(not_made_again)}" if not_made_again else ""
    lines = [f"certificate of a cascade, {' then '.join(judges)}: {'stale' if stale else unknown or 'holds'}"]
    lines += [f"  {reason}" for reason in stale]
    if not stale and not not_made_again:
        places = ", ".join(f"{language}/{metric}" for language, metric in allowed)
        lines.append(
            f"  answers are accepted in {places}{f'; this holds {only_if}' if only_if else ''}"
            if allowed
            else "  nothing is accepted without a person"
        )
    for line in lines:
        print(terminal_safe(line))


def print_cascaded(found: CascadedRun) -> None:
    """Print a line for each judge, and what is left to people."""
    total = len(found.answers)
    lines = [
        f"{step.judge}: asked about {step.asked:,} of {counted(total, 'question')}, answers {step.answered:,} "
        f"({percent(step.answered / total)})"
        for step in found.steps
    ]
    lines.append(f"a person: {found.left:,} ({percent(found.left / total)})")
    for place, upper in found.upper.items():
        if upper is not None:
            condition = f", {found.only_if}" if found.only_if else ""
            lines.append(f"{place}: at most {percent(upper)} of the accepted answers are wrong, as certified{condition}")
    for line in lines:
        print(terminal_safe(line))
