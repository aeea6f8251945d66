"""Odd commands and autocompletions in the library's command tree. Each is answered, with at most one log line."""

import json
from collections.abc import Iterable
from types import SimpleNamespace
from typing import Any

import discord
import pytest
from structlog.testing import capture_logs

from adapters.discord.commands import Commands
from adapters.discord.interaction_answers import UnreadableInteraction
from adapters.discord.raw_events import repair_interaction
from tests.discord.players import Person
from tests.discord.server import AUTOCOMPLETE, BOT, CHANNEL, COMMAND, DiscordServer
from tests.optional_fields import iter_variants

BRUNO = {"id": "2", "username": "bruno", "discriminator": "0", "global_name": "Bruno", "avatar": None}
MEMBER: dict[str, Any] = {"nick": None, "roles": [], "permissions": "0", "flags": 0, "joined_at": None}
CHALLENGE = {
    **{"id": "1", "name": "challenge", "type": 1, "guild_id": "7"},
    "options": [
        {"name": "game", "type": 3, "value": "testa"},
        {"name": "target", "type": 4, "value": 11},
        {"name": "opponent", "type": 6, "value": "2"},
    ],
    "resolved": {"users": {"2": BRUNO}, "members": {"2": MEMBER}},
}
RULES = {"id": "1", "name": "rules", "type": 1, "options": [{"name": "topic", "type": 3, "value": "testa"}]}
JOIN = {"id": "1", "name": "join", "type": 1, "options": [{"name": "table", "type": 3, "value": "ABCDEF"}]}


class CommandRunner:
    """The bot's commands without a connection. It records commands that ran, texts to complete, and unreadable data."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.monkeypatch = monkeypatch
        self.done: list[tuple[Any, ...]] = []
        self.unread: list[UnreadableInteraction] = []
        self.suggested: list[str] = []
        self.client = discord.Client(intents=discord.Intents(guilds=True))
        state, bot = self.client._connection, BOT
        monkeypatch.setattr(state, "user", discord.ClientUser(state=state, data=bot))  # type: ignore[arg-type]
        monkeypatch.setattr(state, "_get_client", lambda: self.client)
        room: Any = SimpleNamespace(suggestions=self.suggestions)
        self.commands = Commands(self.client, room, self.run, self.cannot_read)

    async def run(self, _interaction: object, word: str, words: Iterable[str], about: Any) -> None:
        self.done.append((word, list(words), about and about.id))

    async def cannot_read(self, unreadable: UnreadableInteraction) -> None:
        self.unread.append(unreadable)

    async def suggestions(self, _kind: object, typed: str, *_where: object) -> list[Any]:
        self.suggested.append(typed)
        return []

    async def call(self, event: Any) -> tuple[int, list[Any]]:
        """Return the number of answers to a command, and the log lines."""
        for recorded in (self.done, self.unread, self.suggested):
            recorded.clear()
        interaction = discord.Interaction[Any](
            data=repair_interaction(json.loads(json.dumps(event))), state=self.client._connection
        )
        answered: list[object] = []

        async def autocomplete(_response: object, choices: object) -> None:
            answered.append(choices)

        self.monkeypatch.setattr(discord.InteractionResponse, "autocomplete", autocomplete)
        with capture_logs() as logs:
            await self.commands.tree._call(interaction)
        return len(self.done) + len(self.unread) + len(answered), logs


@pytest.fixture
async def runner(monkeypatch: pytest.MonkeyPatch) -> CommandRunner:
    return CommandRunner(monkeypatch)


def create_event(server: DiscordServer, kind: int, data: dict[str, Any]) -> Any:
    for number, name in enumerate(("Anna", "Bruno"), 1):
        Person(server, number, name)
    return server.event_of(server.create_interaction(kind, 1, server.channels[CHANNEL], data))


@pytest.mark.parametrize("data", [CHALLENGE, RULES, JOIN], ids=lambda data: data["name"])
async def test_odd_options_are_run_or_answered(
    server: DiscordServer, runner: CommandRunner, caplog: pytest.LogCaptureFixture, data: dict[str, Any]
) -> None:
    event = create_event(server, COMMAND, data)
    assert await runner.call(event) == (1, [])
    [expected] = runner.done
    for change, variant in iter_variants(data, ("name", "type")):
        answers, logs = await runner.call({**event, "data": variant})
        assert answers == 1, change
        assert [line["event"] for line in logs] in ([], ["discord_command_unreadable"]), change
        is_irrelevant = change.startswith("more in") or change.split()[-1].startswith(("id", "guild_id"))
        if is_irrelevant:
            assert runner.done == [expected], change
        # A named opponent is never dropped, because the table would then be open to all.
        if runner.done and "options.2" in change and "more in" not in change:
            assert runner.done[0][2] == 2 or change in ("without options.2", "options = []"), change
    assert not [record for record in caplog.records if record.exc_info]


@pytest.mark.parametrize("name", ["join", "challenge"])
async def test_odd_autocompletion_is_answered(
    server: DiscordServer, runner: CommandRunner, caplog: pytest.LogCaptureFixture, name: str
) -> None:
    option = {"name": "table" if name == "join" else "target", "type": 3 if name == "join" else 4, "value": "1"}
    data = {"id": "1", "name": name, "type": 1, "guild_id": "7", "options": [{**option, "focused": True}]}
    event = create_event(server, AUTOCOMPLETE, data)
    assert await runner.call(event) == (1, [])
    assert runner.suggested == ["1"]
    for change, variant in iter_variants(data, ("name", "type")):
        answers, logs = await runner.call({**event, "data": variant})
        assert answers == 1, change
        assert [line["event"] for line in logs] in ([], ["discord_command_unreadable"]), change
    assert not [record for record in caplog.records if record.exc_info]
