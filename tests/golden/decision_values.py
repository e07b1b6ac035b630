"""How a number that we computed is compared with one that others computed."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np


def assert_equal(found: Any, expected: Any, tolerance: float, where: str = "value") -> None:
    """Compare what `found` holds with the same places of `expected`, which may hold more.

    Numbers agree within `tolerance`, relative or absolute, whichever is wider. None in `expected` means undefined: None, NaN or a sequence
    of them. Of two mappings the common keys are compared, and there must be one; sequences must have one length.

    Raises:
        AssertionError: with the place of the first difference.

    >>> assert_equal({"p": [0.5, float("nan")]}, {"p": [0.5000001, None], "more": 1}, 1e-6)
    """
    if isinstance(found, np.ndarray):
        found = found.tolist()
    if isinstance(expected, Mapping):
        assert isinstance(found, Mapping), f"{where}: expected a mapping, found {found!r}"
        common = [key for key in found if key in expected]
        assert common, f"{where}: nothing in common, {sorted(found)} and {sorted(expected)}"
        for key in common:
            assert_equal(found[key], expected[key], tolerance, f"{where}.{key}")
    elif isinstance(expected, list | tuple):
        assert isinstance(found, list | tuple), f"{where}: expected a sequence, found {found!r}"
        assert len(found) == len(expected), f"{where}: expected {len(expected)} values, found {len(found)}"
        for place, (one, other) in enumerate(zip(found, expected, strict=True)):
            assert_equal(one, other, tolerance, f"{where}[{place}]")
    elif expected is None:
        values = found if isinstance(found, list | tuple) else [found]
        undefined = [one is None or (isinstance(one, float) and math.isnan(one)) for one in values]
        assert undefined and all(undefined), f"{where}: expected undefined, found {found!r}"
    elif isinstance(expected, bool | str):
        assert found == expected, f"{where}: expected {expected!r}, found {found!r}"
    else:
        assert isinstance(found, int | float | np.number), f"{where}: expected {expected!r}, found {found!r}"
        apart = abs(float(found) - expected)
        assert apart <= tolerance * max(1.0, abs(expected)), f"{where}: expected {expected!r}, found {found!r}"
