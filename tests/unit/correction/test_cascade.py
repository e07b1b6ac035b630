"""A cascade of judges: thresholds found together, a person last, and what cannot be promised is said."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
import pytest

import harness
from harness.correction.acceptance import ONLY_IF
from harness.correction.cascade import AcceptedCascade, accept_cascade
from harness.correction.correction_options import AcceptOptions
from harness.errors import UsageError
from harness.measure.compare import Recording
from harness.measure.options import MeasureOptions
from harness.stats.estimation.acceptance import CHOOSING, Units
from tests.cascade_folder import SKILL, cascade_folder
from tests.conftest import write_rows

Cli = Callable[..., Any]
ORDER = tuple(SKILL)


def _found(
    folder: Path,
    judges: tuple[str, ...] = ORDER,
    options: AcceptOptions = AcceptOptions(),
    units: Units = "design_effect",
    **compare: Any,
) -> AcceptedCascade:
    data = harness.load(folder)
    assert data.judgments is not None
    [only] = accept_cascade(Recording("invented", data, data.judgments), MeasureOptions(judges=judges, **compare), options, units).cascades
    return only


def test_the_better_judge_answers_what_the_cheap_one_leaves(tmp_path: Path) -> None:
    found = _found(cascade_folder(tmp_path / "d"))
    cheap, better = found.steps
    assert (cheap.judge, better.judge) == ORDER and found.reason is None and found.exact and found.units == "texts"
    assert cheap.coverage > 0.2 and better.coverage > 0.1
    assert cheap.coverage + better.coverage + found.person == pytest.approx(1)
    assert found.risk is not None and found.upper is not None and found.risk < found.upper <= 0.1
    assert cheap.coverage + better.coverage > cheap.alone_coverage + 0.1
    assert better.alone_coverage > cheap.alone_coverage and (better.alone_upper or 1) <= 0.1
    assert found.better_single_judge == better  # it is asked about fewer texts here


def _accepted(
    found: AcceptedCascade, answers: dict[tuple[str, str], tuple[int, float]], said: dict[str, list[int]], names: list[str]
) -> tuple[list[int], int]:
    """How many answers are taken of each judge, and how many of all differ from the first label."""
    accepted, wrong = dict.fromkeys(ORDER, 0), 0
    for name in names:
        for step in found.steps:
            score, sure = answers[name, step.judge]
            if step.threshold is not None and sure >= step.threshold:
                accepted[step.judge] += 1
                wrong += score != said[name][0]
                break
    return list(accepted.values()), wrong


def test_the_thresholds_say_who_answers(tmp_path: Path) -> None:
    """Counted by hand from the rows: the first judge that is sure enough, over texts with a commonest label."""
    folder = cascade_folder(tmp_path / "d")
    found, rows = _found(folder), [json.loads(line) for line in (folder / "judgments.jsonl").read_text("utf-8").splitlines()]
    said: dict[str, list[int]] = {}
    for line in (folder / "labels.jsonl").read_text("utf-8").splitlines():
        label = json.loads(line)
        said.setdefault(label["item_id"], []).append(label["score"])
    answers = {(row["item_id"], row["judge"]): (row["score"], row["probs"][str(row["score"])]) for row in rows}
    known = [name for name in sorted(said, key=lambda name: int(name[1:])) if len(set(said[name])) == 1]
    drawn = np.random.default_rng(0).permutation(len(known))[: round(CHOOSING * len(known))]
    assert found.finding == len(drawn) == len(known) - found.n
    testing = [name for place, name in enumerate(known) if place not in set(drawn.tolist())]
    accepted, wrong = _accepted(found, answers, said, testing)
    assert [round(step.coverage * found.n) for step in found.steps] == accepted
    assert found.risk == pytest.approx(wrong / sum(accepted)) and found.accepted == sum(accepted)
    disputed = [name for name in said if name not in known]
    assert found.left_out_accepted == sum(_accepted(found, answers, said, disputed)[0]) > 5


def test_texts_without_a_commonest_label_are_counted_and_can_count_as_wrong(tmp_path: Path) -> None:
    folder = cascade_folder(tmp_path / "d")
    found, strict = _found(folder), _found(folder, majority="strict")
    assert found.left_out == 600 - found.n - found.finding > 30
    assert (strict.n + strict.finding, strict.left_out, strict.left_out_accepted) == (600, 0, 0)
    assert sum(step.coverage for step in strict.steps) < sum(step.coverage for step in found.steps)


def test_groups_make_the_bound_approximate_or_exact_and_accept_fewer(tmp_path: Path) -> None:
    folder = cascade_folder(tmp_path / "d", texts=1500, per_group=3)
    by_design, one = _found(folder), _found(folder, units="one_per_group")
    assert (by_design.exact, one.exact) == (False, True) and by_design.groups == one.groups == 350 and by_design.finding > 300
    assert 0 < 1 - one.person <= 1 - by_design.person


def test_meaningless_answers_are_left_to_people(tmp_path: Path) -> None:
    folder = cascade_folder(tmp_path / "d")
    rows = [json.loads(line) for line in (folder / "judgments.jsonl").read_text("utf-8").splitlines()]
    draw = np.random.default_rng(0)
    for row in rows:
        row["score"] = int(draw.integers(3))
        row["probs"] = {str(c): 0.8 if c == row["score"] else 0.1 for c in range(3)}
    write_rows(folder / "judgments.jsonl", rows)
    found = _found(folder)
    assert (found.person, found.risk, found.upper) == (1.0, None, None) and found.reason == "no threshold can be certified"


def test_a_judge_without_confidences_is_named(tmp_path: Path) -> None:
    folder = cascade_folder(tmp_path / "d")
    rows = [json.loads(line) for line in (folder / "judgments.jsonl").read_text("utf-8").splitlines()]
    write_rows(
        folder / "judgments.jsonl",
        [{k: v for k, v in row.items() if k != "probs" or row["judge"] == "openai/better"} for row in rows],
    )
    found = _found(folder)
    assert found.person == 1.0 and (found.reason or "").startswith("openai/cheap: no confidence")


def test_texts_that_not_every_judge_was_asked_about_are_counted(tmp_path: Path) -> None:
    folder = cascade_folder(tmp_path / "d")
    rows = [json.loads(line) for line in (folder / "judgments.jsonl").read_text("utf-8").splitlines()]
    write_rows(folder / "judgments.jsonl", [row for row in rows if row["judge"] == "openai/cheap" or row["item_id"] >= "t2"])
    found = _found(folder)
    assert found.not_asked == sum(f"t{n}" < "t2" for n in range(600)) and found.n + found.finding + found.left_out + found.not_asked == 600


@pytest.mark.parametrize(
    ("judges", "options", "words"),
    [
        (ORDER[:1], AcceptOptions(), "two judges or more; name the judges"),
        ((*ORDER[:1], "openai/nobody"), AcceptOptions(), "openai/nobody"),
    ],
)
def test_what_cannot_be_is_refused_in_words(tmp_path: Path, judges: tuple[str, ...], options: AcceptOptions, words: str) -> None:
    with pytest.raises(UsageError, match=words):
        _found(cascade_folder(tmp_path / "d", texts=80), judges, options)


def test_labels_that_are_no_random_sample_are_refused(tmp_path: Path) -> None:
    folder = cascade_folder(tmp_path / "d", texts=80)
    card = (folder / "data.toml").read_text("utf-8")
    (folder / "data.toml").write_text(card.replace('sampling = "random"\n', ""), encoding="utf-8")
    with pytest.raises(UsageError, match="no cascade: this needs labels of a random sample"):
        _found(folder)


def test_the_command_shows_every_step_and_prints_json(tmp_path: Path, cli: Cli) -> None:
    folder = cascade_folder(tmp_path / "d")
    asked = ("accept", folder, "--cascade", "--judge", ORDER[0], "--judge", ORDER[1])
    shown = cli(*asked)
    assert shown.code == 0, shown.err
    assert "are left to people." in shown.out and "exact: no two texts share a group" in shown.out and "a person" in shown.out
    found = json.loads(cli(*asked, "--json").out)
    assert [step["judge"] for step in found["cascades"][0]["steps"]] == list(ORDER) and found["cascades"][0]["exact"] is True
    turned = json.loads(cli("accept", folder, "--cascade", "--judge", ORDER[1], "--judge", ORDER[0], "--json").out)
    assert turned["cascades"][0]["steps"][0]["judge"] == ORDER[1] and turned["signature"] != found["signature"]
    refused = cli("accept", folder, "--units", "one_per_group")
    assert refused.code == 2 and "--cascade" in refused.err


def test_the_cheapest_judge_is_asked_first_and_the_chain_has_a_price(tmp_path: Path, cli: Cli) -> None:
    folder = cascade_folder(tmp_path / "d")
    asked = ("accept", folder, "--cascade", "--judge", ORDER[1], "--judge", ORDER[0], "--json")
    priced = ("--price", f"{ORDER[0]}=0.5", "--price", f"{ORDER[1]}=10")
    [found] = json.loads(cli(*asked, *priced).out)["cascades"]
    cheap, better = found["steps"]
    assert (cheap["judge"], better["judge"]) == ORDER and (cheap["price"], better["price"]) == (0.5, 10)
    assert found["price"] == pytest.approx(0.5 + 10 * (1 - cheap["coverage"])) and found["price"] < 10
    [named] = json.loads(cli(*asked, *priced, "--order", "named").out)["cascades"]
    assert named["steps"][0]["judge"] == ORDER[1]
    unknown = json.loads(cli(*asked).out)
    assert unknown["cascades"][0]["price"] is None and "No price is known of openai/better, openai/cheap" in " ".join(unknown["notes"])
    own = tmp_path / "prices.toml"
    own.write_text("".join(f'["{name}"]\ninput = {n}\noutput = {n}\nas_of = "2026-01"\n' for n, name in enumerate(ORDER, 1)), "utf-8")
    [listed] = json.loads(cli(*asked, "--prices", own).out)["cascades"]
    assert listed["steps"][0]["judge"] == ORDER[0] and listed["steps"][0]["price"] == pytest.approx(1000 * 61 * 1 / 1e6, rel=0.05)


@pytest.mark.parametrize(
    ("flags", "words"),
    [
        (("--cascade", "--price", "openai/cheap"), "expected a judge and US dollars"),
        (("--cascade", "--price", "openai/cheap=-1"), "expected a judge and US dollars"),
        (("--cascade", "--price", "openai/other=1"), "no judge of the cascade"),
        (("--cascade", "--prices", "absent.toml"), "absent.toml"),
        (("--order", "named"), "--order is of a cascade; pass --cascade too"),
    ],
)
def test_prices_that_say_nothing_are_refused(tmp_path: Path, cli: Cli, flags: tuple[str, ...], words: str) -> None:
    shown = cli("accept", cascade_folder(tmp_path / "d", texts=80), *flags, "--judge", ORDER[0], "--judge", ORDER[1])
    assert shown.code != 0 and words in shown.err


def test_judges_without_confidences_vote(tmp_path: Path, cli: Cli) -> None:
    """Confidence is how many of the judges asked so far give the answer: the first has one for all its answers."""
    folder = cascade_folder(tmp_path / "d")
    rows = [json.loads(line) for line in (folder / "judgments.jsonl").read_text("utf-8").splitlines()]
    third = [row | {"judge": "openai/third"} for row in rows if row["judge"] == "openai/better"]
    write_rows(folder / "judgments.jsonl", [{k: v for k, v in row.items() if k != "probs"} for row in (*rows, *third)])
    asked = [flag for name in (*ORDER, "openai/third") for flag in ("--judge", name)]
    [found] = json.loads(cli("accept", folder, "--cascade", *asked, "--confidence", "votes", "--alpha-risk", "0.2", "--json").out)[
        "cascades"
    ]
    cheap, better, _ = found["steps"]
    assert (cheap["threshold"], better["threshold"]) == (None, 1.0) and cheap["confidence"] == "votes"
    labels = [json.loads(line) for line in (folder / "labels.jsonl").read_text("utf-8").splitlines()]
    disputed = {row["item_id"] for row in labels if row["score"] != next(o["score"] for o in labels if o["item_id"] == row["item_id"])}
    said = {(row["item_id"], row["judge"]): row["score"] for row in rows if row["item_id"] not in disputed}
    agree = np.mean([said[item, ORDER[0]] == said[item, ORDER[1]] for item, judge in said if judge == ORDER[0]])
    assert better["coverage"] == pytest.approx(agree, abs=0.07)


def test_labels_that_are_no_random_sample_are_taken_as_one_only_where_this_is_said(tmp_path: Path, cli: Cli) -> None:
    folder = cascade_folder(tmp_path / "d")
    card = (folder / "data.toml").read_text("utf-8")
    (folder / "data.toml").write_text(card.replace('"random"', '"convenience"'), encoding="utf-8")
    asked = ("accept", folder, "--cascade", "--judge", "openai/cheap", "--judge", "openai/better")
    refused = cli(*asked)
    assert refused.code == 2 and "--sampling random" in refused.err and "Traceback" not in refused.err
    certificate = tmp_path / "chain.json"
    done = cli(*asked, "--sampling", "random", "--to", certificate)
    words = " ".join(done.out.split())
    assert done.code == 0 and f"; {ONLY_IF}." in words and 'says sampling = "convenience"' in words
    assert "sampling=random" in json.loads(cli(*asked, "--sampling", "random", "--json").out)["signature"]
    held = json.loads(certificate.read_text("utf-8"))
    assert (held["data"]["sampling"], held["options"]["accept"]["sampling"]) == ("convenience", "random")
    checked = cli("certify", folder, "--check", certificate)
    assert checked.code == 0 and ONLY_IF in checked.out
    (folder / "data.toml").write_text(card, encoding="utf-8")
    assert ONLY_IF not in cli(*asked, "--sampling", "random").out  # the card says so: nothing is assumed


def test_a_judge_whose_confidence_is_votes_costs_what_those_before_it_cost(tmp_path: Path, cli: Cli) -> None:
    folder = cascade_folder(tmp_path / "d")
    more = (
        "--judge",
        "openai/cheap",
        "--judge",
        "openai/better",
        "--price",
        "openai/cheap=1",
        "--price",
        "openai/better=10",
        "--risk",
        "0.3",
    )
    done = cli("accept", folder, "--cascade", *more, "--confidence", "votes", "--json")
    [row] = msgspec.json.decode(done.out)["cascades"]
    chain = msgspec.convert({k: v for k, v in row.items() if k not in ("exact", "left_out_share")}, AcceptedCascade)
    assert [chain.alone_price(step) for step in chain.steps] == [1, 11]
