"""Table pages: identity of players, what strangers can see, and refused requests."""

import asyncio
import json
import re
import socket
import struct
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from itertools import product
from pathlib import Path
from typing import Any
from unittest.mock import AsyncMock

import aiohttp
import pytest
from prometheus_client import REGISTRY
from structlog.testing import capture_logs

from adapters.web import people
from bot.handlers import live_hands
from bot.identity.adapter_data import delete_adapter_data, read_adapter_data
from bot.identity.programs import Programs
from bot.rate_limiter import RateLimit
from bot.store import EmbeddedStore
from bot.tables.chairs import Invited
from tests.open_playground import OpenPlayground, cut_pack

PUBLIC = "https://cards.example.org"
BEHIND_PROXY = {
    "Host": "cards.example.org",
    "Origin": PUBLIC,
    "X-Forwarded-Proto": "https",
    "X-Forwarded-For": "192.0.2.9",
}


class Visitor:
    """A person's browser."""

    def __init__(self, site: OpenPlayground, session: aiohttp.ClientSession) -> None:
        self.site, self.session = site, session
        self.origin = {"Origin": site.url.rstrip("/")}

    async def post(self, path: str, headers: dict[str, str] | None = None, **fields: str) -> aiohttp.ClientResponse:
        address = self.site.url + path.lstrip("/")
        headers_ = self.origin if headers is None else headers
        async with self.session.post(address, data=fields, headers=headers_, allow_redirects=False) as answer:
            await answer.read()
            return answer

    async def get(self, path: str) -> tuple[int, str]:
        async with self.session.get(self.site.url + path.lstrip("/")) as answer:
            return answer.status, await answer.text()

    async def play(self, game: str = "metamazzo", robot: str = "easy", **fields: str) -> str:
        """Open a table and return its code."""
        answer = await self.post("/play", None, game=game, robot=robot, key="0123456789abcdef", **fields)
        assert answer.status == 303, answer
        return answer.headers["Location"].rpartition("/t/")[2]

    @asynccontextmanager
    async def connect(self, code: str, query: str = "") -> AsyncIterator["LiveSocket"]:
        address = f"{self.site.url}t/{code}/live{query}"
        async with self.session.ws_connect(address, headers=self.origin, max_msg_size=0) as socket:
            yield LiveSocket(socket)


class LiveSocket:
    """The WebSocket of a table's page."""

    def __init__(self, socket: aiohttp.ClientWebSocketResponse) -> None:
        self.socket = socket
        self.received: list[dict[str, Any]] = []

    async def receive(self, key: str) -> Any:
        """Return the next message of this kind: an answer (``n``) as a whole, and of others only the content."""
        while True:
            message = await self.socket.receive_json(timeout=60)
            self.received.append(message)
            if key in message:
                return message[key] if key != "n" else message

    async def press(self, payload: str, n: str = "abcd") -> dict[str, Any]:
        await self.socket.send_str(json.dumps({"n": n, "press": payload}))
        answer: dict[str, Any] = await self.receive("n")
        return answer


async def wait_for_card(live: LiveSocket) -> str:
    """Wait for the person's turn, and return the payload that plays a card."""
    while True:
        table = await live.receive("table")
        if table["is_mine"]:
            return next(str(card["press"]) for card in table["hand"] if card["light"] == "playable")


@asynccontextmanager
async def open_browser(site: OpenPlayground) -> AsyncIterator[Visitor]:
    async with aiohttp.ClientSession(cookie_jar=aiohttp.CookieJar(unsafe=True)) as session:
        yield Visitor(site, session)


async def test_player_cookie_is_hidden_from_scripts(site: OpenPlayground) -> None:
    async with open_browser(site) as anna:
        _status, page = await anna.get("/")
        assert "Set-Cookie" not in page
        assert not list(anna.session.cookie_jar)
        answer = await anna.post("/play", game="metamazzo", robot="easy", key="0123456789abcdef", name=" Anna \x07 ")
        set_cookie = answer.headers["Set-Cookie"]
        for flag in ("HttpOnly", "SameSite=Lax", "Path=/"):
            assert flag in set_cookie
        assert "Secure" not in set_cookie
        code = answer.headers["Location"].rpartition("/t/")[2]
        table = await site.worker.room.table(code)
        assert table.chairs[0]
        assert table.chairs[0].name == "Anna"
        _status, page = await anna.get("/")
        assert f"/t/{code}" in page
        # The value in the store does not work as a cookie.
        [stored_person] = (await site.worker.store.client.hgetall(people.PEOPLE)).values()
        assert set_cookie.split("=", 1)[1].split(";")[0].split(".")[1] not in stored_person.decode()


async def test_cookie_set_over_https_is_secure(tmp_path: Path, empty_valkey: EmbeddedStore) -> None:
    site = OpenPlayground(tmp_path / "data", valkey=empty_valkey, public_url=PUBLIC)
    await site.start()
    try:
        async with open_browser(site) as anna:
            answer = await anna.post("/play", BEHIND_PROXY, game="testa", robot="easy", key="0123456789abcdef")
            assert answer.status == 303
            assert "Secure" in answer.headers["Set-Cookie"]
    finally:
        await site.stop()


