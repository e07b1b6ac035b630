"""Minimal pairs: judges that find every flaw, none, or guess; harmless changes; texts that tempt; what is missing or malformed."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Any

import pytest

from harness.model import Failure, Judgment
from harness.stats import wilson

Find = Callable[..., dict[str, Any]]
Said = Callable[..., Judgment]
TheRow = Callable[..., dict[str, Any]]
GROUPS = [f"g{n}" for n in range(12)]
BASE = {f"{group}-base": 2 for group in GROUPS}
FLAWED = {f"{group}-flaw": 1 for group in GROUPS}
PLACES = {name: {"group": name.partition("-")[0]} for name in BASE} | {
    name: {"group": name.partition("-")[0], "twin": f"{name.partition('-')[0]}-base", "construction": "one-error"} for name in FLAWED
}


def judge(said: Said, base: Callable[[int], Any], flawed: Callable[[int], Any], **other: Any) -> list[Judgment]:
    clean = [said(name, base(n), **other) for n, name in enumerate(BASE)]
    return clean + [said(name, flawed(n), **other) for n, name in enumerate(FLAWED)]


@pytest.fixture
def pairs(find: Find) -> Callable[..., dict[str, Any]]:
    """The section of minimal pairs of some judgments; `labels` and `places` are added to those of twelve pairs."""

    def make(judgments: list[Judgment], labels: Mapping[str, int] | None = None, places: Mapping[str, Any] | None = None) -> dict[str, Any]:
        found: dict[str, Any] = find(judgments, BASE | FLAWED | dict(labels or {}), places=PLACES | dict(places or {}))["minimal_pairs"]
        return found

    return make


def test_by_hand(pairs: Find, the_row: TheRow, said: Said) -> None:
    """Of twelve pairs the flawless text is higher in six, equal in four, lower in one; one answer cannot be read."""
    flawed = [1, 1, 1, 0, 0, 1, 2, 2, 2, 2, 2, Failure.REFUSED]
    clean = [2, 2, 2, 2, 1, 2, 2, 2, 2, 2, 1, 2]
    row = the_row(pairs(judge(said, lambda n: clean[n], lambda n: flawed[n]))["rows"])
    assert (row["n"], row["unreadable"], row["unpaired"], row["groups"], row["n_flawless"]) == (11, 1, 0, 11, 12)
    assert (row["higher"], row["equal"], row["lower"]) == pytest.approx((6 / 11, 4 / 11, 1 / 11))
    assert row["higher_ci"] == pytest.approx(wilson(6, 11)) and row["lower_ci"] == pytest.approx(wilson(1, 11))
    assert row["sensitivity"] == pytest.approx((6 + 4 / 2) / 11) and row["from"] == "scores"
    assert row["false_alarms"] == pytest.approx(2 / 12) and row["false_alarms_ci"] == pytest.approx(wilson(2, 12))


@pytest.mark.parametrize(("score", "alarms"), [(2, 0.0), (0, 1.0)], ids=["always the best", "always the worst"])
def test_no_constant_looks_good(pairs: Find, the_row: TheRow, said: Said, score: int, alarms: float) -> None:
    row = the_row(pairs(judge(said, lambda n: score, lambda n: score))["rows"])
    assert (row["sensitivity"], row["higher"], row["equal"], row["lower"], row["false_alarms"]) == (0.5, 0.0, 1.0, 0.0, alarms)
    assert row["sensitivity_ci"][0] < 0.5 < row["sensitivity_ci"][1]


def test_a_judge_that_finds_every_flaw(pairs: Find, the_row: TheRow, said: Said) -> None:
    row = the_row(pairs(judge(said, lambda n: 2, lambda n: 1))["rows"])
    assert (row["sensitivity"], row["higher"], row["false_alarms"]) == (1.0, 1.0, 0.0) and row["sensitivity_ci"][0] > 0.7


def test_constructions_over_languages_have_intervals_and_crossed_cells_counts(find: Find, said: Said) -> None:
    """One construction in two languages of twelve pairs each."""
    ids = {tag: {name: f"{tag}-{name}" for name in PLACES} for tag in ("ja", "cs")}
    places = {
        own: PLACES[name]
        | {"language": tag, "group": f"{tag}-{PLACES[name]['group']}"}
        | ({"twin": ids[tag][PLACES[name]["twin"]]} if "twin" in PLACES[name] else {})
        for tag, names in ids.items()
        for name, own in names.items()
    }
    labels = {own: (BASE | FLAWED)[name] for names in ids.values() for name, own in names.items()}
    judgments = [
        said(own, 2 if name in BASE or tag == "cs" else 1, language=tag) for tag, names in ids.items() for name, own in names.items()
    ]
    found = find(judgments, labels, places=places)["minimal_pairs"]
    [row] = found["constructions"]
    assert (row["language"], row["construction"], row["kind"], row["n"]) == ("*", "one-error", "flaw", 24)
    assert row["higher"] == 0.5 and row["higher_ci"] == pytest.approx(wilson(12, 24))
    counts = {row["language"]: (row["higher_n"], row["equal_n"], row["lower_n"], row["n"]) for row in found["crossed"]}
    assert counts == {"ja": (12, 0, 0, 12), "cs": (0, 12, 0, 12)}
    assert not any(name.endswith("_ci") for row in found["crossed"] for name in row)
    pooled = {(row["language"], row["metric"]): row["sensitivity"] for row in found["rows"]}
    assert pooled == {("ja", "m"): 1.0, ("cs", "m"): 0.5, ("ja", "*"): 1.0, ("cs", "*"): 0.5, ("*", "m"): 0.75, ("*", "*"): 0.75}


def test_a_harmless_change_is_no_flaw(pairs: Find, the_row: TheRow, said: Said) -> None:
    """It counts among the texts without a flaw, and by itself it shows how often it is scored below its original."""
    places = {"h": {"group": "g0", "twin": "g0-base", "construction": "rounded-number"}}
    found = pairs([*judge(said, lambda n: 2, lambda n: 1), said("h", 1)], {"h": 2}, places)
    row = the_row(found["rows"])
    assert (row["n"], row["n_flawless"], row["false_alarms"]) == (12, 13, pytest.approx(1 / 13))
    own = next(row for row in found["constructions"] if row["construction"] == "rounded-number")
    assert (own["kind"], own["n"], own["higher"], own["n_flawless"], own["false_alarms"]) == ("harmless", 1, 1.0, 1, 1.0)
    flaw = next(row for row in found["constructions"] if row["kind"] == "flaw")
    assert flaw["undefined"]["false_alarms"] == "no readable score of a text without a flaw"


def test_texts_that_tempt_count_once_and_by_what_tempts(pairs: Find, the_row: TheRow, said: Said) -> None:
    places = {"g0-base": {"group": "g0", "tempts": {"dark-subject": "m", "dialect": "another"}}, "t": {"tempts": {"refrain": "m"}}}
    found = pairs([*judge(said, lambda n: 1 if n == 0 else 2, lambda n: 1), said("t", 2)], {"t": 2}, places)
    assert the_row(found["rows"])["n_flawless"] == 13
    alarms = {row["construction"]: (row["n_flawless"], row["false_alarms"]) for row in found["constructions"] if row["kind"] == "tempting"}
    assert alarms == {"dark-subject": (1, 1.0), "refrain": (1, 0.0)}


def test_what_is_missing_is_counted(pairs: Find, the_row: TheRow, said: Said) -> None:
    """A flawed text without a judgment of its flawless one, and a run without any pair that both were judged in."""
    judgments = [one for one in judge(said, lambda n: 2, lambda n: 1) if one.item_id != "g3-base"]
    row = the_row(pairs(judgments)["rows"])
    assert (row["n"], row["unpaired"], row["n_flawless"]) == (11, 1, 11)
    alone = the_row(pairs([one for one in judgments if one.item_id in FLAWED])["rows"])
    assert (alone["n"], alone["unpaired"], alone["sensitivity"]) == (0, 12, None)
    assert alone["undefined"]["sensitivity"] == "no pair of readable scores"


def test_few_pairs_have_no_interval(find: Find, the_row: TheRow, said: Said) -> None:
    few = {name: (BASE | FLAWED)[name] for name in ("g0-base", "g0-flaw", "g1-base", "g1-flaw")}
    found = find([said(name, score) for name, score in few.items()], few, places={name: PLACES[name] for name in few})
    row = the_row(found["minimal_pairs"]["rows"])
    assert row["sensitivity"] == 1.0 and row["sensitivity_ci"] is None
    assert row["undefined"]["sensitivity_ci"] == "too few independent texts"


@pytest.mark.parametrize("twin", ["nowhere", "a", "", 3, None, ["b"], "<script>"])
def test_a_twin_that_is_none_makes_no_pair(find: Find, said: Said, twin: Any) -> None:
    found = find([said("a", 1), said("b", 2)], {"a": 1, "b": 2}, places={"a": {"twin": twin}})
    assert "minimal_pairs" not in found


def test_the_text_with_the_better_label_is_the_flawless_one(find: Find, the_row: TheRow, said: Said) -> None:
    """Here it is the better text that names the other one."""
    found = find([said("a", 2), said("b", 0)], {"a": 2, "b": 1}, places={"a": {"twin": "b", "construction": 7}})["minimal_pairs"]
    row = the_row(found["rows"])
    assert (row["higher"], row["n_flawless"], row["false_alarms"]) == (1.0, 1, 0.0) and found["constructions"] == []


def test_repeats_and_conditions_are_not_mixed(pairs: Find, said: Said) -> None:
    judgments = judge(said, lambda n: 2, lambda n: 1) + judge(said, lambda n: 2, lambda n: 2, repeat=1)
    judgments += judge(said, lambda n: 1, lambda n: 2, variant="joint")
    rows = {row["variant"]: row for row in pairs(judgments)["rows"] if row["language"] == "en" and row["metric"] == "m"}
    assert (rows["single"]["n"], rows["single"]["groups"], rows["single"]["sensitivity"]) == (24, 12, 0.75)
    assert (rows["joint"]["n"], rows["joint"]["lower"], rows["joint"]["false_alarms"]) == (12, 1.0, 1.0)


def test_translations_of_one_text_count_as_one(find: Find, said: Said, make_parallel: Callable[..., Any]) -> None:
    """Twelve pairs in each of two languages that are translations of each other: the pooled row rests on twelve texts."""
    data, judgments = make_parallel(PLACES, BASE | FLAWED, lambda name: 2 if name in BASE else 1)
    from harness.measure.options import MeasureOptions
    from tests.unit.reports.sections.section_runs import ablations

    rows = {row["language"]: row for row in ablations(data, judgments, MeasureOptions())["minimal_pairs"]["rows"] if row["metric"] == "*"}
    assert (rows["*"]["n"], rows["*"]["groups"], rows["ja"]["groups"]) == (24, 12, 12)


SIZES = {"subtle": 0.4, "plain": 0.8}


def strong_and_weak(said: Said, threshold: Callable[[int], float], tags: tuple[str, ...] = ("ja", "cs"), **other: Any) -> tuple[Any, ...]:
    """Twelve texts a language with one flaw at two strengths, and a judge that sees a flaw if its size is above the text's threshold."""
    places, labels, judgments = {}, {}, []
    for tag in tags:
        for n in range(12):
            base, where = f"{tag}{n}", {"language": tag, "group": f"{tag}{n}"}
            places[base], labels[base] = where | ({"tempts": {"suspicious-form": "m"}} if n < 3 else {}), 2
            judgments.append(said(base, 1 if n == 0 else 2, language=tag))
            for strength, size in SIZES.items():
                own, name = f"{base}-{strength}", "calque" if n < 6 else "filler"
                places[own], labels[own] = where | {"twin": base, "construction": f"{name}-{strength}"}, 1
                judgments.append(said(own, 0 if size > threshold(n) else 2, language=tag))
    return judgments, labels, places


