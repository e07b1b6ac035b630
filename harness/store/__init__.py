"""The store of a results folder: calls, attempts and raw replies of all its runs, in one SQLite file.

A reply is committed before the next call takes its place. So a killed process loses no reply that was received, and at most the calls in
flight are asked again. Everything else in a results folder is derived from the store and may be deleted.
"""

from harness.store.database import SCHEMA_VERSION
from harness.store.store import Attempt, Store, StoredBatch

__all__ = ["SCHEMA_VERSION", "Attempt", "Store", "StoredBatch"]
