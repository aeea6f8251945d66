"""People of two groups who open, accept, enter and begin matches, and play their duels."""

import re
from random import Random
from typing import NamedTuple

from tests.kills.duel_players import GAMES, GROUP, MIN_PEOPLE, DuelPlayers
from tests.kills.pages import Page

OTHER = "2"
GROUPS = (GROUP, OTHER)
PLAY_CHANCE = 0.1  # chance that a person presses *Play* on a match's message when matches are filled up


class Entry(NamedTuple):
    """A person who was told that they have entered a match."""

    code: str
    side: int
    person: str


class MatchPlayers(DuelPlayers):
    """People of two groups. Those with odd numbers are in the first one. ``entered`` are all acknowledged entries."""

    resign_chance = 0.3  # matches are short, so that kills also hit their beginning and their end

    def __init__(self, page: Page, random: Random) -> None:
        super().__init__(page, random)
        self.entered: set[Entry] = set()

    async def fill_tables(self, target: int) -> None:
        """Bring the match one step further: its people, its groups, its entries, its draw."""
        if self.in_last_part:
            return
        if len(self.page.people) < MIN_PEOPLE:
            await self.page.ask(do="add_person", name=f"Person {len(self.page.people) + 1}")
        elif OTHER not in self.page.groups:
            await self.page.ask(do="add_chat", name="Circolo")
        elif codes := match_codes(self.page, GROUP, "enter"):
            [code] = codes
            if code in match_codes(self.page, OTHER, "enter"):
                await self._enter_and_begin(code)
            else:
                await self._say(OTHER, f"/match {code}")
        elif codes := match_codes(self.page, GROUP, "play"):
            if self.random.random() < PLAY_CHANCE:
                side = self.random.choice((0, 1))
                await self._press(codes.pop(), "play", side, self._member(side))
        else:
            await self._say(GROUP, f"/match {self.random.choice(GAMES)}")

    async def _enter_and_begin(self, code: str) -> None:
        missing_names = [
            entry
            for person in self.page.people
            if (entry := Entry(code, self._side(person["id"]), f"{self.page.platform}:{person['id']}"))
            not in self.entered
        ]
        for entry in missing_names:
            number = entry.person.partition(":")[2]
            if await self._press(code, "enter", entry.side, number) == "You’re in.":
                self.entered.add(entry)
        if not missing_names:
            # Only an organiser can begin.
            for person in self.page.people:
                await self._press(code, "begin", self._side(person["id"]), person["id"])

    async def _say(self, chat: str, text: str) -> None:
        await self.page.ask(do="say", chat=chat, text=text, **{"as": self._member(GROUPS.index(chat))})

    async def _press(self, code: str, verb: str, side: int, person: str) -> str:
        """Press a button of a match's message, and return the toast."""
        payload = f"1pmatch {code} {verb}"
        for number, message in self.page.chat(GROUPS[side]).items():
            if payload in [button["payload"] for row in message.get("rows", ()) for button in row]:
                toast: str = await self.page.ask_for_toast(
                    do="press", chat=GROUPS[side], message=number, payload=payload, **{"as": person}
                )
                return toast
        return ""

    def _member(self, side: int) -> str:
        people = [str(person["id"]) for person in self.page.people]
        return self.random.choice([person for person in people if self._side(person) == side])

    @staticmethod
    def _side(person: str) -> int:
        return (int(person) + 1) % 2


def match_codes(page: Page, chat: str, verb: str) -> set[str]:
    """Return the codes of matches that have a button with this verb in a group."""
    payloads = [
        button["payload"] for message in page.chat(chat).values() for row in message.get("rows", ()) for button in row
    ]
    return {
        payload_match[1] for payload in payloads if (payload_match := re.fullmatch(rf"1pmatch (\w+) {verb}", payload))
    }
