"""A program that plays a game on a bot in another process."""

import asyncio
import secrets
from typing import Any

import aiohttp

from bot.identity.programs import Programs
from bot.store import connect
from tests.kills.bot_process import Bot


async def play_a_robot(bot: Bot, store_url: str, session: aiohttp.ClientSession, robot: str) -> None:
    """Play against a robot through the interface for programs until the robot has moved, then resign."""
    async with connect(store_url) as client:
        _program, token = await Programs(client).add("Program")

    async def call(method: str, path: str, **body: Any) -> dict[str, Any]:
        headers = {"Authorization": f"Bearer {token}", "Idempotency-Key": secrets.token_hex(8)}
        url = f"{bot.url}/api/v1/me/tables{path}"
        async with session.request(method, url, json=body or None, headers=headers) as answer:
            assert answer.status == 200, await answer.text()
            table: dict[str, Any] = await answer.json()
            return table

    table = await call("POST", "", game="testa", robots=robot)
    path = f"/{table['code']}"
    for verb in ("play", "resign"):
        while table["turn"] != table["seat"]:
            await asyncio.sleep(0.2)
            table = await call("GET", path)
        move = next(move for move in table["moves"] if move.startswith(verb))
        table = await call("POST", f"{path}/moves", version=table["version"], move=move)
