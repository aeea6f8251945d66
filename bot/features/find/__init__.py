"""Opponents for people who look for one: who is matched with whom, and where they wait."""
