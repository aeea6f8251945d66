"""The Activity: its button, its sign-in, and its entry point."""

import json
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any
from urllib.parse import parse_qs, urlencode, urlsplit

import aiohttp
import pytest
from cachetools import TTLCache
from structlog.testing import capture_logs

from adapters.discord import examine
from adapters.discord.activity import LAUNCH_SECONDS
from adapters.discord.limits import MAX_REFUSALS
from adapters.discord.places import InteractionToken
from adapters.web import make
from adapters.web.app_visitors import KNOWN_SECONDS
from adapters.web.people import FRAMED
from adapters.web.playground.adapter import Playground
from adapters.web.site import Site
from bot.handlers import Dispatcher
from bot.places import GUEST, Place
from bot.platform import Person as PlatformPerson
from bot.rate_limiter import RateLimit
from bot.settings import Settings
from bot.store import Store
from tests.discord.activities import SECRET
from tests.discord.players import BAR, CHANNEL, ObservedDiscord, Person, on_discord, seat_people, until
from tests.discord.server import TOKEN, DiscordServer, Failure

PUBLIC = "https://cards.example.org"
APP = "https://1000.discordsays.com"
FROM_PROXY = {"Host": "cards.example.org", "X-Forwarded-Proto": "https", "X-Forwarded-For": "203.0.113.7"}
ON: dict[str, Any] = {"discord_activity": True, "discord_client_secret": SECRET, "public_url": PUBLIC}


@asynccontextmanager
async def with_activity(
    store: Store, server: DiscordServer, **settings_fields: Any
) -> AsyncIterator[tuple[ObservedDiscord, Site, "Frame"]]:
    server.activities.is_enabled = True
    settings = {"playground_port": 0, **ON, **settings_fields}
    async with on_discord(store, server, **settings) as adapter, aiohttp.ClientSession() as session:
        [playground] = [page for page in make(Dispatcher(adapter.worker)) if isinstance(page, Playground)]
        async with playground.site.open():
            yield adapter, playground.site, Frame(session, playground.site.port)


