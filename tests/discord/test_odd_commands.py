"""Odd commands and autocompletions are read completely or refused."""

import json
from types import SimpleNamespace
from typing import Any

import pytest
from structlog.testing import capture_logs

from adapters.discord.commands import Call, find_choices, read_call
from adapters.discord.interactions import Unreadable, read_interaction
from tests.discord.players import Person
from tests.discord.server import AUTOCOMPLETE, CHANNEL, COMMAND, DiscordServer
from tests.optional_fields import iter_variants

BRUNO = {"id": "2", "username": "bruno", "discriminator": "0", "global_name": "Bruno", "avatar": None}
MEMBER: dict[str, Any] = {"nick": None, "roles": [], "permissions": "0", "flags": 0, "joined_at": None}
CHALLENGE: dict[str, Any] = {
    **{"id": "1", "name": "challenge", "type": 1, "guild_id": "7"},
    "options": [
        {"name": "game", "type": 3, "value": "testa"},
        {"name": "target", "type": 4, "value": 11},
        {"name": "opponent", "type": 6, "value": "2"},
    ],
    "resolved": {"users": {"2": BRUNO}, "members": {"2": MEMBER}},
}
RULES = {"id": "1", "name": "rules", "type": 1, "options": [{"name": "about", "type": 3, "value": "testa"}]}
JOIN = {"id": "1", "name": "join", "type": 1, "options": [{"name": "table", "type": 3, "value": "ABCDEF"}]}


def read_event(event: Any) -> Call | None:
    """Return the command of an event, or None if it is refused."""
    try:
        return read_call(read_interaction(json.loads(json.dumps(event)), lambda _server: "Circolo").data)
    except Unreadable:
        return None


def create_event(server: DiscordServer, kind: int, data: dict[str, Any]) -> Any:
    for number, name in enumerate(("Anna", "Bruno"), 1):
        Person(server, number, name)
    return server.event_of(server.create_interaction(kind, 1, server.channels[CHANNEL], data))


@pytest.mark.parametrize("data", [CHALLENGE, RULES, JOIN], ids=lambda data: data["name"])
def test_odd_options_are_read_completely_or_refused(server: DiscordServer, data: dict[str, Any]) -> None:
    event = create_event(server, COMMAND, data)
    expected = read_event(event)
    assert expected
    assert expected.arguments
    for change, variant in iter_variants(data, ("name", "type")):
        with capture_logs() as logs:
            call = read_event({**event, "data": variant})
        assert logs == [], change
        is_irrelevant = change.startswith("more in") or change.split()[-1].startswith(("id", "guild_id"))
        if is_irrelevant:
            assert call == expected, change
        # A named opponent is never dropped, because the table would then be open to all.
        if call and "options.2" in change and "more in" not in change:
            assert (call.named and call.named.person.id) == "discord:2" or change in (
                "without options.2",
                "options = []",
            ), change


def test_person_in_an_unknown_option_is_refused(server: DiscordServer) -> None:
    [*options, person] = CHALLENGE["options"]
    event = create_event(server, COMMAND, {**CHALLENGE, "options": [*options, {**person, "name": "rival"}]})
    assert read_event(event) is None


@pytest.mark.parametrize("name", ["join", "challenge"])
async def test_odd_autocompletion_is_completed_or_refused(server: DiscordServer, name: str) -> None:
    suggested: list[str] = []

    async def suggest(_kind: object, typed: str, *_context: object) -> list[Any]:
        suggested.append(typed)
        return []

    async def complete(event: Any) -> list[Any] | None:
        room: Any = SimpleNamespace(suggestions=suggest)
        try:
            return await find_choices(room, read_interaction(json.loads(json.dumps(event)), lambda _server: "Circolo"))
        except Unreadable:
            return None

    option = {"name": "table" if name == "join" else "target", "type": 3 if name == "join" else 4, "value": "1"}
    data = {"id": "1", "name": name, "type": 1, "guild_id": "7", "options": [{**option, "focused": True}]}
    event = create_event(server, AUTOCOMPLETE, data)
    assert await complete(event) == []
    assert suggested == ["1"]
    for change, variant in iter_variants(data, ("name", "type")):
        suggested.clear()
        choices = await complete({**event, "data": variant})
        assert (choices is None) == (not suggested), change
