"""Gives one reply to each command and press that an adapter passes on."""

import time
from collections.abc import Awaitable, Callable
from contextlib import suppress
from dataclasses import replace
from functools import partial
from typing import Any

import structlog
from redis.asyncio import Redis

from bot.actions import is_page
from bot.command_names import ArgumentKind, Availability, closest_command, read_command
from bot.delivery.surface import Change
from bot.delivery.surface_names import Hand
from bot.delivery.surfaces import board_at
from bot.feature import CommandHandler
from bot.handlers.at_table import TableButtons
from bot.handlers.challenge_cards import ChallengeCards
from bot.handlers.challenge_commands import Joining
from bot.handlers.completions import suggestions
from bot.handlers.errors import (
    MisspeltCommand,
    NoReportCommand,
    NoSayCommand,
    OnlyInGroups,
    OnlyInPrivate,
    UnknownCommand,
)
from bot.handlers.greeting import Greeting
from bot.handlers.invitations import Invitations
from bot.handlers.live_hands import LiveHands
from bot.handlers.lobby import Lobby
from bot.handlers.misspelt import Misspelt, misspelt_panel
from bot.handlers.offers import Offers
from bot.handlers.own_tables import OwnTables
from bot.handlers.pages import CorePages
from bot.handlers.press_limits import BREAK_SECONDS, RequestLimits, TooManyCommands, TooManyPresses, Verdict
from bot.handlers.presses import Presses
from bot.handlers.program_tables import ProgramTables
from bot.handlers.rematch import Rematches
from bot.handlers.start import Start
from bot.identity.names import trim_blanks
from bot.metrics import COMMANDS, PRESS_SECONDS, press_counter
from bot.panel import Panel
from bot.people import Profile
from bot.platform import Command, Offer, OfferList, Person, Press, Reply, Suggestion, chat_of, is_private, private_place
from bot.settings import Settings
from bot.site.game_reader import GameReader
from bot.site.mini_app import HasMiniApp, MiniApp
from bot.site.what_if import WhatIf
from bot.store import keys
from bot.store.outage import STORE_ERRORS, begin_request, is_certainly_lost
from bot.tables.checks import check_not_banned
from bot.tables.errors import NoSuchTable, OldPanel, SetAside
from bot.texts import error_text, language_of, texts
from bot.words.spoken import refusal_text
from bot.worker import Worker
from engine.errors import EngineError

BUTTON_ERRORS = {  # errors by command, for commands that people try but that exist only as buttons
    "report": NoReportCommand,
    "segnala": NoReportCommand,
    "phrases": NoSayCommand,
    "frasi": NoSayCommand,
}

LONGEST_REPEATED = 32  # characters of an unknown command that the answer repeats

OPEN_TO_BANNED = {"privacy", "mydata", "forget"}  # commands about a person's own data

log = structlog.get_logger()


