"""People who challenge each other and press random buttons of their panels."""

import asyncio
import re
from collections import Counter
from collections.abc import Iterable
from random import Random
from typing import Any

from tests.kills.pages import Page

GAMES = ("metamazzo", "spizzichino", "testa", "spades", "tressette", "tavolo", "pizzichino")
NEWCOMERS = frozenset({"Carla", "Dino", "Elsa", "Furio"})
RESIGN_CHANCE = 0.02  # chance that a resign button is among the buttons to choose from


class Players:
    """The players on one page. ``pressed`` has person and payload of each press, by its name."""

    def __init__(self, page: Page, random: Random) -> None:
        self.page, self.random = page, random
        self.pressed: dict[str, tuple[str, str]] = {}
        self._tasks: list[asyncio.Task[None]] = []

    async def begin(self) -> None:
        """Join, repeat unanswered presses, and play until `end`."""
        if len(self.page.people) < 2 + len(NEWCOMERS):
            for name in sorted(NEWCOMERS - {person["name"] for person in self.page.people}):
                answer = await self.page.ask(do="add_person", name=name)
                assert answer in ("done", "lost"), f"{name} could not join: {answer}"
        await self.repeat_unanswered()
        self._tasks = [asyncio.create_task(self._play(person["id"])) for person in self.page.people]

    async def end(self) -> None:
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    @property
    def acknowledged(self) -> set[str]:
        """The presses that were answered as done."""
        return self.pressed.keys() & self.page.accepted

    def count_moves(self, presses: Iterable[str]) -> dict[str, Counter[tuple[str, str]]]:
        """Count the moves among some presses, by table, person and move."""
        press_counts: dict[str, Counter[tuple[str, str]]] = {}
        for name in presses:
            person, payload = self.pressed[name]
            if payload.startswith("1m"):
                code, _version, move = payload[2:].split(":", 2)
                press_counts.setdefault(code, Counter())[f"{self.page.platform}:{person}", move] += 1
        return press_counts

    async def repeat_unanswered(self) -> None:
        """Repeat the last unanswered presses, as a page does after it reconnects."""
        answered_names = self.page.accepted | self.page.refused
        unanswered = [name for name in self.pressed if name not in answered_names][-20:]
        await asyncio.gather(*(self.page.ask(name, **self.page.requests[name]) for name in unanswered))

    async def fill_tables(self, target: int) -> None:
        """Take every free seat, cut every pack, and challenge if fewer open tables are left than wanted."""
        ids = [person["id"] for person in self.page.people]
        cards = [
            message
            for message in self.page.chat("1").values()
            if any(_is_seat_button(button) or _is_cut(button) for row in message.get("rows", ()) for button in row)
        ]
        for message in cards:
            await self._cut(message, ids)
            for button in [button for row in message["rows"] for button in row]:
                invites = self.page.presses_invite and button["payload"].endswith(":invite")
                if _is_seat_button(button) or button["payload"].endswith("sit 0") or invites:
                    await self.page.ask(
                        do="press",
                        chat="1",
                        message=message["id"],
                        payload=button["payload"],
                        **{"as": self.random.choice(ids)},
                    )
        if len(cards) < target:
            game = self.random.choice(GAMES)
            await self.page.ask(do="say", chat="1", text=f"/challenge {game}", **{"as": self.random.choice(ids)})

    async def _cut(self, message: dict[str, Any], ids: list[str]) -> None:
        """Cut the pack that a card shows. On the playground, first turn on cutting at half of the tables."""
        payloads = [button["payload"] for row in message["rows"] for button in row]
        if cut := next((payload for payload in payloads if payload.endswith(":cut")), ""):
            wanted_button = cut
        elif self.page.platform == "playground" and (match := re.match(r"1t(\w+):", payloads[0])):
            wanted_button = f"1t{match[1]}:cutting true" if int(match[1], 36) % 2 else ""
        else:
            return
        for person in ids if wanted_button else ():
            # Only one of these people can press it.
            await self.page.ask(do="press", chat="1", message=message["id"], payload=wanted_button, **{"as": person})

    async def _play(self, person: str) -> None:
        while True:
            await self.press_something(person)

    async def press_something(self, person: str) -> None:
        """Press a random button, or wait a moment if there is none."""
        # Leave out the button that lets a robot play, because no press names the robot's move.
        buttons = [
            (message, payload)
            for message, payload in self.page.buttons(person)
            if not payload.endswith(":automatic")
            and (not payload.endswith("resign") or self.random.random() < RESIGN_CHANCE)
        ]
        bids = [(message, payload) for message, payload in buttons if payload.endswith((":bid 4", ":bid 5"))]
        if not buttons:
            await asyncio.sleep(0.01)
            return
        message, payload = self.random.choice(bids or buttons)
        name = f"m{len(self.pressed):07}"
        self.pressed[name] = (person, payload)
        answer = await self.page.ask(
            name, do="press", chat=f"@{person}", message=message, payload=payload, **{"as": person}
        )
        if answer != "done":
            await asyncio.sleep(self.page.pause)


def _is_cut(button: dict[str, str]) -> bool:
    return button["payload"].endswith(":cut")


def _is_seat_button(button: dict[str, str]) -> bool:
    # An offer that nobody has accepted yet has a free seat.
    return button["payload"].endswith(("sit", "sit 1", "sit 2", "sit 3")) or button["payload"].startswith("1o")
