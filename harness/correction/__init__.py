"""Uses of a judge's scores with labels beside them: corrected means, accepted scores, certificates, samples, labels needed.

The public modules are imported on first use, because the options of commands stand in this package too.
"""

from __future__ import annotations

from importlib import import_module
from types import ModuleType

__all__ = ["cascade_certificate", "certificate"]


def __getattr__(name: str) -> ModuleType:
    if name not in __all__:
        raise AttributeError(f"module 'harness.correction' has no name '{name}'")
    return import_module(f"harness.correction.{name}")
