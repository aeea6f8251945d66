"""Matches of two groups: each member plays a duel against a member of the other group, and the groups sum them up."""
