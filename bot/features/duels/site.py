"""Duels, for web pages."""

from typing import NamedTuple

from bot.features.duels.commands import DuelCommands
from bot.features.duels.duel import SIDES, Duel
from bot.features.duels.duels import Duels
from bot.features.duels.pages import write_duel
from bot.features.duels.texts import heading, margin_text, plain_names, shareable_text, time_left
from bot.http.addresses import Visitor
from bot.identity.pseudonyms import localize_name
from bot.panel import Panel, Writer
from bot.people import People
from bot.platform import Person
from bot.site.attempts import try_to_do, try_to_open
from bot.solo_deals.words import rows_of_squares
from bot.texts import texts
from engine import GAMES


class DealCell(NamedTuple):
    margin: str
    squares: list[str]  # one text for each row
    replay: str  # id of the game, or empty
    is_winner: bool


ComparedDeals = list[tuple[int, list[DealCell]]]  # deals that both players can see, with both sides' play


def compared_deals(duel: Duel, language: str) -> ComparedDeals:
    return [(deal, [_cell(duel, side, deal, language) for side in SIDES]) for deal in duel.compared_deals]


def _cell(duel: Duel, side: int, deal: int, language: str) -> DealCell:
    played = duel.played_deals.get((side, deal))
    return DealCell(
        margin_text(duel, side, deal, language),
        rows_of_squares(played.result) if played else [],
        played.game if played else "",
        duel.deal_winner(deal) == side,
    )


class DuelPage(NamedTuple):
    code: str
    game: str  # id
    title: str
    names: list[str]
    panel: Panel
    deals: ComparedDeals
    next_deal: int  # deal that the reader plays next; 0 for none
    can_accept: bool
    is_player: bool
    is_open: bool  # whether a friend can still accept
    can_decline: bool
    can_rematch: bool
    shareable: str
    is_over: bool
    other: str  # name of the person whom the reader can block; empty for none


class DuelLine(NamedTuple):
    code: str
    label: str
    state: str


class DuelSite:
    """Duels for web pages. Methods can raise store errors."""

    def __init__(self, people: People, duels: Duels, commands: DuelCommands) -> None:
        self._people, self._duels, self._commands = people, duels, commands

    async def page(self, code: str, person: str, handle: str, language: str, address: str) -> DuelPage | None:
        """Return a duel as its reader can see it; None if there is none. ``person`` is empty for a stranger."""
        duel = await self._duels.store.find(code)
        if duel is None:
            return None
        side, page = duel.side_of(person), Writer()
        write_duel(page, duel, language, self._duels.now(), on_site=True)
        is_live = not duel.closing and self._duels.now() < duel.ends
        next_deal = duel.next_deal(side) if side is not None and is_live else None
        is_player, is_open = side is not None, is_live and not duel.is_accepted
        other = duel.other_player(person, handle)
        return DuelPage(
            code=code,
            game=duel.game,
            title=heading(duel, language),
            names=plain_names(duel, language),
            panel=page.panel(),
            deals=compared_deals(duel, language),
            next_deal=next_deal or 0,
            can_accept=not is_player and is_open and duel.invites(person, handle),
            is_player=is_player,
            is_open=is_player and is_open,
            can_decline=not is_player and is_live and duel.is_invited(person, handle),
            can_rematch=is_player and duel.can_rematch,
            shareable=shareable_text(duel, side, language, address) if side is not None and duel.compared_deals else "",
            is_over=bool(duel.closing),
            other=localize_name(other.name, language) if other else "",
        )

    async def own(self, person: str, language: str) -> list[DuelLine]:
        """Return a person's duels, the newest first. Skip those that closed without an opponent."""
        _ = texts(language).gettext
        lines = []
        for duel in await self._duels.duels_of(person):
            if duel.closing and not duel.has_result:
                continue
            side, names = duel.side_of(person), plain_names(duel, language)
            other_names = [name for number, name in enumerate(names) if number != side] or [_("waits for a friend")]
            state = duel.score.text(side or 0) if duel.has_result else time_left(duel, language, self._duels.now())
            lines.append(DuelLine(duel.code, " · ".join([*other_names, _(GAMES[duel.game].name)]), state))
        return lines

    # What readers do. Each method returns an error to show, or "".

    async def open(self, person: Person, game: str, update: str) -> tuple[str, str]:
        """Open a duel, and return its code too."""
        return await try_to_open(self._people, person, lambda _profile: self._duels.open(person, game, update))

    async def play(self, code: str, person: Person, visitor: Visitor | None = None) -> tuple[str, str]:
        """Accept a duel if needed, open the next deal, and return the table's code too."""
        return await try_to_open(
            self._people, person, lambda _profile: self._duels.open_table(code, person, visitor=visitor)
        )

    async def rematch(self, code: str, person: Person, update: str) -> tuple[str, str]:
        """Open or accept the next duel, and return its code too."""
        return await try_to_open(self._people, person, lambda _profile: self._duels.open_rematch(code, person, update))

    async def decline(self, code: str, person: Person) -> str:
        """Decline or withdraw a duel that is not accepted."""
        return await try_to_do(self._people, person, lambda _profile: self._duels.decline(code, person))
