"""Reliability curves on a page, as inline SVG: a small panel a language, people's ceiling in ink, the gap written above each."""

from __future__ import annotations

from markupsafe import Markup

from harness.content.tags import english_name
from harness.html_pages import visible
from harness.render.reliability import ReliabilityCurves, ReliabilityPanel, curves_words, reliability_curves
from harness.reports.sections.probabilities import NAME
from harness.reports.shown_sections import ShownSection
from harness.reports.tables.numbers import percent
from harness.reports.tables.titles import metric_words

_SIZE, _INSET, _LEFT, _BOTTOM = 150, 6, 30, 18  # pixels of a panel, what is left free inside, and the room of its axes
_KEY = (
    "Dots: answers of about equal confidence, from left to right what the judge says, from below the share that equals people's commonest "
    "label, with 95 % bands. On the dashed diagonal probabilities hold; below it the judge is too sure. Line in ink: how often a further "
    "person is right. Blue: shown to hold; brown: shown not to; grey: not shown, or only after a refit."
)


def reliability_figures(section: ShownSection) -> Markup:
    """Return the panels of the section `probabilities` with what their signs mean; nothing for other sections."""
    curves = reliability_curves(section.section) if section.name == NAME else None
    if curves is None:
        return Markup("")
    several = {name: len({getattr(panel, name) for panel in curves.panels}) > 1 for name in ("metric", "side")}
    figures = []
    for panel in curves.panels:
        more = [metric_words(panel.metric)] if several["metric"] else []
        more += [panel.side] if several["side"] else []
        head = Markup("<figcaption><b>{}</b>{} <b class='{}'>{}</b> <small class='{}'>{}</small></figcaption>").format(
            visible(english_name(panel.language)),
            Markup("").join(Markup(" <small><bdi>{}</bdi></small>").format(visible(text)) for text in more),
            panel.look,
            panel.gap_words,
            panel.look,
            panel.verdict,
        )
        figures.append(Markup("<div>{}{}</div>").format(head, _panel(panel, curves)))
    words = f"{curves_words(curves)} {_KEY}"
    grid = Markup('<figure data-figure="reliability"><div class="reliability">{}</div></figure>').format(Markup("").join(figures))
    return grid + Markup('<p class="note">{}</p>').format(words)


def _panel(panel: ReliabilityPanel, curves: ReliabilityCurves) -> Markup:
    """The diagonal, people's line, bands, the curve and its dots, in a square with both axes."""

    def along(share: float) -> float:
        return _INSET + (_SIZE - 2 * _INSET) * (min(max(share, curves.start), 1.0) - curves.start) / (1 - curves.start)

    def x(share: float) -> str:
        return f"{_LEFT + along(share):.1f}"

    def y(share: float) -> str:
        return f"{_SIZE - along(share):.1f}"

    line = Markup('<line class="{}" x1="{}" y1="{}" x2="{}" y2="{}"/>')
    parts = [
        Markup('<rect class="frame" x="{}" y="0.5" width="{}" height="{}"/>').format(_LEFT + 0.5, _SIZE - 1, _SIZE - 1),
        line.format("rule dashed", x(curves.start), y(curves.start), x(1), y(1)),
    ]
    text = Markup('<text class="axis-text" x="{}" y="{}" text-anchor="{}">{}</text>')
    for share in (curves.start, 1.0):
        parts += [
            text.format(_LEFT - 4, float(y(share)) + 4, "end", percent(share)),
            text.format(x(share), _SIZE + 13, "middle", percent(share)),
        ]
    if panel.people is not None and panel.people > curves.start:
        parts.append(line.format("people", x(curves.start), y(panel.people), x(1), y(panel.people)))
        people_mark = Markup('<text class="small" x="{}" y="{}">people {}</text>')
        parts.append(people_mark.format(x(curves.start), float(y(panel.people)) - 4, percent(panel.people)))
    corners = " ".join(f"{x(b.confidence)},{y(b.share)}" for b in panel.bins)
    parts.append(Markup('<polyline class="curve {}" points="{}"/>').format(panel.look, corners))
    for b in panel.bins:
        band = (
            line.format(f"curve {panel.look}", x(b.confidence), y(b.interval[0]), x(b.confidence), y(b.interval[1])) if b.interval else ""
        )
        dot = Markup('<circle class="curve dot {}" cx="{}" cy="{}" r="3"/>').format(panel.look, x(b.confidence), y(b.share))
        parts.append(Markup("<g><title>{}</title>{}{}</g>").format(b.words, band, dot))
    head = '<svg viewBox="0 0 {0:g} {1:g}" role="group" aria-label="{2}">{3}</svg>'
    return Markup(head).format(_LEFT + _SIZE + 14, _SIZE + _BOTTOM, visible(panel.words), Markup("").join(parts))
