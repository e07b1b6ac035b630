"""The results folder's store: calls, attempts and raw replies of all runs made there, in one SQLite file.

A reply is committed before the next call goes out in its place, so killing the process loses nothing that was received and repeats at
most what was in flight. Everything else in a results folder is derived from here and may be deleted.
"""

from harness.store.attempts import Attempt
from harness.store.batches import Batch
from harness.store.schema import SCHEMA_VERSION
from harness.store.store import Store

__all__ = ["SCHEMA_VERSION", "Attempt", "Batch", "Store"]
