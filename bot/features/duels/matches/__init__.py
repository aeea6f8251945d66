"""Matches of two groups: members play duels against members of the other group, and the duels are summed up."""
