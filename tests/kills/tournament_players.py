"""People at tournaments: they open them, enter, choose, start, play what comes of it, and look at the pages."""

import asyncio
import re
import time
from collections.abc import Iterator
from random import Random
from typing import Any

from tests.kills.pages import Page
from tests.kills.players import Players

GROUP = "1"
NAMES = ("Carla", "Dino", "Elsa", "Furio", "Gina", "Ivo")
GAMES = ("testa 11", "testa 11", "metamazzo 21", "tressette 63")
FORMS = ("duplicate", "knockout", "duplicate", "swiss", "roundrobin", "league")
FORM_NAMES = {
    "knockout": "Knock-out",
    "roundrobin": "Round robin",
    "swiss": "Swiss",
    "duplicate": "Duplicate",
    "league": "League",
}
MIN_OPEN = 2
"""So many tournaments are not over at a time."""

RESIGN_CHANCE, LAST_RESIGN_CHANCE = 0.02, 0.3
"""How often somebody resigns in place of a move."""

PAGES = ("mine", "results 0", "table 1", "rules", "hand")
NEVER_PRESSED = (":automatic", ":browser", ":claim")
"""What is pressed by nobody: moves that nobody would have made, and ways to another page."""

PANEL_SECONDS = 1.0
"""For so many seconds nobody presses on a panel again where they have pressed: it is about to be another one."""

PAGE_CHANCE = 0.02
"""How often somebody presses one of these on a card in place of a move."""


