"""What each command does."""

import re
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import replace
from functools import cache, partial
from itertools import takewhile

from bot.commands import FAIR, FAIR_WORDS, Where, command_called
from bot.delivery.message_state import decode_state
from bot.delivery.names import Hand, encode_name
from bot.delivery.surface import Change
from bot.delivery.surfaces import card_at
from bot.features.daily.commands import DAILY, Daily
from bot.features.find.commands import FIND, Finding
from bot.features.find.strangers import Strangers
from bot.features.privacy.commands import OwnData
from bot.features.puzzles.commands import Puzzles
from bot.features.settings.browsers import Browsers
from bot.features.settings.programs import OwnPrograms
from bot.features.tournaments.commands import TOURNAMENT, TournamentPages, form_and_rest
from bot.features.tournaments.tournament import Form
from bot.handlers.errors import (
    NoChallenge,
    NoSuchGame,
    NoSuchPerson,
    NoSuchTarget,
    NoTables,
    NotBegun,
    OnlyInGroups,
    OnlyInPrivate,
    PhrasesAreButtons,
    ReportIsAButton,
    SayTheCode,
    SayWhichTable,
    UnknownCode,
    UnknownCommand,
)
from bot.handlers.limits import Tries
from bot.handlers.meant import invited_by, person_meant
from bot.handlers.pages import Pages
from bot.handlers.private import hands_toast
from bot.names import plain_name
from bot.panels.challenge import invitation_panel
from bot.panels.drafts import NO_DRAFT, Draft
from bot.panels.hand import RESIGN
from bot.panels.pages import help_page
from bot.panels.phrases import game_names
from bot.pasted import pasted_code, read_pasted
from bot.people import Profile
from bot.platform import Command, Person, Reply, is_ephemeral, is_private, platform_of, private_place
from bot.store.entries import Clock, Rule
from bot.tables.choice import Choice
from bot.tables.errors import AlreadyPlaying, AlreadySeated, NoSuchTable, NotAtThisTable, TableError
from bot.tables.table import USUAL_CLOCK, Table
from bot.texts import LANGUAGES, texts
from bot.wording import MINUS, minus
from bot.worker import Worker
from engine import GAMES

NUMBER = re.compile(rf"[-{MINUS}]?\d+")
BEFORE_POINTS = ("to", "a")
"""What people write before how many points they play to, as the cards of challenges have it."""

MOST_DIGITS, DIGITS_SAID = 100, 12
"""How many of a number's digits are read, and how many are said again where it is not to be."""

BUTTONS = {
    "report": ReportIsAButton,
    "segnala": ReportIsAButton,
    "phrases": PhrasesAreButtons,
    "frasi": PhrasesAreButtons,
}
"""What people write as commands and is buttons."""


