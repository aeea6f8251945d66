"""What tournaments know of a person, for whoever asks for it or wants it gone."""

from dataclasses import replace
from typing import Any

from bot.finished.archive import FinishedGame
from bot.somebody import NAME
from bot.store import Store, keys
from bot.store.log import unstamped
from bot.tournaments.entries import Cancel, Enter, Entry, Leave, Open, Redacted, decode, encode
from bot.tournaments.errors import NoSuchTournament
from bot.tournaments.store import Tournaments
from bot.tournaments.tournament import Tournament


async def forget(store: Store, person: str, somebody: str) -> None:
    """Have somebody stand in a person's place in all tournaments; they play on in none. Twice is once."""
    tournaments = Tournaments(store)
    for code in await store.index.entries(keys.entered(person)):
        try:
            while not await _left(tournaments, await tournaments.load(code), person, somebody):
                continue
        except NoSuchTournament:
            continue
        for id_, stored in (await store.client.hgetall(keys.tournament_games(code))).items():
            game = FinishedGame.parse(stored)
            if person in game.people:
                await store.client.hset(keys.tournament_games(code), id_, game.without(person, somebody).to_bytes())
    await store.client.delete(keys.entered(person))


async def kept_of(client: Any, person: str) -> list[dict[str, Any]]:
    """The tournaments that name a person, for their file."""
    found = []
    for code in map(bytes.decode, await client.hkeys(keys.entered(person))):
        one = Tournament(code).after(await client.lrange(keys.tournament(code), 0, -1))
        if one.names(person):
            about = {"code": code, "game": one.game, "form": one.form, "state": one.phase}
            found.append({**about, "organiser": one.opener.person == person, "player": one.player_of(person)})
    return found


async def _left(tournaments: Tournaments, tournament: Tournament, person: str, somebody: str) -> bool:
    """Rewrite a tournament's log without a person; False if it has gone on meanwhile."""
    parting: list[Entry] = []
    player = tournament.player_of(person)
    if tournament.is_live and player is not None:
        parting.append(Leave(player))
    if tournament.phase == "open" and tournament.opener.person == person:
        parting.append(Cancel())
    clean = [_redacted(entry, person, somebody) for entry in tournament.entries]
    if not parting and clean == list(tournament.entries):
        return True
    return await tournaments.rewrite(tournament, [*clean, *(encode(one).encode() for one in (*parting, Redacted()))])


def _redacted(stored: bytes, person: str, somebody: str) -> bytes:
    entry = decode(unstamped(stored).decode())
    if isinstance(entry, Open | Enter) and entry.person == person:
        # Without its stamp, which may name them.
        return encode(replace(entry, person=somebody, name=NAME)).encode()
    return stored
