"""Robots: their names, their processes, and games between them."""
