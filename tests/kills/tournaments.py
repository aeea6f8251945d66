"""Kills while tournaments are played: python -m tests.kills.tournaments --kills 60 --seed 1

People on the playground play tournaments of each form while the bot and its store are killed. At the end all
tournaments are finished without kills.
"""

import asyncio
import json
import time
from collections import Counter, defaultdict
from collections.abc import AsyncIterator, Iterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from random import Random
from typing import Any

import aiohttp

from bot.features.tournaments import keys
from bot.features.tournaments.entries import Result
from bot.features.tournaments.entries import decode as decode_tournament
from bot.features.tournaments.standings import standings
from bot.features.tournaments.tournament import Tournament
from bot.finished.archive import Archive
from bot.finished.game import FinishedGame
from bot.store import EmbeddedStore, Store, open_store
from bot.store.entries import FirstDeal, decode
from bot.store.log import strip_stamp
from bot.tables.fixtures import FixtureName
from bot.tables.table import Table
from engine import verify
from tests.bot.features.tournaments.field import scores_in_order
from tests.kills.bot_process import Bot
from tests.kills.harness import Harness, main, moves_in_record
from tests.kills.invariants import Disagreement, check
from tests.kills.pages import Page
from tests.kills.tournament_players import GROUP, TournamentPlayers, card_code, payloads, winner_code

REST_SECONDS = 3.0  # seconds without changes that count as rest; the director checks once a second
END_SECONDS = 600.0  # seconds in which all live tournaments must be finished


@dataclass
class TournamentsAtRest:
    """The state of all tournaments once nothing is in progress.

    ``tables`` are tables of matches, ``held`` the games of duplicates that wait for the end of their round,
    ``archived`` the games in the archive. ``cards`` and ``winners`` count the messages about each tournament, by code.
    ``seen`` is everything people see, as JSON.
    """

    tournaments: Sequence[Tournament]
    tables: Sequence[Table]
    held: Sequence[FinishedGame]
    archived: Sequence[FinishedGame]
    cards: Mapping[str, int]
    winners: Mapping[str, int]
    seen: str

    @property
    def games(self) -> list[FinishedGame]:
        return [*self.held, *self.archived]

    def games_of(self, tournament: Tournament) -> list[FinishedGame]:
        return [game for game in self.games if game.fixture_name and game.fixture_name.tournament == tournament.code]


def each_fixture_is_played_once(rest: TournamentsAtRest) -> None:
    """No match or deal of a match has two tables, two games, or one of each."""
    counted = Counter([game.fixture_name for game in rest.games] + [_fixture(table) for table in rest.tables])
    if twice := [fixture for fixture, count in counted.items() if count > 1]:
        raise Disagreement(f"played more than once: {twice}")


def results_match_their_records(rest: TournamentsAtRest) -> None:
    """Each game has the one result that follows from it and names it. Each played result has its game."""
    for tournament in rest.tournaments:
        noted = [entry for entry in _entries(tournament) if isinstance(entry, Result)]
        counted = Counter((one.round, one.match, one.deal) for one in noted)
        if twice := [where for where, count in counted.items() if count > 1]:
            raise Disagreement(f"{tournament.code} has more than one result of {twice}")
        found = {}
        for game in rest.games_of(tournament):
            fixture = game.fixture_name
            assert fixture
            found[fixture.round, fixture.match, fixture.deal] = game.id, outcome(tournament, fixture, game)
        results = {(one.round, one.match, one.deal): one for one in noted}
        without = {where for where in results.keys() - found.keys() if _is_from_withdrawal(tournament, results[where])}
        if results.keys() - without != found.keys():
            raise Disagreement(f"{tournament.code} has results of {sorted(results)} and games of {sorted(found)}")
        for where, told in found.items():
            one = results[where]
            if (one.game, (one.winner, (one.ours, one.theirs), one.how)) != told:
                raise Disagreement(f"{tournament.code}: {one} is in the log, its record says {told}")


