"""The file of the atlas: how old judges are, and which are served no more."""

from __future__ import annotations

import datetime
from pathlib import Path

import msgspec
import pytest

from harness.decide.options import DecisionOptions
from harness.errors import ContentError, UsageError
from harness.judge_atlas.atlas import (
    ALPHA,
    LEAST_GROUPS,
    LEAST_TEXTS,
    AtlasJudge,
    QualityAnswer,
    answers_by_quality,
    atlas_bytes,
    neighbours,
    parquet_bytes,
    read_atlas,
    select,
    wrong_uses,
)
from harness.row_files import parquet_table
from tests.unit.judge_atlas.atlases import TODAY, about, atlas, row

DAY = datetime.timedelta(days=1)


def test_a_judge_is_gone_from_the_day_after_its_last() -> None:
    assert AtlasJudge(served_until=TODAY - DAY).is_gone(TODAY)
    assert not AtlasJudge(served_until=TODAY).is_gone(TODAY) and not AtlasJudge().is_gone(TODAY)
    assert not AtlasJudge(served_until=TODAY - DAY, open_weights=True).is_gone(TODAY), "anybody can run it"


def test_the_newest_judge_is_the_one_with_the_latest_known_date() -> None:
    judges = {"old": AtlasJudge(released=datetime.date(2023, 3, 14)), "new": AtlasJudge(released=datetime.date(2025, 2, 19))}
    rows = (row(judge="old"), row(judge="new"), row(judge="who"), row(judge="who", metric="bias"))
    newest = atlas(*rows, judges=judges).newest_judge(rows)
    assert newest == ("new", datetime.date(2025, 2, 19), 1)
    assert atlas(*rows).newest_judge(rows)[::2] == ("", 3)


def answers(quality: QualityAnswer) -> dict[str, tuple[str, str]]:
    return {metric.metric: (metric.answer, metric.best.judge) for metric in quality.metrics}


def test_a_judge_that_may_be_used_for_one_metric_is_not_used_for_the_quality() -> None:
    rows = [row(), row(metric="bias", verdict="do not use"), row(metric="noise", verdict="do not use")]
    [quality] = answers_by_quality([*rows, row(metric="noise", judge="other", verdict="not shown")])
    assert answers(quality) == {"insult": ("use", "gpt"), "bias": ("do not use", "gpt"), "noise": ("not known yet", "other")}
    assert quality.answer == "" and not quality.is_settled and quality.metrics[2].unfit == 1


def test_the_judge_with_most_metrics_is_named_whatever_the_texts() -> None:
    wide = [row(judge="wide", metric=metric, texts=50) for metric in ("insult", "bias")]
    [quality] = answers_by_quality([row(judge="one", texts=9000), *wide])
    assert answers(quality) == {"insult": ("use", "wide"), "bias": ("use", "wide")} and quality.answer == "use" and quality.is_settled


def test_the_judge_with_most_metrics_of_the_set_is_named_across_qualities_then_the_closest() -> None:
    """Each aspect of a review is a quality of its own: the answer of the set names one judge for all that it may be used for."""
    wide = [row(judge="wide", quality=name, metric=name, gap=-0.05) for name in ("food", "service")]
    near = row(judge="near", quality="food", metric="food", gap=0.1)
    assert [(answer.quality, answer.metrics[0].best.judge) for answer in answers_by_quality([near, *wide])] == [
        ("food", "wide"),
        ("service", "wide"),
    ]
    [quality] = answers_by_quality([row(judge="far", gap=-0.05, texts=9000), row(judge="near", gap=0.1)])
    assert answers(quality) == {"insult": ("use", "near")}


def test_a_judge_that_is_still_served_is_named_before_one_that_is_not() -> None:
    rows = [row(judge="old", metric=metric) for metric in ("insult", "bias")] + [row(judge="new")]
    [quality] = answers_by_quality(rows, gone={"old"})
    assert answers(quality) == {"insult": ("use", "new"), "bias": ("use", "old")}
    assert [metric.gone for metric in quality.metrics] == [False, True] and not quality.is_settled
    [quality] = answers_by_quality([row(judge="old"), row(judge="new", verdict="use corrected")], gone={"old"})
    assert answers(quality) == {"insult": ("use corrected", "new")}


def test_against_all_only_if_every_verdict_is_against() -> None:
    against = [row(verdict="do not use", gap=-0.3), row(judge="two", verdict="do not use", gap=-0.1)]
    [quality] = answers_by_quality(against)
    assert answers(quality) == {"insult": ("do not use", "two")} and quality.metrics[0].unfit == 2
    [quality] = answers_by_quality([*against, row(judge="three", verdict="too few labels", gap=None)])
    assert answers(quality) == {"insult": ("not known yet", "three")}, "of judges that are not shown unfit the closest is named"


def test_sets_of_one_quality_are_answered_each_by_itself() -> None:
    [quality] = answers_by_quality([row(), row(set="two", verdict="do not use")])
    assert [(metric.set, metric.answer) for metric in quality.metrics] == [("one", "use"), ("two", "do not use")]
    assert quality.sets == ("one", "two") and quality.answer == ""


