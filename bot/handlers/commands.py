"""The commands of the core: tables, hands, rules, help. Every other command belongs to a feature."""

from dataclasses import replace

from bot.commands import FAIR, FAIR_WORDS, Where, command_called
from bot.core import Core
from bot.delivery.message_state import decode_state
from bot.delivery.names import Hand, encode_name
from bot.delivery.surface import Change
from bot.delivery.surfaces import card_at
from bot.feature import CommandHandler
from bot.game_words import code_in, game_and_points, game_called, target_rule
from bot.handlers.errors import (
    NoChallenge,
    OnlyInGroups,
    OnlyInPrivate,
    PhrasesAreButtons,
    ReportIsAButton,
    SayTheCode,
    SayWhichTable,
    UnknownCode,
    UnknownCommand,
)
from bot.handlers.guard import Guard
from bot.handlers.pages import Pages
from bot.meant import invited_by
from bot.names import plain_name
from bot.panels.challenge import invitation_panel
from bot.panels.drafts import Draft
from bot.panels.hand import RESIGN
from bot.panels.pages import help_page
from bot.pasted import pasted_code, read_pasted
from bot.people import Profile
from bot.platform import Command, Reply, is_ephemeral, is_private, platform_of, private_place
from bot.replies import is_seen_there, private_toast
from bot.store.entries import Clock
from bot.tables.errors import AlreadyPlaying, AlreadySeated, NoSuchTable, NoTables
from bot.tables.table import USUAL_CLOCK, Table
from bot.texts import texts

BUTTONS = {
    "report": ReportIsAButton,
    "segnala": ReportIsAButton,
    "phrases": PhrasesAreButtons,
    "frasi": PhrasesAreButtons,
}
"""Commands that people try, and that are buttons instead."""


