"""The codes by which people name tables, and what is remembered of who opened one."""

from hashlib import blake2b

CODE_LETTERS = "ABCDEFGHJKMNPQRSTUVWXYZ23456789"
"""Letters and digits that nobody mistakes for one another."""

CODE_LENGTH = 6
"""Letters of a new table's code. Tables opened by older releases have four."""


WATCH_LENGTH = 12


def table_code(seed: str, secret: bytes) -> str:
    """A code that follows from a seed, for those alone who know the secret."""
    return _letters(blake2b(seed.encode(), key=secret, digest_size=16).digest(), CODE_LENGTH)


def watch_letters(code: str, secret: bytes) -> str:
    """What stands behind a table's code in the link to watch it, for nobody to guess: 59 bits."""
    return _letters(blake2b(code.encode(), key=secret, person=b"watch", digest_size=16).digest(), WATCH_LENGTH)


def _letters(digest: bytes, count: int) -> str:
    number = int.from_bytes(digest)
    letters = []
    for _ in range(count):
        number, place = divmod(number, len(CODE_LETTERS))
        letters.append(CODE_LETTERS[place])
    return "".join(letters)


def mark_of(person: str) -> str:
    """What is remembered of who opened a table that was removed: enough to tell them from others, no more."""
    return blake2b(person.encode(), digest_size=6).hexdigest()
