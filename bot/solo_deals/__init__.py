"""Deals that each person plays alone with robots, so that people can compare their play of the same cards."""
