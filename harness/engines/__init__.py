"""How calls are asked: `local` on this machine, `ray` from a cluster. All engines take the same work and write to the same store."""

from harness.engines.budget import Limits
from harness.engines.choice import ask_all, check_engine
from harness.engines.work import Cluster, Engine, Opening, Outcome, Progress, Settings, Work

__all__ = ["Cluster", "Engine", "Limits", "Opening", "Outcome", "Progress", "Settings", "Work", "ask_all", "check_engine"]
