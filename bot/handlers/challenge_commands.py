"""The commands /challenge and /join, which open tables and seat people by code."""

from bot import actions
from bot.actions import BadPayload, parse_number
from bot.delivery.surface import Change
from bot.delivery.surfaces import card_at
from bot.delivery.updates import Updates
from bot.feature import Handlers
from bot.handlers.errors import CodeNotGiven, NoSuchOpponent, UnknownCode
from bot.handlers.names_at_tables import choose_nickname
from bot.identity.names import plain_name
from bot.panel import Writer
from bot.panels.challenge import invitee_panel
from bot.panels.challenge_form import challenge_form, refused_form_panel
from bot.panels.drafts import Draft
from bot.parsing.challenge_form import STRICT, FormChoices
from bot.parsing.codes_and_links import pasted_code
from bot.parsing.games import NoSuchGame, find_robot, parse_game_and_points, target_rule
from bot.parsing.mentions import find_invited
from bot.people import People, Profile
from bot.platform import Command, Person, Press, Reply, is_ephemeral, is_private
from bot.store.entries import DEFAULT_CLOCK_SECONDS, Clock, Setup
from bot.tables.challenges import Challenges
from bot.tables.checks import check_free_to_sit, find_free_chair
from bot.tables.code_guard import CodeGuard
from bot.tables.errors import AlreadyPlaying, AlreadySeated, NoSuchTable, TableError
from bot.tables.room import Room
from bot.tables.table import Table
from bot.texts import texts


