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
