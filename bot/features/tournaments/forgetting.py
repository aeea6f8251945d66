"""A person's tournaments, for /mydata and /forget."""

from contextlib import suppress
from dataclasses import replace
from typing import Any

from bot.features.tournaments import keys, log_entries
from bot.features.tournaments.errors import NoSuchTournament, UnreadableTournament
from bot.features.tournaments.store import Tournaments
from bot.features.tournaments.tournament import Tournament
from bot.finished.archive import parse_or_none
from bot.identity.pseudonyms import NAME
from bot.store import Store
from bot.store.people_in_logs import contains_person_id


async def forget(store: Store, person: str, pseudonym: str) -> None:
    """Replace a person by a pseudonym in all tournaments, and withdraw the person. Idempotent.

    A commit in progress can add a tournament to the person's list again. So this must run a second time later.
    """
    tournaments = Tournaments(store)
    for code, token in (await store.index.entries(keys.tournaments_of_person(person))).items():
        with suppress(NoSuchTournament):
            while not await _rewrite_log(tournaments, code, person, pseudonym):
                continue
            games = keys.games(code)
            for id_, data in (await store.client.hgetall(games)).items():
                # An unreadable game stays, as in the archive, and does not stop the others.
                game = parse_or_none(id_.decode(), data)
                if game and person in game.people:
                    await store.client.hset(games, id_, game.redact(person, pseudonym).to_bytes())
        await store.index.remove_if_unchanged(keys.tournaments_of_person(person), code, token)
    await store.client.delete(keys.organised_by(person))


async def export(client: Any, person: str) -> list[dict[str, Any]]:
    """Return the readable tournaments that name a person, for /mydata."""
    exported = []
    for code in map(bytes.decode, await client.hkeys(keys.tournaments_of_person(person))):
        try:
            tournament = Tournament(code).catch_up(await client.lrange(keys.log(code), 0, -1))
        except UnreadableTournament:
            continue
        if tournament.involves(person):
            facts = {"code": code, "game": tournament.game, "form": tournament.form, "state": tournament.phase}
            exported.append(
                {**facts, "organiser": tournament.opener.person == person, "player": tournament.player_of(person)}
            )
    return exported


async def _rewrite_log(tournaments: Tournaments, code: str, person: str, pseudonym: str) -> bool:
    """Rewrite a tournament's log without a person. Return False if it has changed since."""
    leaving: list[log_entries.Entry] = []
    try:
        tournament = await tournaments.load(code)
    except UnreadableTournament:
        # The log's readable entries can still name the person.
        known_entries = await tournaments.stored_entries(code)
    else:
        known_entries, player = list(tournament.entries), tournament.player_of(person)
        if tournament.is_live and player is not None:
            leaving.append(log_entries.Leave(player))
        if tournament.phase == "open" and tournament.opener.person == person:
            leaving.append(log_entries.Cancel())
    redacted_entries = [_redact(entry, person, pseudonym) for entry in known_entries]
    if not leaving and redacted_entries == known_entries:
        return True
    new_entries = [log_entries.encode(entry).encode() for entry in (*leaving, log_entries.Redacted())]
    return await tournaments.rewrite(code, known_entries, redacted_entries + new_entries)


def _redact(stored_entry: bytes, person: str, pseudonym: str) -> bytes:
    text, _, stamp = stored_entry.partition(b"\t")
    try:
        entry = log_entries.decode(text.decode())
    except ValueError:
        return stored_entry  # an entry of another release
    if isinstance(entry, log_entries.Open | log_entries.Enter) and entry.person == person:
        return log_entries.encode(replace(entry, person=pseudonym, name=NAME)).encode()
    # Entries of the director keep their stamps, so that they are not written twice. Such stamps never name a person.
    is_by_director = isinstance(entry, log_entries.Round | log_entries.Seat | log_entries.Result | log_entries.Finish)
    return text if not is_by_director and contains_person_id(stamp.decode(), person) else stored_entry
