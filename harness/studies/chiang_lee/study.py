"""`harness run --study chiang-lee`: three samples in the judge's own words, at four temperatures, with a persona, asked to explain."""

from __future__ import annotations

from harness.runs import Study

STUDY = Study(
    "chiang-lee",
    {
        "variants": ("text", "text+persona", "text+explain"),
        "temperatures": (1.0, 0.7, 0.3, 0.0),
        "top_ps": (0.9,),
        "repeats": 3,
        "crossed": False,  # persona and request at the first temperature only
        "unlabelled": True,
    },
    needs="stories or altered texts: write some with 'harness generate --task rate_story' or 'harness study alter-texts'",
)
