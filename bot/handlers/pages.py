"""The pages of the core: lists of tables, rules, help, and finished games."""

from collections.abc import Sequence
from dataclasses import replace

from bot.actions import BACK, SEPARATE, BadPayload
from bot.command_names import FAIR, FAIR_WORDS
from bot.feature import Feature, Handlers
from bot.panel import Panel
from bot.panels.help import greeting_page, help_page, rules_page, safety_page
from bot.panels.replays import Replays
from bot.panels.tables import SeatedTable, free_chairs, open_tables_page, tables_page
from bot.parsing.games import find_game
from bot.people import Profile
from bot.pictures.rules import rules_sheet
from bot.platform import Command, Press, Reply, chat_of, group_of, is_private, private_place
from bot.private_replies import private_reply, private_toast
from bot.tables.challenges import Challenges
from bot.tables.code_guard import CodeGuard
from bot.tables.errors import NoSuchTable
from bot.tables.snapshot import isolate_name, take_snapshot
from bot.tables.table import Table
from bot.tables.table_lists import TableLists
from bot.viewers import Viewers, with_picture
from engine import GAMES

MAX_LISTED = 10  # open challenges, each with its button


class CorePages(Handlers):
    private_pages = ("replay", "fair")

    def __init__(
        self,
        viewers: Viewers,
        lists: TableLists,
        features: Sequence[Feature],
        challenges: Challenges,
        guard: CodeGuard,
        replays: Replays,
    ) -> None:
        self._viewers, self._lists, self._features = viewers, lists, features
        self._challenges, self._guard, self._replays = challenges, guard, replays
        self.commands = {"tables": self._tables_command, "rules": self._rules_command, "help": self.help}
        self.pages = {
            "tables": self._sit,
            "rules": self._rules_page,
            "help": self._help_page,
            "replay": self._replay,
            "fair": self._fair,
            "share": self._share,
        }

    async def help(self, command: Command, _profile: Profile) -> Reply:
        return Reply(panel=help_page((await self._viewers.viewer_at(command.place)).language))

    async def _help_page(self, press: Press, _profile: Profile, words: list[str]) -> Reply:
        language = (await self._viewers.viewer_at(press.place)).language
        is_safety = words == ["safety"]
        return Reply(panel=safety_page(language) if is_safety else help_page(language, is_full=words == ["all"]))

    async def greet(self, place: str, playing: Sequence[tuple[Table, int]] = ()) -> Reply:
        """Greet a person who opens the private chat, or a group that meets the bot.

        ``playing`` are the person's running games, each with their seat.
        """
        language = (await self._viewers.viewer_at(place)).language
        buttons = [button for feature in self._features for button in feature.first_contact_buttons(language)]
        games = [take_snapshot(table.localize(language), seat) for table, seat in playing]
        return Reply(panel=greeting_page(language, buttons, in_private=is_private(place), games=games))

    async def _rules_command(self, command: Command, profile: Profile) -> Reply:
        """Show the rules of the named game, or of the one that the person is playing here."""
        subject = await self._game_played(command.place, profile)
        if command.words:
            subject = FAIR if command.words[0].lower() in FAIR_WORDS else find_game(" ".join(command.words))
        return Reply(panel=await self.rules(command.place, subject))

    async def _game_played(self, place: str, profile: Profile) -> str:
        """Return the game that a person plays in this chat, in private at any table; empty for none or several."""
        tables = await self._lists.tables_of(profile.id)
        games = {
            table.game_id
            for table in tables
            if table.phase == "playing" and (is_private(place) or table.is_shown_at(place))
        }
        return games.pop() if len(games) == 1 else ""

    async def _rules_page(self, press: Press, profile: Profile, words: list[str]) -> Reply:
        end = words.index(BACK) if BACK in words else len(words)
        subject_words, back = words[:end], words[end + 1 :]
        if subject_words[-1:] == [SEPARATE]:
            panel = await self.rules(private_place(profile.id), " ".join(subject_words[:-1]), back)
            return Reply(private_toast(press.place, profile.language), panel, private=True)
        return Reply(panel=await self.rules(press.place, " ".join(subject_words), back))

    async def rules(self, place: str, subject: str, back: Sequence[str] = ()) -> Panel:
        """Return the rules of a game, by its id, or another page of `rules_page`."""
        viewer = await self._viewers.viewer_at(place)
        panel = rules_page(viewer.language, subject, viewer.suits, back)
        if not viewer.deck or subject not in GAMES:
            return panel
        sheet = rules_sheet(subject, viewer.language, viewer.suits, viewer.deck)
        return with_picture(panel, sheet, viewer.language, is_lasting=True)

    async def _tables_command(self, command: Command, profile: Profile) -> Reply:
        if not is_private(command.place):
            return Reply(panel=await self._open_tables(command.place))
        lines = []
        for table in await self._lists.tables_of(profile.id):
            seat = table.seat_of(profile.id)
            other_names = [isolate_name(chair.name) for chair in table.chairs if chair and chair.person != profile.id]
            turn = table.game.turn if table.game else None
            is_my_turn = turn is not None and turn == seat
            state = "open" if table.phase == "open" else "mine" if is_my_turn else "theirs"
            mover = table.chairs[turn] if turn is not None and not is_my_turn else None
            name = isolate_name(mover.name) if mover else ""
            lines.append(SeatedTable(table.code, table.game_id, ", ".join(other_names), state, name))
        lines.sort(key=lambda line: (line.state != "mine", line.code))
        return Reply(panel=tables_page(profile.language, lines), private=True)

    async def _sit(self, press: Press, _profile: Profile, words: list[str]) -> Reply:
        """Seat a person at a listed table, and show the new list."""
        if len(words) != 2 or words[0] != "sit":
            raise BadPayload()
        code, person, place = words[1], press.person, group_of(press.place)
        if not await self._guard.knows(person, place, code):
            raise NoSuchTable(code=code[:8])
        await self._challenges.sit(code, person.id, person.name, press.key, handle=person.handle)
        return Reply(panel=await self._open_tables(place))

    async def _open_tables(self, place: str) -> Panel:
        language = (await self._viewers.viewer_at(place)).language
        # A server's channels are one chat, but not all members see every channel.
        tables_here = [table for table in await self._lists.tables_at(chat_of(place)) if table.is_shown_at(place)]
        tables = [
            table for table in tables_here if table.phase == "open" and table.invited is None and free_chairs(table)
        ]
        tables.sort(key=lambda table: table.code)
        notes = [note for feature in self._features if (note := await feature.note_on_open_tables(language))]
        return open_tables_page(language, tables[:MAX_LISTED], notes)

    async def _replay(self, press: Press, profile: Profile, words: list[str]) -> Reply:
        """Return the replay: in a group in a message that only the presser sees, so that the result stays."""
        if len(words) != 2:
            raise BadPayload()
        return private_reply(press.place, profile.language, await self._replays.replay(press.place, profile, *words))

    async def _share(self, press: Press, profile: Profile, words: list[str]) -> Reply:
        """Return a game's result to forward, on platforms where a button cannot send it into another chat."""
        if len(words) != 1:
            raise BadPayload()
        panel = await self._replays.result_to_share(words[0], profile.language)
        return Reply(private_toast(press.place, profile.language), panel, private=True, is_forwardable=True)

    async def _fair(self, press: Press, profile: Profile, words: list[str]) -> Reply:
        """Return the proof of a shuffle. On the board of a deal it is a new message, so the score remains visible."""
        if len(words) < 2 or words[2:] not in ([], [SEPARATE]):
            raise BadPayload()
        reply = private_reply(press.place, profile.language, await self._replays.fair(press.place, *words[:2]))
        return replace(reply, private=True) if words[2:] else reply
