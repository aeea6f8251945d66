"""/duel and presses on the messages of duels."""

import re
from collections.abc import Sequence

from bot.actions import BadPayload
from bot.delivery.private_hands import PrivateHands
from bot.delivery.surface import Change
from bot.delivery.surface_names import Hand
from bot.delivery.updates import Updates
from bot.features.duels.duel import SIDES, Duel
from bot.features.duels.duels import Duels
from bot.features.duels.errors import DealNotCompared, NoSuchDuel, OpenPrivateForDuel
from bot.features.duels.pages import (
    PAGE,
    card_panel,
    deal_panel,
    games_panel,
    invitation_panel,
    list_panel,
    own_panel,
    share_panel,
)
from bot.finished.archive import Archive
from bot.panel import Panel
from bot.panels.drafts import NO_DRAFT
from bot.parsing.codes_and_links import NEW_CODE
from bot.parsing.games import NoSuchGame, parse_game_and_points
from bot.parsing.mentions import find_invited
from bot.people import People, Profile
from bot.platform import Command, Press, Reply, can_write_anytime, is_private, private_place
from bot.private_replies import private_reply, private_toast
from bot.solo_deals.lines import SoloLine
from bot.solo_deals.results import SEAT
from bot.tables.code_guard import CodeGuard
from bot.texts import error_text
from bot.viewers import Viewers
from engine import GAMES


def code_in(words: Sequence[str]) -> str:
    """Return a command's only word in capitals if it can be a code and names no game, otherwise ""."""
    if len(words) != 1 or not re.fullmatch(NEW_CODE, words[0].upper()):
        return ""
    try:
        game, _points = parse_game_and_points(words, "")
    except NoSuchGame:
        game = ""
    return "" if game else words[0].upper()


