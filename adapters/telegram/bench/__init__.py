"""`buongioco bench presses --adapter telegram`."""

from adapters.telegram.bench.measure import run

__all__ = ["run"]
