"""Missing, empty or new optional fields never lose an interaction or a server's event."""

import asyncio
import json
from typing import Any

import discord
import pytest
from structlog.testing import capture_logs

from adapters.discord.client import Client
from adapters.discord.interactions import Interaction, read_interaction, read_named_person
from adapters.discord.modals import read_answers
from tests.discord.players import Person
from tests.discord.server import BAR, BOT, CHANNEL, COMMAND, COMPONENT, FORM, Channel, DiscordServer
from tests.optional_fields import iter_variants

COMMON = ("id", "token", "type", "channel_id")
# Fields that the bot needs, by whether the interaction comes from a server (True) or a private chat (False).
REQUIRED = {True: (*COMMON, "guild_id", "member.user.id"), False: (*COMMON, "user.id", "context")}
REQUIRED_FOR_PRESSES = ("data.custom_id", "data.component_type", "message.id")
BUTTON = {"type": 2, "id": 2, "style": 1, "label": "Rules", "custom_id": "1phelp"}
MESSAGE = {
    **{"id": "77", "channel_id": str(CHANNEL), "author": BOT, "content": "", "type": 0, "flags": 0, "pinned": False},
    **{"timestamp": "2026-01-01T00:00:00+00:00", "edited_timestamp": None, "tts": False, "mention_everyone": False},
    **{name: [] for name in ("mentions", "mention_roles", "attachments", "embeds")},
    "components": [{"type": 1, "id": 1, "components": [BUTTON]}],
}


def read_event(data: Any) -> Interaction:
    return read_interaction(json.loads(json.dumps(data)), lambda _server: "Circolo")


def press_fields(interaction: Interaction) -> tuple[str, ...]:
    press = interaction.press()
    assert press
    # The place ends with a token that contains the time.
    return press.key, press.person.id, press.place.partition("!")[0], press.message, press.payload


def command_fields(interaction: Interaction) -> tuple[str, ...]:
    return interaction.key, interaction.person.id, interaction.place, str(interaction.kind)


def prepare_channel(server: DiscordServer, *, in_server: bool) -> Channel:
    """Add two people, and return the server's channel or the private chat of the first."""
    anna, _bruno = Person(server, 1, "Anna"), Person(server, 2, "Bruno")
    return server.channels[CHANNEL] if in_server else anna.private


@pytest.mark.parametrize("in_server", [True, False])
async def test_optional_fields_never_lose_a_press(server: DiscordServer, in_server: bool) -> None:
    data = {"custom_id": "1phelp", "component_type": 2}
    interaction = server.create_interaction(COMPONENT, 1, prepare_channel(server, in_server=in_server), data, MESSAGE)
    sample = server.event_of(interaction, MESSAGE)
    expected = press_fields(read_event(sample))
    for change, variant in iter_variants(sample, (*REQUIRED[in_server], *REQUIRED_FOR_PRESSES)):
        assert press_fields(read_event(variant)) == expected, change


@pytest.mark.parametrize("in_server", [True, False])
async def test_optional_fields_never_lose_a_command(server: DiscordServer, in_server: bool) -> None:
    channel = prepare_channel(server, in_server=in_server)
    data = {"id": "1", "name": "rules", "type": 1, "options": [{"name": "topic", "type": 3, "value": "testa"}]}
    sample = server.event_of(server.create_interaction(COMMAND, 1, channel, data))
    expected = command_fields(read_event(sample))
    for change, variant in iter_variants(sample, (*REQUIRED[in_server], "data.name")):
        assert command_fields(read_event(variant)) == expected, change


