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
    padded_text = plain + bytes(-len(plain) % BLOCK)
    tag = _tag(padded_text, secret)
    return urlsafe_b64encode(tag + _mask(padded_text, tag, secret)).decode()


def person_from_id(player: str, secret: bytes) -> str:
    """Return the person with this player id, or "" if it is invalid."""
    try:
        sealed_bytes = urlsafe_b64decode(player.encode("ascii"))
    except ValueError:
        return ""
    tag, masked_text = sealed_bytes[:TAG_BYTES], sealed_bytes[TAG_BYTES:]
    padded_text = _mask(masked_text, tag, secret)
    if not padded_text or not compare_digest(tag, _tag(padded_text, secret)):
        return ""
    return padded_text.rstrip(b"\0").decode()


def _tag(padded_text: bytes, secret: bytes) -> bytes:
    return blake2b(padded_text, key=secret, person=b"player", digest_size=TAG_BYTES).digest()


def _mask(text: bytes, tag: bytes, secret: bytes) -> bytes:
    key = blake2b(tag, key=secret, person=b"player hidden").digest()
    mask = shake_256(key).digest(len(text))
    return bytes(byte ^ mask_byte for byte, mask_byte in zip(text, mask, strict=True))
