"""People on the fake Discord, who read messages and press buttons."""

import asyncio
import re
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from random import Random
from typing import Any

from adapters.discord.adapter import Discord
from bot.actions import is_page
from bot.handlers import Dispatcher
from bot.running.supervisor import Supervisor
from bot.settings import Settings
from bot.store import Store
from bot.worker import Worker
from engine import GAMES
from tests.bot.fake_platform import ACCEPT, NAMES
from tests.discord.server import (
    AUTOCOMPLETE,
    BAR,
    CHANNEL,
    COMMAND,
    COMPONENT,
    FORM,
    TOKEN,
    Channel,
    DiscordServer,
    Interaction,
)
from tests.discord.validation import LABEL, RADIO
from tests.telegram.players import until

MODAL = 9  # type of an answer

__all__ = ["BAR", "CHANNEL", "Person", "on_discord", "seat_people", "text_of", "until"]


def iter_components(components: list[dict[str, Any]]) -> Iterator[dict[str, Any]]:
    """Yield components, each followed by the components in it."""
    for component in components:
        yield component
        yield from iter_components(component.get("components", []))


def text_of(message: dict[str, Any]) -> str:
    """Return a message's text without Markdown and escapes."""
    texts = [component["content"] for component in iter_components(message["components"]) if component["type"] == 10]
    return re.sub(r"(?m)^-# |\\(.)|\*\*|`|_", r"\1", "\n".join([message["content"], *texts]).strip())


def buttons_of(message: dict[str, Any]) -> list[dict[str, Any]]:
    return [component for component in iter_components(message["components"]) if component["type"] == 2]


def picture_of(message: dict[str, Any]) -> tuple[str, str] | None:
    """Return the file name and the alt text of a message's picture."""
    items = [item for component in iter_components(message["components"]) for item in component.get("items", ())]
    assert len(items) <= 1
    return (items[0]["media"]["url"].partition("?")[0].rpartition("/")[2], items[0]["description"]) if items else None


