"""The HTTP transport works as the library expects."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import Any

import pytest
from aiohttp import web
from telegram import Bot
from telegram.error import Forbidden, NetworkError, TimedOut

from adapters.telegram.transport import AiohttpRequest, NotConnected, SendingRequest, json_body, upload_body
from bot.http import proxies
from tests.telegram.server import TOKEN, TelegramServer


@asynccontextmanager
async def run_server(answer: Callable[[web.BaseRequest], Awaitable[web.Response]]) -> AsyncIterator[str]:
    """Run a server that answers every request with ``answer``. Yield its address."""
    runner = web.ServerRunner(web.Server(answer), shutdown_timeout=0.1)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0).start()
    yield f"127.0.0.1:{runner.addresses[0][1]}"
    await runner.cleanup()


async def test_transport_returns_status_and_body(server: TelegramServer) -> None:
    request = AiohttpRequest()
    with pytest.raises(RuntimeError, match="not initialized"):
        await request.do_request(server.url, "POST")
    await request.initialize()
    code, body = await request.do_request(f"{server.url}/bot{TOKEN}/getMe", "POST")
    assert (code, b"buongioco_bot" in body) == (200, True)
    code, _ = await request.do_request(f"{server.url}/bot{TOKEN}/nothing", "POST")
    assert code == 404
    await request.shutdown()
    with pytest.raises(RuntimeError):
        await request.do_request(server.url, "POST")


async def test_transport_errors_never_contain_the_token() -> None:
    async def answer_slowly(_request: web.BaseRequest) -> web.Response:
        await asyncio.sleep(5)
        return web.Response()

    request = AiohttpRequest(read_timeout=0.05)
    await request.initialize()
    async with run_server(answer_slowly) as address:
        with pytest.raises(TimedOut):
            await request.do_request(f"http://{address}/bot{TOKEN}/x", "POST")
    with pytest.raises(NetworkError) as error:
        await request.do_request(f"http://127.0.0.1:9/bot{TOKEN}/getMe", "POST")
    assert TOKEN not in str(error.value)
    assert error.value.__cause__ is None
    await request.shutdown()


async def test_transport_uploads_files() -> None:
    received: dict[str, Any] = {}

    async def receive(request: web.BaseRequest) -> web.Response:
        assert (request.method, request.path) == ("POST", f"/bot{TOKEN}/sendDocument")
        form = await request.post()
        upload = form["document"]
        assert isinstance(upload, web.FileField)
        received.update(name=upload.filename, body=upload.file.read(), chat=form["chat_id"])
        sent = {"message_id": 1, "date": 1, "chat": {"id": 5, "type": "private", "first_name": "Anna"}}
        return web.json_response({"ok": True, "result": sent})

    async with run_server(receive) as address:
        request = AiohttpRequest()
        await request.initialize()
        bot = Bot(TOKEN, base_url=f"http://{address}/bot", request=request)
        await bot.send_document(5, b"records", filename="games.jsonl")
        await request.shutdown()
    assert received == {"name": "games.jsonl", "body": b"records", "chat": "5"}


async def test_upload_form_survives_special_characters() -> None:
    received: dict[str, Any] = {}
    content = bytes(range(256)) * 40 + b"\r\n--"

    async def receive(request: web.BaseRequest) -> web.Response:
        for name, value in (await request.post()).items():
            received[name] = value.file.read() if isinstance(value, web.FileField) else value
            if isinstance(value, web.FileField):
                assert (value.filename, value.content_type) == ("photo.png", "image/png")
        return web.json_response({"ok": True, "result": True})

    fields = {"chat_id": -5, "caption": 'Ünal "🂡"\r\n--x', "media": {"type": "photo"}, "message_thread_id": None}
    async with run_server(receive) as address:
        request = AiohttpRequest()
        await request.initialize()
        await request.post(f"http://{address}/", upload_body(fields, "photo", content))  # type: ignore[arg-type]
        await request.shutdown()
    assert received == {"chat_id": "-5", "caption": fields["caption"], "media": '{"type": "photo"}', "photo": content}


async def test_lone_surrogate_does_not_stop_an_upload() -> None:
    assert b"Ada ?" in upload_body({"caption": "Ada \ud83c"}, "photo", b"").content


async def test_proxy_comes_from_the_environment(server: TelegramServer, monkeypatch: pytest.MonkeyPatch) -> None:
    requests: list[str] = []

    async def proxy(request: web.BaseRequest) -> web.Response:
        requests.append(request.raw_path)
        return web.json_response({"ok": True, "result": True})

    async with run_server(proxy) as address:
        monkeypatch.setenv("http_proxy", f"http://{address}")
        monkeypatch.setenv("no_proxy", "127.0.0.1")
        proxies._proxy_to.cache_clear()
        request = AiohttpRequest()
        await request.initialize()
        code, _ = await request.do_request("http://api.telegram.example/bot1:x/getMe", "POST")
        assert (code, requests) == (200, ["http://api.telegram.example/bot1:x/getMe"])
        code, _ = await request.do_request(f"{server.url}/bot{TOKEN}/getMe", "POST")
        assert (code, len(requests)) == (200, 1)
        await request.shutdown()
    proxies._proxy_to.cache_clear()


async def test_pool_limits_open_connections(monkeypatch: pytest.MonkeyPatch) -> None:
    active = most_active = 0

    async def answer_slowly(_request: web.BaseRequest) -> web.Response:
        nonlocal active, most_active
        active += 1
        most_active = max(most_active, active)
        await asyncio.sleep(0.02)
        active -= 1
        return web.json_response({"ok": True, "result": True})

    async with run_server(answer_slowly) as address:
        request = AiohttpRequest(connections=3)
        await request.initialize()
        await asyncio.gather(*(request.do_request(f"http://{address}/bot1:x/getMe", "POST") for _ in range(12)))
        assert most_active == 3
        pending = [asyncio.create_task(request.do_request(f"http://{address}/x", "POST")) for _ in range(12)]
        await asyncio.sleep(0)
        monkeypatch.setattr("adapters.telegram.transport.POOL_SECONDS", 0.0)
        monkeypatch.setattr("adapters.telegram.transport.CONNECT_SECONDS", 0.001)
        with pytest.raises(NotConnected):
            await request.do_request(f"http://{address}/x", "POST")
        await asyncio.gather(*pending)
        await request.shutdown()


async def test_refusal_with_status_200_is_understood() -> None:
    async def refuse(_request: web.BaseRequest) -> web.Response:
        return web.json_response({"ok": False, "error_code": 403, "description": "Forbidden: bot was blocked"})

    async with run_server(refuse) as address:
        request = SendingRequest()
        await request.initialize()
        with pytest.raises(Forbidden, match="blocked"):
            await Bot("1:x", base_url=f"http://{address}/bot", request=request).send_message(5, "ciao")
        await request.shutdown()


@pytest.mark.parametrize(
    "text", ["Anna & Bruno = 100% più +", "Ç a ; b / ? : @ # [ ] ~ \n 🂡 \u2068x\u2069", "a" * 4096]
)
async def test_texts_arrive_unchanged(text: str) -> None:
    received: dict[str, Any] = {}

    async def receive(request: web.BaseRequest) -> web.Response:
        received.update(await request.post())
        sent = {"message_id": 7, "date": 1, "chat": {"id": 5, "type": "private", "first_name": "A"}, "text": "known"}
        return web.json_response({"ok": True, "result": sent})

    async with run_server(receive) as address:
        request = SendingRequest()
        await request.initialize()
        sent = await Bot("1:x", base_url=f"http://{address}/bot", request=request).send_message(5, text)
        assert received == {"chat_id": "5", "text": text}
        assert (sent.message_id, sent.text) == (7, None)
        await request.shutdown()


async def test_fields_arrive_as_one_json_document() -> None:
    received: list[tuple[str, Any]] = []

    async def receive(request: web.BaseRequest) -> web.Response:
        received.append((request.content_type, await request.json()))
        return web.Response(body=b'{"ok": true, "result": {"message_id": 7, "text": "\\ud83c"}}')

    async with run_server(receive) as address:
        request = SendingRequest()
        await request.initialize()
        for text in ("Anna & Bruno \u2068x\u2069 \n", "half a pair: \ud83c"):
            fields = {"chat_id": 5, "text": text, "message_thread_id": None, "entities": [{"type": "bold"}]}
            sent = await request.post(f"http://{address}/bot1:x/sendMessage", json_body(fields))  # type: ignore[arg-type]
            assert sent == {"message_id": 7}
            expected = {"chat_id": 5, "text": text, "entities": [{"type": "bold"}]}
            assert received.pop() == ("application/json", expected)
        await request.shutdown()
