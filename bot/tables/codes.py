"""Codes of tables, and the mark of a removed table's opener."""

from hashlib import blake2b

CODE_LETTERS = "ABCDEFGHJKMNPQRSTUVWXYZ23456789"  # letters and digits that cannot be mistaken for each other
CODE_LENGTH = 6  # letters of a new table's code; tables of older releases have four
WATCH_LENGTH = 12  # letters after the code in a watch link


def table_code(seed: str, secret: bytes) -> str:
    """Derive a code from a seed. Without the secret it cannot be guessed."""
    return _letters(blake2b(seed.encode(), key=secret, digest_size=16).digest(), CODE_LENGTH)


def watch_letters(code: str, secret: bytes) -> str:
    """Return the letters after a table's code in its watch link: 59 bits that cannot be guessed."""
    return _letters(blake2b(code.encode(), key=secret, person=b"watch", digest_size=16).digest(), WATCH_LENGTH)


def _letters(digest: bytes, count: int) -> str:
    number = int.from_bytes(digest)
    letters = []
    for _ in range(count):
        number, place = divmod(number, len(CODE_LETTERS))
        letters.append(CODE_LETTERS[place])
    return "".join(letters)


def mark_of(person: str) -> str:
    """Return a digest of the opener of a removed table, just long enough to distinguish people."""
    return blake2b(person.encode(), digest_size=6).hexdigest()
