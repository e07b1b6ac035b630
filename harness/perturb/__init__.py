"""Perturbations: pure functions that change the output texts of an item, as tests of a judge's sensitivity.

docs/studies.md lists them.
"""

from harness.perturb.kind import Chance, Change, Doses, Kind
from harness.perturb.registry import Perturbation, Perturbed, apply, parse_perturbation, registered
from harness.perturb.segments import SEGMENTERS, Words

__all__ = [
    "SEGMENTERS",
    "Chance",
    "Change",
    "Doses",
    "Kind",
    "Perturbation",
    "Perturbed",
    "Words",
    "apply",
    "parse_perturbation",
    "registered",
]