class Commands:
    """The commands. Each returns a reply, or raises what a player should read."""

    def __init__(self, worker: Worker, pages: Pages, tries: Tries) -> None:
        self.worker, self.pages, self.tries = worker, pages, tries
        self.own_data, self.finding, self.strangers = OwnData(worker), Finding(worker), Strangers(worker, pages)
        self.browsers = Browsers(worker)
        self.daily = Daily(worker)
        self.puzzles = Puzzles(worker)
        self.tournaments = TournamentPages(worker, self.bring_hands)
        self.programs = OwnPrograms(worker)
        self._handlers: dict[str, Callable[[Command, Profile], Awaitable[Reply]]] = {
            "challenge": self._challenge,
            "join": self._join,
            "invite": self._invite,
            "hand": self._hand,
            "find": self._find,
            "daily": self._daily,
            "puzzle": self._puzzle,
            "tournament": partial(self._tournament, "knockout"),
            "league": partial(self._tournament, "league"),
            "nickname": self._nickname,
            "block": self._block,
            "tables": self._tables,
            "leaderboard": self._leaderboard,
            "honours": self._honours,
            "stats": self._stats,
            "rules": self._rules,
            "settings": self._settings,
            "resign": self._resign,
            "analyse": self._analyse,
            "mydata": self._mydata,
            "forget": self._forget,
            "help": self._help,
            "start": self._start,
        }

    async def answer(self, command: Command, profile: Profile) -> Reply:
        spec = command_called(command.word)
        if spec is None:
            button = BUTTONS.get(command.word)
            raise button() if button else UnknownCommand(word=command.word[:32])
        if not spec.where.includes(private=is_private(command.place)):
            raise (OnlyInGroups if spec.where is Where.GROUP else OnlyInPrivate)(word=command.word)
        return await self._handlers[spec.name](command, profile)

    async def bring_hands(self, person: str, code: str = "", place: str = "") -> int:
        """Send a person's panels anew, of one table or of all; to a place if it is their private chat or ephemeral.

        Returns how many there are.
        """
        brought = 0
        for table in await self.worker.tables_of(person):
            seat = table.seat_of(person)
            if seat is not None and table.phase == "playing" and code in ("", table.code):
                there = place if is_private(place) else ""
                # As it stands: a question that was left unanswered, or a choice half made, is gone.
                await self.worker.change(table.code, Hand(seat), Change(draft=NO_DRAFT, repost=True, place=there))
                brought += 1
        return brought

    async def _challenge(self, command: Command, profile: Profile) -> Reply:
        chat = await self.worker.people.chat(command.place)
        invited = await invited_by(self.worker.people, command)
        game, target = game_and_points(command.words, chat.game)
        usual = chat.clock == USUAL_CLOCK and not chat.strict
        rules = [target_rule(game, target)] if target is not None else []
        clocks = [] if usual else [Clock(chat.clock, chat.strict)]
        # A challenge that is delivered again must not bring an older choice back.
        is_choice = chat.game != game and await self.worker.challenges.opened_by(command.key) is None
        table = await self.worker.challenges.open_table(
            game,
            profile.id,
            command.person.name,
            command.key,
            host=command.place,
            invited=invited,
            setup=(*rules, *clocks),
        )
        if is_choice:
            await self.worker.people.choose_for_chat(command.place, game=game)
        return Reply(toast=self._to_pass_on(command, profile, table))

    @staticmethod
    def _to_pass_on(command: Command, profile: Profile, table: Table) -> str:
        """What to tell whoever is challenged from a private chat, for nobody else sees what stands there."""
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
            if await self.knows(person, command.place, code):
                table = await self._sit_by_code(command, code)
            else:
                async with self.tries.counted(person, partial(self.is_at_table, person, code)):
                    table = await self._sit_by_code(command, code)
        except NoSuchTable:
            raise UnknownCode(code=code) from None
        _ = texts(profile.language).gettext
        asked = table.seat_of(person.id) is None
        return Reply(
            toast=_("You have asked for a chair.") if asked else _("You sit at table {code}.").format(code=code)
        )

    async def knows(self, person: Person, place: str, code: str) -> bool:
        """Whether a code is no guess of this person's: they sit there, or the place shows the table."""
        table = self.worker.room.remembered(code)
        if table is not None and (person.id in table.people or place in table.hosts):
            return True
        # They may have sat down by another worker, or before this one was started.
        return await self.worker.room.lists.names(person.id, place, code)

    def is_at_table(self, person: Person, code: str) -> bool:
        """Whether somebody sits at a table or asks for a chair there, as far as this worker knows."""
        table = self.worker.room.remembered(code)
        return table is not None and person.id in table.people

    async def _sit_by_code(self, command: Command, code: str) -> Table:
        host = "" if is_private(command.place) else command.place
        person = command.person
        try:
            table = await self.worker.challenges.sit(
                code, person.id, person.name, command.key, handle=person.handle, host=host
            )
        except (AlreadySeated, AlreadyPlaying):
            table = await self.worker.room.table(code)
            if table.seat_of(person.id) is None or not host:
                raise
            table = await self.worker.challenges.host(code, host, command.key)
        return table

    async def _invite(self, command: Command, profile: Profile) -> Reply:
        """An invitation to a table that waits for players, in the private chat, whence it can be passed on."""
        tables = [one for one in await self.worker.tables_of(profile.id) if one.phase == "open" and not one.matched]
        if command.words:
            tables = await self._with_code(profile.id, tables, _code_in(command.words))
        if not tables:
            raise NoChallenge()
        if len(tables) > 1:
            raise _say_which(tables, "invite", profile.language)
        return await self.invitation(tables[0], profile, command.ephemeral or command.place)

    async def invitation(self, table: Table, profile: Profile, place: str) -> Reply:
        """An invitation by somebody to a table, asked for at a place: in their private chat, whence it can be passed
        on.
        """
        address = await self._address_of(table, platform_of(place))
        panel = invitation_panel(table, profile.name, address, profile.language)
        toast = "" if is_private(place) else texts(profile.language).gettext("It is in our private chat.")
        return Reply(panel=panel, private=True, is_to_pass_on=True, toast=toast)

    async def _address_of(self, table: Table, platform: str) -> str:
        """An address by which people of a platform find a challenge; empty if there is none."""
        adapter, shown = self.worker.adapters[platform], await self.worker.store.shown(table.code)
        for host, place in enumerate(table.hosts):
            state = shown.get(encode_name(card_at(table, host)))
            message = decode_state(state).message if state and platform_of(place) == platform else ""
            if address := message and adapter.invitation(table.code, place, message):
                return address
        return ""

    async def _hand(self, command: Command, profile: Profile) -> Reply:
        code = _code_in(command.words)
        place = command.ephemeral or private_place(profile.id)
        toast = "" if self._is_seen_there(command) else await hands_toast(self.worker, profile, code)
        if not await self.bring_hands(profile.id, code, place):
            raise await self.why_no_hand(profile.id, code) if code else NoTables()
        return Reply(toast)

    async def _with_code(self, person: str, tables: list[Table], code: str) -> list[Table]:
        """Return the table among these that has a code; raises what is true of the person and that code otherwise."""
        if found := [table for table in tables if table.code == code]:
            return found
        raise await self.why_no_hand(person, code)

    async def why_no_hand(self, person: str, code: str) -> TableError:
        """Return why a person has no cards at a table with this code."""
        for table in await self.worker.tables_of(person):
            if table.code == code:
                return NotBegun(code=code) if table.phase == "open" else AlreadyPlaying()
        return NotAtThisTable(code=code[:8])

    async def _tables(self, command: Command, profile: Profile) -> Reply:
        if is_private(command.place):
            return Reply(panel=await self.pages.tables(profile), private=True)
        return Reply(panel=await self.pages.open_tables(command.place))

    async def _find(self, command: Command, profile: Profile) -> Reply:
        game = game_called(" ".join(command.words)) if command.words else ""
        return await self.finding.look(command.place, profile, command.key, game)

    async def _daily(self, command: Command, profile: Profile) -> Reply:
        return await self.daily.ask(command.place, profile)

    async def _puzzle(self, command: Command, profile: Profile) -> Reply:
        return await self.puzzles.ask(command.place, profile)

    async def _tournament(self, form: Form, command: Command, profile: Profile) -> Reply:
        choice = None
        if command.words and not is_private(command.place):
            chat = await self.worker.people.chat(command.place)
            named, words = form_and_rest(command.words)
            form = named or form
            game, target = game_and_points(words, chat.game)
            choice = replace(Choice.usual(game), clock=chat.clock)
            if target is not None:
                choice = choice.with_target(target_rule(game, target).value)
        return await self.tournaments.ask(command.place, profile, command.key, form, choice)

    async def _nickname(self, command: Command, profile: Profile) -> Reply:
        return await self.finding.call(command.place, profile, " ".join(command.words))

    async def _block(self, command: Command, profile: Profile) -> Reply:
        """Block somebody who is named, or else see who is blocked."""
        if not (command.words or command.about):
            return await self.strangers.list_of_blocks(profile)
        about = await person_meant(self.worker.people, command)
        if about is None:
            raise NoSuchPerson(name=plain_name(command.words[0])[:32])
        return await self.strangers.block(profile, about)

    async def _leaderboard(self, command: Command, profile: Profile) -> Reply:
        where = "all" if is_private(command.place) else "chat"
        game = game_called(" ".join(command.words)) if command.words else "all"
        return Reply(panel=await self.pages.leaderboard(command.place, profile, where, "all", game))

    async def _honours(self, command: Command, profile: Profile) -> Reply:
        return Reply(panel=await self.pages.honours(command.place, profile))

    async def _stats(self, command: Command, profile: Profile) -> Reply:
        about = await person_meant(self.worker.people, command, is_met=True) or profile
        return Reply(panel=await self.pages.stats(command.place, about))

    async def _rules(self, command: Command, profile: Profile) -> Reply:
        about = ""
        if command.words:
            about = FAIR if command.words[0].lower() in FAIR_WORDS else game_called(" ".join(command.words))
        return Reply(panel=await self.pages.rules(command.place, about))

    async def _settings(self, command: Command, profile: Profile) -> Reply:
        if is_private(command.place):
            return Reply(panel=self.pages.own_settings(profile))
        return Reply(panel=await self.pages.chat_settings(command.place))

    async def _resign(self, command: Command, profile: Profile) -> Reply:
        tables = [table for table in await self.worker.tables_of(profile.id) if table.phase == "playing"]
        if command.words:
            tables = await self._with_code(profile.id, tables, _code_in(command.words))
        if not tables:
            raise NoTables()
        if len(tables) > 1:
            raise _say_which(tables, "resign", profile.language)
        [table] = tables
        toast = "" if self._is_seen_there(command) else await hands_toast(self.worker, profile, table.code)
        await self._ask_to_resign(table, profile.id, command.ephemeral or private_place(profile.id))
        return Reply(toast)

    async def _analyse(self, command: Command, profile: Profile) -> Reply:
        panel = await self.pages.last_analysis(command.place, profile)
        return Reply(panel=panel, private=True, toast=self._sent_in_private(command, profile).toast)

    async def _mydata(self, command: Command, profile: Profile) -> Reply:
        return replace(await self.own_data.send(profile), toast=self._sent_in_private(command, profile).toast)

    async def _forget(self, command: Command, profile: Profile) -> Reply:
        return replace(await self.own_data.ask(profile), toast=self._sent_in_private(command, profile).toast)

    async def _ask_to_resign(self, table: Table, person: str, place: str) -> None:
        seat = table.seat_of(person)
        assert seat is not None
        version = table.oldest_panel(seat)
        change = Change(draft=Draft(version, RESIGN), repost=True, place=place)
        await self.worker.change(table.code, Hand(seat), change)

    async def _help(self, command: Command, profile: Profile) -> Reply:
        return Reply(panel=help_page(await self.pages.language(command.place)))

    async def _start(self, command: Command, profile: Profile) -> Reply:
        """What platforms send when somebody opens the private chat, with a word if a button or link led there: the code
        of a table whose hand is wanted, or what seats them at one.
        """
        pasted = read_pasted(f"/start {' '.join(command.words)}")
        joined = pasted.id if pasted and pasted.joins else ""
        if joined:
            # Who sits there already, and opens the link again, is shown what there is to see. In a group that is the
            # board: the link has brought the bot there.
            if is_private(command.place) and await self.bring_hands(profile.id, joined, command.place):
                return Reply()
            return await self._join(replace(command, words=(joined,)), profile)
        if command.words == (DAILY,):
            return await self.daily.play(command.place, profile)
        if command.words == (TOURNAMENT,):
            return Reply(panel=await self.tournaments.own(profile), private=True)
        if command.words == (FIND,):
            return await self.finding.look(command.place, profile, command.key)
        code = _code_in(command.words)
        if await self.bring_hands(profile.id, code, command.place):
            return Reply()
        waiting = [table for table in await self.worker.tables_of(profile.id) if table.code == code]
        if waiting:
            # Before the cards are dealt, from a chat that the bot is not in.
            _ = texts(profile.language).gettext
            if waiting[0].seat_of(profile.id) is None:
                return Reply(toast=_("You have asked for a chair."))
            return Reply(toast=_("You sit at table {code}. Your cards come here.").format(code=code))
        return await self._help(command, profile)

    @staticmethod
    def _is_seen_there(command: Command) -> bool:
        """Return whether the person sees what is sent to them alone where they gave the command."""
        return is_private(command.place) or bool(command.ephemeral)

    def _sent_in_private(self, command: Command, profile: Profile) -> Reply:
        """Return what to say beside a page that the adapter sends to the private chat; it knows if that fails."""
        if self._is_seen_there(command):
            return Reply()
        return Reply(toast=texts(profile.language).gettext("It is in our private chat."))


