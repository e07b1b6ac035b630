"""The map in a certificate: text by text beside the mean, refused where it does not fit, silent where no gain is shown."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
import pytest

import harness
from harness import certificate
from harness.correction.certificate import Certificate
from harness.correction.certified_cell import CalibratedTexts, CorrectedMean
from harness.correction.certify import NOT_RANDOM, certify
from harness.correction.correction_options import CalibrateOptions
from harness.correction.staleness import staleness
from harness.errors import CertificateError, ContentError, UsageError
from harness.measure.options import MeasureOptions
from harness.row_files import to_json
from harness.sources import open_sources
from tests.growth import assert_grows_linearly
from tests.unit.correction.languages_folder import languages_folder


def held_of(folder: Path, *, length: bool = False, **promise: Any) -> Certificate:
    """The certificate of a folder, as it is written and read; judged to be of use, as the verdict is not what is tested here."""
    [source] = open_sources([folder], None, folder)
    made = certify(source.recording, MeasureOptions(), maps=CalibrateOptions(**promise, covariate="length" if length else None))
    allowed = msgspec.structs.replace(made, cells=tuple(msgspec.structs.replace(cell, verdict="use corrected") for cell in made.cells))
    (folder / "c.json").write_text(to_json(allowed.sealed()), "utf-8")
    return certificate.load(folder / "c.json")


def apply(held: Certificate, scores: Any, language: str = "cs", **options: Any) -> tuple[CorrectedMean, CalibratedTexts]:
    found = held.apply(scores, language=language, metric="tone", judge="model/one", **options)
    assert isinstance(found, CorrectedMean) and found.texts is not None
    return found, found.texts


def test_each_text_has_an_expected_score_probabilities_and_a_set_beside_the_mean(tmp_path: Path) -> None:
    held = held_of(languages_folder(tmp_path / "d", {"cs": 1.0, "ja": 0.9}))
    mean, texts = apply(held, [1, 3, 5, None])
    assert mean.estimate is not None and mean.interval is not None
    assert texts.expected is not None and texts.probabilities is not None and texts.sets is not None and texts.reason is None
    assert texts.expected[0] < texts.expected[1] < texts.expected[2] < 5 and math.isnan(texts.expected[3])
    assert texts.probabilities[:3].sum(axis=1) == pytest.approx(np.ones(3)) and texts.classes == (1, 2, 3, 4, 5)
    assert texts.sets[3].all() and texts.abstains.tolist() == [False, False, False, True]
    assert all(0 < inside.sum() < 5 for inside in texts.sets[:3])
    [metric] = harness.calibrate(tmp_path / "d").metrics
    assert metric.cells[0].curve == held.cell("cs", "tone").recalibration.curve  # type: ignore[union-attr]


def test_a_map_that_reads_lengths_is_given_them(tmp_path: Path) -> None:
    folder = languages_folder(tmp_path / "d", {"cs": 1.0, "ja": 0.9})
    held = held_of(folder, length=True)
    found = held.cell("cs", "tone").recalibration
    [metric] = harness.calibrate(folder, CalibrateOptions(covariate="length")).metrics
    assert found is not None and found.length_scale is not None and found.curve == metric.cells[0].curve
    assert len(found.curve.further) == 1  # type: ignore[union-attr]
    longer = msgspec.structs.replace(found, curve=msgspec.structs.replace(found.curve, further=(1.5,)))
    cells = tuple(msgspec.structs.replace(cell, recalibration=longer) for cell in held.cells)
    held = msgspec.structs.replace(held, cells=cells)
    _, texts = apply(held, [3, 3, 3, 3, None], lengths=[20, 80, 200, None, 80])
    assert texts.expected is not None and texts.probabilities is not None
    assert texts.expected[0] < texts.expected[1] < texts.expected[2], "people give longer texts more, and the judge does not see it"
    mean = longer.curve.predict([3], np.zeros((1, 1)))  # type: ignore[arg-type]
    assert texts.probabilities[3] == pytest.approx(mean[0]) and math.isnan(texts.expected[4])
    assert apply(held, [3, 4], lengths=["x" * 20, "x" * 80])[1] == apply(held, [3, 4], lengths=np.array([20, 80]))[1]
    with pytest.raises(CertificateError, match="pass lengths=: the map of cs/tone reads the length of each text beside its score"):
        apply(held, [3, 4])
    with pytest.raises(UsageError, match="give one length a score"):
        apply(held, [3, 4], lengths=[20])
    with pytest.raises(UsageError, match="0 or more"):
        apply(held, [3, 4], lengths=[20, -1])
    with pytest.raises(ValueError, match="says how lengths are read"):
        msgspec.structs.replace(found, length_scale=None).refuse_other_scale(5, "ordinal")


def test_a_certificate_with_lengths_is_written_and_checked_by_the_command(tmp_path: Path, cli: Any) -> None:
    folder = languages_folder(tmp_path / "d", {"cs": 1.0, "ja": 0.9}, groups=60)
    done = cli("certify", folder, "--with", "length", "--to", tmp_path / "c.json")
    assert done.code in (0, 1) and "the map reads the length of the text too" in done.out, done.out + done.err
    held = certificate.load(tmp_path / "c.json")
    assert held.options is not None and held.options.length and "with=length" in held.signature
    [source] = open_sources([folder], None, folder)
    assert staleness(held, source.recording) == ()


def test_where_no_gain_is_shown_scores_stay_and_sets_remain(tmp_path: Path) -> None:
    held = held_of(languages_folder(tmp_path / "d", {"cs": 0.0, "ja": 0.0}))
    _, texts = apply(held, [1, 5])
    assert texts.expected is texts.probabilities is None and texts.reason in ("leave the scores as they are", "refused: the map falls")
    assert texts.sets is not None and texts.level == 0.9


def test_numbers_have_intervals_and_named_classes_sets(tmp_path: Path) -> None:
    _, texts = apply(held_of(languages_folder(tmp_path / "n", {"cs": 1.0, "ja": 0.9}, kind="numbers")), [0.0, 60.0, 61.7, None])
    assert texts.intervals is not None and texts.expected is not None and texts.sets is None
    assert (texts.intervals[1, 0] < texts.expected[1] < texts.intervals[1, 1]) and texts.intervals[3].tolist() == [0, 100]
    held = held_of(languages_folder(tmp_path / "c", {"cs": 1.0, "ja": 0.9}, kind="named"))
    _, texts = apply(held, ["no", "yes", None], share_of="yes")
    assert texts.expected is None and texts.probabilities is not None and texts.probabilities.argmax(axis=1)[:2].tolist() == [0, 2]


def test_the_promise_is_kept_and_made_again(tmp_path: Path) -> None:
    folder = languages_folder(tmp_path / "d", {"cs": 1.0, "ja": 0.9}, labelled=0.5)
    plain, strict = held_of(folder), held_of(folder, level=0.95, this_draw=0.9)
    assert strict.options is not None and (strict.options.level, strict.options.this_draw) == (0.95, 0.9)
    assert apply(plain, [3])[1].sets.sum() < apply(strict, [3])[1].sets.sum()  # type: ignore[union-attr]
    [source] = open_sources([folder], None, folder)
    whole = certify(source.recording, MeasureOptions(), maps=CalibrateOptions(level=0.95, this_draw=0.9))
    assert staleness(whole, source.recording) == ()
    cell = whole.cells[0]
    assert cell.recalibration
    moved = msgspec.structs.replace(cell, recalibration=msgspec.structs.replace(cell.recalibration, n=1))
    assert "recalibration.n 1 instead of" in staleness(msgspec.structs.replace(whole, cells=(moved, *whole.cells[1:])), source.recording)[0]


def test_dates_of_the_labels_are_those_of_the_card(tmp_path: Path) -> None:
    folder = languages_folder(tmp_path / "d", {"cs": 1.0}, groups=30)
    card = (folder / "data.toml").read_text("utf-8")
    (folder / "data.toml").write_text(card.replace("[metrics", 'labelled_from = 2026-01-05\nlabelled_to = "2026-02-01"\n[metrics'), "utf-8")
    data = held_of(folder).data
    assert (data.labelled_from, data.labelled_to) == ("2026-01-05", "2026-02-01")
    (folder / "data.toml").write_text(card.replace("[metrics", "labelled_from = 2026-03-05\nlabelled_to = 2026-02-01\n[metrics"), "utf-8")
    with pytest.raises(ContentError, match="which is after labelled_to"):
        harness.load(folder)


def test_without_a_random_sample_there_is_no_map(tmp_path: Path) -> None:
    folder = languages_folder(tmp_path / "d", {"cs": 1.0}, groups=30)
    card = (folder / "data.toml").read_text("utf-8")
    (folder / "data.toml").write_text(card.replace('"random"', '"convenience"'), "utf-8")
    [source] = open_sources([folder], None, folder)
    cell = certify(source.recording, MeasureOptions()).cells[0]
    assert cell.recalibration is None and cell.recalibration_reason == NOT_RANDOM


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"cuts": [1.0, 0.0, 2.0, 3.0]}, "the cuts of a curve rise"),
        ({"cuts": [0.0, 1.0]}, "the map is not of 5 classes"),
        ({"type": "lines"}, "Invalid value 'lines'"),
    ],
    ids=str,
)
def test_a_damaged_map_is_refused(tmp_path: Path, change: dict[str, Any], words: str) -> None:
    folder = languages_folder(tmp_path / "d", {"cs": 1.0}, groups=30)
    held_of(folder)
    raw = msgspec.json.decode((folder / "c.json").read_bytes())
    raw["cells"][0]["recalibration"]["curve"] |= change
    (folder / "c.json").write_bytes(msgspec.json.encode(raw))
    with pytest.raises(ContentError, match=words):
        certificate.load(folder / "c.json")


def test_a_map_of_expected_scores_needs_them(tmp_path: Path) -> None:
    held = held_of(languages_folder(tmp_path / "d", {"cs": 1.0}, groups=30))
    cell = held.cells[0]
    assert cell.recalibration
    reads = msgspec.structs.replace(cell, recalibration=msgspec.structs.replace(cell.recalibration, read="expected score"))
    held = msgspec.structs.replace(held, cells=(reads,))
    found = held.apply([1, 5], language="cs", metric="tone", judge="model/one")
    assert isinstance(found, CorrectedMean) and found.texts is None and "pass expected=" in (found.texts_reason or "")
    _, texts = apply(held, [1, 5], expected=[1.4, 4.6])
    assert not texts.abstains.any()
    with pytest.raises(UsageError, match="one expected score a score"):
        apply(held, [1, 5], expected=[1.4])


@pytest.mark.slow
def test_the_time_grows_with_the_scores(tmp_path: Path) -> None:
    certificate = held_of(languages_folder(tmp_path / "d", {"cs": 1.0}, groups=60))

    def calibrate_scores(count: int) -> None:
        _, texts = apply(certificate, np.random.default_rng(0).integers(1, 6, count))
        assert texts.sets is not None and len(texts.sets) == count

    assert_grows_linearly(calibrate_scores, 1_000_000)
