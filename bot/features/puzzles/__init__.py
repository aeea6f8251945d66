"""Endings to solve, and how well people solve them."""