class Dispatcher:
    """The bot as adapters see it (`bot.card_room.CardRoom`). It knows no platform."""

    def __init__(self, worker: Worker) -> None:
        self.worker = worker
        self.feature = worker.feature
        self.games = GameReader(worker.archive, worker.analysis_pool)
        self.what_if = WhatIf(worker.archive, worker.robot_pool)
        self.watching, self.presence = worker.watching, worker.presence
        self.paint = worker.picture_pool.paint
        self.check_health, self.update_metrics = worker.check_health, worker.update_metrics
        self.limits = RequestLimits(on=worker.settings.rate_limits)
        store, room, people, challenges = worker.store, worker.room, worker.people, worker.challenges
        archive, lists, features, updates = worker.archive, room.lists, worker.features, worker.updates
        private_hands, guard = worker.private_hands, worker.code_guard
        self.live_hands = LiveHands(
            room,
            worker.shards,
            people,
            worker.policies,
            archive,
            worker.ratings,
            challenges,
            worker.hints,
            worker.is_first_game,
            presence=worker.presence,
            is_limited=worker.settings.rate_limits,
        )
        self.lobby = Lobby(room, people, challenges, archive, worker.watching)
        self.program_tables = ProgramTables(room, people, challenges, self.live_hands, guard)
        self._offers = Offers(store, people, challenges, lists, archive, features)
        invitations = Invitations(store, worker.adapters)
        pages = CorePages(worker.viewers, lists, features, challenges, guard, worker.replays)
        self._pages = pages
        joining = Joining(room, challenges, people, guard, updates)
        self._handlers: dict[str, CommandHandler] = {}
        all_handlers = (
            pages,
            joining,
            Greeting(joining, challenges, people, updates, pages, invitations, lists, private_hands, archive),
            Start(features, joining, pages, private_hands, lists, people),
            OwnTables(lists, private_hands, updates, invitations, pages),
            ChallengeCards(room, challenges, people, updates, worker.policies, invitations, pages),
            TableButtons(room, updates, worker.alarms),
            Rematches(archive, room, challenges, worker.blocks, self._offers),
            Misspelt(self._handlers),
            *features,
        )
        for handlers in all_handlers:
            self._handlers |= handlers.commands
        self._presses = Presses(all_handlers, room, updates, self._offers, guard)

    async def handle_command(self, command: Command) -> Reply:
        command = _clean_command(command)
        spec, _arguments = read_command(command.word, command.words)
        word = spec.name if spec else "unknown"
        COMMANDS.labels(word).inc()
        language = language_of(command.person.language)
        verdict = self.limits.check_command(command)
        if verdict is not Verdict.ANSWER:
            toast = error_text(TooManyCommands(seconds=round(BREAK_SECONDS)), language)
            return Reply(toast=toast, optional=verdict is Verdict.DROP)
        begin_request()
        try:
            profile = await self.worker.people.meet(command.person, command.place, command.chat_name)
            language = profile.language
            reply = await self._with_picture(await self._answer_command(command, profile))
        except EngineError as error:
            reply = Reply(toast=error_text(error, language))
        except STORE_ERRORS as error:
            return Reply(toast=self.report_store_error(error, language))
        except Exception:
            log.exception("command_failed", word=word)
            return Reply(toast=self._failure_text(language))
        await self._send_missed_hands_here(command.person, command.place)
        return reply

    async def _answer_command(self, command: Command, profile: Profile) -> Reply:
        spec, arguments = read_command(command.word, command.words)
        if spec is None or spec.name not in OPEN_TO_BANNED:
            check_not_banned(self.worker.store.levers, profile.id)
        if spec is None:
            if error := BUTTON_ERRORS.get(command.word):
                raise error()
            return _unknown_command(command.word[:LONGEST_REPEATED], command.place, profile.language)
        if not spec.availability.includes(private=is_private(command.place)):
            error = OnlyInGroups if spec.availability is Availability.GROUP else OnlyInPrivate
            raise error(word=command.word)
        if len(arguments) < len(command.words):
            command = replace(command, word=spec.name, words=arguments)
        return await self._handlers[spec.name](command, profile)

    async def handle_press(self, press: Press) -> Reply:
        start = time.perf_counter()
        if (person := _clean_person(press.person)) is not press.person:
            press = replace(press, person=person)
        language, suits = language_of(press.person.language), "italian"
        if self.limits.check_press(press) is not Verdict.ANSWER:
            press_counter("refused").inc()
            return Reply(toast=error_text(TooManyPresses(), language), is_temporary=True)
        begin_request()
        try:
            # A group's language is not the presser's language.
            in_private_chat = press.message and is_private(press.place)
            profile = await self.worker.people.meet(press.person, press.place if in_private_chat else "")
            language, suits = profile.language, profile.suits
            reply = await self._with_picture(await self._presses.answer(press, profile))
            if reply.private:
                reply = replace(reply, has_private_chat=profile.has_private_chat)
            press_counter("done").inc()
        except EngineError as error:
            press_counter("old" if isinstance(error, OldPanel) else "refused").inc()
            reply = Reply(toast=refusal_text(error, language, suits))
        except STORE_ERRORS as error:
            press_counter("failed").inc()
            return Reply(toast=self.report_store_error(error, language, pressed=True), is_temporary=True)
        except Exception:
            press_counter("failed").inc()
            log.exception("press_failed")
            return Reply(toast=self._failure_text(language), is_temporary=True)
        finally:
            PRESS_SECONDS.observe(time.perf_counter() - start)
        if press.message and is_page(press.payload):
            await self._send_missed_hands_here(press.person, press.place)
        return reply

    async def _with_picture(self, reply: Reply) -> Reply:
        """Return the reply with its panel's picture, if it has one that is painted in time."""
        return replace(reply, panel=await self.worker.picture_pool.paint_panel(reply.panel)) if reply.panel else reply

    async def send_hands(self, person: Person, code: str = "") -> None:
        begin_request()
        await self.worker.people.meet(person, private_place(person.id))
        await self.worker.private_hands.resend(person.id, code, private_place(person.id))
        if code:
            await self.send_missed_hands(person)

    async def send_missed_hands(self, person: Person) -> None:
        begin_request()
        change = Change(place=private_place(person.id), if_waiting=True)
        for table in await self.worker.room.lists.tables_of(person.id):
            seat = table.seat_of(person.id)
            if seat is not None:
                await self.worker.updates.send_change(table.code, Hand(seat), change)

    async def _send_missed_hands_here(self, person: Person, place: str) -> None:
        """Send a person the hands that could not be sent before, if they have just used their private chat."""
        if place != private_place(person.id):
            return
        try:
            await self.send_missed_hands(person)
        except STORE_ERRORS as error:
            # The request itself succeeded. The next message brings the hands.
            self.worker.store.outage.begin(error)

    async def suggestions(
        self, kind: ArgumentKind, typed_text: str, person: Person, place: str, game: str = ""
    ) -> list[Suggestion]:
        if not self.limits.allows_suggestion(person) or self.worker.store.levers.ban_of(person.id):
            return []
        return await suggestions(self.worker.people, self.worker.room.lists, kind, typed_text, person, place, game)

    async def offers(self, person: Person, typed_text: str) -> OfferList:
        if not self.limits.allows_suggestion(person):
            return OfferList([])
        profile = await self.worker.people.meet(_clean_person(person))
        _ = texts(profile.language).gettext
        if self.worker.store.levers.ban_of(person.id):
            # The private chat says how long the ban lasts, and whom to ask.
            return OfferList([], _("You’re banned: open our chat"))
        start = "" if profile.has_private_chat else _("Open our chat: your cards come there")
        return OfferList(await self._offers.find_offers(profile, _clean_text(typed_text)), start)

    async def answer_guest(self, person: Person, typed_text: str) -> Offer | None:
        if not self.limits.allows_suggestion(person) or self.worker.store.levers.ban_of(person.id):
            return None
        profile = await self.worker.people.meet(_clean_person(person))
        return await self._offers.answer_guest(profile, _clean_text(typed_text))

    async def note_offer_sent(self, person: Person, offer: str, typed_text: str, place: str = "") -> None:
        if self.limits.allows_suggestion(person) and not self.worker.store.levers.ban_of(person.id):
            await self._offers.note_sent(person.id, offer, _clean_text(typed_text), place)

    # Events of chats

    def refresh_chat(self, chat: str) -> Awaitable[None]:
        return self.worker.retries.add(f"back in {chat}", partial(self._refresh_chat, chat))

    async def _refresh_chat(self, chat: str) -> None:
        for feature in self.worker.features:
            await feature.refresh_chat(chat)
        for table in await self.worker.room.lists.tables_at(chat):
            for host, place in enumerate(table.hosts):
                if chat_of(place) == chat:
                    # If one table has just ended, still update the others.
                    with suppress(NoSuchTable, SetAside):
                        await self.worker.updates.send_change(table.code, board_at(table, host), Change(place=place))

    async def greet_chat(self, chat: str, language: str, name: str) -> Panel | None:
        begin_request()
        await self.worker.people.note_chat(chat, language_of(language), _clean_text(name))
        is_new = await self.worker.people.mark_greeted(chat)
        if not is_new or await self.worker.room.lists.tables_at(chat):
            return None
        return (await self._pages.greet(chat)).panel

    def move_chat(self, old_id: str, new_id: str) -> Awaitable[None]:
        return self.worker.retries.add(f"move {old_id} {new_id}", partial(self._move_chat, old_id, new_id))

    async def _move_chat(self, old_id: str, new_id: str) -> None:
        worker, client = self.worker, self.worker.store.client
        # Move the ratings first, so that a game that ends now counts for the new chat.
        await worker.ratings.move_chat(old_id, new_id)
        # Move the settings before the tables, which are shown with them.
        await worker.people.move_chat(old_id, new_id)
        for code in await worker.room.lists.move_chat(old_id, new_id):
            with suppress(NoSuchTable, SetAside):
                await worker.challenges.move_host(code, old_id, new_id, f"moved:{new_id}")
        await client.delete(keys.tables_of_chat(old_id))
        await client.delete(keys.challenges(old_id))
        for feature in worker.features:
            await feature.move_chat(old_id, new_id)

    async def chat_language(self, place: str) -> str:
        return (await self.worker.people.chat(place)).language

    # Services

    @property
    def settings(self) -> Settings:
        return self.worker.settings

    @property
    def mini_apps(self) -> dict[str, MiniApp]:
        adapters = self.worker.adapters.items()
        return {
            name: app for name, adapter in adapters if isinstance(adapter, HasMiniApp) and (app := adapter.mini_app)
        }

    @property
    def redis(self) -> Any:
        return self.worker.store.client

    @property
    def worker_count(self) -> int:
        return self.worker.shards.worker_count

    def queue_answer(
        self,
        place: str,
        send: Callable[[], Awaitable[object]],
        *,
        message: str = "",
        on_lost: Callable[[], object] | None = None,
    ) -> bool:
        return self.worker.delivery.answers.send(place, send, message=message, on_lost=on_lost)

    def report_platform_outage(self, platform: str, reason: str) -> None:
        self.worker.outages.record_failure(platform, reason, certain=True)

    def report_store_error(self, error: BaseException, language: str = "en", *, pressed: bool = False) -> str:
        self.worker.store.outage.begin(error)
        _ = texts(language).gettext
        # A cluster's client retries automatically, so an earlier attempt might have been written.
        if isinstance(self.worker.store.client, Redis) and is_certainly_lost(error):
            return _("I can’t save anything right now, so that didn’t count: try again in a moment.")
        if pressed:
            return _("I can’t reach my data right now: if nothing changes in a moment, press again.")
        return _("I can’t reach my data right now: check in a moment whether it worked.")

    @staticmethod
    def _failure_text(language: str) -> str:
        return texts(language).gettext("Something went wrong, but nothing is lost: try again.")


def _unknown_command(word: str, place: str, language: str) -> Reply:
    """Name the command most similar to an unknown one. In the private chat, answer with a page and a button."""
    in_private = is_private(place)
    closest = closest_command(word, in_private=in_private)
    error = MisspeltCommand(word=word, close=closest.name_in(language)) if closest else UnknownCommand(word=word)
    if not in_private:
        raise error
    return Reply(panel=misspelt_panel(error, closest, language))


def _clean_command(command: Command) -> Command:
    """Replace lone surrogates in a command, and trim invisible characters around its words."""
    people = tuple(map(_clean_person, command.about))
    words = tuple(filter(None, (trim_blanks(_clean_text(word)) for word in command.words)))
    return replace(
        command, person=_clean_person(command.person), word=_clean_text(command.word), words=words, about=people
    )


def _clean_person(person: Person) -> Person:
    return person if "".join(person).isascii() else Person(person.id, *map(_clean_text, person[1:]))


def _clean_text(text: str) -> str:
    return text if text.isascii() else text.encode("utf-8", "replace").decode()