@pytest.mark.parametrize("origin", [None, "null", "https://evil.example", "http://127.0.0.1:1"])
async def test_only_our_own_pages_can_write_or_open_a_socket(site: OpenPlayground, origin: str | None) -> None:
    headers = {} if origin is None else {"Origin": origin}
    async with open_browser(site) as anna:
        code = await anna.play()
        for path in ("/play", f"/t/{code}"):
            assert (await anna.post(path, headers, game="testa", robot="easy", key="0123456789abcdef")).status == 403
        with pytest.raises(aiohttp.WSServerHandshakeError) as refusal:
            await anna.session.ws_connect(f"{site.url}t/{code}/live", headers=headers)
        assert refusal.value.status == 403
        assert len(await site.worker.room.lists.tables_of(f"web:{await get_only_id(site)}")) == 1


async def get_only_id(site: OpenPlayground) -> str:
    [id_] = await site.worker.store.client.hkeys(people.PEOPLE)
    return str(id_.decode())


async def test_repeated_form_opens_one_table_per_choice(site: OpenPlayground) -> None:
    async with open_browser(site) as anna:
        first = await anna.play()
        assert await anna.play() == first
        assert await anna.play(game="testa") != first
        # A key used by another person does not lead to that person's table.
        async with open_browser(site) as bruno:
            assert await bruno.play() != first


@pytest.mark.parametrize("robot", ["easy", ""])
async def test_form_of_a_removed_table_opens_no_other_table(site: OpenPlayground, robot: str) -> None:
    async with open_browser(site) as anna:
        code, room = await anna.play(robot=robot), site.worker.room
        await room.remove(await room.table(code))
        answer = await anna.post("/play", game="metamazzo", robot=robot, key="0123456789abcdef")
        assert (answer.status, "is closed: open another one" in await answer.text()) == (200, True)
        assert not await site.worker.room.lists.tables_of(f"web:{await get_only_id(site)}")


async def test_invalid_form_fields_open_nothing(site: OpenPlayground) -> None:
    async with open_browser(site) as anna:
        for key in ("", "x", "0123456789abcdeg"):
            assert (await anna.post("/play", key=key, game="testa")).status == 403
        assert (await anna.post("/play", key="0123456789abcdef", game="nothing", robot="easy")).status == 403
        for robot in ("a\tb", "greedy", "Easy", "x" * 1000):
            assert (await anna.post("/play", key="0123456789abcdef", game="testa", robot=robot)).status == 403
        assert site.worker.room.count_by_phase() == {}
        # No person is created either, not even for an unknown code.
        assert (await anna.post("/t/ZZZZZZ", name="Anna")).status == 404
        assert not await site.worker.store.client.exists(people.PEOPLE)


MULTIPART = "multipart/form-data; boundary=b"


async def test_body_that_is_not_a_form_is_refused_without_an_error(site: OpenPlayground) -> None:
    forms = [
        ("application/x-www-form-urlencoded; charset=bogus", b"key=1"),
        ("application/x-www-form-urlencoded; charset=utf-16", b"key"),
        ("application/x-www-form-urlencoded; charset=utf-7", b"key=0123456789abcdef&game=testa&name=%2B2AA-"),
        ("multipart/form-data", b"key"),
        (MULTIPART, b"--b\r\nContent-Type: text/plain\r\n\r\nx\r\n--b--"),
        (MULTIPART, b"--b\r\nnothing"),
        (MULTIPART, b'--b\r\nContent-Disposition: form-data; name="key"\r\n\r\n0123456789abcdef\r\n--b--\r\n'),
        ("text/plain", b"key=0123456789abcdef"),
    ]
    for path, (kind, body) in product(("play", "t/ABCDEF"), forms):
        # Each request uses a new connection, because the bot can close a connection after nonsense.
        async with open_browser(site) as anna:
            headers = {**anna.origin, "Content-Type": kind}
            async with anna.session.post(site.url + path, data=body, headers=headers) as answer:
                assert answer.status == 403, (path, kind, body)
                assert "Content-Security-Policy" in answer.headers, (path, kind, body)


@pytest.mark.parametrize("path", ["play", "in", "ticket"])
async def test_badly_encoded_body_is_refused_without_an_error(site: OpenPlayground, path: str) -> None:
    async with open_browser(site) as anna:
        headers = {**anna.origin, "Content-Type": "application/x-www-form-urlencoded", "Content-Encoding": "gzip"}
        async with anna.session.post(site.url + path, data=b"no gzip", headers=headers) as answer:
            assert answer.status == 400


