"""Encryption of messages (RFC 8291, with the content coding of RFC 8188) and the bot's signature (RFC 8292)."""

import json
import os
from base64 import urlsafe_b64decode, urlsafe_b64encode

from cryptography.hazmat.primitives.asymmetric.ec import (
    ECDH,
    ECDSA,
    SECP256R1,
    EllipticCurvePrivateKey,
    derive_private_key,
    generate_private_key,
)
from cryptography.hazmat.primitives.asymmetric.ec import EllipticCurvePublicKey as PublicKey
from cryptography.hazmat.primitives.asymmetric.utils import decode_dss_signature
from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.kdf.hkdf import HKDF
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat

CURVE = SECP256R1()
NUMBER_BYTES, POINT_BYTES, AUTH_BYTES, SALT_BYTES = 32, 65, 16, 16
RECORD_BYTES = 4096  # every push service accepts messages of this size
PADDED_BYTES = 512  # messages are padded to a multiple of this, so that their length reveals nothing
LAST_RECORD = b"\x02"


def encode_base64(content: bytes) -> str:
    """Return base64url without padding, the form of all texts of Web Push."""
    return urlsafe_b64encode(content).rstrip(b"=").decode()


def decode_base64(text: str) -> bytes:
    """Decode base64url with or without padding. Raise ValueError for anything else."""
    return urlsafe_b64decode(text.rstrip("=") + "=" * (-len(text.rstrip("=")) % 4))


def new_private_key() -> bytes:
    return generate_private_key(CURVE).private_numbers().private_value.to_bytes(NUMBER_BYTES, "big")


def load_private_key(number_bytes: bytes) -> EllipticCurvePrivateKey:
    return derive_private_key(int.from_bytes(number_bytes, "big"), CURVE)


def public_bytes(key: PublicKey) -> bytes:
    return key.public_bytes(Encoding.X962, PublicFormat.UncompressedPoint)


def is_public_key(point: bytes) -> bool:
    """Return whether the bytes are an uncompressed point on the curve."""
    try:
        PublicKey.from_encoded_point(CURVE, point)
    except ValueError:
        return False
    return len(point) == POINT_BYTES


def encrypt(content: bytes, browser_key: bytes, auth: bytes) -> bytes:
    """Return a message that only the browser with this public key and secret can read, as one record."""
    own_key, salt = generate_private_key(CURVE), os.urandom(SALT_BYTES)
    own_public = public_bytes(own_key.public_key())
    shared_secret = own_key.exchange(ECDH(), PublicKey.from_encoded_point(CURVE, browser_key))
    secret = _derive(shared_secret, auth, b"WebPush: info\0" + browser_key + own_public, 32)
    key = _derive(secret, salt, b"Content-Encoding: aes128gcm\0", 16)
    nonce = _derive(secret, salt, b"Content-Encoding: nonce\0", 12)
    padding = bytes(-(len(content) + 1) % PADDED_BYTES)
    ciphertext = AESGCM(key).encrypt(nonce, content + LAST_RECORD + padding, None)
    header = salt + RECORD_BYTES.to_bytes(4, "big") + len(own_public).to_bytes(1, "big") + own_public
    return header + ciphertext


def sign(key: EllipticCurvePrivateKey, audience: str, expires: int, contact: str) -> str:
    """Return the `Authorization` header for a push service. ``contact`` is a URL of the host, or empty."""
    claims = {"aud": audience, "exp": expires} | ({"sub": contact} if contact else {})
    parts = ({"typ": "JWT", "alg": "ES256"}, claims)
    signed_part = ".".join(encode_base64(json.dumps(part, separators=(",", ":")).encode()) for part in parts)
    numbers = decode_dss_signature(key.sign(signed_part.encode(), ECDSA(SHA256())))
    signature = b"".join(number.to_bytes(NUMBER_BYTES, "big") for number in numbers)
    public = encode_base64(public_bytes(key.public_key()))
    return f"vapid t={signed_part}.{encode_base64(signature)}, k={public}"


def _derive(secret: bytes, salt: bytes, info: bytes, length: int) -> bytes:
    return HKDF(SHA256(), length, salt, info).derive(secret)
