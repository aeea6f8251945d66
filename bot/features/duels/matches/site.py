"""Matches of groups, for web pages."""

from typing import NamedTuple

from bot.features.duels.matches.matches import Matches
from bot.features.duels.matches.pages import write_match
from bot.features.duels.matches.texts import heading
from bot.features.duels.site import ComparedDeals, compared_deals
from bot.features.duels.texts import plain_names
from bot.panel import Panel, Writer
from bot.people import People


class PairDeals(NamedTuple):
    """A duel of a match. Deals that one of the two still has to play are left out."""

    names: list[str]
    deals: ComparedDeals


class MatchPage(NamedTuple):
    code: str
    game: str  # id
    title: str
    panel: Panel
    pairs: list[PairDeals]


class MatchSite:
    """Matches for web pages. Methods can raise store errors."""

    def __init__(self, matches: Matches, people: People) -> None:
        self._matches, self._people = matches, people

    async def page(self, code: str, language: str) -> MatchPage | None:
        """Return a match as both groups see it, with the compared deals; None for an unknown code."""
        match = await self._matches.store.find(code)
        if match is None:
            return None
        duels, page = await self._matches.duels_of(match), Writer()
        groups = [(await self._people.chat(group.place)).name for group in match.sides]
        write_match(page, match, duels, groups, language, self._matches.now(), on_site=True)
        pairs = [PairDeals(plain_names(duel, language), compared_deals(duel, language)) for duel in duels]
        title = heading(match, language)
        return MatchPage(code, match.game, title, page.panel(), [pair for pair in pairs if pair.deals])
