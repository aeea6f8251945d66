"""The API for programs: responses match the description, problems have the same form, and limits hold."""

import asyncio
import json
from collections import Counter
from collections.abc import AsyncGenerator
from random import Random
from typing import Any

import aiohttp
import pytest
from pydantic import TypeAdapter
from structlog.testing import capture_logs

from adapters.web import limits
from adapters.web.api.openapi import document
from adapters.web.api.operations import OPERATIONS
from adapters.web.api.server import Api
from bot.finished.game import FinishedGame
from bot.rate_limiter import RateLimit
from bot.robots.pool import PoolBusy
from bot.site.api_models import PublicTable
from engine import read, verify
from engine.robots.verdicts import Verdict
from tests.bot.finished.games import finished_game, store_game
from tests.open_playground import OpenPlayground
from tests.web.api_reference import PAGE, page

GAMES = ["spizzichino", "testa", "spades", "tavolo"]


async def add_game(site: OpenPlayground, kind: str) -> FinishedGame:
    game = finished_game(GAMES.index(kind) + 1, kind)
    await store_game(site.worker.store, game)
    return game


async def request_json(session: aiohttp.ClientSession, url: str, status: int = 200, method: str = "GET") -> Any:
    async with session.request(method, url, timeout=aiohttp.ClientTimeout(60)) as answer:
        text = await answer.text()
        assert answer.status == status, (url, text)
        kind = "application/json" if status == 200 else "application/problem+json"
        assert answer.content_type == kind, url
        body = json.loads(text)
        if status != 200:
            assert body["status"] == status
            assert body["title"]
            assert body["detail"]
            assert body["type"] == "about:blank"
        return body


def api(site: OpenPlayground, path: str) -> str:
    return f"{site.url}api/v1{path}"


async def open_table(site: OpenPlayground, people: int = 2, game: str = "metamazzo") -> tuple[str, str]:
    """Start a game in the playground's group. Return the table's code and its watch id."""
    room = site.worker.room
    challenges = site.worker.challenges
    table = await challenges.open_table(game, "playground:1", "Anna", "t1", host="playground:bar")
    for number in range(2, people + 1):
        table = await challenges.sit(table.code, f"playground:{number}", f"Player {number}", f"s{number}")
    return table.code, await site.worker.watching.watch_id(await room.table(table.code))


@pytest.mark.parametrize("kind", GAMES)
async def test_finished_game_responses_match_their_models(
    site: OpenPlayground, session: aiohttp.ClientSession, kind: str
) -> None:
    game = await add_game(site, kind)
    for operation in OPERATIONS:
        if operation.method == "GET" and "game_id" in operation.path:
            path = operation.path.format(game_id=game.id, deal=1)
            response = await request_json(session, api(site, path))
            model: Any = (
                operation.models[0] if len(operation.models) == 1 else operation.models[0] | operation.models[1]
            )
            TypeAdapter(model).validate_json(json.dumps(response))
            if operation.name == "record":
                verify(read(json.dumps(response)))


async def test_unchanged_response_is_not_sent_again(site: OpenPlayground, session: aiohttp.ClientSession) -> None:
    game = await add_game(site, GAMES[0])
    url = api(site, f"/games/{game.id}/deals/1")
    async with session.get(url) as answer:
        tag = answer.headers["ETag"]
        assert answer.headers["Content-Encoding"] == "gzip"
    async with session.get(url, headers={"If-None-Match": tag}) as answer:
        assert (answer.status, await answer.read()) == (304, b"")
    async with session.get(f"{url}?language=it", headers={"If-None-Match": tag}) as answer:
        assert answer.status == 200
        assert "gioca" in await answer.text()


async def test_texts_are_in_the_requested_language(site: OpenPlayground, session: aiohttp.ClientSession) -> None:
    game = await add_game(site, GAMES[0])
    url = api(site, f"/games/{game.id}")
    async with session.get(url, headers={"Accept-Language": "it"}) as answer:
        assert "Vince" in (await answer.json())["result"]
    async with session.get(f"{url}?language=en", headers={"Accept-Language": "it"}) as answer:
        assert "won" in (await answer.json())["result"]
    assert "language must be one of" in (await request_json(session, f"{url}?language=de", 400))["detail"]
    assert "suits must be one of" in (await request_json(session, f"{url}?suits=swiss", 400))["detail"]


