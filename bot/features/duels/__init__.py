"""Duels: two players play the same five deals, each alone with robots, and compare them."""
