"""Leaderboards: submissions hold raw replies, and every number of a board is computed again from them."""

from harness.boards.card import JudgeCard, VerificationRecord, read_card, write_card
from harness.boards.examined_submission import ScoredSubmission, score

__all__ = ["JudgeCard", "ScoredSubmission", "VerificationRecord", "read_card", "score", "write_card"]
