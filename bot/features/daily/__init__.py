"""The deal of the day: all players get the same cards once, against the same robot."""
