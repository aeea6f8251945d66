"""A person's tournaments, for /mydata and /forget."""

from contextlib import suppress
from dataclasses import replace
from typing import Any

from bot.features.tournaments.entries import (
    Cancel,
    Enter,
    Entry,
    Finish,
    Leave,
    Open,
    Redacted,
    Result,
    Round,
    Seat,
    decode,
    encode,
)
from bot.features.tournaments.errors import NoSuchTournament, UnreadableTournament
from bot.features.tournaments.store import Tournaments
from bot.features.tournaments.tournament import Tournament
from bot.finished.archive import parse_or_none
from bot.pseudonyms import NAME
from bot.store import Store, keys
from bot.store.naming import may_name


async def forget(store: Store, person: str, somebody: str) -> None:
    """Replace a person by ``somebody`` in all tournaments, and withdraw them. Twice is once.

    A commit that was on its way can add them to their list again, so the list must be read once more later.
    """
    tournaments = Tournaments(store)
    for code, token in (await store.index.entries(keys.entered(person))).items():
        with suppress(NoSuchTournament):
            await _forget_in(tournaments, code, person, somebody)
        await store.index.release(keys.entered(person), code, token)
    await store.client.delete(keys.organised(person))


async def _forget_in(tournaments: Tournaments, code: str, person: str, somebody: str) -> None:
    while not await _rewrite_log(tournaments, code, person, somebody):
        continue
    client, games = tournaments.client, keys.tournament_games(code)
    for id_, stored in (await client.hgetall(games)).items():
        # One that cannot be read is left as it is, as in the archive: it must not keep the others from being rewritten.
        game = parse_or_none(id_.decode(), stored)
        if game and person in game.people:
            await client.hset(games, id_, game.redact(person, somebody).to_bytes())


async def export(client: Any, person: str) -> list[dict[str, Any]]:
    """Return the readable tournaments that name a person, for /mydata."""
    found = []
    for code in map(bytes.decode, await client.hkeys(keys.entered(person))):
        try:
            one = Tournament(code).caught_up(await client.lrange(keys.tournament(code), 0, -1))
        except UnreadableTournament:
            continue
        if one.involves(person):
            about = {"code": code, "game": one.game, "form": one.form, "state": one.phase}
            found.append({**about, "organiser": one.opener.person == person, "player": one.player_of(person)})
    return found


async def _rewrite_log(tournaments: Tournaments, code: str, person: str, somebody: str) -> bool:
    """Rewrite a tournament's log without a person; return False if it has changed meanwhile."""
    try:
        tournament = await tournaments.load(code)
    except UnreadableTournament:
        # What can be read of it names them all the same.
        known, parting = await tournaments.stored(code), []
    else:
        known, parting = list(tournament.entries), _leaving_entries(tournament, person)
    clean = [_redact(entry, person, somebody) for entry in known]
    if not parting and clean == known:
        return True
    return await tournaments.rewrite(code, known, [*clean, *(encode(one).encode() for one in (*parting, Redacted()))])


def _leaving_entries(tournament: Tournament, person: str) -> list[Entry]:
    """Return the entries with which a person leaves."""
    parting: list[Entry] = []
    player = tournament.player_of(person)
    if tournament.is_live and player is not None:
        parting.append(Leave(player))
    if tournament.phase == "open" and tournament.opener.person == person:
        parting.append(Cancel())
    return parting


def _redact(stored: bytes, person: str, somebody: str) -> bytes:
    text, _, stamp = stored.partition(b"\t")
    try:
        entry = decode(text.decode())
    except ValueError:
        # Another release wrote it, and knows it.
        return stored
    if isinstance(entry, Open | Enter) and entry.person == person:
        return encode(replace(entry, person=somebody, name=NAME)).encode()
    # What the bot itself does is stamped with numbers that may be anybody's, and must not be done twice.
    if not isinstance(entry, Round | Seat | Result | Finish) and may_name(stamp.decode(), person):
        return text
    return stored