@pytest.mark.parametrize("path", ["play", "in", "ticket", "api/v1/me/tables"])
async def test_unfinished_request_times_out(site: OpenPlayground, monkeypatch: pytest.MonkeyPatch, path: str) -> None:
    monkeypatch.setattr("bot.http.server.SENT_SECONDS", 0.05)
    _program, token = await Programs(site.worker.store.client).add("Slow")
    reader, writer = await asyncio.open_connection("127.0.0.1", site.port)
    kind = "application/json" if path.startswith("api") else "application/x-www-form-urlencoded"
    log_lines = [
        f"POST /{path} HTTP/1.1",
        f"Host: 127.0.0.1:{site.port}",
        f"Origin: {site.url.rstrip('/')}",
        f"Content-Type: {kind}",
        f"Authorization: Bearer {token}",
        "Idempotency-Key: 12345678",
        "Content-Length: 100",
    ]
    writer.write("\r\n".join([*log_lines, "", "x"]).encode())
    async with asyncio.timeout(60):
        assert (await reader.readline()).split()[1] == b"408"
    writer.close()


async def test_different_press_with_the_same_key_is_handled(site: OpenPlayground) -> None:
    async with open_browser(site) as anna:
        code = await anna.play("tressette", friend="1")
        async with anna.connect(code) as live:
            await live.receive("table")
            for target in ("21", "31", "31"):
                assert not (await live.press(f"1t{code}:rule target={target}", "same"))["refused"]
                assert dict((await site.worker.room.table(code)).rules)["target"] == int(target)


async def test_strangers_cannot_learn_which_tables_exist(site: OpenPlayground) -> None:
    async with open_browser(site) as anna, open_browser(site) as bruno:
        code = await anna.play()
        assert await bruno.get(f"/t/{code}") == await bruno.get("/t/ZZZZZZ")
        for guess in (code, "ZZZZZZ"):
            async with bruno.connect(guess) as live:
                assert (await live.socket.receive_json(timeout=60)) == {"gone": True, "stranger": True}
        # The same is true of a known person who does not sit there.
        await bruno.play()
        async with bruno.connect(code) as live:
            assert await live.receive("gone") is True
        assert (await bruno.get("/t/nonsense-code"))[0] == 404


async def test_invitation_names_the_player_and_the_game(site: OpenPlayground) -> None:
    async with open_browser(site) as anna, open_browser(site) as bruno:
        code = await anna.play("tressette", friend="1", name="<Anna>")
        async with anna.connect(code) as live:
            await live.receive("table")
            await live.press(f"1t{code}:rule target=31")
        status, page = await bruno.get(f"/t/{code}")
        assert status == 200
        text = re.sub("<b>|</b>|\u2068|\u2069", "", page)
        assert "&lt;Anna&gt; invites you to play Tressette in Quattro." in text
        assert "To 93 (31 × 3) points · 5 minutes a move" in text
        assert "Pair 1: South: &lt;Anna&gt; · North: free seat" in text
        assert f'href="/rules/tressette?t={code}"' in page


async def test_full_table_offers_to_watch_it(site: OpenPlayground) -> None:
    async with open_browser(site) as anna, open_browser(site) as bruno, open_browser(site) as carla:
        duel = await anna.play("testa", friend="1", name="Anna")
        await bruno.post(f"/t/{duel}")
        watch_id = await site.worker.watching.watch_id(await site.worker.room.table(duel))
        answer = await carla.post(f"/t/{duel}")
        for status, page in (await carla.get(f"/t/{duel}"), (answer.status, await answer.text())):
            assert status == 200
            assert "This table is full, but you can watch the game." in page
            assert f'href="/t/{watch_id}"' in page
            assert "Anna" not in page
        assert not list(carla.session.cookie_jar)
        # A person known to the bot reads the same.
        await carla.play()
        answer = await carla.post(f"/t/{duel}")
        assert "you can watch the game" in await answer.text()


async def test_full_table_closed_to_watchers_says_so(site: OpenPlayground) -> None:
    table = await site.worker.challenges.open_table("testa", "paper:1", "Anna", "u1", host="paper:100")
    await site.worker.challenges.sit(table.code, "paper:2", "Bruno", "u2")
    await site.worker.people.update_chat("paper:100", watched="0")
    async with open_browser(site) as carla:
        status, page = await carla.get(f"/t/{table.code}")
        assert status == 200
        assert "This table is full: open another one from the first page." in page
        assert table.code not in page


async def test_challenge_by_name_invites_nobody_else(site: OpenPlayground) -> None:
    async with open_browser(site) as bruno:
        table = await site.worker.challenges.open_table(
            "testa", "paper:1", "Anna", "u1", invited=Invited("paper:2", "", "Dino")
        )
        assert (await bruno.get(f"/t/{table.code}"))[0] == 404


@pytest.fixture
def limited(limited: None, monkeypatch: pytest.MonkeyPatch) -> None:
    """Turn on limits, and allow two unknown codes."""
    monkeypatch.setattr("adapters.web.limits.CODES", RateLimit(burst=2, interval=3600.0))


