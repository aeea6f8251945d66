"""Commands for a person's own tables: /hand, /invite, /resign, and questions about the score and the moves."""

from collections.abc import Sequence

from bot.actions import BadPayload
from bot.command_names import HINT, STANDING, find_command_spec
from bot.delivery.private_hands import PrivateHands
from bot.delivery.surface import Change
from bot.delivery.surface_names import Hand
from bot.delivery.updates import Updates
from bot.feature import Handlers
from bot.handlers.errors import NoChallenge, TableNotNamed
from bot.handlers.invitations import Invitations
from bot.handlers.pages import CorePages
from bot.hints import allows_hints
from bot.panels import hand_buttons
from bot.panels.drafts import Draft
from bot.panels.hand_buttons import ON_HAND, RESIGN
from bot.panels.help import Question, standing_page
from bot.panels.tables import resign_page
from bot.parsing.games import parse_code
from bot.parsing.plain_text import HELP, UNCLEAR
from bot.people import Profile
from bot.platform import Command, Press, Reply, is_private, private_place
from bot.private_replies import answer_place
from bot.tables.errors import NoTables, TableError
from bot.tables.snapshot import take_snapshot
from bot.tables.table import Table
from bot.tables.table_lists import TableLists


class OwnTables(Handlers):
    def __init__(
        self,
        lists: TableLists,
        private_hands: PrivateHands,
        updates: Updates,
        invitations: Invitations,
        pages: CorePages,
    ) -> None:
        self._lists, self._private_hands, self._updates = lists, private_hands, updates
        self._invitations, self._core_pages = invitations, pages
        self.commands = {
            "hand": self._hand,
            "invite": self._invite,
            "resign": self._resign,
            STANDING: self._standing,
            HINT: self._hint,
        }
        self.pages = {"hand": self._hand_page, "resign": self._resign_page}

    async def _hand(self, command: Command, profile: Profile) -> Reply:
        code = parse_code(command.words)
        place = command.ephemeral or private_place(profile.id)
        toast = "" if is_private(answer_place(command)) else await self._private_hands.toast(profile, code)
        if not await self._private_hands.resend(profile.id, code, place):
            raise await self._private_hands.explain_missing(profile.id, code) if code else NoTables()
        return Reply(toast)

    async def _standing(self, command: Command, profile: Profile) -> Reply:
        """Answer a question about the score, or a text that was not understood. Without games, greet the person."""
        playing = await self._private_hands.recall(profile.id, command.place)
        is_unclear = command.words == (UNCLEAR,)
        if not playing and is_unclear:
            return await self._core_pages.greet(command.place)
        if not playing:
            raise NoTables()
        return self._standing_reply(profile, playing, Question.UNCLEAR if is_unclear else Question.SCORE)

    async def _hint(self, command: Command, profile: Profile) -> Reply:
        """Show a hint on the hand, or answer with the possible moves. Without games, show the help or greet."""
        playing = await self._private_hands.recall(profile.id, command.place)
        if not playing and command.words == (HELP,):
            return await self._core_pages.help(command, profile)
        if not playing:
            return await self._core_pages.greet(command.place)
        with_hints = [(table, seat) for table, seat in playing if allows_hints(table, seat)]
        if len(with_hints) != 1:
            return self._standing_reply(profile, playing, Question.MOVES)
        [(table, seat)] = with_hints
        draft = Draft(table.oldest_panel(seat), hand_buttons.HINT)
        await self._updates.send_change(table.code, Hand(seat), Change(draft=draft, repost=True, place=command.place))
        return Reply()

    @staticmethod
    def _standing_reply(profile: Profile, playing: Sequence[tuple[Table, int]], question: Question) -> Reply:
        games = [take_snapshot(table.localize(profile.language), seat) for table, seat in playing]
        return Reply(panel=standing_page(profile.language, profile.suits, games, question))

    async def _hand_page(self, press: Press, profile: Profile, words: list[str]) -> Reply:
        if len(words) != 1:
            raise BadPayload()
        if not await self._private_hands.resend(profile.id, words[0], press.place):
            raise await self._private_hands.explain_missing(profile.id, words[0])
        return Reply()

    async def _invite(self, command: Command, profile: Profile) -> Reply:
        """Send an invitation to the private chat, from which the person can forward it."""
        tables = [
            table for table in await self._lists.tables_of(profile.id) if table.phase == "open" and not table.matched
        ]
        table = await self._named_table(command, profile, tables, NoChallenge())
        return await self._invitations.invitation(table, profile, answer_place(command))

    async def _resign(self, command: Command, profile: Profile) -> Reply:
        """Ask for confirmation on the person's hand, or ask first which table they mean."""
        tables = [table for table in await self._lists.tables_of(profile.id) if table.phase == "playing"]
        if len(tables) > 1 and not command.words:
            return Reply(panel=resign_page(profile.language, tables), private=True)
        table = await self._named_table(command, profile, tables, NoTables())
        toast = "" if is_private(answer_place(command)) else await self._private_hands.toast(profile, table.code)
        await self._ask_to_resign(table, profile.id, command.ephemeral or private_place(profile.id))
        return Reply(toast)

    async def _resign_page(self, press: Press, profile: Profile, words: list[str]) -> Reply:
        """Ask for confirmation on the hand: on the pressed message if that is the hand, otherwise on a new one."""
        if not words or words[1:] not in ([], [ON_HAND]):
            raise BadPayload()
        place = press.place if is_private(press.place) else private_place(profile.id)
        for table in await self._lists.tables_of(profile.id):
            if table.code == words[0] and table.phase == "playing":
                await self._ask_to_resign(table, profile.id, place, press if words[1:] else None)
                return Reply()
        raise await self._private_hands.explain_missing(profile.id, words[0])

    async def _ask_to_resign(self, table: Table, person: str, place: str, press: Press | None = None) -> None:
        """Ask on the person's hand: on a new message, or on the pressed one with a ``press`` on the hand."""
        seat = table.seat_of(person)
        assert seat is not None
        change = Change(draft=Draft(table.oldest_panel(seat), RESIGN), repost=press is None, place=place)
        if press:
            change = change._replace(pressed=press.message, genuine=press.genuine)
        await self._updates.send_change(table.code, Hand(seat), change)

    async def _named_table(
        self, command: Command, profile: Profile, tables: Sequence[Table], no_table_error: TableError
    ) -> Table:
        """Return the table that a command means. Raise ``no_table_error`` if the list is empty."""
        if command.words:
            code = parse_code(command.words)
            tables = [table for table in tables if table.code == code]
            if not tables:
                raise await self._private_hands.explain_missing(profile.id, code)
        if not tables:
            raise no_table_error
        if len(tables) > 1:
            spec = find_command_spec(command.word)
            assert spec
            word = spec.name_in(profile.language)
            raise TableNotNamed(codes=", ".join(f"/{word} {table.code}" for table in tables))
        return tables[0]