def test_a_judge_of_known_threshold_has_its_slope(find: Find, said: Said) -> None:
    """In 3 of 12 texts it sees even the subtle flaw, in 9 of 12 the plain one: the odds are 9 times as large."""
    judgments, labels, places = strong_and_weak(said, lambda n: (0.3, 0.6, 0.6, 0.9)[n % 4])
    rows = {(row["language"], row["flaw"]): row for row in find(judgments, labels, places=places)["minimal_pairs"]["strengths"]}
    assert set(rows) == {("*", "*"), ("*", "calque"), ("*", "filler"), ("cs", "*"), ("ja", "*")}
    for (language, flaw), row in rows.items():
        assert (row["n"], row["groups"]) == ((12, 12) if (language, flaw) != ("*", "*") else (24, 24))
        if flaw == "*":
            assert (row["seen_subtle"], row["seen_plain"]) == (0.25, 0.75)
            assert row["seen_subtle_ci"] == pytest.approx(wilson(row["n"] / 4, row["n"]))
            assert row["slope"] == pytest.approx(math.log(9)) and row["slope_ci"][0] < row["slope"] < row["slope_ci"][1]
    assert rows["*", "*"]["slope_ci"][1] - rows["*", "*"]["slope_ci"][0] < rows["ja", "*"]["slope_ci"][1] - rows["ja", "*"]["slope_ci"][0]
    assert (rows["*", "calque"]["seen_subtle"], rows["*", "filler"]["seen_subtle"]) == pytest.approx((4 / 12, 2 / 12))
    assert (rows["ja", "*"]["n_tempting"], rows["ja", "*"]["false_alarms"]) == (3, pytest.approx(1 / 3))
    assert (rows["*", "*"]["n_tempting"], rows["*", "calque"]["n_tempting"]) == (6, 6)


