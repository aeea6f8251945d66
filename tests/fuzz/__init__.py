"""Nonsense from strangers and players, by the thousand: all of it is answered, and changes nothing."""
