"""How far two classes agree."""

from __future__ import annotations

import numpy as np
import pytest

from harness.stats.core.arrays import ScaleError
from harness.stats.core.tables import agreement_weights


def test_weights_follow_the_values_of_the_scale() -> None:
    assert agreement_weights(3, "linear", [0, 1, 4])[0].tolist() == [1.0, 0.75, 0.0]
    assert agreement_weights(3, "quadratic", [0, 1, 4])[1, 2] == pytest.approx(1 - 9 / 16)
    assert np.array_equal(agreement_weights(2, "linear"), np.eye(2))
    assert agreement_weights(1, "linear").tolist() == [[1.0]]


def test_unknown_weights() -> None:
    with pytest.raises(ScaleError, match="choose from: identity, linear, quadratic"):
        agreement_weights(3, "cubic")  # type: ignore[arg-type]
