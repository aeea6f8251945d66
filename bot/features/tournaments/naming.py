"""What the people of a tournament are called now; its log has the names by which they entered."""

import asyncio

from bot.features.tournaments.tournament import Tournament
from bot.people import People
from bot.pseudonyms import is_pseudonym
from bot.tables.chairs import Chair


async def with_current_names(people: People, tournament: Tournament) -> Tournament:
    """Return the tournament with its players and organiser as they are called now."""

    async def renamed(chair: Chair | None) -> Chair | None:
        if chair is None or is_pseudonym(chair.person):
            return chair
        profile = await people.person(chair.person)
        return chair._replace(name=profile.name) if profile.is_known else chair

    opener, *players = await asyncio.gather(*map(renamed, (tournament.opener, *tournament.players)))
    return tournament.with_names(opener or tournament.opener, tuple(players))
