"""The tournament director: begins rounds, opens tables, notes what came of them, ends what takes too long.

One worker does it at a time, or two for a moment. Each step follows from the tournament's log, and may be done twice: a
worker that dies leaves it to the next.
"""

import asyncio
import time
from collections import Counter
from collections.abc import Mapping

import structlog

from bot.delivery.answers import Answers
from bot.delivery.shards import Shards
from bot.find.finder import MINDED_WITH
from bot.finished.archive import Archive, FinishedGame
from bot.finished.ratings import Ratings
from bot.panels.tournament import reminder_panel
from bot.people import People
from bot.pictures.pool import PicturePool
from bot.platform import Adapter, DeliveryError, platform_of, private_place
from bot.somebody import is_somebody
from bot.store import keys
from bot.store.entries import Clock, Fixture, Rule, Setup
from bot.store.outage import STORE_ERRORS
from bot.tables.chairs import Chair
from bot.tables.challenges import Challenges
from bot.tables.errors import NoSuchTable, SetAside, TooManyTables
from bot.tables.fixtures import duplicate_rules
from bot.tables.room import Room
from bot.tables.table import Table
from bot.tournaments.card import Cards
from bot.tournaments.entries import Cancel, Entry, Finish, How, Result, Round, Seat
from bot.tournaments.errors import NoSuchTournament
from bot.tournaments.pairing import next_round
from bot.tournaments.registration import Registration
from bot.tournaments.results import result_of
from bot.tournaments.store import KEPT_SECONDS, Tournaments
from bot.tournaments.tournament import Match, Tournament
from bot.viewers import Viewers

POLL_SECONDS = 1.0
"""How often it is looked whether a tournament has gone on."""

PASS_SECONDS = 10.0
"""How often all of a tournament is looked through though it has not: time may be up."""

OPEN_SECONDS = 14 * 86400
"""After so long a tournament that nobody starts is called off."""

LEAGUE_AT_ONCE = 3
"""Matches of one league that somebody plays at a time."""

REMIND_AT = 4
"""Who has not finished is reminded when one part in so many of the time is left."""

LOST_AFTER = 60.0
"""Seconds after which it is looked whether a match's table is gone, of which no result was noted."""

FAILED_SECONDS = 60.0
"""After so long a tournament at which something of ours failed is looked at again."""

log = structlog.get_logger()


