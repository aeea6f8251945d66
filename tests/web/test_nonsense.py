"""Nonsense requests to every address: they cause no server error and change no game.

They have the headers of our own pages.
"""

import asyncio
import json
import os
from random import Random
from typing import Any

import aiohttp
import pytest
from aiohttp import web
from structlog.testing import capture_logs

from bot.identity.programs import Programs
from bot.site.sessions import Sessions
from tests.fuzz.common import odd_text, odd_value
from tests.long import long
from tests.open_playground import OpenPlayground
from tests.web.test_sessions import ANNA, Chat

REQUESTS = int(os.environ.get("BUONGIOCO_FUZZ_PAGES", "20000"))
FIELDS = ("t", "key", "data", "game", "robot", "name", "friend", "seat", "version", "move", "rules", "robots", "to")
STREAMS = ("/live", "/stream", "/ws")


class Nonsense:
    """Random nonsense requests."""

    def __init__(self, site: OpenPlayground, random: Random, code: str, tokens: list[str], cookies: list[str]) -> None:
        self.random, self.code, self.tokens, self.cookies = random, code, tokens, cookies
        self.origin = site.url.rstrip("/")
        routes = [(route.method, route.path) for route in site.site.routes if isinstance(route, web.RouteDef)]
        self.routes = [route for route in routes if not route[1].endswith(STREAMS)]
        assert len({path for _, path in self.routes}) > 25

    def make_value(self) -> str:
        random = self.random
        known_values = (
            self.code,
            "testa",
            "easy",
            "0",
            "1",
            "play 3D",
            "ABCDEF-0123456789",
            f"{self.code}-ABCDEFGHJKMN",
        )
        return random.choice(known_values) if random.random() < 0.5 else odd_text(random)

    def make_path(self, path: str) -> str:
        parts = [self.make_value() if "{" in part else part for part in path.split("/")]
        query = f"?{self.random.choice(FIELDS)}={self.make_value()}" if self.random.random() < 0.2 else ""
        return "/".join(parts) + query

    def make_request(self) -> tuple[str, str, dict[str, Any]]:
        random = self.random
        method, path = random.choice(self.routes)
        method = random.choice(("GET", "POST", "PUT", "HEAD")) if method == "*" or random.random() < 0.1 else method
        headers = {"Origin": self.origin} if random.random() < 0.9 else {}
        if random.random() < 0.6:
            headers["Authorization"] = f"Bearer {clean_header(random.choice((*self.tokens, odd_text(random))))}"
        if random.random() < 0.5:
            headers["Cookie"] = f"{random.choice(('buongioco', 'buongioco_session'))}={random.choice(self.cookies)}"
        if random.random() < 0.5:
            headers["Idempotency-Key"] = clean_header(self.make_value()) or "x"
        options: dict[str, Any] = {"headers": headers}
        if method in ("POST", "PUT"):
            # A real game would correctly open a table.
            fields = {name: self.make_value() for name in random.sample(FIELDS, random.randrange(5)) if name != "game"}
            if random.random() < 0.5:
                options["data"] = fields
            else:
                body = {**fields, random.choice(FIELDS[4:]): odd_value(random)}
                options["data"] = json.dumps(body)
                headers["Content-Type"] = "application/json"
        return method, self.make_path(path), options


def clean_header(text: str) -> str:
    return "".join(char for char in text if char.isprintable() and char.isascii())[:200]


@pytest.mark.parametrize("requests", [400, long(REQUESTS)])
async def test_nonsense_at_any_address_causes_no_server_error(
    site: OpenPlayground, session: aiohttp.ClientSession, requests: int
) -> None:
    store, random = site.worker.store, Random(19)
    site.site.limits._on = False
    chat = Chat(site, ANNA)
    code = await chat.practice()
    async with asyncio.timeout(60):
        # The robot can lead first.
        while (chair := (await site.worker.room.table(code)).to_move) is None or chair.person != ANNA.id:
            await asyncio.sleep(0.05)
    await site.worker.wait_until_idle()
    _program, token = await Programs(store.client).add("Reads", ("read",))
    session_cookie = await Sessions(store.client).start(ANNA.id)
    nonsense = Nonsense(
        site, random, code, [token, token[:-1], f"{token}x"], ["x", "a.b", "a.b.c", session_cookie[:-1]]
    )
    version = (await site.worker.room.table(code)).version
    statuses: set[int] = set()
    with capture_logs() as logs:
        for _ in range(requests):
            method, path, options = nonsense.make_request()
            try:
                url = f"{nonsense.origin}{path.encode('utf-8', 'replace').decode()}"
                async with session.request(method, url, allow_redirects=False, **options) as answer:
                    await answer.read()
            except (ValueError, aiohttp.InvalidURL):
                # The client itself refuses to send this.
                continue
            except aiohttp.ClientResponseError as error:
                # aiohttp answers a line over 8,190 bytes with a body, even to HEAD, and its own client refuses that.
                if (method, error.status) != ("HEAD", 400) or len(path) <= 8_000:
                    raise
                continue
            assert answer.status < 500, (method, path, options, answer.status)
            statuses.add(answer.status)
    assert {200, 401, 403, 404} <= statuses
    assert not [line for line in logs if line["log_level"] in ("error", "critical")]
    assert not any(secret in str(logs) for secret in (token, session_cookie))
    assert (await site.worker.room.table(code)).version == version
