"""The qualities that dataset cards name: they are known words and belong to metrics of the card."""

from pathlib import Path

import pytest

from harness.content.specs import DatasetCard, read_spec
from harness.errors import ContentError

METRIC = '[metrics.toxicity]\nkind = "ordinal"\nclasses = [1, 2]\nbest = 1\n'


def card(folder: Path, qualities: str) -> DatasetCard:
    path = folder / "dataset.toml"
    path.write_text(f'id = "people"\n[qualities]\n{qualities}\n{METRIC}', encoding="utf-8")
    return read_spec(path, DatasetCard)


def test_a_metric_has_the_quality_of_its_card(tmp_path: Path) -> None:
    assert card(tmp_path, 'toxicity = "harm"').qualities == {"toxicity": "harm"}


@pytest.mark.parametrize(("line", "message"), [('insult = "harm"', "'insult', which is no metric"), ('toxicity = "niceness"', "niceness")])
def test_an_unknown_metric_or_quality_is_refused(tmp_path: Path, line: str, message: str) -> None:
    with pytest.raises(ContentError, match=message):
        card(tmp_path, line)


def test_a_judge_that_was_trained_on_the_labels_is_one_of_the_judges(tmp_path: Path) -> None:
    path = tmp_path / "dataset.toml"
    path.write_text('id = "people"\njudges = ["gpt", "tuned"]\njudges_trained_on_it = ["tuned"]\n', encoding="utf-8")
    assert read_spec(path, DatasetCard).judges_trained_on_it == ("tuned",)
    path.write_text('id = "people"\njudges = ["gpt"]\njudges_trained_on_it = ["tuned"]\n', encoding="utf-8")
    with pytest.raises(ContentError, match="judges_trained_on_it names 'tuned', which is none of the judges: gpt"):
        read_spec(path, DatasetCard)
