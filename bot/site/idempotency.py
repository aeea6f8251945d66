"""The idempotency keys of programs' requests, by the IETF draft `draft-ietf-httpapi-idempotency-key-header`.

A key belongs to one request. The same request with the same key is done once and answered again. Another request with
that key is refused.
"""

import json
from hashlib import sha256
from typing import Any

from bot.store import keys
from bot.store.lua import read_script

KEYS_KEPT, KEPT_SECONDS = 1000, 24 * 60 * 60
"""Keys stored for each program, and seconds after which they expire if no new key is used."""

FINGERPRINT_BYTES = 12  # stored bytes of a request's hash. Only the program itself could search for two equal ones.
CLAIM = read_script(__file__, "claim_key")


def fingerprint(operation: str, path: dict[str, str], body: dict[str, Any]) -> str:
    """Return the hash of a request: its operation, path values and body, independent of order."""
    text = json.dumps([operation, path, body], sort_keys=True)
    return sha256(text.encode()).digest()[:FINGERPRINT_BYTES].hex()


def press_key(name: str, request: str) -> str:
    """Return the key of a page's request: the ``name`` from the page, and a hash of the ``request``.

    The same request with the same name counts once. Another request with that name gets a different key.
    """
    return f"{name}.{sha256(request.encode()).hexdigest()[:8]}"


class UsedKeys:
    """The used keys in the store. Every method can raise a store error."""

    def __init__(self, client: Any) -> None:
        self._claim = client.register_script(CLAIM)

    async def claim(self, program: str, key: str, request: str) -> bool:
        """Reserve a key for a request, given its fingerprint; return False if the key belongs to another request."""
        owner = await self._claim(keys=[keys.used_keys(program)], args=[key, request, KEYS_KEPT, KEPT_SECONDS])
        return bool(owner == request.encode())
