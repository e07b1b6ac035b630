"""Leaderboards: runs become submissions of raw replies, and every number of a board is made again from them."""

from harness.boards.card import JudgeCard, Verified, read_card, write_card
from harness.boards.scoring import Entry, score

__all__ = ["Entry", "JudgeCard", "Verified", "read_card", "score", "write_card"]
