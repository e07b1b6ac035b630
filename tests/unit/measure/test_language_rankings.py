"""The ranking of judges by language: who is best, how alike rankings are, and which order is shown to be reversed."""

from __future__ import annotations

from collections.abc import Callable
from itertools import chain

import msgspec
import numpy as np
import pytest

from harness.data.dataset import Dataset
from harness.data.judgments import Judgments
from harness.data.labels import Labels
from harness.measure.compare import Recording, align
from harness.measure.language_rankings import LanguageRanking, language_rankings
from harness.measure.options import MeasureOptions
from harness.model import Condition, Item, Judgment, Label, Scale
from harness.reports.sections.languages import best_words, rank_by_language, ranking_sentence

SCALE = Scale(kind="nominal", classes=("no", "yes"))


@pytest.fixture
def ranked() -> Callable[..., list[LanguageRanking]]:
    """Rank judges that are right with the probability that `right[judge]` has for each language, on 60 texts each."""
    return lambda right: list(language_rankings(_tables(right)))


def _tables(right: dict[str, dict[str, float]]):  # type: ignore[no-untyped-def]
    rng = np.random.default_rng(1)
    tags = list(next(iter(right.values())))
    items = [Item(f"{tag}-{n}", tag, "t", group=f"{tag}-{n}") for tag in tags for n in range(60)]
    labels = [Label(item.item_id, person, "tone", "yes", "native") for item in items for person in "ab"]
    judged = [
        Judgment(
            item_id=item.item_id,
            language=item.language,
            task="t",
            metric="tone",
            judge=judge,
            condition=Condition(),
            repeat=0,
            score="yes" if rng.random() < right[judge][item.language] else "no",
            failure=None,
            raw_choice=None,
            justification=None,
            call_id="",
        )
        for judge, item in chain.from_iterable([(judge, item) for item in items if item.language in right[judge]] for judge in right)
    ]
    data = Dataset("made", tuple(items), Labels.from_rows(labels), {"tone": SCALE})
    return align([Recording("made", data, Judgments.from_rows(judged))], MeasureOptions()).tables[0]


def test_two_judges_that_change_places_are_named(ranked: Callable[..., list[LanguageRanking]]) -> None:
    [found] = ranked({"one": {"cs": 0.95, "ja": 0.5}, "two": {"cs": 0.5, "ja": 0.95}, "three": {"cs": 0.1, "ja": 0.1}})
    assert {best.language: best.judge for best in found.best} == {"cs": "one", "ja": "two"}
    assert all(best.probability > 0.95 and best.texts == 60 for best in found.best)
    assert found.reversed == (("one", "two", "cs", "ja"),)
    assert found.tau == pytest.approx(1 / 3) and found.tau_ci is not None and found.tau_ci[1] < 1
    assert "one is shown better than two in Czech and worse in Japanese: the ranking changes" in ranking_sentence(
        msgspec.structs.asdict(found)
    )


def test_one_order_everywhere_has_tau_1_and_no_reversal(ranked: Callable[..., list[LanguageRanking]]) -> None:
    rights = {"one": 0.95, "two": 0.6, "three": 0.2}
    [found] = ranked({judge: dict.fromkeys(("cs", "ja", "sw"), right) for judge, right in rights.items()})
    assert found.tau == 1 and found.reversed == () and {best.judge for best in found.best} == {"one"}
    assert ranking_sentence(msgspec.structs.asdict(found)).endswith("no two judges are shown to change places.")


def test_equal_judges_are_rarely_shown_to_change_places(ranked: Callable[..., list[LanguageRanking]]) -> None:
    [found] = ranked({f"j{n}": dict.fromkeys(("cs", "ja", "sw"), 0.7) for n in range(6)})
    assert found.reversed == () and found.tau is not None and found.tau < 0.7
    assert max(best.probability for best in found.best) < 0.95


def test_judges_that_were_not_asked_everywhere_are_left_out_and_two_judges_have_no_tau(
    ranked: Callable[..., list[LanguageRanking]],
) -> None:
    [found] = ranked({"one": {"cs": 0.9, "ja": 0.8}, "two": {"cs": 0.5, "ja": 0.5}, "only": {"cs": 0.99}})
    assert found.judges == ("one", "two") and found.tau is None
    assert ranked({"one": {"cs": 0.9, "ja": 0.8}, "only": {"cs": 0.99}}) == []


def test_the_section_has_a_row_for_each_language() -> None:
    numbers = rank_by_language(_tables({"one": {"cs": 0.95, "ja": 0.5}, "two": {"cs": 0.5, "ja": 0.95}}))
    assert numbers is not None
    assert [(row["language"], row["best"], row["judge"]) for row in numbers["rows"]] == [("cs", "one", "*"), ("ja", "two", "*")]
    assert numbers["alike"][0]["best_judges"] == 2 and numbers["alike"][0]["tau"] is None
    assert best_words(numbers["rows"]).startswith("Best: one in 1 of 2 languages (probability")