class DuelCommands:
    def __init__(
        self,
        duels: Duels,
        people: People,
        archive: Archive,
        viewers: Viewers,
        private_hands: PrivateHands,
        updates: Updates,
        code_guard: CodeGuard,
    ) -> None:
        self._duels, self._people, self._archive, self._viewers = duels, people, archive, viewers
        self._private_hands, self._updates, self._code_guard = private_hands, updates, code_guard

    # Commands

    async def ask(self, command: Command, profile: Profile) -> Reply:
        """Open a duel, show one by its code, or in a private chat list the person's duels."""
        place, words = command.place, command.words
        if code := code_in(words):
            return await self._show(code, command, profile)
        if is_private(place) and not words and not command.about:
            return Reply(panel=await self.list_own(profile))
        invited = await find_invited(self._people, command)
        # A command in reply to a message challenges that message's author and needs no mention. A word that is neither
        # a mention nor a game raises an error.
        game, _points = parse_game_and_points(words, (await self._people.chat(place)).game)
        group = place if not is_private(place) and can_write_anytime(place) else ""
        duel = await self._duels.open(command.person, game, command.key, place=group, invited=invited)
        return Reply(panel=await self._panel_at(place, duel, profile))

    async def start(self, command: Command, profile: Profile) -> Reply:
        """Show the duel whose code a link carries; without a code, list the person's duels."""
        code = command.words[0].partition("-")[2]
        if not code:
            return Reply(panel=await self.list_own(profile), private=True)
        return await self._show(code, command, profile)

    async def _show(self, code: str, command: Command, profile: Profile) -> Reply:
        return Reply(panel=await self._panel_at(command.place, await self._load(code, command), profile))

    async def _load(self, code: str, command: Command) -> Duel:
        """Return a duel. A code that is on no list of the person or the group could be guessed, so wrong ones count."""
        store, person = self._duels.store, command.person
        if await store.is_listed(code, person.id, command.place):
            return await store.load(code)
        async with self._code_guard.count_unknown(person):
            return await store.load(code)

    # Presses

    async def answer(self, press: Press, profile: Profile, words: list[str]) -> Reply:
        place, language = press.place, profile.language
        match words:
            case ["own"]:
                return private_reply(place, language, await self.list_own(profile))
            case ["new"]:
                return private_reply(place, language, games_panel(language))
            case ["new", game] if game in GAMES and is_private(place):
                duel = await self._duels.open(press.person, game, press.key)
                return Reply(panel=await self.own_page(duel, profile))
            case [code, verb, *arguments]:
                return await self._answer_duel(press, profile, code[:8], verb, arguments)
        raise BadPayload()

    async def _answer_duel(self, press: Press, profile: Profile, code: str, verb: str, arguments: list[str]) -> Reply:
        place, language = press.place, profile.language
        match verb, arguments:
            case "play", []:
                return await self.play(press, profile, code)
            case "show", [] if not is_private(place):
                return Reply(panel=await self._card(await self._duels.store.load(code), place))
            case "mine", ([] | ["new"]):
                duel = await self._duels.store.load(code)
                panel = await self.own_page(duel, profile)
                return Reply(private_toast(place, language), panel, private=bool(arguments) or not is_private(place))
            case "decline", []:
                duel = await self._duels.decline(code, press.person)
                return Reply(panel=await self._panel_at(place, duel, profile))
            case "rematch", []:
                group = place if not is_private(place) and can_write_anytime(place) else ""
                duel = await self._duels.open_rematch(code, press.person, press.key, group)
                return Reply(panel=await self._panel_at(place, duel, profile), private=is_private(place))
            case "invite", []:
                duel = await self._duels.store.load(code)
                pages_url = (await self._viewers.viewer_at(private_place(profile.id))).pages_url
                panel = invitation_panel(duel, language, pages_url)
                return Reply(private_toast(place, language), panel, private=True, is_forwardable=True)
            case "share", []:
                return Reply(panel=await self._share_panel(code, profile), private=True, is_forwardable=True)
            case "deal", [number] if number.isdecimal():
                panel = await self._deal_panel(code, profile, int(number[:2]))
                return private_reply(place, language, panel)
        raise BadPayload()

    async def play(self, request: Command | Press, profile: Profile, code: str) -> Reply:
        """Accept a duel if needed, and deal the next cards in the private chat, or show the hand again there."""
        place, private, person = request.place, private_place(profile.id), request.person
        await self._duels.accept(code, person)
        if not (place == private or profile.has_private_chat):
            return Reply(error_text(OpenPrivateForDuel(code=code), profile.language), start_word=f"{PAGE}-{code}")
        toast = "" if place == private else await self._private_hands.toast(profile)
        if table := await self._duels.table_in_play(person.id, code):
            await self._updates.send_change(table.code, Hand(SEAT), Change(draft=NO_DRAFT, repost=True, place=private))
        else:
            await self._duels.open_table(code, person, private)
        if is_private(place):
            return Reply(toast)
        return Reply(toast, await self._card(await self._duels.store.load(code), place))

    # Panels

    async def list_own(self, profile: Profile) -> Panel:
        return list_panel(await self._duels.duels_of(profile.id), profile.id, profile.language, self._duels.now())

    async def own_page(self, duel: Duel, profile: Profile) -> Panel:
        """Return a player's page of a duel; for others, the challenge."""
        side = duel.side_of(profile.id)
        if side is None:
            return card_panel(duel, profile.language, self._duels.now())
        return own_panel(duel, side, profile.language, self._duels.now())

    async def _panel_at(self, place: str, duel: Duel, profile: Profile) -> Panel:
        return await (self.own_page(duel, profile) if is_private(place) else self._card(duel, place))

    async def _card(self, duel: Duel, place: str) -> Panel:
        return card_panel(duel, (await self._viewers.viewer_at(place)).language, self._duels.now())

    async def _share_panel(self, code: str, profile: Profile) -> Panel:
        duel = await self._duels.store.load(code)
        side = duel.side_of(profile.id)
        if side is None:
            raise NoSuchDuel()
        pages_url = (await self._viewers.viewer_at(private_place(profile.id))).pages_url
        return share_panel(duel, side, profile.language, pages_url)

    async def _deal_panel(self, code: str, profile: Profile, deal: int) -> Panel:
        duel = await self._duels.store.load(code)
        if not duel.is_compared(deal):
            raise DealNotCompared()
        return deal_panel(duel, deal, await self.lines_of_deal(duel, deal), profile.language, profile.suits)

    async def lines_of_deal(self, duel: Duel, deal: int) -> list[SoloLine | None]:
        """Return each side's play of a compared deal; None if its game is missing."""
        played_deals = [duel.played_deals.get((side, deal)) for side in SIDES]
        games = [await self._archive.get(played.game) if played else None for played in played_deals]
        return [SoloLine.from_game(game) if game else None for game in games]
