"""How batches are at the provider, for who only wants to know."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable

from harness.errors import JudgeError
from harness.judges.base import NoReply
from harness.judges.batches import Batch, Batching


def look_at(judge: Batching, batch_ids: Iterable[str]) -> dict[str, Batch | str]:
    """Each batch as it is now, or why that cannot be said. Raises JudgeError for a judge that cannot ask."""
    return asyncio.run(_look_at(judge, batch_ids))


async def _look_at(judge: Batching, batch_ids: Iterable[str]) -> dict[str, Batch | str]:
    provider = judge.batches()
    found: dict[str, Batch | str] = {}
    try:
        for batch_id in batch_ids:
            try:
                found[batch_id] = await provider.look(batch_id)
            except (NoReply, JudgeError) as err:
                found[batch_id] = str(err)
    finally:
        await provider.close()
    return found
