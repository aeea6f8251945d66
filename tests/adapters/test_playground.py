"""The playground as a platform: identities, refusals, limits and restarts."""

import asyncio
import json
from base64 import b64decode
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import aiohttp
import pytest
from redis.asyncio.client import Pipeline

from adapters.web.playground.chat_store import LONGEST_TEXT, MESSAGES_KEPT, Chat, ChatStore
from adapters.web.refusals import Refused
from bot.cli import health
from bot.panel import Button, Panel, Span
from bot.panel_picture import DECKS, Picture
from bot.pictures.scene import Card, Scene, Side
from bot.platform import ChatGone, File, MessageGone, TooLong, Unreachable
from bot.store import EmbeddedStore, Store
from tests.open_playground import OpenPlayground


@pytest.fixture
async def playground(tmp_path: Path, empty_valkey: EmbeddedStore) -> AsyncIterator[OpenPlayground]:
    running = OpenPlayground(tmp_path / "data", valkey=empty_valkey)
    await running.start()
    yield running
    await running.stop()


@pytest.fixture
async def network(tmp_path: Path, empty_valkey: EmbeddedStore) -> AsyncIterator[OpenPlayground]:
    """A playground that listens on all interfaces."""
    running = OpenPlayground(tmp_path / "data", valkey=empty_valkey, host="0.0.0.0")  # noqa: S104
    await running.start()
    yield running
    await running.stop()


@pytest.fixture
async def session() -> AsyncIterator[aiohttp.ClientSession]:
    async with aiohttp.ClientSession() as client:
        yield client


class TabSocket:
    """A tab's WebSocket and the messages it has received."""

    def __init__(self, socket: aiohttp.ClientWebSocketResponse, hello: dict[str, Any]) -> None:
        self.socket, self.hello = socket, hello
        self.received: list[dict[str, Any]] = []

    @classmethod
    async def open(cls, session: aiohttp.ClientSession, playground: OpenPlayground, key: str = "") -> "TabSocket":
        socket = await session.ws_connect(
            f"{playground.url}ws?key={key}", headers={"Origin": playground.url.rstrip("/")}, max_msg_size=0
        )
        return cls(socket, await socket.receive_json())

    async def ask(self, **request: Any) -> dict[str, Any]:
        """Send a request and return its answer. All messages are kept in ``received``."""
        request.setdefault("n", f"t{len(self.received):05}x{id(request) % 10000:04}")
        await self.socket.send_str(json.dumps(request))
        while True:
            message: dict[str, Any] = await self.socket.receive_json(timeout=60)
            self.received.append(message)
            if message.get("n") == request["n"]:
                return message


@pytest.mark.parametrize("host", ["evil.example", "127.0.0.1.evil.example", "192.168.1.9", ""])
async def test_unknown_host_names_are_refused(
    playground: OpenPlayground, session: aiohttp.ClientSession, host: str
) -> None:
    async with session.get(playground.url, headers={"Host": host}) as answer:
        assert answer.status in (400, 403)


async def test_foreign_origin_is_refused(playground: OpenPlayground, session: aiohttp.ClientSession) -> None:
    with pytest.raises(aiohttp.WSServerHandshakeError) as error:
        await session.ws_connect(playground.url + "ws", headers={"Origin": "https://evil.example"})
    assert error.value.status == 403