def outcome(tournament: Tournament, name: FixtureName, game: FinishedGame) -> tuple[int | None, tuple[int, int], str]:
    """Return the winning team of a match (0, 1 or None), the points of both, and how it ended."""
    match = tournament.match(name.round, name.match)
    assert match.second is not None
    first, second = people_of(tournament, match.first), people_of(tournament, match.second)
    sides = [frozenset(game.people[::2]), frozenset(game.people[1::2])]
    if sorted(map(sorted, sides)) != sorted(map(sorted, (first, second))):
        raise Disagreement(f"{game.id} was played by {sides}, and {name} is {first} against {second}")
    record = game.record
    totals = record.deals[-1].totals
    points = (totals[0], totals[1]) if sides[0] == first else (totals[1], totals[0])
    winners = [game.people[seat] for seat in record.winner or ()]
    winner = None if not winners else 0 if winners[0] in first else 1
    how = {"target": "played", "claim": "played", "resign": "resign", "timeout": "timeout"}.get(
        record.ending or "", "?"
    )
    if name.is_duplicate:
        if len(record.deals) != 1:
            raise Disagreement(f"{game.id} has {len(record.deals)} deals")
        if record.ending == "cancelled":
            winner, how = (None if points[0] == points[1] else int(points[0] < points[1])), "played"
        elif how == "resign":
            points = (0, 0)
    return winner, points, how


def _is_from_withdrawal(tournament: Tournament, result: Result) -> bool:
    """Return whether a result comes from a withdrawal: that team lost, or both withdrew and no team won."""
    gone = [tournament.has_withdrawn(team) for team in tournament.match(result.round, result.match).teams]
    if result.how == "forfeit":
        return result.winner is not None and gone[1 - result.winner]
    return result.how == "void" and all(gone)


def nobody_plays_the_same_cards_twice(rest: TournamentsAtRest) -> None:
    """All tables of a round's deal have the same cards, no other deal has them, and each person has them once."""
    packs: dict[str, list[tuple[FixtureName, list[str]]]] = defaultdict(list)
    for game in rest.games:
        if game.fixture_name and game.fixture_name.is_duplicate:
            proof = game.record.deals[0].proof
            assert proof
            packs[proof.secret].append((game.fixture_name, game.people))
    for table in rest.tables:
        if (fixture := _fixture(table)).is_duplicate:
            first = next(one for one in _table_entries(table) if isinstance(one, FirstDeal))
            packs[first.secret.hex()].append((fixture, [chair.person for chair in table.chairs if chair]))
    expected = {one.secret(round_, deal).hex(): (one.code, round_, deal) for one, round_, deal in _deals(rest)}
    for secret, seated in packs.items():
        counted = Counter(person for _fixture, people in seated for person in people)
        if twice := [person for person, count in counted.items() if count > 1]:
            raise Disagreement(f"{twice} have the same cards twice: {seated}")
        for fixture, _people in seated:
            if expected.get(secret) != (fixture.tournament, fixture.round, fixture.deal):
                raise Disagreement(f"{fixture} has the cards of {expected.get(secret)}")


def games_are_published_after_their_round(rest: TournamentsAtRest) -> None:
    """Games of a duplicate reach the archive when their round is over. Messages contain no secrets before the end."""
    for tournament in rest.tournaments:
        for kind, games in (("held", rest.held), ("archived", rest.archived)):
            for game in games:
                name = game.fixture_name
                if name is None or name.tournament != tournament.code or not name.is_duplicate:
                    continue
                is_over = tournament.is_over(name.round)
                if is_over != (kind == "archived"):
                    raise Disagreement(f"{game.id} is {kind}, and its round is {'over' if is_over else 'on'}")
                if kind == "held" and game.id in rest.seen:
                    raise Disagreement(f"a message leads to {game.id}, of a round that is on")
        hidden = [tournament.root] if tournament.root and tournament.is_live else []
        hidden += [one.secret(*rest_) for one, *rest_ in _deals(rest) if one is tournament and tournament.is_live]
        if any(secret.hex() in rest.seen for secret in hidden):
            raise Disagreement(f"a message has a secret of {tournament.code}")


