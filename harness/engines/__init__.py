"""Engines: `local` asks from this machine, `batch` by a provider's files, `ray` from a cluster.

All engines take the same work and write to the same store. `choice` opens an engine by name; `work` says what it is given and returns.
"""

from harness.engines.choice import ask_all, check_engine
from harness.engines.work import Engine, JudgeOpening, JudgeWork, Outcome, Progress

__all__ = ["Engine", "JudgeOpening", "JudgeWork", "Outcome", "Progress", "ask_all", "check_engine"]
