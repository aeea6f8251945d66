"""People who open and enter tournaments, choose their form, start and play them, and read their pages."""

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
MIN_LIVE = 2  # number of tournaments open or in play; with fewer, another one is opened

RESIGN_CHANCE, LAST_RESIGN_CHANCE = 0.02, 0.3
"""Chances of a resignation instead of a move, during the run and in its last part."""

PAGES = ("mine", "results 0", "table 1", "rules", "hand")
NEVER_PRESSED = (":automatic", ":browser", ":claim")
"""Buttons that people never press: automatic moves, links to the browser, and claims."""

PANEL_SECONDS = 1.0  # seconds without another press on the same panel, because it is about to change
PAGE_CHANCE = 0.02  # chance that a person presses one of the ``PAGES`` of a card before a move


class TournamentPlayers(Players):
    """The players on one page. Once ``in_last_part`` is set, they open no tournaments and often resign."""

    def __init__(self, page: Page, random: Random) -> None:
        super().__init__(page, random)
        self.in_last_part = False
        self._forms: dict[str, str] = {}
        # Time until which a person does not press a panel again, by person and panel.
        self._not_pressed_before: dict[tuple[str, str], float] = {}

    async def begin(self) -> None:
        missing_names = sorted(set(NAMES) - {person["name"] for person in self.page.people})
        for name in missing_names:
            answer = await self.page.ask(do="add_person", name=name)
            assert answer in ("done", "lost"), f"{name} could not join: {answer}"
        await self.repeat_unanswered()
        self._tasks = [asyncio.create_task(self._play(person["id"])) for person in self.page.people]

    async def fill_tables(self, target: int) -> None:
        """Open a tournament if there are too few, and bring the open ones to their start."""
        cards = list(self.cards())
        live = [
            code for code, message in cards if _has_button(message, code, "enter") or _has_button(message, code, "hand")
        ]
        if len(live) < MIN_LIVE and not self.in_last_part:
            command = "league" if self.random.random() < 0.1 else "tournament"
            text = f"/{command} {self.random.choice(GAMES)}"
            await self.page.ask(do="say", chat=GROUP, text=text, **{"as": self._random_person()})
        for code, message in cards:
            if _has_button(message, code, "enter"):
                await self._advance(code, message)

    def cards(self) -> Iterator[tuple[str, dict[str, Any]]]:
        """Yield each tournament's code, and its card in the group."""
        for message in self.page.chat(GROUP).values():
            if message["by"] == "bot" and (code := card_code(message, self.page.text(message))):
                yield code, message

    async def _advance(self, code: str, message: dict[str, Any]) -> None:
        """Bring an open tournament one step further: its form, its entries, its start."""
        text = self.page.text(message)
        form = self._forms.setdefault(code, FORMS[len(self._forms) % len(FORMS)])
        organiser = next(
            (
                person["id"]
                for person in self.page.people
                if f"Organised by {person['name']}" in _without_isolates(text)
            ),
            "",
        )
        if not organiser:
            return
        if not text.startswith((f"🏆 {FORM_NAMES[form]}", "🏆 League")):
            await self._choose(code, message, organiser, f"set form {form}", "options form", "options")
            return
        entered = re.search(r"(\d+) players?:", text)
        # Vary the number of entries from 4 to 6.
        required = 8 if "Quattro" in text else 4 + sum(map(ord, code)) % 3
        if entered and int(entered[1]) >= min(required, len(self.page.people)):
            await self._choose(code, message, organiser, "start", "done")
            return
        for _ in range(3):
            entrant = self._random_person()
            partners = [
                (offer["id"], payload)
                for offer in self.page.chat(f"@{entrant}").values()
                for payload in payloads(offer)
                if payload.startswith(f"1ptournament {code} with ")
            ]
            if partners:
                await self._press_button(f"@{entrant}", *self.random.choice(partners), entrant)
            else:
                await self._press_button(GROUP, message["id"], f"1ptournament {code} enter", entrant)

    async def _choose(self, code: str, card: dict[str, Any], organiser: str, *verbs: str) -> None:
        """Press the first of these buttons that the organiser has in private. Without any, ask for the page again."""
        private = list(self.page.chat(f"@{organiser}").values())
        for verb in verbs:
            for message in reversed(private):
                if message["by"] == "bot" and _has_button(message, code, verb):
                    await self._press_button(f"@{organiser}", message["id"], f"1ptournament {code} {verb}", organiser)
                    return
        await self._press_button(GROUP, card["id"], f"1ptournament {code} enter", organiser)

    async def _press_button(self, chat: str, message: int, payload: str, person: str) -> None:
        await self.page.ask(do="press", chat=chat, message=message, payload=payload, **{"as": person})

    def _random_person(self) -> str:
        return str(self.random.choice(self.page.people)["id"])

    async def press_something(self, person: str) -> None:
        if self.random.random() < PAGE_CHANCE and (cards := list(self.cards())):
            code, card = self.random.choice(cards)
            verb = self.random.choice(PAGES)
            if _has_button(card, code, verb):
                await self._press_button(GROUP, card["id"], f"1ptournament {code} {verb}", person)
        buttons = [
            (message, payload)
            for message, payload in self.page.buttons(person)
            if not payload.endswith(NEVER_PRESSED)
            and self._not_pressed_before.get((person, panel_of(payload)), 0.0) < time.monotonic()
        ]
        if not buttons:
            await asyncio.sleep(0.02)
            return
        message, payload = self.random.choice(buttons)
        if payload.startswith("1m") and self.random.random() < (
            LAST_RESIGN_CHANCE if self.in_last_part else RESIGN_CHANCE
        ):
            # Resign without a confirmation, because a panel that asks for one offers no cards.
            payload = f"{panel_of(payload)}:resign"
        name = f"m{len(self.pressed):07}"
        self.pressed[name] = (person, payload)
        answer = await self.page.ask(
            name, do="press", chat=f"@{person}", message=message, payload=payload, **{"as": person}
        )
        if answer != "lost" and payload.startswith("1m"):
            self._not_pressed_before[person, panel_of(payload)] = time.monotonic() + PANEL_SECONDS
        if answer != "done":
            await asyncio.sleep(0.02)


def panel_of(payload: str) -> str:
    """Return the table and version of a button's payload."""
    return payload.rpartition(":")[0]


def card_code(message: dict[str, Any], text: str) -> str:
    """Return a tournament's code if this message is its card, otherwise an empty string."""
    for payload in payloads(message) if text.startswith("🏆") else ():
        parts = payload.split()
        if parts[0] == "1ptournament" and parts[1] != "new":
            return parts[1]
    return ""


def winner_code(message: dict[str, Any], text: str) -> str:
    """Return a tournament's code if this message announces its winner, otherwise an empty string."""
    buttons = payloads(message) if text.startswith("🥇") else []
    return buttons[0].split()[1] if buttons else ""


def payloads(message: dict[str, Any]) -> list[str]:
    """Return the payloads of a message's buttons."""
    return [str(button["payload"]) for button in _buttons(message)]


def _buttons(message: dict[str, Any]) -> list[dict[str, Any]]:
    return [button for row in message.get("rows", ()) for button in row]


def _has_button(message: dict[str, Any], code: str, verb: str) -> bool:
    return f"1ptournament {code} {verb}" in payloads(message)


def _without_isolates(text: str) -> str:
    """Return a text without the Unicode isolates around names."""
    return re.sub("[\u2066-\u2069]", "", text)
