"""Options: one object for a flag, the Python API and the steps of the work."""

from __future__ import annotations

import pytest

from harness.correction.correction_options import AcceptOptions, CalibrateOptions, CertifyOptions, CorrectOptions, SetOptions
from harness.decide.options import CompareOptions, DecisionOptions
from harness.errors import UsageError
from harness.measure.options import MeasureOptions, key_and_values, restrictions
from harness.options import key_and_value, part_of


def test_restrictions_of_one_name_are_alternatives() -> None:
    assert restrictions(map(key_and_values, ["a=1,2", "b=x=y", "a=3"])) == {"a": ("1", "2", "3"), "b": ("x=y",)}
    assert key_and_value("", "judge=openai/a=b") == ("judge", "openai/a=b")
    with pytest.raises(UsageError, match="such as an example"):
        key_and_value("an example", "judge")


def test_a_step_takes_what_its_options_inherit_from_the_same_class() -> None:
    options = CompareOptions(margin=0.05, languages=("ja",), by=("language",), seed=3)
    assert part_of(options, DecisionOptions) == DecisionOptions(margin=0.05)
    assert part_of(options, MeasureOptions) == MeasureOptions(languages=("ja",), by=("language",), seed=3)
    certify = CertifyOptions(alpha=0.01, alpha_risk=0.2, level=0.8, covariate="length", where={"metric": ("tone",)})
    assert part_of(certify, AcceptOptions) == AcceptOptions(alpha_risk=0.2, where={"metric": ("tone",)})
    assert part_of(certify, CalibrateOptions) == CalibrateOptions(level=0.8, covariate="length", where={"metric": ("tone",)})
    assert part_of(certify, DecisionOptions) == DecisionOptions(alpha=0.01)


def test_fields_that_only_have_the_same_name_are_not_passed_on() -> None:
    """`by` of corrected numbers groups items, `level` of label sets is a share."""
    assert part_of(CorrectOptions(by=("system",)), MeasureOptions) == MeasureOptions()
    assert part_of(CalibrateOptions(level=0.8, seed=7), MeasureOptions) == MeasureOptions()
    assert part_of(CalibrateOptions(level=0.8, seed=7), SetOptions) == SetOptions(level=0.8, seed=7)


def test_languages_are_restrictions_by_their_canonical_tags() -> None:
    for options in (MeasureOptions(languages=("jpn",)), MeasureOptions(where={"language": ("jpn",)})):
        assert options.restrictions == {"language": ("ja",)}
    assert list(MeasureOptions(languages=("ja",), where={"metric": ("tone",)}).restrictions) == ["language", "metric"]
    with pytest.raises(UsageError, match="named twice"):
        MeasureOptions(languages=("ja",), where={"language": ("cs",)})


def test_every_base_class_checks_its_fields() -> None:
    for wrong in ({"margin": 2.0}, {"alpha_risk": 0.0}, {"level": 0.2}, {"annotators": "two"}):
        with pytest.raises(UsageError):
            CertifyOptions(**wrong)  # type: ignore[arg-type]
