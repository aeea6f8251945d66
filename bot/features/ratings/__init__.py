"""Leaderboards, statistics and monthly honours."""
