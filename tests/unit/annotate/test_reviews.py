"""Pages about a judge's reasons show the score and its reason, and neither the judge nor that it is one."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from harness.annotate.labelling_options import PageOptions
from harness.annotate.page_content import data_of
from harness.annotate.page_results import ReviewedJudge, ReviewedScore, read_record
from harness.annotate.pages_for_annotators import make_pages
from harness.annotate.reviews import REVIEWS, ReasonReview, review_row, reviewed_scores, without_review
from harness.content import Library
from harness.data.judgments import JudgmentWriter, read_judgments
from harness.errors import UsageError
from harness.measure.compare import Recording
from harness.model import Failure, Item, Judgment, Scale
from tests.unit.made_judgments import made_judgment

LIBRARY = Library()
SCALE = Scale(kind="ordinal", classes=(0, 1, 2), best=2)
TEXTS = {"prompt": "Write.", "output": "Written."}
JUDGE = ReviewedJudge("openai/secret-model", "run-7", "single", 0.0)
REASON = "Kind, but </script><script>window.ran=1</script> rude."


@pytest.fixture
def data(make_data: Any) -> Any:
    items = [Item(f"i{n}", "en", "open_prompt", group=f"g{n}", fields=TEXTS) for n in range(4)]
    return make_data(items, {}, {"task_quality": SCALE, "hallucinations": Scale(kind="nominal", classes=(0, 1), best=1)})


def reviewed(*names: str, score: Any = 2) -> dict[str, dict[str, ReviewedScore]]:
    return {name: {"task_quality": ReviewedScore(score, REASON)} for name in names}


def test_the_page_shows_reasons_but_not_whose_they_are(data: Any, tmp_path: Path) -> None:
    own = reviewed("i0", "i2") | {"i3": {"hallucinations": ReviewedScore(1, "All true.")}}
    pages = make_pages(data, "x", tmp_path / "p", LIBRARY, PageOptions(annotators=1, review=(JUDGE, own)))
    text = pages.files[0].read_text("utf-8")
    assert "secret-model" not in text and "run-7" not in text and REASON not in text
    shown = data_of(text)
    assert shown
    assert shown["review"] is True and shown["practice"] == [] and len(shown["items"]) == 3
    assert {tuple(item["questions"]) for item in shown["items"]} == {("task_quality",), ("hallucinations",)}
    assert {one["reason"] for item in shown["items"] for one in item["reviews"].values()} == {REASON, "All true."}
    assert {question["kind"] for question in shown["questions"].values()} == {"review"}
    record = read_record(pages.record)
    assert record.review == JUDGE and record.reviewed == own


def test_reviews_come_in_portions_of_what_nobody_has_reviewed(data: Any, tmp_path: Path) -> None:
    own = reviewed("i0", "i1", "i2", "i3")
    given = {"item_id": "i1", "annotator_id": "eva", "metric": "task_quality", "judge": JUDGE.judge, "variant": JUDGE.variant}
    rows = [review_row(ReasonReview(**given, score=2, justification=REASON, agreement="agree"))]
    assert without_review(own, JUDGE, tmp_path) == own, "a folder without reviews"
    (tmp_path / REVIEWS).write_text("".join(json.dumps(row) + "\n" for row in rows), "utf-8")
    left = without_review(own, JUDGE, tmp_path)
    pages = make_pages(data, "x", tmp_path / "p", LIBRARY, PageOptions(annotators=1, review=(JUDGE, left), next_items=2))
    assert {one.item_id for one in read_record(pages.record).pages[0].items} == {"i0", "i2"}
    with pytest.raises(UsageError, match="every reason of openai/secret-model has a review already"):
        without_review(reviewed("i1"), JUDGE, tmp_path)


WRONG: dict[str, tuple[dict[str, Any], str]] = {
    "checks": ({"checks": 1}, "--checks asks for people's own scores"),
    "errors": ({"mark_errors": True}, "--mark-errors asks for people's own scores"),
    "metric": ({"metrics": ("beauty",)}, "the judge gave no reasons on 'beauty'"),
    "other data": ({"review": (JUDGE, reviewed("elsewhere"))}, "the judge gave no reasons about any item in 'en'"),
    "other scale": ({"review": (JUDGE, reviewed("i0", score=7))}, "the judge's score 7 for 'task_quality' of 'i0' is not on the scale"),
}


@pytest.mark.parametrize(("options", "words"), WRONG.values(), ids=WRONG)
def test_what_cannot_be_reviewed_is_a_sentence(data: Any, tmp_path: Path, options: dict[str, Any], words: str) -> None:
    with pytest.raises(UsageError, match=re.escape(words)):
        make_pages(data, "x", tmp_path / "p", LIBRARY, PageOptions(**({"review": (JUDGE, reviewed("i0"))} | options)))
    assert not (tmp_path / "p").exists()


def judgment(item: str, **own: Any) -> Judgment:
    given = {"variant": "single", "temperature": 0.0, "repeat": 0, "score": 2, "failure": None, "justification": f"Why {item}"} | own
    return made_judgment(
        item_id=item, language="en", task="open_prompt", metric="task_quality", judge="j", raw_choice=None, call_id="c", **given
    )


@pytest.fixture
def run(data: Any, tmp_path: Path) -> tuple[Recording, Path]:
    """A run's judgments: one without a reason, a failure, a repeat, another condition, and a changed text."""
    path = tmp_path / "judgments.parquet"
    with JudgmentWriter(path) as writer:
        for one in (
            judgment("i0", perturbation="shuffle", justification="of a changed text"),
            judgment("i0"),
            judgment("i0", repeat=1, justification="again"),
            judgment("i1", justification=None),
            judgment("i2", score=None, failure=Failure.OFF_SCALE),
            judgment("i3"),
            judgment("i1", variant="joint"),
        ):
            writer.add(one)
    return Recording("run-7", data, read_judgments(path, data.scales)), path


def test_first_reasons_of_the_first_condition_are_reviewed(run: tuple[Recording, Path]) -> None:
    recording, path = run
    judge, own = reviewed_scores(recording, path, None, "en")
    assert judge == ReviewedJudge("j", "run-7", "single", 0.0)
    assert own == {name: {"task_quality": ReviewedScore(2, f"Why {name}")} for name in ("i0", "i3")}


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"judge": "k"}, "run-7 has no judgments by 'k'"),
        ({"language": "cs"}, "run-7 has no reasons by j in 'cs' to review"),
        ({"texts": None}, "only runs of judges that justify their scores keep them"),
    ],
)
def test_a_run_without_such_reasons_is_a_sentence(run: tuple[Recording, Path], changes: dict[str, Any], words: str) -> None:
    recording, path = run
    asked = {"texts": path, "judge": None, "language": None} | changes
    with pytest.raises(UsageError, match=re.escape(words)):
        reviewed_scores(recording, **asked)
