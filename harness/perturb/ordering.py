"""Words in other places, fewer words, and a text that ends too early."""

from __future__ import annotations

from collections.abc import Sequence

from harness.model import Item
from harness.perturb.chance import Chance, number_of
from harness.perturb.kind import Change, Doses, Kind
from harness.perturb.segments import Words


def shuffle_words(item: Item, pool: Sequence[Item], seed: int, dose: float | None, words: Words) -> Change | None:
    """The chosen words, at least two, exchange places; everything else stays where it is.

    Every chosen place gets a different word, if such an exchange exists (half of the chosen may be one and the same word), and otherwise
    as many as can be. Realised: `moved`, the share of words whose place now holds another word; `distance`, how many words these moved
    on average; `words`.
    """
    parts, places = words.parts, words.places
    if len(places) < 2:
        return None
    chance = Chance(seed)
    found = [parts[place] for place in places]
    groups = _by_word(found, chance.some(len(found), max(2, number_of(dose, len(found)))))
    if len(groups) == 1:  # the same word several times: another must join in, where there is one
        [(only, chosen)] = groups.items()
        others = [number for number, word in enumerate(found) if word != only]
        if not others:
            return None
        groups = _by_word(found, [*chosen[:-1], chance.pick(others)])
    order = [number for group in groups.values() for number in group]
    step = max(map(len, groups.values()))  # equal words stand together, so this step leads out of every group
    changed = list(parts)
    distances = []
    for number, source in zip(order, order[step:] + order[:step], strict=True):
        if found[number] != found[source]:
            changed[places[number]] = found[source]
            distances.append(abs(number - source))
    moved, distance = len(distances) / len(found), sum(distances) / len(distances)
    return Change("".join(changed), {"moved": moved, "distance": distance, "words": float(len(found))})


def _by_word(words: Sequence[str], chosen: Sequence[int]) -> dict[str, list[int]]:
    groups: dict[str, list[int]] = {}
    for number in chosen:
        groups.setdefault(words[number], []).append(number)
    return groups


def drop_words(item: Item, pool: Sequence[Item], seed: int, dose: float | None, words: Words) -> Change | None:
    """The chosen words, at least one and never all, are left out, each with one of the spaces around it.

    Realised: `dropped`, the share of words; `words`, how many there were.
    """
    count = len(words)
    if count < 2:
        return None
    gone = Chance(seed).some(count, min(max(1, number_of(dose, count)), count - 1))
    places = words.places
    text = _without(words.parts, {places[number] for number in gone}, set(places))
    return Change(text, {"dropped": len(gone) / count, "words": float(count)})


def _without(parts: Sequence[str], gone: set[int], places: set[int]) -> str:
    """The text without some words. The space before a word goes too, unless another word needs it; at the start, the one after it."""
    kept: list[int] = []
    skipped = -1
    for place in range(len(parts)):
        if place == skipped:
            continue
        if place not in gone:
            kept.append(place)
            continue
        after = place + 1
        if kept and _is_gap(parts[kept[-1]]) and after not in places:
            kept.pop()
        elif after < len(parts) and _is_gap(parts[after]) and (not kept or kept[-1] not in places):
            skipped = after
    return "".join(parts[place] for place in kept)


def _is_gap(part: str) -> bool:
    return part.isspace() and "\n" not in part and "\r" not in part


def truncate(item: Item, pool: Sequence[Item], seed: int, dose: float | None, words: Words) -> Change | None:
    """The last words, at least one and never all, are cut off with everything after and between them: the text ends in a word.

    Realised: `cut`, the share of words; `characters`, the share of characters (code points); `words`, how many there were.
    """
    count = len(words)
    if count < 2:
        return None
    cut = min(max(1, number_of(dose, count)), count - 1)
    text = "".join(words.parts[: words.places[count - cut - 1] + 1])
    return Change(text, {"cut": cut / count, "characters": 1 - len(text) / len(words.text), "words": float(count)})


SHUFFLE_WORDS = Kind(
    name="shuffle-words",
    summary="some words exchange their places",
    doses=Doses(0.1, 0.05, 1.0),
    heeds_segmenter=True,
    moves={"linguistic_acceptability": -1, "output_content_quality": -1, "problematic_content": 0},
    perturb=shuffle_words,
)
DROP_WORDS = Kind(
    name="drop-words",
    summary="some words are left out",
    doses=Doses(0.1, 0.05, 1.0),
    heeds_segmenter=True,
    moves={"linguistic_acceptability": -1, "problematic_content": 0},
    perturb=drop_words,
)
TRUNCATE = Kind(
    name="truncate",
    summary="the end is cut off, at a word",
    doses=Doses(0.5, 0.05, 0.95),
    heeds_segmenter=True,
    moves={"task_quality": -1, "output_content_quality": -1, "problematic_content": 0, "hallucination": 0},
    perturb=truncate,
)