def _code_in(words: Sequence[str]) -> str:
    """Return the code in a command's words; their first word if none is there, and nothing for no words."""
    return pasted_code(f"/hand {' '.join(words)}") or plain_name(words[0]).upper() if words else ""


def _say_which(tables: list[Table], name: str, language: str) -> SayWhichTable:
    """What to say where a command may mean several tables: how to write it for each."""
    spec = command_called(name)
    assert spec
    word = spec.name_in(language)
    return SayWhichTable(codes=", ".join(f"/{word} {table.code}" for table in tables))


def targets(game: str) -> dict[int, Rule]:
    """What a game may be played to, as players count, with the rule that says so."""
    rules = GAMES[game].rules
    unit = rules.model_fields["score_unit"].default if "score_unit" in rules.model_fields else 1
    return {int(value) * unit: Rule("target", value) for value in rules.choices()["target"]}


def target_rule(game: str, points: int) -> Rule:
    """The rule for a number of points; NoSuchTarget if the game is not played to that."""
    rule = targets(game).get(points)
    if rule is None:
        said = str(points) if len(str(points)) <= DIGITS_SAID else f"{str(points)[:DIGITS_SAID]}…"
        raise NoSuchTarget(game=GAMES[game].name, points=minus(said), targets=", ".join(map(str, targets(game))))
    return rule