def test_a_language_is_found_by_tag_and_name_and_never_guessed() -> None:
    every = atlas(row(), row(language="pt-BR"))
    assert select(every, language="JAPANESE") == select(every, language="ja") == (every.rows[0],)
    assert select(every, language="pt_br") == (every.rows[1],)
    assert select(every, language="日本語") == select(every, language="japonština") == (every.rows[0],), "a name in any language"
    with pytest.raises(UsageError, match="Did you mean 'Japanese'"):
        select(every, language="Japanes")
    with pytest.raises(UsageError, match=r"no judge 'gtp'.*there are gpt"):
        select(every, judge="gtp")
    with pytest.raises(UsageError, match="no quality 'story'"):
        select(every, quality="story")


def test_of_a_language_that_is_not_there_its_neighbours_are_a_hint() -> None:
    every = atlas(row(language="pt-BR", verdict="do not use"), row())
    with pytest.raises(UsageError, match=r"A hint only.*Portuguese \(Brazil\): harm do not use\."):
        select(every, language="pt-AO")
    with pytest.raises(UsageError) as unlike:
        select(every, language="zu")
    assert "hint" not in str(unlike.value), "Zulu is near none of them"
    assert neighbours(every, "pt") == ["pt-BR"] and neighbours(every, "ja") == []


def test_without_anybody_to_compare_with_the_closest_to_the_labels_is_named() -> None:
    alone = {"verdict": "no verdict", "agreement": None, "people": None, "gap": None, "bound": None}
    [quality] = answers_by_quality([row(judge="far", right=0.4, **alone), row(judge="near", right=0.6, **alone)])
    assert answers(quality) == {"insult": ("not known yet", "near")}
    [quality] = answers_by_quality([row(judge="near", right=0.9, **alone), row(judge="compared", verdict="not shown", gap=-0.5)])
    assert quality.metrics[0].best.judge == "compared", "a comparison with people says more"
    [quality] = answers_by_quality([row(judge="near", **alone), row(judge="compared", verdict="do not use", gap=-0.5)])
    assert answers(quality) == {"insult": ("do not use", "compared")} and len(quality.rows) == 1, "who was not tested takes nothing back"


def test_a_language_with_labels_and_no_judge_has_no_rows() -> None:
    every = atlas(row(), sets={"two": about(languages=("ca",))})
    assert select(every, language="Catalan") == ()
    with pytest.raises(UsageError, match="no judge was recorded beside people's labels in Catalan"):
        select(every, language="ca", judge="gpt")


def test_the_file_reads_back_and_is_the_same_bytes(tmp_path: Path) -> None:
    every, path = atlas(row(gap=None), row(metric="bias")), tmp_path / "atlas.json"
    path.write_bytes(atlas_bytes(every))
    assert read_atlas(path) == every and atlas_bytes(read_atlas(path)) == path.read_bytes()
    assert [flat["labels"] for flat in every.flat()] == ["native", "native"]


def test_the_parquet_has_the_same_rows_with_gaps_and_days(tmp_path: Path) -> None:
    day = AtlasJudge(released=datetime.date(2023, 11, 6))
    every = atlas(row(gap=None), row(metric="bias", judge="dated"), judges={"dated": day})
    path = tmp_path / "atlas.parquet"
    path.write_bytes(parquet_bytes(every))
    assert parquet_table(path).to_pylist() == list(every.flat()) and parquet_bytes(every) == path.read_bytes()


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"[]", "this is no atlas"),
        (
            atlas_bytes(msgspec.structs.replace(atlas(), schema_version=9)),
            "schema version 9; this program reads version 4 only; build it again",
        ),
    ],
)
def test_what_is_no_atlas_is_refused(tmp_path: Path, content: bytes, words: str) -> None:
    path = tmp_path / "atlas.json"
    path.write_bytes(content)
    with pytest.raises(ContentError, match=words):
        read_atlas(path)
    with pytest.raises(ContentError, match="harness atlas build"):
        read_atlas(tmp_path / "absent.json")


def test_the_expected_number_of_wrong_uses_counts_families_that_could_say_use() -> None:
    one_family = [row(), row(metric="threat", verdict="do not use"), row(language="pt-BR", verdict="not shown")]
    others = [row(condition="prompt-2"), row(judge="other", verdict="do not use"), row(set="two", texts=30, groups=20, verdict="not shown")]
    never = [
        row(set="three", verdict="no verdict", agreement=None, people=None, groups=0),
        row(set="four", texts=29, verdict="too few labels"),
        row(set="five", groups=19, verdict="not shown"),
    ]
    defaults = DecisionOptions()
    assert (defaults.alpha, defaults.items, defaults.groups) == (ALPHA, LEAST_TEXTS, LEAST_GROUPS) and defaults.family == "judge"
    assert wrong_uses(one_family) == (1, 0.05)
    families, expected = wrong_uses([*one_family, *others, *never])
    assert (families, round(expected, 9)) == (4, 0.2)
    assert wrong_uses(never) == (0, 0.0) == wrong_uses([])
    assert wrong_uses([never[1], row(set="four", metric="threat", texts=30)]).families == 1, "one row with enough texts is enough"


def test_a_metric_is_open_where_some_judges_have_no_verdict_and_others_are_unfit() -> None:
    rows = (row(judge="bad", verdict="do not use", people=None), row(judge="good", verdict="no verdict", people=None))
    [quality] = answers_by_quality(rows)
    assert [metric.answer for metric in quality.metrics] == ["not known yet"] and quality.metrics[0].unfit == 1
    [alone] = answers_by_quality((*rows, row(metric="tone", verdict="use"), row(metric="noise", verdict="no verdict")))
    assert {metric.metric for metric in alone.metrics} == {"insult", "tone"}, "a metric without any verdict says nothing beside others"
