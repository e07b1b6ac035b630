"""A cascade that asked its judges, in the terminal: who answered how much, and what is left to people."""

from __future__ import annotations

from harness.correct.cascade_run import CascadedRun
from harness.reports.tables.numbers import counted, percent
from harness.text import terminal_safe


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
