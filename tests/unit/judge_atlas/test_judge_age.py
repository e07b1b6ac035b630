"""How old judges are, and which are served no more."""

from __future__ import annotations

import datetime

from harness.judge_atlas.atlas_file import AtlasJudge
from harness.judge_atlas.judge_age import is_gone, newest_judge
from tests.unit.judge_atlas.atlases import TODAY, atlas, row

DAY = datetime.timedelta(days=1)


def test_a_judge_is_gone_from_the_day_after_its_last() -> None:
    assert is_gone(AtlasJudge(served_until=TODAY - DAY), TODAY)
    assert not is_gone(AtlasJudge(served_until=TODAY), TODAY) and not is_gone(AtlasJudge(), TODAY)
    assert not is_gone(AtlasJudge(served_until=TODAY - DAY, open_weights=True), TODAY), "anybody can run it"


def test_the_newest_judge_is_the_one_with_the_latest_known_date() -> None:
    judges = {"old": AtlasJudge(released=datetime.date(2023, 3, 14)), "new": AtlasJudge(released=datetime.date(2025, 2, 19))}
    rows = (row(judge="old"), row(judge="new"), row(judge="who"), row(judge="who", metric="bias"))
    newest = newest_judge(atlas(*rows, judges=judges), rows)
    assert newest == ("new", datetime.date(2025, 2, 19), 1)
    assert newest_judge(atlas(*rows), rows)[::2] == ("", 3)
