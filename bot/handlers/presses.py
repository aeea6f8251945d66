"""Answers presses: moves, other actions at a table, and pages."""

from collections.abc import Iterable
from contextlib import nullcontext
from dataclasses import replace

from bot import actions
from bot.actions import BadPayload, MoveAction, OfferAction, PageAction, TableAction
from bot.delivery.surface import Change, encode_change
from bot.delivery.surface_names import Hand, encode_name
from bot.delivery.updates import Updates
from bot.feature import Handlers, PageHandler, VerbHandler
from bot.handlers.challenge_cards import seated_reply
from bot.handlers.offers import Offers
from bot.people import Profile
from bot.platform import Press, Reply, is_inline, is_private, private_place
from bot.tables.checks import check_not_banned
from bot.tables.code_guard import CodeGuard
from bot.tables.errors import NoSuchTable, OldPanel
from bot.tables.room import Room

OPEN_TO_BANNED = {"privacy", "forget"}  # pages about a person's own data


class Presses:
    """Handles the payloads of presses. Clients can forge them."""

    def __init__(
        self, all_handlers: Iterable[Handlers], room: Room, updates: Updates, offers: Offers, guard: CodeGuard
    ) -> None:
        self._room, self._updates, self._offers, self._guard = room, updates, offers, guard
        self._pages: dict[str, PageHandler] = {}
        self._private_pages = set[str]()
        self._verbs: dict[str, VerbHandler] = {}
        for handlers in all_handlers:
            self._pages |= handlers.pages
            self._private_pages.update(handlers.private_pages)
            self._verbs |= handlers.verbs

    async def answer(self, press: Press, profile: Profile) -> Reply:
        action = actions.parse_payload(press.payload)
        if not isinstance(action, PageAction) or action.page not in OPEN_TO_BANNED:
            check_not_banned(self._room.store.levers, press.person.id)
        if isinstance(action, PageAction):
            handler = self._pages.get(action.page)
            # A page replaces the pressed message, so a forged press could overwrite a message that shows something
            # else.
            may_answer = press.genuine or (is_inline(press.place) and action.page in self._private_pages)
            if handler is None or not may_answer:
                raise BadPayload()
            return await handler(press, profile, action.words)
        if isinstance(action, OfferAction):
            return seated_reply(press, profile, await self._offers.accept(press, action), "")
        if is_inline(press.place) and not await self._is_board(press.place, action.code):
            # Telegram can name an ordinary message by an inline id, and a press can be forged. Edit no message.
            private = private_place(press.person.id)
            if await self._room.lists.has_table(press.person.id, private, action.code):
                await self._offers.block_offers(press.place)
            private_press = replace(press, place=private, message="")
            reply = await self._pressed_at_table(private_press, profile, action)
            return replace(reply, private=True) if reply.panel else reply
        return await self._pressed_at_table(press, profile, action)

    async def _is_board(self, place: str, code: str) -> bool:
        try:
            return place in (await self._room.load_cached(code)).hosts or place in (await self._room.table(code)).hosts
        except NoSuchTable:
            return False

    async def _pressed_at_table(self, press: Press, profile: Profile, action: MoveAction | TableAction) -> Reply:
        guess = self._guard.count_guess(press.person, press.place, action.code)
        async with nullcontext() if press.genuine else guess:
            if isinstance(action, MoveAction):
                return await self._move(press, action)
            handler = self._verbs.get(action.verb)
            if handler is None:
                raise BadPayload()
            return await handler(press, profile, action)

    async def _move(self, press: Press, action: MoveAction) -> Reply:
        code, person = action.code, press.person.id
        # A player who presses on their hand is looking at it. The commit's notification reports the press to the worker
        # that delivers the table.
        change = Change(pressed=press.message, place=press.place, genuine=press.genuine)
        seat = None
        if press.message and is_private(press.place):
            seat = (await self._room.load_cached(code)).seat_of(person)
        notification = None if seat is None else (encode_name(Hand(seat)), encode_change(change))
        try:
            await self._room.make_move(code, person, action.version, action.move, press.key, notification)
        except OldPanel:
            # The new panel might not have arrived.
            if seat is not None:
                await self._updates.send_change(code, Hand(seat), change)
            raise
        return Reply()
