"""Tournaments: who plays whom, what came of it, and who is ahead."""
