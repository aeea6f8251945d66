"""The hash chain of the daily secrets. Once its end is published, no day's cards can be chosen.

The root is a random number. Hashing it with SHA-256 once for each day of the chain gives the *end*, which is published
in advance. Days use the hashes backwards. The hash of the first day's secret is the end, and the hash of each later
secret is the secret of the day before. A deal's commitment is the hash of its secret (`engine.shuffle`). So the seal
shown before a day's first card is the secret of the day before, which is public by then. Hashing the seal once for each
past day leads to the end. A person who can read the store knows all future days, but cannot change one.
"""

from dataclasses import dataclass
from datetime import date, timedelta
from hashlib import sha256

from engine.shuffle import SECRET_BYTES

DAYS = 3653  # length of a chain: ten years


class NoSuchDay(ValueError):
    """A day outside the chain."""


@dataclass(frozen=True, slots=True)
class Chain:
    root: bytes  # the random number
    first: date  # the hash of its secret is the end

    def __post_init__(self) -> None:
        if len(self.root) != SECRET_BYTES:
            raise ValueError(f"the root of a chain has {SECRET_BYTES} bytes")

    @property
    def end(self) -> str:
        """The value published in advance, in hex."""
        return _hash_repeatedly(self.root, DAYS).hex()

    @property
    def last(self) -> date:
        return self.first + timedelta(days=DAYS - 1)

    def secret(self, day: date) -> bytes:
        """Return a day's secret, or raise NoSuchDay."""
        number = (day - self.first).days
        if not 0 <= number < DAYS:
            raise NoSuchDay(f"the chain has only the days from {self.first} to {self.last}")
        return _hash_repeatedly(self.root, DAYS - 1 - number)

    def to_text(self) -> str:
        return f"{self.first.isoformat()} {self.root.hex()}"

    @classmethod
    def parse(cls, text: str) -> "Chain":
        """Parse the output of `to_text`, or raise ValueError."""
        first_day, _, root = text.partition(" ")
        return cls(bytes.fromhex(root), date.fromisoformat(first_day))


def days_to_end(commitment: str, end: str) -> int | None:
    """Return the number of days from a chain's first day to the deal with this commitment.

    Return None if the commitment is not in the chain. Both arguments are 32 bytes in hex, otherwise raise ValueError.
    """
    current, end_hash = bytes.fromhex(commitment), bytes.fromhex(end)
    if len(current) != SECRET_BYTES or len(end_hash) != SECRET_BYTES:
        raise ValueError("a seal has 64 hexadecimal digits")
    for number in range(DAYS):
        if current == end_hash:
            return number
        current = sha256(current).digest()
    return None


def _hash_repeatedly(number: bytes, times: int) -> bytes:
    for _ in range(times):
        number = sha256(number).digest()
    return number