@pytest.mark.parametrize(
    ("threshold", "shares", "reason"),
    [
        (0.9, (0.0, 0.0), "one condition is never seen"),
        (0.1, (1.0, 1.0), "one condition is always seen"),
        (0.6, (0.0, 1.0), "one condition is never seen"),
    ],
)
def test_all_or_none_have_no_slope(find: Find, said: Said, threshold: float, shares: tuple[float, float], reason: str) -> None:
    judgments, labels, places = strong_and_weak(said, lambda n: threshold)
    for row in find(judgments, labels, places=places)["minimal_pairs"]["strengths"]:
        assert (row["seen_subtle"], row["seen_plain"], row["slope"]) == (*shares, None)
        assert row["slope_ci"] is None and row["undefined"]["slope"] == reason


def test_a_strength_that_could_not_be_read_leaves_the_other_out(find: Find, said: Said) -> None:
    judgments, labels, places = strong_and_weak(said, lambda n: 0.6, ("ja",))
    kept = [
        said(one.item_id, Failure.REFUSED, language="ja") if one.item_id == "ja1-plain" else one
        for one in judgments
        if one.item_id != "ja2-subtle"
    ]
    row = next(row for row in find(kept, labels, places=places)["minimal_pairs"]["strengths"] if row["flaw"] == "*")
    assert (row["n"], row["seen_plain"]) == (10, 1.0)


def test_flaws_of_one_strength_have_no_table_of_strengths(pairs: Find, said: Said) -> None:
    assert "strengths" not in pairs(judge(said, lambda n: 2, lambda n: 1))
