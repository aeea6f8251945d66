"""The tournament director: starts rounds, opens tables, records results and ends overdue matches.

One worker runs it at a time, or two for a moment. Each step follows from the tournament's log and can be repeated, so
another worker can continue after a crash.
"""

import asyncio
import time
from collections import Counter

import structlog
from cachetools import LRUCache

from bot.features.tournaments.card import TournamentCards
from bot.features.tournaments.errors import NoSuchTournament, UnreadableTournament
from bot.features.tournaments.log_entries import Cancel, Ending, Entry, Finish, Result, Round, Seat
from bot.features.tournaments.match_tables import MatchTables
from bot.features.tournaments.reminders import Reminders
from bot.features.tournaments.rounds import can_begin, next_round
from bot.features.tournaments.store import Tournaments
from bot.features.tournaments.tournament import Match, Tournament
from bot.finished.archive import Archive
from bot.finished.game import FinishedGame
from bot.identity.pseudonyms import is_pseudonym
from bot.store import STORE_ERRORS
from bot.tables.errors import Banned, NoNewTables
from bot.tables.fixtures import FixtureName
from bot.tables.table import Table
from bot.words.duplicate_results import deal_result

ADVANCE_SECONDS = 10.0  # interval of checks of a tournament whose log has not changed: its round can be overdue
UNSTARTED_SECONDS = 14 * 86400  # time after which a tournament that has not started is called off
TABLE_CHECK_SECONDS = 60.0  # interval of checks that the table of an unfinished match still exists
TABLES_REMEMBERED = 5000
RETRY_SECONDS = 60.0  # pause after an error in a tournament

# endings of whole games that give a result; other games are void
ENDINGS: dict[str, Ending] = {"target": "played", "claim": "played", "resign": "resign", "timeout": "timeout"}

log = structlog.get_logger()


