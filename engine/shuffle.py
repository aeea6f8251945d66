"""Provably fair shuffles.

Every random decision in a deal is a pure function of one secret of 32 bytes. Players see its SHA-256, the commitment,
before the first card, and the secret after the last. If an opponent of the dealer cuts, the pack follows from the
secret and the cut. `docs/fairness.md` has the algorithm and test vectors.
"""

from collections.abc import Iterator, Sequence
from hashlib import sha256
from itertools import chain, count
from typing import NamedTuple

from .cards import Pack

SECRET_BYTES = 32
CUT_PATTERN = "^[0-9a-f]{1,64}$"

# For each limit, the number of byte values to accept so that all numbers below the limit are equally likely.
FAIR_BYTES = (0, *[256 - 256 % limit for limit in range(1, 257)])


class Cut(NamedTuple):
    """A player's contribution to a pack, made after the commitment is shown. ``text`` matches `CUT_PATTERN`."""

    text: str
    seat: int


def commitment(secret: bytes) -> str:
    """Return the SHA-256 of the secret's bytes, in hex."""
    return sha256(secret).hexdigest()


def shuffle_pack(pack: Pack, secret: bytes, cut: Cut | None = None) -> tuple[str, ...]:
    """Return the pack's codes in the order that the secret and the cut decide; the first is dealt first."""
    mixed = sha256(secret + b"cut:" + cut.text.encode()).digest() if cut else secret
    return draw_cards(pack.new, pack.size, mixed, "shuffle")


def draw_cards(cards: Sequence[str], count: int, secret: bytes, purpose: str) -> tuple[str, ...]:
    """Draw ``count`` random cards in order: an unbiased Fisher-Yates shuffle from the front."""
    pool = list(cards)
    index, pool_size = 0, len(pool)
    last = max(pool_size - count, 1)
    for byte in _random_bytes(secret, purpose):
        if byte < FAIR_BYTES[pool_size]:
            swap_index = index + byte % pool_size
            pool[index], pool[swap_index] = pool[swap_index], pool[index]
            index += 1
            pool_size -= 1
            if pool_size <= last:
                break
    return tuple(pool[:count])


def first_dealer(seats: int, secret: bytes) -> int:
    """Return the first dealer's seat in a game; ``secret`` is that of the first deal."""
    return next(byte for byte in _random_bytes(secret, "dealer") if byte < FAIR_BYTES[seats]) % seats


def _random_bytes(secret: bytes, purpose: str) -> Iterator[int]:
    """Yield the bytes of SHA-256(secret, purpose, counter) for counter 0, 1, 2, … as four bytes, big-endian."""
    head = secret + purpose.encode()
    blocks = (sha256(head + counter.to_bytes(4, "big")).digest() for counter in count())
    return chain.from_iterable(blocks)
