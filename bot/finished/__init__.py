"""Finished games: their records, the ratings that follow from them, and who is best."""
