"""Sign-in from a chat to a browser: the link, the pages it opens, and the end of sessions."""

import asyncio
import json
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from itertools import count

import aiohttp
import pytest

from adapters.web import people
from bot.features.privacy.feature import PrivacyFeature
from bot.handlers import Dispatcher
from bot.http.server import token_digest
from bot.platform import Person, Press, Reply, private_place
from bot.rate_limiter import RateLimit
from bot.site.sessions import KEPT_SECONDS, LINK_SECONDS, MAX_SESSIONS, NOTED_SECONDS, Sessions
from bot.store import keys
from tests.open_playground import OpenPlayground
from tests.web.test_tables import Visitor, open_browser, wait_for_card

ANNA, BRUNO = (
    Person(f"playground:{number}", name, name.lower(), "en") for number, name in enumerate(("Anna", "Bruno"), 1)
)


class Chat:
    """A person in their private chat of the playground."""

    numbers = count(1)

    def __init__(self, site: OpenPlayground, person: Person) -> None:
        self.site, self.person, self.dispatcher = site, person, Dispatcher(site.worker)

    async def press(self, payload: str, *, genuine: bool = True) -> Reply:
        place = private_place(self.person.id)
        press = Press(f"p{next(self.numbers)}", self.person, place, "1", payload, genuine=genuine)
        return await self.dispatcher.handle_press(press)

    async def practice(self) -> str:
        result = await self.dispatcher.lobby.open_table(self.person, "metamazzo", "easy", f"u{next(self.numbers)}")
        assert result.code, result.refusal
        return result.code

    async def key(self, payload: str) -> str:
        """Press a button and return the key in the link that it sends."""
        return link_address(await self.press(payload)).partition("#key=")[2]


def link_address(reply: Reply) -> str:
    assert reply.panel, reply.toast
    assert reply.private
    [[link]] = reply.panel.rows
    assert link.kind == "link"
    return link.payload


@asynccontextmanager
async def sign_in(site: OpenPlayground, chat: Chat, code: str) -> AsyncIterator[Visitor]:
    async with open_browser(site) as visitor:
        answer = await visitor.post("/in", None, key=await chat.key(f"1t{code}:browser"), t=code)
        assert (answer.status, answer.headers["Location"]) == (303, f"/cookies?to=/t/{code}")
        yield visitor


async def wait_until(condition: Callable[[], Awaitable[bool]]) -> None:
    async with asyncio.timeout(60):
        while not await condition():
            await asyncio.sleep(0.01)


async def test_link_opens_the_persons_own_hand_once(site: OpenPlayground) -> None:
    chat = Chat(site, ANNA)
    code = await chat.practice()
    address = link_address(await chat.press(f"1t{code}:browser"))
    page, _hash, key = address.partition("#key=")
    assert page == f"{site.url}in?t={code}"
    client = site.worker.store.client
    async with open_browser(site) as anna, open_browser(site) as thief:
        # Loading the page, as a link preview does, does not use up the link.
        for _ in range(2):
            status, page_text = await anna.get(f"/in?t={code}")
            assert status == 200
            assert ANNA.name not in page_text
        answer = await anna.post("/in", None, key=key, t=code)
        assert answer.headers["Location"] == f"/cookies?to=/t/{code}"
        cookie = answer.headers["Set-Cookie"]
        for flag in ("HttpOnly", "SameSite=Lax", "Path=/"):
            assert flag in cookie
        session_cookie = cookie.split("=", 1)[1].split(";")[0].strip('"')
        for secret in (key, session_cookie.rpartition(".")[2]):
            assert not [key_ async for key_ in client.scan_iter() if secret.encode() in key_]
            assert secret not in str(await client.hgetall(keys.sessions(ANNA.id)))
        assert (await thief.post("/in", None, key=key, t=code)).status == 410
        assert not list(thief.session.cookie_jar)
        async with anna.connect(code) as live:
            # The person plays on the page as in the chat.
            card = await wait_for_card(live)
            before = (await site.worker.room.table(code)).version
            assert not (await live.press(card))["refused"]
        real = await site.worker.room.table(code)
        assert real.version > before
        assert real.chairs[real.seat_of(ANNA.id) or 0].person == ANNA.id  # type: ignore[union-attr]
        assert "You play here as Anna." in (await anna.get("/"))[1]


