"""The file of the atlas: how old judges are, and which are served no more."""

from __future__ import annotations

import datetime

from harness.judge_atlas.atlas_file import AtlasJudge
from tests.unit.judge_atlas.atlases import TODAY, atlas, row

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
