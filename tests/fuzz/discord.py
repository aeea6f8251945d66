"""Discord fuzzer: malformed interactions and gateway events."""

import asyncio
from functools import partial
from pathlib import Path
from random import Random
from typing import Any, NamedTuple

from aiohttp import web

from engine import GAMES
from tests.bot.fake_platform import NAMES
from tests.discord.players import ObservedDiscord, Person, buttons_of, on_discord, seat_people, until
from tests.discord.server import (
    AUTOCOMPLETE,
    BAR,
    CHANNEL,
    COMMAND,
    COMPONENT,
    FORM,
    GROUP,
    PRIVATE,
    Channel,
    DiscordServer,
    Interaction,
)
from tests.fuzz.common import (
    NO_GAME,
    FuzzFailure,
    Outcome,
    Payloads,
    check_unchanged,
    fail_on_errors,
    mutate_json,
    odd_text,
    odd_value,
    open_temporary_store,
    read_state,
    takes_a_game,
    turn_off_clocks,
)

FIRST_PLAYER, FIRST_STRANGER = 500, 9000  # user ids that no mutated value has by chance
STRANGERS = 30
CONCURRENT_EVENTS = 8
PRUNE_INTERVAL = 500
ANSWER_SECONDS = 60.0  # generous because the machine can be slow
DEFERRED = 5  # type of an answer that announces a later one
TEXT, NUMBER, USER = 3, 4, 6  # types of options
BOT_USER = {"id": "4242", "username": "robbie", "global_name": None, "discriminator": "0", "avatar": None, "bot": True}
EVENTS = ("GUILD_CREATE", "GUILD_UPDATE", "CHANNEL_CREATE", "CHANNEL_UPDATE", "THREAD_CREATE", "THREAD_UPDATE")
FORM_VALUES: tuple[Any, ...] = (
    ["testa"],
    ["0"],
    ["60"],
    ["cuts", "strict"],
    ["declare=none"],
    ["x"],
    [],
    [7],
    None,
    "x",
)
UNKNOWN_EVENTS = ("", "A_NEW_EVENT", "INTERACTION_DELETE", "MESSAGE_CREATE", "PRESENCE_UPDATE", "VOICE_STATE_UPDATE")


class FuzzEvent(NamedTuple):
    """An event, and the interaction to answer; None if it cannot be answered."""

    name: str
    data: Any
    server: int
    interaction: Interaction | None = None


class AnsweringServer(DiscordServer):
    """A fake server that signals when an interaction has been answered."""

    def __init__(self) -> None:
        super().__init__(seconds=ANSWER_SECONDS)
        self.answered: dict[str, asyncio.Event] = {}

    async def _answer(self, request: web.Request, body: Any) -> Any:
        result = await super()._answer(request, body)
        if event := self.answered.get(request.match_info["token"]):
            event.set()
        return result


