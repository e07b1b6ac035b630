"""May a certificate serve other texts? What is shown, what is refused, and what needs more labels."""

from __future__ import annotations

from collections.abc import Callable
from datetime import date, timedelta
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
import pytest

from harness import sources
from harness.correction.certificate import Certificate, CertifiedWatch
from harness.correction.certify import certify
from harness.correction.extension import ExtendOptions, ExtensionResult, check_certificate, extend, with_extensions
from harness.errors import StaleCertificate, UsageError, UseForbidden
from harness.measure.compare import Recording
from harness.measure.options import MeasureOptions
from harness.stats.intervals.noninferiority import TransportTest
from tests.conftest import write_rows
from tests.judged_folder import judged_folder

TODAY = date(2026, 5, 1)


def recording(folder: Path) -> Recording:
    return sources.open_sources([folder], None, Path("results"))[0].recording


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Callable[..., Recording]:
    home = tmp_path_factory.mktemp("probes")
    return lambda name, **how: recording(judged_folder(home / name, **how))


@pytest.fixture(scope="module")
def certificate(made: Callable[..., Recording]) -> Certificate:
    return certify(made("certified", prompts=500), MeasureOptions())


def of(found: ExtensionResult, metric: str) -> Any:
    return next(target for target in found.targets if target.metric == metric)


def test_texts_of_the_same_kind_are_shown_to_be_served(certificate: Certificate, made: Callable[..., Recording]) -> None:
    found = extend(certificate, made("alike", prompts=500, seed=5))
    tone = of(found, "tone")
    assert (tone.outcome, tone.from_language, tone.more_groups) == ("extended", "ja", 0)
    assert tone.q <= 0.05 and abs(tone.residual.mean) < 0.1 and tone.residual.interval[0] < tone.residual.mean
    again = with_extensions(certificate, found, TODAY)
    assert {(line.language, line.metric) for line in again.extensions} == {
        (target.language, target.metric) for target in found.targets if target.outcome == "extended"
    }
    assert all(line.date == TODAY and line.sha256 == found.sha256 for line in again.extensions)
    assert with_extensions(again, found, TODAY) == again, "the same texts have one line"


def test_a_judge_that_errs_elsewhere_is_refused(certificate: Certificate, made: Callable[..., Recording]) -> None:
    errors = of(extend(certificate, made("lenient", prompts=300, seed=8, noise=0.8)), "errors")
    assert errors.outcome == "refused" and "agreement differs by more than the margin" in errors.reason
    assert errors.agreement.interval[1] < -0.1 and errors.residual.mean < -0.1 and errors.q > 0.05


def test_few_groups_ask_for_more(certificate: Certificate, made: Callable[..., Recording]) -> None:
    found = extend(certificate, made("few", prompts=30, seed=7))
    assert found.outcome == "more labels"
    for target in found.targets:
        assert target.groups < 20 and target.reason == "too few independent groups"
        assert target.more_groups is not None and target.groups + target.more_groups >= 20
    assert with_extensions(certificate, found, TODAY) == certificate


def test_more_labels_are_planned_under_the_difference_that_was_seen_too(certificate: Certificate, made: Callable[..., Recording]) -> None:
    tone = of(extend(certificate, made("some", prompts=40, seed=5), options=ExtendOptions(margin=0.15)), "tone")
    assert tone.outcome == "more labels" and tone.agreement.mean != 0
    assert tone.more_groups_as_seen is None or tone.more_groups_as_seen > tone.more_groups > 0
    test = TransportTest(mean=0.05, error=0.08, n=40, groups=40, effective_groups=40.0, freedom=39.0, margin=0.1, p=0.4)
    assert test.groups_needed(shift=0.05) == pytest.approx(4 * (test.groups_needed() or 0), rel=0.01), (
        "half the room, four times the groups"
    )
    assert test.groups_needed(shift=0.1) is None, "no number shows a difference of the margin to be small"


