"""Kills while tournaments are played: python -m tests.kills.tournaments --kills 60 --seed 1

People on the playground play tournaments of each form while the bot and its store are killed. Then all
tournaments are played to the end without kills.
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
from bot.features.tournaments.log_entries import Result
from bot.features.tournaments.log_entries import decode as decode_tournament
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
from tests.kills.harness import Harness, count_moves_in_record, main
from tests.kills.invariants import Disagreement, check_invariants
from tests.kills.pages import Page
from tests.kills.tournament_players import GROUP, TournamentPlayers, card_code, payloads, winner_code

REST_SECONDS = 3.0  # seconds without changes that count as rest; the director checks once a second
END_SECONDS = 600.0  # seconds in which all live tournaments must be finished


@dataclass
class TournamentsAtRest:
    """The state of all tournaments once nothing is in progress.

    ``tables`` are tables of matches, ``pending`` the games of duplicates that wait for the end of their round,
    ``archived`` the games in the archive. ``cards`` and ``winners`` count the messages about each tournament, by code.
    ``page_text`` is everything people see, as JSON.
    """

    tournaments: Sequence[Tournament]
    tables: Sequence[Table]
    pending: Sequence[FinishedGame]
    archived: Sequence[FinishedGame]
    cards: Mapping[str, int]
    winners: Mapping[str, int]
    page_text: str

    @property
    def games(self) -> list[FinishedGame]:
        return [*self.pending, *self.archived]

    def games_of(self, tournament: Tournament) -> list[FinishedGame]:
        return [game for game in self.games if game.fixture_name and game.fixture_name.tournament == tournament.code]


def each_fixture_is_played_once(state: TournamentsAtRest) -> None:
    """No match or deal of a match has two tables, two games, or one of each."""
    fixture_counts = Counter([game.fixture_name for game in state.games] + [_fixture(table) for table in state.tables])
    if repeated := [fixture for fixture, count in fixture_counts.items() if count > 1]:
        raise Disagreement(f"played more than once: {repeated}")


def results_match_their_records(state: TournamentsAtRest) -> None:
    """Each game has one result, which names the game and follows from its record. Each played result has its game."""
    for tournament in state.tournaments:
        result_entries = [entry for entry in _entries(tournament) if isinstance(entry, Result)]
        counted = Counter((entry.round, entry.match, entry.deal) for entry in result_entries)
        if repeated := [key for key, count in counted.items() if count > 1]:
            raise Disagreement(f"{tournament.code} has more than one result of {repeated}")
        games = {}
        for game in state.games_of(tournament):
            fixture = game.fixture_name
            assert fixture
            games[fixture.round, fixture.match, fixture.deal] = game.id, read_outcome(tournament, fixture, game)
        results = {(entry.round, entry.match, entry.deal): entry for entry in result_entries}
        forfeited = {key for key in results.keys() - games.keys() if _is_from_withdrawal(tournament, results[key])}
        if results.keys() - forfeited != games.keys():
            raise Disagreement(f"{tournament.code} has results of {sorted(results)} and games of {sorted(games)}")
        for key, expected in games.items():
            result = results[key]
            if (result.game, (result.winner, (result.first_points, result.second_points), result.ending)) != expected:
                raise Disagreement(f"{tournament.code}: {result} is in the log, its record says {expected}")


def read_outcome(
    tournament: Tournament, name: FixtureName, game: FinishedGame
) -> tuple[int | None, tuple[int, int], str]:
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
    ending = {"target": "played", "claim": "played", "resign": "resign", "timeout": "timeout"}.get(
        record.ending or "", "?"
    )
    if name.is_duplicate:
        if len(record.deals) != 1:
            raise Disagreement(f"{game.id} has {len(record.deals)} deals")
        if record.ending == "cancelled":
            winner, ending = (None if points[0] == points[1] else int(points[0] < points[1])), "played"
        elif ending == "resign":
            points = (0, 0)
    return winner, points, ending


def _is_from_withdrawal(tournament: Tournament, result: Result) -> bool:
    """Return whether a result comes from a withdrawal: that team lost, or both withdrew and no team won."""
    has_withdrawn = [tournament.has_withdrawn(team) for team in tournament.match(result.round, result.match).teams]
    if result.ending == "forfeit":
        return result.winner is not None and has_withdrawn[1 - result.winner]
    return result.ending == "void" and all(has_withdrawn)


def nobody_plays_the_same_cards_twice(state: TournamentsAtRest) -> None:
    """All tables of a round's deal have the same cards, no other deal has them, and each person has them once."""
    packs: dict[str, list[tuple[FixtureName, list[str]]]] = defaultdict(list)
    for game in state.games:
        if game.fixture_name and game.fixture_name.is_duplicate:
            proof = game.record.deals[0].proof
            assert proof
            packs[proof.secret].append((game.fixture_name, game.people))
    for table in state.tables:
        if (fixture := _fixture(table)).is_duplicate:
            first = next(entry for entry in _table_entries(table) if isinstance(entry, FirstDeal))
            packs[first.secret.hex()].append((fixture, [chair.person for chair in table.chairs if chair]))
    expected = {
        tournament.secret(round_, deal).hex(): (tournament.code, round_, deal)
        for tournament, round_, deal in _iter_deals(state)
    }
    for secret, seated in packs.items():
        counted = Counter(person for _fixture, people in seated for person in people)
        if repeated := [person for person, count in counted.items() if count > 1]:
            raise Disagreement(f"{repeated} have the same cards twice: {seated}")
        for fixture, _people in seated:
            if expected.get(secret) != (fixture.tournament, fixture.round, fixture.deal):
                raise Disagreement(f"{fixture} has the cards of {expected.get(secret)}")


