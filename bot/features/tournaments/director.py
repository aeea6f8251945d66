"""The tournament director: begins rounds, has tables opened, notes what came of them, ends what takes too long.

One worker does it at a time, or two for a moment. Each step follows from the tournament's log, and may be done twice: a
worker that dies leaves it to the next.
"""

import asyncio
import time
from collections import Counter

import structlog
from cachetools import LRUCache

from bot.cluster.shards import Shards
from bot.features.tournaments.card import TournamentCards
from bot.features.tournaments.entries import Cancel, Entry, Finish, How, Result, Round, Seat
from bot.features.tournaments.errors import NoSuchTournament, UnreadableTournament
from bot.features.tournaments.fixtures import Fixtures
from bot.features.tournaments.pairing import next_round
from bot.features.tournaments.reminders import Reminders
from bot.features.tournaments.results import result_of
from bot.features.tournaments.store import KEPT_SECONDS, Tournaments
from bot.features.tournaments.tournament import Match, Tournament
from bot.finished.archive import Archive
from bot.finished.game import FinishedGame
from bot.pseudonyms import is_pseudonym
from bot.store import STORE_ERRORS
from bot.tables.errors import StoreFull
from bot.tables.fixtures import FixtureName
from bot.tables.table import Table

POLL_SECONDS = 1.0
"""How often it is looked whether a tournament has gone on."""

ADVANCE_SECONDS = 10.0
"""How often all of a tournament is looked through though it has not: time may be up."""

UNSTARTED_SECONDS = 14 * 86400
"""After so long a tournament that nobody starts is called off."""

LEAGUE_AT_ONCE = 3
"""Matches of one league that somebody plays at a time."""

TABLE_CHECK_SECONDS = 60.0
"""Seconds after which it is looked whether a match's table is gone, of which no result was noted."""

TABLES_REMEMBERED = 5000

RETRY_SECONDS = 60.0
"""After so long a tournament at which something of ours failed is looked at again."""

log = structlog.get_logger()