def each_tournament_has_one_card_and_one_winner_message(rest: TournamentsAtRest) -> None:
    for tournament in rest.tournaments:
        cards, winners = rest.cards.get(tournament.code, 0), rest.winners.get(tournament.code, 0)
        if cards != 1:
            raise Disagreement(f"{tournament.code}, {tournament.phase}, has {cards} cards")
        if winners != (tournament.phase == "over"):
            raise Disagreement(f"{tournament.code}, {tournament.phase}: the winner is told {winners} times")


def due_matches_have_a_table(rest: TournamentsAtRest) -> None:
    """Each match of the current round has its table, except in a league."""
    at = {_fixture(table) for table in rest.tables}
    for tournament in rest.tournaments:
        if tournament.phase != "playing":
            continue
        if not tournament.rounds or tournament.is_round_over:
            raise Disagreement(f"{tournament.code} has a round to begin, or its end")
        for match in tournament.matches:
            name = FixtureName(tournament.code, match.round, match.number, match.next_deal or 0)
            if not match.is_over and tournament.form != "league" and name not in at:
                raise Disagreement(f"{name} has no table")


def standings_follow_from_the_records(rest: TournamentsAtRest) -> None:
    """The final standings follow from the records alone."""
    for tournament in rest.tournaments:
        if tournament.phase != "over":
            continue
        games = rest.games_of(tournament)
        if tournament.withdrawn:
            # Games lost by withdrawal have no record.
            continue
        counted = scores_in_order(tournament, games)
        if counted != sorted(counted, reverse=True):
            raise Disagreement(f"{tournament.code}, {tournament.form}: {standings(tournament)} have {counted}")
        if tournament.form in ("roundrobin", "league"):
            met = Counter(frozenset(game.people) for game in games)
            if set(met.values()) != {1} or len(met) != len(tournament.teams) * (len(tournament.teams) - 1) // 2:
                raise Disagreement(f"{tournament.code}: not everybody met everybody once: {met}")


INVARIANTS = (
    each_fixture_is_played_once,
    results_match_their_records,
    nobody_plays_the_same_cards_twice,
    games_are_published_after_their_round,
    each_tournament_has_one_card_and_one_winner_message,
    due_matches_have_a_table,
    standings_follow_from_the_records,
)


class TournamentHarness(Harness):
    """A harness for a page on which tournaments are played. ``over`` counts finished ones, by form."""

    def __init__(self, page: Page, seed: int, least: int = 60) -> None:
        super().__init__(page, seed, least)
        self.people = TournamentPlayers(page, Random(seed))
        self.players = self.people
        self.over: Counter[str] = Counter()

    async def run(self, kills: int, *, show: bool = False) -> None:
        await super().run(kills, show=show)
        async with aiohttp.ClientSession() as session:
            try:
                await self.play_to_the_end(session)
                await self.check(session)
            finally:
                await self.bot.kill()
                self.bot.kill_store()
        if show:
            print(f"played to the end: {dict(self.over)}", flush=True)  # noqa: T201

    async def play_to_the_end(self, session: aiohttp.ClientSession) -> None:
        """Play without kills until all tournaments are over."""
        store = EmbeddedStore(self.bot.folder / "data")
        self.people.is_last = True
        await self.bot.start()
        await self.page.connect(session)
        listening = asyncio.create_task(self.page.listen())
        await self.players.begin()
        async with open_store(store.url) as there:
            deadline = time.monotonic() + END_SECONDS
            while live := await there.index.entries(keys.LIVE):
                if time.monotonic() > deadline:
                    raise Disagreement(f"tournaments do not come to their end: {sorted(live)}\n{self.bot.log_tail()}")
                await self.players.fill_tables(2)
                await asyncio.sleep(0.2)
        await self.players.end()
        await self.bot.stop()
        await listening

    async def wait_for_rest(self, store: Store) -> None:
        since, before = time.monotonic(), ""
        deadline = since + self.patience
        while time.monotonic() - since < REST_SECONDS:
            await super().wait_for_rest(store)
            now = json.dumps([self.page.messages, *await _log_lengths(store)], sort_keys=True)
            if now != before:
                since, before = time.monotonic(), now
            if time.monotonic() > deadline:
                raise Disagreement(f"tournaments do not come to rest\n{self.bot.log_tail()}")

    async def check_state(self, store: Store) -> None:
        rest, tournaments = await self._load_state(store), await self._load_tournaments(store)
        held = {game.code: moves_in_record(game) for game in tournaments.held}
        made = {**rest.made, **held}
        # A withdrawal resigns at all the person's tables.
        gone = {person for one in tournaments.tournaments for person in _withdrawn_people(one)}
        asked = {
            code: Counter(rest.asked.get(code, {})) + Counter({(who, "resign"): 1 for who in gone}) for code in made
        }
        check(replace(rest, made=made, asked=asked))
        for invariant in INVARIANTS:
            invariant(tournaments)
        self.over = Counter(one.form for one in tournaments.tournaments if one.phase == "over")

    async def _load_tournaments(self, store: Store) -> TournamentsAtRest:
        messages = [one for one in self.page.chat(GROUP).values() if one["by"] == "bot"]
        return await load_state(
            store,
            Counter(card_code(one, self.page.text(one)) for one in messages),
            Counter(winner_code(one, self.page.text(one)) for one in messages),
            json.dumps(self.page.messages),
        )


