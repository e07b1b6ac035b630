"""Judges: who answers. A protocol, and its kinds."""

from harness.judges.base import Judge, JudgeOptions, NoReply
from harness.judges.registry import kinds, open_judge

__all__ = ["Judge", "JudgeOptions", "NoReply", "kinds", "open_judge"]
