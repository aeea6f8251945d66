"""Current names of a tournament's people. Its log has the names they entered with."""

import asyncio
from copy import copy

from bot.features.tournaments.tournament import Tournament
from bot.identity.pseudonyms import is_pseudonym
from bot.people import People
from bot.tables.chairs import Chair


async def with_current_names(people: People, tournament: Tournament) -> Tournament:
    async def rename_chair(chair: Chair | None) -> Chair | None:
        if chair is None or is_pseudonym(chair.person):
            return chair
        profile = await people.person(chair.person)
        return chair._replace(name=profile.name) if profile.is_known else chair

    opener, *players = await asyncio.gather(*map(rename_chair, (tournament.opener, *tournament.players)))
    renamed_tournament = copy(tournament)
    renamed_tournament.opener, renamed_tournament.players = opener or tournament.opener, tuple(players)
    return renamed_tournament