async def test_unknown_addresses_give_a_problem(site: OpenPlayground, session: aiohttp.ClientSession) -> None:
    game = await add_game(site, GAMES[1])
    for path in (
        "/games/AAAAAA-000000",
        "/games/AAAAAA-000000/record",
        "/games/AAAAAA-000000/deals/1",
        "/games/{game}/deals/0",
        "/games/{game}/deals/99",
        "/games/{game}/deals/x",
        "/games/{game}/nothing",
        "/games/%2e%2e",
        "/games/game:1",
        "/tables/AAAAAA-ABCDEFGHJKMN",
        "/tables/AAAAAA",
        "/tables/AAAAAA-ABCDEFGHJKMN/stream",
        "/",
        "",
        "/nothing",
    ):
        await request_json(session, api(site, path.format(game=game.id)), 404)


async def test_unsupported_methods_give_a_problem(site: OpenPlayground, session: aiohttp.ClientSession) -> None:
    game = await add_game(site, GAMES[1])
    async with session.delete(api(site, f"/games/{game.id}/analysis")) as answer:
        assert (answer.status, answer.headers["Allow"]) == (405, "GET, POST")
        assert answer.content_type == "application/problem+json"
    async with session.head(api(site, f"/games/{game.id}")) as answer:
        assert answer.status == 200


async def test_head_request_for_a_stream_keeps_the_connection_open(site: OpenPlayground) -> None:
    _code, watch_id = await open_table(site)
    reader, writer = await asyncio.open_connection("127.0.0.1", site.port)

    async def send_request(request: str) -> bytes:
        writer.write(f"{request} HTTP/1.1\r\nHost: 127.0.0.1:{site.port}\r\n\r\n".encode())
        async with asyncio.timeout(60):
            return await reader.readuntil(b"\r\n\r\n")

    head = await send_request(f"HEAD /api/v1/tables/{watch_id}/stream")
    assert head.startswith(b"HTTP/1.1 405 ")
    assert b"\r\nAllow: GET\r\n" in head
    assert site.site.limits.streams == 0
    # The next response on this connection starts right after the headers.
    assert (await send_request(f"GET /api/v1/tables/{watch_id}")).startswith(b"HTTP/1.1 200 ")
    writer.close()


async def test_cross_site_request_gives_a_problem(site: OpenPlayground, session: aiohttp.ClientSession) -> None:
    game = await add_game(site, GAMES[1])
    url = api(site, f"/games/{game.id}/analysis")
    async with session.post(url, headers={"Origin": "https://elsewhere.example"}) as answer:
        assert (answer.status, answer.content_type) == (403, "application/problem+json")


async def test_only_a_post_starts_an_analysis(site: OpenPlayground, session: aiohttp.ClientSession) -> None:
    game = await add_game(site, GAMES[1])
    analysed_deals = []

    async def verdicts(_record: object, deal: int) -> list[Verdict]:
        analysed_deals.append(deal)
        return []

    site.worker.robot_pool.verdicts = verdicts  # type: ignore[method-assign, assignment]
    url = api(site, f"/games/{game.id}/analysis")
    assert not (await request_json(session, url))["is_begun"]
    assert analysed_deals == []
    analysis = await request_json(session, url, method="POST")
    assert analysis["deals_done"] == analysis["deals"] == len(analysed_deals)
    assert (await request_json(session, url))["is_begun"]


