"""A strict push service and its browsers: it checks each request (RFC 8030, 8292) and decrypts it (RFC 8291)."""

import hashlib
import hmac
import json
import time
from base64 import urlsafe_b64decode
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

from aiohttp import web
from cryptography.hazmat.primitives.asymmetric.ec import (
    ECDH,
    ECDSA,
    SECP256R1,
    EllipticCurvePrivateKey,
    EllipticCurvePublicKey,
    generate_private_key,
)
from cryptography.hazmat.primitives.asymmetric.utils import encode_dss_signature
from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.kdf.hkdf import HKDFExpand
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat

from bot.features.web_push.encryption import encode_base64


def decode(text: str) -> bytes:
    assert "=" not in text, "base64url of Web Push must have no padding"
    return urlsafe_b64decode(text + "=" * (-len(text) % 4))


def hmac_sha256(key: bytes, content: bytes) -> bytes:
    return hmac.new(key, content, hashlib.sha256).digest()


def decrypt(body: bytes, key: EllipticCurvePrivateKey, auth: bytes) -> bytes:
    """Decrypt a body as a browser does, step by step from the text of RFC 8291 and RFC 8188."""
    salt, size, length = body[:16], int.from_bytes(body[16:20], "big"), body[20]
    sender, sealed = body[21 : 21 + length], body[21 + length :]
    assert length == 65
    assert 18 <= len(sealed) <= size, "the body must be one record"
    assert len(body) <= 4096
    shared = key.exchange(ECDH(), EllipticCurvePublicKey.from_encoded_point(SECP256R1(), sender))
    own_public_key = key.public_key().public_bytes(Encoding.X962, PublicFormat.UncompressedPoint)
    secret = HKDFExpand(SHA256(), 32, b"WebPush: info\0" + own_public_key + sender).derive(hmac_sha256(auth, shared))
    pseudorandom = hmac_sha256(salt, secret)
    content_key = HKDFExpand(SHA256(), 16, b"Content-Encoding: aes128gcm\0").derive(pseudorandom)
    nonce = HKDFExpand(SHA256(), 12, b"Content-Encoding: nonce\0").derive(pseudorandom)
    text = AESGCM(content_key).decrypt(nonce, sealed, None).rstrip(b"\0")
    assert text.endswith(b"\x02"), "the last record must end with its delimiter"
    return text[:-1]


@dataclass
class FakeBrowser:
    """A browser's subscription at the service."""

    endpoint: str
    key: EllipticCurvePrivateKey = field(default_factory=lambda: generate_private_key(SECP256R1()))
    auth: bytes = b"0123456789abcdef"
    messages: list[dict[str, Any]] = field(default_factory=list)
    topics: list[str] = field(default_factory=list)

    @property
    def keys(self) -> dict[str, str]:
        point = self.key.public_key().public_bytes(Encoding.X962, PublicFormat.UncompressedPoint)
        return {"p256dh": encode_base64(point), "auth": encode_base64(self.auth)}


class PushService:
    """A push service that answers each request with the next of ``answers``, or 201. 0 breaks the connection.

    After a wrong request, which is answered with 400, `run_push_service` fails at its end.
    """

    def __init__(self) -> None:
        self.url = ""
        self.public_key = ""
        self.browsers: dict[str, FakeBrowser] = {}
        self.answers: list[tuple[int, dict[str, str]]] = []
        self.faults: list[str] = []

    def subscribe(self) -> FakeBrowser:
        path = f"/push/{len(self.browsers)}"
        self.browsers[path] = FakeBrowser(f"{self.url}{path}")
        return self.browsers[path]

    async def handle(self, request: web.Request) -> web.Response:
        status, headers = self.answers.pop(0) if self.answers else (201, {})
        try:
            message = await self._check(request)
        except (AssertionError, ValueError, KeyError) as fault:
            self.faults.append(repr(fault))
            return web.Response(status=400)
        if status == 0:
            assert request.transport
            request.transport.abort()
        if status == 201:
            browser = self.browsers[request.path]
            browser.messages.append(message)
            browser.topics.append(request.headers["Topic"])
        return web.Response(status=status or 500, headers={"Location": f"{self.url}/message/1"} | headers)

    async def _check(self, request: web.Request) -> dict[str, Any]:
        browser, headers = self.browsers[request.path], request.headers
        assert request.method == "POST"
        assert headers["Content-Encoding"] == "aes128gcm"
        assert 0 < int(headers["TTL"]) <= 28 * 86400
        assert headers["Urgency"] in ("very-low", "low", "normal", "high")
        assert 0 < len(headers["Topic"]) <= 32
        decode(headers["Topic"])
        assert "Cookie" not in headers
        scheme, parameters = headers["Authorization"].split(" ", 1)
        assert scheme == "vapid"
        fields = dict(part.strip().split("=", 1) for part in parameters.split(","))
        assert fields["k"] == self.public_key, "the key must be the one that the browser subscribed with"
        head, claims, signature = fields["t"].split(".")
        assert json.loads(decode(head)) == {"typ": "JWT", "alg": "ES256"}
        numbers = decode(signature)
        assert len(numbers) == 64
        der = encode_dss_signature(int.from_bytes(numbers[:32], "big"), int.from_bytes(numbers[32:], "big"))
        key = EllipticCurvePublicKey.from_encoded_point(SECP256R1(), decode(fields["k"]))
        key.verify(der, f"{head}.{claims}".encode(), ECDSA(SHA256()))
        claimed = json.loads(decode(claims))
        assert claimed["aud"] == self.url
        assert time.time() < claimed["exp"] <= time.time() + 86400
        assert claimed.get("sub", "https:").startswith(("https:", "mailto:"))
        message: dict[str, Any] = json.loads(decrypt(await request.read(), browser.key, browser.auth))
        return message


@asynccontextmanager
async def run_push_service() -> AsyncIterator[PushService]:
    service = PushService()
    app = web.Application()
    app.router.add_route("*", "/{path:.*}", service.handle)
    runner = web.AppRunner(app)
    await runner.setup()
    site = web.TCPSite(runner, "127.0.0.1", 0)
    await site.start()
    service.url = f"http://127.0.0.1:{runner.addresses[0][1]}"
    try:
        yield service
    finally:
        await runner.cleanup()
    assert not service.faults
