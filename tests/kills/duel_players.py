"""People who challenge each other to duels and play them, and read the messages about them."""

import asyncio
import re
import time
from collections import Counter
from random import Random

from tests.kills.pages import Page
from tests.kills.solo_deals import SoloPlayers

GROUP = "1"
GAMES = ("testa", "metamazzo")
MIN_LIVE = 2  # duels in progress; with fewer, a person or a duel is added
MIN_PEOPLE, DUELS_EACH = 4, 4  # people at first; another person comes after each `DUELS_EACH` duels
ASK_AGAIN_CHANCE = 0.03  # chance that a person presses *Play* although they could make a move
RETRY_SECONDS = 1.0  # seconds without another press on *Play* for the same duel
RESIGN_CHANCE, LAST_RESIGN_CHANCE = 0.005, 0.3  # chances to give up a deal, during the run and in its last part


class DuelPlayers(SoloPlayers):
    """People who challenge each other in the group and in private, and play their duels."""

    resign_chance = RESIGN_CHANCE

    def __init__(self, page: Page, random: Random) -> None:
        super().__init__(page, random)
        self.in_last_part = False  # once set, nobody opens a duel, and people often give up
        self._opened = 0
        # Time until which a person does not press *Play* for a duel again, by person and payload.
        self._not_pressed_before: dict[tuple[str, str], float] = {}

    async def fill_tables(self, target: int) -> None:
        """If too few duels are in progress, add a person, open a duel, or ask for a rematch."""
        if len(find_codes(self.page, "play") - find_codes(self.page, "rematch")) >= MIN_LIVE or self.in_last_part:
            return
        number = len(self.page.people) + 1
        if number <= MIN_PEOPLE + self._opened // DUELS_EACH:
            if await self.page.ask(do="add_person", name=f"Person {number}") == "done":
                await asyncio.sleep(0.1)
                for person in self.page.people[number - 1 :]:
                    self._tasks.append(asyncio.create_task(self._play(person["id"])))
            return
        self._opened += 1
        challenger, other = self.random.sample(self.page.people[-MIN_PEOPLE:], 2)
        over = list(find_buttons(self.page, f"@{challenger['id']}", "rematch"))
        if over and self.random.random() < 0.3:
            await self._press_button(f"@{challenger['id']}", *self.random.choice(over), challenger["id"])
            return
        name = self.random.choice((f"@{other['handle']}", ""))
        chat = self.random.choice((GROUP, f"@{challenger['id']}")) if name else GROUP
        text = f"/duel {name} {self.random.choice(GAMES)}"
        await self.page.ask(do="say", chat=chat, text=text, **{"as": challenger["id"]})

    async def press_something(self, person: str) -> None:
        if not self.page.chat(f"@{person}"):
            # The bot sends cards only to people who have opened their private chat.
            await self.page.ask(do="say", chat=f"@{person}", text="/start", **{"as": person})
        moves, page = self.moves(person), self._choose_page(person)
        if page and (not moves or self.random.random() < ASK_AGAIN_CHANCE):
            self._not_pressed_before[person, page[-1]] = time.monotonic() + RETRY_SECONDS
            await self._press_button(*page, person)
        elif moves:
            await self._press_or_give_up(person, moves)
        await asyncio.sleep(0.02)

    async def _press_or_give_up(self, person: str, moves: list[tuple[int, str]]) -> None:
        message, payload = moves[0]
        if payload.startswith("1m") and self.random.random() < (
            LAST_RESIGN_CHANCE if self.in_last_part else self.resign_chance
        ):
            # Give up without a confirmation, because a panel that asks for one offers no cards.
            moves = [(message, f"{payload.rpartition(':')[0]}:resign")]
        await self.press_move(person, moves)

    def _choose_page(self, person: str) -> tuple[str, int, str] | None:
        """Return chat, message and payload of a *Play* button of a duel that is not over."""
        over = find_codes(self.page, "rematch")
        offered = [
            (chat, message, payload)
            for chat in (f"@{person}", GROUP)
            for message, payload in find_buttons(self.page, chat, "play")
            if payload.split()[1] not in over
            and self._not_pressed_before.get((person, payload), 0.0) < time.monotonic()
        ]
        return self.random.choice(offered) if offered else None

    async def _press_button(self, chat: str, message: int, payload: str, person: str) -> None:
        await self.page.ask(do="press", chat=chat, message=message, payload=payload, **{"as": person})


def find_buttons(page: Page, chat: str, verb: str) -> list[tuple[int, str]]:
    """Return message and payload of each button of a duel with this verb."""
    return [
        (int(message["id"]), button["payload"])
        for message in page.chat(chat).values()
        for row in message.get("rows", ())
        for button in row
        if re.fullmatch(rf"1pduel \w+ {verb}", button["payload"])
    ]


def find_codes(page: Page, verb: str) -> set[str]:
    """Return the codes of duels that have a button with this verb in some chat."""
    return {payload.split()[1] for chat in page.messages for _message, payload in find_buttons(page, chat, verb)}


def find_ends(page: Page) -> dict[str, dict[str, list[str]]]:
    """Return the texts of messages about a duel's end, by code and chat. Such messages offer a rematch."""
    ends: dict[str, dict[str, list[str]]] = {}
    for chat in page.messages:
        for message, payload in find_buttons(page, chat, "rematch"):
            text = page.text(page.messages[chat][message])
            ends.setdefault(payload.split()[1], {}).setdefault(chat, []).append(text)
    return ends


def count_acceptances(page: Page) -> Counter[str]:
    """Count the messages that say that a duel was accepted, by its code."""
    return Counter(
        payload.split()[1]
        for chat in page.messages
        for message, payload in find_buttons(page, chat, "play")
        if "has accepted your duel." in page.text(page.messages[chat][message])
    )
