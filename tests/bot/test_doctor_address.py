"""`buongioco doctor` checks the public address."""

import asyncio
from collections.abc import AsyncIterator

import pytest
from aiohttp import web

from bot.cli.doctor import _examine_public_address


@pytest.fixture
async def proxy() -> AsyncIterator[tuple[str, dict[str, int]]]:
    answer = {"status": 200}

    async def respond(_request: web.Request) -> web.Response:
        return web.Response(status=answer["status"])

    app = web.Application()
    app.router.add_get("/rules", respond)
    runner = web.AppRunner(app)
    await runner.setup()
    site = web.TCPSite(runner, "127.0.0.1", 0)
    await site.start()
    yield f"http://127.0.0.1:{runner.addresses[0][1]}", answer
    await runner.cleanup()


@pytest.mark.parametrize(
    ("status", "expected", "message"),
    [(200, True, "Telegram needs https"), (502, True, "no bot runs behind it"), (403, False, "X-Forwarded-Proto")],
)
async def test_doctor_requests_the_public_address(
    proxy: tuple[str, dict[str, int]], status: int, expected: bool, message: str
) -> None:
    url, answer = proxy
    answer["status"] = status
    is_fine, line = await asyncio.to_thread(_examine_public_address, url)
    assert is_fine is expected
    assert message in line


async def test_unreachable_public_address_is_wrong() -> None:
    is_fine, line = await asyncio.to_thread(_examine_public_address, "http://127.0.0.1:9")
    assert not is_fine
    assert "the proxy runs" in line
