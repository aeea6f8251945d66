"""What programs have used their idempotency keys for.

The rules are those of the IETF draft `draft-ietf-httpapi-idempotency-key-header`. A key belongs to one request. The
same request with the same key is done once and answered again. Another request with that key is refused.
"""

import json
from hashlib import sha256
from typing import Any

from bot.store import keys
from bot.store.lua import read_script

KEYS_KEPT, KEPT_SECONDS = 1000, 24 * 60 * 60
"""How many keys of a program are remembered, and for how long after the last new one."""

FINGERPRINT_BYTES = 12
"""Bytes of a request's hash that are stored. Only the program itself could look for two that are equal."""

CLAIM = read_script(__file__, "claim_key")


def fingerprint(operation: str, path: dict[str, str], body: dict[str, Any]) -> str:
    """Return the hash of a request: its operation, the values in its path and its body, in whatever order."""
    said = json.dumps([operation, path, body], sort_keys=True)
    return sha256(said.encode()).digest()[:FINGERPRINT_BYTES].hex()


def press_key(name: str, request: str) -> str:
    """Return the key of what a page asks for: the page's ``name`` for it, and a hash of the ``request``.

    The same request under the same name counts once. Another request under that name has another key.
    """
    return f"{name}.{sha256(request.encode()).hexdigest()[:8]}"


class UsedKeys:
    """The idempotency keys that programs have used, in the store. Every method raises its errors."""

    def __init__(self, client: Any) -> None:
        self._claim = client.register_script(CLAIM)

    async def claim(self, program: str, key: str, request: str) -> bool:
        """Reserve a key for a request, by its fingerprint; False if the key belongs to another request."""
        owner = await self._claim(keys=[keys.used_keys(program)], args=[key, request, KEYS_KEPT, KEPT_SECONDS])
        return bool(owner == request.encode())
