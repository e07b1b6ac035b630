"""A certificate made on one half of real data corrects the judge-only means of the other half."""

from __future__ import annotations

import math
from pathlib import Path

import msgspec
import numpy as np
import pytest

from harness import certificate, sources
from harness.correction.certified_cell import CorrectedMean, Correction
from harness.correction.certify import certify
from harness.decide.options import DecisionOptions
from harness.measure.compare import Recording, only_where
from harness.measure.options import Annotators, MeasureOptions
from harness.row_files import to_json
from harness.stats import correct_with_summary, summarise_labelled
from harness.stats.core.arrays import Floats, Ints
from harness.stats.intervals.intervals import t_quantile
from tests.unit.decide.truths import scores_of

pytestmark = [pytest.mark.needs("shared data"), pytest.mark.slow]
SPLITS = 40


@pytest.fixture(scope="module")
def pariksha(shared_data: Path) -> Recording:
    """The texts that people labelled, declared to be a random sample: the halves of a split are."""
    data = sources.load(shared_data / "pariksha")
    about = msgspec.structs.replace(data.about, sampling="random")
    labelled = data.only(item for item in data.items if item.item_id in data.labelled_metrics)
    return sources.open_sources([msgspec.structs.replace(labelled, about=about)], None, Path())[0].recording


def test_intervals_hold_the_other_halfs_label_mean(pariksha: Recording) -> None:
    """Groups (prompts) of a language are split in two; each metric gives an interval. With ten groups a half, no file would be written.

    The certificate's estimate is compared with the mean label of the other half, which has an error of its own. Counted is whether 0 lies
    in the interval of the difference: (mean Y - lam mean f of this half) - (the same of the other half), whose variance is the sum of the
    two halves' cluster variances of Y - lam f; Student's t with the smaller number of groups minus 1.
    """
    held = []
    for language in ("hi", "ta", "bn"):
        data = only_where(pariksha.data, {"language": (language,)})
        source = msgspec.structs.replace(pariksha, data=data, judgments=pariksha.judgments.for_items(data.by_id))
        groups = sorted({item.group for item in data.items})
        for seed in range(SPLITS):
            chosen = set(np.random.default_rng(seed).permutation(groups)[: len(groups) // 2].tolist())
            for metric in ("linguistic_acceptability", "task_quality", "hallucinations"):
                held.append(_holds(source, metric, chosen))
    assert len(held) == 3 * 3 * SPLITS and np.mean(held) >= 0.9, np.mean(held)


def _holds(source: Recording, metric: str, chosen: set[str]) -> bool:
    y, f, group = scores_of(source, metric, None)
    here = np.array([item.group in chosen for item in source.data.items])
    mine = _correction(y[here], f[here], group[here])
    found = correct_with_summary(mine.summary, f[~here], group[~here])
    theirs = summarise_labelled(y[~here], f[~here], group[~here])
    residual = theirs.variance_label - 2 * found.lam * theirs.covariance + found.lam**2 * theirs.variance_judge
    reach = t_quantile(0.95, found.freedom) * math.sqrt(found.residual_variance + residual)
    return abs(found.value - theirs.mean_label) <= reach


def _correction(y: Floats, f: Floats, group: Ints) -> Correction:
    found = summarise_labelled(y, f, group)
    numbers = (found.mean_label, found.mean_judge, found.variance_label, found.variance_judge, found.covariance)
    return Correction(None, found.n, found.groups, *numbers, float(f.mean()), found.spread)


def test_a_written_certificate_corrects_the_other_half(pariksha: Recording, tmp_path: Path) -> None:
    """The same through the file, on the prompts of all languages as one population: those of one language are too few for a certificate.

    Half of the prompts are certified, the file is read, and it corrects the judge's scores of the other half. Counted is as above. A least
    gain of 1 lets every cell be corrected, however little that saves.
    """
    items = tuple(msgspec.structs.replace(item, language="hi", group=f"{item.language}/{item.group}") for item in pariksha.data.items)
    data = msgspec.structs.replace(pariksha.data, items=items)
    groups = sorted({item.group for item in items})
    held = []
    for seed in range(SPLITS):
        chosen = set(np.random.default_rng(seed).permutation(groups)[: len(groups) // 2].tolist())
        half = data.only(item for item in items if item.group in chosen)
        source = msgspec.structs.replace(pariksha, data=half, judgments=pariksha.judgments.for_items(half.by_id))
        path = tmp_path / f"{seed}.json"
        path.write_text(to_json(certify(source, MeasureOptions(), DecisionOptions(gain=1.0))))
        other = data.only(item for item in items if item.group not in chosen)
        rest = msgspec.structs.replace(pariksha, data=other, judgments=pariksha.judgments.for_items(other.by_id))
        for metric in ("linguistic_acceptability", "task_quality", "hallucinations"):
            y, f, group = scores_of(rest, metric, None)
            made = certificate.load(path)
            found = made.apply(f, language="hi", metric=metric, judge="gpt-4-32k", groups=group)
            assert isinstance(found, CorrectedMean) and found.estimate is not None and found.lam is not None
            theirs = summarise_labelled(y, f, group)
            residual = theirs.variance_label - 2 * found.lam * theirs.covariance + found.lam**2 * theirs.variance_judge
            assert found.label_error is not None
            reach = t_quantile(0.95, theirs.groups - 1) * math.hypot(found.label_error, math.sqrt(residual))
            held.append(abs(found.estimate - theirs.mean_label) <= reach)
    assert len(held) == 3 * SPLITS and np.mean(held) >= 0.9, np.mean(held)


def test_what_the_command_certifies_is_what_the_split_computes(pariksha: Recording) -> None:
    made = certify(pariksha, MeasureOptions(annotators=Annotators(1), where={"language": ("hi",)}))
    data = only_where(pariksha.data, {"language": ("hi",)})
    y, f, group = scores_of(msgspec.structs.replace(pariksha, data=data), "task_quality", None)
    own = made.cell("hi", "task_quality").corrections[0]
    expected = _correction(y, f, group)
    assert own.groups == 20 and own.summary.n == expected.n
    assert msgspec.structs.astuple(own)[3:-1] == pytest.approx(msgspec.structs.astuple(expected)[3:-1])
    for name in ("sizes", "times", "between", "within"):
        assert getattr(own.spread, name) == pytest.approx(getattr(expected.spread, name))