def test_another_language_is_served_by_the_only_certified_one(certificate: Certificate, made: Callable[..., Recording]) -> None:
    source = made("czech", prompts=600, seed=5, language="cs")
    found = extend(certificate, source)
    assert found.outcome == "extended" and {target.from_language for target in found.targets} == {"ja"}
    extended = with_extensions(certificate, found, TODAY)
    with pytest.raises(StaleCertificate, match="nothing on cs/tone"):
        certificate.apply([1] * 40, language="cs", metric="tone", judge="model/one")
    served: Any = extended.apply([1, 2] * 40, language="cs", metric="tone", judge="model/one")
    own: Any = extended.apply([1, 2] * 40, language="ja", metric="tone", judge="model/one")
    assert served.estimate == own.estimate and served.texts is None and "extended from ja" in served.texts_reason
    with pytest.raises(UseForbidden, match="neither thresholds of acceptance"):
        extended.apply([1], language="cs", metric="tone", judge="model/one", confidence=[1.0])
    with pytest.raises(UsageError, match="no numbers on tone in 'de'"):
        extend(certificate, source, options=ExtendOptions(from_language="de"))


def test_each_value_of_a_key_is_a_target_and_many_targets_cost_power(certificate: Certificate, made: Callable[..., Recording]) -> None:
    source = made("systems", prompts=500, seed=5)
    found = extend(certificate, source, options=ExtendOptions(by=("system",)))
    assert [(target.metric, target.where["system"]) for target in found.targets if target.metric == "tone"] == [
        ("tone", "a"),
        ("tone", "b"),
    ]
    raw = max(target.agreement.p for target in found.targets if target.agreement and target.residual)
    assert max(target.q or 0 for target in found.targets) >= raw


def test_scores_that_no_labelled_text_had_are_refused(certificate: Certificate, made: Callable[..., Recording]) -> None:
    [errors, tone] = certificate.cells
    counts = np.array(tone.confusion)
    counts[:, 2] = 0
    narrow = msgspec.structs.replace(tone, confusion=tuple(tuple(row) for row in counts.tolist()))
    seen = msgspec.structs.replace(certificate, cells=(errors, narrow))
    target = of(extend(seen, made("wider", prompts=100, seed=5)), "tone")
    assert target.outcome == "refused" and "no certified text with a label had: 2 (" in target.reason
    assert target.residual is None and target.q is None


def test_scores_on_an_interval_have_a_range(tmp_path: Path) -> None:
    def folder(name: str, scores: list[int]) -> Recording:
        path = tmp_path / name
        rng = np.random.default_rng(len(scores))
        said = [max(1, score - int(rng.random() < 0.3)) for score in scores]
        items = [{"item_id": f"{name}{n}", "language": "ja", "task": "chat", "output": f"文{n}。"} for n in range(len(scores))]
        labels = [
            {"item_id": f"{name}{n}", "annotator_id": f"p{who}", "metric": "m", "score": score if rng.random() < 0.8 else said[n]}
            for n, score in enumerate(scores)
            for who in range(2)
        ]
        judgments = [{"item_id": f"{name}{n}", "judge": "j", "metric": "m", "score": score} for n, score in enumerate(said)]
        for table, rows in (("items", items), ("labels", labels), ("judgments", judgments)):
            write_rows(path / f"{table}.jsonl", rows)
        toml = (
            f'id = "{name}"\nannotators = "persistent"\nsampling = "random"\n[metrics.m]\nkind = "interval"\nmin = 1\nmax = 9\nbest = 9\n'
        )
        (path / "data.toml").write_text(toml)
        return recording(path)

    held = certify(folder("a", [2, 3, 4, 6] * 60), MeasureOptions())
    assert held.allowed, held.cells
    inside = extend(held, folder("b", [2, 3, 5, 6] * 50)).targets[0]
    assert inside.residual is not None and "no certified text" not in inside.reason, "5 lies between scores that were seen"
    outside = extend(held, folder("c", [2, 3, 4, 9] * 50)).targets[0]
    assert outside.outcome == "refused" and "no certified text with a label had: 8 (" in outside.reason


