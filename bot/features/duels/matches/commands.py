"""/match, and presses on the messages of matches."""

from collections.abc import Sequence
from dataclasses import replace

from bot.actions import BadPayload
from bot.features.duels.commands import DuelCommands, code_in
from bot.features.duels.matches import errors
from bot.features.duels.matches.boards import Boards
from bot.features.duels.matches.match import Match
from bot.features.duels.matches.matches import Matches
from bot.features.duels.matches.pages import games_panel, invitation_panel
from bot.panel import Writer
from bot.parsing.games import parse_game_and_points
from bot.people import People, Profile
from bot.platform import Command, Press, Reply, chat_of
from bot.private_replies import private_toast
from bot.tables.code_guard import CodeGuard
from bot.texts import texts
from engine import GAMES


class MatchCommands:
    def __init__(
        self, matches: Matches, boards: Boards, duel_commands: DuelCommands, people: People, code_guard: CodeGuard
    ) -> None:
        self._matches, self._boards, self._duel_commands = matches, boards, duel_commands
        self._people, self._code_guard = people, code_guard

    async def ask(self, command: Command, profile: Profile) -> Reply:
        """Accept a match by its code, show the group's match again, open one, or ask which game to open."""
        if code := code_in(command.words):
            return await self._accept(code, command, profile)
        chat = await self._people.chat(command.place)
        if command.words:
            # For a repeated command, this returns the match that it opened before.
            game, _points = parse_game_and_points(command.words, chat.game)
            match = await self._matches.open(command.place, command.person, game, command.key)
        elif live_match := await self._matches.live_in(command.place):
            match = live_match
            await self._boards.repost(match, command.place)
        else:
            self._matches.check_can_open(command.place)
            return Reply(panel=games_panel(chat.game, chat.language))
        return await self._invite(match, command.place, profile)

    async def _invite(self, match: Match, place: str, profile: Profile) -> Reply:
        """Send the invitation for the other group, unless a group has accepted it."""
        if match.is_accepted:
            return Reply(_shown_toast(profile.language))
        chat = await self._people.chat(place)
        return Reply(panel=invitation_panel(match, chat.name, profile.language), private=True, is_forwardable=True)

    async def _accept(self, code: str, command: Command, profile: Profile) -> Reply:
        place = command.place
        if await self._matches.store.code_in(chat_of(place)) == code:
            match = await self._matches.accept(code, place, command.person)
        else:
            async with self._code_guard.count_unknown(command.person):
                match = await self._matches.accept(code, place, command.person)
        await self._boards.repost(match, place)
        return Reply(_shown_toast(profile.language))

    async def answer(self, press: Press, profile: Profile, words: Sequence[str]) -> Reply:
        match words:
            case [code, "enter"]:
                await self._matches.enter(code[:8], press.place, press.person)
                return Reply(texts(profile.language).gettext("You’re in."))
            case [code, "leave"]:
                await self._matches.leave(code[:8], press.person.id)
                return Reply(texts(profile.language).gettext("You’re out."))
            case [code, "begin"]:
                await self._matches.begin(code[:8], press.person.id)
                return Reply(_shown_toast(profile.language))
            case [code, "off"]:
                await self._matches.call_off(code[:8], press.person.id)
                return Reply(texts(profile.language).gettext("The match was called off."))
            case ["new", game] if game in GAMES:
                await self._matches.open(press.place, press.person, game, press.key)
                return Reply(panel=Writer(_shown_toast((await self._people.chat(press.place)).language)).panel())
            case [code, "invite"]:
                match = await self._matches.store.load(code[:8])
                if match.closing:
                    raise errors.MatchIsOver()
                reply = await self._invite(match, press.place, profile)
                return replace(reply, toast=reply.toast or private_toast(press.place, profile.language))
            case [code, "play"]:
                return await self._play(press, profile, code[:8])
        raise BadPayload()

    async def _play(self, press: Press, profile: Profile, code: str) -> Reply:
        """Deal the next cards of the presser's duel in the private chat."""
        match = await self._matches.store.load(code)
        if match.closing:
            raise errors.MatchIsOver()
        duel = match.duel_of(press.person.id)
        if not duel:
            raise errors.NotInMatch() if match.has_all_duels else errors.BeingDrawn()
        reply = await self._duel_commands.play(press, profile, duel)
        # The pressed message shows the match, not the duel.
        return Reply(reply.toast, start_word=reply.start_word)


def _shown_toast(language: str) -> str:
    return texts(language).gettext("The match is in the last message.")