@pytest.mark.parametrize("key", ["", "x", "a" * 43, "ü", "\x00", "a" * 2000])
async def test_invalid_link_opens_nothing(site: OpenPlayground, key: str) -> None:
    async with open_browser(site) as anna:
        answer = await anna.post("/in", None, key=key, t="../evil")
        assert answer.status == 410
        assert not list(anna.session.cookie_jar)
        assert (await anna.post("/in", {}, key=key)).status == 403


async def test_link_works_ten_minutes_and_only_for_its_table(site: OpenPlayground) -> None:
    chat = Chat(site, ANNA)
    key = await chat.key("1pbrowsers home")
    [entrance] = [key_ async for key_ in site.worker.store.client.scan_iter(match=keys.entrance("*"))]
    assert 0 < await site.worker.store.client.ttl(entrance) <= LINK_SECONDS
    async with open_browser(site) as anna:
        await chat.practice()
        answer = await anna.post("/in", None, key=key, t="//evil.example")
        assert (answer.status, answer.headers["Location"]) == (303, "/cookies?to=/")


async def test_link_from_an_older_worker_still_works(site: OpenPlayground) -> None:
    """Older links held only a token, and the store held its person. Workers are updated one by one."""
    await Chat(site, ANNA).practice()
    token = "A" * 43
    await site.worker.store.client.set(keys.entrance(token_digest(token)), ANNA.id, ex=LINK_SECONDS)
    async with open_browser(site) as anna, open_browser(site) as thief:
        assert (await anna.post("/in", None, key=token)).status == 303
        assert "You play here as Anna." in (await anna.get("/"))[1]
        assert (await thief.post("/in", None, key=token)).status == 410