def test_what_is_refused_before_any_test(certificate: Certificate, made: Callable[..., Recording]) -> None:
    forbidden = msgspec.structs.replace(
        certificate, cells=tuple(msgspec.structs.replace(c, verdict="do not use") for c in certificate.cells)
    )
    source = made("forbidden", prompts=60, seed=5)
    assert {target.outcome for target in extend(forbidden, source).targets} == {"refused"}
    with pytest.raises(StaleCertificate, match="the judge 'model/one' is not in"):
        extend(certificate, made("foreign", prompts=60, judge="model/two"))
    with pytest.raises(UsageError, match="random sample"):
        extend(certificate, made("chosen", prompts=60, sampling="unknown"))
    with pytest.raises(UsageError, match="margin is 1"):
        ExtendOptions(margin=1.0)


def test_the_certified_texts_are_no_probe(certificate: Certificate, made: Callable[..., Recording]) -> None:
    with pytest.raises(UsageError, match="holds the texts and labels that the certificate was made from"):
        extend(certificate, made("again", prompts=500))


def test_the_certified_agreement_has_an_error_over_groups(certificate: Certificate, made: Callable[..., Recording]) -> None:
    for cell in certificate.cells:
        assert cell.agreement_error is not None and cell.agreement_error < (0.25 / cell.groups) ** 0.5, "texts of one group help a little"
    without = msgspec.structs.replace(
        certificate, cells=tuple(msgspec.structs.replace(cell, agreement_error=None) for cell in certificate.cells)
    )
    source = made("compared", prompts=300, seed=5)
    here, before = (of(extend(each, source), "tone").agreement.interval for each in (certificate, without))
    assert before[0] < here[0] < here[1] < before[1], "where it is undefined, the error is that of as many texts as groups"
    assert any("agreement_error" in reason for reason in check_certificate(without.sealed(), made("again", prompts=500)).stale)


def test_a_large_shift_is_refused_below_the_floor(certificate: Certificate, made: Callable[..., Recording]) -> None:
    found = extend(certificate, made("far", prompts=30, seed=8, noise=1.0))
    assert all(8 < target.effective_groups < 20 for target in found.targets)
    assert "refused" in {target.outcome for target in found.targets}


def test_a_watched_certificate_expires(certificate: Certificate) -> None:
    watch = CertifiedWatch(since=TODAY, checked_to=TODAY + timedelta(days=10), max_age=90)
    held = msgspec.structs.replace(certificate, watch=watch)
    scores = {"scores": [1, 2] * 20, "language": "ja", "metric": "tone", "judge": "model/one"}
    on_time, unwatched = held.apply(**scores, today=TODAY + timedelta(days=100)), certificate.apply(**scores)  # type: ignore[arg-type]
    assert on_time.estimate == unwatched.estimate  # type: ignore[union-attr]
    with pytest.raises(StaleCertificate, match="more than 90 days ago"):
        held.apply(**scores, today=TODAY + timedelta(days=101))  # type: ignore[arg-type]
    ended = msgspec.structs.replace(certificate, watch=msgspec.structs.replace(watch, ended="the judge changed (2026-05-07)"))
    with pytest.raises(StaleCertificate, match="its watch found: the judge changed"):
        ended.apply(**scores, today=TODAY + timedelta(days=11))  # type: ignore[arg-type]
    assert check_certificate(ended.sealed(), None, today=TODAY).stale == ("its watch found: the judge changed (2026-05-07)",)
    with pytest.raises(StaleCertificate, match="the clock is wrong"):
        held.apply(**scores, today=TODAY + timedelta(days=9))  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="maximal age"):
        CertifiedWatch(since=TODAY, checked_to=TODAY - timedelta(days=1), max_age=3)