async def test_invitation_lookups_are_limited_by_address(limited: None, site: OpenPlayground) -> None:
    async with open_browser(site) as anna, open_browser(site) as bruno:
        code = await anna.play("testa", friend="1")
        for number in range(3):
            assert (await bruno.get(f"/t/{code}"))[0] == 200, number
        for letter in "AB":
            assert (await bruno.get(f"/t/ZZZZZ{letter}"))[0] == 404
        status, page = await bruno.get(f"/t/{code}")
        assert (status, "Anna" in page) == (429, False)
        # Seated players still see their table.
        assert 'id="page-data"' in (await anna.get(f"/t/{code}"))[1]


async def test_unknown_codes_tried_at_once_all_count(limited: None, site: OpenPlayground) -> None:
    async with open_browser(site) as bruno:
        letters = "ABCDEFGHIJKLMNOPQRSTUVWX"
        statuses = [
            status for status, _page in await asyncio.gather(*(bruno.get(f"/t/ZZZZZ{letter}") for letter in letters))
        ]
        assert sorted(set(statuses)) == [404, 429]
        assert statuses.count(404) == 2


async def test_unknown_codes_are_counted(site: OpenPlayground) -> None:
    async with open_browser(site) as bruno:
        await bruno.play()
        for letter in "ABCDEF":
            address = f"{site.url}t/ZZZZZ{letter}"
            answer = await bruno.session.post(address, data={"name": "Bruno"}, headers=bruno.origin)
        assert "Too many wrong codes" in await answer.text()


async def test_forged_cookie_identifies_nobody(site: OpenPlayground) -> None:
    async with open_browser(site) as anna:
        code = await anna.play()
        id_ = await get_only_id(site)
    for value in (f"{id_}.", f"{id_}.wrong", id_, ".", f"{id_}.%C3%A9", "é.é"):
        headers = {"Cookie": f"buongioco={value}"}
        async with aiohttp.ClientSession() as session, session.get(f"{site.url}t/{code}", headers=headers) as answer:
            assert 'id="page-data"' not in await answer.text()


async def test_form_chooses_the_points_to_win(site: OpenPlayground, session: aiohttp.ClientSession) -> None:
    for number, (game, robot, target) in enumerate(
        [("metamazzo", "", 21), ("metamazzo", "31", 31), ("spades", "200", 200), ("testa", "51", 11)]
    ):
        fields = {"game": game, "robot": "easy", "key": f"{number:016x}", "target": robot}
        answer = await Visitor(site, session).post("/play", None, **fields)
        table = await site.worker.room.table(answer.headers["Location"].rpartition("/t/")[2])
        assert table.game
        assert table.game.rules.model_dump()["target"] == target
    answer = await Visitor(site, session).post("/play", None, game="testa", robot="", key="f" * 16, target="endless")
    assert answer.status == 403


async def test_first_game_against_a_robot_is_short(site: OpenPlayground, monkeypatch: pytest.MonkeyPatch) -> None:
    async with open_browser(site) as anna:
        for has_played, robot, target in ((False, "easy", 21), (False, "", 51), (True, "easy", 51)):
            monkeypatch.setattr("bot.handlers.lobby.Lobby.has_played", AsyncMock(return_value=has_played))
            answer = await anna.post("/play", game="metamazzo", robot=robot, key=f"{target + len(robot):016x}")
            table = await site.worker.room.table(answer.headers["Location"].rpartition("/t/")[2])
            assert table.rules.get("target", 51) == target
            _status, page = await anna.get("/")
            preset = re.search(r'<select name="target">\s*<option value="(\d+)"', page)
            assert preset
            assert int(preset[1]) == (51 if has_played else 21)


async def test_two_people_join_by_link_and_play(site: OpenPlayground) -> None:
    async with open_browser(site) as anna, open_browser(site) as bruno:
        code = await anna.play("testa", friend="1", name="Anna")
        async with anna.connect(code) as anna_live:
            waiting = await anna_live.receive("table")
            assert (waiting["phase"], waiting["rules"], waiting["by_link"]) == ("open", "/rules/testa", True)
            labels = [label for row in waiting["extra"] for label, *_button in row]
            assert "Join" not in labels
            assert "Change game or options" in labels
            await anna_live.press(f"1t{code}:menu rules")
            assert any(
                "to 21" in label for row in (await anna_live.receive("table"))["extra"] for label, *_button in row
            )
            answer = await bruno.post(f"/t/{code}", name="Bruno")
            assert (answer.status, answer.headers["Location"]) == (303, f"/cookies?to=/t/{code}")
            await cut_pack(site.worker, code)
            while (state := await anna_live.receive("table"))["phase"] != "playing":
                pass
            assert [side["name"] for side in state["sides"]] == ["you", "\u2068Bruno\u2069"]
            async with bruno.connect(code) as bruno_live:
                bruno_state = await bruno_live.receive("table")
                anna_turn, bruno_turn = (state, anna_live), (bruno_state, bruno_live)
                (mover_state, mover) = anna_turn if state["is_mine"] else bruno_turn
                card = next(card for card in mover_state["hand"] if card["light"] == "playable")
                assert (await mover.press(card["press"], "move1"))["refused"] is False
                # A repeated press counts once.
                assert (await mover.press(card["press"], "move1"))["refused"] is False
                watcher = bruno_live if mover is anna_live else anna_live
                lying = await watcher.receive("table")
                assert [side["code"] for side in lying["trick"]] == [card["code"]]
                late = await mover.press(card["press"], "move2")
                assert late["refused"] is True
                assert late["toast"]