class Director:
    """Runs the tournaments of one store: ``tournaments`` is where they are kept, ``registration`` what people do with
    them, ``cards`` are their messages.
    """

    def __init__(
        self,
        room: Room,
        challenges: Challenges,
        archive: Archive,
        ratings: Ratings,
        shards: Shards,
        people: People,
        adapters: Mapping[str, Adapter],
        pictures: PicturePool,
        answers: Answers,
    ) -> None:
        self._room, self._challenges, self._archive, self._shards = room, challenges, archive, shards
        self._people, self._adapters = people, adapters
        self._client = room.store.client
        self.tournaments = Tournaments(room.store)
        self.registration = Registration(room.store, self.tournaments, ratings)
        self.cards = Cards(self.tournaments, Viewers(people, adapters), adapters, pictures, answers)
        self._looked_at: dict[str, float] = {}
        self._passes: dict[str, tuple[int, float]] = {}
        self._failed_at: dict[str, float] = {}

    async def run(self) -> None:
        """Until cancelled."""
        while True:
            if MINDED_WITH in self._shards.mine:
                with self._room.store.outage.noted():
                    await self.tend()
            await asyncio.sleep(POLL_SECONDS)

    async def tend(self) -> None:
        """See to all tournaments that are not over."""
        for code, since in (await self.tournaments.live()).items():
            if time.monotonic() - self._failed_at.get(code, -FAILED_SECONDS) < FAILED_SECONDS:
                continue
            try:
                await self.see_to(await self.tournaments.load(code), since)
            except NoSuchTournament:
                await self.tournaments.drop(code)
            except STORE_ERRORS:
                raise
            except Exception:
                # The others go on. Another release may know what this one cannot read or do.
                self._failed_at[code] = time.monotonic()
                log.exception("tournament_failed", tournament=code, again_in=FAILED_SECONDS)

    async def see_to(self, tournament: Tournament, since: int) -> None:
        """Do what is to be done about a tournament, which was opened ``since``, Unix seconds."""
        if self._is_due(tournament):
            tournament = await self._pass(tournament, since)
            self._passes[tournament.code] = tournament.version, time.monotonic()
        if await self.cards.update(tournament) and not tournament.is_live:
            await self.tournaments.ended(tournament)
            self._passes.pop(tournament.code, None)

    def _is_due(self, tournament: Tournament) -> bool:
        """Whether a tournament has gone on since it was looked through, or that was long ago."""
        version, at = self._passes.get(tournament.code, (0, 0.0))
        return tournament.version != version or time.monotonic() - at >= PASS_SECONDS

    async def _pass(self, tournament: Tournament, since: int) -> Tournament:
        """Look through all of a tournament; returns it as it is then."""
        if tournament.phase == "open" and time.time() - since > OPEN_SECONDS:
            tournament = await self._commit(tournament, "expired", [Cancel()])
        if tournament.phase == "playing":
            tournament = await self._play_on(tournament)
        elif tournament.phase == "cancelled":
            await self._stop_duplicates(tournament)
        await self._tell_past(tournament)
        return tournament

    async def _commit(self, tournament: Tournament, update: str, entries: list[Entry]) -> Tournament:
        """Write this about a tournament that is not over, once."""
        return await self.tournaments.commit(tournament.code, update, lambda latest: entries if latest.is_live else [])

    # Rounds and matches

    async def _play_on(self, tournament: Tournament) -> Tournament:
        tournament = await self._see_to_matches(tournament)
        if not tournament.is_round_over:
            return tournament
        pairs = await asyncio.to_thread(next_round, tournament)
        number = len(tournament.rounds) + 1
        if pairs is None:
            return await self._commit(tournament, "finish", [Finish()])
        ends_at = await self.tournaments.played() + tournament.time
        log.info("tournament_round", tournament=tournament.code, round=number, matches=len(pairs))
        tournament = await self._commit(tournament, f"round:{number}", [Round(ends_at, pairs)])
        return await self._see_to_matches(tournament)

    async def _see_to_matches(self, tournament: Tournament) -> Tournament:
        """See to all matches that are not over."""
        played = await self.tournaments.played()
        playing = Counter(
            team for match in tournament.matches if match.seats and not match.is_over for team in match.teams
        )
        for match in [one for one in tournament.matches if not one.is_over]:
            waits = tournament.form == "league" and any(playing[team] >= LEAGUE_AT_ONCE for team in match.teams)
            left = tournament.ends_at[match.round - 1] - played
            if match.seats or left <= 0 or not waits:
                tournament = await self._see_to_match(tournament, match, left)
                playing.update([] if match.seats else match.teams)
        return tournament

    async def _see_to_match(self, tournament: Tournament, match: Match, left: int) -> Tournament:
        """See to a match that is not over, with so many seconds left to play it: a table, a reminder, an end."""
        deal = match.next_deal
        assert deal is not None
        gone = [team for team in match.teams if self._is_gone(tournament, team)]
        code = match.seats.get(deal)
        if code is None and (gone or left <= 0):
            # A worker that died may have opened its table, and not noted it.
            table = await self._challenges.opened_by(_opening(tournament, match, deal))
            if table:
                code = table.code
                tournament = await self._commit(tournament, *_seat(match, deal, code))
        if code is None:
            if gone:
                return await self._end(tournament, match, "forfeit", gone)
            if left <= 0:
                return await self._end(tournament, match, "void", [])
            return await self._open(tournament, match, deal)
        if gone:
            await self._resign_for(tournament, gone, code)
        elif left <= 0:
            await self._stop_late(code)
        else:
            await self._remind(tournament, match, left)
        return await self._look_for_table(tournament, match, deal, code)

    @staticmethod
    def _is_gone(tournament: Tournament, team: int) -> bool:
        """Whether a team plays no more: it has withdrawn, or one of it was forgotten."""
        return tournament.has_withdrawn(team) or any(is_somebody(one.person) for one in tournament.members(team))

    async def _end(self, tournament: Tournament, match: Match, how: How, gone: list[int]) -> Tournament:
        """End a match without any more cards: the teams that are gone have lost it."""
        winner = None
        if len(gone) == 1:
            winner = 1 if gone[0] == match.one else 0
        results = [
            Result(match.round, match.number, deal, winner, 0, 0, "void" if winner is None else how)
            for deal in match.deals
            if deal not in match.results
        ]

        def decide(latest: Tournament) -> list[Entry]:
            now = latest.match(match.round, match.number)
            return [one for one in results if one.deal not in now.results] if latest.phase == "playing" else []

        return await self.tournaments.commit(tournament.code, f"end:{match.round}.{match.number}", decide)

    async def _open(self, tournament: Tournament, match: Match, deal: int) -> Tournament:
        """Open the table of a match's next deal, and seat its people."""
        choice = duplicate_rules(tournament.choice) if tournament.is_duplicate else tournament.choice
        setup: list[Setup] = [
            Fixture(tournament.code, match.round, match.number, deal, tournament.place),
            *(Rule(name, value) for name, value in choice.rules.items()),
            Clock(choice.clock, True),
        ]
        secret = tournament.secret(match.round, deal) if tournament.is_duplicate else b""
        try:
            table = await self._challenges.open_fixture(
                tournament.game,
                seated(tournament, match, deal),
                _opening(tournament, match, deal),
                setup=setup,
                secret=secret,
            )
        except (TooManyTables, NoSuchTable) as fault:
            # Somebody has to finish elsewhere first; or it has been played, and what came of it is on its way.
            log.debug("fixture_not_opened", fixture=_opening(tournament, match, deal), why=type(fault).__name__)
            return tournament
        return await self._commit(tournament, *_seat(match, deal, table.code))

    async def _resign_for(self, tournament: Tournament, gone: list[int], code: str) -> None:
        for team in gone:
            for number in tournament.teams[team]:
                player = tournament.players[number]
                if player and (number in tournament.withdrawn):
                    try:
                        await self._room.resign_for(code, player.person, f"withdrawn:{number}")
                    except (NoSuchTable, SetAside):
                        return

    async def _stop_late(self, code: str) -> None:
        try:
            await self._room.stop_late(code, "round over")
        except (NoSuchTable, SetAside):
            return

    async def _look_for_table(self, tournament: Tournament, match: Match, deal: int, code: str) -> Tournament:
        """Where a table is gone without a result, such as one that could not be read, nobody has won."""
        now = time.monotonic()
        if now - self._looked_at.setdefault(code, now) < LOST_AFTER:
            return tournament
        self._looked_at[code] = now
        try:
            await self._room.load(code)
        except NoSuchTable:
            result = Result(match.round, match.number, deal, None, 0, 0, "void")

            def decide(latest: Tournament) -> list[Entry]:
                known = latest.match(match.round, match.number).results
                return [result] if latest.phase == "playing" and deal not in known else []

            del self._looked_at[code]
            log.warning("fixture_lost", tournament=tournament.code, table=code)
            return await self.tournaments.commit(tournament.code, f"lost:{code}", decide)
        return tournament

    # What came of a table

    async def finished(self, table: Table, game: FinishedGame) -> None:
        """Note what came of a table; doing so twice changes nothing. The game of a duplicate is held back until its
        round is over: its record tells the cards.
        """
        fixture = table.fixture
        assert fixture
        if fixture.is_duplicate:
            games = keys.tournament_games(fixture.tournament)
            await self._client.hset(games, game.id, game.to_bytes())
            await self._client.expire(games, KEPT_SECONDS)

        def decide(tournament: Tournament) -> list[Entry]:
            if tournament.phase != "playing":
                return []
            match = tournament.match(fixture.round, fixture.match)
            if fixture.deal in match.results:
                return []
            return [result_of(match, fixture, game)]

        try:
            tournament = await self.tournaments.commit(fixture.tournament, f"result:{table.code}", decide)
        except NoSuchTournament:
            if fixture.is_duplicate:
                await self._archive.keep(game)
            return
        if not tournament.is_live:
            # The director does not come by any more.
            await self._tell_past(tournament)

    async def _tell_past(self, tournament: Tournament) -> None:
        """Move the games of rounds that are over into the archive, for everybody to read."""
        if not tournament.is_duplicate:
            return
        held = await self._client.hgetall(keys.tournament_games(tournament.code))
        for id_, stored in held.items():
            game = FinishedGame.parse(stored)
            assert game.played_for
            is_over = all(match.is_over for match in tournament.rounds[game.played_for.round - 1])
            if is_over or not tournament.is_live:
                await self._archive.keep(game)
                await self._client.hdel(keys.tournament_games(tournament.code), id_)

    async def _stop_duplicates(self, tournament: Tournament) -> None:
        """A duplicate was called off: what is on is stopped, so that its cards can be told."""
        if not tournament.is_duplicate:
            return
        for match in tournament.matches:
            for deal, code in match.seats.items():
                if deal not in match.results:
                    try:
                        await self._room.close(code, "called off")
                    except (NoSuchTable, SetAside):
                        continue

    # Reminders

    async def _remind(self, tournament: Tournament, match: Match, left: int) -> None:
        """Remind those who play a match, once, when little time is left."""
        if left > tournament.time // REMIND_AT:
            return
        for team in match.teams:
            for number in tournament.teams[team]:
                mark = f"{match.round}.{match.number} {number}"
                if await self._client.sadd(keys.tournament_reminded(tournament.code), mark):
                    await self._client.expire(keys.tournament_reminded(tournament.code), KEPT_SECONDS)
                    await self._send_reminder(tournament, match, number, left)

    async def _send_reminder(self, tournament: Tournament, match: Match, number: int, left: int) -> None:
        player = tournament.players[number]
        adapter = self._adapters.get(platform_of(player.person)) if player else None
        if player is None or adapter is None:
            return
        language = (await self._people.person(player.person)).language
        panel = reminder_panel(language, tournament, match, number, left)
        key = f"tournament {tournament.code} {match.round}.{match.number} {number}"
        try:
            await adapter.send(private_place(player.person), panel, key)
        except DeliveryError as error:
            log.info("reminder_not_sent", platform=platform_of(player.person), why=type(error).__name__)


def _opening(tournament: Tournament, match: Match, deal: int) -> str:
    """The update by which the table of a match's deal is opened, once."""
    return f"tournament:{tournament.code}:{match.round}.{match.number}.{deal}"


def _seat(match: Match, deal: int, code: str) -> tuple[str, list[Entry]]:
    """The update by which it is noted where a match's deal is played, and the entry."""
    return f"seat:{match.round}.{match.number}.{deal}", [Seat(match.round, match.number, deal, code)]


def seated(tournament: Tournament, match: Match, deal: int) -> list[Chair]:
    """Who sits where in a match's deal, by seat: partners opposite one another."""
    assert match.other is not None
    first = match.first_team(deal)
    sides = [tournament.members(match.teams[first]), tournament.members(match.teams[1 - first])]
    return [side[place] for place in range(tournament.team_size) for side in sides]
