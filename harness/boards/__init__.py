"""Leaderboards: submissions hold raw replies, and every number of a board is computed again from them."""