def games_are_published_after_their_round(state: TournamentsAtRest) -> None:
    """Games of a duplicate reach the archive when their round is over.

    No message contains the id of a game before that, or a tournament's secret before its end.
    """
    for tournament in state.tournaments:
        for kind, games in (("pending", state.pending), ("archived", state.archived)):
            for game in games:
                name = game.fixture_name
                if name is None or name.tournament != tournament.code or not name.is_duplicate:
                    continue
                is_over = tournament.is_over(name.round)
                if is_over != (kind == "archived"):
                    raise Disagreement(f"{game.id} is {kind}, and its round is {'over' if is_over else 'in progress'}")
                if kind == "pending" and game.id in state.page_text:
                    raise Disagreement(f"a message leads to {game.id}, of a round in progress")
        hidden = [tournament.root] if tournament.root and tournament.is_live else []
        hidden += [
            tournament.secret(round_, deal)
            for owner, round_, deal in _iter_deals(state)
            if owner is tournament and tournament.is_live
        ]
        if any(secret.hex() in state.page_text for secret in hidden):
            raise Disagreement(f"a message has a secret of {tournament.code}")


def each_tournament_has_one_card_and_one_winner_message(state: TournamentsAtRest) -> None:
    for tournament in state.tournaments:
        cards, winners = state.cards.get(tournament.code, 0), state.winners.get(tournament.code, 0)
        if cards != 1:
            raise Disagreement(f"{tournament.code}, {tournament.phase}, has {cards} cards")
        if winners != (tournament.phase == "over"):
            raise Disagreement(f"{tournament.code}, {tournament.phase}: {winners} messages announce the winner")


def due_matches_have_a_table(state: TournamentsAtRest) -> None:
    """Each unfinished match of the current round has its table, except in a league."""
    fixtures = {_fixture(table) for table in state.tables}
    for tournament in state.tournaments:
        if tournament.phase != "playing":
            continue
        if not tournament.rounds or tournament.is_round_over:
            raise Disagreement(f"{tournament.code} did not start its next round or end")
        for match in tournament.matches:
            name = FixtureName(tournament.code, match.round, match.number, match.next_deal or 0)
            if not match.is_over and tournament.form != "league" and name not in fixtures:
                raise Disagreement(f"{name} has no table")


def standings_follow_from_the_records(state: TournamentsAtRest) -> None:
    """The final standings follow from the records alone."""
    for tournament in state.tournaments:
        if tournament.phase != "over":
            continue
        games = state.games_of(tournament)
        if tournament.withdrawn:
            # Games lost by withdrawal have no record.
            continue
        counted = scores_in_order(tournament, games)
        if counted != sorted(counted, reverse=True):
            raise Disagreement(f"{tournament.code}, {tournament.form}: {standings(tournament)} have {counted}")
        if tournament.form in ("roundrobin", "league"):
            meetings = Counter(frozenset(game.people) for game in games)
            if (
                set(meetings.values()) != {1}
                or len(meetings) != len(tournament.teams) * (len(tournament.teams) - 1) // 2
            ):
                raise Disagreement(f"{tournament.code}: not every pair met once: {meetings}")


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
    """A harness for a page on which tournaments are played. ``finished`` counts those that are over, by form."""

    def __init__(self, page: Page, seed: int, min_presses: int = 60) -> None:
        super().__init__(page, seed, min_presses)
        self.people = TournamentPlayers(page, Random(seed))
        self.players = self.people
        self.tournaments_over: Counter[str] = Counter()

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
            print(f"played to the end: {dict(self.tournaments_over)}", flush=True)  # noqa: T201

    async def play_to_the_end(self, session: aiohttp.ClientSession) -> None:
        """Play without kills until all tournaments are over."""
        store = EmbeddedStore(self.bot.folder / "data")
        self.people.in_last_part = True
        await self.bot.start()
        await self.page.connect(session)
        listening = asyncio.create_task(self.page.listen())
        await self.players.begin()
        async with open_store(store.url) as connected:
            deadline = time.monotonic() + END_SECONDS
            while live := await connected.index.entries(keys.LIVE):
                if time.monotonic() > deadline:
                    raise Disagreement(f"tournaments do not end: {sorted(live)}\n{self.bot.log_tail()}")
                await self.players.fill_tables(2)
                await asyncio.sleep(0.2)
        await self.players.end()
        await self.bot.stop()
        await listening

    async def wait_until_idle(self, store: Store) -> None:
        since, before = time.monotonic(), ""
        deadline = since + self.patience
        while time.monotonic() - since < REST_SECONDS:
            await super().wait_until_idle(store)
            now = json.dumps([self.page.messages, *await _log_lengths(store)], sort_keys=True)
            if now != before:
                since, before = time.monotonic(), now
            if time.monotonic() > deadline:
                raise Disagreement(f"tournaments keep changing\n{self.bot.log_tail()}")

    async def check_state(self, store: Store) -> None:
        state, tournaments = await self._load_state(store), await self._load_tournaments(store)
        pending_moves = {game.code: count_moves_in_record(game) for game in tournaments.pending}
        made_moves = {**state.made_moves, **pending_moves}
        # A person who withdraws resigns at all their tables.
        withdrawn = {person for tournament in tournaments.tournaments for person in _withdrawn_people(tournament)}
        pressed_moves = {
            code: Counter(state.pressed_moves.get(code, {})) + Counter({(person, "resign"): 1 for person in withdrawn})
            for code in made_moves
        }
        check_invariants(replace(state, made_moves=made_moves, pressed_moves=pressed_moves))
        for invariant in INVARIANTS:
            invariant(tournaments)
        self.tournaments_over = Counter(
            tournament.form for tournament in tournaments.tournaments if tournament.phase == "over"
        )

    async def _load_tournaments(self, store: Store) -> TournamentsAtRest:
        messages = [message for message in self.page.chat(GROUP).values() if message["by"] == "bot"]
        return await load_state(
            store,
            Counter(card_code(message, self.page.text(message)) for message in messages),
            Counter(winner_code(message, self.page.text(message)) for message in messages),
            json.dumps(self.page.messages),
        )


