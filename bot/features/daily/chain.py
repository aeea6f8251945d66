"""The secrets of the days: a hash chain, so that nobody can choose a day's cards once its end is known.

One number is drawn at random, and hashed with SHA-256 as often as the chain has days, and once more. What comes out
last is the *end*, which is told to everybody beforehand. The days use the numbers backwards: the first day's secret is
the one whose hash is the end, and each later day's hash is the secret of the day before. A deal's commitment is the
hash of its secret (`engine.shuffle`): so the seal that is shown before a day's first card is the secret of the day
before, which is told by then, and hashing it once for each day gone leads to the end. Whoever can read the store knows
all days to come; nobody can change one.
"""

from dataclasses import dataclass
from datetime import date, timedelta
from hashlib import sha256

from engine.shuffle import SECRET_BYTES

DAYS = 3653
"""How many days a chain is good for: ten years."""


class NoSuchDay(ValueError):
    """A day before the chain's first, or after its last."""


@dataclass(frozen=True, slots=True)
class Chain:
    """``root`` is the number that was drawn at random, ``first`` the day whose secret hashes to the end."""

    root: bytes
    first: date

    def __post_init__(self) -> None:
        if len(self.root) != SECRET_BYTES:
            raise ValueError(f"the root of a chain has {SECRET_BYTES} bytes")

    @property
    def end(self) -> str:
        """What is told beforehand, in hex."""
        return _hash_repeatedly(self.root, DAYS).hex()

    @property
    def last(self) -> date:
        return self.first + timedelta(days=DAYS - 1)

    def secret(self, day: date) -> bytes:
        """A day's secret; NoSuchDay for one that the chain does not have."""
        number = (day - self.first).days
        if not 0 <= number < DAYS:
            raise NoSuchDay(f"the days run from {self.first} to {self.last}")
        return _hash_repeatedly(self.root, DAYS - 1 - number)

    def to_text(self) -> str:
        return f"{self.first.isoformat()} {self.root.hex()}"

    @classmethod
    def parse(cls, text: str) -> "Chain":
        """From what `to_text` wrote; ValueError for anything else."""
        first, _, root = text.partition(" ")
        return cls(bytes.fromhex(root), date.fromisoformat(first))


def days_to_end(commitment: str, end: str) -> int | None:
    """How many days after a chain's first a deal with this commitment is; None if it is of no day of that chain.

    Both are in hex; ValueError for what is not 32 bytes of it.
    """
    hashed, wanted = bytes.fromhex(commitment), bytes.fromhex(end)
    if len(hashed) != SECRET_BYTES or len(wanted) != SECRET_BYTES:
        raise ValueError("a seal has 64 hexadecimal digits")
    for number in range(DAYS):
        if hashed == wanted:
            return number
        hashed = sha256(hashed).digest()
    return None


def _hash_repeatedly(number: bytes, times: int) -> bytes:
    for _ in range(times):
        number = sha256(number).digest()
    return number
