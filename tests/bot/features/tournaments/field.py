"""Scripted tournament players on a fake platform, and an independent count from game records."""

from collections import Counter, defaultdict
from collections.abc import AsyncIterator, Iterator, Mapping
from contextlib import asynccontextmanager
from fractions import Fraction
from itertools import count
from random import Random
from typing import Any

from bot.features.tournaments.feature import TournamentsFeature
from bot.features.tournaments.standings import standings
from bot.features.tournaments.tournament import Form, Tournament
from bot.finished.game import FinishedGame
from bot.store import Store
from bot.tables.errors import OldPanel
from bot.tables.game_choice import Choice
from bot.worker import Worker
from tests.bot.fake_platform import GROUP, FakePlatform, open_worker


class Field:
    """Numbered players who play random moves, with a fixed seed."""

    def __init__(self, worker: Worker, fake: FakePlatform, seed: int) -> None:
        self.worker, self.fake, self.random = worker, fake, Random(seed)
        self._updates = count(1)
        feature = worker.feature(TournamentsFeature)
        self.registration, self.director = feature.registration, feature.director
        self.tournaments = feature.director.tournaments

    async def start_tournament(
        self, game: str, form: Form, people: int, target: int | None = None, **options: str
    ) -> Tournament:
        """Open a tournament, enter this many people and start it."""
        choice = Choice.default(game)
        if target is not None:
            choice = choice.with_target(target)
        tournament = await self.registration.open(
            GROUP, person(0), name(0), choice, form, f"open {self.random.randrange(10**9)}"
        )
        for option, value in options.items():
            await self.registration.choose_option(tournament.code, person(0), option, value, f"choose {option}")
        for number in range(people):
            await self.registration.enter(tournament.code, person(number), name(number), f"enter {number}")
        return await self.registration.start(tournament.code, person(0), "start")

    async def settle(self, times: int = 1) -> None:
        """Let the director check all tournaments and wait for its messages, once or several times."""
        for _ in range(times):
            await self.director.check_all()
            await self.worker.delivery.answers.tasks.wait()
            await self.worker.wait_until_idle()

    async def play(self, code: str, *, rounds: int | None = None, resigning: float = 0.1) -> Tournament:
        """Play until this many rounds are over, or to the end of the tournament.

        ``resigning`` is the probability that a player resigns at a table.
        """
        while True:
            await self.settle()
            tournament = await self.tournaments.load(code)
            if not tournament.is_live or (rounds is not None and self._count_finished_rounds(tournament) >= rounds):
                return tournament
            for table in find_open_tables(tournament):
                await self.play_out(table, resigning)

    @staticmethod
    def _count_finished_rounds(tournament: Tournament) -> int:
        return sum(map(tournament.is_over, range(1, len(tournament.rounds) + 1)))

    async def play_out(self, code: str, resigning: float = 0.0) -> None:
        is_resigned = self.random.random() < resigning
        stops_at = self.random.randrange(1, 12)
        for number in count():
            table = await self.worker.room.load(code)
            if table.phase != "playing":
                break
            assert table.game
            turn = table.game.turn
            assert turn is not None
            moves = [move for move in table.game.legal_moves(turn) if move not in ("claim", "resign")]
            move = "resign" if is_resigned and number == stops_at else self.random.choice(moves)
            chair = table.chairs[turn]
            assert chair
            try:
                await self.worker.room.make_move(code, chair.person, table.version, move, f"m{next(self._updates)}")
            except OldPanel:
                continue
        await self.worker.wait_until_idle()

    async def games(self, code: str) -> list[FinishedGame]:
        return [
            game
            async for game in self.worker.archive.games()
            if game.fixture_name and game.fixture_name.tournament == code
        ]


def person(number: int) -> str:
    return f"paper:{100 + number}"


def name(number: int) -> str:
    return f"Player {number}"


def team_name(tournament: Tournament, team: int) -> str:
    return " + ".join(player.name for player in tournament.members(team))


def find_open_tables(tournament: Tournament) -> Iterator[str]:
    """Yield the codes of the tables in play."""
    for match in tournament.matches:
        deal = match.next_deal
        if deal is not None and deal in match.seats:
            yield match.seats[deal]


@asynccontextmanager
async def open_field(store: Store, seed: int = 1, **options: Any) -> AsyncIterator[Field]:
    fake = FakePlatform()
    async with open_worker(store, fake, **options) as worker:
        yield Field(worker, fake, seed)


# Standings from game records alone

Team = frozenset[str]


def find_sides(game: FinishedGame) -> tuple[Team, Team]:
    """Return the people of each side."""
    return frozenset(game.people[::2]), frozenset(game.people[1::2])


def count_wins(games: list[FinishedGame]) -> dict[Team, int]:
    """Count the whole games won by each team."""
    totals: dict[Team, int] = defaultdict(int)
    for game in games:
        for side, team in enumerate(find_sides(game)):
            winners = game.record.winner or []
            totals[team] += bool(winners) and winners[0] % 2 == side
    return totals


def count_duplicate_points(games: list[FinishedGame], penalty: int = 5) -> dict[Team, Fraction]:
    """Return each team's points above the mean of all tables with the same cards and seats."""
    by_deal: dict[str, list[FinishedGame]] = defaultdict(list)
    for game in games:
        by_deal["".join(game.record.deals[0].pack)].append(game)
    points: dict[Team, Fraction] = defaultdict(Fraction)
    for tables in by_deal.values():
        margins = {
            game.id: game.record.deals[0].totals[0] - game.record.deals[0].totals[1]
            for game in tables
            if game.record.ending in ("cancelled", "target")
        }
        for game in tables:
            first, second = find_sides(game)
            if game.id in margins:
                better = margins[game.id] - Fraction(sum(margins.values()), len(margins))
            else:
                won = 1 if (game.record.winner or [])[0] % 2 == 0 else -1
                datum = Fraction(sum(margins.values()), len(margins) or 1)
                better = won * max([Fraction(penalty), *(won * (margin - datum) for margin in margins.values())])
            points[first] += better
            points[second] -= better
    return points


def scores_in_order(tournament: Tournament, games: list[FinishedGame]) -> list[Fraction]:
    """Return the scores that the game records give, in the order of the tournament's standings.

    A score is a number of wins, or a duplicate's points. Byes are included if they count as wins.
    """
    scores: Mapping[Team, int | Fraction] = (
        count_duplicate_points(games) if tournament.is_duplicate else count_wins(games)
    )
    byes = Counter(
        match.first for match in tournament.matches if match.is_bye and tournament.form in ("knockout", "swiss")
    )
    return [
        Fraction(scores.get(frozenset(player.person for player in tournament.members(line.team)), 0) + byes[line.team])
        for line in standings(tournament)
    ]
