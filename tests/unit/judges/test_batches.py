"""A batch as its provider describes it, read for what it is worth."""

from __future__ import annotations

import msgspec
import pytest

from harness.judges.batches import Batch, Counts


@pytest.mark.parametrize(
    ("batch", "ended"),
    [
        (Batch("b", "validating"), False),
        (Batch("b", "in_progress", request_counts=Counts(9, 9, 0)), False),
        (Batch("b", "finalizing"), False),
        (Batch("b", "cancelling"), False),
        (Batch("b", "something new"), False),
        (Batch("b", "completed", output_file_id="f"), True),
        (Batch("b", "completed", error_file_id="f", request_counts=Counts(9, 0, 9)), True),
        (Batch("b", "completed", request_counts=Counts(9, 9, 0)), False),  # its results are not named yet
        (Batch("b", "completed"), True),
        (Batch("b", "expired"), True),
        (Batch("b", "cancelled", request_counts=Counts(9, 3, 0)), True),
        (Batch("b", "failed"), True),
    ],
)
def test_a_batch_has_ended_when_nothing_more_happens_to_it(batch: Batch, ended: bool) -> None:
    assert batch.ended is ended


def test_what_a_provider_leaves_out_is_nothing() -> None:
    batch = msgspec.json.decode(
        b'{"id": "b", "status": "failed", "errors": null, "request_counts": null, "metadata": null, "new": 1}', type=Batch
    )
    assert (batch.counts, batch.problems, batch.note("x")) == (Counts(), (), "")
