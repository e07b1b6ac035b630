"""Judges. `judge_protocol` holds the protocol, `identity` the traits of a judge; each kind of judge has a module of its own."""

from harness.judges.identity import JudgeTraits, note_of, opening_name, traits_of
from harness.judges.judge_protocol import Environment, Judge, JudgeOptions, NoReply
from harness.judges.panel import Panel
from harness.judges.registry import kinds, open_judge

__all__ = [
    "Environment",
    "Judge",
    "JudgeOptions",
    "JudgeTraits",
    "NoReply",
    "Panel",
    "kinds",
    "note_of",
    "open_judge",
    "opening_name",
    "traits_of",
]