class DiscordFuzzer:
    """A channel with a table of every game, and malformed events about it."""

    def __init__(self, server: AnsweringServer, adapter: ObservedDiscord, random: Random) -> None:
        self.server, self.adapter, self.random = server, adapter, random
        self.bar = server.channels[CHANNEL]
        self.strangers: list[int] = []
        self.messages: list[tuple[Channel, dict[str, Any]]] = []
        self.deferred: list[Interaction] = []
        self.codes: list[str] = []
        self._pruned = 0
        self.payloads: Payloads

    async def set_up(self) -> None:
        await turn_off_clocks(self.adapter.worker, f"discord:{BAR}/{CHANNEL}")
        for game in GAMES:
            people = await seat_people(self.server, game, first=FIRST_PLAYER)
            # Before the card shows the game, the next table could be mistaken for this one.
            await self.settle()
        await people[0].slash("challenge", opponent=FIRST_PLAYER + 1, game="testa")
        await self.settle()
        worker = self.adapter.worker
        players = range(FIRST_PLAYER, FIRST_PLAYER + len(NAMES))
        tables = {
            table.code: table for number in players for table in await worker.room.lists.tables_of(f"discord:{number}")
        }
        if len(tables) != len(GAMES) + 1:
            raise FuzzFailure(f"{len(tables)} tables were opened, not {len(GAMES) + 1}")
        self.codes = list(tables)
        chats = [self.bar, *(self.server.private(number) for number in players)]
        self.messages = [(channel, message) for channel in chats for message in channel.messages.values()]
        real = [button["custom_id"] for _, message in self.messages for button in buttons_of(message)]
        self.payloads = Payloads(self.random, worker, self.codes, real)
        for number in range(FIRST_STRANGER, FIRST_STRANGER + STRANGERS):
            person = Person(self.server, number, f"Zeno{number}", self.random.choice(("it", "en-US", "xx", "")))
            person.private.is_closed = number % 2 == 0
            self.strangers.append(number)

    async def settle(self) -> None:
        await asyncio.sleep(0.2)
        await self.adapter.worker.wait_until_idle()

    def prune(self) -> None:
        """Delete the run's messages and its old events, so that a long run does not fill the memory."""
        server, kept_ids = self.server, {id(message) for _, message in self.messages}
        for channel in server.channels.values():
            for number in [number for number, message in channel.messages.items() if id(message) not in kept_ids]:
                del channel.messages[number]
            channel.ephemerals.clear()
        server.calls.clear()
        server.pings.clear()
        for session in server.gateway.sessions.values():
            # Sequence numbers stay, because the session can be resumed.
            for event in session.events[self._pruned : -PRUNE_INTERVAL]:
                event["d"] = None
            self._pruned = max(0, len(session.events) - PRUNE_INTERVAL)

    # Events

    async def make_event(self) -> FuzzEvent:
        random = self.random
        kind = random.randrange(100)
        if kind < 34:
            return self._interaction(COMMAND, *self._command())
        if kind < 46:
            return self._interaction(AUTOCOMPLETE, *self._command(focused=True))
        if kind < 70:
            return self._press(random.choice(self.strangers), self.payloads.choose_for_stranger())
        if kind < 78:
            player = random.randrange(FIRST_PLAYER, FIRST_PLAYER + len(NAMES))
            return self._press(player, await self.payloads.choose_illegal(f"discord:{player}"))
        if kind < 80:
            return self._interaction(FORM, self._channel(), self._form())
        if kind < 96:
            return self._mutated()
        return self._gateway_event()

    def _form(self) -> dict[str, Any]:
        """Return a sent modal with odd values."""
        random = self.random
        components: Any = odd_value(random)
        if random.random() < 0.7:
            names = random.sample(["game", "points", "clock", "options"], 4)
            components = [
                {"type": 18, "component": {"type": 22, "custom_id": name, "values": random.choice(FORM_VALUES)}}
                for name in names
            ]
        return {"custom_id": random.choice(["challenge", odd_text(random)]), "components": components}

    def _interaction(
        self,
        kind: int,
        channel: Channel,
        data: dict[str, Any],
        user: int | None = None,
        message: dict[str, Any] | None = None,
    ) -> FuzzEvent:
        user = self.random.choice(self.strangers) if user is None else user
        interaction = self.server.create_interaction(kind, user, channel, data, message)
        if interaction.channel.type == PRIVATE and user in self.strangers and kind != COMPONENT:
            interaction.channel = self.server.private(user)
        event = self.server.event_of(interaction, message)
        if self.random.random() < 0.1 and user in self.strangers:
            holder = event.get("member", event)
            odd = {"username": odd_text(self.random) or "?", "global_name": odd_text(self.random) or None}
            holder["user"] = {**holder["user"], **odd}
        return FuzzEvent("INTERACTION_CREATE", event, interaction.channel.server, interaction)

    def _channel(self) -> Channel:
        """Choose the bar, a private chat, or a channel without the bot."""
        server = self.server
        other_server = server.add_channel(300, 9 << 22)
        group = server.add_channel(301, kind=GROUP)
        return self.random.choice((self.bar, self.bar, server.private(self.strangers[0]), other_server, group))

    def _command(self, *, focused: bool = False) -> tuple[Channel, dict[str, Any]]:
        """Return a channel and a command that opens no table."""
        random = self.random
        command = random.choice(self.server.commands)
        if command.get("type", 1) != 1 and not focused:
            return self._channel(), self._menu_command(command)
        options = [self._option(option) for option in command.get("options") or () if random.random() < 0.7]
        name = command["name"] if random.random() < 0.9 else random.choice(("gone", "sfida", odd_text(random)))
        if takes_a_game(name):
            options = [option for option in options if option["name"] != "game"]
            options.append({"name": "game", "type": TEXT, "value": NO_GAME})
        if focused:
            random.choice(options or [{}])["focused"] = True
        if random.random() < 0.1:
            options.append(
                {"name": odd_text(random), "type": random.choice((1, 2, 3, 5, 9, 10, 99)), "value": odd_value(random)}
            )
        users = {str(number): self.server.users[number] for number in random.sample(self.strangers, 2)}
        resolved = {"users": users} if random.random() < 0.8 else odd_value(random)
        return self._channel(), {"id": "1", "name": name, "type": 1, "options": options, "resolved": resolved}

    def _menu_command(self, command: dict[str, Any]) -> dict[str, Any]:
        """Return a menu command for a user who cannot be challenged."""
        target = self.random.choice((BOT_USER["id"], "no id", "77", None, ""))
        users = {BOT_USER["id"]: BOT_USER}
        return {"id": "1", "name": command["name"], "type": 2, "target_id": target, "resolved": {"users": users}}

    def _option(self, option: dict[str, Any]) -> dict[str, Any]:
        random = self.random
        people = (*self.strangers, FIRST_PLAYER, "x", "", -1, "9" * 30)
        fitting: dict[int, Any] = {
            TEXT: random.choice((*self.codes, "ABCDEF", "testa", odd_text(random))),
            NUMBER: random.choice((1, 21, 9999, -1, 2**53)),
            USER: str(random.choice(people)),
        }
        is_odd = random.random() < 0.2
        value = odd_value(random) if is_odd else fitting[option["type"]]
        kind = random.choice((TEXT, NUMBER, USER, 7, 8, 9, 11)) if random.random() < 0.05 else option["type"]
        return {"name": option["name"], "type": kind, "value": value}

    def _press(self, user: int, custom_id: str) -> FuzzEvent:
        channel, message = self.random.choice(
            [
                (channel, message)
                for channel, message in self.messages
                if channel is self.bar or user in self.strangers or user in channel.users
            ]
        )
        data = {"custom_id": custom_id, "component_type": self.random.choice((2, 2, 2, 3, 99))}
        return self._interaction(COMPONENT, channel, data, user, message)

    def _mutated(self) -> FuzzEvent:
        random = self.random
        match random.randrange(3):
            case 0:
                sent = self._press(random.choice(self.strangers), "1ttest")
            case 1:
                sent = self._interaction(AUTOCOMPLETE, *self._command(focused=True))
            case _:
                sent = self._interaction(COMMAND, *self._command())
                while takes_a_game(sent.data["data"]["name"]):
                    # A mutated command could be valid by chance.
                    sent = self._interaction(COMMAND, *self._command())
        mutated = mutate_json(random, sent.data)
        can_be_answered = all(mutated.get(name) == sent.data[name] for name in ("id", "token", "type"))
        return FuzzEvent(sent.name, mutated, sent.server, sent.interaction if can_be_answered else None)

    def _gateway_event(self) -> FuzzEvent:
        random = self.random
        if random.random() < 0.3:
            return FuzzEvent(random.choice((*UNKNOWN_EVENTS, *EVENTS, "INTERACTION_CREATE")), odd_value(random), BAR)
        name = random.choice(EVENTS)
        data = self.server._guild(BAR) if name.startswith("GUILD") else {**self.bar.payload}
        return FuzzEvent(name, mutate_json(random, data), BAR)


