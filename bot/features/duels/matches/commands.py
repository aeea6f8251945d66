"""/match, and presses on the messages of matches."""

from collections.abc import Sequence

from bot.actions import BadPayload
from bot.features.duels.commands import DuelCommands, code_in
from bot.features.duels.matches import errors
from bot.features.duels.matches.boards import Boards
from bot.features.duels.matches.matches import Matches
from bot.features.duels.matches.pages import invitation_panel
from bot.parsing.games import parse_game_and_points
from bot.people import People, Profile
from bot.platform import Command, Press, Reply, chat_of
from bot.tables.code_guard import CodeGuard
from bot.texts import texts


class MatchCommands:
    def __init__(
        self, matches: Matches, boards: Boards, duel_commands: DuelCommands, people: People, code_guard: CodeGuard
    ) -> None:
        self._matches, self._boards, self._duel_commands = matches, boards, duel_commands
        self._people, self._code_guard = people, code_guard

    async def ask(self, command: Command, profile: Profile) -> Reply:
        """Accept a match by its code, show the group's match again, or open one."""
        if code := code_in(command.words):
            return await self._accept(code, command, profile)
        chat = await self._people.chat(command.place)
        match = await self._matches.live_in(command.place)
        if match is None or command.words:
            # For a repeated command, this returns the match that it opened before.
            game, _points = parse_game_and_points(command.words, chat.game)
            match = await self._matches.open(command.place, command.person, game, command.key)
        else:
            await self._boards.repost(match, command.place)
        if match.is_accepted:
            return Reply(_shown_toast(profile.language))
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
            case [code, "play"]:
                return await self._play(press, profile, code[:8])
        raise BadPayload()

    async def _play(self, press: Press, profile: Profile, code: str) -> Reply:
        """Deal the next cards of the presser's duel in the private chat."""
        match = await self._matches.store.load(code)
        if match.closed:
            raise errors.MatchIsOver()
        duel = match.duel_of(press.person.id)
        if not duel:
            raise errors.NotInMatch() if match.has_all_duels else errors.BeingDrawn()
        reply = await self._duel_commands.play(press, profile, duel)
        # The pressed message shows the match, not the duel.
        return Reply(reply.toast, start_word=reply.start_word)


def _shown_toast(language: str) -> str:
    return texts(language).gettext("The match is in the last message.")
