"""How calls are asked: `local` on this machine. All engines take the same work and write to the same store."""

from harness.engines.budget import Limits
from harness.engines.local import ask_all
from harness.engines.work import Outcome, Progress, Settings, Work

__all__ = ["Limits", "Outcome", "Progress", "Settings", "Work", "ask_all"]
