"""Leaderboards, statistics and the honours of each month."""