class Frame:
    """Discord's frame, whose requests come through Discord's proxy."""

    def __init__(self, session: aiohttp.ClientSession, port: int) -> None:
        self._session, self._url = session, f"http://127.0.0.1:{port}"

    async def open(self, instance: str, **headers: str) -> dict[str, str]:
        """Open the launch page. Return its data."""
        query = urlencode({"instance_id": instance, "frame_id": "f", "platform": "mobile"})
        framed = {"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "navigate", "Sec-Fetch-Dest": "iframe"}
        async with self._session.get(f"{self._url}/?{query}", headers={**FROM_PROXY, **framed, **headers}) as answer:
            assert answer.status == 200
            policy = answer.headers["Content-Security-Policy"]
            assert "frame-ancestors https://discord.com " in policy
            text = await answer.text()
            assert SECRET not in text
            data: dict[str, str] = json.loads(text.partition('id="page-data">')[2].partition("</script>")[0])
            return data

    async def enter(self, origin: str = APP, **fields: str) -> aiohttp.ClientResponse:
        headers = {**FROM_PROXY, "Origin": origin, "Accept": "application/json"}
        return await self._session.post(f"{self._url}/app/discord", data={"data": urlencode(fields)}, headers=headers)

    async def get(self, path: str, cookie: str) -> int:
        headers = {**FROM_PROXY, "Cookie": cookie}
        async with self._session.get(f"{self._url}{path}", headers=headers, allow_redirects=False) as answer:
            return answer.status


async def sign_in(frame: Frame, server: DiscordServer, user: int, instance: str) -> tuple[str, str]:
    """Return the page that opens, and the cookie."""
    data = await frame.open(instance)
    answer = await frame.enter(code=server.activities.authorize(user), state=data["state"], instance_id=instance)
    assert answer.status == 200
    to = parse_qs(urlsplit((await answer.json())["to"]).query)["to"][0]
    cookie = answer.headers["Set-Cookie"]
    for flag in (FRAMED, "HttpOnly", "Secure", "SameSite=None", "Partitioned"):
        assert flag in cookie
    return to, cookie.partition(";")[0]


async def launch(person: Person, server: DiscordServer, *, on_board: bool = False) -> str:
    """Press *Play here*. Return the instance."""
    channel = server.channels[CHANNEL] if on_board else person.private
    await until(lambda: person.button("Play here", channel) is not None)
    match = person.button("Play here", channel)
    assert match
    interaction = person.start_press(channel, match[0], match[1]["custom_id"])
    await until(lambda: bool(interaction.answer))
    assert interaction.answer == 12
    return list(server.activities.instances)[-1]


async def test_hand_and_board_open_the_table(store: Store, server: DiscordServer) -> None:
    async with with_activity(store, server) as (adapter, _site, frame):
        people = await seat_people(server, "metamazzo")
        [table] = await adapter.worker.room.lists.tables_of("discord:1")
        instance = await launch(people[0], server)
        to, _cookie = await sign_in(frame, server, 1, instance)
        assert to == f"/t/{table.code}"
        stranger = Person(server, 9, "Zoe")
        instance = await launch(stranger, server, on_board=True)
        to, _cookie = await sign_in(frame, server, 9, instance)
        assert to.startswith(f"/t/{table.code}-"), "a person without a seat watches"
        # The other player joins the channel's instance without a button.
        server.activities.launch(2, CHANNEL, people[1].server.channels[CHANNEL].server)
        assert (await sign_in(frame, server, 2, instance))[0] == f"/t/{table.code}"


async def test_each_person_opens_the_table_of_their_press(store: Store, server: DiscordServer) -> None:
    async with with_activity(store, server) as (adapter, _site, frame):
        people = await seat_people(server, "metamazzo")
        instance = await launch(people[0], server, on_board=True)
        other_people = await seat_people(server, "metamazzo", first=3)
        assert await launch(other_people[0], server, on_board=True) == instance, "a channel has one instance"
        for number in (1, 3):
            [table] = await adapter.worker.room.lists.tables_of(f"discord:{number}")
            assert (await sign_in(frame, server, number, instance))[0] == f"/t/{table.code}"
        stranger = PlatformPerson("discord:9", "Zoe", "", "en")
        page = await adapter.card_room.lobby.find_page(
            stranger, "ZZZZZZ", str(Place("discord", str(BAR), str(CHANNEL)))
        )
        assert page.startswith("/t/"), "a closed table gives way to one of the channel"


@pytest.mark.parametrize("shards", [None, "0-2/4"])
async def test_channel_of_another_workers_server_is_found(
    store: Store, server: DiscordServer, shards: str | None
) -> None:
    async with with_activity(store, server, discord_shards=shards) as (adapter, _site, _frame):
        Person(server, 9, "Zoe")
        instance = server.activities.launch(9, CHANNEL, BAR)
        assert adapter.mini_app
        assert await adapter.mini_app._where(instance, "discord:9") == (
            "",
            str(Place("discord", str(BAR), str(CHANNEL))),
        )
        guest = str(Place("discord", f"{GUEST}{CHANNEL}"))
        elsewhere = server.activities.launch(9, CHANNEL, 4 << 22)
        assert await adapter.mini_app._where(elsewhere, "discord:9") == ("", guest)


async def test_instance_opens_no_table_for_people_outside_it(store: Store, server: DiscordServer) -> None:
    async with with_activity(store, server) as (_adapter, _site, frame):
        people = await seat_people(server, "metamazzo")
        instance = await launch(people[0], server, on_board=True)
        Person(server, 9, "Zoe")
        assert (await sign_in(frame, server, 9, instance))[0] == "/"
        assert (await sign_in(frame, server, 9, "i-unknown"))[0] == "/"


async def test_invalid_launches_are_refused(
    store: Store, server: DiscordServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with with_activity(store, server) as (_adapter, _site, frame):
        Person(server, 1, "Anna")
        state, spaced = [(await frame.open(instance))["state"] for instance in ("i-1", "i 1")]
        code = server.activities.authorize(1)
        with capture_logs() as logs:
            for fields in (
                {"code": code, "state": "", "instance_id": "i-1"},
                {"code": code, "state": state[:-1] + "!", "instance_id": "i-1"},
                {"code": code, "state": f"9{state}", "instance_id": "i-1"},
                {"code": code, "state": state, "instance_id": "i-2"},
                {"code": code, "state": f"1 {spaced}", "instance_id": "i"},
                {"code": "a b", "state": state, "instance_id": "i-1"},
                {"state": state, "instance_id": "i-1"},
                {"code": "x" * 2000, "state": state, "instance_id": "i-1"},
                {"code": server.activities.authorize(1, -1.0), "state": state, "instance_id": "i-1"},
            ):
                answer = await frame.enter(**fields)
                assert (answer.status, answer.headers.getall("Set-Cookie", [])) == (403, []), fields
            # Another site's page.
            for origin in ("https://evil.example.org", "https://1001.discordsays.com", "https://discord.com"):
                answer = await frame.enter(origin, code=code, state=state, instance_id="i-1")
                assert answer.status == 403
            assert code in server.activities.codes, "no refused launch uses the code"
            late = time.time() + LAUNCH_SECONDS + 1
            monkeypatch.setattr("adapters.discord.activity.time.time", lambda: late)
            assert (await frame.enter(code=code, state=state, instance_id="i-1")).status == 403
        assert SECRET not in str(logs)
        assert code not in str(logs)


async def test_code_works_once(store: Store, server: DiscordServer) -> None:
    async with with_activity(store, server) as (_adapter, _site, frame):
        Person(server, 1, "Anna")
        fields = {"state": (await frame.open("i-1"))["state"], "instance_id": "i-1"}
        code = server.activities.authorize(1)
        assert (await frame.enter(code=code, **fields)).status == 200
        assert (await frame.enter(code=code, **fields)).status == 403


async def test_wrong_secret_is_logged_without_it(store: Store, server: DiscordServer) -> None:
    wrong = "wrongSecretOfAnother"
    async with with_activity(store, server, discord_client_secret=wrong) as (_adapter, _site, frame):
        Person(server, 1, "Anna")
        state = (await frame.open("i-1"))["state"]
        with capture_logs() as logs:
            answer = await frame.enter(code=server.activities.authorize(1), state=state, instance_id="i-1")
        assert answer.status == 403
        assert "discord_client_secret_refused" in [line["event"] for line in logs]
        assert wrong not in str(logs)
        assert wrong not in await answer.text()


async def test_rate_limited_sign_ins_pause_without_asking(store: Store, server: DiscordServer) -> None:
    async with with_activity(store, server) as (adapter, _site, frame):
        Person(server, 1, "Anna")
        fields = {"state": (await frame.open("i-1"))["state"], "instance_id": "i-1"}
        # The proxy in front of Discord answers with a page instead of JSON.
        server.fail_next("exchange", Failure(body=b"<html>", kind="text/html", status=429))
        codes = [server.activities.authorize(1) for _ in range(3)]
        assert [(await frame.enter(code=code, **fields)).status for code in codes] == [503] * 3
        assert [name for name, _body in server.calls].count("exchange") == 1
        assert len(adapter.budget._refusal_times) == 1


async def test_sign_in_waits_while_all_requests_pause(store: Store, server: DiscordServer) -> None:
    async with with_activity(store, server) as (adapter, _site, frame):
        people = await seat_people(server, "metamazzo")
        await until(lambda: people[0].button("Play here", people[0].private) is not None)
        fields = {"state": (await frame.open("i-1"))["state"], "instance_id": "i-1"}
        for _ in range(MAX_REFUSALS):
            adapter.budget.count()
        code = server.activities.authorize(1)
        assert (await frame.enter(code=code, **fields)).status == 503
        assert code in server.activities.codes
        assert adapter.mini_app
        assert not await adapter.mini_app.launch(InteractionToken("1", "t", 0), "discord:1", "ABCDEF")


async def test_launch_before_the_connection_waits(
    store: Store, server: DiscordServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with with_activity(store, server) as (adapter, _site, frame):
        monkeypatch.setattr(adapter.client._connection, "application_id", None)
        assert await frame.get("/?frame_id=f&instance_id=i-1", "") == 503


async def test_without_secret_there_is_no_activity(store: Store, server: DiscordServer) -> None:
    async with with_activity(store, server, discord_client_secret=None) as (adapter, site, _frame):
        assert adapter.mini_app is None
        assert "discord" not in site.card_room.mini_apps
        people = await seat_people(server, "metamazzo")
        await until(lambda: people[0].button("In the browser", people[0].private) is not None)
        assert people[0].button("Play here", server.channels[CHANNEL]) is None


async def test_refused_launch_sends_the_link(store: Store, server: DiscordServer) -> None:
    async with with_activity(store, server):
        people = await seat_people(server, "metamazzo")
        server.activities.is_enabled = False
        assert "browser" in await people[0].press("Play here")


@pytest.mark.parametrize("is_enabled", [False, True])
@pytest.mark.parametrize("is_on", [False, True])
async def test_entry_point_command_exists_if_the_portal_enables_it(
    store: Store, server: DiscordServer, is_on: bool, is_enabled: bool
) -> None:
    server.activities.is_enabled = is_enabled
    async with on_discord(store, server, **(ON if is_on else {})):
        await until(lambda: bool(server.commands))
        kinds = [command["type"] for command in server.commands]
        assert kinds.count(4) == is_enabled
        assert 1 in kinds


async def test_limits_count_accounts(store: Store, server: DiscordServer, monkeypatch: pytest.MonkeyPatch) -> None:
    async with with_activity(store, server, rate_limits=True) as (_adapter, _site, frame):
        cookies = []
        for number, name in ((1, "Anna"), (2, "Bruno")):
            Person(server, number, name)
            cookies.append((await sign_in(frame, server, number, "i-1"))[1])
            assert await frame.get("/how-to-play", cookies[-1]) == 200
        monkeypatch.setattr("adapters.web.limits.REQUESTS", RateLimit(burst=2, interval=3600.0))
        statuses = [[await frame.get("/how-to-play", cookie) for _ in range(3)] for cookie in cookies]
        assert statuses[0][-1] == 429
        assert statuses[1][0] == 200, "another account of the same address has its own limit"
        false = [await frame.get("/how-to-play", f"{FRAMED}=discord:1.x.{number}") for number in range(3)]
        assert false[-1] == 429, "false cookies count for the address"


async def test_active_accounts_never_count_for_a_full_address(
    store: Store, server: DiscordServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with with_activity(store, server, rate_limits=True) as (_adapter, site, frame):
        Person(server, 1, "Anna")
        cookie = (await sign_in(frame, server, 1, "i-1"))[1]
        now = 0.0
        known_people: TTLCache[str, str] = TTLCache(10, KNOWN_SECONDS, lambda: now)
        monkeypatch.setattr(site._app_visitors, "_person_of_cookie", known_people)
        assert await frame.get("/how-to-play", cookie) == 200
        monkeypatch.setattr("adapters.web.limits.REQUESTS", RateLimit(burst=5, interval=3600.0))
        assert [await frame.get("/how-to-play", "") for _ in range(6)][-1] == 429
        for _ in range(3):
            now += 0.9 * KNOWN_SECONDS
            assert await frame.get("/how-to-play", cookie) == 200


async def test_doctor_says_what_the_activity_lacks(server: DiscordServer) -> None:
    async def activity_line(**settings: Any) -> tuple[bool, str]:
        discord_settings = Settings(
            _env_file=None, discord_token=TOKEN, discord_api_url=server.url, **{**ON, **settings}
        )
        [line] = [line async for line in examine(discord_settings) if "Activity" in line[1] or "secret" in line[1]]
        return line

    assert await activity_line(discord_client_secret=None) == (
        False,
        "discord: the Activity is off: set BUONGIOCO_DISCORD_CLIENT_SECRET: it is in the developer portal, under OAuth2",
    )
    is_well, line = await activity_line(public_url="http://cards.example.org")
    assert not is_well
    assert "https address" in line
    is_well, line = await activity_line(discord_client_secret="wrongSecret")
    assert not is_well
    assert "does not accept the client secret" in line
    is_well, line = await activity_line()
    assert is_well
    assert "cards.example.org" in line
    assert SECRET not in line