class TournamentPlayers(Players):
    """All who play on one page. Once it ``is_last`` no more tournaments are opened, and many a game is given up."""

    def __init__(self, page: Page, random: Random) -> None:
        super().__init__(page, random)
        self.is_last = False
        self._forms: dict[str, str] = {}
        # The panels on which somebody has pressed, and until when they wait for another one.
        self._pressed_until: dict[tuple[str, str], float] = {}

    async def begin(self) -> None:
        missing = sorted(set(NAMES) - {person["name"] for person in self.page.people})
        for name in missing:
            answer = await self.page.ask(do="add_person", name=name)
            assert answer in ("done", "lost"), f"{name} may not come in: {answer}"
        await self.repeat_unanswered()
        self._tasks = [asyncio.create_task(self._play(person["id"])) for person in self.page.people]

    async def fill_tables(self, wanted: int) -> None:
        """Open tournaments where there are too few, and have those that are open begin."""
        cards = list(self.cards())
        is_on = [
            code for code, message in cards if _has_button(message, code, "enter") or _has_button(message, code, "hand")
        ]
        if len(is_on) < MIN_OPEN and not self.is_last:
            word = "league" if self.random.random() < 0.1 else "tournament"
            text = f"/{word} {self.random.choice(GAMES)}"
            await self.page.ask(do="say", chat=GROUP, text=text, **{"as": self._random_person()})
        for code, message in cards:
            if _has_button(message, code, "enter"):
                await self._advance(code, message)

    def cards(self) -> Iterator[tuple[str, dict[str, Any]]]:
        """The tournaments' cards in the group, with their codes."""
        for message in self.page.chat(GROUP).values():
            if message["by"] == "bot" and (code := card_code(message, self.page.text(message))):
                yield code, message

    async def _advance(self, code: str, message: dict[str, Any]) -> None:
        """Bring an open tournament one step further: its form, who enters, its start."""
        text = self.page.text(message)
        form = self._forms.setdefault(code, FORMS[len(self._forms) % len(FORMS)])
        organiser = next(
            (one["id"] for one in self.page.people if f"Organised by {one['name']}" in _without_isolates(text)), ""
        )
        if not organiser:
            return
        if not text.startswith((f"🏆 {FORM_NAMES[form]}", "🏆 League")):
            await self._choose(code, message, organiser, f"set form {form}", "options form", "options")
            return
        found = re.search(r"(\d+) ha(?:s|ve) entered", text)
        least = 8 if "Quattro" in text else 4 + sum(map(ord, code)) % 3
        if found and int(found[1]) >= min(least, len(self.page.people)):
            await self._press_page(GROUP, message["id"], f"1ptournament {code} start", organiser)
            return
        for _ in range(3):
            somebody = self._random_person()
            partner = self.random.choice(payloads(message))
            payload = partner if " with " in partner else f"1ptournament {code} enter"
            await self._press_page(GROUP, message["id"], payload, somebody)

    async def _choose(self, code: str, card: dict[str, Any], organiser: str, *verbs: str) -> None:
        """Press the first of these that the organiser has before them; the last one stands on the card."""
        private = self.page.chat(f"@{organiser}")
        for verb in verbs[:-1]:
            for message in reversed(list(private.values())):
                if message["by"] == "bot" and _has_button(message, code, verb):
                    await self._press_page(f"@{organiser}", message["id"], f"1ptournament {code} {verb}", organiser)
                    return
        await self._press_page(GROUP, card["id"], f"1ptournament {code} {verbs[-1]}", organiser)

    async def _press_page(self, chat: str, message: int, payload: str, person: str) -> None:
        await self.page.ask(do="press", chat=chat, message=message, payload=payload, **{"as": person})

    def _random_person(self) -> str:
        return str(self.random.choice(self.page.people)["id"])

    async def press_something(self, person: str) -> None:
        if self.random.random() < PAGE_CHANCE and (cards := list(self.cards())):
            code, card = self.random.choice(cards)
            verb = self.random.choice(PAGES)
            if _has_button(card, code, verb):
                await self._press_page(GROUP, card["id"], f"1ptournament {code} {verb}", person)
        buttons = [
            (message, payload)
            for message, payload in self.page.buttons(person)
            if not payload.endswith(NEVER_PRESSED)
            and self._pressed_until.get((person, panel_of(payload)), 0.0) < time.monotonic()
        ]
        if not buttons:
            await asyncio.sleep(0.02)
            return
        message, payload = self.random.choice(buttons)
        if payload.startswith("1m") and self.random.random() < (LAST_RESIGN_CHANCE if self.is_last else RESIGN_CHANCE):
            # Without being asked first: a panel that asks offers no cards.
            payload = f"{panel_of(payload)}:resign"
        name = f"m{len(self.pressed):07}"
        self.pressed[name] = (person, payload)
        answer = await self.page.ask(
            name, do="press", chat=f"@{person}", message=message, payload=payload, **{"as": person}
        )
        if answer != "lost" and payload.startswith("1m"):
            self._pressed_until[person, panel_of(payload)] = time.monotonic() + PANEL_SECONDS
        if answer != "done":
            await asyncio.sleep(0.02)


def panel_of(payload: str) -> str:
    """The table and version that a button is about."""
    return payload.rpartition(":")[0]


def card_code(message: dict[str, Any], text: str) -> str:
    """The code of the tournament of which a message in the group is the card; empty for any other message."""
    for payload in payloads(message) if text.startswith("🏆") else ():
        words = payload.split()
        if words[0] == "1ptournament" and words[1] != "new":
            return words[1]
    return ""


def winner_code(message: dict[str, Any], text: str) -> str:
    """The same of the word of who has won."""
    found = payloads(message) if text.startswith("🥇") else []
    return found[0].split()[1] if found else ""


def payloads(message: dict[str, Any]) -> list[str]:
    """What the buttons of a message carry."""
    return [str(button["payload"]) for button in _buttons(message)]


def _buttons(message: dict[str, Any]) -> list[dict[str, Any]]:
    return [button for row in message.get("rows", ()) for button in row]


def _has_button(message: dict[str, Any], code: str, verb: str) -> bool:
    return f"1ptournament {code} {verb}" in payloads(message)


def _without_isolates(text: str) -> str:
    """A text without the marks that keep names apart from what surrounds them."""
    return re.sub("[\u2066-\u2069]", "", text)
