"""The standings of a board: cards, spending, languages and blanks; equal entries give equal standings."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import msgspec
import pytest

from harness.boards.card import JudgeCard
from harness.boards.examined_submission import ScoredSubmission
from harness.boards.standings import Standings, standings
from harness.measure.options import POOLED
from harness.model import Usage
from harness.row_files import to_json
from harness.runs import Prepared, RunResult, Spent
from harness.runs.prices import prices

Entries = Callable[..., list[ScoredSubmission]]


@pytest.fixture(scope="session")
def entries(result: RunResult) -> Entries:
    """The run's judges as entries; `card` replaces fields of all their cards."""

    def make(**card: Any) -> list[ScoredSubmission]:
        submissions = []
        for number, identity in enumerate(result.protocol.judges.identities):
            fields = {"name": identity.name, "provider": identity.provider, "model": identity.model, "settings": identity.settings}
            judgments = result.judgments
            own = judgments.take(judgments.judge.codes == judgments.judge.values.index(identity.name))
            judge_card = JudgeCard(**fields | {"board": "mini@1.0.0", "replies_sha256": f"{number}" * 64} | card)
            submissions.append(ScoredSubmission(judge_card, own, result.answers))
        return submissions

    return make


def ranked(mini: Prepared, found: Sequence[ScoredSubmission]) -> Standings:
    return standings(mini.library.board("mini"), mini, found)


def priced(entry: ScoredSubmission, model: str, **spent: Any) -> ScoredSubmission:
    """The same judgments, as if an OpenAI model had made them with this spending in every language."""
    name = f"openai/{model}"
    card = msgspec.structs.replace(entry.card, name=name, provider="openai", model=model, settings={})
    answers = msgspec.structs.replace(entry.answers, spent={name: dict.fromkeys(("cs", "en"), Spent(**spent))})
    return ScoredSubmission(card, entry.judgments, answers)


def test_the_order_of_entries_changes_no_byte(mini: Prepared, entries: Entries) -> None:
    found = entries()
    one, other = (to_json(ranked(mini, order).as_json()) for order in (found, found[::-1]))
    assert one == other and "\n" in one


def test_every_judge_has_a_row_in_every_language_and_baselines_are_rows(mini: Prepared, entries: Entries) -> None:
    found = ranked(mini, entries())
    for tag in ("cs", "en"):
        table = found.table(tag)
        assert table is not None and {row.judge for row in table.rows} == {judge.id for judge in found.judges}
        assert [row.value for row in table.rows] == sorted((row.value for row in table.rows), reverse=True)
    assert all(judge.baseline for judge in found.judges)
    assert found.constructed and "constructed" in found.title


def test_judges_of_one_name_are_told_apart(mini: Prepared, entries: Entries) -> None:
    first, second, _ = entries(name="baseline/x")
    found = ranked(mini, [first, second])
    assert [judge.id for judge in found.judges] == ["baseline/x", "baseline/x#2"]
    table = found.table("cs")
    assert table is not None and len({row.judge for row in table.rows}) == 2


def test_a_mean_with_a_blank_is_blank_and_its_judge_stands_last(mini: Prepared, entries: Entries) -> None:
    whole, half, _ = entries()
    only_czech = ScoredSubmission(
        half.card, half.judgments.for_items([i.item_id for i in mini.data.items if i.language == "cs"]), half.answers
    )
    found = ranked(mini, [only_czech, whole])
    last = found.overall[-1]
    assert last.judge == half.card.name and last.mean is None and last.worst is None and last.by_language["en"] is None
    assert found.overall[0].mean == pytest.approx(sum(v for v in found.overall[0].by_language.values() if v is not None) / 2)
    assert found.overall[0].worst == min(v for v in found.overall[0].by_language.values() if v is not None)
    english = found.table("en")
    assert english is not None and [row.judge for row in english.rows] == [whole.card.name]


def test_three_texts_are_too_few_for_an_interval_of_a_rank(mini: Prepared, entries: Entries) -> None:
    table = ranked(mini, entries()).table("cs")
    assert table is not None and table.reason == "too few independent texts"
    assert all(row.rank_ci is None and row.group == "" and row.beats_baseline is None for row in table.rows)


def test_a_thousand_judgments_are_priced_by_what_was_counted(mini: Prepared, entries: Entries) -> None:
    model = next(iter(prices()))
    usage = Usage(prompt_tokens=10_000, completion_tokens=2_000)
    entry = priced(entries()[0], model, calls=6, usage=usage, seconds=3.0)
    judged = sum(1 for item in entry.judgments.item if item.startswith("cs"))
    spent = ranked(mini, [entry]).judges[0].spending["cs"]
    assert spent.dollars == pytest.approx(1000 * prices()[model].cost(usage) / judged)
    assert spent.seconds == pytest.approx(3000 / judged) and spent.prices == prices()[model].as_of


def test_batches_cost_what_batches_cost(mini: Prepared, entries: Entries) -> None:
    model = next(iter(prices()))
    usage = Usage(prompt_tokens=10_000, completion_tokens=2_000)
    live, batched = (
        ranked(mini, [priced(entries()[0], model, usage=usage, batched=part)]).judges[0].spending["cs"].dollars for part in (Usage(), usage)
    )
    assert live is not None and batched == pytest.approx(live * prices()[model].batch)


@pytest.mark.parametrize(("model", "usage"), [("nobody-knows-1", Usage(100)), (next(iter(prices())), Usage())])
def test_without_a_known_price_or_counted_tokens_there_are_no_dollars(model: str, usage: Usage, mini: Prepared, entries: Entries) -> None:
    assert ranked(mini, [priced(entries()[0], model, usage=usage)]).judges[0].spending["cs"].dollars is None


def test_standings_hold_what_cards_say(mini: Prepared, entries: Entries) -> None:
    said = {"title": "Mine", "open_weights": "yes", "exposure": "possible", "families": ("gpt",)}
    judge = ranked(mini, entries(**said)[:1]).judges[0]
    assert (judge.display_name, judge.open_weights, judge.exposure, judge.families) == ("Mine", "yes", "possible", ("gpt",))


def test_without_entries_there_are_no_tables(mini: Prepared) -> None:
    found = ranked(mini, [])
    assert found.tables == () and found.judges == () and found.overall == ()


def test_repeats_say_how_often_the_answer_is_the_same(mini: Prepared, entries: Entries) -> None:
    rows = {row.judge: row for table in ranked(mini, entries()).tables if table.metric == POOLED for row in table.rows}
    assert rows["baseline/majority"].consistency == 1
    assert rows["baseline/random"].consistency is not None and rows["baseline/random"].consistency < 1