async def run(folder: Path, messages: int, seed: int) -> Outcome:
    """Send this many events; raise `FuzzFailure` if one is not answered or changes anything."""
    outcome, server = Outcome(), AnsweringServer()
    server.add_channel(CHANNEL, server.add_server(BAR))
    await server.start()
    try:
        async with open_temporary_store(folder) as store, on_discord(store, server, rate_limits=False) as adapter:
            await until(lambda: adapter.healthy)
            fuzzer = DiscordFuzzer(server, adapter, Random(seed))
            await fuzzer.set_up()
            before = await read_state(store)
            with fail_on_errors(outcome):
                await _send_all(fuzzer, messages, outcome)
                await fuzzer.settle()
            await check_unchanged(before, partial(read_state, store))
            if late := [interaction for interaction in fuzzer.deferred if interaction.answer == DEFERRED]:
                raise FuzzFailure(f"deferred and never answered: {late[:3]}")
            if len(server.gateway.identified) > 1 or server.gateway.resumed or not adapter.healthy:
                raise FuzzFailure("the gateway connection was lost")
    finally:
        await server.stop()
    return outcome


async def _send_all(fuzzer: DiscordFuzzer, messages: int, outcome: Outcome) -> None:
    remaining, server = iter(range(messages)), fuzzer.server

    async def send_events() -> None:
        for number in remaining:
            sent = await fuzzer.make_event()
            interaction = sent.interaction
            if interaction:
                server.answered[interaction.token] = asyncio.Event()
            server.gateway.dispatch(sent.name, sent.data, sent.server)
            outcome.sent += 1
            if interaction:
                await _wait_for_answer(fuzzer, interaction, sent)
                outcome.presses += interaction.type == COMPONENT
                outcome.commands += interaction.type != COMPONENT
            else:
                outcome.refused += 1
                await asyncio.sleep(0)
            if number % PRUNE_INTERVAL == 0:
                fuzzer.prune()

    async with asyncio.TaskGroup() as group:
        for _ in range(CONCURRENT_EVENTS):
            group.create_task(send_events())


async def _wait_for_answer(fuzzer: DiscordFuzzer, interaction: Interaction, sent: FuzzEvent) -> None:
    server = fuzzer.server
    try:
        async with asyncio.timeout(ANSWER_SECONDS):
            await server.answered[interaction.token].wait()
    except TimeoutError:
        raise FuzzFailure(f"not answered: {sent.data}") from None
    del server.answered[interaction.token]
    if interaction.answer == DEFERRED:
        fuzzer.deferred.append(interaction)
    else:
        # Later answers with this token are refused, as Discord does after 15 minutes.
        asyncio.get_running_loop().call_later(ANSWER_SECONDS, server.interactions.pop, interaction.token, None)
