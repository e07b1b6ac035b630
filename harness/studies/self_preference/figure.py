"""The figure of preference against recognition, for print."""

from __future__ import annotations

from harness.render.figures import SectionFigure, style
from harness.render.figures.style import Drawn, FigureOptions, Legend, Section
from harness.reports.tables.numbers import coefficient
from harness.text import terminal_safe

_SIDE = 2.4  # inches of a panel
_CAPTION = (
    "The mean probability of the own text as the better one, against that of the own text as the one that the judge wrote, and against "
    "that of the right answer to questions whose answer is computed. A dot is a judge under one condition in one language. The line is by "
    "ordinary least squares; the interval of its slope is from resamples of source texts, as dots share them."
)


def draw_own_preference(section: Section, signature: str, options: FigureOptions = FigureOptions()) -> Drawn:
    """Return a panel for recognition, and one for each control question with points."""
    panels = [("recognition", "recognition", section["points"], section["line"])]
    panels += [(control["metric"], "right", control["points"], control["line"]) for control in section["control_lines"]]
    panels = [control for control in panels if control[2]]
    judges = list(dict.fromkeys(point["judge"] for _, _, points, _ in panels for point in points))
    across = max(1, min(len(panels), int(options.width / _SIDE)))
    with style.drawing(signature) as new_figure:
        height = -(-len(panels) // across) * _SIDE + 1.3
        figure = new_figure(figsize=(options.width, height), layout="constrained")
        grid = style.panels_of(figure, len(panels), across)
        for panel, (name, key, points, line) in zip(grid, panels, strict=True):
            panel.axhline(0.5, color=style.INK, linewidth=0.4, zorder=1)
            panel.axvline(0.5, color=style.INK, linewidth=0.4, zorder=1)
            for number, judge in enumerate(judges):
                judge_points = [point for point in points if point["judge"] == judge]
                colour, marker = style.colour_and_marker(number)
                x, y = ([point[name] for point in judge_points] for name in (key, "preference"))
                panel.plot(x, y, color=colour, marker=marker, markersize=4, linewidth=0, label=terminal_safe(judge))
            title = options.shown_name("metric", name)
            if line is not None and line["slope"] is not None:
                ends = [min(point[key] for point in points), max(point[key] for point in points)]
                drawn = [line["intercept"] + line["slope"] * x for x in ends]
                panel.plot(ends, drawn, color=style.INK, linewidth=1, label="_line")
                title += f"\nslope {coefficient(line['slope'], line['slope_ci'])}"
            panel.set_title(title, fontsize=style.SMALL)
            style.shares_along(panel, "confidence in the right answer" if key == "right" else "recognition", narrow=True)
            style.shares_along(panel, "preference" if panel is grid[0] else "", "y", narrow=True)
            style.remove_frame(panel)
        title = "Preference and recognition of own texts"
        return style.finish_with_legend(figure, grid[0], title, _CAPTION, signature, options, Legend(columns=2))


FIGURE = SectionFigure(
    "self_preference",
    "own_preference",
    draw_own_preference,
    lambda section: bool(section["points"]) or any(row["points"] for row in section["control_lines"]),
)