async def load_state(
    store: Store, cards: Mapping[str, int], winners: Mapping[str, int], seen: str
) -> TournamentsAtRest:
    """Return the state of all tournaments in a store, with the messages about them."""
    found, tables, held = [], [], []
    async for key in store.client.scan_iter("{tour:*}:log"):
        code = key.decode().partition(":")[2].partition("}")[0]
        found.append(Tournament(code).after(await store.client.lrange(key, 0, -1)))
        held += [FinishedGame.parse(one) for one in await store.client.hvals(keys.games(code))]
    async for key in store.client.scan_iter("{s*}:table:*"):
        code = key.decode().rpartition(":")[2]
        tables.append(Table.from_log(code, await store.load(code)))
    archived = [game async for game in Archive(store.client).games() if game.fixture]
    for game in held:
        verify(game.record)
    return TournamentsAtRest(found, [one for one in tables if one.fixture], held, archived, cards, winners, seen)


async def _log_lengths(store: Store) -> list[str]:
    """Return the length of each tournament's log."""
    found = [key async for key in store.client.scan_iter("{tour:*}:log")]
    return sorted([f"{key} {await store.client.llen(key)}" for key in found])


def _withdrawn_people(tournament: Tournament) -> Iterator[str]:
    """Yield the people who withdrew from a tournament after its start."""
    for number in tournament.withdrawn:
        if player := tournament.players[number]:
            yield player.person


def people_of(tournament: Tournament, team: int) -> frozenset[str]:
    return frozenset(one.person for one in tournament.members(team))


def _fixture(table: Table) -> FixtureName:
    assert table.fixture
    return FixtureName.from_fixture(table.fixture)


def _entries(tournament: Tournament) -> Iterator[object]:
    for stored in tournament.entries:
        yield decode_tournament(strip_stamp(stored).decode())


def _table_entries(table: Table) -> Iterator[object]:
    for stored in table.log.entries:
        yield decode(strip_stamp(stored).decode())


def _deals(rest: TournamentsAtRest) -> Iterator[tuple[Tournament, int, int]]:
    """Yield all deals of all paired rounds of duplicates."""
    for tournament in rest.tournaments:
        if tournament.is_duplicate:
            for number in range(1, len(tournament.rounds) + 1):
                for deal in tournament.deals:
                    yield tournament, number, deal


class TournamentPage(Page):
    """A page with tables in private chats, where boards without buttons stay next to hands."""

    def panels(self, person: str, code: str) -> list[dict[str, Any]]:
        own = (f"1m{code}:", f"1t{code}:")
        return [
            one for one in super().panels(person, code) if any(payload.startswith(own) for payload in payloads(one))
        ]


@asynccontextmanager
async def on_playground(folder: Path) -> AsyncIterator[Page]:
    yield TournamentPage(Bot(folder))


if __name__ == "__main__":
    main(on_playground, TournamentHarness)