async def test_line_is_played_on_without_a_token(site: OpenPlayground, session: aiohttp.ClientSession) -> None:
    game = await add_game(site, "testa")
    url = api(site, f"/games/{game.id}/deals/1/line")

    async def post(path: str, status: int, **line: object) -> Any:
        async with session.post(f"{url}{path}", json=line) as answer:
            assert answer.status == status
            return await answer.json()

    choices = (await post("?language=en", 200, place=0, moves=[]))["choices"]
    line = await post("?language=en", 200, place=0, moves=[choices[0]["move"]])
    assert [step["text"] for step in line["steps"]] == [choices[0]["text"]]
    assert await post("/verdicts", 200, place=0, moves=[]) == {"lost": None}
    assert "not possible" in (await post("", 422, place=0, moves=["play 9Z"]))["detail"]
    assert "place" in (await post("", 422, place=-1, moves=[]))["detail"]
    await post("", 404, place=999, moves=[])

    async def refuse(*_args: object) -> None:
        raise PoolBusy()

    site.worker.robot_pool.think_aside = refuse  # type: ignore[assignment]
    assert "try again" in (await post("/verdicts", 503, place=0, moves=[]))["detail"]


# Tables


async def test_table_response_has_only_public_information(site: OpenPlayground, session: aiohttp.ClientSession) -> None:
    code, watch_id = await open_table(site)
    response = await request_json(session, api(site, f"/tables/{watch_id}"))
    assert PublicTable.model_validate(response, strict=False).code == code
    assert response["view"]["hand"] is None
    await request_json(session, api(site, f"/tables/{code}"), 404)
    table = await site.worker.room.table(code)
    assert table.game
    hands = [card for seat in (0, 1) for card in table.game.view(seat).deal.hand or ()]  # type: ignore[union-attr]
    assert len(hands) == 20
    assert not [card for card in hands if f'"{card}"' in json.dumps(response)]


async def test_stream_sends_each_card_and_ends_with_the_game(
    site: OpenPlayground, session: aiohttp.ClientSession
) -> None:
    code, watch_id = await open_table(site)
    room = site.worker.room
    async with asyncio.timeout(60), session.get(api(site, f"/tables/{watch_id}/stream")) as answer:
        assert answer.content_type == "application/x-ndjson"
        first = json.loads(await answer.content.readline())
        table = await room.table(code)
        assert table.game
        turn = table.game.turn
        assert turn == first["turn"]
        move = next(move for move in table.game.legal_moves(turn or 0) if move.startswith("play "))
        await room.make_move(code, f"playground:{(turn or 0) + 1}", table.version, move, "m1")
        second = json.loads(await answer.content.readline())
        assert second["view"]["trick"][0][:2] == [turn, move.split(" ")[1]]
        await room.make_move(code, "playground:1", second["version"], "resign", "m2")
        last = json.loads(await answer.content.readline())
        assert (last["phase"], last["winner"]) == ("over", [1])
        assert await answer.content.read() == b""
    await site.worker.wait_until_idle()
    await request_json(session, api(site, f"/games/{last['replay']}"))


async def test_watchers_never_read_a_card_before_it_is_played(
    site: OpenPlayground, session: aiohttp.ClientSession
) -> None:
    """Search each line of a whole deal for cards that were hidden when it was written."""
    code, watch_id = await open_table(site)
    room, random = site.worker.room, Random(5)
    lines_read = 0
    async with asyncio.timeout(60), session.get(api(site, f"/tables/{watch_id}/stream")) as answer:
        while lines_read < 40:
            line = (await answer.content.readline()).decode()
            if not line.strip():
                continue
            version = json.loads(line)["version"]
            table = await room.table(code)
            assert table.game
            assert table.version == version
            if table.game.deal_number > 1:
                break
            hands = [card for seat in (0, 1) for card in table.game.view(seat).deal.hand or ()]  # type: ignore[union-attr]
            public = [card for cards in table.game.view(None).deal.known for card in cards]  # type: ignore[union-attr]
            assert not [card for card in hands if card not in public and f'"{card}"' in line]
            assert table.game._secret
            assert table.game._secret.hex() not in line
            lines_read += 1
            turn = table.game.turn
            assert turn is not None
            moves = [move for move in table.game.legal_moves(turn) if move.startswith("play ")]
            await room.make_move(code, f"playground:{turn + 1}", version, random.choice(moves), f"m{version}")
    assert lines_read >= 20