class Director:
    def __init__(
        self,
        tournaments: Tournaments,
        match_tables: MatchTables,
        cards: TournamentCards,
        reminders: Reminders,
        archive: Archive,
    ) -> None:
        self.tournaments, self.match_tables, self.cards = tournaments, match_tables, cards
        self._reminders, self._archive = reminders, archive
        self._tables_checked: LRUCache[str, float] = LRUCache(TABLES_REMEMBERED)
        self._advanced: dict[str, tuple[int, float]] = {}
        self._failed_at: dict[str, float] = {}

    async def check_all(self) -> None:
        for code, opened_at in (await self.tournaments.live_codes()).items():
            if time.monotonic() - self._failed_at.get(code, -RETRY_SECONDS) < RETRY_SECONDS:
                continue
            try:
                await self.check(await self.tournaments.load(code), opened_at)
            except NoSuchTournament:
                await self.tournaments.drop_code(code)
            except STORE_ERRORS:
                raise
            except UnreadableTournament:
                # The store has logged the error.
                self._failed_at[code] = time.monotonic()
            except Exception:
                # The other tournaments continue. Another release might be able to handle this one.
                self._failed_at[code] = time.monotonic()
                log.exception("tournament_check_failed", tournament=code, again_in=RETRY_SECONDS)

    async def check(self, tournament: Tournament, opened_at: int) -> None:
        """Take the next steps of a tournament. ``opened_at`` is in Unix seconds."""
        version, advanced_at = self._advanced.get(tournament.code, (0, 0.0))
        if tournament.version != version or time.monotonic() - advanced_at >= ADVANCE_SECONDS:
            tournament = await self._advance(tournament, opened_at)
            self._advanced[tournament.code] = tournament.version, time.monotonic()
        if await self.cards.update(tournament) and not tournament.is_live:
            await self.tournaments.unlist(tournament)
            self._advanced.pop(tournament.code, None)

    async def _advance(self, tournament: Tournament, opened_at: int) -> Tournament:
        if tournament.phase == "open" and time.time() - opened_at > UNSTARTED_SECONDS:
            tournament = await self._commit(tournament, "expired", [Cancel()])
        if tournament.phase == "playing":
            tournament = await self._advance_rounds(tournament)
        elif tournament.phase == "cancelled" and tournament.is_duplicate:
            # The cards of a duplicate can be published once its tables are closed.
            for match in tournament.matches:
                if match.next_deal is not None:
                    code = match.table or await self.match_tables.find_open_code(tournament, match, match.next_deal)
                    if code:
                        await self.match_tables.close(code)
        await self.match_tables.publish_games(tournament)
        return tournament

    async def _commit(self, tournament: Tournament, update: str, entries: list[Entry]) -> Tournament:
        """Write entries that follow from the current state, unless the tournament has changed since."""
        return await self.tournaments.commit(
            tournament.code, update, lambda latest: entries if latest.version == tournament.version else []
        )

    # Rounds and matches

    async def _advance_rounds(self, tournament: Tournament) -> Tournament:
        """Advance the matches. Once all are over, start the next round or finish the tournament."""
        tournament = await self._advance_matches(tournament)
        if tournament.phase != "playing" or not tournament.is_round_over:
            return tournament
        pairs = await asyncio.to_thread(next_round, tournament)
        number = len(tournament.rounds) + 1
        if pairs is None:
            updated = await self._commit(tournament, "finish", [Finish()])
        else:
            ends_at = await self.tournaments.playing_time() + tournament.time
            log.info("tournament_round_started", tournament=tournament.code, round=number, matches=len(pairs))
            updated = await self._commit(tournament, f"round:{number}", [Round(ends_at, pairs)])
        # If a player withdrew in the meantime, nothing was written. The next call pairs the round without them.
        return await self._advance_rounds(updated)

    async def _advance_matches(self, tournament: Tournament) -> Tournament:
        playing_time = await self.tournaments.playing_time()
        matches = [match for match in tournament.matches if not match.is_over]
        playing = Counter(team for match in matches if match.seats for team in match.teams)
        for match in matches:
            seconds_left = tournament.ends_at[match.round - 1] - playing_time
            # Matches with a withdrawn team end at once.
            is_due = match.seats or seconds_left <= 0 or can_begin(tournament, match, playing)
            if is_due or self._missing_teams(tournament, match):
                if seconds_left > 0:
                    self._reminders.send_due(tournament, match, seconds_left)
                tournament = await self._advance_match(tournament, match, seconds_left)
                if not match.seats and tournament.match(match.round, match.number).seats:
                    playing.update(match.teams)
        return tournament

    async def _advance_match(self, tournament: Tournament, match: Match, seconds_left: int) -> Tournament:
        """Open the table of an unfinished match, or end the match. ``seconds_left`` is the time left of its round."""
        deal = match.next_deal
        assert deal is not None
        missing_teams = self._missing_teams(tournament, match)
        code = match.table
        if not code:
            # A worker that crashed might have opened the table without recording it.
            if missing_teams or seconds_left <= 0:
                code = await self.match_tables.find_open_code(tournament, match, deal)
            else:
                try:
                    code = await self.match_tables.open(tournament, match, deal)
                except (Banned, NoNewTables):
                    # The card says that no table can be opened, or a banned player is about to be withdrawn. The next
                    # call retries.
                    return tournament
            if code:
                tournament = await self._record_table(tournament, match, deal, code)
        if not code and (missing_teams or seconds_left <= 0):
            return await self._end_match(tournament, match, missing_teams)
        if not code:
            return tournament
        for team in missing_teams:
            await self.match_tables.resign(match, deal, team, code)
        if seconds_left <= 0:
            await self.match_tables.end_late(code)
        return await self._check_table(tournament, match, deal, code, seconds_left)

    async def _record_table(self, tournament: Tournament, match: Match, deal: int, code: str) -> Tournament:
        """Record the table of a match's deal. Close the table if the match has ended since."""

        def decide(latest: Tournament) -> list[Entry]:
            is_open = latest.phase == "playing" and deal not in latest.match(match.round, match.number).results
            return [Seat(match.round, match.number, deal, code)] if is_open else []

        update = f"seat:{match.round}.{match.number}.{deal}:{code}"
        tournament = await self.tournaments.commit(tournament.code, update, decide)
        if tournament.match(match.round, match.number).seats.get(deal) != code:
            await self.match_tables.close(code)
        else:
            await self.match_tables.remove_forgotten(tournament, match, deal, code)
        return tournament

    @staticmethod
    def _missing_teams(tournament: Tournament, match: Match) -> list[int]:
        """Return the teams of a match with a player who has withdrawn or was forgotten."""
        return [
            team
            for team in match.teams
            if tournament.has_withdrawn(team) or any(is_pseudonym(chair.person) for chair in tournament.members(team))
        ]

    @staticmethod
    def _forfeit(match: Match, missing_teams: list[int]) -> tuple[int | None, Ending]:
        """Return the winner and ending of a match without further play: if only one team is missing, it loses."""
        if len(missing_teams) != 1:
            return None, "void"
        return 1 if missing_teams[0] == match.first else 0, "forfeit"

    async def _end_match(self, tournament: Tournament, match: Match, missing_teams: list[int]) -> Tournament:
        winner, ending = self._forfeit(match, missing_teams)

        def decide(latest: Tournament) -> list[Entry]:
            latest_match = latest.match(match.round, match.number)
            if latest.phase != "playing" or latest_match.table:
                return []
            open_deals = [deal for deal in latest_match.deals if deal not in latest_match.results]
            return [Result(match.round, match.number, deal, winner, 0, 0, ending) for deal in open_deals]

        return await self.tournaments.commit(tournament.code, f"end:{match.round}.{match.number}", decide)

    async def _check_table(
        self, tournament: Tournament, match: Match, deal: int, code: str, seconds_left: int
    ) -> Tournament:
        """Recover a match that lost its table without a result, for example after a backup was restored.

        An archived game counts. Otherwise a whole game starts again while there is time, but not a duplicate deal,
        because some players have seen its cards.
        """
        now = time.monotonic()
        if now - self._tables_checked.setdefault(code, now) < TABLE_CHECK_SECONDS:
            return tournament
        self._tables_checked[code] = now
        if await self.match_tables.exists(code):
            return tournament
        tournament = await self.tournaments.load(tournament.code)
        if not tournament.is_live or deal in tournament.match(match.round, match.number).results:
            return tournament
        log.warning("tournament_table_lost", tournament=tournament.code, table=code)
        game = await self.match_tables.find_game(tournament, match, code)
        if game and game.fixture_name:
            return await self._record_result(tournament.code, game.fixture_name, code, game)
        missing_teams = self._missing_teams(tournament, match)
        if seconds_left > 0 and not missing_teams and not tournament.is_duplicate:
            try:
                new_code = await self.match_tables.open(tournament, match, deal, reopen=True)
            except (Banned, NoNewTables):
                return tournament
            if new_code:
                return await self._record_table(tournament, match, deal, new_code)
        winner, ending = self._forfeit(match, missing_teams)
        result = Result(match.round, match.number, deal, winner, 0, 0, ending)

        def decide(latest: Tournament) -> list[Entry]:
            latest_match = latest.match(match.round, match.number)
            # Another worker might have opened another table.
            is_lost = deal not in latest_match.results and latest_match.seats.get(deal) == code
            return [result] if latest.phase == "playing" and is_lost else []

        return await self.tournaments.commit(tournament.code, f"lost:{code}", decide)

    # Results

    async def record_game(self, table: Table, game: FinishedGame) -> None:
        """Record a table's result, once. A duplicate's game is held back even if its tournament is unreadable."""
        assert table.fixture
        if table.fixture.is_duplicate:
            await self.match_tables.hold_back(game, table)
        try:
            name = FixtureName.from_fixture(table.fixture)
            tournament = await self._record_result(table.fixture.tournament, name, table.code, game)
        except NoSuchTournament:
            if table.fixture.is_duplicate:
                await self._archive.keep(game)
            return
        except UnreadableTournament:
            # The director finds the stored game once the tournament can be read again.
            return
        if not tournament.is_live:
            # `check_all` skips this tournament.
            await self.match_tables.publish_games(tournament)

    async def _record_result(self, code: str, name: FixtureName, table: str, game: FinishedGame) -> Tournament:
        """Record a game as the result of its match, unless the match has a result."""

        def decide(tournament: Tournament) -> list[Entry]:
            if tournament.phase != "playing" or not tournament.has_match(name.round, name.match):
                return []
            match = tournament.match(name.round, name.match)
            return [] if name.deal in match.results else [result_of(match, name, game)]

        return await self.tournaments.commit(code, f"result:{table}", decide)


def result_of(match: Match, fixture: FixtureName, game: FinishedGame) -> Result:
    """Return a game's result for its match, in whole points. In every other deal the match's second team sits first."""
    record = game.record
    ending: Ending
    if fixture.is_duplicate:
        deal = deal_result(record)
        ending, side = deal.ending, deal.winner
    else:
        ending, side = ENDINGS.get(record.ending or "", "void"), record.winner[0] & 1 if record.winner else None
    first_points, second_points = record.deals[-1].totals if ending == "played" or not fixture.is_duplicate else (0, 0)
    if match.first_seat(fixture.deal) == 1:
        first_points, second_points, side = second_points, first_points, None if side is None else 1 - side
    return Result(fixture.round, fixture.match, fixture.deal, side, first_points, second_points, ending, game.id)