class Director:
    """Runs the tournaments of one store."""

    def __init__(
        self,
        tournaments: Tournaments,
        fixtures: Fixtures,
        cards: TournamentCards,
        reminders: Reminders,
        archive: Archive,
        shards: Shards,
    ) -> None:
        self.tournaments, self.fixtures, self.cards = tournaments, fixtures, cards
        self._reminders, self._archive, self._shards = reminders, archive, shards
        self._tables_checked: LRUCache[str, float] = LRUCache(TABLES_REMEMBERED)
        self._advanced: dict[str, tuple[int, float]] = {}
        self._failed_at: dict[str, float] = {}

    async def run(self) -> None:
        """Tend tournaments, until cancelled."""
        await self._shards.while_leader(POLL_SECONDS, self.check_all)

    async def check_all(self) -> None:
        """See to all tournaments that are not over."""
        for code, since in (await self.tournaments.live_codes()).items():
            if time.monotonic() - self._failed_at.get(code, -RETRY_SECONDS) < RETRY_SECONDS:
                continue
            try:
                await self.check(await self.tournaments.load(code), since)
            except NoSuchTournament:
                await self.tournaments.drop_code(code)
            except STORE_ERRORS:
                raise
            except UnreadableTournament:
                # The log has its line.
                self._failed_at[code] = time.monotonic()
            except Exception:
                # The others go on. Another release may know what this one cannot read or do.
                self._failed_at[code] = time.monotonic()
                log.exception("tournament_failed", tournament=code, again_in=RETRY_SECONDS)

    async def check(self, tournament: Tournament, since: int) -> None:
        """Do what is to be done about a tournament, which was opened ``since``, Unix seconds."""
        if self._is_due(tournament):
            tournament = await self._advance(tournament, since)
            self._advanced[tournament.code] = tournament.version, time.monotonic()
        if await self.cards.update(tournament) and not tournament.is_live:
            await self.tournaments.unlist(tournament)
            self._advanced.pop(tournament.code, None)

    def _is_due(self, tournament: Tournament) -> bool:
        """Whether a tournament has gone on since it was looked through, or that was long ago."""
        version, at = self._advanced.get(tournament.code, (0, 0.0))
        return tournament.version != version or time.monotonic() - at >= ADVANCE_SECONDS

    async def _advance(self, tournament: Tournament, since: int) -> Tournament:
        """Look through all of a tournament; returns it as it is then."""
        if tournament.phase == "open" and time.time() - since > UNSTARTED_SECONDS:
            tournament = await self._commit(tournament, "expired", [Cancel()])
        if tournament.phase == "playing":
            tournament = await self._advance_rounds(tournament)
        elif tournament.phase == "cancelled":
            await self._stop_duplicates(tournament)
        await self.fixtures.publish_games(tournament)
        return tournament

    async def _commit(self, tournament: Tournament, update: str, entries: list[Entry]) -> Tournament:
        """Write what follows from a tournament as it is in hand, once; nothing where it has gone on meanwhile, for then
        something else may follow.
        """

        def decide(latest: Tournament) -> list[Entry]:
            return entries if latest.version == tournament.version else []

        return await self.tournaments.commit(tournament.code, update, decide)

    # Rounds and matches

    async def _advance_rounds(self, tournament: Tournament) -> Tournament:
        """See to the matches; once all are over, begin the round that follows, or end it."""
        tournament = await self._advance_matches(tournament)
        if tournament.phase != "playing" or not tournament.is_round_over:
            return tournament
        pairs = await asyncio.to_thread(next_round, tournament)
        number = len(tournament.rounds) + 1
        if pairs is None:
            committed = await self._commit(tournament, "finish", [Finish()])
        else:
            ends_at = await self.tournaments.playing_time() + tournament.time
            log.info("tournament_round", tournament=tournament.code, round=number, matches=len(pairs))
            committed = await self._commit(tournament, f"round:{number}", [Round(ends_at, pairs)])
        # Where somebody has withdrawn meanwhile nothing was written, and it is to be paired without them.
        return await self._advance_rounds(committed)

    async def _advance_matches(self, tournament: Tournament) -> Tournament:
        """See to all matches that are not over."""
        played = await self.tournaments.playing_time()
        playing = Counter(
            team for match in tournament.matches if match.seats and not match.is_over for team in match.teams
        )
        for match in [one for one in tournament.matches if not one.is_over]:
            is_busy = tournament.form == "league" and any(playing[team] >= LEAGUE_AT_ONCE for team in match.teams)
            # What a team that is gone has lost waits for nobody.
            waits = is_busy and not self._missing_teams(tournament, match)
            left = tournament.ends_at[match.round - 1] - played
            if match.seats or left <= 0 or not waits:
                if left > 0:
                    self._reminders.send_due(tournament, match, left)
                tournament = await self._advance_match(tournament, match, left)
                has_begun = not match.seats and bool(tournament.match(match.round, match.number).seats)
                playing.update(match.teams if has_begun else ())
        return tournament

    async def _advance_match(self, tournament: Tournament, match: Match, left: int) -> Tournament:
        """See to a match that is not over, with so many seconds left to play it: a table, a reminder, an end."""
        deal = match.next_deal
        assert deal is not None
        gone = self._missing_teams(tournament, match)
        code = match.seats.get(deal, "")
        if not code:
            # A worker that died may have opened its table, and not noted it.
            if gone or left <= 0:
                code = await self.fixtures.find_open(tournament, match, deal)
            else:
                try:
                    code = await self.fixtures.open(tournament, match, deal)
                except StoreFull:
                    # The card says so, and the next pass tries again.
                    return tournament
            if code:
                tournament = await self._record_table(tournament, match, deal, code)
        if not code:
            return await self._end_match(tournament, match, gone) if gone or left <= 0 else tournament
        for team in gone:
            await self.fixtures.resign(match, deal, team, code)
        if left <= 0:
            await self.fixtures.end_late(code)
        return await self._check_table(tournament, match, deal, code, left)

    async def _record_table(self, tournament: Tournament, match: Match, deal: int, code: str) -> Tournament:
        """Note where a match's deal is played. Where another worker has ended it meanwhile, nobody is to play there."""

        def decide(latest: Tournament) -> list[Entry]:
            is_on = latest.phase == "playing" and deal not in latest.match(match.round, match.number).results
            return [Seat(match.round, match.number, deal, code)] if is_on else []

        where = f"{match.round}.{match.number}.{deal}"
        tournament = await self.tournaments.commit(tournament.code, f"seat:{where}:{code}", decide)
        if tournament.match(match.round, match.number).seats.get(deal) != code:
            await self.fixtures.close(code)
        else:
            await self.fixtures.remove_forgotten(tournament, match, deal, code)
        return tournament

    @staticmethod
    def _missing_teams(tournament: Tournament, match: Match) -> list[int]:
        """The teams of a match that play no more: they have withdrawn, or one of them was forgotten."""
        return [
            team
            for team in match.teams
            if tournament.has_withdrawn(team) or any(is_pseudonym(one.person) for one in tournament.members(team))
        ]

    @staticmethod
    def _forfeit(match: Match, gone: list[int]) -> tuple[int | None, How]:
        """Who wins what is not played any more, and how: the one team that is gone has lost it."""
        if len(gone) != 1:
            return None, "void"
        return 1 if gone[0] == match.first else 0, "forfeit"

    async def _end_match(self, tournament: Tournament, match: Match, gone: list[int]) -> Tournament:
        """End a match without any more cards."""
        winner, how = self._forfeit(match, gone)

        def decide(latest: Tournament) -> list[Entry]:
            now = latest.match(match.round, match.number)
            if latest.phase != "playing" or now.next_deal in now.seats:
                return []
            rest = [deal for deal in now.deals if deal not in now.results]
            return [Result(match.round, match.number, deal, winner, 0, 0, how) for deal in rest]

        return await self.tournaments.commit(tournament.code, f"end:{match.round}.{match.number}", decide)

    async def _check_table(self, tournament: Tournament, match: Match, deal: int, code: str, left: int) -> Tournament:
        """Where a table is gone without a result, as after a backup without it was restored: its game counts if it is
        there. A whole game is begun anew as long as it could have begun; a deal whose cards some have seen is not.
        """
        now = time.monotonic()
        if now - self._tables_checked.setdefault(code, now) < TABLE_CHECK_SECONDS:
            return tournament
        self._tables_checked[code] = now
        if await self.fixtures.exists(code):
            return tournament
        tournament = await self.tournaments.load(tournament.code)
        if not tournament.is_live or deal in tournament.match(match.round, match.number).results:
            return tournament
        log.warning("fixture_lost", tournament=tournament.code, table=code)
        game = await self.fixtures.find_game(tournament, match, code)
        if game and game.fixture_name:
            return await self._record_result(tournament.code, game.fixture_name, code, game)
        gone = self._missing_teams(tournament, match)
        if left > 0 and not gone and not tournament.is_duplicate:
            try:
                again = await self.fixtures.open(tournament, match, deal, again=True)
            except StoreFull:
                return tournament
            if again:
                return await self._record_table(tournament, match, deal, again)
        winner, how = self._forfeit(match, gone)
        result = Result(match.round, match.number, deal, winner, 0, 0, how)

        def decide(latest: Tournament) -> list[Entry]:
            known = latest.match(match.round, match.number)
            # Another worker may have begun it anew, at another table.
            is_lost = deal not in known.results and known.seats.get(deal) == code
            return [result] if latest.phase == "playing" and is_lost else []

        return await self.tournaments.commit(tournament.code, f"lost:{code}", decide)

    # What came of a table

    async def record_game(self, table: Table, game: FinishedGame) -> None:
        """Note what came of a table; doing so twice changes nothing. The game of a duplicate is held back until its
        round is over, and so it is where the tournament cannot be read.
        """
        assert table.fixture
        if table.fixture.is_duplicate:
            await self.fixtures.hold_back(game, table, KEPT_SECONDS)
        try:
            tournament = await self._record_result(
                table.fixture.tournament, FixtureName.of(table.fixture), table.code, game
            )
        except NoSuchTournament:
            if table.fixture.is_duplicate:
                await self._archive.keep(game)
            return
        except UnreadableTournament:
            # The game is kept, and found when the tournament can be read again: its table may go.
            return
        if not tournament.is_live:
            # The director does not come by any more.
            await self.fixtures.publish_games(tournament)

    async def _record_result(self, code: str, name: FixtureName, table: str, game: FinishedGame) -> Tournament:
        """Note what a game is for its match, unless something was noted."""

        def decide(tournament: Tournament) -> list[Entry]:
            if tournament.phase != "playing" or not tournament.has_match(name.round, name.match):
                return []
            match = tournament.match(name.round, name.match)
            return [] if name.deal in match.results else [result_of(match, name, game)]

        return await self.tournaments.commit(code, f"result:{table}", decide)

    async def _stop_duplicates(self, tournament: Tournament) -> None:
        """A duplicate was called off: what is on is stopped, so that its cards can be told."""
        if not tournament.is_duplicate:
            return
        for match in tournament.matches:
            deal = match.next_deal
            if deal is not None:
                code = match.seats.get(deal) or await self.fixtures.find_open(tournament, match, deal)
                if code:
                    await self.fixtures.close(code)