def game_and_points(words: Sequence[str], usual: str) -> tuple[str, int | None]:
    """The game that is meant by the words of a command, or the ``usual`` one, and to how many points, None if they say
    nothing of that. Names of people are no such words. A name of several words is not taken for the beginning of it.
    """
    game, points = usual, None
    left = [word for word in words if not word.startswith("@")]
    while left:
        if NUMBER.fullmatch(left[0]):
            points = int(left.pop(0).replace(MINUS, "-")[:MOST_DIGITS])
            continue
        if left[0].casefold() in BEFORE_POINTS and NUMBER.fullmatch(" ".join(left[1:2])):
            del left[0]
            continue
        names = {name for called in _game_names().values() for name in called}
        whole = (one for one in range(len(left), 1, -1) if " ".join(left[:one]).casefold() in names)
        unknown = list(takewhile(lambda word: not NUMBER.fullmatch(word), left))
        length = next(whole, 1 if _game_of(left[0]) else len(unknown))
        game, left = game_called(" ".join(left[:length])), left[length:]
    return game, points


def game_called(name: str) -> str:
    """The id of the game that somebody means: its id, its name in any language, or the beginning of one."""
    game = _game_of(name)
    if game is None:
        raise NoSuchGame(name=name[:32], games=", ".join(GAMES))
    return game


def _game_of(name: str) -> str | None:
    """The game that `game_called` returns; None for none."""
    meant, names = name.casefold(), _game_names()
    exact = [game for game, called in names.items() if meant in called]
    begun = [game for game, called in names.items() if any(one.startswith(meant) for one in called)]
    return (exact or begun)[0] if exact or len(begun) == 1 else None


@cache
def _game_names() -> dict[str, set[str]]:
    """What each game may be called, by its id: that, and its name in every language."""
    names = {kind.id: {kind.id} for kind in GAMES.values()}
    for language in LANGUAGES:
        for game, name in game_names(language).items():
            names[game].add(name.casefold())
    return names
