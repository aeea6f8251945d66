"""How well a finished game was played."""
