"""The commands of leaderboards."""
