"""No interaction is lost because an optional field is missing, empty or new. The samples are the fake server's."""

import json
from typing import Any

import discord
import pytest

from adapters.discord import reading
from adapters.discord.events import repaired
from tests.discord.players import Person
from tests.discord.server import BOT, CHANNEL, COMMAND, COMPONENT, Channel, DiscordServer
from tests.optional_fields import variants

SOMEWHERE = ("id", "token", "type", "channel_id")
REQUIRED = {True: (*SOMEWHERE, "guild_id", "member.user.id"), False: (*SOMEWHERE, "user.id", "context")}
"""What nobody can do without, in a server and in the private chat."""

PRESSED = ("data.custom_id", "data.component_type", "message.id")
BUTTON = {"type": 2, "id": 2, "style": 1, "label": "Rules", "custom_id": "1phelp"}
MESSAGE = {
    **{"id": "77", "channel_id": str(CHANNEL), "author": BOT, "content": "", "type": 0, "flags": 0, "pinned": False},
    **{"timestamp": "2026-01-01T00:00:00+00:00", "edited_timestamp": None, "tts": False, "mention_everyone": False},
    **{name: [] for name in ("mentions", "mention_roles", "attachments", "embeds")},
    "components": [{"type": 1, "id": 1, "components": [BUTTON]}],
}


@pytest.fixture
def client(monkeypatch: pytest.MonkeyPatch) -> discord.Client:
    one = discord.Client(intents=discord.Intents.none())
    state = one._connection
    bot: Any = BOT
    monkeypatch.setattr(state, "user", discord.ClientUser(state=state, data=bot))
    monkeypatch.setattr(state, "_get_client", lambda: one)
    return one


def read(client: discord.Client, said: Any) -> discord.Interaction[Any]:
    found = discord.Interaction[Any](data=repaired(json.loads(json.dumps(said))), state=client._connection)
    assert reading.is_whole(found)
    assert found.app_permissions is not None
    return found


def pressed(found: discord.Interaction[Any]) -> tuple[str, ...]:
    press = reading.press(found)
    assert press
    # The token has the time in it.
    return press.key, press.person.id, press.place.partition("!")[0], press.message, press.payload


def given(found: discord.Interaction[Any]) -> tuple[str, ...]:
    return str(found.id), reading.presser(found).id, reading.place_of(found), str(found.type)


def places(server: DiscordServer) -> dict[bool, Channel]:
    anna, _bruno = Person(server, 1, "Anna"), Person(server, 2, "Bruno")
    return {True: server.channels[CHANNEL], False: anna.private}


@pytest.mark.parametrize("in_server", [True, False])
async def test_optional_fields_never_lose_a_press(server: DiscordServer, client: Any, in_server: bool) -> None:
    data = {"custom_id": "1phelp", "component_type": 2}
    one = server.begin(COMPONENT, 1, places(server)[in_server], data, MESSAGE)
    sample = server.event(one, MESSAGE)
    wanted = pressed(read(client, sample))
    for what, variant in variants(sample, (*REQUIRED[in_server], *PRESSED)):
        assert pressed(read(client, variant)) == wanted, what


@pytest.mark.parametrize("in_server", [True, False])
async def test_optional_fields_never_lose_a_command(server: DiscordServer, client: Any, in_server: bool) -> None:
    channel = places(server)[in_server]
    data = {"id": "1", "name": "rules", "type": 1, "options": [{"name": "topic", "type": 3, "value": "testa"}]}
    sample = server.event(server.begin(COMMAND, 1, channel, data))
    wanted = given(read(client, sample))
    for what, variant in variants(sample, (*REQUIRED[in_server], "data.name")):
        assert given(read(client, variant)) == wanted, what


def test_named_person_without_optional_fields_is_read() -> None:
    said = {"data": {"resolved": {"users": {"2": {"id": "2"}}, "members": {"2": {"roles": None}}}}}
    people = repaired(said)["data"]["resolved"]
    assert people["users"]["2"] == {"id": "2", "username": "", "discriminator": "0", "avatar": None}
    assert people["members"]["2"]["roles"] == []
