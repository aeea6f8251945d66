"""A fake chat platform, as strict as the real ones, and people who play with its visible buttons."""

from collections import Counter, defaultdict
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import replace
from itertools import count
from random import Random
from typing import Any

import pytest

from bot.actions import is_page
from bot.handlers import Dispatcher
from bot.panel import LONGEST_PAYLOAD, Button, Panel, Role, utf16_length
from bot.places import Place
from bot.platform import (
    Command,
    DeliveryError,
    MessageGone,
    Person,
    Press,
    Reply,
    SentMessage,
    TooLong,
    Unreachable,
    private_place,
)
from bot.rate_limiter import RateLimit
from bot.settings import Settings
from bot.store import Store
from bot.worker import Worker
from engine import GAMES

GROUP = "paper:100"
GO_ON = ("Go on", "Avanti")


class FakePlatform:
    """A fake platform that keeps messages by place, fails on request and records all calls."""

    # Recorded stores of older releases (tests/bot/releases) have this platform in their people's ids.
    platform = "paper"
    healthy = True
    has_ephemeral = False
    pages_url = ""
    shows_pictures = False
    has_live_hands = False
    plays_here = False

    def __init__(self, *, knows_keys: bool = True, longest: int = 4096) -> None:
        self.messages: dict[str, dict[str, Panel]] = defaultdict(dict)
        self.calls: list[tuple[str, str, str]] = []
        self.closed: set[str] = set()
        self.admins: set[str] | None = None
        """Administrators of groups; None if all members can change their settings."""
        self.ring_counts: Counter[str] = Counter()
        """Number of new messages that were not silent, by place."""
        self.errors: dict[str, list[DeliveryError]] = defaultdict(list)
        self.errors_after_delivery: dict[str, list[DeliveryError]] = defaultdict(list)
        self.rate_limit_of: dict[str, RateLimit] = {}
        self.knows_keys, self.longest = knows_keys, longest
        self._keys: dict[str, str] = {}
        self._numbers = count(1)

    async def start(self) -> None:
        return

    async def close(self) -> None:
        return

    async def serve(self) -> None:
        return

    def rate_limit(self, place: str) -> RateLimit:
        return self.rate_limit_of.get(place, RateLimit())

    def invitation_url(self, code: str, place: str, message: str) -> str:
        return ""

    def overall_rate_limit(self) -> RateLimit:
        return RateLimit()

    def has_admins(self, place: str) -> bool:
        return self.admins is not None

    async def is_admin(self, place: str, person: str) -> bool:
        assert self.admins is not None
        return person in self.admins

    def draws(self, _place: str, _panel: Panel) -> bool:
        return False

    async def send(self, place: str, panel: Panel, key: str, *, silent: bool = False) -> SentMessage:
        self._check("send", place, "", panel)
        if self.knows_keys and key in self._keys:
            return SentMessage(self._keys[key])
        message = self._keys[key] = str(next(self._numbers))
        self.messages[place][message] = panel
        if not silent:
            self.ring_counts[place] += 1
        self._fail_after(place)
        return SentMessage(message)

    async def edit(self, place: str, sent: SentMessage, panel: Panel) -> SentMessage:
        message = sent.message
        self._check("edit", place, message, panel)
        if message not in self.messages[place]:
            raise MessageGone(message)
        assert self.messages[place][message] != panel, "the edit changes nothing, which real platforms refuse"
        self.messages[place][message] = panel
        self._fail_after(place)
        return sent

    async def delete(self, place: str, message: str) -> None:
        self._check("delete", place, message, None)
        self.messages[place].pop(message, None)

    def _check(self, call: str, place: str, message: str, panel: Panel | None) -> None:
        self.calls.append((call, place, message))
        if self.errors[place]:
            raise self.errors[place].pop(0)
        if place in self.closed:
            raise Unreachable(place)
        if panel is None:
            return
        if utf16_length(panel.plain) > self.longest:
            raise TooLong(self.longest)
        assert panel.plain.strip()
        assert panel.picture is None or panel.picture.png, "the picture must be painted before it is sent"
        for row in panel.rows:
            assert row
            for button in row:
                assert button.label
                # Only the query of a share button can be empty.
                assert (button.kind != "share") <= len(button.payload.encode()) <= LONGEST_PAYLOAD, button

    def _fail_after(self, place: str) -> None:
        if self.errors_after_delivery[place]:
            raise self.errors_after_delivery[place].pop(0)

    def last(self, place: str) -> Panel:
        """Return the lowest message of a place."""
        return list(self.messages[place].values())[-1]

    def texts(self, place: str) -> list[str]:
        return [panel.plain for panel in self.messages[place].values()]