class Person:
    def __init__(self, server: DiscordServer, number: int, name: str, language: str = "en-US") -> None:
        self.server, self.number, self.name = server, number, name
        server.users[number] = {
            "id": str(number),
            "username": re.sub(r"[^a-z0-9]", "", name.lower()),
            "global_name": name,
            "discriminator": "0",
            "avatar": None,
            "bot": False,
            "locale": language,
        }
        self.private = server.private(number)

    # Commands

    async def slash(self, word: str, channel: Channel | None = None, **options: Any) -> str:
        """Send a command; return its ephemeral answer, or an empty text."""
        return await self.wait_for_answer(self.start_command(word, channel, **options))

    def start_command(self, word: str, channel: Channel | None = None, **options: Any) -> Interaction:
        """Send a command without waiting for its answer."""
        command = self._command(word, 1)
        options_by_name = {option["name"]: option for option in command.get("options") or []}
        options_data = [
            {"name": name, "type": options_by_name[name]["type"], "value": value} for name, value in options.items()
        ]
        for option in options_data:
            option["value"] = str(option["value"]) if option["type"] == 6 else option["value"]
            choices = options_by_name[option["name"]].get("choices")
            values = [choice["value"] for choice in choices or ()]
            assert not choices or option["value"] in values, f"/{word} offers {values}, not {option['value']!r}"
        data = {"id": "1", "name": word, "type": 1, "options": options_data, **self._resolve_users(options_data)}
        return self.server.interact(COMMAND, self.number, channel or self._bar(), data)

    async def challenge(self, opponent: "Person", channel: Channel | None = None) -> str:
        """Challenge a person from the menu of their name."""
        command = self._command("Challenge", 2)
        data = {
            "id": "1",
            "name": command["name"],
            "type": 2,
            "target_id": str(opponent.number),
            "resolved": {"users": {str(opponent.number): self.server.users[opponent.number]}},
        }
        return await self.wait_for_answer(self.server.interact(COMMAND, self.number, channel or self._bar(), data))

    async def complete(
        self, word: str, option: str, typed: str, channel: Channel | None = None, **filled: Any
    ) -> list[Any]:
        """Return the suggestions for an option while it is typed."""
        options_by_name = {option["name"]: option for option in self._command(word, 1)["options"]}
        assert options_by_name[option]["autocomplete"]
        options_data = [
            {"name": name, "type": options_by_name[name]["type"], "value": value} for name, value in filled.items()
        ]
        focused = {"name": option, "type": options_by_name[option]["type"], "value": typed, "focused": True}
        data = {"id": "1", "name": word, "type": 1, "options": [*options_data, focused]}
        interaction = self.server.interact(AUTOCOMPLETE, self.number, channel or self._bar(), data)
        await until(lambda: interaction.choices is not None)
        return [choice["value"] for choice in interaction.choices or ()]

    def _command(self, word: str, kind: int) -> dict[str, Any]:
        return next(
            command for command in self.server.commands if command["name"] == word and command.get("type", 1) == kind
        )

    def _resolve_users(self, options: list[dict[str, Any]]) -> dict[str, Any]:
        users = {
            str(option["value"]): self.server.users[int(option["value"])] for option in options if option["type"] == 6
        }
        return {"resolved": {"users": users}} if users else {}

    def _bar(self) -> Channel:
        return self.server.channels[CHANNEL]

    # Modals

    async def open_modal(self, interaction: Interaction) -> dict[str, Any]:
        """Wait until an interaction has opened a modal; return it."""
        await until(lambda: bool(interaction.answer))
        assert interaction.answer == MODAL, f"no modal, but an answer of type {interaction.answer}"
        return interaction.modal

    async def press_for_modal(self, label: str, channel: Channel) -> Interaction:
        """Press a button that opens a modal."""
        await until(lambda: self.button(label, channel) is not None)
        match = self.button(label, channel)
        assert match
        message, button = match
        interaction = self.start_press(channel, message, button["custom_id"])
        await self.open_modal(interaction)
        return interaction

    async def send_modal(self, opened: Interaction, **chosen_values: Any) -> str:
        """Send the modal that an interaction opened; return the ephemeral answer.

        ``chosen_values`` has values of fields: a text, or a list for boxes. Other fields keep what they had at first.
        """
        modal = await self.open_modal(opened)
        fields = [label["component"] for label in modal["components"]]
        assert set(chosen_values) <= {field["custom_id"] for field in fields}
        labels = []
        for number, field in enumerate(fields):
            first = [option["value"] for option in field["options"] if option.get("default")]
            values = chosen_values.get(field["custom_id"], first)
            values = values if isinstance(values, list) else [values]
            assert set(values) <= {option["value"] for option in field["options"]}, f"no such options: {values}"
            assert values or not field.get("required", True), "Discord keeps the modal open until the field is filled"
            field_value = {"value": next(iter(values), None)} if field["type"] == RADIO else {"values": values}
            component = {"id": 2 * number + 2, "type": field["type"], "custom_id": field["custom_id"], **field_value}
            labels.append({"id": 2 * number + 1, "type": LABEL, "component": component})
        messages = (opened.channel.messages, opened.channel.ephemerals[self.number])
        message = next(
            (messages_by_id[opened.message] for messages_by_id in messages if opened.message in messages_by_id), None
        )
        data = {"custom_id": modal["custom_id"], "components": labels}
        return await self.wait_for_answer(self.server.interact(FORM, self.number, opened.channel, data, message))

    # Buttons

    def visible_messages(self, channel: Channel) -> list[dict[str, Any]]:
        """Return a channel's messages, oldest first, then this person's ephemeral messages there."""
        return [*channel.messages.values(), *channel.ephemerals[self.number].values()]

    def button(self, label: str, channel: Channel) -> tuple[dict[str, Any], dict[str, Any]] | None:
        for message in reversed(self.visible_messages(channel)):
            for button in buttons_of(message):
                if label in button["label"]:
                    return message, button
        return None

    async def press(self, label: str, channel: Channel | None = None) -> str:
        """Wait for a button and press it; return the ephemeral answer."""
        channel = channel or self.private
        await until(lambda: self.button(label, channel) is not None)
        match = self.button(label, channel)
        assert match
        message, button = match
        return await self.send_press(channel, message, button["custom_id"])

    async def send_press(self, channel: Channel, message: dict[str, Any], custom_id: str) -> str:
        return await self.wait_for_answer(self.start_press(channel, message, custom_id))

    def start_press(self, channel: Channel, message: dict[str, Any], custom_id: str) -> Interaction:
        """Press a button, visible or not, without waiting for the answer."""
        data = {"custom_id": custom_id, "component_type": 2}
        return self.server.interact(COMPONENT, self.number, channel, data, message)

    async def wait_for_answer(self, interaction: Interaction) -> str:
        """Wait for an interaction's answer; return its text if it is ephemeral."""
        await until(lambda: bool(interaction.answer))
        await asyncio.sleep(0)
        message = interaction.channel.ephemerals[self.number].get(interaction.original)
        return text_of(message) if message and interaction.original != interaction.message else ""

    async def play(self, random: Random, channel: Channel | None = None) -> bool:
        """Press a random button of the newest panel that moves the game on. Return False if there is none."""
        channel = channel or self.private
        # Ephemeral messages in a private chat only answer presses that came too late.
        panels = [*channel.messages.values()] if channel is self.private else self.visible_messages(channel)
        if not panels:
            return False
        payloads = [button["custom_id"] for button in buttons_of(panels[-1])]
        bids = [data for data in payloads if data.endswith((":bid 4", ":bid 5"))]
        payloads = [
            data
            for data in bids or payloads
            if not is_page(data) and not data.endswith(("claim", "blind", "resign", "browser"))
        ]
        if not payloads:
            return False
        await self.send_press(channel, panels[-1], random.choice(payloads))
        return True


