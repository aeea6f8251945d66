"""What people are called in the addresses of their pages: an id that tells nobody who they are, nor on which platform.

It holds the person's own id, sealed: its first bytes follow from that by the store's secret, and the rest is hidden by
what follows from those and the secret. So nothing is kept of it, one person always has the same, and whoever made one
up has none of anybody.
"""

from base64 import urlsafe_b64decode, urlsafe_b64encode
from hashlib import blake2b, shake_256
from hmac import compare_digest

TAG_BYTES = 12
BLOCK = 33
"""Ids are filled up to a multiple of so many bytes: their length would tell the platform. With the tag it makes an
address without filling characters."""


def player_id(person: str, secret: bytes) -> str:
    """What a person (``platform:id``) is called."""
    plain = person.encode()
    padded = plain + bytes(-len(plain) % BLOCK)
    tag = _tag(padded, secret)
    return urlsafe_b64encode(tag + _mask(padded, tag, secret)).decode()


def person_from_id(player: str, secret: bytes) -> str:
    """Who is called so; empty for nobody."""
    try:
        sealed = urlsafe_b64decode(player.encode("ascii"))
    except ValueError:
        return ""
    tag, hidden = sealed[:TAG_BYTES], sealed[TAG_BYTES:]
    padded = _mask(hidden, tag, secret)
    if not padded or not compare_digest(tag, _tag(padded, secret)):
        return ""
    return padded.rstrip(b"\0").decode()


def _tag(padded: bytes, secret: bytes) -> bytes:
    return blake2b(padded, key=secret, person=b"player", digest_size=TAG_BYTES).digest()


def _mask(text: bytes, tag: bytes, secret: bytes) -> bytes:
    """The text hidden, or a hidden one as it was."""
    key = blake2b(tag, key=secret, person=b"player hidden").digest()
    mask = shake_256(key).digest(len(text))
    return bytes(one ^ other for one, other in zip(text, mask, strict=True))
