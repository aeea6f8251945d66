"""Ids of players in the addresses of their pages. They hide the person and the platform.

An id is the person's ``platform:id``, encrypted with the store's secret. Its first bytes are a keyed hash, and the rest
is masked with a stream derived from the hash. Nothing is stored. A person's id is constant. Forged ids are rejected.
"""

from base64 import urlsafe_b64decode, urlsafe_b64encode
from hashlib import blake2b, shake_256
from hmac import compare_digest

TAG_BYTES = 12
BLOCK = 33  # ids are padded to a multiple of this, which hides the platform and, with the tag, needs no base64 padding


def player_id(person: str, secret: bytes) -> str:
    plain = person.encode()
    padded = plain + bytes(-len(plain) % BLOCK)
    tag = _tag(padded, secret)
    return urlsafe_b64encode(tag + _mask(padded, tag, secret)).decode()


def person_from_id(player: str, secret: bytes) -> str:
    """Return the person with this player id, or "" if it is invalid."""
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
    key = blake2b(tag, key=secret, person=b"player hidden").digest()
    mask = shake_256(key).digest(len(text))
    return bytes(byte ^ mask_byte for byte, mask_byte in zip(text, mask, strict=True))
