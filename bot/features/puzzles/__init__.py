"""Endings to solve: a package of them, and how well people solve them."""