class Player:
    """A person on the fake platform, who presses visible buttons by their labels."""

    numbers = count(1)

    def __init__(self, worker: Worker, fake: FakePlatform, name: str, number: int, language: str = "en") -> None:
        self.worker, self.fake, self.dispatcher = worker, fake, Dispatcher(worker)
        self.person = Person(f"paper:{number}", name, name.lower(), language)
        self.private = private_place(self.person.id)
        # The place of messages in the group that only this person sees.
        self.aside = str(replace(Place.parse(GROUP), person=str(number), token="1700000000.9"))

    async def say(self, text: str, place: str = GROUP, about: tuple[Person, ...] = (), key: str = "") -> Reply:
        """Send a command, and show the panel of its reply as an adapter would."""
        word, *words = text.removeprefix("/").split()
        command = Command(key or f"c{next(self.numbers)}", self.person, place, word, tuple(words), about)
        reply = await self.dispatcher.handle_command(command)
        if reply.panel:
            await self.fake.send(self.private if reply.private else place, reply.panel, command.key)
        await self.worker.wait_until_idle()
        return reply

    async def send(self, payload: str, place: str = "", message: str = "0", key: str = "") -> Reply:
        """Press any payload. The press is genuine if the message has such a button."""
        place = place or self.private
        panel = self.fake.messages[place].get(message)
        genuine = panel is not None and any(button.payload == payload for row in panel.rows for button in row)
        press = Press(key or f"p{next(self.numbers)}", self.person, place, message, payload, genuine=genuine)
        return await self.dispatcher.handle_press(press)

    async def press(self, label: str, place: str = "", *, settle: bool = True) -> Reply:
        """Press the lowest button with this label. If there is none, press the lowest whose label contains it."""
        place = place or self.private
        message, button = self.button(label, place)
        key = f"p{next(self.numbers)}"
        reply = await self.send(button.payload, place, message, key)
        if reply.panel and not reply.private:
            self.fake.messages[place][message] = reply.panel
        elif reply.panel:
            await self.fake.send(self.private, reply.panel, key)
        if settle:
            await self.worker.wait_until_idle()
        return reply

    def button(self, label: str, place: str = "") -> tuple[str, Button]:
        """Return a visible button and its message."""
        messages = self.fake.messages[place or self.private]
        buttons = [(message, button) for message, panel in messages.items() for row in panel.rows for button in row]
        for match in (lambda text: text == label, lambda text: label in text):
            for message, button in reversed(buttons):
                if match(button.label):
                    return message, button
        raise AssertionError(f"no button {label!r} among {[button.label for _, button in buttons]}")

    def moves(self) -> list[tuple[str, Button]]:
        """Return the buttons for moves on this player's lowest private panel, with its message."""
        if not self.fake.messages[self.private]:
            return []
        message, panel = list(self.fake.messages[self.private].items())[-1]
        return [(message, button) for row in panel.rows for button in row if button.payload.startswith("1m")]

    async def play_anywhere(self, random: Random) -> None:
        """Press a random card on any private message, or the button after a deal."""
        buttons = [
            (message, button)
            for message, panel in self.fake.messages[self.private].items()
            for row in panel.rows
            for button in row
            if button.label in GO_ON or (button.payload.startswith("1m") and "play" in button.payload)
        ]
        if buttons:
            message, button = random.choice(buttons)
            await self.send(button.payload, self.private, message)

    async def play(self, random: Random) -> bool:
        """Press a random button of the lowest private message that moves the game on. Return False if there is none."""
        messages = self.fake.messages[self.private]
        if not messages:
            return False
        message, panel = list(messages.items())[-1]
        buttons = [button for row in panel.rows for button in row if button.kind == "press"]
        buttons = [button for button in buttons if not is_page(button.payload)]
        buttons = [button for button in buttons if "Claim" not in button.label and "blind" not in button.payload]
        buttons = [button for button in buttons if "hint" not in button.payload and button.role != Role.PHRASE]
        bids = [button for button in buttons if ":bid " in button.payload]
        if bids:
            buttons = [button for button in bids if button.payload.endswith(("bid 4", "bid 5"))]
        # Four chosen packets are taken, so that games stay short.
        buttons = [button for button in buttons if ":take " in button.payload] or buttons
        if not buttons:
            return False
        reply = await self.send(random.choice(buttons).payload, self.private, message)
        assert not reply.toast, (reply.toast, panel.plain)
        return True


