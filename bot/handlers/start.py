"""The command /start, which platforms send when a person opens the private chat, directly or by a button or link."""

import re
from collections.abc import Iterable
from dataclasses import replace

from bot.delivery.private_hands import PrivateHands
from bot.feature import CommandHandler, Handlers
from bot.handlers.challenge_commands import Joining
from bot.handlers.errors import UnknownCode
from bot.handlers.pages import CorePages
from bot.parsing.codes_and_links import NEW_CODE, read_pasted
from bot.parsing.games import parse_code
from bot.people import People, Profile
from bot.platform import Command, Reply, chat_of, is_private
from bot.tables.errors import NoSuchTable
from bot.tables.table_lists import TableLists
from bot.texts import texts


class Start(Handlers):
    def __init__(
        self,
        start_handlers: Iterable[Handlers],
        joining: Joining,
        pages: CorePages,
        private_hands: PrivateHands,
        lists: TableLists,
        people: People,
    ) -> None:
        """``start_handlers`` are handlers of other words after /start."""
        self._joining, self._pages, self._private_hands, self._lists = joining, pages, private_hands, lists
        self._people = people
        self.commands = {"start": self._start}
        self._words: dict[str, CommandHandler] = {}
        for handlers in start_handlers:
            self._words |= handlers.start_words

    async def _start(self, command: Command, profile: Profile) -> Reply:
        """Seat the person at a table, ask them to sit down, show their hand, or call a feature's handler.

        The word decides. The link of a *Sit down* button seats the person at once; a bare link asks first. Without a
        word, greet the person, with a button to each of their hands.
        """
        pasted_id = read_pasted(f"/start {' '.join(command.words)}")
        if pasted_id and pasted_id.joins:
            # A player who opens the link again gets their hand. In a group they get the board, because the link added
            # the bot there.
            if is_private(command.place) and await self._private_hands.resend(profile.id, pasted_id.id, command.place):
                return Reply()
            return await self._joining.join(replace(command, words=(pasted_id.id,)), profile)
        if len(command.words) == 1 and (handler := self._words.get(command.words[0].partition("-")[0])):
            return await handler(command, profile)
        code = parse_code(command.words)
        if not code and is_private(command.place):
            # A hand below the greeting would push it off a phone's screen.
            return await self._pages.greet(command.place, await self._private_hands.recall(profile.id, command.place))
        if await self._private_hands.resend(profile.id, code, command.place):
            return Reply()
        waiting = [table for table in await self._lists.tables_of(profile.id) if table.code == code]
        if waiting:
            # The cards are not dealt yet. The person comes from a chat without the bot.
            _ = texts(profile.language).gettext
            if waiting[0].seat_of(profile.id) is None:
                return Reply(toast=_("You’ve asked for a seat: wait for the answer."))
            return Reply(toast=_("You’re at table {code}: your cards come here.").format(code=code))
        if code and is_private(command.place):
            try:
                return await self._joining.ask(command, profile, code)
            except NoSuchTable:
                if re.fullmatch(NEW_CODE, code):
                    raise UnknownCode(code=code) from None
        if not is_private(command.place):
            # Send no second greeting when the platform reports that the bot has joined.
            await self._people.mark_greeted(chat_of(command.place))
        return await self._pages.greet(command.place)