class Joining(Handlers):
    def __init__(self, room: Room, challenges: Challenges, people: People, guard: CodeGuard, updates: Updates) -> None:
        self._room, self._challenges, self._people, self._guard = room, challenges, people, guard
        self._updates = updates
        self.commands = {"challenge": self.challenge, "join": self.join}
        self.pages = {"join": self._sit_down, "form": self._challenge_again}

    async def challenge(self, command: Command, profile: Profile) -> Reply:
        chat = await self._people.chat(command.place)
        if command.answers is not None:
            return await self._open_from_form(command, profile, FormChoices.from_answers(command.answers))
        if command.wants_form:
            self._challenges.check_can_open()
            usual_choices = FormChoices(chat.game, 0, chat.clock, frozenset([STRICT] if chat.strict else []))
            return Reply(form=challenge_form("challenge", usual_choices, profile.language))
        invited = await find_invited(self._people, command)
        level, words = "", list(command.words)
        if not invited:
            level, words = find_robot(words, in_private=is_private(command.place))
        try:
            named_game, target = parse_game_and_points(words, "")
        except NoSuchGame as error:
            raise error if invited else NoSuchOpponent(**error.values) from None
        game = named_game or chat.game
        setup: list[Setup] = [] if target is None else [target_rule(game, target)]
        if chat.strict or chat.clock != DEFAULT_CLOCK_SECONDS:
            setup.append(Clock(chat.clock, chat.strict))
        # A challenge that is delivered twice must not bring back an older choice.
        is_first_time = await self._challenges.find_opened_table(command.key) is None
        opener, key, place = (game, profile.id, command.person.name), command.key, command.place
        if level:
            table = await self._challenges.open_practice(*opener, level, key, host=place, setup=setup)
        else:
            table = await self._challenges.open_table(*opener, key, host=place, invited=invited, setup=setup)
        is_new_choice = named_game and not (chat.has_chosen_game and named_game == chat.game)
        if is_first_time and is_new_choice:
            await self._people.update_chat(place, game=named_game)
        elif is_first_time and not (named_game or level or chat.has_chosen_game):
            await self._updates.send_change(table.code, card_at(table, 0), Change(draft=Draft(0, "game")))
        return Reply(toast=_forward_text(command, profile, table))

    async def _open_from_form(self, command: Command, profile: Profile, choices: FormChoices) -> Reply:
        """Open a table with a form's choices. If they do not go together, offer the form again."""
        try:
            setup = choices.setup
        except TableError as error:
            payload = actions.page("form", *choices.words)
            return Reply(panel=refused_form_panel(error, payload, profile.language), private=True)
        is_first_time = await self._challenges.find_opened_table(command.key) is None
        name = command.person.name
        await self._challenges.open_table(choices.game, profile.id, name, command.key, host=command.place, setup=setup)
        if is_first_time:
            await self._people.update_chat(command.place, game=choices.game)
        return Reply()

    async def _challenge_again(self, press: Press, profile: Profile, words: list[str]) -> Reply:
        """Open the form again with the choices in a payload, or open a table with its answers."""
        if press.answers is None:
            if not press.can_show_form:
                raise BadPayload()
            return Reply(form=challenge_form(press.payload, FormChoices.from_words(words), profile.language))
        command = Command(press.key, press.person, press.place, "challenge", ephemeral=press.ephemeral)
        reply = await self._open_from_form(command, profile, FormChoices.from_answers(press.answers))
        if reply.panel:
            return Reply(panel=reply.panel)
        return Reply(panel=Writer(texts(profile.language).gettext("The challenge is open.")).panel())

    async def join(self, command: Command, profile: Profile) -> Reply:
        """Seat a person at a table by its code, or ask for a chair there. The code can be a guess."""
        if not command.words:
            raise CodeNotGiven()
        code, person = pasted_code(f"/join {' '.join(command.words)}"), command.person
        if not code:
            raise UnknownCode(code=plain_name(command.words[0].upper())[:16])
        try:
            async with self._guard.count_guess(person, command.place, code):
                table = await self._sit_by_code(command, code)
        except NoSuchTable:
            raise UnknownCode(code=code) from None
        return Reply(toast=_seat_text(table, profile))

    async def ask(self, command: Command, profile: Profile, code: str) -> Reply:
        """Show the invitation to a person who opened a table's link, with a button to sit down."""
        person = command.person
        async with self._guard.count_guess(person, command.place, code):
            table = await self._room.table(code)
            check_free_to_sit(table, person.id, person.handle)
            find_free_chair(table)
            nickname = await choose_nickname(self._people, table, person.id)
        panel = invitee_panel(table.localize(profile.language), profile.language, nickname, has_buttons=True)
        return Reply(panel=panel)

    async def _sit_down(self, press: Press, profile: Profile, words: list[str]) -> Reply:
        """Seat a person who was asked by `ask`. The version of the terms is the second word."""
        if len(words) != 2 or not is_private(press.place):
            raise BadPayload()
        code, person = words[0], press.person
        async with self._guard.count_guess(person, press.place, code):
            name = await self._name_at(code, person)
            table = await self._challenges.sit(
                code, person.id, name, press.key, handle=person.handle, terms=parse_number(words[1:])
            )
        return Reply(panel=Writer(_seat_text(table, profile)).panel())

    async def _sit_by_code(self, command: Command, code: str) -> Table:
        host = "" if is_private(command.place) else command.place
        person = command.person
        try:
            name = await self._name_at(code, person)
            table = await self._challenges.sit(code, person.id, name, command.key, handle=person.handle, host=host)
        except (AlreadySeated, AlreadyPlaying):
            table = await self._room.table(code)
            if table.seat_of(person.id) is None or not host:
                raise
            table = await self._challenges.add_host(code, host, command.key)
        return table

    async def _name_at(self, code: str, person: Person) -> str:
        return await choose_nickname(self._people, await self._room.table(code), person.id) or person.name


def _seat_text(table: Table, profile: Profile) -> str:
    _ = texts(profile.language).gettext
    if table.seat_of(profile.id) is None:
        return _("You’ve asked for a seat: wait for the answer.")
    return _("You’re at table {code}.").format(code=table.code)


def _forward_text(command: Command, profile: Profile, table: Table) -> str:
    """Return the hint to forward a challenge from a private chat, because only the challenger sees it there."""
    if table.invited is None or not is_private(command.place) or is_ephemeral(command.place):
        return ""
    _ = texts(profile.language).gettext
    name = table.invited.name or f"@{table.invited.handle}"
    return _("{name} can’t see this chat: ask them to write me /join {code}.").format(name=name, code=table.code)