async def test_watchers_do_not_delay_shutdown(site: OpenPlayground, session: aiohttp.ClientSession) -> None:
    _code, watch_id = await open_table(site)
    async with session.get(api(site, f"/tables/{watch_id}/stream")) as answer:
        assert await answer.content.readline()
        # A stop that never ends times out here. The stream must end, not break.
        async with asyncio.timeout(30):
            await site.stop()
            assert await answer.content.read() == b""


async def test_disconnected_reader_is_not_a_store_outage(site: OpenPlayground, session: aiohttp.ClientSession) -> None:
    code, watch_id = await open_table(site)
    with capture_logs() as logs:
        answer = await session.get(api(site, f"/tables/{watch_id}/stream"))
        await answer.content.readline()
        answer.close()
        table = await site.worker.room.table(code)
        await site.worker.room.make_move(code, "playground:1", table.version, "resign", "m1")
        async with asyncio.timeout(60):
            while site.site.limits.streams:
                await asyncio.sleep(0.01)
    assert "store_failed" not in [line["event"] for line in logs]


async def test_error_in_a_stream_ends_it_and_is_logged(
    site: OpenPlayground, session: aiohttp.ClientSession, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def fail_after_a_line() -> AsyncGenerator[bytes]:
        yield b"{}"
        raise LookupError("an unexpected error")

    async def open_stream(*_arguments: object) -> AsyncGenerator[bytes]:
        return fail_after_a_line()

    monkeypatch.setattr("bot.site.watching.Watching.stream", open_stream)
    with capture_logs() as logs:
        async with session.get(api(site, "/tables/AAAAAA-ABCDEFGHJKMN/stream")) as answer:
            assert await answer.content.read() == b"{}\n"
    assert [line["event"] for line in logs if line["log_level"] == "error"] == ["api_stream_failed"]


async def test_forgotten_person_disappears_from_a_cached_table(
    site: OpenPlayground, session: aiohttp.ClientSession
) -> None:
    """The name is overwritten in the log, and the log's version stays the same."""
    code, watch_id = await open_table(site)
    url = api(site, f"/tables/{watch_id}")
    async with session.get(url) as answer:
        tag, before = answer.headers["ETag"], await answer.json()
    async with session.get(url, headers={"If-None-Match": tag}) as answer:
        assert answer.status == 304
    table = await site.worker.room.table(code)
    [table_key] = [key for key in await site.worker.store.client.keys("*:table:*") if key.decode().endswith(code)]
    entries = await site.worker.store.client.lrange(table_key, 0, -1)
    for index, entry in enumerate(entries):
        await site.worker.store.client.lset(table_key, index, entry.replace(b"Player 2", b"Somebody"))
    site.worker.room.forget(code)
    async with session.get(url, headers={"If-None-Match": tag}) as answer:
        assert answer.status == 200
        after = await answer.json()
    assert after["version"] == before["version"] == table.version
    assert [seat["name"] for seat in after["seats"]] == ["Anna", "Somebody"]


# Limits


async def test_too_many_requests_are_refused(
    limited: None, site: OpenPlayground, session: aiohttp.ClientSession, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(limits, "REQUESTS", RateLimit(burst=3, interval=60.0))
    game = await add_game(site, GAMES[1])
    for _ in range(3):
        await request_json(session, api(site, f"/games/{game.id}"))
    async with session.get(api(site, f"/games/{game.id}")) as answer:
        assert (answer.status, answer.content_type) == (429, "application/problem+json")
        assert 1 <= int(answer.headers["Retry-After"]) <= 60


async def test_requests_for_unknown_ids_are_limited(
    limited: None, site: OpenPlayground, session: aiohttp.ClientSession, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(limits, "MISSES", RateLimit(burst=2, interval=60.0))
    game = await add_game(site, GAMES[1])
    await request_json(session, api(site, "/games/AAAAAA-000000"), 404)
    await request_json(session, api(site, f"/games/{game.id}"))
    await request_json(session, api(site, "/tables/AAAAAA-ABCDEFGHJKMN"), 404)
    await request_json(session, api(site, f"/games/{game.id}"), 429)


@pytest.mark.parametrize("path", ["g/AAAAAA-000000", "g/nothing", "t/AAAAAA-ABCDEFGHJKMN"])
async def test_unknown_ids_of_pages_count_too(
    limited: None, site: OpenPlayground, session: aiohttp.ClientSession, monkeypatch: pytest.MonkeyPatch, path: str
) -> None:
    monkeypatch.setattr(limits, "MISSES", RateLimit(burst=2, interval=60.0))
    for status in (404, 404, 429):
        async with session.get(site.url + path, headers={"Accept": "text/html"}) as answer:
            assert (answer.status, "try again in a minute" in await answer.text()) == (status, status == 429)
    assert 1 <= int(answer.headers["Retry-After"]) <= 60
    await request_json(session, api(site, "/games/AAAAAA-000000"), 429)


async def test_unknown_ids_requested_at_once_all_count(
    limited: None, site: OpenPlayground, session: aiohttp.ClientSession, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(limits, "MISSES", RateLimit(burst=2, interval=60.0))
    paths = ["api/v1/games/AAAAAA-000000", "api/v1/me", "g/AAAAAA-000000", "t/AAAAAA-ABCDEFGHJKMN", "p/nobody"]

    async def get_status(path: str) -> int:
        async with session.get(site.url + path) as answer:
            return answer.status

    statuses = await asyncio.gather(*(get_status(path) for path in paths * 4))
    assert Counter(statuses)[429] == len(statuses) - 2


async def test_known_id_counts_only_while_it_is_looked_up(
    limited: None, site: OpenPlayground, session: aiohttp.ClientSession, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(limits, "MISSES", RateLimit(burst=1, interval=60.0))
    game = await add_game(site, GAMES[1])
    _code, watch_id = await open_table(site)
    async with session.get(api(site, f"/tables/{watch_id}/stream")) as answer:
        await answer.content.readline()
        for path in (f"g/{game.id}", f"t/{watch_id}", f"api/v1/games/{game.id}"):
            async with session.get(site.url + path) as page:
                assert page.status == 200
    await request_json(session, api(site, "/games/AAAAAA-000000"), 404)
    await request_json(session, api(site, f"/games/{game.id}"), 429)


async def test_streams_are_limited_and_release_their_slots(
    limited: None, site: OpenPlayground, session: aiohttp.ClientSession, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(limits, "STREAMS_OF_ADDRESS", 1)
    code, watch_id = await open_table(site)
    url = api(site, f"/tables/{watch_id}/stream")
    async with session.get(url) as answer:
        await answer.content.readline()
        await request_json(session, url, 429)
        table = await site.worker.room.table(code)
        await site.worker.room.make_move(code, "playground:1", table.version, "resign", "m1")
        await answer.content.read()
    async with session.get(url) as answer:
        assert answer.status in (200, 404)


# The description


def test_every_operation_has_its_own_handler() -> None:
    assert all(callable(getattr(Api, operation.name)) for operation in OPERATIONS)
    assert len({operation.name for operation in OPERATIONS}) == len(OPERATIONS)


async def test_api_description_is_served_and_complete(site: OpenPlayground, session: aiohttp.ClientSession) -> None:
    description = await request_json(session, api(site, "/openapi.json"))
    assert description == document()
    assert description["openapi"] == "3.1.0"
    references = set(json.dumps(description).split('"#/components/schemas/')[1:])
    schemas = {reference.partition('"')[0] for reference in references}
    assert schemas <= set(description["components"]["schemas"])
    for path, methods in description["paths"].items():
        for method in methods.values():
            parameters = {parameter["name"] for parameter in method["parameters"] if parameter["in"] == "path"}
            assert parameters == {part.strip("{}") for part in path.split("/") if part.startswith("{")}


def test_docs_contain_the_whole_api_description() -> None:
    assert PAGE.read_text(encoding="utf-8") == page(), f"{PAGE.name} is outdated: run python -m tests.web.api_reference"
