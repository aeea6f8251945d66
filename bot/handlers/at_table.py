"""The buttons of players' hands and of the board, except moves."""

from bot.actions import BadPayload, TableAction
from bot.alarms import Alarms
from bot.delivery.surface import Change
from bot.delivery.surface_names import Hand
from bot.delivery.updates import Updates
from bot.feature import Handlers, verb_handler
from bot.handlers.errors import NoEphemeral
from bot.panels.drafts import NO_DRAFT, parse_draft
from bot.people import Profile
from bot.platform import Press, Reply, is_private
from bot.robots.names import STAND_IN_LEVEL
from bot.tables.checks import check_begun, require_seat
from bot.tables.errors import NotAtThisTable
from bot.tables.room import Room
from bot.tables.table_state import PHRASES
from bot.words.phrases import phrase_text
from engine.errors import GameIsOver


class TableButtons(Handlers):
    def __init__(self, room: Room, updates: Updates, alarms: Alarms) -> None:
        self._room, self._updates, self._alarms = room, updates, alarms
        self.verbs = {
            "draft": self._draft,
            "claim": verb_handler(room.claim_on_time),
            "automatic": self._automatic,
            "wait": verb_handler(room.give_time),
            "aside": self._ephemeral,
            "say": self._say,
        }

    async def _draft(self, press: Press, _profile: Profile, action: TableAction) -> Reply:
        table = await self._room.table(action.code)
        seat = require_seat(table, press.person.id)
        draft = parse_draft(action.words, table.oldest_panel(seat))
        place = press.place if press.message and is_private(press.place) else ""
        change = Change(pressed=press.message, draft=draft, place=place, genuine=press.genuine)
        await self._updates.send_change(action.code, Hand(seat), change)
        return Reply()

    async def _automatic(self, press: Press, _profile: Profile, action: TableAction) -> Reply:
        table = await self._room.check_flagged(action.code, press.person.id, press.key)
        if not table.log.has_update(press.key):
            await self._alarms.play_for(table, STAND_IN_LEVEL, press.key)
        return Reply()

    async def _ephemeral(self, press: Press, _profile: Profile, action: TableAction) -> Reply:
        """Show a player their hand in the group, visible to that player only."""
        table = await self._room.table(action.code)
        seat = table.seat_of(press.person.id)
        if seat is None:
            raise NotAtThisTable(code=action.code)
        check_begun(table)
        if table.phase == "over":
            raise GameIsOver()
        if not press.ephemeral:
            raise NoEphemeral()
        await self._updates.send_change(action.code, Hand(seat), Change(repost=True, place=press.ephemeral))
        return Reply()

    async def _say(self, press: Press, profile: Profile, action: TableAction) -> Reply:
        if len(action.words) != 1 or action.words[0] not in PHRASES:
            raise BadPayload()
        table = await self._room.say(action.code, press.person.id, action.words[0], press.key)
        seat = table.seat_of(press.person.id)
        if seat is not None:
            await self._updates.send_change(table.code, Hand(seat), Change(draft=NO_DRAFT))
        return Reply(f"💬 {phrase_text(profile.language, action.words[0])}")