@pytest.mark.parametrize("in_server", [True, False])
async def test_optional_fields_never_lose_a_form(server: DiscordServer, in_server: bool) -> None:
    component = {"type": 22, "id": 2, "custom_id": "options", "values": ["cuts"]}
    data = {"custom_id": "1phelp", "components": [{"type": 18, "id": 1, "component": component}]}
    interaction = server.create_interaction(FORM, 1, prepare_channel(server, in_server=in_server), data, MESSAGE)
    needed = (
        "message.id",
        "data.custom_id",
        "data.components.0.component.custom_id",
        "data.components.0.component.values.0",
    )
    for change, variant in iter_variants(server.event_of(interaction, MESSAGE), (*REQUIRED[in_server], *needed)):
        read_variant = read_event(variant)
        assert read_answers(read_variant.data) == {"options": ("cuts",)}, change
        assert read_variant.data["custom_id"] == "1phelp", change


def test_named_person_without_optional_fields_is_read() -> None:
    data = {"resolved": {"users": {"2": {"id": "2"}}, "members": {"2": {"roles": None}}}}
    person = read_named_person(data, "2")
    assert (person.person.id, person.person.name, person.is_bot) == ("discord:2", "", False)


# docs.discord.com/developers/resources/guild#guild-object, and the extra fields of GUILD_CREATE.
SERVER_EVENT = {
    **{"id": str(BAR), "name": "Bar", "unavailable": False, "joined_at": "2026-01-01T00:00:00+00:00", "large": False},
    **{"member_count": 3, "owner_id": "9", "icon": None, "verification_level": 0, "features": ["COMMUNITY"]},
    **{"system_channel_id": str(CHANNEL), "preferred_locale": "it"},
    "roles": [{"id": str(BAR), "name": "@everyone", "color": 0, "permissions": "0", "position": 0, "hoist": False}],
    "emojis": [{"id": "8", "name": "card", "roles": [], "animated": False}],
    "channels": [{"id": str(CHANNEL), "type": 0, "name": "bar", "position": 0, "permission_overwrites": []}],
    "threads": [{"id": "71", "type": 11, "parent_id": str(CHANNEL), "owner_id": "9", "name": "cards"}],
    "members": [{"user": {"id": "9", "username": "bot"}, "roles": [], "joined_at": None, "flags": 0}],
    **{name: [] for name in ("voice_states", "presences", "stage_instances", "stickers", "guild_scheduled_events")},
}

THREAD: dict[str, Any] = {
    **{"id": "71", "type": 11, "guild_id": str(BAR), "parent_id": str(CHANNEL), "owner_id": "9", "name": "cards"},
    **{"last_message_id": None, "message_count": 2, "member_count": 2, "rate_limit_per_user": 0, "flags": 0},
    "thread_metadata": {
        **{"archived": False, "auto_archive_duration": 1440, "locked": False},
        "archive_timestamp": "2026-01-01T00:00:00+00:00",
    },
}
# Events after which the bot might be able to write in a server again.
OPENING = {
    "CHANNEL_UPDATE": {
        **{"id": str(CHANNEL), "type": 0, "guild_id": str(BAR), "name": "bar", "position": 0, "topic": None},
        "permission_overwrites": [{"id": str(BAR), "type": 0, "allow": "0", "deny": "0"}],
    },
    "GUILD_ROLE_UPDATE": {"guild_id": str(BAR), "role": {"id": "5", "name": "Players", "permissions": "0"}},
    "THREAD_UPDATE": THREAD,
}

UNUSED = {
    "CHANNEL_CREATE": OPENING["CHANNEL_UPDATE"],
    "CHANNEL_DELETE": OPENING["CHANNEL_UPDATE"],
    "CHANNEL_PINS_UPDATE": {"guild_id": str(BAR), "channel_id": str(CHANNEL), "last_pin_timestamp": None},
    "GUILD_ROLE_CREATE": OPENING["GUILD_ROLE_UPDATE"],
    "GUILD_ROLE_DELETE": {"guild_id": str(BAR), "role_id": "5"},
    "GUILD_EMOJIS_UPDATE": {"guild_id": str(BAR), "emojis": SERVER_EVENT["emojis"]},
    "THREAD_CREATE": {**THREAD, "newly_created": True},
    "THREAD_DELETE": {"id": "71", "guild_id": str(BAR), "parent_id": str(CHANNEL), "type": 11},
    "THREAD_LIST_SYNC": {"guild_id": str(BAR), "threads": [THREAD], "members": [{"id": "71", "user_id": "9"}]},
    "THREAD_MEMBERS_UPDATE": {"id": "71", "guild_id": str(BAR), "member_count": 2, "removed_member_ids": ["9"]},
    "MESSAGE_CREATE": MESSAGE,
}