class ObservedDiscord(Discord):
    """The adapter. Tests can reach its worker."""

    worker: Worker


@asynccontextmanager
async def on_discord(
    store: Store,
    server: DiscordServer,
    *,
    quick: bool = True,
    alone: bool = True,
    pictures: bool = False,
    **settings_fields: Any,
) -> AsyncIterator[ObservedDiscord]:
    """Run a worker with the real adapter and library against the fake server. ``settings_fields`` are other settings."""
    settings = Settings(_env_file=None, discord_token=TOKEN, discord_api_url=server.url, **settings_fields)
    worker = Worker(store, settings, alone=alone, robot_pause=0.0)
    worker.room.new_secret = Random(0).randbytes
    adapter = ObservedDiscord(Dispatcher(worker), TOKEN)
    adapter.worker = worker
    adapter.shows_pictures = pictures
    if quick:
        adapter.rate_limit = lambda place: None  # type: ignore[method-assign]
    worker.add_adapter(adapter)
    serving = asyncio.create_task(Supervisor(worker).run())
    await worker.start()
    try:
        await until(lambda: adapter.healthy or serving.done())
        if serving.done():
            await serving
        yield adapter
    finally:
        serving.cancel()
        await asyncio.wait([serving])
        await worker.stop()


async def seat_people(server: DiscordServer, game: str, points: int = 0, *, first: int = 1) -> list[Person]:
    """Seat people at a new table; return them by seat. ``first`` is the first person's number."""
    channel = server.channels[CHANNEL]
    people = [Person(server, number, name) for number, name in enumerate(NAMES[: GAMES[game].seats], first)]
    options: dict[str, Any] = {"target": points} if points else {}
    await people[0].slash("challenge", game=game, **options)
    for person, label in zip(people[1:], ACCEPT[len(people)], strict=True):
        await person.press(label, channel)
        if game == "tavolo" and label in ("Sit North", "Sit West"):
            ruler = people[0] if label == "Sit North" else people[1]
            await ruler.press("Accept")
    return people