async def test_health_and_metrics_are_served(
    playground: OpenPlayground, session: aiohttp.ClientSession, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with session.get(playground.url + "healthz") as answer:
        assert answer.status == 200
        assert (await answer.json())["adapters"] == {"playground": "up", "web": "up"}
    tab = await TabSocket.open(session, playground)
    await tab.ask(do="say", chat="1", text="/challenge testa", **{"as": "1"})
    async with session.get(playground.url + "metrics") as answer:
        text = await answer.text()
    for name in ("presses", "commits_total", "delivery_lag_seconds", "messages_total", 'tables{state="open"}'):
        assert f"buongioco_{name}" in text
    monkeypatch.setenv("BUONGIOCO_PLAYGROUND_PORT", str(playground.port))
    assert await asyncio.to_thread(health.main) == 0
    await playground.stop()
    assert await asyncio.to_thread(health.main) == 1
    await playground.start()


@pytest.mark.parametrize(
    "request_data",
    [
        {"do": "fly"},
        {"do": "say", "chat": "1", "text": ""},
        {"do": "say", "chat": "1", "text": "x" * (LONGEST_TEXT + 1)},
        {"do": "say", "chat": "9", "text": "x"},
        {"do": "say", "chat": "@2", "text": "x"},
        {"do": "say", "chat": "1", "text": "x", "reply_to": 77},
        {"do": "press", "chat": "1", "message": "1", "payload": "x"},
        {"do": "press", "chat": "1", "message": 1, "payload": "x" * 65},
        {"do": "say", "chat": "1", "text": "x", "n": "!"},
        {"do": "say", "chat": "1", "text": "x", "as": "99"},
        {"do": "add_person", "name": "  "},
    ],
)
async def test_invalid_requests_are_refused(
    playground: OpenPlayground, session: aiohttp.ClientSession, request_data: dict[str, Any]
) -> None:
    tab = await TabSocket.open(session, playground)
    answer = await tab.ask(**{"as": "1", **request_data})
    assert answer["type"] == "refused"
    assert answer["text"]


async def test_nonsense_and_huge_messages_close_no_other_tab(
    playground: OpenPlayground, session: aiohttp.ClientSession
) -> None:
    tab = await TabSocket.open(session, playground)
    for nonsense in ("", "[]", "null", "{", '{"do": []}', "\u0000", '{"do":"press","message":{}}'):
        await tab.socket.send_str(nonsense)
        assert (await tab.socket.receive_json(timeout=60))["type"] == "refused"
    await tab.socket.send_str(json.dumps({"do": "press", "payload": "x" * 1_000_000}))
    assert (await tab.socket.receive(timeout=60)).type in (aiohttp.WSMsgType.CLOSE, aiohttp.WSMsgType.CLOSED)
    other_tab = await TabSocket.open(session, playground)
    assert (await other_tab.ask(do="say", chat="1", text="still here", **{"as": "1"}))["type"] == "done"


async def test_repeated_request_counts_once(playground: OpenPlayground, session: aiohttp.ClientSession) -> None:
    tab = await TabSocket.open(session, playground)
    for _ in range(2):
        assert (await tab.ask(do="say", chat="1", text="/challenge testa", n="same0001", **{"as": "1"}))[
            "type"
        ] == "done"
    await playground.stop()
    await playground.start()
    tab = await TabSocket.open(session, playground)
    # The restarted bot has forgotten the request; the platform and the tables remember it.
    assert (await tab.ask(do="say", chat="1", text="/challenge testa", n="same0001", **{"as": "1"}))["type"] == "done"
    await playground.worker.wait_until_idle()
    texts = [message.get("text", "card") for message in playground.playground.chat_store.chats["1"].messages.values()]
    assert texts == ["/challenge testa", "card"]


async def test_repeated_add_request_adds_once(playground: OpenPlayground, session: aiohttp.ClientSession) -> None:
    before = len(playground.playground.chat_store.chats)
    for _ in range(2):
        tab = await TabSocket.open(session, playground)
        assert (await tab.ask(do="add_chat", name="Bar", n="same0001"))["type"] == "done"
        assert (await tab.ask(do="add_person", name="Zita", n="same0001"))["type"] == "done"
    # The group, and the private chat of the new person.
    assert len(playground.playground.chat_store.chats) == before + 2


async def test_different_request_with_the_same_key_is_performed(
    playground: OpenPlayground, session: aiohttp.ClientSession
) -> None:
    tab = await TabSocket.open(session, playground)
    for text in ("first", "second", "first"):
        assert (await tab.ask(do="say", chat="1", text=text, n="same0001", **{"as": "1"}))["type"] == "done"
    texts = [message.get("text") for message in playground.playground.chat_store.chats["1"].messages.values()]
    assert texts == ["first", "second"]


async def test_pasted_command_is_recognized(playground: OpenPlayground, session: aiohttp.ClientSession) -> None:
    tab = await TabSocket.open(session, playground)
    await tab.ask(do="say", chat="1", text="/challenge metamazzo", **{"as": "1"})
    [table] = await playground.worker.room.lists.tables_of("playground:1")
    text = f"\u200b \u2068/JOIN \u2068{table.code}\u2069"
    answer = await tab.ask(do="say", chat="1", text=text, **{"as": "2"})
    assert answer["toast"] == f"You’re at table {table.code}."


async def test_network_playground_requires_a_personal_link(
    network: OpenPlayground, session: aiohttp.ClientSession
) -> None:
    for key in ("", "wrong"):
        with pytest.raises(aiohttp.WSServerHandshakeError) as refused:
            await TabSocket.open(session, network, key)
        assert refused.value.status == 403
    anna = network.playground.chat_store.people["1"]
    tab = await TabSocket.open(session, network, anna.token)
    assert tab.hello["me"] == "1"
    assert not tab.hello["switching"]
    assert all("token" not in person for person in tab.hello["people"])
    assert {chat["id"] for chat in tab.hello["chats"]} == {"1", "@1"}
    assert set(tab.hello["messages"]) == {"1", "@1"}
    # The link decides who acts, not the request.
    await tab.ask(do="say", chat="1", text="hello", **{"as": "2"})
    [message] = network.playground.chat_store.chats["1"].messages.values()
    assert message["by"] == "1"
    assert (await tab.ask(do="say", chat="@2", text="x"))["type"] == "refused"
    assert (await tab.ask(do="add_person", name="Zoe"))["type"] == "refused"


async def test_host_link_adds_people_but_cannot_act(network: OpenPlayground, session: aiohttp.ClientSession) -> None:
    host = await TabSocket.open(session, network, network.playground.server._host_key)
    assert host.hello["host"]
    assert all(person["token"] for person in host.hello["people"])
    assert {chat["id"] for chat in host.hello["chats"]} == {"1"}
    assert (await host.ask(do="add_person", name="Zoe"))["type"] == "done"
    assert (await host.ask(do="say", chat="1", text="x", **{"as": "1"}))["type"] == "refused"
    zoe = network.playground.chat_store.people["3"]
    assert (await TabSocket.open(session, network, zoe.token)).hello["me"] == "3"
    # An @name must identify one person.
    for new_name in ("Zoe", "zoe!"):
        refused = await host.ask(do="add_person", name=new_name, n=f"taken{len(new_name)}")
        assert (refused["type"], refused["text"]) == ("refused", "Zoe is already here: choose another name.")
    assert list(network.playground.chat_store.people) == ["1", "2", "3"]


async def test_network_invitation_links_to_the_table_page(
    network: OpenPlayground, session: aiohttp.ClientSession
) -> None:
    """The invited person has no personal link, so the invitation leads to the page of the table."""
    anna = network.playground.chat_store.people["1"]
    tab = await TabSocket.open(session, network, anna.token)
    await tab.ask(do="say", chat="1", text="/challenge testa")
    await network.worker.wait_until_idle()
    await tab.ask(do="say", chat="1", text="/invite")
    [table] = await network.worker.room.lists.tables_of(f"playground:{anna.id}")
    address = f"{network.site.url}/t/{table.code}"
    while address not in json.dumps(tab.received):
        tab.received.append(await tab.socket.receive_json(timeout=60))
    origin = {"Origin": network.url.rstrip("/")}
    async with aiohttp.ClientSession(cookie_jar=aiohttp.CookieJar(unsafe=True)) as bea:
        async with bea.get(f"{network.url}t/{table.code}") as page:
            assert anna.name in await page.text()
        async with bea.post(f"{network.url}t/{table.code}", headers=origin, data={"name": "Bea"}) as page:
            assert (page.status, page.url.path) == (200, f"/t/{table.code}")
    seated = (await network.worker.room.table(table.code)).chairs
    assert [chair.name for chair in seated if chair] == [anna.name, "Bea"]


# Limits of the platform


def make_panel(text: str = "text", payload: str = "x") -> Panel:
    return Panel((Span(text),), ((Button("label", payload),),))


async def test_chat_store_enforces_platform_limits(store: Store) -> None:
    chat_store = ChatStore(store.client)
    await chat_store.load()
    with pytest.raises(ChatGone):
        await chat_store.send("77", make_panel(), "k1")
    with pytest.raises(TooLong):
        await chat_store.send("1", make_panel("x" * 4097), "k1")
    with pytest.raises(TooLong):
        await chat_store.send("1", make_panel("🂠" * 2049), "k1")
    for bad in (make_panel(" "), make_panel(payload="x" * 65), make_panel(payload="à" * 33), make_panel(payload="")):
        with pytest.raises(Refused):
            await chat_store.send("1", bad, "k1")
    with pytest.raises(MessageGone):
        await chat_store.edit("1", 5, make_panel())
    await chat_store.set_closed(chat_store.people["1"], True)
    with pytest.raises(Unreachable):
        await chat_store.send("@1", make_panel(), "k1")


async def test_key_sends_one_message_even_after_a_restart(store: Store) -> None:
    chat_store = ChatStore(store.client)
    await chat_store.load()
    notified: list[tuple[Chat, int]] = []
    chat_store.on_message = lambda *message: notified.append(message)
    first = await chat_store.send("1", make_panel(), "key")
    assert notified == [(chat_store.chats["1"], first)]
    restarted = ChatStore(store.client)
    await restarted.load()
    restarted.on_message = lambda *message: notified.append(message)
    assert await restarted.send("1", make_panel(), "key") == first
    assert len(notified) == 1
    assert restarted.chats["1"].messages == chat_store.chats["1"].messages
    # Message numbers are never reused, even after a deletion.
    await restarted.delete("1", first)
    second = await restarted.send("1", make_panel(), "other")
    assert second > first


@pytest.mark.parametrize("retry", ["after a send", "after a restart"])
async def test_lost_write_answer_duplicates_nothing(store: Store, monkeypatch: pytest.MonkeyPatch, retry: str) -> None:
    chat_store = ChatStore(store.client)
    await chat_store.load()
    execute = Pipeline.execute

    async def execute_and_fail(self: Pipeline, raise_on_error: bool = True) -> list[Any]:
        await execute(self, raise_on_error)
        raise ConnectionError("the answer was lost")

    with monkeypatch.context() as patch:
        patch.setattr(Pipeline, "execute", execute_and_fail)
        with pytest.raises(ConnectionError):
            await chat_store.send("1", make_panel("the first"), "key")
    second = await chat_store.send("1", make_panel("another"), "other")
    if retry == "after a send":
        first = await chat_store.send("1", make_panel("the first"), "key")
        assert chat_store.chats["1"].messages.keys() == {first, second}
    restarted = ChatStore(store.client)
    await restarted.load()
    first = await restarted.send("1", make_panel("the first"), "key")
    assert first != second
    texts = {number: message["spans"][0][0] for number, message in restarted.chats["1"].messages.items()}
    assert texts == {first: "the first", second: "another"}


async def test_data_file_stays_in_chat_for_its_owner_only(
    playground: OpenPlayground, session: aiohttp.ClientSession
) -> None:
    anna = await TabSocket.open(session, playground)
    await anna.ask(do="say", chat="@1", text="/mydata", **{"as": "1"})
    [message] = [sent for sent in playground.playground.chat_store.chats["@1"].messages.values() if "file" in sent]
    assert message["file"] == "buongioco-mydata.json"
    # The file is kept for a day, even after a restart.
    await playground.stop()
    await playground.start()
    later = await TabSocket.open(session, playground)
    [file_message] = [sent for sent in later.hello["messages"]["@1"] if "file" in sent]
    answer = await later.ask(do="file", chat="@1", message=file_message["id"], **{"as": "1"})
    assert (answer["type"], answer["name"]) == ("file", "buongioco-mydata.json")
    assert json.loads(answer["text"])["person"] == "playground:1"
    assert 0 < await playground.worker.store.client.ttl(f"playground:file:@1:{file_message['id']}") <= 86400
    # After a lost connection the tab repeats its request.
    reconnected = await TabSocket.open(session, playground)
    repeated = {"do": "file", "chat": "@1", "message": file_message["id"], "n": answer["n"], "as": "1"}
    assert (await reconnected.ask(**repeated))["text"] == answer["text"]
    # Other people cannot load it, and a message without a file is refused.
    assert (await later.ask(do="file", chat="@1", message=file_message["id"], n="other1", **{"as": "2"}))[
        "type"
    ] == "refused"
    refused_answer = await later.ask(do="file", chat="@1", message=file_message["id"] - 1, n="other2", **{"as": "1"})
    assert (refused_answer["type"], refused_answer["text"]) == ("refused", "This file is gone: ask for it again.")


async def test_pictures_load_only_from_their_current_message(
    playground: OpenPlayground, session: aiohttp.ClientSession
) -> None:
    anna = await TabSocket.open(session, playground)
    chat_store = playground.playground.chat_store
    before, after = picture_panel("3D"), picture_panel("4D")
    number = await chat_store.send("@1", before, "key")
    picture = chat_store.chats["@1"].messages[number]["picture"]
    assert (picture["alt"], picture["width"], picture["height"]) == ("a table", 720, 300)

    async def load_picture(n: str, panel: Panel, person: str = "1") -> dict[str, Any]:
        assert panel.picture
        name = panel.picture.subject.digest
        return await anna.ask(do="picture", chat="@1", message=number, name=name, n=n, **{"as": person})

    assert b64decode((await load_picture("pic1", before))["png"]) == before.picture.png  # type: ignore[union-attr]
    assert (await load_picture("pic2", before, "2"))["type"] == "refused"
    await chat_store.edit("@1", number, after)
    assert (await load_picture("pic3", before))["png"] == ""
    assert b64decode((await load_picture("pic4", after))["png"]) == after.picture.png  # type: ignore[union-attr]
    await chat_store.edit("@1", number, Panel(after.text))
    assert chat_store.chats["@1"].messages[number]["picture"] is None
    assert (await load_picture("pic5", after))["png"] == ""


async def test_removed_message_leaves_no_file_or_picture(
    playground: OpenPlayground, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("adapters.web.playground.chat_store.MESSAGES_KEPT", 2)
    chat_store, client = playground.playground.chat_store, playground.worker.store.client

    async def find_attachments() -> set[int]:
        return {
            int(key.rpartition(b":")[2])
            for kind in ("file", "picture")
            for key in await client.keys(f"playground:{kind}:@1:*")
        }

    file = File("one.json", b"{}")
    _first, second, third = [await chat_store.send("@1", picture_panel("3D"), f"key{step}", file) for step in range(3)]
    assert list(chat_store.chats["@1"].messages) == [second, third]
    assert await find_attachments() == {second, third}
    await chat_store.delete("@1", second)
    assert await find_attachments() == {third}


async def test_old_pictures_are_replaced_by_text(playground: OpenPlayground, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("adapters.web.playground.chat_store.PICTURES_KEPT", 2)
    chat_store, client = playground.playground.chat_store, playground.worker.store.client
    first = await chat_store.send("@1", picture_panel("3D"), "key 0")
    notified: list[int] = []
    monkeypatch.setattr(chat_store, "on_message", lambda _chat, number: notified.append(number))
    later = [await chat_store.send("@1", picture_panel("3D"), f"key {step}") for step in (1, 2, 3)]
    with_pictures = {int(key.rpartition(b":")[2]) for key in await client.keys("playground:picture:@1:*")}
    assert with_pictures == set(later[1:])
    older = chat_store.chats["@1"].messages[first]
    assert older["picture"] is None
    assert older["fold"] is None
    assert older["spans"] == [list(span) for span in picture_panel("3D").text]
    assert json.loads(await client.hget("playground:messages:@1", str(first))) == older
    assert first in notified
    await chat_store.edit("@1", first, picture_panel("4D"))
    assert await client.exists(f"playground:picture:@1:{first}"), "an edited message gets a new picture"


async def test_message_deleted_during_an_edit_stays_deleted(playground: OpenPlayground) -> None:
    chat_store, client = playground.playground.chat_store, playground.worker.store.client
    number = await chat_store.send("@1", picture_panel("3D"), "key")
    changed, _ = await asyncio.gather(
        chat_store.edit("@1", number, picture_panel("4D")), chat_store.delete("@1", number), return_exceptions=True
    )
    assert isinstance(changed, MessageGone)
    assert number not in chat_store.chats["@1"].messages
    assert not await client.hexists("playground:messages:@1", number)
    assert not await client.exists(f"playground:picture:@1:{number}")


def picture_panel(code: str) -> Panel:
    """Return a panel with a fake picture: the first bytes of a PNG of 720 × 300 pixels."""
    sides = (Side("Anna", "3"), Side("Bruno", "4"))
    scene = Scene(deck=DECKS[0], sides=sides, target="to 21", hand=(Card(code),))
    png = b"\x89PNG\r\n\x1a\n....IHDR" + (720).to_bytes(4, "big") + (300).to_bytes(4, "big") + code.encode()
    return Panel((Span(code),), picture=Picture(scene, "a table", png))


async def test_private_page_toast_explains_where_to_look(
    playground: OpenPlayground, session: aiohttp.ClientSession
) -> None:
    tab = await TabSocket.open(session, playground)
    await tab.ask(do="say", chat="1", text="/settings", **{"as": "1"})
    [number] = [
        message["message"]["id"]
        for message in tab.received
        if message["type"] == "message" and "rows" in message["message"]
    ]
    button = {"do": "press", "chat": "1", "message": number, "payload": "1psettings", "as": "1"}
    assert (await tab.ask(**button, n="press1"))["toast"] == "Sent to your private chat."
    await tab.ask(do="close", closed=True, **{"as": "1"})
    assert "untick the box at the top" in (await tab.ask(**button, n="press2"))["toast"]


async def test_old_messages_are_dropped(store: Store) -> None:
    chat_store = ChatStore(store.client)
    await chat_store.load()
    for number in range(320):
        await chat_store.send("1", make_panel(), f"k{number}")
    assert len(chat_store.chats["1"].messages) == 300
    assert await store.client.hlen("playground:messages:1") == 300
    assert await store.client.hlen("playground:sends:1") <= 302


async def test_oldest_message_can_be_replied_to(playground: OpenPlayground, session: aiohttp.ClientSession) -> None:
    chat_store = playground.playground.chat_store
    chat = chat_store.chats["1"]
    for number in range(MESSAGES_KEPT):
        await chat_store.say(chat, chat_store.people["2"], "x", None, f"k{number}")
    tab = await TabSocket.open(session, playground)
    oldest = next(iter(chat.messages))
    answer = await tab.ask(do="say", chat="1", text="/challenge testa", reply_to=oldest, **{"as": "1"})
    assert (answer["type"], oldest in chat.messages) == ("done", False)
    [table] = await playground.worker.room.lists.tables_of("playground:1")
    assert table.invited
    assert table.invited.name == "Bruno"


async def test_failed_store_write_adds_no_one(
    playground: OpenPlayground, session: aiohttp.ClientSession, monkeypatch: pytest.MonkeyPatch
) -> None:
    tab = await TabSocket.open(session, playground)
    chat_store = playground.playground.chat_store

    async def fail(*_: object) -> None:
        raise ConnectionError("the store is unavailable")

    added: list[dict[str, Any]] = [{"do": "add_person", "name": "Zoe"}, {"do": "add_chat", "name": "Circolo"}]
    requests = [*added, {"do": "close", "closed": True, "as": "1"}]
    with monkeypatch.context() as patch:
        patch.setattr(chat_store._client, "hset", fail)
        for request in requests:
            answer = await tab.ask(**request)
            assert (answer["type"], "my data" in answer["text"]) == ("refused", True)
    assert (len(chat_store.people), len(chat_store.chats), chat_store.people["1"].closed) == (2, 3, False)
    for request in added:
        assert (await tab.ask(**request))["type"] == "done"
    restarted = ChatStore(playground.worker.store.client)
    await restarted.load()
    assert (restarted.people, list(restarted.chats)) == (chat_store.people, ["@1", "@2", "@3", "1", "2"])


async def test_people_added_concurrently_have_distinct_names(store: Store) -> None:
    chat_store = ChatStore(store.client)
    await chat_store.load()
    names = ["Zoe", "Zoe", "Carla"]
    results = await asyncio.gather(*(chat_store.add_person(name) for name in names), return_exceptions=True)
    assert [isinstance(result, Refused) for result in results] == [False, True, False]
    assert [person.name for person in chat_store.people.values()] == ["Anna", "Bruno", "Zoe", "Carla"]


async def test_messages_omit_link_buttons_and_aside_buttons(playground: OpenPlayground) -> None:
    chat_store = playground.playground.chat_store
    row = Button("a", "AB", "", "join"), Button("b", "1tAB:aside", "", "aside"), Button("c", "1tAB:sit")
    # A share button can have an empty text.
    links = Button("d", "", "", "share"), Button("e", "AB", "", "group")
    number = await chat_store.send("1", Panel((Span("x"),), (row, links)), "k1")
    assert [[button["label"] for button in buttons] for buttons in chat_store.chats["1"].messages[number]["rows"]] == [
        ["c"]
    ]
