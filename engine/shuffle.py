"""Packs from secrets, so that nobody has to trust the dealer.

Everything that chance decides in a deal is a pure function of one secret of 32 bytes. Its SHA-256, the
commitment, is shown before the first card; the secret after the last. `docs/fairness.md` says the same for
strangers, with test vectors.
"""

from collections.abc import Iterator, Sequence
from hashlib import sha256
from itertools import chain, count

from engine.cards import Pack

SECRET_BYTES = 32

FAIR = (0, *[256 - 256 % limit for limit in range(1, 257)])
"""For a number below a limit, how many values of a byte may count, so that each number is equally likely."""


def commitment(secret: bytes) -> str:
    """The SHA-256 of the secret's bytes, in hex."""
    return sha256(secret).hexdigest()


def shuffled(pack: Pack, secret: bytes) -> tuple[str, ...]:
    """The pack's codes as the secret orders them; the first is dealt first."""
    return draw(pack.new, pack.size, secret, "shuffle")


def draw(cards: Sequence[str], count: int, secret: bytes, purpose: str) -> tuple[str, ...]:
    """``count`` of the cards, at random and in the order drawn: an unbiased Fisher-Yates from the front."""
    pool = list(cards)
    place, left = 0, len(pool)
    last = max(left - count, 1)
    for byte in _stream(secret, purpose):
        if byte < FAIR[left]:
            other = place + byte % left
            pool[place], pool[other] = pool[other], pool[place]
            place += 1
            left -= 1
            if left <= last:
                break
    return tuple(pool[:count])


def first_dealer(seats: int, secret: bytes) -> int:
    """The seat that deals first in a game whose first deal has this secret."""
    return _below(seats, _stream(secret, "dealer"))


def _stream(secret: bytes, purpose: str) -> Iterator[int]:
    """The bytes of SHA-256(secret, purpose, counter) for counter 0, 1, 2, … as four bytes, big end first."""
    head = secret + purpose.encode()
    blocks = (sha256(head + counter.to_bytes(4, "big")).digest() for counter in count())
    return chain.from_iterable(blocks)


def _below(limit: int, stream: Iterator[int]) -> int:
    """A number from 0 to limit - 1, each equally likely; a byte that would favour the low ones is passed over."""
    return next(byte for byte in stream if byte < FAIR[limit]) % limit