async def load_state(
    store: Store, cards: Mapping[str, int], winners: Mapping[str, int], page_text: str
) -> TournamentsAtRest:
    """Return the state of all tournaments in a store, with the messages about them."""
    tournaments, tables, pending = [], [], []
    async for key in store.client.scan_iter("{tour:*}:log"):
        code = key.decode().partition(":")[2].partition("}")[0]
        tournaments.append(Tournament(code).with_stored_entries(await store.client.lrange(key, 0, -1)))
        pending += [FinishedGame.parse(stored) for stored in await store.client.hvals(keys.games(code))]
    async for key in store.client.scan_iter("{s*}:table:*"):
        code = key.decode().rpartition(":")[2]
        tables.append(Table.from_log(code, await store.load(code)))
    archived = [game async for game in Archive(store.client).games() if game.fixture]
    for game in pending:
        verify(game.record)
    return TournamentsAtRest(
        tournaments, [table for table in tables if table.fixture], pending, archived, cards, winners, page_text
    )


async def _log_lengths(store: Store) -> list[str]:
    """Return the length of each tournament's log."""
    log_keys = [key async for key in store.client.scan_iter("{tour:*}:log")]
    return sorted([f"{key} {await store.client.llen(key)}" for key in log_keys])


def _withdrawn_people(tournament: Tournament) -> Iterator[str]:
    """Yield the people who withdrew from a tournament after its start."""
    for number in tournament.withdrawn:
        if player := tournament.players[number]:
            yield player.person


def people_of(tournament: Tournament, team: int) -> frozenset[str]:
    return frozenset(player.person for player in tournament.members(team))


def _fixture(table: Table) -> FixtureName:
    assert table.fixture
    return FixtureName.from_fixture(table.fixture)


def _entries(tournament: Tournament) -> Iterator[object]:
    for stored_entry in tournament.entries:
        yield decode_tournament(strip_stamp(stored_entry).decode())


def _table_entries(table: Table) -> Iterator[object]:
    for stored_entry in table.log.entries:
        yield decode(strip_stamp(stored_entry).decode())


def _iter_deals(state: TournamentsAtRest) -> Iterator[tuple[Tournament, int, int]]:
    """Yield all deals of all paired rounds of duplicates."""
    for tournament in state.tournaments:
        if tournament.is_duplicate:
            for number in range(1, len(tournament.rounds) + 1):
                for deal in tournament.deals:
                    yield tournament, number, deal


class TournamentPage(Page):
    """A page with tables in private chats. Boards there have no buttons, so only hands count as panels."""

    def panels(self, person: str, code: str) -> list[dict[str, Any]]:
        own_payloads = (f"1m{code}:", f"1t{code}:")
        return [
            message
            for message in super().panels(person, code)
            if any(payload.startswith(own_payloads) for payload in payloads(message))
        ]


@asynccontextmanager
async def on_playground(folder: Path) -> AsyncIterator[Page]:
    yield TournamentPage(Bot(folder))


if __name__ == "__main__":
    main(on_playground, TournamentHarness)
