"""`buongioco bench presses --adapter discord`."""

from adapters.discord.bench.measure import run

__all__ = ["run"]