async def test_rematch_on_pages_asks_the_opponent(site: OpenPlayground, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(live_hands, "REMATCH_SECONDS", 0.05)
    async with open_browser(site) as anna, open_browser(site) as bruno:
        code = await anna.play("testa", friend="1", name="Anna")
        await bruno.post(f"/t/{code}", name="Bruno")
        await cut_pack(site.worker, code)
        async with anna.connect(code) as anna_live, bruno.connect(code) as bruno_live:
            state = await anna_live.receive("table")
            assert not state["by_link"]
            await anna_live.press(f"1m{code}:{state['version']}:resign")
            while (state := await anna_live.receive("table"))["phase"] != "over":
                pass
            while (
                "rematch" in (bruno_state := await bruno_live.receive("table"))["line"]
                or bruno_state["phase"] != "over"
            ):
                pass
            [rematch] = [payload for row in state["extra"] for _label, payload, *_rest in row if "rematch" in payload]
            # The page can be faster than the archive, and a rematch needs the archived record.
            path = (await anna_live.press(rematch, "again1"))["go"]
            # The reason why the game is not rated can come first.
            while "rematch" not in (question := await bruno_live.receive("table"))["line"]:
                pass
            assert question["line"].endswith("\u2068Anna\u2069 asks for a rematch, and waits a minute.")
            assert question["says"].endswith("waits a minute.")
            async with anna.connect(path.removeprefix("/t/")) as waiting:
                state = await waiting.receive("table")
                assert not state["by_link"]
                assert "You’re ready. Waiting for \u2068Bruno\u2069." in "".join(text for text, _style in state["text"])
                assert [label for row in state["extra"] for label, *_rest in row] == ["Not now"]
                assert (await bruno_live.press(rematch, "again2"))["go"] == path
                await cut_pack(site.worker, path.removeprefix("/t/"))
                while (await waiting.receive("table"))["phase"] != "playing":
                    pass
            # The state without the question might have arrived before the answer to the press.
            tables = [message["table"] for message in bruno_live.received if "table" in message]
            while "rematch" in tables[-1]["line"]:
                tables.append(await bruno_live.receive("table"))


async def test_page_says_why_guests_are_not_rated(site: OpenPlayground, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(live_hands, "REMATCH_SECONDS", 0.05)
    async with open_browser(site) as anna, open_browser(site) as bruno:
        code = await anna.play("testa", friend="1", name="Anna")
        await bruno.post(f"/t/{code}", name="Bruno")
        await cut_pack(site.worker, code)
        async with anna.connect(code) as anna_live, bruno.connect(code) as bruno_live:
            state = await anna_live.receive("table")
            await anna_live.press(f"1m{code}:{state['version']}:resign")
            for page in (anna_live, bruno_live):
                while "Not rated: a guest’s games count after" not in (await page.receive("table"))["line"]:
                    pass


async def test_rematch_on_a_page_counts_for_its_address(limited: None, site: OpenPlayground) -> None:
    """If rematches did not count, guests could resign and start again, and leave any number of tables behind."""
    client = site.worker.store.client
    async with open_browser(site) as anna:
        code = await anna.play("testa")
        async with anna.connect(code) as live:
            state = await live.receive("table")
            await live.press(f"1m{code}:{state['version']}:resign")
            while (state := await live.receive("table"))["phase"] != "over":
                pass
            [rematch] = [payload for row in state["extra"] for _label, payload, *_rest in row if "rematch" in payload]
            path = (await live.press(rematch, "again1"))["go"]
        addresses = [await client.hkeys(key) async for key in client.scan_iter("opened_from:*")]
        [person] = [key.decode() async for key in client.scan_iter("seated:web:*")]
        seated = await client.hkeys(person)
        assert path.removeprefix("/t/").encode() in seated
        assert len(addresses) == 2, "the table must count for the address and for its network"
        assert all(set(seated) <= set(codes) for codes in addresses)


async def test_nonsense_on_the_socket_is_refused(site: OpenPlayground) -> None:
    async with open_browser(site) as anna:
        code = await anna.play()
        async with anna.connect(code) as live:
            assert (await live.receive("table"))["code"] == code
            for payload in (
                "x",
                "1pforget yes",
                f"1t{code}:draft 1 2 3",
                "1tZZZZZZ:menu game",
                f"1m{code}:0:play 1X",
                "1prematch ABCD-123456",
            ):
                assert (await live.press(payload))["refused"] is True, payload
        for message in (
            "",
            "{",
            "[]",
            '{"n":1}',
            '{"n":"abcd"}',
            '{"n":"abcd","press":"x","as":"1"}',
            '{"n":"ABCD","press":"x"}',
        ):
            async with anna.connect(code) as live:
                await live.receive("table")
                await live.socket.send_str(message)
                assert await wait_for_close(live) == aiohttp.WSCloseCode.POLICY_VIOLATION, message
        table = await site.worker.room.table(code)
        [seat] = [seat for seat, chair in enumerate(table.chairs) if chair and not chair.is_robot]
        assert table.game
        assert seat not in {mover for mover, _ in table.game.moves}


async def wait_for_close(live: LiveSocket) -> int | None:
    """Return the code with which the connection closes; no message comes before it."""
    while (message := await live.socket.receive(timeout=60)).type is aiohttp.WSMsgType.TEXT:
        assert "n" not in json.loads(message.data)
    return live.socket.close_code


async def test_socket_messages_are_limited_by_address(
    limited: None, site: OpenPlayground, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("adapters.web.limits.MESSAGES", RateLimit(burst=2, interval=3600.0))
    monkeypatch.setattr("adapters.web.table_socket.LIMIT_PAUSE_SECONDS", 0.01)
    async with open_browser(site) as anna:
        code = await anna.play()
        async with anna.connect(code) as live:
            for _ in range(2):
                assert (await live.press("x"))["refused"] is True
            assert "Too many requests" in (await live.press("x"))["toast"]
        async with anna.connect(code) as live:
            assert "Too many requests" in (await live.press("x"))["toast"]


async def test_too_many_new_people_at_once_are_refused(site: OpenPlayground, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(people, "MAX_NEW", 2)
    for number in range(3):
        async with open_browser(site) as anna:
            answer = await anna.post("/play", game="testa", robot="easy", key="0123456789abcdef")
            assert answer.status == (403 if number == 2 else 303)


async def test_new_people_and_open_pages_are_limited_by_address(
    limited: None, site: OpenPlayground, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("adapters.web.limits.NEWCOMERS", RateLimit(burst=2, interval=60.0))
    monkeypatch.setattr("adapters.web.limits.PAGES_OF_ADDRESS", 1)
    async with open_browser(site) as anna, open_browser(site) as bruno, open_browser(site) as carla:
        code, bruno_code = await anna.play(), await bruno.play()
        async with anna.connect(code) as live:
            await live.receive("table")
            with pytest.raises(aiohttp.WSServerHandshakeError) as refused:
                await bruno.session.ws_connect(f"{site.url}t/{bruno_code}/live", headers=bruno.origin)
            assert refused.value.status == 429
        assert (await carla.post("/play", game="testa", robot="easy", key="0123456789abcdef")).status == 429
        # Known people can continue to play.
        assert await anna.play(game="testa") != code


async def test_opening_a_socket_counts_as_a_request(
    limited: None, site: OpenPlayground, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with open_browser(site) as anna:
        monkeypatch.setattr("adapters.web.limits.REQUESTS", RateLimit(burst=2, interval=3600.0))
        code = await anna.play()
        async with anna.connect(code) as live:
            await live.receive("table")
        with pytest.raises(aiohttp.WSServerHandshakeError) as error:
            await anna.session.ws_connect(f"{site.url}t/{code}/live", headers=anna.origin)
        assert error.value.status == 429


async def test_forgotten_person_does_not_return_with_a_name(
    site: OpenPlayground, monkeypatch: pytest.MonkeyPatch
) -> None:
    client = site.worker.store.client
    async with open_browser(site) as anna:
        await anna.play(name="Anna")
        person = people.WebPerson(f"web:{await get_only_id(site)}", "Anna")
        read_field = client.hget

        async def read_and_forget(key: str, field: str) -> Any:
            value = await read_field(key, field)
            await client.hdel(key, field)
            return value

        monkeypatch.setattr(client, "hget", read_and_forget)
        assert await site.site.people.rename(person, "Bea") == person
        assert not await client.exists(people.PEOPLE)


@pytest.mark.parametrize("path", ["/t/AAAAAA/live", "/t/AAAAAA-ABCDEFGHJKMN/live"])
async def test_early_socket_disconnect_is_not_a_store_outage(
    site: OpenPlayground, path: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    client = socket.create_connection(("127.0.0.1", site.port))
    client.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    disconnected = asyncio.Event()

    async def disconnect(*_request: object) -> None:
        # The connection is reset, which shows only at the next write.
        client.close()
        disconnected.set()

    monkeypatch.setattr(people.WebPeople, "identify", disconnect)
    host = f"127.0.0.1:{site.port}"
    with capture_logs() as logs:
        client.sendall(
            f"GET {path} HTTP/1.1\r\nHost: {host}\r\nOrigin: http://{host}\r\nConnection: Upgrade\r\n"
            "Upgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n".encode()
        )
        async with asyncio.timeout(60):
            await disconnected.wait()
            async with aiohttp.ClientSession() as session, session.get(f"{site.url}healthz") as health:
                assert (await health.json())["store"] is True
    assert "store_failed" not in [line["event"] for line in logs]


async def test_player_who_stands_up_gets_a_gone_message(site: OpenPlayground) -> None:
    async with open_browser(site) as anna, open_browser(site) as bruno:
        code = await anna.play("tressette", friend="1")
        await bruno.post(f"/t/{code}", name="Bruno")
        async with bruno.connect(code) as live:
            state = await live.receive("table")
            stand = next(payload for row in state["extra"] for _, payload, *_ in row if payload.endswith(":stand"))
            await live.press(stand)
            if not any("gone" in message for message in live.received):
                assert await live.receive("gone") is True


async def test_open_pages_of_one_person_are_limited(site: OpenPlayground, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("adapters.web.table_socket.MAX_PAGES_EACH", 1)
    async with open_browser(site) as anna:
        code = await anna.play()
        async with anna.connect(code) as live:
            await live.receive("table")
            with pytest.raises(aiohttp.WSServerHandshakeError) as refused:
                await anna.session.ws_connect(f"{site.url}t/{code}/live", headers=anna.origin)
            assert refused.value.status == 429


async def test_open_pages_are_counted(site: OpenPlayground) -> None:
    def count_open() -> float | None:
        return REGISTRY.get_sample_value("buongioco_pages_open", {"kind": "table"})

    async with open_browser(site) as anna:
        before, code = count_open(), await anna.play()
        async with anna.connect(code) as live:
            await live.receive("table")
            assert count_open() == (before or 0) + 1
        async with asyncio.timeout(60):
            while count_open() != before:
                await asyncio.sleep(0.01)


async def test_finished_game_is_not_an_invitation(site: OpenPlayground) -> None:
    async with open_browser(site) as anna:
        code = await anna.play()
        async with anna.connect(code) as live:
            state = await live.receive("table")
            await live.press(state["resign"])
            question = await live.receive("table")
            yes = next(
                payload for row in question["extra"] for _label, payload, *_ in row if payload.endswith(":resign")
            )
            assert (await live.press(yes))["refused"] is False
            result = await live.receive("table")
            assert result["phase"] == "over"
            await site.worker.wait_until_idle()
            # A page that was offline at the end of the game is led to the result.
            async with anna.connect(code) as late:
                path = (await late.socket.receive_json(timeout=60))["go"]
                assert path.startswith(f"/g/{code}-")
            rematch = next(payload for row in result["extra"] for _label, payload, *_ in row)
            answer = await live.press(rematch, "again")
            assert re.fullmatch(r"/t/[A-Z0-9]{6}", answer["go"])
            # A page that shows the result stays open for a rematch, and for nothing else.
            async with anna.connect(code, "?ended") as back:
                assert (await back.press(state["resign"], "back"))["refused"]
                assert (await back.press(f"1:rematch:{result['replay'][:-1]}0", "other"))["refused"]
                assert (await back.press(rematch, "third"))["go"] == answer["go"]
            async with open_browser(site) as bruno:
                await bruno.play()
                async with bruno.connect(code, "?ended") as stranger:
                    assert "go" not in await stranger.socket.receive_json(timeout=60)
                assert await bruno.get(f"/t/{code}?ended") == await bruno.get("/t/ZZZZZZ")
        # The table's address now leads to the game, also after a restart. Strangers see neither.
        await site.stop()
        await site.start()
        async with anna.session.get(f"{site.url}t/{code}") as page:
            assert page.url.path == f"/g/{result['replay']}"
            assert page.status == 200
        async with open_browser(site) as bruno:
            await bruno.play()
            assert await bruno.get(f"/t/{code}") == await bruno.get("/t/ZZZZZZ")
        async with anna.connect(answer["go"].removeprefix("/t/")) as live:
            assert (await live.receive("table"))["phase"] == "playing"


async def test_forget_removes_stored_data_of_a_web_person(site: OpenPlayground) -> None:
    client = site.worker.store.client
    async with open_browser(site) as anna:
        await anna.play(name="Anna")
        person = f"web:{await get_only_id(site)}"
        assert '"name": "Anna"' in (await read_adapter_data(client, person))[people.PEOPLE]
        await delete_adapter_data(client, person)
        assert not await client.exists(people.PEOPLE)
        # The cookie is now unknown.
        assert "Anna" not in (await anna.get("/"))[1]


async def test_unnamed_guest_is_shown_in_the_readers_language(site: OpenPlayground) -> None:
    async with open_browser(site) as anna, open_browser(site) as bruno:
        anna.session.headers["Accept-Language"] = "it"
        code = await anna.play("testa", friend="1")
        answer = await bruno.post(f"/t/{code}", name="Bruno")
        assert answer.status == 303
        await cut_pack(site.worker, code)
        async with anna.connect(code) as anna_live, bruno.connect(code) as bruno_live:
            bruno_state = await bruno_live.receive("table")
            assert re.fullmatch("\u2068Guest \\d{3}\u2069", bruno_state["sides"][1]["name"])
            assert (await anna_live.receive("table"))["sides"][1]["name"] == "\u2068Bruno\u2069"
        # The generated name is not filled into the name field.
        assert 'value=""' in (await anna.get("/"))[1]
        assert 'value="Bruno"' in (await bruno.get("/"))[1]
        table = await site.worker.room.table(code)
        [guest] = [chair.name for chair in table.localize("it").chairs if chair and chair.name != "Bruno"]
        assert re.fullmatch(r"Ospite \d{3}", guest)


async def test_own_tables_show_a_link_for_watchers(site: OpenPlayground) -> None:
    async with open_browser(site) as anna:
        practice = await anna.play(name="Anna")
        person = f"web:{await get_only_id(site)}"
        room, challenges = site.worker.room, site.worker.challenges
        table = await challenges.open_table("testa", person, "Anna", "u1", host="playground:bar")
        page = (await anna.get("/"))[1]
        watch_id = await site.worker.watching.watch_id(await room.table(table.code))
        assert f'href="/t/{watch_id}"' in page
        # A table that no chat shows gets a link too: its players decide who watches.
        assert f"/t/{practice}-" in page
        private = await challenges.open_table("testa", person, "Anna", "u2", host="playground:@1")
        assert f"/t/{private.code}-" not in (await anna.get("/"))[1]
        await site.worker.people.update_chat("playground:bar", watched="0")
        assert watch_id not in (await anna.get("/"))[1]


async def test_own_tables_show_the_turn_and_the_score(site: OpenPlayground) -> None:
    async with open_browser(site) as anna:
        code = await anna.play("testa", robot="easy", name="Anna")
        table = await site.worker.room.table(code)
        assert table.game
        while table.game.turn != table.seat_of(table.opener.person):
            await asyncio.sleep(0.05)
            table = await site.worker.room.table(code)
            assert table.game
        _status, page = await anna.get("/")
        assert re.search(rf"<b>Your turn.</b> .*Anna\S* 0, .*Gino\S* 0 · <code>{code}</code>", page)
        waiting_table = await anna.play("testa", friend="1")
        _status, page = await anna.get("/")
        assert re.search(rf"waits for players\s+<code>{waiting_table}</code>", page)


async def test_stranger_chooses_language_and_suits_before_a_game(site: OpenPlayground) -> None:
    async with open_browser(site) as anna:
        assert 'href="/settings"' in (await anna.get("/"))[1]
        status, page = await anna.get("/settings")
        assert status == 200
        assert re.findall(r'<option value="(\w+)" selected', page) == ["en", "italian", "classic", "normal"]
        # Nonsense adds no person.
        assert (await anna.post("/settings", suits="stars")).status == 403
        assert not list(anna.session.cookie_jar)
        await anna.post("/settings", language="it", suits="french", deck="classic")
        status, page = await anna.get("/")
        assert "Gioca subito" in page
        # The easy robot is still preset for their first game.
        assert re.findall(r'<option value="(\w+)" selected', page) == ["easy"]
        code = await anna.play("testa")
        async with anna.connect(code) as live:
            assert (await live.receive("table"))["deck"] == "french-classic"


async def test_page_settings_apply_at_tables(site: OpenPlayground) -> None:
    async with open_browser(site) as anna:
        code = await anna.play("testa", name="Anna")
        async with anna.connect(code) as live:
            assert (await live.receive("table"))["deck"] == "italian-classic"
        for nonsense in ({"suits": "stars"}, {"name": "Eve"}, {"language": "it", "deck": "easy; DEL *"}):
            assert (await anna.post("/settings", None, **nonsense)).status == 403
        assert (await anna.post("/settings", language="it", suits="french", deck="easy")).status == 303
        answer = await anna.post("/settings", language="it", suits="french", deck="easy", t=code)
        assert answer.headers["Location"] == f"/t/{code}"
        other_answer = await anna.post("/settings", language="it", suits="french", deck="easy", t="//evil.example")
        assert other_answer.headers["Location"] == "/settings?saved"
        assert "✓ Salvato" in (await anna.get("/settings?saved"))[1]
        assert "✓ Salvato" not in (await anna.get("/settings"))[1]
        status, page = await anna.get(f"/settings?t={code}")
        assert status == 200
        assert f'href="/t/{code}"' in page
        assert re.findall(r'<option value="(\w+)" selected', page) == [
            "it",
            "french",
            "easy",
            "normal",  # the size of cards
            "18",  # the hour of daily notifications
        ]
        assert "Le tue impostazioni" in page
        async with anna.connect(code) as live:
            assert (await live.receive("table"))["deck"] == "french-easy"
        person = (await site.worker.room.table(code)).opener.person
        assert (await site.worker.people.person(person)).name == "Anna"