async def test_failed_tries_do_not_block_sign_in_from_the_address(
    site: OpenPlayground, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("BUONGIOCO_RATE_LIMITS", "true")
    for limit in ("CODES", "MISSES"):
        monkeypatch.setattr(f"adapters.web.limits.{limit}", RateLimit(burst=1, interval=3600.0))
    await site.stop()
    await site.start()
    chat = Chat(site, ANNA)
    code = await chat.practice()
    async with open_browser(site) as stranger:
        for path in ("/t/ZZZZZZ", "/g/AAAAAA-000000"):
            assert [(await stranger.get(path))[0] for _ in range(2)] == [404, 429], path
        assert {(await stranger.post("/in", None, key="x")).status for _ in range(3)} == {410}
    async with sign_in(site, chat, code) as anna:
        assert (await anna.get(f"/t/{code}"))[0] == 200


async def test_only_seated_people_get_a_link_to_the_table(site: OpenPlayground) -> None:
    code = await Chat(site, ANNA).practice()
    reply = await Chat(site, BRUNO).press(f"1t{code}:browser", genuine=False)
    assert reply.toast
    assert reply.panel is None
    assert not [key async for key in site.worker.store.client.scan_iter(match=keys.entrance("*"))]


async def test_ending_a_session_in_settings_closes_its_page(
    site: OpenPlayground, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("adapters.web.table_socket.SESSION_CHECK_SECONDS", 0.05)
    chat, stranger = Chat(site, ANNA), Chat(site, BRUNO)
    code = await chat.practice()
    async with sign_in(site, chat, code) as laptop, sign_in(site, chat, code) as phone:
        reply = await chat.press("1pbrowsers list")
        assert reply.panel
        buttons = [button for row in reply.panel.rows for button in row if button.label.startswith("Sign out ")]
        assert [button.label for button in buttons] == ["Sign out 1", "Sign out 2", "Sign out all"]
        # Other people cannot end or see these sessions.
        reply_to_stranger = await stranger.press(buttons[0].payload)
        assert reply_to_stranger.panel
        assert "None" in reply_to_stranger.panel.plain
        await stranger.press("1pbrowsers end all")
        assert len(await Sessions(site.worker.store.client).sessions_of(ANNA.id)) == 2
        async with laptop.connect(code) as first, phone.connect(code) as second:
            await first.receive("table")
            await second.receive("table")
            await chat.press("1pbrowsers end all")
            for socket in (first, second):
                assert "You no longer play in this browser" in await socket.receive("why")
            assert (await first.socket.receive()).type is aiohttp.WSMsgType.CLOSE
        assert f"/t/{code}" not in (await laptop.get("/"))[1]
        # A page that was offline is notified when it reconnects, and stops retrying.
        async with phone.connect(code) as late:
            assert "You no longer play in this browser" in await late.receive("why")
            assert (await late.socket.receive()).type is aiohttp.WSMsgType.CLOSE


async def test_ended_session_cannot_press(site: OpenPlayground, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("adapters.web.table_socket.SESSION_CHECK_SECONDS", 600)
    chat = Chat(site, ANNA)
    code = await chat.practice()
    async with sign_in(site, chat, code) as anna, anna.connect(code) as live:
        card = await wait_for_card(live)
        await chat.press("1pbrowsers end all")
        version = (await site.worker.room.table(code)).version
        assert (await live.press(card))["refused"]
        assert (await site.worker.room.table(code)).version == version


async def test_signing_out_restores_the_earlier_guest(site: OpenPlayground) -> None:
    chat = Chat(site, ANNA)
    code = await chat.practice()
    async with open_browser(site) as anna:
        own_table = await anna.play("testa", name="Carla")
        assert (await anna.post("/in", None, key=await chat.key(f"1t{code}:browser"), t=code)).status == 303
        page = (await anna.get("/"))[1]
        assert f"/t/{code}" in page
        assert f"/t/{own_table}" not in page
        assert (await anna.post("/out", {})).status == 403
        assert (await anna.post("/out")).status == 303
        page = (await anna.get("/"))[1]
        assert f"/t/{own_table}" in page
        assert f"/t/{code}" not in page
        assert not await site.worker.store.client.exists(keys.sessions(ANNA.id))


async def test_returning_person_keeps_their_identity(site: OpenPlayground) -> None:
    chat = Chat(site, ANNA)
    code = await chat.practice()
    async with open_browser(site) as anna:
        assert "Set-Cookie" not in (await anna.session.get(site.url)).headers
        await anna.play()
        answer = await anna.session.get(site.url)
        [guest] = answer.headers.getall("Set-Cookie")
        assert guest.startswith(f"{people.COOKIE}=")
        assert f"Max-Age={people.COOKIE_SECONDS[people.COOKIE]};" in guest + ";"
        await anna.post("/in", None, key=await chat.key(f"1t{code}:browser"), t=code)
        for path in ("", f"t/{code}"):
            answer = await anna.session.get(site.url + path)
            [cookie] = answer.headers.getall("Set-Cookie")
            assert cookie.startswith(f"{people.SESSION}={ANNA.id}.")
            assert f"Max-Age={KEPT_SECONDS};" in cookie + ";"
        # Pages without personal content do not renew the cookie.
        for path in ("in", "healthz"):
            assert "Set-Cookie" not in (await anna.session.get(site.url + path)).headers
        await anna.post("/out")
        [guest] = (await anna.session.get(site.url)).headers.getall("Set-Cookie")
        assert guest.startswith(f"{people.COOKIE}=")


async def test_pages_of_a_person_are_not_cached(site: OpenPlayground) -> None:
    chat = Chat(site, ANNA)
    code = await chat.practice()
    async with sign_in(site, chat, code) as anna:
        for path in ("", f"t/{code}", "puzzle", "t/ZZZZZZ"):
            answer = await anna.session.get(site.url + path)
            assert answer.headers["Cache-Control"] == "no-store", path
        await anna.post("/out")
        assert (await anna.session.get(f"{site.url}puzzle")).headers["Cache-Control"] == "no-cache"


async def test_link_of_another_person_takes_over_the_browser(site: OpenPlayground) -> None:
    anna, bruno = Chat(site, ANNA), Chat(site, BRUNO)
    code, bruno_code = await anna.practice(), await bruno.practice()
    async with sign_in(site, anna, code) as visitor:
        await visitor.post("/in", None, key=await bruno.key(f"1t{bruno_code}:browser"), t=bruno_code)
        assert "You play here as Bruno." in (await visitor.get("/"))[1]
        assert not await Sessions(site.worker.store.client).sessions_of(ANNA.id)


async def test_forged_sessions_sign_in_nobody(site: OpenPlayground) -> None:
    sessions = Sessions(site.worker.store.client)
    cookie = await sessions.start(ANNA.id)
    person, id_, token = cookie.rsplit(".", 2)
    assert await sessions.authenticate(cookie) == ANNA.id
    for forged in (
        "",
        ".",
        "..",
        "...",
        f"{person}.{id_}.",
        f"{person}.{id_}.{token}x",
        f"{BRUNO.id}.{id_}.{token}",
        "ü.ü.ü",
    ):
        assert not await sessions.authenticate(forged)


async def test_unused_sessions_expire_and_sessions_are_limited(site: OpenPlayground) -> None:
    sessions, now = Sessions(site.worker.store.client), 1_800_000_000.0
    sessions.now = lambda: now
    first = await sessions.start(ANNA.id)
    now += NOTED_SECONDS + 1
    assert await sessions.authenticate(first)
    [session] = await sessions.sessions_of(ANNA.id)
    assert session.used == int(now) > session.made
    cookies = [await sessions.start(ANNA.id) for _ in range(MAX_SESSIONS)]
    assert not await sessions.authenticate(first)
    assert all([await sessions.authenticate(session) for session in cookies])
    now += KEPT_SECONDS + 1
    assert not any([await sessions.authenticate(session) for session in cookies])
    assert not await sessions.sessions_of(ANNA.id)


async def test_expired_session_is_removed_while_another_is_used(site: OpenPlayground) -> None:
    client, now = site.worker.store.client, 1_800_000_000.0
    sessions = Sessions(client)
    sessions.now = lambda: now
    await sessions.start(ANNA.id)
    for step in (KEPT_SECONDS // 2, KEPT_SECONDS // 2, KEPT_SECONDS // 2):
        now += step + 1
        cookie = await sessions.start(ANNA.id)
    assert await client.hlen(keys.sessions(ANNA.id)) == 2
    for _ in range(2):
        now += KEPT_SECONDS // 2 + 1
        assert await sessions.authenticate(cookie)
    assert await client.hlen(keys.sessions(ANNA.id)) == 1


async def test_session_ended_during_use_stays_ended(site: OpenPlayground, monkeypatch: pytest.MonkeyPatch) -> None:
    client = site.worker.store.client
    sessions = Sessions(client)
    cookie = await sessions.start(ANNA.id)
    key, id_ = keys.sessions(ANNA.id), cookie.split(".")[-2]
    stored_person = json.loads(await client.hget(key, id_))
    await client.hset(key, id_, json.dumps({**stored_person, "used": stored_person["used"] - 2 * NOTED_SECONDS}))
    read_field = client.hget

    async def read_and_end(key: str, field: str) -> bytes | None:
        value = await read_field(key, field)
        await client.hdel(key, field)
        return value  # type: ignore[no-any-return]

    monkeypatch.setattr(client, "hget", read_and_end)
    assert await sessions.authenticate(cookie)
    monkeypatch.undo()
    assert not await sessions.sessions_of(ANNA.id)


async def test_mydata_and_forget_include_sessions(site: OpenPlayground) -> None:
    worker, chat = site.worker, Chat(site, ANNA)
    code = await chat.practice()
    async with sign_in(site, chat, code) as anna:
        file = await worker.feature(PrivacyFeature).own_data.file(ANNA.id, [], 0)
        [session] = json.loads(file.content)["browsers"]
        assert set(session) == {"made", "used"}
        await worker.feature(PrivacyFeature).forgetter.begin(ANNA.id)

        async def is_forgotten() -> bool:
            return not await worker.store.client.exists(keys.sessions(ANNA.id), keys.person(ANNA.id))

        await wait_until(is_forgotten)
        assert "You play here" not in (await anna.get("/"))[1]


async def test_logs_contain_no_link_or_cookie_secret(
    site: OpenPlayground, capfd: pytest.CaptureFixture[str], caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level("DEBUG")
    chat = Chat(site, ANNA)
    code = await chat.practice()
    key = await chat.key(f"1t{code}:browser")
    async with open_browser(site) as anna:
        answer = await anna.post("/in", None, key=key, t=code)
        cookie = answer.headers["Set-Cookie"].split("=", 1)[1].split(";")[0].strip('"')
        async with anna.connect(code) as live:
            await live.receive("table")
        await anna.post("/in", None, key=key, t=code)
    output = capfd.readouterr()
    for secret in (key, cookie, cookie.rpartition(".")[2]):
        assert secret not in output.out + output.err + caplog.text


async def test_press_on_a_page_does_not_count_as_a_private_chat(site: OpenPlayground) -> None:
    """A person who only played on the page has no private chat, and pressed no message of the bot."""
    stranger = Person("playground:77", "Dino", "dino", "en")
    chat = Chat(site, stranger)
    code = await chat.practice()
    cookie = await Sessions(site.worker.store.client).start(stranger.id)
    async with open_browser(site) as dino:
        dino.session.cookie_jar.update_cookies({people.SESSION: cookie})
        async with dino.connect(code) as live:
            card = await wait_for_card(live)
            assert not (await live.press(card))["refused"]
        await dino.post(f"/t/{code}")
    assert not (await site.worker.people.reload(stranger.id)).has_private_chat
    messages = await site.worker.store.load_shown(code)
    assert all(people.PLATFORM not in text and "page" not in text for text in messages.values())
