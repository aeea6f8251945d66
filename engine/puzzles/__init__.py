"""Endings to solve: positions with every card open, in which one card is better than all others."""