class EventReceiver:
    """The bot's client without a connection. It records the servers in which an event might let the bot write again."""

    def __init__(self) -> None:
        self.opened: list[int] = []
        self.client = Client(self.handle, self.handle_unreadable, self.refresh_server, self.greet_server, None, None)

    async def handle(self, interaction: Interaction, event: object) -> None:
        raise AssertionError(interaction)

    async def handle_unreadable(self, event: object, reason: str) -> None:
        raise AssertionError(reason)

    async def greet_server(self, guild: discord.Guild) -> None:
        pass

    def refresh_server(self, server: int) -> None:
        self.opened.append(server)

    async def receive(self, event: str, data: Any) -> list[int]:
        """Return the servers in which the bot might be able to write after an event."""
        await self.client._async_setup_hook()
        self.opened.clear()
        self.client._connection.parsers[event](json.loads(json.dumps(data)))
        # The tasks started by an event end within a few iterations of the loop.
        for _ in range(5):
            await asyncio.sleep(0)
        return list(self.opened)


async def test_servers_with_missing_fields_are_known() -> None:
    for change, variant in iter_variants(SERVER_EVENT, ("id",)):
        receiver = EventReceiver()
        with capture_logs() as logs:
            await receiver.receive("GUILD_CREATE", variant)
        guild = receiver.client.get_guild(BAR)
        assert guild, change
        assert guild.name == ("Bar" if isinstance(variant.get("name"), str) and variant["name"] else ""), change
        assert logs == [], change
        await receiver.receive("GUILD_UPDATE", {**variant, "name": "Café"})
        assert guild.name == "Café", change
        await receiver.receive("GUILD_DELETE", {"id": str(BAR)})
        assert receiver.client.get_guild(BAR) is None, change


@pytest.mark.parametrize("event", OPENING)
async def test_optional_fields_never_hide_a_reopened_server(event: str) -> None:
    receiver = EventReceiver()
    assert await receiver.receive(event, OPENING[event]) == [BAR]
    for change, variant in iter_variants(OPENING[event], ("guild_id",)):
        with capture_logs() as logs:
            assert await receiver.receive(event, variant) == [BAR], change
        assert logs == [], change


@pytest.mark.parametrize("change", [{"archived": True}, {"locked": True}])
async def test_closed_thread_does_not_reopen_its_server(change: dict[str, bool]) -> None:
    closed = {**THREAD, "thread_metadata": {**THREAD["thread_metadata"], **change}}
    assert await EventReceiver().receive("THREAD_UPDATE", closed) == []


@pytest.mark.parametrize("event", UNUSED)
async def test_malformed_unused_events_log_nothing(event: str, caplog: pytest.LogCaptureFixture) -> None:
    receiver = EventReceiver()
    await receiver.receive("GUILD_CREATE", SERVER_EVENT)
    for change, variant in [*iter_variants(UNUSED[event], ()), ("nothing", {}), ("a list", []), ("null", None)]:
        with capture_logs() as logs:
            assert await receiver.receive(event, variant) == [], change
        assert logs == [], change
    assert not [record for record in caplog.records if record.levelname in ("WARNING", "ERROR")]


@pytest.mark.parametrize("event", ["GUILD_CREATE", "GUILD_UPDATE", "GUILD_DELETE", *OPENING])
@pytest.mark.parametrize("data", [None, [], "x", {}, {"id": "x", "guild_id": {}}])
async def test_nonsense_event_logs_at_most_one_warning(event: str, data: Any) -> None:
    receiver = EventReceiver()
    with capture_logs() as logs:
        assert await receiver.receive(event, data) == []
    assert [line["event"] for line in logs] in ([], ["discord_event_unreadable"])
