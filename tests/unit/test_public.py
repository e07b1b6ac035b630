"""The public face: these names and no others, and importing the package costs nothing."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

import harness
from harness import api, asking_options, content, data, errors, sources
from harness.annotate.labelling_options import LabelCheckOptions
from harness.correction import cascade_certificate, certificate
from harness.correction.correction_options import AcceptOptions, CalibrateOptions, CertifyOptions, CorrectOptions, ProbabilityOptions
from harness.data import frames
from harness.decide.options import CompareOptions, DecisionOptions
from harness.exchange.labels.table_options import TableOptions
from harness.gate.policy import GateOptions
from harness.improvement.ask_candidates import Asking
from harness.improvement.candidates import AskedCandidate
from harness.improvement.improvement_options import ExplainOptions, ImproveOptions
from harness.runs import runner, specification

PUBLIC = {
    "AcceptOptions": AcceptOptions,
    "AskedCandidate": AskedCandidate,
    "Asking": Asking,
    "CalibrateOptions": CalibrateOptions,
    "CertifyOptions": CertifyOptions,
    "CompareOptions": CompareOptions,
    "CorrectOptions": CorrectOptions,
    "Dataset": data.Dataset,
    "DecisionOptions": DecisionOptions,
    "ExplainOptions": ExplainOptions,
    "GateOptions": GateOptions,
    "GenerateSpec": specification.GenerateSpec,
    "HarnessError": errors.HarnessError,
    "ImproveOptions": ImproveOptions,
    "LabelCheckOptions": LabelCheckOptions,
    "Library": content.Library,
    "ProbabilityOptions": ProbabilityOptions,
    "RunResult": runner.RunResult,
    "RunSpec": runner.RunSpec,
    "Settings": asking_options.Settings,
    "TableOptions": TableOptions,
    "accept": api.accept,
    "atlas": api.atlas,
    "calibrate": api.calibrate,
    "cascade_certificate": cascade_certificate,
    "certificate": certificate,
    "certify": api.certify,
    "check_gate": api.check_gate,
    "check_watch": api.check_watch,
    "compare": api.compare,
    "correct": api.correct,
    "datasets": api.datasets,
    "explain": api.explain,
    "frame_of": frames.frame_of,
    "from_frames": frames.from_frames,
    "generate": api.generate,
    "improve": api.improve,
    "labels_check": api.labels_check,
    "load": sources.load,
    "probabilities": api.probabilities,
    "report": api.report,
    "run": api.run,
    "write_page": api.write_page,
}
HEAVY = [
    "pandas",
    "guidance",
    "openai",
    "numpy",
    "scipy",
    "statsmodels",
    "pyarrow",
    "datasets",
    "langcodes",
    "msgspec",
    "rich",
    "xllamacpp",
    "icu4py",
    "openpyxl",
    "jinja2",
    "matplotlib",
    "py3langid",
]


def test_the_public_names_are_these() -> None:
    assert harness.__all__ == sorted(harness.__all__) == dir(harness) == list(PUBLIC)


@pytest.mark.parametrize("name", PUBLIC)
def test_a_public_name_is_what_it_should_be_and_is_explained(name: str) -> None:
    assert getattr(harness, name) is PUBLIC[name]
    assert PUBLIC[name].__doc__


def test_any_other_name_is_refused_with_those_there_are() -> None:
    with pytest.raises(
        AttributeError,
        match=r"module .harness. has no public name .compar.; choose from: AcceptOptions, AskedCandidate, Asking",
    ):
        _ = harness.compar


def test_modules_can_still_be_imported_by_name() -> None:
    from harness import content as imported

    assert imported is content


def loaded_by(code: str) -> list[str]:
    """Those of HEAVY that are loaded once `code` has run in a process of its own."""
    code = f"import sys\n{code}\nprint(*(name for name in {HEAVY!r} if name in sys.modules))"
    return subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.splitlines()[-1].split()


def test_importing_the_package_loads_nothing() -> None:
    assert loaded_by("import harness") == []


@pytest.mark.parametrize(
    ("code", "needed"),
    [
        ("from harness import RunSpec", {"msgspec", "langcodes", "numpy"}),
        ("from harness import Library; Library().task('summarize')", {"msgspec", "langcodes"}),
        ("from harness.judges import kinds; kinds()", {"msgspec", "langcodes"}),
    ],
)
def test_what_is_loaded_is_what_is_needed(code: str, needed: set[str]) -> None:
    assert set(loaded_by(code)) <= needed


def test_listing_languages_loads_nothing_heavy() -> None:
    code = "from harness.cli import main\nassert main(['list', 'languages']) == 0"
    assert not set(loaded_by(code)) & {"pandas", "numpy", "guidance", "openai", "statsmodels", "pyarrow", "datasets", "xllamacpp"}


_STATE = """
import logging, os
def state(): return dict(os.environ), os.getcwd(), logging.root.level, list(logging.root.handlers)
before = state()
import harness, harness.api, harness.cli
assert state() == before
"""


def test_importing_changes_nothing_in_the_process() -> None:
    loaded_by(_STATE)


def test_a_dataset_card_that_nobody_knows_is_refused_wherever_data_are_read(tmp_path: Path) -> None:
    (tmp_path / "items.jsonl").write_text("", encoding="utf-8")
    for read in (
        lambda: harness.load(tmp_path, card="pariska"),
        lambda: harness.compare(tmp_path, CompareOptions(card="pariska")),
        lambda: harness.labels_check(tmp_path, LabelCheckOptions(card="pariska")),
    ):
        with pytest.raises(errors.UsageError, match=r"no dataset card 'pariska'. Did you mean 'pariksha'"):
            read()