@asynccontextmanager
async def open_worker(
    store: Store, fake: FakePlatform, *, rate_limits: bool = False, **options: Any
) -> AsyncIterator[Worker]:
    """Open a worker with the fake platform, quick robots, and the same packs in every run."""
    settings = Settings(_env_file=None, rate_limits=rate_limits)
    worker = Worker(store, settings, **{"robot_pause": 0.0, **options})
    worker.room.new_secret = Random(0).randbytes
    worker.add_adapter(fake)
    await worker.start()
    try:
        yield worker
    finally:
        await worker.stop()


ACCEPT = {2: ("Join",), 4: ("Sit East", "Sit North", "Sit West")}
NAMES = ("Anna", "Bruno", "Carla", "Dino")
STRICT_CLOCK = ("⏱ 1 min", "Strict: a robot plays late moves, three in a row lose")
"""Labels of options."""


def create_players(worker: Worker, fake: FakePlatform) -> list[Player]:
    return [Player(worker, fake, name, number) for number, name in enumerate(NAMES, 1)]


async def seat_players(worker: Worker, fake: FakePlatform, game: str, *options: str) -> list[Player]:
    """Start a game and return its players by seat. The first one challenges and presses the option labels."""
    seat_count = GAMES[game].seats
    players = [Player(worker, fake, name, number) for number, name in enumerate(NAMES[:seat_count], 1)]
    await players[0].say(f"/challenge {game}")
    for label in options:
        await players[0].press("Change", GROUP)
        await players[0].press(label, GROUP)
        await players[0].press("Done", GROUP)
    for player, label in zip(players[1:], ACCEPT[seat_count], strict=True):
        await player.press(label, GROUP)
        for ruler in players:
            if fake.messages[ruler.private] and "asks to sit" in fake.last(ruler.private).plain:
                await ruler.press("Accept")
    return players


def mover_of(players: Sequence[Player]) -> Player:
    return next(player for player in players if player.moves())


def mover_and_other(players: Sequence[Player]) -> tuple[Player, Player]:
    """Return the player to move and the first other player."""
    mover = mover_of(players)
    return mover, next(player for player in players if player is not mover)


async def code_of(worker: Worker, player: Player) -> str:
    """Return the code of the only table of a player."""
    [table] = await worker.room.lists.tables_of(player.person.id)
    return table.code


async def play_until(worker: Worker, players: Sequence[Player], random: Random, is_done: Callable[[], bool]) -> None:
    """Press random buttons until a condition is met."""
    players = list(players)
    for _ in range(5000):
        if is_done():
            return
        random.shuffle(players)
        for player in players:
            if await player.play(random):
                await worker.wait_until_idle()
                break
        else:
            raise AssertionError("no player has a button to press, and the condition was not met")
    raise AssertionError("the condition was not met after 5000 presses")


async def play_cards(worker: Worker, players: list[Player], count: int) -> None:
    random = Random(count)
    for _ in range(count):
        for player in players:
            await player.play_anywhere(random)
            await worker.wait_until_idle()


async def resign(worker: Worker, fake: FakePlatform, players: list[Player], loser: int) -> None:
    await players[loser].say("/resign")
    await players[loser].press("Yes, I resign")


@pytest.fixture
def fake() -> FakePlatform:
    return FakePlatform()


@pytest.fixture
async def worker(store: Store, fake: FakePlatform) -> AsyncIterator[Worker]:
    async with open_worker(store, fake) as worker:
        yield worker
