"""Finished games: records, ratings and analyses."""
