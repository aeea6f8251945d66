"""Robots: their names, the processes in which they think, and games between them."""
