"""The models that the scorers of an Inspect sample asked, under their names in the log's events."""

from __future__ import annotations

from typing import Any


def models_of_scorers(events: Any) -> dict[str, tuple[str, ...]]:
    """`{score name: models}` of every scorer that has a span; no models where it asked none. Empty for a log without events.

    Where a sample was scored again, the last scoring counts.
    """
    scorer_of: dict[Any, str] = {}  # span: the scorer that it belongs to
    asked: dict[str, dict[str, None]] = {}
    for event in events if isinstance(events, list) else ():
        if not isinstance(event, dict):
            continue
        kind, span = event.get("event"), event.get("span_id")
        if not isinstance(span, str):
            continue
        if kind == "span_begin":
            _begin(event, span, scorer_of, asked)
        elif kind == "model" and span in scorer_of and isinstance(event.get("model"), str):
            asked[scorer_of[span]][event["model"]] = None
    return {name: tuple(models) for name, models in asked.items()}


def _begin(event: dict[str, Any], span: str, scorer_of: dict[Any, str], asked: dict[str, dict[str, None]]) -> None:
    """A span inside that of a scorer belongs to this scorer."""
    name, parent = event.get("name"), event.get("parent_id")
    if isinstance(parent, str) and parent in scorer_of:
        scorer_of[span] = scorer_of[parent]
    elif event.get("type") == "scorer" and isinstance(name, str):
        scorer_of[span] = name
        asked[name] = {}