class Commands:
    """Finds the handler of each command. Each handler returns a reply, or raises what a player should read."""

    def __init__(self, core: Core, pages: Pages, guard: Guard) -> None:
        self._core, self._pages, self._guard = core, pages, guard
        self._handlers: dict[str, CommandHandler] = {
            "challenge": self._challenge,
            "join": self._join,
            "invite": self._invite,
            "hand": self._hand,
            "tables": self._tables,
            "rules": self._rules,
            "resign": self._resign,
            "help": self._help,
            "start": self._start,
        }
        self._start_words: dict[str, CommandHandler] = {}
        for feature in core.features:
            self._handlers |= feature.commands
            self._start_words |= feature.start_words

    async def answer(self, command: Command, profile: Profile) -> Reply:
        spec = command_called(command.word)
        if spec is None:
            button = BUTTONS.get(command.word)
            raise button() if button else UnknownCommand(word=command.word[:32])
        if not spec.where.includes(private=is_private(command.place)):
            raise (OnlyInGroups if spec.where is Where.GROUP else OnlyInPrivate)(word=command.word)
        return await self._handlers[spec.name](command, profile)

    async def _challenge(self, command: Command, profile: Profile) -> Reply:
        chat = await self._core.people.chat(command.place)
        invited = await invited_by(self._core.people, command)
        game, target = game_and_points(command.words, chat.game)
        usual = chat.clock == USUAL_CLOCK and not chat.strict
        rules = [target_rule(game, target)] if target is not None else []
        clocks = [] if usual else [Clock(chat.clock, chat.strict)]
        # A challenge that is delivered again must not bring an older choice back.
        is_choice = chat.game != game and await self._core.challenges.opened_by(command.key) is None
        table = await self._core.challenges.open_table(
            game,
            profile.id,
            command.person.name,
            command.key,
            host=command.place,
            invited=invited,
            setup=(*rules, *clocks),
        )
        if is_choice:
            await self._core.people.choose_for_chat(command.place, game=game)
        return Reply(toast=self._to_pass_on(command, profile, table))

    @staticmethod
    def _to_pass_on(command: Command, profile: Profile, table: Table) -> str:
        """Return what to tell a person who challenges somebody from a private chat: nobody else sees it there."""
        if table.invited is None or not is_private(command.place) or is_ephemeral(command.place):
            return ""
        _ = texts(profile.language).gettext
        name = table.invited.name or f"@{table.invited.handle}"
        return _("{name} cannot see this chat. Tell them to write me /join {code}.").format(name=name, code=table.code)

    async def _join(self, command: Command, profile: Profile) -> Reply:
        if not command.words:
            raise SayTheCode()
        code, person = pasted_code(f"/join {' '.join(command.words)}"), command.person
        if not code:
            raise UnknownCode(code=plain_name(command.words[0].upper())[:16])
        try:
            async with self._guard.checked(person, command.place, code):
                table = await self._sit_by_code(command, code)
        except NoSuchTable:
            raise UnknownCode(code=code) from None
        _ = texts(profile.language).gettext
        asked = table.seat_of(person.id) is None
        return Reply(
            toast=_("You have asked for a chair.") if asked else _("You sit at table {code}.").format(code=code)
        )

    async def _sit_by_code(self, command: Command, code: str) -> Table:
        host = "" if is_private(command.place) else command.place
        person = command.person
        try:
            table = await self._core.challenges.sit(
                code, person.id, person.name, command.key, handle=person.handle, host=host
            )
        except (AlreadySeated, AlreadyPlaying):
            table = await self._core.room.table(code)
            if table.seat_of(person.id) is None or not host:
                raise
            table = await self._core.challenges.host(code, host, command.key)
        return table

    async def _invite(self, command: Command, profile: Profile) -> Reply:
        """Send an invitation to an open table to the private chat, where the person can forward it."""
        tables = [one for one in await self._core.tables_of(profile.id) if one.phase == "open" and not one.matched]
        if command.words:
            tables = await self._with_code(profile.id, tables, code_in(command.words))
        if not tables:
            raise NoChallenge()
        if len(tables) > 1:
            raise _say_which(tables, "invite", profile.language)
        return await self.invitation(tables[0], profile, command.ephemeral or command.place)

    async def invitation(self, table: Table, profile: Profile, place: str) -> Reply:
        """Reply with an invitation to a table, in the private chat. ``place`` is where the person asked for it."""
        address = await self._address_of(table, platform_of(place))
        panel = invitation_panel(table, profile.name, address, profile.language)
        toast = private_toast(place, profile.language)
        return Reply(panel=panel, private=True, is_to_pass_on=True, toast=toast)

    async def _address_of(self, table: Table, platform: str) -> str:
        """Return the address of a challenge on a platform; empty if there is none."""
        adapter, shown = self._core.adapters[platform], await self._core.store.shown(table.code)
        for host, place in enumerate(table.hosts):
            state = shown.get(encode_name(card_at(table, host)))
            message = decode_state(state).message if state and platform_of(place) == platform else ""
            if address := message and adapter.invitation(table.code, place, message):
                return address
        return ""

    async def _hand(self, command: Command, profile: Profile) -> Reply:
        code = code_in(command.words)
        place = command.ephemeral or private_place(profile.id)
        toast = "" if is_seen_there(command) else await self._core.private_hands.toast(profile, code)
        if not await self._core.private_hands.bring(profile.id, code, place):
            raise await self._core.private_hands.why_none(profile.id, code) if code else NoTables()
        return Reply(toast)

    async def _with_code(self, person: str, tables: list[Table], code: str) -> list[Table]:
        """Return the table that has a code, in a list; raise why the person has no such table otherwise."""
        if found := [table for table in tables if table.code == code]:
            return found
        raise await self._core.private_hands.why_none(person, code)

    async def _tables(self, command: Command, profile: Profile) -> Reply:
        if is_private(command.place):
            return Reply(panel=await self._pages.tables(profile), private=True)
        return Reply(panel=await self._pages.open_tables(command.place))

    async def _rules(self, command: Command, profile: Profile) -> Reply:
        about = ""
        if command.words:
            about = FAIR if command.words[0].lower() in FAIR_WORDS else game_called(" ".join(command.words))
        return Reply(panel=await self._pages.rules(command.place, about))

    async def _resign(self, command: Command, profile: Profile) -> Reply:
        tables = [table for table in await self._core.tables_of(profile.id) if table.phase == "playing"]
        if command.words:
            tables = await self._with_code(profile.id, tables, code_in(command.words))
        if not tables:
            raise NoTables()
        if len(tables) > 1:
            raise _say_which(tables, "resign", profile.language)
        [table] = tables
        toast = "" if is_seen_there(command) else await self._core.private_hands.toast(profile, table.code)
        await self._ask_to_resign(table, profile.id, command.ephemeral or private_place(profile.id))
        return Reply(toast)

    async def _ask_to_resign(self, table: Table, person: str, place: str) -> None:
        seat = table.seat_of(person)
        assert seat is not None
        version = table.oldest_panel(seat)
        change = Change(draft=Draft(version, RESIGN), repost=True, place=place)
        await self._core.updates.change(table.code, Hand(seat), change)

    async def _help(self, command: Command, profile: Profile) -> Reply:
        return Reply(panel=help_page(await self._pages.language(command.place)))

    async def _start(self, command: Command, profile: Profile) -> Reply:
        """Answer /start, which platforms send when a person opens the private chat.

        The word after it comes from a button or a link: the code of a table whose hand is wanted, or an invitation.
        """
        pasted = read_pasted(f"/start {' '.join(command.words)}")
        joined = pasted.id if pasted and pasted.joins else ""
        if joined:
            # A player who opens the link again gets their hand. In a group they get the board: the link has brought
            # the bot there.
            if is_private(command.place) and await self._core.private_hands.bring(profile.id, joined, command.place):
                return Reply()
            return await self._join(replace(command, words=(joined,)), profile)
        if len(command.words) == 1 and (handler := self._start_words.get(command.words[0])):
            return await handler(command, profile)
        code = code_in(command.words)
        if await self._core.private_hands.bring(profile.id, code, command.place):
            return Reply()
        waiting = [table for table in await self._core.tables_of(profile.id) if table.code == code]
        if waiting:
            # The cards are not dealt yet. The person comes from a chat where the bot is no member.
            _ = texts(profile.language).gettext
            if waiting[0].seat_of(profile.id) is None:
                return Reply(toast=_("You have asked for a chair."))
            return Reply(toast=_("You sit at table {code}. Your cards come here.").format(code=code))
        return await self._help(command, profile)


def _say_which(tables: list[Table], name: str, language: str) -> SayWhichTable:
    """Return the error for a command that may mean several tables. It shows how to write it for each."""
    spec = command_called(name)
    assert spec
    word = spec.name_in(language)
    return SayWhichTable(codes=", ".join(f"/{word} {table.code}" for table in tables))
