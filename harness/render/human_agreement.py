"""Human agreement beside judge agreement, in a sentence, for data with second ratings."""

from __future__ import annotations

from collections.abc import Sequence

from harness.content.tags import english_name
from harness.judges import traits_of
from harness.measure.cells import Cell
from harness.measure.options import POOLED
from harness.reports.tables.numbers import coefficient, counted
from harness.reports.tables.text_table import key_text, varying_keys

WEAK = 0.3
"""Two people whose rank correlation is lower order hardly two of three pairs of texts alike."""
NO_BREAK_SPACE = "\u00a0"
_PLACE = ("metric", "task", "source")
_TWO = ("human_second_pearson", "human_second_kendall_tau")
_JUDGE = ("pearson", "kendall_tau")


def two_people_sentence(cells: Sequence[Cell]) -> str:
    """Pearson's r and Kendall's τ of two people, and those of the judges with people, language by language.

    Empty where other people scored no texts again, or too few for an interval. Cells of baselines, and cells that pool languages or
    metrics, do not count.
    """
    cells_by_metric = _places([cell for cell in cells if cell.flat().get("human_second_pearson_ci") and _is_judged(cell)])
    if not cells_by_metric:
        return ""
    several = len({str(cell["judge"]) for cell_list in cells_by_metric.values() for cell in cell_list}) > 1
    sentences = []
    for place, place_cells in cells_by_metric.items():
        texts = counted((place_cells[0].score_counts or {}).get("second_ratings", 0), "text")
        sentences.append(
            f"In {place} a second person scored {texts}: the two people's scores correlate by {_range(place_cells[:1], _TWO)}, "
            f"the scores of {'judges' if several else 'the judge'} and people by {_range(place_cells, _JUDGE)}."
        )
    if any((place_cells[0]["human_second_kendall_tau"] or 0.0) < WEAK for place_cells in cells_by_metric.values()):
        sentences.append(f"Where people agree little, a low correlation says little against {'a' if several else 'the'} judge.")
    return " ".join(sentences)


def _is_judged(cell: Cell) -> bool:
    return POOLED not in (cell["language"], cell["metric"], cell["judge"]) and not traits_of(str(cell["judge"])).is_baseline


def _places(cells: Sequence[Cell]) -> dict[str, list[Cell]]:
    """Cells by what they are about: the language, and the metric, task and source where these differ."""
    varying = varying_keys([cell.key for cell in cells], _PLACE)
    cells_by_name: dict[str, list[Cell]] = {}
    for cell in cells:
        more_keys = ", ".join(key_text(name, cell.key.get(name)) for name in varying)
        name = english_name(cell["language"])
        cells_by_name.setdefault(f"{name} ({more_keys})" if more_keys else name, []).append(cell)
    return cells_by_name


def _range(cells: Sequence[Cell], names: Sequence[str]) -> str:
    """`r .11 to .26, τ .06 to .16`: the lowest and the highest; one number where there is one judge."""
    ranges = []
    for sign, name in zip(("r", "τ"), names, strict=True):
        numbers = sorted(cell[name] for cell in cells if cell[name] is not None)
        ends = dict.fromkeys(map(coefficient, (numbers[0], numbers[-1]) if numbers else (None,)))
        ranges.append(f"{sign}{NO_BREAK_SPACE}{' to '.join(ends)}")
    return ", ".join(ranges)
