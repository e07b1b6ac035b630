"""A batch as its provider describes it, with everything optional but its id and status."""

from __future__ import annotations

import msgspec
import pytest

from harness.judges.batches import ProviderBatch, RequestCounts


@pytest.mark.parametrize(
    ("batch", "ended"),
    [
        (ProviderBatch("b", "validating"), False),
        (ProviderBatch("b", "in_progress", request_counts=RequestCounts(9, 9, 0)), False),
        (ProviderBatch("b", "finalizing"), False),
        (ProviderBatch("b", "cancelling"), False),
        (ProviderBatch("b", "something new"), False),
        (ProviderBatch("b", "completed", output_file_id="f"), True),
        (ProviderBatch("b", "completed", error_file_id="f", request_counts=RequestCounts(9, 0, 9)), True),
        (ProviderBatch("b", "completed", request_counts=RequestCounts(9, 9, 0)), False),  # its results are not named yet
        (ProviderBatch("b", "completed"), True),
        (ProviderBatch("b", "expired"), True),
        (ProviderBatch("b", "cancelled", request_counts=RequestCounts(9, 3, 0)), True),
        (ProviderBatch("b", "failed"), True),
    ],
)
def test_a_batch_has_ended_when_nothing_more_happens_to_it(batch: ProviderBatch, ended: bool) -> None:
    assert batch.ended is ended


def test_what_a_provider_leaves_out_is_nothing() -> None:
    batch = msgspec.json.decode(
        b'{"id": "b", "status": "failed", "errors": null, "request_counts": null, "metadata": null, "new": 1}', type=ProviderBatch
    )
    assert (batch.counts, batch.problems, batch.metadata_value("x")) == (RequestCounts(), (), "")
